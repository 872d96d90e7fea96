"""The PCI bus."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread

NVIDIA_VENDOR = 0x10DE
AMD_VENDOR = 0x1002
_DISPLAY_CLASS, _ACCELERATOR_CLASS = 0x03, 0x12

ACS_REDIRECTS = 0x04 | 0x08 | 0x10
"""Bits of the ACS control register that send traffic between peers up to the root complex: P2P request redirect,
P2P completion redirect, upstream forwarding (PCI_ACS_RR, _CR, _UF of Linux's pci_regs.h)."""


class PciBar(Fact, frozen=True, kw_only=True):
    """A base address register in use: a window of the device's memory."""

    index: int
    size_bytes: int
    possible_bytes: tuple[int, ...] | Unread | None = NOT_RECORDED
    """Sizes that it could be given (resizable BAR); None: the kernel offers none."""


class PciAcs(Fact, frozen=True, kw_only=True):
    """Access Control Services of a bridge: the registers of extended capability 0x0D."""

    capability: int
    control: int

    @property
    def redirects(self) -> bool:
        """Traffic between two devices below is sent up to the root complex."""
        return bool(self.control & ACS_REDIRECTS)


class PciDevice(Fact, frozen=True, kw_only=True):
    """One function on the bus, from /sys/bus/pci/devices.

    From `parent` on, fields are read for GPUs, other devices of NVIDIA, network adapters, and every bridge above
    these; of all others nobody reads them.
    """

    address: str
    vendor: int | Unread = NOT_RECORDED
    device: int | Unread = NOT_RECORDED
    pci_class: int | Unread = NOT_RECORDED
    """24 bits: base class, subclass, programming interface."""
    driver: str | Unread | None = NOT_RECORDED
    parent: str | Unread | None = NOT_RECORDED
    """Address of the bridge above it; None: it stands on a root bus."""
    subsystem_vendor: int | Unread | None = NOT_RECORDED
    subsystem_device: int | Unread | None = NOT_RECORDED
    driver_override: str | Unread | None = NOT_RECORDED
    """The only driver that may bind to it, where somebody asked for that."""
    enabled: bool | Unread | None = NOT_RECORDED
    numa_node: int | Unread | None = NOT_RECORDED
    """None: the firmware does not tell (the kernel's -1), which is usual on one-node and virtual machines. Unknown, no fault."""
    local_cpus: str | Unread | None = NOT_RECORDED
    """'0-31': the processors next to it, as the kernel lists them."""
    power_state: str | Unread | None = NOT_RECORDED
    """'D0', 'D3hot', 'D3cold', 'unknown'."""
    link_speed_gt_per_s: float | Unread | None = NOT_RECORDED
    """Now: an idle link may be slower than it can be. None: no PCI Express device."""
    link_width: int | Unread | None = NOT_RECORDED
    """Lanes, now."""
    max_link_speed_gt_per_s: float | Unread | None = NOT_RECORDED
    max_link_width: int | Unread | None = NOT_RECORDED
    bars: tuple[PciBar, ...] | Unread | None = NOT_RECORDED
    physical_function: str | Unread | None = NOT_RECORDED
    """Address of the device of which it is a virtual function (SR-IOV); None: it is none."""
    iommu_group: int | Unread | None = NOT_RECORDED
    """None: no IOMMU translates for it, as far as this system sees."""
    iommu_type: str | Unread | None = NOT_RECORDED
    """Of its group: 'DMA' and 'DMA-FQ' (addresses are translated), 'identity' (passed through), …"""
    acs: PciAcs | Unread | None = NOT_RECORDED
    """Bridges only; None: the bridge has no such capability."""
    aer_fatal: int | Unread | None = NOT_RECORDED
    """Fatal errors that the kernel counted since the device was found; None: it counts none for this device."""
    aer_nonfatal: int | Unread | None = NOT_RECORDED
    aer_correctable: int | Unread | None = NOT_RECORDED

    @property
    def is_nvidia_gpu(self) -> bool:
        """An NVIDIA display controller (VGA or 3D); its audio and USB functions are not."""
        return self.vendor == NVIDIA_VENDOR and self._base_class == _DISPLAY_CLASS

    @property
    def is_amd_gpu(self) -> bool:
        """A display controller or accelerator of AMD."""
        return self.vendor == AMD_VENDOR and self._base_class in (_DISPLAY_CLASS, _ACCELERATOR_CLASS)

    @property
    def _base_class(self) -> int | None:
        return self.pci_class >> 16 if isinstance(self.pci_class, int) else None


class Pci(Fact, frozen=True, kw_only=True):
    """All devices on the bus; an unreadable or empty bus is Unread, never 'no devices'."""

    devices: tuple[PciDevice, ...] | Unread = NOT_RECORDED

    def above(self, device: PciDevice) -> tuple[PciDevice, ...]:
        """The bridges between `device` and the root bus, the nearest first, as far as they were seen."""
        by_address = {} if isinstance(self.devices, Unread) else {d.address: d for d in self.devices}
        found: list[PciDevice] = []
        parent = device.parent
        while isinstance(parent, str) and parent in by_address and len(found) < len(by_address):
            found.append(by_address[parent])
            parent = found[-1].parent
        return tuple(found)
