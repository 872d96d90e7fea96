"""The NVIDIA driver: kernel files, device nodes, and what libcuda answers in a child."""

from __future__ import annotations

import errno
import os
import re
from typing import Any

import msgspec

from ..facts import CudaDevice, CudaPair, DeviceNode, Driver, Libcuda, Libraries, SearchStep, Unread, unread_all
from ..loader import trace
from . import fabric, modules, mps
from .ask import Answers, Task, reason

FILES: Task = ("driver.driver_files", {})
NODES: Task = ("driver.nodes", {})
CUDA: Task = ("driver.cuda", {})
CUDA_ENV = {"LD_DEBUG": "libs"}
"""The loader's account tells in whose list libcuda was found."""

_GPU_MODULES = re.compile(r"^(nvidia\w*|nouveau|nova_\w+|amdgpu|vfio_pci)$")
_RELEASE = r"\d{3}\.\d{1,3}(?:\.\d{1,2})?"
_KERNEL_VERSION = re.compile(rf"Kernel Module\s.*?({_RELEASE})\s")


def read(files: Answers, nodes: Answers, cuda: Answers, unmasked: Answers | None, libraries: Libraries) -> Driver:
    """All three children's answers as one subject, with every libcuda that lies on this machine."""
    kernel = read_files(files)
    seen = libraries.files
    candidates = seen if isinstance(seen, Unread) else tuple(f.path for f in seen if f.name == "libcuda.so.1")
    libcuda = read_libcuda(cuda)
    whole = libcuda if unmasked is None else read_libcuda(unmasked)
    return msgspec.structs.replace(
        kernel,
        **modules.read(files),
        fabric_manager=fabric.read(files),
        mps=mps.read(files),
        nodes=read_nodes(nodes),
        other_nodes=read_other_nodes(nodes),
        libcuda=msgspec.structs.replace(libcuda, candidates=candidates),
        all_devices=whole.devices,
    )


def read_files(answers: Answers) -> Driver:
    """/proc/driver/nvidia, /proc/modules, /proc/devices, visible daemons."""
    got: dict[str, Any] | None = answers.last("driver_files")
    if got is None:
        return unread_all(Driver, answers.unread(FILES[0]))
    version, flavour = _kernel(got)
    modules = got["modules"].get("text")
    if (
        modules is None
        and got["modules"]["errno"] == errno.ENOENT
        and isinstance(got["proc"], list)
        and "stat" in got["proc"]
    ):
        modules = ""  # a kernel that was built without loadable modules has no such file
    listed = got["processes"]
    return Driver(
        kernel_version=version,
        kernel_flavour=flavour,
        modules=Unread(why="/proc/modules can't be read", settle="lsmod")
        if modules is None
        else tuple(
            sorted(m for m in (line.split(" ", 1)[0] for line in modules.splitlines()) if _GPU_MODULES.match(m))
        ),
        uvm_major=_uvm_major(got["devices"].get("text")),
        daemons=Unread(why="/proc shows no processes", settle="systemctl status nvidia-fabricmanager")
        if isinstance(listed, int)
        else tuple(_DAEMONS.get(n, n) for n in listed["running"]),
    )


_DAEMONS = {
    "nv-fabricmanage": "nv-fabricmanager",
    "nvidia-fabricma": "nv-fabricmanager",
    "nvidia-persiste": "nvidia-persistenced",
}


def _kernel(got: dict[str, Any]) -> tuple[str | Unread | None, str | Unread | None]:
    proc = got["proc"]
    if isinstance(proc, int) or ("driver" not in proc and "modules" not in proc):
        hidden = Unread(why="/proc can't be read", settle="cat /proc/driver/nvidia/version")
        return hidden, hidden
    version = got["version"]
    if version.get("errno") == errno.ENOENT:
        return None, None
    if "text" not in version:
        blocked = Unread(why=f"/proc/driver/nvidia/version: {reason(version['errno'])}")
        return blocked, blocked
    match = _KERNEL_VERSION.search(version["text"])
    if match is None:
        odd = Unread(why="/proc/driver/nvidia/version has an unknown form", settle="cat /proc/driver/nvidia/version")
        return odd, odd
    return match.group(1), "open" if "Open Kernel Module" in version["text"] else "proprietary"


