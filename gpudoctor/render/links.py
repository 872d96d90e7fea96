"""The links of a machine in words: what every drawing of its topology says of a place and of a GPU."""

from __future__ import annotations

from ..topology import GpuPlace, Node


def title(node: Node) -> str:
    """'GPU 0', 'switch 0000:41:00.0', 'network 0000:00:03.0'."""
    words = {"host-bridge": "host bridge", "nvswitch": "NVSwitch", "nic": "network"}
    if node.kind == "gpu":
        return "GPU" if node.index is None else f"GPU {node.index}"
    return f"{words.get(node.kind, node.kind)} {node.address}"


def slowest(gpu: GpuPlace) -> tuple[str, bool]:
    """The slowest link between a GPU and the processor, and whether the GPU itself is made for more."""
    link = gpu.bottleneck
    if link is None:
        return "?", False
    narrow = gpu.own_gb_per_s is not None and (link.gb_per_s or 0) < gpu.own_gb_per_s
    idle = (
        ""
        if link.under_load or link.generation == link.generation_possible or not link.generation
        else f" (idle: {link.generation}.0)"
    )
    where = f" at {link.address}" if link.address != gpu.address else ""
    own = f"; the GPU's own: {gpu.own_gb_per_s:.3g}" if narrow else ""
    return f"{link.words}{idle}, {link.gb_per_s:.3g} GB/s{where}{own}", narrow


def nvlinks(gpu: GpuPlace) -> str:
    """How many NVLinks a GPU has, and what they carry together."""
    if gpu.nvlinks is None or gpu.nvlinks_active is None:
        return "?"
    if not gpu.nvlinks:
        return "none"
    rate = f", {gpu.nvlink_gb_per_s:.3g} GB/s" if gpu.nvlink_gb_per_s else ""
    return (
        f"{gpu.nvlinks if gpu.nvlinks_active == gpu.nvlinks else f'{gpu.nvlinks_active} of {gpu.nvlinks} active'}{rate}"
    )
