"""What takes real hardware: hosts that were recorded, with one thing changed, judged again as `gpudoctor replay` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from gpudoctor import api
from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, KernelEvent, LogEvent, Measurement
from tests.factory import with_

HOSTS = Path(__file__).parent.parent / "hosts"


@dataclass(frozen=True)
class Recorded:
    cause: str
    host: str
    change: Callable[[Facts], Facts]
    is_first: bool = True

    def __str__(self) -> str:
        return self.cause


def measured(of: Callable[[Measurement], bool], **new: object) -> Callable[[Facts], Facts]:
    """The measurements of this kind say something else."""

    def change(facts: Facts) -> Facts:
        assert any(of(m) for m in facts.measurements)
        ones = tuple(msgspec.structs.replace(m, **new) if of(m) else m for m in facts.measurements)  # type: ignore[arg-type]
        return with_(facts, measurements=ones)

    return change


def _on_the_second(one: Measurement) -> bool:
    return one.kernel == "matmul" and one.device == "GPU:1"


def slower(facts: Facts) -> Facts:
    (one,) = [m for m in facts.measurements if _on_the_second(m)]
    assert isinstance(one.value, float)
    return measured(_on_the_second, value=one.value * 0.6)(facts)


def xid31(facts: Facts) -> Facts:
    devices = facts.driver.libcuda.devices
    assert isinstance(devices, tuple)
    address = devices[1].pci_address
    event = KernelEvent(kind="xid", text=f"NVRM: Xid (PCI:{address}): 31, MMU Fault", xid=31, pci_address=address)  # type: ignore[arg-type]
    failed = measured(_on_the_second, value=0.0, failed="CUDA_ERROR_ILLEGAL_ADDRESS", verified=None)(facts)
    return with_(failed, system__kernel_log_during=(event,))


def without_machine_code(facts: Facts) -> Facts:
    events = facts.tensorflow.events
    assert isinstance(events, tuple)
    text = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0."
    event = LogEvent(kind="no-machine-code", text=text, values={"capability": "12.0"})
    return with_(facts, tensorflow__events=(*events, event))


def rejected(facts: Facts) -> Facts:
    return measured(_on_the_second, failed="CUDA_ERROR_INVALID_PTX", verified=None)(without_machine_code(facts))


CASES = (
    Recorded("gpu-wrong-result", "h200-x2-healthy", measured(_on_the_second, verified=False, error=0.3)),
    Recorded("gpu-outlier", "h200-x2-healthy", slower),
    Recorded("xid13-31-43-app-or-gpu-fault", "h200-x2-healthy", xid31),
    Recorded("jit-cold-start", "h200-x2-healthy", without_machine_code, is_first=False),
    Recorded("gpu-too-new-for-build", "h200-x2-healthy", rejected),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_thing_makes_the_difference(case: Recorded) -> None:
    facts = api.replay(HOSTS / f"{case.host}.json").facts
    assert case.cause not in {f.cause for f in judge(facts).findings}
    judged = judge(case.change(facts))
    assert case.cause in {f.cause for f in judged.findings}
    if case.is_first:
        assert judged.diagnosis.root_causes[0].cause == case.cause
