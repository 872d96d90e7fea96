"""What a measurement is worth, as data: against the physical limit of its device, and against the other GPUs of the machine."""

from __future__ import annotations

import bisect
from collections.abc import Hashable, Mapping
from typing import Literal

import msgspec

from ..facts import Facts, Load, Measurement, Unread
from .limits import Limit, limit, pcie, under_load
from .places import Place, pair, places

__all__ = ["SLOW", "STEADY", "Kind", "Place", "Verdict", "Word", "judged", "pcie", "places", "under_load", "verdicts"]

Kind = Literal["limit", "siblings", "baseline", "table", "none"]
Word = Literal["ok", "low", "impossible", "info", "not judged"]

SLOW, STEADY = 0.75, 0.1
"""Clearly slower than its siblings; (max - min) / median of the samples of a measurement that two GPUs may be compared by."""
_WELL_BELOW = 0.8
"""Of what is usual."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement and what was to be expected of it."""

    kernel: str
    backend: str
    device: str
    """'GPU:0', 'GPU:0,GPU:1'."""
    dtype: str | None
    size: tuple[int, ...] | None
    unit: str | None
    value: float
    expected: float | None
    """In the same unit; None: there is nothing to compare with."""
    basis: str
    """Where `expected` comes from: 'limit: PCIe 5.0 x16, 63 GB/s', 'siblings: median of the 3 others', 'table: …'."""
    kind: Kind
    ratio: float | None
    """value / expected."""
    siblings: float | None
    """Median of the same on the other GPUs of the model; None: there are none that it can be compared with."""
    verdict: Word
    """'low': clearly slower than the siblings. 'impossible': above the limit, so the measurement is wrong. 'info': less than usual, and
    no fault by itself."""
    why: str


def verdicts(facts: Facts) -> tuple[Verdict, ...]:
    """A verdict for each measurement that has a value, in their order."""
    return tuple(verdict for _, verdict in judged(facts))


def judged(facts: Facts) -> tuple[tuple[Measurement, Verdict], ...]:
    """Every measurement that has a value, in their order, with its verdict."""
    valued = [(one, one.value) for one in facts.measurements if isinstance(one.value, float)]
    limits = [limit(facts, one, value) for one, value in valued]
    keys = [_alike(facts, one) for one, _ in valued]
    alike: dict[Hashable, dict[str, Measurement]] = {}
    for (one, value), bound, key in zip(valued, limits, keys, strict=True):
        if key is not None and (isinstance(bound, str) or bound.allows(value)):
            alike.setdefault(key, {})[one.device] = one
    groups = {key: _Siblings(ones) for key, ones in alike.items()}
    nobody = _Siblings({})
    return tuple(
        (one, _judged(one, value, bound, groups.get(key, nobody)))
        for (one, value), bound, key in zip(valued, limits, keys, strict=True)
    )


