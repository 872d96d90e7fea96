"""How data moves through the machine: the picture, the links between each two, and what else decides it."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import Unread
from ...topology import Topology, derive
from ...topology.host import around
from ..links import nvlinks, slowest
from ..view import View
from .drawing import nodes, picture
from .markup import Child, Markup, code, table, tag

_MOST_GPUS, _MOST_NODES = 64, 2_000


def section(view: View) -> Iterator[Markup]:
    """Nothing where there is a text, or no GPU was ever seen."""
    facts = view.report.seen
    if facts.text.is_all:
        return
    devices, bus = facts.gpu.devices, facts.pci.devices
    gpus = 0 if isinstance(devices, Unread) else len(devices)
    if gpus > _MOST_GPUS or (not isinstance(bus, Unread) and len(bus) > _MOST_NODES):
        yield tag("p", f"Not drawn: {gpus:,} GPUs are listed.", class_="cut")
        return
    try:
        topology = derive(facts)
        drawn = picture(topology, ", ".join(nodes(topology))[:1_500])
    except RecursionError:
        yield tag("p", "Not drawn: the PCI tree is nested too deeply.", class_="cut")
        return
    if drawn is not None:
        inside = tag("div", drawn, class_="wide", tabindex=0, role="region", aria_label="Topology picture")
        yield tag("figure", inside, tag("figcaption", _key(topology)))
    yield from _gpus(topology)
    yield from _links(topology)
    yield table("What else decides how data moves", (), around(facts), class_="facts")
    if topology.untold:
        yield tag("h3", "Not told")
        yield tag("ul", (tag("li", one) for one in topology.untold))


def _key(topology: Topology) -> str:
    said = "PCI Express from left to right, with generation, lanes and what a link carries in one direction"
    return f"{said}; NVLink on the right." if any(p.nvlinks != 0 for p in topology.pairs) else f"{said}."


def _gpus(topology: Topology) -> Iterator[Markup]:
    if not topology.gpus:
        return
    rows = []
    for gpu in topology.gpus:
        text, narrow = slowest(gpu)
        mig = f" (MIG, {gpu.mig_instances})" if gpu.mig_instances is not None else ""
        link: Child = tag("b", f"▼ {text}", class_="bad") if narrow else text
        numa = "?" if gpu.numa_node is None else str(gpu.numa_node)
        rows.append((f"GPU {gpu.index}{mig}", link, nvlinks(gpu), numa, gpu.cpus or "?"))
    yield table("GPUs and their links", ("", "slowest link to the processor", "NVLinks", "NUMA", "processors"), rows)


def _links(topology: Topology) -> Iterator[Markup]:
    """As `nvidia-smi topo -m` has it."""
    indices = [gpu.index for gpu in topology.gpus]
    if len(indices) < 2 and not topology.nic_pairs:
        return
    words = {}
    for pair in topology.pairs:
        words[pair.first, pair.second] = words[pair.second, pair.first] = pair.word or "?"
    names = {node.address: node.name or node.address for node in topology.nodes() if node.kind == "nic"}
    nics = list(dict.fromkeys(pair.nic for pair in topology.nic_pairs))
    to_nic = {(pair.gpu, pair.nic): pair.pcie or "?" for pair in topology.nic_pairs}
    rows = [
        (
            f"GPU {one}",
            *("·" if one == other else code(words.get((one, other), "?")) for other in indices),
            *(code(to_nic.get((one, nic), "?")) for nic in nics),
        )
        for one in indices
    ]
    yield tag("h3", "Links, as nvidia-smi topo -m has them")
    head = ("", *(f"GPU {i}" for i in indices), *(names.get(nic, nic).split(",")[0] for nic in nics))
    yield table("Links between each two", head, rows, class_="grid")
    yield tag("p", _LEGEND, class_="note")


_LEGEND = (
    "NV18: 18 NVLinks. PIX: one PCIe bridge between them, PXB: several, PHB: a host bridge, NODE: several within a NUMA node, "
    "SYS: the way between NUMA nodes."
)
