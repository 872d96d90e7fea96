"""A topology: tree and matrices for a person; JSON; DOT for Graphviz."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import msgspec
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from ..bundle import Report, Tool
from ..facts import Facts, Unread
from ..findings import Finding
from ..topology import GpuPlace, Node, Pair, PcieLink, Topology, derive
from ..topology.host import Said, around
from ..topology.model import Part
from .console import PipeConsole
from .lines import clean
from .links import nvlinks, slowest, title
from .text import root_block, styled

_BAD, _DIM = "bold yellow", "dim"
_PIPE_WIDTH = 200


def of(report: Report) -> tuple[Facts, Topology]:
    """The facts of a report with what was measured, and the topology that they tell."""
    facts = report.seen
    return facts, derive(facts)


# ----------------------------------------------------------------------------- for a program

_DERIVED: dict[type, tuple[str, ...]] = {
    PcieLink: ("gb_per_s", "possible_gb_per_s", "is_degraded", "words"),
    GpuPlace: ("bottleneck",),
    Pair: ("word",),
}


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What `gpudoctor topo --format json` prints."""

    tool: Tool
    started_at: str
    driver_version: str | None
    topology: object
    host: dict[str, str]
    findings: tuple[Finding, ...]


def json(report: Report) -> str:
    """Indented JSON with a line end. Rates are GB/s (10^9 bytes/s), one direction; null is 'not told'."""
    facts, topology = of(report)
    version = facts.driver.kernel_version
    shown = Shown(
        tool=report.tool,
        started_at=report.started_at,
        driver_version=version if isinstance(version, str) else None,
        topology=_plain(topology),
        host=dict(around(facts)),
        findings=report.findings,
    )
    return msgspec.json.format(msgspec.json.encode(shown), indent=2).decode() + "\n"


