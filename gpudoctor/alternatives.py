"""What a text must hold for a regular expression to match there, told from its source; and the source without the alternatives that
can't match in that text, which compiles several times faster."""

from __future__ import annotations

import re
from collections.abc import Iterator

Needed = list["str | list[Needed | str]"]
"""Words that must all be there, and lists of which one must be: a word, or all of some."""


class Alternative:
    """A part of the source from `start` to `end`, the groups in it, and what every match of it holds."""

    __slots__ = ("end", "groups", "needed", "start")

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.groups: list[Group] = []
        self.needed: Needed = []


class Group:
    """A group, which begins with `opening` ('(?:'; '' for the whole) and reaches from `start` to `end`. An alternative of letters
    alone, in lower case, is a str."""

    __slots__ = ("alternatives", "end", "last", "opening", "start")

    def __init__(self, opening: str, start: int) -> None:
        self.opening = opening
        self.start = self.end = start
        self.last = Alternative(start + len(opening))
        self.alternatives: list[Alternative | str] = [self.last]

    def needed(self) -> list[Needed | str]:
        """One of these must be there; []: the group can match without any word."""
        found: list[Needed | str] = []
        for one in self.alternatives:
            needed = one if isinstance(one, str) else one.needed
            if not needed:
                return []
            found.append(needed)
        return found


def any_of(text: str, choices: list[Needed | str]) -> bool:
    """Whether a text (in lower case where the words are) holds one of these."""
    for one in choices:  # noqa: SIM110 - any() is slower
        if one in text if one.__class__ is str else all_of(text, one):  # type: ignore[arg-type]
            return True
    return False


def all_of(text: str, needed: Needed) -> bool:
    """Whether a text holds all of these."""
    for one in needed:  # noqa: SIM110 - all() is slower
        if not (one in text if one.__class__ is str else any_of(text, one)):  # type: ignore[arg-type]
            return False
    return True


_LONG = 2
"""A single letter is in too many lines to be worth a look; a Chinese character is not."""
_SOME = r"(?:[?*+]+|\{\d*,?\d*\}[?+]?)?"
_LETTERS = r"[^\\()\[|+*?{.^$]"
_PART = re.compile(
    rf"{_LETTERS}+|\\u[0-9a-f]{{4}}|\\\W|(?:\|{_LETTERS}+)+(?=[|)])"
    rf"|\\(?:x..|\w){_SOME}|\[\^?\]?(?:\\.|[^\]\\])*\]{_SOME}|[.^$]{_SOME}|[|)]"
    r"|\((?:\?(?:P<\w+>|:|P=\w+|<?[=!]|[a-zA-Z-]+:|[a-zA-Z]+(?=\))))?|[?*][?+]?|\{[\d,]+\}[?+]?|.",
    re.DOTALL,
)
"""Without groups, so that its parts are told by their first character: twice as fast."""
_SPECIAL = frozenset("\\()[|+*?{.^$")
_PARTS = ("(", "(?:", "(?i:")
"""What begins a group that is a part of the match."""


def alternatives(source: str, folded: bool = False) -> Group:
    """The groups of a regular expression, with the words that stand in it as they are (`folded`: in lower case)."""
    group, outer = Group("", 0), list[Group]()
    alternative = group.last
    closed: Group | None = None
    """The group that was closed last: it may be said yet that it can be absent."""
    at, run = 0, ""
    for part in _PART.findall(f"{source})"):
        kind = part[0]
        if (letters := part if kind not in _SPECIAL else _escaped(part) if kind == "\\" else "") != "":
            if closed is not None:
                _take(alternative.needed, closed)
                closed = None
            run += letters
            at += len(part)
            continue
        if kind in "?*" or (kind == "{" and part[1] in "0,"):
            run, closed = run[:-1], None
        if run:
            if len(run) >= _LONG or not run.isascii():
                alternative.needed.append(run.lower() if folded else run)
            run = ""
        if closed is not None:
            _take(alternative.needed, closed)
            closed = None
        if kind == "|":
            alternative.end = at
            if part == "|":
                alternative = group.last = Alternative(at + 1)
                group.alternatives.append(alternative)
            else:
                _add_words(group, part, at, folded)
                alternative = Alternative(0)  # nothing belongs to it: a bar or the end of the group follows
        elif kind == "(":
            outer.append(group)
            inner = Group(part, at)
            alternative.groups.append(inner)
            group, alternative = inner, inner.last
        elif kind == ")":
            alternative.end = at
            group.end = at + 1
            if not outer:
                break
            if group.opening in _PARTS or group.opening.startswith("(?P<"):
                closed = group
            group = outer.pop()
            alternative = group.last
        at += len(part)
    return group


