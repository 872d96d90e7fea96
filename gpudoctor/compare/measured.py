"""What was measured on both sides: slower, faster, or within the noise."""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from ..facts import Facts, Measurement
from ..verdicts import judged
from . import noise
from .align import measured_as, on
from .changes import Sides
from .model import Basis, Shift
from .noise import Noise
from .words import amount

_LOWER_IS_BETTER = ("s", "ms", "us", "ns")


class Measured(NamedTuple):
    """The outcome."""

    losses: list[Shift]
    gains: list[Shift]
    alike: int
    """Figures that differ by no more than the noise."""
    once: int
    """Figures that one side only has."""
    gone: int
    """Of these, those of the old side."""


class _Pair(NamedTuple):
    key: str
    new: Measurement
    baselines: list[Measurement]
    old: float
    value: float
    noise: Noise
    where: tuple[str, ...]

    @property
    def worse(self) -> float:
        """By how much of the larger figure it is worse; better where this is negative."""
        return _worse(self.old, self.value, self.new)

    @property
    def verdict(self) -> str:
        """'same' also where a single sample of one run was like the other run."""
        reached = [noise.reach(one) for one in self.baselines]
        low, high = noise.reach(self.new)
        like_before = min(least for least, _ in reached) <= self.value <= max(most for _, most in reached)
        if like_before or low <= self.old <= high:
            return "same"
        return _verdict(self.worse, self.noise.part)


def compared(sides: Sides, basis: Basis, earlier: Sequence[Facts] = ()) -> Measured:
    """Each kernel on each device, and each on all GPUs together. `earlier`: other runs of the old host, which show its noise."""
    old, new = _usable(sides.old, sides, is_old=True), _usable(sides.new, sides, is_old=False)
    more = [_usable(facts, sides, is_old=True) for facts in earlier]
    pairs: list[_Pair] = []
    losses: list[Shift] = []
    for key, (one, value) in new.items():
        runs = [run[key] for run in (old, *more) if key in run and _comparable(run[key][0], one)]
        if not runs:
            continue
        baselines, figures = [m for m, _ in runs], [figure for _, figure in runs]
        usual = noise.of(one, baselines, figures)
        where = on(sides.new, sides.new_gpus, one)
        pairs.append(_Pair(key, one, baselines, statistics.median(figures), value, usual, where))
    compared_keys = {pair.key for pair in pairs}
    failed = _failed(sides, basis, {key: one for run in (old, *more) for key, one in run.items()})
    losses += [shift for _, shift in failed]
    untold = {key for run in (old, new) for key, (one, _) in run.items() if not noise.tells(one)}
    alone = {*old, *new} - compared_keys - untold - {key for key, _ in failed}
    found = [(pair, pair.verdict) for pair in pairs]
    losses += [_shift(pair, sides, basis) for pair, word in found if word == "worse"]
    gains = [_shift(pair, sides, basis) for pair, word in found if word == "better"]
    alike = sum(word == "same" for _, word in found)
    for whole, word in _wholes(pairs, sides, basis):
        (losses if word == "worse" else gains).append(whole)
    return Measured(losses, gains, alike, len(alone), len(alone & {*old}))


def _usable(facts: Facts, sides: Sides, *, is_old: bool) -> dict[str, tuple[Measurement, float]]:
    """What can be compared: it has a figure, its result is not wrong, and it is not above what is possible."""
    impossible = {id(m) for m, verdict in judged(facts) if verdict.verdict == "impossible"}
    gpus = sides.old_gpus if is_old else sides.new_gpus
    return {
        measured_as(facts, gpus, one): (one, one.value)
        for one in facts.measurements
        if isinstance(one.value, float) and one.value > 0 and one.verified is not False and id(one) not in impossible
    }


def _comparable(old: Measurement, new: Measurement) -> bool:
    """The same unit, and the same model of GPU; and a rate that tells something."""
    names = [m.device_name for m in (old, new) if isinstance(m.device_name, str)]
    return noise.tells(new) and old.unit == new.unit and len(set(names)) < 2


def _worse(old: float, new: float, one: Measurement) -> float:
    if _latency(one):
        old, new = new, old
    return 1 - new / old if new < old else -(1 - old / new)


def _latency(one: Measurement) -> bool:
    return one.unit in _LOWER_IS_BETTER


def _verdict(worse: float, limit: float) -> str:
    return "worse" if worse > limit else "better" if -worse > limit else "same"


