"""Every text of the corpus has its right answer, however it was pasted."""

from __future__ import annotations

import random
import textwrap

import pytest

from tests.logs.judged import HERE, judged, table, wrong

RIGHT = table()
HEALTHY = (HERE / "h200" / "healthy.log").read_text().splitlines()


def text(name: str) -> str:
    return (HERE / name).read_text()


def between(lines: list[str], others: list[str], seed: str) -> list[str]:
    """`lines` with others between them, each in its order."""
    chance = random.Random(seed)
    places = sorted(chance.choices(range(len(lines) + 1), k=len(others)))
    mixed = list(lines)
    for place, other in reversed(list(zip(places, others, strict=True))):
        mixed.insert(place, other)
    return mixed


def coloured(line: str) -> str:
    return f"\x1b[1;31m{line[:7]}\x1b[0m{line[7:]}\x1b[K"


@pytest.mark.parametrize("name", RIGHT)
def test_the_answer(name: str) -> None:
    assert wrong(judged(text(name)), RIGHT[name]) is None


@pytest.mark.parametrize("name", RIGHT)
def test_with_lines_of_a_healthy_run_in_between(name: str) -> None:
    for seed in "ab":
        mixed = between(text(name).splitlines(), HEALTHY, name + seed)
        assert wrong(judged("\n".join(mixed)), RIGHT[name]) is None


@pytest.mark.parametrize("name", [n for n in RIGHT if "NVIDIA-SMI" not in text(n)])  # a table is not wrapped
def test_wrapped_at_80_columns(name: str) -> None:
    hard = [
        piece
        for line in text(name).splitlines()
        for piece in ([line[i : i + 80] for i in range(0, len(line), 80)] or [""])
    ]
    assert wrong(judged("\n".join(hard)), RIGHT[name]) is None
    words = [p for line in text(name).splitlines() for p in textwrap.wrap(line, 80, break_on_hyphens=False) or [""]]
    assert wrong(judged("\n".join(words)), RIGHT[name]) is None


@pytest.mark.parametrize("name", RIGHT)
def test_quoted_and_coloured(name: str) -> None:
    lines = text(name).splitlines()
    assert wrong(judged("\n".join(f"> {line}" for line in lines)), RIGHT[name]) is None
    assert (
        wrong(judged("Hello,\n\n```\n" + "\r\n".join(map(coloured, lines)) + "\n```\nThanks!\n"), RIGHT[name]) is None
    )
