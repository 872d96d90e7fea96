"""`gpudoctor fix` on faults of packages: pip is run in the examined environment, and what it did is taken back."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.provoked import test_libraries as libraries
from tests.provoked import test_packages as packages
from tests.provoked.bench import Bench, Case, Maker, roots
from tests.running import COMMAND

HOW = "mended by `gpudoctor fix` and taken back"
CASES = (
    Case("cuda-toolkit-missing", HOW, libraries.nothing_but_tensorflow),
    Case("cudnn-version-too-old", HOW, libraries.cudnn_9_1),
    Case("cu12-cu13-wheel-clash", HOW, libraries.cudnn_of_cuda_13),
    Case("tf-packages-overlap", HOW, packages.both_packages),
    Case("tf-cpu-only-package", HOW, packages.cpu_package),
)


def _installed(bench: Bench) -> dict[str, str]:
    listed = bench.shell((), str(bench.place.python), "-m", "pip", "list", "--format", "json")
    return {one["name"]: one["version"] for one in json.loads(listed.stdout)}


def _fix(bench: Bench, *words: str) -> subprocess.CompletedProcess[str]:
    return bench.shell((), *COMMAND, "fix", *words, "--yes", "--level", "quick", "--python", str(bench.place.prefix))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_done_and_taken_back(case: Case, make: Maker) -> None:
    bench = make()
    case.make(bench)
    before = _installed(bench)
    assert [r["cause"] for r in roots(bench.check())] == [case.cause]
    done = _fix(bench, case.cause)
    assert f"Mended, as a new check shows: {case.cause}" in done.stdout, done.stdout + done.stderr
    assert _installed(bench) != before
    assert case.cause not in [r["cause"] for r in roots(bench.check())]
    back = bench.shell((), *COMMAND, "fix", "--undo", "--yes")
    assert "Taken back." in back.stdout, back.stdout + back.stderr
    assert _installed(bench) == before
    assert [r["cause"] for r in roots(bench.check())] == [case.cause]
