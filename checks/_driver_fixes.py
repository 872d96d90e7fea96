"""What to do about the driver, where it is the same on every machine."""

from __future__ import annotations

import os
from shlex import quote

from gpudoctor.facts import Facts
from gpudoctor.findings import Fix

REBOOT = Fix(
    kind="command",
    risk="needs reboot",
    summary="Load the kernel module of the installed release: reboot (in a container: restart it "
    "after the host is rebooted)",
    steps=("sudo reboot",),
    verify="nvidia-smi",
)
OFF_STUBS = Fix(
    kind="command",
    risk="needs root",
    summary="Find what puts the stubs directory on the loader's path, and take it out (of LD_LIBRARY_PATH and of the image, "
    "too); in a container, see that it is started with GPUs",
    steps=("grep -rn stubs /etc/ld.so.conf /etc/ld.so.conf.d", "sudo ldconfig"),
    verify="ldconfig -p | grep libcuda.so.1",
)
OFF_COMPAT = Fix(
    kind="command",
    risk="needs root",
    summary="Remove the forward-compatibility package and take its directory off LD_LIBRARY_PATH; or use an image of the "
    "CUDA that the host's driver has, or a newer driver on the host",
    steps=("sudo apt-get remove 'cuda-compat-*'", "sudo ldconfig"),
    verify="ldconfig -p | grep libcuda.so.1",
)
MAKE_UVM = Fix(
    kind="command",
    risk="needs root",
    summary="Load the module and make its device node, on the host; hand it to the container, if it is one",
    steps=("sudo nvidia-modprobe -u -c=0",),
    verify="ls -l /dev/nvidia-uvm && gpudoctor check",
)
MAKE_UVM_AGAIN = Fix(
    kind="command",
    risk="needs root",
    summary="Make the node again; restart a container, so that it gets the new one",
    steps=("sudo rm -f /dev/nvidia-uvm /dev/nvidia-uvm-tools", "sudo nvidia-modprobe -u -c=0"),
    verify="ls -l /dev/nvidia-uvm && gpudoctor check",
)
MAKE_NODES = Fix(
    kind="command",
    risk="needs root",
    summary="Make them now, and at every boot",
    steps=("sudo nvidia-modprobe -u -c=0", "sudo systemctl enable --now nvidia-persistenced"),
    verify="ls -l /dev/nvidia* && gpudoctor check",
)
JOIN = Fix(
    kind="command",
    risk="needs root",
    summary="See which group may open them, and join it",
    steps=("ls -l /dev/nvidia*", 'sudo usermod -aG video "$USER"'),
    verify="log in again, then gpudoctor check",
)
SEE_DENIED = Fix(
    kind="command",
    risk="needs root",
    summary="See what was denied, and allow it (SELinux and containers: setsebool -P container_use_devices 1)",
    steps=("sudo ausearch -m avc -ts recent", "sudo dmesg | grep 'apparmor=\"DENIED\"'"),
)
ENROLL = Fix(
    kind="command",
    risk="needs reboot",
    summary="Enroll the key that signs the modules built on this machine, and confirm it in the blue screen "
    "at the next boot (Debian and Ubuntu: this path)",
    steps=("sudo mokutil --import /var/lib/shim-signed/mok/MOK.der", "sudo reboot"),
    verify="modinfo nvidia | grep signer; nvidia-smi",
)
OTHER_FLAVOUR = Fix(
    kind="advice",
    risk="needs reboot",
    summary="Install the other flavour of the same driver release: the proprietary one for GPUs before Turing, which have no "
    "GSP; the open one for Blackwell and newer, which need it",
    steps=(),
    verify="nvidia-smi",
)
LEGACY_BRANCH = Fix(
    kind="advice",
    risk="needs reboot",
    summary="Install the driver branch that the kernel's log names for this GPU",
    steps=(),
    verify="nvidia-smi",
)
GIVE_BACK = Fix(
    kind="command",
    risk="needs reboot",
    summary="If no virtual machine uses it, take its ids out of vfio-pci's (kernel command line, /etc/modprobe.d), and reboot; "
    "otherwise run TensorFlow in the virtual machine",
    steps=("grep -rn vfio /etc/modprobe.d /proc/cmdline",),
    verify="lspci -nnk -d 10de:",
)
SWITCH_ON = Fix(
    kind="command",
    risk="needs reboot",
    summary="Switch it on (with bbswitch: echo ON | sudo tee /proc/acpi/bbswitch)",
    steps=("sudo prime-select on-demand", "sudo reboot"),
    verify="nvidia-smi",
)
ROCM = Fix(
    kind="advice",
    risk="safe",
    summary="If ROCm supports this GPU, install AMD's driver and its build of TensorFlow (tensorflow-rocm, "
    "https://rocm.docs.amd.com); otherwise TensorFlow runs on the CPU here",
    steps=(),
    verify="rocminfo",
)
ADD_ONE = Fix(
    kind="advice",
    risk="safe",
    summary="Add a GPU: seat the card, pass it through to this virtual machine, or choose an instance "
    "type that has one. On this machine TensorFlow runs on the CPU.",
    steps=(),
    verify="lspci -d 10de:",
)
LICENCE = Fix(
    kind="command",
    risk="needs root",
    summary="Put the licence server's token into /etc/nvidia/ClientConfigToken, and restart the service",
    steps=("sudo systemctl restart nvidia-gridd",),
    verify="nvidia-smi -q | grep -i license",
)
OTHER_GPU = Fix(
    kind="advice",
    risk="safe",
    summary="Use another GPU: compute capability 5.0 or higher for the published packages. Without one, TensorFlow runs on the CPU",
    steps=(),
)

_AGAIN = {
    "ubuntu": 'sudo apt-get install --reinstall "$(dpkg -S {file} | cut -d: -f1 | head -n 1)"',
    "debian": 'sudo apt-get install --reinstall "$(dpkg -S {file} | cut -d: -f1 | head -n 1)"',
    "fedora": 'sudo dnf reinstall "$(rpm -qf {file})"',
    "arch": 'sudo pacman -S "$(pacman -Qoq {file})"',
    "opensuse-leap": "sudo zypper install --force \"$(rpm -qf --qf '%{{NAME}}' {file})\"",
}


def again(path: str, facts: Facts) -> Fix:
    """The driver's package once more, for the file that is not whole."""
    name = facts.system.distribution
    inside = isinstance(facts.system.container, str)
    step = _AGAIN.get(name) if isinstance(name, str) and not inside else None
    owned = f"*/{os.path.basename(os.path.dirname(path))}/{os.path.basename(path)}" if step and "dpkg" in step else path
    return Fix(
        kind="command" if step else "advice",
        risk="needs root",
        summary="Install the driver's package again"
        + (", on the host, and restart this container" if inside else "")
        + (", or the driver itself where it came from NVIDIA's installer" if step else ""),
        steps=(step.format(file=quote(owned)),) if step else (),
        verify="nvidia-smi && gpudoctor check",
    )
