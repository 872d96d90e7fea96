"""The kernel's side: which module owns the GPU, and why NVIDIA's is not loaded."""

from __future__ import annotations

from shlex import quote

from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks._cuinit import SUCCESS, init_evidence, init_result, own_libraries
from gpudoctor.checks._driver_asked import SHOWN
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._gpus import on_bus
from gpudoctor.checks._said import lines
from gpudoctor.facts import Driver, Facts, ModuleFile, PciDevice, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check

_NO_GPU = ("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails")
_NOUVEAU, _VFIO = "nouveau", "vfio-pci"


def _gpus(facts: Facts) -> list[PciDevice]:
    """NVIDIA's GPUs on the bus, where none of them is the NVIDIA driver's: one that is may be meant to be the only one."""
    gpus = [d for d in known(facts.pci.devices) if d.is_nvidia_gpu]
    if not gpus:
        raise NotApplicable("no NVIDIA GPU is on the PCI bus")
    if any(d.driver == "nvidia" for d in gpus):
        raise NotApplicable("the NVIDIA driver owns a GPU")
    for gpu in gpus:
        known(gpu.driver)
    return gpus


def _driver_is_installed(facts: Facts) -> None:
    """Not applicable where there is no user library of the driver: then it is to be installed first."""
    path = facts.driver.libcuda.path
    candidates = own_libraries((path,)) if isinstance(path, str) else []
    if not candidates and not own_libraries(known(facts.driver.libcuda.candidates)):
        raise NotApplicable("the NVIDIA driver is not installed")


def _owned(gpus: list[PciDevice]) -> Evidence:
    said = ", ".join(f"{on_bus(d)} by {d.driver or 'no driver'}" for d in gpus)
    return Evidence(text=f"NVIDIA GPU(s) owned: {said}", source="/sys/bus/pci/devices")


@check(
    "GD109",
    "driver-module-not-loaded",
    stage=Stage.DRIVER,
    explains=(*SHOWN, *_NO_GPU, "cuinit-uvm-device-missing"),
)
def driver_module_not_loaded(facts: Facts) -> Findings:
    """The NVIDIA driver is installed and its kernel module is not loaded.

    What it looks at: the PCI bus, /proc/driver/nvidia/version (there only while the module is loaded), the driver's
    own libcuda.so.1, and the modules under /lib/modules: is there one for the kernel that runs?

    Why it matters: libcuda and nvidia-smi speak to the GPU through the module. Without it there is no GPU, though
    everything looks installed. It happens after a kernel update, when the module was not built for the new kernel
    (headers missing), and where Secure Boot refuses a module that is not signed.

    How to fix: load it (`sudo modprobe nvidia`), where it is there; else build it for the running kernel: install the
    kernel's headers and let dkms or akmods build it, or start the kernel that has one.

    Source: NVIDIA driver README, 'Installing the driver'; dkms(8).
    """
    if told := decided(facts, "driver-module-not-loaded"):
        yield Found(
            message="The driver's kernel module is not there for the kernel that runs, or is not loaded.",
            proof=lines(told),
            fixes=(_build(facts),),
        )
        return
    if known(facts.driver.kernel_version) is not None:
        return f"the kernel module {facts.driver.kernel_version} is loaded"
    if known(facts.system.wsl) or known(facts.system.tegra):
        raise NotApplicable("the driver of this machine has no such module")
    gpus = _gpus(facts)
    if any(d.driver in (_NOUVEAU, _VFIO) for d in gpus):
        raise NotApplicable("another driver owns the GPU")
    _driver_is_installed(facts)
    if "nvidia" in known(facts.driver.modules):
        return "the kernel module nvidia is loaded"
    container = known(facts.system.container)
    state, fixes = _on_disk(facts)
    yield Found(
        message=f"The driver is installed, and its kernel module is not loaded{' on the host' if container else ''}{state}.",
        proof=(
            _owned(gpus),
            Evidence(text="the NVIDIA kernel module is not loaded", source="/proc/driver/nvidia/version"),
            *_disk_evidence(facts.driver, facts.system.kernel),
            *_build_evidence(facts.driver),
        ),
        fixes=fixes,
    )


