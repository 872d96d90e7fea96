"""The processes of a program while it runs, from /proc: processor time by thread, memory, reads."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import os
import threading
import time

import psutil

from .watch_gpus import every

_SHARE, _AHEAD_S = 0.005, 4.0
"""Of a core, that looking may take, and for how many seconds of it before they are over: of a short run, enough is seen."""
_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
_TENSORFLOW = b"libtensorflow_framework.so"
_MAPS_EVERY_S = 3.0
ENDED = "(ended)"
"""The name of the threads that were never seen."""


@dataclasses.dataclass(frozen=True)
class TreeSample:
    """One look. Times are of the processor, in seconds, all that was used since the start."""

    at: float
    """time.monotonic()."""
    cpu_s: float
    system_s: float
    by_thread: dict[tuple[int, str, bool], float]
    """(process, name, is the main thread): what the threads that were seen used."""
    threads: dict[tuple[int, str, bool], int]
    """How many there are."""
    read_bytes: int | None
    processes: int
    all_threads: int
    waiting: bool
    """A thread is in state D."""


class TreeWatch:
    """Looks at a process and what it starts, in a thread, till `end`."""

    def __init__(self, pid: int) -> None:
        self.samples: list[TreeSample] = []
        self.memory: list[tuple[float, int]] = []
        """(time.monotonic(), bytes of all processes together), oftener than `samples`: it costs less to ask."""
        self.pids: set[int] = {pid}
        """Every process that was ever seen."""
        self.tensorflow: set[int] = set()
        """Those that have loaded TensorFlow."""
        self.python: str | None = None
        """The interpreter in which TensorFlow was first seen, as it was started."""
        self.cost_s = 0.0
        self.cores: int | None = None
        self._root = pid
        self._listed: frozenset[int] = frozenset({pid})
        """The processes that this machine had at the last look."""
        self._here: tuple[int, ...] = (pid,)
        self._over = threading.Event()
        self._of_thread: dict[tuple[int, int], float] = {}
        self._by_thread: dict[tuple[int, str, bool], float] = collections.defaultdict(float)
        self._of_process: dict[int, tuple[float, float, int | None]] = {}
        self._maps_at: dict[int, float] = {}
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def begin(self) -> None:
        """Start looking."""
        self._thread.start()

    def end(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join(2.0)

    def _watch(self) -> None:
        began = time.monotonic()
        due = {self._look: began, self._weigh: began}
        spent = dict.fromkeys(due, 0.0)
        while not self._over.wait(max(0.0, min(due.values()) - time.monotonic())):
            for act, at in due.items():
                if at <= time.monotonic():
                    before = time.thread_time()
                    with contextlib.suppress(psutil.Error, OSError):
                        act()
                    cost = time.thread_time() - before
                    self.cost_s += cost
                    spent[act] += cost
                    now = time.monotonic()
                    due[act] = max(now + every(now - began), began + spent[act] / _SHARE - _AHEAD_S)

    def _weigh(self) -> None:
        """The memory of the processes that the last look saw."""
        at = time.monotonic()
        sizes = []
        for pid in self._here:
            with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
                sizes.append(_own_memory(pid))
        if sizes:
            self.memory.append((at, sum(sizes)))

    def _look(self) -> None:
        at = time.monotonic()
        if self.cores is None:
            self.cores = len(psutil.Process(self._root).cpu_affinity())
        all_threads, waiting, here = 0, False, []
        threads: dict[tuple[int, str, bool], int] = collections.defaultdict(int)
        for pid in self._tree():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
                self.pids.add(pid)
                user, system, _ = _times(f"/proc/{pid}/stat")
                self._of_process[pid] = (user, system, _read_bytes(pid))
                here.append(pid)
                for tid in os.listdir(f"/proc/{pid}/task"):
                    used, waits, key = self._thread_of(pid, int(tid))
                    known = self._of_thread.get((pid, int(tid)), 0.0)
                    self._by_thread[key] += max(0.0, used - known)
                    self._of_thread[pid, int(tid)] = used
                    threads[key] += 1
                    waiting |= waits
                    all_threads += 1
                self._of_ended_threads(pid, user + system)
                self._find_tensorflow(pid, at)
        self._here = tuple(here)
        if not here:
            return
        reads = [r for _, _, r in self._of_process.values() if r is not None]
        self.samples.append(
            TreeSample(
                at=at,
                cpu_s=sum(u + s for u, s, _ in self._of_process.values()),
                system_s=sum(s for _, s, _ in self._of_process.values()),
                by_thread=dict(self._by_thread),
                threads=dict(threads),
                read_bytes=sum(reads) if reads else None,
                processes=len(here),
                all_threads=all_threads,
                waiting=waiting,
            )
        )

    def _tree(self) -> tuple[int, ...]:
        """The process and all that it or its own have started.

        Only processes that are new are asked for their parent: of a machine's thousand, hardly any (psutil's children()
        asks them all, each time).
        """
        listed = frozenset(psutil.pids())
        parents: dict[int, int] = {}
        for pid in listed - self._listed:
            with contextlib.suppress(OSError, ValueError, IndexError):  # it has ended
                parents[pid] = _parent(pid)
        tree = {self._root, *self._here} & listed
        while more := {pid for pid, parent in parents.items() if parent in tree and pid not in tree}:
            tree |= more
        self._listed = listed
        return tuple(sorted(tree))

    def _of_ended_threads(self, pid: int, total: float) -> None:
        """What the process used, and none of the threads that were seen: they began and ended between two looks."""
        key = (pid, ENDED, False)
        seen = sum(used for other, used in self._by_thread.items() if other[0] == pid and other != key)
        self._by_thread[key] = max(self._by_thread[key], total - seen)

    def _thread_of(self, pid: int, tid: int) -> tuple[float, bool, tuple[int, str, bool]]:
        user, system, (name, state) = _times(f"/proc/{pid}/task/{tid}/stat")
        return user + system, state == "D", (pid, name, pid == tid)

    def _find_tensorflow(self, pid: int, now: float) -> None:
        """Looked for now and then, until it is there: the map of a large program is long."""
        if pid in self.tensorflow or now - self._maps_at.get(pid, -_MAPS_EVERY_S) < _MAPS_EVERY_S:
            return
        self._maps_at[pid] = now
        with open(f"/proc/{pid}/maps", "rb") as f:
            if not any(_TENSORFLOW in line for line in f):
                return
        self.tensorflow.add(pid)
        if self.python is None:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                self.python = os.fsdecode(f.read(1 << 12).split(b"\0")[0])


def _times(path: str) -> tuple[float, float, tuple[str, str]]:
    """Processor time in user mode and in the kernel, in seconds; the name and the state. Raises OSError, ValueError."""
    with open(path, "rb") as f:
        text = f.read()
    name, _, rest = text.rpartition(b")")
    fields = rest.split()
    own = name.partition(b"(")[2].decode("utf-8", "replace")
    return int(fields[11]) / _TICKS, int(fields[12]) / _TICKS, (own, chr(fields[0][0]))


def _parent(pid: int) -> int:
    """The process that started it. Raises OSError, ValueError, IndexError."""
    with open(f"/proc/{pid}/stat", "rb") as f:
        return int(f.read().rpartition(b")")[2].split()[1])


def _own_memory(pid: int) -> int:
    """Resident memory that is not shared with files or other processes, in bytes."""
    with open(f"/proc/{pid}/statm", "rb") as f:
        fields = f.read().split()
    return max(0, int(fields[1]) - int(fields[2])) * _PAGE


def _read_bytes(pid: int) -> int | None:
    """What it had read from disks; None where it may not be asked."""
    try:
        with open(f"/proc/{pid}/io", "rb") as f:
            return next((int(line.split()[1]) for line in f if line.startswith(b"read_bytes:")), None)
    except OSError:
        return None
