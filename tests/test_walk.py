"""Who does what CONTRIBUTING.md says ends with a check that works: its two examples, done in a copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "corpus", "h200", "wordings", "reports", "hosts", "gpu", "provoked", "captures"
)


def code(beginning: str) -> str:
    """The Python block of CONTRIBUTING.md that has this in it."""
    (found,) = (b for b in re.findall(r"(?ms)^```python\n(.*?)^```$", TEXT) if beginning in b)
    return str(found)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for room in ("gpudoctor", "checks", "compat", "tests"):
        shutil.copytree(ROOT / room, tmp_path / room, symlinks=True, ignore=LEFT_OUT)
    return tmp_path


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, *words], cwd=copy, env=env, capture_output=True, text=True, timeout=120, check=False
    )


def pasted(copy: Path, file: str, test: str) -> None:
    """Add the test to a file of tests; it passes."""
    with (copy / file).open("a") as out:
        out.write(f"\n\n{test}")
    name = test.partition("def ")[2].partition("(")[0]
    done = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", file, "-k", name)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_a_check(copy: Path) -> None:
    written = code('@check("GD180"')
    (copy / "checks" / "walked.py").write_text(f'"""A walk."""\n\n{written}')
    pasted(copy, "tests/checks/test_driver.py", code("def test_driver_not_reloaded"))
    done = run(copy, "-m", "gpudoctor", "explain", "driver-not-reloaded")
    assert done.stdout.startswith("GD180 driver-not-reloaded (cause, fail, driver)\n")
    assert "How to fix: reboot." in done.stdout
    done = run(copy, "-m", "gpudoctor", "check", "--only", "driver-not-reloaded", "--level", "quick")
    assert done.returncode in (0, 1, 3)
    assert "Traceback" not in done.stderr


def test_a_line_of_a_text(copy: Path) -> None:
    pip = copy / "gpudoctor" / "logs" / "pip.py"
    (kind,) = re.findall(r"(?s)\((Kind\(.*\)),\)\n", code('Kind("no-space"'))
    text = pip.read_text()
    text, words = re.subn(r"(words=\(\n?|Language\(\s*\"pip\",\s*\()", r'\g<1>"Errno 28", ', text, count=1)
    text, kinds = re.subn(r"(\n        Kind\()", rf"\n        {kind.replace(chr(92), chr(92) * 2)},\1", text, count=1)
    assert (words, kinds) == (1, 1)
    pip.write_text(text)
    assert run(copy, *re.findall(r"`\.venv-test/bin/python (-m) (tests\.logs\.spoken)`", TEXT)[0]).returncode == 0
    imports = (
        '"""A walk."""\n\nfrom collections.abc import Iterator\n\nfrom gpudoctor.checks._said import lines, said\n'
        "from gpudoctor.facts import Facts\nfrom gpudoctor.findings import Fix, Found, Stage\nfrom gpudoctor.registry import check\n\n"
    )
    (copy / "checks" / "walked.py").write_text(imports + code('@check("GD429"'))
    pasted(copy, "tests/logs/test_pip.py", code("def test_a_full_disk"))
