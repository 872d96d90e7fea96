"""A program that runs: what it has mapped, where it may run, and on which GPUs it works (`gpudoctor check --pid`)."""

from __future__ import annotations

import os

import pytest

from tests.building import put
from tests.provoked.case import Build, Case, prove
from tests.provoked.scene import Scene

CUDNN = "nvidia/cudnn/lib/libcudnn.so.9"


def _holds(machine: Scene, path: str) -> None:
    machine.start(f"import ctypes; ctypes.CDLL({path!r})")


def upgraded(machine: Scene) -> None:
    """As pip does it: another file in the place of the one that the process has mapped."""
    own = machine.site / CUDNN
    _holds(machine, str(own))
    machine.do(f"cp '{own}' '{own}.new'; mv '{own}.new' '{own}'")


def another_came_first(machine: Scene) -> None:
    put(machine.workshop.stub("libcudnn.so.9"), machine.place / "torch/lib", "libcudnn.so.9")
    _holds(machine, f"{machine.place}/torch/lib/libcudnn.so.9")


def started_anew(machine: Scene) -> None:
    """With TensorFlow's own library first."""
    _holds(machine, str(machine.site / CUDNN))


def on_one_gpu(machine: Scene) -> None:
    pid = machine.start("")
    machine.gpu(0, pid=pid, busy=91)
    machine.gpu(1, pid=pid, busy=0)


def spread(machine: Scene) -> None:
    machine.gpu(1, busy=90)


def far_away(machine: Scene) -> None:
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        pytest.skip("there is one processor only")
    machine.do(f"for one in /sys/bus/pci/devices/*; do echo {processors[1]} > $one/local_cpulist; done")
    machine.start(f"import os; os.sched_setaffinity(0, [{processors[0]}])")


CASES = (
    Case("process-holds-replaced-library", "a process whose mapped libcudnn.so.9 is replaced on disk", upgraded, persons_part=started_anew),
    Case("cuda-lib-preloaded-by-other-package", "a process that loaded another libcudnn.so.9 first", another_came_first, persons_part=started_anew),
    Case("single-gpu-silently", "a process to which NVML gives memory of two GPUs, one of them busy", on_one_gpu, persons_part=spread),
    Case("numa-misplaced", "a process bound to a processor, GPUs next to another one", far_away, left=("cpu-affinity-narrow",)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)
