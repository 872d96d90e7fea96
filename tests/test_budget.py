"""`--budget`: an examination ends in time, leaves out what tells least, and takes no lack of time for a fault."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gpudoctor import cli_options, trial
from gpudoctor.budget import in_time
from gpudoctor.examine import RESERVED_S, ExamineLevel, Options
from gpudoctor.facts import LEFT_OUT, TensorFlow, Unread
from gpudoctor.kernels import native
from gpudoctor.kernels import tensorflow as kernels
from gpudoctor.patient.tf_import import fitting
from gpudoctor.probes import tensorflow
from gpudoctor.probes.ask import Patient
from gpudoctor.registry import all_checks
from gpudoctor.terminal import UsageError
from tests.factory import healthy, with_variable
from tests.probes.test_kernels import broken
from tests.running import ROOT, gpudoctor

GPUS = {"value": [{"name": "NVIDIA H200", "pci_address": f"0000:0{i}:00.0"} for i in range(2)]}


@pytest.mark.parametrize(("text", "value"), [("30", 30), ("30s", 30), ("2m", 120), ("1.5 min", 90), (".5", 0.5)])
def test_times_as_people_write_them(text: str, value: float) -> None:
    assert cli_options.seconds(text) == value


@pytest.mark.parametrize("text", ["", "0", "0.01s", "-1", "nan", "inf", "1e3", "3x", "s", "2 h"])
def test_what_is_no_time_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError, match="is no time: 30, 30s or 2m"):
        cli_options.seconds(text)
    done = gpudoctor("check", f"--budget={text}")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_without_a_budget_nothing_is_left_out() -> None:
    assert in_time(Options()) == Options()
    assert fitting(list(kernels.FULL), [], float("inf")) == (list(kernels.FULL), [])


def test_native_kernels_share_the_time_with_those_of_tensorflow() -> None:
    alone = in_time(Options(budget_s=13, tensorflow=False))
    assert alone.native_limit_s == 13 - RESERVED_S
    both, quick = in_time(Options(budget_s=13)), in_time(Options(budget_s=13, level=ExamineLevel.QUICK))
    assert both.native_limit_s < alone.native_limit_s
    assert len(both.left_out) > len(alone.left_out)
    assert quick.left_out == alone.left_out
    assert {native.title(one) for one in both.native}.isdisjoint(both.left_out)
    assert in_time(Options(budget_s=100)).native == native.STANDARD


def test_what_is_left_out_is_told() -> None:
    names = ("launch-latency", "copy-pair-no-peer", "all-reduce-pair")
    told = native.left_out(names, GPUS, None)
    assert [(one.kernel, one.device) for one in told] == [
        ("launch-latency", "GPU:0"),
        ("launch-latency", "GPU:1"),
        ("copy-pair-no-peer", "GPU:0,GPU:1"),
        ("all-reduce-pair", "GPU:0,GPU:1"),
    ]
    assert all(one.skipped and one.value == LEFT_OUT for one in told)
    assert [one.device for one in native.left_out(names, GPUS, [1])] == ["GPU:1"]
    assert native.left_out(names, None, None) == ()


def test_of_tensorflows_kernels_the_most_telling_stay() -> None:
    assert {name for name, _ in kernels.COSTS} == set(kernels.FULL)
    seconds = dict(kernels.COSTS)
    kept = tuple(kernels.FULL)
    for left in (40, 20, 8, 3.5, 0):
        chosen, out = fitting(list(kernels.FULL), kernels.COSTS, left)
        fewer = tuple(chosen)
        assert {*fewer, *out} == set(kernels.FULL)
        assert sum(seconds[one] for one in fewer) <= left
        assert set(fewer) <= set(kept)
        kept = fewer or kept
    assert kept == ("matmul",)
    assert fewer == ()


def test_kernels_that_do_not_fit_are_not_begun(tmp_path: Path) -> None:
    patient = Patient((sys.executable,), {**os.environ, "PYTHONPATH": broken(tmp_path, 2)})
    told = patient.ask([tensorflow.import_task(kernels.STANDARD, 60, 3, until_s=9.0, costs=kernels.COSTS)], limit_s=60)
    out = told.last("left_out")
    assert out is not None
    assert out[:2] == ["fft", "xla"]
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
    assert seen.devices.chosen
    assert "when the time was over (--budget)" in seen.devices.why


def test_a_child_is_ended_when_all_time_is_over() -> None:
    for left_s, limit_s, in_vain in ((0.2, 20.0, True), (20.0, 0.2, False), (None, 0.2, False)):
        until = None if left_s is None else time.monotonic() + left_s
        patient = Patient(("sh", "-c", "sleep 30"), dict(os.environ), until=until)
        told = patient.ask([("driver.nodes", {})], limit_s=limit_s)
        assert told.outcome.timed_out
        assert told.outcome.in_vain is in_vain
        why = told.unread("driver.nodes")
        assert why.chosen is in_vain
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
    done = gpudoctor("check", "--budget", "6s", "--python", sys.executable, env={"PYTHONPATH": path})
    assert time.monotonic() - started < 30
    assert "tf-import-broken GD" not in done.stdout
    assert "had not ended when the time was over (--budget)" in done.stdout
