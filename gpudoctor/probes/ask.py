"""Asking the patient: sends the files of `gpudoctor/patient` to an interpreter and collects its answers."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from .. import child, patient
from ..facts import Unread
from ..loader import trace

Task = tuple[str, dict[str, Any]]
"""'file.function' of gpudoctor/patient, and its arguments."""
Changes = Mapping[str, "str | None"]
"""Variables that differ from the patient's own: a value, or None where it is taken away."""


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

    def ended(self, what: str) -> Unread | None:
        """How the child, which is called `what`, ended, if it ended badly."""
        how = self.outcome.how
        return None if how is None else Unread(why=f"{what} {how}", chosen=self.outcome.in_vain)

    def unread(self, task: str, settle: str | None = None) -> Unread:
        """Why `task` has no answer."""
        if task in self.errors:
            return Unread(why=f"reading it failed: {self.errors[task].strip().splitlines()[-1]}", settle=settle)
        why = f"the process that reads it {self.outcome.how or 'gave no answer'}{self.last_word}"
        return Unread(why=why, settle=settle)

    @property
    def last_word(self) -> str:
        """The last line of a child that ended badly or said nothing to us, in brackets."""
        ended_badly = self.outcome.exit_code or not self.spoke
        said = trace.without_trace(self.stderr).strip().splitlines() if ended_badly else []
        return f" ({said[-1][:160]})" if said else ""


NOT_ANSWERED = Answers({}, child.RUNNING, {})
"""Stands for the answers of a child that has not ended yet."""


@dataclasses.dataclass(frozen=True)
class Job:
    """Tasks for one child of the patient, and its limit."""

    tasks: Sequence[Task]
    limit_s: float
    env: Changes = dataclasses.field(default_factory=dict)
    keep_bytes: int = child.KEEP_BYTES
    only_if_set: str | None = None
    """Not run where this variable is not set for the patient."""


_COMMENTS = "#\n" * 8
"""What begins a program: a command before the interpreter may read a line of standard input (a prompt)."""


class Conversation:
    """One program for a child, and what it answers line by line."""

    def __init__(self, tasks: Sequence[Task], mark: str | None = None) -> None:
        self.mark = mark = mark or secrets.token_hex(8)
        self._back = (mark[::-1] + " ").encode()
        self.values: dict[str, list[Any]] = {}
        self.errors: dict[str, str] = {}
        request = {"mark": mark, "tasks": [list(t) for t in tasks]}
        self.program = f"{_COMMENTS}{patient.program(name for name, _ in tasks)}\nserve({request!r})\n"

    def hear(self, raw: bytes) -> tuple[str, Any] | None:
        """Keep a line of the child's standard output; the answer in it, where it is one of ours."""
        _, ours, rest = raw.partition(self._back)  # something before it may have ended no line
        if not ours:
            return None
        name, _, text = rest.decode("utf-8", "replace").partition(" ")
        value = json.loads(text)
        if name == "error":
            self.errors[value["task"]] = value["text"]
        else:
            self.values.setdefault(name, []).append(value)
        return name, value

    def answers(self, outcome: child.Outcome) -> Answers:
        """All that was heard."""
        return Answers(self.values, outcome, self.errors)


Start = Callable[[str, Callable[[], Answers]], "Future[Answers]"]
"""Begins a piece of work beside the others, under a name."""


@dataclasses.dataclass(frozen=True)
class Patient:
    """How to start the examined interpreter, with the variables `env`."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    directory: str | None = None
    """Where it is started; None: where we are."""
    sees_our_files: bool = True
    """It lives in our mount namespace: what we read and make in the file system is the same to it."""
    until: float | None = None
    """By `time.monotonic`: when its last child ends, whatever limit it has; None: there is no such time."""

    @property
    def left_s(self) -> float:
        """Seconds until then."""
        return math.inf if self.until is None else self.until - time.monotonic()

    def ask(
        self, tasks: Sequence[Task], *, limit_s: float, env: Changes | None = None, keep_bytes: int = child.KEEP_BYTES
    ) -> Answers:
        """Run `tasks` in one child for at most `limit_s` seconds, with the variables changed by `env`."""
        talk, left_s = Conversation(tasks), self.left_s
        outcome = child.run(
            [*self.command, "-"],
            limit_s=max(0.0, min(limit_s, left_s)),
            stdin=talk.program.encode(),
            env=changed(self.env, env or {}),
            directory=self.directory,
            on_line=talk.hear,
            keep_bytes=keep_bytes,
        )
        return talk.answers(dataclasses.replace(outcome, in_vain=outcome.timed_out and left_s < limit_s))

    def begin(self, jobs: Mapping[str, Job], start: Start) -> dict[str, Future[Answers]]:
        """Run `jobs` side by side, a child each; by name, without those that do not apply."""
        return {
            name: start(name, lambda j=job: self.do(j))  # type: ignore[misc]
            for name, job in jobs.items()
            if job.only_if_set is None or job.only_if_set in self.env
        }

    def do(self, job: Job) -> Answers:
        """Run one job in a child."""
        return self.ask(job.tasks, limit_s=job.limit_s, env=job.env, keep_bytes=job.keep_bytes)


def changed(env: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """`env` with `changes` made."""
    both = {**env, **changes}
    return {name: value for name, value in both.items() if value is not None}


def reason(number: int) -> str:
    """'Permission denied (EACCES)' for an errno."""
    import errno

    return f"{os.strerror(number)} ({errno.errorcode.get(number, number)})"
