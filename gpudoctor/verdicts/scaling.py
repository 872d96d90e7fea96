"""What more GPUs, and mixed precision, make of a training step."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..facts import TRAINING, TRAINING_MIXED, Facts, Measurement, Unread

EXPECTED = 0.9, 0.8
"""Efficiency that users expect of 2 GPUs, and of 4 and more: 1.8 and 3.2 times one (what users ask of convolutional models on one host)."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A training step on `count` GPUs, against the same on the first of them alone."""

    device: str
    """'GPU:0,GPU:1'."""
    count: int
    images_per_s: float
    speed_up: float
    """Times one GPU."""
    efficiency: float
    """speed_up / count."""
    expected: float
    """The least speed_up that users expect; `count` x 0.9 for two, x 0.8 for more, 1 for one."""
    utilisation_percent: tuple[int | None, ...]
    """Of each GPU, the most that NVML said; None: not known."""
    peak_memory_bytes: tuple[int | None, ...]


def scaling(measurements: Sequence[Measurement]) -> tuple[Step, ...]:
    """The training steps on GPUs that have a right result, fewest GPUs first; none where that of one GPU is not known."""
    of = {one.device.count(",") + 1: one for one in measurements if one.kernel == TRAINING and _counts(one)}
    alone = of.get(1)
    return tuple(_step(of[n], n, alone.value) for n in sorted(of)) if alone and isinstance(alone.value, float) else ()


def mixed_gain(measurements: Sequence[Measurement]) -> float | None:
    """How many times faster one GPU trains in mixed_float16 than in float32; None: not measured."""
    both = {one.kernel: one.value for one in measurements if _counts(one) and "," not in one.device}
    half, single = both.get(TRAINING_MIXED), both.get(TRAINING)
    return half / single if isinstance(half, float) and isinstance(single, float) and single else None


def steps_of(facts: Facts) -> tuple[Step, ...]:
    """`scaling` of what was measured on this machine."""
    return scaling(facts.measurements)


def _counts(one: Measurement) -> bool:
    return one.device.startswith("GPU:") and one.verified is True and isinstance(one.value, float) and one.value > 0


def _step(one: Measurement, count: int, alone: float) -> Step:
    assert isinstance(one.value, float)
    each = () if isinstance(one.each, Unread) else one.each
    part = 1.0 if count == 1 else EXPECTED[0] if count == 2 else EXPECTED[1]
    return Step(
        device=one.device,
        count=count,
        images_per_s=one.value,
        speed_up=one.value / alone,
        efficiency=one.value / alone / count,
        expected=part * count,
        utilisation_percent=tuple(
            e.utilisation_percent if isinstance(e.utilisation_percent, int) else None for e in each
        ),
        peak_memory_bytes=tuple(e.peak_memory_bytes if isinstance(e.peak_memory_bytes, int) else None for e in each),
    )
