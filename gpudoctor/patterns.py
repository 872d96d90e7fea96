"""Regular expressions that are compiled when a text first holds their words: there are hundreds, and a line needs few of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_LONG = 2
"""A single letter is in too many lines to be worth a look; a Chinese character is not."""
Words = tuple[tuple["str | Words", ...], ...]
"""Of one of these alternatives all must be there: words, and of each group one of its alternatives."""


class Pattern:
    """Like the re.Pattern of `source` and `flags`. Raises re.error on its first use, where `source` is wrong."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags
        self._words: Words | None = None
        self._folded = False
        self._compiled: re.Pattern[str] | None = None

    @property
    def words(self) -> Words:
        """What `held_by` tells, in lower case where case does not matter."""
        if self._words is None:
            self._folded = bool(self.flags & re.IGNORECASE) or "(?i" in self.source
            self._words = held_by(self.source, self._folded)
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
        return holds(text.lower() if self._folded else text, words)

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


_SOME = r"(?:[?*+]+|\{\d*,?\d*\}[?+]?)?"
_TOKEN = re.compile(
    r"[^\\()\[|+*?{.^$]+|\\u[0-9a-f]{4}|\\\W"  # letters
    rf"|\\(?:x..|\w){_SOME}|\[\^?\]?(?:\\.|[^\]\\])*\]{_SOME}|[.^$]{_SOME}|[|)]"
    r"|\((?:\?(?:P<\w+>|:|P=\w+|<?[=!]|[a-zA-Z-]+:|[a-zA-Z]+(?=\))))?|[?*][?+]?|\{[\d,]+\}[?+]?|.",
    re.DOTALL,
)
"""Without groups, so that its parts are told by their first character: twice as fast."""
_SPECIAL = frozenset("\\()[|+*?{.^$")
_PARTS = ("(", "(?:", "(?i:")
"""What begins a group that is a part of the match."""


def holds(text: str, words: Words) -> bool:
    """Whether a text holds them."""
    for needed in words:
        for one in needed:  # all() is slower
            if not (one in text if one.__class__ is str else holds(text, one)):  # type: ignore[arg-type]
                break
        else:
            return True
    return False


def held_by(source: str, folded: bool = False) -> Words:
    """Of the words that stand in a regular expression as they are (`folded`: in lower case), those that every match holds;
    (): none are known."""
    outer: list[tuple[list[list[str | Words]], bool]] = []
    """Of each group around: its alternatives, and whether it is a part of the match."""
    words: list[str | Words] = []
    alternatives = [words]
    inner: Words = ()
    """What the group needs that was closed last: it may be said yet that it can be absent."""
    is_part, run = True, ""
    for token in _TOKEN.findall(f"{source}|"):
        kind = token[0]
        if (letters := token if kind not in _SPECIAL else _escaped(token) if kind == "\\" else "") != "":
            words += _taken(inner)
            inner = ()
            run += letters
            continue
        if kind in "?*" or (kind == "{" and token[1] in "0,"):
            run, inner = run[:-1], ()
        if len(run) >= _LONG or not run.isascii():
            words.append(run.lower() if folded else run)
        words += _taken(inner)
        run, inner = "", ()
        if kind == "|":
            words = []
            alternatives.append(words)
        elif kind == "(":
            outer.append((alternatives, is_part))
            words = []
            alternatives, is_part = [words], token in _PARTS or token.startswith("(?P<")
        elif kind == ")":
            if is_part and all(alternatives):
                inner = tuple(map(tuple, alternatives))
            alternatives, is_part = outer.pop()
            words = alternatives[-1]
    alternatives.pop()
    return tuple(map(tuple, alternatives)) if all(alternatives) else ()


def _taken(inner: Words) -> tuple[str | Words, ...]:
    """What a group needs, for what stands around it: of a single alternative, its words."""
    return inner[0] if len(inner) == 1 else (inner,) if inner else ()


def _escaped(token: str) -> str:
    """The character that stands for itself in an escape, '' where it is a class such as \\d."""
    if token[1] == "u":
        return chr(int(token.removeprefix("\\u"), 16))
    return "" if token[1].isalnum() or token[1] == "_" else token[1]
