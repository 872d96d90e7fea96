"""What lines of a pasted text decide of the driver: one rule a cause. Where none decides, the cause stays a candidate."""

from __future__ import annotations

from collections.abc import Callable

from gpudoctor.checks._bus_said import amd, missing, none
from gpudoctor.checks._cuinit import NO_DEVICE, NOT_READY, UNKNOWN_ERROR
from gpudoctor.checks._driver_asked import (
    NVML_NOT_LOADED,
    Lines,
    answer,
    in_container,
    no_driver,
    numbers,
    refuses,
    wsl,
)
from gpudoctor.checks._libcuda_said import compat, mismatch, stub
from gpudoctor.checks._told import cards
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.patterns import Pattern

_NVML_REFUSED, _NVML_BLOCKED = 4, 17
_NEEDS_OPEN = (10, 0)
"""From this compute capability on the driver has no other kernel modules."""
_ARCHITECTURE = Pattern(r"\.(?:x86_64|aarch64)$")
_ABOUT = 8
"""Lines between the name of a service and its state."""
_OLD_CHIPS = ("NV", "G7", "G8", "G9", "GT2", "MCP", "C5", "C6", "C7", "GF1")
"""Names of chips before compute capability 3.0: Tesla, Fermi and older."""


def decided(facts: Facts, cause: str) -> Lines:
    """The lines that state this cause; none: the text does not decide it, or is no text."""
    return _RULES[cause](facts) if facts.text.is_all else ()


def _said(*kinds: str) -> Callable[[Facts], Lines]:
    return lambda facts: facts.text.said(*kinds)


# ------------------------------------------------------------------- nodes


def _uvm_missing(facts: Facts) -> Lines:
    said = facts.text.said
    if _old_cards(facts):
        return ()
    absent = tuple(e for e in said("node-absent") if e.values.get("path") == "/dev/nvidia-uvm")
    if lines := (*said("uvm-module-not-found"), *absent):
        return lines
    slept = bool(
        said("suspended", "gone-after-suspend", "uvm-reloaded")
    )  # which is another cause, with the same remedy
    cured = () if slept else said("uvm-remedy")
    if cured and not facts.text.shows_a_failure:
        return cured
    by_hand = said("uvm-by-hand") or tuple(e for e in said("uvm-not-loaded-said") if e.line == 1 or no_driver(facts))
    if by_hand and not slept and not in_container(facts):
        return by_hand
    started = in_container(facts) and not facts.text.shows("container-does-not-start")
    if (once := said("used-on-host-said")) and started and not slept:  # which makes the node
        return once
    if answer(facts) != UNKNOWN_ERROR:
        return ()
    if cured:
        return (*said("cuinit-failed", "cuda-answers-999")[:1], *cured)
    if (lxc := said("lxc-named")) and isinstance(facts.gpu.driver_version, str):
        return (*said("cuinit-failed", "cuda-answers-999")[:2], *lxc)
    listed = said("node", "nodes-listed", "nodes-handed")
    text = " ".join(e.text for e in listed)
    if "/dev/nvidiactl" in text and "/dev/nvidia-uvm" not in text:
        return listed
    return said("root-works") if not said("suspended") else ()


def _stale_major(facts: Facts) -> Lines:
    said = facts.text.said
    nodes = [e for e in said("node") if e.values.get("path") == "/dev/nvidia-uvm"]
    majors = [e for e in said("major") if e.values.get("name") == "nvidia-uvm"]
    if nodes and majors and not {e.values["major"] for e in nodes} & {e.values["major"] for e in majors}:
        return (*nodes, *majors)
    return ()


def _nodes_missing(facts: Facts) -> Lines:
    absent = tuple(
        e
        for e in facts.text.said("node-absent", "device-node-absent", "node-of-gres-absent")
        if "uvm" not in e.values.get("path", "")
    )
    loaded = facts.text.said("nvidia-listed", "module-loaded")
    if (gone := facts.text.said("nodes-gone-said")) and not in_container(facts):
        other = refuses(facts) or facts.text.shows("driver-does-not-load") or facts.text.shows("gpu-faults")
        since = facts.text.said("rebooted")
        return (*gone, *since) if since and not other else ()
    return (*absent, *loaded) if absent and loaded and not in_container(facts) else ()


def refused_by_rules(facts: Facts) -> Lines:
    """A node that everybody may open by its mode, and whose opening is not permitted: device rules refuse it."""
    open_to_all = {e.values["path"] for e in facts.text.said("node") if e.values["mode"].endswith(("rw-", "rwx"))}
    refused = facts.text.said("node-refused")
    return tuple(e for e in refused if e.values.get("path") in open_to_all and "not permitted" in e.text)


