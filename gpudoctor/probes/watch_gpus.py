"""The GPUs while a program runs: NVML is asked in a forked child, each GPU in a thread of its own, a line of JSON a sample.

A GPU that hangs holds up no other, and what ends the child ends neither the program nor gpudoctor. Over the child stands another that
starts it anew where NVML ends it, or holds up all GPUs, and has the GPUs asked in turn from then on.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from ..child import signal_name

EVERY_S = 0.5
_LONG = 2000
"""A sample is taken after a 2000th of the time that is over, or EVERY_S: of a week 15,000 are taken."""
_BUS_EVERY_S = 2.0
"""Without GPM a look at the bus takes 20 ms each way."""
_GPM = {"sm": 2, "tensor": 5, "fp32": 12, "out_mib": 20, "in_mib": 21}
"""nvml.h, nvmlGpmMetricId_t: SM_UTIL, ANY_TENSOR_UTIL, FP32_UTIL, PCIE_TX_PER_SEC, PCIE_RX_PER_SEC."""
_END_S = 1.0
_MOST_PROCESSES = 64
_TRIES = 3
"""So often NVML is asked from the beginning."""
_SILENT_S = 10.0
"""So long after a sample was due of any GPU, NVML is taken to hang: a GPU that nobody uses takes seconds to be opened."""
NO_ANSWER = "NVML did not answer while the program ran"


def every(since: float) -> float:
    """Seconds till the next sample, `since` seconds after the first."""
    return max(EVERY_S, since / _LONG)


class GpuWatch:
    """The child that asks NVML, from here to `end`. To be made before any thread is started: it forks."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        reading, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _be_the_child(writing)
        os.close(writing)
        self._stream = os.fdopen(reading, "rb")
        self._reader = threading.Thread(target=self._read, daemon=True)

    def begin(self) -> None:
        """Read what it says."""
        self._reader.start()

    def _read(self) -> None:
        self._lines.extend(self._stream)

    def end(self) -> list[dict[str, Any]]:
        """End it: what it said, in the order in which it came. Never raises."""
        for kill in (os.killpg, os.kill):  # it may not lead its group yet
            with contextlib.suppress(ProcessLookupError):
                kill(self._pid, signal.SIGKILL)
        deadline = time.monotonic() + _END_S
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(self._pid, os.WNOHANG) == (0, 0) and time.monotonic() < deadline:
                time.sleep(0.005)  # one that is stuck in the kernel is left to it
        if self._reader.ident is not None:
            self._reader.join(_END_S)
        got = []
        for line in list(self._lines):
            with contextlib.suppress(ValueError):  # cut short by its end
                got.append(json.loads(line))
        return [one for one in got if isinstance(one, dict)]


# ------------------------------------------------------------------------------- in the child


def _be_the_child(out: int) -> NoReturn:
    """Never returns: this process has nothing of the terminal, and goes when its parent does."""
    try:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        low = os.dup2(out, 3)
        os.closerange(low + 1, min(1 << 16, os.sysconf("SC_OPEN_MAX")))
        _watch_over(low)
    finally:
        os._exit(0)


class _Voice:
    """Where samples go, and when the last one went there: memory that the process over the one that asks sees."""

    def __init__(self, out: int) -> None:
        self._out, self._last = out, mmap.mmap(-1, struct.calcsize("d"))
        self.began = time.monotonic()
        self.alive()

    def tell(self, what: dict[str, Any]) -> None:
        os.write(
            self._out, json.dumps(what).encode() + b"\n"
        )  # less than PIPE_BUF: lines of several threads stay whole
        self.alive()

    def alive(self) -> None:
        self._last[:] = struct.pack("d", time.monotonic())

    def is_silent(self) -> bool:
        """Whether no GPU has said anything, though a sample was due."""
        (last,) = struct.unpack("d", self._last[:])
        return bool(time.monotonic() - last > _SILENT_S + every(last - self.began))


