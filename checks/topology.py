"""The ways between GPUs, processors and memory: narrow links, detours, sockets."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._gpus import about, gib, gpus, title
from gpudoctor.checks._processors import numbers
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import machines_alone
from gpudoctor.facts import Facts, GpuDevice, PciAcs, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check
from gpudoctor.topology import Pair, PcieLink, Topology, derive

_BUS = "/sys/bus/pci/devices"
_SLOWS = ("runs-slowly", "gpu-pair-slow", "gpu-outlier", "scaling-below-expected")
_SLOW_PAIR = 0.5
"""Of what the links between two GPUs carry: copies over PCIe reach 0.8 and more of it."""
_ASLEEP = 1.02
"""A copy that is faster than the link was at another time shows that the link can do better."""


def _here(facts: Facts) -> Topology:
    machines_alone(facts, "a text does not show the ways between the GPUs")
    return derive(facts)


def _several(facts: Facts) -> tuple[GpuDevice, ...]:
    devices = gpus(facts)
    if len(devices) < 2:
        raise NotApplicable("there are no two GPUs")
    return devices


def _of_pair(pair: Pair) -> tuple[str, ...]:
    return (f"gpu{pair.first}", f"gpu{pair.second}")


def _names(pairs: list[Pair]) -> str:
    shown = ", ".join(f"{p.first} and {p.second}" for p in pairs[:4])
    return f"{shown} and {len(pairs) - 4} more pairs" if len(pairs) > 4 else shown


def _measured(pair: Pair) -> Iterator[Evidence]:
    rates = [r for r in (pair.measured_gb_per_s, pair.measured_back_gb_per_s) if r is not None]
    if rates and pair.limit_gb_per_s:
        yield Evidence(
            text=f"GPU {pair.first} and {pair.second}: {min(rates):.3g} GB/s; {pair.limit_by} carries {pair.limit_gb_per_s:.3g}",
            source="native copy-pair",
        )


# ----------------------------------------------------------------------------- GPU and processor


@check("GD705", "pcie-upstream-narrow", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def pcie_upstream_narrow(facts: Facts) -> Findings:
    """Between a GPU and the processor is a PCIe link that carries less than the GPU's own.

    What it looks at: the links above each GPU's own, from switch to switch up to the root port: their lanes, and the generation that
    both of their ends can do. A link is warned of where it has fewer lanes than both of its ends and copies of the GPU are no
    faster than it; where the board is made so, or nothing was measured, it is a note. Where the copies are faster than the link was
    when it was looked at, it slept. The GPU's own link is another check's.

    Why it matters: everything that is copied to the GPUs below such a link goes through it, and they share it.

    How to fix: seat the riser or cable to the switch again; another slot; the slot's settings in the firmware (bifurcation, generation).

    Source: PCI Express Base Specification (link capabilities and status); Linux, sysfs-bus-pci.
    """
    topology, devices = _here(facts), gpus(facts)
    known(facts.pci.devices)
    narrow: dict[str, tuple[PcieLink, list[GpuDevice]]] = {}
    seen = 0
    for device in devices:
        place = topology.gpu(device.index)
        above = place.path[1:] if place else ()
        seen += len(above)
        own = place.own_gb_per_s if place else None
        for link in above:
            if own is not None and link.gb_per_s is not None and link.gb_per_s < own:
                narrow.setdefault(link.address, (link, []))[1].append(device)
    if not seen:
        raise NotApplicable("no link is seen above the GPUs' own")
    for link, below in narrow.values():
        rate, copies = link.gb_per_s or 0.0, {d.index: _copy(facts, d) for d in below}
        if any((c or 0.0) > _ASLEEP * rate for c in copies.values()):
            continue
        shown = [f"GPU {i}: {c:.3g} GB/s" for i, c in copies.items() if c is not None]
        is_fault = link.is_degraded and bool(shown)
        own = max((g.own_gb_per_s or 0.0) for g in topology.gpus if g.index in copies)
        yield Found(
            message=f"The PCIe link at {link.address}, above {' and '.join(title(d) for d in below)}, is {link.words}: "
            f"{rate:.3g} GB/s, {own / rate:.2g}x less than the GPU's own link.",
            proof=(
                Evidence(text=f"{link.port} to {link.address}: {link.words}", source=f"{_BUS}/{link.address}"),
                *((Evidence(text="; ".join(shown), source="native copy-host-to-device"),) if shown else ()),
            ),
            about=tuple(name for d in below for name in about(d)),
            fixes=(
                Fix(
                    kind="advice",
                    risk="needs reboot",
                    summary="Switch the machine off and seat the riser or the cable to this switch again; look at the slot's "
                    "settings in the firmware (bifurcation, generation), or take another slot"
                    if link.is_degraded
                    else "The board is made so: put the GPU where a wider link leads to the processor, if there is one",
                    steps=(),
                    verify="gpudoctor topo",
                ),
            ),
            level=Level.WARN if is_fault else Level.INFO,
            explains=None if is_fault else (),
        )
    return f"no link above the GPUs is narrower than their own, of {several(seen, 'link')}"


def _copy(facts: Facts, device: GpuDevice) -> float | None:
    """GB/s of the best pinned copy between host and GPU, one direction."""
    rates = [
        m.value
        for m in facts.measurements
        if m.kernel in ("copy-host-to-device", "copy-device-to-host")
        and isinstance(m.value, float)
        and isinstance(m.pci_addresses, tuple)
        and m.pci_addresses == (device.pci_address,)
    ]
    return max(rates, default=None)


@check("GD708", "resizable-bar-off", stage=Stage.SPEED, level=Level.INFO)
def resizable_bar_off(facts: Facts) -> Findings:
    """The processor sees a small window of a GPU's memory, and could see all of it.

    What it looks at: the size of BAR1 by NVML against the GPU's memory, and the sizes that the kernel says the BAR could be given.

    Why it matters: GPUs that reach each other over PCIe, and network adapters, go through this window. TensorFlow on one GPU
    loses next to nothing.

    How to fix: in the firmware, switch 'Resizable BAR' (or 'Above 4G decoding' and 'Re-size BAR') on.

    Source: PCI Express Base Specification, Resizable BAR; NVML API reference, nvmlDeviceGetBAR1MemoryInfo; Linux, sysfs-bus-pci (resourceN_resize).
    """
    _here(facts)
    on_bus = {d.address: d for d in known(facts.pci.devices)}
    whole = 0
    for device in gpus(facts):
        window, memory = known(device.bar1_bytes), known(device.memory_total_bytes)
        place = on_bus.get(known(device.pci_address))
        if window is None or memory is None or place is None:
            continue
        if window >= memory:
            whole += 1
            continue
        offered = [
            size
            for bar in known(place.bars) or ()
            if bar.size_bytes == window
            for size in known(bar.possible_bytes) or ()
            if size > window
        ]
        if offered:
            yield Found(
                message=f"The processor sees {gib(window)} of the {gib(memory)} of {title(device)} at a time; {gib(max(offered))} is possible.",
                proof=(
                    Evidence(text=f"BAR1: {gib(window)}", source="NVML, nvmlDeviceGetBAR1MemoryInfo"),
                    Evidence(
                        text=f"it could be given {gib(max(offered))}", source=f"{_BUS}/{place.address}/resource1_resize"
                    ),
                ),
                about=about(device),
                fixes=(
                    Fix(
                        kind="advice",
                        risk="needs reboot",
                        summary="Switch 'Above 4G decoding' and 'Resizable BAR' on in the firmware",
                        steps=(),
                        verify="nvidia-smi -q | grep -A3 BAR1",
                    ),
                ),
            )
    return f"BAR1 covers the memory of {several(whole, 'GPU')}" if whole else "no other size is offered for BAR1"


@check("GD709", "numa-memory-elsewhere", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def numa_memory_elsewhere(facts: Facts) -> Findings:
    """The process may only take memory that is far from every GPU.

    What it looks at: the NUMA nodes whose memory the examined process may have (cpusets, containers) against those next to the
    GPUs, by the PCI bus; not where the firmware tells no node. numactl --membind binds a process of its own, which is not seen.

    Why it matters: what is copied to the GPUs comes through the link between the processors: slower, and in everybody's way.

    How to fix: let the job or container have memory of a node next to its GPU (cpuset-mems), or of all.

    Source: Linux, proc(5), Mems_allowed_list; cpuset(7); sysfs-bus-pci, numa_node.
    """
    topology, devices = _here(facts), gpus(facts)
    near = {place.numa_node for d in devices if (place := topology.gpu(d.index)) is not None}
    if None in near:
        raise NotApplicable("the firmware does not tell which NUMA node the GPUs are next to")
    allowed = known(facts.system.memory_nodes_usable)
    if allowed is None:
        raise NotApplicable("this kernel knows no NUMA")
    if numbers(allowed) & near:
        return f"memory of the nodes {allowed} is allowed; a GPU is next to one of these"
    yield Found(
        message=f"It may take memory of NUMA node {allowed} only, and none of its GPUs is next to that.",
        proof=(
            Evidence(text=f"Mems_allowed_list: {allowed}", source="/proc/self/status of the examined interpreter"),
            *(
                Evidence(text=f"{g.address} is on NUMA node {g.numa_node}", source=_BUS)
                for g in topology.gpus
                if g.numa_node is not None
            ),
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Give the job or container memory next to its GPU "
                f"(docker run --cpuset-mems={','.join(str(n) for n in sorted(n for n in near if n is not None))}), or do not limit it",
                steps=(),
                verify="grep Mems_allowed_list /proc/self/status",
            ),
        ),
    )


# ----------------------------------------------------------------------------- GPU and GPU


@check("GD706", "gpus-across-sockets", stage=Stage.SPEED, level=Level.INFO)
def gpus_across_sockets(facts: Facts) -> Findings:
    """Some of the GPUs are next to different processors, and only the link between these leads from one to the other.

    What it looks at: where the PCIe paths of each two GPUs meet (NVML's 'SYS', else the PCI bus with its NUMA nodes), and whether
    NVLinks lead from one to the other.

    Why it matters: the machine is made so. What such GPUs exchange goes over the link between the processors, in everybody's way, and
    a collective over all of them is as fast as that.

    How to fix: nothing is broken. Use GPUs of one processor together; NCCL finds the better order by itself.

    Source: nvidia-smi topo; NVML API reference, nvmlDeviceGetTopologyCommonAncestor.
    """
    topology = _here(facts)
    _several(facts)
    apart = [p for p in topology.pairs if p.pcie == "SYS" and p.nvlinks == 0]
    if not apart:
        return _no_sockets(facts, topology)
    groups: dict[int | None, list[str]] = {}
    for gpu in topology.gpus:
        groups.setdefault(gpu.numa_node, []).append(str(gpu.index))
    sides = "; ".join(f"NUMA node {node}: GPU {', '.join(ones)}" for node, ones in groups.items() if node is not None)
    near = [p.measured_gb_per_s for p in topology.pairs if p not in apart and p.measured_gb_per_s]
    far = [p.measured_gb_per_s for p in apart if p.measured_gb_per_s]
    factor = f": {max(near) / min(far):.2g}x slower than within one" if near and far and min(far) < max(near) else ""
    yield Found(
        message=f"GPUs {_names(apart)} reach each other through the link between the processors alone{factor}.",
        proof=(
            Evidence(text=sides or "SYS", source=f"{_BUS}, numa_node" if sides else "NVML, topology"),
            *(e for p in apart[:2] for e in _measured(p)),
        ),
        about=tuple(dict.fromkeys(name for p in apart for name in _of_pair(p))),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Where two GPUs are enough, use two of one processor: CUDA_VISIBLE_DEVICES, "
                "with taskset for the processors next to them",
                steps=(),
                verify="gpudoctor topo",
            ),
        ),
    )


def _no_sockets(facts: Facts, topology: Topology) -> str:
    if topology.pairs and all(p.nvlinks != 0 for p in topology.pairs):
        return "NVLinks lead from each GPU to each other"
    if any(p.pcie is None for p in topology.pairs if p.nvlinks == 0):
        for pair in known(facts.gpu.pairs):
            known(pair.topology)
        known(facts.pci.devices)
        raise NotApplicable("where the paths of the GPUs meet is not told")
    return "no two GPUs are next to different processors, without an NVLink"


_TRANSLATED = ("DMA", "DMA-FQ")


@check(
    "GD707",
    "p2p-redirected",
    stage=Stage.SPEED,
    level=Level.WARN,
    explains=("runs-slowly", "gpu-pair-slow", "scaling-below-expected"),
)
def p2p_redirected(facts: Facts) -> Findings:
    """Two GPUs hang on one PCIe switch, and what they exchange is sent up to the processor and back.

    What it looks at: pairs of GPUs below a common switch, without NVLink, that reach each other directly; on the way between them,
    whether a port redirects peer traffic (ACS control), and whether the IOMMU translates for them (group type DMA). It is a warning
    where copies between them reach less than half of what the links carry; a note where nothing was measured; nothing
    where they are fast.

    Why it matters: the detour goes through the processor's root complex: slower than straight, often slower than a copy
    through the host's memory, and on some boards it hangs.

    How to fix: on a bare machine, switch ACS off in the firmware (or with setpci on the ports), and boot with iommu=pt.
    On a host of virtual machines both keep guests apart: leave them.

    Source: NCCL user guide, Troubleshooting (PCI access control services); NVIDIA GPUDirect RDMA guide; Linux, sysfs-kernel-iommu_groups.
    """
    topology = _here(facts)
    _several(facts)
    straight = [p for p in topology.pairs if p.pcie in ("PIX", "PXB") and p.nvlinks == 0]
    direct = [p for p in straight if p.p2p == "ok" or p.can_access is True]
    if not direct:
        raise NotApplicable("no two GPUs reach each other below a common PCIe switch")
    unread: Unread | None = None
    found = False
    for pair in direct:
        try:
            proof = _detour(facts, topology, pair)
        except UnknownFactError as e:
            unread = unread or e.unread
            continue
        rates = [r for r in (pair.measured_gb_per_s, pair.measured_back_gb_per_s) if r is not None]
        slow = bool(rates and pair.limit_gb_per_s and min(rates) < _SLOW_PAIR * pair.limit_gb_per_s)
        if not proof or (rates and not slow):
            continue
        found = True
        factor = (
            f": {pair.limit_gb_per_s / min(rates):.2g}x slower than the links carry"
            if slow and pair.limit_gb_per_s
            else ""
        )
        yield Found(
            message=f"What GPU {pair.first} and GPU {pair.second} exchange goes up to the processor, not straight "
            f"through their switch{factor}.",
            proof=(*proof, *_measured(pair)),
            about=_of_pair(pair),
            fixes=(
                Fix(
                    kind="advice",
                    risk="needs reboot",
                    summary="Switch ACS off in the firmware and boot with iommu=pt, unless virtual machines must be kept apart here",
                    steps=(),
                    verify="sudo lspci -vvv | grep ACSCtl; gpudoctor topo",
                ),
            ),
            level=Level.WARN if slow else Level.INFO,
            explains=None if slow else (),
        )
    if unread is not None and not found:
        raise UnknownFactError(unread)
    return f"nothing redirects the traffic of {several(len(direct), 'pair')} below a switch, or it is fast"


def _detour(facts: Facts, topology: Topology, pair: Pair) -> tuple[Evidence, ...]:
    """What sends the traffic of a pair to the processor."""
    by_address = {d.address: d for d in known(facts.pci.devices)}
    ends = [
        by_address[g.address] for i in (pair.first, pair.second) if (g := topology.gpu(i)) and g.address in by_address
    ]
    above = [facts.pci.above(d) for d in ends]
    if len(above) != 2:
        return ()
    shared = {b.address for b in above[0]} & {b.address for b in above[1]}
    ports = [b for way in above for b in way if b.address not in shared]
    redirecting = [b.address for b in ports if isinstance(b.acs, PciAcs) and b.acs.redirects]
    translated = [d for d in ends if d.iommu_type in _TRANSLATED]
    found = []
    if redirecting:
        found.append(
            Evidence(text=f"ACS redirects peer traffic at {', '.join(redirecting)}", source="PCI configuration")
        )
    if translated and facts.system.hypervisor is not True:
        text = ", ".join(f"{d.address}: type {d.iommu_type}" for d in translated)
        found.append(Evidence(text=f"the IOMMU translates for {text}", source="/sys/kernel/iommu_groups"))
    for port in ports if not found else ():
        known(port.acs)
    return tuple(found)
