"""Slow on purpose, on a machine with GPUs that is healthy otherwise: `pytest -m gpu tests/gpu/test_slow.py`, as root.

Each case has a process, variables, files or processors of its own, so that nothing stays; no setting of a GPU is touched. What is named
first is compared with what was done, and must say by how much.
"""

from __future__ import annotations

import os
import pwd
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.building import Workshop
from tests.gpu.scene import Machine, Scene, base_environment, look_at, names
from tests.provoked.groups import group

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/proc/driver/nvidia/version").exists(), reason="no NVIDIA driver is loaded"),
    pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces need root"),
]
SURROUNDINGS = dict(os.environ)
"""As pytest was started, before the tests take variables away."""
LOAD = Path(__file__).with_name("load.py")
FACTOR = re.compile(r"reaches 0\.\d\d of|[\d.]+ times slower than copies between the same GPUs")
OF_SPEED = ("gpu-outlier", "gpu-pair-slow", "slow-collective")


@pytest.fixture(scope="module")
def looked(place: Path) -> tuple[Machine, dict[str, Any]]:
    (place / "workshop").mkdir()
    # a host that turns NVLink's multicast off has its reason: it stays off
    surroundings = {k: v for k, v in SURROUNDINGS.items() if not k.startswith("NCCL_") or k == "NCCL_NVLS_ENABLE"}
    machine, report = look_at(base_environment(surroundings), Workshop(place / "workshop"), place, "standard")
    if names(report):
        pytest.skip(f"this machine is not healthy: {names(report)}")
    return machine, report


@pytest.fixture
def scene(looked: tuple[Machine, dict[str, Any]]) -> Scene:
    return looked[0].scene()


@pytest.fixture
def two(looked: tuple[Machine, dict[str, Any]]) -> None:
    if looked[0].gpus < 2:
        pytest.skip("one GPU speaks to nobody")


def natively(report: dict[str, Any], kernel: str) -> list[dict[str, Any]]:
    """The native measurements of a kernel that have a value."""
    ones = [m for m in report["measurements"] if m["backend"] == "native" and m["kernel"] == kernel]
    return [m for m in ones if isinstance(m["value"], float)]


def best_all_reduce(report: dict[str, Any]) -> float:
    return max(float(m["value"]) for m in natively(report, "all-reduce") if m["size"][0] * 4 >= 64 << 20)


def slowest_copy(report: dict[str, Any]) -> float:
    return min(float(m["value"]) for m in natively(report, "copy-pair"))


def first(report: dict[str, Any]) -> dict[str, Any]:
    roots = report["diagnosis"]["root_causes"]
    assert roots, [f["cause"] for f in report["findings"]]
    one: dict[str, Any] = roots[0]
    return one


def found(report: dict[str, Any]) -> set[str]:
    return {f["cause"] for f in report["findings"]}


def test_a_healthy_machine_is_silent(looked: tuple[Machine, dict[str, Any]]) -> None:
    machine, report = looked
    assert [f["cause"] for f in report["findings"] if f["level"] != "info"] == []
    assert report["diagnosis"]["verdict"] == "healthy"
    if machine.gpus > 1 and natively(report, "copy-pair"):
        assert best_all_reduce(report) > slowest_copy(report) / 2
        assert "slow-collective" in [r["cause"] for r in report["diagnosis"]["ruled_out"]]


# ----------------------------------------------------------------------------- a GPU that others use


def test_a_busy_gpu(scene: Scene) -> None:
    last = scene.machine.gpus - 1
    scene.beside.append([sys.executable, str(LOAD), "busy", str(last)])
    report = scene.check("standard")
    one = first(report)
    assert (one["cause"], one["about"]) == ("gpu-busy-with-other-work", [f"gpu{last}"])
    assert FACTOR.search(one["message"]), one["message"]
    listed = report["facts"]["gpu"]["devices"][last]["processes"]
    if isinstance(listed, list) and any(p.get("ours") is not True for p in listed):
        assert "PID" in one["message"]
    assert "gpu-wrong-result" not in found(report)


@pytest.mark.parametrize("left", [0.06, 0.025])
def test_a_full_gpu(looked: tuple[Machine, dict[str, Any]], scene: Scene, left: float) -> None:
    left_mib = int(left * looked[1]["facts"]["gpu"]["devices"][0]["memory_total_bytes"]) >> 20
    scene.beside.append([sys.executable, str(LOAD), "full", "0", str(left_mib)])
    report = scene.check("standard")
    one = first(report)
    assert one["cause"] == "gpu-memory-held-by-other-process"
    assert one["about"] == ["gpu0"]
    assert re.search(r"[\d.]+ GiB of the [\d.]+ GiB", one["message"])
    native = [m for m in report["measurements"] if m["backend"] == "native"]
    failed = [m for m in native if isinstance(m["value"], dict) and not m["value"].get("chosen", False)]
    assert failed == []
    assert not found(report) & {*OF_SPEED, "gpu-wrong-result"}


