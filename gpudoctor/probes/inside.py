"""A patient behind a command that ends in a Python: `docker run --rm -i --gpus all IMAGE python3`, `ssh HOST python3`."""

from __future__ import annotations

import dataclasses
import os
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
        outcome = dataclasses.replace(outcome, stderr=outcome.stderr + raised)
        talks.end(outcome)
        return outer.answers(outcome)


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
