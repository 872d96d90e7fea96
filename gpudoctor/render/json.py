"""The report as JSON: the one format that can be judged again."""

from __future__ import annotations

import msgspec

from ..bundle import Report


def render(report: Report) -> str:
    """Indented JSON with a line end."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
