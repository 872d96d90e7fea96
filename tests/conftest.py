from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from tests import mutants
from tests.building import Workshop

if mutants.VARIABLE in os.environ:
    mutants.apply(os.environ[mutants.VARIABLE])

for heard in (signal.SIGINT, signal.SIGHUP):
    # a job in the background, or under nohup, ignores them, and so would what a test starts
    if signal.getsignal(heard) == signal.SIG_IGN:
        signal.signal(heard, signal.SIG_DFL)

SEED = int(os.environ.get("GPUDOCTOR_TEST_SEED", random.randrange(1 << 32)))
"""Of the random layouts; printed, so that a failure can be played again."""
os.environ["GPUDOCTOR_TEST_SEED"] = str(SEED)  # what runs tests beside this process has the same


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("faults", "faults made on a machine with GPUs, as root (tests/gpu/test_faults.py)")
    group.addoption(
        "--faults",
        type=lambda text: None if text == "all" else int(text),
        default=0,
        metavar="N",
        help="Make N faults, and pairs of them; 'all': every fault, and a pair of every two subjects.",
    )
    group.addoption("--seed", type=int, default=SEED, metavar="S", help="Which are drawn; random, and printed.")
    group.addoption("--faults-table", default=None, metavar="FILE", help="Write the table of faults and answers.")


def pytest_report_header(config: pytest.Config) -> str:
    faults = f"; faults: --seed {config.getoption('--seed')}" if config.getoption("--faults") != 0 else ""
    return f"random layouts: GPUDOCTOR_TEST_SEED={SEED}{faults}"


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
