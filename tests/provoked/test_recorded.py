"""What takes real hardware: hosts that were recorded, with one thing changed, judged again as `gpudoctor replay` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from gpudoctor import bundle
from gpudoctor.diagnosis import judge
from gpudoctor.facts import ClockReason, Facts, KernelEvent, Load, LogEvent, Measurement, TensorFlow, Unread, Variable
from tests.factory import with_, with_gpu
from tests.figures import native, step
from tests.provoked.proof import RECORDED, Proof

HOSTS = Path(__file__).parent.parent / "hosts"


@dataclass(frozen=True)
class Recorded(Proof):
    change: Callable[[Facts], Facts]
    host: str = "h200-x4-healthy-full"
    is_first: bool = True
    kind: ClassVar[str] = RECORDED

    def __str__(self) -> str:
        return self.cause


def measured(of: Callable[[Measurement], bool], **new: object) -> Callable[[Facts], Facts]:
    """The measurements of this kind say something else."""

    def change(facts: Facts) -> Facts:
        assert any(of(m) for m in facts.measurements)
        ones = tuple(msgspec.structs.replace(m, **new) if of(m) else m for m in facts.measurements)
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
    failed = measured(_on_the_second, value=Unread(why="CUDA_ERROR_ILLEGAL_ADDRESS"), verified=None)(facts)
    return with_(failed, system__kernel_log_during=(event,))


def without_machine_code(facts: Facts) -> Facts:
    text = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0."
    return says(facts, LogEvent(kind="no-machine-code", text=text, values={"capability": "12.0"}))


def says(facts: Facts, event: LogEvent) -> Facts:
    """TensorFlow logs one line more."""
    events = facts.tensorflow.events
    assert isinstance(events, tuple)
    return with_(facts, tensorflow__events=(*events, event))


def few_multiprocessors(facts: Facts) -> Facts:
    values = {"name": "NVIDIA GT 1030", "count": "3", "minimum": "8", "device": "0"}
    text = "Ignoring visible gpu device (device: 0, name: NVIDIA GT 1030) with core count: 3. The minimum required count is 8."
    seen = says(facts, LogEvent(kind="few-multiprocessors", text=text, values=values))
    devices = facts.tensorflow.devices
    assert isinstance(devices, tuple)
    return with_(seen, tensorflow__devices=tuple(d for d in devices if d.type != "GPU"), measurements=())


def no_handle(facts: Facts) -> Facts:
    event = LogEvent(kind="handle-failed", text="Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED")
    failed = measured(
        lambda one: one.kernel == "convolution" and one.device == "GPU:1",
        value=Unread(why="No DNN in stream executor"),
        verified=None,
    )
    return failed(says(facts, event))


def slow_link(facts: Facts) -> Facts:
    devices = facts.gpu.devices
    assert isinstance(devices, tuple)
    slow = msgspec.structs.replace(devices[1], pcie_generation=1, utilisation_gpu_percent=90)
    return with_(facts, gpu__devices=(devices[0], slow, *devices[2:]))


def older_driver(facts: Facts) -> Facts:
    """It was looked at without running TensorFlow, under a driver of another branch."""
    unread = Unread(why="TensorFlow is not imported at the quick level")
    seen = with_(facts, tensorflow__events=unread, tensorflow__devices=unread, measurements=())
    return with_(
        seen,
        driver__kernel_version="535.161.08",
        gpu__driver_version="535.161.08",
        driver__libcuda__version="535.161.08",
    )


def rejected(facts: Facts) -> Facts:
    return measured(_on_the_second, value=Unread(why="CUDA_ERROR_INVALID_PTX"), verified=None)(
        without_machine_code(facts)
    )


def _without_tensorflow(facts: Facts) -> Facts:
    absent = Unread(why="TensorFlow is not installed")
    nothing = TensorFlow(directory=None, stray=(), import_error=absent, devices=absent)
    return with_(msgspec.structs.replace(facts, tensorflow=nothing), python__distributions=())


def newer_python(facts: Facts) -> Facts:
    return with_(_without_tensorflow(facts), python__version="3.15.0")


def of_32_bits(facts: Facts) -> Facts:
    return with_(_without_tensorflow(facts), python__bits=32)


def at_work(facts: Facts, *, second: float, **load: object) -> Facts:
    """The second GPU multiplies in FP16 at this part of the others' rate, and NVML saw this meanwhile."""
    devices = facts.driver.libcuda.devices
    assert isinstance(devices, tuple)
    seen = Load(seconds=0.2, samples=40, clock_sm_mhz=900, power_w=350.0, **load)  # type: ignore[arg-type]
    ones = tuple(
        Measurement(
            kernel="matmul-float16",
            backend="native",
            device=f"GPU:{i}",
            pci_addresses=(d.pci_address,),  # type: ignore[arg-type]
            device_name="NVIDIA H200",
            dtype="float16",
            size=(8192, 8192, 8192),
            unit="TFLOP/s",
            value=700.0 * (second if i == 1 else 1.0),
            samples=(700.0 * (second if i == 1 else 1.0),) * 3,
            spread=0.0,
            verified=True,
            load=seen if i == 1 else None,
        )
        for i, d in enumerate(devices)
    )
    return with_(facts, measurements=(*facts.measurements, *ones))


