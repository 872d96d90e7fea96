"""A language: what its lines look like, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ..patterns import Pattern
from .notebook import Notebook

LONGEST = 400
"""Characters of a line that are kept as what it says."""
Values = dict[str, str]
Tell = Callable[[Values, int, Notebook], None]
"""What a line names, its number, and where its facts are written down."""


class Understood(NamedTuple):
    """What a line says."""

    kind: str
    values: Values
    symptom: str | None = None
    once: bool = False


class Kind:
    """A kind of line: `pattern` is searched for; its named groups are the values ('version2' is another place for 'version').

    `symptom`: what a person notices, where the line shows it; the name of a symptom of checks/. `tell` writes down the facts that
    such a line tells. `once`: the first such line tells all, further ones are not kept.
    """

    __slots__ = ("compiled", "name", "once", "pattern", "symptom", "tell")

    def __init__(
        self, name: str, pattern: str, symptom: str | None = None, tell: Tell | None = None, once: bool = False
    ) -> None:
        self.name = name
        self.pattern = pattern
        self.symptom = symptom
        self.tell = tell
        self.once = once
        self.compiled = Pattern(pattern)


class Language(NamedTuple):
    """A language whose lines are understood one by one."""

    name: str
    words: tuple[str, ...]
    """Every line of it that tells something holds one of them."""
    kinds: tuple[Kind, ...]
    """The first that fits counts."""
    foreign: bool = False
    """The logs of TensorFlow and NCCL never say it: their lines are passed over."""

    def line(self, text: str, number: int, notes: Notebook) -> Understood | None:
        """What a line says; its facts are written down."""
        for kind in self.kinds:
            if (found := kind.compiled.search(text)) is not None:
                values = named(found.groupdict())
                if kind.tell is not None:
                    kind.tell(values, number, notes)
                if found.end() > LONGEST:  # what decides is kept
                    values[""] = f"…{text[found.end() - LONGEST + 1 : found.end()]}"
                return Understood(kind.name, values, kind.symptom, kind.once)
        return None


def told(kinds: Iterable[tuple[str, tuple[str, ...], str, bool]]) -> tuple[Language, ...]:
    """What only people say, one language a kind, so that a line may be of several: (kind, words, pattern, whether once is enough)."""
    return tuple(
        Language("circumstances", words, (Kind(name, pattern, once=once),), foreign=True)
        for name, words, pattern, once in kinds
    )


def first_of(lines: Iterable[tuple[int, str]], pattern: Pattern) -> tuple[int, str] | None:
    """The first of these lines that matches, with its number; None: none does."""
    return next((one for one in lines if pattern.search(one[1])), None)


def named(groups: Mapping[str, str | None]) -> Values:
    """The groups that took part, by name without a trailing digit."""
    return {name.rstrip("0123456789"): value.strip() for name, value in groups.items() if value}
