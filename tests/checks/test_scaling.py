"""What training steps on several GPUs, and in mixed precision, tell."""

from __future__ import annotations

import msgspec
import pytest

from gpudoctor.facts import Facts, Measurement, Unread
from gpudoctor.registry import all_checks
from tests.checks.test_training import ran
from tests.factory import found, healthy, outcome, roots, with_, with_variable
from tests.figures import in_tensorflow, native, step


def trained(*ones: Measurement, on: Facts | None = None) -> Facts:
    facts = on or healthy()
    return with_(facts, measurements=(*facts.measurements, *ones))


@pytest.mark.parametrize("two", [1800.0, 1990.0, 2100.0])
def test_two_gpus_that_train_as_expected(two: float) -> None:
    facts = trained(step(1, 1000.0), step(2, two), step(1, 1700.0, kernel="training-step-mixed"))
    assert roots(facts) == []
    for cause in ("scaling-below-expected", "mixed-precision-no-gain"):
        assert outcome(facts, cause) == "passed"
    assert outcome(facts, "single-gpu-silently") == "skipped"  # a program may still leave one idle: told from a run


def test_nothing_is_said_without_a_measurement() -> None:
    assert outcome(healthy(), "scaling-below-expected") == "skipped"
    assert outcome(healthy(), "mixed-precision-no-gain") == "skipped"
    assert outcome(trained(step(2, 1000.0)), "scaling-below-expected") == "skipped"
    wrong = msgspec.structs.replace(step(2, 1000.0), verified=False)
    assert outcome(trained(step(1, 1000.0), wrong), "scaling-below-expected") == "skipped"


def test_less_than_expected_is_no_warning_by_itself() -> None:
    one = found(trained(step(1, 1000.0), step(2, 1500.0)))["scaling-below-expected"]
    assert (one.level, one.about) == ("info", ("gpu0", "gpu1"))
    assert one.message == "2 GPUs train 1.50 times as fast as one; 1.8 times is expected."


@pytest.mark.parametrize(
    ("few", "root"),
    [
        ({"system__cores_usable": 3, "system__cores": 3}, "scaling-below-expected"),
        ({"system__cores_usable": 1}, "cpu-affinity-narrow"),
        ({"system__cpu_quota_cores": 1.5}, "cgroup-cpu-quota"),
    ],
    ids=["a small machine", "affinity", "control group"],
)
def test_too_few_processors_for_the_gpus(few: dict[str, float], root: str) -> None:
    facts = with_(trained(step(1, 1000.0), step(2, 1500.0)), **few)
    one = found(facts)["scaling-below-expected"]
    assert one.level == "warn"
    assert "usable processors for 2 GPUs" in one.proof[1].text
    assert roots(facts)[0] == root
    assert ("scaling-below-expected" in roots(facts)) == (root == "scaling-below-expected")
    fine = with_(trained(step(1, 1000.0), step(2, 1950.0)), **few)
    assert outcome(fine, "scaling-below-expected") == "passed"


def test_four_gpus_and_a_slow_one() -> None:
    four = trained(step(1, 1000.0), step(2, 1900.0), step(4, 3100.0))
    one = found(four)["scaling-below-expected"]
    assert one.message == "4 GPUs train 3.10 times as fast as one; 3.2 times is expected."
    assert roots(four) == ["scaling-below-expected"]
    slow = [native("matmul-float16", "GPU:1", value=300.0, samples=(300.0,) * 3, spread=0.0)]
    others = [m for m in four.measurements if (m.kernel, m.device) != ("matmul-float16", "GPU:1")]
    assert roots(with_(four, measurements=(*others, *slow))) == ["gpu-outlier"]


def test_the_way_of_the_gradients_is_told() -> None:
    through_host = tuple(
        msgspec.structs.replace(m, transport=("SHM/direct",)) if m.kernel == "all-reduce" else m
        for m in healthy().measurements
    )
    facts = trained(step(1, 1000.0), step(2, 1200.0), on=with_(healthy(), measurements=through_host))
    one = found(facts)["scaling-below-expected"]
    assert one.level == "info"
    assert any("goes through SHM/direct" in p.text for p in one.proof)


def test_one_of_two_gpus_works() -> None:
    idle = trained(step(1, 1000.0), step(2, 1010.0, busy=(97, 0)))
    one = found(idle)["single-gpu-silently"]
    assert one.level == "warn"
    assert one.proof[0].text == "utilisation GPU:0: 97%, GPU:1: 0%"
    assert roots(idle) == ["single-gpu-silently"]  # and what it costs is its symptom
    for fine in (step(2, 1900.0, busy=(97, 0)), step(2, 1010.0, busy=(97, 60)), step(2, 1010.0, busy=(20, 0))):
        assert outcome(trained(step(1, 1000.0), fine), "single-gpu-silently") == "skipped"


