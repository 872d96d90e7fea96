"""Asking the patient: sends `gpudoctor/patient.py` to an interpreter and collects its answers."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import child
from ..facts import Unread
from ..loader import trace

PATIENT = Path(__file__).parent.parent / "patient.py"
_KERNELS = Path(__file__).parent.parent / "kernels" / "in_patient.py"

Task = tuple[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Answers:
    """What one child answered before it ended, and how it ended."""

    values: Mapping[str, Sequence[Any]]
    outcome: child.Outcome
    errors: Mapping[str, str]
    """Task -> traceback, for tasks that raised."""

    def last(self, name: str) -> Any | None:
        """The last answer called `name`, or None."""
        got = self.values.get(name)
        return got[-1] if got else None

    def all(self, name: str) -> Sequence[Any]:
        """Every answer called `name`."""
        return self.values.get(name, ())

    @property
    def spoke(self) -> bool:
        """The child ran our program at all."""
        return bool(self.values) or bool(self.errors)

    @property
    def ended_well(self) -> bool:
        """It reached the end of the program."""
        return "end" in self.values

    @property
    def stderr(self) -> str:
        """Its standard error as text."""
        return self.outcome.stderr.decode("utf-8", "replace")

    def unread(self, task: str, settle: str | None = None) -> Unread:
        """Why `task` has no answer."""
        if task in self.errors:
            return Unread(why=f"reading it failed: {self.errors[task].strip().splitlines()[-1]}", settle=settle)
        return Unread(
            why=f"the process that reads it {self.outcome.how or 'gave no answer'}{self.last_word}", settle=settle
        )

    @property
    def last_word(self) -> str:
        """The last line of a child that ended badly, in brackets."""
        said = trace.without_trace(self.stderr).strip().splitlines() if self.outcome.exit_code else []
        return f" ({said[-1][:160]})" if said else ""


@dataclasses.dataclass(frozen=True)
class Patient:
    """How to start the examined interpreter."""

    command: tuple[str, ...]
    env: Mapping[str, str]

    def ask(
        self,
        tasks: Sequence[Task],
        *,
        limit_s: float,
        env: Mapping[str, str] | None = None,
        keep_bytes: int = child.KEEP_BYTES,
    ) -> Answers:
        """Run `tasks` in one child for at most `limit_s` seconds, with `env` instead of the own one."""
        mark = secrets.token_hex(8)
        back = (mark[::-1] + " ").encode()
        values: dict[str, list[Any]] = {}
        errors: dict[str, str] = {}

        def line(raw: bytes) -> None:
            if not raw.startswith(back):
                return
            name, _, text = raw[len(back) :].decode("utf-8", "replace").partition(" ")
            value = json.loads(text)
            if name == "error":
                errors[value["task"]] = value["text"]
                return
            values.setdefault(name, []).append(value)

        request = {"mark": mark, "tasks": [list(t) for t in tasks]}
        program = f"{_program()}\nserve({request!r})\n"
        outcome = child.run(
            [*self.command, "-"],
            limit_s=limit_s,
            stdin=program.encode(),
            env=self.env if env is None else env,
            on_line=line,
            keep_bytes=keep_bytes,
        )
        return Answers(values, outcome, errors)


@functools.cache
def _program() -> str:
    return PATIENT.read_text(encoding="utf-8") + "\n\n" + _KERNELS.read_text(encoding="utf-8")


def reason(number: int) -> str:
    """'Permission denied (EACCES)' for an errno."""
    import errno

    return f"{os.strerror(number)} ({errno.errorcode.get(number, number)})"
