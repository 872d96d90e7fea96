"""The same causes in the words of other programs, of other places in a text, and of people."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said, shown
from tests.logs.test_complaints import first

NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
LOST = "ImportError: libcudart.so.9.2: cannot open shared object file: No such file or directory\n"
NO_DRIVER = "/usr/bin/docker-init: error\nRuntimeError: Found no NVIDIA driver on your system.\n"
CLI = "nvidia-container-cli: initialization error: driver error: failed to process request\n"
NO_GPU_DRIVER = 'could not select device driver "" with capabilities: [[gpu]]\n'
FULL = "failed to allocate 3.10G (3328599654 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY\n"
SELF_CHECK = (
    'Traceback (most recent call last):\n  File "D:\\py\\Lib\\site-packages\\tensorflow\\python\\platform\\self_check.py", line 47, in preload_check\n'
    "    {}\nOSError: [WinError 126] Das angegebene Modul wurde nicht gefunden\n"
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("CUDA initialization failure with error: 35", "driver-too-old"),
        ("the service logs 'CUDA error code 35'", "driver-too-old"),
        ("GPU #1: FATAL: the 'k' kernel requires 5.2 capability!", "gpu-compute-capability-too-old"),
        (SELF_CHECK.format("ctypes.WinDLL(build_info.msvcp_dll_name)"), "msvc-runtime-missing"),
        (SELF_CHECK.format("% build_info.msvcp_dll_n"), "msvc-runtime-missing"),
        ("Performance\n SW Power Cap : Active, held to 220 W, so it is slow", "gpu-throttling-power"),
        (
            "W asm_compiler.cc:99] *** WARNING *** You are using ptxas 8.0.61, which is older than 9.2.88. ptxas 9.x before",
            "ptxas-too-old",
        ),
        (
            "AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 address=0xaf00 flags=0x0030]\nwith 2 GPUs the loss is NaN, with one it falls",
            "nccl-p2p-iommu-acs",
        ),
        ("rank 3: transport/nvls.cc:250 Cuda failure 1 'invalid argument'", "nccl-nvls-fabric-manager"),
        ("NVML mismatch since the last update", "driver-library-mismatch"),
        ("Navigator took tensorflow 2.3.0 mkl_py38h0123456_0, is the GPU used by it?\nGPU isn't used", "conda-cpu-build"),
        ("OOM in the first epoch, shape[512,3,900,900]", "gpu-oom-model-or-data"),
        ("DGX Spark: tensorflow, no GPU", "tf-aarch64-cpu-only"),
        (f"microsoft-standard-WSL2\n{CLI}", "wsl-driver-toolkit-mismatch"),
        (f"docker was chosen with snap in the installer, snap install docker\n{NO_GPU_DRIVER}", "container-snap-docker"),
        ("libcudnn.so.8: cannot open shared object file, I've libcudnn.so.9 here", "cudnn-wrong-major"),
        ("cuDNN 9.1 installed by apt. It wants libcudnn.so.8", "cudnn-wrong-major"),
        (f"$ snap services docker\ndocker.dockerd  enabled  active  -\n{NO_GPU_DRIVER}", "container-snap-docker"),
        (f"docker.nvidia-container-toolkit  disabled  inactive  -\n{NO_GPU_DRIVER}", "container-snap-docker"),
        (
            "pip install tensorflow-gpu\npython setup.py egg_info did not run successfully\nThe \"tensorflow-gpu\" package has been removed",
            "tensorflow-gpu-package-removed",
        ),
        ("On Windows my GPU is not found since I went from tf 2.10 -> 2.16", "tf-windows-native-cpu-only"),
        ("my box with two cards resets when training starts, the PSU has 650 W", "psu-insufficient"),
    ],
)  # fmt: skip
def test_it_is_stated(text: str, cause: str) -> None:
    assert first(text) == cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "kernel version 410.48.0 does not match DSO version 410.104.0 -- cannot find working devices in this configuration",
            "driver-library-mismatch",
        ),
        ("it stops with error 999, optirun was not used", "optimus-gpu-powered-off"),
        ("Error code: 999 after the start", "cuinit-uvm-device-missing"),
        (
            'CUDA error at p2p.cu:98 code=205(cudaErrorMapBufferObjectFailed) "cudaDeviceEnablePeerAccess(ids[1], 0)"',
            "p2p-unsupported-geforce",
        ),
        ("the pod is told: Insufficient GPUs", "k8s-device-plugin-not-registered"),
        (CLI, "container-host-driver-broken"),
        (f"podman is rootless here\n{CLI}", "container-rootless-cgroups"),
        ("    at jcuda.driver.JCudaDriver.cuCtxCreate(JCudaDriver.java:9)\nCUDA_ERROR_OUT_OF_MEMORY", "gpu-memory-held-by-other-process"),
        ("My PCIe slot went down to 2.0, copies take four times as long", "pcie-link-degraded"),
        ("PCIe: max gen 4, link width max 16x, currently 4x in the benchmark", "pcie-link-degraded"),
        ("the card runs at x4 instead of x16", "pcie-link-degraded"),
        ("Is CUDA_VISIBLE_DEVICES='' hiding the cards? My script is in no list of nvidia-smi", "cuda-visible-devices-empty"),
        ("Check failed: error == cudaSuccess (8 vs. 0)  invalid device function", "gpu-too-new-for-build"),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_89'", "gpu-too-new-for-build"),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_35'", "gpu-compute-capability-too-old"),
        ("InternalError: GPU sync failed", "gpu-memory-held-by-other-process"),
        ("Check failed: cusolverDnCreate(&h) == CUSOLVER_STATUS_SUCCESS Failed to create cuSolverDN instance", "gpu-memory-handle-alloc"),
        ("Secure Boot is enabled, and the nvidia module is not loaded", "driver-secure-boot"),
        ("the nvidia kernel module won't load", "driver-module-not-loaded"),
        (f"{LOST}As a systemd unit it ends so, by hand it doesn't", "ld-library-path-not-set"),
        (f"{LOST}The files are in /usr/local/cuda/lib64", "ld-library-path-not-set"),
        ("the editor's debugger can't import tensorflow: libcudart.so.9.2", "cuda-version-mismatch"),
        ("setup is stuck, libcudart.so.9.2 is wanted", "cuda-version-mismatch"),
        ("Cannot dlopen some GPU libraries.\ntf 2.17 [and-cuda]", "pip-nvidia-libs-not-found"),
        (
            "Cannot dlopen some GPU libraries.\nThe libraries are in /srv/v/lib/python3.11/site-packages/nvidia/cudnn/lib",
            "pip-nvidia-libs-not-found",
        ),
        (f"{NO_DRIVER}It is a container of our build service, on the host torch works", "container-no-gpus-flag"),
        (f"docker-compose starts it\n{NO_DEVICE}", "container-no-gpus-flag"),
        ("my devcontainer doesn't see the GPU", "container-no-gpus-flag"),
        ("kubeflow notebook, bash: nvidia-smi: command not found", "container-no-gpus-flag"),
        (f"with docker as the installer of the server has it (snap)\n{NO_GPU_DRIVER}", "container-snap-docker"),
        ("dlopen libcuda.so.1 failed under WSL\n/usr/lib/wsl/lib is not known to ldconfig", "wsl-libcuda-path"),
        ("In jupyter: No module named 'tensorflow'", "jupyter-kernel-other-environment"),
        ("title: No module named 'tensorflow', in the same conda env the shell finds it", "jupyter-kernel-other-environment"),
        ("the node shows no nvidia.com/gpu capacity", "k8s-device-plugin-not-registered"),
        ("after `systemctl daemon-reload` containers lose their GPUs (NVML unknown error)", "container-cgroup-devices-lost"),
        (f"two scripts share the card\n{FULL}", "gpu-memory-held-by-other-process"),
    ],
)  # fmt: skip
def test_it_is_likely(text: str, cause: str) -> None:
    assert first(text) == f"{cause}?"


@pytest.mark.parametrize(
    "text",
    [
        "W asm_compiler.cc:99] *** WARNING *** You are using ptxas 10.1.243, which is older than 9.2.88. ptxas 9.x before 9.2.88",
        "SW Power Cap : Not Active",
        "PCIe 4.0 x16, everything is as it should be",
        "PCIe goes down to gen 1 when idle to save power",
        "Sufficient GPUs for all pods",
        "with 2 GPUs the loss falls twice as fast",
        "it runs as a systemd service",
        "/srv/v/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9 is loaded",
        "rootless podman works",
        "kernel requires at least 5.10",
        "Step 35 of 99, error: 0",
        "CUDA error with 100 GPUs",
        "cuda failed 100 times",
        "CUDA error: 34.5 percent",
        "cuInit returned 0",
        "a CUDA error in step 999",
        "shared memory is too small for this block size",
        "GSP is on",
    ],
)
def test_nothing_is_wrong(text: str) -> None:
    assert shown(judged(text)) == ([], [])


def test_who_asks_for_cudas_libraries_is_no_build_without_them() -> None:
    listed = "$ pip show tensorflow\nName: tensorflow\nVersion: 1.0.0\n"
    assert said(judged(f"{listed}GPU isn't used\n"))[0] == ["tf-cpu-only-package"]
    assert said(judged(f"{listed}libcudnn.so.5: cannot open shared object file\n"))[0] == []


def test_a_driver_that_answers_is_no_stub() -> None:
    answer = "failed call to cuInit: UNKNOWN ERROR (-1)\n"
    late = "cudaGetDevice() failed. Status: CUDA driver version is insufficient for CUDA runtime version\n"
    assert said(judged(answer))[0] == ["libcuda-stub-loaded"]
    assert said(judged(answer + late))[0] == ["driver-too-old"]


def test_who_works_without_wsl_is_on_windows() -> None:
    asks = "How do I use the GPU with TF 2.16 on Windows {} WSL?"
    assert first(asks.format("w/o")) == first(asks.format("without")) == "tf-windows-native-cpu-only?"
    assert "wsl-driver-toolkit-mismatch" not in said(judged(asks.format("w/o")))[1][:1]


def test_what_a_harmless_line_is_asked_about() -> None:
    line = "W gpu_device.cc:918] Unable to enable peer access: Internal: CUDA_ERROR_TOO_MANY_PEERS"
    assert said(judged(f"Why can't it enable peer access with ten GPUs?\n{line}\n")) == ([], [])