def _refused(facts: Facts) -> Lines:
    said = facts.text.said
    if told := said("nvmap-refused", "only-root-on-a-board"):
        return told
    if (theirs := said("only-root-gets-it")) and facts.system.machine == "aarch64":
        none = answer(facts) == NO_DEVICE or said("cuda-answers-100", "says-no-gpu", "no-devices")
        return theirs if none else ()
    if in_container(facts) or refused_by_rules(facts):
        return ()
    closed = tuple(e for e in said("node") if not e.values["mode"].endswith(("rw-", "rwx")))
    if (theirs := said("only-root-and-group")) and answer(facts) != UNKNOWN_ERROR:
        return theirs
    as_root = said("root-works")
    return (*closed, *as_root) if closed and as_root else said("node-refused")


def _denied(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("lsm-denied"):
        return lines
    named = () if said("no-selinux") else said("selinux-named")
    cured = tuple(e for e in said("label-named") if _WITHOUT_LABEL.search(e.text))
    if cured and (facts.gpu.nvml_error == _NVML_REFUSED or said("node-refused", "says-no-gpu") or no_driver(facts)):
        return (*said("nvml-failed", "cuinit-failed")[:1], *cured[:1])
    shown = said("nvml-failed") if facts.gpu.nvml_error == _NVML_REFUSED else said("label-named")
    return (*named, *shown) if named and shown else ()


_WITHOUT_LABEL = Pattern(
    r"(?i)^(?![^\n]{0,400}\b(?:not help|no (?:effect|difference|luck)|n't (?:help|work|change|fix)|same (?:error|result|message)|still)\b)(?:[^\n]{0,300}?label=disable\b[^.\n]{0,40}\b(?:works?|worked|helps?|helped|fix(?:es|ed)|solve[sd]|cure[sd]|fine|all is well|succeeds?|finds?|runs?(?! -))\b"
    r"|[^\n]{0,300}?\b(?:works?|worked|helped|fixed|solved|cured|fine|ok|succeeds|runs)\b[^.\n]{0,40}\b(?:with|by|after|once|if|when)\b[^.\n]{0,60}label=disable\b)"
)
"""Without SELinux's label it works."""


def _suspended(facts: Facts) -> Lines:
    asleep = facts.text.said("suspended")
    if (reloaded := facts.text.said("uvm-reloaded")) and not in_container(facts):
        return (*facts.text.said("cuinit-failed", "cuda-answers-999")[:1], *reloaded)  # what is unloaded was there
    if _uvm_missing(facts):
        return ()
    if answer(facts) != UNKNOWN_ERROR:
        remedy = facts.text.said("suspend-remedy", "launch-failed", "illegal-address")
        return (*asleep, *remedy) if asleep and remedy else ()
    return (*facts.text.said("cuinit-failed", "cuda-answers-999")[:2], *asleep) if asleep else ()


# ------------------------------------------------------------------- the kernel module


def _held_by(facts: Facts, driver: str) -> Lines:
    return tuple(e for e in facts.text.said("gpu-driver", "gpu-held-by") if e.values.get("driver") == driver)


def _nouveau(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("nouveau-in-use"):
        return lines
    if _held_by(facts, "nvidia") or _held_by(facts, "vfio-pci"):
        return ()
    if uncalled := (*said("probe-not-called"), *_held_by(facts, "nouveau")):
        return uncalled if said("probe-not-called") or refuses(facts) else ()
    loaded = said("nouveau-loaded")
    return (*refuses(facts), *loaded) if loaded and refuses(facts) else ()


def _vfio(facts: Facts) -> Lines:
    held = _held_by(facts, "vfio-pci")
    if not held and (owned := facts.text.said("vfio-owns")):
        lacks = no_driver(facts) or facts.text.said("says-no-gpu")
        return owned if lacks or owned[0].line == 1 else ()
    return held if not _held_by(facts, "nvidia") and no_driver(facts) else ()


def _switched_off(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("module-switched-off", "laptop-gpu-off"):
        return lines
    if lines := said("gpu-switched-off", "prime-intel") if no_driver(facts) else ():
        return lines
    missing = facts.driver.kernel_version is None or answer(facts) == NO_DEVICE
    return said("laptop-tool") if missing and not in_container(facts) else ()


def _secure_boot(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("module-key-rejected"):
        return lines
    if lines := said("unsigned-module-rejected", "key-not-enrolled-said") if no_driver(facts) else ():
        return lines
    refused = (
        said("installer-can-not-load") if not said("build-failed", "nvidia-build-error", "headers-missing") else ()
    )
    named = said("secure-boot-named")
    return (*named, *refused) if named and refused else ()


def _kernel_incompatible(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("kernel-not-supported", "module-gpl-symbol"):
        return lines
    if said("headers-missing", "compiler-differs", "no-compiler"):
        return ()
    if lines := said("nvidia-build-error"):
        return lines
    return said("build-failed") if said("nvidia-build-named", "dkms-status") or refuses(facts) else ()


def _not_loaded(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("module-of-other-kernel", "module-kept-out", "module-not-rebuilt"):
        return lines
    if (lines := said("headers-missing", "compiler-differs", "no-compiler")) and (
        said("nvidia-build-named", "dkms-status", "installer-can-not-load") or refuses(facts)
    ):
        return lines
    if lines := _headers_differ(facts):
        return lines
    loaded = isinstance(facts.driver.kernel_version, str) and in_container(facts)  # the host's
    if (lines := said("module-not-found")) and not said("smi-not-found") and not loaded:
        return lines
    shown = refuses(facts)
    if not shown or wsl(facts):
        return ()
    if built := _built_for_others(facts):
        return (*shown, *built)
    if said("secure-boot-named") or facts.gpu.nvml_error != NVML_NOT_LOADED:
        return ()
    updated = said("kernel-updated", "other-kernel-works")
    return (*shown, *updated) if updated else ()


def _headers_differ(facts: Facts) -> Lines:
    """There are no headers for the kernel that runs, by the lists of packages or in words, and it is about the driver."""
    said = facts.text.said
    about = said("says-nvidia", "nvidia-build-named", "dkms-status", "installer-can-not-load") or refuses(facts)
    if (lines := said("headers-not-offered")) and about:
        return lines
    devel, kernels = said("kernel-devel-package"), said("kernel-package")
    running = facts.system.kernel
    runs = {running} if isinstance(running, str) else {e.values["release"] for e in kernels}
    built = {_ARCHITECTURE.sub("", e.values["release"]) for e in devel}
    without = not built & {_ARCHITECTURE.sub("", release) for release in runs}
    stated = tuple(e for e in said("headers-differ-said") if e.line == 1 or "dkms" in e.text or refuses(facts))
    if devel and runs and without and (stated or about):
        return (*devel[:1], *kernels[:1], *stated[:1])
    return stated


def _built_for_others(facts: Facts) -> Lines:
    """dkms lists the driver, and no build of it for the kernel that runs."""
    builds, kernel = facts.driver.dkms, facts.system.kernel
    if isinstance(builds, Unread) or not builds:
        return ()
    kernels = {build.kernel for build in builds}
    if kernels == {None} or (isinstance(kernel, str) and kernel not in kernels):
        return facts.text.said("dkms-status", "uname")
    return ()


def _rminit(facts: Facts) -> Lines:
    said = facts.text.said
    if said("gpu-went-out"):
        return ()
    legacy = tuple(e for e in said("legacy-gpu") if not _before_kepler(e))
    if legacy:
        return legacy
    if lines := said("open-module-refuses", "rminit-failed", "bar-unassigned", "node-does-not-answer"):
        return tuple(e for e in lines if e.values.get("path") not in _OF_UVM)
    none = no_driver(facts) or said("says-no-gpu", "no-devices")
    stated = said("open-modules-needed-said")
    return stated if stated and (none or any(e.line == 1 for e in stated) or _blackwell(facts)) else ()


_OF_UVM = ("/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
"""Another module's nodes."""


def _blackwell(facts: Facts) -> bool:
    return any(capability >= _NEEDS_OPEN for capability in cards(facts).values())


def _before_kepler(event: TextEvent) -> bool:
    branch = event.values.get("branch", "")
    return branch.isdigit() and int(branch) <= 390


def _old_cards(facts: Facts) -> Lines:
    """The lines that name a card from before Fermi, where no other one is named."""
    old = facts.text.said("old-card-named")
    return old if all(_BEFORE_FERMI.match(name) for name in facts.text.cards()) else ()


_BEFORE_FERMI = Pattern(r"(?i)(?:geforce )?(?:NVS ?\d{3}m?$|Quadro (?:FX|NVS)|GTX? ?[1-3]\d\dm?$)")


def _too_old(facts: Facts) -> Lines:
    if legacy := tuple(e for e in facts.text.said("legacy-gpu") if _before_kepler(e)):
        return legacy
    gpus = [e for e in facts.text.said("gpu-on-bus") if e.values.get("vendor") == "nvidia"]
    old = [e for e in gpus if e.values.get("chip", "").startswith(_OLD_CHIPS)]
    if old and len(old) == len(gpus) and no_driver(facts):
        return tuple(old)
    none = facts.tensorflow.devices == ()
    fails = none or no_driver(facts) or facts.text.said("uvm-module-not-found", "says-no-gpu", "cuda-answers-100")
    return _old_cards(facts) if fails else ()


# ------------------------------------------------------------------- services


def _fabric_differs(facts: Facts) -> Lines:
    """Its own words; or the release of its package beside another one of the driver's, where CUDA waits for it."""
    said = facts.text.said
    if lines := said("fabric-manager-differs"):
        return lines
    own = said("fabric-manager-release")
    drivers = (
        said("driver-package") or said("driver-release") or tuple(e for e in said("nvidia-smi") if "driver" in e.values)
    )
    releases = {numbers(e.values.get("release") or e.values["driver"]) for e in drivers}
    apart = bool(own) and bool(releases) and not releases & {numbers(e.values["release"]) for e in own}
    return (*own, *drivers) if apart and answer(facts) == NOT_READY else ()


def _fabric_not_running(facts: Facts) -> Lines:
    said = facts.text.said
    if _fabric_differs(facts) or said("benign-no-nvswitch"):
        return ()
    wanted = answer(facts) == NOT_READY or bool(facts.text.shows("collective-fails"))
    failed = said("fabric-manager-failed")
    lacks = no_driver(facts) or said("torch-lacks-gpu", "says-no-gpu") or facts.tensorflow.devices == ()
    if (waits := said("fabric-waits")) and (wanted or lacks):
        return (*failed, *waits[:2])
    units = said("fabric-manager-unit")
    for state in said("unit-not-active") if wanted or said("nvswitch-named") else ():
        named = tuple(u for u in units if 0 < state.line - u.line <= _ABOUT)
        if named:
            return (*named, state, *failed)
    return failed if wanted or said("nvswitch-named") else ()


def _unlicensed(facts: Facts) -> Lines:
    said = facts.text.said
    if lines := said("vgpu-unlicensed"):
        return lines
    named, shown = said("vgpu-licence-named"), said("cuda-busy", "slow-named")
    return (*named, *shown) if named and shown else ()


def _wsl_blocked(facts: Facts) -> Lines:
    if not wsl(facts) or not in_container(facts):
        return ()
    refused = tuple(e for e in facts.text.said("cuinit-failed") if "NOT_FOUND" in e.values.get("error", ""))
    refused = refused or facts.text.said("cuda-answers-500")
    return refused or (facts.text.said("nvml-failed") if facts.gpu.nvml_error == _NVML_BLOCKED else ())


def _one_instance(facts: Facts) -> Lines:
    listed = facts.tensorflow.gpus()
    said = facts.text.said
    if named := said("mig-named"):
        if only := said("one-of-them"):
            return (*named, *only)
        if none := said("no-supported-device", "platform-without-devices"):
            return (*none, *said("mig-asked")) if said("mig-asked") else ()
    return said("mig-asked") if not isinstance(listed, Unread) and len(listed) == 1 else ()


_RULES: dict[str, Callable[[Facts], Lines]] = {
    "driver-library-mismatch": mismatch,
    "cuda-compat-unsupported": compat,
    "libcuda-stub-loaded": stub,
    "cuinit-uvm-device-missing": _uvm_missing,
    "uvm-node-stale-major": _stale_major,
    "device-nodes-missing": _nodes_missing,
    "device-node-permission": _refused,
    "lsm-denied": _denied,
    "cuinit-unknown-after-suspend": _suspended,
    "driver-nouveau-conflict": _nouveau,
    "gpu-bound-to-vfio": _vfio,
    "optimus-gpu-powered-off": _switched_off,
    "driver-secure-boot": _secure_boot,
    "driver-kernel-incompatible": _kernel_incompatible,
    "driver-module-not-loaded": _not_loaded,
    "driver-rminit-failed": _rminit,
    "gpu-compute-capability-too-old": _too_old,
    "fabric-manager-not-running": _fabric_not_running,
    "fabric-manager-version-mismatch": _fabric_differs,
    "wsl-driver-toolkit-mismatch": _wsl_blocked,
    "mig-single-instance-limit": _one_instance,
    "vgpu-unlicensed": _unlicensed,
    "amd-gpu": amd,
    "no-nvidia-gpu": none,
    "driver-missing": missing,
}
