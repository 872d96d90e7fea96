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
from gpudoctor.patterns import Pattern, Words, held_by, holds

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


PATTERNS = patterns()


def test_there_are_patterns() -> None:
    assert len(PATTERNS) > 60


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_does_not_run_away(name: str) -> None:
    pattern = PATTERNS[name]
    for line in lines(pattern):
        began = time.thread_time()
        pattern.search(line)
        pattern.match(line)
        assert time.thread_time() - began < LIMIT_S, line[:80]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"foo bar", (("foo bar",),)),
        (r"abc?d efg", (("ab", "d efg"),)),
        (r"fo+o bar\.", (("fo", "o bar."),)),
        (r"(?:abc|defg) \d", (((("abc",), ("defg",)),),)),
        (r"(?:abc|defg)?hijk", (("hijk",),)),
        (r"(?:abc.defg) \d+x(?:ij|kl)", (("abc", "defg", (("ij",), ("kl",))),)),
        (r"(?:abc.defg|hi) \d", (((("abc", "defg"), ("hi",)),),)),
        (r"(?:abc(?:de|f)|hi(?:jk|lm)) \d", (((("abc",), ("hi", (("jk",), ("lm",)))),),)),
        (r"(?P<x>abc|.)(?!efgh)", ()),
        (r"[abc]def{0,3}", (("de",),)),
        (r"GPU \d|CUDA_ERROR_\w+ in .*file", (("GPU ",), ("CUDA_ERROR_", " in ", "file"))),
        (r"GPU \d|\w+", ()),
        (r"(?i)abc", (("abc",),)),
        (r"(?i:abc)def", (("abc", "def"),)),
        (r"(?m:abc)de", (("de",),)),
        (r"(?m:abc)d", ()),
        (r"ab\u663ecd\x1bef", (("ab显cd", "ef"),)),
        (r"显卡.", (("显卡",),)),
    ],
)
def test_words_that_every_match_holds(source: str, words: Words) -> None:
    assert held_by(source) == words


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("abc de 1", True), ("de abc", True), ("abc", False), ("de jk lm", False),
        ("hi jk", True), ("hi", False), ("hide", False), ("", False),
    ],
)  # fmt: skip
def test_a_text_holds_all_words_of_one_alternative(text: str, held: bool) -> None:
    assert holds(text, held_by(r"abc de|(?:abc|x)+ de|de.*abc|(?:hi (?:jk|lm))+")) is held


@pytest.mark.parametrize("name", PATTERNS)
def test_what_matches_holds_the_words(name: str) -> None:
    pattern = PATTERNS[name]

    # a function of its own for each pattern: with one for all, hypothesis' plugin makes its settings one level
    # deeper for every case of parametrize, and a thousand levels are a RecursionError
    @seed(1)
    @settings(max_examples=3, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(line=st.from_regex(re.compile(pattern.source, pattern.flags)))
    def holds(line: str) -> None:
        assert pattern.search(line)

    holds()
