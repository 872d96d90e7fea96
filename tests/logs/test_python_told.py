"""The ways in which a text tells which Python it is, each with one that the release has no wheel for, and with one that it has."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.logs.judged import first, judged


class Told(NamedTuple):
    """A release of Python in the pieces that forms use."""

    release: str
    minor: str
    glued: str


THIRTEEN, ELEVEN = Told("3.13.1", "3.13", "313"), Told("3.11.8", "3.11", "311")
REFUSED = "ERROR: No matching distribution found for tensorflow==2.15.0"
NOTHING = "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)\nERROR: No matching distribution found for tensorflow"
TEXT = "tensorflow can't be installed\n\n{told}\n\n{refused}\n\nWhat can I do?\n"
CAUSE = "python-version-unsupported"

FORMS = (
    "- Python version: {p.release}",
    "* **Python**: {p.release}",
    "| Python | {p.release} |",
    "Python\t{p.release}",
    "Python \u2013 {p.release}",
    "Python ({p.release})",
    "Python Version {p.release}",
    "My Python is {p.release}.",
    "python is at version {p.release}",
    "python installed is version {p.release}",
    "My version of Python is {p.release}",
    "python --version says {p.release}",
    "python -V: {p.release}",
    "py{p.glued}",
    "running under py{p.minor}",
    "Our admin upgraded Python to {p.minor} last week.",
    ">py --list\n -{p.minor}-64 *",
    ">>> import sys; print(sys.version)\n{p.release} (main, Feb  4 2025, 14:48:35) [GCC 13.3.0]",
    ">>> platform.python_version()\n'{p.release}'",
    "$ pip{p.minor} install tensorflow",
    "Using CPython {p.release}\nCreating virtual environment at: .venv",
    "python                    {p.release}               h5148396_1",
    "$ pyenv versions\n  system\n* {p.release} (set by /home/me/.pyenv/version)",
    "$ pyenv local {p.release}",
    ".python-version: {p.release}",
    "          python-version: '{p.minor}'",
    "brew install python@{p.minor}",
    "winget install Python.Python.{p.minor}",
    "module load python/{p.release}",
    "ii  python{p.minor}   {p.release}-1ubuntu1   amd64   Interactive high-level object-oriented language",
    "Python-Version: {p.release}",
    "python版本\uff1a{p.release}",
    "我的Python是{p.release}",
    "已经安装了Python {p.minor}",
)


@pytest.mark.parametrize("form", FORMS)
def test_a_python_without_a_wheel_is_the_cause_and_one_that_has_it_is_not(form: str) -> None:
    """TensorFlow 2.15 is published for 3.9 to 3.11."""
    bad = judged(TEXT.format(told=form.format(p=THIRTEEN), refused=REFUSED)).diagnosis
    assert [one.cause for one in bad.root_causes] == [CAUSE]
    assert bad.root_causes[0].proven
    assert first(TEXT.format(told=form.format(p=ELEVEN), refused=REFUSED)) != CAUSE


@pytest.mark.parametrize(
    ("told", "is_cause"),
    [
        ("Python 3.14.0", True),
        ("Python 3.11.9", False),
        ("Python 3.11.1", True),  # when there was none for it yet
        ("Windows 10, Python 2.7.18", True),
    ],
)
def test_nothing_is_offered(told: str, is_cause: bool) -> None:
    """pip offers nothing at all: a Python that is long supported has another reason."""
    assert (first(TEXT.format(told=told, refused=NOTHING)) == CAUSE) is is_cause
