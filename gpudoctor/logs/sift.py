"""Which lines of a text are read: all, or of a long one those at its ends and those that hold a word of some language.

The work is proportional to the size, the memory is not: of lines that differ in their numbers only a few are kept, and
so is of those that hold the same word.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from .text import Line, Pasted, clean, cleaned, refuse_binary

WHOLE = 64 << 10
"""Bytes that are read whole from the beginning of a long text, and from its end."""
SAME = 3
"""Of lines in the middle that differ in their numbers only, how many are kept."""
OF_A_WORD = 150
"""Lines in the middle that are kept for one word."""
STRONG = (
    "CUDA", "cuda", "Cuda", "GPU", "NVRM", "Xid", "NVML", "nvidia", "NVIDIA", "NCCL", "uDNN", "cudnn", "ublas", "DLL load",
    "docker", "ontainer", "podman", "cannot open", "ptxas", "libdevice", "OOM", "ut of memory", "GLIBC", "AVX", "numpy",
    "rotobuf", "escriptors", "Traceback", "Error", 'File "', "No matching", "ensorflow", "DNN", "denied", "XLA", "nouveau",
    "ECC", "unsatisfied", "Failed to", "shm", "llegal instruction", "could not",
)  # fmt: skip
"""Every line that decides something in the middle of a long text holds one of them: few, since each costs time."""
_CHUNK = 1 << 20
_AROUND = 1500
"""Bytes that are kept on each side of a word in a line that is longer."""
_KEYS = 100_000
_DIGITS = b"0123456789"


def tree(of_languages: Iterable[str]) -> str:
    """A regular expression for any of these words: a tree by their letters, which is faster than one word after the other.
    It finds the shortest of those that begin at a place."""
    root: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in of_languages:
        place = root
        for letter in word:
            place = place.setdefault(letter, {})
        place[""] = {}
    return _branches(root) if root else "(?!)"


def words(wanted: Iterable[str]) -> re.Pattern[bytes]:
    """Finds them in bytes."""
    return re.compile(tree(wanted).encode())


def _branches(place: dict[str, dict]) -> str:  # type: ignore[type-arg]
    if "" in place:
        return ""
    ways = [re.escape(letter) + _branches(rest) for letter, rest in place.items()]
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


def read(stream: BinaryIO) -> Pasted:
    """The lines of a stream; of a long one those in the middle that hold a strong word. Raises text.Binary."""
    head = stream.read(WHOLE)
    rest = stream.read(WHOLE)
    if not rest:
        return clean(head)
    refuse_binary(head)
    if (utf_16 := _utf_16(head)) is not None:
        pieces: Iterator[bytes] = _recoded(head + rest, stream, utf_16)
        head, rest = b"", b""
    else:
        pieces = iter(lambda: stream.read(_CHUNK), b"")
    middle = _Middle()
    held = head + rest
    cut = held.rfind(b"\n", 0, WHOLE) + 1
    first = clean(held[:cut])
    middle.number, held = first.count + 1, held[cut:]
    for piece in pieces:
        held += piece
        if len(held) > WHOLE + _CHUNK:
            cut = held.rfind(b"\n", 0, len(held) - WHOLE) + 1
            if not cut:
                cut = len(held) - WHOLE  # within a line that has no end
            middle.look(held[:cut])
            held = held[cut:]
    last = clean(held.decode("utf-8", "replace").replace("\0", ""))
    return Pasted(
        lines=(
            *first.lines,
            *cleaned((n, line.decode("utf-8", "replace")) for n, line in middle.kept),
            *(Line(x.number + middle.number - 1, x.text) for x in last.lines),
        ),
        count=middle.number - 1 + last.count,
        left_out=middle.left_out(),
    )


class _Middle:
    """What is kept of the lines between the beginning and the end."""

    def __init__(self) -> None:
        self.kept: list[tuple[int, bytes]] = []
        self.number = 1
        """Of the line that comes next."""
        self._left = dict.fromkeys(STRONG, OF_A_WORD)
        self._pattern = words(self._left)
        self._seen: dict[bytes, int] = {}

    def look(self, data: bytes) -> None:
        """Keep what tells something in these whole lines."""
        counted = at = 0
        while (found := self._pattern.search(data, at)) is not None:
            start = data.rfind(b"\n", at, found.start()) + 1 or at
            end = data.find(b"\n", found.end())
            end = len(data) if end < 0 else end
            line = data[max(start, found.start() - _AROUND) : min(end, found.end() + _AROUND)]
            if not self._is_known(line):
                self.number += data.count(b"\n", counted, start)
                counted = start
                self.kept.append((self.number, line))
                self._count(found.group().decode())
            at = end if end - found.end() < _AROUND else found.end() + _AROUND
        self.number += data.count(b"\n", counted)

    def _is_known(self, line: bytes) -> bool:
        key = line.translate(None, _DIGITS)
        count = self._seen.get(key, 0)
        if count or len(self._seen) < _KEYS:
            self._seen[key] = count + 1
        return count >= SAME

    def _count(self, word: str) -> None:
        """A word that was found often is not looked for any more: it tells nothing."""
        # a word may have been found as the beginning of another
        self._left[word] = left = self._left.get(word, OF_A_WORD) - 1
        if not left:
            self._pattern = words(w for w, n in self._left.items() if n > 0)

    def left_out(self) -> str | None:
        """What was passed over; None: nothing that might tell something new."""
        often = [word for word, left in self._left.items() if left <= 0]
        return f"some of the many lines with {', '.join(map(repr, often[:5]))}" if often else None


def _utf_16(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return None


def _recoded(head: bytes, stream: BinaryIO, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(head).encode("utf-8", "replace")
    while piece := stream.read(_CHUNK):
        yield decoder.decode(piece).encode("utf-8", "replace")
