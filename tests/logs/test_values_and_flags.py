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
        ("CUDA_VISIBLE_DEVICES: all\n" + NO_DEVICE, "cuda-visible-devices-wrong"),
        ("CUDA_VISIBLE_DEVICES=all\n" + NO_DEVICE, "cuda-visible-devices-wrong"),
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


UNKNOWN = "Failed to initialize NVML: Unknown Error\n"
NO_RULES = "{setting}\nIn the container nvidia-smi answers\n" + UNKNOWN
VENDOR = "docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found\n"
QUERY = "cudaGetDeviceCount returned 100\n-> no CUDA-capable device is detected\nResult = FAIL\n"
JETSON = "Jetson Orin NX and its GPU\n{who}\n$ ./deviceQuery\n" + QUERY


@pytest.mark.parametrize(
    ("text", "cause", "first"),
    [
        # device rules
        (NO_RULES.format(setting="Rootful docker has lost its GPUs since I set no-cgroups = true for the rootless one"), "container-no-cgroups-set", True),
        (NO_RULES.format(setting="The toolkit's config.toml says no-cgroups = true"), "container-no-cgroups-set", False),
        (NO_RULES.format(setting="Rootless docker, no-cgroups = true"), "container-no-cgroups-set", False),
        (NO_RULES.format(setting="#no-cgroups = true"), "container-no-cgroups-set", False),
        (UNKNOWN + "In the container. Setting no-cgroups = false fixed it\n", "container-no-cgroups-set", True),
        (UNKNOWN + "In the container. Setting no-cgroups = false did not help\n", "container-no-cgroups-set", False),
        # docker finds no vendor
        (VENDOR + "The GPU is an Intel UHD 620\n", "no-nvidia-gpu", True),
        (VENDOR + "My server's GPU is an Intel one\n", "no-nvidia-gpu", True),
        (VENDOR + "The GPU is a GeForce RTX 3060\n", "container-toolkit-missing", True),
        # whose device nodes
        (JETSON.format(who="As a normal user I get no GPU, as root I do"), "device-node-permission", True),
        (JETSON.format(who="It fails for non-root users"), "device-node-permission", True),
        (JETSON.format(who="Neither I nor anybody else gets it"), "device-node-permission", False),
        (JETSON.format(who="Neither I nor anybody else gets it"), "tf-aarch64-cpu-only", False),
        # words for what goes first
        ("CUDA busy error in every second job of our Slurm\n", "gpu-exclusive-busy", True),
        ("The GPU is busy at 98%, is that well?\n", "gpu-exclusive-busy", False),
        ("The plugin fails: MIG mode is enabled and there are no MIG devices\n", "mig-enabled-no-instance", True),
        ("MIG on our cluster: one process uses one device only, of several\n", "mig-enabled-no-instance", False),
        ("The basecaller finds no GPU on our cluster\nsingularity run tools.sif basecaller\n", "apptainer-no-nv", True),
        ("The basecaller finds no GPU on our cluster\nsingularity run --nv tools.sif basecaller\n", "apptainer-no-nv", False),
    ],
)  # fmt: skip
def test_what_is_told_goes_first(text: str, cause: str, first: bool) -> None:
    roots, left = said(judged(text))
    assert ([*roots, *left][:1] == [cause]) is first, (roots, left)


@pytest.mark.parametrize(
    ("command", "harmless"),
    [
        ("CUDA_VISIBLE_DEVICES=1 apptainer exec --nv tools.sif nvidia-smi", True),
        ("export CUDA_VISIBLE_DEVICES=0,1; nvidia-smi", True),
        ("CUDA_VISIBLE_DEVICES=1 apptainer exec --nv tools.sif python train.py", False),
        ("CUDA_VISIBLE_DEVICES=1 nvidia-smi -i 1", False),
    ],
)
def test_nvidia_smi_does_not_heed_the_choice(command: str, harmless: bool) -> None:
    report = judged(f"How is one GPU chosen?\n$ {command}\nIt lists all my GPUs.\n")
    kinds = {e.kind for e in report.facts.text.understood()}
    assert ("benign-smi-shows-all" in kinds) is harmless
    assert not harmless or said(report) == ([], [])
