"""How much two runs of one kernel differ on a host on which nothing changed."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import NamedTuple

from ..facts import NATIVE, TENSORFLOW, Measurement

LEAST = 0.03
"""Of a figure: below that no difference counts, however steady it was."""
_MARGIN = 1.5
"""What was seen in a few runs is not the most that there is."""
_MOST = 0.8


class Spread(NamedTuple):
    """What one kernel gave on healthy hosts, run after run."""

    kernel: str
    """A name, or a pattern."""
    backend: str
    least: float
    most: float
    source: str
    shared: bool = False
    """Of what all GPUs of a host share (its memory, its processors): it is less for all of them at a time."""

    @property
    def part(self) -> float:
        """By how much of the larger figure the smaller one is less."""
        return 1 - self.least / self.most


_RUNS = "20 runs on 2x H200 (docs/measuring.md)"
_FOUR = "8 runs on 4x H200 (docs/measuring.md)"
_HOSTS = "runs on one host (tests/hosts: 4x H200, H100)"
_LIKE = "taken from {}, which is alike"

SPREADS: tuple[Spread, ...] = (
    Spread("copy-inside", NATIVE, 2061, 2108, _RUNS),
    Spread("memory-pattern", NATIVE, 4022, 4284, _RUNS),
    Spread("matmul-float32", NATIVE, 45.11, 51.2, _FOUR),
    Spread("matmul-tf32", NATIVE, 346.1, 361.8, _RUNS),
    Spread("matmul-float16", NATIVE, 642.8, 675.7, _RUNS),
    Spread("matmul-bfloat16", NATIVE, 673.5, 705.4, _RUNS),
    Spread("matmul-float8", NATIVE, 1096, 1214, _FOUR),
    Spread("repeat-matmul", NATIVE, 645.8, 686.7, _FOUR),
    Spread("copy-*-pageable", NATIVE, 6.094, 11.25, _RUNS, shared=True),
    Spread("copy-host-to-device*", NATIVE, 53.65, 55.35, _FOUR, shared=True),
    Spread("copy-device-to-host", NATIVE, 52.8, 55.2, _FOUR, shared=True),
    Spread("copy-both-ways", NATIVE, 93.1, 101.1, _FOUR, shared=True),
    Spread("copy-latency", NATIVE, 6.589, 8.519, _RUNS, shared=True),
    Spread("launch-latency", NATIVE, 10.17, 14.07, _FOUR, shared=True),
    Spread("copy-pair-no-peer", NATIVE, 6.094, 11.25, _LIKE.format("copies through the host's memory"), shared=True),
    Spread("copy-pair", NATIVE, 393.1, 395.3, _RUNS),
    Spread("all-reduce-latency", NATIVE, 10.17, 14.07, _LIKE.format("launch-latency")),
    Spread("all-reduce*", NATIVE, 188.4, 199.3, _FOUR),
    Spread("matmul", TENSORFLOW, 50.32, 51.5, _HOSTS),
    Spread("matmul-tf32", TENSORFLOW, 343.6, 356.6, _FOUR),
    Spread("matmul-float16", TENSORFLOW, 642.6, 744.5, _HOSTS),
    Spread("matmul-bfloat16", TENSORFLOW, 678.9, 782.6, _HOSTS),
    Spread("convolution", TENSORFLOW, 17.5, 28.79, _FOUR),
    Spread("fft", TENSORFLOW, 3102, 6448, _FOUR, shared=True),
    Spread("solve", TENSORFLOW, 898.9, 1119, _HOSTS),
    Spread("numpy-to-tensor", TENSORFLOW, 1.849, 2.983, _FOUR, shared=True),
    Spread("host-to-device", TENSORFLOW, 4.75, 6.792, _FOUR, shared=True),
    Spread("device-to-host", TENSORFLOW, 9.53, 12.72, _FOUR, shared=True),
    Spread("dataset*", TENSORFLOW, 1.849, 2.983, _LIKE.format("numpy-to-tensor"), shared=True),
    Spread("all-reduce*", TENSORFLOW, 147.1, 219.6, _HOSTS),
    Spread("training-step*", TENSORFLOW, 4653, 4828, _FOUR),
)
"""The first that fits. A run of which one sample was like the other run is not slower, so these are of the best samples."""
_UNSEEN = 0.15
"""Of kernels whose spread nobody took."""
_TOO_SHORT = frozenset({("xla", TENSORFLOW)})
"""What a GPU does in a third of a millisecond: its rate is the host's, between 1.1 and 7.7 TFLOP/s in 8 runs on 4x H200."""


class Noise(NamedTuple):
    """By how much of the larger figure two may differ and mean nothing; and where that comes from."""

    part: float
    source: str


_PROCESSORS = Noise(_MOST, "the host's processors, which others use, too")
"""Of kernels on TensorFlow's CPU: on one host 0.7 of a figure was lost with nothing but other work beside it."""


def floor(kernel: str, backend: str, device: str = "GPU:0") -> Noise:
    """What a kernel's figures differ by at least, from run to run."""
    if device.startswith("CPU:"):
        return _PROCESSORS
    one = _spread(kernel, backend)
    if one is None:
        return Noise(_UNSEEN, "nobody took the spread of this kernel")
    part = min(_MOST, one.part * _MARGIN)
    return Noise(part, one.source) if part > LEAST else Noise(LEAST, "the least that counts")


def of_all(kernel: str, backend: str, device: str = "GPU:0") -> Noise:
    """The same of the median over all GPUs: a third less, as in the runs above, where each is off by itself."""
    one, seen = floor(kernel, backend, device), _spread(kernel, backend)
    return one if seen is not None and seen.shared else one._replace(part=max(LEAST, one.part * 2 / 3))


def _spread(kernel: str, backend: str) -> Spread | None:
    fits = (one for one in SPREADS if one.backend == backend and fnmatch.fnmatchcase(kernel, one.kernel))
    return next(fits, None)


def tells(one: Measurement) -> bool:
    """Whether a kernel's rate, and not only that it runs, can be compared with another run's."""
    return (one.kernel, one.backend) not in _TOO_SHORT


def within(one: Measurement) -> float:
    """How far the median of its samples may be from what it stands for: half of the range of those that count."""
    several = not isinstance(one.samples, tuple) or len(one.samples) > 1
    return max(0.0, one.spread) / 2 if isinstance(one.spread, float) and several else 0.0


def reach(one: Measurement) -> tuple[float, float]:
    """The least and the most that its samples make likely in another run."""
    value = one.value if isinstance(one.value, float) else 0.0
    samples = one.samples if isinstance(one.samples, tuple) and one.samples else (value,)
    low, high = min(samples), max(samples)
    if not low <= value <= high:
        low = high = value
    part = floor(one.kernel, one.backend, one.device).part
    return low * (1 - part), high / (1 - part)


def between(figures: Sequence[float]) -> float:
    """By how much several baselines differ themselves."""
    return 1 - min(figures) / max(figures) if len(figures) > 1 and max(figures) > 0 else 0.0


def of(new: Measurement, baselines: Sequence[Measurement], figures: Sequence[float]) -> Noise:
    """The noise between a measurement and what earlier runs gave: the most that any of these tells."""
    seen = floor(new.kernel, new.backend, new.device)
    samples = within(new) + sum(map(within, baselines)) / len(baselines)
    several = between(figures)
    most = max(seen.part, samples, several)
    if most == seen.part:
        return seen
    source = "the samples of both runs" if most == samples else f"the {len(figures)} runs of the baseline"
    return Noise(min(_MOST, most), source)
