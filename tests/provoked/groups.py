"""Real control groups, version 1 or 2, for one test."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path("/sys/fs/cgroup")


@contextlib.contextmanager
def group(controller: str, version1: dict[str, str], version2: dict[str, str] | None) -> Iterator[str]:
    """A group with these settings; yields the shell line that goes into it. Skips where it can't be made."""
    old = (TOP / controller / "tasks").exists()
    settings = version1 if old else version2
    place = TOP / (controller if old else "") / f"gpudoctor-test-{os.getpid()}"
    if settings is None:
        pytest.skip(f"the rules of {controller} are programs in control groups of version 2")
    try:
        place.mkdir()
    except OSError as e:
        pytest.skip(f"no control group can be made here: {e}")
    try:
        try:
            for name, text in settings.items():
                (place / name).write_text(text)
        except OSError as e:
            pytest.skip(f"{controller} can't be set here: {e}")
        yield f"echo $$ > {place / ('tasks' if old else 'cgroup.procs')}"
    finally:
        for _ in range(100):
            try:
                place.rmdir()
                break
            except OSError:
                time.sleep(0.05)
