"""`gpudoctor log`: a pasted text."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import bundle
from .bundle import Report
from .terminal import Format, OutputError, UsageError, console, ended, to_stdout, writer

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console


def quick(arguments: list[str]) -> int | None:
    """`log [FILE]`, with -v or not, without the parser of all commands, which alone takes longer; None: more than that."""
    verbose = [a for a in arguments if a in ("-v", "--verbose")]
    files = [a for a in arguments if a == "-" or not a.startswith("-")]
    if len(files) > 1 or len(files) + len(verbose) != len(arguments):
        return None
    return ended(lambda: log(files[0] if files else "-", verbose=bool(verbose)))


def log(
    file: Path | str,
    format: Format = Format.TEXT,
    redact: bool = True,
    output: Path | None = None,
    verbose: bool = False,
) -> int:
    """Say what a pasted log tells: the cause with the lines that prove it, or what is left and what would settle it."""
    write = writer(output, format)
    report = _read(file)
    deliver(report, format, redact, write, verbose)
    return bundle.exit_code(report, "warn")


def _read(file: Path | str) -> Report:
    from .logs.text import Binary
    from .pasted import log as judge

    name = "standard input" if str(file) == "-" else str(file)
    try:
        if str(file) != "-":
            with open(file, "rb", opener=_without_waiting) as stream:
                report = judge(stream)
        else:
            if sys.stdin is None:
                raise UsageError("standard input is closed")
            if sys.stdin.isatty():
                sys.stderr.write("Paste the text, then press Ctrl-D:\n")
            report = judge(sys.stdin.buffer)
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


def deliver(
    report: Report,
    format: Format,
    redact: bool,
    write: Callable[[str], None] | None,
    verbose: bool,
    *,
    here: bool = False,
    recorded: bool = False,
) -> None:
    """Print a report that was made of a text, or write it; `here`: the text comes from this machine and this user; `recorded`: the
    report comes from elsewhere."""
    from .render import log as renderer

    if format.leaves:
        text = _for_others(report, format, redact, here=here, recorded=recorded)
    elif write is None and sys.stdout is not None and sys.stdout.isatty():
        with to_stdout():
            _show(report, console(sys.stdout), verbose)
        return
    else:
        text = renderer.plain(report, verbose=verbose)
    if write is not None:
        write(text)
        return
    if sys.stdout is None:
        raise OutputError("standard output is closed")
    with to_stdout():
        sys.stdout.write(text)


def _for_others(report: Report, format: Format, redact: bool, *, here: bool, recorded: bool) -> str:
    from . import api
    from .render import rendered

    return rendered(api.redacted(report, here=here) if redact else report, format.value, recorded=recorded)


def _show(report: Report, out: Console, verbose: bool) -> None:
    from .render import log as renderer
    from .render.text import rich

    for line in renderer.lines(report, verbose=verbose):
        out.print(rich(line), crop=False)
