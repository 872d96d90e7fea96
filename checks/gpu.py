"""The state of each GPU: lost, memory errors, held back by heat or power."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._gpus import about, each, gpus, title
from gpudoctor.checks._kernel_log import logged
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import lines, speaks_of_speed
from gpudoctor.facts import Facts, GpuDevice, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, Stage
from gpudoctor.registry import check

LOST, NEEDS_RESET = 15, 16
_FELL_OFF_BUS, _MEMORY, _REPAIR = (79,), (48, 64, 94, 95, 140, 171, 172), (63, 64)
"""Xids that tell the same in the kernel's log."""
_UNUSABLE = (
    "tf-lists-no-gpu", "fewer-gpus", "cuinit-no-device", "cuinit-fails", "cuinit-no-answer", "op-fails", "gpu-faults",
    "nvidia-smi-fails", "collective-fails",
)  # fmt: skip
_AFTER_A_LOSS = (
    "xid119-gsp-timeout", "xid-hardware-fault", "xid13-31-43-app-or-gpu-fault", "gpu-needs-reset", "pcie-link-degraded", "psu-insufficient",
)  # fmt: skip
"""What a text may hold beside a GPU that is lost, and what the loss brings about."""


def _answer(facts: Facts, code: int) -> Iterator[tuple[GpuDevice, Evidence]]:
    """The GPUs about which NVML answers this code."""
    devices = gpus(facts)
    hit = [d for d in devices if d.nvml_error == code]
    for device in devices if not hit else ():
        known(device.nvml_error)
    for device in hit:
        text = device.nvml_error_text if isinstance(device.nvml_error_text, str) else "an error"
        yield device, Evidence(text=f"NVML answers {code} ({text}) about GPU {device.index}", source="NVML")


def _reset(device: GpuDevice) -> Fix:
    return Fix(
        kind="command",
        risk="needs root",
        summary="End every program that uses the GPU and reset it; where it can't be reset alone, reboot",
        steps=(f"sudo nvidia-smi --gpu-reset -i {device.index}",),
        verify=f"nvidia-smi -q -i {device.index}",
    )


@check("GD113", "xid79-fell-off-bus", stage=Stage.BUS, explains=_UNUSABLE)
def fell_off_bus(facts: Facts) -> Findings:
    """A GPU has fallen off the bus.

    What it looks at: NVML's answer about each GPU; 15 is 'GPU is lost'. The driver writes the same to the
    kernel log as Xid 79.

    Why it matters: the driver can't reach the GPU any more. Programs that used it hang or fail, and often no
    program can start CUDA on any GPU of the machine.

    How to fix: reboot. If it comes back, the cause is power (cables, supply, a limit too high), heat, a
    badly seated card or riser, or the card itself.

    Source: NVML API reference, NVML_ERROR_GPU_IS_LOST; NVIDIA XID Errors, 79.
    """
    if lost := _lost_in_text(facts):
        yield Found(
            message="A GPU has fallen off the bus: the driver does not reach it any more.",
            proof=lines(lost),
            fixes=(_reboot(),),
            explains=(*_UNUSABLE, *_AFTER_A_LOSS),
        )
        return
    for device, evidence in _answer(facts, LOST):
        yield Found(
            message=f"The driver has lost {title(device)}: it does not answer on the PCI bus any more.",
            proof=(evidence, *logged(facts, device.pci_address, _FELL_OFF_BUS)),
            about=about(device),
            fixes=(_reboot(),),
        )
    return f"NVML counts {several(len(gpus(facts)), 'GPU')} and reports none as lost"


def _lost_in_text(facts: Facts) -> tuple[TextEvent, ...]:
    """What a pasted text says of a GPU that is lost: in words, or by time-outs of the bus and a GPU that can't be asked."""
    if not facts.text.is_all:
        return ()
    told = facts.text.said("xid-lost", "gpu-lost")
    unknown, bus = facts.text.said("device-handle-unknown"), facts.text.said("aer-fatal", "aer-corrected")
    return told or ((*unknown[:2], *bus[:2]) if unknown and bus else ())


def _reboot() -> Fix:
    return Fix(
        kind="command",
        risk="needs reboot",
        summary="Look at what the kernel says of it, then reboot (better: switch the machine off and on)",
        steps=("sudo dmesg | grep -iE 'xid|fallen off'", "sudo reboot"),
        verify="nvidia-smi",
    )


@check("GD130", "gpu-needs-reset", stage=Stage.BUS, explains=_UNUSABLE)
def needs_reset(facts: Facts) -> Findings:
    """A GPU does not work again before it is reset.

    What it looks at: NVML's answer about each GPU; 16 is 'GPU requires reset'. The driver's advice
    ('recovery action') alone is no finding: it may be given on a GPU that works.

    Why it matters: after some errors the driver takes a GPU out of use until it is reset.

    How to fix: end what uses it and reset it, or reboot.

    Source: NVML API reference, NVML_ERROR_RESET_REQUIRED.
    """
    for device, evidence in _answer(facts, NEEDS_RESET):
        yield Found(
            message=f"{title(device)} is out of use until it is reset.",
            proof=(evidence,),
            about=about(device),
            fixes=(_reset(device),),
        )
    return f"NVML counts {several(len(gpus(facts)), 'GPU')}, and none waits for a reset"


