"""A comparison, one file a format. Each says the same verdict."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import msgspec

from ...bundle import FailOn, Report
from ...compare import Comparison
from .. import rendered as report_in
from ..view import View as Whole
from .view import View

FORMATS = ("text", "json", "markdown", "html", "junit", "prometheus", "github", "oneline")


def rendered(comparison: Comparison, format: str, *, verbose: bool = False) -> str:
    """`comparison` in one of `FORMATS`. Raises ImportError where the package that a format needs is missing."""
    render: Callable[[View], str] = importlib.import_module(f"{__name__}.{format}").render
    return render(View(comparison, verbose))


def below(
    report: Report, comparison: Comparison, format: str, fail_on: FailOn = "warn", *, took_s: float | None = None
) -> str:
    """A report of this machine with the comparison below it, as one text that is still of the format."""
    whole = report_in(report, format, fail_on, took_s=took_s)
    if format == "json":  # a replay leaves out what it does not know
        both = {**msgspec.json.decode(whole), "comparison": msgspec.to_builtins(comparison)}
        return msgspec.json.format(msgspec.json.encode(both), indent=2).decode() + "\n"
    if format == "junit":
        from .junit import joined

        return joined(whole, View(comparison))
    if format == "github":
        from .github import render

        return whole + render(View(comparison), below=True)
    if format == "html":
        from ..html import render as page
        from .html import sections

        return page(Whole(report, fail_on, False, took_s), sections(View(comparison)))
    other = rendered(comparison, format)
    if format == "oneline":  # it is one line: of what is worse, else of the host
        return other if comparison.is_worse else whole
    return f"{whole}\n{other}" if format == "markdown" else whole + other
