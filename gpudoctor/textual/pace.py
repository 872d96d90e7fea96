"""Which of the causes of a slow program goes first, by what the program does."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts
from ..patterns import Pattern

_MADE_AT_WORK = Pattern(r"(?i)generator|augment|imread|jpe?g|\bdis[ck]|\bhdd|\bnfs|resiz|\bcpus? ?[:\uff1a=] ?[12]\b")
"""Input that is made while the GPU waits."""
_SAID = (
    ("compiles-for-minutes-said", "jit-cold-start"),
    ("mixed-no-gain-said", "mixed-precision-no-gain"),
    ("copies-slow-said", "h2d-pageable"),
    ("launches-said", "gpu-launch-bound"),
    ("short-work-slow", "gpu-launch-bound"),
    ("slow-on-a-mac", "tf-macos-no-cuda"),
    ("silent-on-gpus", "tf-cpu-only-package"),
    ("card-lies-empty", "tf-cpu-only-package"),
)
_SLOW = ("gpu-hardly-used", "gpu-no-faster", "gpu-slower-than-cpu", "slow-on-gpu")


def speaks(facts: Facts) -> Iterator[str]:
    """Many short operations, or data that take their time: the one that is told of, and not the other."""
    said = facts.text.said
    if said("riser-named") and said(*_SLOW):
        yield "pcie-link-degraded"
    if said("cache-not-kept"):
        yield "jit-cache-unwritable"
    elif said("start-takes-minutes", "start-is-slow"):
        yield "jit-cold-start"
    for kind, cause in _SAID:
        if said(kind):
            yield cause
    if not said(*_SLOW):
        return
    if said("gpu-slower-than-cpu") and not any(
        _MADE_AT_WORK.search(e.text) for e in said("input-is-heavy")
    ):  # with the same data: it does not wait for them
        yield "gpu-launch-bound"
    short, heavy = said("work-is-short"), said("input-is-heavy")
    if short and not heavy:
        yield "gpu-launch-bound"
    if heavy and not short:
        yield "cpu-starved-input"
