"""How each cause is proven, collected from the tests themselves: docs/proofs.md.

python -m tests.provoked.table          writes the table anew
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpudoctor.diagnosis import judge
from gpudoctor.registry import all_checks
from tests.factory import healthy
from tests.provoked.proof import HERE, HOST, RECORDED, TEXT, Proof

TESTS = Path(__file__).parent.parent
PAGE = TESTS.parent / "docs" / "proofs.md"
MODULES = (
    "provoked/test_*.py",
    "test_containers.py",
    "test_plugins.py",
    "test_unreached.py",
    "test_run.py",
    "probes/test_mps.py",
)
"""Where causes are brought about on a machine without GPUs."""
OF_CANDIDATES = ("test_alike", "test_candidates", "test_clues", "test_whole")
"""Tests of texts that do not decide."""
ONLY_TEXT = ("only a text", "told from a run of the training program", "this is not Windows", "this is not macOS")
"""Reasons of checks for that they say nothing of a live Linux machine."""
INTRODUCTION = f"""# How each cause is proven

Written by `python -m tests.provoked.table` from the tests themselves; a test keeps it true, and that no cause is without a proof.

* **{HERE}**: brought about for real on a machine without GPUs (mount namespaces, control groups, fake vendor libraries that answer by what
  the machine is like, container engines' own words, real wheels, interpreters and processes) and examined by `gpudoctor check`. In
  `tests/provoked` it is then cured by its fixes, pasted as printed.
* **{HOST}**: the suite of `tests/gpu` brings it about on a machine with GPUs.
* **{RECORDED}**: a machine with GPUs was recorded; one thing of it is changed, and it is judged again. Only a fault of the hardware, or an
  interpreter that does not exist here, is proven so alone.
* **{TEXT}**: no live Linux machine shows it, a log does (`gpudoctor log`); proven by texts.

"""


def table() -> str:
    found = proofs()
    rows = [
        f"| {c.code} | {c.cause} | {'<br>'.join(_shown(found[c.cause])) if c.cause in found else ''} |"
        for c in all_checks()
        if not c.is_symptom
    ]
    return INTRODUCTION + "\n".join(["| code | cause | how it is proven |", "|---|---|---|", *rows]) + "\n"


Ways = dict[tuple[str, str], list[str]]
"""Kind and file -> what is done there."""


def _shown(ways: Ways) -> Iterator[str]:
    bare: dict[str, list[str]] = {}
    for (kind, path), hows in ways.items():
        if hows:
            yield f"{kind}: {'; '.join(h.replace('|', '/') for h in hows)} (`{path}`)"
        else:
            bare.setdefault(kind, []).append(f"`{path}`")
    yield from (f"{kind} ({', '.join(paths)})" for kind, paths in bare.items())


def proofs() -> dict[str, Ways]:
    """Cause -> the ways in which it is proven."""
    found: dict[str, Ways] = {}
    for path in sorted(p for pattern in MODULES for p in TESTS.glob(pattern)):
        module = importlib.import_module(".".join(("tests", *path.relative_to(TESTS).with_suffix("").parts)))
        for one in _in(list(vars(module).values())):
            hows = found.setdefault(one.cause, {}).setdefault((one.kind, _name(path)), [])
            hows += [one.how] if one.how not in hows else []
    for where, kind, causes in ((_faults(), HOST, None), (_texts(), TEXT, only_text() - found.keys())):
        for cause, file in where:
            if causes is None or cause in causes:
                found.setdefault(cause, {})[kind, file] = []
    return found


def only_text() -> set[str]:
    """Causes of which checks say on a machine that they are not for it, but for texts."""
    return {s.cause for s in judge(healthy()).skipped if s.reason.startswith(ONLY_TEXT)}


def _name(path: Path) -> str:
    return str(path.relative_to(TESTS.parent))


def _in(value: Any) -> Iterator[Proof]:
    """What is held by variables of a module and by the marks of its tests."""
    if isinstance(value, Proof):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _in(one)
    elif not isinstance(value, type):
        for mark in getattr(value, "pytestmark", ()):
            yield from _in(getattr(mark, "args", ()))


_CAUSE = re.compile(r'"([a-z0-9]+(?:-[a-z0-9.]+)+)"')


def _faults() -> Iterator[tuple[str, str]]:
    """Cause, and the file in which a fault has it as its answer."""
    causes = {c.cause for c in all_checks() if not c.is_symptom}
    for path in sorted(TESTS.glob("gpu/faults*.py")):
        for cause in sorted(causes & set(_CAUSE.findall(path.read_text()))):
            yield cause, _name(path)


def _texts() -> Iterator[tuple[str, str]]:
    """Cause, and where it is the answer for a text: of the corpus, or in the test of a language."""
    for answers in sorted(TESTS.glob("logs/corpus/answers.json")):
        for one in json.loads(answers.read_text()):
            if one["right"]["kind"] == "cause":
                yield from ((cause, _name(answers)) for cause in one["right"]["causes"])
    for path in sorted(TESTS.glob("logs/test_*.py")):
        if path.stem not in OF_CANDIDATES:
            yield from ((cause, _name(path)) for cause in sorted(set(_CAUSE.findall(path.read_text()))))


if __name__ == "__main__":
    PAGE.write_text(table())
