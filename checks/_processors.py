"""Processors of the host: which are meant, and which figures suffer where there are too few."""

from __future__ import annotations

from gpudoctor.checks._gpus import visible
from gpudoctor.facts import Facts, UnknownFactError
from gpudoctor.findings import Evidence, NotApplicable
from gpudoctor.verdicts import judged

ENOUGH = 4
"""Processors for each GPU: one that launches, one that copies or drives NCCL's proxy, and some for the input. Of fewer a figure tells
whether they are too few."""
_LATENCIES_US = {"launch-latency": 20.0, "copy-latency": 40.0}
"""More than that is the host's waiting: 6.4 us was measured for a copy on H200, and less for a launch."""
_PAGEABLE = ("copy-host-to-device-pageable", "copy-device-to-host-pageable")


def numbers(listed: str) -> set[int]:
    """{0, 1, 2, 8} for '0-2,8'."""
    found: set[int] = set()
    for part in listed.split(","):
        first, _, last = part.partition("-")
        if first.strip().isdigit():
            found |= set(range(int(first), int(last or first) + 1))
    return found


def gpus_to_feed(facts: Facts) -> int:
    """How many GPUs the examined process may use; 0 where that is not known."""
    try:
        return len(visible(facts))
    except (NotApplicable, UnknownFactError):
        return 0


def held_up(facts: Facts) -> tuple[tuple[str, Evidence], ...]:
    """The native figures that are the host's own work and suffer, in words and with their proof; the worst first."""
    worst: dict[str, tuple[float, str, Evidence]] = {}
    for one, verdict in judged(facts):
        usual = _LATENCIES_US.get(one.kernel)
        if one.in_tensorflow:
            continue
        if usual is not None and verdict.value > usual:
            factor, bound = verdict.value / usual, f"{usual:g} {verdict.unit} or less is usual"
        elif one.kernel in _PAGEABLE and verdict.verdict == "info" and verdict.expected:
            factor, bound = verdict.expected / verdict.value, f"{verdict.expected:g} {verdict.unit} or more is usual"
        else:
            continue
        words = (
            f"{one.kernel} takes {verdict.value:.3g} {verdict.unit}"
            if usual
            else f"{one.kernel} reaches {verdict.value:.2g} {verdict.unit}"
        )
        if one.kernel not in worst or factor > worst[one.kernel][0]:
            proof = Evidence(
                text=f"{one.kernel}: {verdict.value:.3g} {verdict.unit} ({bound})",
                source=f"native {one.kernel} on {one.device}",
            )
            worst[one.kernel] = (factor, f"{words} ({bound}: {factor:.1f} times)", proof)
    return tuple((words, proof) for _, words, proof in sorted(worst.values(), key=lambda one: -one[0]))
