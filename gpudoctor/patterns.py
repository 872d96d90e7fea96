"""Regular expressions that are compiled when a text first holds their words: there are hundreds, and a line needs few of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_LONG = 3
"""Shorter runs of letters are in too many lines to be worth a look."""


class Pattern:
    """Like the re.Pattern of `source` and `flags`. Raises re.error on its first use, where `source` is wrong."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags
        self._words: tuple[str, ...] | None = None
        self._compiled: re.Pattern[str] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Every match holds one of them; none: nothing is known."""
        if self._words is None:
            self._words = () if self.flags & ~re.MULTILINE else held_by(self.source)
        return self._words

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself."""
        if self._compiled is None:
            self._compiled = re.compile(self.source, self.flags)
        return self._compiled

    def _may_match(self, text: str) -> bool:
        words = self.words
        if not words:
            return True
        for word in words:  # noqa: SIM110 - any() is slower
            if word in text:
                return True
        return False

    def search(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The first match anywhere."""
        return self.compiled.search(text, at) if self._may_match(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        """A match at the beginning."""
        return self.compiled.match(text) if self._may_match(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of the whole text."""
        return self.compiled.fullmatch(text) if self._may_match(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every match."""
        return self.compiled.finditer(text) if self._may_match(text) else iter(())

    def findall(self, text: str) -> list[Any]:
        """Every match's groups, as re.findall gives them."""
        return self.compiled.findall(text) if self._may_match(text) else []

    def sub(self, by: str, text: str) -> str:
        """`text` with the matches replaced."""
        return self.compiled.sub(by, text) if self._may_match(text) else text


def held_by(source: str) -> tuple[str, ...]:
    """Of the words that stand in a regular expression as they are, some of which every match holds one; (): none are known."""
    if source.startswith("(?") and source[2] not in ":P<=!":
        return ()  # flags
    found: list[str] = []
    for alternative in _alternatives(source):
        words = _of_sequence(alternative)
        if not words:
            return ()
        found += words
    return tuple(dict.fromkeys(found))


def _alternatives(source: str) -> Iterator[str]:
    depth, begin, at = 0, 0, 0
    while at < len(source):
        letter = source[at]
        if letter == "\\":
            at += 1
        elif letter == "[":
            at = _after_class(source, at) - 1
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
        elif letter == "|" and not depth:
            yield source[begin:at]
            begin = at + 1
        at += 1
    yield source[begin:]


def _of_sequence(source: str) -> tuple[str, ...]:
    """The longest run of letters, or the runs of a group, of which each match has one."""
    best: tuple[str, ...] = ()
    run, at = "", 0

    def better(words: tuple[str, ...]) -> tuple[str, ...]:
        shortest = min((len(w) for w in words), default=0)
        return words if shortest >= _LONG and shortest > min((len(w) for w in best), default=0) else best

    while at < len(source):
        letter = source[at]
        end = at + 1
        literal, inner = letter, ""
        if letter == "\\":
            end = at + 2
            literal = source[at + 1] if not source[at + 1].isalnum() else ""
        elif letter == "[":
            literal, end = "", _after_class(source, at)
        elif letter == "(":
            end = _after_group(source, at)
            literal, inner = "", _inside(source[at:end])
        elif letter in ".^$":
            literal = ""
        optional, end = _quantified(source, end)
        if literal and not optional and end == at + (2 if letter == "\\" else 1):
            run += literal
        else:
            kept = run + (literal if literal and not optional else "")
            best, run = better((kept,)), ""
            if inner and not optional:
                best = better(held_by(inner))
        at = end
    return better((run,))


def _after_class(source: str, at: int) -> int:
    at += 2 if source[at + 1 : at + 2] == "^" else 1
    at += source[at : at + 1] == "]"
    while source[at] != "]":
        at += 2 if source[at] == "\\" else 1
    return at + 1


def _after_group(source: str, at: int) -> int:
    depth = 0
    while True:
        letter = source[at]
        if letter == "\\":
            at += 1
        elif letter == "[":
            at = _after_class(source, at) - 1
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if not depth:
                return at + 1
        at += 1


def _inside(group: str) -> str:
    """What a group holds; '': it is no part of the match, or has flags of its own."""
    if not group.startswith("(?"):
        return group[1:-1]
    if group.startswith("(?:"):
        return group[3:-1]
    return group[group.index(">") + 1 : -1] if group.startswith("(?P<") else ""


def _quantified(source: str, at: int) -> tuple[bool, int]:
    """Whether what stands before may be absent, and where its quantifier ends."""
    letter = source[at : at + 1]
    if letter in ("?", "*", "+"):
        end = at + 1
    elif letter == "{" and (found := re.match(r"\{(\d*)(?:,\d*)?\}", source[at:])):
        letter, end = ("?" if found[1] in ("", "0") else "+"), at + found.end()
    else:
        return False, at
    return letter != "+", end + (source[end : end + 1] in ("?", "+"))