def _main(files: tuple[ModuleFile, ...]) -> list[ModuleFile]:
    """The files of the module nvidia itself: nvidia.ko, nvidia-current.ko, also compressed."""
    names = ("nvidia.ko", "nvidia-current.ko", "nvidia-open.ko", "nvidia-tesla.ko")
    return [f for f in files if f.path.rpartition("/")[2].startswith(names)]


def _disk_evidence(driver: Driver, kernel: str | Unread) -> tuple[Evidence, ...]:
    if isinstance(driver.module_files, Unread):
        return ()
    kernels = sorted({f.kernel for f in _main(driver.module_files)})
    said = f"nvidia.ko is there for {', '.join(kernels)}" if kernels else "nvidia.ko is there for no kernel"
    return (Evidence(text=f"{said}; kernel {kernel} runs", source="/lib/modules"),)


def _build_evidence(driver: Driver) -> tuple[Evidence, ...]:
    """What dkms's last build for this kernel lacked (errors of the compiler are driver-kernel-incompatible)."""
    log = driver.build_log
    if isinstance(log, Unread) or log is None:
        return ()
    return tuple(Evidence(text=e.text, source=log.path) for e in log.complaints if e.kind != "error")[:2]


def _on_disk(facts: Facts) -> tuple[str, tuple[Fix, ...]]:
    """What the modules on disk tell, as the end of a sentence, and the fixes that follow from it."""
    files, kernel = facts.driver.module_files, facts.system.kernel
    load = Fix(
        kind="command",
        risk="needs root",
        summary="Load it; if it is refused, the kernel's log says why (Secure Boot: 'key was rejected')",
        steps=("sudo modprobe nvidia", "sudo dmesg | grep -iE 'nvrm|nvidia|rejected' | tail"),
        verify="nvidia-smi",
    )
    if isinstance(facts.system.container, str):
        return "", (_on_the_host(load),)
    if isinstance(files, Unread) or isinstance(kernel, Unread):
        return "", (load, _build(facts))
    have = _main(files)
    if any(f.kernel == kernel for f in have):
        kept_out = facts.driver.blacklisted
        if not isinstance(kept_out, Unread) and "nvidia" in kept_out:
            return ": it is blacklisted", (
                Fix(
                    kind="command",
                    risk="needs root",
                    summary="Comment out the lines that keep it out, and load the module (if the kernel's command line keeps it "
                    "out, too, take it out there: grep nvidia /proc/cmdline)",
                    steps=(_LET_IN, "sudo modprobe nvidia"),
                    verify="nvidia-smi",
                ),
            )
        return f", though it is there for the running kernel ({kernel})", (load,)
    if have:
        others = ", ".join(sorted({f.kernel for f in have}))
        return f": it was built for kernel {others}, and {kernel} runs", (_build(facts),)
    return f", and none was built for the running kernel ({kernel})", (_build(facts),)


_LET_IN = (
    r"grep -rlsE '^\s*(blacklist|install|alias)\s+nvidia\b' /etc/modprobe.d /run/modprobe.d /usr/lib/modprobe.d | "
    r"xargs -r sudo sed -i -E 's/^\s*(blacklist|install|alias)\s+nvidia\b/# &/'"
)


def _on_the_host(done: Fix) -> Fix:
    return Fix(
        kind="advice",
        risk=done.risk,
        summary=f"On the host: {'; '.join(done.steps)}. Then restart this container.",
        steps=(),
        verify="nvidia-smi, on the host",
    )


_BUILD = {
    "ubuntu": ('sudo apt-get install "linux-headers-$(uname -r)"', "sudo dkms autoinstall"),
    "debian": ('sudo apt-get install "linux-headers-$(uname -r)"', "sudo dkms autoinstall"),
    "fedora": ('sudo dnf install "kernel-devel-$(uname -r)"', "sudo akmods --force"),
    "rhel": ('sudo dnf install "kernel-devel-$(uname -r)"', "sudo dkms autoinstall"),
    "rocky": ('sudo dnf install "kernel-devel-$(uname -r)"', "sudo dkms autoinstall"),
    "almalinux": ('sudo dnf install "kernel-devel-$(uname -r)"', "sudo dkms autoinstall"),
    "arch": ("sudo pacman -S linux-headers", "sudo dkms autoinstall"),
}


