"""The PCI bus, through sysfs."""

import os
import re
from typing import Any, Dict, List, Optional

from .core import answer, list_directory, read_text

_ADDRESS = re.compile(r"^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
_PLAIN = (
    "driver_override",
    "enable",
    "numa_node",
    "local_cpulist",
    "power_state",
    "resource",
    "aer_dev_fatal",
    "aer_dev_nonfatal",
    "aer_dev_correctable",
)
_OF_THE_LINK = ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
"""The kernel asks the device for these: not those that are powered off."""


def pci(root: str = "") -> None:
    """Every device on the bus; the ones that matter to GPUs with all that sysfs tells of them.

    A host may have 500 devices: of most of them one small file is read.
    """
    bus = root + "/sys/bus/pci/devices"
    names = list_directory(bus)
    if isinstance(names, int):
        answer("pci", {"errno": names})
        return
    devices = {}
    for name in names:
        base = os.path.join(bus, name)
        place = _pci_place(base)
        devices[name] = _pci_identity(base, name)
        devices[name]["parent"] = place[-2] if len(place) > 1 else None
        devices[name]["above"] = place[:-1]
    rich = set()
    for name, device in devices.items():
        if _pci_matters(device):
            rich.update([name] + [a for a in device["above"] if a in devices])
    for name in sorted(rich):
        devices[name]["rich"] = _pci_rich(root, os.path.join(bus, name), devices[name])
    for device in devices.values():
        del device["above"]
    answer("pci", {"devices": [devices[name] for name in names]})


def _pci_place(base: str) -> List[str]:
    """The addresses on the way from the root bus to a device, its own the last."""
    try:
        path = os.readlink(base)
    except OSError:
        path = os.path.realpath(base)
    return [p for p in path.split("/") if _ADDRESS.match(p)]


def _pci_identity(base: str, name: str) -> Dict[str, Any]:
    """Address, vendor, device, class, bound driver: one file where it can be read, four otherwise."""
    device = {"address": name}  # type: Dict[str, Any]
    told = dict(line.split("=", 1) for line in read_text(base + "/uevent").get("text", "").splitlines() if "=" in line)
    if "PCI_ID" in told and "PCI_CLASS" in told:
        device["vendor"], device["device"] = told["PCI_ID"].split(":")
        device["class"] = told["PCI_CLASS"]
        device["driver"] = told.get("DRIVER")
        return device
    for key in ("vendor", "device", "class"):
        device[key] = read_text(os.path.join(base, key)).get("text", "").strip() or None
    device["driver"] = _pci_link(os.path.join(base, "driver"))
    return device


def _pci_link(path: str) -> Optional[str]:
    """The last part of what a link points to; None: there is no such link."""
    try:
        return os.path.basename(os.readlink(path))
    except OSError:
        return None


def _pci_matters(device: Dict[str, Any]) -> bool:
    """NVIDIA's, displays, accelerators, and network and InfiniBand adapters."""
    try:
        base_class, subclass = int(device["class"], 16) >> 16, (int(device["class"], 16) >> 8) & 0xFF
        vendor = int(device["vendor"], 16)
    except (TypeError, ValueError):
        return False
    return vendor == 0x10DE or base_class in (0x02, 0x03, 0x12) or (base_class, subclass) == (0x0C, 0x06)


def _pci_rich(root: str, base: str, device: Dict[str, Any]) -> Dict[str, Any]:
    rich = {key: read_text(os.path.join(base, key), 1 << 16) for key in _PLAIN}  # type: Dict[str, Any]
    for key in ("subsystem_vendor", "subsystem_device"):
        rich[key] = read_text(os.path.join(base, key), 64)
    off = rich["power_state"].get("text", "").strip() == "D3cold"
    for key in _OF_THE_LINK:
        rich[key] = {"off": True} if off else read_text(os.path.join(base, key), 64)
    rich["resizable"] = {}
    names = list_directory(base)
    for name in names if isinstance(names, list) else ():
        match = re.match(r"^resource(\d)_resize$", name)
        if match:
            rich["resizable"][match.group(1)] = {"off": True} if off else read_text(os.path.join(base, name), 64)
    rich["physfn"] = _pci_link(os.path.join(base, "physfn"))
    rich["iommu_group"] = _pci_link(os.path.join(base, "iommu_group"))
    if rich["iommu_group"] is not None:
        rich["iommu_type"] = read_text("%s/sys/kernel/iommu_groups/%s/type" % (root, rich["iommu_group"]), 64)
    if (device.get("class") or "").lower().replace("0x", "").zfill(6).startswith("0604"):
        rich["acs"] = {"off": True} if off else _pci_acs(os.path.join(base, "config"))
    return rich


def _pci_acs(path: str) -> Dict[str, Any]:
    """The ACS registers in a device's configuration space, of which root alone sees more than 64 bytes."""
    try:
        with open(path, "rb") as f:
            config = f.read(4096)
    except OSError as e:
        return {"errno": e.errno}
    if len(config) <= 256:
        return {"short": len(config)} if len(config) < 256 else {"none": True}
    at, steps = 0x100, 0
    while 0x100 <= at <= len(config) - 8 and steps < 256:
        head = int.from_bytes(config[at : at + 4], "little")
        if head in (0, 0xFFFFFFFF):
            break
        if head & 0xFFFF == 0x000D:
            registers = config[at + 4 : at + 8]
            return {
                "capability": int.from_bytes(registers[:2], "little"),
                "control": int.from_bytes(registers[2:], "little"),
            }
        at, steps = head >> 20, steps + 1
    return {"none": True}
