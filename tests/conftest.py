from __future__ import annotations

import importlib.util
import os
import random
import shutil
from pathlib import Path

import pytest

from tests import mutants
from tests.building import Workshop

if mutants.VARIABLE in os.environ:
    mutants.apply(os.environ[mutants.VARIABLE])

SEED = int(os.environ.get("GPUDOCTOR_TEST_SEED", random.randrange(1 << 32)))
"""Of the random layouts; printed, so that a failure can be played again."""


def pytest_report_header() -> str:
    return f"random layouts: GPUDOCTOR_TEST_SEED={SEED}"


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture(scope="session")
def tensorflow_directory() -> Path:
    """The real TensorFlow of this environment: the build with CUDA, which needs no GPU to be looked at."""
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.origin is None:
        pytest.skip("TensorFlow is not installed")
    return Path(spec.origin).parent


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine that runs the tests has set must not decide them."""
    for name in list(os.environ):
        if name.startswith(("CUDA_", "NVIDIA_", "NCCL_", "TF_", "FAKE_")) or name in (
            "LD_LIBRARY_PATH",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "KUBERNETES_SERVICE_HOST",
        ):
            monkeypatch.delenv(name)
