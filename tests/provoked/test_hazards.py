"""Releases of TensorFlow on GPUs for which they are known to go wrong: a real environment, a libcuda whose GPUs are others."""

from __future__ import annotations

import pytest

from tests.provoked.bench import Bench, Case, Maker, prove
from tests.provoked.environments import tensorflow_wheel


def _cudnn(bench: Bench, version: str) -> None:
    stub = bench.workshop.stub("libcudnn.so.9").read_bytes()
    bench.house.add("nvidia-cudnn-cu12", version, {"nvidia/cudnn/lib/libcudnn.so.9": stub})


def volta(bench: Bench) -> None:
    """pip chose the newest cuDNN, which has no code for it."""
    _cudnn(bench, "9.12.0.46")
    bench.place.pip("install", "--upgrade", "nvidia-cudnn-cu12==9.12.0.46")
    bench.env["FAKE_CUDA_CAPABILITY"] = "7.0"


def blackwell(bench: Bench) -> None:
    """2.20 was built before it; what is compiled for it goes wrong."""
    tensorflow_wheel(bench.house, "2.20.0")
    bench.place.pip("install", "tensorflow==2.20.0")
    bench.env["FAKE_CUDA_CAPABILITY"] = "10.0"


def blackwell_and_xla(bench: Bench) -> None:
    bench.env["FAKE_CUDA_CAPABILITY"] = "12.0"


def nccl_of_cuda_13(bench: Bench) -> None:
    """As another package brings it, which needs CUDA 13; it has no code for Volta."""
    stub = bench.workshop.stub("libnccl.so.2").read_bytes()
    bench.house.add("nvidia-nccl-cu13", "2.32.3", {"nvidia/nccl/lib/libnccl.so.2": stub})
    bench.place.pip("uninstall", "-y", "nvidia-nccl-cu12")
    bench.place.pip("install", "nvidia-nccl-cu13==2.32.3")
    bench.env["FAKE_CUDA_CAPABILITY"] = "7.0"


CASES = (
    Case("nccl-too-old-for-gpu", "NCCL 2.32.3 for CUDA 13 under a libcuda whose GPUs have compute capability 7.0", nccl_of_cuda_13, advice=True),
    Case("cudnn-dropped-gpu", "cuDNN 9.12 under a libcuda whose GPUs have compute capability 7.0", volta),
    Case("gpu-too-new-for-build", "TensorFlow 2.20.0 under a libcuda whose GPUs have compute capability 10.0", blackwell, left=("known-hazard",)),
    Case("known-hazard", "TensorFlow 2.21.0 under a libcuda whose GPUs have compute capability 12.0", blackwell_and_xla, advice=True),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_cause_is_first_and_its_fix_cures_it(case: Case, make: Maker) -> None:
    prove(case, make)
