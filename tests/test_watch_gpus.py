"""The child that asks NVML while a program runs, where NVML ends it or does not come back: against a fake libnvidia-ml."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.building import Workshop, put
from tests.running import MARK, ROOT, TOKEN, left

WATCH = """
import json, sys, time
from gpudoctor.probes import watch_gpus
watch_gpus._SILENT_S = 0.6
watch = watch_gpus.GpuWatch()
watch.begin()
time.sleep(float(sys.argv[1]))
print(json.dumps(watch.end()))
"""


@pytest.fixture
def env(workshop: Workshop, tmp_path: Path) -> dict[str, str]:
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path / "nvml", "libnvidia-ml.so.1")
    kept = {**os.environ, "PYTHONPATH": str(ROOT), MARK: TOKEN}
    return {**kept, "LD_LIBRARY_PATH": str(tmp_path / "nvml"), "FAKE_NVML_STATE": "gpu0:busy=80,gpu1:busy=40"}


def watched(env: dict[str, str], seconds: float) -> list[dict[str, Any]]:
    """What it said in so many seconds; afterwards no process of it may be left."""
    done = subprocess.run(
        [sys.executable, "-c", WATCH, str(seconds)], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert left() == []
    said: list[dict[str, Any]] = json.loads(done.stdout)
    return said


def samples(said: list[dict[str, Any]]) -> dict[int, list[int]]:
    """How busy each GPU was, look by look."""
    return {gpu: [one["busy"] for one in said if one.get("gpu") == gpu and "at" in one] for gpu in (0, 1)}


def test_nothing_is_started_anew_where_nvml_answers(env: dict[str, str]) -> None:
    said = watched(env, 2.5)
    assert [one for one in said if "failed" in one] == []
    assert len([one for one in said if "count" in one]) == 1
    found = samples(said)
    assert all(len(found[gpu]) >= 3 for gpu in (0, 1)), said
    assert (set(found[0]), set(found[1])) == ({80}, {40})


def test_no_thread_is_the_first_to_read_gpm(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "live").write_text("gpu0:gpm=1,gpu1:gpm=1,gpu0:sm=70,gpu1:sm=30")
    said = watched({**env, "FAKE_NVML_LIVE": str(tmp_path / "live")}, 2.5)
    assert [one for one in said if "failed" in one] == []
    read = [one for one in said if "sm" in one]
    assert {(one["gpu"], one["sm"]) for one in read} == {(0, 70.0), (1, 30.0)}
    assert len(read) >= 6


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("crash", "NVML's process was ended by SIGSEGV"),
        ("hang", "NVML did not answer while the program ran"),
    ],
)
def test_it_is_asked_again_where_it_failed_once(env: dict[str, str], tmp_path: Path, how: str, why: str) -> None:
    said = watched({**env, "FAKE_NVML_ONCE": f"{how}:{tmp_path / 'once'}"}, 5.0)
    assert [one["failed"] for one in said if "failed" in one] == [why]
    found = samples(said)
    assert all(len(found[gpu]) >= 3 for gpu in (0, 1)), said
    assert (set(found[0]), set(found[1])) == ({80}, {40})


def test_a_gpu_that_hangs_is_not_taken_for_nvml(env: dict[str, str]) -> None:
    said = watched({**env, "FAKE_NVML_HANG": "1"}, 3.0)
    assert [one for one in said if "failed" in one] == []
    assert len(samples(said)[0]) >= 4
    assert samples(said)[1] == []


def test_in_the_end_it_is_left_alone(env: dict[str, str]) -> None:
    said = watched({**env, "FAKE_NVML_INIT": "crash"}, 3.0)
    assert [one["failed"] for one in said] == ["NVML's process was ended by SIGSEGV"] * 3


def test_nobody_is_left_where_gpudoctor_is_killed(env: dict[str, str]) -> None:
    tool = subprocess.Popen([sys.executable, "-c", WATCH, "30"], env=env, stdout=subprocess.DEVNULL)
    time.sleep(2)
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    assert left() == []
