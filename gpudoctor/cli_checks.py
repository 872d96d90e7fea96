"""`gpudoctor list` and `gpudoctor explain`: the checks, and the page of one."""

from __future__ import annotations

import sys

from . import registry
from .cli_options import Cause, Selection
from .terminal import delivering, say


def list_(only: Selection = None) -> int:
    """List the checks: code, name, subject, what is wrong when they fire."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False)
    for column in ("code", "cause or symptom", "subject", "what is wrong when it fires"):
        table.add_column(column, no_wrap=column != "what is wrong when it fires")
    for one in registry.select(only or ()):
        title = f"{one.title} ({one.origin})" if one.origin else one.title
        table.add_row(one.code, one.cause, "symptom" if one.is_symptom else one.subject, Text(title))
    failed = registry.plugins_here().failed
    for left_out in failed if isinstance(failed, tuple) else ():
        say(f"the plug-in {left_out.plugin} failed: {left_out.error}")
    with delivering() as out:
        if not out.is_terminal:
            out.width = 200
        out.print(table)
    return 0


def explain(name: Cause) -> int:
    """Print the page of a check: what it looks at, why it matters, how to fix it, its source."""
    one = registry.find(name)
    kind = "symptom" if one.is_symptom else f"cause, {one.level.word}"
    with delivering() as out:
        out.print(f"{one.code} {one.cause} ({kind}, {one.subject})", style="bold", highlight=False)
        out.print()
        for paragraph in one.page.split("\n\n"):
            out.print(" ".join(paragraph.split()), markup=False, highlight=False, soft_wrap=not out.is_terminal)
            out.print()
        if one.origin:
            out.print(f"From {one.origin}", highlight=False, markup=False)
        if one.explains:
            out.print(f"Explains: {', '.join(one.explains)}", highlight=False, markup=False)
        if one.is_symptom:
            causes = [c.cause for c in registry.all_checks() if one.cause in c.explains]
            out.print(f"Causes: {', '.join(causes) or 'none known'}", highlight=False, markup=False)
    return 0
