"""What lies behind the first that a line shows, where the rest of the text tells it: it goes first then, and both are candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..facts import Facts
from .fitting import removed


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
    given = said("compose-asks", "some-gpus-asked", "smi-works", *_DRIVER_TOLD)
    return bool(said("compose-named")) and not given and not isinstance(facts.gpu.driver_version, str)


_DRIVER_TOLD = ("driver-release-said", "host-driver-said", "nvidia-smi", "driver-package")


_BEHIND: dict[str, tuple[Behind, ...]] = {
    "container-host-driver-broken": (
        Behind("optimus-gpu-powered-off", _any("gpu-switched-off", "prime-intel", "laptop-mode")),
        Behind("driver-secure-boot", _any("module-key-rejected", "unsigned-module-rejected", "key-not-enrolled-said")),
        Behind("driver-nouveau-conflict", _any("nouveau-loaded")),
        Behind("driver-module-not-loaded", _any("complains-module-not-built", "module-not-built-said")),
        Behind("driver-module-not-loaded", _module_of_another_kernel),
        Behind("driver-missing", removed),
        Behind("driver-missing", _all("container-no-nvml", "module-not-listed")),
    ),
    "driver-too-old": (Behind("container-no-gpus-flag", _composed_without_gpus),),
    "fabric-manager-not-running": (
        Behind(
            "fabric-manager-version-mismatch",
            _all("fabric-manager-failed", "fabric-manager-release", "driver-was-updated"),
        ),
    ),
    "gpu-memory-handle-alloc": (
        Behind("tf-preallocates-all-memory", _any("frameworks-together")),
        Behind("tf-preallocates-all-memory", _all("allocation-refused", "beside-others-told")),
        Behind("gpu-memory-held-by-other-process", _any("allocation-refused")),
    ),
}
"""What is shown -> what may lie behind it."""
