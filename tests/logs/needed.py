"""Makes gpudoctor/needed.tsv of the patterns: `python -m tests.logs.needed`, after a pattern has changed. A pattern that is not in it
works as well, and takes longer at the start."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

import msgspec

from gpudoctor.alternatives import alternatives
from gpudoctor.needed import LONG, TABLE, key
from gpudoctor.patterns import Pattern

PACKAGES = ("gpudoctor.logs", "gpudoctor.textual", "gpudoctor.checks", "gpudoctor.compat")


def patterns() -> list[Pattern]:
    """All that the packages make when they are imported, which they must not be yet."""
    found: list[Pattern] = []
    made = Pattern.__init__

    def make(self: Pattern, *arguments: Any) -> None:
        made(self, *arguments)
        found.append(self)

    Pattern.__init__ = make  # type: ignore[assignment, method-assign]
    for name in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(module.name)
    return found


def table() -> str:
    """The table's text."""
    lines = set()
    for one in patterns():
        if len(one.source) >= LONG:
            needed = alternatives(one.source, one.is_folded).needed()
            lines.add(f"{key(one.source, one.is_folded).decode()}\t{msgspec.json.encode(needed).decode()}\n")
    return "".join(sorted(lines))


def main() -> int:
    """Write the table; with --check say whether it is as it should be."""
    text = table()
    if "--check" in sys.argv[1:]:
        same = TABLE.read_text(encoding="utf-8") == text
        print("as it should be" if same else "python -m tests.logs.needed makes it anew")
        return 0 if same else 1
    TABLE.write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10))} patterns, {len(text.encode()) >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
