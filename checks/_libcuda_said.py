"""What lines of a pasted text decide of libcuda: of another release than the kernel module, for forward compatibility, or a stub."""

from __future__ import annotations

from gpudoctor.checks._cuinit import COMPAT_NOT_SUPPORTED, DRIVER_MISMATCH, NO_DEVICE, OLD_STUB, STUB
from gpudoctor.checks._driver_asked import Lines, answer, branches, in_container, modules_differ, numbers, wsl
from gpudoctor.facts import Facts
from gpudoctor.patterns import Pattern

_FIRST_COMPAT = 410
"""The first branch that has a forward-compatibility package (CUDA 10.0)."""
_PATHS = 3
"""Lines below numba's 'Mapped libcuda.so paths' on which they stand."""


_SINCE = Pattern(
    r"(?i)\b(?:since|after|following|when|whenever|every time|once|as soon as)\b[^.]{0,60}\bdriver|\bdriver[^.]{0,60}\b(?:over ?night|automatic\w*|unattended)|\b(?:unattended|automatic)\b[^.]{0,60}\bdriver"
)
"""An update is what came before, and not what was tried."""
_OF_THE_SYSTEM = Pattern(r"(?:/usr)?/lib(?:64)?/|libcuda\.so")
"""Where the driver's own library lies; or a name without its directory."""


def mismatch(facts: Facts) -> Lines:
    """The lines that show a libcuda of another release than the kernel module."""
    if lines := facts.text.said("api-mismatch"):
        return lines
    if two := _smi_of_another(facts) or _asks_for_another(facts):
        return two
    updated, again = facts.text.said("driver-was-updated"), facts.text.said("reboot-helps")
    other = facts.text.shows_a_failure or facts.text.said("suspended")
    if updated and again and not other and _SINCE.search(updated[0].text):
        return (*updated, *again)
    differ = branches(facts)
    linked = tuple(e for e in facts.text.said("libcuda-linked") if _OF_THE_SYSTEM.match(e.values["path"]))
    if differ is not None and differ[1] >= differ[0] and linked and not in_container(facts):
        return (*linked, *facts.text.said("kernel-version", "module-loaded", "nvidia-smi")[:1])
    if differ is not None and (packaged := _by_packages(facts, *differ)):
        return (*packaged[:2], *facts.text.said("driver-versions-differ", "kernel-version")[:1])
    if differ is not None and differ[1] < _FIRST_COMPAT:
        return facts.text.said("driver-versions-differ", "libcuda-version", "kernel-version")
    return ()


def _by_packages(facts: Facts, kernel: int, library: int) -> Lines:
    """The lines that name packages of the driver's own libraries, of the branch that is loaded: it is no compat library then."""
    said = facts.text.said
    if kernel == library or in_container(facts) or said("cuda-compat-named", "compat-on-path"):
        return ()
    return tuple(e for e in said("driver-libraries-named") if e.values["branch"] == str(library))


def _smi_of_another(facts: Facts) -> Lines:
    """nvidia-smi's banner names two branches, its own and the driver's, and CUDA does not start. Under WSL they always differ."""
    if wsl(facts) or answer(facts) is None:
        return ()
    banners = (e for e in facts.text.said("nvidia-smi") if "driver" in e.values)
    return tuple(e for e in banners if e.values["smi"].partition(".")[0] != e.values["driver"].partition(".")[0])


def _asks_for_another(facts: Facts) -> Lines:
    """libcuda asks for a part of another release than the kernel module's."""
    kernel = facts.driver.kernel_version
    asked = facts.text.said("driver-library-lost") if isinstance(kernel, str) else ()
    return tuple(e for e in asked if not f"{kernel}.".startswith(e.values["release"] + "."))


