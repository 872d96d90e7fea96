"""A pasted text, judged: it needs nothing of a machine, and imports little."""

from __future__ import annotations

from typing import BinaryIO

from . import bundle
from .bundle import Report
from .logs import reader, sift
from .registry import Check


def log(stream: BinaryIO, checks: tuple[Check, ...] | None = None) -> Report:
    """Judge what a pasted text tells. Raises OSError, logs.text.Binary."""
    pasted = sift.read(stream)
    return bundle.make(reader.read(pasted), bundle.now(), checks)