class _Siblings:
    """The same measurement on the GPUs, or pairs, of which it must give the same figure."""

    def __init__(self, alike: Mapping[str, Measurement]) -> None:
        self._of = {device: one.value for device, one in alike.items() if isinstance(one.value, float)}
        self._sorted = sorted(self._of.values())
        self._comparable = _comparable(alike)

    def others(self, device: str) -> int:
        """How many there are beside this one."""
        return len(self._of) - (device in self._of)

    def middle(self, device: str) -> float | None:
        """The median of the others; None: there are none that this one can be compared with."""
        if not self._comparable or device not in self._of:
            return None
        own = bisect.bisect_left(self._sorted, self._of[device])

        def other(place: int) -> float:
            return self._sorted[place + (place >= own)]

        number = self.others(device)
        return (other((number - 1) // 2) + other(number // 2)) / 2


def _judged(one: Measurement, value: float, bound: Limit | str, alike: _Siblings) -> Verdict:
    known = bound if isinstance(bound, Limit) else None
    middle, others = alike.middle(one.device), alike.others(one.device)
    several = f"median of the {others} others" if others > 1 else "the other one"
    siblings = f"what its {'siblings reach' if others > 1 else 'sibling reaches'}"

    def is_(word: Word, why: str, kind: Kind = "none", expected: float | None = None, basis: str = "none") -> Verdict:
        return Verdict(
            kernel=one.kernel,
            backend=one.backend,
            device=one.device,
            dtype=one.dtype if isinstance(one.dtype, str) else None,
            size=None if isinstance(one.size, Unread) else one.size,
            unit=one.unit if isinstance(one.unit, str) else None,
            value=value,
            expected=expected,
            basis=basis if kind == "none" else f"{kind}: {basis}",
            kind=kind,
            ratio=value / expected if expected else None,
            siblings=middle,
            verdict=word,
            why=why,
        )

    if known is not None and not known.allows(value):
        why = f"{value / known.value:.3g} times what is possible: the measurement is wrong, the machine is not better"
        return is_("impossible", why, "limit", known.value, known.words)
    if one.verified is False:
        return is_("not judged", "its result is wrong")
    if middle is not None and value < SLOW * middle and _is_no_chance(one, middle, others):
        return is_("low", f"{value / middle:.2f} of {siblings}", "siblings", middle, several)
    if one.kernel in _PAGEABLE and value < _PAGEABLE_GB_PER_S[0]:
        basis = "pageable memory, {:g} to {:g} GB/s".format(*_PAGEABLE_GB_PER_S)
        why = "less than pageable copies usually reach: the host's memory or its processors are slow or busy"
        return is_("info", why, "table", _PAGEABLE_GB_PER_S[0], basis)
    beside = f", {value / middle:.2f} of {siblings}" if middle else ""
    if known is None:
        if middle:
            return is_("ok", beside.removeprefix(", "), "siblings", middle, several)
        return is_("not judged", str(bound))
    part = f"{value / known.value:.2f} of the limit{beside}"
    if known.usual is not None and value < _WELL_BELOW * known.usual * known.value:
        why = f"{part}; {known.usual:g} or more is usual{_held_back(one)}"
        return is_("info", why, "limit", known.value, known.words)
    if one.kernel in _PAGEABLE:
        part += "; the driver copies pageable memory through buffers of its own"
    return is_("ok", part, "limit", known.value, known.words)


def _held_back(one: Measurement) -> str:
    """What NVML says of the clocks while it ran."""
    reasons = one.load.clock_reasons if isinstance(one.load, Load) else None
    if isinstance(reasons, Unread) or not reasons:
        return ""
    told = [f"{r.name} in {r.share:.0%} of the time" for r in reasons if r.name != "idle" and r.share >= 0.01]
    return f" (clocks held down: {', '.join(told)})" if told else ""


# ----------------------------------------------------------------------------- siblings

_PAGEABLE = ("copy-host-to-device-pageable", "copy-device-to-host-pageable", "host-to-device", "device-to-host")
_PAGEABLE_GB_PER_S = (2.0, 20.0)
"""Measured on healthy hosts: 6.6 to 16.5; NVIDIA's and users' figures for older ones begin at 2."""
_OVER_PCIE = ("copy-host-to-device", "copy-device-to-host", "copy-both-ways")
_PAIRS = ("copy-pair", "copy-pair-no-peer", "all-reduce-pair")
_SINGLE = ("copy-inside", "memory-pattern", "repeat-matmul")


def _alike(facts: Facts, one: Measurement) -> Hashable | None:
    """What measurements have in common that must give the same figure; None: it is not compared.

    Copies to and from the host only with those over a link of the same generation and width, pairs only with those that are
    linked in the same way.
    """
    model = one.device_name if isinstance(one.device_name, str) else None
    if one.verified is not True or model is None or not one.device.startswith("GPU:"):
        return None
    common = (one.kernel, one.backend, one.dtype, one.size, model)
    at = places(facts, one)
    if len(at) == 1 and (one.kernel.startswith("matmul") or one.kernel in _SINGLE):
        return common
    if len(at) == 1 and one.kernel in _OVER_PCIE:
        link = _link(at[0], one)
        return (*common, link) if link is not None else None
    if len(at) == 2 and one.kernel in _PAIRS:
        linked = _linked(facts, at[0], at[1])
        return (*common, linked) if linked is not None else None
    return None


def _link(at: Place, one: Measurement) -> tuple[int, int] | None:
    if (seen := under_load(one)) is not None:
        return seen
    if (
        at.nvml is None
        or not isinstance(at.nvml.pcie_generation_max, int)
        or not isinstance(at.nvml.pcie_width_max, int)
    ):
        return None
    return at.nvml.pcie_generation_max, at.nvml.pcie_width_max


def _linked(facts: Facts, first: Place, second: Place) -> Hashable | None:
    """How two GPUs are linked, by NVML's and CUDA's words; None: not known."""
    between = pair(facts, first.nvml, second.nvml) if first.nvml is not None and second.nvml is not None else None
    cuda = facts.driver.libcuda.pairs
    if between is None or isinstance(cuda, Unread) or first.cuda is None or second.cuda is None:
        return None
    ranks = [c.performance_rank for c in cuda if (c.device, c.peer) == (first.cuda.index, second.cuda.index)]
    told = (between.nvlink, between.topology, *ranks)
    return None if not ranks or any(isinstance(t, Unread) for t in told) else told


def _comparable(alike: Mapping[str, Measurement]) -> bool:
    """Whether there are others. Two alone must both be steady."""
    return len(alike) > 2 or (len(alike) == 2 and all(_steady(m) for m in alike.values()))


def _is_no_chance(one: Measurement, middle: float, others: int) -> bool:
    """A figure well below the others': it is steady, or even its best sample is as low."""
    best = max(one.samples) if isinstance(one.samples, tuple) and one.samples else None
    return others == 1 or _steady(one) or (best is not None and best < SLOW * middle)


def _steady(one: Measurement) -> bool:
    several = isinstance(one.samples, Unread) or len(one.samples) > 1
    return several and isinstance(one.spread, float) and one.spread <= STEADY
