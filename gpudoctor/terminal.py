"""The terminal: what is printed goes out through here, and what goes wrong with it is one line and an exit code."""

from __future__ import annotations

import contextlib
import enum
import functools
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:  # they take longer to import than a short text to judge
    from pathlib import Path

    import typer
    from rich.console import Console

_USAGE, _INCOMPLETE, _INTERRUPTED = 2, 3, 130


class UsageError(Exception):
    """Wrong usage; the text is the one line that is printed."""


class Format(str, enum.Enum):
    """How a report is printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"
    JUNIT = "junit"
    PROMETHEUS = "prometheus"
    GITHUB = "github"
    ONELINE = "oneline"

    @property
    def leaves(self) -> bool:
        """It is for others, and goes where they read it."""
        return self is not Format.TEXT


class Table(str, enum.Enum):
    """How measurements are printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


class OneFile(str, enum.Enum):
    """Which file of a report is written alone."""

    HTML = "html"
    MD = "md"
    JSON = "json"


class Drawing(str, enum.Enum):
    """How a topology is printed."""

    TEXT = "text"
    DOT = "dot"
    JSON = "json"


class Backend(str, enum.Enum):
    """What does the work of a benchmark."""

    NATIVE = "native"
    TENSORFLOW = "tensorflow"
    ALL = "all"


Work = Callable[[], int]


def deferred(
    app: typer.Typer, name: str | None = None, settings: dict[str, Any] | None = None
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Register a command. Typer only parses its arguments, by click's context `settings`; the work itself is done outside of
    Typer, which would turn a closed pipe or an interrupt into exit codes of its own."""

    def register(body: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(body)
        def parsed(*arguments: Any, **options: Any) -> Work:
            return functools.partial(body, *arguments, **options)

        app.command(name, context_settings=settings)(parsed)
        return body

    return register


def console(file: TextIO) -> Console:
    """A console for text: no markup is guessed, no emoji made."""
    from .render.console import PipeConsole

    return PipeConsole(file=file, highlight=False, emoji=False)


def writer(output: Path | None, format: Format | None = None) -> Callable[[str], None] | None:
    """Writes to `output`. That, and whether `format` can be had, is tried before the examination, so that no result is lost at
    its end."""
    if format is Format.PROMETHEUS:
        _prometheus()
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
            if format is Format.PROMETHEUS:  # node_exporter reads it at any time
                _replace(output, text)
            else:
                output.write_text(text, encoding="utf-8")
        except OSError as e:
            raise OutputError(f"can't write to {output}: {e.strerror or e}") from e

    return write


def _prometheus() -> None:
    try:
        import prometheus_client  # noqa: F401
    except ImportError:
        raise UsageError(
            "--format prometheus needs the package prometheus-client: pip install 'gpudoctor[prometheus]'"
        ) from None


def _replace(output: Path, text: str) -> None:
    """Write a file so that who reads it meanwhile sees the old text or the new one. Raises OSError."""
    if output.exists() and not output.is_file():  # a pipe has no old text
        output.write_text(text, encoding="utf-8")
        return
    file = output.resolve()  # a link stays one
    new = file.with_name(f"{file.name}.{os.getpid()}")  # which does not end in .prom, and so is not read
    try:
        new.write_text(text, encoding="utf-8")
        if file.exists():
            new.chmod(file.stat().st_mode & 0o7777)
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


class OutputError(Exception):
    """The report is made and can't be delivered."""


def deliver(text: str, write: Callable[[str], None] | None) -> None:
    """Print a text as it is, or `write` it."""
    if write is not None:
        write(text)
        return
    with delivering() as out:
        out.file.write(text)


def show(draw: Callable[[Console], None], write: Callable[[str], None] | None) -> None:
    """Print what `draw` draws on a console, or `write` it."""
    if write is None:
        with delivering() as out:
            draw(out)
        return
    kept = io.StringIO()
    draw(console(kept))
    write(kept.getvalue())


@contextlib.contextmanager
def delivering() -> Iterator[Console]:
    """Standard output, for everything that is printed: what goes wrong there is no error of ours."""
    with to_stdout():
        yield console(sys.stdout)


@contextlib.contextmanager
def to_stdout() -> Iterator[None]:
    """The same for what is no console's work."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as e:
        silence_stdout()
        raise OutputError(f"can't write to standard output: {e.strerror or e}") from e


def silence_stdout() -> None:
    """Python flushes standard output once more on exit; give it somewhere to go."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# ------------------------------------------------------------------------------- how a command ends


def ended(
    work: Callable[[], int],
    usage: tuple[type[Exception], ...] = (),
    incomplete: tuple[type[Exception], ...] = (),
) -> int:
    """The exit code of `work`; every failure is one line on standard error and the right code."""
    wrong: tuple[type[Exception], ...] = (UsageError, *usage)
    open_: tuple[type[Exception], ...] = (OutputError, *incomplete)
    _prepare()
    try:
        code = work()
        with to_stdout():
            if sys.stdout is not None:
                sys.stdout.flush()
        return code
    except wrong as e:
        return _complain(str(e), _USAGE)
    except open_ as e:
        return _complain(str(e), _INCOMPLETE)
    except BrokenPipeError:
        silence_stdout()
        return _complain("standard output was closed before the report was written", _INCOMPLETE)
    except KeyboardInterrupt:
        _kill_children()
        return _complain("interrupted", _INTERRUPTED)
    except _Terminated as e:
        _kill_children()
        return _complain(f"ended by {signal.Signals(e.number).name}", 128 + e.number)
    except Exception as e:
        _kill_children()
        if os.environ.get("GPUDOCTOR_DEBUG"):
            raise
        return _complain(
            f"internal error: {type(e).__name__}: {e} (GPUDOCTOR_DEBUG=1 shows where; please report it)", _INCOMPLETE
        )


class _Terminated(BaseException):
    """SIGTERM or SIGHUP arrived: the children must go, too."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminated(number: int, _frame: object) -> None:
    raise _Terminated(number)


def _kill_children() -> None:
    from . import child

    child.kill_all()


def _prepare() -> None:
    """What a parent process may have left us in: ignored signals, closed or narrow streams."""
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                signal.signal(number, _terminated)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(text: str, code: int) -> int:
    say(text)
    return code


def say(text: str) -> None:
    """One line on standard error."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"gpudoctor: {' '.join(text.split())}\n")
