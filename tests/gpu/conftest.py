"""What the tests on GPUs share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory that other users can enter, too."""
    made = Path(tempfile.mkdtemp(prefix="gpudoctor-faults-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)
