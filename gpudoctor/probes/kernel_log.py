"""Lines of the kernel's log as typed events."""

from __future__ import annotations

import re
from typing import Any

from ..facts import KernelEvent, Unread
from .ask import Answers, Task, reason

TASK: Task = ("kernel_log.kernel_log", {})

_ADDRESS = r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?"
_XID = re.compile(rf"NVRM: Xid \((?:PCI:)?({_ADDRESS})\): (\d+)", re.IGNORECASE)
_ANY_ADDRESS = re.compile(rf"(?<![\w:.])({_ADDRESS})(?![\w:])", re.IGNORECASE)
_KINDS = (
    ("rminit-failed", re.compile(r"NVRM:.*\b(RmInitAdapter|rm_init_adapter\b.*) failed|NVRM:.*not supported by open")),
    ("nvrm", re.compile(r"NVRM: ")),
    ("module-rejected", re.compile(r"[Ll]oading of .{3,60} is rejected|unsigned module loading is restricted")),
    ("oom-kill", re.compile(r"[Oo]ut of memory: Kill|oom-kill:|invoked oom-killer")),
    ("iommu-fault", re.compile(r"DMAR: .*(fault|Present bit)|IO_PAGE_FAULT|arm-smmu.*(fault|event)", re.IGNORECASE)),
    ("resumed", re.compile(r"PM: .*(suspend|hibernation) exit")),
    ("uvm-loaded", re.compile(r"nvidia-uvm: Loaded the UVM driver")),
    ("aer", re.compile(r"\bAER: .*(error|aer_status)|PCIe Bus Error", re.IGNORECASE)),
)
_NO_FAULT = re.compile(r"DMAR: (IOMMU enabled|Host address width|DRHD base|RMRR base|ATSR)|AER: enabled")
_TEXT = 300


def read(answers: Answers) -> tuple[KernelEvent, ...] | Unread:
    """The events, oldest first; what is none of the kinds is left out."""
    got: dict[str, Any] | None = answers.last("kernel_log")
    if got is None:
        return answers.unread(TASK[0], "sudo dmesg")
    if "errno" in got:
        return Unread(why=f"the kernel's log: {reason(got['errno'])}", settle="sudo dmesg | grep -iE 'nvrm|xid'")
    events = (_event(seconds, text) for seconds, text in got["lines"])
    return tuple(e for e in events if e is not None)


def _event(seconds: float | None, text: str) -> KernelEvent | None:
    text = text[:_TEXT]
    if match := _XID.search(text):
        return KernelEvent(
            kind="xid", text=text, xid=int(match.group(2)), pci_address=_whole(match.group(1)), seconds=seconds
        )
    if _NO_FAULT.search(text):
        return None
    kind = next((name for name, form in _KINDS if form.search(text)), None)
    if kind is None:
        return None
    address = _ANY_ADDRESS.search(text)
    return KernelEvent(kind=kind, text=text, pci_address=_whole(address.group(1)) if address else None, seconds=seconds)


def _whole(address: str) -> str:
    """'0000:3b:00.0' for '3b:00.0' and '0000:3b:00'."""
    address = address.lower()
    address = address if address.count(":") == 2 else f"0000:{address}"
    return address if "." in address else f"{address}.0"
