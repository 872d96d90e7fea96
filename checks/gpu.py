"""The state of each GPU: lost, memory errors, held back by heat or power."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._gpus import about, each, gpus, title
from gpudoctor.checks._kernel_log import logged
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, GpuDevice, TextEvent, Unread, known
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
    worked = facts.text.said("lost-at-work")
    return told or ((*unknown[:2], *bus[:2], *worked) if unknown and (bus or worked) else ())


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
