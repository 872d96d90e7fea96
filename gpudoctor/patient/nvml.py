"""NVML's answers, through pynvml, whose text the tool sends along: it is one file of ctypes.

NVML is asked in a forked child, every GPU in a thread of its own and in small groups of questions: a GPU that hangs
holds up no other, and where asking one ends the child, those that were silent till then are asked again, each alone.
"""

import ctypes
import mmap
import os
import queue
import sys
import threading
import time
import types
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from .core import answer, fork, forked, join
from .gate import nvml_has_answered

_LONG_S = 3600.0  # whoever started the patient ends it long before
_ALONE_S = 10.0
_COUNT = 255  # where on the board the number of GPUs stands


def nvml(library: str) -> None:
    """Ask NVML: the head, every GPU, and every pair of GPUs that answered. `library` is the text of pynvml."""
    n = types.ModuleType("pynvml")  # type: Any
    sys.modules["pynvml"] = n
    exec(compile(library, "pynvml.py", "exec"), n.__dict__)
    tool = os.getppid()
    board = mmap.mmap(-1, 256)  # shared with the children: who has answered
    ended = forked("asking NVML", _LONG_S, lambda: _everything(n, tool, board))
    if "value" in ended:
        nvml_has_answered()
        return
    answer("nvml_ended", {"index": None, "how": ended["failed"]})
    silent = [i for i in range(board[_COUNT]) if not board[i]]
    children = [(i, fork(lambda i=i: _alone(n, i, tool))) for i in silent]  # type: ignore[misc]
    deadline = time.time() + _ALONE_S
    for index, child in children:
        got = join(child, "asking NVML about this GPU alone", deadline)
        for part in got.get("value", ()):
            answer("nvml_gpu", part)
        if "value" not in got:
            answer("nvml_ended", {"index": index, "how": got["failed"]})
    nvml_has_answered()


Tell = Callable[[Dict[str, Any]], None]


def _everything(n: Any, tool: int, board: Any) -> None:
    try:
        n.nvmlInit()
    except Exception as e:
        answer("nvml", {"error": getattr(e, "value", -1), "text": str(e)})
        return
    count = _value(n.nvmlDeviceGetCount)
    if isinstance(count, dict):
        answer("nvml", {"error": count["code"], "text": count["error"]})
        return
    head = {"error": None, "count": count, "driver": _value(n.nvmlSystemGetDriverVersion)}
    head["version"] = _value(n.nvmlSystemGetNVMLVersion)
    head["cuda_driver"] = {"code": 999, "error": "NVML's process ended before it told"}
    answer("nvml", head)
    board[_COUNT] = min(count, _COUNT - 1)
    answered = queue.Queue()  # type: Any
    for index in range(count):
        thread = threading.Thread(target=_in_thread, args=(n, index, tool, board, answered))
        thread.daemon = True
        thread.start()
    ready = []  # type: List[Tuple[int, Any]]
    for _ in range(count):
        second = answered.get()
        if second[1] is not None:
            for first in ready:
                answer("nvml_pair", _pair(n, *sorted([first, second], key=lambda one: one[0])))
            ready.append(second)
    nvml_has_answered()
    # last, for NVML loads libcuda to answer it, and one that is damaged ends the process
    head["cuda_driver"] = _value(lambda: _first(n.nvmlSystemGetCudaDriverVersion_v2, n.nvmlSystemGetCudaDriverVersion))
    answer("nvml", head)


def _in_thread(n: Any, index: int, tool: int, board: Any, answered: Any) -> None:
    handle = None
    try:
        handle = _gpu(n, index, tool, lambda part: answer("nvml_gpu", part))
    finally:
        if index < _COUNT:
            board[index] = 1
        answered.put((index, handle))


def _alone(n: Any, index: int, tool: int) -> List[Dict[str, Any]]:
    parts = []  # type: List[Dict[str, Any]]
    n.nvmlInit()
    _gpu(n, index, tool, parts.append)
    return parts


