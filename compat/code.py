"""How a build's GPU code fits a GPU: CUDA's rules of binary and PTX compatibility."""

from __future__ import annotations

import msgspec

from .records import Kernels
from .versions import capability, target, version


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """How the kernels of a build fit a GPU; counts of fat binaries."""

    total: int
    native: int
    compiled: int
    """From PTX, on first use."""
    useless: int
    linked: int
    """Links of relocatable code that do not run and can't be made anew: of use to collectives only."""
    isa: str | None
    """Newest PTX among those that must be compiled."""


def fit(kernels: tuple[Kernels, ...], compute_capability: str) -> Fit:
    """How a build's kernels fit a compute capability, by CUDA's rules of binary and PTX compatibility.

    Machine code runs on GPUs of its own major version with the same or a higher minor one; PTX is compiled for its own
    capability and every later one; a target with a letter runs on exactly that capability. Fat binaries that hold code
    for newer GPUs only were not made for this one and do not count. Those that hold PTX only, beside one that holds machine
    code only, are relocatable device code and its link (NCCL inside of TensorFlow up to 2.20): the link counts where it
    runs; where it does not the driver compiles and links the PTX anew (nvcc's manual, JIT linking).
    """
    has = capability(compute_capability)
    native = compiled = useless = useless_links = 0
    isas: list[str] = []
    linked = any(not group.ptx and any(_runs(code, has) for code in group.machine_code) for group in kernels)
    relinked = any(not group.machine_code and any(_compiles(p.target, has) for p in group.ptx) for group in kernels)
    for group in kernels:
        if linked and not group.machine_code:
            continue
        loadable = [p.isa for p in group.ptx if _compiles(p.target, has)]
        if any(_runs(code, has) for code in group.machine_code):
            native += group.count
        elif loadable:
            compiled += group.count
            isas.append(min(loadable, key=version))
        elif not group.ptx and relinked:
            continue
        elif not group.ptx:
            useless_links += group.count
        elif any(target(one)[0] <= has for one in (*group.machine_code, *(p.target for p in group.ptx))):
            useless += group.count
    if not native and not compiled:
        useless_links, useless = 0, sum(group.count for group in kernels)
    return Fit(
        total=native + compiled + useless,
        native=native,
        compiled=compiled,
        useless=useless,
        linked=useless_links,
        isa=max(isas, key=version, default=None),
    )


def _runs(code: str, has: tuple[int, int]) -> bool:
    built, letter = target(code)
    return built == has if letter == "a" else built[0] == has[0] and built[1] <= has[1]


def _compiles(ptx: str, has: tuple[int, int]) -> bool:
    built, letter = target(ptx)
    if letter == "a":
        return built == has
    return built <= has if not letter else built[0] == has[0] and built[1] <= has[1]
