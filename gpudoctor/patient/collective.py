"""All-reduce through NCCL, in one process that owns all the GPUs: only libnccl and the driver.

It is a float32 sum from one buffer into another (out of place). Its rate is nccl-tests' busbw: bytes / time x 2(n-1)/n, and its
time that of the slowest GPU by the events of its stream; between the GPUs of one process no barrier is needed.
"""

import ctypes
import os
import re
import tempfile
import time
from array import array
from ctypes import byref, c_int, c_size_t, c_void_p
from typing import Any, Callable, Dict, List, Tuple

from .bench import Bench
from .cuda import Absent, Gpu
from .loaded import nccl_release
from .team import Skip
from .vendor import open_library

_FLOAT32, _SUM = 7, 0
_CAPTURES_SINCE = 20900
_THREAD_LOCAL = 1
_SECONDS = 2.0
"""About how long one measurement may take; slow links get fewer iterations."""
_SPARE_BYTES = 512 << 20
"""Left to NCCL, which makes its own buffers when they are first needed."""


def pairs_of(count: int) -> List[Tuple[int, int]]:
    """Which pairs of `count` GPUs are tried: all of up to four; of more the neighbours in a ring, and those across it."""
    if count <= 4:
        return [(one, other) for one in range(count) for other in range(one + 1, count)]
    ring = {(min(i, (i + step) % count), max(i, (i + step) % count)) for i in range(count) for step in (1, count // 2)}
    return sorted(ring)


class NcclError(Exception):
    """A call of NCCL's that failed, with NCCL's own words."""


def prepare_nccl(log: str) -> None:
    """Before libnccl is loaded: nothing leaves the host, and its log goes to the file `log`. Its other variables stay the user's.

    The names of subsystems are those of the NCCL user guide. INIT tells the transports and channels, ENV what was set
    and where, TUNING the algorithm of each all-reduce. A variable counts before nccl.conf (param.cc: setenv without overwriting).
    With CUDA_LAUNCH_BLOCKING one thread with several GPUs waits for ever (NVIDIA/nccl#774).
    """
    ours = {
        "NCCL_SOCKET_IFNAME": "lo",
        "NCCL_RAS_ENABLE": "0",
        "NCCL_COMM_BLOCKING": "1",
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,ENV,TUNING",
        "NCCL_DEBUG_FILE": log,
    }
    os.environ.update(ours)
    os.environ.pop("CUDA_LAUNCH_BLOCKING", None)


class Nccl:
    """The libnccl that a process of this environment gets. Raises Absent where there is none."""

    def __init__(self) -> None:
        self._library, self.path = open_library("libnccl.so", "nccl", "nvidia-nccl-cu12")
        for name in ("ncclGetErrorString", "ncclGetLastError"):
            if hasattr(self._library, name):
                getattr(self._library, name).restype = ctypes.c_char_p
        code = c_int()
        self.call("ncclGetVersion", byref(code))
        self.code = code.value

    @property
    def version(self) -> str:
        """'2.27.7'."""
        return nccl_release(self.code)

    def function(self, name: str) -> Any:
        """A function of the library."""
        try:
            return getattr(self._library, name)
        except AttributeError:
            raise Absent("this libnccl (%s) has no %s" % (self.path, name))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function, and raise where it fails."""
        result = self.function(name)(*arguments)
        if result:
            raise self.error(name, result)

    def error(self, name: str, result: int) -> NcclError:
        """What NCCL says of a result; ncclGetLastError is there since 2.13."""
        words = []
        for asked, argument in (("ncclGetErrorString", result), ("ncclGetLastError", None)):
            if hasattr(self._library, asked):
                words.append((getattr(self._library, asked)(argument) or b"").decode("utf-8", "replace").strip())
        return NcclError("%s answers %d: %s" % (name, result, "; ".join(w for w in words if w)))


class Group:
    """Some GPUs, a communicator of NCCL's over them, and numbers to add up."""

    def __init__(self, bench: Bench, ordinals: List[int]) -> None:
        self.nccl: Nccl = bench.keep("nccl", Nccl)
        self.cuda, self.count = bench.cuda, len(ordinals)
        self.gpus = [bench.of(i) for i in ordinals]
        self._handles = (c_void_p * self.count)()
        self._begin, self._end = [], []
        for gpu in self.gpus:
            gpu.use()
            self._begin.append(gpu.new_event())
            self._end.append(gpu.new_event())
        self._room()
        self.nccl.call("ncclCommInitAll", self._handles, self.count, (c_int * self.count)(*ordinals))
        self.numbers, self.sums = bench.keep("numbers %d" % self.count, lambda: _whole_numbers(self.count))

    def close(self) -> None:
        """Give the communicator back."""
        for handle in self._handles:
            self.nccl.call("ncclCommDestroy", c_void_p(handle))

    def fitting(self, size: int) -> int:
        """`size`, or the largest power of two of which two fit into what is free on every GPU."""
        room = self._room()
        return size if size <= room else 1 << (room.bit_length() - 1)

    def _room(self) -> int:
        """Bytes of each of two buffers on the GPU that has the least free. Raises Skip where that is next to nothing."""
        free = []
        for gpu in self.gpus:
            gpu.use()
            free.append(gpu.memory_bytes()[0])
        room = (min(free) - _SPARE_BYTES) // 2
        if room < 1 << 20:
            raise Skip("GPU %d has only %d MiB free" % (self.gpus[free.index(min(free))].ordinal, min(free) >> 20))
        return room

    def once(self, arguments: List[Tuple[Any, ...]]) -> None:
        """Queue one all-reduce; `arguments` are those of ncclAllReduce, a GPU each."""
        reduce = self.nccl.function("ncclAllReduce")
        result = self.nccl.function("ncclGroupStart")()
        for one in arguments:
            result = result or reduce(*one)
        result = self.nccl.function("ncclGroupEnd")() or result
        if result:
            raise self.nccl.error("ncclAllReduce", result)

    def arguments(self, sources: List[int], targets: List[int], size: int) -> List[Tuple[Any, ...]]:
        """Made once, so that Python adds little to a launch."""
        kind, sum_, elements = c_int(_FLOAT32), c_int(_SUM), c_size_t(size // 4)
        return [
            (c_void_p(source), c_void_p(target), elements, kind, sum_, c_void_p(handle), gpu.stream)
            for source, target, handle, gpu in zip(sources, targets, self._handles, self.gpus)
        ]

    def took(self, work: Callable[[int], None]) -> Tuple[float, float]:
        """Seconds of the slowest GPU, and by the host's clock; `work` is done for each GPU in turn, the first is 0."""
        started = time.perf_counter()
        for index, gpu in enumerate(self.gpus):
            gpu.record(self._begin[index])
            work(index)
        for index, gpu in enumerate(self.gpus):
            gpu.record(self._end[index])
        slowest = max(gpu.between(self._begin[i], self._end[i]) for i, gpu in enumerate(self.gpus))
        return slowest, time.perf_counter() - started

    def wait(self) -> None:
        """Until all are done."""
        for gpu in self.gpus:
            gpu.wait()


class _Captured:
    """A number of all-reduces as one graph a GPU (nccl-tests -G), sent to the GPUs before they are launched: a launch that
    waits keeps the others from being launched (NCCL user guide, 'Using NCCL with CUDA Graphs')."""

    def __init__(self, group: Group, arguments: List[Tuple[Any, ...]], iterations: int) -> None:
        self._group, self._graphs, self._ready = group, [], []  # type: Group, List[c_void_p], List[c_void_p]
        call = group.cuda.call
        for gpu in group.gpus:
            call("cuStreamBeginCapture_v2", gpu.stream, _THREAD_LOCAL)
        for _ in range(iterations):
            group.once(arguments)
        for gpu in group.gpus:
            graph = c_void_p()
            call("cuStreamEndCapture", gpu.stream, byref(graph))
            self._graphs.append(graph)
        for gpu, graph in zip(group.gpus, self._graphs):
            gpu.use()
            ready = c_void_p()
            call("cuGraphInstantiateWithFlags", byref(ready), graph, 0)
            self._ready.append(ready)
            call("cuGraphUpload", ready, gpu.stream)
        group.wait()

    def launch(self, index: int) -> None:
        """Queue the graph of one GPU."""
        self._group.cuda.call("cuGraphLaunch", self._ready[index], self._group.gpus[index].stream)

    def close(self) -> None:
        """Give the graphs back."""
        for ready, graph in zip(self._ready, self._graphs):
            self._group.cuda.call("cuGraphExecDestroy", ready)
            self._group.cuda.call("cuGraphDestroy", graph)


# ----------------------------------------------------------------------------- what NCCL says


_MOST_OF_LOG = 64 << 10


class NcclLog:
    """A nameless file for the log of a child: it is ours, and stays when the child does not."""

    def __init__(self) -> None:
        try:
            self._fd: int = ctypes.CDLL(None).memfd_create(b"nccl-log", 0)
        except AttributeError:  # glibc before 2.27
            self._fd = -1
        if self._fd < 0:
            with tempfile.TemporaryFile() as f:
                self._fd = os.dup(f.fileno())
        self._read = 0

    @property
    def path(self) -> str:
        """Under which a forked child opens it."""
        return "/proc/self/fd/%d" % self._fd

    def news(self) -> str:
        """What was written since the last time, each line once: a line for another channel, rank or run that says the same is left out."""
        text = b""
        while True:
            block = os.pread(self._fd, 1 << 20, self._read)
            self._read += len(block)
            text += block
            if not block:
                return _without_repeats(text.decode("utf-8", "replace"))

    def begin_anew(self) -> None:
        """Another child will write to it."""
        os.ftruncate(self._fd, 0)
        self._read = 0

    def close(self) -> None:
        """Nothing more is read."""
        os.close(self._fd)


def _without_repeats(log: str) -> str:
    kept: Dict[str, str] = {}
    for line in log.splitlines():
        said = line.partition(" NCCL INFO ")[2] or line.partition(" NCCL WARN ")[2] or line
        kept.setdefault(re.sub(r"^Channel \d+", "Channel", said), line)
    kept.pop("", None)
    text = "\n".join(kept.values())
    if len(text) > _MOST_OF_LOG:
        text = text[: _MOST_OF_LOG // 2] + "\n[...]\n" + text[-_MOST_OF_LOG // 2 :]
    return text


def connections(log: str) -> str:
    """The lines that tell which NCCL it is, its channels, and the ways between GPUs."""
    telling = (" NCCL version ", " coll channels,", " via ", " NVLS comm ")
    return "\n".join(line for line in log.splitlines() if any(words in line for words in telling))


def last_warning(log: str) -> str:
    """The last thing that NCCL warned of, or nothing."""
    warnings = re.findall(r" NCCL WARN ([^\n]+)", log)
    return str(warnings[-1]) if warnings else ""


# ----------------------------------------------------------------------------- the numbers

_NUMBERS = 65521
"""A prime number of them: two pieces of a buffer seldom look alike."""


def _whole_numbers(count: int) -> Tuple[List[bytes], bytes]:
    """Random whole numbers below 2^16 for each GPU, and their sums: float32 holds all sums of up to 256 of them exactly."""
    blocks = [array("f", array("H", os.urandom(2 * _NUMBERS))) for _ in range(count)]
    return [block.tobytes() for block in blocks], array("f", [sum(column) for column in zip(*blocks)]).tobytes()


def _farthest(group: Group, targets: List[int], size: int) -> float:
    """How far the first, the middle and the last MiB of each GPU's result are from the exact sums, at most; infinite where
    one is no number."""
    length, far = min(1 << 20, size), 0.0
    middle = (size - length) // 8 * 4
    for gpu, target in zip(group.gpus, targets):
        gpu.use()
        for at in (0, middle, size - length):
            inside = at % len(group.sums)
            exact = (group.sums * (2 + length // len(group.sums)))[inside : inside + length]
            got = gpu.get(target + at, length)
            if got != exact:
                pairs = zip(array("f", got), array("f", exact))
                far = max([far, *(abs(one - other) if one == one else float("inf") for one, other in pairs)])
    return far


# ----------------------------------------------------------------------------- the measurement


def _timed_over(group: Group, size: int, graph: bool, samples: int, iterations: int) -> Dict[str, Any]:
    """Seconds of one all-reduce, sample by sample, and what else a result says."""
    if graph and group.nccl.code < _CAPTURES_SINCE:
        raise Skip("NCCL %s can't be captured in a CUDA graph, 2.9 and newer can" % group.nccl.version)
    size = group.fitting(size)
    sources, targets = [], []
    for gpu, numbers in zip(group.gpus, group.numbers):
        gpu.use()
        sources.append(gpu.allocate(size))
        gpu.spread(sources[-1], size, numbers)
        targets.append(gpu.allocate(size))
    arguments = group.arguments(sources, targets, size)
    group.once(arguments)  # makes the connections
    group.wait()
    alone = group.took(lambda index: group.once(arguments) if index == group.count - 1 else None)[0]
    iterations = max(1, min(iterations, int(_SECONDS / (samples + 1) / alone))) if alone > 0 else iterations
    captured = _Captured(group, arguments, iterations) if graph else None

    def plain(index: int) -> None:
        if index == group.count - 1:  # when all have begun
            for _ in range(iterations):
                group.once(arguments)

    work = captured.launch if captured else plain
    group.took(work)
    for gpu, target in zip(group.gpus, targets):
        _cleared(gpu, target, size)
    took = [group.took(work) for _ in range(samples)]
    far = _farthest(group, targets, size)
    if captured:
        captured.close()
    for gpu, source, target in zip(group.gpus, sources, targets):
        gpu.use()
        gpu.free(source)
        gpu.free(target)
    return {
        "seconds": [slowest / iterations for slowest, _ in took],
        "host_seconds": [host / iterations for _, host in took],
        "dtype": "float32",
        "size": [size // 4],
        "queued": iterations,
        "warm_up": iterations + 2,
        "graph": graph,
        "operation": "sum, out of place",
        "verified": far == 0.0,
        "error": far if far != float("inf") else None,
        "tolerance": 0.0,
        "against": "the exact sums: first, middle and last MiB of every GPU",
        "library": {"path": group.nccl.path, "version": group.nccl.version},
    }


def _cleared(gpu: Gpu, address: int, size: int) -> None:
    gpu.use()
    gpu.cuda.call("cuMemsetD8_v2", address, 0, size)
    gpu.cuda.call("cuCtxSynchronize")


def _group(bench: Bench, gpus: List[int]) -> Group:
    def make() -> Group:
        group = Group(bench, gpus)
        bench.at_the_end(group.close)
        return group

    kept: Group = bench.keep("group %s" % gpus, make)
    return kept


def nccl_all_reduce(
    bench: Bench, gpus: List[int], size: int, graph: bool, samples: int, iterations: int
) -> Dict[str, Any]:
    """Busbw of an all-reduce of `size` bytes over `gpus`, in GB/s; `iterations` queued for one sample, in one graph if `graph`."""
    done = _timed_over(_group(bench, gpus), size, graph, samples, iterations)
    moved = done["size"][0] * 4 * 2.0 * (len(gpus) - 1) / len(gpus) / 1e9
    took = done["host_seconds" if graph else "seconds"]  # as nccl-tests does: the launch of a graph is a part of it
    return dict(done, samples=[moved / s for s in took], unit="GB/s")


def nccl_all_reduce_latency(
    bench: Bench, gpus: List[int], samples: int, iterations: int, graph: bool = True
) -> Dict[str, Any]:
    """Microseconds of an all-reduce of 8 bytes, one of many in a graph."""
    done = _timed_over(_group(bench, gpus), 8, graph, samples, iterations)
    return dict(done, samples=[s * 1e6 for s in done["seconds"]], unit="us")


def nccl_all_reduce_pair(
    bench: Bench, gpus: List[int], size: int, samples: int, iterations: int, graph: bool = False
) -> Dict[str, Any]:
    """As `nccl_all_reduce`, over two GPUs, whose communicator nothing else uses."""
    group = Group(bench, gpus)
    done = _timed_over(group, size, graph, samples, iterations)
    group.close()
    moved = done["size"][0] * 4 * 2.0 * (len(gpus) - 1) / len(gpus) / 1e9
    return dict(done, samples=[moved / s for s in done["seconds"]], unit="GB/s")
