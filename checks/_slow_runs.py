"""What a run under `gpudoctor run` tells of the causes in slow_training.py, each with its fix."""

from __future__ import annotations

from gpudoctor.checks import _run
from gpudoctor.checks._gpus import gib
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, Quantiles, RunGpu, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable
from gpudoctor.patterns import Pattern

_HALF_OF_IT, _ONE, _NEARLY_ALL, _TURNS = 0.5, 1.2, 0.85, 0.8
_SATURATED, _UNHURRIED, _WAITS_A_LITTLE = 0.8, 0.6, 0.15
"""Processors: of one thread that prepares input without a pause (it hops among those of a pool), and at most of those that start
operations, when they are not what holds the GPU up. Of the time: what such a GPU waits at least."""


def starved(facts: Facts, fix: Fix, settle: str) -> Findings:
    """cpu-starved-input."""
    run = _run.of(facts)
    waiting = _run.waiting(run)
    usable = run.cores_usable if isinstance(run.cores_usable, int) else 0
    all_of_them = usable > 0 and waiting.input_cores + waiting.main_cores >= _NEARLY_ALL * usable
    without_pause = all_of_them or _SATURATED <= waiting.input_cores <= _ONE
    at_its_limit = without_pause and waiting.main_cores + waiting.launching_cores <= _UNHURRIED
    if waiting.share < (_WAITS_A_LITTLE if at_its_limit else _run.WAITS):
        return f"the GPUs are at work in {1 - waiting.share:.0%} of the time"
    disk = known(run.waiting_for_disk_share) or 0.0
    at_it = waiting.input_cores >= _HALF_OF_IT * waiting.blocked
    shown = waiting.blocked >= _HALF_OF_IT * waiting.share and (at_it or disk >= _HALF_OF_IT * waiting.blocked)
    if not shown and not at_its_limit:
        raise UnknownFactError(
            Unread(why="what the GPUs wait for can't be told from outside the program", settle=settle)
        )
    if not at_it:
        how = "Threads wait for a disk or a network file system meanwhile."
    elif all_of_them:
        how = f"All {usable} processors that it may use are at work on it."
    elif waiting.share <= _TURNS and waiting.input_cores + 1 - waiting.share <= _ONE:
        how = "Input and GPU take turns: nothing is prepared while the GPU computes."
    elif waiting.input_cores <= _ONE:
        how = "One thread prepares all of it."
    else:
        how = f"{waiting.input_cores:.1f} processors prepare it."
    waited = f"{waiting.blocked:.0%} to {waiting.share:.0%}" if shown else f"up to {waiting.share:.0%}"
    reads = f"threads waited for a disk in {disk:.0%} of the samples; {(known(run.read_bytes_per_s) or 0) / 1e6:.0f} MB/s read from disks"
    yield Found(
        message=f"The GPU waits for the input pipeline in {waited} of the time. {how}",
        proof=(*waiting.proof(run), Evidence(text=reads, source="/proc, while the program ran")),
        about=_run.about(waiting.gpus),
        fixes=(fix,),
    )
    return None


_FP32_BUSY, _TENSOR_IDLE = 20.0, 0.5
"""Percent of the units' time."""


def tensor_cores(facts: Facts, fix: Fix) -> Findings:
    """tensor-cores-idle."""
    gpus = _run.working(_run.of(facts))
    told = [(g, g.tensor_percent, g.fp32_percent) for g in gpus]
    read = [(g, t, f) for g, t, f in told if isinstance(t, float) and isinstance(f, float)]
    if not read:
        raise NotApplicable("no GPU here counts the work of its tensor cores (NVML's GPM, from Hopper on)")
    idle = [(g, t, f) for g, t, f in read if t < _TENSOR_IDLE and f >= _FP32_BUSY]
    if not idle:
        return f"tensor cores at work in {max(t for _, t, _ in read):.1f}% of the time"
    shown = "; ".join(f"GPU {g.index}: float32 units {f:.0f}%, tensor cores {t:.1f}%" for g, t, f in idle)
    yield Found(
        message="The GPU computes in float32 units, and its tensor cores have nothing to do.",
        proof=(Evidence(text=shown, source="NVML, GPM, while the program ran"),),
        about=_run.about(tuple(g for g, _, _ in idle)),
        fixes=(fix,),
    )
    return None


