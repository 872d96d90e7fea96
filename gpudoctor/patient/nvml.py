"""NVML's answers, through pynvml, whose text the tool sends along: it is one file of ctypes."""

import sys
import threading
import types
from typing import Any, Callable, Optional

from .core import answer


def nvml(library: str, only: Optional[int] = None) -> None:
    """Ask NVML: the head, then every GPU (or `only` that one) in a thread of its own, so that one that hangs holds up no other.

    `library` is the text of pynvml.
    """
    pynvml = types.ModuleType("pynvml")
    sys.modules["pynvml"] = pynvml
    exec(compile(library, "pynvml.py", "exec"), pynvml.__dict__)
    n: Any = pynvml
    try:
        n.nvmlInit()
    except n.NVMLError as e:
        answer("nvml", {"error": e.value, "text": str(e)})
        return
    count = _value(n.nvmlDeviceGetCount)
    driver = _value(n.nvmlSystemGetDriverVersion)
    if isinstance(count, dict):
        answer("nvml", {"error": count["code"], "text": count["error"]})
        return
    answer("nvml", {"error": None, "driver": driver if isinstance(driver, str) else None, "count": count})
    threads = []
    for index in range(count) if only is None else [only]:
        thread = threading.Thread(target=_gpu, args=(n, index))
        thread.daemon = True
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join()


def _gpu(n: Any, index: int) -> None:
    handle = _value(lambda: n.nvmlDeviceGetHandleByIndex(index))
    if isinstance(handle, dict):
        answer("nvml_gpu", {"index": index, "lost": handle})
        return
    answer(
        "nvml_gpu",
        {
            "index": index,
            "name": _value(lambda: n.nvmlDeviceGetName(handle)),
            "uuid": _value(lambda: n.nvmlDeviceGetUUID(handle)),
            "pci_address": _value(lambda: _bus(n, handle)),
            "compute_capability": _value(lambda: n.nvmlDeviceGetCudaComputeCapability(handle)),
            "memory_total_bytes": _value(lambda: n.nvmlDeviceGetMemoryInfo(handle).total),
            "fabric_state": _value(lambda: _fabric(n, handle)),
        },
    )


def _bus(n: Any, handle: Any) -> str:
    """'0000:00:06.0': NVML pads the domain to eight digits."""
    text: Any = n.nvmlDeviceGetPciInfo(handle).busId
    return str(text.decode() if isinstance(text, bytes) else text).lower()[-12:]


def _fabric(n: Any, handle: Any) -> int:
    info = n.c_nvmlGpuFabricInfo_t()
    n.nvmlDeviceGetGpuFabricInfo(handle, n.byref(info))
    return int(info.state)


def _value(call: Callable[[], Any]) -> Any:
    """A value, or {"error": text, "code": n}; pynvml raises more than its own errors."""
    try:
        got = call()
    except Exception as e:
        return {"error": str(e) or type(e).__name__, "code": getattr(e, "value", -1)}  # type: Dict[str, Any]
    return got.decode("utf-8", "replace") if isinstance(got, bytes) else got
