"""A file that tells of a machine: a printed report, the zip of `gpudoctor report`, or what the collector brought back."""

from __future__ import annotations

from pathlib import Path

from . import archive, bundle, collection
from .bundle import Recorded

MOST_BYTES = max(bundle.MAX_BYTES, collection.MAX_BYTES, archive.MOST_PACKED_BYTES)


def load(path: Path) -> Recorded:
    """What was seen, and what was said of it. Raises OSError, bundle.NotAReport."""
    with path.open("rb") as f:
        return read(f.read(MOST_BYTES + 1))


def read(data: bytes) -> Recorded:
    """The same of a file's bytes: what it is, its beginning tells. It comes from a stranger: raises bundle.NotAReport."""
    if not data.strip():
        raise bundle.NotAReport("it is empty")
    if collection.looks_like_one(data):
        try:
            facts, started_at = collection.read(data)
        except collection.NotACollection as e:
            raise bundle.NotAReport(f"a collection, {e}") from e
        bundle.bounded(facts)
        return Recorded(facts=facts, started_at=started_at)
    if archive.looks_like_one(data):
        return bundle.recorded(archive.read(data))
    if not data.lstrip().startswith(b"{"):
        raise bundle.NotAReport("it is neither JSON, nor a zip of gpudoctor report, nor what a collector brought back")
    return bundle.recorded(data)
