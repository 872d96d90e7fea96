"""Forked children that do pieces of work one after another, one child a device, and answer each as it is done.

One that crashes or hangs ends its child and leaves what was answered; a new child does the rest.
"""

import json
import os
import select
import signal
import time
from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set

from .core import die_with_parent

LIVES = 3
"""How many children a target gets, unless told otherwise."""


class Skip(Exception):  # noqa: N818
    """There is nothing to do here; its text is the reason."""


Do = Callable[[str], Dict[str, Any]]
"""Does the work of a name, in the child. With 'ends' in its answer the child ends, and another does what is left."""


_TURN, _OVER = {"turn": "wanted"}, {"turn": "over"}
_AT_ONCE_S = 0.01
"""Who gets a turn that nobody else has gets it within this time."""
_orders: Any = None
_answers = -1


@contextmanager
def turn(meanwhile: Sequence[Callable[[], Any]] = ()) -> Iterator[None]:
    """In a child: what all devices share (the host's memory, the way there) is ours meanwhile, and no other child's that asks for it.

    The wait is not counted as the work's time. `meanwhile`: pieces of work that are begun only as long as others have it.
    """
    if _answers < 0:  # there is no team
        yield
        return
    _send(_TURN)
    for do in meanwhile:
        if select.select([_orders], [], [], _AT_ONCE_S)[0]:
            break
        do()
    _orders.readline()
    try:
        yield
    finally:
        _send(_OVER)


class Worker:
    """A forked child that does work on demand; `begin` makes, in the child, what does it."""

    _ours: Set[int] = set()
    """Our ends of all workers' pipes. A child that kept those of another would keep it from seeing that its orders ended."""

    def __init__(self, begin: Callable[[], Do]) -> None:
        self.kernel: Optional[str] = None
        self.started = 0.0
        self.waits_since: Optional[float] = None
        """When it asked for its turn, which it has not got yet."""
        self._data = b""
        commands, self._to = os.pipe()
        self.source, answers = os.pipe()
        self._ours.update((self._to, self.source))
        self.pid = os.fork()
        if self.pid == 0:
            for end in self._ours:
                os.close(end)
            die_with_parent()
            try:
                _obey(begin, commands, answers)
            finally:
                os._exit(0)
        os.close(commands)
        os.close(answers)

    def order(self, kernel: str) -> None:
        """Begin a piece of work."""
        self.kernel, self.started = kernel, time.time()
        self._write(kernel)

    def take_turn(self) -> None:
        """It is this one's turn; the time until now was not its work's."""
        self.started += time.time() - (self.waits_since or time.time())
        self.waits_since = None
        self._write("")

    def _write(self, line: str) -> None:
        try:
            os.write(self._to, (line + "\n").encode())
        except OSError:
            pass  # it is gone: its answers end

    def hear(self) -> Optional[List[Dict[str, Any]]]:
        """The answers that have come; None: it has ended."""
        block = os.read(self.source, 1 << 16)
        if not block:
            return None
        *whole, self._data = (self._data + block).split(b"\n")
        return [json.loads(line.decode()) for line in whole]

    def dismiss(self) -> None:
        """There are no more orders."""
        if self._to in self._ours:
            self._ours.discard(self._to)
            os.close(self._to)

    def end(self, patience_s: float) -> Optional[int]:
        """Kill it, if it does not end by itself within `patience_s`; the signal that ended it, if one did."""
        self.dismiss()
        deadline, killed = time.time() + patience_s, False
        while True:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                break
            if time.time() > deadline:
                if killed:
                    status = 0  # it is in the kernel's hands
                    break
                os.kill(self.pid, signal.SIGKILL)
                deadline, killed = time.time() + 2.0, True
            time.sleep(0.005)
        self._ours.discard(self.source)
        os.close(self.source)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) and not killed else None


def _obey(begin: Callable[[], Do], commands: int, answers: int) -> None:
    """The child: one line of answer for each line of command; it begins with the first."""
    global _orders, _answers
    _orders, _answers = os.fdopen(commands), answers
    do: Optional[Do] = None
    while True:
        name = _orders.readline().strip()
        if not name:
            return
        try:
            do = do or begin()
            got = do(name)
        except Skip as e:
            got = {"skipped": str(e)}
        except BaseException as e:
            got = {"failed": "%s: %s" % (type(e).__name__, _without_stack(str(e))[:2000])}
        _send(got)
        if got.get("ends"):
            return


def _send(what: Dict[str, Any]) -> None:
    data = (json.dumps(what) + "\n").encode()
    while data:
        data = data[os.write(_answers, data) :]


def _without_stack(text: str) -> str:
    """What TensorFlow says of an error in a graph, on one line, without the way through our own program."""
    head, found, stack = text.partition("Detected at node")
    if found:
        told = [line for line in stack.splitlines()[1:] if line.strip() and not line.startswith(" ")]
        text = " ".join([head.replace("Graph execution error:", ""), *told])
    return " ".join(text.partition("[[{{node")[0].split())


Say = Callable[[int, str, Dict[str, Any]], None]
"""Told of each answer: of which target, to what, and it. 'total_seconds' is in it."""


