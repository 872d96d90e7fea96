"""The likely cause, where no line proves one: of what programs leave open, what somebody wrote reads like it, or tells nothing
that speaks against it."""

from __future__ import annotations

from typing import NamedTuple

from ..facts import Facts, Unread
from ..findings import Candidate, Evidence, Finding, Fix, RootCause
from ..registry import Check

_CLEAR = 0.8
"""From this share of the word model's on what is written says which it is."""
_FEW, _CLEAR_OF_FEW = 5, 0.7
"""Where the lines leave no more than so many. Of 654 retold public reports (2026-11) 18 are named by these two, 13 of them rightly; of three
that are wrong nobody could tell the cause by the text."""
_SHORTEST, _FEWEST = 5, 8
"""Lines of a report, and words of somebody's in it: a sentence or two read like anything that their words occur in."""
_HOW = "How to fix: "


class Likely(NamedTuple):
    """Why the first of what fits is likely."""

    message: str
    line: int | None = None
    text: str = ""
    """What somebody wrote that speaks for it."""


def likely(facts: Facts, fits: tuple[str, ...]) -> Likely | None:
    """Why the first of what fits is likely; None: it is not."""
    if not fits or isinstance(facts.text.lines, Unread) or facts.text.lines < _SHORTEST:
        return None
    return _written(facts, fits) or _frequent(facts, fits[0])


def _written(facts: Facts, fits: tuple[str, ...]) -> Likely | None:
    if isinstance(facts.text.alike, Unread) or not facts.text.alike:
        return None
    first = facts.text.alike[0]
    clear = _CLEAR_OF_FEW if len(fits) <= _FEW else _CLEAR
    if first.cause != fits[0] or first.share < clear or first.line is None:
        return None
    message = "Likely, not proven: it fits what this text shows, and what is written there reads like it."
    return Likely(message, first.line, first.text)


def _frequent(facts: Facts, cause: str) -> Likely | None:
    """What it mostly is where somebody tells of it, and mentions nothing that speaks for another."""
    against, message = _MOSTLY.get(cause, ((), ""))
    if not message or isinstance(facts.text.words, Unread) or facts.text.words < _FEWEST:
        return None
    return None if facts.text.said(*against) else Likely(f"Likely, not proven: {message}")


_MOSTLY: dict[str, tuple[tuple[str, ...], str]] = {
    "cudnn-missing": (("cudnn-named",), "only cuDNN is not found, and nobody here speaks of one that is installed."),
    "fabric-manager-not-running": (("fabric-version-named",), "CUDA waits for the fabric manager."),
    "psu-insufficient": (("heat-named",), "the machine goes down when the GPU works, and nobody here speaks of heat."),
}
"""Cause -> what would speak against it, and why it is likely."""


def as_root(check: Check, candidate: Candidate, shown: Finding, why: Likely) -> RootCause:
    """The cause of what is `shown`, with the lines that speak for it."""
    proof = shown.proof[:3]
    if why.text and all(one.source != f"line {why.line}" for one in proof):
        proof = (*proof, Evidence(text=why.text, source=f"line {why.line}"))
    how = next((part for part in check.page.split("\n\n") if part.startswith(_HOW)), "")
    summary = " ".join(how.removeprefix(_HOW).split())
    return RootCause(
        code=check.code,
        cause=check.cause,
        title=check.title,
        level=check.level.word,
        message=why.message,
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
