"""One file a format. Each says the same verdict."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what is asked for is imported then, and not before: a short text is judged in less
    from ..bundle import FailOn, Report
    from .view import View


def rendered(
    report: Report, format: str, fail_on: FailOn = "warn", *, recorded: bool = False, took_s: float | None = None
) -> str:
    """`report` in a format for others, by the file that is called like it. Raises ImportError where its package is missing."""
    from .view import View

    if format == "json":
        from . import json

        return json.render(report)
    render: Callable[[View], str] = importlib.import_module(f"{__name__}.{format}").render
    return render(View(report, fail_on, recorded, took_s))
