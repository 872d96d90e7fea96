"""The PCI bus: is there a GPU at all?"""

from __future__ import annotations

from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, PciDevice, Unread, known
from gpudoctor.findings import Evidence, Findings, Found, NotApplicable, Stage
from gpudoctor.registry import check

_EXPLAINED = (
    *SHOWN,
    "tf-lists-no-gpu",
    "cuinit-no-device",
    "libcuda-not-found",
    "container-does-not-start",
    "container-no-gpus-flag",
    "container-toolkit-missing",
    "driver-missing",
)
_IN_A_TEXT = (
    *(
        *_EXPLAINED,
        "container-docker-desktop-linux",
        "container-host-driver-broken",
        "cuinit-fails",
        "libcuda-stub-loaded",
    ),
    *("driver-does-not-load", "driver-module-not-loaded", "driver-kernel-incompatible"),
)
"""On a machine these are found by what is there, and stand beside it."""


@check(
    "GD701",
    "no-nvidia-gpu",
    stage=Stage.BUS,
    explains=_EXPLAINED,
)
def no_nvidia_gpu(facts: Facts) -> Findings:
    """No NVIDIA GPU is on this machine's PCI bus.

    What it looks at: every device in /sys/bus/pci/devices with vendor 10de and a display class (VGA or
    3D controller). It concludes only where the bus can be read and shows devices, no NVIDIA kernel
    module is loaded, and the machine is neither WSL2 (/dev/dxg) nor a Jetson, whose GPUs are on no PCI bus. In a pasted
    text, a list of all displays with none of NVIDIA's, what is said of the GPU (or of none, where a container is not
    started), a Docker that runs on a Mac, and a guest of VirtualBox, VMware Workstation, Player or Fusion, or Parallels, which hand over none.

    Why it matters: no driver, toolkit or TensorFlow package can bring up a GPU that is not there. In a
    virtual machine or in the cloud it means that none was passed through, or that the instance type has none.

    How to fix: seat and power the card, pass it through to the virtual machine, or choose an instance
    with a GPU. If `lspci` does not show it, stop looking at software.

    Source: PCI vendor 10de is NVIDIA (pci.ids); base class 03 is 'display controller' (PCI Code and ID
    Assignment Specification).
    """
    if told := decided(facts, "no-nvidia-gpu"):
        yield Found(
            message="TensorFlow needs an NVIDIA GPU, and this machine has none.",
            proof=lines(told),
            fixes=(fix.ADD_ONE,),
            explains=_IN_A_TEXT,
        )
        return
    devices = _without_nvidia(facts)
    if devices is None:
        return _there(facts)
    yield Found(
        message="TensorFlow needs an NVIDIA GPU, and this machine's PCI bus has none.",
        proof=(
            Evidence(
                text=f"{len(devices)} devices are on the bus; none is a display controller of NVIDIA (vendor 10de)",
                source="/sys/bus/pci/devices",
            ),
            Evidence(text="the NVIDIA kernel module is not loaded", source="/proc/driver/nvidia/version"),
        ),
        fixes=(fix.ADD_ONE,),
    )


def _without_nvidia(facts: Facts) -> tuple[PciDevice, ...] | None:
    """All devices on the bus, where it is certain that no NVIDIA GPU is among them; None where one is there."""
    cuda = facts.driver.libcuda.devices
    if not isinstance(cuda, Unread) and cuda:
        return None
    if not facts.text.is_all and known(facts.system.wsl):
        raise NotApplicable("WSL2 hands its GPU over through /dev/dxg, not on a PCI bus")
    if known(facts.system.tegra):
        raise NotApplicable("the GPU of a Jetson is on no PCI bus")
    if known(facts.driver.kernel_version) is not None:
        return None
    devices = known(facts.pci.devices)
    if any(d.is_nvidia_gpu for d in devices):
        return None
    for device in devices:
        known(device.vendor)
        known(device.pci_class)
    return devices


def _there(facts: Facts) -> str:
    """What shows that an NVIDIA GPU is here, where `_without_nvidia` is None."""
    cuda, kernel = facts.driver.libcuda.devices, facts.driver.kernel_version
    if not isinstance(cuda, Unread) and cuda:
        return f"CUDA lists {several(len(cuda), 'GPU')}"
    return f"the kernel module {kernel} is loaded" if isinstance(kernel, str) else "an NVIDIA GPU is on the PCI bus"


@check(
    "GD702",
    "amd-gpu",
    stage=Stage.BUS,
    explains=(
        *SHOWN,
        *("tf-lists-no-gpu", "no-nvidia-gpu", "cuinit-no-device", "libcuda-not-found"),
        *("container-toolkit-missing", "container-does-not-start"),
    ),
)
def amd_gpu(facts: Facts) -> Findings:
    """The GPU of this machine is AMD's, and this TensorFlow is built for NVIDIA's.

    What it looks at: every device in /sys/bus/pci/devices: a display controller or accelerator of vendor 1002, and no
    display controller of NVIDIA. A TensorFlow that is built for ROCm is left alone.

    Why it matters: the usual TensorFlow packages speak CUDA only, which AMD's GPUs do not know.

    How to fix: install AMD's build (tensorflow-rocm) on a GPU that ROCm supports; graphics inside a processor mostly are
    not. Or choose a machine with an NVIDIA GPU.

    Source: PCI vendor 1002 is AMD (pci.ids); https://rocm.docs.amd.com (TensorFlow on ROCm, supported GPUs).
    """
    if facts.system.system == "Darwin":
        raise NotApplicable("this is macOS, which has no CUDA whatever its GPU")
    if told := decided(facts, "amd-gpu"):
        yield Found(
            message="The GPU here is AMD's; this TensorFlow can use NVIDIA's only.",
            proof=lines(told),
            fixes=(fix.ROCM,),
        )
        return
    if facts.tensorflow.build.rocm is True:
        raise NotApplicable("this TensorFlow is built for AMD GPUs (ROCm)")
    devices = _without_nvidia(facts)
    theirs = [d for d in devices or () if d.is_amd_gpu]
    if not theirs:
        return _there(facts) if devices is None else "no GPU of AMD is on the PCI bus"
    yield Found(
        message="The GPU here is AMD's; this TensorFlow can use NVIDIA's only.",
        proof=(
            Evidence(
                text=", ".join(
                    f"{d.address} {d.vendor:04x}:{d.device:04x}" for d in theirs if isinstance(d.device, int)
                ),
                source="/sys/bus/pci/devices",
            ),
        ),
        fixes=(fix.ROCM,),
    )
