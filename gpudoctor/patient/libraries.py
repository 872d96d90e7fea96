"""Files of the CUDA family: where they lie, what they are, what the dynamic loader's cache knows, toolkits."""

import glob
import json
import os
import platform
import re
import struct
import sys
from typing import Any, Dict, List, Pattern, Tuple

from .core import answer, list_directory, read_bytes, read_text
from .elf import read_elf

_MOST_FILES = 2000
_TOOLKITS = ("/usr/local/cuda*", "/opt/cuda*", "/usr/lib/cuda")
_IN_TOOLKIT = (
    "lib64", "lib", "targets/*/lib", "lib64/stubs", "targets/*/lib/stubs", "compat", "extras/CUPTI/lib64",
)  # fmt: skip
_IN_PREFIX = ("lib", "targets/*/lib")
_IN_SITE = ("nvidia/*/lib", "nvidia/*/lib64", "tensorrt_libs", "tensorrt_lean_libs", "tensorrt_dispatch_libs")


def libraries(stems: List[str], directories: List[str], root: str = "") -> None:
    """Files whose stem is one of `stems`, in wheels, LD_LIBRARY_PATH, toolkits, `directories` (patterns), the
    interpreter's prefix, the loader's cache and LD_PRELOAD; `root` is put before what is absolute and fixed."""
    wanted = re.compile(r"^(%s)\.so(\.[\d.]+)?$" % "|".join(re.escape(s) for s in stems))
    cache = _loader_cache(root + "/etc/ld.so.cache", wanted)
    toolkits = _toolkits(root)
    files: List[Dict[str, Any]] = []
    seen = set()
    for directory, kind in _places(directories, toolkits, cache, root):
        directory = os.path.abspath(directory)
        names = list_directory(directory)
        if directory in seen or isinstance(names, int):
            continue
        seen.add(directory)
        place = os.path.realpath(directory)
        for name in names:
            path = os.path.join(directory, name)
            if len(files) < _MOST_FILES and wanted.match(name) and os.path.isfile(path):
                # a link that leads nowhere is no library
                real = os.path.realpath(path)
                files.append(
                    {"name": name, "path": path, "place": os.path.join(place, name), "real": real, "kind": kind}
                )
    for path in re.split(r"[:\s]+", os.environ.get("LD_PRELOAD", "")):
        if wanted.match(os.path.basename(path)) and os.path.isfile(path):
            real = os.path.realpath(path)
            name = os.path.basename(path)
            files.append({"name": name, "path": path, "place": real, "real": real, "kind": "preload"})
    answer(
        "libraries",
        {
            "files": files,
            "objects": {f["real"]: _object_facts(f["real"]) for f in files},
            "cache": cache,
            "toolkits": toolkits,
            "headers": _cudnn_headers({os.path.dirname(f["path"]) for f in files if "cudnn" in f["name"]}, root),
            "packages": _packages(files, root),
        },
    )


def _places(
    directories: List[str], toolkits: List[Dict[str, Any]], cache: Dict[str, Any], root: str
) -> List[Tuple[str, str]]:
    """(directory, kind), in the order in which they are told."""
    where = []
    for entry in sys.path:
        for inside in _IN_SITE:
            where += [(d, "wheel") for d in _matching(entry or ".", inside)]
    where += [(d, "variable") for d in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if d]
    for toolkit in toolkits:
        for inside in _IN_TOOLKIT:
            where += [(d, "toolkit") for d in _matching(toolkit["path"], inside)]
    if os.environ.get("CUDNN_PATH"):
        where += [(os.path.join(os.environ["CUDNN_PATH"], inside), "toolkit") for inside in ("lib", "lib64")]
    for directory in directories:
        where += [(d, "system") for d in sorted(glob.glob(glob.escape(root) + directory))]
    for prefix in (sys.prefix, os.environ.get("CONDA_PREFIX", "")):
        for inside in _IN_PREFIX if prefix else ():
            where += [(d, "environment") for d in _matching(prefix, inside)]
    where += [(os.path.dirname(path), "cache") for _, path in cache.get("libraries", [])]
    return where


def _matching(base: str, inside: str) -> List[str]:
    return sorted(glob.glob(os.path.join(glob.escape(base), inside)))


def _object_facts(path: str) -> Dict[str, Any]:
    elf = read_elf(path)
    try:
        size = os.stat(path).st_size
    except OSError:
        size = None
    return {"size": size, **{k: elf[k] for k in ("soname", "bits", "machine", "flaw", "cut_short")}}


# ----------------------------------------------------------------------------- the dynamic loader's cache

_CACHE_START = b"glibc-ld.so.cache1.1"
_CACHE_HEADER, _CACHE_ENTRY = 48, struct.Struct("=iIIIQ")
_CACHE_KINDS = {"x86_64": 0x0303, "aarch64": 0x0A03}
_CACHE_BYTES = 16 << 20


def _loader_cache(path: str, wanted: Pattern[str]) -> Dict[str, Any]:
    """Of /etc/ld.so.cache: {"libraries": [[soname, path], …]} that are `wanted`, in its order; or {"errno": n};
    or {"form": …} where it is of another form. Source: glibc, sysdeps/generic/dl-cache.h."""
    try:
        data = read_bytes(path, _CACHE_BYTES)
    except OSError as e:
        return {"errno": e.errno}
    start = data.find(_CACHE_START)
    if start < 0:
        return {"form": "not of the format that glibc 2.2 and newer write"}
    data = data[start:]
    kind = _CACHE_KINDS.get(platform.machine())
    found = []
    try:
        (count,) = struct.unpack_from("=I", data, len(_CACHE_START))
        for index in range(count):
            flags, key, value, _, _ = _CACHE_ENTRY.unpack_from(data, _CACHE_HEADER + _CACHE_ENTRY.size * index)
            if kind not in (None, flags):
                continue
            soname = data[key : data.index(b"\0", key)].decode("utf-8", "replace")
            if wanted.match(soname):
                found.append([soname, os.fsdecode(data[value : data.index(b"\0", value)])])
    except (struct.error, ValueError):
        return {"form": "damaged"}
    return {"libraries": found}


