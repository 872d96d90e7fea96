"""Native kernels in real children of real interpreters, on the fake libcuda and the fake NVML."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.facts import CudaDevice, Unread
from gpudoctor.kernels.native import MIB, Kernel, read
from gpudoctor.probes.ask import Answers, Patient
from tests.building import Workshop, put
from tests.running import COMMAND, MARK, ROOT, TOKEN, alive, left

SIZE = 1 << 20
QUEUED = {"size": SIZE, "queued": 2, "samples": 3}
ONE_BY_ONE = {"size": SIZE, "samples": 3}
PREPARE: list[Any] = ["prepare-copies", {"size": SIZE}]
SINGLE: list[list[Any]] = [
    ["copy-host-to-device", QUEUED],
    ["copy-device-to-host", QUEUED],
    ["copy-both-ways", QUEUED],
    ["copy-host-to-device-pageable", ONE_BY_ONE],
    ["copy-device-to-host-pageable", ONE_BY_ONE],
    ["copy-inside", QUEUED],
    ["copy-latency", {"samples": 2}],
]
PAIR: list[list[Any]] = [["copy-pair", {**QUEUED, "peer": True}], ["copy-pair", {**QUEUED, "peer": False}]]
PLAN = [PREPARE, *SINGLE, *PAIR]
LINK = "gpu0=5x16,gpu1=5x16"

Got = dict[tuple[Any, ...], dict[str, Any]]
"""(kernel, GPUs…) -> its answer; of pairs (kernel, first, second, peer)."""
Native = Callable[..., Got]


def oldest_and_usual() -> list[str]:
    """Interpreters of this machine: the oldest that a patient may be, and the tests' own."""
    old = sorted(str(p) for p in Path.home().glob(".pyenv/versions/3.6.*/bin/python3"))
    return [*old[-1:], sys.executable]


@pytest.fixture
def place(workshop: Workshop, tmp_path: Path) -> Path:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path / "driver", "libnvidia-ml.so.1")
    return tmp_path / "driver"


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process of a test stays behind, however its kernels ended."""
    yield
    assert left() == []


def ask(
    place: Path, plan: list[list[Any]] = PLAN, *, python: str = sys.executable, limit_s: float = 20.0, **env: str
) -> Answers:
    fakes = {"LD_LIBRARY_PATH": str(place), "FAKE_CUDA_DEVICES": "2", "FAKE_NVML_LINK": LINK, MARK: TOKEN}
    task = ("native.native", arguments(plan, limit_s, 60.0))
    before = sorted(os.listdir(place))
    got = Patient((python,), {**os.environ, **fakes, **env}, directory=str(place)).ask([task], limit_s=90)
    assert sorted(os.listdir(place)) == before  # nothing is written where it was started
    assert got.ended_well, (got.outcome.how, got.stderr)
    assert got.errors == {}
    return got


def arguments(plan: list[list[Any]], limit_s: float, total_s: float) -> dict[str, Any]:
    """Of the task."""
    return {"plan": plan, "only": None, "limit_s": limit_s, "total_s": total_s, "after_nvml": False}


def by_kernel(answers: Answers) -> Got:
    got: Got = {}
    for one in answers.all("native"):
        peer = one["parameters"].get("peer")
        key = (one["kernel"], *one["gpus"], *([] if peer is None else [peer]))
        assert key not in got, key
        assert sum(how in one for how in ("value", "skipped", "failed")) == 1
        got[key] = one
    return got


@pytest.fixture
def native(place: Path) -> Native:
    """Runs a plan on two GPUs."""
    return lambda *plan, **more: by_kernel(ask(place, list(plan) or PLAN, **more))


def everything() -> set[tuple[Any, ...]]:
    pairs = {("copy-pair", *way, peer) for way in ((0, 1), (1, 0)) for peer in (True, False)}
    return {(name, gpu) for name, _ in (PREPARE, *SINGLE) for gpu in (0, 1)} | pairs


def measured(got: Got) -> Got:
    return {key: one for key, one in got.items() if key[0] != "prepare-copies"}


def complete(got: Got, but: set[tuple[Any, ...]]) -> None:
    """Everything was measured and is right, except `but`."""
    assert set(got) == everything()
    assert {key for key, one in measured(got).items() if not one.get("value", {}).get("verified")} == but


# ----------------------------------------------------------------------------- all is well


@pytest.mark.parametrize("python", oldest_and_usual())
def test_every_copy_is_measured_and_right(native: Native, python: str) -> None:
    got = native(python=python)
    complete(got, set())
    for (name, *gpus), one in measured(got).items():
        value = one["value"]
        assert one["gpus"] == gpus[:2]
        assert value["unit"] == ("us" if name == "copy-latency" else "GB/s")
        assert len(value["samples"]) == (2 if name == "copy-latency" else 3)
        assert all(sample > 0 for sample in value["samples"])
        assert (value["error"], value["tolerance"]) == (0.0, 0.0)
        assert value["size"] == [4 if name == "copy-latency" else SIZE]
        assert one["total_seconds"] > 0


def test_a_copy_is_as_fast_as_its_link(native: Native) -> None:
    """Rates come from the events of the device, not from this host's clock."""
    got = native(*SINGLE, *PAIR, FAKE_CUDA_GB_PER_S="gpu0=50,gpu0:inside=2000,gpu1=12,gpu1:pair=3,gpu1:dtoh=6")
    rates = {key: one["value"]["samples"] for key, one in got.items() if key[0] != "copy-latency"}
    expected = {
        ("copy-host-to-device", 0): 50,
        ("copy-device-to-host", 0): 50,
        ("copy-both-ways", 0): 100,
        ("copy-inside", 0): 2000,
        ("copy-host-to-device", 1): 12,
        ("copy-device-to-host", 1): 6,
        ("copy-both-ways", 1): 12,  # as slow as its slower half
        ("copy-inside", 1): 12,
        ("copy-pair", 0, 1, True): 3,
        ("copy-pair", 1, 0, True): 3,
        ("copy-pair", 0, 1, False): 12,
        ("copy-pair", 1, 0, False): 12,
    }
    for key, rate in expected.items():
        assert rates[key] == pytest.approx([rate] * 3, rel=1e-3), key
    for gpu, rate in ((0, 50), (1, 12)):  # by the host's clock, in which a call takes a while as well
        assert all(0 < sample <= rate for sample in rates["copy-host-to-device-pageable", gpu])


