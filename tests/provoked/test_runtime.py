"""What a TensorFlow that lists GPUs lacks at work: parts of cuDNN, libdevice, ptxas. The framework is a stand-in that looks for
the real files in the real places, and fails in TensorFlow's words where they are not there; all else is real."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.provoked.bench import Bench, Case, Maker, prove
from tests.provoked.environments import LISTS_TWO

START = """
import os, shlex, shutil, sys
__version__ = "2.21.0"
SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FLAGS = dict(f.partition("=")[::2] for f in shlex.split(os.environ.get("XLA_FLAGS", "")))
TOLD = FLAGS.get("--xla_gpu_cuda_data_dir")
"""
WORK = """
config.experimental.enable_tensor_float_32_execution = config.experimental.set_memory_growth = lambda *told: None
config.set_visible_devices = staticmethod(lambda *told: None)
class InternalError(Exception): pass
def __getattr__(name):
    if not name.startswith("_") and (why := lacks()): raise InternalError(why)
    raise AttributeError(name)
"""
LIBDEVICE = """
def lacks():
    places = [p for p in (TOLD, %s) if p]
    if not any(os.path.exists(p + "/nvvm/libdevice/libdevice.10.bc") for p in places):
        return "libdevice not found at ./libdevice.10.bc"
"""
PTXAS = """
def lacks():
    places = ([TOLD + "/bin/ptxas"] if TOLD else []) + [shutil.which("ptxas", path=os.environ["PATH"].split(":")[0]), SITE + "/nvidia/cuda_nvcc/bin/ptxas"]
    ptxas = next((p for p in places if p and os.access(p, os.F_OK)), None)
    if ptxas is None: return "No PTX compilation provider is available"
    if os.path.getsize(ptxas) < 20: return "ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'"
"""
PARTS = """
def lacks():
    if not os.path.exists(SITE + "/nvidia/cudnn/lib/libcudnn_cnn.so.9"):
        return "Could not load library libcudnn_cnn.so.9. Error: libcudnn_cnn.so.9: cannot open shared object file"
"""


def _working(bench: Bench, looks: str) -> None:
    (bench.site / "tensorflow/__init__.py").write_text(START + LISTS_TWO + looks + WORK)
    numpy = Path(str(importlib.util.find_spec("numpy").origin)).parent  # type: ignore[union-attr]
    for one in ("numpy", "numpy.libs"):
        if (numpy.parent / one).exists():
            (bench.site / one).symlink_to(numpy.parent / one)
    bench.level = ("--level", "standard")


def _nvcc(bench: Bench) -> None:
    files = {
        "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc": "BC",
        "nvidia/cuda_nvcc/bin/ptxas": "one that knows sm_90a",
    }
    bench.house.add("nvidia-cuda-nvcc-cu12", "12.5.82", files)


def libdevice_not_installed(bench: Bench) -> None:
    _nvcc(bench)
    _working(bench, LIBDEVICE % 'SITE + "/nvidia/cuda_nvcc"')


def libdevice_not_seen(bench: Bench) -> None:
    """The wheel is there, and this XLA looks elsewhere."""
    _nvcc(bench)
    bench.place.pip("install", "nvidia-cuda-nvcc-cu12")
    _working(bench, LIBDEVICE % '"/usr/local/cuda"')


def no_ptxas(bench: Bench) -> None:
    _nvcc(bench)
    _working(bench, PTXAS)


def old_ptxas(bench: Bench) -> None:
    no_ptxas(bench)
    (bench.tmp / "bin").mkdir()
    Path(bench.tmp, "bin/ptxas").write_text("#!/bin/false\n")
    Path(bench.tmp, "bin/ptxas").chmod(0o755)
    bench.path = str(bench.tmp / "bin")


def part_of_cudnn_gone(bench: Bench) -> None:
    stub = {name: bench.workshop.stub(name).read_bytes() for name in ("libcudnn.so.9", "libcudnn_cnn.so.9")}
    for version in ("9.10.2.21", "9.14.0.64"):
        bench.house.add("nvidia-cudnn-cu12", version, {f"nvidia/cudnn/lib/{n}": data for n, data in stub.items()})
    bench.place.pip("install", "--force-reinstall", "--no-deps", "nvidia-cudnn-cu12==9.10.2.21")
    (bench.site / "nvidia/cudnn/lib/libcudnn_cnn.so.9").unlink()
    _working(bench, PARTS)


CASES = (
    Case("libdevice-missing", "a stand-in for TensorFlow that finds no libdevice, no wheel of nvcc", libdevice_not_installed, name="wheel"),
    Case("libdevice-missing", "the same with the wheel, where it does not look", libdevice_not_seen, name="flag"),
    Case("ptxas-missing", "a stand-in for TensorFlow that finds no ptxas", no_ptxas),
    Case("ptxas-too-old", "the same with an old ptxas first on PATH", old_ptxas),
    Case("cudnn-incomplete-install", "a stand-in for TensorFlow that loads libcudnn_cnn.so.9, which was deleted", part_of_cudnn_gone),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_cause_is_first_and_its_fix_cures_it(case: Case, make: Maker) -> None:
    prove(case, make)
