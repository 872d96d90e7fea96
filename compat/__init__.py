"""Questions put to the knowledge in compat/*.json. Every record has a source; what is not there is unknown.

The files are read on the first question, not on import.
"""

from __future__ import annotations

from .files import gpus, matrix, xids
from .hardware import GpuAttributes, Peak, Peaks, fp32_rate, gpu_by_pci, gpu_models, near, peaks, tensor_rate, xid
from .records import Build, CudaMajor, CudaResult

__all__ = [
    "GpuAttributes",
    "Peak",
    "Peaks",
    "cuda_result",
    "fp32_rate",
    "gpu_by_pci",
    "gpu_models",
    "gpus",
    "loader_sonames",
    "matrix",
    "minimum_driver",
    "near",
    "peaks",
    "tensor_rate",
    "wheel_of",
    "xid",
    "xids",
]


def cuda_result(code: int) -> CudaResult | None:
    """The CUresult with this code; None: not known here."""
    return next((r for r in matrix().cuda_results if r.code == code), None)


def minimum_driver(cuda_version: str) -> CudaMajor | None:
    """The oldest driver for a CUDA version like '12.5.1'; None: not known here."""
    major = cuda_version.split(".")[0]
    return next((r for r in matrix().cuda_majors if str(r.cuda) == major), None)


def wheel_of(soname: str, cuda_major: str) -> str | None:
    """The distribution that carries `soname` for this CUDA major; None: not known here."""
    stem = soname.split(".so")[0]
    found = next((r for r in matrix().libraries if r.stem == stem), None)
    return found.wheel.replace("{major}", cuda_major) if found is not None and cuda_major in ("11", "12") else None


def build(version: str) -> Build | None:
    """What the wheel `tensorflow` of this version holds; None: not known here."""
    return next((r for r in matrix().builds if r.distribution == "tensorflow" and r.version == version), None)


def loader_sonames(tensorflow_version: str) -> tuple[str, ...] | None:
    """The sonames that this release's loader needs; None: not known here."""
    found = build(tensorflow_version)
    return found.sonames if found is not None else None
