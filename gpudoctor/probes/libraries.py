"""Files of the CUDA libraries on this machine: what they are, which package owns them."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import Any

from ..facts import CachedLibrary, Libraries, LibraryFile, Toolkit, Unread, unread_all
from .ask import Answers, Task, reason

STEMS = (
    "libcuda",
    "libcudart",
    "libcublas",
    "libcublasLt",
    "libcudnn",
    "libcudnn_adv",
    "libcudnn_cnn",
    "libcudnn_engines_precompiled",
    "libcudnn_engines_runtime_compiled",
    "libcudnn_graph",
    "libcudnn_heuristic",
    "libcudnn_ops",
    "libcufft",
    "libcupti",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libnccl",
    "libnvJitLink",
    "libnvinfer",
    "libnvidia-ml",
    "libnvrtc",
)
DIRECTORIES = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)
TASK: Task = ("libraries.libraries", {"stems": list(STEMS), "directories": list(DIRECTORIES)})

_VERSION = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")
_COMPONENTS = {
    "libcudart": "cuda_cudart",
    "libcublas": "libcublas",
    "libcublasLt": "libcublas",
    "libcufft": "libcufft",
    "libcupti": "cuda_cupti",
    "libcurand": "libcurand",
    "libcusolver": "libcusolver",
    "libcusparse": "libcusparse",
    "libnvJitLink": "libnvjitlink",
    "libnvrtc": "cuda_nvrtc",
}
"""Stem -> component in a toolkit's version.json."""
_MACHINES = {"x86_64": (64, 62), "aarch64": (64, 183), "i686": (32, 3)}
"""platform.machine() -> ELF class and e_machine."""


def read(answers: Answers) -> Libraries:
    """Every file, in the order of the search; the same file behind several links is listed once a name."""
    got: dict[str, Any] | None = answers.last("libraries")
    if got is None:
        return unread_all(Libraries, answers.unread(TASK[0]))
    python = answers.last("python") or {"distributions": [], "machine": None}
    owners: dict[str, list[tuple[str, int | None]]] = defaultdict(list)
    for d in python["distributions"]:
        for path, size in d["files"]:
            place = os.path.join(d["real_location"], os.path.relpath(path, d["location"]))
            if (entry := (f"{d['name']} {d['version']}", size)) not in owners[place]:
                owners[place].append(entry)
    files, seen = [], set()
    for raw in got["files"]:
        if (raw["name"], raw["real"]) in seen:
            continue
        seen.add((raw["name"], raw["real"]))
        files.append(_file(raw, got, owners, python["machine"]))
    return Libraries(
        files=tuple(files), cache=_cache(got["cache"]), toolkits=tuple(_toolkit(t, got) for t in got["toolkits"])
    )


def _file(
    raw: dict[str, Any], got: dict[str, Any], owners: dict[str, list[tuple[str, int | None]]], machine: str | None
) -> LibraryFile:
    elf = got["objects"][raw["real"]]
    lists = owners.get(raw["place"]) or owners.get(raw["real"]) or []
    owner = _owner(lists, elf["size"])
    package = got["packages"].get(raw["real"])
    return LibraryFile(
        name=raw["name"],
        path=raw["path"],
        kind=raw["kind"],
        real=raw["real"],
        owner=owner,
        package=package,
        soname=elf["soname"] if elf["flaw"] is None else Unread(why=elf["flaw"]),
        version=_version(raw, got, owner, package),
        size_bytes=Unread(why="it could not be looked at") if elf["size"] is None else elf["size"],
        flaw=elf["flaw"],
        other_processor=_other_processor(elf, machine),
    )


def _owner(lists: list[tuple[str, int | None]], size: int | None) -> str | Unread | None:
    """The distribution that lists a file; of several, the one that wrote down its size."""
    if len(lists) > 1:
        fitting = [name for name, recorded in lists if recorded is not None and recorded == size]
        if len(fitting) != 1:
            return Unread(why=f"several distributions list it: {', '.join(name for name, _ in lists)}")
        return fitting[0]
    return lists[0][0] if lists else None


def _other_processor(elf: dict[str, Any], machine: str | None) -> str | Unread | None:
    wanted = _MACHINES.get(machine or "")
    if wanted is None or elf["machine"] is None:
        return Unread(why="the file or the interpreter does not say what processor it is for")
    if (elf["bits"], elf["machine"]) == wanted:
        return None
    return f"{elf['bits']} bits, ELF machine {elf['machine']}"


def _version(
    raw: dict[str, Any], got: dict[str, Any], owner: str | Unread | None, package: str | None
) -> str | Unread | None:
    if match := _VERSION.search(os.path.basename(raw["real"])):
        return match.group(1)
    if isinstance(owner, Unread):
        return owner
    if owner is not None:
        return owner.split(" ")[1]
    if package is not None:
        return re.sub(r"^\d+:|-[^-]*$", "", package.split(" ")[2])
    stem = raw["name"].split(".so")[0]
    if stem.startswith("libcudnn"):
        header: str | None = got["headers"].get(os.path.dirname(raw["path"]))
        return header
    for toolkit in got["toolkits"]:
        if raw["real"].startswith(toolkit["real"] + "/"):
            component: str | None = toolkit["components"].get(_COMPONENTS.get(stem))
            return component
    return None


def _cache(raw: dict[str, Any]) -> tuple[CachedLibrary, ...] | Unread | None:
    if "libraries" in raw:
        return tuple(CachedLibrary(soname=soname, path=path) for soname, path in raw["libraries"])
    if "form" in raw:
        return Unread(why=f"/etc/ld.so.cache: {raw['form']}", settle="ldconfig -p")
    return None if raw["errno"] == 2 else Unread(why=f"/etc/ld.so.cache: {reason(raw['errno'])}", settle="ldconfig -p")


def _toolkit(raw: dict[str, Any], got: dict[str, Any]) -> Toolkit:
    text = re.search(r"CUDA Version (\d[\d.]*)", raw["text"])
    version = raw["components"].get("cuda") or (text.group(1) if text else _of_runtime(raw["real"], got["files"]))
    by = raw["by"]
    return Toolkit(path=raw["path"], real=raw["real"], named_by=None if by == "files" else by, version=version)


def _of_runtime(toolkit: str, files: list[dict[str, Any]]) -> str | None:
    """'13.0' of a toolkit whose runtime library is libcudart.so.13.0.96."""
    mine = (f["real"] for f in files if f["name"].startswith("libcudart.so") and f["real"].startswith(toolkit + "/"))
    versions = [match.group(1) for real in mine if (match := _VERSION.search(real))]
    return ".".join(versions[0].split(".")[:2]) if versions else None
