"""The PCI tree: links, the nodes that matter, and where two paths meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..facts import Facts, PciDevice, Unread
from ..facts.pci import NVIDIA_VENDOR
from .model import Kind, Node, PcieLink

_GENERATION = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""GT/s of a lane: PCI Express Base Specification."""
_NETWORK, _BRIDGE, _OTHER_BRIDGE = 0x02, 0x0604, 0x0680
"""Classes: NVSwitches are bridges of the kind 'other'."""
_SINGLE = 1
"""Ports between a device and a switch above it: its downstream port."""

Path = tuple[PciDevice, ...]
"""From the root bus down to a device, which is the last."""


class Bus:
    """The devices of one machine that a topology shows."""

    def __init__(self, facts: Facts, loads: Mapping[str, tuple[int, int]]) -> None:
        """`loads`: generation and width of GPUs' links while something was copied over them, by address."""
        devices = facts.pci.devices
        self._facts, self._loads = facts, loads
        self.by_address = {} if isinstance(devices, Unread) else {d.address: d for d in devices}
        self._rdma = _adapters(facts)
        self._one_node = isinstance(facts.system.numa_nodes, tuple) and len(facts.system.numa_nodes) == 1

    def path(self, address: str | None) -> Path:
        """The way down to a device; empty where the bus does not show it."""
        device = self.by_address.get(address or "")
        return (*reversed(self._facts.pci.above(device)), device) if device is not None else ()

    def links(self, path: Path) -> tuple[PcieLink, ...]:
        """The links on the way, the device's own first.

        Bridges alternate: a port with a link below it (root port, downstream port), then the upstream port at that link's
        other end. Between a switch's own ports there is no link.
        """
        last = len(path) - 1
        found = []
        for depth in range(last, -1, -1):
            if depth % 2:
                found.append(self._link(path[depth], path[depth - 1]))
            elif depth == last:  # on a root bus, as in a virtual machine, or below what is no port
                found.append(self._link(path[depth], None))
        return tuple(link for link in found if link.width or link.width_possible)

    def _link(self, lower: PciDevice, port: PciDevice | None) -> PcieLink:
        ends = [lower] if port is None else [lower, port]
        seen = self._loads.get(lower.address)
        return PcieLink(
            address=lower.address,
            port=port.address if port else None,
            generation=seen[0] if seen else _first(_generation(d.link_speed_gt_per_s) for d in ends),
            width=seen[1] if seen else _first(_number(d.link_width) for d in ends),
            generation_possible=_least(_generation(d.max_link_speed_gt_per_s) for d in ends),
            width_possible=_least(_number(d.max_link_width) for d in ends),
            under_load=seen is not None,
        )

    def meet(self, one: Path, other: Path) -> str | None:
        """Where two paths meet, in nvidia-smi's words; None: it is not told. 'X': they are the same."""
        if not one or not other:
            return None
        common = 0
        while common < min(len(one), len(other)) and one[common].address == other[common].address:
            common += 1
        if common:
            between = max(len(one), len(other)) - 1 - common
            return "X" if one == other else "PIX" if between <= _SINGLE else "PXB"
        if root_bus(one) == root_bus(other):
            return "PHB"
        nodes = [_number(d.numa_node) for d in (one[-1], other[-1])]
        if None not in nodes:
            return "NODE" if nodes[0] == nodes[1] else "SYS"
        return "NODE" if self._one_node else None

    def between(self, one: Path, other: Path) -> tuple[PcieLink, ...]:
        """The links of both paths below the place where they meet."""
        shared = {d.address for d in one} & {d.address for d in other}
        return tuple(link for link in (*self.links(one), *self.links(other)) if link.address not in shared)

    def adapters(self) -> list[PciDevice]:
        """Network adapters with RDMA, in the order of their addresses."""
        return [d for address, d in sorted(self.by_address.items()) if address in self._rdma]

    def tree(self, gpus: Mapping[str, tuple[int, str | None]]) -> tuple[Node, ...]:
        """The host bridges with GPUs, NVSwitches and network adapters below them. `gpus`: index and name by address."""
        shown = {a: self._leaf(d, gpus) for a, d in sorted(self.by_address.items())}
        leaves = {a: leaf for a, leaf in shown.items() if leaf is not None}
        roots: dict[str, list[Path]] = {}
        for address in leaves:
            roots.setdefault(root_bus(self.path(address)), []).append(self.path(address))
        return tuple(
            Node(
                kind="host-bridge",
                address=bus,
                numa_node=_first(_number(path[-1].numa_node) for path in paths),
                children=self._below(paths, 0, leaves),
            )
            for bus, paths in sorted(roots.items())
            if any(leaves[path[-1].address].kind != "nic" for path in paths)
            or any(path[-1].address in self._rdma for path in paths)
        )

    def _leaf(self, device: PciDevice, gpus: Mapping[str, tuple[int, str | None]]) -> Node | None:
        kind: Kind
        index, name = gpus.get(device.address, (None, None))
        device_class = device.pci_class >> 8 if isinstance(device.pci_class, int) else 0
        if index is not None or device.is_nvidia_gpu:
            kind = "gpu"
        elif device_class == _OTHER_BRIDGE and device.vendor == NVIDIA_VENDOR:
            kind = "nvswitch"
        elif device.address in self._rdma or (device_class >> 8 == _NETWORK and device.physical_function is None):
            kind, name = "nic", ", ".join(self._names(device.address)) or None
        else:
            return None
        links = self.links(self.path(device.address))
        return Node(
            kind=kind,
            address=device.address,
            name=name,
            index=index,
            link=links[0] if links and links[0].address == device.address else None,
            numa_node=_number(device.numa_node),
        )

    def _names(self, address: str) -> list[str]:
        """'mlx5_0', and the interfaces that it has."""
        names = list(self._rdma.get(address, ()))
        interfaces = self._facts.nccl.interfaces
        names += [i.name for i in (() if isinstance(interfaces, Unread) else interfaces) if i.pci_address == address]
        return list(dict.fromkeys(names))

    def _below(self, paths: list[Path], depth: int, leaves: Mapping[str, Node]) -> tuple[Node, ...]:
        """Nodes from `depth` on: a port is not drawn by itself, a switch is."""
        nodes: list[Node] = []
        groups: dict[str, list[Path]] = {}
        for path in paths:
            left = len(path) - depth
            if left <= 2:
                nodes.append(leaves[path[-1].address])
            else:
                groups.setdefault(path[depth + 1].address, []).append(path)
        for address, inner in groups.items():
            path = inner[0]
            links = self.links(path[: depth + 2])
            is_switch = all(len(p) - depth - 2 >= 2 for p in inner)
            nodes.append(
                Node(
                    kind="switch" if is_switch else "bridge",
                    address=address,
                    link=links[0] if links else None,
                    numa_node=_number(path[depth + 1].numa_node),
                    children=self._below(inner, depth + 2, leaves),
                )
            )
        return tuple(sorted(nodes, key=lambda node: node.address))


def root_bus(path: Path) -> str:
    """'0000:00': the bus on which the first device stands."""
    return path[0].address.rpartition(":")[0]


def _adapters(facts: Facts) -> dict[str, tuple[str, ...]]:
    """The names of RDMA devices, by the address of their adapter."""
    found: dict[str, tuple[str, ...]] = {}
    ports = facts.nccl.rdma_ports
    for port in () if isinstance(ports, Unread) else ports:
        if isinstance(port.pci_address, str) and port.device not in found.get(port.pci_address, ()):
            found[port.pci_address] = (*found.get(port.pci_address, ()), port.device)
    return found


def _generation(speed: float | Unread | None) -> int | None:
    return _GENERATION.get(speed) if isinstance(speed, float) else None


def _number(value: int | Unread | None) -> int | None:
    return value if isinstance(value, int) else None


def _first(values: Iterable[int | None]) -> int | None:
    return next((v for v in values if v is not None), None)


def _least(values: Iterable[int | None]) -> int | None:
    return min((v for v in values if v is not None), default=None)
