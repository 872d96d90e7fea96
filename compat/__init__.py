"""Questions put to the knowledge in compat/*.json. Every record has a source; what is not there is unknown.

The files are read on the first question, not on import.
"""

from __future__ import annotations

import functools
from pathlib import Path

import msgspec

_DIRECTORY = Path(__file__).parent


class CudaResult(msgspec.Struct, frozen=True, kw_only=True):
    """A CUresult of the driver API."""

    code: int
    name: str
    meaning: str
    source: str


class CudaMajor(msgspec.Struct, frozen=True, kw_only=True):
    """A CUDA major version and the oldest driver for it (minor-version compatibility)."""

    cuda: int
    linux: str
    windows: str | None
    source: str


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """A CUDA library and the wheel that carries it; `{major}` is the CUDA major version, 11 or 12."""

    stem: str
    wheel: str
    directory: str
    source: str


class TensorFlowRelease(msgspec.Struct, frozen=True, kw_only=True):
    """A TensorFlow release: the sonames that its loader needs before it registers a GPU."""

    version: str
    sonames: tuple[str, ...]
    source: str


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """compat/matrix.json."""

    schema_version: int
    cuda_results: tuple[CudaResult, ...]
    cuda_majors: tuple[CudaMajor, ...]
    libraries: tuple[Library, ...]
    tensorflow: tuple[TensorFlowRelease, ...]


@functools.cache
def matrix() -> Matrix:
    """The whole of compat/matrix.json."""
    return msgspec.json.decode((_DIRECTORY / "matrix.json").read_bytes(), type=Matrix)


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


def loader_sonames(tensorflow_version: str) -> tuple[str, ...] | None:
    """The sonames that this release's loader needs; None: not known here."""
    found = next((r for r in matrix().tensorflow if r.version == tensorflow_version), None)
    return found.sonames if found is not None else None
