"""CUDA's libraries of the examined environment: where they lie, and which one a process gets."""

import ctypes
import glob
import os
import re
import sys
from typing import Any, List, Tuple

from .cuda import Absent
from .loaded import mapped_file


def library_files(soname: str, package: str) -> List[str]:
    """Files of a library, in the order in which TensorFlow's loader would come to them: LD_LIBRARY_PATH, the wheels on this
    interpreter's path (`package` is the directory in nvidia/; from CUDA 13 on all share one), toolkits in /usr/local."""
    pattern = soname + ".[0-9]*"
    found: List[str] = []
    for directory in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")):
        found += sorted(glob.glob(os.path.join(glob.escape(directory), pattern))) if directory else []
    for entry in sys.path:
        for inside in (package, "cu[0-9]*"):
            found += sorted(glob.glob(os.path.join(glob.escape(entry or "."), "nvidia", inside, "lib", pattern)))
    found += sorted(glob.glob("/usr/local/cuda*/lib64/" + pattern))
    kept: Any = {}
    for path in found:
        if os.path.isfile(path):
            kept.setdefault(os.path.realpath(path), os.path.abspath(path))
    return list(kept.values())


def open_library(soname: str, package: str, wheel: str) -> Tuple[Any, str]:
    """The first of `library_files` that can be loaded, else what the system's loader has under its name; and its file.

    Raises Absent, with the wheel that brings it.
    """
    why = "there is no %s here" % soname
    for path in [*library_files(soname, package), *system_names(soname)]:
        try:
            return ctypes.CDLL(path, ctypes.RTLD_GLOBAL), mapped_file(soname) or path
        except OSError as e:
            why = str(e)
    raise Absent("%s; pip install %s brings it" % (why, wheel))


def system_names(soname: str) -> List[str]:
    """Names under which the system's loader is asked, the newest first."""
    return ["%s.%d" % (soname, major) for major in (13, 12, 11, 10, 2)]