def test_what_nvml_says_meanwhile(native: Native) -> None:
    state = {"FAKE_NVML_LINK": "gpu0=5x16,gpu1=1x8", "FAKE_NVML_STATE": "gpu1:clock_reasons=0x40,gpu1:clock_mhz=1200"}
    got = native(["copy-inside", QUEUED], **state)
    one, other = got["copy-inside", 0]["watched"], got["copy-inside", 1]["watched"]
    for watched, link, clock, reasons in ((one, (5, 16), 1980, 0), (other, (1, 8), 1200, 0x40)):
        assert watched["samples"] >= 1
        assert {(watched["pcie_generation"][0], watched["pcie_width"][0])} == {link}
        assert set(watched["clock_sm_mhz"]) == {clock}
        assert set(watched["reasons"]) == {reasons}
        assert set(watched["power_mw"]) == {412345}
        assert watched["seconds"] > 0
        assert watched["energy_mj"] >= 0


def test_energy_is_power_by_time(native: Native) -> None:
    """Long enough for the thread that asks to be asked in time."""
    slow = {"size": 64 << 20, "samples": 30}
    got = native(["copy-host-to-device-pageable", slow], CUDA_VISIBLE_DEVICES="0")
    watched = got["copy-host-to-device-pageable", 0]["watched"]
    assert watched["seconds"] > 0.1
    assert watched["energy_mj"] / watched["seconds"] == pytest.approx(412345, rel=0.2)
    assert watched["samples"] >= 5


def test_the_peak_is_of_one_kernel(native: Native) -> None:
    got = native(["copy-inside", QUEUED], *SINGLE[:2])
    assert got["copy-inside", 0]["peak_bytes"] == 2 * SIZE
    assert got["copy-host-to-device", 0]["peak_bytes"] == SIZE


def test_another_size_takes_the_place_of_the_first(place: Path) -> None:
    """With memory for one of them only."""
    sizes = [SIZE, SIZE + 4096, SIZE + 8192]
    plan = [["copy-host-to-device", {**QUEUED, "size": size}] for size in sizes]
    done = ask(place, plan, CUDA_VISIBLE_DEVICES="0", FAKE_CUDA_FREE=str(sizes[-1])).all("native")
    assert [one["value"]["size"] for one in done] == [[size] for size in sizes]
    assert all(one["value"]["verified"] for one in done)
    plan = [["copy-pair", {**QUEUED, "size": size, "peer": True}] for size in sizes]
    done = ask(place, plan, FAKE_CUDA_FREE=str(sizes[-1])).all("native")
    assert [one["value"]["size"] for one in done] == [[size] for size in sizes for _ in range(2)]


# ----------------------------------------------------------------------------- which GPUs


