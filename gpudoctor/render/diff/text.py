"""A comparison for a person, as plain text or on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lines import lines
from .view import View

if TYPE_CHECKING:
    from rich.console import Console


def render(view: View) -> str:
    """Without styles."""
    return "".join(f"{one.plain}\n" for one in lines(view))


def show(view: View, console: Console) -> None:
    """On a console; where that is no terminal no line is wrapped."""
    from ..text import UNWRAPPED, rich

    if not console.is_terminal:
        console.width = UNWRAPPED
    for one in lines(view):
        console.print(rich(one), crop=False)
