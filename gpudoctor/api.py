"""What the commands do, for programs: examine and judge, or judge again."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

from . import bundle, registry
from .bundle import Report
from .diagnosis import judge
from .examine import Options, Progress, Timeline, examine
from .facts import Facts
from .findings import Judgement
from .registry import Check
from .trial import try_fixes


def check(
    options: Options | None = None,
    checks: tuple[Check, ...] | None = None,
    *,
    trials: bool = True,
    on_quick: Callable[[Judgement], None] | None = None,
    progress: Progress | None = None,
) -> tuple[Report, Timeline]:
    """Examine this machine, judge it, try the fixes. Raises examine.NoInterpreter.

    `on_quick` is called with what the quick probes decide, before TensorFlow's import is over.
    """
    options = options or Options()
    checks = registry.all_checks() if checks is None else checks
    started_at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")

    def quick(facts: Facts) -> None:
        if on_quick is not None:
            on_quick(judge(facts, checks))

    done = examine(options, on_quick=quick, progress=progress)
    facts = done.facts
    if trials:
        with done.timeline.row("trials"):
            facts = try_fixes(facts, done.patient, checks, options.limit(60.0))
    return bundle.make(facts, started_at, checks), done.timeline


def replay(path: Path, checks: tuple[Check, ...] | None = None) -> Report:
    """Judge the facts of a report with today's checks. Raises OSError, bundle.NotAReport."""
    with path.open("rb") as f:
        facts, started_at = bundle.read(f.read(bundle.MAX_BYTES + 1))
    return bundle.make(facts, started_at, checks)


__all__ = ["Facts", "Options", "Report", "check", "replay"]
