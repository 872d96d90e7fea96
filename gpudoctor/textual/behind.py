"""What lies behind the first that a line shows, where the rest of the text tells it: it goes first then, and both are candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..facts import Facts
from ..patterns import Pattern
from .fitting import removed
from .other_gpus import without_nvidia
from .setups import native_windows, of_snap
from .together import WITHOUT_PEERS


class Behind(NamedTuple):
    """A deeper cause, and what tells it."""

    cause: str
    told: Callable[[Facts], bool]


def behind(facts: Facts, shown: str) -> str | None:
    """The cause of what is `shown`; None: the text tells no more."""
    return next((one.cause for one in _BEHIND.get(shown, ()) if one.told(facts)), None)


def _any(*kinds: str) -> Callable[[Facts], bool]:
    return lambda facts: bool(facts.text.said(*kinds))


def _all(*kinds: str) -> Callable[[Facts], bool]:
    return lambda facts: all(facts.text.said(kind) for kind in kinds)


def _module_of_another_kernel(facts: Facts) -> bool:
    """What dkms has built is for other kernels than the one that `uname -r` names."""
    built = {e.values["kernel"] for e in facts.text.said("dkms-status") if "kernel" in e.values}
    runs = facts.system.kernel
    return bool(built) and isinstance(runs, str) and runs not in built


def _composed_without_gpus(facts: Facts) -> bool:
    """A container that was given no GPU has no driver, which reads as one that is too old."""
    said = facts.text.said
    given = said("compose-asks", "some-gpus-asked")
    return bool(said("compose-named")) and not given and not _driver_told(facts)


def _without_a_driver(facts: Facts) -> bool:
    """No driver at all reads like one that is too old: nvidia-smi is not there, and no release of a driver is named."""
    said = facts.text.said
    return bool(said("nvidia-smi-not-found")) and not said("container-named") and not _driver_told(facts)


def _driver_told(facts: Facts) -> bool:
    """Whether a driver is named, or answers."""
    return bool(facts.text.said(*_DRIVER_TOLD)) or isinstance(facts.gpu.driver_version, str)


def _built_by_another_runtime(facts: Facts) -> bool:
    """An image's build needs the GPU, which the default runtime alone hands over."""
    return bool(facts.text.said("builds-an-image")) and any(
        "default-runtime" in e.text for e in facts.text.understood()
    )


def _never_peers(facts: Facts) -> bool:
    """The cards never reach each other's memory, whatever the driver says, and the IOMMU, which could be it, is off."""
    cards = facts.text.cards()
    return bool(facts.text.said("iommu-is-off") and cards) and any(WITHOUT_PEERS.search(name) for name in cards)


_switched_off = _any("gpu-switched-off", "prime-intel", "laptop-mode")


def _removed_since(facts: Facts) -> bool:
    """The driver was removed, and its nvidia-smi is not there any more."""
    return removed(facts) and bool(facts.text.said("nvidia-smi-not-found"))


def _never_woke(facts: Facts) -> bool:
    """A laptop's GPU is not there when its driver starts; one that was lost at work has an Xid."""
    said = facts.text.said
    at_work = any("Xid" in e.text for e in facts.text.understood())
    return bool(said("gpu-does-not-wake") and said("laptop-named")) and not at_work


def _no_module_of_uvm(facts: Facts) -> bool:
    """It can't be loaded, since the running kernel has no module of that name: the driver's modules are not built for it."""
    said = facts.text.said("uvm-module-not-found")
    return len(said) > 1 and any("not found in directory" in e.text for e in said)


def _only_beside_another(facts: Facts) -> bool:
    """It fails while another program runs, and then alone."""
    return any(_ONLY_WHILE.search(e.text) for e in facts.text.said("beside-others-told"))


_ONLY_WHILE = Pattern(r"(?i)\bonly\W{0,2} (?:while|when|if|as long as)\b")


def _of_l4t(facts: Facts) -> bool:
    """An image of NVIDIA's for Jetson holds empty files in whose place the container runtime puts the board's own."""
    return any("file too short" in e.text for e in facts.text.said("library-not-loaded")) and any(
        _L4T.search(e.text) for e in facts.text.understood()
    )


_L4T = Pattern(r"(?i)\bl4t\b|\bjet(?:pack|son)\b")


def _of_amd(facts: Facts) -> bool:
    """The only card that is named is one of AMD's."""
    return not facts.text.cards() and "amd-gpu" in without_nvidia(facts)


def _wheels_of_two(facts: Facts) -> bool:
    """cuDNN's wheels for two versions of CUDA are named, which write the same files."""
    return len({found[1] for e in facts.text.understood() for found in _WHEEL.finditer(e.text)}) > 1