@pytest.mark.parametrize(("told", "numbers"), [("1", [1]), ("1,0", [1, 0]), ("GPU-01010101", [0])])
def test_what_the_user_lets_programs_see(place: Path, told: str, numbers: list[int]) -> None:
    answers = ask(place, [["copy-inside", QUEUED]], CUDA_VISIBLE_DEVICES=told, FAKE_CUDA_GB_PER_S="gpu0=50,gpu1=12")
    assert [d["name"] for d in answers.last("native_devices")["value"]] == [f"Fake GPU {n}" for n in numbers]  # type: ignore[index]
    rates = {key[1]: one["value"]["samples"][0] for key, one in by_kernel(answers).items()}
    assert rates == pytest.approx({i: (50, 12)[n] for i, n in enumerate(numbers)}, rel=1e-3)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ("803", "CudaError: cuInit answers 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ("100", "CudaError: cuInit answers 100, CUDA_ERROR_NO_DEVICE"),
        ("crash", "counting the GPUs was ended by signal 11"),
    ],
)
def test_a_driver_that_does_not_start(place: Path, init: str, words: str) -> None:
    answers = ask(place, FAKE_CUDA_INIT=init)
    assert answers.last("native_devices")["failed"] == words  # type: ignore[index]
    assert answers.all("native") == ()


def test_no_driver(tmp_path: Path) -> None:
    failed = ask(tmp_path).last("native_devices")["failed"]  # type: ignore[index]
    assert failed.startswith("Absent: libcuda.so.1: cannot open shared object file")


@pytest.mark.parametrize(
    ("failed", "is_skipped"),
    [
        ("counting the GPUs did not end within 20 s", False),
        ("Absent: libcuda.so.1: cannot open shared object file", True),
    ],
)
def test_gpus_that_cuda_lists_and_that_can_not_be_counted_are_not_passed_over(failed: str, is_skipped: bool) -> None:
    listed = [CudaDevice(index=i, name="Fake GPU", pci_address=f"0000:0{i + 1}:00.0") for i in range(2)]
    plan = (Kernel("prepare-copies", {}), Kernel("copy-inside", {"size": MIB}), Kernel("all-reduce", {"size": MIB}))
    got = read(plan, None, {"failed": failed}, (), None, listed)
    assert [(m.kernel, m.device) for m in got] == [("copy-inside", "GPU:0"), ("copy-inside", "GPU:1")]
    assert [m.pci_addresses for m in got] == [("0000:01:00.0",), ("0000:02:00.0",)]
    for one in got:
        assert isinstance(one.value, Unread)
        assert (one.value.why, one.value.chosen) == (failed.removeprefix("Absent: "), is_skipped)
    assert [m.device for m in read(plan, (1,), {"failed": failed}, (), None, listed)] == ["GPU:1"]
    assert read(plan, (1,), {"failed": failed}, (), None) == (), "CUDA lists none either"
    nameless = [CudaDevice(index=0), listed[1]]
    first, second = read(plan, None, {"failed": failed}, (), None, nameless)
    assert (first.device, second.device) == ("GPU:0", "GPU:1"), "one without a name keeps its place"
    assert isinstance(first.pci_addresses, Unread)
    assert isinstance(first.device_name, Unread)
    assert second.pci_addresses == ("0000:02:00.0",)
    (one,) = read(plan, (0,), None, (), Unread(why="it was ended by signal 9"), listed)
    assert one.failed, "it never came to counting"


# ----------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("python", oldest_and_usual())
def test_wrong_data_are_seen(native: Native, python: str) -> None:
    got = native(python=python, FAKE_CUDA_WRONG="gpu0")
    wrong = {key for key in everything() if 0 in key[1:3]} - {("prepare-copies", 0)}
    complete(got, wrong)
    for key in wrong:
        assert got[key]["value"]["verified"] is False
        assert got[key]["value"]["error"] is None


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("inside", {("copy-inside", 1)}),
        ("pair", {("copy-pair", 0, 1, True), ("copy-pair", 1, 0, True)}),
        ("staged", {("copy-pair", 0, 1, False), ("copy-pair", 1, 0, False)}),
    ],
)
def test_wrong_data_of_one_way_are_seen_there(native: Native, kind: str, seen: set[tuple[Any, ...]]) -> None:
    complete(native(FAKE_CUDA_WRONG=f"gpu1:{kind}"), seen)


@pytest.mark.parametrize("python", oldest_and_usual())
def test_a_hang_costs_its_limit_and_leaves_the_others(native: Native, python: str) -> None:
    hang = {"FAKE_CUDA_FAIL": "cuMemcpyDtoDAsync_v2@gpu0=hang"}
    started = time.monotonic()
    got = native(python=python, limit_s=2.0, **hang)
    assert time.monotonic() - started < 15
    hung = {("copy-inside", 0), ("copy-pair", 1, 0, True)}  # GPU 0 reads
    complete(got, hung)
    for key in hung:
        assert got[key]["failed"].startswith(f"{key[0]} did not end within 2")
        assert got[key]["timed_out"] is True


