"""How data moves through the machine, derived from its facts: PCI tree, NVLink, NUMA, and the slowest link of each way."""

from __future__ import annotations

import itertools
from typing import Any, Literal

from ..facts import NATIVE, CudaPair, Facts, GpuDevice, GpuPair, NvLink, PciDevice, Unread
from ..verdicts import pcie, places, under_load
from .bus import Bus, Path
from .model import GpuPlace, NicPair, Node, Numa, Pair, PcieLink, Topology, narrowest

__all__ = ["GpuPlace", "NicPair", "Node", "Numa", "Pair", "PcieLink", "Topology", "derive", "narrowest"]

_NO_PERMISSION = 4


def derive(facts: Facts) -> Topology:
    """The topology of the machine that `facts` are of. Nothing is guessed: what it does not tell is None and in `untold`."""
    listed = () if isinstance(facts.gpu.devices, Unread) else facts.gpu.devices
    devices = [d for d in listed if d.nvml_error != _NO_PERMISSION]
    bus = Bus(facts, _loads(facts))
    paths = {d.index: bus.path(_told(d.pci_address)) for d in devices}
    gpus = tuple(_place(facts, bus, d, paths[d.index]) for d in devices)
    pairs = tuple(_pair(facts, bus, one, other, paths) for one, other in itertools.combinations(devices, 2))
    named = {str(d.pci_address): (d.index, _told(d.name)) for d in devices}
    virtual = _told(facts.system.hypervisor)
    return Topology(
        virtual=virtual,
        roots=bus.tree(named),
        gpus=gpus,
        pairs=pairs,
        nic_pairs=tuple(
            NicPair(gpu=d.index, nic=nic.address, pcie=bus.meet(paths[d.index], bus.path(nic.address)))
            for nic in bus.adapters()
            for d in devices
        ),
        numa_nodes=_nodes(facts),
        untold=tuple(_untold(facts, gpus, pairs, devices)),
    )


def _told(value: Any) -> Any:
    """None for what could not be read."""
    return None if isinstance(value, Unread) else value


def _loads(facts: Facts) -> dict[str, tuple[int, int]]:
    """Generation and width of each GPU's link while gpudoctor copied over it; the best that was seen."""
    found: dict[str, tuple[int, int]] = {}
    for one in facts.measurements:
        at, link = places(facts, one), under_load(one) if one.kernel.startswith("copy-") else None
        if link is None or len(at) != 1 or at[0].nvml is None or not isinstance(one.value, float):
            continue
        ways = 2 if one.kernel == "copy-both-ways" else 1
        bound, address = pcie(*link), _told(at[0].nvml.pci_address)
        over_it = one.kernel != "copy-inside" and bound is not None and bound.allows(one.value / ways)
        if over_it and address is not None:
            found[address] = max(link, found.get(address, (0, 0)))
    return found


def _numa_node(facts: Facts, on_bus: PciDevice | None) -> int | None:
    """By the bus; the machine's only one where the firmware of a virtual machine does not tell (numa_node is -1)."""
    told = _told(on_bus.numa_node) if on_bus else None
    nodes = facts.system.numa_nodes
    only = nodes[0].index if isinstance(nodes, tuple) and len(nodes) == 1 else None
    return only if told is None else told


def _place(facts: Facts, bus: Bus, device: GpuDevice, path: Path) -> GpuPlace:
    links = _told(device.nvlinks)
    active = None if links is None else [link for link in links if link.active]
    speeds = [link.speed_mb_per_s for link in active or () if isinstance(link.speed_mb_per_s, int)]
    on_bus = path[-1] if path else None
    own = bus.links((path[-1],)) if path else _by_nvml(device)
    mig = device.mig_devices
    return GpuPlace(
        index=device.index,
        name=_told(device.name),
        address=_told(device.pci_address),
        numa_node=_numa_node(facts, on_bus),
        cpus=_told(on_bus.local_cpus) if on_bus else None,
        nvlinks=None if links is None else len(links),
        nvlinks_active=None if active is None else len(active),
        nvlink_gb_per_s=sum(speeds) / 1e3 if active is not None and len(speeds) == len(active) else None,
        path=bus.links(path) or _by_nvml(device),
        own_gb_per_s=own[0].possible_gb_per_s if own else None,
        bar1_bytes=_told(device.bar1_bytes),
        memory_bytes=_told(device.memory_total_bytes),
        mig_instances=len(mig) if isinstance(mig, tuple) else None,
    )


