"""How each cause is proven, collected from the tests themselves: docs/proofs.md.

python -m tests.provoked.table          writes the table anew
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from gpudoctor.diagnosis import judge
from gpudoctor.registry import all_checks
from tests.factory import healthy

TESTS = Path(__file__).parent.parent
PAGE = TESTS.parent / "docs" / "proofs.md"
HERE, HOST, RECORDED, TEXT = "provoked here", "real GPU host", "recorded host, one thing changed", "text only"
PLACES = ((HERE, "provoked/test_*.py"), (HOST, "gpu/faults*.py"))
INTRODUCTION = f"""# How each cause is proven

Written by `python -m tests.provoked.table` from the tests themselves; a test keeps it true.

* **{HERE}**: brought about for real on a machine without GPUs (mount namespaces, fake vendor libraries that answer by what the machine
  is like, real environments), examined by `gpudoctor check`, and cured by its fixes, pasted as printed.
* **{HOST}**: brought about on a machine with GPUs, by the suite of `tests/gpu`.
* **{RECORDED}**: a machine with GPUs was recorded; one thing of it is changed, and it is judged again.
* **{TEXT}**: only a log shows it (`gpudoctor log`); proven by the texts of `tests/logs`.

"""


def table() -> str:
    found = proofs()
    rows = [f"| {c.code} | {c.cause} | {'; '.join(found.get(c.cause, []))} |" for c in all_checks() if not c.is_symptom]
    return INTRODUCTION + "\n".join(["| code | cause | how it is proven |", "|---|---|---|", *rows]) + "\n"


def proofs() -> dict[str, list[str]]:
    """Cause -> how, and where."""
    found: dict[str, dict[str, None]] = {}
    for how, pattern in PLACES:
        for path in sorted(TESTS.glob(pattern)):
            name = ".".join(("tests", *path.relative_to(TESTS).with_suffix("").parts))
            kind = RECORDED if path.stem == "test_recorded" else how
            for cause in _causes(importlib.import_module(name)):
                found.setdefault(cause, {})[f"{kind} (`{path.relative_to(TESTS.parent)}`)"] = None
    for cause in only_text():
        found.setdefault(cause, {})[TEXT] = None
    return {cause: list(ways) for cause, ways in found.items()}


def only_text() -> set[str]:
    """Causes whose checks say on a machine that only a text shows them."""
    return {s.cause for s in judge(healthy()).skipped if s.reason.startswith("only a text")}


def _causes(module: ModuleType) -> Iterator[str]:
    """Of the cases that a module holds, by themselves or as parameters of its tests."""
    for value in vars(module).values():
        if getattr(value, "__module__", module.__name__) != module.__name__ and not isinstance(value, tuple):
            continue
        yield from _of(value)
        for mark in getattr(value, "pytestmark", ()):
            yield from _of(getattr(mark, "args", ()))


def _of(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _of(one)
    elif isinstance(value, Mapping):
        yield from _of(list(value.values()))
    elif hasattr(value, "values") and hasattr(value, "marks"):  # pytest.param
        yield from _of(value.values)
    elif not isinstance(value, type):
        if isinstance(cause := getattr(value, "cause", None), str):
            yield cause
        yield from (c for c in getattr(value, "causes", ()) if isinstance(c, str)) if hasattr(value, "make") else ()


if __name__ == "__main__":
    PAGE.write_text(table())
