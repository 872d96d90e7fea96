"""The facts of a known-good day: a report in one file, with the measurements of further runs, which show how much they differ by
themselves."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

import msgspec

from . import bundle, state
from .bundle import NotAReport, Report
from .facts import Measurement

MOST_RUNS = 50
"""The oldest of the further runs goes when there are more."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A further run on the same host."""

    started_at: str
    measurements: tuple[Measurement, ...]


class _Further(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a baseline that a report has not."""

    runs: tuple[Run, ...] = ()


class CannotKeep(Exception):  # noqa: N818
    """A baseline can't be written; the text is the reason."""


def place() -> Path:
    """$XDG_STATE_HOME/gpudoctor/baseline.json, in ~/.local/state where that is not set."""
    return state.directory() / "baseline.json"


def further(path: Path) -> tuple[Run, ...]:
    """The further runs in a baseline, the oldest first; of any other report none. Raises OSError, NotAReport."""
    if str(path) == "-" or not path.is_file():  # what can be read only once was read as a report
        return ()
    with path.open("rb") as f:
        data = f.read(bundle.MAX_BYTES + 1)
    if not data.lstrip().startswith(b"{"):  # a collection, an archive
        return ()
    if len(data) > bundle.MAX_BYTES:
        raise NotAReport(f"larger than {bundle.MAX_BYTES >> 20} MiB")
    try:
        return msgspec.json.decode(data, type=_Further).runs[-MOST_RUNS:]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as e:
        raise NotAReport(str(e)) from e


def keep(path: Path, report: Report, runs: tuple[Run, ...] = ()) -> None:
    """Write a baseline that only its owner can read, as a whole or not at all. Raises CannotKeep."""
    made = {**msgspec.to_builtins(report), "runs": msgspec.to_builtins(runs[-MOST_RUNS:])}
    text = msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"
    file = path.resolve()  # a link stays one
    new = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and not file.is_file():
            raise CannotKeep(f"{path} is no ordinary file")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
                f.write(text)
                f.flush()
                os.fsync(f.fileno())
            new.replace(file)
        except BaseException:
            with contextlib.suppress(OSError):
                new.unlink()
            raise
    except OSError as e:
        raise CannotKeep(f"can't write to {path}: {e.strerror or e}") from e