def _uvm_major(devices: str | None) -> int | Unread | None:
    if devices is None:
        return Unread(why="/proc/devices can't be read", settle="grep nvidia-uvm /proc/devices")
    match = re.search(r"^\s*(\d+) nvidia-uvm$", devices, re.MULTILINE)
    return int(match.group(1)) if match else None


def read_nodes(answers: Answers) -> tuple[DeviceNode, ...] | Unread:
    """/dev/nvidia*; a node whose open() hung is there, with its errno unread."""
    head: dict[str, Any] | None = answers.last("nodes")
    if head is None:
        return answers.unread(NODES[0], "ls -l /dev/nvidia*")
    if "errno" in head:
        return Unread(why=f"/dev: {reason(head['errno'])}", settle="ls -l /dev/nvidia*")
    got = {raw["path"]: raw for raw in answers.all("node")}
    opening = set(answers.all("node_opening"))
    nodes = []
    for name in head["names"]:
        path = f"/dev/{name}"
        raw = got.get(path)
        if raw is None:
            why = (
                Unread(why=f"opening {path}: the process {answers.outcome.how}")
                if path in opening
                else answers.unread(NODES[0])
            )
            nodes.append(DeviceNode(path=path, exists=path in opening or why, open_errno=why))
            continue
        missing = bool(raw.get("missing"))
        nodes.append(
            DeviceNode(
                path=path,
                exists=not missing,
                open_errno=Unread(why=f"{path} does not exist") if missing else raw["errno"],
                **_status(raw),
            )
        )
    return tuple(nodes)


def read_other_nodes(answers: Answers) -> tuple[DeviceNode, ...] | Unread:
    """Nodes that CUDA does without; nobody opened them."""
    listed = answers.last("other_nodes")
    if listed is None:
        return answers.unread(NODES[0], "ls -lR /dev/nvidia*")
    closed = Unread(why="it was not opened: CUDA needs it for special uses only", chosen=True)
    return tuple(
        DeviceNode(path=raw["path"], exists=not raw.get("missing"), open_errno=closed, **_status(raw)) for raw in listed
    )


def _status(raw: dict[str, Any]) -> dict[str, int | None]:
    """What stat() said; None where the node is not there."""
    return {
        "major": raw["major"],
        "minor": raw["minor"],
        "mode": raw.get("mode"),
        "user_id": raw.get("uid"),
        "group_id": raw.get("gid"),
    }


def read_libcuda(answers: Answers) -> Libcuda:
    """What libcuda answered, step by step; where it stopped answering, how the child ended."""
    load: dict[str, Any] | None = answers.last("cuda_load")
    log = trace.without_trace(answers.stderr)[-2000:]
    if load is None:
        why = answers.unread(CUDA[0], "nvidia-smi")
        crashed = answers.outcome.how if answers.all("cuda_loading") else None
        return msgspec.structs.replace(
            unread_all(Libcuda, why),
            found_in=_found_in(answers),
            no_answer=f"loading libcuda.so.1: the process {crashed}" if crashed else why,
            log=log,
        )
    if load["error"] is not None:
        absent = Unread(why="no libcuda.so.1 could be loaded", settle="ldconfig -p | grep libcuda")
        return msgspec.structs.replace(
            unread_all(Libcuda, absent),
            path=None,
            version=None,
            found_in=_found_in(answers),
            load_error=load["error"],
            no_answer=None,
            log=log,
        )
    path = load["real"] or Unread(why="the loader does not say which file it loaded")
    lib = Libcuda(
        path=path,
        found_in=_found_in(answers),
        version=read_release(answers, path) if isinstance(path, str) else path,
        load_error=None,
        log=log,
    )
    init = answers.last("cuda_init")
    if init is None:
        how = answers.outcome.how or "ended without a word"
        silent = Unread(why=f"cuInit gave no answer: the process {how}", settle="nvidia-smi")
        return msgspec.structs.replace(
            lib,
            init_result=silent,
            no_answer=f"the process that called cuInit {how}",
            devices=silent,
            pairs=silent,
            api_version=silent,
        )
    listed = answers.last("cuda_devices")
    return msgspec.structs.replace(
        lib,
        init_result=init["result"],
        init_seconds=init["seconds"],
        no_answer=None,
        api_version=_or_unread(answers.last("cuda_version"), "cuDriverGetVersion gave no answer"),
        devices=_cuda_devices(listed, init["result"], answers),
        pairs=_cuda_pairs(listed, init["result"], answers),
    )


