"""This interpreter, and what is installed in it."""

import importlib.machinery
import json
import os
import platform
import re
import struct
import sys
from typing import Any, Dict, List, Optional, Pattern, Tuple

from .core import answer, list_directory, read_text

_DISTRIBUTION = re.compile(r"^(?P<name>.+?)-(?P<version>\d[^-]*)(-py\d.*)?\.(?P<form>dist-info|egg-info)$")
_DEVELOPED = re.compile(r"^(?P<name>[^-]+)\.(?P<form>egg-info|egg-link)$")
_KEY_FILES = ("tensorflow/__init__.py", "tensorflow/python/platform/build_info.py")
_RECORD_BYTES = 16 << 20
_MOST_TOLD = 64


def python(wanted: str, family: str, conda: str) -> None:
    """This interpreter; the installed distributions whose normalised name matches `wanted`, with the shared
    libraries of those that match `family`; the conda packages that match `conda`."""
    distributions = _distributions(re.compile(wanted), re.compile(family))
    owners = _owners(distributions)
    answer(
        "python",
        {
            "version": platform.python_version(),
            "implementation": platform.python_implementation(),
            "executable": sys.executable,
            "prefix": sys.prefix,
            "base_prefix": getattr(sys, "base_prefix", sys.prefix),
            "conda": os.path.isdir(os.path.join(sys.prefix, "conda-meta")),
            "bits": struct.calcsize("P") * 8,
            "machine": platform.machine(),
            "libc": " ".join(platform.libc_ver()).strip() or None,
            "glibc": _glibc(),
            "extension_suffix": importlib.machinery.EXTENSION_SUFFIXES[0],
            "path": [os.path.abspath(p or ".") for p in sys.path],
            "isolated": bool(sys.flags.isolated),
            "user_site": getattr(sys.modules.get("site"), "ENABLE_USER_SITE", None),
            "pip": any(os.path.isfile(os.path.join(p or ".", "pip", "__init__.py")) for p in sys.path),
            "marked": os.path.isfile(os.path.join(os.path.dirname(os.__file__), "EXTERNALLY-MANAGED")),
            "pyvenv": read_text(os.path.join(sys.prefix, "pyvenv.cfg"), 4096).get("text"),
            "modules": {name: _modules_called(name) for name in ("tensorflow", "keras", "numpy", "nvidia")},
            "distributions": [{k: v for k, v in d.items() if k != "record"} for d in distributions],
            "overlaps": _overlaps(owners),
            "damaged": _damaged(owners),
            "conda_packages": _conda_names(re.compile(conda)),
        },
    )


def _glibc() -> Optional[str]:
    """The version of the glibc in this process; None: another C library."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").split(" ")[-1] or None
    except (ValueError, OSError):
        return None


def _modules_called(name: str) -> List[Dict[str, str]]:
    """What `import name` finds along sys.path, in that order, without importing it."""
    found = []
    for entry in sys.path:
        base = os.path.join(os.path.abspath(entry or "."), name)
        suffixes = [".py", *importlib.machinery.EXTENSION_SUFFIXES]
        inits = [i for i in (os.path.join(base, "__init__" + s) for s in suffixes) if os.path.isfile(i)]
        files = [base + s for s in suffixes if os.path.isfile(base + s)]
        if inits:
            found.append({"path": base, "form": "package"})
        elif files:
            found.append({"path": files[0], "form": "module"})
        elif os.path.isdir(base):
            found.append({"path": base, "form": "namespace"})
    return found


def _conda_names(wanted: Pattern[str]) -> List[List[str]]:
    """[name, version, build] of conda's packages: its files are called so."""
    names = list_directory(os.path.join(sys.prefix, "conda-meta"))
    parts = [n[: -len(".json")].rsplit("-", 2) for n in names if n.endswith(".json")] if isinstance(names, list) else []
    return [p for p in parts if len(p) == 3 and wanted.match(p[0])]


# ----------------------------------------------------------------------------- distributions


