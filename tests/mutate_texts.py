"""Tries the mutants that the tests of texts must notice, in one session of pytest: each test is run once without a mutant,
to see which lines it reads and what is said of them; then each mutant in a fork, on the tests that it could concern first."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from gpudoctor import api, registry
from gpudoctor.facts import Facts
from gpudoctor.logs.notebook import Notebook
from tests import mutants
from tests.forked import Outcome, run_all

_TESTS = Path(__file__).parent
_LOGS = _TESTS / "logs"
_NOT_OF_LINES = ("test_corpus", "test_corpus_form", "test_patterns", "test_sift", "test_tensorflow", "test_text")
ARGUMENTS = (
    *(str(f) for f in sorted(_LOGS.glob("test_*.py")) if f.stem not in _NOT_OF_LINES),
    *(str(f) for f in sorted((_TESTS / "checks").glob("test_*.py")) if "Text(" in f.read_text()),
)


class Session:
    """A plugin of pytest."""

    def __init__(self, chosen: list[str]) -> None:
        self.outcomes: list[Outcome] = []
        self._chosen = chosen
        self._seen: dict[pytest.Item, set[str]] = {}
        self._failed = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Instead of pytest's own: session.testsfailed is what fails without a mutant."""
        for item in session.items:
            with _noting(self._seen.setdefault(item, set())):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        if not session.testsfailed:
            self.outcomes = list(run_all(self._chosen, self._try))
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def _try(self, mutant: str) -> Outcome:
        began = time.monotonic()
        mutants.apply(mutant)
        for item in self._likely(mutant):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            if self._failed:
                break
        return Outcome(mutant, bool(self._failed), self._failed, time.monotonic() - began)

    def _likely(self, mutant: str) -> list[pytest.Item]:
        """The tests that could notice it, those first that see little else; for a line that they don't see, none can."""
        kind, _, what = mutant.partition(":")
        if kind in ("clue", "kind"):
            return sorted((i for i, seen in self._seen.items() if what in seen), key=self._sees)
        word = what if kind == "language" else registry.find(what.partition(":")[0]).cause
        return sorted(self._seen, key=lambda i: (-_speaks(i, word) - (word in self._seen[i]), self._sees(i)))

    def _sees(self, item: pytest.Item) -> int:
        return len(self._seen[item])


def _speaks(item: pytest.Item, word: str) -> int:
    source = inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""
    return (word in item.nodeid) + (word in source)


@contextmanager
def _noting(seen: set[str]) -> Iterator[None]:
    """Into `seen`: the kinds and languages of the lines that are read, the causes and symptoms that are named."""
    facts_of, log = Notebook.facts, api.log

    def facts(self: Notebook, *arguments: Any) -> Facts:
        seen.update(word for e in self.events for word in (e.kind, e.language))
        return facts_of(self, *arguments)

    def judged(*arguments: Any) -> api.Report:
        report = log(*arguments)
        seen.update(f.cause for f in report.findings)
        seen.update(c.cause for group in report.diagnosis.candidates.values() for c in group)
        return report

    with patch.object(Notebook, "facts", facts), patch.object(api, "log", judged):
        yield
