"""Circumstances that make one of the causes left the likely one: it goes first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Facts


def hinted(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """`fits` with those first for which the text has a hint. None is added."""
    first = tuple(dict.fromkeys(cause for cause in _hints(facts) if cause in fits))
    return (*first, *(cause for cause in fits if cause not in first))


def _hints(facts: Facts) -> Iterator[str]:
    said = facts.text.said
    held = {e.values.get("driver") for e in said("gpu-driver", "gpu-held-by")}
    if "vfio-pci" in held:
        yield "gpu-bound-to-vfio"
    if "nouveau" in held or said("nouveau-loaded"):
        yield "driver-nouveau-conflict"
    if facts.system.secure_boot is True or said("unsigned-module-rejected", "secure-boot-named"):
        yield "driver-secure-boot"
    if said("gpu-switched-off", "prime-intel", "laptop-mode"):
        yield "optimus-gpu-powered-off"
    if facts.system.wsl is True or said("wsl-named"):
        if (
            said("desktop-named")
            and said("gpus-asked")
            and said("on-windows")
            and not said("docker-of-snap", "snap-named")
        ):
            yield "wsl-driver-toolkit-mismatch"
        yield "wsl-libcuda-path"
    if said("fabric-version-named"):
        yield "fabric-manager-version-mismatch"
    lib = facts.driver.libcuda
    inside = isinstance(facts.system.container, str) or said("container-shell")
    asked = said("gpus-asked", "on-a-host")
    if said("docker-of-snap", "snap-named"):
        yield "container-snap-docker"
    if said("desktop-named") and not said("on-windows", "on-a-mac"):
        yield "container-docker-desktop-linux"
    if said("driver-elsewhere"):
        yield "container-driver-root-wrong"
    if said("container-detects-none"):
        yield "container-host-driver-broken"
    if said("illegal-address"):
        yield "xid13-31-43-app-or-gpu-fault"
    if said("mig-named"):
        yield "mig-single-instance-limit"
    if said("pageable-copy", "pageable-measured"):
        yield "h2d-pageable"
    if said("several-machines") and not said("one-machine"):
        yield "nccl-wrong-interface"
    if len({e.values["host"] for e in said("nccl-host")}) > 1:
        yield "nccl-wrong-interface"
    lacks = lib.path is None or lib.init_result in (-1, 34) or facts.driver.kernel_version is None
    by_hand = lib.path is None and said("nodes-by-hand")
    if (inside and not asked and lacks) or (_names_container_first(facts) and not asked) or by_hand:
        yield "container-no-gpus-flag"
    elif lib.path is None and isinstance(facts.driver.kernel_version, str):
        yield "driver-libcuda-not-on-path"
        yield "container-capabilities-without-compute"
    if said("nix-path"):
        yield "driver-libcuda-not-on-path"
    if said("laptop-tool"):
        yield "optimus-gpu-powered-off"
    if said("suspended"):
        yield "cuinit-unknown-after-suspend"
    if said("root-works"):
        yield "cuinit-uvm-device-missing"
        yield "device-node-permission"
    if said("protobuf-named"):
        yield "protobuf-mismatch"
    if said("device-not-available") and str(facts.tensorflow.version).startswith(("0.", "1.", "2.0")):
        yield "tf-cpu-only-package"
    if said("run-by-sudo"):
        yield "sudo-stripped-environment"
    if said("ide-named", "file-is-there", "shell-works"):
        yield "ld-library-path-not-set"
    if said("another-framework"):
        yield "tf-preallocates-all-memory"
    if said("stubs-on-path") and facts.driver.kernel_version is not None:
        yield "libcuda-stub-loaded"
    yield from _without_nvidia(facts)


def proven(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """`fits` with those first that a program's line or the names of the cards speak for, whatever the text reads like."""
    first = tuple(cause for cause in _strong(facts) if cause in fits)
    fits = (*first, *(cause for cause in fits if cause not in first))
    empty, wrong = "cuda-visible-devices-empty", "cuda-visible-devices-wrong"
    if empty in fits and any(
        e.values.get("value", "").strip(" '\"") not in _HIDES for e in facts.text.said("visible-set")
    ):
        at = fits.index(empty)
        fits = (
            (*fits[:at], wrong, *(cause for cause in fits[at:] if cause != wrong)) if wrong not in fits[:at] else fits
        )
    return fits


_HIDES = ("", "-1", "none", "void", "NoDevFiles", "0")
"""Values of CUDA_VISIBLE_DEVICES that hide all GPUs, and the one that every machine with a GPU has."""


def _strong(facts: Facts) -> Iterator[str]:
    if any(_OF_A_TOOLKIT.search(e.text) for e in facts.text.said("libraries-mixed", "cublas-mixed")):
        yield "ld-library-path-wrong-toolkit"
    yield from _without_nvidia(facts)


_OF_A_TOOLKIT = re.compile(
    r"/cuda[-/]\d{1,2}\.\d{1,2}/[^\s:]{0,120}lib\w{2,20}\.so[.\d]{0,12}: (?:undefined symbol|version)"
)
"""A library of a toolkit lacks what another version's brings."""


def _names_container_first(facts: Facts) -> bool:
    """The title of a complaint that no program's line explains names a container."""
    lib = facts.driver.libcuda
    weak = (
        lib.path is not None
        and not isinstance(lib.init_result, int)
        and not facts.text.shows("container-does-not-start")
    )
    return weak and any(e.line == 1 for e in facts.text.said("container-named"))


def _without_nvidia(facts: Facts) -> Iterator[str]:
    """The GPUs that the text names are others'."""
    said = facts.text.said
    vendors = {e.values.get("vendor", "") for e in said("gpu-on-bus")}
    vendors |= {vendor for e in said("other-gpu-mentioned") for vendor in e.values}
    named = {e.values.get("vendor", "").upper().split()[0] for e in said("other-gpu-named")}
    if said("nvidia-gpu-named") or "nvidia" in vendors:
        return
    if "amd" in vendors or named & {"AMD", "ATI", "RADEON"}:
        yield "amd-gpu"
    if vendors or named:
        yield "no-nvidia-gpu"
