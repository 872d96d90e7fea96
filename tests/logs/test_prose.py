"""Causes that people tell in their own words, and words that look alike and tell something else."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, shown

OPENED = (
    "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1555] Found device 0 with properties:\n"
    "pciBusID: 0000:01:00.0 name: GeForce RTX {card} computeCapability: {capability}\n"
    "I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library cudart64_101.dll\n"
)
HOST = "E tensorflow/stream_executor/cuda/cuda_driver.cc:893] failed to alloc 415990272 bytes on host: CUDA_ERROR_OUT_OF_MEMORY\n"
WITHOUT = (
    "$ docker run -it somebody/image /bin/bash\nroot@97d439b58033:/# python train.py\n"
    "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
    "kernel driver does not appear to be running on this host (97d439b58033): /proc/driver/nvidia/version does not exist\n"
)
FREE = "totalMemory: 11.90GiB freeMemory: {free}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # a start that takes minutes
        ("Making the GPU device takes five minutes.\n" + OPENED.format(card="3060", capability="8.6"), "jit-cold-start"),
        ("Making the GPU device takes five minutes.\n" + OPENED.format(card="2060", capability="7.5"), None),
        ("The first start of a session takes 3 minutes, the next one a second. P100, TF 1.10\n", "jit-cold-start"),
        ("The first epoch takes 3 minutes. P100, TF 1.10\n", None),
        # the input
        ("CPU is at 100 % all along, and the GPU is at 0 % for most of the time\n", "cpu-starved-input"),
        ("CPU is at 100 % and the GPU is at 0 %\n", None),
        ("model.fit_generator(it, workers=3)\nGPU usage goes up and down all the time\n", "cpu-starved-input"),
        ("GPU usage goes up and down all the time\n", None),
        # the driver
        ("After an OS upgrade and reboot nvidia-smi says that it cannot communicate with the driver\n", "driver-module-not-loaded"),
        ("nvidia-smi says that it cannot communicate with the driver\n", None),
        ('It ran for a day. Then nvidia-smi says "GPU is lost".\n', "xid79-fell-off-bus"),
        # memory
        ("One job hung and I cancelled it.\n" + FREE.format(free="365.94MiB"), "gpu-memory-held-by-other-process"),
        ("One job hung and I cancelled it.\n" + FREE.format(free="9.80GiB"), None),
        ("The step is in Failed state with this message: OOMKilled\n", "cgroup-memory-limit"),
        ("WSL2, kernel 5.10.16.3-microsoft-standard-WSL2\n" + HOST, "wsl-pinned-memory-limit"),
        ("Ubuntu 20.04\n" + HOST, None),
        ("WSL2, kernel 5.10.16.3-microsoft-standard-WSL2\nOOM when allocating tensor with shape[9] by allocator cpu\n", None),
        # versions
        ("libcusolver.so.8.0: cannot open shared object file: No such file or directory\nIt contains cuda 9.0, but tensorflow is built with cuda 8.0\n", "cuda-version-mismatch"),
        ("RTX 3070, tensorflow 1.14, cudatoolkit 10.0\nnvcc fatal : Value 'sm_86' is not defined for option 'gpu-architecture'\n", "gpu-too-new-for-build"),
        ("nvcc fatal : Value 'sm_86' is not defined for option 'gpu-architecture'\n", None),
        ("RTX 3090, tensorflow 1.15, CUDA: 10.0\nLoss is inf or nan. The same has no problem on a GTX 1060\n", "gpu-too-new-for-build"),
        ("I changed the optimizer to get rid of a *libdevice not found* error\n", "libdevice-missing"),
        ("jtop reports no gpu usage.\nPython 3.10.12\ntensorflow                   2.16.1\n", "tf-aarch64-cpu-only"),
        ("_tflow_select  2.3.0  gpu\ntensorflow  2.3.0  mkl_py38h8557ec7_0\ntensorflow-base  2.3.0  eigen_py38h75a453f_0\n- CUDA/cuDNN version: 11.2\nthe GPU is not listed\n", "conda-cpu-build"),
        # several GPUs
        ("MirroredStrategy never gets past the first all-reduce.\n[1478402.110671] DMAR: [DMA Write] Request device [02:00.0] fault addr cd139000 [fault reason 05] PTE Write access is not set\n", "nccl-p2p-iommu-acs"),
        # containers
        ("Test pods see the GPU; on k3s we need to add \"runtimeClassName: nvidia\", which Kubeflow can't.\n", "container-runtime-not-default"),
        (WITHOUT, "container-no-gpus-flag"),
        ("I am running the code on CPU\n" + WITHOUT + "Killed\n", None),
        # macOS
        ("It is a Mac with an Nvidia 650M. I wanted to use the GPU\n", "tf-macos-no-cuda"),
        ("It is a Mac with an Nvidia 650M. I wanted to use the GPU\nIt ends with an OOM, free memory is only 49MiB\n", None),
    ],
)  # fmt: skip
def test_what_is_told(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


MODULE = "driver version file contents: NVRM version: NVIDIA UNIX x86_64 Kernel Module  367.57  Mon Oct  3 20:37:01 PDT 2016\n"
LOST = (
    "I tensorflow/stream_executor/dso_loader.cc:105] Couldn't open CUDA library libcuda.so.1. LD_LIBRARY_PATH: /usr/local/cuda/lib64\n"
    "I tensorflow/stream_executor/cuda/cuda_diagnostics.cc:160] hostname: {host}\n"
)
LACKS = "F tensorflow/stream_executor/cuda/cuda_driver.cc:94] Check failed: s.ok() could not find {name} in libcuda DSO; dlerror: {file}: undefined symbol: {name}\n"
CUINIT = "failed call to cuInit: {error}\n"
FOUND = "I tensorflow/core/common_runtime/gpu/gpu_device.cc:838] Creating TensorFlow device (/gpu:0) -> (device: 0, name: GeForce GTX 1080, pci bus id: 0000:03:00.0)\n"
LISTED = (
    "ERROR: Could not find a version that satisfies the requirement tensorflow=={wanted} (from versions: {versions})\n"
)
OPENED_11 = "I tensorflow/stream_executor/platform/default/dso_loader.cc:49] Successfully opened dynamic library libcudart.so.11.0\n"
NOT_LOADED = (
    "W tensorflow/stream_executor/platform/default/dso_loader.cc:60] Could not load dynamic library 'libcusolver.so.11'; "
    "dlerror: libnvJitLink.so.{major}: cannot open shared object file: No such file or directory\nSkipping registering GPU devices...\n"
)
OF_3_8 = ", ".join(f"2.{minor}.{patch}" for minor in range(2, 14) for patch in range(12))
"""As pip lists it for Python 3.8, and longer than what is kept of a line."""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # the driver's library
        (LOST.format(host="lyx-All-Series") + MODULE, None),
        (LOST.format(host="lyx-All-Series"), None),
        (LOST.format(host="97d439b58033") + MODULE, "container-no-gpus-flag"),
        (LACKS.format(name="cuDevicePrimaryCtxSetFlags", file="/usr/lib/libcuda.so.1"), "driver-too-old"),
        (LACKS.format(name="cuInit", file="/site-packages/_pywrap_tensorflow.so"), None),
        ("lrwxrwxrwx. 1 root root 38 Nov  6 21:40 libcuda.so.1 -> /usr/local/cuda/lib64/stubs/libcuda.so\n" + CUINIT.format(error="CUresult(-1)"), "libcuda-stub-loaded"),
        ("Docker Desktop on WSL2, docker run --gpus all\n" + CUINIT.format(error="CUDA_ERROR_NOT_FOUND: named symbol not found"), "wsl-driver-toolkit-mismatch"),
        ("docker run --gpus all\n" + CUINIT.format(error="CUDA_ERROR_NOT_FOUND: named symbol not found"), None),
        (OPENED_11 + NOT_LOADED.format(major=12), "cuda-lib-from-other-toolkit"),
        (OPENED_11 + NOT_LOADED.format(major=11), None),
        ("libcublas.so.9.0: cannot open shared object file: No such file or directory\nlibcublas.so -> libcublas.so.9.1\n", "cuda-version-mismatch"),
        ("libcublas.so.9.0: cannot open shared object file: No such file or directory\nlibcublas.so -> libcublas.so.9.0\n", None),
        ("Total memory: 11.17GiB Free memory: 437.38MiB\nOOM when allocating tensor with shape[32,3,224,224]\n", "gpu-memory-held-by-other-process"),
        ("Total memory: 11.17GiB Free memory: 10.90GiB\nOOM when allocating tensor with shape[32,3,224,224]\n", "gpu-oom-model-or-data"),
        ("cudnn-windows-x86_64-8.3.1.22, cuda 11.5\nCould not load library cudnn_cnn_infer64_8.dll. Error code 126\n", "zlibwapi-missing"),
        ("cuDNN 8.1.1, cuda 11.2\nCould not load library cudnn_cnn_infer64_8.dll. Error code 126\n", None),
        ("cuDNN 8.3.1, cuda 11.5\nCould not load library cudnn_cnn_infer64_8.dll. Error code 127\n", None),
        # packages
        (LISTED.format(wanted="1.8.0", versions=OF_3_8), "python-version-unsupported"),
        (LISTED.format(wanted="2.99.0", versions=OF_3_8), None),
        ("tensorflow-gpu 1.0.1 finds my GPU. Once keras is installed, it finds nothing but the CPU.\n", "tf-cpu-only-package"),
        ("WSL2 and Ubuntu 22.04. In the notebook (jupyter notebook.exe) the list of GPUs is empty\n", "jupyter-kernel-other-environment"),
        # a card that is too new
        ("RTX 5xxx isn't supported?\n'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'\n", "gpu-too-new-for-build"),
        ("RTX 3xxx isn't supported?\n'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'\n", None),
        ("Installed CUDA 7.5. Tried an example, it goes wrong; with the CPU only version it is right\n" + FOUND, "gpu-too-new-for-build"),
        ("Installed CUDA 8.0. Tried an example, it goes wrong; with the CPU only version it is right\n" + FOUND, None),
        ("Slow startup and model loading\nRTX 3090, TensorFlow 2.1.0, CUDA 10.1\n", "jit-cold-start"),
        ("Slow startup and model loading\nRTX 2080, TensorFlow 2.1.0, CUDA 10.1\n", None),
        ("RTX2080Ti, tensorflow1.10, cuda9.0\nInternalError: Blas xGEMMBatched launch failed : a.shape=[15,16,8]\n", "gpu-too-new-for-build"),
        ("RTX2080Ti, tensorflow1.13, cuda10.0\nInternalError: Blas xGEMMBatched launch failed : a.shape=[15,16,8]\n", None),
        ("RTX2080Ti, tensorflow1.10, cuda9.0\nCould not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n", "gpu-memory-handle-alloc"),
        ("A long startup time, 5 minutes at:\nAdding visible gpu devices: 0\nGTX 850M, tensorflow 2.0, CUDA 10.0\n", "jit-cold-start"),
        ("A long startup time, 5 minutes.\nGTX 850M, tensorflow 2.0, CUDA 10.0\n", None),
        # speed, several GPUs
        ("The training is slow: flow_from_directory reads the images from google drive very slowly\n", "cpu-starved-input"),
        ("The GPU does nothing most of the time, something in the pre-processing holds it up\n", "cpu-starved-input"),
        ("horovod hangs on one node\nmpirun -np 4 -x NCCL_P2P_DISABLE=1 runs\nmpirun -np 4 -x NCCL_P2P_DISABLE=0 does not\n", "nccl-p2p-iommu-acs"),
        ("horovod hangs on one node\nmpirun -np 4 -x NCCL_P2P_DISABLE=0\n", None),
    ],
)  # fmt: skip
def test_what_lines_and_words_tell_together(text: str, cause: str | None) -> None:
    roots, _ = shown(judged(text))
    assert roots[:1] == ([cause] if cause else []), (roots, text)


@pytest.mark.parametrize(
    ("named", "steps"),
    [
        ("tensorflow-gpu 1.0.1", ("pip uninstall -y tensorflow tensorflow-gpu", "pip install tensorflow-gpu==1.0.1")),
        ("tensorflow-gpu 2.4.1", ()),
        ("tensorflow-gpu", ()),
    ],
)
def test_what_replaces_a_package_that_keras_brought(named: str, steps: tuple[str, ...]) -> None:
    """Without a version pip would install the newest tensorflow-gpu, which is an error."""
    report = judged(f"{named} finds my GPU. Once keras is installed, it finds nothing but the CPU.\n")
    (root,) = report.diagnosis.root_causes
    (finding,) = (f for f in report.findings if f.cause == root.cause)
    (fix,) = finding.fixes
    assert fix.steps == tuple(f"python3 -m {step}" for step in steps)
