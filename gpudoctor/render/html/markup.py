"""HTML, element by element: what is text stays text, whatever stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias, TypeVar

from ..lines import clean

T = TypeVar("T")

MOST = 2_000
"""Characters of a text, where nothing else is said."""
_VOID = frozenset({"br", "hr", "link", "meta"})


class Markup(str):
    """HTML that may stand as it is. Whatever is done with it as with a string gives a string, which is text again."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"
"""A string that is no Markup is text; None is nothing."""
Value: TypeAlias = str | int | float | bool | None


def text(value: str, most: int = MOST) -> Markup:
    """Text of others, for an element or an attribute: nothing in it is markup, moves or hides anything; what is cut is said."""
    left = len(value) - most
    more = f" … ({left:,} characters more)" if left > 0 else ""
    return Markup(escape(clean(value[:most]) + more))


def tag(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """An element. Of an attribute's name a last '_' falls away and others are '-'; None and False: it has none of that name."""
    start = "".join([name, *(_attribute(key, value) for key, value in attributes.items())])
    if name in _VOID:
        return Markup(f"<{start}>")
    return Markup(f"<{start}>{joined(children)}</{name}>")


def joined(children: Child) -> Markup:
    """Elements and texts one after the other."""
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return text(children)
    return Markup("" if children is None else "".join(map(joined, children)))


def _attribute(name: str, value: Value) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


# ------------------------------------------------------------------------------- what pages are made of


def code(value: str) -> Markup:
    """A name, a path, a command within a line."""
    return tag("code", value)


def listed(names: Iterable[str]) -> list[Child]:
    """Names as code, with commas."""
    parts: list[Child] = []
    for one in names:
        parts += [", ", code(one)] if parts else [code(one)]
    return parts


def capped(items: Sequence[T], most: int) -> tuple[Sequence[T], Markup | None]:
    """At most so many of them, and a paragraph that says how many are left out."""
    left = len(items) - most
    if left <= 0:
        return items, None
    return items[:most], tag("p", f"{left:,} more are left out here; --format json has all.", class_="cut")


def table(name: str, head: Sequence[Child], rows: Iterable[Sequence[Child]], class_: str | None = None) -> Markup:
    """A table in a box of its own, in which it scrolls where it is too wide. A row's first cell is its head."""
    columns = tag("thead", tag("tr", (tag("th", cell, scope="col") for cell in head))) if any(head) else None
    body = tag("tbody", (tag("tr", _cells(row)) for row in rows))
    return scrolling(name, tag("table", columns, body, class_=class_, aria_label=name))


def _cells(row: Sequence[Child]) -> list[Markup]:
    return [
        tag("td" if position else "th", cell, scope=None if position else "row") for position, cell in enumerate(row)
    ]


def scrolling(name: str, inside: Markup) -> Markup:
    """A box that scrolls by itself, also by keyboard."""
    return tag("div", inside, class_="wide", tabindex=0, role="region", aria_label=name)


def folded(summary: Child, *inside: Child, open_: bool = False) -> Markup:
    """What is shown when it is asked for, and on paper."""
    return tag("details", tag("summary", summary), inside, open=open_)
