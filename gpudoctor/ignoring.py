"""The ignore list at work: which finding an entry of it names. Pure: whether an entry has expired was seen when it was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from .findings import Finding, Ignored, IgnoreEntry
from .registry import Check


def entry_for(check: Check, finding: Finding) -> IgnoreEntry | None:
    """The first entry that counts and names this finding."""
    return next((e for e in check.ignored if not e.expired and _names(e, finding)), None)


def come_back(check: Check, finding: Finding) -> Finding:
    """`finding`, which says so where an entry for it has expired, and no other counts."""
    old = next((e for e in check.ignored if e.expired and _names(e, finding)), None)
    if old is None or entry_for(check, finding) is not None:
        return finding
    said = f"It was ignored ({old.reason}): the entry in {old.file} expired on {old.until}."
    return msgspec.structs.replace(finding, message=f"{finding.message} {said}")


def listed(
    checks: Iterable[Check], findings: Iterable[Finding], gone: Mapping[int, IgnoreEntry]
) -> tuple[Ignored, ...]:
    """Every entry for `checks`, and what counts for nothing because of it."""
    every = list(findings)
    made = []
    for check in checks:
        for entry in check.ignored:
            taken = [f for f in every if gone.get(id(f)) is entry]
            taken.sort(key=lambda f: f.cause != check.cause)
            left = (f for f in every if f.cause == check.cause and id(f) not in gone)
            is_back = entry.expired and any(_names(entry, f) for f in left)
            made.append(Ignored(entry=entry, findings=tuple(taken), is_back=is_back))
    return tuple(made)


def _names(entry: IgnoreEntry, finding: Finding) -> bool:
    """A finding about several devices is known where all of them are."""
    return not entry.about or (bool(finding.about) and set(finding.about) <= set(entry.about))
