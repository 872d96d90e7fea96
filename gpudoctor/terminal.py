"""The terminal: what is printed goes out through here, and what goes wrong with it is one line and an exit code."""

from __future__ import annotations

import contextlib
import enum
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

import typer
from rich.console import Console


class UsageError(Exception):
    """Wrong usage; the text is the one line that is printed."""


class Format(str, enum.Enum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"


class PipeConsole(Console):
    """A console that says when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Rich would end the process with 1, which is the exit code of a finding."""
        raise BrokenPipeError


Work = Callable[[], int]


def deferred(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Register a command. Typer only parses its arguments; the work itself is done outside of Typer, which
    would turn a closed pipe or an interrupt into exit codes of its own."""

    def register(body: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(body)
        def parsed(*arguments: Any, **options: Any) -> Work:
            return functools.partial(body, *arguments, **options)

        app.command(name)(parsed)
        return body

    return register


def console(file: TextIO) -> Console:
    """A console for text: no markup is guessed, no emoji made."""
    return PipeConsole(file=file, highlight=False, emoji=False)


def writer(output: Path | None) -> Callable[[str], None] | None:
    """Writes to `output`, which is tried before the examination, so that no result is lost at its end."""
    if output is None:
        return None
    existed = os.path.lexists(output)
    try:
        with output.open("a", encoding="utf-8"):
            pass
    except OSError as e:
        raise UsageError(f"can't write to {output}: {e.strerror or e}") from e
    if not existed:
        output.unlink(missing_ok=True)

    def write(text: str) -> None:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as e:
            raise OutputError(f"can't write to {output}: {e.strerror or e}") from e

    return write


class OutputError(Exception):
    """The report is made and can't be delivered."""


@contextlib.contextmanager
def delivering() -> Iterator[Console]:
    """Standard output, for everything that is printed: what goes wrong there is no error of ours."""
    try:
        yield console(sys.stdout)
    except BrokenPipeError:
        raise
    except OSError as e:
        silence_stdout()
        raise OutputError(f"can't write to standard output: {e.strerror or e}") from e


def silence_stdout() -> None:
    """Python flushes standard output once more on exit; give it somewhere to go."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
