"""A comparison for a person, as lines with their styles: what is worse first, then what changed."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines import MARKS, Line, clean, line
from ..view import count
from . import view as told
from .view import View

_MOST_OF_A_GROUP = 12
_STYLES = {"worse": "bold red", "better": "bold green", "changed": "bold", "same": "bold green"}


def lines(view: View) -> Iterator[Line]:
    """All of it."""
    yield line(view.head, "dim")
    yield Line()
    yield from _new(view)
    if view.comparison.lost:
        yield line("Lost", "bold")
        yield from map(_item, view.said(view.comparison.lost))
        yield Line()
    yield from _losses(view)
    yield from _changes(view)
    yield from _better(view)
    yield from _not_known(view)
    yield line(f"The same: {view.alike}")
    yield Line()
    mark = told.MARKS[view.verdict]
    yield Line(((f"{mark} {clean(view.sentence)}", _STYLES[view.verdict]),))


def _new(view: View) -> Iterator[Line]:
    for one in view.comparison.new_findings:
        finding, explanation = one.finding, one.explanation
        mark, style = MARKS[finding.level]
        name = f"{finding.cause} {finding.code}"
        yield Line(((f"{mark} ", style), (f"New: {clean(finding.title)}", "bold"), (f"   {clean(name)}", "dim")))
        yield line(finding.message, indent=2)
        if note := told.came(one):
            yield line(note, "yellow", indent=2)
        yield line(told.because(explanation), "bold" if explanation.changes else "yellow", indent=2)
        if view.verbose and (less := told.others(explanation)):
            yield line(less, "dim", indent=2)
        if finding.fixes:
            yield line(f"Fix: {finding.fixes[0].summary}", "green", indent=2)
        yield Line()


def _losses(view: View) -> Iterator[Line]:
    if not view.comparison.losses:
        return
    yield line("Slower", "bold")
    for one in view.comparison.losses:
        yield _item(told.slower(one))
        yield line(f"      {told.beside(one) or told.NOT_EXPLAINED}", "dim")
    yield Line()


def _changes(view: View) -> Iterator[Line]:
    if not view.comparison.changes:
        return
    yield line("Changed", "bold")
    for group, changes in view.groups.items():
        yield line(f"  {group}")
        said = view.said(changes)
        most = len(said) if view.verbose else _MOST_OF_A_GROUP
        yield from map(_item, said[:most])
        if rest := said[most:]:
            yield line(f"      and {len(rest)} more (-v lists them)", "dim")
    if not view.verbose:
        details, following = len(view.leading) - len(view.telling), len(view.following)
        left = [count(details, "detail")] if details else []
        left += (
            [f"{count(following, 'change')} that follow{'s' if following == 1 else ''} from these"] if following else []
        )
        if left:
            yield line(f"  and {' and '.join(left)} (-v lists them)", "dim")
    yield Line()


def _better(view: View) -> Iterator[Line]:
    one = view.comparison
    if one.gone_findings:
        yield line("Not found any more", "bold")
        yield from (_item(told.went(finding)) for finding in one.gone_findings)
        yield Line()
    if one.gains:
        yield line("Faster", "bold")
        yield from (_item(told.slower(gain)) for gain in one.gains)
        yield Line()


def _not_known(view: View) -> Iterator[Line]:
    for side, words in (("before", "Not known before"), ("now", "Not known now")):
        ones = [one for one in view.comparison.not_known if one.side == side]
        if not ones:
            continue
        more = "" if view.verbose else " (-v lists them)"
        yield line(f"{words}, and so no change: {count(len(ones), 'fact')}{more}", "yellow")
        if view.verbose:
            yield from (_item(told.not_known(one)) for one in ones)


def _item(text: str) -> Line:
    return Line(((clean(text), ""),), is_item=True)
