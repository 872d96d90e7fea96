"""NCCL: its library, its settings, the network that it may use."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread
from .environment import Environment


class NcclSetting(Fact, frozen=True, kw_only=True):
    """A variable that NCCL reads, and where its value comes from."""

    name: str
    value: str
    file: str | None = None
    """None: the process's environment."""
    line: int | None = None

    @property
    def source(self) -> str:
        """'environment of the examined process' or '/etc/nccl.conf, line 3'."""
        return "environment of the examined process" if self.file is None else f"{self.file}, line {self.line}"


class NcclFile(Fact, frozen=True, kw_only=True):
    """A configuration file that NCCL looks for. One that this user can't open counts for nothing, for NCCL as well."""

    path: str
    exists: bool | Unread = NOT_RECORDED
    settings: tuple[NcclSetting, ...] | Unread = NOT_RECORDED


class NetworkInterface(Fact, frozen=True, kw_only=True):
    """A network interface, from /sys/class/net."""

    name: str
    up: bool | Unread = NOT_RECORDED
    """It was set up (IFF_UP); `state` says whether it carries anything."""
    state: str | Unread | None = NOT_RECORDED
    """operstate: 'up', 'down', 'unknown' (usual of loopback and virtual ones), …"""
    loopback: bool | Unread = NOT_RECORDED
    virtual: bool | Unread = NOT_RECORDED
    """No device stands behind it: a bridge, docker0, veth…, a tunnel."""
    mtu: int | Unread | None = NOT_RECORDED
    speed_mbit_per_s: int | Unread | None = NOT_RECORDED
    """None: the driver tells none."""
    addresses: tuple[str, ...] | Unread = NOT_RECORDED
    pci_address: str | Unread | None = NOT_RECORDED
    """Of the adapter; None: it is on no PCI bus."""


class RdmaPort(Fact, frozen=True, kw_only=True):
    """A port of an InfiniBand or RoCE device, from /sys/class/infiniband."""

    device: str
    port: int
    state: str | Unread | None = NOT_RECORDED
    """'ACTIVE', 'DOWN', 'INIT', …"""
    link_layer: str | Unread | None = NOT_RECORDED
    """'InfiniBand', 'Ethernet'."""
    rate: str | Unread | None = NOT_RECORDED
    """'400 Gb/sec (4X NDR)'."""
    interfaces: tuple[str, ...] | Unread = NOT_RECORDED
    pci_address: str | Unread | None = NOT_RECORDED
    """Of the adapter; None: it is on no PCI bus."""


class Nccl(Fact, frozen=True, kw_only=True):
    """What decides how NCCL speaks between GPUs and machines."""

    library: str | Unread | None = NOT_RECORDED
    """The file that was asked for its version, links resolved; None: there is none."""
    version: str | Unread | None = NOT_RECORDED
    """ncclGetVersion of the library that the loader picks, '2.27.7'; None: there is none."""
    files: tuple[NcclFile, ...] | Unread = NOT_RECORDED
    """Configuration files, the one that counts most first."""
    interfaces: tuple[NetworkInterface, ...] | Unread = NOT_RECORDED
    rdma_ports: tuple[RdmaPort, ...] | Unread = NOT_RECORDED
    peer_memory: bool | Unread = NOT_RECORDED
    """The module nvidia_peermem (or nv_peer_mem) is loaded."""
    gdrcopy: bool | Unread = NOT_RECORDED
    """/dev/gdrdrv is there."""

    def setting(self, name: str, environment: Environment) -> NcclSetting | Unread | None:
        """What NCCL takes `name` to be; None: nobody sets it.

        The environment counts before the user's file (NCCL_CONF_FILE, else ~/.nccl.conf), that before /etc/nccl.conf,
        and within a file the first line: NCCL reads them in this order and replaces nothing that is set. An empty
        variable is set, and NCCL then takes its default.
        """
        value = environment.get(name)
        if value is not None:
            return value if isinstance(value, Unread) else NcclSetting(name=name, value=value)
        if isinstance(self.files, Unread):
            return self.files
        for file in self.files:
            settings = () if isinstance(file.settings, Unread) else file.settings
            for one in settings:
                if one.name == name:
                    return one
        return None