def _take(needed: Needed, group: Group) -> None:
    """What a group needs is needed by what stands around it."""
    if len(group.alternatives) == 1:
        needed += group.last.needed
    elif found := group.needed():
        needed.append(found)


def _add_words(group: Group, part: str, at: int, folded: bool) -> None:
    """'|this|that': alternatives of letters alone."""
    for word in part[1:].split("|"):
        lower = word.lower() if folded else word
        if lower == word and (len(word) >= _LONG or not word.isascii()):
            group.alternatives.append(word)
        else:
            one = Alternative(at + 1)
            one.end = at + 1 + len(word)
            if len(word) >= _LONG or not word.isascii():
                one.needed.append(lower)
            group.alternatives.append(one)
        at += len(word) + 1


def _escaped(part: str) -> str:
    """The character that stands for itself in an escape, '' where it is a class such as \\d."""
    if part[1] == "u":
        return chr(int(part.removeprefix("\\u"), 16))
    return "" if part[1].isalnum() or part[1] == "_" else part[1]


class Chosen:
    """Of a source the alternatives that may match in `text`, or are of the `kept` ones (where they start, or what they say): the same
    matches with the same groups in any text that `left_out` tells nothing of."""

    def __init__(self, source: str, whole: Group, text: str, kept: frozenset[int | str] = frozenset()) -> None:
        self._source, self._text, self._before = source, text, kept
        self._kept: list[int | str] = []
        self.left_out: list[Needed | str] = []
        """What a text must hold, of which one alternative that was left out may match."""
        flags = _FLAGS.match(source)
        self.source = "".join(self._group(whole))
        if flags and not self.source.startswith(flags[0]):
            self.source = flags[0] + self.source
        self.kept = frozenset(self._kept)

    def _group(self, group: Group) -> Iterator[str]:
        bar = ""
        for one in group.alternatives:
            if isinstance(one, str):
                if one not in self._before and one not in self._text:
                    self.left_out.append(one)
                    continue
                self._kept.append(one)
                yield bar + one
            elif one.start in self._before or all_of(self._text, one.needed):
                self._kept.append(one.start)
                yield bar
                yield from self._alternative(one)
            else:
                self.left_out.append(one.needed)
                if not (captures := "".join(_captures(one))):
                    continue
                yield f"{bar}{_NEVER}{captures}"
            bar = "|"
        if not bar:
            yield _NEVER

    def _alternative(self, one: Alternative) -> Iterator[str]:
        at = one.start
        for group in one.groups:
            if group.opening not in _BEHIND:
                yield self._source[at : group.start + len(group.opening)]
                yield from self._group(group)
                at = group.end - 1
        yield self._source[at : one.end]


_FLAGS = re.compile(r"\(\?[a-z]+\)")
_NEVER = "(?!)"
_BEHIND = ("(?<=", "(?<!")
"""All that they hold must be equally long, and stays."""


def _captures(alternative: Alternative) -> Iterator[str]:
    """The groups that are asked for by name or number, empty."""
    for group in alternative.groups:
        if group.opening == "(" or group.opening.startswith("(?P<"):
            yield f"{group.opening})"
        for one in group.alternatives:
            if isinstance(one, Alternative):
                yield from _captures(one)
