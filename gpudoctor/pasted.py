"""A pasted text, judged: it needs nothing of a machine, and imports little."""

from __future__ import annotations

import io
from typing import BinaryIO

from . import bundle
from .bundle import Report
from .facts import Facts
from .logs import reader, sift
from .logs.beside import beside as _beside
from .logs.text import Binary
from .registry import Check


def log(stream: BinaryIO, checks: tuple[Check, ...] | None = None) -> Report:
    """Judge what a pasted text tells. Raises OSError, logs.text.Binary."""
    pasted = sift.read(stream)
    return bundle.make(reader.read(pasted), bundle.now(), checks)


def beside(machine: Facts, log: bytes) -> Facts:
    """The facts of a machine, with what a program that ran on it wrote. Bytes that are no text tell nothing."""
    try:
        return _beside(machine, reader.read(sift.read(io.BytesIO(log))))
    except Binary:
        return machine
