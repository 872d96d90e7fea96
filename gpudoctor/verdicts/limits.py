"""Each kernel's own physical limit, from the attributes of the device that it ran on. One that can't be told is a text: why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .. import compat
from ..facts import CudaDevice, Facts, GpuDevice, Load, Measurement, Unread
from .places import Place, pair, places

_PINNED, _BOTH_WAYS, _INSIDE, _PAIR, _RING = 0.8, 0.7, 0.75, 0.75, 0.55
"""The least parts of their limits that healthy machines reach. Measured: 0.88, 0.78 (PCIe 5.0), 0.87 (HBM3e), 0.83 (NVLink through a
switch), 0.59 to 0.76 (all-reduces from 128 MiB on, 2 to 8 GPUs)."""
MARGIN = 1.02
"""Above a limit by more than this a measurement is wrong: clocks and events have their errors, too."""


class Limit(NamedTuple):
    """What a kernel can't exceed, in the unit of its measurement."""

    value: float
    words: str
    """'PCIe 5.0 x16, 63 GB/s'."""
    ceiling: float | None = None
    """Where more than `value` is possible: what can't be exceeded then."""
    usual: float | None = None
    """The least part of `value` that healthy machines were seen to reach; None: it depends on more than this."""

    def allows(self, rate: float) -> bool:
        """Whether `rate` is possible."""
        return rate <= (self.ceiling or self.value) * MARGIN


class Work(NamedTuple):
    """A measurement with a value, and where it was taken."""

    facts: Facts
    of: Measurement
    at: tuple[Place, ...]
    rate: float


def limit(facts: Facts, of: Measurement, rate: float) -> Limit | str:
    """The limit of a measurement whose value is `rate`; where there is none, why."""
    at = places(facts, of)
    if any(not place.name.startswith("GPU:") for place in at):
        return "it ran on the processor"
    function = _LIMITS.get(of.kernel)
    return function(Work(facts, of, at, rate)) if function else "no limit of this kernel is known"


# ----------------------------------------------------------------------------- what a fact says


def _number(*values: float | Unread | None) -> float | None:
    """The largest of those that are known and not zero."""
    return max((v for v in values if not isinstance(v, Unread) and v), default=None)


def _load(work: Work) -> Load | None:
    return work.of.load if isinstance(work.of.load, Load) else None


def _capability(place: Place) -> tuple[int, int] | None:
    for device in (place.cuda, place.nvml):
        if device is not None and not isinstance(device.compute_capability, Unread):
            return device.compute_capability
    return None


def _attributes(work: Work) -> compat.GpuAttributes:
    """Of the first device. The clock is the highest that anything tells: a limit that is too low would be a wrong one."""
    place = work.at[0]
    cuda, nvml, load, capability = place.cuda or CudaDevice(index=0), place.nvml, _load(work), _capability(place)
    clocks: list[float | Unread | None] = [nvml.clock_sm_max_mhz if nvml else None, load.clock_sm_mhz if load else None]
    memory: list[float | Unread | None] = [nvml.clock_memory_max_mhz if nvml else None]
    clocks += [cuda.clock_khz / 1e3] if isinstance(cuda.clock_khz, int) else []
    memory += [cuda.memory_clock_khz / 1e3] if isinstance(cuda.memory_clock_khz, int) else []
    return compat.GpuAttributes(
        name=cuda.name if isinstance(cuda.name, str) else None,
        compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
        multiprocessors=None if isinstance(cuda.multiprocessors, Unread) else cuda.multiprocessors,
        clock_mhz=_number(*clocks),
        memory_clock_mhz=_number(*memory),
        memory_width_bits=None if isinstance(cuda.memory_bus_bits, Unread) else cuda.memory_bus_bits or None,
    )


# ----------------------------------------------------------------------------- arithmetic

