"""A recorded host with other GPUs, links and switches than it has: what the hosts at hand can't show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gpudoctor import api
from gpudoctor.facts import Facts, Measurement, NumaNode, NvLink, PciAcs, PciDevice
from tests.factory import with_
from tests.figures import load, native

HOSTS = Path(__file__).parent / "hosts"
STRAIGHT, REDIRECTING = PciAcs(capability=0x5F, control=0), PciAcs(capability=0x5F, control=0x1D)
TWO_SOCKETS = (
    NumaNode(index=0, cpus="0-31", memory_total_bytes=256 << 30, distances=(10, 21)),
    NumaNode(index=1, cpus="32-63", memory_total_bytes=256 << 30, distances=(21, 10)),
)


def recorded(name: str) -> Facts:
    """The facts of a recorded host, with what was measured."""
    report = api.replay(HOSTS / f"{name}.json")
    return msgspec.structs.replace(report.facts, measurements=report.measurements)


def bridge(address: str, parent: str | None, **changes: Any) -> PciDevice:
    """A port of a bare machine: generation 5, 16 lanes, nothing redirected."""
    whole = PciDevice(
        address=address,
        vendor=0x1000,
        device=0xC030,
        pci_class=0x060400,
        driver="pcieport",
        parent=parent,
        numa_node=0,
        local_cpus="0-31",
        link_speed_gt_per_s=32.0,
        link_width=16,
        max_link_speed_gt_per_s=32.0,
        max_link_width=16,
        bars=(),
        iommu_group=1,
        iommu_type="identity",
        acs=STRAIGHT,
    )
    return msgspec.structs.replace(whole, **changes)


def on_board(
    facts: Facts, ways: Sequence[Sequence[str]], changes: Mapping[str, Mapping[str, Any]] | None = None
) -> Facts:
    """`facts` of a bare machine on whose PCI bus each GPU is at the end of one of `ways`: addresses from its root port on.

    What is above bus 0x80 belongs to the second socket. `changes` by address. NVML, CUDA and the measurements follow the new addresses.
    """
    before = [d.pci_address for d in facts.gpu.devices]  # type: ignore[union-attr]
    moved = {old: way[-1] for old, way in zip(before, ways, strict=True)}
    assert isinstance(facts.pci.devices, tuple)
    models = {d.address: d for d in facts.pci.devices}
    devices: dict[str, PciDevice] = {}
    for old, way in zip(before, ways, strict=True):
        for depth, address in enumerate(way[:-1]):
            devices[address] = bridge(address, way[depth - 1] if depth else None)
        gpu = models[str(old)]
        parent = way[-2] if len(way) > 1 else None
        devices[way[-1]] = msgspec.structs.replace(
            gpu, address=way[-1], parent=parent, iommu_group=2, iommu_type="identity"
        )
    for address, device in devices.items():
        second = int(address[5:7], 16) >= 0x80
        place = {"numa_node": int(second), "local_cpus": TWO_SOCKETS[second].cpus}
        devices[address] = msgspec.structs.replace(device, **{**place, **dict((changes or {}).get(address, {}))})
    facts = with_(
        facts,
        system__hypervisor=False,
        system__numa_nodes=TWO_SOCKETS,
        system__cpus_usable="0-63",
        system__memory_nodes_usable="0-1",
        pci__devices=tuple(sorted(devices.values(), key=lambda d: d.address)),
        measurements=tuple(_moved(m, moved) for m in facts.measurements),
    )
    return _everywhere(facts, moved)


def _moved(one: Any, moved: Mapping[Any, str]) -> Any:
    addresses = one.pci_addresses
    return (
        msgspec.structs.replace(one, pci_addresses=tuple(moved[a] for a in addresses))
        if isinstance(addresses, tuple)
        else one
    )


def _everywhere(facts: Facts, moved: Mapping[Any, str]) -> Facts:
    for path in ("gpu.devices", "driver.libcuda.devices", "driver.all_devices", "driver.gpus"):
        holder: Any = facts
        for name in path.split("."):
            holder = getattr(holder, name)
        if isinstance(holder, tuple):
            new = tuple(msgspec.structs.replace(d, pci_address=moved[d.pci_address]) for d in holder)
            facts = with_(facts, **{path.replace(".", "__"): new})
    return facts


def cards(facts: Facts, name: str = "NVIDIA RTX 6000 Ada Generation", p2p: str = "ok", **changes: Any) -> Facts:
    """The GPUs are PCIe cards without NVLink; by bus alone is known where their paths meet."""
    devices = tuple(
        msgspec.structs.replace(d, name=name, nvlinks=(), fabric_state=None, fabric_status=None, **changes)
        for d in facts.gpu.devices  # type: ignore[union-attr]
    )
    nvml = tuple(
        msgspec.structs.replace(p, read=p2p, nvlink="not-supported", topology=None)
        for p in facts.gpu.pairs  # type: ignore[union-attr]
    )
    cuda = tuple(
        msgspec.structs.replace(p, can_access=p2p == "ok", native_atomics=False)
        for p in facts.driver.libcuda.pairs  # type: ignore[union-attr]
    )
    return with_(facts, gpu__devices=devices, gpu__pairs=nvml, driver__libcuda__pairs=cuda)


def copies(facts: Facts, gb_per_s: float | Mapping[tuple[int, int], float]) -> Facts:
    """What each pair reaches when one copies to the other."""
    assert isinstance(facts.gpu.devices, tuple)
    places = [str(d.pci_address) for d in facts.gpu.devices]
    new = []
    for one in range(len(places)):
        for other in range(len(places)):
            rate = gb_per_s if isinstance(gb_per_s, float) else gb_per_s.get((one, other))
            if one != other and rate is not None:
                new.append(_copy("copy-pair", (one, other), (places[one], places[other]), rate))
    left = tuple(m for m in facts.measurements if m.kernel not in ("copy-pair", "all-reduce", "all-reduce-pair"))
    return with_(facts, measurements=(*left, *new))


def host_copies(facts: Facts, gb_per_s: Sequence[float], loads: Sequence[tuple[int, int]] | None = None) -> Facts:
    """What each GPU's pinned copies reach, and generation and width of its link meanwhile."""
    assert isinstance(facts.gpu.devices, tuple)
    new = []
    for i, rate in enumerate(gb_per_s):
        seen = (loads or [(5, 16)] * len(gb_per_s))[i]
        for kernel in ("copy-host-to-device", "copy-device-to-host"):
            one = _copy(kernel, (i,), (str(facts.gpu.devices[i].pci_address),), rate)
            at_work = load(pcie_generation=seen[0], pcie_width=seen[1])
            new.append(msgspec.structs.replace(one, load=at_work))
    return with_(facts, measurements=(*facts.measurements, *new))


def _copy(kernel: str, gpus: tuple[int, ...], addresses: tuple[str, ...], rate: float) -> Measurement:
    usual = native(kernel, ",".join(f"GPU:{i}" for i in range(len(gpus))))
    return msgspec.structs.replace(
        usual,
        device=",".join(f"GPU:{i}" for i in gpus),
        pci_addresses=addresses,
        value=rate,
        samples=(rate,) * 3,
        spread=0.0,
    )


def nvlinks_to(facts: Facts, index: int, peers: Mapping[int, int]) -> Facts:
    """A GPU whose links lead straight to others: how many to each, by index."""
    assert isinstance(facts.gpu.devices, tuple)
    places = {d.index: d.pci_address for d in facts.gpu.devices}
    ends = [peer for peer, count in peers.items() for _ in range(count)]
    links = tuple(
        NvLink(index=i, active=True, version=5, remote="gpu", remote_address=places[peer], speed_mb_per_s=25781)
        for i, peer in enumerate(ends)
    )
    new = tuple(msgspec.structs.replace(d, nvlinks=links) if d.index == index else d for d in facts.gpu.devices)
    return with_(facts, gpu__devices=new)
