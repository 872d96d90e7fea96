"""What a text must hold for a pattern to match there, and the alternatives of a pattern that a text needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gpudoctor.alternatives import Chosen, Needed, alternatives, any_of
from gpudoctor.patterns import Pattern, expect


@pytest.fixture(autouse=True)
def _nothing_at_hand() -> Iterator[None]:
    expect("")
    yield
    expect("")


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        (r"foo bar", [["foo bar"]]),
        (r"abc?d efg", [["ab", "d efg"]]),
        (r"fo+o bar\.", [["fo", "o bar."]]),
        (r"(?:abc|defg) \d", [[[["abc"], "defg"]]]),
        (r"(?:abc|defg)?hijk", [["hijk"]]),
        (r"(?:abc.defg) \d+x(?:ij|kl)", [["abc", "defg", [["ij"], "kl"]]]),
        (r"(?:abc.defg|hi) \d", [[[["abc", "defg"], "hi"]]]),
        (r"(?:abc(?:de|f)|hi(?:jk|lm)) \d", [[[["abc"], ["hi", [["jk"], "lm"]]]]]),
        (r"(?P<x>abc|.)(?!efgh)", []),
        (r"[abc]def{0,3}", [["de"]]),
        (r"GPU \d|CUDA_ERROR_\w+ in .*file", [["GPU "], ["CUDA_ERROR_", " in ", "file"]]),
        (r"GPU \d|\w+", []),
        (r"GPU \d|a|bc", []),
        (r"(?i)abc", [["abc"]]),
        (r"(?i:abc)def", [["abc", "def"]]),
        (r"(?m:abc)de", [["de"]]),
        (r"(?m:abc)d", []),
        (r"ab\u663ecd\x1bef", [["ab显cd", "ef"]]),
        (r"显卡.", [["显卡"]]),
        (r"(?:ab|显|cd)", [[[["ab"], "显", "cd"]]]),
    ],
)
def test_words_that_every_match_holds(source: str, needed: list[Needed | str]) -> None:
    assert alternatives(source).needed() == needed


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("abc de 1", True), ("de abc", True), ("abc", False), ("de jk lm", False),
        ("hi jk", True), ("hi", False), ("hide", False), ("", False),
    ],
)  # fmt: skip
def test_a_text_holds_all_words_of_one_alternative(text: str, held: bool) -> None:
    assert any_of(text, alternatives(r"abc de|(?:abc|x)+ de|de.*abc|(?:hi (?:jk|lm))+").needed()) is held


@pytest.mark.parametrize(
    ("source", "text", "chosen"),
    [
        (r"foo|bar|baz", "a bar", r"bar"),
        (r"foo \d|(?:bar|baz) \d", "a baz", r"(?:baz) \d"),
        (r"foo (?:bar|baz)?", "foo 1", r"foo (?:(?!))?"),
        (r"foo", "bar", r"(?!)"),
        (r"(?i)foo|bar", "bar", r"(?i)bar"),
        (r"(?P<x>foo)|(?P<y>bar)(\d)", "foo", r"(?P<x>foo)|(?!)(?P<y>)()"),
        (r"(?:(?P<x>foo)|bar) (?P=x)", "bar", r"(?:(?!)(?P<x>)|bar) (?P=x)"),
        (r"bar(?! foo| baz)", "bar baz", r"bar(?! baz)"),
        (r"bar(?! foo)", "bar", r"bar(?!(?!))"),
        (r"(?<!foo|far)bar", "bar", r"(?<!foo|far)bar"),
        (r"(?:a|b)c", "", r"(?:a|b)c"),
        (r"[fo|o]bar|(?:\(baz\)|\|boo)", "(baz)", r"(?:\(baz\))"),
        (r"Foo|BAR|baz", "bar", r"BAR"),
    ],
)
def test_the_alternatives_that_a_text_needs(source: str, text: str, chosen: str) -> None:
    folded = source.startswith("(?i)") or "BAR" in source
    one = Chosen(source, alternatives(source, folded), text)
    assert one.source == chosen
    assert re.compile(one.source).groupindex == re.compile(source).groupindex


def test_what_is_kept_and_what_was_left_out() -> None:
    source = r"(?:foo|bar) \d|some (?:words|(?:bar|lines))"
    whole = alternatives(source)
    first = Chosen(source, whole, "foo")
    assert (first.source, any_of("bar", first.left_out), any_of("foo", first.left_out)) == (r"(?:foo) \d", True, False)
    assert Chosen(source, whole, "some lines", first.kept).source == r"(?:foo) \d|some (?:(?:lines))"


LONG = "|".join(rf"word{i}x (?P<n{i}>\d)" for i in range(40))
TEXTS = [f"word{i}x {i % 10}" for i in range(39, -1, -1)]


@pytest.mark.parametrize("expected", ["", TEXTS[3], "\n".join(TEXTS)])
def test_a_long_pattern_grows_with_the_texts(expected: str) -> None:
    expect(expected)
    pattern, whole = Pattern(LONG), re.compile(LONG)
    for text in [*TEXTS, *reversed(TEXTS), "\n".join(TEXTS)]:
        assert [m.groupdict() for m in pattern.finditer(text)] == [m.groupdict() for m in whole.finditer(text)]
    assert pattern.search("word99x 1") is None


def test_all_of_a_pattern_is_there_for_who_asks_for_it() -> None:
    pattern = Pattern(LONG, re.IGNORECASE)
    assert pattern.search("WORD7X 1")
    assert pattern.compiled.pattern == LONG
    assert pattern.search("WORD8X 1")