_HOPPER = ("NVIDIA H200", "NVIDIA H100 80GB HBM3")
_USUAL_ON_HOPPER = {"fp32": 0.74, "tf32": 0.62, "fp16": 0.6, "fp8": 0.54}
"""Measured on H200 and H100 (SXM): the least part of the limit of several days and hosts, square matrices of 8192. The power limit
holds tensor cores below their highest clock; other products have other power limits."""


def _arithmetic(kind: str) -> Callable[[Work], Limit | str]:
    def of(work: Work) -> Limit | str:
        attributes = _attributes(work)
        peaks = compat.ceilings(attributes)
        by_kind = {
            "fp32": peaks.fp32_tflops,
            "tf32": peaks.tf32_tflops,
            "fp16": peaks.fp16_tflops,
            "fp8": peaks.fp8_tflops,
        }
        peak = by_kind[kind]
        if peak is None or not peak.certain:
            capability = attributes.compute_capability
            if capability and attributes.multiprocessors and attributes.clock_mhz:
                return f"the rate of compute capability {capability} in {kind.upper()} is not known for certain"
            return "the device's multiprocessors, clock or compute capability are not known"
        words = (
            f"{attributes.multiprocessors} multiprocessors at {attributes.clock_mhz:g} MHz, {peak.value:.4g} TFLOP/s"
        )
        return Limit(
            peak.value,
            f"{words} in {kind.upper()}",
            usual=_USUAL_ON_HOPPER[kind] if work.of.device_name in _HOPPER else None,
        )

    return of


_KIND_OF_DTYPE = {"float32": "fp32", "tf32": "tf32", "float16": "fp16", "bfloat16": "fp16", "float8": "fp8"}


def _by_dtype(work: Work) -> Limit | str:
    kind = _KIND_OF_DTYPE.get(work.of.dtype) if isinstance(work.of.dtype, str) else None
    found = _arithmetic(kind)(work) if kind else "no limit of this arithmetic is known"
    return found if isinstance(found, str) else found._replace(usual=None)


# ----------------------------------------------------------------------------- the device's memory

_CACHED = 4
"""A copy of less than this many times the cache may be served by it in part."""


def _memory(uses: int, usual: float | None) -> Callable[[Work], Limit | str]:
    """`uses`: how often a byte that is counted goes over the memory's bus."""

    def of(work: Work) -> Limit | str:
        cuda, size = work.at[0].cuda, work.of.size
        cache = _number(cuda.l2_bytes) if cuda else None
        if cache is None or isinstance(size, Unread) or not size:
            return "the size of the device's cache, or of the copy, is not known"
        if size[0] < _CACHED * cache:
            return f"{size[0] >> 20} MiB may lie in the device's cache of {int(cache) >> 20} MiB"
        attributes = _attributes(work)
        peak = compat.ceilings(attributes).memory_gb_per_s
        if peak is None:
            return "the clock or the width of the device's memory is not known"
        bus = f"memory {attributes.memory_width_bits} bit at 2 x {attributes.memory_clock_mhz:g} MHz, {peak.value:.4g} GB/s"
        twice = ", read and written" if uses == 2 else ""
        return Limit(peak.value / uses, bus + twice, usual=usual)

    return of


# ----------------------------------------------------------------------------- links to the host

GB_PER_S_A_LANE = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
"""PCIe, one direction, after its encoding (8b/10b, 128b/130b, from 6.0 on the flits): PCI Express Base Specification."""
_C2C_GB_PER_S, _C2C = 450.0, ((9, 0), (10, 0), (10, 3))
"""NVLink-C2C of Grace Hopper and Grace Blackwell, one direction: NVIDIA Grace Hopper Superchip white paper (900 GB/s in all)."""


def pcie(generation: int, width: int) -> Limit | None:
    """A PCIe link, one direction; None: no such generation is known."""
    lane = GB_PER_S_A_LANE.get(generation)
    return Limit(lane * width, f"PCIe {generation}.0 x{width}, {lane * width:.3g} GB/s") if lane and width else None


