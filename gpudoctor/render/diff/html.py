"""A comparison as a page: what is worse with the change that explains it, what changed, what got better, what is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...compare import NewFinding
from ..html.causes import fixes, mark, proof
from ..html.checks import when
from ..html.markup import Markup, capped, code, folded, joined, tag
from ..html.page import Section, page
from ..lines import MARKS
from ..view import count
from . import view as told
from .view import View

_MOST = 500
_MOST_FINDINGS = 100
_LOOKS = {"worse": "faulty", "better": "healthy", "changed": "", "same": "healthy"}


def render(view: View) -> str:
    """The page."""
    return page(view.sentence, joined(_headline(view)), sections(view), ())


def sections(view: View) -> list[Section]:
    """What it says, for a page of its own or above a report."""
    one = view.comparison
    made = (
        ("compared", "Compared", _summary(view)),
        ("new", "New findings", _new(view)),
        ("lost", "Lost", _listed(view.said(one.lost))),
        ("slower", "Slower", _slower(view)),
        ("changed", "Changed", _changes(view)),
        ("gone", "Not found any more", _listed(map(told.went, one.gone_findings))),
        ("faster", "Faster", _listed(map(told.slower, one.gains))),
        ("one-sided", "Not known on one side", _not_known(view)),
    )
    every = (Section(name, title, joined(inside)) for name, title, inside in made)
    return [section for section in every if section.inside]


def _headline(view: View) -> Iterator[Markup]:
    sign = tag("span", told.MARKS[view.verdict], class_="mark", aria_hidden="true")
    yield tag("h1", sign, " ", view.sentence, class_=_LOOKS[view.verdict])
    one = view.comparison
    yield tag(
        "p",
        f"gpudoctor {one.tool.version}, ",
        when(one.old.started_at),
        " and ",
        when(one.new.started_at),
        class_="name",
    )


def _summary(view: View) -> Iterator[Markup]:
    yield tag("p", "Verdict of the comparison: ", tag("b", view.verdict, id="comparison"), f". {view.sentence}")
    yield tag("p", view.head, class_="name")
    yield tag("p", f"The same: {view.alike}.", class_="name")


def _new(view: View) -> Iterator[Markup]:
    where = "here" if view.comparison.basis == "baseline" else "there"
    shown, left = capped(view.comparison.new_findings, _MOST_FINDINGS)
    for number, one in enumerate(shown, 1):
        yield tag("article", _finding(one, where), class_=f"cause {one.finding.level}", id=f"new-{number}")
    if left is not None:
        yield left


def _finding(one: NewFinding, where: str) -> Iterator[Markup]:
    finding = one.finding
    yield tag("h3", mark(MARKS[finding.level][0], "new"), " ", finding.title)
    yield tag("p", code(finding.cause), f" {finding.code}", class_="name")
    yield tag("p", finding.message)
    if note := told.came(one):
        yield tag("p", note)
    yield tag("p", tag("b", told.because(one.explanation)))
    if less := told.others(one.explanation):
        yield tag("p", less, class_="name")
    yield proof(finding.proof)
    yield from fixes(finding.fixes, where)


def _slower(view: View) -> Iterator[Markup]:
    shown, left = capped(view.comparison.losses, _MOST)
    if not shown:
        return
    rows = (
        tag("li", told.slower(one), tag("span", told.beside(one) or told.NOT_EXPLAINED, class_="below"))
        for one in shown
    )
    yield tag("ul", rows)
    if left is not None:
        yield left


def _changes(view: View) -> Iterator[Markup]:
    for group, changes in view.groups.items():
        yield tag("h3", group)
        yield from _listed(view.said(changes))
    if view.folded:
        yield folded(
            f"{count(len(view.folded), 'change')} more: details, and what follows from these",
            *_listed(view.said(view.folded)),
        )


def _not_known(view: View) -> Iterator[Markup]:
    every = [f"{one.side}: {told.not_known(one)}" for one in view.comparison.not_known]
    if every:
        yield folded(f"{count(len(every), 'fact')}, and so no change", *_listed(every))


def _listed(texts: Iterable[str]) -> Iterator[Markup]:
    shown, left = capped(list(texts), _MOST)
    if shown:
        yield tag("ul", (tag("li", one) for one in shown))
    if left is not None:
        yield left
