from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.probes.ask import Patient
from tests.building import Workshop, put


@pytest.fixture
def patient() -> Callable[..., Patient]:
    """The interpreter that runs the tests as a patient, with more variables."""

    def make(**env: str) -> Patient:
        return Patient((sys.executable,), {**os.environ, **env})

    return make


@pytest.fixture
def libcuda(workshop: Workshop, tmp_path: Path) -> str:
    """A directory with the fake libcuda, for LD_LIBRARY_PATH."""
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    return str(tmp_path / "driver")


@pytest.fixture
def nvml(workshop: Workshop, tmp_path: Path) -> str:
    """A directory with the fake NVML, for LD_LIBRARY_PATH."""
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path / "nvml", "libnvidia-ml.so.1")
    return str(tmp_path / "nvml")
