"""The all-reduce that was measured natively, beside copies between the same GPUs: what the links of this machine can do."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from ..facts import ALL_REDUCE, Facts, GpuDevice, Measurement, Unread
from . import Verdict, judged
from .places import pair, places

_LARGE_BYTES = 64 << 20
"""Smaller ones are held up by their launches."""
_SLOW, _SLOW_WHEN_SHARED, _SUFFERS = 1 / 3, 1 / 6, 1 / 2
"""Of the slowest copy between two of the GPUs. Measured on healthy machines: 0.72 to 0.93 (NVLink, 2 to 8 GPUs). Over
PCIe 0.5 to 0.9 is usual, and less where more than two GPUs share the way through the host."""


class AllReduce(NamedTuple):
    """The best of the large all-reduces over all GPUs, and the slowest copy between two of these."""

    of: Measurement
    rate: float
    """busbw in GB/s."""
    verdict: Verdict
    copies: Measurement | None
    """None: no copy between two of the GPUs that reach each other was measured."""
    copy_rate: float | None
    """In GB/s."""
    linked: bool
    """NVLink leads from each of the GPUs to each other, by NVML."""

    @property
    def ways(self) -> tuple[str, ...]:
        """NCCL's transports: ('SHM/direct/direct',); nothing where its log does not tell."""
        return () if isinstance(self.of.transport, Unread) else self.of.transport

    @property
    def is_direct(self) -> bool:
        """The log tells the ways, and each leads from GPU to GPU."""
        return bool(self.ways) and all(way.startswith(("P2P", "NVLS")) for way in self.ways)

    @property
    def is_slow(self) -> bool:
        """So far below the copies that something is wrong."""
        alone = self.linked or self.of.device.count(",") == 1
        return self._below(_SLOW if alone else _SLOW_WHEN_SHARED)

    @property
    def suffers(self) -> bool:
        """Less than is usual: no fault by itself, but something that is known to slow it down does."""
        return self._below(_SUFFERS) or self.verdict.verdict in ("low", "info")

    def _below(self, part: float) -> bool:
        return self.copy_rate is not None and self.rate < part * self.copy_rate

    def in_words(self) -> str:
        """'all-reduce reaches 26.3 GB/s through SHM/direct/direct, 15 times slower than copies between the same GPUs (395 GB/s)'."""
        through = f" through {', '.join(self.ways)}" if self.ways else ""
        words = f"all-reduce reaches {self.rate:.3g} GB/s{through}"
        if self.verdict.kind == "limit" and self.verdict.expected is not None:
            words += (
                f" where {self.verdict.basis.removeprefix('limit: ').split(',')[0]} allow {self.verdict.expected:.3g}"
            )
        if self.copy_rate is not None and self.copy_rate > self.rate:
            words += f", {times(self.copy_rate / self.rate)} slower than copies between the same GPUs ({self.copy_rate:.3g} GB/s)"
        return words


def times(factor: float) -> str:
    """'15 times', '1.4 times'."""
    return f"{factor:.0f} times" if factor >= 10 else f"{factor:.1f} times"


def all_reduce(facts: Facts) -> AllReduce | None:
    """What was measured natively; None: no all-reduce that is large enough, or only wrong ones."""
    native = [(m, v) for m, v in judged(facts) if not m.in_tensorflow and m.verified is True]
    large = [
        (m, v)
        for m, v in native
        if m.kernel == ALL_REDUCE
        and isinstance(m.size, tuple)
        and m.size[0] * 4 >= _LARGE_BYTES
        and v.verdict != "impossible"
    ]
    if not large:
        return None
    one, verdict = max(large, key=lambda mv: mv[1].value)
    members = set(one.device.split(","))
    between = [(m, v.value) for m, v in native if m.kernel == "copy-pair" and set(m.device.split(",")) <= members]
    copies, rate = min(between, key=lambda mr: mr[1], default=(None, None))
    return AllReduce(one, verdict.value, verdict, copies, rate, _linked(facts, one))


def _linked(facts: Facts, one: Measurement) -> bool:
    devices = [place.nvml for place in places(facts, one)]
    known: list[GpuDevice] = [d for d in devices if d is not None]
    if len(known) < len(devices):
        return False
    links = [pair(facts, a, b) for a, b in combinations(known, 2)]
    return all(link is not None and link.nvlink == "ok" for link in links)
