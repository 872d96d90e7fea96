"""The PCI bus."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread

NVIDIA_VENDOR = 0x10DE
_DISPLAY_CLASS = 0x03


class PciDevice(Fact, frozen=True, kw_only=True):
    """One function on the bus, from /sys/bus/pci/devices."""

    address: str
    vendor: int | Unread = NOT_RECORDED
    device: int | Unread = NOT_RECORDED
    pci_class: int | Unread = NOT_RECORDED
    """24 bits: base class, subclass, programming interface."""
    driver: str | Unread | None = NOT_RECORDED

    @property
    def is_nvidia_gpu(self) -> bool:
        """An NVIDIA display controller (VGA or 3D); its audio and USB functions are not."""
        return (
            self.vendor == NVIDIA_VENDOR and isinstance(self.pci_class, int) and self.pci_class >> 16 == _DISPLAY_CLASS
        )


class Pci(Fact, frozen=True, kw_only=True):
    """All devices on the bus; an unreadable or empty bus is Unread, never 'no devices'."""

    devices: tuple[PciDevice, ...] | Unread = NOT_RECORDED
