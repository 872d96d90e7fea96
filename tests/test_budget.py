"""`--budget`: an examination ends in time, leaves out what tells least, and takes no lack of time for a fault."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from gpudoctor import cli_options, trial
from gpudoctor.examine import NATIVE, RESERVED_S, ExamineLevel, Options, jobs_of
from gpudoctor.facts import LEFT_OUT, TensorFlow, Unread
from gpudoctor.kernels import native
from gpudoctor.kernels import tensorflow as kernels
from gpudoctor.patient.fitting import fitting
from gpudoctor.probes import tensorflow
from gpudoctor.probes.ask import Patient
from gpudoctor.registry import all_checks
from tests.building import Workshop, put
from tests.factory import healthy, with_variable
from tests.probes.test_kernels import broken
from tests.probes.test_native import oldest_and_usual
from tests.running import ROOT, gpudoctor

GPUS = {"value": [{"name": "NVIDIA H200", "pci_address": f"0000:0{i}:00.0"} for i in range(2)]}


@pytest.mark.parametrize(("text", "value"), [("30", 30), ("30s", 30), ("2m", 120), ("1.5 min", 90), (".5", 0.5)])
def test_times_as_people_write_them(text: str, value: float) -> None:
    assert cli_options.seconds(text) == value


@pytest.mark.parametrize("text", ["", "0", "0.01s", "-1", "nan", "inf", "1e3", "3x", "s", "2 h"])
def test_what_is_no_time_is_wrong_usage(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no time: 30, 30s or 2m"):
        cli_options.seconds(text)
    done = gpudoctor("check", f"--budget={text}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--budget" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_every_kernel_has_its_cost() -> None:
    assert {name for name, _, _ in kernels.COSTS} == set(kernels.FULL)
    assert {native.title(one) for one in (*native.STANDARD, *native.bench(5))} == set(native.COSTS)


def test_what_tells_most_stays_and_what_still_fits() -> None:
    costs = [("a", 2.0), ("b", 5.0), ("c", 1.0), ("d", 3.0)]
    assert fitting(costs, 20.0) == (["a", "b", "c", "d"], [])
    assert fitting(costs, 6.0) == (["a", "c", "d"], ["b"])
    assert fitting(costs, 2.5) == (["a"], ["b", "c", "d"])
    assert fitting(costs, 0.0) == ([], ["a", "b", "c", "d"])


def native_share(**options: Any) -> tuple[float, float]:
    """What the native kernels are chosen for, and when they end at the latest."""
    job = jobs_of(Options(**options))[NATIVE]
    ((_, arguments),) = job.tasks
    assert arguments["total_s"] + 5.0 == job.limit_s
    return arguments["share_s"], arguments["total_s"]


def test_native_kernels_share_the_time_with_those_of_tensorflow() -> None:
    assert native_share(budget_s=13, tensorflow=False) == (13 - RESERVED_S, 13 - RESERVED_S)
    share, most = native_share(budget_s=13)
    assert 0 < share < most < 13 - RESERVED_S
    assert native_share(budget_s=13, native_limit_s=1.0)[1] == 1.0
    ((_, without),) = jobs_of(Options())[NATIVE].tasks
    assert (without["share_s"], without["costs"]) == (None, [])
    assert NATIVE not in jobs_of(Options(budget_s=13, level=ExamineLevel.QUICK))


def test_the_larger_sizes_cost_more() -> None:
    def costs(plan: tuple[native.Kernel, ...]) -> dict[str, float]:
        task = native.task(plan, None, 60.0, after_nvml=False, share_s=10.0)
        return {native.title(plan[i]): seconds for i, seconds in task[1]["costs"]}

    standard, bench = costs(native.STANDARD), costs(native.bench(5))
    assert next(iter(standard)) == next(iter(bench)) == "all-reduce"
    assert all(bench[name] == pytest.approx(3 * seconds) for name, seconds in standard.items())


def test_what_is_left_out_is_told() -> None:
    plan = native.bench(5)
    names = [native.title(one) for one in plan]
    positions = [names.index(n) for n in ("launch-latency", "copy-pair-no-peer", "all-reduce-pair", "prepare-copies")]
    told = native.left_out(plan, positions, GPUS, None)
    assert [(one.kernel, one.device) for one in told] == [
        ("launch-latency", "GPU:0"),
        ("launch-latency", "GPU:1"),
        ("copy-pair-no-peer", "GPU:0,GPU:1"),
        ("all-reduce-pair", "GPU:0,GPU:1"),
    ]
    assert all(one.skipped and one.value == LEFT_OUT for one in told)
    assert [one.device for one in native.left_out(plan, positions, GPUS, [1])] == ["GPU:1"]
    assert native.left_out(plan, positions, None, None) == ()


@pytest.mark.parametrize("python", oldest_and_usual())
def test_native_kernels_that_do_not_fit_are_not_begun(workshop: Workshop, tmp_path: Path, python: str) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_DEVICES": "2"}
    plan = (
        native.Kernel("launch-latency", {"samples": 1}),
        native.Kernel("copy-inside", {"size": native.MIB, "queued": 1, "samples": 1}),
        native.Kernel("copy-pair", {"size": native.MIB, "queued": 1, "samples": 1, "peer": True}),
    )
    for share_s, left_out in ((60.0, []), (0.0, [2, 1, 0])):
        task = native.task(plan, None, 30.0, after_nvml=False, share_s=share_s)
        told = Patient((python,), env).ask([task], limit_s=60)
        assert told.last("native_left_out") == left_out
        assert {raw["kernel"] for raw in told.all("native")} == {one.name for one in plan if not left_out}


def test_kernels_that_do_not_fit_are_not_begun(tmp_path: Path) -> None:
    patient = Patient((sys.executable,), {**os.environ, "PYTHONPATH": broken(tmp_path, 2)})
    told = patient.ask([tensorflow.import_task(kernels.STANDARD, 60, 3, until_s=6.0, costs=kernels.COSTS)], limit_s=60)
    out = told.last("left_out")
    assert out is not None
    assert "fft" in out or "xla" in out
    assert {raw["kernel"] for raw in told.all("kernel")} == set(kernels.STANDARD) - set(out)
    assert {"matmul", "all-reduce"}.isdisjoint(out)


def test_a_list_for_which_there_was_no_time_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(
        "class config:\n    @staticmethod\n    def list_physical_devices():\n        import time; time.sleep(60)\n"
    )
    patient = Patient((sys.executable,), {**os.environ, "PYTHONPATH": str(tmp_path)})
    told = patient.ask([tensorflow.import_task(("matmul",), 90, 3, until_s=1.0)], limit_s=60)
    seen = tensorflow.read_import(told, TensorFlow())
    assert isinstance(seen.devices, Unread)
    assert not seen.devices.chosen, "then nobody knows whether it is healthy"
    assert "when the time was over (--budget)" in seen.devices.why


def test_a_child_is_ended_when_all_time_is_over() -> None:
    for left_s, limit_s, in_vain in ((0.2, 20.0, True), (20.0, 0.2, False), (None, 0.2, False)):
        until = None if left_s is None else time.monotonic() + left_s
        patient = Patient(("sh", "-c", "sleep 30"), dict(os.environ), until=until)
        told = patient.ask([("driver.nodes", {})], limit_s=limit_s)
        assert told.outcome.timed_out
        assert told.outcome.in_vain is in_vain
        why, ended = told.unread("driver.nodes"), told.ended("it")
        assert ended is not None
        assert (ended.chosen, why.chosen) == (in_vain, False)
        assert ("the time was over (--budget)" in why.why) is in_vain


def test_no_trial_begins_when_the_time_is_over() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "-1")
    over = Patient((sys.executable,), dict(os.environ), until=time.monotonic())
    assert trial.try_fixes(facts, over, all_checks()).trials == ()


def test_an_import_that_takes_too_long_is_not_called_broken(tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("import time; time.sleep(60)\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    started = time.monotonic()
    skipped = ("--skip", "no-nvidia-gpu", "--skip", "libcuda-not-found")
    done = gpudoctor("check", "--budget", "6s", *skipped, "--python", sys.executable, env={"PYTHONPATH": path})
    assert time.monotonic() - started < 30
    assert done.returncode == 3, "nobody knows whether TensorFlow lists a GPU"
    assert done.stdout.splitlines()[-1].startswith("? Unknown")
    assert "tf-import-broken GD" not in done.stdout
    assert "had not ended when the time was over (--budget)" in done.stdout
