"""What a program's line tells of a cause in an unusual place; and the same line where it tells nothing."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

KERNEL_390 = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  390.87  Tue Aug 21 12:33:05 PDT 2018\n"
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
REPORTED = "libcuda reported version is: {library}\nkernel reported version is: {kernel}\n"
NOT_READY = "failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n"
LISTED = "GPU 0: Tesla T4 (UUID: GPU-2f0c1a44-77aa-4b51-9a3e-0d1c5f2b8e01)\n"
UUID = "CUDA_VISIBLE_DEVICES=GPU-{uuid}\nNum GPUs Available: 0\n"
BANNER = "ERROR: This container was built for NVIDIA Driver Release 525.60 or later, but\n       version {driver} was detected and compatibility mode is UNAVAILABLE.\n       [[CUDA Driver UNAVAILABLE (cuInit(0) returned 803)]]\n"
NODE = "crw-rw-{others} 1 root root 195, 0 May  3 11:02 /dev/nvidia0\ncat: /dev/nvidia0: {why}\n"
NO_GPU = "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n"
DLOPEN = "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries\n"
NO_CUDNN = "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("lrwxrwxrwx 1 root root 18 Nov 20 10:11 /usr/lib64/libcuda.so.1 -> libcuda.so.396.54\n" + KERNEL_390 + NO_DEVICE, "driver-library-mismatch"),
        ("lrwxrwxrwx 1 root root 17 Nov 20 10:11 /usr/lib64/libcuda.so.1 -> libcuda.so.390.87\n" + KERNEL_390 + NO_DEVICE, None),
        ("lrwxrwxrwx 1 root root 17 Nov 20 10:11 /usr/local/cuda/compat/libcuda.so.1 -> libcuda.so.396.54\n" + KERNEL_390 + NO_DEVICE, None),
        ("Failed to initialize NVML: Driver/library version mismatch\n" + DLOPEN, "driver-library-mismatch"),
        # services
        ("ii  nvidia-fabricmanager-550   550.54.14-1\nii  nvidia-driver-550-server  550.90.07-0ubuntu0.22.04.2\n" + NOT_READY, "fabric-manager-version-mismatch"),
        ("ii  nvidia-fabricmanager-550   550.90.07-1\nii  nvidia-driver-550-server  550.90.07-0ubuntu0.22.04.2\n" + NOT_READY, None),
        ("ii  nvidia-fabricmanager-550   550.54.14-1\nii  nvidia-driver-550-server  550.90.07-0ubuntu0.22.04.2\n", None),
        # visibility
        (UUID.format(uuid="9b1c0000-1111-4222-8333-444455556666") + LISTED, "cuda-visible-devices-wrong"),
        (UUID.format(uuid="2f0c1a44") + LISTED, None),
        # containers
        (BANNER.format(driver="418.226.00"), "container-driver-too-old"),
        (BANNER.format(driver="418.226.00").replace("803", "804"), "cuda-compat-unsupported"),
        ("No help topic for 'cdi'\nCDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all\n", "container-toolkit-too-old"),
        ("CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all\n", "container-toolkit-missing"),
        ("nvidia-container-cli: mount error: open failed: /sys/fs/cgroup/devices/docker/0a1b2c/devices.allow: no such file or directory: unknown\n", "container-cgroupv2-unsupported"),
        ("In a pod:\n" + NODE.format(others="rw-", why="Operation not permitted") + "systemctl daemon-reload was run before\n", "container-cgroup-devices-lost"),
        (NODE.format(others="---", why="Permission denied"), "device-node-permission"),
        (NO_GPU + "Accelerator: None\n", "colab-cpu-runtime"),
        (NO_GPU + "Accelerator: GPU T4 x2\n", None),
        # libraries
        (NO_CUDNN + "  nvidia/cudnn/lib/libcudnn.so.8\n", "pip-nvidia-libs-not-found"),
        (NO_CUDNN + "/opt/cudnn/lib/libcudnn.so.8\n", "ld-library-path-not-set"),
        (DLOPEN + "ls: cannot access '/usr/local/cuda*': No such file or directory\n", "cuda-toolkit-missing"),
        (DLOPEN + "$ ls /usr/local\nbin  etc  games  include  lib  man  sbin  share  src\n", "cuda-toolkit-missing"),
        (DLOPEN + "$ ls /usr/local\nbin  cuda  etc  games  include  lib  man  sbin  share  src\n", None),
        ("Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open\nnvidia-cuda-toolkit is 10.1.243-3\n", "cuda-version-mismatch"),
        ("Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: cannot open\nnvidia-cuda-toolkit is 10.1.243-3\n", None),
    ],
)  # fmt: skip
def test_what_a_line_decides(text: str, cause: str | None) -> None:
    assert said(judged(text))[0] == ([cause] if cause else [])


def test_releases_that_are_reported_apart() -> None:
    """Without the line that compares them."""
    roots, candidates = said(judged(NO_GPU + REPORTED.format(library="510.47.3", kernel="470.94.0")))
    assert [*roots, *candidates][0] == "driver-library-mismatch"
    assert "driver-library-mismatch" not in said(judged(REPORTED.format(library="470.94.0", kernel="470.94.0")))[0]


@pytest.mark.parametrize(
    ("error", "own"),
    [
        ("KeyError: 'label'", True),
        ("ValueError: Input 0 of layer dense is incompatible: expected shape=(None, 784), found shape=(32, 28)", True),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", True),
        ("AttributeError: module 'tensorflow' has no attribute 'Session'", True),
        ("AttributeError: module 'tensorflow' has no attribute 'constant'", False),
        ("ValueError: Memory growth cannot differ between GPU devices", False),
        ("RuntimeError: it does not work", False),
    ],
)
def test_an_error_of_the_program_itself(error: str, own: bool) -> None:
    trace = f'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n    main()\n{error}\n'
    report = judged(trace)
    assert bool(report.facts.text.said("benign-own-error", "benign-api-of-tf1")) is own
    assert bool(report.diagnosis.unexplained) is not own or not own
    assert not own or said(report) == ([], [])
