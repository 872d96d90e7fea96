"""Of several causes in a text, what shows in it goes first; and statements of another machine, or of an earlier try, are none."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

NO_MODULE = (
    "nvidia-smi does not work\n"
    "modprobe: ERROR: ../libkmod/libkmod.c:556 kmod_search_moddep() could not open moddep file '/lib/modules/{}/modules.dep.bin'\n"
    "modprobe: ERROR: ../libkmod/libkmod-module.c:809 kmod_module_insert_module() could not find module by name='nvidia_384'\n"
)
NOT_SELECTED = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
OLDER = "Loaded runtime CuDNN library: 7.0.5 but source was compiled with: 7.2.1.\n"
EMPTY = "C:\\> pip3 install tensorflow-gpu\n  Could not find a version that satisfies the requirement tensorflow-gpu (from versions: )\n"
CONDA = "No GPU with CUDA from conda\n$ conda list\ncuda-cudart   12.5.82    h5888daf_0  conda-forge\ncudnn         8.9.7.29   h092f7fd_3  conda-forge\n"
TOO_OLD_GPU = (
    "1.6, driver 388.13\nname: GeForce GT 540M major: 2 minor: 1 memoryClockRate(GHz): 1.344\nDevice mapping: no known devices.\n"
    "CUDA's samples say 'CUDA driver version is insufficient for CUDA runtime version'\n"
)
LISTS = (
    "pip list on A:\ntensorflow         2.11.0\ntensorflow-intel   2.11.0\npip list on B:\ntensorflow         2.9.1\n"
)
BEHIND_SUDO = (
    "$ sudo python3 drive.py\nImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory\n"
    "Without sudo the same script runs and finds the GPU.\n"
)
UNDER_WSL = (
    "cuDNN under WSL2\nCould not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory\n"
    "$ ls $CONDA_PREFIX/lib | grep cnn_infer\nlibcudnn_cnn_infer.so.8\n$ uname -r\n5.15.90.1-microsoft-standard-WSL2\n"
)
NOT_OPENED = (
    "W0000 00:00:1731416732.118271  218804 gpu_device.cc:2344] Cannot dlopen some GPU libraries. Please make sure the missing libraries "
    "mentioned above are installed properly if you would like to use GPU.\nSkipping registering GPU devices...\n"
)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            f"cuDNN trouble\n{OLDER} tensorflow-gpu  1.11.0\n tf-nightly-gpu  1.12.0.dev20180901\n",
            "cudnn-version-too-old",
        ),
        (NO_MODULE.format("3.4.0+"), "wsl1-no-gpu"),
        (NO_MODULE.format("3.4.0-77-generic"), "driver-module-not-loaded"),
        (f"docker run --gpus all on a desktop\nMy GPU is an AMD RX 6600.\n{NOT_SELECTED}", "amd-gpu"),
        (f"docker run --gpus all on a desktop\nMy GPU is an RTX 3060.\n{NOT_SELECTED}", "container-toolkit-missing"),
        (f"No TensorFlow\nPython 3.6 x64 (python-3.6.1-amd64.exe)\n{EMPTY}My first try was a 32-bit Python.\n", "python-version-unsupported"),
        (f"No TensorFlow\nPython 3.6 (python-3.6.1.exe)\n{EMPTY}It is a 32-bit Python.\n", "python-32bit"),
        ("The loss is nan on the GPU\nRTX 2080 Ti, CUDA 9.0, TensorFlow 1.12; on the CPU it learns.\n", "gpu-too-new-for-build"),
        (f"{CONDA}(tf218) $ python train.py\n{NOT_OPENED}", "cudnn-wrong-major"),
        (f"{CONDA}TF 2.18.0\n{NOT_OPENED}", "cudnn-wrong-major"),
        (f"No GPU\nTensorFlow {TOO_OLD_GPU}", "gpu-compute-capability-too-old"),
        (f"No GPU on laptop A, on B it is there. Windows 11\n{LISTS}list_physical_devices('GPU') -> []\n", "tf-windows-native-cpu-only"),
        (f"No GPU on Windows 11\n{LISTS.partition('B:')[0]}tensorflow  2.9.1\nlist_physical_devices('GPU') -> []\n", "tf-windows-native-cpu-only"),
        (f"sudo and CUDA\nA small PC (not a Jetson) with a GTX 1050\n{BEHIND_SUDO}", "sudo-stripped-environment"),
        (UNDER_WSL, "wsl-libcuda-path"),
    ],
)  # fmt: skip
def test_it_goes_first(text: str, first: str) -> None:
    roots, left = said(judged(text))
    assert [*roots, *left][:1] == [first]


@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        ("As my office PC has no Nvidia GPU, I work on a server with an M4000.", False),
        ("I try this because my laptop has no nvidia gpu.", True),
    ],
)
def test_which_machine_has_no_gpu(sentence: str, says: bool) -> None:
    kinds = {e.kind for e in judged(f"First steps\n{sentence}\n").facts.text.understood()}
    assert ("gpu-not-there" in kinds) is says


def test_a_small_gpu_alone_is_proven() -> None:
    line = (
        "2022-01-08 13:20:44.900315: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1857] Ignoring visible gpu device (device: 0, "
        "name: NVIDIA GeForce GT 730, pci bus id: 0000:21:00.0, compute capability: 5.0) with core count: 2. The minimum required count is 8."
    )
    report = judged(f"{line}\n>>> tf.config.list_physical_devices('GPU')\n[]\n")
    assert [(r.cause, r.proven) for r in report.diagnosis.root_causes] == [("gpu-ignored-few-sms", True)]
