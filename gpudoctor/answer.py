"""The answer of a report in its names alone, and where the answers of two days differ."""

from __future__ import annotations

import msgspec

from .findings import Diagnosis

_MOST = 8
"""Names in a sentence; of more their number is said."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What was said of a machine."""

    verdict: str
    causes: tuple[str, ...]
    """The root causes, in their order."""
    candidates: dict[str, tuple[str, ...]]
    """Symptom -> the causes that were left."""


def of(diagnosis: Diagnosis) -> Answer:
    """The names in a diagnosis."""
    return Answer(
        verdict=diagnosis.verdict,
        causes=tuple(r.cause for r in diagnosis.root_causes),
        candidates={symptom: tuple(c.cause for c in left) for symptom, left in diagnosis.candidates.items()},
    )


def differences(then: Answer, now: Answer) -> tuple[str, ...]:
    """A sentence for each thing in which `now` is another answer than `then`; none where nothing differs."""
    said = []
    if then.verdict != now.verdict:
        said.append(f"the verdict is {now.verdict}, was {then.verdict}")
    if new := _without(now.causes, then.causes):
        said.append(f"now a root cause: {_listed(new)}")
    if gone := _without(then.causes, now.causes):
        said.append(f"no longer a root cause: {_listed(gone)}")
    for symptom in dict.fromkeys((*then.candidates, *now.candidates)):
        before, after = then.candidates.get(symptom, ()), now.candidates.get(symptom, ())
        more, less = _without(after, before), _without(before, after)
        if more:
            said.append(f"now a candidate for {symptom}: {_listed(more)}")
        if less:
            said.append(f"no longer a candidate for {symptom}: {_listed(less)}")
    return tuple(said)


def _without(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    known = set(others)
    return tuple(dict.fromkeys(name for name in names if name not in known))


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
