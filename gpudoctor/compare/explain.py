"""Findings that came and went; and for each that came, the change that most likely explains it.

Checks are pure, and facts can be changed one at a time. So the question 'what if this had stayed as it was?' has an answer: the new facts
with one change put back are judged again by the finding's own check. The change, or the fewest of them, with which the finding is
gone is its explanation. What follows from a change (a library's file from the wheel that brought it) is put back with it.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from ..bundle import Report
from ..diagnosis import judge
from ..facts import Facts
from ..findings import Finding, Level
from ..registry import Check
from .changes import Sides, in_words
from .deltas import RANK, Delta, group
from .model import Change, Explanation, GoneFinding, NewFinding, sentence
from .walk import Difference, Keys, put_back

_LEVELS = {level.word: level for level in Level}
_MOST_TRIED, _MOST_TOGETHER, _MOST_OTHERS = 400, 120, 3
_END_RESULT = re.compile(r"tensorflow\.(devices|events|log|loaded|logical_devices)\b|measurements\b")
"""What everything else ends in. With it put back many a check has nothing to look at any more, whatever the cause was."""
Ending = Literal["ruled out", "not known", "lower", "not applicable", "found"]


def came_and_went(
    old: Report, new: Report, sides: Sides, made: list[Delta], keys: Keys, checks: Sequence[Check]
) -> tuple[list[NewFinding], list[GoneFinding]]:
    """The warnings and failures that one report has and the other has not, at its level."""
    before, after = _Named(old, sides, is_old=True), _Named(new, sides, is_old=False)
    puzzle = _Puzzle(sides, made, keys, {one.code: one for one in checks}, before)
    fresh = [one for one in after.bad if not before.has(one, after)]
    explained: dict[str, Explanation] = {}
    came = []
    for one in sorted(fresh, key=lambda f: f.symptom):  # a symptom has the explanation of its cause
        by = next(
            (explained[r.cause] for r in new.diagnosis.root_causes if one.cause in r.explains and r.cause in explained),
            None,
        )
        found = by if by is not None and by.changes else puzzle.solve(one, after)
        explained.setdefault(one.cause, found)
        how = before.ending(one, after)
        came.append(NewFinding(finding=one, before="ruled out" if how == "found" else how, explanation=found))
    order = {r.cause: n for n, r in enumerate(new.diagnosis.root_causes)}
    came.sort(key=lambda n: (order.get(n.finding.cause, len(order)), n.finding.symptom, -_LEVELS[n.finding.level]))
    gone = []
    for one in before.bad:
        if not after.has(one, before):
            how = after.ending(one, before)
            gone.append(
                GoneFinding(
                    code=one.code,
                    cause=one.cause,
                    title=one.title,
                    level=one.level,
                    symptom=one.symptom,
                    message=one.message,
                    now="ruled out" if how == "found" else how,
                )
            )
    return came, gone


class _Named:
    """The findings of one report, with what they are about by the common names of both."""

    def __init__(self, report: Report, sides: Sides, *, is_old: bool) -> None:
        self.bad = [one for one in report.findings if _LEVELS[one.level] > Level.INFO]
        self._gpus = (sides.old_gpus if is_old else sides.new_gpus).nvml
        self._all = report.findings
        self._ended: dict[str, Ending] = {one.code: "not known" for one in report.unknown}
        self._ended.update((one.code, "not applicable") for one in report.skipped)

    def about(self, one: Finding) -> frozenset[str]:
        """'gpu2' is a number of one side; what GPU that is has a name on both."""
        numbers = {f"gpu{index}": name for index, name in self._gpus.items()}
        return frozenset(numbers.get(word, word) for word in one.about)

    def has(self, one: Finding, of: _Named) -> bool:
        """The same finding, at its level or above."""
        return any(_LEVELS[f.level] >= _LEVELS[one.level] for f in self._alike(one, of))

    def ended_as_skipped(self, code: str) -> bool:
        """Its check did not apply here."""
        return self._ended.get(code) == "not applicable"

    def ending(self, one: Finding, of: _Named) -> Ending:
        """How the check ended here that found this there."""
        if self._alike(one, of):
            return "lower"
        return self._ended.get(one.code, "ruled out")

    def _alike(self, one: Finding, of: _Named) -> list[Finding]:
        about = of.about(one)
        return [
            f
            for f in self._all
            if f.code == one.code and (not about or not f.about or about <= self._covered(one.code))
        ]

    def _covered(self, code: str) -> frozenset[str]:
        return frozenset(word for f in self._all if f.code == code for word in self.about(f))


@dataclasses.dataclass
class _Puzzle:
    """What explains a finding."""

    sides: Sides
    made: list[Delta]
    keys: Keys
    checks: dict[str, Check]
    before: _Named

    def solve(self, one: Finding, after: _Named) -> Explanation:
        """The change, or the fewest of them, without which it is not found."""
        check = self.checks.get(one.code)
        if check is None:
            return _none("its check is not among those that were asked for")
        if self.before.ending(one, after) == "not known":
            return _none("what shows it could not be looked at before; it may be older than any change")
        about = after.about(one)

        def gone(put: Iterable[Difference], *, even_unknown: bool = False) -> bool:
            return self._gone(check, about, after, put, even_unknown=even_unknown)

        def which(
            put: Callable[[int], list[Difference]], among: list[int], *, even_unknown: bool = False
        ) -> list[Change]:
            found = (self._change(n) for n in among if gone(put(n), even_unknown=even_unknown))
            return list(itertools.islice(found, 1 + _MOST_OTHERS))

        leading = [n for n, d in enumerate(self.made) if d.change is not None and d.leads]
        leading = sorted(leading, key=lambda n: self._rank(n, one))[:_MOST_TRIED]
        if alone := which(lambda n: self.made[n].differences, leading):
            return _explained(alone[:1], "alone", alone[1:])
        groups = {n: group(self.made, n) for n in leading}
        on_the_way = {n: [d for d in ones if not _END_RESULT.match(d.fact)] for n, ones in groups.items()}
        for put in (on_the_way, groups):
            if with_all := which(put.__getitem__, leading):
                return _explained(with_all[:1], "with what follows", with_all[1:])
        if len(leading) <= _MOST_TOGETHER and (fewest := _fewest(leading, groups, gone)):
            return _explained(list(map(self._change, fewest)), "together")
        own = [n for n in leading if any(name in self._change(n).id for name in about)]
        # what is of the moment may only have let it be seen
        if lasting := which(groups.__getitem__, own, even_unknown=True):
            return _explained(lasting[:1], "with what follows", lasting[1:])
        passing: dict[str, list[Difference]] = {}
        for delta in self.made:
            if delta.change is None:
                passing.setdefault(delta.differences[0].fact, []).extend(delta.differences)
        decisive = [ones[0] for ones in passing.values() if gone(ones)]
        if any(one.fact.startswith("measurements") for one in decisive):
            return _none("no other recorded change explains it: it goes by what was measured")
        if told := [in_words(one, self.sides) for one in decisive if not one.unread]:
            return _none(f"no lasting change explains it; of the moment: {'; '.join(told[:_MOST_OTHERS])}")
        return _none("no recorded change explains it")

    def _change(self, n: int) -> Change:
        change = self.made[n].change
        assert change is not None
        return change

    def _rank(self, n: int, one: Finding) -> tuple[int, int, int]:
        """What the finding itself names comes first, then what is important."""
        change = self._change(n)
        text = " ".join([one.message, *(p.text + p.source for p in one.proof)])
        named = sum(word in text for word in (change.subject, change.new, change.old) if word and len(word) > 2)
        return -named, RANK[change.importance], n

    def _gone(
        self,
        check: Check,
        about: frozenset[str],
        after: _Named,
        put: Iterable[Difference],
        *,
        even_unknown: bool,
    ) -> bool:
        """With this put back the check looks and finds nothing of the kind, or ends as it did before; `even_unknown`: or it
        finds nothing because it can't look."""
        facts: Facts = put_back(self.sides.new, {id(d): d for d in put}.values(), self.keys)
        judged = judge(facts, (check,))
        if judged.unknown and not even_unknown:
            return False
        if judged.skipped:
            return self.before.ended_as_skipped(check.code)
        return not any(not about or not f.about or about & after.about(f) for f in judged.findings if f.level != "info")


def _fewest(
    leading: list[int], groups: dict[int, list[Difference]], gone: Callable[[list[Difference]], bool]
) -> list[int]:
    """The fewest changes that do it together, as far as leaving out one after the other tells."""
    kept = list(leading)
    if not gone([d for n in kept for d in groups[n]]):
        return []
    for n in reversed(leading):  # the least likely first
        rest = [k for k in kept if k != n]
        if rest and gone([d for k in rest for d in groups[k]]):
            kept = rest
    return kept


def _explained(
    changes: list[Change], how: Literal["alone", "with what follows", "together"], others: Sequence[Change] = ()
) -> Explanation:
    named = "; ".join(map(sentence, changes))
    words = {
        "alone": f"{named}. With this put back it is not found",
        "with what follows": f"{named}. With this and what follows from it put back it is not found",
        "together": f"{named}. With these put back together it is not found",
    }[how]
    return Explanation(changes=tuple(changes), how=how, others=tuple(others), words=words)


def _none(why: str) -> Explanation:
    return Explanation(changes=(), how="none", words=why)
