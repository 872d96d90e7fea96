"""One page of HTML for a ticket: the verdict, causes with proof and fixes, the machine, its topology, what was measured, and how far
all that reaches. It needs no network and runs no program; whoever made the report, nothing in it becomes markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from ..view import View, sentence
from . import causes, checks, machine, measured, topology
from .markup import Markup, joined, tag
from .page import MOST, Section, page

_AROUND = 60_000
"""Of these, for what stands around the parts."""
_MARKS = {"healthy": "✓", "unknown": "?", "warning": "!", "faulty": "✗"}


class _Part(NamedTuple):
    id: str
    title: str
    make: Callable[[View], Iterable[Markup]]


_SECTIONS = (
    _Part("causes", "Root causes", causes.roots),
    _Part("open", "Without a cause so far", causes.open_symptoms),
    _Part("ignored", "Ignored", checks.left_out),
    _Part("explained", "What else was found", causes.explained),
    _Part("notes", "For information", causes.notes),
    _Part("run", "The run", machine.ran),
    _Part("text", "The text", machine.pasted),
    _Part("machine", "Machine", machine.machine),
    _Part("topology", "Topology", topology.section),
    _Part("measured", "Measured", measured.section),
    _Part("undecided", "Could not be decided", checks.undecided),
    _Part("not-applicable", "Does not apply here", checks.not_applicable),
    _Part("ruled-out", "Ruled out", checks.ruled_out),
    _Part("replaced", "Replaced by tokens", checks.replaced),
    _Part("made", "How this was made", checks.made),
)


def render(view: View, above: Sequence[Section] = ()) -> str:
    """The page, with what stands `above` its sections. What there is no room for is said."""
    *others, last = _SECTIONS
    end, _ = _within(last.make(view), MOST // 3)
    made, cut, room = list(above), [], MOST - _AROUND - len(end) - sum(len(one.inside) for one in above)
    for section in others:
        inside, whole = _within(section.make(view), min(room, MOST // 3))
        room -= len(inside)
        if inside:
            made.append(Section(section.id, section.title, inside))
        if not whole:
            cut.append(section.title)
    made.append(Section(last.id, last.title, end))
    return page(_sentence(view), _headline(view), made, cut)


def _within(parts: Iterable[Markup], room: int) -> tuple[Markup, bool]:
    """The parts for which there is room, and whether that is all of them. A part that breaks on what a report holds takes no
    other with it."""
    kept: list[Markup] = []
    try:
        for part in parts:
            room -= len(part)
            if room < 0:
                return joined(kept), False
            kept.append(part)
    except Exception as e:
        kept.append(tag("p", f"The rest of this part could not be drawn: {type(e).__name__}: {e}", class_="cut broken"))
    return joined(kept), True


def _sentence(view: View) -> str:
    """Here the verdict comes first."""
    return view.sentence if view.causes else view.sentence.replace("see above what is left", "see below what is left")


def _headline(view: View) -> Iterator[Markup]:
    report = view.report
    looks = "healthy" if sentence(report).plain.startswith(_MARKS["healthy"]) else view.verdict
    sign = _MARKS[looks] if view.causes or looks == "healthy" else "?"
    mark = tag("span", sign, class_="mark", aria_hidden="true")
    first, stop, rest = _sentence(view).partition(". ")
    yield tag(
        "h1", mark, " ", tag("span", first + stop), tag("span", rest, class_="rest") if rest else None, class_=looks
    )
    word = "read" if report.facts.text.is_all else "recorded" if view.recorded else "examined"
    host = "" if report.facts.text.is_all else machine.in_a_line(report.facts)
    by = f"gpudoctor {report.tool.version}, {word} "
    yield tag("p", host, " · " if host else None, by, checks.when(report.started_at), class_="name")
