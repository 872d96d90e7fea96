from __future__ import annotations

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, NvLink, Unread
from tests.factory import found, healthy, measured, outcome, roots, with_, with_gpu
from tests.figures import load, native


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


def test_a_wrong_result_stands_beside_the_memorys_errors() -> None:
    wrong = measured(healthy(), "memory-pattern", "GPU:1", verified=False, error=3.0, against="the pattern")
    assert found(wrong)["gpu-wrong-result"].about == ("gpu1",)
    assert roots(wrong) == ["gpu-wrong-result"]
    texts = [p.text for p in found(wrong)["gpu-wrong-result"].proof]
    assert texts[-1].startswith("memory of GPU 1: its errors are corrected or counted (ECC on, 0 uncorrected")
    for state, said in ((False, "ECC is off"), (None, "a product without ECC")):
        assert said in found(with_gpu(wrong, 1, ecc_mode=state))["gpu-wrong-result"].proof[-1].text
    unread = with_gpu(wrong, 1, ecc_mode=Unread(why="no answer"))
    assert len(found(unread)["gpu-wrong-result"].proof) == 1


@pytest.mark.parametrize("kernel", ["matmul-float16", "copy-inside", "copy-host-to-device", "memory-pattern"])
def test_an_outlier_of_native_kernels(kernel: str) -> None:
    was = native(kernel, "GPU:1").value
    assert isinstance(was, float)
    slow = measured(healthy(), kernel, "GPU:1", value=was * 0.6)
    assert roots(slow) == ["gpu-outlier"]
    one = found(slow)["gpu-outlier"]
    assert one.about == ("gpu1",)
    assert f"{kernel} reaches 0.60 of their rate" in one.message
    assert "siblings: the other one" in one.proof[0].text
    assert roots(measured(healthy(), kernel, "GPU:1", value=was * 0.8)) == []


def test_what_is_the_hosts_own_work_makes_no_outlier() -> None:
    assert roots(measured(healthy(), "copy-host-to-device-pageable", "GPU:1", value=3.0)) == []
    assert roots(measured(healthy(), "copy-latency", "GPU:1", value=60.0)) == []


def test_an_outlier_is_named_by_nvmls_number() -> None:
    """CUDA_VISIBLE_DEVICES=1,0: CUDA's first is NVML's second."""
    slow = measured(healthy(), "matmul-float16", "GPU:0", value=300.0, pci_addresses=("0000:00:07.0",))
    slow = measured(slow, "matmul-float16", "GPU:1", pci_addresses=("0000:00:06.0",))
    assert found(slow)["gpu-outlier"].about == ("gpu1",)


def test_a_slow_pair() -> None:
    slow = measured(healthy(), "copy-pair", "GPU:1,GPU:0", value=200.0)
    assert roots(slow) == ["gpu-pair-slow"]
    one = found(slow)["gpu-pair-slow"]
    assert (one.level, one.about) == ("warn", ("gpu1", "gpu0"))
    assert "GPU:1 and GPU:0: copy-pair reaches 0.51 of the rate" in one.message
    assert outcome(healthy(), "gpu-pair-slow") == "passed"
    assert outcome(with_(healthy(), gpu__pairs=Unread(why="no answer")), "gpu-pair-slow") == "skipped"
    fewer = measured(slow, "copy-pair", "GPU:0,GPU:1", value=360.0)
    fewer = with_gpu(fewer, 1, nvlinks=tuple(msgspec.structs.replace(k, active=k.index < 14) for k in links(fewer)))
    assert "gpu-pair-slow" in found(fewer)
    assert roots(fewer) == ["nvlink-degraded"]


def links(facts: Facts) -> tuple[NvLink, ...]:
    devices = facts.gpu.devices
    assert isinstance(devices, tuple)
    assert isinstance(devices[1].nvlinks, tuple)
    return devices[1].nvlinks


def test_an_impossible_measurement() -> None:
    assert outcome(healthy(), "measurement-impossible") == "passed"
    assert outcome(with_(healthy(), measurements=()), "measurement-impossible") == "skipped"
    wrong = measured(healthy(), "copy-device-to-host", "GPU:1", value=587.0)
    one = found(wrong)["measurement-impossible"]
    assert (one.level, one.about) == ("info", ("gpu1",))
    assert "copy-device-to-host on GPU:1 gave 587 GB/s, and 63.01 is possible" in one.message
    assert "PCIe 5.0 x16" in one.proof[0].text
    assert "gpu-outlier" not in found(wrong)


def test_where_no_figure_has_a_limit_none_is_above() -> None:
    only = with_(healthy(), measurements=(native("copy-latency", "GPU:0", load=load()),))
    assert outcome(only, "measurement-impossible") == "passed"


def test_failures_are_named_by_nvmls_number() -> None:
    one, *_ = healthy().measurements
    failed = msgspec.structs.replace(one, value=Unread(why="an error"), pci_addresses=("0000:00:07.0",))
    assert found(with_(healthy(), measurements=(failed,)))["op-fails"].about == ("gpu1",)


SLOW_COPIES = "slow-copies"


def test_copies_that_are_slow_on_every_gpu() -> None:
    assert outcome(healthy(), SLOW_COPIES) == "passed"
    assert outcome(with_(healthy(), measurements=()), SLOW_COPIES) == "skipped"
    slow = healthy()
    for gpu in ("GPU:0", "GPU:1"):
        slow = measured(slow, "copy-host-to-device", gpu, value=14.0)
    one, other = (f for f in judge(slow).findings if f.cause == SLOW_COPIES)
    assert (one.level, one.symptom, one.about, other.about) == ("warn", True, ("gpu0",), ("gpu1",))
    assert one.message == "GPU:0: copy-host-to-device reaches 14 GB/s, 4.5 times less than PCIe 5.0 x16, 63 GB/s."
    diagnosis = judge(slow).diagnosis
    assert (roots(slow), diagnosis.verdict) == ([], "warning")
    (candidate,) = diagnosis.candidates[SLOW_COPIES]
    assert candidate.cause == "numa-misplaced"
    assert str(candidate.settle).startswith("nvidia-smi topo -m")
    enough = measured(
        measured(slow, "copy-host-to-device", "GPU:0", value=30.0), "copy-host-to-device", "GPU:1", value=30.0
    )
    assert outcome(enough, SLOW_COPIES) == "passed"


def test_slow_copies_are_explained_by_what_makes_them_slow() -> None:
    one = measured(healthy(), "copy-device-to-host", "GPU:1", value=20.0)
    assert roots(one) == ["gpu-outlier"]
    assert judge(one).diagnosis.root_causes[0].explains == (SLOW_COPIES,)
    assert "2.8 times less than the other one (55.3)" in found(one)[SLOW_COPIES].message
    busy = with_gpu(one, 1, utilisation_gpu_percent=100, clock_event_reasons=(), processes=())
    assert roots(busy) == ["gpu-busy-with-other-work"]
    pair = measured(healthy(), "copy-pair", "GPU:1,GPU:0", value=90.0)
    assert roots(pair) == ["gpu-pair-slow"]
    assert judge(pair).diagnosis.root_causes[0].explains == (SLOW_COPIES,)
