"""What the kernel, the device nodes and libcuda say."""

import ctypes
import errno
import mmap
import os
import re
import time
from typing import Any, Dict, Optional, Tuple

from .core import answer, list_directory, read_text
from .elf import tidied_path
from .loaded import mapped_file


def driver_files() -> None:
    """What the kernel says of the NVIDIA driver."""
    answer(
        "driver_files",
        {
            "proc": list_directory("/proc"),
            "version": read_text("/proc/driver/nvidia/version"),
            "gpus": list_directory("/proc/driver/nvidia/gpus"),
            "modules": read_text("/proc/modules"),
            "devices": read_text("/proc/devices"),
            "processes": _processes(("nv-fabricmanage", "nvidia-fabricma", "nvidia-persiste")),
        },
    )


def _processes(names: Tuple[str, ...]) -> Any:
    """Which of `names` (comm, 15 characters) run here; an errno where /proc can't be listed."""
    listed = list_directory("/proc")
    if isinstance(listed, int):
        return listed
    pids = [p for p in listed if p.isdigit()]
    if not pids:
        return errno.ENOENT
    running = set()
    for pid in pids:
        comm = read_text("/proc/%s/comm" % pid, 64).get("text", "").strip()
        if comm in names:
            running.add(comm)
    return {"running": sorted(running)}


def nodes() -> None:
    """NVIDIA's device nodes, and what open() says to this user. One answer a node: an open can hang."""
    listed = list_directory("/dev")
    if isinstance(listed, int):
        answer("nodes", {"errno": listed})
        return
    wanted = ["nvidiactl", "nvidia-uvm"]
    wanted += [n for n in listed if re.match(r"nvidia\d+$", n)]
    answer("nodes", {"names": wanted})
    others = [n for n in listed if re.match(r"nvidia-(uvm-tools|modeset|nvlink|nvswitch(ctl|\d+))$", n)]
    for directory in ("nvidia-caps", "nvidia-caps-imex-channels"):
        inside = list_directory("/dev/" + directory) if directory in listed else []
        others += ["%s/%s" % (directory, n) for n in (inside if isinstance(inside, list) else ())]
    answer("other_nodes", [_node("/dev/" + name) for name in others[:256]])
    for name in wanted:
        path = "/dev/" + name
        node = _node(path)
        if node["errno"] is not None:
            answer("node", node)
            continue
        answer("node_opening", path)
        try:
            os.close(os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0)))
        except OSError as e:
            node["errno"] = e.errno
        answer("node", node)


def _node(path: str) -> Dict[str, Any]:
    """What stat() says of a device node."""
    node = {"path": path, "errno": None}  # type: Dict[str, Any]
    node.update(dict.fromkeys(("major", "minor", "mode", "uid", "gid")))
    try:
        status = os.stat(path)
    except OSError as e:
        node["errno"], node["missing"] = e.errno, e.errno == errno.ENOENT
        return node
    node["major"], node["minor"] = os.major(status.st_rdev), os.minor(status.st_rdev)
    node["mode"], node["uid"], node["gid"] = status.st_mode & 0o7777, status.st_uid, status.st_gid
    return node


# ----------------------------------------------------------------------------- libcuda


class _DlInfo(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _file_of(function: Any) -> Optional[str]:
    """The file that a C function was loaded from, as the loader named it (dladdr: needs no /proc)."""
    info = _DlInfo()
    try:
        if ctypes.CDLL(None).dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(info)) and info.file:
            return os.path.abspath(os.fsdecode(info.file))
    except (AttributeError, OSError):
        pass
    return None


_RELEASE_TEXT = re.compile(rb"(?<!\d)(?<!\d\.)(\d{3}\.\d{2,3}(?:\.\d{2})?)(?![\d.])")


def libcuda_release(path: str, root: str = "") -> None:
    """The driver's release in the name of a libcuda file, else in its text: there the kernel module's own counts
    before any other number of that form."""
    named = re.search(r"\.so\.(\d{3}\.\d{1,3}(?:\.\d{1,2})?)$", os.path.basename(path))
    if named:
        answer("cuda_release", {"release": named.group(1)})
        return
    kernel = read_text(root + "/proc/driver/nvidia/version").get("text", "").encode()
    try:
        with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as text:
            for release in _RELEASE_TEXT.findall(kernel):
                if text.find(release) >= 0:
                    answer("cuda_release", {"release": release.decode()})
                    return
            found = _RELEASE_TEXT.search(text)
            answer("cuda_release", {"release": found.group(1).decode() if found else None})
    except (OSError, ValueError) as e:
        answer("cuda_release", {"error": str(e)})


