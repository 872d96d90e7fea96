"""The lines of a text that prove a finding."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..facts import Facts, Unread, with_fact
from ..findings import Evidence, Finding
from ..registry import Check


def quoted(facts: Facts, check: Check, finding: Finding) -> Finding:
    """`finding` with the lines of the text as its proof: those of the facts without which it would not be made."""
    if any((one.source or "").startswith("line ") for one in finding.proof):
        return finding  # it quotes the lines itself
    numbers = sorted(set(_needed(facts, check, finding)))
    events = {} if isinstance(facts.text.events, Unread) else {e.line: e.text for e in facts.text.events}
    proof = tuple(Evidence(text=events[n], source=f"line {n}") for n in numbers if n in events)[:8]
    return msgspec.structs.replace(finding, proof=proof) if proof else finding


def _needed(facts: Facts, check: Check, finding: Finding) -> Iterator[int]:
    gone = Unread(why="left out")
    for source in () if isinstance(facts.text.sources, Unread) else facts.text.sources:
        if source.fact != "tensorflow.events":
            if not _still(check, with_fact(facts, source.fact, gone), finding):
                yield from source.lines[:3]
            continue
        events = facts.tensorflow.events
        noted = () if isinstance(facts.text.events, Unread) else facts.text.events
        if isinstance(events, Unread) or _still(check, with_fact(facts, source.fact, ()), finding):
            continue
        for kind in dict.fromkeys(e.kind for e in events):
            rest = tuple(e for e in events if e.kind != kind)
            if not _still(check, with_fact(facts, source.fact, rest), finding):
                yield from [n.line for n in noted if n.language == "tensorflow" and n.kind == kind][:3]


def _still(check: Check, facts: Facts, finding: Finding) -> bool:
    """Whether the check says the same of other facts."""
    try:
        return any(one.message == finding.message for one in check.body(facts))
    except Exception:
        return False
