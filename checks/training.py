"""What a program does that runs under `gpudoctor run`: its GPUs' unequal work, its memory on the host."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from gpudoctor.checks import _run
from gpudoctor.checks._gpus import gib
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import Facts, RunGpu, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_LESS, _POINTS = 0.6, 20.0


@check("GD847", "gpu-work-unequal", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def gpu_work_unequal(facts: Facts) -> Findings:
    """The GPUs of one program do unequal work.

    What it looks at: a run under gpudoctor run: of the GPUs that the program used, the share of the time in which each had a kernel
    running, or, where the GPU counts it, of its multiprocessors at work: a GPU that waits for the others in a collective
    operation has a kernel running, and few multiprocessors. One does less than 0.6 of another. A GPU that does nothing is
    single-gpu-silently's subject.

    Why it matters: a step takes as long as the GPU with the most work; what the others could do is lost.

    How to fix: batches of equal size for each replica (a global batch that their number divides, drop_remainder=True); no extra work
    (evaluation, augmentation, the embedding) on GPU 0 alone; no other program on one of them.

    Source: NVML, nvmlDeviceGetUtilizationRates; GPM, NVML_GPM_METRIC_SM_UTIL; TensorFlow guide, 'Distributed training'.
    """
    gpus = _run.working(_run.of(facts))
    if len(gpus) < 2:
        raise NotApplicable("the program worked on one GPU")
    figures, what = [g.sm_percent for g in gpus], "multiprocessors at work"
    if not all(isinstance(f, float) for f in figures):
        figures, what = [_run.percent(g) for g in gpus], "of the time at work"
    told = {g.index: f for g, f in zip(gpus, figures, strict=True) if isinstance(f, float)}
    least, most = min(told, key=lambda i: told[i]), max(told, key=lambda i: told[i])
    shown = ", ".join(f"GPU {i}: {f:.0f}%" for i, f in told.items())
    if told[least] >= _LESS * told[most] or told[most] - told[least] < _POINTS:
        return f"{several(len(gpus), 'GPU')} work alike: {shown}" if len(gpus) < 5 else "the GPUs work alike"
    yield Found(
        message=f"GPU {least} does {told[least] / told[most]:.0%} of the work of GPU {most}.",
        proof=(Evidence(text=f"{what}: {shown}", source="NVML, while the program ran"), *_others(gpus)),
        about=_run.about(gpus),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Give every replica the same batch: a global batch that num_replicas_in_sync divides, batch(…, "
                "drop_remainder=True); leave nothing extra to one GPU; see that no other program is on it",
                steps=(),
                verify="gpudoctor run -- python train.py",
            ),
        ),
    )


def _others(gpus: tuple[RunGpu, ...]) -> tuple[Evidence, ...]:
    shared = [g for g in gpus if isinstance(g.others, tuple) and g.others]
    return tuple(
        Evidence(
            text=f"GPU {g.index}: {several(len(g.others) if isinstance(g.others, tuple) else 0, 'other process')} on it",
            source="NVML, while the program ran",
        )
        for g in shared
    )


_GROWTH, _OF_A_STEP = 256 << 20, 0.25
_SHORTEST_S, _BEFORE_IT = 8.0, 2
"""Of the eight parts, those at the beginning in which a program may still trace and tune."""


@check("GD930", "host-memory-leak", stage=Stage.USE, level=Level.WARN, explains=("runs-slowly",))
def host_memory_leak(facts: Facts) -> Findings:
    """The program takes more and more memory of the host.

    What it looks at: a run under gpudoctor run: the memory of its processes that they share with nobody, at nine moments of its steady
    part: it grew by 256 MiB and a tenth or more, and in every eighth of the time (the first two may be left out) by at least a quarter
    of what it grew in the others.
    What grows only at the beginning (a shuffle buffer, dataset.cache()) does not fit that, unless its filling lasts as long as the run;
    of a run that was interrupted it is a note. In a pasted text: that memory grows, beside a program that was killed,
    or that the host's grows with every epoch or step.

    Why it matters: in hours the kernel kills the training, and before that the host swaps.

    How to fix: keep numbers of results and not tensors (float(loss), no list of outputs, no operations added to a graph in
    a loop, one tf.function outside of it); tf.keras.backend.clear_session() between models.

    Source: proc(5), /proc/PID/statm; TensorFlow guide, 'Better performance with tf.function'.
    """
    if facts.text.is_all:
        told = said(facts, "memory-grows", "memory-grows-by-step", settle="gpudoctor run -- python train.py")
        killed = facts.text.said("killed", "killed-said")
        by_step = facts.text.said("memory-grows-by-step") and facts.text.said("hosts-memory-named")
        if not killed and (not by_step or facts.text.shows_a_failure):
            raise left_open("gpudoctor run -- python train.py")
        yield Found(
            message="The program takes more and more memory of the host" + (", until it is killed." if killed else "."),
            proof=lines((*(by_step or told)[:1], *killed[:1])),
            fixes=(_KEEP_LESS,),
        )
        return None
    run = _run.of(facts)
    moments, seconds = known(run.memory_bytes), known(run.steady_s)
    if not moments or seconds is None or seconds < _SHORTEST_S:
        raise NotApplicable(f"the program worked for less than {_SHORTEST_S:.0f} s")
    rate = next((rate for begin in range(_BEFORE_IT + 1) if (rate := _growing(moments[begin:]))), 0.0)
    if not rate:
        return f"the program's memory on the host went from {gib(moments[0])} to {gib(moments[-1])}"
    rate *= (len(moments) - 1) / seconds
    left = known(run.memory_total_bytes) - moments[-1]
    interrupted = run.interrupted is True
    yield Found(
        message=f"The program's memory on the host grows by {rate / (1 << 20):.0f} MiB/s: in {_hours(left / rate)} it would fill this host."
        + (" It was interrupted: a cache that was still being filled looks the same." if interrupted else ""),
        proof=(
            Evidence(text=" → ".join(gib(m) for m in moments), source=f"/proc, in {seconds:.0f} s of its steady part"),
        ),
        level=Level.INFO if interrupted else Level.WARN,
        fixes=(_KEEP_LESS,),
    )
    return None


_KEEP_LESS = Fix(
    kind="advice",
    risk="safe",
    summary="Keep no tensors, datasets or models from step to step: float(loss) instead of loss, no growing lists of outputs, "
    "one tf.function outside of the loop, clear_session() between models. dataset.cache() without a file keeps the whole "
    "dataset in memory",
    steps=(),
    verify="gpudoctor run -- python train.py",
)


def _growing(moments: Sequence[int]) -> float:
    """Bytes from one moment to the next, where it grows all the time; else 0."""
    growth, steps = moments[-1] - moments[0], [b - a for a, b in itertools.pairwise(moments)]
    if growth < _GROWTH or growth < moments[0] / 10 or min(steps) < _OF_A_STEP * growth / len(steps):
        return 0.0
    return growth / len(steps)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.1f} hours" if seconds >= 5400 else f"{seconds / 60:.0f} minutes"
