"""The corpus is whole: a text for every answer, names of the vocabulary, nothing of the machine that made it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.registry import all_checks
from tests.logs import answers

HERE = Path(__file__).parent
PLACES = ("corpus", "h200")
KINDS = {"cause", "candidates", "nothing wrong"}
VOCABULARY = set((HERE / "vocabulary.txt").read_text().split()) | {c.cause for c in all_checks() if not c.is_symptom}
CHANGING = re.compile(
    r"""\d{4}-\d\d-\d\d[ ][\d:.]+ | ^[IWEF]\d{4}[ ][\d:.]+\s+\d+ | 0x[0-9a-f]+ | CPU[ ]Frequency:[ ]\d+ | \d+[ ]MB[ ]memory""",
    re.VERBOSE | re.MULTILINE,
)
"""What differs from one run to the next."""


def same(text: str) -> str:
    """The text without times, process numbers and addresses."""
    return CHANGING.sub("", text)


def table(place: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((HERE / place / "answers.json").read_text())
    return found


@pytest.mark.parametrize("place", PLACES)
def test_one_answer_a_text(place: str) -> None:
    named = [one["file"] for one in table(place)]
    assert len(set(named)) == len(named)
    assert set(named) == {path.name for path in (HERE / place).glob("*.log")}


@pytest.mark.parametrize("place", PLACES)
def test_answers_are_of_the_vocabulary(place: str) -> None:
    for one in table(place):
        right = one["right"]
        assert one["made"]
        assert right["kind"] in KINDS, one["file"]
        assert {*right["causes"], *right["must_not"]} <= VOCABULARY, one["file"]
        assert set(right.get("also", ())) <= VOCABULARY | {"nothing wrong"}, one["file"]
        assert not set(right["causes"]) & set(right["must_not"]), one["file"]
        assert bool(right["causes"]) is (right["kind"] != "nothing wrong") or right["kind"] == "candidates", one["file"]


@pytest.mark.parametrize("place", PLACES)
def test_texts_as_pasted(place: str) -> None:
    for path in (HERE / place).glob("*.log"):
        text = path.read_text()
        assert text.strip(), path.name
        assert not re.search(r"(?<![\w.])/(tmp|work|root)/", text), path.name
        assert not re.search(r"^(RESULT |# env:|# exit )", text, re.MULTILINE), path.name


def test_equal_texts_have_equal_answers() -> None:
    groups: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for place in PLACES:
        for one in table(place):
            groups[same((HERE / place / one["file"]).read_text())].append((f"{place}/{one['file']}", one["right"]))
    for group in groups.values():
        first = group[0]
        for other in group[1:]:
            assert other[1] == first[1], (first[0], other[0])


def test_answers_as_decided() -> None:
    """The files are what answers.py writes."""
    by_name = {one["file"]: one for one in answers.corpus()}
    assert {one["file"]: one for one in table("corpus")} == by_name
    assert {one["file"]: one for one in table("h200")} == {one["file"]: one for one in answers.h200()}
