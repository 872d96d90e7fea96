"""What was sampled while a program ran -> facts."""

from __future__ import annotations

import bisect
import collections
import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import psutil

from ..facts import ClockReason, Load, Quantiles, Run, RunGpu, RunThreads, Unread, clock_reasons, unread_all
from .watch_gpus import NO_ANSWER, GpuWatch
from .watch_tree import TreeSample, TreeWatch

BEGIN, END = 0.05, 0.99
"""Of all work that the GPUs did: the steady part is between."""
_BEGIN_WITHOUT = 0.1
_START_S, _START, _ENOUGH_S = 60.0, 1 / 3, 10.0
"""Graphs are traced, and kernels tuned for seconds with the GPU at 100%: of what is between, the first third is left out, at most a
minute of it, as long as ten seconds stay."""
_ACTIVE = 2.0
"""Percent of utilisation: less is a display's, or another program's that asks for the time."""
_FEW = 4
"""Samples: fewer make no steady part."""
_COPIES_GB_PER_S = 0.5
_MOMENTS = 9
_FIRST_NAMESPACE = 0xEFFFFFFC
_NAMES = 8
Sample = dict[str, Any]


class Watch:
    """Samples of the GPUs and of a program's processes. To be made before any thread is started: it forks."""

    def __init__(self) -> None:
        self._gpus = GpuWatch()
        self._tree: TreeWatch | None = None
        self._began = time.monotonic()
        self._cpu = time.process_time()

    def begin(self, pid: int) -> None:
        """The program is this process and what it starts."""
        self._tree = TreeWatch(pid)
        self._tree.begin()
        self._gpus.begin()
        self._began = time.monotonic()

    @property
    def python(self) -> str | None:
        """The interpreter that loaded TensorFlow, as it was started."""
        return self._tree.python if self._tree is not None else None

    def end(self) -> Run:
        """What was seen, nothing where no program was started; the command and how it ended is for the caller to add."""
        seconds = time.monotonic() - self._began
        said = self._gpus.end()
        if self._tree is None:
            return Run(command=None)
        self._tree.end()
        return condense(said, self._tree, self._began, seconds)


def condense(said: list[Sample], tree: TreeWatch, began: float, seconds: float) -> Run:
    """Facts of what NVML's child said and of what /proc told; `began` as time.monotonic() has it."""
    by_gpu: dict[int, list[Sample]] = collections.defaultdict(list)
    for one in said:
        if "gpu" in one and "at" in one:
            by_gpu[one["gpu"]].append(one)
    heads = {one["gpu"]: one for one in said if "gpu" in one and "at" not in one}
    own = {index for index, samples in by_gpu.items() if _named_here(samples, tree.pids)}
    known = bool(own) or _numbers_are_ours(said)
    begin, end = steady([samples for index, samples in by_gpu.items() if index in own or not known], tree.samples)
    has_steady = end > begin
    part = [s for s in tree.samples if begin <= s.at <= end] if has_steady else []
    whole = tree.samples
    return Run(
        seconds=seconds,
        warm_up_s=max(0.0, begin - began) if has_steady else None,
        steady_s=end - begin if has_steady else None,
        gpus=_gpus(said, heads, by_gpu, (begin, end), tree.pids if known else None),
        samples=len(whole),
        overhead=tree.cost_s / seconds if seconds > 0 else 0.0,
        processes=max((s.processes for s in whole), default=0),
        threads=max((s.all_threads for s in whole), default=0),
        cores_usable=tree.cores if tree.cores is not None else Unread(why="the program ended too soon"),
        memory_total_bytes=psutil.virtual_memory().total,
        tensorflow=bool(tree.tensorflow),
        **_processors(part),
        memory_bytes=_moments([m for m in tree.memory if begin <= m[0] <= end]) if has_steady else None,
    )


def steady(gpus: Sequence[Sequence[Sample]], tree: Sequence[TreeSample]) -> tuple[float, float]:
    """From when to when the program does what it is for, as time.monotonic() has it; (0, 0) where nothing tells."""
    work = [(s["at"], max(0.0, float(s["busy"]))) for one in gpus for s in one if "busy" in s]
    work = sorted((at, busy if busy >= _ACTIVE else 0.0) for at, busy in work)
    first = BEGIN
    if not any(busy for _, busy in work):
        rates = [(b.at, b.cpu_s - a.cpu_s) for a, b in itertools.pairwise(tree)]
        work, first = [(at, max(0.0, rate)) for at, rate in rates], _BEGIN_WITHOUT
    total = sum(amount for _, amount in work)
    if len(work) < _FEW or not total:
        return 0.0, 0.0
    done = list(itertools.accumulate(amount for _, amount in work))
    begin, end = (work[bisect.bisect_left(done, share * total)][0] for share in (first, END))
    return begin + max(0.0, min(_START_S, _START * (end - begin), end - begin - _ENOUGH_S)), end


# ------------------------------------------------------------------------------- GPUs