def _by_nvml(device: GpuDevice) -> tuple[PcieLink, ...]:
    """The GPU's own link, where the bus does not show it."""
    generation, width = _told(device.pcie_generation_max), _told(device.pcie_width_max)
    if generation is None or width is None:
        return ()
    link = PcieLink(
        address=str(_told(device.pci_address)),
        port=None,
        generation=_told(device.pcie_generation),
        width=_told(device.pcie_width),
        generation_possible=generation,
        width_possible=width,
        under_load=False,
    )
    return (link,)


# ----------------------------------------------------------------------------- pairs


def _pair(facts: Facts, bus: Bus, one: GpuDevice, other: GpuDevice, paths: dict[int, Path]) -> Pair:
    said = _said(facts, one, other)
    by_bus = bus.meet(paths[one.index], paths[other.index])
    by_nvml = _told(said.topology) if said else None
    word = by_nvml or by_bus
    word = "PIX" if word == "internal" else word
    by: Literal["NVML", "PCI bus"] | None = "NVML" if by_nvml else "PCI bus" if by_bus else None
    linked = _linked(facts, one, other, said)
    limit, limit_by = _limit(bus, linked, one, other, paths)
    rates = _rates(facts, one, other)
    return Pair(
        first=one.index,
        second=other.index,
        pcie=word,
        pcie_by=by,
        nvlinks=None if linked is None else len(linked),
        p2p=_told(said.read) if said else None,
        p2p_nvlink=_told(said.nvlink) if said else None,
        can_access=_can_access(facts, one, other),
        limit_gb_per_s=limit,
        limit_by=limit_by,
        measured_gb_per_s=rates.get(("copy-pair", one.index)),
        measured_back_gb_per_s=rates.get(("copy-pair", other.index)),
        all_reduce_gb_per_s=rates.get(("all-reduce-pair", one.index), rates.get(("all-reduce-pair", other.index))),
    )


def _said(facts: Facts, one: GpuDevice, other: GpuDevice) -> GpuPair | None:
    pairs = facts.gpu.pairs
    wanted = {one.index, other.index}
    return None if isinstance(pairs, Unread) else next((p for p in pairs if {p.first, p.second} == wanted), None)


def _active(device: GpuDevice) -> tuple[NvLink, ...]:
    return tuple(link for link in _told(device.nvlinks) or () if link.active)


def _linked(facts: Facts, one: GpuDevice, other: GpuDevice, said: GpuPair | None) -> tuple[NvLink, ...] | None:
    """The NVLinks of one of them that lead to the other; None: there are, and which is not told."""
    mine, theirs = _active(one), _active(other)
    direct = tuple(link for link in mine if link.remote_address == other.pci_address)
    if direct:
        return direct
    through = [tuple(link for link in links if link.remote == "switch") for links in (mine, theirs)]
    if all(through):
        return min(through, key=len)
    by_nvml = _told(said.nvlink) if said else None
    if by_nvml == "ok":
        with_links = [d for d in _told(facts.gpu.devices) or () if _active(d)]
        alone = mine and theirs and len(with_links) == 2
        return min((mine, theirs), key=len) if alone else None
    return ()


