"""What the kernels measured, judged, and what NVML saw of a GPU meanwhile."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping

from gpudoctor.facts import Facts, Load, Measurement, Unread
from gpudoctor.findings import Evidence
from gpudoctor.verdicts import Verdict, judged, places

HELD = 0.1
"""Of the samples that NVML took while a kernel ran: less is no more than a moment."""
Judged = tuple[Measurement, Verdict]
COLLECTIVES = ("slow-collective", "scaling-below-expected")
"""What a cause explains that slows what several GPUs do together."""
BETWEEN_GPUS = ("gpu-pair-slow", "slow-copies", *COLLECTIVES)
"""The same of one that slows the ways between GPUs."""
OF_A_GPU = ("runs-slowly", "gpu-outlier", *BETWEEN_GPUS)
"""The same of one that slows a GPU."""


def by_gpu(facts: Facts) -> Mapping[int, tuple[Judged, ...]]:
    """Those of single GPUs, by NVML's index; none for a GPU that was not measured."""
    found: dict[int, tuple[Judged, ...]] = collections.defaultdict(tuple)
    for one in judged(facts):
        at = places(facts, one[0])
        if len(at) == 1 and at[0].nvml is not None:
            found[at[0].nvml.index] += (one,)
    return found


def slow(ones: Iterable[Judged]) -> tuple[Judged, ...]:
    """Those that are less than the siblings', or than is usual; the worst first."""
    return tuple(sorted((o for o in ones if o[1].verdict in ("low", "info")), key=lambda o: o[1].ratio or 0.0))


_COPIES = ("copy-host-to-device", "copy-device-to-host", "copy-both-ways", "copy-inside", "copy-pair")
_HALF_OF_USUAL = 0.4
"""Of the physical limit. Healthy machines reach 0.78 to 0.88 of it."""


def slow_copies(facts: Facts) -> tuple[Judged, ...]:
    """Native copies that are clearly slower than the siblings', or reach less than half of what is usual of their link; the worst first."""
    ones = [(m, v) for m, v in judged(facts) if m.kernel in _COPIES and not m.in_tensorflow and m.verified is True]
    return slow(
        (m, v)
        for m, v in ones
        if v.verdict == "low" or (v.verdict == "info" and v.kind == "limit" and (v.ratio or 1.0) < _HALF_OF_USUAL)
    )


def is_arithmetic(one: Measurement) -> bool:
    """A matrix product."""
    return "matmul" in one.kernel


def loads(ones: Iterable[Judged]) -> Iterator[tuple[Measurement, Load]]:
    """What NVML said meanwhile, kernel by kernel."""
    for one, _ in ones:
        if isinstance(one.load, Load):
            yield one, one.load


def share(load: Load, reasons: tuple[str, ...]) -> float:
    """How much of the time one of `reasons` held the clocks down, at most."""
    told = load.clock_reasons
    return 0.0 if isinstance(told, Unread) or not told else max((r.share for r in told if r.name in reasons), default=0)


def shown(one: Measurement, verdict: Verdict) -> Evidence:
    """'matmul-float16: 400 TFLOP/s, 0.57 of what its siblings reach (700; …)', and what NVML saw meanwhile."""
    expected = f" ({verdict.basis}: {verdict.expected:.4g})" if verdict.expected is not None else ""
    return Evidence(
        text=f"{one.kernel}: {verdict.value:.3g} {verdict.unit or ''}, {verdict.why}{expected}{meanwhile(one)}",
        source=f"{one.where_it_ran} {one.kernel} on {one.device}",
    )


def meanwhile(one: Measurement) -> str:
    """'; meanwhile SM clock 1200 MHz, 300 W, 80 °C', where NVML was asked."""
    load = one.load
    if not isinstance(load, Load):
        return ""
    told = [
        f"SM clock {load.clock_sm_mhz} MHz" if isinstance(load.clock_sm_mhz, int) else "",
        f"{load.power_w:.0f} W" if isinstance(load.power_w, float) else "",
        f"{load.temperature_max_c} °C" if isinstance(load.temperature_max_c, int) else "",
    ]
    return f"; meanwhile {', '.join(t for t in told if t)}" if any(told) else ""
