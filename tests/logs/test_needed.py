"""The table of the words that patterns need: it tells what the patterns tell, and who lacks it loses time alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor import needed
from gpudoctor.alternatives import alternatives

SOURCE = r"(?:this|that) pattern is nowhere in the package, (?:and so|therefore) it is not in the table " * 2


def test_it_is_made_of_the_patterns_as_they_are() -> None:
    command = [sys.executable, "-m", "tests.logs.needed", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert (run.stdout, run.returncode) == ("as it should be\n", 0), run.stderr


@pytest.mark.parametrize("folded", [False, True])
def test_what_is_not_in_it_is_told_from_the_pattern(folded: bool) -> None:
    assert len(SOURCE) >= needed.LONG
    assert needed.needed(SOURCE, folded) == alternatives(SOURCE, folded).needed() != []


def test_what_is_in_it_is_taken_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "needed.tsv"
    table.write_bytes(needed.key(SOURCE, False) + b'\t[["here"]]\n')
    monkeypatch.setattr(needed, "TABLE", table)
    needed._lines.cache_clear()
    try:
        assert needed.needed(SOURCE, False) == [["here"]]
        assert needed.needed(SOURCE, True) != [["here"]]
        table.unlink()
        needed._lines.cache_clear()
        assert needed.needed(SOURCE, False) == alternatives(SOURCE).needed()
    finally:
        needed._lines.cache_clear()
