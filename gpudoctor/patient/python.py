"""This interpreter, and what is installed in it."""

import glob
import os
import platform
import re
import struct
import sys
from typing import List

from .core import answer, list_directory, read_text

_DISTRIBUTION = re.compile(r"^(?P<name>.+?)-(?P<version>\d[^-]*)(-py\d.*)?\.(dist-info|egg-info)$")


def python(wanted: str) -> None:
    """This interpreter, and the installed distributions whose normalised name matches `wanted`."""
    pattern = re.compile(wanted)
    distributions, seen = [], set()
    for entry in sys.path:
        names = list_directory(entry or ".")
        if isinstance(names, int):
            continue
        for name in names:
            m = _DISTRIBUTION.match(name)
            if not m:
                continue
            normal = re.sub(r"[-_.]+", "-", m.group("name")).lower()
            if not pattern.match(normal):
                continue
            info = os.path.join(entry, name)
            distributions.append(
                {
                    "name": normal,
                    "version": m.group("version"),
                    "location": os.path.abspath(entry or "."),
                    "real_location": os.path.realpath(entry or "."),
                    "shadowed": normal in seen,
                    "files": _so_files(info, entry) if normal.startswith("nvidia-") else [],
                }
            )
            seen.add(normal)
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
            "path": [os.path.abspath(p or ".") for p in sys.path],
            "distributions": distributions,
        },
    )


def _so_files(info: str, entry: str) -> List[str]:
    """The shared libraries that a wheel's RECORD lists, as absolute paths."""
    text = read_text(os.path.join(info, "RECORD"), 4 << 20).get("text", "")
    paths = (line.split(",", 1)[0] for line in text.splitlines())
    return [os.path.normpath(os.path.join(entry, p)) for p in paths if ".so" in os.path.basename(p)]


def libraries(stems: List[str], directories: List[str]) -> None:
    """Files of the CUDA family: in wheels, toolkits, system directories, conda and LD_LIBRARY_PATH."""
    pattern = re.compile(r"^(%s)\.so(\.[\d.]+)?$" % "|".join(re.escape(s) for s in stems))
    where = []
    for entry in sys.path:
        where += [
            (d, "wheel") for d in sorted(glob.glob(os.path.join(glob.escape(entry or "."), "nvidia", "*", "lib")))
        ]
    where += [(d, "variable") for d in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if d]
    for directory in directories:
        where += [(d, "system") for d in sorted(glob.glob(directory))]
    for prefix in (sys.prefix, os.environ.get("CONDA_PREFIX", "")):
        if prefix:
            where.append((os.path.join(prefix, "lib"), "environment"))
    files, seen = [], set()
    for directory, kind in where:
        directory = os.path.abspath(directory)
        names = list_directory(directory)
        if directory in seen or isinstance(names, int):
            continue
        seen.add(directory)
        for name in names:
            path = os.path.join(directory, name)
            if pattern.match(name) and os.path.isfile(path):  # a link that leads nowhere is no library
                files.append({"name": name, "path": path, "real": os.path.realpath(path), "kind": kind})
    answer("libraries", {"files": files})
