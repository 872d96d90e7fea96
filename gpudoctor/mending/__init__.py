"""Does the fixes that need no root and touch nothing but the examined environment; every one of them can be undone."""

from __future__ import annotations

from .actions import Action, CannotDo, Lines, Link, Pip
from .journal import Entry, Journal, NothingToUndo
from .plan import Left, Mended, Plan, UnknownCauseError, plan

__all__ = [
    "Action",
    "CannotDo",
    "Entry",
    "Journal",
    "Left",
    "Lines",
    "Link",
    "Mended",
    "NothingToUndo",
    "Pip",
    "Plan",
    "UnknownCauseError",
    "plan",
]
