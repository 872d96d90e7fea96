"""Regular expressions that are compiled when a text first holds their words: there are hundreds, and a line needs few of them, and
of a long one few of its alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .alternatives import Chosen, Group, Needed, alternatives, any_of
from .needed import needed

_LONG = 300
"""Characters of a source from which on only those alternatives are compiled that a text needs."""
_TIMES = 4
"""How often; then all of them are."""

_SMALL = 16_000
"""Characters of a text that is searched faster than a pattern is compiled."""

_at_hand = ""


def expect(text: str) -> None:
    """The lines of `text` will be searched next: of long patterns that is compiled which could match in it (and more when other
    lines come)."""
    global _at_hand
    _at_hand = text if len(text) <= _SMALL else ""


class Pattern:
    """Like the re.Pattern of `source` and `flags`. Raises re.error on its first use, where `source` is wrong."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags
        self.is_folded = bool(flags & re.IGNORECASE) or "(?i" in source
        """Whether case does not matter, at least in a part of it."""
        self._whole: Group | None = None
        self._needed: list[Needed | str] | None = None
        self._kept: frozenset[int | str] = frozenset()
        self._compiled: tuple[re.Pattern[str], list[Needed | str]] | None = None
        """And what the alternatives need that were left out."""
        self._times = 0

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern itself, with all its alternatives."""
        if self._compiled is None or self._compiled[1]:
            self._compiled = re.compile(self.source, self.flags), []
        return self._compiled[0]

    def _for(self, text: str) -> re.Pattern[str] | None:
        """What matches in `text` as the pattern does; None: nothing does."""
        if self._needed is None:
            self._needed = needed(self.source, self.is_folded)
        if self.is_folded:
            text = text.lower()
        if self._needed and not any_of(text, self._needed):
            return None
        if self._compiled is not None and not any_of(text, self._compiled[1]):
            return self._compiled[0]
        if len(self.source) < _LONG or self._times == _TIMES:
            return self.compiled
        if self._whole is None:
            self._whole = alternatives(self.source, self.is_folded)
        whole_text = f"{_at_hand.lower() if self.is_folded else _at_hand}\n{text}"
        chosen = Chosen(self.source, self._whole, whole_text, self._kept)
        compiled = re.compile(chosen.source, self.flags)
        self._compiled, self._kept, self._times = (compiled, chosen.left_out), chosen.kept, self._times + 1
        return compiled

    def search(self, text: str, at: int = 0) -> re.Match[str] | None:
        """The first match anywhere."""
        return one.search(text, at) if (one := self._for(text)) is not None else None

    def match(self, text: str) -> re.Match[str] | None:
        """A match at the beginning."""
        return one.match(text) if (one := self._for(text)) is not None else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """A match of the whole text."""
        return one.fullmatch(text) if (one := self._for(text)) is not None else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every match."""
        return one.finditer(text) if (one := self._for(text)) is not None else iter(())

    def findall(self, text: str) -> list[Any]:
        """Every match's groups, as re.findall gives them."""
        return one.findall(text) if (one := self._for(text)) is not None else []

    def sub(self, by: str, text: str) -> str:
        """`text` with the matches replaced."""
        return one.sub(by, text) if (one := self._for(text)) is not None else text
