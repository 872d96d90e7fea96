"""`gpudoctor run` on a machine with GPUs: small training programs with one flaw each, and one without."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pynvml
import pytest

from tests.running import MARK, ROOT, TOKEN, left

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/proc/driver/nvidia/version").exists(), reason="no NVIDIA driver is loaded"),
]
SURROUNDINGS = dict(os.environ)
"""As pytest was started, before the tests take variables away."""
SECONDS = 20
_STEPS = re.compile(r"([\d.]+) steps/s")


@dataclasses.dataclass(frozen=True)
class Training:
    """A program of tests/gpu/training, and what is to be found."""

    program: str
    cause: str | None
    gpus: int | None = None
    """How many it is shown; None: all."""
    least: int = 1
    """GPUs that it takes to show it."""


TRAININGS = (
    Training("clean", None),
    Training("clean", None, gpus=1),
    Training("no_prefetch", "cpu-starved-input", gpus=1),
    Training("slow_map", "cpu-starved-input", gpus=1),
    Training("outside_scope", "single-gpu-silently", least=2),
    Training("one_gpu", "single-gpu-silently", least=2),
    Training("leak", "host-memory-leak", gpus=1),
    Training("host_copies", "h2d-pageable", gpus=1),
    Training("eager", "gpu-launch-bound", gpus=1),
    Training("by_python", "gpu-launch-bound", gpus=1),
    Training("graph_loop", "gpu-launch-bound", gpus=1),
    Training("small_steps", "gpu-launch-bound", gpus=1),
)
OF_SPEED = ("GD80", "GD81", "GD82", "GD83", "GD84", "GD89", "GD930")
"""Codes of what a run may be blamed for; of the machine another test speaks."""


def gpus() -> int:
    """As NVML counts them."""
    pynvml.nvmlInit()
    return int(pynvml.nvmlDeviceGetCount())


def environment(training: Training) -> dict[str, str]:
    """One GPU is another one in each of pytest-xdist's workers, so that they can be watched side by side."""
    path = os.pathsep.join([str(ROOT), SURROUNDINGS.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    kept = {**SURROUNDINGS, "PYTHONPATH": path, MARK: TOKEN}
    if training.gpus is None:
        return kept
    worker = int(SURROUNDINGS.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    return {**kept, "CUDA_VISIBLE_DEVICES": str(worker % gpus())}


@contextlib.contextmanager
def gpus_kept(training: Training) -> Iterator[None]:
    """Of pytest-xdist's workers one alone uses all GPUs."""
    with open(Path(tempfile.gettempdir()) / "gpudoctor-test-run.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if training.gpus is None else fcntl.LOCK_SH)
        yield


def under_gpudoctor(training: Training, place: Path) -> tuple[dict[str, Any], float]:
    """The report, and the steps in a second."""
    kept = place / "report.json"
    program = [sys.executable, "-m", f"tests.gpu.training.{training.program}", str(SECONDS)]
    command = [sys.executable, "-m", "gpudoctor", "run", "--format", "json", "-o", str(kept), "--", *program]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(training), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    speed = _STEPS.search(done.stdout)
    assert speed, done.stdout
    report: dict[str, Any] = json.loads(kept.read_text())
    return report, float(speed[1])


def blamed(report: dict[str, Any]) -> list[str]:
    """What the run is blamed for, from warnings on."""
    roots = report["diagnosis"]["root_causes"]
    return [r["cause"] for r in roots if r["code"].startswith(OF_SPEED) and r["level"] != "info"]


@pytest.mark.parametrize("training", TRAININGS, ids=lambda t: f"{t.program}-{'all' if t.gpus is None else 'one'}")
def test_the_flaw_is_named(training: Training, tmp_path: Path) -> None:
    if gpus() < training.least:
        pytest.skip(f"it takes {training.least} GPUs")
    with gpus_kept(training):
        report, speed = under_gpudoctor(training, tmp_path)
    run = report["facts"]["run"]
    shown = {
        name: run.get(name) for name in ("steady_s", "gpus", "cores", "by_thread", "workers_cores", "memory_bytes")
    }
    print(training.program, speed, json.dumps(shown, indent=1))
    assert blamed(report) == ([training.cause] if training.cause else []), shown
    assert left() == []


def test_watching_costs_less_than_a_hundredth(tmp_path: Path) -> None:
    """By turns with and without, so that what the machine does otherwise hits both; of each the best."""
    clean = Training("clean", None, gpus=1)
    alone, watched = [], []
    for _ in range(3):
        program = [sys.executable, "-m", "tests.gpu.training.clean", str(SECONDS)]
        done = subprocess.run(program, cwd=ROOT, env=environment(clean), capture_output=True, text=True, check=True)
        speed = _STEPS.search(done.stdout)
        assert speed
        alone.append(float(speed[1]))
        watched.append(under_gpudoctor(clean, tmp_path)[1])
    print(f"steps/s alone {alone}, watched {watched}")
    assert max(watched) > 0.99 * max(alone)
