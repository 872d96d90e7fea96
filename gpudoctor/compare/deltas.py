"""What can be put back together: differences that are one change, which change follows from which, and which stand for themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable

import msgspec

from ..facts import Facts, LibraryFile, LibraryPick
from . import follows
from .changes import Sides, came_or_went, change, families, order, together
from .model import Change, Importance
from .policy import GROUPS
from .walk import Difference

_MOST_NAMED = 20
"""Of the changes that another one follows from."""
RANK: dict[Importance, int] = {"high": 0, "middle": 1, "low": 2}


@dataclasses.dataclass(eq=False)
class Delta:
    """One change to a person, or none because it says nothing."""

    differences: list[Difference]
    change: Change | None
    """None: hidden, as it is of the moment or was not read on one side."""
    causes: set[int] = dataclasses.field(default_factory=set)
    """Places of the deltas that bring it about, directly."""
    effects: set[int] = dataclasses.field(default_factory=set)
    """Places of those that it brings about, directly."""
    leads: bool = True
    """No other change brings it about."""


def deltas(found: Iterable[Difference], sides: Sides) -> list[Delta]:
    """The differences as changes, each with what it follows from."""
    found = list(found)
    cards, exchanged = came_or_went(found), families(found)
    groups: dict[Hashable, list[Difference]] = {}
    for position, one in enumerate(found):
        groups.setdefault(together(one, cards, exchanged) or position, []).append(one)
    for ones in groups.values():
        ones.sort(key=order)
    made = [Delta(ones, change(ones, sides, key if isinstance(key, tuple) else None)) for key, ones in groups.items()]
    _connect(made, sides)
    return made


def _connect(made: list[Delta], sides: Sides) -> None:
    firsts = [delta.differences[0] for delta in made]  # the others of a change are seen by it
    files = _files(sides.old), _files(sides.new)
    for n, causes in enumerate(follows.causes(firsts, [_owners(one, *files) for one in firsts])):
        made[n].causes = causes
        for cause in causes:
            made[cause].effects.add(n)
    for n, delta in enumerate(made):
        if delta.change is None or not delta.causes:
            continue
        visible = {k for k in _reached(made, n) if made[k].change is not None} - {n}
        delta.leads = all(n in _reached(made, k) for k in visible)  # in a ring everyone leads
        if not delta.leads:
            near = sorted(visible & delta.causes or visible)[:_MOST_NAMED]
            by = [c.id for k in near if (c := made[k].change) is not None]
            delta.change = msgspec.structs.replace(delta.change, follows=tuple(by))


def _reached(made: list[Delta], start: int, *, down: bool = False) -> set[int]:
    """All that brings it about, at any distance; `down`: all that it brings about."""
    found: set[int] = set()
    todo = [start]
    while todo:
        one = made[todo.pop()]
        fresh = (one.effects if down else one.causes) - found
        found |= fresh
        todo.extend(fresh)
    return found


def group(made: list[Delta], of: int) -> list[Difference]:
    """A delta's differences and those of all that follow from it."""
    members = {of} | _reached(made, of, down=True)
    return [one for n in sorted(members) for one in made[n].differences]


def _files(facts: Facts) -> dict[str, set[str]]:
    """Path of a library file -> the package that owns it, and the path itself."""
    files = facts.libraries.files if isinstance(facts.libraries.files, tuple) else ()
    found: dict[str, set[str]] = {}
    for one in files:
        owner = {one.owner.split(" ")[0]} if isinstance(one.owner, str) else set()
        for path in (one.path, one.real):
            if isinstance(path, str):
                found.setdefault(path, {one.path}).update(owner)
    return found


def _owners(one: Difference, before: dict[str, set[str]], after: dict[str, set[str]]) -> set[str]:
    """The packages and files behind a difference."""
    if one.fact.startswith("python.distributions") and one.keys:
        return {one.keys[0].partition(" ")[0]}
    paths = [key for key in one.keys[:1] if "/" in key]
    for value in (one.old, one.new):
        if isinstance(value, LibraryPick | LibraryFile):
            value = value.picked if isinstance(value, LibraryPick) else value.path
        if isinstance(value, str) and "/" in value:
            paths.append(value)
    return {name for path in paths for files in (before, after) for name in files.get(path, {path})}


def in_order(changes: Iterable[Change]) -> list[Change]:
    """By importance; of one importance as the groups stand, TensorFlow and NVIDIA's wheels before other packages."""

    def rank(one: Change) -> tuple[int, int, int, str, str]:
        group = GROUPS.index(one.group) if one.group in GROUPS else len(GROUPS)
        first = ("tensorflow", "tf-", "Python", "nvidia-")
        package = next((n for n, begin in enumerate(first) if one.subject.startswith(begin)), len(first))
        return RANK[one.importance], group, package, one.subject, one.what

    return sorted(changes, key=rank)
