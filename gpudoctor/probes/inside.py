"""A patient behind a command that ends in a Python: `docker run --rm -i --gpus all IMAGE python3`, `ssh HOST python3`."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from .. import child
from .ask import NOT_ANSWERED, Answers, Changes, Conversation, Job, Patient, Start, Task

REACH_S = 120.0
"""Time to reach the patient: an image may have to be pulled, a job to be scheduled."""


@dataclasses.dataclass(frozen=True)
class Inside(Patient):
    """`command` is started once, and runs every job as a child of its own there; `env` is what is known of the
    variables there."""

    reach_s: float = REACH_S

    def ask(
        self, tasks: Sequence[Task], *, limit_s: float, env: Changes | None = None, keep_bytes: int = child.KEEP_BYTES
    ) -> Answers:
        """Run `tasks` in one child there."""
        talks = Talks({"job": Job(tasks, limit_s, env or {}, keep_bytes)})
        self._run(talks)
        return talks.futures["job"].result()

    def begin(self, jobs: Mapping[str, Job], start: Start) -> dict[str, Future[Answers]]:
        """Run `jobs` side by side there, all in one go."""
        talks = Talks(jobs)
        start("reaching the patient", lambda: self._run(talks))
        return talks.futures

    def _run(self, talks: Talks) -> Answers:
        outer = Conversation([("collector.collect", {"jobs": talks.requests()})])

        def hear(raw: bytes) -> None:
            if (got := outer.hear(raw)) is not None:
                talks.hear(*got)

        limit = self.reach_s + max(job.limit_s for job in talks.jobs.values())
        outcome = child.run([*self.command, "-"], limit_s=limit, stdin=outer.program.encode(), on_line=hear)
        raised = "".join(outer.errors.values()).encode()
        outcome = dataclasses.replace(
            outcome,
            stdout=_not_ours(outcome.stdout, outer.program),
            stderr=_not_ours(outcome.stderr, outer.program) + raised,
        )
        talks.end(outcome)
        return outer.answers(outcome)


def _not_ours(printed: bytes, program: str) -> bytes:
    """What was printed, without the lines of our program, which is no Python's to echo or to complain of."""
    ours = {line.strip() for line in program.encode().splitlines()} - {b""}
    return b"".join(line for line in printed.splitlines(keepends=True) if line.strip() not in ours)


def as_told(command: str, answers: Answers) -> str:
    """The command and what it printed, as a person would paste it, after what this machine knows of its engine."""
    both = answers.outcome.stderr + b"\n" + answers.outcome.stdout
    return "\n".join([*_of_the_engine(command), f"$ {command}", both.decode("utf-8", "replace").strip(), ""])


def _of_the_engine(command: str) -> list[str]:
    """Where the engine's program lies, and which of its servers it talks to."""
    name = os.path.basename(shlex.split(command)[0])
    if name == "podman":
        return [] if os.geteuid() == 0 else ["podman info: rootless: true"]
    if name != "docker":
        return []
    found = [f"$ which docker\n{path}"] if (path := shutil.which("docker") or "").startswith("/snap/") else []
    if server := os.environ.get("DOCKER_HOST"):
        return [*found, f"DOCKER_HOST={server}"]
    context = os.environ.get("DOCKER_CONTEXT")
    settings = os.path.join(os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker"), "config.json")
    if not context:
        with contextlib.suppress(OSError, ValueError, AttributeError), open(settings, encoding="utf-8") as f:
            context = json.load(f).get("currentContext")
    return [*found, f"docker context show: {context}"] if context else found


class Talks:
    """The jobs of one visit, and what each of them answers."""

    def __init__(self, jobs: Mapping[str, Job], marks: Mapping[str, str] | None = None) -> None:
        self.jobs = jobs
        self.futures: dict[str, Future[Answers]] = {name: Future() for name in jobs}
        self._talks = {name: Conversation(job.tasks, (marks or {}).get(name)) for name, job in jobs.items()}

    def marks(self) -> dict[str, str]:
        """By which the answers of each job are known again."""
        return {name: talk.mark for name, talk in self._talks.items()}

    def requests(self) -> list[dict[str, Any]]:
        """What the collector is told."""
        return [
            {
                "name": name,
                "program": self._talks[name].program,
                "limit_s": job.limit_s,
                "env": dict(job.env),
                "keep_bytes": job.keep_bytes,
                "only_if_set": job.only_if_set,
            }
            for name, job in self.jobs.items()
        ]

    def hear(self, name: str, value: Any) -> None:
        """One answer of the collector."""
        if name == "job_line":
            job, line = value
            self._talks[job].hear(line.encode("utf-8", "surrogateescape"))
        elif name == "job_skipped":
            self.futures[value].set_result(NOT_ANSWERED)
        elif name == "job_end":
            job = value["job"]
            self.futures[job].set_result(self._talks[job].answers(_outcome(value)))

    def end(self, outcome: child.Outcome) -> None:
        """The visit is over: what did not answer ends as the visit did."""
        for name, future in self.futures.items():
            if not future.done():
                future.set_result(self._talks[name].answers(outcome))


def _outcome(value: Mapping[str, Any]) -> child.Outcome:
    failed = (
        OSError(value["start_error"], os.strerror(value["start_error"])) if value["start_error"] is not None else None
    )
    return child.Outcome(
        stdout=b"",
        stderr=value["stderr"].encode("utf-8", "surrogateescape"),
        exit_code=value["exit_code"],
        signal=value["signal"],
        timed_out=value["timed_out"],
        seconds=value["seconds"],
        start_error=failed,
    )
