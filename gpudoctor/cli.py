"""The commands: arguments in, exit code out, no logic.

Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 wrong usage; 3 the examination could not be completed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from . import (
    __version__,
    bundle,
    cli_baseline,
    cli_checks,
    cli_compat,
    cli_completion,
    cli_diff,
    cli_log,
    cli_report,
    registry,
)
from .bundle import Report
from .cli_options import (
    Against,
    BudgetOption,
    Causes,
    ConfigOption,
    FailOn,
    FailOnOption,
    FormatOption,
    InsideOption,
    Kernels,
    KernelsOption,
    LevelOption,
    NoConfig,
    Only,
    Output,
    PidOption,
    PythonOption,
    Redact,
    Skip,
    TimeoutOption,
    TrialsOption,
    Verbose,
    chosen,
    differs,
    one_interpreter,
    told,
    without_value,
)
from .examine import ExamineLevel, Options, Timeline
from .exports import Shell
from .interpreter import NoInterpreter, Unreachable
from .mending import NothingToUndo, UnknownCauseError
from .progress import Progress
from .terminal import (
    Backend,
    Drawing,
    Format,
    OutputError,
    Table,
    UsageError,
    deferred,
    deliver,
    delivering,
    ended,
    say,
    show,
    writer,
)

app = typer.Typer(
    name="gpudoctor",
    help="Tells why TensorFlow can't see, or can't fully use, the GPUs of this machine; proves it; gives the fix.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"gpudoctor {__version__}")
        raise typer.Exit


app.add_typer(cli_compat.app, name="compat")
app.add_typer(cli_baseline.app, name="baseline")
deferred(app, "diff")(cli_diff.command)


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
    inside: InsideOption = None,
    pid: PidOption = None,
    only: Only = None,
    skip: Skip = None,
    config: ConfigOption = None,
    no_config: NoConfig = False,
    kernels: KernelsOption = True,
    trials: TrialsOption = True,
    timeout: TimeoutOption = None,
    budget: BudgetOption = None,
    against: Against = None,
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
    one_interpreter(python, inside, pid)
    checks = chosen(only, skip, config, no_config)
    before = None if against is None else cli_baseline.saved(Path(against) if against else None, checks)
    write = writer(output, format)
    options = Options(
        level=level, python=python, inside=inside, pid=pid, kernels=kernels, timeout_s=timeout, budget_s=budget
    )
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
    shown = api.redacted(report, checks, here=True) if redact and format.leaves else report
    took_s = max((start + seconds for _, start, seconds in timeline.rows), default=0.0)
    worse = False
    if before is None:
        _print(shown, format, write, verbose, fail_on=fail_on, took_s=took_s)
    else:
        compared = cli_baseline.against(*before, shown, checks, format, redact=redact)
        worse = compared.is_worse
        cli_baseline.printed(shown, compared, format, write, verbose=verbose, fail_on=fail_on.value, took_s=took_s)
    if timings:
        _print_timings(timeline)
    return 1 if worse else bundle.exit_code(report, fail_on.value)


@deferred(app)
def bench(
    kernels: Kernels = None,
    backend: Annotated[
        Backend, typer.Option("--backend", help="native: the driver and CUDA's libraries alone; tensorflow; or all.")
    ] = Backend.NATIVE,
    gpu: Annotated[
        str | None, typer.Option("--gpu", metavar="N,N", help="Only these GPUs (native), as CUDA numbers them.")
    ] = None,
    repeats: Annotated[
        int,
        typer.Option("--repeats", min=3, max=100, help="Samples of each; of five and more the extremes are dropped."),
    ] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="The smaller sizes and three samples, as check has them: a few seconds.")
    ] = False,
    budget: BudgetOption = None,
    price: Annotated[
        float | None, typer.Option("--price", min=0.01, help="Of one GPU, in any money: adds performance per price.")
    ] = None,
    python: PythonOption = None,
    timeout: TimeoutOption = None,
    format: Annotated[
        Table, typer.Option("--format", help="A table for a person; JSON or CSV with every sample.")
    ] = Table.TEXT,
    output: Output = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="A line for each GPU.")] = False,
) -> int:
    """Measure every GPU: matrix products, copies, all-reduce, latencies, memory; say what is to be expected, and on which ground."""
    from . import cli_bench

    if sys.platform != "linux":
        raise UsageError(f"bench measures Linux machines (WSL2 among them), this is {sys.platform}")
    asked = cli_bench.Asked(
        wanted=tuple(kernels or ()),
        backend=backend,
        gpus=gpu,
        repeats=repeats,
        quick=quick,
        budget_s=budget,
        price=price,
        python=python,
        timeout_s=timeout,
    )
    return cli_bench.bench(asked, format, writer(output), verbose=verbose)


@deferred(app, "run", {"allow_interspersed_args": False})
def run_(
    command: Annotated[
        list[str], typer.Argument(metavar="[--] COMMAND...", help="The program and its arguments: python train.py.")
    ],
    format: FormatOption = Format.TEXT,
    redact: Redact = True,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the report to FILE instead of standard error."),
    ] = None,
    config: ConfigOption = None,
    no_config: NoConfig = False,
    verbose: Verbose = False,
) -> int:
    """Run a program as it is, watch it, and say at its end what kept the GPUs from being faster. Its exit code is the program's."""
    from . import cli_run

    if sys.platform != "linux":
        raise UsageError(f"run watches programs on Linux machines (WSL2 among them), this is {sys.platform}")
    checks = chosen(config=config, no_config=no_config)
    return cli_run.run(command, format, redact, writer(output, format), checks, verbose=verbose)