def _gpus(
    said: list[Sample],
    heads: dict[int, Sample],
    by_gpu: dict[int, list[Sample]],
    part: tuple[float, float],
    pids: set[int] | None,
) -> tuple[RunGpu, ...] | Unread:
    """`pids`: of the program, where NVML names one of them on any GPU; None: this host names none, or by other numbers."""
    if any("error" in one for one in said):
        return Unread(why=f"NVML: {next(one['error'] for one in said if 'error' in one)}")
    if not any("count" in one for one in said):
        return _failed(said)
    lost = _failed(said)
    return tuple(_gpu(head, by_gpu.get(index, []), part, pids, lost) for index, head in sorted(heads.items()))


def _failed(said: list[Sample]) -> Unread:
    """Why NVML told nothing, or nothing more."""
    return Unread(
        why=next((one["failed"] for one in reversed(said) if "failed" in one), NO_ANSWER), settle="nvidia-smi"
    )


def _gpu(head: Sample, whole: list[Sample], part: tuple[float, float], pids: set[int] | None, lost: Unread) -> RunGpu:
    told, at = head.get("name"), head.get("address")
    why = Unread(why=f"NVML: {head['lost']}") if "lost" in head else lost
    index, name = int(head["gpu"]), told if isinstance(told, str) else why
    address = _address(at) if isinstance(at, str) else why
    if not whole:
        silent = unread_all(RunGpu, why)
        return msgspec.structs.replace(silent, index=index, name=name, pci_address=address)
    inside = [s for s in whole if part[0] <= s["at"] <= part[1]]
    gpm = bool(head.get("gpm"))
    to_gpu = _rates(inside, "in_mib", 1 << 20) or _rates(inside, "in_kib", 1 << 10)
    from_gpu = _rates(inside, "out_mib", 1 << 20) or _rates(inside, "out_kib", 1 << 10)
    memory = [s["memory"] for s in whole if "memory" in s]
    return RunGpu(
        index=index,
        name=name,
        pci_address=address,
        load=_load(inside),
        utilisation_percent=quantiles(_weighted(inside, "busy")),
        own_sm_percent=_own_sm(inside, pids),
        memory_before_bytes=memory[0] if memory else None,
        memory_most_bytes=max(memory, default=None),
        own_memory_bytes=_own_memory(whole, pids),
        others=_others(inside, pids),
        copied_in_gb_per_s=quantiles(to_gpu),
        copied_out_gb_per_s=quantiles(from_gpu),
        copying_share=_share(to_gpu, lambda rate: rate > _COPIES_GB_PER_S),
        copies_counted=gpm and any("in_mib" in s for s in inside),
        sm_percent=_mean(inside, "sm"),
        tensor_percent=_mean(inside, "tensor"),
        fp32_percent=_mean(inside, "fp32"),
    )


def _address(told: str) -> str:
    """As the bus has it: '0000:06:00.0' for NVML's '00000000:06:00.0'."""
    domain, _, rest = told.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


Weighted = list[tuple[float, float]]
"""(value, for how long it stands)."""


def _weighted(samples: Sequence[Sample], name: str) -> Weighted:
    """The values of those that have one; each stands for the time since the one before, the first for as long as the second."""
    having = [s for s in samples if name in s]
    if len(having) < 2:
        return [(float(s[name]), 1.0) for s in having]
    spans = [b["at"] - a["at"] for a, b in itertools.pairwise(having)]
    return [(float(s[name]), span) for s, span in zip(having, [*spans[:1], *spans], strict=True)]


def _rates(samples: Sequence[Sample], name: str, unit: int) -> Weighted:
    return [(value * unit / 1e9, span) for value, span in _weighted(samples, name)]


def quantiles(values: Weighted) -> Quantiles | None:
    """None: there are no values."""
    if not values:
        return None
    ordered = sorted(values)
    spans = list(itertools.accumulate(max(span, 1e-9) for _, span in ordered))

    def at(share: float) -> float:
        return ordered[min(bisect.bisect_left(spans, share * spans[-1]), len(ordered) - 1)][0]

    mean = sum(value * max(span, 1e-9) for value, span in ordered) / spans[-1]
    return Quantiles(mean=mean, low=at(0.1), median=at(0.5), high=at(0.9), most=ordered[-1][0])


def _mean(samples: Sequence[Sample], name: str) -> float | None:
    found = quantiles(_weighted(samples, name))
    return found.mean if found is not None else None


def _share(values: Weighted, counts: Callable[[float], bool]) -> float | None:
    total = sum(span for _, span in values)
    return sum(span for value, span in values if counts(value)) / total if total else None


def _load(samples: list[Sample]) -> Load | Unread:
    if len(samples) < 2:
        return Unread(why="the program did not use the GPUs for long enough")

    def column(name: str) -> list[int]:
        return [s[name] for s in samples if name in s]

    def median(name: str) -> float | None:
        found = quantiles(_weighted(samples, name))
        return found.median if found is not None else None

    clock, power = median("clock_mhz"), median("power_mw")
    told = [clock_reasons(mask) for mask in column("reasons")]
    names = dict.fromkeys(itertools.chain.from_iterable(told))
    reasons = tuple(ClockReason(name=n, share=sum(n in one for one in told) / len(told)) for n in names)
    return Load(
        seconds=samples[-1]["at"] - samples[0]["at"],
        samples=len(samples),
        clock_sm_mhz=int(clock) if clock is not None else None,
        clock_sm_min_mhz=min(column("clock_mhz"), default=None),
        clock_memory_mhz=None,
        clock_reasons=reasons if told else None,
        power_w=power / 1000 if power is not None else None,
        power_max_w=max(column("power_mw")) / 1000 if column("power_mw") else None,
        energy_j=None,
        temperature_max_c=max(column("celsius"), default=None),
        utilisation_percent=_mean(samples, "busy"),
        pcie_generation=max(column("generation"), default=None),
        pcie_width=max(column("width"), default=None),
    )


