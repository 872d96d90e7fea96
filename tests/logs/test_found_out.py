"""What somebody has found out by himself decides, whatever the rest of the text reads like."""

from __future__ import annotations

import pytest

from gpudoctor.textual.found_out import firstly
from tests.logs.judged import first, judged

FOUND = [
    ("I installed the CUDA 12.2 toolkit by NVIDIA's guide, yet nvcc --version answers release 11.5", "ld-library-path-wrong-toolkit"),
    ("Could not load dynamic library 'libcudnn.so.8': it turned out that our module system overwrites LD_LIBRARY_PATH", "ld-library-path-not-set"),
    ("My GPU isn't used by TensorFlow.\nUpdate: another service of mine had all the GPUs, once I stopped that one it went well", "gpu-memory-held-by-other-process"),
    ("TensorFlow doesn't use the GPU any more\nI installed tensorflow since a package asked for it, and now it trains on the CPU only", "tf-cpu-only-package"),
    ("The installer's last words: your GPU was detected, but the Docker runtime is not configured", "container-toolkit-missing"),
    ("No GPU inside podman. `nvidia-ctk cdi list` prints: Found 0 CDI devices", "container-toolkit-missing"),
    ("My jobs see no GPU\nscontrol show node n1\n   Gres=(null)", "slurm-no-gpu-allocated"),
    ("GPUs aren't used on k3s: in kubectl describe node there is no nvidia.com/gpu at all", "k8s-device-plugin-not-registered"),
    ("Can this be trained on a card that isn't from NVIDIA? Ours is an Intel(R) UHD Graphics 620", "no-nvidia-gpu"),
    ("Every CuPy call takes minutes on our A30-24C vGPU once the machine is up for 20 minutes", "vgpu-unlicensed"),
    ("docker: OCI runtime create failed: starting container process caused \"permission denied\": unknown\nSELinux is enforcing here", "lsm-denied"),
    ("Unable to determine the device handle for GPU 0000:4F:00.0: Unknown Error\nCUDA error: unknown error", "xid79-fell-off-bus"),
    ("modprobe: FATAL: Error inserting nvidia_current (/lib/modules/5.4.0/updates/dkms/nvidia_current.ko): No such device\noptirun can't be started", "optimus-gpu-powered-off"),
    ("Training is very slow on the GPU, the dataset lies on a mounted drive", "cpu-starved-input"),
    ("Unable to initialize backend 'gpu'\nThe card is a Quadro K600", "gpu-compute-capability-too-old"),
    ("Keras doesn't use the GPU\nWe have a GTX 1070 here.\nset CUDA_VISIBLE_DEVICES=1", "cuda-visible-devices-wrong"),
    ("Could not find 'cudart64_100.dll'. TensorFlow requires it.\nIn my bin directory there is only cudart64_101.dll", "cuda-version-mismatch"),
    ("A convolution fails in cuDNN. With allow_growth it's OK.", "gpu-memory-handle-alloc"),
    ("GPU isn't used by TensorFlow\nTensorFlow version: 1.14.0\nCUDA/cuDNN version: 10.1 / 7.6\n", "cuda-version-mismatch"),
    ("I can't get tensorflow onto my Jetson Nano\nERROR: No matching distribution found for tensorflow", "tf-aarch64-no-wheel"),
    ("In Google Colab with a T4:\nSkipping registering GPU devices...\nRuntimeError: No GPU devices found", "cuda-version-mismatch"),
    ("GPU isn't recognized in Spyder. From the Anaconda prompt it works:\n, name: \"/device:GPU:0\"\ndevice_type: \"GPU\"\nand in Spyder only the CPU is listed", "jupyter-kernel-other-environment"),
    ("The detection API needs cuDNN 8.1, and what gets loaded is 8.0.5", "cudnn-version-too-old"),
    ("So my card can't be used: its compute capability is 5.2, and the binary wants 6.0", "gpu-compute-capability-too-old"),
    ("nvidia-smi fails in my container. My mistake: I should have used nvidia-docker instead of docker", "container-no-gpus-flag"),
    ("ERROR: Detected Tesla V100S-PCIE-32GB GPU, which is not supported by this container", "gpu-compute-capability-too-old"),
    ("ERROR: Detected NVIDIA B200 GPU, which is not supported by this container", "gpu-too-new-for-build"),
    ("ImportError: /opt/c/lib/libtensorflow_framework.so.2: undefined symbol: _ZTIN6snappy4SinkE", "tf-import-broken"),
    ("My notebook's memory isn't freed: the vram stays taken by the dead kernel, only a reboot of the machine frees it", "gpu-memory-held-by-other-process"),
    ("The Dockerfile can't be built: while it builds,\nImportError: libcuda.so.1: cannot open shared object file: No such file or directory", "container-no-gpus-flag"),
    ("\u663e\u5b58\u88ab\u5360\u6ee1\u4e86,\u53ef\u662f GPU \u7684\u4f7f\u7528\u7387\u663e\u793a 0,\u8dd1\u5f97\u5f88\u6162", "cpu-starved-input"),
    ("JetPack 4.6, my own image:\n>>> import cv2\nImportError: /usr/lib/aarch64-linux-gnu/libcublas.so.10: file too short", "container-no-gpus-flag"),
    ("My server, my own image:\n>>> import cv2\nImportError: /usr/lib/x86_64-linux-gnu/libcublas.so.10: file too short", "cuda-lib-unusable"),
    ("TensorFlow works in R from a terminal, and RStudio can't use it:\nError: Installation of TensorFlow not found.", "jupyter-kernel-other-environment"),
    ("A handle of cuDNN isn't made, it happens ONLY while our simulator runs on the same GPU\ncould not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED", "gpu-memory-held-by-other-process"),
    ("The container's hook says that libnvidia-gpucomp can't be found, no GPU inside\ndocker run --gpus all …", "container-toolkit-too-old"),
    ("TensorFlow sees no GPU. I had to delete everything in /usr/local/cuda/lib64/stubs to make it work", "libcuda-stub-loaded"),
    ("No module folder for the newest kernel is in /lib/modules, nvidia-smi fails", "driver-module-not-loaded"),
    ("Could not load dynamic library 'libcublas.so.11'\n# export LD_LIBARY_PATH=/usr/local/cuda/lib64", "ld-library-path-not-set"),
    ("CUDA fails in every program: there is no /dev/nvidia-uvm here", "cuinit-uvm-device-missing"),
    ("Inside WSL2 the GPU isn't seen any more since I ran\nsudo apt install nvidia-utils-510", "wsl-libcuda-path"),
    ("TensorRT was linked against cuBLAS/cuBLAS LT 11.4.2 but loaded cuBLAS/cuBLAS LT 11.2.1\nMy program fails", "cublas-version-mismatch"),
    ("Some minutes into the training an error tells that on the GPU memory has run out", "gpu-oom-model-or-data"),
    ("The convolution crashes since the cudnn in that image is of the wrong subversion", "cudnn-version-mismatch"),
    ("Its CUDA part isn't used, with an outdated cuDNN it says", "cudnn-version-too-old"),
    ("As soon as both GPUs train, the computer loses its power", "psu-insufficient"),
    ("The card is lost under load\nnvidia 0000:63:00.0: AER: can't recover (no error_detected callback)", "xid79-fell-off-bus"),
    ("Copies to the GPU are slow\nLnkSta: Speed 8GT/s (ok), Width x1 (downgraded)", "pcie-link-degraded"),
    ("Training on all of them is slow\n> Peer access from Tesla K80 (GPU0) -> Tesla K80 (GPU1) : Yes\n> Peer access from Tesla K80 (GPU0) -> Tesla K80 (GPU4) : No", "multi-gpu-topology-no-p2p"),
    ("Each start of the training takes minutes\ndocker run -u $(id -u) --gpus all tensorflow/tensorflow:2.4.0-gpu", "jit-cache-unwritable"),
    ("Neither of them installs on Windows 10. The processor is an Intel Core i5 CPU 650.\nAll right, it really was the CPU!", "cpu-no-avx"),
    ("The desktop is black since the kernel's update, and dmesg | grep nvidia prints nothing at all", "driver-module-not-loaded"),
    ("cudart64_80.dll was missing. I had never installed the base, only its patch", "cuda-toolkit-missing"),
    ("An error about memory on the server's GPU, two of the cards are taken by others", "gpu-memory-held-by-other-process"),
    ("all_reduce_perf hangs with two GPUs, /proc/cmdline has intel_iommu=on", "nccl-p2p-iommu-acs"),
    ("It could not be installed: no version\nERROR: No matching distribution found for tensorflow\nI put Python 64bit on it\nSuccessfully installed tensorflow-1.4.0 six-1.11.0\n", "python-32bit"),
    ("The third-party dynamic library (cublas64_102.dll;cublas64_10.dll) that Paddle depends on is not configured correctly. (error code is 126)", "cuda-toolkit-missing"),
    ("tensorflow 2.3 doesn't load in a docker container, libcuda.so.1 is missing", "container-no-gpus-flag"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), FOUND)
