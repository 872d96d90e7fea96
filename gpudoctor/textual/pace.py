"""Which of the causes of a slow program goes first, by what the program does."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts

_SLOW = ("gpu-hardly-used", "gpu-no-faster", "gpu-slower-than-cpu", "slow-on-gpu")


def speaks(facts: Facts) -> Iterator[str]:
    """Many short operations, or data that take their time: the one that is told of, and not the other."""
    said = facts.text.said
    if said("start-takes-minutes", "start-is-slow"):
        yield "jit-cold-start"
    if not said(*_SLOW):
        return
    short, heavy = said("work-is-short"), said("input-is-heavy")
    if short and not heavy:
        yield "gpu-launch-bound"
    if heavy and not short:
        yield "cpu-starved-input"
