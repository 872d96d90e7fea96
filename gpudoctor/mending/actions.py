"""What is done to the examined environment, and how it is undone: a link, lines in an activation script, pip."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence

import msgspec


class CannotDo(Exception):  # noqa: N818
    """An action, or its undoing, is not possible; the text says why. Nothing of it was done."""


class Link(msgspec.Struct, frozen=True, kw_only=True, tag="link"):
    """A symbolic link that is made; `target` as written into it."""

    path: str
    target: str

    def told(self) -> tuple[str, ...]:
        """What it does, as lines of a shell."""
        return (f"ln -s {shlex.quote(self.target)} {shlex.quote(self.path)}",)

    def prepared(self) -> Link:
        """Itself: what undoes it is known."""
        return self

    def do(self) -> Link:
        """Make it. Raises CannotDo."""
        if os.path.lexists(self.path):
            raise CannotDo(f"{self.path} exists already")
        try:
            os.symlink(self.target, self.path)
        except OSError as e:
            raise CannotDo(f"{self.path} can't be made: {e.strerror}") from e
        return self

    def undo(self) -> None:
        """Take it away, if it is still ours. Raises CannotDo."""
        if not os.path.lexists(self.path):
            return
        if not os.path.islink(self.path) or os.readlink(self.path) != self.target:
            raise CannotDo(f"{self.path} was changed since; it is left as it is")
        try:
            os.unlink(self.path)
        except OSError as e:
            raise CannotDo(f"{self.path} can't be removed: {e.strerror}") from e


_BEGIN, _END = "# gpudoctor fix: begin", "# gpudoctor fix: end"


class Lines(msgspec.Struct, frozen=True, kw_only=True, tag="lines"):
    """Marked lines at the end of a script that people's shells read; the file is made where there is none."""

    path: str
    lines: tuple[str, ...]

    @property
    def block(self) -> str:
        """What is added."""
        return "\n".join(("", _BEGIN, *self.lines, _END, ""))

    def told(self) -> tuple[str, ...]:
        """What it does, as lines of a shell."""
        return tuple(f"echo {shlex.quote(one)} >> {shlex.quote(self.path)}" for one in self.lines)

    def prepared(self) -> Lines:
        """Itself: what undoes it is known."""
        return self

    def do(self) -> Lines:
        """Add them. Raises CannotDo."""
        before = self._read()
        if self.block in before:
            raise CannotDo(f"{self.path} holds these lines already")
        self._write(before + self.block)
        return self

    def undo(self) -> None:
        """Take them out, if they are still there; a file that held nothing else goes. Raises CannotDo."""
        now = self._read()
        if _BEGIN not in now:
            return
        if self.block not in now:
            raise CannotDo(f"the lines in {self.path} were changed since; they are left as they are")
        rest = now.replace(self.block, "", 1)
        if rest:
            self._write(rest)
            return
        try:
            os.unlink(self.path)
        except OSError as e:
            raise CannotDo(f"{self.path} can't be removed: {e.strerror}") from e

    def _read(self) -> str:
        try:
            with open(self.path, encoding="utf-8", errors="surrogateescape") as f:
                return f.read()
        except FileNotFoundError:
            return ""
        except OSError as e:
            raise CannotDo(f"{self.path} can't be read: {e.strerror}") from e

    def _write(self, text: str) -> None:
        """Whole or not at all: a shell may be reading it."""
        path = os.path.realpath(self.path)
        made = None
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
            os.makedirs(os.path.dirname(path), exist_ok=True)
            number, made = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".gpudoctor-")
            with open(number, "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(text)
            os.chmod(made, mode)
            os.replace(made, path)
        except OSError as e:
            if made is not None:
                with contextlib.suppress(OSError):
                    os.unlink(made)
            raise CannotDo(f"{self.path} can't be written: {e.strerror}") from e


Versions = dict[str, str]
"""Distribution -> version."""


class Pip(msgspec.Struct, frozen=True, kw_only=True, tag="pip"):
    """Commands of pip, or of uv, in the examined interpreter; `before`: what was installed."""

    commands: tuple[tuple[str, ...], ...]
    before: Versions | None = None

    def told(self) -> tuple[str, ...]:
        """What it does, as lines of a shell."""
        return tuple(map(shlex.join, self.commands))

    def prepared(self) -> Pip:
        """With what is installed now. Raises CannotDo."""
        return msgspec.structs.replace(self, before=_installed(self._of("list")))

    def do(self) -> Pip:
        """Run them; what pip prints goes to standard error. Raises CannotDo, after what was there is there again."""
        try:
            for command in self.commands:
                _run(command)
        except CannotDo:
            with contextlib.suppress(CannotDo):
                self.undo()
            raise
        return self

    def undo(self) -> None:
        """Install what was there, take away what was not. Raises CannotDo."""
        if self.before is None:
            raise CannotDo("what was installed before was not kept")
        now, before = _installed(self._of("list")), self.before
        back = [f"{name}=={version}" for name, version in before.items() if now.get(name) != version]
        added = [name for name in now if name not in before]
        if added:
            _run((*self._of("uninstall"), *([] if self._uv else ["-y"]), *added))
        if back:
            _run((*self._of("install"), "--no-deps", *back))

    @property
    def _uv(self) -> bool:
        return self.commands[-1][0] == "uv"

    def _of(self, verb: str) -> tuple[str, ...]:
        """pip's own command of the same interpreter."""
        last = self.commands[-1]
        if self._uv:
            return ("uv", "pip", verb, "--python", last[last.index("--python") + 1])
        return (last[0], "-m", "pip", verb)


def _installed(lister: Sequence[str]) -> Versions:
    """What pip lists. Raises CannotDo."""
    quiet = () if lister[0] == "uv" else ("--disable-pip-version-check",)
    try:
        done = subprocess.run([*lister, "--format", "json", *quiet], capture_output=True, text=True, check=True)
        return {one["name"]: one["version"] for one in json.loads(done.stdout)}
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as e:
        raise CannotDo(f"`{shlex.join(lister)}` does not tell what is installed: {e}") from e


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, check=False)
    except OSError as e:
        raise CannotDo(f"{command[0]} can't be run: {e.strerror}") from e
    if done.returncode:
        raise CannotDo(f"`{shlex.join(command)}` ended with exit code {done.returncode}")


Action = Link | Lines | Pip


@contextlib.contextmanager
def nothing_left_behind(done: list[Action]) -> Iterator[None]:
    """Where the body raises CannotDo, what is in `done` by then is undone, last first."""
    try:
        yield
    except CannotDo:
        for action in reversed(done):
            with contextlib.suppress(CannotDo):
                action.undo()
        done.clear()
        raise
