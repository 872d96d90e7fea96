"""What only a text tells, and a program of this machine says: the real pip, asked for what there is not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.provoked.proof import Proof
from tests.running import gpudoctor, report


@dataclass(frozen=True)
class Said(Proof):
    """`words` are pip's, `more` is what people paste beside it."""

    words: tuple[str, ...]
    more: str = ""

    def __str__(self) -> str:
        return self.cause


def _pip(*words: str) -> str:
    """What the real pip says of the real index."""
    env = {k: v for k, v in os.environ.items() if k not in ("PIP_NO_INDEX", "PIP_FIND_LINKS")}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--no-cache-dir", *words],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


CASES = (
    Said(
        "tensorflow-gpu-package-removed", "the real pip asked for tensorflow-gpu 2.12.0",
        ("download", "--no-deps", "--no-binary=:all:", "tensorflow-gpu==2.12.0"),
    ),
    Said(
        "tf-aarch64-no-wheel", "the real pip asked for tensorflow 2.5.0 for aarch64",
        ("download", "--no-deps", "--only-binary=:all:", "--platform=manylinux2014_aarch64", "--python-version=3.9", "tensorflow==2.5.0"),
        "$ uname -a; python3 --version\nLinux arm 5.15.0 #1 SMP aarch64 GNU/Linux\nPython 3.9.18\n",
    ),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_pip_says(case: Said, tmp_path: Path) -> None:
    said = _pip(*case.words, "-d", str(tmp_path))
    if "tensorflow" not in said or "NewConnectionError" in said or "from versions: none" in said:
        pytest.skip("no package index can be reached")
    (tmp_path / "text").write_text(f"$ pip install {case.words[-1]}\n{said}{case.more}")
    done = gpudoctor("log", str(tmp_path / "text"), "--format", "json")
    assert [r["cause"] for r in report(done)["diagnosis"]["root_causes"]] == [case.cause], said
