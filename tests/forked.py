"""Mutants are tried side by side, each in a fork of this process, which is thrown away."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import NamedTuple

LIMIT_S = 300.0


class Outcome(NamedTuple):
    """What became of a mutant; `by` is the test that failed."""

    mutant: str
    killed: bool
    by: str
    seconds: float


Try = Callable[[str], Outcome]


def run_all(chosen: Iterable[str], attempt: Try) -> Iterator[Outcome]:
    """`attempt` each, in forks of this process, which must have no thread."""
    fork = multiprocessing.get_context("fork")
    left, running = list(reversed(list(chosen))), dict[Connection, tuple[str, ForkProcess]]()
    while left or running:
        while left and len(running) < min(2, os.cpu_count() or 1):
            ours, theirs = fork.Pipe(duplex=False)
            child = fork.Process(target=_run_into, args=(theirs, attempt, left[-1]))
            child.start()
            theirs.close()
            running[ours] = (left.pop(), child)
        for pipe in wait(list(running), timeout=LIMIT_S) or list(running):
            assert isinstance(pipe, Connection)
            mutant, child = running.pop(pipe)
            try:
                yield pipe.recv() if pipe.poll() else Outcome(mutant, False, "no end within the limit", LIMIT_S)
            except EOFError:
                yield Outcome(mutant, False, "the process that runs the tests died", 0.0)
            child.kill()
            child.join()


def _run_into(pipe: Connection, attempt: Try, mutant: str) -> None:
    pipe.send(attempt(mutant))