def lowered(facts: Facts) -> Facts:
    held = at_work(facts, second=0.5, clock_reasons=(ClockReason(name="sw-power-cap", share=1.0),))
    return with_gpu(held, 1, power_limit_w=350.0)


def busy(facts: Facts) -> Facts:
    return with_gpu(at_work(facts, second=0.5), 1, utilisation_gpu_percent=99, clock_event_reasons=())


def slow_pair(facts: Facts) -> Facts:
    """Copies between each two of the GPUs; one is at half of the rate."""
    devices = facts.driver.libcuda.devices
    assert isinstance(devices, tuple)
    ones = tuple(
        Measurement(
            kernel="copy-pair",
            backend="native",
            device=f"GPU:{i},GPU:{k}",
            pci_addresses=(one.pci_address, other.pci_address),  # type: ignore[arg-type]
            device_name="NVIDIA H200",
            dtype="bytes",
            size=(1 << 28,),
            unit="GB/s",
            value=197.0 if (i, k) == (2, 1) else 394.0,
            samples=(197.0,) * 3 if (i, k) == (2, 1) else (394.0,) * 3,
            spread=0.0,
            verified=True,
        )
        for i, one in enumerate(devices)
        for k, other in enumerate(devices)
        if i != k
    )
    return with_(facts, measurements=(*facts.measurements, *ones))


def crawling(way: str, *forced: Variable) -> Callable[[Facts], Facts]:
    """Copies between the GPUs run over NVLink; an all-reduce does not keep up."""

    def change(facts: Facts) -> Facts:
        devices = facts.driver.libcuda.devices
        assert isinstance(devices, tuple)
        variables = facts.environment.variables
        assert isinstance(variables, tuple)
        everyone = tuple(d.pci_address for d in devices)
        all_of_them = ",".join(f"GPU:{i}" for i in range(len(devices)))
        one = native("all-reduce", "GPU:0,GPU:1", size=(32 << 20,), value=26.3, samples=(26.3,) * 3, transport=(way,))
        one = msgspec.structs.replace(one, device=all_of_them, pci_addresses=everyone)
        facts = with_(slow_pair(facts), environment__variables=(*variables, *forced))
        ones = tuple(
            msgspec.structs.replace(m, value=394.0, samples=(394.0,) * 3) if m.kernel == "copy-pair" else m
            for m in facts.measurements
        )
        return with_(facts, measurements=(*ones, one))

    return change


def trains(*rates: float) -> Callable[[Facts], Facts]:
    """TensorFlow's training step was measured on one GPU and on two, and in mixed precision on one."""

    def change(facts: Facts) -> Facts:
        mixed = step(1, rates[2], kernel="training-step-mixed")
        return with_(facts, measurements=(*facts.measurements, step(1, rates[0]), step(2, rates[1]), mixed))

    return change


