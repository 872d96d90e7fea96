"""What else decides how data moves: settings, limits, shared memory, the fabric. Words for a person, from the facts alone."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts, PciAcs, Unread

Said = tuple[str, str]
"""What it is about, and what was seen."""

_FABRIC = {0: "not supported", 1: "not started", 2: "in progress", 3: "completed"}
"""NVML_GPU_FABRIC_STATE_* (nvml.h)."""
_OF_THE_IMAGE = "NCCL_VERSION"
"""NVIDIA's container images set it; NCCL does not read it."""
_NOT_READ = "not read: {}"


def around(facts: Facts) -> tuple[Said, ...]:
    """Each subject once; what could not be read says so."""
    return (
        ("P2P", _p2p(facts)),
        ("NVSwitch, fabric", _fabric(facts)),
        ("IOMMU, ACS", _in_the_way(facts)),
        ("resizable BAR", _bars(facts)),
        ("processors", _processors(facts)),
        ("memory", _memory(facts)),
        ("shared memory", _shared(facts)),
        ("memlock", _size(facts.system.limit_memlock_bytes, none="unlimited")),
        ("NCCL settings", _settings(facts)),
        ("RDMA", _rdma(facts)),
    )


def _size(size: int | Unread | None, none: str) -> str:
    if isinstance(size, Unread):
        return _NOT_READ.format(size.why)
    if size is None:
        return none
    return f"{size / (1 << 30):.3g} GiB" if size >= 1 << 30 else f"{size / (1 << 20):.3g} MiB"


def _p2p(facts: Facts) -> str:
    """By NVML, and by CUDA, which counts the GPUs that this process may use."""
    pairs, cuda = facts.gpu.pairs, facts.driver.libcuda.pairs
    if isinstance(pairs, Unread):
        return _NOT_READ.format(pairs.why)
    if not pairs:
        return "there are no two GPUs"
    words: dict[str, list[str]] = {}
    for pair in pairs:
        word = pair.read if isinstance(pair.read, str) else "not told"
        words.setdefault(word, []).append(f"{pair.first}-{pair.second}")
    by_nvml = "; ".join(
        f"{word}: {'every pair' if len(ones) == len(pairs) else ', '.join(ones)}" for word, ones in words.items()
    )
    if isinstance(cuda, Unread):
        return f"NVML {by_nvml}; CUDA not asked: {cuda.why}"
    reach = sum(pair.can_access is True for pair in cuda)
    by_cuda = f"{reach} of {len(cuda)} ways" if cuda else "shows no two GPUs to this process"
    return f"NVML {by_nvml}; CUDA {by_cuda}"


def _fabric(facts: Facts) -> str:
    devices = () if isinstance(facts.gpu.devices, Unread) else facts.gpu.devices
    states = {d.fabric_state for d in devices if isinstance(d.fabric_state, int)}
    links = {link.remote for d in devices if isinstance(d.nvlinks, tuple) for link in d.nvlinks if link.active}
    leads = [
        word
        for kind, word in (("switch", "NVLinks lead to switches"), ("gpu", "NVLinks lead to GPUs"))
        if kind in links
    ]
    state = ", ".join(_FABRIC.get(s, str(s)) for s in sorted(states))
    running = facts.driver.daemons
    manager = "nv-fabricmanager runs" if not isinstance(running, Unread) and "nv-fabricmanager" in running else ""
    said = [*leads, f"fabric state {state}" if state else "", manager]
    return "; ".join(s for s in said if s) or "none"


