"""A comparison as JSON."""

from __future__ import annotations

import msgspec

from .view import View


def render(view: View) -> str:
    """Indented JSON with a line end."""
    return msgspec.json.format(msgspec.json.encode(view.comparison), indent=2).decode() + "\n"
