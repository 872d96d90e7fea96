"""What `gpudoctor fix` would do, does, and left to the user."""

from __future__ import annotations

from collections.abc import Iterator

from ..bundle import Report
from ..mending import Entry, Lines, Pip, Plan
from .lines import Line, line, paste, title, tried


def plan(todo: Plan, report: Report, *, dry_run: bool) -> Iterator[Line]:
    """The lines before anything is done."""
    titles = {r.cause: r for r in report.diagnosis.root_causes}
    if not todo.mended and not todo.left:
        yield Line((("Nothing to mend: ", "bold"), (f"the verdict is '{report.diagnosis.verdict}'.", "")))
        return
    for one in todo.mended:
        root = titles[one.cause]
        yield title(root, root.cause)
        head = (("Would do:" if dry_run else "To do:", "bold green"), (f" {one.fix.summary}", ""))
        yield Line((*head, *(tried(one.fix.trial, "here") if one.fix.trial is not None else ())), indent=2)
        for action in one.actions:
            yield from map(paste, action.told())
        yield Line()
    for other in todo.left:
        root = titles[other.cause]
        yield title(root, root.cause)
        yield line(f"Yours to do ({other.why})" + (f": {other.fix.summary}" if other.fix else ""), indent=2)
        for step in other.fix.steps if other.fix else ():
            yield paste(step)
        yield Line()


def after(todo: Plan, report: Report) -> Iterator[Line]:
    """The lines after the check that follows."""
    now = [r for r in report.diagnosis.root_causes if r.level != "info"]
    gone = [m.cause for m in todo.mended if all(r.cause != m.cause for r in now)]
    if gone:
        yield Line((("✓ ", "bold green"), (f"Mended, as a new check shows: {', '.join(gone)}", "bold")))
    gpus = report.facts.tensorflow.gpus()
    if isinstance(gpus, tuple) and gpus:
        yield line(f"TensorFlow lists {len(gpus)} GPU{'' if len(gpus) == 1 else 's'}.", indent=2)
    for root in now:
        still = any(root.cause == m.cause for m in todo.mended)
        word = "still there" if still else "left"
        yield title(root, root.cause, f"{word}: ")
    if any(isinstance(a, Lines) for a in todo.actions):
        yield line("Shells that run already do not know of it: activate the environment anew.", indent=2)
    yield line("gpudoctor fix --undo takes it back.", "dim", 2)


def undo(entry: Entry) -> Iterator[Line]:
    """What the last `fix` did."""
    yield Line(((f"Done {entry.at} for {', '.join(entry.causes)}", "bold"), (f"   {entry.python}", "dim")))
    for action in entry.actions:
        if isinstance(action, Pip):
            yield line("installed with", indent=2)
        yield from map(paste, action.told())
