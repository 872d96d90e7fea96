"""What the commands do, for programs: examine and judge, or judge again."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import msgspec

from . import bundle, recorded, registry
from .bundle import Recorded, Report
from .diagnosis import judge
from .examine import Examination, ExamineLevel, Options, Progress, Timeline, examine
from .facts import Facts, Run, Trial
from .findings import Judgement
from .interpreter import NoInterpreter
from .pasted import beside, log
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


def ran(
    run: Run,
    log: bytes,
    started_at: str,
    python: str | None = None,
    checks: tuple[Check, ...] | None = None,
    *,
    progress: Progress | None = None,
) -> Report:
    """Judge what a program did under `gpudoctor run`: with its log, and a quick look at the machine and at `python`."""

    def look(named: str | None) -> Facts:
        return examine(Options(level=ExamineLevel.QUICK, python=named, kernels=False), progress=progress).facts

    try:
        machine = look(python)
    except NoInterpreter:
        machine = look(None)
    return bundle.make(msgspec.structs.replace(beside(machine, log), run=run), started_at, checks)


def told(text: str, checks: tuple[Check, ...] | None = None) -> Report | None:
    """Judge what a command printed that reached no Python; None where that tells nothing."""
    report = log(io.BytesIO(text.encode()), checks)
    # a program printed it: what only reads like somebody's report of a fault is none
    shows = report.facts.text.shows_a_failure
    return report if report.diagnosis.root_causes or (shows and report.diagnosis.candidates) else None


def replay(path: Path, checks: tuple[Check, ...] | None = None) -> Report:
    """Judge what a file tells of a machine with today's checks: a report, the zip of `gpudoctor report`, a collection.

    Raises OSError, bundle.NotAReport.
    """
    return judged(recorded.load(path), checks)


def judged(told: Recorded, checks: tuple[Check, ...] | None = None) -> Report:
    """The same for what was read already."""
    return bundle.make(told.facts, told.started_at, checks, told.redactions)


def redacted(report: Report, checks: tuple[Check, ...] | None = None, *, here: bool) -> Report:
    """`report` as it may leave the machine; `here`: it was made on this one, by this user."""
    from . import redact

    return redact.report(report, redact.live() if here else redact.Identity(), checks)


__all__ = ["Facts", "Options", "Report", "check", "judged", "log", "ran", "redacted", "replay", "told"]