def _watch_over(out: int) -> None:
    """Start the one that asks, and again where it ends by a signal or is silent. This process has no other thread."""
    parent, voice = os.getppid(), _Voice(out)
    for turn in range(_TRIES):
        asker = os.fork()
        if asker == 0:
            try:
                _ask(voice, in_turn=turn > 0)
            finally:
                os._exit(0)
        how = None
        while how is None:
            if os.getppid() != parent:
                os.kill(asker, signal.SIGKILL)
                return
            time.sleep(0.2)
            ended, status = os.waitpid(asker, os.WNOHANG)
            if ended and not os.WIFSIGNALED(status):
                return  # it has said all that it can
            if ended:
                how = f"NVML's process was ended by {signal_name(os.WTERMSIG(status))}"
            elif voice.is_silent():
                how = NO_ANSWER
                os.kill(asker, signal.SIGKILL)
        voice.tell({"failed": how})


def _ask(voice: _Voice, in_turn: bool) -> None:
    parent, tell = os.getppid(), voice.tell
    try:
        import pynvml as n

        n.nvmlInit()
        count = n.nvmlDeviceGetCount()
    except Exception as e:  # pynvml raises more than its own errors
        tell({"error": str(e)})
        return
    tell({"count": count})
    read = threading.Event()
    if in_turn:
        read.set()
        _watch(n, range(count), voice, parent, read)
        return
    for index in range(count):
        threading.Thread(target=_watch, args=(n, [index], voice, parent, read), daemon=True).start()
    _read_gpm(n, count)
    read.set()
    while os.getppid() == parent:
        time.sleep(0.5)


def _read_gpm(n: Any, count: int) -> None:
    """Read GPM's counters once, before other threads do: where two threads are the first, even one after the other, NVML ends the
    process. Source: nvmlGpmMetricsGet of driver 580 on 2x H200, in 68 of 72 processes; after a first call in the main thread in none.
    """
    ready = threading.Event()
    ready.set()
    for index in range(count):
        gpu = _Gpu(n, index, ready)
        if gpu.head().get("gpm"):
            for _ in range(2):
                gpu.sample(0.0)
            return


def _watch(n: Any, indices: Iterable[int], voice: _Voice, parent: int, gpm_read: threading.Event) -> None:
    """Sample these GPUs, one after the other, as long as the parent lives."""
    gpus = {}
    for index in indices:
        gpu = _Gpu(n, index, gpm_read)
        head = {"gpu": index, **gpu.head()}
        voice.tell(head)
        if "lost" not in head:
            gpus[index] = gpu
    while gpus and os.getppid() == parent:
        begin = time.monotonic()
        for index, gpu in gpus.items():
            at = time.monotonic()
            try:
                voice.tell({"gpu": index, "at": at, **gpu.sample(at)})
            except OSError:
                return
        time.sleep(max(0.0, begin + every(begin - voice.began) - time.monotonic()))