def _held(samples: Iterable[Sample]) -> Iterable[tuple[int, int | None]]:
    for one in samples:
        yield from one.get("held", ())


def _named_here(samples: Iterable[Sample], pids: set[int]) -> bool:
    """NVML names processes by the numbers that we know them by: one of them is the program's."""
    return any(pid in pids for pid, _ in _held(samples))


def _numbers_are_ours(samples: list[Sample]) -> bool:
    """NVML names processes, and this is the first namespace of processes (Linux, proc_ns.h, PROC_PID_INIT_INO), whose numbers it has."""
    with contextlib.suppress(OSError):
        return os.stat("/proc/self/ns/pid").st_ino == _FIRST_NAMESPACE and any(True for _ in _held(samples))
    return False


def _is_told(samples: list[Sample]) -> bool:
    """NVML lists this GPU's processes, be there none."""
    return any("held" in one for one in samples)


def _own_memory(samples: list[Sample], pids: set[int] | None) -> int | None:
    """The most at a time; None: NVML names none of the program's processes on any GPU, no process of this one, or not what they hold."""
    if pids is None or not _is_told(samples):
        return None
    if not _named_here(samples, pids):
        return 0
    sizes = [[size for pid, size in one.get("held", ()) if pid in pids and size is not None] for one in samples]
    return max((sum(ones) for ones in sizes if ones), default=None)


def _others(samples: list[Sample], pids: set[int] | None) -> tuple[int, ...] | None:
    if pids is None or not _is_told(samples):
        return None
    return tuple(sorted({pid for pid, _ in _held(samples) if pid not in pids and pid != os.getpid()}))


def _own_sm(samples: list[Sample], pids: set[int] | None) -> float | None:
    """None: this host does not tell it, or by numbers of another namespace."""
    told = [s["sm_of"] for s in samples if "sm_of" in s]
    if pids is None or not told:
        return None
    mine: float = sum(sm for one in told for pid, sm in one.items() if int(pid) in pids)
    return mine / len(told)


# ------------------------------------------------------------------------------- processors and memory


def _processors(part: list[TreeSample]) -> dict[str, Any]:
    names = (
        "cores", "system_share", "workers_cores", "by_thread", "waiting_for_disk_share", "read_bytes_per_s",
    )  # fmt: skip
    span = part[-1].at - part[0].at if part else 0.0
    if len(part) < _FEW or span <= 0:
        return dict.fromkeys(names)
    first, last = part[0], part[-1]
    used = [((b.cpu_s - a.cpu_s) / (b.at - a.at), b.at - a.at) for a, b in itertools.pairwise(part)]
    cpu, system = last.cpu_s - first.cpu_s, last.system_s - first.system_s
    of_thread = {key: value - first.by_thread.get(key, 0.0) for key, value in last.by_thread.items()}
    of_process: dict[int, float] = collections.defaultdict(float)
    for (pid, _, _), value in of_thread.items():
        of_process[pid] += value
    busiest = max(of_process, key=lambda pid: of_process[pid], default=None)
    threads = [
        RunThreads(
            name=name,
            main=main,
            count=max(s.threads.get((pid, name, main), 0) for s in part),
            cores=value / span,
        )
        for (pid, name, main), value in of_thread.items()
        if pid == busiest and (main or value / span >= 0.001)
    ]
    reads = None
    if first.read_bytes is not None and last.read_bytes is not None:
        reads = max(0, last.read_bytes - first.read_bytes) / span
    return dict(
        zip(
            names,
            (
                quantiles(used),
                max(0.0, system / cpu) if cpu > 0 else None,
                sum(value for pid, value in of_process.items() if pid != busiest) / span,
                tuple(sorted(threads, key=lambda t: -t.cores)[:_NAMES]),
                sum(s.waiting for s in part) / len(part),
                reads,
            ),
            strict=True,
        )
    )


def _moments(part: list[tuple[float, int]]) -> tuple[int, ...] | None:
    """Memory at equal distances: of what lies about each moment the median, for a garbage collection may fall on it.
    None: it was asked for too seldom."""
    if len(part) < _FEW:
        return None
    first, last = part[0][0], part[-1][0]
    step = (last - first) / (_MOMENTS - 1)
    moments = []
    for n in range(_MOMENTS):
        near = sorted(part, key=lambda one: abs(one[0] - (first + n * step)))[:3]
        moments.append(sorted(size for _, size in near)[len(near) // 2])
    return tuple(moments)
