"""Makes gpudoctor/logs/spoken.jsonl of the languages: `python -m tests.logs.spoken`, after the words of a language have changed."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from gpudoctor.logs import languages


def table() -> str:
    """The table's text."""
    rows = (languages.Known(place, at, one.name, one.foreign, one.words) for place, at, one in languages.every())
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


def main() -> int:
    """Write the table."""
    text = table()
    Path(languages.TABLE).write_text(text, encoding="utf-8", newline="\n")
    print(f"{text.count(chr(10))} languages, {len(text.encode()) >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
