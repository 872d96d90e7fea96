"""What a pasted text tells, for a person: the cause, or the candidates and what settles them, or that nothing is wrong in it."""

from __future__ import annotations

from collections.abc import Iterator

from ..bundle import Report
from ..facts import TextEvent, Unread
from ..findings import Candidate
from ..logs.harmless import HARMLESS
from .lines import Line, cause, clean, evidence, line, paste

_SHOWN = 6
"""Candidates that are shown with their command; the others are named."""


_UNDECIDED = "This text does not decide between these causes. What would settle each, likely ones first:"
_ONE_FITS = "What fits this text, and what would settle it:"


def plain(report: Report, *, verbose: bool = False) -> str:
    """As text without styles, which is not wrapped."""
    return "".join(f"{one.plain}\n" for one in lines(report, verbose=verbose))


def lines(report: Report, *, verbose: bool = False) -> Iterator[Line]:
    """The lines that say what `report`, which was made of a text, found."""
    diagnosis, text = report.diagnosis, report.facts.text
    count = f"{text.lines} lines" if text.lines != 1 else "1 line"
    left_out = f"; not read: {text.left_out}" if isinstance(text.left_out, str) else ""
    yield line(f"gpudoctor {report.tool.version} · {count}{left_out}", "dim")
    yield Line()
    for position, root in enumerate(diagnosis.root_causes):
        yield from cause(root, "here", whole=position == 0 or verbose)
        yield Line()
    found = {f.cause: f for f in report.findings}
    likely = {name for root in diagnosis.root_causes if not root.proven for name in root.explains}
    for symptom, candidates in diagnosis.candidates.items():
        if symptom in likely:
            yield line("If it is not that, these fit as well. What would settle each, likely ones first:", "bold")
        else:
            yield Line((("? ", "bold yellow"), (clean(found[symptom].title), "bold"), (f"   {symptom}", "dim")))
            yield from evidence(found[symptom].proof)
            yield line(_UNDECIDED if len(candidates) > 1 else _ONE_FITS, indent=2)
        yield from _candidates(candidates, verbose)
        if report.facts.system.system not in ("Windows", "Darwin"):
            yield line("All at once, on that machine: gpudoctor check", "dim", 4)
        yield Line()
    for left in diagnosis.unexplained:
        yield Line((("? ", "bold yellow"), (clean(found[left.symptom].title), "bold")))
        yield from evidence(left.proof)
        yield line("This text does not tell why. To find out, there:", indent=2)
        yield paste("gpudoctor check")
        yield Line()
    yield from _harmless(report)
    yield verdict(report)


def _candidates(candidates: tuple[Candidate, ...], verbose: bool) -> Iterator[Line]:
    titles = {c.cause: c.title for c in candidates}
    shown = candidates if verbose else candidates[:_SHOWN]
    by_command: dict[str, list[str]] = {}
    for one in shown:
        by_command.setdefault(one.settle or "gpudoctor check", []).append(one.cause)
    for command, causes in by_command.items():
        for name in causes:
            yield line(f"{name}: {titles[name]}", indent=4)
        yield paste("  " + command)
    if rest := candidates[len(shown) :]:
        names = ", ".join(c.cause for c in rest)
        yield line(f"Less likely: {names}  (-v shows their commands)", "dim", 4)


def _harmless(report: Report) -> Iterator[Line]:
    found = harmless(report)
    if not found:
        return
    yield line("Harmless in this text", "bold")
    for event, why in found:
        yield line(f"line {event.line}: {_short(event.text)} ({why})", "dim", 4)
    yield Line()


def harmless(report: Report) -> list[tuple[TextEvent, str]]:
    """The lines that look bad and mean nothing, each kind once, and what it is."""
    events = report.facts.text.events
    first: dict[str, TextEvent] = {}
    for event in () if isinstance(events, Unread) else events:
        if event.kind in HARMLESS:
            first.setdefault(event.kind, event)
    return [(event, HARMLESS[kind]) for kind, event in sorted(first.items(), key=lambda item: item[1].line)]


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def verdict(report: Report) -> Line:
    """The last line: what the text tells, in a sentence."""
    diagnosis = report.diagnosis
    causes = list(dict.fromkeys(r.cause for r in diagnosis.root_causes if r.level != "info"))
    if causes and not all(r.proven for r in diagnosis.root_causes):
        return line(f"Likely cause, not proven by this text: {', '.join(causes)}", "bold yellow")
    if causes:
        return line(f"Cause: {', '.join(causes)}", "bold red")
    if diagnosis.candidates:
        names = [c.cause for group in diagnosis.candidates.values() for c in group]
        others = f", or one of {len(names) - 1} others" if len(names) > 2 else f", or {names[1]}" if names[1:] else ""
        return line(f"Not decided by this text: {names[0]}{others}.", "bold yellow")
    if diagnosis.unexplained:
        return line("Not decided by this text.", "bold yellow")
    if _is_told(report):
        return line(_NOT_READ, "bold yellow")
    return Line((("✓ Nothing wrong in this text. ", "bold green"), (_limits(report), "")))


_NOT_READ = (
    "Not decided by this text: no program's line in it shows a fault, and of what people write gpudoctor understands a part only. "
    "Add what the program prints (all of it), or run gpudoctor check on that machine."
)


def _is_told(report: Report) -> bool:
    """Whether somebody's words are what there is: no program's line shows GPUs at work, and none that is harmless is what they
    may ask about."""
    text = report.facts.text
    wrote = bool(text.alike) and not isinstance(text.alike, Unread)
    gpus = report.facts.tensorflow.gpus()
    return wrote and not harmless(report) and (isinstance(gpus, Unread) or not gpus)


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
