"""NCCL at work. A stand-in takes the place of TensorFlow and NCCL: its all-reduce makes files in the real /dev/shm as NCCL does and fails in
NCCL's words where they do not fit, and its sums are wrong where the IOMMU translates what GPUs write to each other."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.provoked.case import Build, Case, prove
from tests.provoked.environments import LISTS_TWO
from tests.provoked.proof import STAND_INS_SPEED
from tests.provoked.scene import Scene

ALL_REDUCE = """
import contextlib, os
def nothing(*told, **more): pass
config.experimental.enable_tensor_float_32_execution = config.experimental.set_memory_growth = nothing
config.set_visible_devices = staticmethod(nothing)
class InternalError(Exception): pass

DIRECT = os.environ.get("NCCL_P2P_DISABLE", "0") == "0"
SEGMENT = 9637888
def connect():
    names = ["/dev/shm/nccl-%d-%d" % (os.getpid(), n) for n in range(4)]
    try:
        for name in names:
            with open(name, "wb") as f: os.posix_fallocate(f.fileno(), 0, SEGMENT)
    except OSError as e:
        raise InternalError("NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details). Last error: Error while "
                            "creating shared memory segment (size %d), %s" % (SEGMENT, e.strerror))
    finally:
        for name in names:
            with contextlib.suppress(OSError): os.unlink(name)
def translated():
    with contextlib.suppress(OSError), open("/sys/kernel/iommu_groups/7/type") as f: return f.read().strip() == "DMA"

class Tensor:
    def __init__(self, *parts, cuts=()): self.parts, self.cuts = parts, cuts
    def __getitem__(self, which): return Tensor(*(p[which] for p in self.parts), cuts=(*self.cuts, which))
    def numpy(self): return sum(self.parts[1:], self.parts[0])
class Context:
    replica_id_in_sync_group = 0
    def all_reduce(self, operation, mine):
        parts = self.all
        for which in mine.cuts: parts = [p[which] for p in parts]
        return Tensor(*parts, *(parts[:1] if DIRECT and translated() else []))
class MirroredStrategy:
    def __init__(self, names):
        self.count, self.extended = len(names), types.SimpleNamespace(_get_cross_device_ops=lambda values: self)
        if not DIRECT or os.environ.get("FAKE_CUDA_P2P") == "none": connect()
    def experimental_distribute_values_from_function(self, value):
        return [value(types.SimpleNamespace(replica_id_in_sync_group=i)) for i in range(self.count)]
    def run(self, replica, args):
        Context.all = [v.parts[0] for v in args[0]]
        return list(zip(*(replica(v) for v in args[0])))
    def experimental_local_results(self, results): return results
class Function:
    def __init__(self, run): self.run = run
    def __call__(self, *told): return self.run(*told)
distribute = types.SimpleNamespace(
    MirroredStrategy=MirroredStrategy, get_replica_context=Context, ReduceOp=types.SimpleNamespace(SUM="SUM"))
compat = types.SimpleNamespace(v1=types.SimpleNamespace(
    get_default_graph=lambda: types.SimpleNamespace(get_operations=list)))
autograph = types.SimpleNamespace(experimental=types.SimpleNamespace(do_not_convert=lambda f: f))
def function(run, autograph): return Function(run)
def device(name): return contextlib.nullcontext()
def constant(data): return Tensor(data)
def identity(x): return x
"""


def _reduces(machine: Scene) -> None:
    start = '__version__ = "2.21.0"\n'
    (machine.site / "tensorflow/__init__.py").write_text(start + LISTS_TWO + ALL_REDUCE)
    numpy = Path(str(importlib.util.find_spec("numpy").origin)).parent  # type: ignore[union-attr]
    for one in ("numpy", "numpy.libs"):
        if (numpy.parent / one).exists():
            (machine.site / one).symlink_to(numpy.parent / one)


def little_shared_memory(machine: Scene) -> None:
    _reduces(machine)
    machine.env["FAKE_CUDA_P2P"] = "none"
    machine.do("mount -o remount,size=1m /dev/shm")


def translated(machine: Scene) -> None:
    """The GPUs reach each other over PCIe alone, and are in a group whose addresses the IOMMU translates."""
    _reduces(machine)
    machine.env["FAKE_CUDA_P2P"] = "pcie"
    machine.do("mount -t tmpfs scene /sys/kernel/iommu_groups; mkdir /sys/kernel/iommu_groups/7")
    machine.put("/sys/kernel/iommu_groups/7/type", "DMA\n")
    machine.do("for one in /sys/bus/pci/devices/*; do ln -s /sys/kernel/iommu_groups/7 $one/iommu_group; done")


CASES = (
    Case("nccl-shm-too-small", "/dev/shm of 1 MiB, and GPUs that don't reach each other; a stand-in for NCCL makes its files there", little_shared_memory, level="standard", left=STAND_INS_SPEED),
    Case("nccl-p2p-iommu-acs", "an IOMMU group of type DMA, GPUs that reach each other over PCIe; a stand-in whose sums are wrong there", translated, level="standard", left=("nccl-p2p-disabled-by-env", *STAND_INS_SPEED)),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)
