"""The PCI bus through sysfs."""

from __future__ import annotations

from typing import Any

from ..facts import Pci, PciDevice, Unread
from .ask import Answers, Task, reason

TASK: Task = ("pci.pci", {})
SETTLE = "lspci -d 10de:"


def read(answers: Answers) -> Pci:
    """Every device; a bus that can't be read or shows nothing is unread."""
    got: dict[str, Any] | None = answers.last("pci")
    if got is None:
        return Pci(devices=answers.unread(TASK[0], SETTLE))
    if "errno" in got:
        return Pci(devices=Unread(why=f"/sys/bus/pci/devices: {reason(got['errno'])}", settle=SETTLE))
    if not got["devices"]:
        return Pci(devices=Unread(why="/sys/bus/pci/devices is empty", settle=SETTLE))
    return Pci(devices=tuple(_device(d) for d in got["devices"]))


def _device(raw: dict[str, Any]) -> PciDevice:
    return PciDevice(
        address=raw["address"],
        vendor=_number(raw, "vendor"),
        device=_number(raw, "device"),
        pci_class=_number(raw, "class"),
        driver=raw["driver"],
    )


def _number(raw: dict[str, Any], key: str) -> int | Unread:
    try:
        return int(raw[key], 16)
    except (TypeError, ValueError):
        return Unread(why=f"/sys/bus/pci/devices/{raw['address']}/{key} can't be read", settle=SETTLE)
