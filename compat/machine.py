"""Facts of a machine -> what the rules ask of it. What could not be read is 'not told', never a guess."""

from __future__ import annotations

import re

from gpudoctor.facts import Facts, Unread

from .hardware import gpu_by_pci, gpu_models
from .records import Platform
from .rules import Gpu, Machine

_PLATFORMS: dict[tuple[str, str], Platform] = {
    ("Linux", "x86_64"): "linux-x86_64",
    ("Linux", "aarch64"): "linux-aarch64",
    ("Windows", "AMD64"): "windows-x86_64",
    ("Darwin", "x86_64"): "macos-x86_64",
    ("Darwin", "arm64"): "macos-arm64",
}


def platform_of(facts: Facts) -> Platform | None:
    """The platform of the examined interpreter; None: not known, or one that TensorFlow is not published for."""
    system, machine = facts.system.system, facts.system.machine
    if isinstance(system, Unread) or isinstance(machine, Unread):
        return None
    return _PLATFORMS.get((system, machine))


def driver_of(facts: Facts) -> str | None:
    """The driver's release: of the libcuda that works (the forward-compatibility one, too), else of the kernel module, else
    (WSL2) as NVML says."""
    libcuda = facts.driver.libcuda
    own = libcuda.version if libcuda.init_result == 0 else None
    for one in (own, facts.driver.kernel_version, facts.gpu.driver_version):
        if isinstance(one, str) and re.fullmatch(r"\d{3,}(\.\d+)+", one):
            return one
    return None


def gpus_of(facts: Facts) -> tuple[Gpu, ...]:
    """The GPUs that CUDA shows to the process, else those that NVML lists, else those on the bus whose ids are known."""
    for listed in (facts.driver.libcuda.devices, facts.gpu.devices):
        if not isinstance(listed, Unread) and listed:
            return tuple(
                Gpu(name=_name(one.name), compute_capability=_capability(one.compute_capability)) for one in listed
            )
    if isinstance(facts.pci.devices, Unread):
        return ()
    found = []
    for device in facts.pci.devices:
        if device.is_nvidia_gpu and isinstance(device.device, int):
            capabilities = {m.compute_capability for m in gpu_models(f"10de:{device.device:04x}")}
            called = gpu_by_pci(device.device)
            name = called[0].name if called else f"10de:{device.device:04x}"
            found.append(Gpu(name=name, compute_capability=capabilities.pop() if len(capabilities) == 1 else None))
    return tuple(found)


def _name(name: str | Unread) -> str:
    return name if isinstance(name, str) else "GPU"


def _capability(value: tuple[int, int] | Unread) -> str | None:
    return None if isinstance(value, Unread) else f"{value[0]}.{value[1]}"


def machine_of(facts: Facts, *, installed: bool = False) -> Machine | None:
    """What the rules ask of a machine; None: its platform is not known.

    `installed`: the packages that are there count, not those that pip would choose.
    """
    platform = platform_of(facts)
    if platform is None:
        return None
    python, distributions = facts.python.version, facts.python.distributions
    packages = (
        {d.name: d.version for d in distributions if not d.shadowed}
        if installed and not isinstance(distributions, Unread)
        else None
    )
    return Machine(
        platform=platform,
        windows_driver=facts.system.wsl is True,
        python=".".join(python.split(".")[:2]) if isinstance(python, str) else None,
        glibc=facts.python.glibc if isinstance(facts.python.glibc, str) else None,
        driver=driver_of(facts),
        gpus=gpus_of(facts),
        packages=packages,
    )