def _failed(sides: Sides, basis: Basis, old: dict[str, tuple[Measurement, float]]) -> list[tuple[str, Shift]]:
    found = []
    for one in sides.new.measurements:
        key = measured_as(sides.new, sides.new_gpus, one)
        if one.failed is None or (before := _before(key, one, old)) is None:
            continue
        was, value = before
        shift = _made(
            was, on(sides.new, sides.new_gpus, one), sides, value, None, Noise(0.0, "it failed"), _basis(basis, 1)
        )
        found.append((key, msgspec.structs.replace(shift, failed=one.failed)))
    return found


def _before(key: str, one: Measurement, old: dict[str, tuple[Measurement, float]]) -> tuple[Measurement, float] | None:
    """The same before; what fails may not tell its type and size."""
    if key in old:
        return old[key]
    if isinstance(one.size, tuple):
        return None
    begins, ends = f"{one.backend} {one.kernel} ", f" {key.rpartition(' ')[2]}"
    return next((was for name, was in old.items() if name.startswith(begins) and name.endswith(ends)), None)


def _wholes(pairs: Iterable[_Pair], sides: Sides, basis: Basis) -> list[tuple[Shift, str]]:
    """All GPUs together: chance of the samples evens out, what differs from run to run does not."""
    groups: dict[Hashable, list[_Pair]] = {}
    for pair in pairs:
        one = pair.new
        groups.setdefault((one.backend, one.kernel, one.dtype, one.size, one.device.count(",")), []).append(pair)
    found = []
    for ones in groups.values():
        if len(ones) < 2:
            continue
        first = ones[0].new
        lowest = noise.of_all(first.kernel, first.backend, first.device)
        chance = sum(max(0.0, pair.noise.part) for pair in ones if pair.noise.source != lowest.source) / len(ones)
        limit = max(lowest.part, chance / len(ones) ** 0.5)
        word = _verdict(statistics.median(pair.worse for pair in ones), limit)
        every = min(pair.worse * (1 if word == "worse" else -1) for pair in ones) > noise.LEAST
        if word == "same" or not every or any(pair.verdict == word for pair in ones):
            continue  # one of them says so itself
        old, new = (statistics.median(figures) for figures in ([p.old for p in ones], [p.value for p in ones]))
        where = tuple(dict.fromkeys(name for pair in ones for name in pair.where))
        shift = _made(first, where, sides, old, new, Noise(limit, lowest.source), _basis(basis, len(ones[0].baselines)))
        what = f"all {len(ones)} pairs" if first.device.count(",") == 1 else f"all {len(ones)} GPUs"
        found.append((msgspec.structs.replace(shift, where=what, whole=True), word))
    return found


def _shift(pair: _Pair, sides: Sides, basis: Basis) -> Shift:
    runs = len(pair.baselines)
    return _made(pair.new, pair.where, sides, pair.old, pair.value, pair.noise, _basis(basis, runs))


def _basis(basis: Basis, runs: int) -> str:
    name = "baseline" if basis == "baseline" else "the old report"
    return f"{name}: median of {runs} runs" if runs > 1 else name


def _made(
    one: Measurement,
    where: tuple[str, ...],
    sides: Sides,
    old: float,
    new: float | None,
    usual: Noise,
    basis: str,
) -> Shift:
    return Shift(
        kernel=one.kernel,
        backend=one.backend,
        dtype=one.dtype if isinstance(one.dtype, str) else None,
        size=one.size if isinstance(one.size, tuple) else None,
        what=_what(one),
        where=" and ".join(sides.called(name) for name in where),
        unit=one.unit if isinstance(one.unit, str) else "",
        old=old,
        new=new,
        change=None if new is None else new / old - 1,
        noise=usual.part,
        noise_from=usual.source,
        basis=basis,
    )


def _what(one: Measurement) -> str:
    """'matmul-float16 8192', 'copy-pair 256 MiB, TensorFlow'."""
    size = one.size if isinstance(one.size, tuple) and one.size and one.dtype != "none" else ()
    if one.dtype == "bytes" or one.unit in ("GB/s", "us"):
        shown = amount(size[0] * (4 if one.dtype == "float32" else 1)) if size else ""
    else:
        shown = str(size[0]) if len(set(size)) == 1 else "x".join(map(str, size))
    return f"{one.kernel} {shown}".rstrip() + (", TensorFlow" if one.in_tensorflow else "")