def _build(facts: Facts) -> Fix:
    name = facts.system.distribution
    steps = _BUILD.get(name, ()) if isinstance(name, str) else ()
    without = " (its headers are missing)" if facts.driver.kernel_headers is False else ""
    return Fix(
        kind="command" if steps else "advice",
        risk="needs root",
        summary=f"Build the module for the running kernel{without}, or start the kernel that has one. Where the "
        "distribution ships built modules, update its driver package",
        steps=(*steps, "sudo modprobe nvidia") if steps else (),
        verify="nvidia-smi",
    )


@check(
    "GD110",
    "driver-nouveau-conflict",
    stage=Stage.DRIVER,
    explains=(
        *SHOWN,
        "driver-rminit-failed",
        *_NO_GPU,
        "driver-module-not-loaded",
        "device-nodes-missing",
        "cuinit-uvm-device-missing",
    ),
)
def driver_nouveau_conflict(facts: Facts) -> Findings:
    """The nouveau driver owns the GPU.

    What it looks at: which driver is bound to each NVIDIA GPU on the PCI bus. It fires where nouveau is, and NVIDIA's
    own driver owns none of them, though it is installed.

    Why it matters: nouveau is the kernel's own driver for the screen. It knows no CUDA, and NVIDIA's module can't take
    a GPU that it holds.

    How to fix: blacklist nouveau, make the initial ramdisk anew (it loads nouveau at boot), and reboot.

    Source: NVIDIA driver installation guide, 'Disabling nouveau'.
    """
    if told := decided(facts, "driver-nouveau-conflict"):
        yield Found(
            message="The GPU is held by nouveau (or another driver), and NVIDIA's module does not get it.",
            proof=lines(told),
            fixes=(_without_nouveau(facts),),
        )
        return
    gpus = _gpus(facts)
    if not any(d.driver == _NOUVEAU for d in gpus):
        return "nouveau owns no GPU"
    _driver_is_installed(facts)
    blacklisted = _nouveau_blacklisted(facts)
    yield Found(
        message="The GPU is held by nouveau, which knows no CUDA"
        + ("; it is blacklisted, and was loaded all the same." if blacklisted else "."),
        proof=(_owned(gpus),),
        fixes=(_without_nouveau(facts),),
    )


def _nouveau_blacklisted(facts: Facts) -> bool:
    kept_out = facts.driver.blacklisted
    return not isinstance(kept_out, Unread) and _NOUVEAU in kept_out


def _without_nouveau(facts: Facts) -> Fix:
    blacklisted = _nouveau_blacklisted(facts)
    steps = () if blacklisted else (
        r"printf 'blacklist nouveau\noptions nouveau modeset=0\n' | sudo tee /etc/modprobe.d/blacklist-nouveau.conf",
    )  # fmt: skip
    debian = facts.system.distribution in ("ubuntu", "debian", "linuxmint", "pop")
    ramdisk = "sudo update-initramfs -u" if debian else "sudo dracut --force"
    return Fix(
        kind="command",
        risk="needs reboot",
        summary="Make the initial ramdisk anew, without nouveau, and reboot"
        if blacklisted
        else "Keep nouveau from being loaded, and reboot",
        steps=(*steps, ramdisk, "sudo reboot"),
        verify="nvidia-smi",
    )