class Team:
    """The workers of several targets (a device's index; -1: all of them), and what is left for each."""

    def __init__(
        self,
        begin: Callable[[int], Do],
        alone: Any,
        say: Say,
        limit_s: float,
        deadline: float,
        last: Optional[str] = None,
        lives: int = LIVES,
        called: Callable[[str], str] = str,
    ) -> None:
        """`alone`: names of what is done on one target at a time, at the end. `last` is asked of each child before it ends.
        `lives`: how many children a target gets; what none of them began is answered with 'skipped' and 'not_begun'.
        `called`: what people are told that a piece of work is, where its name says where it stands in a plan."""
        self._begin, self._alone, self._say, self._last = begin, alone, say, last
        self._limit_s, self._deadline, self._most, self._called = limit_s, deadline, lives, called
        self._left: Dict[int, List[str]] = {}
        self._workers: Dict[int, Worker] = {}
        self._lives: Dict[int, int] = {}
        self._turn: Optional[Worker] = None

    def hand_over(self) -> Dict[int, Worker]:
        """The children that wait for the orders of another team (`run(..., leave=True)`)."""
        handed, self._workers = self._workers, {}
        return handed

    def go_on_with(self, handed: Dict[int, Worker]) -> None:
        """Take the children of another team, which know this one's orders as well."""
        self._workers = handed

    def run(self, targets: List[int], kernels: List[str], leave: bool = False) -> None:
        """Do `kernels` on all `targets` side by side, those that stand alone one at a time at the end. `leave`: the children wait
        for the orders of another team."""
        ordered = [k for k in kernels if k not in self._alone] + [k for k in kernels if k in self._alone]
        self._left = {t: list(ordered) for t in targets}
        self._lives = dict.fromkeys(targets, self._most)
        while True:
            self._give_orders()
            self._give_turn()
            busy = {w.source: t for t, w in self._workers.items() if w.kernel is not None}
            if not busy:
                break
            now = time.time()
            ends = [self._ends(self._workers[t]) for t in busy.values()]
            for source in select.select(list(busy), [], [], max(0.0, min(ends) - now))[0]:
                self._hear(busy[source])
            for target in busy.values():
                worker = self._workers.get(target)
                if worker is not None and worker.kernel is not None and time.time() >= self._ends(worker):
                    self._lost(target, self._too_late(worker), patience_s=0.0)
        if not leave:
            self._dismiss()
        over = time.time() >= self._deadline
        why = "not run: the time for kernels was over" if over else "not run: too much failed on this device before"
        for target, left in self._left.items():
            for name in left:
                self._tell(target, name, time.time(), {"skipped": why, "not_begun": True})

    def _dismiss(self) -> None:
        for worker in self._workers.values():
            worker.dismiss()
        for worker in self._workers.values():
            worker.end(0.5)
        self._workers = {}

    def _too_late(self, worker: Worker) -> Dict[str, Any]:
        took = "%s did not end within %.3g s" % (self._name(worker.kernel or ""), time.time() - worker.started)
        if worker.waits_since is None and time.time() - worker.started >= self._limit_s:
            return {"failed": took, "timed_out": True}
        return {"skipped": took + ": the time for kernels was over"}

    def _name(self, order: str) -> str:
        return order if order == self._last else self._called(order)

    def _ends(self, worker: Worker) -> float:
        waits = worker.waits_since is not None
        return self._deadline if waits else min(worker.started + self._limit_s, self._deadline)

    def _give_orders(self) -> None:
        for target, left in self._left.items():
            worker = self._workers.get(target)
            if worker is not None and worker.kernel is not None:
                continue
            if left and time.time() < self._deadline and self._lives[target] > 0:
                if left[0] in self._alone and not self._quiet(target):
                    continue
                if worker is None:
                    worker = self._workers[target] = Worker(partial(self._begin, target))
                worker.order(left.pop(0))
            elif worker is not None and self._last is not None:
                worker.order(self._last)

    def _give_turn(self) -> None:
        """To the one that has waited longest, when nobody has it any more."""
        workers = list(self._workers.values())
        waiting = [w for w in workers if w.waits_since is not None]
        if waiting and self._turn not in workers:
            self._turn = min(waiting, key=lambda w: w.waits_since or 0.0)
            self._turn.take_turn()

    def _quiet(self, mine: int) -> bool:
        """Nobody else works, or has work that needs no quiet host before it."""
        for target, left in self._left.items():
            worker = self._workers.get(target)
            working = worker is not None and worker.kernel not in (None, self._last)
            waiting = bool(left) and left[0] not in self._alone and self._lives[target] > 0
            if target != mine and (working or waiting):
                return False
        return True

    def _hear(self, target: int) -> None:
        worker = self._workers[target]
        got = worker.hear()
        if got is None:
            name = worker.kernel or ""
            number = self._lost(target, None, patience_s=2.0)
            how = "was ended by signal %d" % number if number else "ended without an answer"
            if name != self._last:
                self._tell(
                    target, name, worker.started, {"failed": "%s %s" % (self._name(name), how), "signal": number}
                )
            return
        for one in got:
            if one == _TURN:
                worker.waits_since = time.time()
                continue
            if worker is self._turn:
                self._turn = None
            if one == _OVER:
                continue
            name, worker.kernel = worker.kernel or "", None
            ends = one.pop("ends", False)
            self._tell(target, name, worker.started, one)
            if ends or name == self._last:
                self._workers.pop(target).end(0.5)

    def _lost(self, target: int, got: Optional[Dict[str, Any]], patience_s: float) -> Optional[int]:
        worker = self._workers.pop(target)
        self._lives[target] -= 1
        if got is not None and worker.kernel != self._last:
            self._tell(target, worker.kernel or "", worker.started, got)
        return worker.end(patience_s)

    def _tell(self, target: int, name: str, started: float, got: Dict[str, Any]) -> None:
        self._say(target, name, dict(got, total_seconds=time.time() - started))
