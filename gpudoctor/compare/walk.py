"""Two structures of facts -> where they differ; and the new one with some of it put back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ..facts import Fact, Unread

Keys = Callable[[tuple[Any, ...]], list[str] | None]
"""What the elements of a list are known again by, in their order; None: the list is one value."""


class Key(NamedTuple):
    """A step into a list: to the element that is known by this."""

    name: str


class _Absent:
    """No such element."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


@dataclasses.dataclass(frozen=True)
class Difference:
    """A place where two structures differ."""

    way: tuple[str | Key, ...]
    old: Any
    new: Any
    position: int = 0
    """Of an element that is gone: where it stood."""

    @property
    def fact(self) -> str:
        """'gpu.devices.power_limit_w': the way without the elements."""
        return ".".join(step for step in self.way if not isinstance(step, Key))

    @property
    def keys(self) -> tuple[str, ...]:
        """The elements on the way."""
        return tuple(step.name for step in self.way if isinstance(step, Key))

    @property
    def unread(self) -> bool:
        """It was read on one side only."""
        return isinstance(self.old, Unread) or isinstance(self.new, Unread)


ORDERED = ("python.path", "tensorflow.objects.runpath")
"""Lists of words whose order counts."""


def differences(
    old: Any, new: Any, old_keys: Keys, new_keys: Keys, way: tuple[str | Key, ...] = ()
) -> Iterator[Difference]:
    """Every place where `old` and `new` differ. What was read on neither side differs in nothing."""
    if (isinstance(old, Unread) and isinstance(new, Unread)) or old is new:
        return
    if isinstance(old, Fact) and type(old) is type(new) and not isinstance(old, Unread):
        for field in old.__struct_fields__:
            yield from differences(getattr(old, field), getattr(new, field), old_keys, new_keys, (*way, field))
    elif isinstance(old, tuple) and isinstance(new, tuple):
        yield from _of_lists(old, new, old_keys, new_keys, way)
    elif _steady(old) != _steady(new):
        yield Difference(way, old, new)


def _of_lists(
    old: tuple[Any, ...], new: tuple[Any, ...], old_keys: Keys, new_keys: Keys, way: tuple[str | Key, ...]
) -> Iterator[Difference]:
    before, after = old_keys(old), new_keys(new)
    if before is None or after is None:
        fact = ".".join(step for step in way if not isinstance(step, Key))
        same = _steady(old) == _steady(new)
        if not same and (fact in ORDERED or _counted(old) != _counted(new)):
            yield Difference(way, old, new)
        return
    were, are = dict(zip(before, old, strict=True)), dict(zip(after, new, strict=True))
    for position, key in enumerate(dict.fromkeys([*before, *after])):
        here = (*way, Key(key))
        if key not in are:
            yield Difference(here, were[key], ABSENT, position)
        elif key not in were:
            yield Difference(here, ABSENT, are[key])
        else:
            yield from differences(were[key], are[key], old_keys, new_keys, here)


def _counted(value: tuple[Any, ...]) -> list[str]:
    return sorted(repr(_steady(one)) for one in value)


_PASSING = re.compile(r"(?<![\w.-])(/tmp|/var/tmp|/dev/shm|/run/user)/[^/:\s\"',]+")
"""What lies in a temporary directory, by its first name there: it has another one each time."""


def _steady(value: Any) -> Any:
    """`value` without what is another each time."""
    if isinstance(value, str):
        return _PASSING.sub(r"\1/*", value) if "/" in value else value
    if isinstance(value, tuple):
        return tuple(_steady(one) for one in value)
    return value


def put_back(value: Any, changed: Iterable[Difference], new_keys: Keys, depth: int = 0) -> Any:
    """`value`, the new structure, with the old values at these places."""
    by_step: dict[str | Key, list[Difference]] = {}
    for one in changed:
        if len(one.way) == depth:
            return one.old
        by_step.setdefault(one.way[depth], []).append(one)
    if not by_step:
        return value
    if isinstance(value, msgspec.Struct):
        fields = {str(f): put_back(getattr(value, str(f)), ones, new_keys, depth + 1) for f, ones in by_step.items()}
        return msgspec.structs.replace(value, **fields)
    assert isinstance(value, tuple)
    made: list[Any] = []
    by_key = {str(step[0]): ones for step, ones in by_step.items()}
    for key, element in zip(new_keys(value) or [], value, strict=True):
        ones = by_key.pop(key, None)
        if ones is None:
            made.append(element)
        elif not any(len(one.way) == depth + 1 and one.old is ABSENT for one in ones):
            made.append(put_back(element, ones, new_keys, depth + 1))
    for one in sorted((one for ones in by_key.values() for one in ones), key=lambda d: d.position):
        made.insert(one.position, one.old)
    return tuple(made)
