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
        self._folded = False
        self._compiled: re.Pattern[str] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Every match holds one of them, in lower case where case does not matter; none: nothing is known."""
        if self._words is None:
            self._folded = bool(self.flags & re.IGNORECASE) or "(?i" in self.source
            self._words = held_by(self.source)
            if self._folded:
                self._words = tuple(word.lower() for word in self._words)
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
        if self._folded:
            text = text.lower()
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


_TOKEN = re.compile(
    r"""(?P<letters>[A-Za-z0-9 _'"/:,=<>@!;%&~\#-]+) | \\(?P<escaped>.) | (?P<open>\((?:\?(?:P<\w+>|:|P=\w+|<?[=!]|[a-zA-Z-]+:|[a-zA-Z]+(?=\))))?)
    | (?P<close>\)) | (?P<more>(?:\+|\{[1-9]\d*(?:,\d*)?\})[?+]?) | (?P<perhaps>(?:[?*]|\{,?\d*(?:,\d*)?\})[?+]?) | (?P<either>\|)
    | (?P<some>\[\^?\]?(?:\\.|[^\]\\])*\]|.)""",
    re.VERBOSE | re.DOTALL,
)
_PARTS = ("(", "(?:", "(?i:")
"""What begins a group that is a part of the match."""


class _Group:
    """What is known of a group, so far."""

    def __init__(self, is_part: bool = True) -> None:
        self.is_part = is_part
        self.alternatives: list[tuple[str, ...]] = []
        self.best: tuple[str, ...] = ()
        self.run = ""
        self.inner: tuple[str, ...] = ()
        """Of the group that was closed last: it may be said yet that it can be absent."""

    def pause(self) -> None:
        """What follows does not follow at once."""
        if self.run:
            self.take((self.run,))
            self.run = ""
        if self.inner:
            self.take(self.inner)
            self.inner = ()

    def take(self, words: tuple[str, ...]) -> None:
        """Keep these, if they tell more."""
        shortest = min(map(len, words))
        if shortest >= _LONG and (not self.best or shortest > min(map(len, self.best))):
            self.best = words

    def end(self) -> tuple[str, ...]:
        """One word of each alternative."""
        self.pause()
        self.alternatives.append(self.best)
        words = tuple(dict.fromkeys(word for one in self.alternatives for word in one))
        return words if self.is_part and all(self.alternatives) else ()


def held_by(source: str) -> tuple[str, ...]:
    """Of the words that stand in a regular expression as they are, some of which every match holds one; (): none are known."""
    groups = [_Group()]
    for token in _TOKEN.finditer(source):
        kind, now = token.lastgroup, groups[-1]
        if kind == "letters" or (kind == "escaped" and not token["escaped"].isalnum()):
            if now.inner:
                now.pause()
            now.run += token["letters"] or token["escaped"]
        elif kind == "perhaps":
            now.run, now.inner = now.run[:-1], ()
            now.pause()
        elif kind == "open":
            now.pause()
            groups.append(_Group(is_part=token["open"] in _PARTS or token["open"].startswith("(?P<")))
        elif kind == "close":
            words = groups.pop().end()
            groups[-1].inner = words
        elif kind == "either":
            now.pause()
            now.alternatives.append(now.best)
            now.best = ()
        else:
            now.pause()
    return groups[0].end()