def _limit(
    bus: Bus, linked: tuple[NvLink, ...] | None, one: GpuDevice, other: GpuDevice, paths: dict[int, Path]
) -> tuple[float | None, str | None]:
    """The bottleneck between two GPUs, and its name."""
    if linked is None:
        return None, None
    if linked:
        speeds = [link.speed_mb_per_s for link in linked if isinstance(link.speed_mb_per_s, int)]
        return (sum(speeds) / 1e3 if len(speeds) == len(linked) else None), f"{len(linked)} NVLinks"
    least = narrowest(bus.between(paths[one.index], paths[other.index]))
    return (least.gb_per_s, f"PCIe {least.words} at {least.address}") if least else (None, None)


def _can_access(facts: Facts, one: GpuDevice, other: GpuDevice) -> bool | None:
    """Whether both reach the other's memory, by CUDA; None: CUDA does not show both."""
    cuda, pairs = facts.driver.libcuda.devices, facts.driver.libcuda.pairs
    if isinstance(cuda, Unread) or isinstance(pairs, Unread):
        return None
    index = {d.pci_address: d.index for d in cuda if isinstance(d.pci_address, str)}
    here = {index.get(str(one.pci_address)), index.get(str(other.pci_address))}
    both: list[CudaPair] = [p for p in pairs if {p.device, p.peer} == here]
    if not both or any(isinstance(p.can_access, Unread) for p in both):
        return None
    return all(p.can_access is True for p in both)


def _rates(facts: Facts, one: GpuDevice, other: GpuDevice) -> dict[tuple[str, int], float]:
    """GB/s that gpudoctor measured natively, by kernel and the GPU that it was measured from; the largest size counts."""
    found: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for m in facts.measurements:
        if m.backend != NATIVE or m.kernel not in ("copy-pair", "all-reduce-pair"):
            continue
        at = [place.nvml for place in places(facts, m)]
        if {d.index for d in at if d} != {one.index, other.index} or not isinstance(m.value, float):
            continue
        if m.verified is True and at[0] is not None:
            size = m.size[0] if isinstance(m.size, tuple) and m.size else 0
            found.setdefault((m.kernel, at[0].index), []).append((size, m.value))
    largest = {key: [v for size, v in ones if size == max(ones)[0]] for key, ones in found.items()}
    import statistics  # which takes long to import

    return {key: statistics.median(values) for key, values in largest.items()}


# ----------------------------------------------------------------------------- the rest


def _nodes(facts: Facts) -> tuple[Numa, ...]:
    nodes = facts.system.numa_nodes
    return tuple(
        Numa(
            index=node.index,
            cpus=_told(node.cpus),
            memory_bytes=_told(node.memory_total_bytes),
            distances=_told(node.distances),
        )
        for node in (() if isinstance(nodes, Unread) else nodes or ())
    )


def _untold(facts: Facts, gpus: tuple[GpuPlace, ...], pairs: tuple[Pair, ...], devices: list[GpuDevice]) -> list[str]:
    by = "not told by this virtual machine" if facts.system.hypervisor is True else "not told here"
    found = []
    if isinstance(facts.gpu.devices, Unread):
        found.append(f"the GPUs: {facts.gpu.devices.why}")
    if isinstance(facts.pci.devices, Unread):
        found.append(f"the PCI tree: {facts.pci.devices.why}")
    elif gpus and all(len(g.path) <= 1 and not any(link.port for link in g.path) for g in gpus):
        found.append(f"the PCI tree above the GPUs (switches, root ports) is {by}")
    if gpus and all(g.numa_node is None for g in gpus):
        found.append(f"which NUMA node a GPU is next to is {by}")
    linked = [link for d in devices for link in _active(d) if link.remote in ("gpu", "switch")]
    if linked and not any(isinstance(link.remote_address, str) for link in linked):
        found.append(f"the address of what each NVLink leads to is {by}; its kind is")
    if any(p.nvlinks is None for p in pairs):
        found.append(f"how many NVLinks lead from one GPU to another is {by}")
    if any(p.word is None for p in pairs):
        found.append(f"where the paths of some GPUs meet is {by}")
    return found
