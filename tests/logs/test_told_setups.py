"""What a pasted or told setup puts first; and the same where it tells nothing."""

from __future__ import annotations

import pytest

from gpudoctor.textual import hints, setups
from tests.logs.judged import judged, said

NONE = "tf.config.list_physical_devices('GPU')\n[]\n"
ABSENT = "Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory\n"
UNKNOWN = "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error\n"
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
DLOPEN = (
    "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly\n"
)
COMPOSE = "services:\n  lab:\n    image: example/lab:1\n{asks}    shm_size: 4gb\n\nCould not find cuda drivers on your machine, GPU will not be used.\n"
POD = ABSENT + "kind: Pod\nspec:\n  containers:\n  - name: t\n    resources:\n      limits: {limits}\n"
DLL = "ImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed.\n"
SMI = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
BATCH = "#SBATCH --gres=gpu:{n}\nexport CUDA_VISIBLE_DEVICES={value}\n" + NO_DEVICE
DNN = "DNN library initialization failed. Look at the errors above for more details.\n"
DOCKERFILE = "FROM nvidia/cuda:12.3.1-cudnn{cudnn}-devel-ubuntu22.04\nRUN pip install tensorflow{package}\n" + DLOPEN
FULL = "CUDNN_STATUS_ALLOC_FAILED at the first convolution\n"


@pytest.mark.parametrize(
    ("text", "cause", "first"),
    [
        ("PS D:\\work> python show.py\ntensorflow 2.15.0\n" + NONE, "tf-windows-native-cpu-only", True),
        ("PS D:\\work> python show.py\ntensorflow 2.10.1\n" + NONE, "tf-windows-native-cpu-only", False),
        ("PS D:\\work> python show.py\ntensorflow 2.15.0 in WSL2\n" + NONE, "tf-windows-native-cpu-only", False),
        ("PS D:\\work> ssh box\nUbuntu 22.04 server, tensorflow 2.15.0\n" + NONE, "tf-windows-native-cpu-only", False),
        ("PS D:\\work> python show.py\ntensorflow 2.15.0, tensorflow-directml-plugin\n" + NONE, "tf-windows-native-cpu-only", False),
        ("In Spyder on Windows 11, Tensorflow is version 2.13.0\n" + NONE, "tf-windows-native-cpu-only", True),
        ("Windows 10 at home; on the HPC cluster tensorflow 2.15.0 lists none\n" + NONE, "tf-windows-native-cpu-only", False),
        ('CMD ["python", "a.py"]\ntensorflow 2.15.0\n' + NONE, "tf-windows-native-cpu-only", False),
        # laptops
        ("TensorFlow finds no GPU any more\nIt stops working after the host was suspended\n" + NONE, "cuinit-unknown-after-suspend", True),
        ("TensorFlow finds no GPU\nIt fails after a fresh boot, no suspend at all\n" + NONE, "cuinit-unknown-after-suspend", False),
        ("TensorFlow finds no GPU\nIt fails when resuming training from a checkpoint\n" + NONE, "cuinit-unknown-after-suspend", False),
        ("I closed the lid on the train\n" + UNKNOWN, "cuinit-unknown-after-suspend", True),
        ("It runs with the lid closed on a shelf\n" + UNKNOWN, "cuinit-unknown-after-suspend", False),
        (SMI + "$ prime-select query\nintel\n", "optimus-gpu-powered-off", True),
        (SMI + "$ prime-select query\nnvidia\n", "optimus-gpu-powered-off", False),
        (SMI + "$ cat /tmp/vendor\nintel\n", "optimus-gpu-powered-off", False),
        # containers
        (COMPOSE.format(asks=""), "container-no-gpus-flag", True),
        (COMPOSE.format(asks="    gpus: all\n"), "container-no-gpus-flag", False),
        (COMPOSE.format(asks="    devices:\n      - nvidia.com/gpu=all\n"), "container-no-gpus-flag", False),
        (COMPOSE.format(asks="    runtime: nvidia\n"), "container-no-gpus-flag", False),
        (POD.format(limits="{cpu: 4, memory: 16Gi}"), "container-no-gpus-flag", True),
        (POD.format(limits="{cpu: 4, nvidia.com/gpu: 1}"), "container-no-gpus-flag", False),
        (POD.format(limits="{cpu: 4, nvidia.com/mig-1g.10gb: 1}"), "container-no-gpus-flag", False),
        ("ERROR: Detected NVIDIA Tesla K40m GPU, which is not supported by this container\n", "gpu-compute-capability-too-old", True),
        ("ERROR: Detected NVIDIA RTX 5090 GPU, which is not supported by this container\n", "gpu-compute-capability-too-old", False),
        # variables
        ("The launcher leaves CUDA_VISIBLE_DEVICES as an empty string\n" + NONE, "cuda-visible-devices-empty", True),
        ("Is CUDA_VISIBLE_DEVICES set to empty?\n" + NONE, "cuda-visible-devices-empty", False),
        (BATCH.format(n=1, value=3), "cuda-visible-devices-wrong", True),
        (BATCH.format(n=4, value=3), "cuda-visible-devices-wrong", False),
        (BATCH.format(n=1, value=0), "cuda-visible-devices-wrong", False),
        # cuDNN
        (DOCKERFILE.format(cudnn=8, package="==2.19.0"), "cudnn-wrong-major", True),
        (DOCKERFILE.format(cudnn=8, package="==2.16.1"), "cudnn-wrong-major", False),
        (DOCKERFILE.format(cudnn=8, package="[and-cuda]==2.19.0"), "cudnn-wrong-major", False),
        ("tensorflow 2.19.0\nnvidia-cudnn-cu12   9.1.0.70\n" + DNN, "cudnn-version-too-old", True),
        ("tensorflow 2.19.0\nnvidia-cudnn-cu12   9.5.1.17\n" + DNN, "cudnn-version-too-old", False),
        # memory
        ("Two notebooks.\nIf I shut down the first notebook the second one works\n" + FULL, "gpu-memory-held-by-other-process", True),
        ("Two notebooks.\nI did not shut down the first notebook and the second is idle\n" + FULL, "gpu-memory-held-by-other-process", False),
    ],
)  # fmt: skip
def test_what_a_setup_puts_first(text: str, cause: str, first: bool) -> None:
    report = judged(text)
    assert (cause in setups.speaks(report.facts)) is first
    roots, left = said(report)
    assert not first or [*roots, *left][0] == cause


