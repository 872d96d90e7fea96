"""The commands: arguments in, exit code out, no logic.

Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 wrong usage; 3 the examination could not be completed.
"""

from __future__ import annotations

import enum
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from . import __version__, bundle, cli_compat, cli_log, registry
from .bundle import Report
from .examine import ExamineLevel, Options, Timeline
from .exports import Shell
from .interpreter import NoInterpreter, Unreachable
from .mending import NothingToUndo, UnknownCauseError
from .progress import Progress
from .terminal import Format, OutputError, UsageError, console, deferred, delivering, ended, say, writer

app = typer.Typer(
    name="gpudoctor",
    help="Tells why TensorFlow can't see, or can't fully use, the GPUs of this machine; proves it; gives the fix.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class FailOn(str, enum.Enum):
    """From which level on the exit code is 1."""

    UNKNOWN = "unknown"
    WARN = "warn"
    FAIL = "fail"


Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="CHECK", help="Only this check, cause or subject; repeatable.")
]
Skip = Annotated[
    list[str] | None, typer.Option("--skip", metavar="CHECK", help="Not this check, cause or subject; repeatable.")
]
FailOnOption = Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 from this level on.")]
FormatOption = Annotated[Format, typer.Option("--format", help="Text for a person, JSON for a program.")]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact/--no-redact",
        help="Replace names, homes, hosts, addresses, ids and secrets in JSON by tokens; the report lists them.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard output."),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "-v", "--verbose", help="Also list what was ruled out and why, what needs root, and what does not apply."
    ),
]


LevelOption = Annotated[
    ExamineLevel,
    typer.Option(
        "--level",
        help="quick: without importing TensorFlow; standard: with it and a kernel; full: as standard, and the loader is simulated too.",
    ),
]
PythonOption = Annotated[
    str | None, typer.Option("--python", metavar="PATH", help="Examine this interpreter or virtual environment.")
]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Limit of every single piece of work.")
]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"gpudoctor {__version__}")
        raise typer.Exit


app.add_typer(cli_compat.app, name="compat")


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@deferred(app)
def log(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A log, or anything else that was pasted; - is standard input.")
    ] = Path("-"),
    format: FormatOption = Format.TEXT,
    redact: Redact = True,
    output: Output = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every candidate with its command.")] = False,
) -> int:
    """Say what a pasted log tells: the cause with the lines that prove it, or what is left and what would settle it."""
    return cli_log.log(file, format, redact, output, verbose)


@deferred(app)
def check(
    level: LevelOption = ExamineLevel.STANDARD,
    python: PythonOption = None,
    inside: Annotated[
        str | None,
        typer.Option(
            "--in",
            metavar="COMMAND",
            help="Examine the Python at the end of this command: 'docker run --rm -i --gpus all IMAGE python3', 'ssh HOST python3'.",
        ),
    ] = None,
    pid: Annotated[
        int | None,
        typer.Option(
            "--pid", metavar="N", min=1, help="Examine the Python of this running process, with its variables."
        ),
    ] = None,
    only: Only = None,
    skip: Skip = None,
    kernels: Annotated[bool, typer.Option("--kernels/--no-kernels", help="Run work on the devices.")] = True,
    trials: Annotated[bool, typer.Option("--trials/--no-trials", help="Try fixes in a throw-away process.")] = True,
    timeout: TimeoutOption = None,
    fail_on: FailOnOption = FailOn.WARN,
    format: FormatOption = Format.TEXT,
    redact: Redact = True,
    output: Output = None,
    verbose: Verbose = False,
    timings: Annotated[
        bool, typer.Option("--timings", help="Print how long each piece of work took, to standard error.")
    ] = False,
) -> int:
    """Examine this machine and say what is wrong, with proof and a fix."""
    from . import api

    if sys.platform != "linux":
        raise UsageError(
            f"check examines Linux machines (WSL2 among them), this is {sys.platform}; replay and log work anywhere"
        )
    if sum(one is not None for one in (python, inside, pid)) > 1:
        raise UsageError("--python, --in and --pid exclude each other: each names an interpreter")
    checks = registry.select(only or (), skip or ())
    write = writer(output)
    options = Options(level=level, python=python, inside=inside, pid=pid, kernels=kernels, timeout_s=timeout)
    progress = Progress()
    try:
        with progress.shown():
            report, timeline = api.check(
                options, checks, trials=trials, on_early=progress.early, progress=progress.step
            )
    except Unreachable as e:
        judged = api.told(e.told, checks) if e.told else None
        if judged is None:
            raise
        cli_log.deliver(judged, format, redact, write, verbose, here=True)
        if not judged.diagnosis.root_causes:  # candidates: nothing is decided
            raise
        say(str(e))
        return bundle.exit_code(judged, fail_on.value)
    shown = api.redacted(report, checks, here=True) if redact and format is Format.JSON else report
    _print(shown, format, write, verbose)
    if timings:
        _print_timings(timeline)
    return bundle.exit_code(report, fail_on.value)