def _gpu(n: Any, index: int, tool: int, tell: Tell) -> Any:
    """Ask everything about one GPU, and tell each group of answers; its handle, or None where it has none."""
    handle = _value(lambda: n.nvmlDeviceGetHandleByIndex(index))
    if isinstance(handle, dict):
        tell({"index": index, "lost": handle})
        return None
    for group in _GROUPS:
        part = {"index": index}  # type: Dict[str, Any]
        for name, what, *rest in group:
            part[name] = _value(lambda: _ask(n, handle, what, rest))
        tell(part)
    tell({"index": index, "processes": _value(lambda: _gpu_processes(n, handle, tool))})
    return handle


Question = Union[str, Callable[[Any, Any], Any]]


def _ask(n: Any, handle: Any, what: Question, rest: Any) -> Any:
    """A function of pynvml by its name, or one of those below."""
    return getattr(n, what)(handle, *rest) if isinstance(what, str) else what(n, handle)


def _value(call: Callable[[], Any]) -> Any:
    """A value, or {"error": text, "code": n}; pynvml raises more than its own errors."""
    try:
        got = call()
    except Exception as e:
        return {"error": str(e) or type(e).__name__, "code": getattr(e, "value", -1)}  # type: Dict[str, Any]
    return got.decode("utf-8", "replace") if isinstance(got, bytes) else got


def _first(*calls: Callable[[], Any]) -> Any:
    """The answer of the first one that this NVML has; it says 13 to a function that it does not know."""
    for call in calls[:-1]:
        try:
            return call()
        except Exception as e:
            if getattr(e, "value", -1) not in (-1, 13, 25):
                raise
    return calls[-1]()


def _bus(n: Any, handle: Any) -> str:
    """'0000:00:06.0': NVML pads the domain to eight digits."""
    return _decoded(n.nvmlDeviceGetPciInfo(handle).busId)[-12:]


def _decoded(text: Any) -> str:
    return str(text.decode() if isinstance(text, bytes) else text).lower()


def _memory(n: Any, handle: Any) -> List[Optional[int]]:
    """Total, used, free, reserved; older ones count what is reserved as used."""
    info = _first(
        lambda: n.nvmlDeviceGetMemoryInfo(handle, version=n.nvmlMemory_v2), lambda: n.nvmlDeviceGetMemoryInfo(handle)
    )
    return [info.total, info.used, info.free, getattr(info, "reserved", None)]


def _bar1(n: Any, handle: Any) -> int:
    return int(n.nvmlDeviceGetBAR1MemoryInfo(handle).bar1Total)


def _utilisation(n: Any, handle: Any) -> List[int]:
    rates = n.nvmlDeviceGetUtilizationRates(handle)
    return [rates.gpu, rates.memory]


def _clock_events(n: Any, handle: Any) -> int:
    return int(
        _first(
            lambda: n.nvmlDeviceGetCurrentClocksEventReasons(handle),
            lambda: n.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
        )
    )


def _gsp_version(n: Any, handle: Any) -> bytes:
    text = ctypes.create_string_buffer(64)
    n.nvmlDeviceGetGspFirmwareVersion(handle, text)
    return text.value


def _retired(cause: int) -> Callable[[Any, Any], int]:
    return lambda n, handle: len(n.nvmlDeviceGetRetiredPages(handle, cause))


def _c2c(n: Any, handle: Any) -> int:
    return int(n.nvmlDeviceGetC2cModeInfoV(handle).isC2cEnabled)


def _fabric(n: Any, handle: Any) -> List[Optional[int]]:
    """State, status, and the health mask where this NVML tells it."""

    def with_health() -> List[Optional[int]]:
        info = n.c_nvmlGpuFabricInfoV_t()
        n.nvmlDeviceGetGpuFabricInfoV(handle, ctypes.byref(info))
        return [info.state, info.status, info.healthMask]

    def without() -> List[Optional[int]]:
        info = n.c_nvmlGpuFabricInfo_t()
        n.nvmlDeviceGetGpuFabricInfo(handle, ctypes.byref(info))
        return [info.state, info.status, None]

    return list(_first(with_health, without))


