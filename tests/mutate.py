"""Do the tests notice? `python -m tests.mutate` switches off one thing of tests/mutants.py at a time.

Each mutant must be killed: a test fails, which passes without it. One that survives, and has no reason here to, ends
this with 1. `python -m tests.mutate rule:GD511 task` tries this check and the patient's tasks alone; `python -m
tests.mutate explains kind` drops the names that checks explain and the kinds of lines: how many of these are noticed is
information.
"""

from __future__ import annotations

import collections
import contextlib
import inspect
import io
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudoctor import registry
from tests import mutants, mutate_texts
from tests.forked import Outcome, run_all
from tests.interpreters import interpreters

TESTS = Path(__file__).parent
FOR_INFORMATION = ("explains", "kind")
MAY_SURVIVE: dict[str, str] = {
    "text:GD201": "of a text it is unknown, with or without it: what it calls asks the text for other causes",
    "text:GD813": "of a text it does not apply, with or without it: nothing was measured",
}
"""Mutant -> why no test can fail for it."""
_QUIETLY = (
    "-q",
    "--no-header",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:xdist",
)
"""Without what takes a second to load, or writes."""
_FAILED = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
_PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


class _Eager:
    """Runs the tests that speak most of `words` first, and remembers the first that failed."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: -sum(word in _source(item) for word in self._words))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def _source(item: pytest.Item) -> str:
    return inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""


def label(mutant: str) -> str:
    """The mutant for a person."""
    kind, _, what = mutant.partition(":")
    code, _, rest = what.partition(":")
    cause = f" {registry.find(code).cause}" if kind in ("rule", "explains", "text") else ""
    return f"{kind} {code}{cause}" + (f" -> {rest}" if rest else "")


def stages(mutant: str) -> tuple[tuple[str, ...], list[list[Path]]]:
    """The words of a mutant, and the tests that could notice it, the likeliest first; those of a stage are run where
    the ones before let it live."""
    kind, _, what = mutant.partition(":")
    if kind in ("rule", "explains"):
        cause = registry.find(what.partition(":")[0]).cause
        files = sorted((TESTS / "checks").glob("test_*.py"))
        mention = [f for f in files if cause in f.read_text()]
        texts = [f for f in sorted((TESTS / "logs").glob("test_*.py")) if cause in f.read_text()]
        return (cause,), [mention, texts, [*(f for f in files if f not in mention), TESTS / "test_diagnosis.py"]]
    module, _, function = what.partition(".")
    words = (what, f"{function}(", f"{function}.", f"{module}.")
    files = [TESTS / f"test_{name}.py" for name in ("examine", "inside", "trial")]
    files = [*sorted((TESTS / "probes").glob("test_*.py")), *files]
    speaks = {f: sum(word in f.read_text() for word in words) + 4 * (f.stem == f"test_{module}") for f in files}
    near = sorted((f for f in files if speaks[f]), key=lambda f: -speaks[f])
    return words, [near[:2], [*near[2:], *(f for f in files if f not in near)], [TESTS / "test_cli.py"]]


def run(mutant: str) -> Outcome:
    """Run the tests with `mutant` in force, in this process, which is thrown away."""
    os.environ[mutants.VARIABLE] = mutant
    words, groups = stages(mutant)
    began, eager = time.monotonic(), _Eager(words)
    for files in groups:
        code, said = _pytest(["-x", *map(str, files)], eager) if files else (pytest.ExitCode.OK, "")
        if code in _FAILED:
            return Outcome(mutant, True, eager.failed or said.strip()[-200:], time.monotonic() - began)
        if code not in _PASSED:
            return Outcome(mutant, False, f"pytest ended with {code}: {said.strip()[-400:]}", 0.0)
    return Outcome(mutant, False, "", time.monotonic() - began)


def _pytest(arguments: list[str], plugin: object | None = None) -> tuple[int, str]:
    """Its exit code, and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        code = pytest.main([*_QUIETLY, *arguments], plugins=[plugin] if plugin else [])
    return code, said.getvalue()


def _tried(chosen: list[str]) -> Iterator[Outcome]:
    """Those of texts last: a process whose pytest has loaded the tests forks no child that could load them anew."""
    of_texts = [m for m in chosen if mutants.shown_by_texts(m)]
    interpreters()  # looked for once, and not in every fork
    yield from run_all((m for m in chosen if m not in of_texts), run)
    if of_texts:
        session = mutate_texts.Session(of_texts)
        code, said = _pytest([*mutate_texts.ARGUMENTS], session)
        if code != pytest.ExitCode.OK:
            raise RuntimeError(f"without a mutant: {said}")
        yield from session.outcomes


def main(wanted: list[str]) -> int:
    """Run the mutants of the kinds that are `wanted`, or these alone, and count."""
    began = time.monotonic()
    every = [m for kind in mutants.KINDS.values() for m in kind()]
    kinds = wanted or [kind for kind in mutants.KINDS if kind not in FOR_INFORMATION]
    chosen = [m for m in every if m in kinds or m.partition(":")[0] in kinds]
    counts: collections.Counter[tuple[str, bool]] = collections.Counter()
    lived, by = [], []
    for one in _tried(chosen):
        kind = one.mutant.partition(":")[0]
        counts[kind, one.killed] += 1
        excuse = MAY_SURVIVE.get(one.mutant)
        if one.killed:
            by.append(one.by)
        elif excuse is None and kind not in FOR_INFORMATION:
            lived.append(one.mutant)
        word = "killed  " if one.killed else "survived"
        print(
            f"{word} {label(one.mutant)}  [{one.by if one.killed else excuse or one.by}] {one.seconds:.1f} s",
            flush=True,
        )
    code, said = _pytest([*dict.fromkeys(by)]) if by else (0, "")
    for kind in dict.fromkeys(m.partition(":")[0] for m in chosen):
        killed, left = counts[kind, True], counts[kind, False]
        print(f"{kind}: {killed} of {killed + left} killed" + (" (for information)" if kind in FOR_INFORMATION else ""))
    print(
        f"{time.monotonic() - began:.0f} s; " + (f"nobody noticed: {', '.join(lived)}" if lived else "no one survived")
    )
    if code != pytest.ExitCode.OK:
        print(f"a test that killed a mutant fails without one, too:\n{said}")
    return 1 if lived or code != pytest.ExitCode.OK else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