# ----------------------------------------------------------------------------- toolkits


def _toolkits(root: str) -> List[Dict[str, Any]]:
    """CUDA toolkits in their usual places and where variables name one: path, real path, what their files say."""
    places = [(p, "files") for pattern in _TOOLKITS for p in sorted(glob.glob(glob.escape(root) + pattern))]
    places += [(os.environ[v], v) for v in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT") if os.environ.get(v)]
    found, seen = [], set()
    for path, by in places:
        path = os.path.abspath(path)
        if path in seen or not os.path.isdir(path):
            continue
        seen.add(path)
        components = _version_json(os.path.join(path, "version.json"))
        text = read_text(os.path.join(path, "version.txt"), 4096).get("text", "")
        if components or text or os.path.isdir(os.path.join(path, "lib64")) or _matching(path, "targets/*/lib"):
            found.append(
                {"path": path, "real": os.path.realpath(path), "by": by, "components": components, "text": text}
            )
    return found


def _version_json(path: str) -> Dict[str, str]:
    """{component: version} of a toolkit's version.json; empty where there is none or it is of another form."""
    try:
        read = json.loads(read_text(path).get("text", "{}"))
        return {str(k): str(v["version"]) for k, v in read.items() if isinstance(v, dict) and "version" in v}
    except (ValueError, AttributeError):
        return {}


def _cudnn_headers(directories: Any, root: str) -> Dict[str, str]:
    """Directory of a libcudnn -> the version in the cudnn_version.h that belongs to it."""
    found = {}
    for directory in sorted(directories):
        above = os.path.dirname(directory)
        includes = [os.path.join(above, "include"), os.path.join(above, "include", os.path.basename(directory))]
        if above == root + "/usr/lib":
            includes += [root + "/usr/include", root + "/usr/include/" + os.path.basename(directory)]
        for include in includes:
            text = read_text(os.path.join(include, "cudnn_version.h"), 1 << 16).get("text", "")
            numbers = [re.search(r"#define CUDNN_%s\s+(\d+)" % n, text) for n in ("MAJOR", "MINOR", "PATCHLEVEL")]
            if all(numbers):
                found[directory] = ".".join(n.group(1) for n in numbers if n)
                break
    return found


# ----------------------------------------------------------------------------- packages of conda and dpkg

_OF_THE_FAMILY = re.compile(r"^(lib)?(cuda|cudnn|cu[a-z]+|nccl|nv|npp|tensorrt|tensorflow)")
_LARGE = re.compile(r"nsight|samples|-doc|documentation|source")
_LIST_BYTES = 4 << 20


def _packages(files: List[Dict[str, Any]], root: str) -> Dict[str, str]:
    """Real path of a file -> the conda or dpkg package that lists it: 'dpkg libcudnn9-cuda-12 9.14.0.64-1'."""
    owned: Dict[str, str] = {}
    outside = [f for f in files if f["kind"] != "wheel"]
    if not outside:
        return owned
    for prefix in sorted({sys.prefix, os.environ.get("CONDA_PREFIX") or sys.prefix}):
        _conda_packages(prefix, outside, owned)
    _dpkg_packages(root + "/var/lib/dpkg", outside, owned, root)
    return owned


def _conda_packages(prefix: str, files: List[Dict[str, Any]], owned: Dict[str, str]) -> None:
    inside = os.path.realpath(prefix) + os.sep
    mine = {f["real"][len(inside) :]: f["real"] for f in files if f["real"].startswith(inside)}
    meta = os.path.join(prefix, "conda-meta")
    names = list_directory(meta)
    for name in names if mine and isinstance(names, list) else []:
        if not name.endswith(".json") or not _OF_THE_FAMILY.match(name):
            continue
        try:
            listed = json.loads(read_text(os.path.join(meta, name), _LIST_BYTES).get("text", ""))["files"]
        except (ValueError, KeyError, TypeError):
            continue
        for path in listed:
            if path in mine:
                owned[mine[path]] = "conda " + " ".join(name[: -len(".json")].rsplit("-", 2))


def _dpkg_packages(dpkg: str, files: List[Dict[str, Any]], owned: Dict[str, str], root: str) -> None:
    wanted = {}
    for f in files:
        for path in (f["real"], f["place"]):
            wanted[path[len(root) :] if root and path.startswith(root) else path] = f["real"]
    lists = list_directory(os.path.join(dpkg, "info"))
    status = None
    for name in lists if isinstance(lists, list) else []:
        if not name.endswith(".list") or not _OF_THE_FAMILY.match(name) or _LARGE.search(name):
            continue
        for path in read_text(os.path.join(dpkg, "info", name), _LIST_BYTES).get("text", "").split("\n"):
            real = wanted.get(path) or (wanted.get("/usr" + path) if path.startswith("/lib") else None)
            if real is None:
                continue
            if status is None:
                status = "\n" + read_text(os.path.join(dpkg, "status"), 32 << 20).get("text", "")
            package = name[: -len(".list")].split(":")[0]
            paragraph = status.partition("\nPackage: %s\n" % package)[2].partition("\n\n")[0]
            version = re.search(r"^Version: (\S+)$", paragraph, re.MULTILINE)
            owned[real] = "dpkg %s %s" % (package, version.group(1) if version else "?")
