"""The PCI bus, through sysfs."""

import os

from .core import answer, list_directory, read_text


def pci() -> None:
    """Every device on the PCI bus: address, vendor, device, class, bound driver."""
    root = "/sys/bus/pci/devices"
    names = list_directory(root)
    if isinstance(names, int):
        answer("pci", {"errno": names})
        return
    devices = []
    for name in names:
        base = os.path.join(root, name)
        device = {"address": name}
        for key in ("vendor", "device", "class"):
            device[key] = read_text(os.path.join(base, key)).get("text", "").strip() or None
        link = os.path.join(base, "driver")
        device["driver"] = os.path.basename(os.path.realpath(link)) if os.path.islink(link) else None
        devices.append(device)
    answer("pci", {"devices": devices})