def test_a_library_that_answers_is_inside() -> None:
    """NVML's unknown error comes from the driver's library."""
    prompt = "root@0a1b2c3d4e5f:/srv# python a.py\n" + NO_DEVICE + "root@0a1b2c3d4e5f:/srv# nvidia-smi\n"
    assert "container-no-gpus-flag" not in said(judged(prompt + "Failed to initialize NVML: Unknown Error\n"))[0]
    assert "container-no-gpus-flag" in said(judged(prompt))[0]


@pytest.mark.parametrize(
    ("processor", "speaks"),
    [
        ("an i5-520M", True),
        ("a Core 2 Duo E8400", True),
        ("an i5-8520U", False),
        ("an i7 and 520 MB", False),
        ("an i5-520M and a desktop whose i7-8700 has AVX", False),
    ],
)
def test_processors_of_before_avx(processor: str, speaks: bool) -> None:
    report = judged(f"A laptop with {processor}\n{DLL}")
    assert ("cpu-no-avx" in hints.strong(report.facts)) is speaks


def test_a_suspend_explains_no_library_that_is_not_found() -> None:
    asked = "TensorFlow finds no GPU\nSome say that it stops working after a suspend\n"
    lost = "Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\n"
    assert "cuinit-unknown-after-suspend" in said(judged(asked + NONE))[1]
    assert "cuinit-unknown-after-suspend" not in said(judged(asked + lost))[1]
