"""`gpudoctor diff`: what changed from one report to another, what is worse, and which change explains it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_options import ConfigOption, FormatOption, NoConfig, Output, Redact, chosen, recorded
from .terminal import Format, UsageError, deliver, show, writer

if TYPE_CHECKING:
    from .bundle import Report
    from .compare import Comparison
    from .facts import Facts
    from .registry import Check


def command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="OLD... NEW",
            help="Reports, baselines or collections; - is standard input. Of several old ones the last is compared; all show the noise.",
        ),
    ],
    format: FormatOption = Format.TEXT,
    redact: Redact = True,
    config: ConfigOption = None,
    no_config: NoConfig = False,
    output: Output = None,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Also list what follows from a change, and what is not known.")
    ] = False,
) -> int:
    """Say what changed from one report to another: what is worse and which change explains it. Exit code 1 where something is."""
    from .compare import compare

    if len(files) < 2:
        raise UsageError("diff compares two reports: gpudoctor diff OLD NEW")
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("standard input can be read once only")
    write = writer(output, format)
    checks = chosen(config=config, no_config=no_config)
    *olds, new = [recorded(file, checks) for file in files]
    further = [facts for file, report in zip(files, olds, strict=False) for facts in earlier(file, report)]
    others = [report.seen for report in olds[:-1]]
    old = olds[-1]
    if redact and format.leaves:
        old, new = (redacted(one, checks) for one in (old, new))
    found = compare(old, new, [*others, *further], checks)
    printed(found, format, write, verbose=verbose)
    return 1 if found.is_worse else 0


def redacted(report: Report, checks: tuple[Check, ...], *, here: bool = False) -> Report:
    """A report as it may leave the machine."""
    from . import api

    return api.redacted(report, checks, here=here)


def earlier(file: Path, report: Report) -> list[Facts]:
    """The further runs that a baseline holds beside its report. Raises UsageError."""
    import msgspec

    from . import baseline, bundle

    try:
        return [msgspec.structs.replace(report.seen, measurements=run.measurements) for run in baseline.further(file)]
    except (OSError, bundle.NotAReport) as e:
        raise UsageError(f"{file}: {e}") from e


def printed(
    comparison: Comparison, format: Format, write: Callable[[str], None] | None, *, verbose: bool = False
) -> None:
    """Print a comparison."""
    from .render.diff import rendered, text
    from .render.diff.view import View

    if format.leaves:
        deliver(rendered(comparison, format.value, verbose=verbose), write)
    else:
        show(lambda out: text.show(View(comparison, verbose), out), write)
