"""What the ignore list takes out of a report, in words: it is said in every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..findings import Ignored, IgnoreEntry


def count(ignored: Iterable[Ignored]) -> int:
    """How many findings count for nothing."""
    return sum(len(one.findings) for one in ignored)


def lines(ignored: Iterable[Ignored]) -> Iterator[str]:
    """A line for each entry because of which something counts for nothing: which cause, until when, why."""
    for one in ignored:
        if not one.findings:
            continue
        number = len(one.named)
        what = f"{one.entry.cause}{f' ({number} findings)' if number > 1 else ''}"
        others = list(dict.fromkeys(f.cause for f in one.findings if f not in one.named))
        beside = f", and what it alone explains: {', '.join(others)}" if others else ""
        until = f"until {one.entry.until}: " if one.entry.until else ""
        yield f"{what}{beside} ({until}{one.entry.reason})"


def sentence(ignored: tuple[Ignored, ...]) -> str | None:
    """'1 finding ignored: pcie-upstream-narrow (until 2027-03-01: riser cards)'; None where none is."""
    number = count(ignored)
    return f"{head(number)}: {'; '.join(lines(ignored))}" if number else None


def head(number: int) -> str:
    """'2 findings ignored'."""
    return f"{number} finding{'' if number == 1 else 's'} ignored"


def idle(ignored: Iterable[Ignored]) -> Iterator[str]:
    """Entries that match nothing: they can be taken out of their file."""
    for one in ignored:
        if not one.findings and not one.is_back:
            expired = f", and expired on {one.entry.until}" if one.entry.expired else ""
            yield f"{_named(one.entry)} matches nothing here{expired}  [{one.entry.file}]"


def _named(entry: IgnoreEntry) -> str:
    return f"{entry.cause} about {', '.join(entry.about)}" if entry.about else entry.cause