def under_load(work: Measurement) -> tuple[int, int] | None:
    """Generation and width of the PCIe link while the kernel ran; None: nobody looked."""
    load = work.load
    if not isinstance(load, Load) or not isinstance(load.pcie_generation, int) or not isinstance(load.pcie_width, int):
        return None
    return (load.pcie_generation, load.pcie_width) if load.pcie_generation and load.pcie_width else None


def _at_most(device: GpuDevice) -> Limit | None:
    generation, width = device.pcie_generation_max, device.pcie_width_max
    return pcie(generation, width) if isinstance(generation, int) and isinstance(width, int) else None


def _host_link(facts: Facts, place: Place) -> Limit | str:
    """The best that the link between a GPU and the host may be, one direction."""
    if place.cuda is not None and place.cuda.integrated is True:
        return "this GPU shares the host's memory"
    if place.nvml is None:
        return "which GPU of NVML's it is, and so its link, is not known"
    if place.nvml.c2c is True:
        if _capability(place) not in _C2C:
            return "the rate of this chip-to-chip link is not known"
        return Limit(_C2C_GB_PER_S, f"NVLink-C2C, {_C2C_GB_PER_S:g} GB/s a direction")
    if isinstance(place.nvml.c2c, Unread) and facts.system.machine != "x86_64":
        return "whether it is linked to the processor chip to chip is not known"
    return _at_most(place.nvml) or "NVML does not tell the PCIe link"


def _to_host(usual: float | None, ways: int = 1) -> Callable[[Work], Limit | str]:
    def of(work: Work) -> Limit | str:
        best = _host_link(work.facts, work.at[0])
        if isinstance(best, str):
            return best
        is_pcie = best.words.startswith("PCIe")
        seen = under_load(work.of) if is_pcie else None
        now = (pcie(*seen) if seen else None) or best
        if not now.allows(work.rate / ways):
            now = best  # the link was seen at another moment
        words = f"{now.words} a direction" if ways > 1 and is_pcie else now.words
        return Limit(now.value * ways, words, usual=usual if is_pcie else None)

    return of


# ----------------------------------------------------------------------------- links between GPUs


def nvlink(device: GpuDevice) -> tuple[float, str] | None:
    """GB/s of all its active NVLinks, one direction, and in words; 0 where none is active. None: not known."""
    if isinstance(device.nvlinks, Unread):
        return None
    active = [link.speed_mb_per_s for link in device.nvlinks or () if link.active]
    speeds = [speed for speed in active if isinstance(speed, int)]
    if len(speeds) < len(active):
        return None
    rate = sum(speeds) / 1e3
    return rate, f"{len(speeds)} NVLinks, {rate:.4g} GB/s a direction"


def _slowest(limits: Sequence[Limit | str]) -> Limit | str:
    for one in limits:
        if isinstance(one, str):
            return one
    return min((one for one in limits if not isinstance(one, str)), key=lambda one: one.value)


def _over_nvlink(work: Work) -> Limit | str | None:
    """Between the two GPUs of a copy; None: no NVLink leads from one to the other. All links of a GPU count: through a switch
    they do; between modules it is fewer, and which is not told."""
    first, second = (place.nvml for place in work.at)
    if first is None or second is None:
        return "which GPUs of NVML's they are, and so their links, is not known"
    between = pair(work.facts, first, second)
    if between is not None and isinstance(between.nvlink, str) and between.nvlink != "ok":
        return None
    rates = [nvlink(first), nvlink(second)]
    if None in rates:
        return "NVML does not tell the speed of the NVLinks"
    rate, words = min(r for r in rates if r is not None)
    return Limit(rate, words, usual=_PAIR if _switched(first) and _switched(second) else None) if rate else None


def _pair(work: Work) -> Limit | str:
    if len(work.at) != 2:
        return "it is no copy between two GPUs"
    linked = _over_nvlink(work)
    return linked if linked is not None else _slowest([_host_link(work.facts, place) for place in work.at])