def _distributions(wanted: Pattern[str], family: Pattern[str]) -> List[Dict[str, Any]]:
    found: List[Dict[str, Any]] = []
    seen = set()
    for entry in sys.path:
        location = os.path.abspath(entry or ".")
        names = list_directory(location)
        for name in names if isinstance(names, list) else []:
            match = _DISTRIBUTION.match(name) or _DEVELOPED.match(name)
            if not match:
                continue
            normal = re.sub(r"[-_.]+", "-", match.group("name")).lower()
            if not wanted.match(normal):
                continue
            info = os.path.join(location, name)
            one = _distribution(info, match)
            one.update(
                {
                    "name": normal,
                    "location": location,
                    "real_location": os.path.realpath(location),
                    "shadowed": normal in seen,
                    "record": [],
                    "files": [],
                    "tags": [],
                }
            )
            if family.match(normal):
                one["record"] = _record(info)
                one["files"] = [[os.path.join(location, p), s] for p, s in one["record"] if p not in _KEY_FILES]
                wheel = read_text(os.path.join(info, "WHEEL"), 1 << 16).get("text", "")
                one["tags"] = re.findall(r"^Tag: (\S+)\s*$", wheel, re.MULTILINE)
            found.append(one)
            seen.add(normal)
    return found


def _distribution(info: str, match: Any) -> Dict[str, Any]:
    """What the metadata at `info` say: version, form, who installed it, from where, if it is edited in place."""
    form, editable = match.group("form"), None
    if "version" in match.groupdict():
        version = match.group("version")
    elif form == "egg-link":
        editable = (read_text(info, 4096).get("text", "").splitlines() or [""])[0].strip() or None
        version = _metadata_version(os.path.join(editable or "/", match.group("name") + ".egg-info", "PKG-INFO"))
    else:
        version = _metadata_version(os.path.join(info, "PKG-INFO"))
    try:
        origin = json.loads(read_text(os.path.join(info, "direct_url.json"), 1 << 16).get("text", "{}"))
        if origin.get("dir_info", {}).get("editable"):
            editable = str(origin.get("url", ""))
    except (ValueError, AttributeError):
        pass
    installer = read_text(os.path.join(info, "INSTALLER"), 256).get("text", "").strip() or None
    return {"version": version, "form": form, "editable": editable, "installer": installer}


def _metadata_version(path: str) -> Optional[str]:
    match = re.search(r"^Version: (\S+)", read_text(path, 1 << 16).get("text", ""), re.MULTILINE)
    return match.group(1) if match else None


def _record(info: str) -> List[Tuple[str, Optional[int]]]:
    """(path, size) of the shared libraries and the key files that a RECORD lists."""
    found: List[Tuple[str, Optional[int]]] = []
    for line in read_text(os.path.join(info, "RECORD"), _RECORD_BYTES).get("text", "").split("\n"):
        if ".so" not in line and "__init__.py" not in line and "build_info.py" not in line:
            continue
        fields = line.strip().rsplit(",", 2)
        if len(fields) == 3 and (".so" in os.path.basename(fields[0]) or fields[0] in _KEY_FILES):
            found.append((os.path.normpath(fields[0].strip('"')), int(fields[2]) if fields[2].isdigit() else None))
    return found


_Owners = Dict[str, List[Tuple[Dict[str, Any], Optional[int]]]]


def _owners(distributions: List[Dict[str, Any]]) -> _Owners:
    """Real path -> the distributions whose RECORD lists it, with the size that is written there."""
    owners: _Owners = {}
    seen = set()
    for one in distributions:
        who = (one["name"], one["version"], one["real_location"])
        if who in seen:  # the same directory is on the path twice
            continue
        seen.add(who)
        for path, size in one["record"]:
            owners.setdefault(os.path.join(one["real_location"], path), []).append((one, size))
    return owners


def _size(path: str) -> Optional[int]:
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _overlaps(owners: _Owners) -> List[Dict[str, Any]]:
    """Files that several distributions list, by these distributions."""
    groups: Dict[Tuple[Tuple[str, str], ...], List[Dict[str, Any]]] = {}
    for path, lists in owners.items():
        if len(lists) > 1:
            who = tuple((d["name"], d["version"]) for d, _ in lists)
            groups.setdefault(who, []).append({"path": path, "size": None, "recorded": [s for _, s in lists]})
    told = []
    for who, files in groups.items():
        for one in files[:_MOST_TOLD]:
            one["size"] = _size(one["path"])
        told.append({"owners": who, "count": len(files), "files": files[:_MOST_TOLD]})
    return told


def _damaged(owners: _Owners) -> List[Dict[str, Any]]:
    """Files that one distribution lists, and that are not there or of another size."""
    told = []
    for path, lists in owners.items():
        if len(lists) == 1:
            (one, recorded), size = lists[0], _size(path)
            if size is None or (recorded is not None and recorded != size):
                told.append({"path": path, "owner": [one["name"], one["version"]], "size": size, "recorded": recorded})
    return told[:_MOST_TOLD]
