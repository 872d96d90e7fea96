from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import CudaDevice, Facts, GpuProcess, MigDevice, Unread
from tests.factory import cu_init, found, gpu_device, healthy, lists_no_gpu, measured, outcome, roots, with_, with_gpu

UNREAD = Unread(why="no answer", settle="nvidia-smi -q")
TOTAL = 150754820096
JOB = GpuProcess(pid=4711, kind="compute", memory_used_bytes=TOTAL - (1 << 30), name="/usr/bin/python3", ours=False)
FULL = {"memory_used_bytes": TOTAL - (1 << 30), "memory_free_bytes": 1 << 29}


def gpu1(**changes: Any) -> Facts:
    """A healthy host, but for its second GPU."""
    return with_gpu(healthy(), 1, **changes)


def sees_only(facts: Facts, index: int) -> Facts:
    """`facts` of a process to which CUDA shows one GPU."""
    devices = facts.driver.libcuda.devices
    assert isinstance(devices, tuple)
    return with_(facts, driver__libcuda__devices=(msgspec.structs.replace(devices[index], index=0),))


def op_fails_on(facts: Facts, index: int) -> Facts:
    """TensorFlow's kernel fails on one GPU."""
    failed = tuple(
        msgspec.structs.replace(m, value=Unread(why="out of memory"), verified=Unread(why="failed"))
        if m.device == f"GPU:{index}"
        else m
        for m in facts.measurements
    )
    return msgspec.structs.replace(facts, measurements=failed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpu-memory-held-by-other-process", "passed"),
        ("mig-enabled-no-instance", "passed"),
        ("compute-mode-prohibited", "passed"),
        ("gpu-exclusive-busy", "passed"),
        ("vgpu-unlicensed", "skipped"),
    ],
)
def test_a_healthy_host_is_silent(name: str, expected: str) -> None:
    assert outcome(healthy(), name) == expected


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("gpu-memory-held-by-other-process", "memory_used_bytes"),
        ("gpu-memory-held-by-other-process", "memory_total_bytes"),
        ("mig-enabled-no-instance", "mig_mode"),
        ("compute-mode-prohibited", "compute_mode"),
        ("gpu-exclusive-busy", "compute_mode"),
        ("vgpu-unlicensed", "virtualization_mode"),
    ],
)
def test_what_is_unread_is_unknown(name: str, field: str) -> None:
    assert outcome(gpu1(**{field: UNREAD}), name) == "unknown"
    assert outcome(with_(healthy(), gpu__devices=UNREAD), name) == "unknown"
    assert outcome(with_(healthy(), gpu__devices=()), name) == "skipped"


def test_memory_held_by_another() -> None:
    facts = gpu1(**FULL, processes=(JOB,))
    assert roots(facts) == ["gpu-memory-held-by-other-process"]
    one = found(facts)["gpu-memory-held-by-other-process"]
    assert (one.level, one.about) == ("warn", ("gpu1",))
    assert one.message.endswith("are in use already, by python3 (PID 4711, 139.4 GiB).")
    assert one.fixes[0].steps == ("export CUDA_VISIBLE_DEVICES=GPU-00000000-0000-4000-8000-000000000000",)
    assert one.fixes[1].steps == ("ps -o pid,user,etime,args -p 4711", "kill 4711")
    assert one.fixes[1].risk == "destructive"


def test_memory_held_explains_what_fails_there() -> None:
    assert roots(op_fails_on(gpu1(**FULL, processes=(JOB,)), 1)) == ["gpu-memory-held-by-other-process"]


def test_memory_held_is_not_said_of_a_gpu_that_this_process_does_not_use() -> None:
    facts = gpu1(**FULL, processes=(JOB,))
    assert outcome(sees_only(facts, 0), "gpu-memory-held-by-other-process") == "passed"
    assert outcome(sees_only(facts, 1), "gpu-memory-held-by-other-process") == "found"


