"""Training that runs and is slow: what a machine tells of it. What a text tells is in tests/logs/test_profiles.py."""

from __future__ import annotations

import msgspec
import pytest

from gpudoctor.facts import Facts, GpuDevice, GpuProcess, Process
from tests.factory import found, gpu_device, healthy, outcome, with_, with_gpu, with_variable

SECOND = "0000:00:07.0"


@pytest.mark.parametrize(
    "cause",
    ["cpu-starved-input", "tensor-cores-idle", "h2d-pageable", "single-gpu-silently", "numa-misplaced"],
)
def test_a_machine_that_does_not_tell(cause: str) -> None:
    assert outcome(healthy(), cause) == "skipped"


def test_tf32_is_switched_off() -> None:
    off = with_variable(healthy(), "NVIDIA_TF32_OVERRIDE", "0")
    one = found(off)["tf32-off"]
    assert (one.level, one.fixes[0].env[0].op) == ("info", "unset")
    assert one.proof[1].text == "compute capability 9.0"
    assert outcome(healthy(), "tf32-off") == "passed"
    assert outcome(with_variable(healthy(), "NVIDIA_TF32_OVERRIDE", "1"), "tf32-off") == "passed"


def test_a_gpu_without_tf32_has_nothing_to_switch_off() -> None:
    old = (gpu_device(0, compute_capability=(7, 5)), gpu_device(1, SECOND, compute_capability=(7, 5)))
    off = with_variable(with_(healthy(), gpu__devices=old), "NVIDIA_TF32_OVERRIDE", "0")
    assert outcome(off, "tf32-off") == "passed"


def training(first: int, second: int, pids: tuple[int, int] = (4711, 4711)) -> Facts:
    """The process 4711 was named; what is on the two GPUs, and how busy they are."""

    def device(index: int, address: str, busy: int) -> GpuDevice:
        ours = GpuProcess(pid=pids[index], kind="compute", memory_used_bytes=1 << 34, name="python3")
        return gpu_device(index, address, utilisation_gpu_percent=busy, processes=(ours,))

    both = (device(0, "0000:00:06.0", first), device(1, SECOND, second))
    named = msgspec.structs.replace(healthy(), process=Process(pid=4711, libraries=(), cpus_usable="0-31"))
    return with_(named, gpu__devices=both)


def test_one_gpu_works_and_the_other_holds_memory() -> None:
    one = found(training(91, 0))["single-gpu-silently"]
    assert one.message == "Process 4711 holds memory on 2 GPUs, and only GPU 0 is at work."
    assert (one.level, one.about) == ("warn", ("gpu0", "gpu1"))


@pytest.mark.parametrize("busy", [(91, 80), (0, 0), (91, 12), (12, 0)])
def test_gpus_that_share_the_work_or_all_wait(busy: tuple[int, int]) -> None:
    assert outcome(training(*busy), "single-gpu-silently") == "passed"


def test_another_process_on_the_other_gpu() -> None:
    assert outcome(training(91, 0, (4711, 4712)), "single-gpu-silently") == "passed"


def placed(bound: str, *, nodes: tuple[int, int] = (1, 1), near: tuple[str, str] = ("16-31", "16-31")) -> Facts:
    """GPUs next to some processors, and a program that may run on others."""
    facts = healthy()
    assert isinstance(facts.pci.devices, tuple)
    place = dict(zip(("0000:00:06.0", SECOND), zip(nodes, near, strict=True), strict=True))
    devices = tuple(
        msgspec.structs.replace(d, numa_node=place[d.address][0], local_cpus=place[d.address][1])
        if d.address in place
        else d
        for d in facts.pci.devices
    )
    return with_(facts, pci__devices=devices, system__cpus_usable=bound, system__cores_usable=16)


def test_bound_away_from_every_gpu() -> None:
    one = found(placed("0-15"))["numa-misplaced"]
    assert one.message == "It runs on the processors 0-15 only, and none of its GPUs is next to these."
    assert one.fixes[0].steps == ("taskset -c 16-31 python3 train.py",)
    assert one.proof[1].text == "0000:00:06.0 is on NUMA node 1, next to the processors 16-31"


def test_next_to_one_of_its_gpus() -> None:
    assert outcome(placed("0-15", nodes=(0, 1), near=("0-15", "16-31")), "numa-misplaced") == "passed"
    assert outcome(placed("8-19"), "numa-misplaced") == "passed"
    assert outcome(with_(placed("0-31"), system__cores_usable=32), "numa-misplaced") == "passed"


def test_the_process_that_was_named_counts() -> None:
    facts = placed("0-31")
    named = msgspec.structs.replace(facts, process=Process(pid=99, libraries=(), cpus_usable="2,4-6"))
    one = found(named)["numa-misplaced"]
    assert one.fixes[0].steps == ("taskset -acp 16-31 99",)
    assert one.proof[0].source == "/proc/99/status"


def test_a_gpu_of_no_known_node_tells_nothing() -> None:
    assert outcome(with_gpu(with_(healthy(), system__cpus_usable="0-3"), 0), "numa-misplaced") == "skipped"
