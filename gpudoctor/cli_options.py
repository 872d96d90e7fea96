"""Options and arguments that several commands share."""

from __future__ import annotations

import enum
import re
from pathlib import Path
from typing import Annotated

import typer

from . import answer, bundle, cli_completion, registry
from .bundle import Recorded, Report
from .examine import ExamineLevel
from .render.lines import clean
from .terminal import Format, UsageError

_MOST = 400
"""Characters of a sentence that holds words of others."""


class FailOn(str, enum.Enum):
    """From which level on the exit code is 1."""

    UNKNOWN = "unknown"
    WARN = "warn"
    FAIL = "fail"


Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="CHECK",
        help="Only this check, cause or subject; repeatable.",
        autocompletion=cli_completion.selections,
    ),
]
Skip = Annotated[
    list[str] | None,
    typer.Option(
        "--skip",
        metavar="CHECK",
        help="Not this check, cause or subject; repeatable.",
        autocompletion=cli_completion.selections,
    ),
]
FailOnOption = Annotated[FailOn, typer.Option("--fail-on", help="Exit with 1 from this level on.")]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        help="text for a person; json for a program; markdown for an issue; html for a ticket; junit and github for CI; prometheus for node_exporter; oneline for a prolog.",
    ),
]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact/--no-redact",
        help="Replace names, homes, hosts, addresses, ids and secrets by tokens in every format but text; JSON lists them.",
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
        help="quick: without importing TensorFlow; standard: with it and a kernel; full: as standard, with training steps and more kernels, and the loader is simulated too.",
    ),
]
PythonOption = Annotated[
    str | None, typer.Option("--python", metavar="PATH", help="Examine this interpreter or virtual environment.")
]
InsideOption = Annotated[
    str | None,
    typer.Option(
        "--in",
        metavar="COMMAND",
        help="Examine the Python at the end of this command: 'docker run --rm -i --gpus all IMAGE python3', 'ssh HOST python3'.",
    ),
]
PidOption = Annotated[
    int | None,
    typer.Option("--pid", metavar="N", min=1, help="Examine the Python of this running process, with its variables."),
]
KernelsOption = Annotated[bool, typer.Option("--kernels/--no-kernels", help="Run work on the devices.")]
TrialsOption = Annotated[bool, typer.Option("--trials/--no-trials", help="Try fixes in a throw-away process.")]
Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="[FILE]",
        help="Compare with the baseline that was saved, or with any report; exit code 1 where something is worse.",
    ),
]


def seconds(text: str) -> float:
    """A time as people write it: '30', '1.5', '30s', '2m'. Raises typer.BadParameter, which names the option."""
    written = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|sec|m|min)?\s*", text)
    if written is None or not (found := float(written[1]) * (60 if (written[2] or "s")[0] == "m" else 1)) >= 0.1:
        raise typer.BadParameter(f"{text!r} is no time: 30, 30s or 2m, and 0.1 s at least")
    return found


TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", parser=seconds, help="Limit of every single piece of work."),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget",
        metavar="SECONDS",
        parser=seconds,
        help="End within this time (30, 30s, 2m): the least telling kernels are left out.",
    ),
]


Cause = Annotated[str, typer.Argument(metavar="CODE|CAUSE", autocompletion=cli_completion.causes)]
Causes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CODE|CAUSE]...",
        help="Only these causes; all, where none is named.",
        autocompletion=cli_completion.causes,
    ),
]
Selection = Annotated[
    list[str] | None,
    typer.Argument(metavar="[CHECK]...", help="Codes, causes or subjects.", autocompletion=cli_completion.selections),
]
Kernels = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KERNEL",
        help="Only these: names, or patterns such as 'matmul*'; all, where none is named.",
        autocompletion=cli_completion.kernels,
    ),
]


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The ignore list, instead of those that are found (gpudoctor.toml, pyproject.toml).",
    ),
]
NoConfig = Annotated[bool, typer.Option("--no-config", help="Without any ignore list.")]


def chosen(
    only: list[str] | None = None,
    skip: list[str] | None = None,
    config: Path | None = None,
    no_config: bool = False,
) -> tuple[registry.Check, ...]:
    """The checks that were selected, with what the ignore list says of each. Raises UsageError, registry.UnknownCheckError."""
    from . import config as lists

    if config is not None and no_config:
        raise UsageError("--config and --no-config exclude each other")
    try:
        return lists.marked(registry.select(only or (), skip or ()), config if config is not None else not no_config)
    except lists.BadConfig as e:
        raise UsageError(str(e)) from e


def one_interpreter(python: str | None, inside: str | None, pid: int | None) -> None:
    """Raises UsageError where several are named."""
    if sum(one is not None for one in (python, inside, pid)) > 1:
        raise UsageError("--python, --in and --pid exclude each other: each names an interpreter")


def told(file: Path) -> Recorded:
    """What a file that was named ('-': standard input) tells of a machine. Raises UsageError."""
    from . import recorded as files

    try:
        return files.load(Path("/dev/stdin") if str(file) == "-" else file)
    except OSError as e:
        raise UsageError(f"{file}: {e.strerror or e}") from e
    except bundle.NotAReport as e:
        raise UsageError(f"{file} is no report of gpudoctor: {e}") from e


def without_value(arguments: list[str]) -> list[str]:
    """The arguments of a command line with a value for an option that may stand without one: `check --against`."""
    made = list(arguments)
    for place, one in enumerate(arguments if arguments[:1] == ["check"] else ()):
        if one == "--against" and all(following.startswith("-") for following in arguments[place + 1 : place + 2]):
            made[place] = "--against="
    return made


def recorded(file: Path, checks: tuple[registry.Check, ...]) -> Report:
    """The report in it, judged by `checks`. Raises UsageError."""
    from . import api

    return api.judged(told(file), checks)


def differs(then: Recorded, now: Report) -> tuple[str, ...]:
    """Where today's answer is another than the recorded one, and whose that was, a sentence each; none where nothing differs."""
    if then.answer is None or not (said := answer.differences(then.answer, answer.of(now.diagnosis))):
        return ()
    by = f"gpudoctor {then.version}" if then.version else "gpudoctor"
    return tuple(
        clean(" ".join(one[:_MOST].split())) for one in (f"{by} answered otherwise on {then.started_at}:", *said)
    )
