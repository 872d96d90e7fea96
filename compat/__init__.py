"""Questions put to the knowledge in compat/*.json. Every record has a source; what is not there is unknown.

The files are read on the first question, not on import.
"""

from __future__ import annotations

from .built_for import built_for
from .files import gpus, matrix, xids
from .hardware import (
    GpuAttributes,
    Peak,
    Peaks,
    ceilings,
    fp32_rate,
    gpu_by_pci,
    gpu_models,
    near,
    peaks,
    tensor_rate,
    xid,
)
from .records import Build, CudaMajor, CudaResult, Kernels, LibraryWheel, Package, Ptx, Release
from .rules import Gpu, Machine, minimum
from .solve import Answer, answer
from .versions import NotAVersion, admits, version

__all__ = [
    "Answer",
    "Gpu",
    "GpuAttributes",
    "Machine",
    "NotAVersion",
    "Peak",
    "Peaks",
    "admits",
    "answer",
    "build",
    "built_for",
    "built_with",
    "ceilings",
    "cuda_result",
    "floor",
    "fp32_rate",
    "gpu_by_pci",
    "gpu_models",
    "gpu_named",
    "gpus",
    "kernels_of",
    "library_wheels",
    "loader_sonames",
    "matrix",
    "minimum_driver",
    "near",
    "newest_patches",
    "package",
    "peaks",
    "releases",
    "releases_like",
    "tensor_rate",
    "version",
    "wheel_of",
    "xid",
    "xids",
]


def cuda_result(code: int) -> CudaResult | None:
    """The CUresult with this code; None: not known here."""
    return next((r for r in matrix().cuda_results if r.code == code), None)


def minimum_driver(cuda_version: str) -> CudaMajor | None:
    """The oldest driver for a CUDA version like '12.5.1', of 11 or newer; None: not known here."""
    major = cuda_version.split(".")[0]
    return next((r for r in matrix().cuda_majors if str(r.cuda) == major), None)


def floor(cuda_version: str) -> str | None:
    """The oldest Linux driver for a CUDA version, old ones too; None: not known here."""
    return minimum(cuda_version)[0]


def wheel_of(soname: str, cuda_major: str) -> str | None:
    """The distribution that carries `soname` for this CUDA major; None: not known here."""
    stem = soname.split(".so")[0]
    found = next((r for r in matrix().libraries if r.stem == stem), None)
    return found.wheel.replace("{major}", cuda_major) if found is not None and cuda_major in ("11", "12") else None


def build(release: str) -> Build | None:
    """What the Linux wheel of this release holds that computes on GPUs; None: it was not read."""
    found = [
        b for b in matrix().builds if b.version == release and b.platform == "linux-x86_64" and b.is_cuda is not False
    ]
    return min(found, key=lambda b: b.distribution != "tensorflow", default=None)


def loader_sonames(tensorflow_version: str) -> tuple[str, ...] | None:
    """The sonames that this release's loader needs; None: not known here."""
    found = build(tensorflow_version)
    return found.sonames if found is not None and found.sonames else None


def package(name: str) -> Package | None:
    """A distribution of TensorFlow by its name, as pip compares names; None: not known here."""
    wanted = name.lower().replace("_", "-")
    return next((p for p in matrix().packages if p.name == wanted), None)


def releases() -> tuple[Release, ...]:
    """Every release of TensorFlow that is known, newest first."""
    return tuple(sorted(matrix().releases, key=lambda r: version(r.version), reverse=True))


def newest_patches() -> tuple[Release, ...]:
    """The newest patch of every minor release, newest first."""
    chosen: dict[tuple[int, ...], Release] = {}
    for one in releases():
        chosen.setdefault(version(one.version).release[:2], one)
    return tuple(chosen.values())


def releases_like(text: str) -> list[Release]:
    """'2.17' -> 2.17.1 and 2.17.0; '2.17.0' -> that one. Newest first; nothing: not known here. Raises NotAVersion."""
    wanted = version(text)
    if wanted.is_prerelease or wanted.local or wanted.epoch:
        return [one for one in releases() if version(one.version) == wanted]
    exact = [one for one in releases() if version(one.version) == wanted and text.count(".") >= 2]
    return exact or [one for one in releases() if version(one.version).release[: len(wanted.release)] == wanted.release]


def gpu_named(text: str) -> Gpu:
    """A GPU by its name, PCI id or compute capability. Raises NotAVersion with what to write instead."""
    if text.isascii() and text.replace(".", "", 1).isdigit() and "." in text:
        return Gpu(name=f"a GPU of compute capability {text}", compute_capability=text)
    models = gpu_models(text)
    capabilities = {m.compute_capability for m in models}
    if not models:
        like = near(text)
        raise NotAVersion(
            f"no GPU {text!r} is known here"
            + (f" (near it: {', '.join(like)})" if like else "")
            + "; its compute capability will do, too: --gpu 9.0"
        )
    if len(capabilities) > 1:
        which = ", ".join(f"{m.name} ({m.compute_capability})" for m in models[:6])
        raise NotAVersion(f"{text!r} may mean several GPUs: {which}")
    return Gpu(name=text if len(models) > 1 else models[0].name, compute_capability=capabilities.pop())


def library_wheels(library: str) -> tuple[LibraryWheel, ...]:
    """The wheels of a library ('nccl') that were read, oldest first."""
    found = [w for w in matrix().library_wheels if w.distribution.startswith(f"nvidia-{library}-cu")]
    return tuple(sorted(found, key=lambda w: version(w.version)))


def kernels_of(wheel: LibraryWheel) -> tuple[Kernels, ...]:
    """The code of a library's wheel: each library of it that has any, as if all of its code lay side by side."""
    return tuple(
        Kernels(
            machine_code=tuple(one.machine_code),
            ptx=tuple(Ptx(isa="0", target=target.replace("compute_", "sm_")) for target in one.ptx),
            count=1,
        )
        for one in wheel.libraries
        if one.machine_code or one.ptx
    )


def built_with(build: Build, library: str) -> str | None:
    """The version of a library ('cudnn') that a wheel was built with: the oldest that its extra admits; None: not known."""
    name = next((n for n in build.extra or {} if n.startswith(f"nvidia-{library}-cu")), None)
    pins = (build.extra or {}).get(name or "", "").split(",")
    return next((p.removeprefix(sign) for p in pins for sign in ("==", ">=") if p.startswith(sign)), None)
