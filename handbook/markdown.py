"""Small pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """Text that means nothing to Markdown but itself; what stands in `backticks` stays code."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(one if one.startswith("`") and len(one) > 1 else _escaped(one) for one in pieces)


def _escaped(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
    return re.sub(r"([\\`*_{}\[\]#!])", r"\\\1", text)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown cells."""
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
