"""What several rules of a pasted text ask about the driver."""

from __future__ import annotations

from gpudoctor.checks._cuinit import SUCCESS
from gpudoctor.facts import Facts, TextEvent, Unread

Lines = tuple[TextEvent, ...]
SHOWN = ("driver-does-not-load", "nvidia-smi-fails")
"""What programs show of a driver that is not there or does not start."""
NVML_NOT_LOADED, _NVML_NO_LIBRARY, _NVML_MISMATCH = 9, 12, 18


def answer(facts: Facts) -> int | None:
    """cuInit's answer, where it was not success."""
    result = facts.driver.libcuda.init_result
    return None if isinstance(result, Unread) or result == SUCCESS else result


def no_driver(facts: Facts) -> bool:
    """Something shows that the driver does not work: nvidia-smi, CUDA, the loader."""
    return (
        facts.gpu.nvml_error in (NVML_NOT_LOADED, _NVML_NO_LIBRARY)
        or facts.driver.libcuda.path is None
        or answer(facts) is not None
        or facts.driver.kernel_version is None
        or bool(facts.text.shows(SHOWN[0]))
    )


def refuses(facts: Facts) -> Lines:
    """What shows that NVIDIA's driver is installed, and its module is not there."""
    if facts.gpu.nvml_error == NVML_NOT_LOADED:
        return facts.text.said("nvml-failed")
    return facts.text.said("kernel-module-absent", "module-no-device", "module-not-inserted", "installer-can-not-load")


def in_container(facts: Facts) -> bool:
    """The text names a container, or comes from one."""
    named = facts.text.said("container-shell", "container-named", "container-run")
    return isinstance(facts.system.container, str) or bool(named)


def wsl(facts: Facts) -> bool:
    """The text is from Windows' subsystem for Linux, or names it."""
    return facts.system.wsl is True or bool(facts.text.said("wsl-named"))


def numbers(release: str) -> tuple[int, ...]:
    """(535, 161, 8) of '535.161.08' and of '535.161.8', which are one release."""
    return tuple(int(n) for n in release.split(".") if n.isdigit())


def branches(facts: Facts) -> tuple[int, int] | None:
    """Branches of the kernel module and of libcuda, where they are told and of different releases."""
    kernel, library = facts.driver.kernel_version, facts.driver.libcuda.version
    if not isinstance(kernel, str) or not isinstance(library, str):
        return None
    first, second = numbers(kernel), numbers(library)
    if not first or not second or [*first, 0, 0][:3] == [*second, 0, 0][:3]:
        return None
    return first[0], second[0]


def modules_differ(facts: Facts) -> bool:
    """NVML or the kernel itself says that the driver's own libraries are of another release."""
    return facts.gpu.nvml_error == _NVML_MISMATCH or bool(facts.text.said("api-mismatch"))
