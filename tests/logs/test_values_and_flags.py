"""Values and flags that do not mean what somebody means by them, and what people state of a driver that is not started."""

from __future__ import annotations

import pytest

from tests.logs.judged import judged, said

TORCH_NONE = "RuntimeError: No CUDA GPUs are available\n"
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
TORCH_NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n"
PROMPT = "$ docker run {flags}-it --rm pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime python\n>>> import torch\n>>> torch.cuda.is_available()\n{answer}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # CUDA_VISIBLE_DEVICES takes numbers and UUIDs
        ("services:\n  app:\n    environment:\n      CUDA_VISIBLE_DEVICES: all\n" + TORCH_NONE, "cuda-visible-devices-wrong"),
        ("$ docker run --gpus all -e CUDA_VISIBLE_DEVICES=all app\n" + TORCH_NONE, "cuda-visible-devices-wrong"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = 'cuda:0'\n" + NO_DEVICE, "cuda-visible-devices-wrong"),
        ("export CUDA_VISIBLE_DEVICES=gpu:0\n" + TORCH_NONE, "cuda-visible-devices-wrong"),
        ("services:\n  app:\n    environment:\n      NVIDIA_VISIBLE_DEVICES: all\n" + TORCH_NONE, None),
        ("services:\n  app:\n    environment:\n      CUDA_VISIBLE_DEVICES: 0\n" + TORCH_NONE, None),
        ("export CUDA_VISIBLE_DEVICES=all\nexport CUDA_VISIBLE_DEVICES=0\n" + TORCH_NONE, None),  # which of them is it?
        ("export CUDA_VISIBLE_DEVICES=all\n" + "Found device 0 with properties: \nname: GeForce GTX 1080\n", None),
        ("export CUDA_VISIBLE_DEVICES=all\n" + TORCH_NO_DRIVER, None),
        # no GPU is asked for
        (PROMPT.format(flags="", answer="False"), "container-no-gpus-flag"),
        (PROMPT.format(flags="--gpus 0 ", answer="False"), "container-no-gpus-flag"),
        (PROMPT.format(flags="--gpus '0' ", answer="False"), "container-no-gpus-flag"),
        ("docker run --gpus=0 -p 80:80 worker\n" + TORCH_NO_DRIVER, "container-no-gpus-flag"),
        (PROMPT.format(flags="", answer="True"), None),
        (PROMPT.format(flags="--gpus all ", answer="False"), None),
        ("docker run --gpus '\"device=0\"' -p 80:80 worker\n" + TORCH_NO_DRIVER, None),
        ("docker run --gpus 1 -p 80:80 worker\n" + TORCH_NO_DRIVER, None),
        (">>> torch.cuda.is_available()\nFalse\n", None),
    ],
)  # fmt: skip
def test_what_settings_mean(text: str, cause: str | None) -> None:
    roots, left = said(judged(text))
    assert roots == ([cause] if cause else []), left


FAILED = "subprocess.CalledProcessError: Command '['apt-get', 'install', '-y', '{package}', 'gcc']' returned non-zero exit status 100.\n"
LOST = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
RPMS = "kernel-{kernel}.el8.x86_64\nkernel-devel-{devel}.el8.x86_64\n"
LSHW = "  *-display{claimed}\n       description: 3D controller\n       product: GP104GL\n       vendor: {vendor}\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        # headers of the kernel that runs
        ("The NVIDIA driver's installer ends early\n" + FAILED.format(package="linux-headers-6.1.0-9-cloud-amd64"), "driver-module-not-loaded"),
        ("The NVIDIA driver's installer ends early\n" + FAILED.format(package="python3-venv"), None),
        ("NVIDIA driver\n$ sudo apt install linux-headers-$(uname -r)\nE: Unable to locate package linux-headers-6.1.0-9-cloud-amd64\n", "driver-module-not-loaded"),
        ("NVIDIA driver\n$ sudo dnf install kernel-devel-$(uname -r)\nNo match for argument: kernel-devel-4.18.0-305.el8.x86_64\n", "driver-module-not-loaded"),
        ("NVIDIA driver\nPackage kernel-devel-4.18.0-305.el8.x86_64 is already installed.\n", None),
        ("My driver\n" + LOST + RPMS.format(kernel="4.18.0-305", devel="4.18.0-348"), "driver-module-not-loaded"),
        ("My driver\n" + LOST + RPMS.format(kernel="4.18.0-305", devel="4.18.0-305"), None),
        ("My driver\n" + LOST + RPMS.format(kernel="4.18.0-305", devel="4.18.0-348").replace(".x86_64", "", 1) + "kernel-devel-4.18.0-305.el8.x86_64\n", None),
        ("kernel-devel is of another release than the kernel, dkms builds nothing\n" + LOST, "driver-module-not-loaded"),
        ("kernel-devel matches the running kernel, not another release\n" + LOST, None),
        # a module by hand
        ("CUDA programs find no GPU\nOnce I modprobe nvidia_uvm by hand everything works.\n", "cuinit-uvm-device-missing"),
        ("CUDA programs find no GPU\nIt works only after `sudo modprobe nvidia-uvm`.\n", "cuinit-uvm-device-missing"),
        ("CUDA programs find no GPU\nmodprobe nvidia_uvm does not help.\n", None),
        ("CUDA programs find no GPU after suspend\nIt works after rmmod nvidia_uvm and modprobe nvidia_uvm.\n", "cuinit-unknown-after-suspend"),
        # the flavour of the kernel modules
        ("nvidia-smi: No devices were found\nThe RTX 5080 needs the open kernel modules, I had the proprietary ones.\n", "driver-rminit-failed"),
        ("nvidia-smi: No devices were found\nIt is Blackwell: nvidia-open is required.\n", "driver-rminit-failed"),
        ("nvidia-smi: No devices were found\nMy card does not need the open kernel modules.\n", None),
        ("nvidia-smi: No devices were found\nAre the open kernel modules required?\n", None),
    ],
)  # fmt: skip
def test_what_is_stated_of_the_driver(text: str, cause: str | None) -> None:
    roots, left = said(judged(text))
    if cause == "cuinit-unknown-after-suspend":
        assert [*roots, *left][:1] == [cause]
    else:
        assert roots == ([cause] if cause else []), left


@pytest.mark.parametrize(
    ("claimed", "vendor", "first"),
    [
        (":1 UNCLAIMED", "NVIDIA Corporation", True),
        ("", "NVIDIA Corporation", False),
        (" UNCLAIMED", "Intel Corporation", False),
    ],
)
def test_a_device_that_no_driver_has(claimed: str, vendor: str, first: bool) -> None:
    roots, left = said(judged("It trains on the CPU\n" + LSHW.format(claimed=claimed, vendor=vendor)))
    assert ([*roots, *left][:1] == ["driver-missing"]) is first