def _found_in(answers: Answers) -> SearchStep | None:
    """The step of the loader's search for libcuda.so.1 that found it."""
    tidied: dict[str, str] = answers.last("cuda_directories") or {}

    def tidy(path: str) -> str:
        for named, plain in tidied.items():
            if path == named or path.startswith(named + "/"):
                return plain + path[len(named) :]
        return os.path.normpath(path)

    search = next((s for s in trace.searches(answers.stderr, tidy) if s.soname == "libcuda.so.1"), None)
    return search.steps[-1] if search is not None and search.steps else None


def _cuda_devices(listed: Any, result: int, answers: Answers) -> tuple[CudaDevice, ...] | Unread:
    if result != 0:
        return Unread(why=f"cuInit answered {result}", settle="nvidia-smi -L")
    if listed is None:
        return answers.unread(CUDA[0], "nvidia-smi -L")
    if listed["result"] != 0:
        return Unread(why=f"cuDeviceGetCount answered {listed['result']}", settle="nvidia-smi -L")
    return tuple(_cuda_device(d) for d in listed["devices"])


def _cuda_device(raw: dict[str, Any]) -> CudaDevice:
    have = raw["attributes"]
    unanswered = Unread(why="cuDeviceGetAttribute gave no answer")
    numbers = {key: have.get(key, unanswered) for key in _NUMBERS}
    flags = {key: bool(have[key]) if key in have else unanswered for key in _FLAGS}
    return CudaDevice(
        index=raw["index"],
        name=raw["name"],
        uuid=raw["uuid"],
        pci_address=raw["bus"],
        compute_capability=(have["major"], have["minor"]) if {"major", "minor"} <= set(have) else unanswered,
        **numbers,
        **flags,
    )


_NUMBERS = (
    "multiprocessors",
    "clock_khz",
    "memory_clock_khz",
    "memory_bus_bits",
    "memory_total_bytes",
    "l2_bytes",
    "compute_mode",
)
_FLAGS = (
    "integrated",
    "unified_addressing",
    "multi_gpu_board",
    "concurrent_managed_access",
    "cooperative_launch",
    "virtual_memory_management",
    "gpu_direct_rdma",
)


def _cuda_pairs(listed: Any, result: int, answers: Answers) -> tuple[CudaPair, ...] | Unread:
    """Every pair that was answered; all of them, or none where the child ended on the way."""
    if result != 0 or listed is None or listed["result"] != 0:
        return Unread(why="CUDA lists no devices", settle="nvidia-smi topo -p2p r")
    if answers.last("cuda_pairs") is None and not answers.ended_well:
        return Unread(
            why=f"asking which GPUs reach each other: the process {answers.outcome.how or 'gave no answer'}",
            settle="nvidia-smi topo -p2p r",
        )
    return tuple(_cuda_pair(raw) for raw in answers.all("cuda_pair"))


def _cuda_pair(raw: dict[str, Any]) -> CudaPair:
    unanswered = Unread(why="cuDeviceCanAccessPeer and cuDeviceGetP2PAttribute gave no answer")
    flags = ("can_access", "access_supported", "native_atomics")
    return CudaPair(
        device=raw["device"],
        peer=raw["peer"],
        performance_rank=raw.get("performance_rank", unanswered),
        **{key: bool(raw[key]) if key in raw else unanswered for key in flags},
    )


def _or_unread(value: Any, why: str) -> Any:
    return Unread(why=why) if value is None else value


def read_release(answers: Answers, path: str) -> str | Unread | None:
    """The driver release of the libcuda file at `path`, as its name or its text tells; None where it tells none."""
    got: dict[str, Any] | None = answers.last("cuda_release")
    if got is None:
        return answers.unread(CUDA[0])
    return Unread(why=f"{path}: {got['error']}") if "error" in got else got["release"]