_WHEEL = Pattern(r"\bnvidia[-_]cudnn[-_]cu(1[1-9])\b")


def _older_than_built_with(facts: Facts) -> bool:
    """The cuDNN that is loaded is older than the one that the program was built with."""
    said = facts.text.said
    loaded = [_of_number(e.values["version"]) for e in said("cudnn-loaded") if "version" in e.values]
    built = [tuple(map(int, e.values["version"].split("."))) for e in said("built-with-cudnn")]
    return any(one[0] == other[0] and one < other for one in loaded for other in built)


def _of_number(number: str) -> tuple[int, ...]:
    """cuDNN's version by its number: 8005 is 8.0.5; from 9 on 90100 is 9.1.0."""
    major = int(number) // (10_000 if len(number) > 4 else 1_000)
    return major, int(number[-4:]) // 100 % (100 if len(number) > 4 else 10), int(number[-2:])


_DRIVER_TOLD = ("smi-works", "driver-release-said", "host-driver-said", "nvidia-smi", "driver-package")


_BEHIND: dict[str, tuple[Behind, ...]] = {
    "container-host-driver-broken": (
        Behind("optimus-gpu-powered-off", _switched_off),
        Behind("driver-secure-boot", _any("module-key-rejected", "unsigned-module-rejected", "key-not-enrolled-said")),
        Behind("driver-nouveau-conflict", _any("nouveau-loaded")),
        Behind("driver-module-not-loaded", _any("complains-module-not-built", "module-not-built-said")),
        Behind("driver-module-not-loaded", _module_of_another_kernel),
        Behind("container-driver-root-wrong", _any("driver-root-set")),
        Behind("driver-missing", removed),
        Behind("driver-missing", _all("container-no-nvml", "module-not-listed")),
    ),
    "container-toolkit-missing": (Behind("container-snap-docker", of_snap),),
    "driver-libcuda-not-on-path": (Behind("container-ldconfig-path", _all("ldconfig-cures", "container-named")),),
    "container-runtime-not-default": (Behind("container-toolkit-missing", _any("runtime-program-absent")),),
    "container-no-gpus-flag": (Behind("container-runtime-not-default", _built_by_another_runtime),),
    "driver-too-old": (
        Behind("container-no-gpus-flag", _composed_without_gpus),
        Behind("driver-missing", _without_a_driver),
    ),
    "driver-library-mismatch": (Behind("driver-missing", _removed_since),),
    "gpu-compute-capability-too-old": (Behind("driver-missing", _all("smi-not-found", "nouveau-loaded")),),
    "cuinit-uvm-device-missing": (Behind("driver-module-not-loaded", _no_module_of_uvm),),
    "ld-library-path-not-set": (Behind("wsl-libcuda-path", _all("libcuda-absent", "wsl-named")),),
    "tf-cpu-only-package": (Behind("tf-windows-native-cpu-only", native_windows),),
    "nccl-p2p-iommu-acs": (Behind("p2p-unsupported-geforce", _never_peers),),
    "xid79-fell-off-bus": (
        Behind("optimus-gpu-powered-off", _never_woke),
        Behind("optimus-gpu-powered-off", _switched_off),
    ),
    "cudnn-incomplete-install": (Behind("amd-gpu", _of_amd),),
    "cudnn-missing": (Behind("amd-gpu", _of_amd),),
    "fabric-manager-not-running": (
        Behind(
            "fabric-manager-version-mismatch",
            _all("fabric-manager-failed", "fabric-manager-release", "driver-was-updated"),
        ),
    ),
    "tf-not-installed": (Behind("jupyter-kernel-other-environment", _all("ide-named", "shell-works")),),
    "cuda-lib-unusable": (Behind("container-no-gpus-flag", _of_l4t),),
    "gpu-memory-handle-alloc": (
        Behind("gpu-too-new-for-build", _any("no-kernel-image")),
        Behind("cu12-cu13-wheel-clash", _wheels_of_two),
        Behind("cudnn-version-too-old", _older_than_built_with),
        Behind("tf-preallocates-all-memory", _any("frameworks-together")),
        Behind("tf-preallocates-all-memory", _all("other-finds-none", "several-programs")),
        Behind("tf-preallocates-all-memory", _all("allocation-refused", "beside-others-told")),
        Behind("gpu-memory-held-by-other-process", _any("allocation-refused", "holder-is-gone", "works-when-ended")),
        Behind("gpu-memory-held-by-other-process", _all("reboot-frees-told", "several-programs")),
        Behind("gpu-memory-held-by-other-process", _only_beside_another),
    ),
}
"""What is shown -> what may lie behind it."""
