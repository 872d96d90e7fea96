"""`gpudoctor run -- COMMAND`: a program runs as it would by itself, is watched, and its speed is explained at the end."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .probes.watch import Watch
from .terminal import Format, console, say
from .through import NotStarted, Through

if TYPE_CHECKING:
    from .bundle import Report
    from .facts import Run
    from .registry import Check

_PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?")


def run(
    command: Sequence[str],
    format: Format,
    redact: bool,
    write: Callable[[str], None] | None,
    checks: tuple[Check, ...],
    *,
    verbose: bool,
) -> int:
    """The exit code of the command, of a signal 128 and its number; 127 where it is not found, 126 where it can't be started."""
    from . import bundle

    started_at = bundle.now()
    watch = Watch()
    try:
        through = Through(command, watch.begin)
    except NotStarted as e:
        watch.end()
        say(str(e))
        return e.code
    code = through.wait()
    seen = watch.end()
    log, size = through.log()
    named = _named(seen, through, command, code, size)
    report = _diagnose(named, log, started_at, watch.python or _python(command), checks)
    _deliver(report, format, redact, write, checks, verbose=verbose)
    return through.shell_code


def _named(seen: Run, through: Through, command: Sequence[str], code: int | None, size: int) -> Run:
    import msgspec

    return msgspec.structs.replace(
        seen,
        command=tuple(command),
        exit_code=code,
        signal=through.ended_by,
        interrupted=through.interrupted,
        log_bytes=size,
    )


def _python(command: Sequence[str]) -> str | None:
    """The interpreter that the command names; None: it names none."""
    return command[0] if _PYTHON.fullmatch(os.path.basename(command[0])) else None


def _deliver(
    report: Report,
    format: Format,
    redact: bool,
    write: Callable[[str], None] | None,
    checks: tuple[Check, ...],
    *,
    verbose: bool,
) -> None:
    """To the file that was named, else to standard error: standard output is the command's."""
    from . import api
    from .render import rendered, text

    out = io.StringIO() if write is not None else sys.stderr
    with contextlib.suppress(OSError) if write is None else contextlib.nullcontext():
        if format.leaves:
            out.write(rendered(api.redacted(report, checks, here=True) if redact else report, format.value))
        else:
            out.write("" if write is not None else "\n")
            text.show(report, console(out), verbose=verbose)
    if write is not None and isinstance(out, io.StringIO):
        write(out.getvalue())


def _diagnose(seen: Run, log: bytes, started_at: str, python: str | None, checks: tuple[Check, ...]) -> Report:
    """Look at the machine, quickly, and judge it with the run and its log."""
    from . import api
    from .progress import Progress

    found = shutil.which(python) if python else None
    progress = Progress()
    with progress.shown():
        return api.ran(seen, log, started_at, found, checks, progress=progress.step)