@deferred(app)
def fix(
    named: Annotated[
        list[str] | None, typer.Argument(metavar="[CODE|CAUSE]...", help="Only these causes; all, where none is named.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back what the last fix did.")] = False,
    python: PythonOption = None,
    level: LevelOption = ExamineLevel.STANDARD,
    timeout: TimeoutOption = None,
) -> int:
    """Mend what needs no root: a link, a line in the activation script, pip in the examined environment. Asks first, checks again."""
    from . import cli_fix

    if undo:
        if named:
            raise UsageError("--undo takes back the last fix as a whole: it takes no cause")
        return cli_fix.undo(python, dry_run=dry_run, yes=yes)
    return cli_fix.fix(named or (), Options(level=level, python=python, timeout_s=timeout), dry_run=dry_run, yes=yes)


@deferred(app)
def env(
    shell: Annotated[
        Shell, typer.Option("--for", help="Who reads the lines; dockerfile: ENV lines, for an image.")
    ] = Shell.SH,
    python: PythonOption = None,
    level: LevelOption = ExamineLevel.QUICK,
    timeout: TimeoutOption = None,
) -> int:
    """Print the export lines that make the examined environment work: eval "$(gpudoctor env)", Dockerfiles, job scripts."""
    from . import cli_fix

    return cli_fix.env(Options(level=level, python=python, kernels=False, timeout_s=timeout), shell)


@deferred(app)
def replay(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A report of `gpudoctor check --format json`, or what the collector brought back; - is standard input.",
        ),
    ],
    only: Only = None,
    skip: Skip = None,
    fail_on: FailOnOption = FailOn.WARN,
    format: FormatOption = Format.TEXT,
    redact: Redact = True,
    output: Output = None,
    verbose: Verbose = False,
) -> int:
    """Judge a recorded report again, with this version's checks."""
    from . import api

    checks = registry.select(only or (), skip or ())
    write = writer(output)
    try:
        report = api.replay(Path("/dev/stdin") if str(file) == "-" else file, checks)
    except OSError as e:
        raise UsageError(f"{file}: {e.strerror or e}") from e
    except bundle.NotAReport as e:
        raise UsageError(f"{file} is no report of gpudoctor: {e}") from e
    if report.facts.text.is_all:
        cli_log.deliver(report, format, redact, write, verbose)
        return bundle.exit_code(report, fail_on.value)
    shown = api.redacted(report, checks, here=False) if redact and format is Format.JSON else report
    _print(shown, format, write, verbose, recorded=True)
    return bundle.exit_code(report, fail_on.value)


