"""A comparison in GitHub's Markdown: the verdict, what came with the change that explains it, what is slower; folded, the rest."""

from __future__ import annotations

from collections.abc import Iterator

from ...compare import NewFinding
from ..lines import MARKS
from ..markdown import MOST, code, commands, prose
from ..view import count
from . import view as told
from .view import View

_NOTE = 500


def render(view: View) -> str:
    """As much as fits into an issue's comment; what is cut is said."""
    room, kept, missing = MOST - _NOTE, [], 0
    for text in _blocks(view):
        room -= len(text) + 2
        if room >= 0:
            kept.append(text)
        else:
            room += len(text) + 2
            missing += 1
    if missing:
        kept.append(f"{count(missing, 'part')} cut, to stay below {MOST:,} characters. `--format json` has everything.")
    return "\n\n".join(kept) + "\n"


def _blocks(view: View) -> Iterator[str]:
    one = view.comparison
    yield f"## {told.MARKS[view.verdict]} {prose(view.sentence)}"
    yield f"<sub>{prose(f'gpudoctor {one.tool.version} · compared: {view.verdict} · {view.head}')}</sub>"
    for new in one.new_findings:
        yield "\n\n".join(_new(new))
    if one.lost:
        yield "### Lost\n\n" + "\n".join(f"- {prose(change)}" for change in view.said(one.lost))
    if one.losses:
        yield "### Slower\n\n" + "\n".join(f"- {prose(told.slower(loss))}" for loss in one.losses)
    for summary, items in (
        ("Changed", [said for changes in view.groups.values() for said in view.said(changes)]),
        ("Details, and what follows from these", view.said(view.folded)),
        ("Not found any more", [told.went(gone) for gone in one.gone_findings]),
        ("Faster", [told.slower(gain) for gain in one.gains]),
        (
            "Not known on one side, and so no change",
            [f"{n.side}: {told.not_known(n)}" for n in one.not_known],
        ),
    ):
        if items:
            yield from _folded(f"{summary}: {len(items)}", items)
    yield prose(f"The same: {view.alike}")


def _new(new: NewFinding) -> Iterator[str]:
    finding = new.finding
    yield f"### New: {MARKS[finding.level][0]} {prose(finding.title)}"
    yield f"{code(finding.cause)} {finding.code}"
    yield prose(finding.message)
    if note := told.came(new):
        yield prose(note)
    yield f"**{prose(told.because(new.explanation))}**"
    for fix in finding.fixes[:1]:
        yield f"**Fix:** {prose(fix.summary)}"
        if fix.steps:
            yield commands(fix.steps)


def _folded(summary: str, items: list[str], most: int = 100) -> Iterator[str]:
    rest = f"\n- and {len(items) - most} more" if len(items) > most else ""
    inside = "\n".join(f"- {prose(item)}" for item in items[:most]) + rest
    yield f"<details><summary>{summary}</summary>\n\n{inside}\n\n</details>"