def test_memory_that_is_ours_is_not_held_by_another() -> None:
    ours = msgspec.structs.replace(JOB, ours=True)
    assert outcome(gpu1(**FULL, processes=(ours,)), "gpu-memory-held-by-other-process") == "passed"
    named = with_(gpu1(**FULL, processes=(JOB,)), process__pid=4711)
    assert outcome(named, "gpu-memory-held-by-other-process") == "passed"


def test_a_process_that_can_not_be_seen() -> None:
    facts = gpu1(**FULL, processes=())
    assert "NVML does not list" in found(facts)["gpu-memory-held-by-other-process"].message
    inside = with_(facts, system__container="docker")
    one = found(inside)["gpu-memory-held-by-other-process"]
    assert "a process that this container can't see" in one.message
    assert one.fixes[-1].steps == ("nvidia-smi",)
    assert outcome(gpu1(**FULL, processes=UNREAD), "gpu-memory-held-by-other-process") == "found"


def test_a_gpu_that_is_used_by_half_is_no_finding() -> None:
    facts = gpu1(memory_used_bytes=TOTAL // 2, processes=(JOB,))
    assert outcome(facts, "gpu-memory-held-by-other-process") == "passed"
    assert (
        outcome(gpu1(memory_used_bytes=None, memory_total_bytes=None), "gpu-memory-held-by-other-process") == "passed"
    )


def test_no_other_gpu_is_advised_where_none_is_free() -> None:
    facts = with_gpu(gpu1(**FULL, processes=(JOB,)), 0, **FULL, processes=(JOB,))
    for one in (f for f in judge(facts).findings if f.cause == "gpu-memory-held-by-other-process"):
        assert not any("CUDA_VISIBLE_DEVICES" in step for fix in one.fixes for step in fix.steps)


MIG: dict[str, Any] = {"mig_mode": True, "mig_mode_pending": True}
INSTANCE = MigDevice(uuid="MIG-1", name="NVIDIA H200 MIG 1g.18gb", gpu_instance=7, compute_instance=0)


def test_mig_without_an_instance() -> None:
    one_gpu = with_(healthy(), gpu__devices=(gpu_device(0, **MIG, mig_devices=()),), gpu__pairs=())
    facts = lists_no_gpu(cu_init(one_gpu, 100))
    assert roots(facts) == ["mig-enabled-no-instance"]
    one = found(facts)["mig-enabled-no-instance"]
    assert one.about == ("gpu0",)
    assert one.fixes[0].steps == ("sudo nvidia-smi mig -i 0 -cgi 0 -C",)
    inside = found(with_(facts, system__container="docker"))["mig-enabled-no-instance"]
    assert "this container was given" in inside.message
    assert [f.kind for f in inside.fixes] == ["advice"]


def test_mig_without_an_instance_on_one_gpu_of_two_leaves_fewer() -> None:
    facts = gpu1(**MIG, mig_devices=())
    listed = facts.tensorflow.devices
    assert isinstance(listed, tuple)
    fewer = with_(facts, tensorflow__devices=listed[:2])
    assert roots(fewer) == ["mig-enabled-no-instance"]
    assert found(fewer)["mig-enabled-no-instance"].may_explain == ("fewer-gpus",)


def test_mig_with_an_instance_is_no_finding() -> None:
    assert outcome(gpu1(**MIG, mig_devices=(INSTANCE,)), "mig-enabled-no-instance") == "passed"
    assert outcome(gpu1(mig_mode=None), "mig-enabled-no-instance") == "passed"
    assert outcome(gpu1(**MIG, mig_devices=UNREAD), "mig-enabled-no-instance") == "unknown"


def test_compute_mode_prohibited() -> None:
    facts = gpu1(compute_mode="prohibited")
    assert roots(op_fails_on(facts, 1)) == ["compute-mode-prohibited"]
    assert found(facts)["compute-mode-prohibited"].fixes[0].steps == ("sudo nvidia-smi -i 1 -c DEFAULT",)
    assert outcome(sees_only(facts, 0), "compute-mode-prohibited") == "passed"


def test_exclusive_and_busy() -> None:
    facts = gpu1(compute_mode="exclusive-process", processes=(JOB,))
    assert roots(op_fails_on(facts, 1)) == ["gpu-exclusive-busy"]
    assert "python3 (PID 4711" in found(facts)["gpu-exclusive-busy"].message
    assert outcome(sees_only(facts, 0), "gpu-exclusive-busy") == "passed"


def test_exclusive_and_free_or_ours_or_shared_by_mps_is_no_finding() -> None:
    def of(*processes: GpuProcess) -> str:
        return outcome(gpu1(compute_mode="exclusive-process", processes=processes), "gpu-exclusive-busy")

    assert of() == "passed"
    assert of(msgspec.structs.replace(JOB, ours=True)) == "passed"
    assert of(msgspec.structs.replace(JOB, name="/usr/bin/nvidia-cuda-mps-server")) == "passed"
    assert of(msgspec.structs.replace(JOB, kind="graphics", name="/usr/lib/xorg/Xorg")) == "passed"
    assert of(msgspec.structs.replace(JOB, name=None)) == "unknown"
    assert outcome(gpu1(processes=(JOB,)), "gpu-exclusive-busy") == "passed"
    assert outcome(gpu1(compute_mode="exclusive-process", processes=UNREAD), "gpu-exclusive-busy") == "unknown"


def test_a_vgpu_without_a_licence() -> None:
    facts = gpu1(virtualization_mode="vgpu", vgpu_licensed=False)
    assert roots(facts) == ["vgpu-unlicensed"]
    assert outcome(gpu1(virtualization_mode="vgpu", vgpu_licensed=True), "vgpu-unlicensed") == "passed"
    assert outcome(gpu1(virtualization_mode="vgpu", vgpu_licensed=None), "vgpu-unlicensed") == "passed"
    assert outcome(gpu1(virtualization_mode="vgpu", vgpu_licensed=UNREAD), "vgpu-unlicensed") == "unknown"
    assert outcome(gpu1(virtualization_mode="none", vgpu_licensed=False), "vgpu-unlicensed") == "skipped"


def test_where_cuda_shows_a_gpu_that_nvml_does_not() -> None:
    facts = with_(healthy(), driver__libcuda__devices=(CudaDevice(index=0, pci_address="0000:99:00.0"),))
    assert outcome(facts, "gpu-memory-held-by-other-process") == "skipped"


BUSY = "gpu-busy-with-other-work"


def test_a_gpu_on_which_another_program_works() -> None:
    slow = measured(healthy(), "matmul-float16", "GPU:1", value=350.0)
    assert roots(slow) == ["gpu-outlier"]
    other = GpuProcess(pid=4711, kind="compute", name="/usr/bin/python3", memory_used_bytes=1 << 30, ours=False)
    busy = with_gpu(slow, 1, utilisation_gpu_percent=100, clock_event_reasons=(), processes=(other,))
    assert roots(busy) == [BUSY]
    one = found(busy)[BUSY]
    assert (one.level, one.about) == ("warn", ("gpu1",))
    assert "at 100% utilisation before anything of gpudoctor ran there by python3 (PID 4711, 1.0 GiB)" in one.message
    assert "matmul-float16 reaches 0.50 of what its sibling reaches" in one.message
    unseen = with_gpu(busy, 1, processes=())
    assert roots(unseen) == [BUSY]


def test_a_busy_gpu_that_measures_well_is_no_finding() -> None:
    assert outcome(healthy(), BUSY) == "passed"
    assert outcome(with_gpu(healthy(), 1, utilisation_gpu_percent=100, clock_event_reasons=()), BUSY) == "passed"
    slow = measured(healthy(), "matmul-float16", "GPU:1", value=350.0)
    assert outcome(with_gpu(slow, 1, utilisation_gpu_percent=20, clock_event_reasons=()), BUSY) == "passed"
    assert outcome(with_gpu(slow, 1, utilisation_gpu_percent=100), BUSY) == "passed"  # its clocks were idle
    assert outcome(with_gpu(slow, 1, utilisation_gpu_percent=Unread(why="no answer")), BUSY) == "unknown"
    assert outcome(with_(healthy(), measurements=()), BUSY) == "skipped"
