"""The GPUs themselves, as NVML, libcuda and the kernel's log tell of them; and machines that have none of NVIDIA's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.provoked.case import Build, Case, prove
from tests.provoked.scene import Scene
from tests.provoked.test_driver import UNLOADED, does


def is_like(gpu: int = 1, **state: int) -> Callable[[Scene], None]:
    return lambda machine: machine.gpu(gpu, **state)


def logged(*texts: str, **state: int) -> Callable[[Scene], None]:
    """Lines of the kernel's log about the second GPU, which does not answer."""

    def do(machine: Scene) -> None:
        machine.put("/dev/kmsg", "".join(f"4,{n},{n}000000,-;{text}\n" for n, text in enumerate(texts, 1)))
        machine.gpu(1, **state)

    return do


def without_gpus(vendor: str | None) -> Callable[[Scene], None]:
    def do(machine: Scene) -> None:
        machine.do(
            f"{UNLOADED}; rm -rf /sys/bus/pci/devices/* /proc/driver/fake /usr/lib/*-linux-gnu/libcuda.so.*; ldconfig"
        )
        machine.pci("0000:00:02.0", "0x8086", "0x7d55", "0x030000", "i915")
        if vendor is not None:
            machine.pci("0000:03:00.0", vendor, "0x744c", "0x030000", "amdgpu")

    return do


def all_old(machine: Scene) -> None:
    for gpu in (0, 1):
        machine.gpu(gpu, capability_major=3)


RESET = {"nvml_answer": 999}
CASES = (
    Case("xid79-fell-off-bus", "Xid 79 in the kernel's log; NVML answers 15",
         logged("NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.", nvml_answer=15)),
    Case("gpu-needs-reset", "NVML answers 16", is_like(nvml_answer=16)),
    Case("xid119-gsp-timeout", "Xid 119 in the kernel's log; NVML answers 999",
         logged("NVRM: Xid (PCI:0000:02:00): 119, pid=1, Timeout after 6s of waiting for RPC", **RESET)),
    Case("xid-hardware-fault", "Xid 62 in the kernel's log; NVML answers 999",
         logged("NVRM: Xid (PCI:0000:02:00): 62, Internal micro-controller halt", **RESET)),
    Case("driver-rminit-failed", "RmInitAdapter in the kernel's log; NVML answers 999",
         logged("NVRM: GPU 0000:02:00.0: RmInitAdapter failed! (0x62:0xffff:2477)", **RESET)),
    Case("ecc-uncorrectable-error", "NVML counts uncorrected errors", is_like(ecc_uncorrected=2)),
    Case("ecc-uncorrectable-error", "NVML says that a row could not be replaced", is_like(rows_failed=1)),
    Case("gpu-memory-repair-pending", "NVML says that a row waits to be replaced", is_like(rows_pending=1)),
    Case("gpu-memory-repair-pending", "NVML says that pages wait to be retired", is_like(pages_pending=1)),
    Case("gpu-throttling-thermal", "NVML's reasons of the clock, at 97 degrees", is_like(clock_reasons=0x40, celsius=97)),
    Case("gpu-throttling-power", "NVML's reasons of the clock", is_like(clock_reasons=0x80)),
    Case("mig-enabled-no-instance", "MIG mode without an instance", is_like(mig_mode=1, mig_instances=0)),
    Case("compute-mode-prohibited", "compute mode 'prohibited'", is_like(compute_mode=2)),
    Case(
        "vgpu-unlicensed", "a virtual GPU without a licence",
        is_like(virtualization=2),
        persons_part=does("mkdir -p /etc/nvidia/ClientConfigToken", ": > /etc/nvidia/ClientConfigToken/x.tok"),
    ),
    Case("nvlink-down", "all links of a GPU are down", is_like(links_down=18), only_look=(0,)),
    Case("nvlink-degraded", "three links of a GPU are down", is_like(links_down=3), only_look=(0,)),
    Case("pcie-link-degraded", "a busy GPU whose link stays at generation 1", is_like(busy=90, generation=1), persons_part=is_like(generation=4)),
    Case("no-nvidia-gpu", "a PCI bus with Intel's GPU alone", without_gpus(None)),
    Case("amd-gpu", "a PCI bus with AMD's GPU", without_gpus("0x1002")),
    Case("gpu-compute-capability-too-old", "a libcuda whose GPUs have compute capability 3", all_old),
    Case("gpu-left-out-beside-another", "a libcuda of which one GPU has compute capability 3", is_like(capability_major=3), is_note=True),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)


@pytest.fixture
def process() -> Iterator[Callable[[], int]]:
    """A process that holds a GPU: the driver's lists name it, and it can be ended."""
    started: list[subprocess.Popen[bytes]] = []

    def one() -> int:
        started.append(subprocess.Popen(["sleep", "300"]))
        return started[-1].pid

    yield one
    for process in started:
        process.kill()
        process.wait()


BUSY = (
    Case(
        "gpu-memory-held-by-other-process",
        "a live process to which NVML gives nearly all memory",
        is_like(memory_used_mib=125000),
    ),
    Case("gpu-exclusive-busy", "a live process on a GPU of compute mode 'exclusive'", is_like(compute_mode=3)),
)


@pytest.mark.parametrize("case", BUSY, ids=str)
def test_another_process(case: Case, build: Build, process: Callable[[], int]) -> None:
    def do(machine: Scene) -> None:
        machine.gpu(1, pid=process())
        case.do(machine)

    prove(Case(case.cause, case.how, do), build)
