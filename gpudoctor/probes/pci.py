"""The PCI bus through sysfs."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable
from typing import Any, TypeVar

from ..facts import Pci, PciAcs, PciBar, PciDevice, Unread
from .ask import Answers, Task, reason

T = TypeVar("T")

TASK: Task = ("pci.pci", {})
SETTLE = "lspci -d 10de:"
_ALL = "sudo lspci -vvv"
_MOST_LANES = 32


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
    more = _rich(raw, raw["rich"]) if "rich" in raw else {}
    return PciDevice(
        address=raw["address"],
        vendor=_number(raw, "vendor"),
        device=_number(raw, "device"),
        pci_class=_number(raw, "class"),
        driver=raw["driver"],
        **more,
    )


def _number(raw: dict[str, Any], key: str) -> int | Unread:
    try:
        return int(raw[key], 16)
    except (TypeError, ValueError):
        return Unread(why=f"/sys/bus/pci/devices/{raw['address']}/{key} can't be read", settle=SETTLE)


def _rich(raw: dict[str, Any], got: dict[str, Any]) -> dict[str, Any]:
    """The fields of a device that matters, each by itself: sysfs may be hidden in part."""
    place = f"/sys/bus/pci/devices/{raw['address']}"

    def value(key: str, made: Callable[[str], T]) -> T | Unread | None:
        return _value(got[key], f"{place}/{key}", made)

    return {
        "parent": raw["parent"],
        "subsystem_vendor": value("subsystem_vendor", _hexadecimal),
        "subsystem_device": value("subsystem_device", _hexadecimal),
        "driver_override": value("driver_override", lambda t: None if t in ("", "(null)") else t),
        "enabled": value("enable", lambda t: int(t) > 0),
        "numa_node": value("numa_node", lambda t: int(t) if int(t) >= 0 else None),
        "local_cpus": value("local_cpulist", str),
        "power_state": value("power_state", str),
        "link_speed_gt_per_s": value("current_link_speed", _speed),
        "link_width": value("current_link_width", _width),
        "max_link_speed_gt_per_s": value("max_link_speed", _speed),
        "max_link_width": value("max_link_width", _width),
        "bars": value("resource", lambda text: _bars(text, got["resizable"], place)),
        "physical_function": got["physfn"],
        "iommu_group": int(got["iommu_group"]) if got["iommu_group"] is not None else None,
        "iommu_type": value("iommu_type", str) if "iommu_type" in got else None,
        "acs": _acs(got["acs"], place) if "acs" in got else None,
        "aer_fatal": value("aer_dev_fatal", _total),
        "aer_nonfatal": value("aer_dev_nonfatal", _total),
        "aer_correctable": value("aer_dev_correctable", _total),
    }


def _value(got: dict[str, Any], path: str, made: Callable[[str], T]) -> T | Unread | None:
    """What `made` makes of a file's text; None where there is no such file."""
    if got.get("off"):
        return Unread(why="the device is powered off (D3cold)")
    if got.get("errno") == errno.ENOENT:
        return None
    if "text" not in got:
        return Unread(why=f"{path}: {reason(got['errno'])}", settle=_ALL)
    text = got["text"].strip()
    try:
        return made(text)
    except ValueError:
        return Unread(why=f"{path} holds {text[:40]!r}", settle=_ALL)


def _hexadecimal(text: str) -> int:
    return int(text, 16)


def _speed(text: str) -> float:
    """32.0 of '32.0 GT/s PCIe'; 'Unknown' is no number."""
    return float(text.split(" ")[0])


def _width(text: str) -> int:
    """A device that does not answer shows 63 or 255 lanes."""
    if not 0 < int(text) <= _MOST_LANES:
        raise ValueError(text)
    return int(text)


def _total(text: str) -> int:
    match = re.search(r"^TOTAL_ERR_\w+ (\d+)$", text, re.MULTILINE)
    if match is None:
        raise ValueError(text)
    return int(match.group(1))


def _bars(text: str, resizable: dict[str, Any], place: str) -> tuple[PciBar, ...]:
    """The first six lines of `resource`: start, end, flags of each base address register."""
    bars = []
    for index, line in enumerate(text.splitlines()[:6]):
        start, end, _ = (int(word, 16) for word in line.split())
        if end <= start:
            continue
        name = f"resource{index}_resize"
        offered = resizable.get(str(index), {"errno": errno.ENOENT})
        possible = _value(offered, f"{place}/{name}", _sizes)
        bars.append(PciBar(index=index, size_bytes=end - start + 1, possible_bytes=possible))
    return tuple(bars)


def _sizes(text: str) -> tuple[int, ...]:
    """Bit n stands for 2^n MiB."""
    mask = int(text, 16)
    return tuple(1 << (20 + bit) for bit in range(mask.bit_length()) if mask >> bit & 1)


def _acs(got: dict[str, Any], place: str) -> PciAcs | Unread | None:
    if got.get("none"):
        return None
    if got.get("off"):
        return Unread(why="the device is powered off (D3cold)")
    if "short" in got:
        return Unread(why=f"this user sees {got['short']} bytes of {place}/config", settle=_ALL)
    if "errno" in got:
        return Unread(why=f"{place}/config: {reason(got['errno'])}", settle=_ALL)
    return PciAcs(capability=got["capability"], control=got["control"])