class _Gpu:
    """What one GPU is asked; GPM's counters from when `gpm_read` is set."""

    def __init__(self, n: Any, index: int, gpm_read: threading.Event) -> None:
        self._n, self._index, self._handle = n, index, None
        self._gpm_read = gpm_read
        self._has_gpm = False
        self._before: Any = None
        self._spare: Any = None
        self._seen_us = int(time.time() * 1e6)
        self._bus_at = 0.0
        self._has_bus = True

    def head(self) -> dict[str, Any]:
        """Which one it is, and what it is asked with."""
        n = self._n
        try:
            self._handle = n.nvmlDeviceGetHandleByIndex(self._index)
        except Exception as e:
            return {"lost": str(e)}
        self._has_gpm = bool(self._one(lambda: n.nvmlGpmQueryDeviceSupport(self._handle).isSupportedDevice))
        return {
            "name": _text(self._one(lambda: n.nvmlDeviceGetName(self._handle))),
            "address": _text(self._one(lambda: n.nvmlDeviceGetPciInfo(self._handle).busId)),
            "gpm": self._has_gpm,
        }

    def sample(self, now: float) -> dict[str, Any]:
        """One look; what this GPU does not tell is not in it."""
        n, handle = self._n, self._handle
        got = {
            "busy": self._one(lambda: n.nvmlDeviceGetUtilizationRates(handle).gpu),
            "memory": self._one(lambda: n.nvmlDeviceGetMemoryInfo(handle).used),
            "power_mw": self._one(lambda: n.nvmlDeviceGetPowerUsage(handle)),
            "clock_mhz": self._one(lambda: n.nvmlDeviceGetClockInfo(handle, 1)),
            "reasons": self._one(lambda: n.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),
            "celsius": self._one(lambda: n.nvmlDeviceGetTemperature(handle, 0)),
            "generation": self._one(lambda: n.nvmlDeviceGetCurrPcieLinkGeneration(handle)),
            "width": self._one(lambda: n.nvmlDeviceGetCurrPcieLinkWidth(handle)),
            "held": self._one(self._processes),
            "sm_of": self._one(self._sm_by_process),
            **(self._one(self._counted) or {}),
        }
        if not self._has_gpm and self._has_bus and now - self._bus_at >= _BUS_EVERY_S:
            self._bus_at = now
            got["in_kib"] = self._one(lambda: n.nvmlDeviceGetPcieThroughput(handle, 1))
            got["out_kib"] = self._one(lambda: n.nvmlDeviceGetPcieThroughput(handle, 0))
            self._has_bus = got["in_kib"] is not None
        return {name: value for name, value in got.items() if value is not None}

    def _processes(self) -> list[list[int | None]]:
        ones = self._n.nvmlDeviceGetComputeRunningProcesses(self._handle)[:_MOST_PROCESSES]
        return [[p.pid, p.usedGpuMemory] for p in ones]

    def _sm_by_process(self) -> dict[int, float] | None:
        """Percent of the multiprocessors' time, by process, since the last look; None: nothing new."""
        samples = self._n.nvmlDeviceGetProcessUtilization(self._handle, self._seen_us)
        of: dict[int, list[int]] = {}
        for one in samples:
            if one.timeStamp > self._seen_us and one.smUtil <= 100:
                of.setdefault(one.pid, []).append(one.smUtil)
        self._seen_us = max((s.timeStamp for s in samples), default=self._seen_us)
        kept = sorted(of.items(), key=lambda item: -sum(item[1]))[:_MOST_PROCESSES]
        return {pid: sum(values) / len(values) for pid, values in kept} or None

    def _counted(self) -> dict[str, float]:
        """GPM's counters over the time since the last look."""
        if not self._has_gpm or not self._gpm_read.is_set():
            return {}
        if self._before is None:
            self._has_gpm = False  # where the first sample fails it stays so, and the bus is asked
            first, self._spare = self._n.nvmlGpmSampleAlloc(), self._n.nvmlGpmSampleAlloc()
            self._before = self._n.nvmlGpmSampleGet(self._handle, first)
            self._has_gpm = True
            return {}
        now = self._n.nvmlGpmSampleGet(self._handle, self._spare)
        asked = self._n.c_nvmlGpmMetricsGet_t()
        asked.version = self._n.NVML_GPM_METRICS_GET_VERSION
        asked.numMetrics, asked.sample1, asked.sample2 = len(_GPM), self._before, now
        for at, number in enumerate(_GPM.values()):
            asked.metrics[at].metricId = number
        self._n.nvmlGpmMetricsGet(asked)
        self._before, self._spare = now, self._before
        told = zip(_GPM, asked.metrics[: len(_GPM)], strict=True)
        return {name: metric.value for name, metric in told if metric.nvmlReturn == 0 and metric.value >= 0}

    @staticmethod
    def _one(ask: Callable[[], Any]) -> Any:
        """None where this GPU or this NVML does not have it."""
        try:
            return ask()
        except Exception:
            return None


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
