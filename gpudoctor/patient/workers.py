"""Kernels in forked children: one child a device does them one after another and answers each as it is done.

A kernel that crashes or hangs ends its child and leaves what was answered; a new child does the rest.
"""

import ctypes
import json
import os
import re
import select
import signal
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .core import answer, die_with_parent
from .kernels import ALONE, KERNELS, LIBRARY, ON_HOST, TOGETHER, Skip, prepare

LIVES = 3
"""How many children a device gets."""
_OURS_OF_ALL = re.compile(
    r"^(?:_?pywrap_tensorflow|libtensorflow|libcuda|libcudart|libcublas|libcudnn|libcufft|libcurand|libcusolver|libcusparse"
    r"|libcupti|libnccl|libnvrtc|libnvJitLink|libnvidia|libnvinfer|libnvToolsExt)"
)


def mapped() -> List[str]:
    """The shared objects of CUDA, the driver and TensorFlow that this process has mapped."""
    found: List[str] = []
    try:
        with open("/proc/self/maps") as f:
            for line in f:
                fields = line.split(None, 5)
                path = fields[5].strip() if len(fields) > 5 else ""
                if path not in found and ".so" in path and _OURS_OF_ALL.match(os.path.basename(path)):
                    found.append(path)
    except OSError:
        pass
    return found


def _library(kernel: str) -> Optional[Dict[str, Any]]:
    """The file that does this kernel's work, and its own answer for its version; None: no such file is mapped."""
    stem = LIBRARY.get(kernel) or LIBRARY.get(kernel.partition("-")[0])
    paths = [p for p in mapped() if stem and re.match(r"lib%s\.so" % stem, os.path.basename(p))]
    return {"path": paths[0], "version": _version(stem or "", paths[0])} if paths else None


def _version(stem: str, path: str) -> Optional[str]:
    try:
        library = ctypes.CDLL(path)
        if stem == "cudnn":
            library.cudnnGetVersion.restype = ctypes.c_size_t
            number = library.cudnnGetVersion()
            base = 10000 if number >= 90000 else 1000
            return "%d.%d.%d" % (number // base, number % base // 100, number % 100)
        number = ctypes.c_int()
        if stem == "nccl":
            library.ncclGetVersion(ctypes.byref(number))
            base = 10000 if number.value >= 10000 else 1000
            return "%d.%d.%d" % (number.value // base, number.value % base // 100, number.value % 100)
        parts = []
        for which in range(3):
            getattr(library, stem + "GetProperty")(which, ctypes.byref(number))
            parts.append(str(number.value))
        return ".".join(parts)
    except (OSError, AttributeError):
        return None


class Worker:
    """A forked child that owns one device (index -1: all) and does kernels on demand."""

    def __init__(self, tf: Any, kind: str, index: int, count: int, repeats: int) -> None:
        self.kernel: Optional[str] = None
        self.started = 0.0
        self._data = b""
        commands, self._to = os.pipe()
        self.source, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._to)
            os.close(self.source)
            die_with_parent()
            try:
                _obey(tf, kind, index, count, repeats, commands, answers)
            finally:
                os._exit(0)
        os.close(commands)
        os.close(answers)

    def order(self, kernel: str) -> None:
        """Begin a kernel."""
        self.kernel, self.started = kernel, time.time()
        try:
            os.write(self._to, (kernel + "\n").encode())
        except OSError:
            pass  # it is gone: its answers end

    def hear(self) -> Optional[List[Dict[str, Any]]]:
        """The answers that have come; None: it has ended."""
        block = os.read(self.source, 1 << 16)
        if not block:
            return None
        *whole, self._data = (self._data + block).split(b"\n")
        return [json.loads(line.decode()) for line in whole]

    def end(self, patience_s: float) -> Optional[int]:
        """Kill it, if it does not end by itself within `patience_s`; the signal that ended it, if one did."""
        os.close(self._to)
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
        os.close(self.source)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) and not killed else None


def _obey(tf: Any, kind: str, index: int, count: int, repeats: int, commands: int, answers: int) -> None:
    """The child: one line of answer for each line of command, what is mapped at the end."""
    orders = os.fdopen(commands)
    ready = False
    while True:
        name = orders.readline().strip()
        if not name:
            return
        if name == "end":
            got = {"loaded": mapped(), "logical": _logical(tf)}  # type: Dict[str, Any]
        else:
            try:
                if not ready:
                    prepare(tf, kind, index)
                    ready = True
                value = KERNELS[name](tf, kind, count if name in TOGETHER else index, repeats)
                got = {"value": value, "library": _library(name)}
                wanted = "CPU" if name in ON_HOST else kind
                if wanted not in value.get("placed_on", wanted).upper():
                    got = {"failed": "TensorFlow ran it on %s instead" % value["placed_on"]}
            except Skip as e:
                got = {"skipped": str(e)}
            except BaseException as e:
                got = {"failed": "%s: %s" % (type(e).__name__, _without_stack(str(e))[:2000])}
        data = (json.dumps(got) + "\n").encode()
        while data:
            data = data[os.write(answers, data) :]


