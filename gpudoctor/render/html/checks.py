"""How far the answer reaches: what could not be decided, what does not apply, what was ruled out, what was replaced, and how the
page was made."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from ...facts import Unread
from ...findings import Unknown
from .. import ignored
from ..view import View, count
from .causes import settled_by
from .markup import Child, Markup, capped, code, folded, listed, table, tag

UTC = datetime.timezone.utc
_MOST = 500


def left_out(view: View) -> Iterator[Markup]:
    """What counts for nothing because the ignore list says so."""
    shown, left = capped(list(ignored.lines(view.report.ignored)), _MOST)
    if shown:
        yield tag("p", f"{ignored.head(ignored.count(view.report.ignored))}:")
        yield tag("ul", (tag("li", one) for one in shown))
    if left is not None:
        yield left


def undecided(view: View) -> Iterator[Markup]:
    """Checks that could not be decided, with what settles each: those that anybody may settle, those that need root, those
    that nobody asked for."""
    if view.report.facts.text.is_all:
        return
    left = view.report.unknown
    yield from _unknown([one for one in left if not one.chosen and not one.needs_root], "", view)
    yield from _unknown([one for one in left if not one.chosen and one.needs_root], "Only root may look", view)
    yield from _unknown([one for one in left if one.chosen], "Not asked for", view)


def _unknown(every: list[Unknown], title: str, view: View) -> Iterator[Markup]:
    if not every:
        return
    if title:
        yield tag("h3", title)
    groups: dict[tuple[str, str | None], list[str]] = {}
    for one in every[: 10 * _MOST]:
        groups.setdefault((one.why, one.settle), []).append(one.cause)
    shown, left = capped(list(groups.items()), _MOST)
    rows = (
        (listed(causes[:_MOST]), why, settled_by(settle, recorded=view.recorded)) for (why, settle), causes in shown
    )
    yield table(title or "Could not be decided", ("check", "why", "what settles it"), rows, class_="prose")
    if left is not None:
        yield left


def not_applicable(view: View) -> Iterator[Markup]:
    """Checks that have nothing to look at here."""
    reasons: dict[str, list[str]] = {}
    for one in () if view.report.facts.text.is_all else view.report.skipped[: 10 * _MOST]:
        reasons.setdefault(one.reason, []).append(one.cause)
    shown, left = capped(list(reasons.items()), _MOST)
    if shown:
        rows = ((reason, listed(causes[:_MOST])) for reason, causes in shown)
        inside = table("Does not apply here", ("why not", "checks"), rows, class_="prose")
        yield folded(count(len(view.report.skipped), "check"), inside, left)


def ruled_out(view: View) -> Iterator[Markup]:
    """What was looked at and is not the cause, with what was seen instead."""
    out = view.report.diagnosis.ruled_out
    shown, left = capped(out, _MOST)
    if not shown:
        return
    if any(one.reason for one in shown):
        rows: Iterable[tuple[Child, ...]] = ((code(one.cause), one.code, one.reason) for one in shown)
        inside = table("Ruled out", ("cause or symptom", "code", "what was seen"), rows, class_="prose")
    else:  # of a text no reason is kept
        inside = tag("p", listed(one.cause for one in shown))
    yield folded(f"{len(out):,} causes and symptoms", inside, left)


def replaced(view: View) -> Iterator[Markup]:
    """How many names, homes, hosts, addresses and ids are tokens in here."""
    tokens = view.report.redactions
    if tokens is None:
        yield tag("p", "Nothing was replaced: names, paths, hosts and ids stand here as they are on the machine.")
        return
    if not tokens:
        yield tag("p", "There was nothing to replace: no name, home, host, address, id or secret was found.")
        return
    times = sum(one.count for one in tokens)
    yield tag("p", f"{count(len(tokens), 'thing')} of the machine are tokens here, {count(times, 'time')} altogether.")
    shown, left = capped(tokens, _MOST)
    rows = ((code(one.token), one.kind, str(one.count)) for one in shown)
    yield folded("Tokens", table("Tokens", ("token", "stands for a", "times"), rows), left)


def made(view: View) -> Iterator[Markup]:
    """With which version, of what day, how long it took."""
    report = view.report
    word = "Read" if report.facts.text.is_all else "Recorded" if view.recorded else "Examined"
    ends = [one.ended for one in view.outcomes]
    checks = ", ".join(f"{ends.count(end)} {words}" for end, words in _ENDS.items() if end in ends)
    rows: list[tuple[Child, ...]] = [
        ("Verdict", tag("span", view.verdict, id="verdict")),
        (word, when(report.started_at)),
        ("Judged by", f"gpudoctor {report.tool.version}, schema {report.schema_version}"),
        ("Checks", checks),
    ]
    if isinstance(report.facts.run.command, Unread):  # `gpudoctor run` ends as its program does
        rows.insert(1, ("Exit code", str(view.exit_code)))
    if view.took_s is not None:
        rows.append(("Took", f"{view.took_s:.1f} s"))
    yield table("How this was made", (), rows, class_="facts")
    words = "No program runs in this page, and it loads nothing. It holds what --format json has for a person; that format alone can be"
    yield tag("p", f"{words} judged again: ", code("gpudoctor replay FILE"), ".", class_="note")


_ENDS = {"found": "found something", "passed": "ruled out", "skipped": "not applicable", "unknown": "not decided"}


def when(stamp: str) -> Markup:
    """A time in UTC; as it stands there, where it is none."""
    try:
        at = datetime.datetime.fromisoformat(stamp[:40].removesuffix("Z"))
        at = (at.replace(tzinfo=UTC) if at.tzinfo is None else at).astimezone(UTC)
    except (ValueError, OverflowError):
        return tag("span", stamp)
    return tag("time", f"{at:%Y-%m-%d %H:%M:%S} UTC", datetime=f"{at:%Y-%m-%dT%H:%M:%SZ}")
