"""The machine around the GPUs: its power supply, the PCIe link."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._gpus import about, each, gpus, title
from gpudoctor.checks._said import lines, said, undecided
from gpudoctor.facts import Facts, GpuDevice, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_AT_WORK = 30
"""Percent: an idle link may be slow."""


@check("GD830", "pcie-link-degraded", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def pcie_link_degraded(facts: Facts) -> Findings:
    """A GPU's PCIe link is slower under load than GPU and slot allow.

    What it looks at: generation and width of the link against the most that NVML gives for GPU and slot together, of a GPU
    that is at work (utilisation of 30% or more). An idle link may be at generation 1: that saves power and is no
    fault. Half the width is no finding: boards share lanes between two slots by design.

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
    if not facts.text.is_all and not any(_at_work(d) for d in devices):
        raise NotApplicable("no GPU was at work when its link was looked at")

    def look(device: GpuDevice) -> Found | None:
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
    return "no GPU that is at work has a slow link"


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
    power supply being named. Nothing in a log shows it: the machine is gone before anything is written.

    Why it matters: GPUs take short peaks of twice their rated power; a supply that is too weak, or shares one cable between two
    plugs, switches off.

    How to fix: limit the GPUs' power as a test; if the machine then lives, a stronger supply, and a cable of its own for each
    plug of the card.

    Source: tensorflow/tensorflow issues 740 and 8858.
    """
    settle = "sudo nvidia-smi -pl 150  # or the least that the card takes; if the machine then lives, it is the supply"
    told = said(facts, "machine-resets", settle=settle)
    if not (named := facts.text.said("names-power-supply")) and not any(
        "PSU" in e.text or "supply" in e.text for e in told
    ):
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
