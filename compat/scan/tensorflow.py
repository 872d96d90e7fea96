"""The Build record of a TensorFlow wheel."""

from __future__ import annotations

import ast
import posixpath
import re
from typing import Any

from gpudoctor.compat.records import Build, BuildObject, Matrix
from gpudoctor.loader import elf

from . import loader_code, metadata, objects, reach
from .code import Code
from .wheel import BadWheel, Data, Wheel

_PACKAGE = re.compile(r"tensorflow(_core)?/")
_MAIN = re.compile(r"libtensorflow_(framework|cc)\.so(\.\d+)?$")
_VENDOR = re.compile(r"lib(cuda|cu[a-z]+|nccl|nvinfer\w*)(Lt)?\.so")

_LINKED = "the DT_NEEDED of its objects (it has no loader of this kind; it may open more by other means)"


class _Found:
    """What the shared objects told."""

    def __init__(self) -> None:
        self.code = Code()
        self.objects: list[BuildObject] = []
        self.loaders: list[tuple[str, elf.Elf]] = []
        self.asked: dict[str, tuple[tuple[str, ...], tuple[str, ...]] | None] = {}
        self.linked: list[tuple[str, elf.Elf]] = []
        """Objects that are linked with CUDA libraries: before 1.14 there was no loader."""


def build(wheel: Wheel, matrix: Matrix) -> Build:
    """The record of this wheel. Raises BadWheel."""
    found = _Found()
    for name in wheel.shared_objects():
        _read_object(wheel, name, found)
    info = build_info(wheel)
    extra = metadata.of_extra(wheel, "and-cuda")
    is_cuda = info.get("is_cuda_build", True if found.code.total else None)
    holder, first, later, learnt = (
        _opened(wheel, found) if is_cuda and wheel.platform != "windows-x86_64" else (None, (), (), "")
    )
    lost: tuple[str, ...] = ()
    if holder is not None and extra is not None:
        loader = reach.Loader(holder[0], holder[1].rpath, holder[1].runpath)
        lost = reach.out_of_reach(loader, first, extra, matrix.libraries, matrix.library_wheels)
    capabilities = tuple(info.get("cuda_compute_capabilities") or ())
    return Build(
        source=_source(wheel, learnt, found.code),
        confidence="inferred" if learnt == _LINKED else "certain",
        distribution=wheel.distribution,
        version=wheel.version,
        platform=wheel.platform,
        glibc=wheel.glibc,
        requires_python=metadata.requires_python(wheel),
        requires=metadata.limits(wheel),
        redirects=metadata.redirects(wheel),
        extra=extra,
        is_cuda=is_cuda,
        cuda=_version(info, "cuda_version", "cuda_version_number", first, "libcudart"),
        cudnn=_version(info, "cudnn_version", "cudnn_version_number", first, "libcudnn"),
        compute_capabilities=capabilities,
        complete=found.code.complete(),
        partial=found.code.partial(),
        kernels=found.code.kernels(),
        minimum_compute_capability=minimum_compute_capability(capabilities, found.code) if is_cuda else None,
        sonames=first,
        optional_sonames=later,
        objects=tuple(found.objects),
        out_of_reach=lost,
    )


def build_info(wheel: Wheel) -> dict[str, Any]:
    """build_info.py, read as text: since 2.3 a dictionary, before single names; empty where it is of another form."""
    name = next((n for n in wheel.names if re.fullmatch(r"tensorflow(_core)?/python/platform/build_info\.py", n)), None)
    if name is None:
        return {}
    found: dict[str, Any] = {}
    try:
        for node in ast.parse(wheel.text(name)).body:
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                continue
            key, value = node.targets[0].id, node.value
            if key == "build_info" and isinstance(value, ast.Call) and value.args:
                value = value.args[0]
            try:
                literal = ast.literal_eval(value)
            except ValueError:
                continue
            found.update(dict(literal) if key == "build_info" else {key: literal})
    except (SyntaxError, ValueError, TypeError):
        return {}
    return found


