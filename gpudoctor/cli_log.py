"""`gpudoctor log`: a pasted text."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from . import bundle
from .bundle import Report
from .terminal import Format, UsageError, console, deferred, delivering, writer


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    deferred(app)(log)


def log(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A log, or anything else that was pasted; - is standard input.")
    ],
    format: Annotated[Format, typer.Option("--format", help="Text for a person, JSON for a program.")] = Format.TEXT,
    redact: Annotated[
        bool,
        typer.Option("--redact/--no-redact", help="Replace names, homes, hosts, addresses and ids in JSON by tokens."),
    ] = True,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to FILE instead of standard output.")
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every candidate with its command.")] = False,
) -> int:
    """Say what a pasted log tells: the cause with the lines that prove it, or what is left and what would settle it."""
    from . import api

    write = writer(output)
    report = _read(file)
    shown = api.redacted(report, here=False) if redact and format is Format.JSON else report
    _print(shown, format, write, verbose)
    return bundle.exit_code(report, "warn")


def _read(file: Path) -> Report:
    from . import api
    from .logs.text import Binary

    name = "standard input" if str(file) == "-" else str(file)
    try:
        if str(file) != "-":
            with open(file, "rb", opener=_without_waiting) as stream:
                report = api.log(stream)
        else:
            if sys.stdin is None:
                raise UsageError("standard input is closed")
            if sys.stdin.isatty():
                sys.stderr.write("Paste the text, then press Ctrl-D:\n")
            report = api.log(sys.stdin.buffer)
    except Binary:
        raise UsageError(f"{name} is no text: paste what the program printed") from None
    except OSError as e:
        raise UsageError(f"{name}: {e.strerror or e}") from e
    if not report.facts.text.lines:
        raise UsageError(f"{name} is empty")
    return report


def _without_waiting(path: str, flags: int) -> int:
    """A directory is refused here, by its name."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    return os.open(path, flags)


def _print(report: Report, format: Format, write: Callable[[str], None] | None, verbose: bool) -> None:
    if format is Format.JSON:
        from .render import json

        text = json.render(report)
        if write is not None:
            write(text)
            return
        with delivering():
            sys.stdout.write(text)
        return
    from .render import log as renderer

    if write is None:
        with delivering() as out:
            renderer.show(report, out, verbose=verbose)
        return
    kept = io.StringIO()
    renderer.show(report, console(kept), verbose=verbose)
    write(kept.getvalue())