def _plain(value: object) -> object:
    """A part as plain data, with what is derived from it."""
    if isinstance(value, Part):
        names = (*value.__struct_fields__, *_DERIVED.get(type(value), ()))
        return {name: _plain(getattr(value, name)) for name in names}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def dot(report: Report) -> str:
    """A graph for Graphviz: what hangs on what, with its links; dashed: NVLink."""
    _, topology = of(report)
    lines = ["graph topology {", "  rankdir=TB; node [shape=box, fontname=sans]; edge [fontname=sans];"]

    def draw(node: Node, above: str | None) -> None:
        label = [title(node), *([node.name] if node.name else [])]
        label += [f"NUMA {node.numa_node}"] if node.numa_node is not None and node.kind == "host-bridge" else []
        shape = {"gpu": ", style=filled, fillcolor=palegreen", "nic": ", style=rounded"}.get(node.kind, "")
        lines.append(f"  {_quoted(node.address)} [label={_quoted(chr(10).join(label))}{shape}];")
        if above is not None:
            words = node.link.words if node.link else ""
            colour = ", color=red" if node.link and node.link.is_degraded else ""
            lines.append(f"  {_quoted(above)} -- {_quoted(node.address)} [label={_quoted(words)}{colour}];")
        for child in node.children:
            draw(child, node.address)

    for root in topology.roots:
        draw(root, None)
    address = {g.index: g.address for g in topology.gpus}
    for pair in topology.pairs:
        one, other = address[pair.first], address[pair.second]
        if one and other and pair.nvlinks != 0:
            label = f"{pair.word}{f' {pair.measured_gb_per_s:.0f} GB/s' if pair.measured_gb_per_s else ''}"
            lines.append(
                f"  {_quoted(one)} -- {_quoted(other)} [style=dashed, constraint=false, label={_quoted(label)}];"
            )
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + clean(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# ----------------------------------------------------------------------------- for a person


def show(report: Report, out: Console, *, why_unmeasured: str, recorded: bool) -> None:
    """Print it; without a terminal, 200 columns wide. `why_unmeasured`: said where no pair was measured. `recorded`: the report was made elsewhere or earlier."""
    if not out.is_terminal:
        kept = PipeConsole(file=io.StringIO(), highlight=False, emoji=False)
        kept.width = _PIPE_WIDTH
        _show(report, kept, why_unmeasured, recorded=recorded)
        assert isinstance(kept.file, io.StringIO)
        out.file.write("".join(line.rstrip() + "\n" for line in kept.file.getvalue().splitlines()))
        return
    _show(report, out, why_unmeasured, recorded=recorded)


def _show(report: Report, out: Console, why_unmeasured: str, *, recorded: bool) -> None:
    facts, topology = of(report)
    out.print(styled(_head(report, facts, topology), _DIM), soft_wrap=True)
    for block in _blocks(facts, topology, why_unmeasured, out.width):
        out.print()
        out.print(block)
    for root in report.diagnosis.root_causes:
        out.print()
        out.print(root_block(root, "there" if recorded else "here", whole=True))


def _head(report: Report, facts: Facts, topology: Topology) -> str:
    names = [g.name or "GPU" for g in topology.gpus]
    head = [f"gpudoctor {report.tool.version}", *(f"{names.count(n)}x {n}" for n in dict.fromkeys(names))]
    version = facts.driver.kernel_version
    head += [f"driver {version}"] if isinstance(version, str) else []
    head += ["virtual machine"] if topology.virtual else []
    return " · ".join(head)


def _blocks(facts: Facts, topology: Topology, why_unmeasured: str, width: int) -> list[RenderableType]:
    blocks: list[RenderableType] = [
        _headed("PCI Express", [_tree(root) for root in topology.roots] or [styled(_nothing(facts))])
    ]
    if topology.gpus:
        blocks.append(_headed("GPUs", [_gpus(topology)]))
    if len(topology.gpus) > 1 or topology.nic_pairs:
        blocks.append(_matrices(topology, why_unmeasured, width))
    blocks.append(_headed("This host", [_around(around(facts))]))
    if topology.untold:
        blocks.append(_headed("Not told", [styled(text) for text in topology.untold]))
    return blocks


def _nothing(facts: Facts) -> str:
    return "not seen" if isinstance(facts.pci.devices, Unread) else "no GPU of NVIDIA is on the bus"


def _headed(title: str, parts: Sequence[RenderableType]) -> Group:
    return Group(Text(title, style="bold"), *(Padding(part, (0, 0, 0, 2), expand=False) for part in parts))


def _tree(root: Node) -> Tree:
    tree = Tree(_line(root), guide_style=_DIM)

    def grow(branch: Tree, node: Node) -> None:
        for child in node.children:
            grow(branch.add(_line(child)), child)

    grow(tree, root)
    return tree


def _line(node: Node) -> Text:
    parts: list[tuple[str, str]] = [(title(node), "bold" if node.kind == "gpu" else "")]
    if node.kind == "gpu":
        parts.append((f"  {node.address}", ""))
    if node.name:
        parts.append((f"  {clean(node.name)}", ""))
    if node.link is not None and node.link.words:
        rate = node.link.gb_per_s
        parts.append(
            (f"  {node.link.words}" + (f", {rate:.3g} GB/s" if rate else ""), _BAD if node.link.is_degraded else "")
        )
    if node.link is not None and node.link.is_degraded:
        parts.append(("  degraded", _BAD))
    if node.kind == "host-bridge" and node.numa_node is not None:
        parts.append((f"  NUMA node {node.numa_node}", ""))
    return Text.assemble(*parts)


def _gpus(topology: Topology) -> Table:
    table = Table(box=None, pad_edge=False, header_style=_DIM, padding=(0, 2, 0, 0))
    for name in ("", "slowest link to the processor", "NVLinks", "NUMA", "processors"):
        table.add_column(name)
    for gpu in topology.gpus:
        name = f"GPU {gpu.index}" + (f" (MIG, {gpu.mig_instances})" if gpu.mig_instances is not None else "")
        text, narrow = slowest(gpu)
        link = styled(text, _BAD if narrow else "")
        table.add_row(name, link, nvlinks(gpu), _or(gpu.numa_node), clean(gpu.cpus) if gpu.cpus else "?")
    return table


def _or(value: int | None) -> str:
    return "?" if value is None else str(value)


_Cell = Callable[[int, int], str]


def _matrices(topology: Topology, why_unmeasured: str, width: int) -> RenderableType:
    """Side by side where they fit."""
    shown = [_headed("Links, as nvidia-smi topo -m has them", [_links(topology)])]
    copies = any(p.measured_gb_per_s or p.measured_back_gb_per_s for p in topology.pairs)
    if copies:
        shown.append(_headed("Copy from row to column, GB/s", [_grid(topology, lambda a, b: _copied(topology, a, b))]))
    if any(p.all_reduce_gb_per_s for p in topology.pairs):
        shown.append(
            _headed(
                "All-reduce of two alone, GB/s (bus bandwidth)",
                [_grid(topology, lambda a, b: _reduced(topology, a, b))],
            )
        )
    console = Console(width=width)
    widths = [console.measure(one).maximum + 4 for one in shown]
    rows: list[RenderableType] = []
    row: list[RenderableType] = []
    used = 0
    for one, needs in zip(shown, widths, strict=True):
        if row and used + needs > width:
            rows += [_beside(row), Text()]
            row, used = [], 0
        row.append(one)
        used += needs
    rows.append(_beside(row))
    if len(topology.gpus) > 1 and not copies:
        rows.append(Padding(styled(f"not measured: {why_unmeasured}", _DIM), (0, 0, 0, 2), expand=False))
    return Group(*rows)


def _beside(parts: list[RenderableType]) -> RenderableType:
    table = Table.grid(padding=(0, 4, 0, 0))
    table.add_row(*parts)
    return table


def _links(topology: Topology) -> Table:
    nics = list(dict.fromkeys(p.nic for p in topology.nic_pairs))
    words = {(p.gpu, p.nic): p.pcie for p in topology.nic_pairs}

    def cell(a: int, b: int) -> str:
        pair = topology.pair(a, b)
        return (pair.word if pair else None) or "?"

    names = {n.address: n.name or n.address for n in topology.nodes() if n.kind == "nic"}
    columns = [names.get(nic, nic).split(",")[0] for nic in nics]
    return _grid(topology, cell, columns, lambda a, position: words.get((a, nics[position])) or "?")


def _grid(topology: Topology, cell: _Cell, more: Sequence[str] = (), of_more: _Cell | None = None) -> Table:
    table = Table(box=None, pad_edge=False, header_style=_DIM, padding=(0, 1, 0, 0))
    table.add_column("", style=_DIM, no_wrap=True)
    indices = [g.index for g in topology.gpus]
    for name in (*(f"GPU{i}" for i in indices), *more):
        table.add_column(clean(name), no_wrap=True)
    for one in indices:
        cells = ["X" if one == other else cell(one, other) for other in indices]
        cells += [of_more(one, i) for i in range(len(more))] if of_more else []
        table.add_row(f"GPU{one}", *cells)
    return table


def _copied(topology: Topology, first: int, second: int) -> str:
    pair = topology.pair(first, second)
    value = None if pair is None else pair.measured_gb_per_s if pair.first == first else pair.measured_back_gb_per_s
    return f"{value:.3g}" if value else "-"


def _reduced(topology: Topology, first: int, second: int) -> str:
    pair = topology.pair(first, second)
    return f"{pair.all_reduce_gb_per_s:.3g}" if pair and pair.all_reduce_gb_per_s else "-"


def _around(said: tuple[Said, ...]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=_DIM, no_wrap=True)
    table.add_column(overflow="fold")
    for about, text in said:
        table.add_row(about, styled(text))
    return table
