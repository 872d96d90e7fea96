"""The lines of a report for a person, with their styles: printed as they are where there is no terminal, by rich where there
is one. This file does without rich, which takes longer to import than a short text to judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..facts import Trial, Unread
from ..findings import Evidence, Fix, RootCause

Part = tuple[str, str]
"""Text, and its style in rich's words."""
MARKS = {"fail": ("✗", "bold red"), "warn": ("!", "bold yellow"), "info": ("i", "bold blue")}


class Line(NamedTuple):
    """One paragraph."""

    parts: tuple[Part, ...] = ()
    indent: int = 0
    is_paste: bool = False
    """To be pasted: never wrapped."""
    is_item: bool = False
    """An item of a list."""

    @property
    def plain(self) -> str:
        """As it is printed without a terminal."""
        return " " * self.indent + ("    · " if self.is_item else "") + "".join(text for text, _ in self.parts)


def line(text: str = "", style: str = "", indent: int = 0) -> Line:
    """A line of one style."""
    return Line(((clean(text), style),) if text else (), indent)


def clean(text: str) -> str:
    """`text` without what could move a terminal's cursor or hide something."""
    if text.isprintable():
        return text
    import unicodedata

    return "".join(
        c if c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" else f"\\x{ord(c):02x}" for c in text
    )


def paste(step: str) -> Line:
    """A line to paste: whole, however narrow the terminal is."""
    return Line((("    " + clean(step), "bold cyan"),), is_paste=True)


def evidence(proof: Iterable[Evidence]) -> Iterator[Line]:
    """A line for each piece of proof, and who says so."""
    for one in proof:
        yield Line(((clean(one.text), ""), (f"  [{clean(one.source)}]", "dim")), is_item=True)


def title(root: RootCause, name: str, before: str = "") -> Line:
    """The first line of a cause: how bad it is, what is wrong, and under which name."""
    mark, style = MARKS[root.level]
    return Line(((mark + " ", style), (before + clean(root.title), "bold"), (f"   {name}", "dim")))


def cause(root: RootCause, where: str, *, whole: bool) -> Iterator[Line]:
    """A cause; `whole`: with its proof and every fix. `where` it was tried: 'here', or 'there' for a recorded report."""
    yield title(root, f"{root.cause} {root.code}")
    yield line(root.message, indent=2)
    if whole:
        yield Line()
        yield line("  Proof", "bold")
        yield from evidence(root.proof)
        if root.explains:
            yield line(f"Explains: {', '.join(root.explains)}", "dim", 2)
        yield Line()
    shown = root.fixes if whole else root.fixes[:1]
    for position, fix in enumerate(shown):
        yield from mended(fix, "Fix" if position == 0 else "Or", where)


def mended(fix: Fix, word: str, where: str) -> Iterator[Line]:
    """A fix: what it does, what it risks, what its trial showed, and its lines to paste."""
    head: list[Part] = [(word + ":", "bold green"), (f" {clean(fix.summary)}", "")]
    if fix.risk != "safe":
        head.append((f"  ({fix.risk})", "yellow"))
    if fix.trial is not None:
        head += tried(fix.trial, where)
    yield Line(tuple(head), indent=2)
    yield from map(paste, fix.steps)
    if fix.verify != "gpudoctor check":
        yield line(f"    then: {fix.verify}", "dim")


def tried(trial: Trial, where: str) -> list[Part]:
    """Whether it was tried on the machine that was examined."""
    outcome = clean(trial.outcome if not isinstance(trial.outcome, Unread) else trial.outcome.why)
    if trial.worked is True:
        return [(f" — tried {where}, works: ", "green"), (outcome, "green")]
    if trial.worked is False:
        return [(f" — tried {where}, not enough: ", "red"), (outcome, "red")]
    return [(f" — not decided {where}: ", "yellow"), (clean(trial.worked.why), "yellow")]