@check(
    "GD802",
    "ecc-uncorrectable-error",
    stage=Stage.USE,
    explains=("op-fails", "gpu-wrong-result", "gpu-memory-repair-pending"),
)
def ecc_uncorrectable(facts: Facts) -> Findings:
    """A GPU's memory had errors that could not be corrected.

    What it looks at: NVML's count of uncorrected ECC errors since the driver was loaded (volatile), and
    whether the GPU failed to replace a broken row of its memory. Errors of former days (aggregate) that were
    repaired are no finding, and neither are corrected ones. GPUs without ECC have no count.

    Why it matters: the program that read the data was ended (Xid 48, 94, 95), or its numbers are wrong.

    How to fix: reset the GPU, which puts the repair into effect. If errors come back, or if a row could not be
    replaced, have the card replaced.

    Source: NVML API reference, nvmlDeviceGetTotalEccErrors, nvmlDeviceGetRemappedRows; NVIDIA GPU Memory Error
    Management.
    """

    if facts.text.is_all and (told := facts.text.said("xid-memory")):
        yield Found(
            message="A GPU's memory had an error that could not be corrected.",
            proof=lines(told),
            fixes=(_reset_any(), _replace()),
            explains=(*_UNUSABLE, *_AFTER_A_LOSS, "gpu-memory-repair-pending"),
        )
        return

    def look(device: GpuDevice) -> Found | None:
        errors, failed = device.ecc_volatile_uncorrected, device.row_remap_failure
        if failed is True:
            text = "a row of its memory is broken and could not be replaced: the card must be"
        elif isinstance(errors, int) and errors:
            text = f"{errors} memory error(s) since the driver was loaded could not be corrected"
        else:
            known(errors)
            known(failed)
            return None
        counts = f"uncorrected, volatile: {_shown(errors)}, aggregate: {_shown(device.ecc_aggregate_uncorrected)}"
        return Found(
            message=f"{title(device)}: {text}.",
            proof=(
                Evidence(text=counts, source="NVML, nvmlDeviceGetTotalEccErrors"),
                Evidence(
                    text=f"rows replaced after uncorrectable errors: {_shown(device.rows_remapped_uncorrectable)}, "
                    f"pending: {_shown(device.row_remap_pending)}, failed: {_shown(failed)}",
                    source="NVML, nvmlDeviceGetRemappedRows",
                ),
                *logged(facts, device.pci_address, _MEMORY),
            ),
            about=about(device),
            fixes=(_replace(),) if failed is True else (_reset(device), _replace()),
        )

    yield from each(gpus(facts), look)
    return _no_errors(facts)


def _no_errors(facts: Facts) -> str:
    devices = gpus(facts)
    if not any(isinstance(d.ecc_volatile_uncorrected, int) for d in devices):
        return f"{several(len(devices), 'GPU')} without ECC: no errors are counted"
    return f"{several(len(devices), 'GPU')}: no uncorrected error since the driver was loaded"


def _shown(value: int | bool | Unread | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "unknown" if isinstance(value, Unread) else "none told" if value is None else str(value)


def _reset_any() -> Fix:
    return Fix(
        kind="command",
        risk="needs root",
        summary="See which GPU it is, end every program that uses it and reset it; where it can't be reset alone, reboot",
        steps=("nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT", "sudo nvidia-smi --gpu-reset"),
        verify="nvidia-smi -q -d ECC",
    )


def _replace() -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="Have the card replaced if errors come back after a reset (nvidia-bug-report.sh collects what the "
        "vendor asks for)",
        steps=(),
        verify="nvidia-smi -q -d ECC,ROW_REMAPPER",
    )


@check("GD811", "gpu-memory-repair-pending", stage=Stage.USE, level=Level.WARN)
def memory_repair_pending(facts: Facts) -> Findings:
    """A GPU waits for a reset to replace bad memory.

    What it looks at: NVML's pending row remapping (Ampere and newer) and pending page retirement (before
    Ampere). It is a warning of its own and no failure: the driver has set the bad memory aside, programs run
    and their numbers are right, and corrected errors alone can bring it about.

    Why it matters: the memory has had errors, and its repair takes effect with the next reset only.

    How to fix: reset the GPU when nothing runs on it, or reboot.

    Source: NVML API reference, nvmlDeviceGetRemappedRows, nvmlDeviceGetRetiredPagesPendingStatus; NVIDIA GPU
    Memory Error Management, Error Recovery and Response Flags.
    """

    def look(device: GpuDevice) -> Found | None:
        rows, pages = device.row_remap_pending, device.retired_pages_pending
        if rows is not True and pages is not True:
            known(rows)
            known(pages)
            return None
        what = "a row of its memory" if rows is True else "pages of its memory"
        function = "nvmlDeviceGetRemappedRows" if rows is True else "nvmlDeviceGetRetiredPagesPendingStatus"
        return Found(
            message=f"{title(device)} waits for a reset to replace {what}.",
            proof=(
                Evidence(text="pending: yes", source=f"NVML, {function}"),
                *logged(facts, device.pci_address, _REPAIR),
            ),
            about=about(device),
            fixes=(_reset(device),),
        )

    yield from each(gpus(facts), look)
    return f"no memory of {several(len(gpus(facts)), 'GPU')} waits to be replaced"