def _staged_pair(work: Work) -> Limit | str:
    """Through the host; where the driver did not go there after all, NVLink's limit."""
    through_host = _slowest([_host_link(work.facts, place) for place in work.at])
    if isinstance(through_host, str) or through_host.allows(work.rate) or len(work.at) != 2:
        return through_host
    linked = _over_nvlink(work)
    return through_host if linked is None else linked


def _collective(*, in_switches: bool) -> Callable[[Work], Limit | str]:
    """Of a ring the slowest GPU's links. With `in_switches` those of NVLink may add up themselves (NVLS): then nearly twice is possible."""

    def limit(work: Work) -> Limit | str:
        ring = _ring(work)
        if isinstance(ring, str) or "NVLinks" not in ring.words:
            return ring
        transport, switch = work.of.transport, all(_switched(place.nvml) for place in work.at)
        may = in_switches if isinstance(transport, Unread) else any("NVLS" in way for way in transport)
        large = isinstance(work.of.size, tuple) and work.of.size[0] * 4 >= 128 << 20
        return ring._replace(
            ceiling=2 * ring.value if switch and may else None,
            usual=_RING if switch and large and not work.of.in_tensorflow else None,
        )

    return limit


def _ring(work: Work) -> Limit | str:
    each: list[Limit | str] = []
    for place in work.at:
        linked = nvlink(place.nvml) if place.nvml is not None else None
        if place.nvml is not None and linked is None:
            each.append("NVML does not tell the speed of the NVLinks")
        elif linked is not None and linked[0]:
            each.append(Limit(*linked))
        else:
            each.append(_host_link(work.facts, place))
    return _slowest(each)


def _switched(device: GpuDevice | None) -> bool:
    links = device.nvlinks if device is not None else None
    return not isinstance(links, Unread) and any(link.remote == "switch" for link in links or () if link.active)


# ----------------------------------------------------------------------------- all of them


def _latency(_: Work) -> Limit | str:
    return "a latency has no physical limit that attributes tell"


def _inside_the_host(_: Work) -> Limit | str:
    return "it is TensorFlow's own copy in the host's memory"


_LIMITS: dict[str, Callable[[Work], Limit | str]] = {
    "matmul": _arithmetic("fp32"),
    "matmul-float32": _arithmetic("fp32"),
    "matmul-tf32": _arithmetic("tf32"),
    "matmul-float16": _arithmetic("fp16"),
    "matmul-bfloat16": _arithmetic("fp16"),
    "matmul-float8": _arithmetic("fp8"),
    "repeat-matmul": _by_dtype,
    "memory-pattern": _memory(1, None),
    "copy-inside": _memory(2, _INSIDE),
    "copy-host-to-device": _to_host(_PINNED),
    "copy-device-to-host": _to_host(_PINNED),
    "copy-both-ways": _to_host(_BOTH_WAYS, ways=2),
    "copy-host-to-device-far": _to_host(None),
    "copy-host-to-device-pageable": _to_host(None),
    "copy-device-to-host-pageable": _to_host(None),
    "host-to-device": _to_host(None),
    "device-to-host": _to_host(None),
    "numpy-to-tensor": _inside_the_host,
    "dataset": _inside_the_host,
    "dataset-to-device": _to_host(None),
    "dataset-to-device-prefetch": _to_host(None),
    "copy-pair": _pair,
    "copy-pair-no-peer": _staged_pair,
    "all-reduce": _collective(in_switches=True),
    "all-reduce-nccl": _collective(in_switches=True),
    "all-reduce-hierarchical": _collective(in_switches=False),  # copies in turn, and no NCCL
    "all-reduce-pair": _collective(in_switches=True),
    "copy-latency": _latency,
    "launch-latency": _latency,
    "all-reduce-latency": _latency,
}
"""By the kernel's name, natively or in TensorFlow."""