def no_tensor_cores(facts: Facts) -> Facts:
    """TensorFlow's products in float16 are as slow as those in float32, and without TensorFlow they are fast."""
    native = at_work(facts, second=1.0)
    return measured(lambda m: m.in_tensorflow and m.kernel == "matmul-float16", value=52.0)(native)


def few_processors(facts: Facts) -> Facts:
    return with_(trains(1000.0, 1400.0, 1600.0)(facts), system__cores_usable=2)


CASES = (
    Recorded("nccl-tuning-forced", "NCCL_PROTO=LL is set, and a native all-reduce reaches a fifteenth of the copies", crawling("P2P/CUMEM", Variable(name="NCCL_PROTO", value="LL"))),
    Recorded("nccl-p2p-disabled-by-env", "NCCL_P2P_DISABLE=1 is set, and NCCL's log of a native all-reduce shows SHM", crawling("SHM/direct/direct", Variable(name="NCCL_P2P_DISABLE", value="1"))),
    Recorded("p2p-not-used", "NCCL's log of a native all-reduce shows SHM between GPUs with NVLinks", crawling("SHM/direct/direct")),
    Recorded("scaling-below-expected", "two GPUs train 1.4 times as fast as one, with two processors", few_processors, is_first=False),
    Recorded("mixed-precision-no-gain", "one GPU trains no faster in mixed precision", trains(1000.0, 1900.0, 1010.0)),
    Recorded("tensor-cores-idle", "TensorFlow multiplies float16 as slowly as float32, and the GPUs do better without it", no_tensor_cores),
    Recorded("gpu-wrong-result", "the products of one GPU are wrong", measured(_on_the_second, verified=False, error=0.3)),
    Recorded("gpu-outlier", "one of four GPUs multiplies at 0.6 of its rate", slower),
    Recorded("gpu-power-limit-lowered", "one of four GPUs multiplies at half of the others' rate, at its power limit, which is half of the default", lowered),
    Recorded("gpu-busy-with-other-work", "one of four GPUs is at 99% before it is measured, and multiplies at half of the others' rate", busy),
    Recorded("gpu-pair-slow", "of twelve pairs of GPUs one copies at half of the others' rate", slow_pair),
    Recorded("measurement-impossible", "a copy to one GPU is faster than its link", measured(lambda one: one.kernel == "host-to-device" and one.device == "GPU:1", value=587.0)),
    Recorded("xid13-31-43-app-or-gpu-fault", "a kernel fails on one GPU, and Xid 31 is in the log of that time", xid31),
    Recorded("jit-cold-start", "TensorFlow says that it has no machine code for the GPUs", without_machine_code, is_first=False),
    Recorded("gpu-too-new-for-build", "the same, and CUDA rejects the PTX", rejected),
    Recorded("gpu-ignored-few-sms", "TensorFlow says that it ignores a GPU of 3 multiprocessors", few_multiprocessors),
    Recorded("gpu-memory-handle-alloc", "TensorFlow says that it can't create cuDNN's handle", no_handle),
    Recorded("pcie-link-degraded", "the link of one GPU is of generation 1 while it works", slow_link),
    Recorded("driver-too-old-for-ptx", "the driver is of release 535, and TensorFlow was not run", older_driver, "h200-x2-tf-2.21-plain", is_first=False),
    Recorded("python-version-unsupported", "Python is 3.15, and TensorFlow is not installed", newer_python, "h200-x2-healthy"),
    Recorded("python-32bit", "Python has 32 bits, and TensorFlow is not installed", of_32_bits, "h200-x2-healthy"),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_thing_makes_the_difference(case: Recorded) -> None:
    facts, _, _ = bundle.read((HOSTS / f"{case.host}.json").read_bytes())
    assert case.cause not in {f.cause for f in judge(facts).findings}
    judged = judge(case.change(facts))
    assert case.cause in {f.cause for f in judged.findings}
    if case.is_first:
        assert judged.diagnosis.root_causes[0].cause == case.cause
