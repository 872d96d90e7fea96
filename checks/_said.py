"""What a pasted text says, for checks whose cause some line states outright."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread
from gpudoctor.findings import Evidence, NotApplicable


def said(facts: Facts, *kinds: str, settle: str | None = None) -> tuple[TextEvent, ...]:
    """The lines of these kinds, one at least; for causes that only a text tells.

    Raises NotApplicable for a machine, and UnknownFactError where the text has none: `settle` is the one command whose
    output would tell whether it is this cause.
    """
    if not facts.text.is_all:
        raise NotApplicable("only a text tells it (gpudoctor log)")
    found = facts.text.said(*kinds)
    if not found:
        raise UnknownFactError(Unread(why="not in this text", settle=settle))
    return found


def lines(events: Iterable[TextEvent]) -> tuple[Evidence, ...]:
    """Lines as proof."""
    return tuple(Evidence(text=e.text, source=f"line {e.line}") for e in list(events)[:4])
