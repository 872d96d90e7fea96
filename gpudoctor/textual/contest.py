"""What speaks against asserting the first cause that a line shows: then it and what contests it are candidates, none is asserted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ..facts import Facts
from ..findings import Candidate, Diagnosis, Finding, Level, RootCause, Unknown
from ..registry import Check
from . import found_out
from .behind import behind
from .likeness import INSTALL_FAILS, another
from .settles import SETTLES

NO_COMPLAINT = "no-complaint-said"
"""The kind of what says that a text reports no fault."""
_READS = "what is written reads like it"


class _Reason(NamedTuple):
    """Why the first is not asserted: the cause that goes before it, and what is said of this one and of what lines show."""

    leading: str | None
    of_leading: str
    of_shown: str


def contested(facts: Facts, diagnosis: Diagnosis, findings: Iterable[Finding], checks: dict[str, Check]) -> Diagnosis:
    """`diagnosis`, where something is behind the first that a line shows, where all that is written reads clearly like another
    cause, or where somebody says that he reports no fault: then none is asserted, and all are candidates."""
    first = next(iter(diagnosis.root_causes), None)
    reason = None if first is None or first.level == Level.INFO.word else _reason(facts, diagnosis, first)
    if first is None or reason is None:
        return diagnosis
    symptom = next((f.cause for f in findings if f.symptom and f.cause in first.explains), first.cause)
    notes = tuple(one for one in diagnosis.root_causes if one.level == Level.INFO.word)
    shown = dict.fromkeys(one.cause for one in diagnosis.root_causes if one not in notes)
    leading = () if reason.leading is None else (as_candidate(checks[reason.leading], reason.of_leading),)
    others = (as_candidate(checks[name], reason.of_shown) for name in shown if name != reason.leading)
    candidates = {symptom: (*leading, *others)}
    return msgspec.structs.replace(diagnosis, root_causes=notes, combined_fix=None, candidates=candidates)


def _reason(facts: Facts, diagnosis: Diagnosis, first: RootCause) -> _Reason | None:
    """The first reason that holds."""
    out = {one.cause for one in diagnosis.ruled_out}
    deeper = behind(facts, first.cause)
    if deeper is not None and deeper not in out:
        return _Reason(
            deeper,
            "it may be behind what a line shows: the text tells of it",
            "a line shows it, which may have a deeper cause",
        )
    firm = first.cause in found_out.firstly(facts)
    other = None if deeper or firm else another(facts, [one.cause for one in diagnosis.root_causes])
    if other is not None and other not in {*out, *first.explains} and INSTALL_FAILS not in first.explains:
        return _Reason(other, _READS, "a line shows it, and what is written reads like another cause")
    if facts.text.said(NO_COMPLAINT):
        return _Reason(None, "", "a line shows it, in a text that says that it reports no fault")
    return None


def as_candidate(check: Check, why: Unknown | str | None) -> Candidate:
    """`why`: how its check ended, or the reason; None: its check does not leave it open."""
    settle = why.settle if isinstance(why, Unknown) else None
    return Candidate(
        code=check.code,
        cause=check.cause,
        title=check.title,
        unknown_because=why.why if isinstance(why, Unknown) else why or _READS,
        settle=SETTLES.get(check.cause, settle),
    )
