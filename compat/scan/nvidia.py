"""The LibraryWheel record of an nvidia-* wheel."""

from __future__ import annotations

import posixpath
from collections import Counter

from gpudoctor.compat.records import LibraryWheel, Matrix, WheelLibrary

from . import metadata, objects
from .code import Code
from .wheel import Wheel


def library_wheel(wheel: Wheel, matrix: Matrix) -> LibraryWheel:
    """The record of this wheel: of its libraries those with GPU code and those that TensorFlow opens."""
    stems = {library.stem for library in matrix.libraries}
    found = [one for name in wheel.shared_objects() if (one := _library(wheel, name, stems)) is not None]
    return LibraryWheel(
        source=f"wheel {wheel.distribution} {wheel.version} ({wheel.platform}): METADATA, dynamic sections, fat binaries",
        distribution=wheel.distribution,
        version=wheel.version,
        platform=wheel.platform,
        requires=tuple(sorted(metadata.written(r) for r in metadata.requirements(wheel))),
        libraries=tuple(found),
    )


def _library(wheel: Wheel, name: str, stems: set[str]) -> WheelLibrary | None:
    with wheel.unpacked(name) as (path, data):
        dynamic = objects.dynamic(path, data, name)
        if dynamic is None:
            return None
        code = Code()
        soname = dynamic.soname or posixpath.basename(name)
        if not code.add(data, headers=False) and soname.split(".so")[0] not in stems:
            return None
        return WheelLibrary(
            soname=soname,
            path=name,
            needs=objects.needs(dynamic),
            runpath=objects.paths(dynamic),
            machine_code=_counts("sm", code.machine_code),
            ptx=_counts("compute", code.ptx),
        )


def _counts(prefix: str, counts: Counter[int]) -> dict[str, int]:
    return {f"{prefix}_{arch}": counts[arch] for arch in sorted(counts)}
