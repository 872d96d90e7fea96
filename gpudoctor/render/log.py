"""What a pasted text tells, for a person: the cause, or the candidates and what settles them, or that nothing is wrong in it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.text import Text

from ..bundle import Report
from ..facts import TextEvent, Unread
from ..findings import Candidate
from ..logs.harmless import HARMLESS
from .text import evidence, indented, paste, root_block, styled

_SHOWN = 6
"""Candidates that are shown with their command; the others are named."""


def show(report: Report, console: Console, *, verbose: bool = False) -> None:
    """Print `report`, which was made of a text."""
    if not console.is_terminal:
        console.width = 1 << 16
    for block in _blocks(report, verbose):
        console.print(block, crop=False)
        console.print()
    console.print(_verdict(report))


def _blocks(report: Report, verbose: bool) -> Iterator[RenderableType]:
    diagnosis, text = report.diagnosis, report.facts.text
    lines = f"{text.lines} lines" if text.lines != 1 else "1 line"
    left_out = f"; not read: {text.left_out}" if isinstance(text.left_out, str) else ""
    yield styled(f"gpudoctor {report.tool.version} · {lines}{left_out}", "dim")
    for position, root in enumerate(diagnosis.root_causes):
        yield root_block(root, "here", whole=position == 0 or verbose)
    found = {f.cause: f for f in report.findings}
    for symptom, candidates in diagnosis.candidates.items():
        head = Text.assemble(
            ("? ", "bold yellow"), styled(found[symptom].title, "bold"), styled(f"   {symptom}", "dim")
        )
        yield Group(head, *evidence(found[symptom].proof), *_candidates(candidates, verbose))
    for left in diagnosis.unexplained:
        head = Text.assemble(("? ", "bold yellow"), styled(found[left.symptom].title, "bold"))
        yield Group(
            head,
            *evidence(left.proof),
            indented(styled("This text does not tell why. To find out, there:"), 2),
            paste("gpudoctor check"),
        )
    if harmless := _harmless(report):
        yield Group(*harmless)


def _candidates(candidates: tuple[Candidate, ...], verbose: bool) -> Iterator[RenderableType]:
    titles = {c.cause: c.title for c in candidates}
    several = len(candidates) > 1
    yield Text(
        "  This text does not decide between these causes. What would settle each, likely ones first:"
        if several
        else "  What fits this text, and what would settle it:"
    )
    shown = candidates if verbose else candidates[:_SHOWN]
    by_command: dict[str, list[str]] = {}
    for one in shown:
        by_command.setdefault(one.settle or "gpudoctor check", []).append(one.cause)
    for command, causes in by_command.items():
        for cause in causes:
            yield styled(f"    {cause}: {titles[cause]}")
        yield paste("  " + command)
    if rest := candidates[len(shown) :]:
        yield indented(styled(f"Less likely: {', '.join(c.cause for c in rest)}  (-v shows their commands)", "dim"), 4)
    yield indented(styled("All at once, on that machine: gpudoctor check", "dim"), 4)


def _harmless(report: Report) -> list[RenderableType]:
    events = report.facts.text.events
    first: dict[str, TextEvent] = {}
    for event in () if isinstance(events, Unread) else events:
        if event.kind in HARMLESS:
            first.setdefault(event.kind, event)
    if not first:
        return []
    return [
        Text("Harmless in this text", style="bold"),
        *(
            styled(f"    line {event.line}: {_short(event.text)} ({HARMLESS[kind]})", "dim")
            for kind, event in sorted(first.items(), key=lambda item: item[1].line)
        ),
    ]


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _verdict(report: Report) -> Text:
    diagnosis = report.diagnosis
    causes = [r.cause for r in diagnosis.root_causes if r.level != "info"]
    if causes:
        return styled(f"Cause: {', '.join(causes)}", "bold red")
    if diagnosis.candidates:
        count = sum(len(c) for c in diagnosis.candidates.values())
        return styled(f"Not decided: {count} candidate{'' if count == 1 else 's'}.", "bold yellow")
    if diagnosis.unexplained:
        return styled("Not decided by this text.", "bold yellow")
    return Text.assemble(("✓ Nothing wrong in this text. ", "bold green"), _limits(report))


def _limits(report: Report) -> str:
    """What a text without a fault does not show."""
    gpus, events = report.facts.tensorflow.gpus(), report.facts.text.events
    if not events:
        return "Nothing in it is about GPUs, as far as gpudoctor knows its language."
    if isinstance(gpus, Unread) or not gpus:
        return "It does not show whether TensorFlow lists its GPUs: gpudoctor check does."
    listed = f"TensorFlow lists {len(gpus)} GPU{'' if len(gpus) == 1 else 's'}."
    return (
        f"{listed} It can't show whether that is all of them, whether results are right, and whether they are fast: "
        "gpudoctor check does."
    )