def _fields(n: Any, handle: Any, wanted: List[Any]) -> List[Any]:
    """Values by NVML's field numbers, each with its scope (a link, say)."""
    members = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
    got = []  # type: List[Any]
    for one in n.nvmlDeviceGetFieldValues(handle, wanted) if wanted else ():
        if one.nvmlReturn:
            got.append({"error": str(n.NVMLError(one.nvmlReturn)), "code": one.nvmlReturn})
        else:
            got.append(getattr(one.value, members[one.valueType]))
    return got


def _recovery_action(n: Any, handle: Any) -> Any:
    (action,) = _fields(n, handle, [(230, 0)])
    if isinstance(action, dict):
        raise n.NVMLError(action["code"])
    return action


def _links(n: Any, handle: Any) -> List[Any]:
    """[index, active, version, remote type, speed in MB/s, remote bus] of every link that this product has."""
    there = []
    for index in range(getattr(n, "NVML_NVLINK_MAX_LINKS", 18)):
        try:
            there.append((index, n.nvmlDeviceGetNvLinkState(handle, index)))
        except n.NVMLError as e:
            if e.value not in (2, 3, 6):  # no such link
                raise
    speeds = _value(lambda: _fields(n, handle, [(164, index) for index, _ in there]))
    return [
        [
            index,
            active,
            _value(lambda: n.nvmlDeviceGetNvLinkVersion(handle, index)),
            _value(lambda: n.nvmlDeviceGetNvLinkRemoteDeviceType(handle, index)),
            speeds if isinstance(speeds, dict) else speeds[position],
            _value(lambda: _decoded(n.nvmlDeviceGetNvLinkRemotePciInfo(handle, index).busId)),
        ]
        for position, (index, active) in enumerate(there)
    ]


def _licensed(n: Any, handle: Any) -> Optional[bool]:
    """Whether a vGPU feature is licensed; None where licences do not apply."""
    got = n.nvmlDeviceGetGridLicensableFeatures(handle)
    if not got.isGridLicenseSupported or not got.licensableFeaturesCount:
        return None
    features = got.gridLicensableFeatures[: got.licensableFeaturesCount]
    return any(feature.featureState for feature in features)


def _mig_devices(n: Any, handle: Any) -> Optional[List[Any]]:
    """[uuid, name, GPU instance, compute instance, memory]; None where MIG is off."""
    if n.nvmlDeviceGetMigMode(handle)[0] != 1:
        return None
    devices = []
    for index in range(n.nvmlDeviceGetMaxMigDeviceCount(handle)):
        try:
            mig = n.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)
        except n.NVMLError as e:
            if e.value != 6:  # no instance in this place
                raise
            continue
        devices.append(
            [
                _value(lambda: n.nvmlDeviceGetUUID(mig)),
                _value(lambda: n.nvmlDeviceGetName(mig)),
                _value(lambda: n.nvmlDeviceGetGpuInstanceId(mig)),
                _value(lambda: n.nvmlDeviceGetComputeInstanceId(mig)),
                _value(lambda: n.nvmlDeviceGetMemoryInfo(mig).total),
            ]
        )
    return devices


def _gpu_processes(n: Any, handle: Any, tool: int) -> List[Any]:
    """[pid, kind, memory, name, ours]; ours: the tool that started us started it too."""
    found = []
    for kind, word in (("compute", "Compute"), ("graphics", "Graphics")):
        function = "nvmlDeviceGet%sRunningProcesses" % word
        running = _first(lambda: getattr(n, function)(handle), lambda: getattr(n, function + "_v2")(handle))
        for one in running:
            name = _value(lambda: n.nvmlSystemGetProcessName(one.pid))
            found.append([one.pid, kind, one.usedGpuMemory, name, _descends(one.pid, tool)])
    return found