def compat(facts: Facts) -> Lines:
    """The lines that show a forward-compatibility libcuda where it can't work."""
    if modules_differ(facts):
        return ()
    if banner := _newer_than_the_branch(facts):
        return banner
    said, differ, result = facts.text.said, branches(facts), answer(facts)
    shown = said("cuinit-failed", "cuda-answers-803", "cuda-answers-804", "ngc-cuinit", "driver-versions-differ")
    refused = result in (DRIVER_MISMATCH, COMPAT_NOT_SUPPORTED)
    if (refused or differ) and (paths := (*said("compat-on-path"), *_lies_in_compat(facts))):
        return (*shown[:2], *paths)
    named = tuple(e for e in said("cuda-compat-named") if not _DRIVERS_OWN.search(e.text))
    if (refused or said("driver-versions-differ")) and named:
        return (*shown[:2], *named)
    if differ is not None:
        return shown if in_container(facts) and differ[1] > differ[0] and differ[1] >= _FIRST_COMPAT else ()
    if result != COMPAT_NOT_SUPPORTED:
        return ()
    return (*shown, *said("smi-works")) if in_container(facts) or said("smi-works") else ()  # the driver is one


_DRIVERS_OWN = Pattern(r"/(?:x86_64-linux-gnu|lib64|lib)/libcuda\.so\.\d")
"""Where the driver's own library lies: who tells of that one has no other."""


def _newer_than_the_branch(facts: Facts) -> Lines:
    """nvidia-smi's banner in a container, with a newer CUDA than the driver's branch brings, on a GeForce: its libcuda is the image's."""
    banners = tuple(e for e in facts.text.said("nvidia-smi") if "driver" in e.values and "cuda" in e.values)
    if not banners or not in_container(facts) or wsl(facts) or not _is_geforce(facts):
        return ()
    from gpudoctor.compat.versions import driver_branch, version

    branch = driver_branch(banners[0].values["driver"])
    own = branch.cuda if branch is not None else None
    return banners[:1] if own is not None and version(banners[0].values["cuda"]) > version(own) else ()


def _is_geforce(facts: Facts) -> bool:
    devices = facts.gpu.devices
    return isinstance(devices, tuple) and any(isinstance(d.name, str) and "GeForce" in d.name for d in devices)


def _lies_in_compat(facts: Facts) -> Lines:
    """The lines of a libcuda in a compat directory that is of the release which is loaded."""
    loaded = facts.driver.libcuda.version
    if not isinstance(loaded, str):
        return ()
    lies = (e for e in facts.text.said("libcuda-lies") if "/compat/" in e.values["path"])
    return tuple(e for e in lies if numbers(e.values["path"].partition(".so.")[2]) == numbers(loaded))


def stub(facts: Facts) -> Lines:
    """The lines that show the toolkit's stub in the place of libcuda."""
    if lines := facts.text.said("nvml-stub", "stub-mapped"):
        return lines
    for mapped in facts.text.said("libcuda-mapped"):  # numba: the paths stand below
        below = tuple(e for e in facts.text.said("libcuda-lies") if 0 < e.line - mapped.line <= _PATHS)
        if below and all("/stubs/" in e.text for e in below):
            return (mapped, *below)
    lib = facts.driver.libcuda
    refused = lib.init_result in (STUB, OLD_STUB) and isinstance(facts.driver.kernel_version, str)
    unnamed = facts.text.said("libcuda-without-release")  # the driver's own is a link to a file with its release
    if refused and unnamed:
        return (*facts.text.said("cuinit-failed"), *unnamed)
    if lib.path is None or lib.init_result in (STUB, OLD_STUB, NO_DEVICE):
        return facts.text.said("stubs-on-path")
    return ()


def stub_of_an_image(facts: Facts) -> bool:
    """Images bring a stub, which is found where no driver was handed in: it may be the container, not the path."""
    if not facts.text.is_all:
        return False
    if isinstance(facts.system.container, str) or facts.text.said("container-shell"):
        return True
    there = isinstance(facts.driver.kernel_version, str)
    return not there and (
        facts.driver.kernel_version is None or bool(facts.text.said("device-node-absent", "container-named"))
    )