# ----------------------------------------------------------------------------- settings of NCCL

P2P, SHM, CHANNELS = "nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env", "nccl-channels-limited"
SETTINGS = (
    ({"NCCL_P2P_DISABLE": "1"}, [P2P]),
    ({"NCCL_P2P_LEVEL": "LOC"}, [P2P]),
    ({"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}, [P2P, SHM]),
    ({"NCCL_MAX_NCHANNELS": "1"}, [CHANNELS]),
    ({"NCCL_MAX_CTAS": "1"}, [CHANNELS]),
    ({"NCCL_P2P_DISABLE": "1", "NCCL_MAX_NCHANNELS": "1"}, [P2P, CHANNELS]),
)


def in_a_file(scene: Scene, where: str, settings: dict[str, str]) -> None:
    written = scene.write("nccl.conf", "".join(f"{n}={v}\n" for n, v in settings.items()).encode())
    if where == "NCCL_CONF_FILE":
        scene.env["NCCL_CONF_FILE"] = str(written)
        return
    # NCCL's home is that of the user database, whatever $HOME says
    path = "/etc/nccl.conf" if where == "/etc" else os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".nccl.conf")
    if os.path.exists(path):
        scene.replace(path, written)
    else:
        scene.add(path, written)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("where", ["environment", "/etc", "home", "NCCL_CONF_FILE"])
@pytest.mark.parametrize(("settings", "expected"), SETTINGS, ids=lambda v: "+".join(v) if isinstance(v, dict) else "")
def test_a_setting_that_slows_nccl_down(
    looked: tuple[Machine, dict[str, Any]], scene: Scene, settings: dict[str, str], expected: list[str], where: str
) -> None:
    healthy = looked[1]
    if not natively(healthy, "copy-pair") or not any(p["can_access"] for p in pairs(healthy)):
        pytest.skip("these GPUs do not reach each other directly")
    if where == "environment":
        scene.env.update(settings)
    else:
        in_a_file(scene, where, settings)
    report = scene.check("standard")
    assert names(report) == expected
    for root in report["diagnosis"]["root_causes"]:
        assert FACTOR.search(root["message"]), root["message"]
    if best_all_reduce(report) < slowest_copy(report) / 3:
        assert "slow-collective" in first(report)["explains"]
    combined = report["diagnosis"]["combined_fix"]
    trial = combined["trial"] if combined else first(report)["fixes"][0]["trial"]
    assert (trial["worked"], trial["judged_by"]) == (True, "all-reduce"), trial
    restored = float(re.search(r"then reaches ([\d.e+]+) GB/s", trial["outcome"]).group(1))  # type: ignore[union-attr]
    assert restored > 0.8 * best_all_reduce(healthy)


def pairs(report: dict[str, Any]) -> list[dict[str, Any]]:
    told = report["facts"]["driver"]["libcuda"]["pairs"]
    return told if isinstance(told, list) else []


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_PROTO", "LL"),
        ("NCCL_ALGO", "Tree"),
        ("NCCL_BUFFSIZE", "65536"),
        ("NCCL_NTHREADS", "64"),
        ("NCCL_NVLS_ENABLE", "0"),
    ],
)
def test_a_forced_choice_is_named_where_it_costs_something(scene: Scene, name: str, value: str) -> None:
    scene.env[name] = value
    report = scene.check("standard")
    if best_all_reduce(report) < slowest_copy(report) / 2:
        assert names(report) == ["nccl-tuning-forced"]
        assert f"{name}={value}" in first(report)["message"]
        assert FACTOR.search(first(report)["message"])
        assert first(report)["fixes"][0]["trial"]["worked"] is True
    elif names(report):  # less than is usual over these links
        assert names(report) == ["nccl-tuning-forced"]
    else:
        assert report["diagnosis"]["verdict"] == "healthy"


# ----------------------------------------------------------------------------- processors


@pytest.fixture
def one_processor() -> Iterator[None]:
    """This process, and what it starts, may run on one."""
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("there is one processor")
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("two", "one_processor")
def test_one_processor(scene: Scene) -> None:
    report = scene.check("standard")
    one = first(report)
    assert one["cause"] == "cpu-affinity-narrow"
    assert re.search(r"may run on 1 of the machine's \d+ processors", one["message"])
    assert not found(report) & {"gpu-wrong-result", "op-fails"}


def test_a_quota_of_half_a_processor(scene: Scene) -> None:
    with group(
        "cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}, {"cpu.max": "50000 100000"}
    ) as enter:
        report = scene.check("standard", paste=(enter,))
    assert first(report)["cause"] == "cgroup-cpu-quota"
    assert "may use 0.5 core(s) at a time" in first(report)["message"]


# ----------------------------------------------------------------------------- afterwards


def test_afterwards_it_is_healthy_again(scene: Scene) -> None:
    report = scene.check("standard")
    assert names(report) == []
    assert report["diagnosis"]["verdict"] == "healthy"
