"""The machine around the GPUs: its power supply, the PCIe link."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpudoctor.checks import _speed
from gpudoctor.checks._gpus import about, each, gpus, measured_on, title
from gpudoctor.checks._said import lines, said, undecided
from gpudoctor.facts import Facts, GpuDevice, Measurement, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check
from gpudoctor.verdicts import SLOW, Verdict, pcie, under_load

_AT_WORK = 30
"""Percent: an idle link may be slow."""


@check(
    "GD830",
    "pcie-link-degraded",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", *_speed.BETWEEN_GPUS),
)
def pcie_link_degraded(facts: Facts) -> Findings:
    """A GPU's PCIe link is slower under load than GPU and slot allow.

    What it looks at: generation and width of the link while gpudoctor copied over it, and where that was not measured while the GPU
    is at work (utilisation of 30% or more), against the most that NVML gives for GPU and slot together. An idle link may
    be at generation 1: that saves power and is no fault. Half the width is none either, boards share lanes between two
    slots by design: it is a note where the copies are clearly slower than those of sibling GPUs. A link that was seen slower
    than the copy over it was seen at another moment.

    Why it matters: everything that is copied to the GPU or from it is slower by that factor.

    How to fix: seat the card (and riser) again, take the slot with all lanes, set the slot's generation in the firmware.

    Source: nvidia-smi manual, 'GPU Link Info'; NVML API reference, nvmlDeviceGetCurrPcieLinkGeneration.
    """
    settle = "nvidia-smi -q -d PCIE,UTILIZATION  # while the program runs"
    if facts.text.is_all and (told := facts.text.said("link-slow-at-work")):
        yield Found(
            message="A GPU's PCIe link is slow while it works.", proof=lines(told), fixes=(_seat_again(settle),)
        )
        return
    devices = gpus(facts)
    copies = {index: _copies(ones) for index, ones in _speed.by_gpu(facts).items()}
    if not facts.text.is_all and not any(_at_work(d) or copies.get(d.index) for d in devices):
        raise NotApplicable("no GPU was at work when its link was looked at")
    if any(copies.values()):  # the others were hidden from us, or are not CUDA's
        devices = tuple(d for d in devices if _at_work(d) or copies.get(d.index))

    def look(device: GpuDevice) -> Found | None:
        if copied := copies.get(device.index):
            return _while_copying(facts, device, copied, settle)
        if not _at_work(device):
            raise UnknownFactError(Unread(why="the link of an idle GPU tells nothing", settle=settle))
        now, most = known(device.pcie_generation), known(device.pcie_generation_max)
        lanes, all_lanes = known(device.pcie_width), known(device.pcie_width_max)
        if now is None or most is None or lanes is None or all_lanes is None:
            return None
        if now >= most and lanes > all_lanes / 4:
            return None
        return Found(
            message=f"The PCIe link of {title(device)} runs at generation {now} x{lanes}; generation {most} x{all_lanes} is possible.",
            proof=(
                Evidence(
                    text=f"at {device.utilisation_gpu_percent}% utilisation: generation {now} of {most}, width {lanes} of {all_lanes}",
                    source="NVML",
                ),
            ),
            about=about(device),
            fixes=(_seat_again(settle),),
        )

    yield from each(devices, look)
    return _links(copies.values()) or "no GPU that is at work has a slow link"


_Copy = tuple[Measurement, Verdict, tuple[int, int]]


def _copies(ones: Iterable[_speed.Judged]) -> list[_Copy]:
    """Copies over the host's link of one GPU, and the link's generation and width meanwhile, where a copy was possible over it."""
    found: list[_Copy] = []
    for one, verdict in ones:
        link, ways = under_load(one), _WAYS.get(one.kernel)
        bound = pcie(*link) if link is not None else None
        if link is not None and ways is not None and bound is not None and bound.allows(verdict.value / ways):
            found.append((one, verdict, link))
    return found


_WAYS = {"copy-host-to-device": 1, "copy-device-to-host": 1, "copy-both-ways": 2}


def _while_copying(facts: Facts, device: GpuDevice, copied: list[_Copy], settle: str) -> Found | None:
    generation, width = max(link for *_, link in copied)
    most, all_lanes = known(device.pcie_generation_max), known(device.pcie_width_max)
    if most is None or all_lanes is None or (generation >= most and width >= all_lanes):
        return None
    one, verdict, _ = copied[0]
    others = _others(facts, device, one)
    factor = verdict.value / others if others else None
    by_design = generation >= most and width > all_lanes / 4
    if by_design and (factor is None or factor >= SLOW):
        return None
    text = f"{one.kernel}: {verdict.value:.3g} GB/s"
    text += f", the other GPUs of its model {others:.3g} GB/s" if others else f", {verdict.why}"
    slower = f": its copies reach {factor:.2f} of the other GPUs'" if factor else ""
    return Found(
        message=f"The PCIe link of {title(device)} runs at generation {generation} x{width} while it copies; "
        f"generation {most} x{all_lanes} is possible{slower}.",
        proof=(
            Evidence(
                text=f"generation {generation} of {most}, width {width} of {all_lanes}",
                source=f"NVML while {one.kernel} ran on {one.device}",
            ),
            Evidence(text=text, source=f"{one.where_it_ran} {one.kernel} on {one.device}"),
        ),
        about=about(device),
        fixes=(_seat_again(settle),),
        level=Level.INFO if by_design else Level.WARN,
        explains=() if by_design else None,
    )


def _others(facts: Facts, device: GpuDevice, one: Measurement) -> float | None:
    """What the same copy reaches on the other GPUs of this model, whatever their links are at."""
    alike = [
        m.value
        for m in facts.measurements
        if (m.kernel, m.backend, m.size, m.device_name) == (one.kernel, one.backend, one.size, one.device_name)
        and isinstance(m.value, float)
        and m.verified is True
        and measured_on(facts, m) != about(device)
    ]
    import statistics  # which takes long to import

    return statistics.median(alike) if alike else None


def _links(all_of_it: Iterable[list[_Copy]]) -> str:
    """'the links work at generation 5 x16 while they copy'; '' where no link was looked at."""
    told = sorted({max(link for *_, link in copied) for copied in all_of_it if copied})
    seen = " or ".join(f"generation {generation} x{width}" for generation, width in told)
    return f"the links are at {seen} while they copy" if seen else ""


def _seat_again(settle: str) -> Fix:
    return Fix(
        kind="advice",
        risk="needs reboot",
        summary="Switch the machine off and seat the card and its riser again; then look at the slot's settings in the "
        "firmware (generation, bifurcation), or take another slot",
        steps=(),
        verify=settle,
    )


def _at_work(device: GpuDevice) -> bool:
    busy = device.utilisation_gpu_percent
    return isinstance(busy, int) and busy >= _AT_WORK


@check("GD831", "psu-insufficient", stage=Stage.BUS, explains=("gpu-faults", "op-fails"))
def psu_insufficient(facts: Facts) -> Iterator[Found]:
    """The power supply can't deliver what the GPUs take under load.

    What it looks at: in a pasted text, that the machine itself switches off or restarts when the GPU works, together with its
    power supply being named, or that it depends on the load (batch sizes, power) and not on heat. Nothing in a log shows it: the machine is gone before anything is written.

    Why it matters: GPUs take short peaks of twice their rated power; a supply that is too weak, or shares one cable between two
    plugs, switches off.

    How to fix: limit the GPUs' power as a test; if the machine then lives, a stronger supply, and a cable of its own for each
    plug of the card.

    Source: tensorflow/tensorflow issues 740 and 8858.
    """
    settle = "sudo nvidia-smi -pl 150  # or the least that the card takes; if the machine then lives, it is the supply"
    told = said(facts, "machine-resets", settle=settle)
    named = facts.text.said("names-power-supply")
    if not named and not facts.text.said("xid-lost"):
        named = facts.text.said("load-decides")
    if not named and not any("PSU" in e.text or "supply" in e.text for e in told):
        undecided(settle)
    yield Found(
        message="The machine goes down when the GPU works: its power supply does not keep up.",
        proof=lines((*told[:2], *named[:2])),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Limit the GPU's power as a test (nvidia-smi -q -d POWER shows the least), then see to the supply and its cables",
                steps=("sudo nvidia-smi -pl 150",),
                verify="the same training, with the machine still up",
            ),
        ),
    )