_PAGEABLE_GB_PER_S, SOME_GB_PER_S = 7.0, 0.8
"""What the driver copies from pageable memory at most on a host of 2024; more than a step needs that does not wait for its data."""
_OF_THE_WAIT = 0.3
_WINDOWS = 8


def copied_in(waiting: _run.Waiting, settle: str) -> list[tuple[RunGpu, Quantiles]]:
    """The GPUs that tell what is copied to them, and how much. Raises UnknownFactError where none does."""
    told = [(g, rate) for g in waiting.gpus if isinstance(rate := g.copied_in_gb_per_s, Quantiles)]
    if not told:
        raise UnknownFactError(Unread(why="this GPU does not tell what comes over the bus", settle=settle))
    return told


def copies(facts: Facts, fix: Fix, settle: str) -> Findings:
    """h2d-pageable."""
    run = _run.of(facts)
    waiting = _run.waiting(run)
    if waiting.share < _run.WAITS:
        return f"the GPUs are at work in {1 - waiting.share:.0%} of the time"
    told = copied_in(waiting, settle)
    gpu, rate = max(told, key=lambda one: one[1].mean)
    copying = rate.mean / _PAGEABLE_GB_PER_S
    if gpu.copies_counted is not True and isinstance(gpu.copying_share, float) and rate.mean * _WINDOWS > 1:
        copying = max(copying, gpu.copying_share)
    by_hand = (
        rate.mean >= SOME_GB_PER_S and waiting.main_cores >= _OF_THE_WAIT and waiting.main_cores > waiting.input_cores
    )
    if copying < _OF_THE_WAIT * waiting.share and not by_hand:
        return f"{rate.mean:.2f} GB/s come over the bus: not what the GPUs wait for"
    yield Found(
        message=f"The GPU waits in {waiting.share:.0%} of the time, and {rate.mean:.1f} GB/s are copied to it, most of that time: "
        "its data come step by step from the host's ordinary memory.",
        proof=(
            *waiting.proof(run),
            Evidence(
                text="; ".join(
                    f"GPU {g.index}: {r.mean:.2f} GB/s to it, at most {r.most:.2f}{_link(g)}" for g, r in told
                ),
                source="NVML, GPM"
                if gpu.copies_counted is True
                else "NVML, nvmlDeviceGetPcieThroughput, windows of 20 ms",
            ),
        ),
        about=_run.about(waiting.gpus),
        fixes=(fix,),
    )
    return None


def _link(gpu: RunGpu) -> str:
    load = gpu.load
    if isinstance(load, Unread) or not isinstance(load.pcie_generation, int) or not isinstance(load.pcie_width, int):
        return ""
    return f", over a link of generation {load.pcie_generation} x{load.pcie_width}"


_GPU = Pattern(r"GPU:\d{1,3}")


def one_works(facts: Facts, fix: Fix) -> Findings:
    """single-gpu-silently."""
    run = _run.of(facts)
    held = _run.used(run)
    if len(held) < 2:
        return f"the program used {several(len(held), 'GPU')} of {len(known(run.gpus))}"
    busy = [g for g in held if (_run.percent(g) or 0.0) >= _run.AT_WORK]
    idle = [g for g in held if (p := _run.percent(g)) is not None and p <= _run.IDLE]
    if len(busy) != 1 or len(idle) != len(held) - 1:
        return f"of {len(held)} GPUs that the program held, {len(busy)} were at work"
    strategy = facts.text.said("strategy-devices")
    several_named = any(len(set(_GPU.findall(e.text))) > 1 for e in strategy)
    yield Found(
        message=f"The program holds memory on {len(held)} GPUs, and only GPU {busy[0].index} is at work."
        + (
            " Its distribution strategy has them all: the model was made outside of its scope." if several_named else ""
        ),
        proof=(
            _run.at_work(held),
            Evidence(
                text="; ".join(f"GPU {g.index}: {gib(h)} held" for g in held if isinstance(h := g.held_bytes(), int)),
                source="NVML, while the program ran",
            ),
            *lines(strategy[:1]),
        ),
        about=_run.about(held),
        fixes=(fix,),
    )
    return None
