"""The likely cause, where no line proves one: what programs print leaves it open, and what somebody wrote reads like it."""

from __future__ import annotations

from ..facts import Alike, Facts, Unread
from ..findings import Candidate, Evidence, Finding, Fix, RootCause
from ..registry import Check

_CLEAR = 0.8
"""From this share on what is written says which it is. Of 9 public reports like that the first was right in 9 (2026-11)."""
_FEW, _CLEAR_OF_FEW = 5, 0.45
"""Where the lines leave no more than so many. Of 7 public reports it was right in 7."""
_SHORTEST = 5
"""Lines of a report: a sentence or two read like anything that their words occur in."""
_MESSAGE = "Likely, not proven: it fits what this text shows, and what is written there reads like it."
_HOW = "How to fix: "


def likely(facts: Facts, fits: tuple[str, ...]) -> Alike | None:
    """What somebody wrote, where it speaks clearly for the first of what fits; None: it does not."""
    if isinstance(facts.text.alike, Unread) or not facts.text.alike or not fits:
        return None
    if isinstance(facts.text.lines, Unread) or facts.text.lines < _SHORTEST:
        return None
    first = facts.text.alike[0]
    clear = _CLEAR_OF_FEW if len(fits) <= _FEW else _CLEAR
    return first if first.cause == fits[0] and first.share >= clear and first.line is not None else None


def as_root(check: Check, candidate: Candidate, shown: Finding, written: Alike) -> RootCause:
    """The cause of what is `shown`, with the lines that speak for it."""
    proof = shown.proof[:3]
    if all(one.source != f"line {written.line}" for one in proof):
        proof = (*proof, Evidence(text=written.text, source=f"line {written.line}"))
    how = next((part for part in check.page.split("\n\n") if part.startswith(_HOW)), "")
    summary = " ".join(how.removeprefix(_HOW).split())
    return RootCause(
        code=check.code,
        cause=check.cause,
        title=check.title,
        level=check.level.word,
        message=_MESSAGE,
        about=(),
        proof=proof,
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Make sure first. If it is so: {summary}",
                steps=(candidate.settle,) if candidate.settle else (),
            ),
        ),
        explains=(shown.cause,),
        proven=False,
    )