def _held_back(facts: Facts, reasons: tuple[str, ...]) -> Iterator[tuple[GpuDevice, tuple[str, ...]]]:
    """The GPUs whose clocks are held down for one of `reasons` now, with those that apply."""
    devices = gpus(facts)
    hit: list[tuple[GpuDevice, tuple[str, ...]]] = []
    unread: Unread | None = None
    for device in devices:
        now = device.clock_event_reasons
        if isinstance(now, Unread):
            unread = unread or now
        elif active := tuple(r for r in now or () if r in reasons):
            hit.append((device, active))
    if unread is not None and not hit:
        raise UnknownFactError(unread)
    yield from hit


def _clocks(device: GpuDevice, active: tuple[str, ...]) -> Evidence:
    now, top = device.clock_sm_mhz, device.clock_sm_max_mhz
    speed = f"; SM clock {now} of {top} MHz" if isinstance(now, int) and isinstance(top, int) else ""
    return Evidence(text=", ".join(active) + speed, source="NVML, nvmlDeviceGetCurrentClocksEventReasons")


@check("GD804", "gpu-throttling-thermal", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def throttling_thermal(facts: Facts) -> Findings:
    """A GPU runs slower because it is too hot.

    What it looks at: the reasons that NVML gives for lower clocks: hardware or software thermal slowdown.
    The software's power cap is no finding: it is normal under load.

    Why it matters: the clocks fall to as little as half until it is cooler, and a job on several GPUs waits for
    the slowest.

    How to fix: see to the cooling: fans, air flow, dust, room temperature, the pump where it is liquid-cooled.

    Source: NVML API reference, nvmlClocksEventReasons.
    """
    speaks_of_speed(facts)
    for device, active in _held_back(facts, ("hw-thermal-slowdown", "sw-thermal-slowdown")):
        degrees, limit = device.temperature_c, device.temperature_slowdown_c
        at = f" at {degrees} °C" if isinstance(degrees, int) else ""
        heat = f"{degrees} °C" if isinstance(degrees, int) else "temperature unknown"
        bound = f", slowdown from {limit} °C" if isinstance(limit, int) else ""
        yield Found(
            message=f"{title(device)} is slowed down by heat{at}.",
            proof=(_clocks(device, active), Evidence(text=heat + bound, source="NVML, nvmlDeviceGetTemperature")),
            about=about(device),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="See to the cooling of this GPU: fans, air flow, dust, room temperature",
                    steps=(),
                    verify=f"nvidia-smi -q -d TEMPERATURE,PERFORMANCE -i {device.index}",
                ),
            ),
        )
    return _temperatures(facts)


def _temperatures(facts: Facts) -> str:
    degrees = [d.temperature_c for d in gpus(facts) if isinstance(d.temperature_c, int)]
    return "no clock is held down by heat" + (f"; the warmest GPU has {max(degrees)} °C" if degrees else "")


@check("GD805", "gpu-throttling-power", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def throttling_power(facts: Facts) -> Findings:
    """A GPU is slowed down because its power supply says so.

    What it looks at: the reason 'hardware power brake' that NVML gives for lower clocks: a signal from outside
    the GPU. The software's power cap is no finding: under load a GPU runs at its power limit.

    Why it matters: the clocks fall to half or less while the signal stands.

    How to fix: see to the power: the supply's load and redundancy, the cables to the card, a power limit that the
    chassis sets.

    Source: NVML API reference, nvmlClocksEventReasonHwPowerBrakeSlowdown.
    """
    speaks_of_speed(facts)
    if facts.text.is_all and (told := facts.text.said("power-cap-slows")):
        yield Found(
            message="A GPU's clocks are held down by its power limit.", proof=lines(told), fixes=(_see_to_power(),)
        )
        return
    for device, active in _held_back(facts, ("hw-power-brake",)):
        draw, limit = device.power_draw_w, device.power_limit_w
        power = f"{draw:.0f} W" if isinstance(draw, float) else "power draw unknown"
        bound = f" of {limit:.0f} W" if isinstance(limit, float) else ""
        yield Found(
            message=f"The power supply holds {title(device)} down (power brake).",
            proof=(_clocks(device, active), Evidence(text=power + bound, source="NVML, nvmlDeviceGetPowerUsage")),
            about=about(device),
            fixes=(_see_to_power(f" -i {device.index}"),),
        )
    return "no power brake holds a clock down"


def _see_to_power(which: str = "") -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="See to the power of this machine: are all supplies on, are the card's cables seated, "
        "does the chassis or its management controller limit it?",
        steps=(),
        verify=f"nvidia-smi -q -d POWER,PERFORMANCE{which}",
    )
