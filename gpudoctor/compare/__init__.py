"""Two sets of facts -> what changed, what is worse, and which change explains it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from .. import registry
from ..bundle import Report
from ..facts import Facts, Unread
from ..registry import Check
from . import measured, relevant
from .align import hosts, keys, pair_up, prepared
from .changes import Sides, not_known
from .deltas import deltas, in_order
from .explain import came_and_went
from .model import (
    Basis,
    Change,
    Comparison,
    Explanation,
    GoneFinding,
    Importance,
    NewFinding,
    NotKnown,
    Shift,
    Side,
    Word,
    fell,
    lists_fewer,
    sentence,
)
from .walk import differences

__all__ = [
    "Basis",
    "Change",
    "Comparison",
    "Explanation",
    "GoneFinding",
    "Importance",
    "NewFinding",
    "NotKnown",
    "Shift",
    "Side",
    "compare",
    "hosts",
    "sentence",
]

MOST = 10_000
"""Differences; of two hosts that have nothing in common there are a few thousand."""


def compare(
    old: Report,
    new: Report,
    earlier: Sequence[Facts] = (),
    checks: tuple[Check, ...] | None = None,
    *,
    basis: Basis = "report",
) -> Comparison:
    """What changed from `old` to `new`. `earlier`: the facts of other runs on the old host, whose measurements show how much they
    differ by themselves. `checks`: those that judged both (default: all)."""
    checks = registry.all_checks() if checks is None else checks
    old, new, blind = prepared(old, new, checks)
    before, after = old.seen, new.seen
    on, because = hosts(before, after, blind=blind)
    old_gpus, new_gpus, words = pair_up(before, after)
    sides = Sides(before, after, old_gpus, new_gpus, words, other_machine=on != "same")
    new_keys = keys(after, new_gpus)
    found = list(itertools.islice(differences(before, after, keys(before, old_gpus), new_keys), MOST))
    made = deltas(found, sides)
    came, gone = came_and_went(old, new, sides, made, new_keys, checks)
    figures = measured.compared(
        sides, basis, [msgspec.structs.replace(before, measurements=f.measurements) for f in earlier]
    )
    explaining = [change for one in came for change in one.explanation.changes]
    changes = _ordered([(d.change, d.leads) for d in made if d.change is not None], explaining)
    losses = [relevant.beside(loss, changes) for loss in figures.losses]
    lost = tuple(one for one in changes if relevant.is_loss(one)) if on != "different" else ()
    sides_said = _side(old, 1 + len(earlier)), _side(new, 1)
    fewer = lists_fewer(*sides_said, on)
    worse = bool(came or losses or lost or fewer or fell(old.diagnosis.verdict, new.diagnosis.verdict))
    better = bool(
        any(one.now != "not known" for one in gone)
        or figures.gains
        or fell(new.diagnosis.verdict, old.diagnosis.verdict)
    )
    word: Word = "worse" if worse else "better" if better else "changed" if changes else "same"
    return Comparison(
        basis=basis,
        verdict=word,
        hosts=on,
        hosts_because=because,
        old=sides_said[0],
        new=sides_said[1],
        new_findings=tuple(came),
        losses=tuple(losses),
        lost=lost,
        changes=changes,
        gone_findings=tuple(gone),
        gains=tuple(figures.gains),
        not_known=tuple(not_known(d, sides) for d in found if d.unread and not d.fact.startswith("measurements")),
        measured_alike=figures.alike,
        measured_once=figures.once,
        measured_gone=figures.gone,
        cut=len(found) == MOST,
    )


def _ordered(changes: list[tuple[Change, bool]], first: list[Change]) -> tuple[Change, ...]:
    """What explains a finding first, then what stands for itself, then what follows; each by importance."""
    ids = list(dict.fromkeys(one.id for one in first))
    rank = {name: n for n, name in enumerate(ids)}
    leading = [one for one, leads in changes if leads and one.id not in rank]
    rest = [one for one, leads in changes if not leads and one.id not in rank]
    explaining = sorted((one for one, _ in changes if one.id in rank), key=lambda one: rank[one.id])
    return (*explaining, *in_order(leading), *in_order(rest))


def _side(report: Report, runs: int) -> Side:
    listed = report.facts.tensorflow.gpus()
    return Side(
        started_at=report.started_at,
        verdict=report.diagnosis.verdict,
        root_causes=tuple(r.cause for r in report.diagnosis.root_causes if r.level != "info"),
        runs=runs,
        tensorflow_gpus=None if isinstance(listed, Unread) else len(listed),
        ignored=tuple(dict.fromkeys(f.cause for one in report.ignored for f in one.findings)),
    )
