"""Memory and MIG instances, by the facts that nvidia-smi's table gives in a text."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Facts, GpuDevice, MigDevice, TensorFlowDevice, Text, TextEvent
from tests.factory import found, healthy, outcome, with_

GIB = 1 << 30
HANDLE = TextEvent(
    line=3, language="tensorflow", kind="handle-failed", text="Could not create cudnn handle", symptom="op-fails"
)
TABLE = TextEvent(line=1, language="devices", kind="process-table", text="| Processes:")


def made(memory_mb: int) -> TextEvent:
    values = {"memory_mb": str(memory_mb)}
    return TextEvent(line=2, language="tensorflow", kind="device-created", text="Created device", values=values)


def process(name: str) -> TextEvent:
    return TextEvent(line=2, language="nvidia-smi", kind="gpu-process", text=f"| {name} |", values={"name": name})


def pasted(used_gib: float, *events: TextEvent, container: str | None = None, **told: object) -> Facts:
    device = GpuDevice(index=0, memory_used_bytes=int(used_gib * GIB), memory_total_bytes=8 * GIB, **told)  # type: ignore[arg-type]
    facts = with_(Facts(), text=Text(lines=9, left_out=None, events=events), gpu__devices=(device,))
    return with_(facts, system__container=container) if container else facts


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (pasted(7.8, HANDLE), "found"),
        (pasted(7.8, HANDLE, made(7000)), "unknown"),  # it is its own
        (pasted(4.0, HANDLE), "unknown"),
        (pasted(7.8), "unknown"),
        (pasted(5.0, TABLE), "found"),
        (pasted(5.0, processes=()), "found"),
        (pasted(5.0, TABLE, process("python")), "unknown"),
        (pasted(5.0, TABLE, container="docker"), "unknown"),
        (pasted(1.0, TABLE), "unknown"),
        (pasted(5.0, process("Unknown Error")), "found"),
        (pasted(5.0, process("[Not Found]")), "found"),
        (with_(Facts(), text=Text(lines=9, left_out=None, events=())), "unknown"),
    ],
)
def test_memory_of_others(facts: Facts, expected: str) -> None:
    assert outcome(facts, "gpu-memory-held-by-other-process") == expected


def test_the_table_is_the_proof() -> None:
    (proof,) = found(pasted(7.8, HANDLE))["gpu-memory-held-by-other-process"].proof
    assert (proof.text, proof.source) == ("7987 of 8192 MiB in use", "nvidia-smi, GPU 0")


def instances(count: int, *listed: str) -> Facts:
    parts = tuple(MigDevice(uuid=f"MIG-{n}") for n in range(count))
    devices = tuple(TensorFlowDevice(name=name, type="GPU") for name in listed)
    return with_(pasted(1.0, mig_devices=parts), tensorflow__devices=devices)


def test_instances_and_one_gpu() -> None:
    assert outcome(instances(3, "/physical_device:GPU:0"), "mig-single-instance-limit") == "found"
    assert outcome(instances(1, "/physical_device:GPU:0"), "mig-single-instance-limit") == "unknown"
    assert outcome(instances(3), "mig-single-instance-limit") == "unknown"
    assert outcome(Facts(), "mig-single-instance-limit") == "skipped"


@pytest.mark.parametrize(
    "cause",
    [
        "tf-preallocates-all-memory",
        "gpu-oom-model-or-data",
        "cudnn-version-mismatch",
        "cublas-version-mismatch",
        "cublas-bug-cuda-11-2",
        "tf-no-gpu-registered",
        "mig-single-instance-limit",
    ],
)
def test_only_a_text_tells(cause: str) -> None:
    assert outcome(healthy(), cause) == "skipped"


def line(kind: str, text: str = "", **values: str) -> TextEvent:
    return TextEvent(line=1, language="operations", kind=kind, text=text or kind, values=values, symptom="op-fails")


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        (line("takes-all-memory"), "tf-preallocates-all-memory"),
        (line("tensor-too-large"), "gpu-oom-model-or-data"),
        (line("cudnn-too-old", loaded="7201", compiled="7004"), "cudnn-version-mismatch"),
        (line("cublas-mixed"), "cublas-version-mismatch"),
        (line("gemv-failed", "Blas xGEMV launch failed : m=4000000, n=1"), "cublas-bug-cuda-11-2"),
        (line("gpu-not-registered"), "tf-no-gpu-registered"),
        (line("one-instance"), "mig-single-instance-limit"),
        (line("ptx-too-new"), "driver-too-old-for-ptx"),
        (line("not-in-this-build", has="120"), "gpu-too-new-for-build"),
        (line("not-in-this-build", has="35"), "gpu-compute-capability-too-old"),
        (line("handle-without-memory"), "gpu-memory-handle-alloc"),
        (line("no-memory-for-a-context"), "gpu-memory-held-by-other-process"),
        (line("ptxas-lacking"), "ptxas-missing"),
    ],
)
def test_a_line_that_decides(event: TextEvent, cause: str) -> None:
    facts = with_(Facts(), text=Text(lines=1, left_out=None, events=(event,)))
    facts = with_(facts, tensorflow__build__cuda=True)
    assert outcome(facts, cause) == "found"
    assert outcome(with_(facts, text__events=()), cause) == "unknown"
