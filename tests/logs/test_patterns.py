"""No pattern runs away: the time for a line grows with its length, not with a power of it."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import gpudoctor.logs
from gpudoctor.logs.language import Kind, Language
from gpudoctor.patterns import Pattern

LENGTH = 1500
FILLERS = ("a", " ", "1", ".", "a ", "1.", "/a", "[", '"', "'", ": ", "=", "(", "-", "0x1,", "A_1 ", "\t", "E ")
LIMIT_S = 0.1
"""For one line: most patterns take microseconds, quadratic ones milliseconds, and what is worse seconds."""


def patterns() -> dict[str, Pattern]:
    """Every compiled pattern of the languages, by the place where it stands."""
    found: dict[str, Pattern] = {}

    def collect(name: str, value: Any) -> None:
        if isinstance(value, Pattern):
            if all(value is not one for one in found.values()):
                found[name] = value
        elif isinstance(value, Language | Kind):
            for one in value.kinds if isinstance(value, Language) else ():
                collect(f"{name}.{one.name}", one.compiled)
        elif isinstance(value, dict):
            for key, one in value.items():
                collect(f"{name}[{key}]", one)
        elif isinstance(value, tuple | list):
            for number, one in enumerate(value):
                collect(f"{name}[{number}]", one)

    for module in pkgutil.iter_modules(gpudoctor.logs.__path__):
        loaded = importlib.import_module(f"gpudoctor.logs.{module.name}")
        for name, value in vars(loaded).items():
            collect(f"{module.name}.{name}", value)
    return found


def words(parsed: Any) -> Iterator[str]:
    """The runs of letters that stand in a pattern as they are."""
    run = ""
    for op, argument in parsed:
        if str(op) == "LITERAL":
            run += chr(argument)
            continue
        if run:
            yield run
        run = ""
        for part in argument if isinstance(argument, tuple | list) else (argument,):
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, _parser.SubPattern):
                    yield from words(inner)
    if run:
        yield run


def lines(pattern: Pattern) -> Iterator[str]:
    """Lines that begin as the pattern wants it, and do not go on so."""
    runs = list(dict.fromkeys(words(_parser.parse(pattern.source, pattern.flags))))[:24]
    for run in runs:
        yield (run * LENGTH)[:LENGTH]
        yield (f"{run} " * LENGTH)[:LENGTH]
    for until in range(min(len(runs), 6) + 1):
        start = " ".join(runs[:until])
        for filler in FILLERS:
            yield (start + filler * LENGTH)[:LENGTH]
            yield (start + " " + filler * LENGTH)[:LENGTH]


def took_s(pattern: Pattern, line: str) -> float:
    """Processor time for a line, in seconds: the first time with what is compiled, and a collection of garbage may fall into it."""
    began = time.thread_time()
    pattern.search(line)
    pattern.match(line)
    return time.thread_time() - began


PATTERNS = patterns()


def test_there_are_patterns() -> None:
    assert len(PATTERNS) > 60


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_does_not_run_away(name: str) -> None:
    pattern = Pattern(PATTERNS[name].source, PATTERNS[name].flags)
    assert pattern.compiled  # with all alternatives, as after a text that needs them
    for line in lines(pattern):
        assert took_s(pattern, line) < LIMIT_S or took_s(pattern, line) < LIMIT_S, line[:80]


@pytest.mark.parametrize("name", PATTERNS)
def test_what_matches_is_matched_by_the_alternatives_that_are_chosen(name: str) -> None:
    source, flags = PATTERNS[name].source, PATTERNS[name].flags
    whole, grown = re.compile(source, flags), Pattern(source, flags)

    # a function of its own for each pattern: with one for all, hypothesis' plugin makes its settings one level
    # deeper for every case of parametrize, and a thousand levels are a RecursionError
    @seed(1)
    @settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(line=st.from_regex(whole))
    def holds(line: str) -> None:
        right = whole.search(line)
        assert right is not None
        for pattern in (Pattern(source, flags), grown):
            found = pattern.search(line)
            assert found is not None
            assert (found.span(), found.groupdict()) == (right.span(), right.groupdict())

    holds()
