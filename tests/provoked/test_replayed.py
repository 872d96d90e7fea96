"""What can't be made here: a recorded host with one thing of it changed. And what only a text tells: the real pip's words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.running import gpudoctor, report

HOSTS = Path(__file__).parent.parent / "hosts"
Change = Callable[[dict[str, Any]], None]


def _no_tensorflow(facts: dict[str, Any]) -> None:
    absent = {"is": "unread", "why": "TensorFlow is not installed"}
    facts["tensorflow"] = {
        "is": "tensorflow",
        "directory": None,
        "stray": [],
        "import_error": absent,
        "devices": absent,
    }
    facts["python"]["distributions"] = []


def newer_python(facts: dict[str, Any]) -> None:
    _no_tensorflow(facts)
    facts["python"]["version"] = "3.15.0"


def of_32_bits(facts: dict[str, Any]) -> None:
    _no_tensorflow(facts)
    facts["python"]["bits"] = 32


CASES: tuple[tuple[str, str, Change], ...] = (
    ("python-version-unsupported", "a recorded host whose Python is 3.15", newer_python),
    ("python-32bit", "a recorded host whose Python has 32 bits", of_32_bits),
)


@pytest.mark.parametrize(("cause", "how", "change"), CASES, ids=[c[0] for c in CASES])
def test_the_cause_is_first(cause: str, how: str, change: Change, tmp_path: Path) -> None:
    recorded = json.loads((HOSTS / "h200-x2-healthy.json").read_text())
    change(recorded["facts"])
    place = tmp_path / "host.json"
    place.write_text(json.dumps(recorded))
    done = gpudoctor("replay", str(place), "--format", "json")
    assert [r["cause"] for r in report(done)["diagnosis"]["root_causes"]] == [cause], how


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


TEXTS = (
    ("tensorflow-gpu-package-removed", "the real pip asked for tensorflow-gpu 2.12.0", ("download", "--no-deps", "--no-binary=:all:", "tensorflow-gpu==2.12.0"), ""),
    ("tf-aarch64-no-wheel", "the real pip asked for tensorflow 2.5.0 for aarch64", ("download", "--no-deps", "--only-binary=:all:", "--platform=manylinux2014_aarch64", "--python-version=3.9", "tensorflow==2.5.0"), "$ uname -a; python3 --version\nLinux arm 5.15.0 #1 SMP aarch64 GNU/Linux\nPython 3.9.18\n"),
)  # fmt: skip


@pytest.mark.parametrize(("cause", "how", "words", "more"), TEXTS, ids=[t[0] for t in TEXTS])
def test_what_pip_says(cause: str, how: str, words: tuple[str, ...], more: str, tmp_path: Path) -> None:
    said = _pip(*words, "-d", str(tmp_path))
    if "tensorflow" not in said or "NewConnectionError" in said or "from versions: none" in said:
        pytest.skip("no package index can be reached")
    (tmp_path / "text").write_text(f"$ pip install {words[-1]}\n{said}{more}")
    done = gpudoctor("log", str(tmp_path / "text"), "--format", "json")
    assert [r["cause"] for r in report(done)["diagnosis"]["root_causes"]] == [cause], f"{how}: {said}"