def _in_the_way(facts: Facts) -> str:
    if isinstance(facts.pci.devices, Unread):
        return _NOT_READ.format(facts.pci.devices.why)
    gpus = [d for d in facts.pci.devices if d.is_nvidia_gpu]
    types = sorted({d.iommu_type for d in gpus if isinstance(d.iommu_type, str)})
    bridges = {b.address: b for d in gpus for b in facts.pci.above(d)}.values()
    redirecting = [b.address for b in bridges if isinstance(b.acs, PciAcs) and b.acs.redirects]
    unread = next((b.acs for b in bridges if isinstance(b.acs, Unread)), None)
    iommu = (
        f"IOMMU type of the GPUs: {', '.join(types)}"
        if types
        else "no IOMMU translates for the GPUs, as far as is seen"
    )
    if redirecting:
        return f"{iommu}; ACS redirects peer traffic at {', '.join(redirecting)}"
    if unread is not None:
        return f"{iommu}; ACS {_NOT_READ.format(unread.why)}"
    return f"{iommu}; " + ("no bridge redirects peer traffic" if bridges else "no bridge is seen")


def _bars(facts: Facts) -> str:
    devices = () if isinstance(facts.gpu.devices, Unread) else facts.gpu.devices
    said: dict[str, list[str]] = {}
    for d in devices:
        if isinstance(d.bar1_bytes, int) and isinstance(d.memory_total_bytes, int):
            whole = d.bar1_bytes >= d.memory_total_bytes
            shown = f"BAR1 {_size(d.bar1_bytes, '')}" + (
                " covers the memory" if whole else f" of {_size(d.memory_total_bytes, '')}"
            )
            said.setdefault(shown, []).append(f"GPU {d.index}")
    every = len(said) == 1
    return "; ".join(text if every else f"{', '.join(ones)}: {text}" for text, ones in said.items()) or "not told"


def _processors(facts: Facts) -> str:
    cpus, cores, quota = facts.system.cpus_usable, facts.system.cores, facts.system.cpu_quota_cores
    if isinstance(cpus, Unread):
        usable = facts.system.cores_usable
        text = f"{usable} usable" if isinstance(usable, int) else _NOT_READ.format(cpus.why)
    else:
        text = f"this process may run on {cpus}"
    text += f", of {cores}" if isinstance(cores, int) else ""
    return text + (f", for the time of {quota:g}" if isinstance(quota, float) else "")


def _memory(facts: Facts) -> str:
    nodes, allowed = facts.system.numa_nodes, facts.system.memory_nodes_usable
    if isinstance(nodes, Unread):
        return _NOT_READ.format(nodes.why)
    if not nodes:
        return "this kernel knows no NUMA"
    each = ", ".join(
        f"node {n.index}: {_size(n.memory_total_bytes, '')}"
        + (f" next to {n.cpus}" if isinstance(n.cpus, str) and n.cpus else "")
        for n in nodes
    )
    return each + (f"; allowed: {allowed}" if isinstance(allowed, str) and len(nodes) > 1 else "")


def _shared(facts: Facts) -> str:
    total, free = facts.system.shm_total_bytes, facts.system.shm_free_bytes
    if total is None:
        return "there is none"
    return f"{_size(free, '0')} free of {_size(total, '0')}" if isinstance(total, int) else _NOT_READ.format(total.why)


def _settings(facts: Facts) -> str:
    def each() -> Iterator[str]:
        variables = facts.environment.variables
        for one in () if isinstance(variables, Unread) else variables:
            if one.name.startswith("NCCL_") and one.name != _OF_THE_IMAGE:
                yield f"{one.name}={one.value}"
        for file in () if isinstance(facts.nccl.files, Unread) else facts.nccl.files:
            for setting in () if isinstance(file.settings, Unread) else file.settings:
                yield f"{setting.name}={setting.value} ({setting.source})"

    return ", ".join(each()) or "none, in variables and files"


def _rdma(facts: Facts) -> str:
    ports = facts.nccl.rdma_ports
    if isinstance(ports, Unread):
        return _NOT_READ.format(ports.why)
    if not ports:
        return "no adapter"
    said = [
        f"{p.device}:{p.port} " + " ".join(w for w in (p.state, p.link_layer, p.rate) if isinstance(w, str))
        for p in ports
    ]
    direct = "GPUDirect module loaded" if facts.nccl.peer_memory is True else "no GPUDirect module (nvidia_peermem)"
    return "; ".join([*said, direct])