@pytest.mark.parametrize("python", oldest_and_usual())
def test_a_crash_leaves_the_others(native: Native, python: str) -> None:
    crash = "cuMemcpyDtoDAsync_v2@gpu1=crash,cuMemcpyPeerAsync=crash"
    got = native(python=python, FAKE_CUDA_FAIL=crash)
    crashed = {("copy-inside", 1), ("copy-pair", 0, 1, True), *(("copy-pair", *w, False) for w in ((0, 1), (1, 0)))}
    complete(got, crashed)
    for key in crashed:
        assert got[key]["failed"] == f"{key[0]} was ended by signal 11"
        assert got[key]["signal"] == 11


def test_a_gpu_on_which_everything_hangs_is_given_up(native: Native) -> None:
    got = native(PREPARE, *SINGLE, FAKE_CUDA_FAIL="cuDevicePrimaryCtxRetain@gpu1=hang", limit_s=1.0)
    mine = {key[0]: one for key, one in got.items() if key[1] == 1}
    assert sum("did not end within" in one.get("failed", "") for one in mine.values()) == 3
    assert {one["skipped"] for one in mine.values() if "skipped" in one} == {
        "not run: too much failed on this device before"
    }
    assert len(mine) == len(SINGLE) + 1
    assert all(one["value"]["verified"] for key, one in measured(got).items() if key[1] == 0)


def test_out_of_memory(native: Native) -> None:
    """What fits is measured: what has no room leaves nothing to those that follow it, and is no failure."""
    got = native(FAKE_CUDA_FREE=f"gpu1={SIZE + SIZE // 2}")
    too_much = {("copy-inside", 1), ("copy-both-ways", 1)}
    complete(got, too_much)
    for key in too_much:
        assert re.fullmatch(r"only \d+ MiB of the device's memory are free", got[key]["skipped"])


def test_out_of_memory_while_there_is_plenty(native: Native) -> None:
    """Then something else is short, or broken."""
    got = native(FAKE_CUDA_FREE=str(64 << 30), FAKE_CUDA_FAIL="cuMemHostAlloc@gpu1=2")
    failed = [one for key, one in got.items() if key[1:] == (1,) and "failed" in one]
    assert failed
    assert all("CUDA_ERROR_OUT_OF_MEMORY" in one["failed"] for one in failed)


def test_a_context_that_is_lost_is_not_used_again(native: Native) -> None:
    """After such an error all calls in the process answer the same, those that give memory back as well."""
    got = native(FAKE_CUDA_FAIL="cuMemcpyDtoDAsync_v2@gpu0=719")
    lost = {("copy-inside", 0), ("copy-pair", 1, 0, True)}
    complete(got, lost)
    for key in lost:
        assert got[key]["failed"] == "CudaError: cuMemcpyDtoDAsync answers 719, CUDA_ERROR_LAUNCH_FAILED"


def test_a_function_that_is_missing(workshop: Workshop, place: Path) -> None:
    older = workshop.fake("libcuda.c", "libcuda.so.1", "cuMemcpyDtoDAsync_v2=cuMemcpyDtoDAsync_v9")
    put(older, place, "libcuda.so.1")
    got = by_kernel(ask(place))
    skipped = {("copy-inside", 0), ("copy-inside", 1), ("copy-pair", 0, 1, True), ("copy-pair", 1, 0, True)}
    complete(got, skipped)
    for key in skipped:
        assert got[key]["skipped"] == "this libcuda has no cuMemcpyDtoDAsync_v2"


def test_gpus_that_do_not_reach_each_other(native: Native) -> None:
    got = native(*PAIR, FAKE_CUDA_P2P="none")
    assert got["copy-pair", 0, 1, True]["skipped"] == "the driver does not let GPU 1 read the memory of GPU 0"
    assert got["copy-pair", 1, 0, True]["skipped"] == "the driver does not let GPU 0 read the memory of GPU 1"
    assert got["copy-pair", 0, 1, False]["value"]["verified"] is True


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"FAKE_NVML_INIT": "18"}, "NVML answers 18"),
        ({"FAKE_NVML_INIT": "hang"}, "NVML did not answer within 2 s"),
        ({"FAKE_NVML_FELL": "0"}, "NVML says nothing about this GPU"),
        ({"FAKE_NVML_LOST": "0"}, "NVML answers 15"),
    ],
)
def test_without_nvml_the_work_is_measured(native: Native, env: dict[str, str], why: str) -> None:
    got = native(PREPARE, *SINGLE, CUDA_VISIBLE_DEVICES="0", **env)
    assert all(one["value"]["verified"] for one in measured(got).values())
    watched = [one["watched"] for key, one in measured(got).items() if key[0] != "copy-latency"]
    assert watched == [{"why": why}] * 6