def _descends(pid: int, ancestor: int) -> bool:
    """Whether `ancestor` started `pid`, or started who did."""
    for _ in range(64):
        if pid == ancestor:
            return ancestor > 1
        try:
            with open("/proc/%d/stat" % pid) as f:
                pid = int(f.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False


def _pair(n: Any, first: Tuple[int, Any], second: Tuple[int, Any]) -> Dict[str, Any]:
    """pynvml's own names for the capabilities are not used: one of them is a tuple by mistake."""
    handles = first[1], second[1]
    return {
        "first": first[0],
        "second": second[0],
        "read": _value(lambda: n.nvmlDeviceGetP2PStatus(*handles, 0)),
        "nvlink": _value(lambda: n.nvmlDeviceGetP2PStatus(*handles, 2)),
        "topology": _value(lambda: n.nvmlDeviceGetTopologyCommonAncestor(*handles)),
    }


_GROUPS = (
    (
        ("name", "nvmlDeviceGetName"),
        ("uuid", "nvmlDeviceGetUUID"),
        ("pci_address", _bus),
        ("compute_capability", "nvmlDeviceGetCudaComputeCapability"),
        ("minor_number", "nvmlDeviceGetMinorNumber"),
    ),
    (("memory", _memory), ("compute_mode", "nvmlDeviceGetComputeMode"), ("mig_mode", "nvmlDeviceGetMigMode")),
    (
        ("ecc_mode", "nvmlDeviceGetEccMode"),
        ("ecc_volatile_corrected", "nvmlDeviceGetTotalEccErrors", 0, 0),
        ("ecc_volatile_uncorrected", "nvmlDeviceGetTotalEccErrors", 1, 0),
        ("ecc_aggregate_corrected", "nvmlDeviceGetTotalEccErrors", 0, 1),
        ("ecc_aggregate_uncorrected", "nvmlDeviceGetTotalEccErrors", 1, 1),
        ("remapped_rows", "nvmlDeviceGetRemappedRows"),
        ("retired_pages_single_bit", _retired(0)),
        ("retired_pages_double_bit", _retired(1)),
        ("retired_pages_pending", "nvmlDeviceGetRetiredPagesPendingStatus"),
        ("recovery_action", _recovery_action),
    ),
    (
        ("clock_graphics_mhz", "nvmlDeviceGetClockInfo", 0),
        ("clock_sm_mhz", "nvmlDeviceGetClockInfo", 1),
        ("clock_memory_mhz", "nvmlDeviceGetClockInfo", 2),
        ("clock_graphics_max_mhz", "nvmlDeviceGetMaxClockInfo", 0),
        ("clock_sm_max_mhz", "nvmlDeviceGetMaxClockInfo", 1),
        ("clock_memory_max_mhz", "nvmlDeviceGetMaxClockInfo", 2),
        ("clock_event_reasons", _clock_events),
        ("power_draw", "nvmlDeviceGetPowerUsage"),
        ("power_limit", "nvmlDeviceGetEnforcedPowerLimit"),
        ("power_default", "nvmlDeviceGetPowerManagementDefaultLimit"),
        ("power_range", "nvmlDeviceGetPowerManagementLimitConstraints"),
        ("temperature_c", "nvmlDeviceGetTemperature", 0),
        ("temperature_shutdown_c", "nvmlDeviceGetTemperatureThreshold", 0),
        ("temperature_slowdown_c", "nvmlDeviceGetTemperatureThreshold", 1),
        ("utilisation", _utilisation),
    ),
    (
        ("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
        ("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
        ("pcie_generation_gpu_max", "nvmlDeviceGetGpuMaxPcieLinkGeneration"),
        ("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth"),
        ("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
        ("pcie_replays", "nvmlDeviceGetPcieReplayCounter"),
        ("bar1_bytes", _bar1),
        ("numa_node", "nvmlDeviceGetNumaNodeId"),
    ),
    (("fabric", _fabric), ("c2c", _c2c), ("nvlinks", _links)),
    (
        ("mig_devices", _mig_devices),
        ("virtualization_mode", "nvmlDeviceGetVirtualizationMode"),
        ("vgpu_licensed", _licensed),
        ("persistence_mode", "nvmlDeviceGetPersistenceMode"),
        ("display_attached", "nvmlDeviceGetDisplayMode"),
        ("serial", "nvmlDeviceGetSerial"),
        ("board_id", "nvmlDeviceGetBoardId"),
        ("vbios_version", "nvmlDeviceGetVbiosVersion"),
        ("gsp_version", _gsp_version),
    ),
)  # type: Tuple[Tuple[Any, ...], ...]
