"""What compat/ knows of a GPU or of an Xid, for a person."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .. import compat
from ..compat.records import Architecture, GpuModel, Xid
from .lines import clean

_UNWRAPPED = 1 << 16
_HOW = {
    "certain": "certain",
    "inferred": "inferred",
    "reported": "as others report it",
    "recall": "from memory",
}


def gpus(
    asked: str,
    models: tuple[GpuModel, ...],
    console: Console,
    *,
    near: tuple[str, ...] = (),
    architectures: tuple[Architecture, ...] = (),
) -> None:
    """Print what is known of `models`, which is what `asked` means; where it means none, the names `near` it."""
    _begin(console)
    if not models:
        console.print(Text(f"No GPU is known here by the name {clean(asked)}."), soft_wrap=True)
        if near:
            console.print(Text(f"Known are: {', '.join(near)}"), soft_wrap=True)
        return
    if len(models) > 1:
        console.print(Text(f"{clean(asked)} may be one of {len(models)}:\n"), soft_wrap=True)
    for position, model in enumerate(models):
        if position:
            console.print()
        console.print(_gpu(model, architectures), crop=False)


def xid(code: int, record: Xid | None, console: Console) -> None:
    """Print what is known of an Xid."""
    _begin(console)
    if record is None:
        console.print(Text(f"Nothing is known here of Xid {code}."), soft_wrap=True)
        return
    rows = [
        ("Meaning", record.meaning or "not published for Ampere and newer GPUs"),
        *([("Older GPUs", record.older_meaning)] if record.older_meaning else []),
        ("Do now", _action(record)),
        *([("Investigate", record.investigate)] if record.investigate else []),
        ("Source", _sourced(record.source, record.confidence)),
    ]
    head = Text.assemble((f"Xid {code}", "bold"), (f"   {record.mnemonic}" if record.mnemonic else "", "dim"))
    console.print(Group(head, _rows(rows)), crop=False)


def _begin(console: Console) -> None:
    if not console.is_terminal:
        console.width = _UNWRAPPED


def _action(record: Xid) -> str:
    if record.action is None or record.action_text is None:
        return "NVIDIA publishes no action for it"
    return f"{record.action_text} ({record.action})"


def _gpu(model: GpuModel, architectures: tuple[Architecture, ...]) -> Group:
    family = next((a.name for a in architectures if model.compute_capability in a.compute_capabilities), None)
    head = Text.assemble(
        (model.name, "bold"),
        f"   compute capability {model.compute_capability}" + (f" ({family})" if family else ""),
    )
    return Group(head, _rows(list(_known(model))))


def _known(model: GpuModel) -> Iterator[tuple[str, str]]:
    """What is known of a model, a line each; what is unknown has no line."""
    if model.also:
        yield "Also", ", ".join(model.also)
    if model.pci_ids:
        yield "PCI", ", ".join(f"10de:{one}" for one in model.pci_ids)
    memory = (
        (model.memory_gb, "{:g} GB"),
        (model.memory_type, "{}"),
        (model.memory_width_bits, "{} bits"),
        (model.memory_gb_per_s, "{:g} GB/s"),
    )
    if any(value is not None for value, _ in memory):
        yield "Memory", ", ".join(form.format(value) for value, form in memory if value is not None)
    links = [f"PCIe {model.pcie_generation} x{model.pcie_width}"] if model.pcie_generation else []
    if model.nvlink is not None:
        link = model.nvlink
        total = f"{link.total_gb_per_s:g} GB/s, both directions together"
        links.append(f"NVLink {link.generation}: {link.links} links, {total}")
    if links:
        yield "Links", "; ".join(links)
    if model.p2p is not None:
        yield (
            "P2P",
            f"over PCIe: {'no, over NVLink only' if model.p2p == 'nvlink only' else model.p2p} [{model.p2p_source}]",
        )
    yield from _compute(model)
    if model.tdp_w is not None:
        yield "Power", f"{model.tdp_w} W"
    if model.note:
        yield "Note", model.note
    yield "Source", _sourced(model.source, model.confidence)
    if model.figures is not None and model.figures_source is not None:
        yield "", f"figures: {_sourced(model.figures_source, model.figures)}; shown only, no machine is judged by them"


def _compute(model: GpuModel) -> Iterator[tuple[str, str]]:
    if model.multiprocessors is not None:
        clock = f", {model.boost_mhz} MHz boost" if model.boost_mhz is not None else ""
        yield "Processors", f"{model.multiprocessors} multiprocessors{clock}"
    fp32 = compat.fp32_rate(model.compute_capability)
    if fp32 is not None:
        yield "A clock", f"{fp32.per_sm} FP32 operations a multiprocessor ({_HOW[fp32.confidence]}) [{fp32.source}]"
    rate = compat.tensor_rate(model.name, model.compute_capability)
    if rate is not None and rate.fp16_flop_per_sm is not None:
        flop = f"{rate.fp16_flop_per_sm} FLOP in FP16, {rate.tf32_flop_per_sm} in TF32, dense, accumulated in FP32"
        flop = flop if rate.fp16_flop_per_sm else "no tensor cores"
        yield "" if fp32 else "A clock", f"{flop} ({_HOW[rate.confidence]}) [{rate.source}]"
    peaks = compat.peaks(model)
    for name, peak in (("FP32", peaks.fp32_tflops), ("TF32", peaks.tf32_tflops), ("FP16", peaks.fp16_tflops)):
        if peak is not None:
            yield f"Peak {name}", f"{peak.value:.4g} TFLOP/s ({_HOW[peak.confidence]})"


def _sourced(source: str, confidence: str) -> str:
    """The source, and how certain it is where it is not."""
    how = _HOW[confidence]
    return source if confidence == "certain" or source.startswith(how) else f"{source} ({how})"


def _rows(rows: list[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, text in rows:
        grid.add_row(name, Text(clean(text)))
    return Padding(grid, (0, 0, 0, 2), expand=False)
