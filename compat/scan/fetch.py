"""Wheels from the package index, through the interpreter's own pip; nothing is kept."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gpudoctor import child

from .wheel import BadWheel

_PLATFORMS = (
    "manylinux_2_28_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux2010_x86_64",
    "manylinux1_x86_64",
)
PYTHONS = ("3.12", "3.11", "3.10", "3.9", "3.8", "3.7", "3.6", "3.5", "2.7")
"""Tried in turn where nobody named one: a record is the same for each."""
_LIMIT_S = 1800.0


@contextlib.contextmanager
def fetched(requirement: str, pythons: tuple[str, ...] = PYTHONS) -> Iterator[Path]:
    """The wheel of a requirement, in a directory that is deleted afterwards. Raises BadWheel."""
    with tempfile.TemporaryDirectory(prefix="gpudoctor-scan-") as directory:
        said = ""
        for python in pythons:
            said = _download(requirement, python, directory)
            found = sorted(Path(directory).glob("*.whl"))
            if found:
                yield found[0]
                return
            if "No matching distribution" not in said:
                break
        raise BadWheel(f"{requirement}: pip did not fetch it: {said}")


def _download(requirement: str, python: str, directory: str) -> str:
    """What pip said last, where it failed."""
    platforms = [word for name in _PLATFORMS for word in ("--platform", name)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    command += ["--no-deps", "--only-binary", ":all:", *platforms, "--python-version", python, "--dest", directory]
    outcome = child.run([*command, "--", requirement], limit_s=_LIMIT_S)
    if outcome.how is None:
        return ""
    lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    return errors[-1] if errors else f"it {outcome.how}"
