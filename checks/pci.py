"""The PCI bus: is there a GPU at all?"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.facts import Facts, Unread, known
from gpudoctor.findings import Evidence, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check


@check(
    "GD701",
    "no-nvidia-gpu",
    stage=Stage.BUS,
    explains=("tf-lists-no-gpu", "cuinit-no-device", "libcuda-not-found"),
)
def no_nvidia_gpu(facts: Facts) -> Iterator[Found]:
    """No NVIDIA GPU is on this machine's PCI bus.

    What it looks at: every device in /sys/bus/pci/devices with vendor 10de and a display class (VGA or
    3D controller). It concludes only where the bus can be read and shows devices, no NVIDIA kernel
    module is loaded, and the machine is neither WSL2 (/dev/dxg) nor a Jetson, whose GPUs are on no PCI bus.

    Why it matters: no driver, toolkit or TensorFlow package can bring up a GPU that is not there. In a
    virtual machine or in the cloud it means that none was passed through, or that the instance type has none.

    How to fix: seat and power the card, pass it through to the virtual machine, or choose an instance
    with a GPU. If `lspci` does not show it, stop looking at software.

    Source: PCI vendor 10de is NVIDIA (pci.ids); base class 03 is 'display controller' (PCI Code and ID
    Assignment Specification).
    """
    cuda = facts.driver.libcuda.devices
    if not isinstance(cuda, Unread) and cuda:
        return
    if known(facts.system.wsl):
        raise NotApplicable("WSL2 hands its GPU over through /dev/dxg, not on a PCI bus")
    if known(facts.system.tegra):
        raise NotApplicable("the GPU of a Jetson is on no PCI bus")
    if known(facts.driver.kernel_version) is not None:
        return
    devices = known(facts.pci.devices)
    if any(d.is_nvidia_gpu for d in devices):
        return
    for device in devices:
        known(device.vendor)
        known(device.pci_class)
    yield Found(
        message="TensorFlow needs an NVIDIA GPU, and this machine's PCI bus has none.",
        proof=(
            Evidence(
                text=f"{len(devices)} devices are on the bus; none is a display controller of NVIDIA (vendor 10de)",
                source="/sys/bus/pci/devices",
            ),
            Evidence(text="the NVIDIA kernel module is not loaded", source="/proc/driver/nvidia/version"),
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Add a GPU: seat the card, pass it through to this virtual machine, or choose an instance "
                "type that has one. On this machine TensorFlow runs on the CPU.",
                steps=(),
                verify="lspci -d 10de:",
            ),
        ),
    )
