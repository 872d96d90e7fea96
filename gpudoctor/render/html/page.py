"""The frame of a page: its head, a list of contents, its sections. It needs no network and runs no program."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from .markup import Child, Markup, tag, text

MOST = 4_000_000
"""Characters of a page, of which an ordinary one has a twentieth; one part has a third of them at most."""
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"


class Section(NamedTuple):
    """A part of a page under a heading of its own."""

    id: str
    title: str
    inside: Markup


def page(title: str, headline: Child, sections: Sequence[Section], cut: Sequence[str]) -> str:
    """The whole document; `cut` names the sections for which there was no room."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=f"{_POLICY}; style-src 'sha256-{digest}'"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", text(f"gpudoctor: {title}", 150)),
        tag("style", Markup(style)),
    )
    parts = (tag("section", tag("h2", one.title), one.inside, id=one.id, class_="section") for one in sections)
    contents = (tag("a", one.title, href=f"#{one.id}") for one in sections)
    left = f"Cut, to keep this page below {MOST:,} characters: {', '.join(cut)}. --format json has everything."
    body = tag(
        "body",
        tag("header", headline, tag("nav", _spaced(contents), aria_label="Contents")),
        tag("main", tag("p", left, class_="cut") if cut else None, parts),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _spaced(parts: Iterator[Markup]) -> Iterator[Markup | str]:
    for part in parts:
        yield part
        yield " "


@cache
def _style() -> str:
    return resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
