"""`gpudoctor baseline`: keeps the facts of a known-good day; `check --against` compares with them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_options import ConfigOption, NoConfig, PythonOption, TimeoutOption, Verbose, chosen, recorded
from .terminal import Format, UsageError, deferred, deliver, delivering, say, show

if TYPE_CHECKING:
    from rich.console import Console

    from .baseline import Run
    from .bundle import FailOn, Report
    from .compare import Comparison
    from .registry import Check

app = typer.Typer(
    name="baseline",
    help="Keep the facts of a known-good day, which check --against compares with.",
    no_args_is_help=True,
    add_completion=False,
)
FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="Where it is kept; without one in $XDG_STATE_HOME or ~/.local/state."),
]


@deferred(app, "save")
def save(
    file: FileArgument = None,
    add: Annotated[
        bool, typer.Option("--add", help="Keep the baseline that is there, and add this run's measurements to it.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Also of a host on which something is wrong.")] = False,
    python: PythonOption = None,
    timeout: TimeoutOption = None,
    config: ConfigOption = None,
    no_config: NoConfig = False,
) -> int:
    """Examine this machine as check does, and keep what was seen. Exit code 1 where something is wrong: nothing is kept then."""
    from . import api, baseline
    from .examine import Options
    from .progress import Progress

    if sys.platform != "linux":
        raise UsageError(f"baseline examines Linux machines (WSL2 among them), this is {sys.platform}")
    path = file or baseline.place()
    checks = chosen(config=config, no_config=no_config)
    before = recorded(path, checks) if add else None  # before the examination, so that it is not for nothing
    runs = _further(path) if add else ()
    progress = Progress()
    with progress.shown():
        report, _ = api.check(Options(python=python, timeout_s=timeout), checks, trials=False, progress=progress.step)
    verdict = report.diagnosis.verdict
    if verdict != "healthy" and not force:
        causes = ", ".join(r.cause for r in report.diagnosis.root_causes if r.level != "info")
        told = f": {causes}" if causes else ""
        say(
            f"not kept: this host's verdict is {verdict}{told}; gpudoctor check shows it, --force keeps it all the same"
        )
        return 3 if verdict == "unknown" else 1
    if before is not None:
        _same_host(before, report, path, force=force)
        runs, report = (*runs, baseline.Run(started_at=report.started_at, measurements=report.measurements)), before
    try:
        baseline.keep(path, report, runs)
    except baseline.CannotKeep as e:
        raise UsageError(str(e)) from e
    kept = f"{1 + len(runs)} run{'s' if runs else ''}, {len(report.measurements)} measurements, verdict {verdict}"
    with delivering() as out:
        out.print(f"Kept in {path}: {kept}.", markup=False, soft_wrap=True)
        out.print(
            "Compare with it: gpudoctor check --against" + (f" {file}" if file else ""), markup=False, soft_wrap=True
        )
    return 0


@deferred(app, "show")
def show_(file: FileArgument = None, verbose: Verbose = False) -> int:
    """Show the baseline: when and where it was taken, and what was seen and measured then."""
    from .render import text

    path, report = saved(file, chosen())
    runs = _further(path)
    with delivering() as out:
        also = f"; measured again {', '.join(run.started_at for run in runs)}" if runs else ""
        out.print(text.styled(f"{path}: the baseline of {report.started_at}{also}", "dim"), soft_wrap=True)
        text.show(report, out, verbose=verbose, recorded=True)
    return 0


def _further(path: Path) -> tuple[Run, ...]:
    from . import baseline, bundle

    try:
        return baseline.further(path)
    except (OSError, bundle.NotAReport) as e:
        raise UsageError(f"{path}: {e}") from e


def _same_host(before: Report, report: Report, path: Path, *, force: bool) -> None:
    from .compare import hosts

    on, because = hosts(before.seen, report.seen, blind=False)
    if on == "different" and not force:
        raise UsageError(f"{path} is the baseline of another host: {because}; its noise is not this one's")


# ------------------------------------------------------------------------------- check --against


def saved(file: Path | None, checks: tuple[Check, ...]) -> tuple[Path, Report]:
    """What `check --against` names (None: the saved baseline). Raises UsageError."""
    from . import baseline

    path = file or baseline.place()
    if file is None and not path.exists():
        raise UsageError(f"there is no baseline in {path}: gpudoctor baseline save keeps one")
    return path, recorded(path, checks)


def against(
    path: Path, before: Report, report: Report, checks: tuple[Check, ...], format: Format, *, redact: bool
) -> Comparison:
    """`report`, just made here, compared with a baseline."""
    from .cli_diff import earlier, redacted
    from .compare import compare

    further = earlier(path, before)
    if redact and format.leaves:
        before = redacted(before, checks, here=True)
    return compare(before, report, further, checks, basis="baseline")


def printed(
    report: Report,
    comparison: Comparison,
    format: Format,
    write: Callable[[str], None] | None,
    *,
    verbose: bool,
    fail_on: FailOn,
    took_s: float | None,
) -> None:
    """A report and, below it, the comparison: one text in every format."""
    from .render.diff import below, text
    from .render.diff.view import View

    if format.leaves:
        deliver(below(report, comparison, format.value, fail_on, took_s=took_s), write)
        return
    from .render import text as whole

    def draw(out: Console) -> None:
        whole.show(report, out, verbose=verbose)
        out.print()
        text.show(View(comparison, verbose), out)

    show(draw, write)
