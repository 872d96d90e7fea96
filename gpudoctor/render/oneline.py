"""One line, for a job's prolog or a login banner."""

from __future__ import annotations

from . import ignored
from .view import View, count, cut, one_line

MOST = 200
"""Characters."""


def render(view: View) -> str:
    """The verdict, the first cause, and what mends it."""
    said = _causes(view) if view.causes else _symptoms(view) if view.open_symptoms else _nothing(view)
    number = ignored.count(view.report.ignored)
    beside = f" ({ignored.head(number)})" if number else ""
    return cut(one_line(f"gpudoctor: {view.verdict}{beside}{said}"), MOST) + "\n"


def _causes(view: View) -> str:
    first, *others = view.causes
    more = f" and {len(others)} more" if others else ""
    fix = next((f for f in first.fixes if not f.failed), None)
    mends = f"; fix: {fix.summary}" if fix is not None else ""
    return f": {first.cause} ({first.code}){more}: {_lists(view) or first.message.rstrip('.')}{mends}"


def _symptoms(view: View) -> str:
    names = ", ".join(f.cause for f in view.open_symptoms)
    return f": {names}, and the cause could not be determined; gpudoctor check shows what is left"


def _nothing(view: View) -> str:
    if view.verdict != "healthy":
        return f": {view.sentence.removeprefix('Unknown: ')}"
    gpus = view.gpus.get("tensorflow")
    return f", {count(gpus, 'GPU')}" if gpus else ""


def _lists(view: View) -> str:
    """'TensorFlow lists 0 of 8 GPUs'; '' where it lists as many as there are, or that is not known."""
    listed, there = view.gpus.get("tensorflow"), max(view.gpus.get("cuda", 0), view.gpus.get("nvml", 0))
    return f"TensorFlow lists {listed} of {count(there, 'GPU')}" if listed is not None and listed < there else ""
