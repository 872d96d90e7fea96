"""TensorFlow's kernels in forked children, one child a device; forked after the import, before any device is touched."""

import ctypes
import os
import re
from typing import Any, Dict, List, Optional

from .core import answer
from .kernels import ALONE, KERNELS, LIBRARY, ON_HOST, TOGETHER, orders_of, prepare
from .loaded import mapped_paths, nccl_release
from .team import Do, Team

_OURS_OF_ALL = re.compile(
    r"^(?:_?pywrap_tensorflow|libtensorflow|libcuda|libcudart|libcublas|libcudnn|libcufft|libcurand|libcusolver|libcusparse"
    r"|libcupti|libnccl|libnvrtc|libnvJitLink|libnvidia|libnvinfer|libnvToolsExt)"
)


def mapped() -> List[str]:
    """The shared objects of CUDA, the driver and TensorFlow that this process has mapped."""
    return [path for path in mapped_paths() if _OURS_OF_ALL.match(os.path.basename(path))]


def _library(kernel: str) -> Optional[Dict[str, Any]]:
    """The file that does this kernel's work, and its own answer for its version; None: no such file is mapped."""
    stem = LIBRARY.get(kernel) or LIBRARY.get(kernel.partition("-")[0])
    paths = [p for p in mapped() if stem and re.match(r"lib%s\.so" % stem, os.path.basename(p))]
    return {"path": paths[0], "version": _version(stem or "", paths[0])} if paths else None


def _version(stem: str, path: str) -> Optional[str]:
    try:
        library = ctypes.CDLL(path)
        if stem == "cudnn":
            library.cudnnGetVersion.restype = ctypes.c_size_t
            number = library.cudnnGetVersion()
            base = 10000 if number >= 90000 else 1000
            return "%d.%d.%d" % (number // base, number % base // 100, number % 100)
        number = ctypes.c_int()
        if stem == "nccl":
            library.ncclGetVersion(ctypes.byref(number))
            return nccl_release(number.value)
        parts = []
        for which in range(3):
            getattr(library, stem + "GetProperty")(which, ctypes.byref(number))
            parts.append(str(number.value))
        return ".".join(parts)
    except (OSError, AttributeError):
        return None


def _begin(tf: Any, kind: str, index: int, count: int, repeats: int) -> Do:
    """In the child: what does the kernels of one device (index -1: of all)."""
    prepare(tf, kind, index)

    def do(name: str) -> Dict[str, Any]:
        if name == "end":
            return {"loaded": mapped(), "logical": _logical(tf)}
        kernel, _, number = name.partition(" ")
        value = KERNELS[kernel](tf, kind, int(number or count) if kernel in TOGETHER else index, repeats)
        wanted = "CPU" if kernel in ON_HOST else kind
        if wanted not in value.get("placed_on", wanted).upper():
            return {"failed": "TensorFlow ran it on %s instead" % value["placed_on"]}
        return {"value": value, "library": _library(kernel)}

    return do


def _logical(tf: Any) -> List[str]:
    try:
        return [d.name for d in tf.config.list_logical_devices()]
    except Exception:
        return []


def run_kernels(tf: Any, gpus: int, names: List[str], repeats: int, limit_s: float, deadline: float) -> None:
    """Everything on single devices, then what needs all of them. Answers 'kernel' for each that was begun."""
    kind, count = ("GPU", gpus) if gpus else ("CPU", 2)

    def say(index: int, name: str, got: Dict[str, Any]) -> None:
        if name == "end":
            if "loaded" in got:  # else it could not even begin
                answer("kernels_process", got)
            return
        kernel, _, number = name.partition(" ")
        devices = [index] if index >= 0 else list(range(int(number or count)))
        answer("kernel", dict(got, kernel=kernel, device=",".join("%s:%d" % (kind, i) for i in devices)))

    def team() -> Team:
        return Team(lambda index: _begin(tf, kind, index, count, repeats), ALONE, say, limit_s, deadline, last="end")

    team().run(list(range(gpus)) or [0], [n for n in names if n not in TOGETHER])
    orders = orders_of(names, count)
    between = [one for one in orders if 1 < int(one.partition(" ")[2] or 1) < count]
    team().run([-1], [one for one in orders if one not in between])
    for one in between:  # a process has one strategy of several devices
        team().run([-1], [one])
