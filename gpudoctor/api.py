"""What the commands do, for programs: examine and judge, or judge again."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import msgspec

from . import bundle, collection, registry
from .bundle import Report
from .diagnosis import judge
from .examine import Examination, Options, Progress, Timeline, examine
from .facts import Facts, Trial
from .findings import Judgement
from .pasted import log
from .registry import Check
from .trial import LIMIT_S, try_fixes


def check(
    options: Options | None = None,
    checks: tuple[Check, ...] | None = None,
    *,
    trials: bool = True,
    on_early: Callable[[Judgement], None] | None = None,
    progress: Progress | None = None,
) -> tuple[Report, Timeline]:
    """Examine this machine, judge it, try the fixes. Raises interpreter.NoInterpreter, interpreter.Unreachable.

    `on_early` is called with what the quick probes decide, before TensorFlow's import is over: once, or twice
    where one of them is slow.
    """
    options = options or Options()
    checks = registry.all_checks() if checks is None else checks
    started_at = bundle.now()
    made: tuple[Trial, ...] = ()

    def early(facts: Facts) -> None:
        if on_early is not None:
            on_early(judge(facts, checks))

    def tried(seen: Examination, facts: Facts) -> Facts:
        with seen.timeline.row("trials"):
            return try_fixes(facts, seen.patient, checks, options.limit(LIMIT_S))

    def quick(seen: Examination) -> None:
        """While TensorFlow is still being imported: say what is found, and try its fixes."""
        nonlocal made
        early(seen.facts)
        if trials:
            made = tried(seen, seen.facts).trials

    done = examine(options, on_early=early, on_quick=quick, progress=progress)
    facts = msgspec.structs.replace(done.facts, trials=made)
    if trials:
        facts = tried(done, facts)  # what the import has added; what was tried already is kept
    return bundle.make(facts, started_at, checks), done.timeline


def told(text: str, checks: tuple[Check, ...] | None = None) -> Report | None:
    """Judge what a command printed that reached no Python; None where that tells nothing."""
    report = log(io.BytesIO(text.encode()), checks)
    # a program printed it: what only reads like somebody's report of a fault is none
    shows = report.facts.text.shows_a_failure
    return report if report.diagnosis.root_causes or (shows and report.diagnosis.candidates) else None


def replay(path: Path, checks: tuple[Check, ...] | None = None) -> Report:
    """Judge the facts of a report, or of a collection, with today's checks. Raises OSError, bundle.NotAReport."""
    with path.open("rb") as f:
        data = f.read(collection.MAX_BYTES + 1)
    redactions = None
    if collection.looks_like_one(data):
        try:
            facts, started_at = collection.read(data)
        except collection.NotACollection as e:
            raise bundle.NotAReport(f"a collection, {e}") from e
    else:
        facts, started_at, redactions = bundle.read(data)
    return bundle.make(facts, started_at, checks, redactions)


def redacted(report: Report, checks: tuple[Check, ...] | None = None, *, here: bool) -> Report:
    """`report` as it may leave the machine; `here`: it was made on this one, by this user."""
    from . import redact

    return redact.report(report, redact.live() if here else redact.Identity(), checks)


__all__ = ["Facts", "Options", "Report", "check", "log", "redacted", "replay", "told"]
