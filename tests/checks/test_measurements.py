from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Unread
from tests.factory import found, healthy, outcome, roots, with_


def test_gpu_wrong_result() -> None:
    one, two, *_ = healthy().measurements
    facts = with_(healthy(), measurements=(one, msgspec.structs.replace(two, verified=False, error=0.5)))
    assert found(facts)["gpu-wrong-result"].about == ("gpu1",)
    assert outcome(healthy(), "gpu-wrong-result") == "passed"


def test_a_result_that_is_not_finite_is_wrong() -> None:
    one, two, *_ = healthy().measurements
    facts = with_(healthy(), measurements=(one, msgspec.structs.replace(two, verified=False, error=Unread(why="NaN"))))
    assert "not finite" in found(facts)["gpu-wrong-result"].proof[0].text


def test_a_kernel_that_did_not_run_is_neither_right_nor_wrong() -> None:
    one, *_ = healthy().measurements
    facts = with_(healthy(), measurements=(msgspec.structs.replace(one, verified=Unread(why="failed")),))
    assert outcome(facts, "gpu-wrong-result") == "unknown"
    wrong = with_(healthy(), measurements=(*facts.measurements, msgspec.structs.replace(one, verified=False)))
    assert outcome(wrong, "gpu-wrong-result") == "found"
    assert outcome(with_(healthy(), measurements=()), "gpu-wrong-result") == "skipped"


def test_what_was_skipped_is_neither_unknown_nor_wrong() -> None:
    one, *_ = healthy().measurements
    no = Unread(why="TF32 needs a GPU of compute capability 8.0 or higher", chosen=True)
    skipped = msgspec.structs.replace(one, kernel="matmul-tf32", value=no, verified=no)
    facts = with_(healthy(), measurements=(*healthy().measurements, skipped))
    for cause in ("gpu-wrong-result", "op-fails", "gpu-outlier"):
        assert outcome(facts, cause) == "passed"


def test_a_wrong_sum_is_about_all_gpus() -> None:
    one, *_ = healthy().measurements
    sums = msgspec.structs.replace(
        one, kernel="all-reduce", device="GPU:0,GPU:1", verified=False, error=7.0, against="the exact sum"
    )
    finding = found(with_(healthy(), measurements=(sums,)))["gpu-wrong-result"]
    assert finding.about == ("gpu0", "gpu1")
    assert "the exact sum" in finding.proof[0].source


def rates(*values: float, **change: object) -> Facts:
    one, *_ = healthy().measurements
    made = [msgspec.structs.replace(one, device=f"GPU:{i}", value=v) for i, v in enumerate(values)]
    made[-1] = msgspec.structs.replace(made[-1], **change)
    return with_(healthy(), measurements=tuple(made))


def test_gpu_outlier() -> None:
    assert outcome(healthy(), "gpu-outlier") == "passed"
    slow = rates(51.0, 50.8, 51.3, 30.0)
    assert found(slow)["gpu-outlier"].about == ("gpu3",)
    assert found(slow)["gpu-outlier"].level == "warn"
    assert roots(slow) == ["gpu-outlier"]
    assert outcome(rates(51.0, 40.0), "gpu-outlier") == "passed"
    assert found(rates(51.0, 35.0))["gpu-outlier"].about == ("gpu1",)


def test_no_outlier_where_nothing_can_be_compared() -> None:
    assert outcome(rates(51.0), "gpu-outlier") == "skipped"
    assert outcome(rates(51.0, 20.0, device_name="NVIDIA T4"), "gpu-outlier") == "skipped"
    assert outcome(rates(51.0, 20.0, spread=0.5), "gpu-outlier") == "skipped"
    assert outcome(rates(51.0, 20.0, verified=False), "gpu-outlier") == "skipped"
    assert outcome(rates(51.0, 20.0, kernel="host-to-device"), "gpu-outlier") == "skipped"
    assert outcome(with_(healthy(), measurements=()), "gpu-outlier") == "skipped"
