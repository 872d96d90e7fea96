"""The words that a text must hold for each long pattern of this package to match, from needed.tsv: to tell them from hundreds of
patterns takes longer than to read a small text."""

from __future__ import annotations

import functools
import zlib
from pathlib import Path

import msgspec

from .alternatives import Needed, alternatives

TABLE = Path(__file__).with_suffix(".tsv")
"""A line a pattern: its key and what is needed as JSON, parted by a tab; in order. `python -m tests.logs.needed` makes it anew."""
LONG = 100
"""Characters of a source from which on it is in the table."""


def key(source: str, folded: bool) -> bytes:
    """What a pattern goes by."""
    return b"%08x%x%c" % (zlib.crc32(source.encode()), len(source), ord("i" if folded else "-"))


def needed(source: str, folded: bool) -> list[Needed | str]:
    """What alternatives(source, folded).needed() tells."""
    line = _lines().get(key(source, folded)) if len(source) >= LONG else None
    if line is None:
        return alternatives(source, folded).needed()
    found: list[Needed | str] = msgspec.json.decode(line)
    return found


@functools.cache
def _lines() -> dict[bytes, bytes]:
    try:
        data = TABLE.read_bytes()
    except OSError:
        return {}
    return dict(line.split(b"\t", 1) for line in data.splitlines())
