"""What runs inside the examined interpreter: standard library only, Python 3.6 and newer, one file a subject.

Nothing is installed there and nothing is written: the text of the files that a task needs is sent through the
standard input of the patient's own Python, followed by one call of `serve`. A task is named 'file.function'.
What runs there reads and reports; it never judges.

The files are modules like any other for people, linters and mypy. Sent, they are one program: their imports of
each other are left out, so no name may be used twice among them (a test keeps it so).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

_HERE = Path(__file__).parent
_OURS = re.compile(r"^from \.(\w+) import (?:\([^)]*\)|[^\n(]*)\n", re.MULTILINE)


def program(tasks: Iterable[str]) -> str:
    """The text that can do `tasks`: the core, and the files that they need."""
    names: list[str] = []
    for task in tasks:
        _add(task.partition(".")[0], names)
    return "\n\n".join(_text(name)[0] for name in names)


def names() -> tuple[str, ...]:
    """Every file of the patient, the core first."""
    others = sorted(p.stem for p in _HERE.glob("*.py") if p.stem not in ("__init__", "core"))
    return ("core", *others)


def _add(name: str, names: list[str]) -> None:
    """`name` behind everything that it imports, each once."""
    if name not in names:
        for needed in ("core", *_text(name)[1]) if name != "core" else ():
            _add(needed, names)
        names.append(name)


@functools.cache
def _text(name: str) -> tuple[str, tuple[str, ...]]:
    """The text of a file without its imports of the others, and their names."""
    text = (_HERE / f"{name}.py").read_text(encoding="utf-8")
    return _OURS.sub("", text), tuple(_OURS.findall(text))