def test_an_nvml_that_is_absent(native: Native, place: Path) -> None:
    (place / "libnvidia-ml.so.1").unlink()
    (one,) = native(["copy-inside", QUEUED], CUDA_VISIBLE_DEVICES="0").values()
    assert one["value"]["verified"] is True
    assert "libnvidia-ml.so.1" in one["watched"]["why"]


def test_many_gpus_end_without_waiting_for_each_other(native: Native) -> None:
    started = time.monotonic()
    got = native(["copy-inside", QUEUED], FAKE_CUDA_DEVICES="8")
    assert sorted(key[1] for key in got) == list(range(8))
    assert max(one["total_seconds"] for one in got.values()) < 1.0
    assert time.monotonic() - started < 3.0


def test_when_the_time_is_over_it_says_so(place: Path) -> None:
    task = ("native.native", arguments(PLAN, 20.0, 2.0))
    env = {
        "LD_LIBRARY_PATH": str(place),
        "FAKE_CUDA_DEVICES": "2",
        MARK: TOKEN,
        "FAKE_CUDA_FAIL": "cuMemcpyDtoDAsync_v2=hang",
    }
    started = time.monotonic()
    got = by_kernel(Patient((sys.executable,), {**os.environ, **env}).ask([task], limit_s=30))
    assert time.monotonic() - started < 6
    assert set(got) == everything()
    late = got["copy-inside", 0]["skipped"]  # a budget that is used up is no failure
    assert late.startswith("copy-inside did not end within")
    assert late.endswith(": the time for kernels was over")
    assert got["copy-pair", 0, 1, True]["skipped"] == "not run: the time for kernels was over"


# ----------------------------------------------------------------------------- the tool is ended

TOOL = """
import os, signal, sys
from gpudoctor import child
from gpudoctor.probes.ask import Patient
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
task = ("native.native", eval(sys.argv[2]))
print("begins", flush=True)
Patient((sys.argv[1],), dict(os.environ)).ask([task], limit_s=60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("python", oldest_and_usual())
def test_no_child_outlives_the_tool(place: Path, tmp_path: Path, python: str, number: signal.Signals) -> None:
    env = {"LD_LIBRARY_PATH": str(place), "FAKE_CUDA_DEVICES": "2", MARK: TOKEN, "PYTHONPATH": str(ROOT)}
    env["FAKE_CUDA_FAIL"] = "cuMemcpyDtoDAsync_v2=hang"
    tool = subprocess.Popen(
        [sys.executable, "-c", TOOL, python, repr(arguments([["copy-inside", QUEUED]], 60.0, 60.0))],
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while len(alive()) < 4 and time.monotonic() < deadline:  # the tool, the patient, a child for each GPU
        time.sleep(0.1)
    assert len(alive()) == 4
    time.sleep(0.5)
    tool.send_signal(number)
    assert tool.wait(10) != 0
    assert tool.stdout is not None
    tool.stdout.close()
    assert left() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_child_outlives_the_command(place: Path, tmp_path: Path, number: signal.Signals) -> None:
    """`gpudoctor bench`, ended while a kernel hangs on each of two GPUs."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    env = {"LD_LIBRARY_PATH": str(place), "FAKE_CUDA_DEVICES": "2", MARK: TOKEN, "PYTHONPATH": str(ROOT)}
    env["FAKE_CUDA_FAIL"] = "cuDevicePrimaryCtxRetain=hang"
    tool = subprocess.Popen(
        [*COMMAND, "bench", "--python", str(venv)],
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    patient = f"{venv}/bin/python3 -"
    seen, deadline = [0], time.monotonic() + 30
    # the one that runs native kernels, and its child for each GPU; what answers at once ends before
    while seen[-10:] != [3] * 10 and time.monotonic() < deadline:
        seen.append(alive().count(patient))
        time.sleep(0.1)
    assert seen[-1] == 3
    tool.send_signal(number)
    _, said = tool.communicate(timeout=10)
    assert left() == []
    if number is not signal.SIGKILL:
        assert tool.returncode == 128 + number
        end = "interrupted" if number is signal.SIGINT else "ended by SIGTERM"
        assert said.splitlines()[-1] == f"gpudoctor: {end}"