@check(
    "GD111",
    "gpu-bound-to-vfio",
    stage=Stage.DRIVER,
    explains=(
        *SHOWN,
        "driver-nouveau-conflict",
        "driver-module-not-loaded",
        *_NO_GPU,
        "driver-missing",
        "libcuda-not-found",
        "device-nodes-missing",
        "cuinit-uvm-device-missing",
    ),
)
def gpu_bound_to_vfio(facts: Facts) -> Findings:
    """The GPU is set aside for virtual machines.

    What it looks at: which driver is bound to each NVIDIA GPU on the PCI bus. It fires where vfio-pci is, and NVIDIA's
    own driver owns none of them. A host that keeps one GPU and hands on others is not at fault.

    Why it matters: vfio-pci only hands a device to a virtual machine; nothing on this host can compute on it.

    How to fix: run TensorFlow in the virtual machine, or take the GPU back: out of vfio-pci.ids (kernel command line,
    /etc/modprobe.d), and bound to nvidia.

    Source: Linux kernel documentation, VFIO; Documentation/ABI/testing/sysfs-bus-pci (driver_override).
    """
    if told := decided(facts, "gpu-bound-to-vfio"):
        yield Found(
            message="The GPU is bound to vfio-pci, which sets it aside for virtual machines.",
            proof=lines(told),
            fixes=(fix.GIVE_BACK,),
        )
        return
    gpus = _gpus(facts)
    held = [d for d in gpus if d.driver == _VFIO]
    if not held:
        return "no GPU is bound to vfio-pci"
    yield Found(
        message=f"{', '.join(d.address for d in held)}: bound to vfio-pci, which sets a GPU aside for virtual machines.",
        proof=(
            _owned(gpus),
            *(
                Evidence(text=f"driver_override is {d.driver_override}", source=f"/sys/bus/pci/devices/{d.address}")
                for d in held
                if isinstance(d.driver_override, str)
            ),
        ),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="If no virtual machine uses it, give it back to the NVIDIA driver until the next boot; for good, "
                "take it out of vfio-pci's ids (grep -rn vfio /etc/modprobe.d /proc/cmdline)",
                steps=_given_back([quote(d.address) for d in held]),
                verify="nvidia-smi",
            ),
            Fix(kind="advice", risk="safe", summary="Run TensorFlow in the virtual machine that has the GPU", steps=()),
        ),
    )


def _given_back(addresses: list[str]) -> tuple[str, ...]:
    unbound = [f"echo {a} | sudo tee /sys/bus/pci/drivers/vfio-pci/unbind" for a in addresses]
    meant = [f"echo nvidia | sudo tee /sys/bus/pci/devices/{a}/driver_override" for a in addresses]
    probed = [f"echo {a} | sudo tee /sys/bus/pci/drivers_probe" for a in addresses]
    return (*unbound, *meant, "sudo modprobe nvidia", *probed)


@check(
    "GD119",
    "optimus-gpu-powered-off",
    stage=Stage.BUS,
    explains=(
        *SHOWN,
        "driver-nouveau-conflict",
        *_NO_GPU,
        "no-nvidia-gpu",
        "driver-module-not-loaded",
        "device-nodes-missing",
    ),
)
def optimus_gpu_powered_off(facts: Facts) -> Findings:
    """The NVIDIA GPU of this laptop is switched off.

    What it looks at: the files in which bbswitch (/proc/acpi/bbswitch) and prime-select (/etc/prime-discrete) say that
    the NVIDIA GPU is off, where cuInit finds no GPU. A GPU that merely sleeps (D3cold) wakes up when it is used.

    Why it matters: laptops with two GPUs switch NVIDIA's off to save power; then no driver finds it, and it may even
    vanish from the PCI bus.

    How to fix: switch it on: `sudo prime-select on-demand` and a reboot, or bbswitch's ON.

    Source: Ubuntu, nvidia-prime; the Bumblebee project, bbswitch.
    """
    if told := decided(facts, "optimus-gpu-powered-off"):
        yield Found(message="The laptop's NVIDIA GPU is switched off.", proof=lines(told), fixes=(fix.SWITCH_ON,))
        return
    if facts.text.said("laptop-mode", "gpu-switched-off") and facts.driver.libcuda.path is None:
        raise UnknownFactError(Unread(why="not in this text", settle="lspci | grep -i nvidia"))
    if init_result(facts) == SUCCESS:
        return "cuInit answers 0"
    said = known(facts.driver.switched_off)
    if said is None:
        return "neither bbswitch nor prime-select has switched a GPU off"
    _driver_is_installed(facts)
    path, _, text = said.partition(": ")
    prime = path == "/etc/prime-discrete"
    yield Found(
        message=f"{'prime-select' if prime else 'bbswitch'} has switched the NVIDIA GPU off.",
        proof=(Evidence(text=text, source=path), init_evidence(facts.driver.libcuda)),
        fixes=(
            Fix(
                kind="command",
                risk="needs reboot" if prime else "needs root",
                summary="Switch it on",
                steps=("sudo prime-select on-demand", "sudo reboot")
                if prime
                else ("echo ON | sudo tee /proc/acpi/bbswitch", "sudo modprobe nvidia"),
                verify="nvidia-smi",
            ),
        ),
    )
