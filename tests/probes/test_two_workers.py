"""The all-reduce of two processes: the real TensorFlow on the CPU, and one whose numbers, or whose worker, are made to fail."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gpudoctor.facts import Measurement, TensorFlowDevice, Unread
from gpudoctor.kernels import tensorflow as kernels
from gpudoctor.patient import two_workers
from tests.probes.test_kernels import measured, run
from tests.probes.test_tensorflow import fake

TWO = kernels.TWO_WORKERS
AT = (TWO, "CPU:0,CPU:1")
REAL = """
import os, sys
sys.path.remove(os.path.dirname(os.path.dirname(__file__)))
del sys.modules["tensorflow"]
import tensorflow as real
main = sys.modules["__main__"]
right = main._reduced
def reduced(tf, kind, task, repeats):
%s
main._reduced = reduced
sys.modules["tensorflow"] = real
"""


def one_of(place: str, tmp_path: Path, limit_s: float = 60, **env: str) -> Measurement:
    env |= {"PYTHONPATH": place, "KERAS_HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": "-1"}
    return measured(run((TWO,), limit_s, 3, **env))[AT]


def test_its_name_is_the_same_on_both_sides() -> None:
    assert two_workers.TWO_WORKERS == TWO
    assert (*kernels.ALL, TWO) == kernels.FULL
    gpus = [TensorFlowDevice(name=f"/physical_device:GPU:{i}", type="GPU") for i in range(4)]
    assert [m.device for m in kernels.unanswered((TWO,), gpus, [], Unread(why="?"))] == ["GPU:0,GPU:1"]
    assert [m.device for m in kernels.unanswered((TWO,), gpus[:1], [], Unread(why="?"))] == ["CPU:0,CPU:1"]


def test_two_processes_add_up(tensorflow_directory: Path, tmp_path: Path) -> None:
    """A TF_CONFIG of the user's and a proxy do not keep them from it."""
    users = '{"cluster": {"worker": ["192.0.2.1:1", "192.0.2.2:1"]}, "task": {"type": "worker", "index": 0}}'
    got = one_of("", tmp_path, TF_CONFIG=users, http_proxy="http://127.0.0.1:9")
    assert got.verified is True, got
    assert got.error == 0.0
    assert got.against == "the exact sum"
    assert got.operation == "CollectiveReduceV2"
    assert isinstance(got.value, float)
    assert got.value > 0
    assert isinstance(got.samples, tuple)
    assert len(got.samples) >= 3
    assert isinstance(got.placed_on, str)
    assert "task:0/device:CPU:0" in got.placed_on
    assert "task:1/device:CPU:0" in got.placed_on
    assert got.library is None
    assert got.backend == "tensorflow"


def test_wrong_sums_of_one_worker_are_found(tensorflow_directory: Path, tmp_path: Path) -> None:
    lines = "    got = right(tf, kind, task, repeats)\n    return dict(got, verified=task == 0, error=float(task))"
    got = one_of(fake(tmp_path, REAL % lines), tmp_path)
    assert got.verified is False
    assert got.error == 1.0


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("    if task: raise ValueError('no more')\n    return right(tf, kind, task, repeats)", "no more"),
        ("    if task: os.kill(os.getpid(), 11)\n    return right(tf, kind, task, repeats)", "signal 11"),
    ],
)
def test_a_worker_that_fails_takes_the_other_along(
    tensorflow_directory: Path, tmp_path: Path, lines: str, word: str
) -> None:
    """The other would wait for it until the limit."""
    started = time.monotonic()
    got = one_of(fake(tmp_path, REAL % lines), tmp_path)
    assert got.failed is not None
    assert word in got.failed
    assert isinstance(got.seconds, float)
    assert got.seconds < 10
    assert time.monotonic() - started < 50


def test_workers_that_hang_end_in_time_and_leave_nobody(tensorflow_directory: Path, tmp_path: Path) -> None:
    lines = "    import time\n    time.sleep(300)"
    got = one_of(fake(tmp_path, REAL % lines), tmp_path, limit_s=24, GPUDOCTOR_TEST_MARK=str(tmp_path))
    assert got.failed is not None
    assert "did not end within" in got.failed
    assert _left(str(tmp_path)) == []


def _left(mark: str) -> list[str]:
    """Processes that were started with the mark and still run."""
    deadline, found = time.monotonic() + 5, ["?"]
    while found and time.monotonic() < deadline:
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if f"GPUDOCTOR_TEST_MARK={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    found.append(pid)
            except OSError:
                pass
    return found


def test_ports_that_are_free() -> None:
    one, other = two_workers.two_free_ports()
    assert one != other