def minimum_compute_capability(listed: tuple[str, ...], code: Code) -> str | None:
    """The lowest that TensorFlow accepts.

    tensorflow/core/common_runtime/gpu/gpu_device.cc ignores a GPU below the least of the capabilities that it was
    built with, 'sm_' and 'compute_' alike. build_info.py lists these since 2.3; for older wheels it is the least
    architecture that the fat binaries hold. NCCL's and other libraries' code does not count where the list is there.
    """
    numbers = [m[1] for one in listed if (m := re.fullmatch(r"(?:sm_|compute_)?(\d+\.?\d)[a-z]?", one))]
    lowest = min((int(n.replace(".", "")) for n in numbers), default=None)
    if lowest is None:
        lowest = min([*code.machine_code, *code.ptx], default=None)
    return f"{lowest // 10}.{lowest % 10}" if lowest is not None else None


def _read_object(wheel: Wheel, name: str, found: _Found) -> None:
    with wheel.unpacked(name) as (path, data):
        if wheel.platform == "windows-x86_64":
            found.code.add(data)  # DLLs: their code is read, not what they open
            return
        dynamic = objects.dynamic(path, data, name)
        if dynamic is None:
            return
        found.code.add(data)
        directories = objects.site_directories(dynamic, name)
        loader = data.find(b"DsoLoader") >= 0 and _holds_loader(data, name, found)
        if loader:
            found.loaders.append((name, dynamic))
        if any(_VENDOR.match(n) for n in dynamic.needed):
            found.linked.append((name, dynamic))
        if loader or directories or (_MAIN.search(name) and _PACKAGE.match(name)):
            found.objects.append(BuildObject(name=_PACKAGE.sub("", name, 1), loader=loader, runpath=directories))


def _holds_loader(data: Data, name: str, found: _Found) -> bool:
    """Whether it defines the functions of DsoLoader; what they ask for is kept."""
    image = objects.Image(data)
    if not any(re.search(r"9DsoLoader\d+Get\w+DsoHandleEv$", s) for s in image.loader_symbols):
        return False
    found.asked[name] = loader_code.sonames(image)
    return True


def _opened(wheel: Wheel, found: _Found) -> tuple[tuple[str, elf.Elf] | None, tuple[str, ...], tuple[str, ...], str]:
    """The object that opens the libraries, what it opens first and later, and how that was learnt.

    Where two objects hold the loader, libtensorflow_framework is loaded first and its functions are bound.
    """
    if found.loaders:
        holder = min(found.loaders, key=lambda o: ("libtensorflow_framework" not in o[0], o[0]))
        asked = found.asked[holder[0]]
        if asked is None:
            raise BadWheel(f"{wheel.path}: the loader's code in {holder[0]} is of a form that is not known here")
        return holder, *asked, f"the machine code of the loader in {posixpath.basename(holder[0])}"
    needed = dict.fromkeys(n for _, o in found.linked for n in o.needed if _VENDOR.match(n) and "libcuda.so" not in n)
    if not needed:
        raise BadWheel(f"{wheel.path}: built for CUDA, and no object holds a loader or is linked with CUDA libraries")
    return None, tuple(sorted(needed)), (), _LINKED


def _version(info: dict[str, Any], new: str, old: str, sonames: tuple[str, ...], stem: str) -> str | None:
    """As build_info.py says; before it did, the version in the soname of the library."""
    said = info.get(new) or info.get(old)
    by_name = next((s.partition(".so.")[2] for s in sonames if s.startswith(stem + ".so.")), None)
    if said and by_name is not None and by_name.startswith(f"{said}."):
        return by_name  # build_info.py of 2.0 to 2.2 says '10', and the library's name '10.1'
    return _of_windows(str(said)) if said else by_name


def _of_windows(said: str) -> str:
    """'64_112', the end of a DLL's name, is 11.2; '64_8' is 8."""
    found = re.fullmatch(r"64_(\d+)", said)
    if found is None:
        return said
    number = found[1]
    return f"{number[:-1]}.{number[-1]}" if len(number) > 2 else number


def _source(wheel: Wheel, learnt: str, code: Code) -> str:
    tag = f"manylinux, {wheel.platform.partition('-')[2]}" if wheel.glibc else wheel.platform
    parts = [
        "METADATA",
        "build_info.py",
        *(["dynamic sections"] if wheel.platform != "windows-x86_64" else []),
        "fat binaries",
    ]
    text = f"wheel {wheel.distribution} {wheel.version} ({tag}): {', '.join(parts)}"
    if learnt:
        text += f"; sonames from {learnt}"
    if code.unread:
        text += f"; the beginning of {code.unread} PTX modules could not be read"
    return text
