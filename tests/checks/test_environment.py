from __future__ import annotations

import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import TensorFlowDevice, Unread
from tests.factory import cu_init, found, healthy, outcome, roots, with_, with_variable


def choose(value: str, result: int = 100) -> list[str]:
    return roots(cu_init(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", value), result))


@pytest.mark.parametrize("value", ["", "-1", "-1,0", " ", "none", "NoDevFiles", "void"])
def test_cuda_visible_devices_empty(value: str) -> None:
    assert choose(value) == ["cuda-visible-devices-empty"]


@pytest.mark.parametrize("value", ["7", "2", "abc", "GPU-ffffffff", "GPU-", "0,0", "7,0", "0;1", "0 1"])
def test_cuda_visible_devices_wrong(value: str) -> None:
    assert choose(value, 101) == ["cuda-visible-devices-wrong"]


@pytest.mark.parametrize(
    "value",
    [
        "0",
        "1,0",
        "0,1",
        "GPU-00000000",
        "GPU-00000001-0000-4000-8000-000000000000,0",
        "0,",
        "0,1,-1,7",
        " 0",
        "+0",
        "00",
    ],
)
def test_a_right_choice_is_no_fault(value: str) -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", value)
    assert outcome(facts, "cuda-visible-devices-wrong") == "passed"
    assert outcome(facts, "cuda-visible-devices-empty") == "passed"


def test_a_list_cut_short_explains_fewer_gpus() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "0,7,1")
    devices = facts.tensorflow.devices
    assert isinstance(devices, tuple)
    facts = with_(facts, tensorflow__devices=devices[:2])
    assert roots(facts) == ["cuda-visible-devices-wrong"]
    assert "fewer-gpus" in found(facts)
    steps = [f.steps for f in found(facts)["cuda-visible-devices-wrong"].fixes]
    assert steps == [("export CUDA_VISIBLE_DEVICES=0,1",), ("unset CUDA_VISIBLE_DEVICES",)]


def test_not_decided_without_a_list_of_gpus() -> None:
    facts = with_(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "7"), gpu__devices=Unread(why="no NVML"))
    assert outcome(facts, "cuda-visible-devices-wrong") == "unknown"
    unread = with_(healthy(), environment__variables=Unread(why="?"))
    assert outcome(unread, "cuda-visible-devices-empty") == "unknown"


def test_mig_is_not_judged() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "MIG-00000000-0000-0000-0000-000000000000")
    assert outcome(facts, "cuda-visible-devices-wrong") == "unknown"


def test_one_chosen_gpu_is_not_fewer() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "1")
    facts = with_(facts, tensorflow__devices=(TensorFlowDevice(name="/physical_device:GPU:0", type="GPU"),))
    assert outcome(facts, "fewer-gpus") == "passed"


def test_a_list_that_leaves_a_gpu_explains_no_empty_list() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "0,7")
    devices = facts.driver.libcuda.devices
    assert isinstance(devices, tuple)
    facts = with_(facts, driver__libcuda__devices=devices[:1], tensorflow__devices=())
    assert "tf-lists-no-gpu" in [u.symptom for u in judge(facts).diagnosis.unexplained]
    assert found(facts)["cuda-visible-devices-wrong"].may_explain == ("fewer-gpus",)


def test_minus_one_ends_the_list_for_every_check() -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "0, -1")
    facts = with_(facts, tensorflow__devices=(TensorFlowDevice(name="/physical_device:GPU:0", type="GPU"),))
    assert roots(facts) == []
    assert outcome(facts, "fewer-gpus") == "passed"


@pytest.mark.parametrize(("value", "right"), [("0x1", True), ("0xff", False)])
def test_hexadecimal_indices(value: str, right: bool) -> None:
    facts = with_variable(healthy(), "CUDA_VISIBLE_DEVICES", value)
    assert (outcome(facts, "cuda-visible-devices-wrong") == "passed") is right


def test_the_driver_api_counts_where_nvml_does_not() -> None:
    facts = cu_init(with_variable(healthy(), "CUDA_VISIBLE_DEVICES", "7"), 100)
    facts = with_(facts, gpu__devices=Unread(why="no NVML"), driver__all_devices=healthy().driver.libcuda.devices)
    assert roots(facts) == ["cuda-visible-devices-wrong"]
    assert "without CUDA_VISIBLE_DEVICES" in found(facts)["cuda-visible-devices-wrong"].proof[1].source
