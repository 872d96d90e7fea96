"""Laptops, old cards, images with a driver in them, WSL by its Windows, CUDA that works after its use on the host: what is named, and
texts that look alike."""

from __future__ import annotations

import pytest

from tests.logs.judged import first, judged, said

_EXISTS = "nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/0a1b/merged{}: file exists"
_NO_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running."
_TWO = "Failed to initialize NVML: Driver/library version mismatch"
_UVM = "Error: Could not load UVM kernel module. Is nvidia-modprobe installed?"
_TORCH = ">>> torch.cuda.is_available()\nFalse\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # CUDA was used on the host
        (f"Rootless podman: the GPU is shown by nvidia-smi, and\n{_TORCH}After I have run the same on the host once, the container gives True, too.\nWe have no SELinux.", "cuinit-uvm-device-missing"),
        ("Our LXC container has no CUDA after each boot, though nvidia-smi works in it. If I first start a CUDA program on the host, it works in the container as well.", "cuinit-uvm-device-missing"),
        ("Im Container geht CUDA erst, nachdem ich deviceQuery einmal auf dem Host aufgerufen habe. torch.cuda.is_available() ist vorher False.", "cuinit-uvm-device-missing"),
        # the image's own files
        *((_EXISTS.format(path), "container-image-has-driver-files") for path in ("/usr/bin/nvidia-smi", "/usr/bin/nvidia-persistenced", "/usr/lib64/libnvcuvid.so.470.57.02", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/lib/firmware/nvidia/525.60.13/gsp_tu10x.bin")),
        ("nvidia-container-cli: mount error: mount operation failed: /var/lib/docker/aufs/mnt/1f/usr/bin/nvidia-smi: file exists", "container-image-has-driver-files"),
        (f"nvidia-smi was fine in the container. Then I installed cuda-9-2 inside the container:\n{_TWO}", "container-image-has-driver-files"),
        (f"FROM ubuntu:16.04\nRUN apt-get update && apt-get install -y nvidia-384\n\n{_TWO}", "container-image-has-driver-files"),
        (f"In our Dockerfile the graphics drivers 384.90 are installed. The result:\n{_TWO}", "container-image-has-driver-files"),
        ("kernel version 410.48.0 does not match DSO version 396.26.0 -- cannot find working devices in this configuration\nMy image is centos:7 plus `yum install cuda`.", "container-image-has-driver-files"),
        # WSL 1
        (f"Microsoft Windows [Version 10.0.17134.590]\nIn the Ubuntu of WSL:\n{_NO_DRIVER}", "wsl1-no-gpu"),
        (f"Windows 10 version 1709 (OS Build 16299.125), WSL with Ubuntu 16.04\n{_NO_DRIVER}", "wsl1-no-gpu"),
        # the fabric
        ("$ nvidia-smi -q | grep -A2 Fabric\n    Fabric\n        State                             : In Progress\n        Status                            : N/A\ntorch.cuda.is_available() returns False", "fabric-manager-not-running"),
        ("GPU 00000000:18:00.0\n    Product Name                          : NVIDIA H100 80GB HBM3\n    Fabric\n        State                             : Not Started\n\nfailed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized", "fabric-manager-not-running"),
        # old cards
        (f"{_UVM}\nThe card is a GeForce 9600 GT with driver 340.", "gpu-compute-capability-too-old"),
        (f"{_UVM}\nGPU: Quadro FX 580", "gpu-compute-capability-too-old"),
    ],
)  # fmt: skip
def test_it_is_named(text: str, cause: str) -> None:
    """One cause, which the words decide."""
    assert said(judged(text))[0] == [cause], text


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("NVIDIA card gone since the upgrade\nMy laptop (XPS 15) has lost it.\n$ lspci | grep -i vga\n00:02.0 VGA compatible controller: Intel Corporation CoffeeLake-H GT2 [UHD Graphics 630]\n", "optimus-gpu-powered-off"),
        ("Nvidia GPU not visible\n$ lshw -c display\n  *-display\n       product: UHD Graphics 630 (Mobile)\n       vendor: Intel Corporation\n\nprime-select takes nvidia without a complaint, TensorFlow lists no GPU.", "optimus-gpu-powered-off"),
        ("Problem with the import of tensorflow-gpu and Nvidia PRIME\nTensorFlow 1.2, GeForce 920MX\nimport tensorflow is the line that does it", "optimus-gpu-powered-off"),
        ("8x A100 SXM4 with NVSwitch (HGX): TensorFlow does not detect the GPUs\nnvidia-smi works. No library is reported as missing.", "fabric-manager-not-running"),
        ("system has unsupported display driver / cuda driver combination\nThe image is made from nvidia/cuda:11.4.2-devel, and started by docker run --gpus all", "cuda-compat-unsupported"),
        ("Error: stat nvidia.com/gpu=all: no such file or directory\npodman 3.4.4", "container-toolkit-missing"),
        ("GPU lost by the container after idling\nThe docker container stops using the GPU until I restart it.", "container-cgroup-devices-lost"),
        ("\u5bb9\u5668\u8fd0\u884c\u4e00\u6bb5\u65f6\u95f4\u540e GPU \u4e22\u5931\u4e86", "container-cgroup-devices-lost"),
        ("The Java binding has no GPU in it\nldd shows no dependency on CUDA libraries for libtensorflow.so, all runs on the CPU only.", "tf-cpu-only-package"),
        ("It fails due to the missing libcuda.so.1 file\nme@d3f3c94e1afb:/$ python3 -c 'import tensorflow'", "container-no-gpus-flag"),
    ],
)  # fmt: skip
def test_it_goes_first(text: str, cause: str) -> None:
    """What is likely, and not proven."""
    assert first(text) == cause, text


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("SELinux is not in use here.\npodman run --rm --security-opt label=type:nvidia_container_t nvidia/cuda nvidia-smi\nFailed to initialize NVML: Unknown Error", "lsm-denied"),
        ("SELinux: off\npodman run --security-opt label=type:nvidia_container_t x nvidia-smi\ntorch.cuda.is_available() gives False", "lsm-denied"),
        (f"In the container:\n{_TORCH}When I run it on the host it fails, too, and so it does once the container is new.", "cuinit-uvm-device-missing"),
        (f"{_TWO}\nI updated the driver of my workstation with apt. Do I need to install drivers in the container?", "container-image-has-driver-files"),
        ("nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/0a1b/merged/usr/bin/nvidia-smi: read-only file system", "container-image-has-driver-files"),
        (f"Windows 10 1809 and Ubuntu 18.04 dual boot, since WSL doesn't work with it\n{_NO_DRIVER}", "wsl1-no-gpu"),
        (f"I want to run a docker image but first I installed cuda on Ubuntu:\n{_TWO}", "container-image-has-driver-files"),
        (f"In the container:\n{_TWO}\nI added nvidia-driver-525 to my docker host.", "container-image-has-driver-files"),
        (f"Windows 10 [Version 10.0.19044.1586], WSL Ubuntu 20.04\n{_NO_DRIVER}", "wsl1-no-gpu"),
        (f"Windows build 17763 is what my colleague has. Here it is Ubuntu 18.04.\n{_NO_DRIVER}", "wsl1-no-gpu"),
        (f"{_UVM}\nThe card is a GeForce GTX 1070, driver 375.39.", "gpu-compute-capability-too-old"),
        ("lspci | grep -i vga\n00:02.0 VGA compatible controller: Intel Corporation HD Graphics 4600\nnvidia-smi: command not found", "optimus-gpu-powered-off"),
        ("TensorFlow does not detect the GPU of our A100 PCIe server\nnvidia-smi works.\npip install tensorflow==2.15, nothing else was installed", "fabric-manager-not-running"),
        ("GPU 00000000:18:00.0\n    Fabric\n        State                             : Completed\n        Status                            : Success\nTensorFlow lists no GPU", "fabric-manager-not-running"),
        ("system has unsupported display driver / cuda driver combination\nOn my desktop, since the driver was updated over night.", "cuda-compat-unsupported"),
    ],
)  # fmt: skip
def test_it_is_another(text: str, cause: str) -> None:
    """What looks alike."""
    assert first(text) != cause, text