@deferred(app)
def topo(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A recorded report; - is standard input. Without one: this machine."),
    ] = None,
    kernels: Annotated[
        bool, typer.Option("--measure/--no-kernels", help="Copy and reduce between each two GPUs.")
    ] = True,
    python: PythonOption = None,
    timeout: TimeoutOption = None,
    format: Annotated[
        Drawing, typer.Option("--format", help="A drawing for a person; DOT for Graphviz; JSON.")
    ] = Drawing.TEXT,
    output: Output = None,
) -> int:
    """Draw how data moves: PCI tree, NVLink, NUMA, the slowest link of each way, and what each two GPUs reach."""
    from . import cli_topo

    if file is None and sys.platform != "linux":
        raise UsageError(
            f"topo examines Linux machines (WSL2 among them), this is {sys.platform}; it draws reports anywhere"
        )
    asked = cli_topo.Asked(file=file, kernels=kernels, python=python, timeout_s=timeout)
    return cli_topo.topo(asked, format, writer(output))


@deferred(app)
def fix(
    named: Causes = None,
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
            help="A report of `gpudoctor check --format json`, the zip of `gpudoctor report`, or what the collector brought back; - is standard input.",
        ),
    ],
    only: Only = None,
    skip: Skip = None,
    config: ConfigOption = None,
    no_config: NoConfig = False,
    fail_on: FailOnOption = FailOn.WARN,
    format: FormatOption = Format.TEXT,
    redact: Redact = True,
    output: Output = None,
    verbose: Verbose = False,
) -> int:
    """Judge a recorded report again, with this version's checks."""
    from . import api

    checks = chosen(only, skip, config, no_config)
    write = writer(output, format)
    then = told(file)
    report = api.judged(then, checks)
    changed = () if only or skip else differs(then, report)
    if report.facts.text.is_all:
        cli_log.deliver(report, format, redact, write, verbose, recorded=True)
    else:
        shown = api.redacted(report, checks, here=False) if redact and format.leaves else report
        _print(shown, format, write, verbose, fail_on=fail_on, recorded=True)
    if format.leaves or write is not None:
        for line in changed:
            say(line)
    elif changed:
        deliver("\n" + "\n  · ".join(changed) + "\n", None)
    return bundle.exit_code(report, fail_on.value)


deferred(app, "report")(cli_report.command)


@deferred(app)
def collector(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("gpudoctor-collector.pyz"),
    level: Annotated[
        ExamineLevel, typer.Option("--level", help="What it will look at; see check.")
    ] = ExamineLevel.STANDARD,
    kernels: KernelsOption = True,
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


deferred(app, "list")(cli_checks.list_)
deferred(app)(cli_checks.explain)
deferred(app, "completion")(cli_completion.command)


# ------------------------------------------------------------------------------- printing


def _print(
    report: Report,
    format: Format,
    write: Callable[[str], None] | None,
    verbose: bool,
    *,
    fail_on: FailOn,
    recorded: bool = False,
    took_s: float | None = None,
) -> None:
    if format.leaves:
        from .render import rendered

        deliver(rendered(report, format.value, fail_on.value, recorded=recorded, took_s=took_s), write)
        return
    from .render import text

    show(lambda out: text.show(report, out, verbose=verbose, recorded=recorded), write)


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
    cli_completion.prepare()
    command = typer.main.get_command(app)
    try:
        words = without_value(sys.argv[1:] if arguments is None else arguments)
        work: Any = command.main(args=words, prog_name="gpudoctor", standalone_mode=False)
    except Exception as e:
        if type(e).__name__ == "NoArgsIsHelpError":  # the help is printed already
            return 2
        if hasattr(e, "format_message"):  # click's own usage errors
            raise UsageError(e.format_message().replace("Value error, ", "")) from e
        raise
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    code = work() if callable(work) else work
    return code if isinstance(code, int) else 0
