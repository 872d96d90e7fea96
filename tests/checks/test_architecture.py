from __future__ import annotations

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import CudaDevice, Facts, LogEvent, Unread
from tests.factory import found, healthy, lists_no_gpu, outcome, roots, with_

TOO_OLD = LogEvent(
    kind="capability-too-old",
    text="Ignoring visible gpu device …",
    values={"device": "0", "name": "Tesla K80", "capability": "3.7", "minimum": "6.0"},
)
SMALL = LogEvent(
    kind="few-multiprocessors", text="Ignoring …", values={"name": "GT 1030", "count": "3", "minimum": "8"}
)
NO_CODE = LogEvent(
    kind="no-machine-code", text="TensorFlow was not built with …", values={"capability": "9.0a"}, source="g.cc:1"
)
REJECTED = LogEvent(kind="code-rejected", text="cuModuleLoadData failed", values={"error": "CUDA_ERROR_INVALID_PTX"})


def says(facts: Facts, *events: LogEvent) -> Facts:
    return with_(facts, tensorflow__events=events)


def fails(facts: Facts, why: str, *, kernel: str = "matmul", device: str = "GPU:1") -> Facts:
    one = msgspec.structs.replace(
        facts.measurements[0], kernel=kernel, device=device, value=Unread(why=why), verified=Unread(why=why)
    )
    return with_(facts, measurements=(*(m for m in facts.measurements if m.device != device), one))


def test_gpu_compute_capability_too_old() -> None:
    facts = says(lists_no_gpu(healthy()), TOO_OLD)
    assert roots(facts) == ["gpu-compute-capability-too-old"]
    assert found(facts)["gpu-compute-capability-too-old"].about == ("gpu0",)
    assert "3.7" in found(facts)["gpu-compute-capability-too-old"].message
    assert outcome(healthy(), "gpu-compute-capability-too-old") == "passed"


def beside_another(*events: LogEvent) -> Facts:
    """TensorFlow takes one of two GPUs and says this of the other one."""
    listed = healthy().tensorflow.devices
    assert isinstance(listed, tuple)
    return says(with_(healthy(), tensorflow__devices=listed[:2], measurements=healthy().measurements[:1]), *events)


@pytest.mark.parametrize("small", [False, True])
def test_a_display_card_beside_another_gpu_is_no_fault(small: bool) -> None:
    event = SMALL if small else TOO_OLD
    judged = judge(beside_another(event))
    assert judged.diagnosis.verdict == "healthy"
    assert [(f.cause, f.level) for f in judged.findings] == [("gpu-left-out-beside-another", "info")]
    assert [judge(beside_another()).diagnosis.verdict, *found(beside_another())] == ["faulty", "fewer-gpus"]
    both = msgspec.structs.replace(TOO_OLD, values={**TOO_OLD.values, "device": "1"})
    assert found(beside_another(event, both))["gpu-left-out-beside-another"].level == "info"
    assert outcome(healthy(), "gpu-left-out-beside-another") == "passed"
    assert outcome(says(lists_no_gpu(healthy()), event), "gpu-left-out-beside-another") == "passed"


def test_an_older_gpu_beside_another_by_the_files() -> None:
    devices = healthy().driver.libcuda.devices
    assert isinstance(devices, tuple)
    old = CudaDevice(index=2, name="Quadro K620", compute_capability=(5, 0))
    facts = with_(healthy(), tensorflow__events=Unread(why="not imported"), driver__libcuda__devices=(*devices, old))
    assert outcome(facts, "gpu-compute-capability-too-old") == "passed"
    assert found(facts)["gpu-left-out-beside-another"].about == ("gpu2",)
    blind = with_(facts, driver__libcuda__devices=Unread(why="?"))
    assert outcome(blind, "gpu-left-out-beside-another") == "unknown"
    unlisted = says(with_(healthy(), tensorflow__devices=Unread(why="it crashed")), TOO_OLD, SMALL)
    assert outcome(unlisted, "gpu-left-out-beside-another") == "unknown"


def test_without_a_run_the_files_tell() -> None:
    quick = with_(healthy(), tensorflow__events=Unread(why="not imported"))
    assert outcome(quick, "gpu-compute-capability-too-old") == "passed"
    devices = (CudaDevice(index=0, name="Tesla K80", compute_capability=(3, 7)),)
    old = with_(quick, driver__libcuda__devices=devices)
    assert "6.0" in found(old)["gpu-compute-capability-too-old"].message
    assert (
        outcome(with_(old, tensorflow__build__compute_capabilities=()), "gpu-compute-capability-too-old") == "unknown"
    )
    assert (
        outcome(with_(quick, driver__libcuda__devices=Unread(why="?")), "gpu-compute-capability-too-old") == "unknown"
    )
    assert outcome(with_(old, tensorflow__build__cuda=False), "gpu-compute-capability-too-old") == "skipped"


def test_gpu_ignored_few_sms() -> None:
    facts = says(lists_no_gpu(healthy()), SMALL)
    assert roots(facts) == ["gpu-ignored-few-sms"]
    (fix,) = found(facts)["gpu-ignored-few-sms"].fixes
    assert fix.steps == ("export TF_MIN_GPU_MULTIPROCESSOR_COUNT=3",)
    assert outcome(healthy(), "gpu-ignored-few-sms") == "passed"
    assert outcome(with_(healthy(), tensorflow__events=Unread(why="?")), "gpu-ignored-few-sms") == "unknown"


def test_jit_cold_start_is_no_fault() -> None:
    facts = says(healthy(), NO_CODE)
    assert found(facts)["jit-cold-start"].level == "info"
    assert found(facts)["jit-cold-start"].about == ("gpu0", "gpu1")
    assert outcome(facts, "gpu-too-new-for-build") == "passed"
    assert outcome(healthy(), "jit-cold-start") == "skipped"
    assert outcome(with_(healthy(), tensorflow__events=Unread(why="?")), "jit-cold-start") == "unknown"


def test_a_compilation_that_takes_too_long_is_the_cold_start() -> None:
    facts = fails(says(healthy(), NO_CODE), "matmul did not end within 60 s")
    assert roots(facts) == ["jit-cold-start"]
    assert "op-fails" in found(facts)


def test_gpu_too_new_for_build() -> None:
    facts = fails(says(healthy(), NO_CODE), "InternalError: 'cuLaunchKernel' failed with 'CUDA_ERROR_INVALID_HANDLE'")
    assert roots(facts) == ["gpu-too-new-for-build"]
    assert outcome(facts, "jit-cold-start") == "passed"
    by_log = fails(says(healthy(), NO_CODE, REJECTED), "matmul was ended by signal 6")
    assert roots(by_log) == ["gpu-too-new-for-build"]
    assert outcome(healthy(), "gpu-too-new-for-build") == "skipped"
    assert outcome(with_(facts, tensorflow__events=Unread(why="?")), "gpu-too-new-for-build") == "unknown"


def test_another_failure_beside_a_cold_start_is_not_explained_by_it() -> None:
    facts = fails(says(healthy(), NO_CODE), "solve was ended by signal 11")
    assert outcome(facts, "gpu-too-new-for-build") == "passed"
    assert "op-fails" not in found(facts)["jit-cold-start"].may_explain