def test_a_step_that_is_placed_on_one_gpu() -> None:
    placed = msgspec.structs.replace(step(2, 1000.0), placed_on="/job:localhost/replica:0/task:0/device:GPU:0")
    assert "GPU:0 alone" in found(trained(step(1, 1000.0), placed))["single-gpu-silently"].proof[0].text
    unknown = msgspec.structs.replace(step(2, 1000.0), placed_on=Unread(why="?"))
    assert outcome(trained(step(1, 1000.0), unknown), "single-gpu-silently") == "skipped"


def test_mixed_precision_without_gain() -> None:
    mixed = step(1, 1050.0, kernel="training-step-mixed")
    one = found(trained(step(1, 1000.0), mixed))["mixed-precision-no-gain"]
    assert (one.level, one.about) == ("info", ("gpu0",))
    assert "trains 1.05 times" in one.message


def half(value: float) -> Measurement:
    return in_tensorflow("matmul-float16", value, unit="TFLOP/s", dtype="float16", size=(8192, 8192, 8192))


def test_tensor_cores_that_tensorflow_leaves_idle() -> None:
    assert outcome(trained(half(650.0)), "tensor-cores-idle") == "skipped"  # of a program a run tells
    one = found(trained(half(55.0)))["tensor-cores-idle"]
    assert (one.level, one.about) == ("warn", ("gpu0",))
    assert one.proof[0].text.startswith("float16 55 TFLOP/s, float32 51.1 TFLOP/s; without TensorFlow 7")
    assert roots(trained(half(55.0))) == ["tensor-cores-idle"]


def test_a_gpu_that_is_not_fast_without_tensorflow_may_have_no_tensor_cores() -> None:
    facts = trained(half(55.0))
    slow = tuple(
        msgspec.structs.replace(m, value=100.0, samples=(100.0,) * 3)
        if m.kernel == "matmul-float16" and not m.in_tensorflow
        else m
        for m in facts.measurements
    )
    without = tuple(m for m in facts.measurements if m.in_tensorflow)
    for ones in (slow, without):
        assert outcome(with_(facts, measurements=ones), "tensor-cores-idle") == "skipped"


def test_a_run_is_judged_by_what_was_seen_of_it() -> None:
    """Not by what was measured beside it."""
    idle = trained(half(55.0), step(1, 1000.0), step(2, 1010.0, busy=(97, 0)))
    beside = with_(ran(), measurements=idle.measurements)
    for cause in ("tensor-cores-idle", "single-gpu-silently"):
        assert (outcome(idle, cause), outcome(beside, cause)) == ("found", "passed")


@pytest.mark.parametrize(
    "cause",
    [
        "cgroup-cpu-quota",
        "cpu-affinity-narrow",
        "gpu-busy-with-other-work",
        "gpu-outlier",
        "gpu-pair-slow",
        "gpu-power-limit-lowered",
        "gpu-throttling-power",
        "gpu-throttling-thermal",
        "nccl-channels-limited",
        "nccl-p2p-disabled-by-env",
        "nccl-p2p-iommu-acs",
        "nccl-shm-disabled-by-env",
        "nccl-tuning-forced",
        "nvlink-degraded",
        "nvlink-down",
        "p2p-not-used",
        "p2p-redirected",
        "pcie-link-degraded",
        "pcie-upstream-narrow",
        "single-gpu-silently",
    ],
)
def test_what_slows_a_gpu_or_the_way_between_them_explains_it(cause: str) -> None:
    (one,) = (c for c in all_checks() if c.cause == cause)
    assert "scaling-below-expected" in one.explains


def test_the_setting_is_the_cause_and_the_scaling_its_symptom() -> None:
    facts = with_variable(trained(step(1, 1000.0), step(2, 1200.0)), "NCCL_P2P_DISABLE", "1")
    slow = tuple(
        msgspec.structs.replace(m, transport=("SHM/direct/direct",), value=26.0, samples=(26.0,) * 3)
        if m.kernel == "all-reduce"
        else m
        for m in facts.measurements
    )
    facts = with_(facts, measurements=slow)
    assert roots(facts) == ["nccl-p2p-disabled-by-env"]
    assert "scaling-below-expected" in found(facts)
