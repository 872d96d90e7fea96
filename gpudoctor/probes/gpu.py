"""NVML, through pynvml, in a child of our own interpreter: it can hang like any vendor library."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import child
from ..facts import Gpu, GpuDevice, Unread, unread_all

_MARK = b"@gpudoctor-nvml "
"""Before every line of ours: a sitecustomize or a library may print, too."""
_PACKAGE = Path(__file__).parent.parent.parent


def run(env: Mapping[str, str], limit_s: float) -> Gpu:
    """Ask NVML in a child of at most `limit_s` seconds."""
    path = os.pathsep.join([str(_PACKAGE), *([p] if (p := env.get("PYTHONPATH")) else [])])
    program = "import sys; sys.path[:] = [p for p in sys.path if p]; from gpudoctor.probes.gpu import answer; answer()"
    lines: list[Any] = []
    outcome = child.run(
        [sys.executable, "-c", program],
        limit_s=limit_s,
        env={**env, "PYTHONPATH": path},
        on_line=lambda raw: lines.append(json.loads(raw[len(_MARK) :])) if raw.startswith(_MARK) else None,
    )
    return read(lines, outcome)


def read(lines: list[Any], outcome: child.Outcome) -> Gpu:
    """The lines of the child as facts; what it did not get to is unread, with how it ended."""
    silent = Unread(why=f"the process that asks NVML {outcome.how or 'gave no answer'}", settle="nvidia-smi")
    if not lines:
        return unread_all(Gpu, silent)
    head, *devices = lines
    if head["error"] is not None:
        failed = Unread(why=f"NVML: {head['text']}", settle="nvidia-smi")
        return Gpu(nvml_error=head["error"], nvml_error_text=head["text"], driver_version=failed, devices=failed)
    got = {d["index"]: d for d in devices}
    return Gpu(
        nvml_error=None,
        nvml_error_text=None,
        driver_version=head["driver"] or silent,
        devices=tuple(_device(i, got.get(i), silent) for i in range(head["count"])),
    )


def _device(index: int, raw: dict[str, Any] | None, silent: Unread) -> GpuDevice:
    if raw is None:
        return GpuDevice(index=index, **dict.fromkeys(GpuDevice.__struct_fields__[1:], silent))

    def value(name: str) -> Any:
        got = raw[name]
        return Unread(why=f"NVML: {got['error']}", settle="nvidia-smi -q") if isinstance(got, dict) else got

    capability = value("compute_capability")
    return GpuDevice(
        index=index,
        name=value("name"),
        uuid=value("uuid"),
        pci_address=value("pci_address"),
        compute_capability=tuple(capability) if isinstance(capability, list) else capability,
        memory_total_bytes=value("memory_total_bytes"),
        fabric_state=value("fabric_state"),
    )


# ------------------------------------------------------------- what follows runs in the child


def answer() -> None:
    """Print NVML's answers, a JSON line each: the head, then every GPU as it is read."""
    import pynvml

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # Linux: do not outlive the tool

    def say(value: object) -> None:
        print(_MARK.decode() + json.dumps(value), flush=True)

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as e:
        say({"error": e.value, "text": str(e)})
        return
    count = _ask(pynvml.nvmlDeviceGetCount)
    driver = _ask(pynvml.nvmlSystemGetDriverVersion)
    if isinstance(count, dict):
        say({"error": count["code"], "text": count["error"]})
        return
    say({"error": None, "driver": driver if isinstance(driver, str) else None, "count": count})
    for index in range(count):
        handle = _ask(lambda i=index: pynvml.nvmlDeviceGetHandleByIndex(i))  # type: ignore[misc]
        if isinstance(handle, dict):
            say({"index": index, **dict.fromkeys(GpuDevice.__struct_fields__[1:], handle)})
            continue
        say(
            {
                "index": index,
                "name": _ask(lambda: pynvml.nvmlDeviceGetName(handle)),  # noqa: B023
                "uuid": _ask(lambda: pynvml.nvmlDeviceGetUUID(handle)),  # noqa: B023
                "pci_address": _ask(lambda: _pci(pynvml, handle)),  # noqa: B023
                "compute_capability": _ask(lambda: pynvml.nvmlDeviceGetCudaComputeCapability(handle)),  # noqa: B023
                "memory_total_bytes": _ask(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle).total),  # noqa: B023
                "fabric_state": _ask(lambda: _fabric(pynvml, handle)),  # noqa: B023
            }
        )


def _pci(pynvml: Any, handle: Any) -> str:
    """'0000:00:06.0': NVML pads the domain to eight digits."""
    text: str = pynvml.nvmlDeviceGetPciInfo(handle).busId.lower()
    return text[-12:]


def _fabric(pynvml: Any, handle: Any) -> int:
    info = pynvml.c_nvmlGpuFabricInfo_t()
    pynvml.nvmlDeviceGetGpuFabricInfo(handle, pynvml.byref(info))
    return int(info.state)


def _ask(call: Callable[[], Any]) -> Any:
    """A value, or {"error": text, "code": n}; pynvml raises more than its own errors."""
    try:
        got = call()
    except Exception as e:
        return {"error": str(e) or type(e).__name__, "code": getattr(e, "value", -1)}
    return got.decode("utf-8", "replace") if isinstance(got, bytes) else got
