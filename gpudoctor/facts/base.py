"""The ground floor of the facts: what a fact is, and what it is when it could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", tag=str.lower, omit_defaults=True):
    """Something seen. Subclasses are tagged, so that unions decode and two types can't be mistaken."""


class Unread(Fact, frozen=True, kw_only=True, tag="unread"):
    """A fact that could not be read: not healthy, not failed, unknown.

    `why` is one clause for a person; `settle` is the one command that would tell, where there is one.
    """

    why: str
    settle: str | None = None
    chosen: bool = False
    """Not looked at because nobody asked for it (a lower level), not because it could not be read."""

    @property
    def needs_root(self) -> bool:
        """Whether it takes root to settle it."""
        return self.settle is not None and _SUDO.search(self.settle) is not None


_SUDO = re.compile(r"(?:^|[;&|]\s*)sudo ")

NOT_RECORDED = Unread(why="not recorded")
"""The default of every field: nobody looked, or an older version did not know of it."""


class UnknownFactError(Exception):
    """A check read a fact that is `Unread`; the check ends 'unknown'."""

    def __init__(self, unread: Unread) -> None:
        super().__init__(unread.why)
        self.unread = unread


def known(value: T | Unread) -> T:
    """The fact, or `UnknownFactError`: reading a field in a check is its declaration of need."""
    if isinstance(value, Unread):
        raise UnknownFactError(value)
    return value


def every_unread(value: object) -> Iterator[Unread]:
    """What could not be read of a fact, at any depth."""
    if isinstance(value, Unread):
        yield value
    elif isinstance(value, Fact):
        for name in value.__struct_fields__:
            yield from every_unread(getattr(value, name))
    elif isinstance(value, tuple):
        for one in value:
            yield from every_unread(one)


F = TypeVar("F", bound=Fact)


def unread_all(kind: type[F], unread: Unread) -> F:
    """A subject of which nothing could be read: every fact is the same `Unread`, those of a subject within it, too."""
    read: dict[str, Fact] = {}
    for field in msgspec.structs.fields(kind):
        inner = type(field.default)
        if issubclass(inner, Fact) and inner is not Unread:
            read[field.name] = unread_all(inner, unread)
        elif field.required or inner is Unread:
            read[field.name] = unread
    return kind(**read)
