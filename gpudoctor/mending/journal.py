"""What was done to which environment: one file for each time that `gpudoctor fix` did something."""

from __future__ import annotations

import contextlib
import secrets
import time
from pathlib import Path

import msgspec

from .. import bundle, state
from .actions import Action, CannotDo


class NothingToUndo(Exception):  # noqa: N818
    """Nothing was done that could be undone; the text says where it was looked for."""


class Entry(msgspec.Struct, kw_only=True):
    """One time."""

    name: str
    at: str
    """UTC, ISO 8601."""
    python: str
    """The examined interpreter."""
    causes: tuple[str, ...]
    actions: list[Action] = []


class Journal:
    """The entries in $XDG_STATE_HOME/gpudoctor/fixes (~/.local/state where that is not set), the oldest first."""

    def __init__(self, directory: Path | None = None) -> None:
        self.directory = directory or state.directory() / "fixes"

    def begin(self, python: str, causes: tuple[str, ...]) -> Entry:
        """A new entry, written before anything is done. Raises CannotDo."""
        entry = Entry(
            name=f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(2)}",
            at=bundle.now(),
            python=python,
            causes=causes,
        )
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise CannotDo(
                f"{self.directory} can't be made, and without it nothing could be undone: {e.strerror}"
            ) from e
        self.keep(entry)
        return entry

    def keep(self, entry: Entry) -> None:
        """Write an entry; one without actions goes. Raises CannotDo."""
        path = self.directory / f"{entry.name}.json"
        try:
            path.write_bytes(msgspec.json.format(msgspec.json.encode(entry)) + b"\n")
        except OSError as e:
            raise CannotDo(f"{path} can't be written, and without it nothing could be undone: {e.strerror}") from e

    def forget(self, entry: Entry) -> None:
        """An entry of which nothing stands any more."""
        with contextlib.suppress(OSError):
            (self.directory / f"{entry.name}.json").unlink()

    def entries(self) -> list[Entry]:
        """All that can be read."""
        found = []
        for path in sorted(self.directory.glob("*.json")):
            with contextlib.suppress(OSError, msgspec.DecodeError):
                found.append(msgspec.json.decode(path.read_bytes(), type=Entry))
        return found

    def last(self, python: str | None) -> Entry:
        """The newest entry, of this interpreter where one is named. Raises NothingToUndo."""
        of = [e for e in self.entries() if e.actions and python in (None, e.python)]
        if not of:
            whose = f" of {python}" if python is not None else ""
            raise NothingToUndo(f"there is nothing to undo{whose}: {self.directory} holds no fix")
        return of[-1]