@deferred(app)
def collector(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("gpudoctor-collector.pyz"),
    level: Annotated[
        ExamineLevel, typer.Option("--level", help="What it will look at; see check.")
    ] = ExamineLevel.STANDARD,
    kernels: Annotated[bool, typer.Option("--kernels/--no-kernels", help="Run work on the devices.")] = True,
) -> int:
    """Write the collector: one file for a host where nothing can be installed. It needs Python 3.6 there, nothing else."""
    from . import collection

    try:
        collection.write(file, Options(level=level, kernels=kernels))
    except OSError as e:
        raise UsageError(f"can't write to {file}: {e.strerror or e}") from e
    with delivering() as out:
        text = f"There: python3 {file.name} collected.txt\nThen, here: gpudoctor replay collected.txt"
        out.print(text, markup=False, soft_wrap=True)
    return 0


@deferred(app, "list")
def list_(
    only: Annotated[list[str] | None, typer.Argument(metavar="[CHECK]...", help="Codes, causes or subjects.")] = None,
) -> int:
    """List the checks: code, name, subject, what is wrong when they fire."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False)
    for column in ("code", "cause or symptom", "subject", "what is wrong when it fires"):
        table.add_column(column, no_wrap=column != "what is wrong when it fires")
    for one in registry.select(only or ()):
        table.add_row(one.code, one.cause, "symptom" if one.is_symptom else one.subject, one.title)
    with delivering() as out:
        if not out.is_terminal:
            out.width = 200
        out.print(table)
    return 0


@deferred(app)
def explain(name: Annotated[str, typer.Argument(metavar="CODE|CAUSE")]) -> int:
    """Print the page of a check: what it looks at, why it matters, how to fix it, its source."""
    one = registry.find(name)
    kind = "symptom" if one.is_symptom else f"cause, {one.level.word}"
    with delivering() as out:
        out.print(f"{one.code} {one.cause} ({kind}, {one.subject})", style="bold", highlight=False)
        out.print()
        for paragraph in one.page.split("\n\n"):
            out.print(" ".join(paragraph.split()), markup=False, highlight=False, soft_wrap=not out.is_terminal)
            out.print()
        if one.explains:
            out.print(f"Explains: {', '.join(one.explains)}", highlight=False, markup=False)
        if one.is_symptom:
            causes = [c.cause for c in registry.all_checks() if one.cause in c.explains]
            out.print(f"Causes: {', '.join(causes) or 'none known'}", highlight=False, markup=False)
    return 0


# ------------------------------------------------------------------------------- printing


def _print(
    report: Report, format: Format, write: Callable[[str], None] | None, verbose: bool, *, recorded: bool = False
) -> None:
    if format is Format.JSON:
        from .render import json

        text = json.render(report)
        if write is None:
            with delivering():
                sys.stdout.write(text)
        else:
            write(text)
        return
    from .render import text as text_renderer

    if write is None:
        with delivering() as out:
            text_renderer.show(report, out, verbose=verbose, recorded=recorded)
    else:
        kept = io.StringIO()
        text_renderer.show(report, console(kept), verbose=verbose, recorded=recorded)
        write(kept.getvalue())


def _print_timings(timeline: Timeline) -> None:
    for name, start, seconds in sorted(timeline.rows, key=lambda r: r[1]):
        print(f"{start:7.2f} s  +{seconds:6.2f} s  {name}", file=sys.stderr)


# ------------------------------------------------------------------------------- the way out


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; every failure is one line on standard error and the right exit code."""
    return ended(
        lambda: _deliver(arguments),
        (registry.UnknownCheckError, NoInterpreter, NothingToUndo, UnknownCauseError),
        (Unreachable,),
    )


def _deliver(arguments: list[str] | None) -> int:
    command = typer.main.get_command(app)
    try:
        work: Any = command.main(args=arguments, prog_name="gpudoctor", standalone_mode=False)
    except Exception as e:
        if type(e).__name__ == "NoArgsIsHelpError":  # the help is printed already
            return 2
        if hasattr(e, "format_message"):  # click's own usage errors
            raise UsageError(e.format_message()) from e
        raise
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    code = work() if callable(work) else work
    return code if isinstance(code, int) else 0