def test_what_is_found_out_goes_first(text: str, cause: str) -> None:
    assert first(text) == cause


OTHERWISE = [
    ("CUDA 12.2 is installed, and nvcc --version says release 12.2", "ld-library-path-wrong-toolkit"),
    ("I installed tensorflow-gpu, and now it trains on the CPU only", "tf-packages-overlap"),
    ("My jobs see no GPU\n   Gres=gpu:4", "slurm-no-gpu-allocated"),
    ("GPU isn't used by TensorFlow\nTensorFlow version: 1.14.0\nCUDA/cuDNN version: 10.0 / 7.6\n", "cuda-version-mismatch"),
    ("The detection API needs cuDNN 8.1, and what gets loaded is 8.6.0", "cudnn-version-too-old"),
    ("I can't get tensorflow onto my PC\nERROR: No matching distribution found for tensorflow", "tf-aarch64-no-wheel"),
    ("ImportError: /opt/c/lib/libtensorflow_framework.so.2: undefined symbol: _ZN10tensorflow4data", "tf-import-broken"),
    ("Keras doesn't use the GPU\nWe have two GTX 1070 here.\nset CUDA_VISIBLE_DEVICES=1", "cuda-visible-devices-wrong"),
    ("Could not find 'cudart64_100.dll'. TensorFlow requires it.\nIn my bin directory there is cudart64_100.dll", "cuda-version-mismatch"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), OTHERWISE)
def test_what_is_not_found_out_does_not(text: str, cause: str) -> None:
    assert cause not in firstly(judged(text).facts)