def _without_stack(text: str) -> str:
    """What TensorFlow says of an error in a graph, on one line, without the way through our own program."""
    head, found, stack = text.partition("Detected at node")
    if found:
        told = [line for line in stack.splitlines()[1:] if line.strip() and not line.startswith(" ")]
        text = " ".join([head.replace("Graph execution error:", ""), *told])
    return " ".join(text.partition("[[{{node")[0].split())


def _logical(tf: Any) -> List[str]:
    try:
        return [d.name for d in tf.config.list_logical_devices()]
    except Exception:
        return []


Target = Tuple[str, int]


class Team:
    """The workers of several devices, and what is left for each."""

    def __init__(self, tf: Any, count: int, repeats: int, limit_s: float, deadline: float) -> None:
        self._make: Callable[[Target], Worker] = lambda t: Worker(tf, t[0], t[1], count, repeats)
        self._count, self._limit_s, self._deadline = count, limit_s, deadline
        self._left: Dict[Target, List[str]] = {}
        self._workers: Dict[Target, Worker] = {}
        self._lives: Dict[Target, int] = {}

    def run(self, targets: List[Target], kernels: List[str]) -> None:
        """Do `kernels` on all `targets` side by side, those that stand ALONE one at a time at the end."""
        ordered = [k for k in kernels if k not in ALONE] + [k for k in kernels if k in ALONE]
        self._left = {t: list(ordered) for t in targets}
        self._lives = dict.fromkeys(targets, LIVES)
        while True:
            self._give_orders()
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
                    took = "%s did not end within %.3g s" % (worker.kernel, time.time() - worker.started)
                    self._lost(target, {"failed": took, "timed_out": True}, patience_s=0.0)
        for worker in list(self._workers.values()):
            worker.end(0.0)
        self._workers = {}
        over = time.time() >= self._deadline
        why = "not run: the time for kernels was over" if over else "not run: too much failed on this device before"
        for target, left in self._left.items():
            for name in left:
                self._say(target, name, time.time(), {"skipped": why})

    def _ends(self, worker: Worker) -> float:
        return min(worker.started + self._limit_s, self._deadline)

    def _give_orders(self) -> None:
        for target, left in self._left.items():
            worker = self._workers.get(target)
            if worker is not None and worker.kernel is not None:
                continue
            if left and time.time() < self._deadline and self._lives[target] > 0:
                if left[0] in ALONE and not self._quiet(target):
                    continue
                if worker is None:
                    worker = self._workers[target] = self._make(target)
                worker.order(left.pop(0))
            elif worker is not None:
                worker.order("end")

    def _quiet(self, mine: Target) -> bool:
        """Nobody else works, or has work that needs no quiet host before it."""
        for target, left in self._left.items():
            worker = self._workers.get(target)
            working = worker is not None and worker.kernel not in (None, "end")
            waiting = bool(left) and left[0] not in ALONE and self._lives[target] > 0
            if target != mine and (working or waiting):
                return False
        return True

    def _hear(self, target: Target) -> None:
        worker = self._workers[target]
        got = worker.hear()
        if got is None:
            name = worker.kernel or ""
            number = self._lost(target, None, patience_s=2.0)
            how = "was ended by signal %d" % number if number else "ended without an answer"
            if name != "end":
                self._say(target, name, worker.started, {"failed": "%s %s" % (name, how), "signal": number})
            return
        for one in got:
            name, worker.kernel = worker.kernel or "", None
            if name == "end":
                answer("kernels_process", one)
                self._workers.pop(target).end(0.5)
            else:
                self._say(target, name, worker.started, one)

    def _lost(self, target: Target, got: Optional[Dict[str, Any]], patience_s: float) -> Optional[int]:
        worker = self._workers.pop(target)
        self._lives[target] -= 1
        if got is not None and worker.kernel != "end":
            self._say(target, worker.kernel or "", worker.started, got)
        return worker.end(patience_s)

    def _say(self, target: Target, name: str, started: float, got: Dict[str, Any]) -> None:
        kind, index = target
        devices = [index] if index >= 0 else list(range(self._count))
        names = ",".join("%s:%d" % (kind, i) for i in devices)
        answer("kernel", dict(got, kernel=name, device=names, total_seconds=time.time() - started))


def run_kernels(tf: Any, gpus: int, names: List[str], repeats: int, limit_s: float, deadline: float) -> None:
    """Everything on single devices, then what needs all of them. Answers 'kernel' for each that was begun."""
    single = [n for n in names if n not in TOGETHER]
    targets = [("GPU", i) for i in range(gpus)] or [("CPU", 0)]
    kind, count = ("GPU", gpus) if gpus else ("CPU", 2)
    Team(tf, count, repeats, limit_s, deadline).run(targets, single)
    Team(tf, count, repeats, limit_s, deadline).run([(kind, -1)], [n for n in names if n in TOGETHER])