def cuda() -> None:
    """What libcuda answers: cuInit, version, devices. Answered step by step: any of them can hang."""
    answer("cuda_loading", None)
    named = [d for d in re.split("[:;]", os.environ.get("LD_LIBRARY_PATH", "")) if ".." in d]
    answer("cuda_directories", {d.rstrip("/"): tidied_path(d) for d in named})
    try:
        lib = ctypes.CDLL("libcuda.so.1")
    except OSError as e:
        answer("cuda_load", {"path": None, "error": str(e)})
        return
    try:
        path = _file_of(lib.cuInit) or mapped_file("libcuda.so")
    except AttributeError as e:
        path = mapped_file("libcuda.so")
        answer("cuda_load", {"path": path, "real": os.path.realpath(path) if path else None, "error": str(e)})
        return
    answer("cuda_load", {"path": path, "real": os.path.realpath(path) if path else None, "error": None})
    if path:
        libcuda_release(os.path.realpath(path))
    started = time.time()
    result = lib.cuInit(0)
    answer(
        "cuda_init",
        {"result": result, "seconds": time.time() - started, "name": _cuda_text(lib, "cuGetErrorName", result)},
    )
    version = ctypes.c_int(-1)
    try:
        if lib.cuDriverGetVersion(ctypes.byref(version)) == 0:
            answer("cuda_version", version.value)
    except AttributeError:
        pass
    if result:
        return
    count = ctypes.c_int(-1)
    result = lib.cuDeviceGetCount(ctypes.byref(count))
    if result:
        answer("cuda_devices", {"result": result})
        return
    devices = []
    for index in range(count.value):
        handle, name = ctypes.c_int(), ctypes.create_string_buffer(256)
        lib.cuDeviceGet(ctypes.byref(handle), index)
        lib.cuDeviceGetName(name, 256, handle)
        uuid = (ctypes.c_ubyte * 16)()
        try:
            lib.cuDeviceGetUuid(uuid, handle)
        except AttributeError:
            pass
        bus = ctypes.create_string_buffer(32)
        try:
            lib.cuDeviceGetPCIBusId(bus, 32, handle)
        except AttributeError:
            pass
        attributes = {}
        for key, number in _ATTRIBUTES.items():
            value = ctypes.c_int(-1)
            if lib.cuDeviceGetAttribute(ctypes.byref(value), number, handle) == 0:
                attributes[key] = value.value
        total = ctypes.c_size_t()
        try:
            if lib.cuDeviceTotalMem_v2(ctypes.byref(total), handle) == 0:
                attributes["memory_total_bytes"] = total.value
        except AttributeError:
            pass
        hexed = bytes(bytearray(uuid)).hex()
        devices.append(
            {
                "index": index,
                "name": name.value.decode("utf-8", "replace"),
                "uuid": "GPU-%s-%s-%s-%s-%s" % (hexed[:8], hexed[8:12], hexed[12:16], hexed[16:20], hexed[20:]),
                "bus": bus.value.decode("ascii", "replace").lower(),
                "attributes": attributes,
            }
        )
    answer("cuda_devices", {"result": 0, "devices": devices})
    for one in range(count.value):
        for other in range(count.value):
            if one != other:
                answer("cuda_pair", _cuda_pair(lib, one, other))
    answer("cuda_pairs", None)


_ATTRIBUTES = {
    "major": 75,
    "minor": 76,
    "multiprocessors": 16,
    "clock_khz": 13,
    "memory_clock_khz": 36,
    "memory_bus_bits": 37,
    "l2_bytes": 38,
    "compute_mode": 20,
    "integrated": 18,
    "unified_addressing": 41,
    "multi_gpu_board": 84,
    "concurrent_managed_access": 89,
    "cooperative_launch": 95,
    "virtual_memory_management": 102,
    "gpu_direct_rdma": 116,
}
"""CUdevice_attribute."""


def _cuda_pair(lib: Any, one: int, other: int) -> Dict[str, Any]:
    """What the driver says of a GPU that reaches for another's memory; no context is needed to ask."""
    pair = {"device": one, "peer": other}
    a, b, value = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    lib.cuDeviceGet(ctypes.byref(a), one)
    lib.cuDeviceGet(ctypes.byref(b), other)
    try:
        if lib.cuDeviceCanAccessPeer(ctypes.byref(value), a, b) == 0:
            pair["can_access"] = value.value
        for key, number in (("performance_rank", 1), ("access_supported", 2), ("native_atomics", 3)):
            if lib.cuDeviceGetP2PAttribute(ctypes.byref(value), number, a, b) == 0:
                pair[key] = value.value
    except AttributeError:
        pass
    return pair


def _cuda_text(lib: Any, function: str, result: int) -> Optional[str]:
    text = ctypes.c_char_p()
    try:
        if getattr(lib, function)(result, ctypes.byref(text)) == 0 and text.value:
            return text.value.decode("utf-8", "replace")
    except AttributeError:
        pass
    return None
