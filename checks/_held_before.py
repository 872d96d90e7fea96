"""What a text shows of a GPU's memory before the program in question starts."""

from __future__ import annotations

from gpudoctor.facts import Facts, TextEvent

_MUCH_MIB = 2048
"""A desktop's programs hold less."""


def held_before_start(facts: Facts) -> tuple[TextEvent, ...]:
    """The line that says when nvidia-smi was asked, and the processes that held much memory then; (): nothing of it is told."""
    before = facts.text.said("shown-before-start")
    much = tuple(e for e in facts.text.said("gpu-process") if _mib(e.values.get("used", "")) >= _MUCH_MIB)
    return (*before, *much) if before and much else ()


def _mib(used: str) -> int:
    """Of nvidia-smi's table of processes, which says N/A where it does not know."""
    return int(used[:-3]) if used[:-3].isdecimal() else 0
