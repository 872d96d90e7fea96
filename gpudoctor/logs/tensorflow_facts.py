"""What TensorFlow's lines tell, as facts."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from ..facts import LibraryPick, LogEvent, TensorFlowDevice, Unread, Variable
from . import tensorflow
from .language import Understood
from .notebook import Notebook

LANGUAGE = "tensorflow"
WORDS = tensorflow.WORDS
CU_INIT = {
    "CUDA_ERROR_INVALID_VALUE": 1,
    "CUDA_ERROR_OUT_OF_MEMORY": 2,
    "CUDA_ERROR_NOT_INITIALIZED": 3,
    "CUDA_ERROR_STUB_LIBRARY": 34,
    "CUDA_ERROR_DEVICE_UNAVAILABLE": 46,
    "CUDA_ERROR_NO_DEVICE": 100,
    "CUDA_ERROR_INVALID_DEVICE": 101,
    "CUDA_ERROR_ECC_UNCORRECTABLE": 214,
    "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND": 302,
    "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED": 303,
    "CUDA_ERROR_OPERATING_SYSTEM": 304,
    "CUDA_ERROR_NOT_FOUND": 500,
    "CUDA_ERROR_NOT_PERMITTED": 800,
    "CUDA_ERROR_NOT_SUPPORTED": 801,
    "CUDA_ERROR_SYSTEM_NOT_READY": 802,
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803,
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": 804,
    "CUDA_ERROR_MPS_CONNECTION_FAILED": 805,
    "CUDA_ERROR_MPS_RPC_FAILURE": 806,
    "CUDA_ERROR_MPS_SERVER_NOT_READY": 807,
    "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED": 808,
    "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED": 809,
    "CUDA_ERROR_UNKNOWN": 999,
}
"""CUresult's names, as cuInit may answer them."""
_LIBCUDA_NOT_LOADED = 303
"""What TensorFlow's own stub answers where libcuda.so.1 can't be opened."""
_OLD_STUB = -1
"""What the stub library of toolkits before 11 answers."""
_ASKED_AT_ONCE = ("libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse")
_OPTIONAL = ("libnvinfer", "libcupti", "libnvrtc", "libnccl", "libnvjitlink", "cupti", "nvinfer", "nvrtc")
_SYMPTOM, _FAILED = 1, 2


def event_of(line: str) -> LogEvent | None:
    """What a line tells; a library that TensorFlow can do without is harmless."""
    event = tensorflow.event_of(line)
    if event is None or event.kind != "library-not-loaded":
        return event
    optional = event.values.get("library", "").startswith(_OPTIONAL)
    return LogEvent(kind="benign-optional-library", text=event.text, values=event.values) if optional else event


def line(text: str, number: int, notes: Notebook) -> Understood | None:
    """What a line says; its facts are written down."""
    event = event_of(text)
    if event is None:
        return None
    if event not in (notes.told("tensorflow.events") or ()):
        notes.add("tensorflow.events", event, number)
        teller = _TELLERS.get(event.kind)
        if teller is not None:
            teller(event, number, notes)
    # the line without its prefix is what is quoted: equal lines of two times are one
    return Understood(event.kind, {**event.values, "": event.text}, _SYMPTOMS.get(event.kind))


def settle(notes: Notebook) -> None:
    """Where no line compares the releases of the kernel module and of libcuda, and they are apart: the last that tells one shows it."""
    kinds = {e.kind for e in notes.events}
    if kinds & {_DIFFER, "versions-match", "versions-reported"} or not _are_apart(notes):
        return
    at = max((n for n, e in enumerate(notes.events) if e.kind in _VERSIONS), default=None)
    if at is not None:
        notes.events[at] = msgspec.structs.replace(notes.events[at], symptom=_SYMPTOMS[_DIFFER])


def _are_apart(notes: Notebook) -> bool:
    """The kernel module and libcuda are of different releases."""
    told = [notes.told("driver.kernel_version"), notes.told("driver.libcuda.version")]
    if not all(isinstance(release, str) for release in told):
        return False
    first, second = ([*map(int, re.findall(r"\d+", str(release))), 0][:3] for release in told)
    return first != second


def _starts(line: int, notes: Notebook) -> None:
    """TensorFlow came so far as to look at GPUs: cuInit succeeded and shows at least one."""
    notes.tell("driver.libcuda.init_result", 0, line)
    notes.tell("tensorflow.build.cuda", True, line)
    notes.tell("tensorflow.import_error", None, line)


def _no_gpu(line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.devices", (), line, _SYMPTOM)


def _cuinit_failed(event: LogEvent, line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.build.cuda", True, line)
    notes.tell("tensorflow.import_error", None, line)
    _no_gpu(line, notes)
    number = event.values.get("number")
    result = int(number) if number else CU_INIT.get(event.values.get("error", ""))
    if result == _LIBCUDA_NOT_LOADED:
        notes.tell("driver.libcuda.path", None, line, _FAILED)
        notes.tell("driver.libcuda.load_error", "libcuda.so.1 could not be opened", line)
    elif result is not None:
        notes.tell("driver.libcuda.init_result", result, line, _FAILED)


def _library(event: LogEvent, line: int, notes: Notebook) -> None:
    name = event.values.get("library", "")
    error = event.values.get("error", "")
    if name.startswith(("libcuda.so", "nvcuda.dll")):
        notes.tell("driver.libcuda.path", None, line, _FAILED)
        notes.tell("driver.libcuda.load_error", error or f"{name} could not be opened", line, _FAILED)
        return
    lacks = re.match(r"(lib[\w.-]+\.so[\w.]*): cannot open shared object", error)
    stopped_by = lacks[1] if lacks and lacks[1] != name else None
    not_opened(name, line, notes, stopped_by)
    if name.startswith(_ASKED_AT_ONCE):
        notes.tell("tensorflow.loader_ok", False, line, _SYMPTOM)
        notes.tell("tensorflow.build.cuda", True, line)


def not_opened(name: str, line: int, notes: Notebook, stopped_by: str | None = None) -> None:
    """A library that TensorFlow registers no GPU without could not be opened."""
    notes.add("tensorflow.libraries", LibraryPick(soname=name, picked=None, stopped_by=stopped_by), line)
    _no_gpu(line, notes)


def _not_opened(_event: LogEvent, line: int, notes: Notebook) -> None:
    _starts(line, notes)
    notes.tell("tensorflow.loader_ok", False, line, _SYMPTOM)
    _no_gpu(line, notes)


def _no_cudart(_event: LogEvent, line: int, notes: Notebook) -> None:
    """TensorFlow's words for: libcudart could not be opened. Of the driver they say nothing."""
    notes.tell("tensorflow.build.cuda", True, line)
    told = notes.told("tensorflow.libraries") or ()
    if not any(pick.soname.startswith("libcudart") for pick in told):
        not_opened("libcudart.so", line, notes)


def _created(event: LogEvent, line: int, notes: Notebook) -> None:
    _starts(line, notes)
    notes.tell("tensorflow.loader_ok", True, line)
    logical = event.values.get("logical", "")
    index = logical.rpartition(":")[2]
    capability = re.match(r"(\d+)\.(\d+)", event.values.get("capability", ""))
    device = TensorFlowDevice(
        name=f"/physical_device:GPU:{index}",
        type="GPU",
        model=event.values.get("name", ""),
        compute_capability=tuple(int(n) for n in capability.groups()) if capability else (),
    )
    listed = [
        d for d in notes.told("tensorflow.devices") or () if d.name == device.name and isinstance(d.model, Unread)
    ]
    if listed:
        notes.exchange("tensorflow.devices", listed[0], device)
    else:
        notes.add("tensorflow.devices", device, line)


def _left_out(event: LogEvent, line: int, notes: Notebook) -> None:
    _starts(line, notes)
    if event.values.get("device", "0") == "0":  # else the first one is taken, or its line is not here
        notes.tell("tensorflow.devices", (), line)  # a device that was created is added to it


def _versions(event: LogEvent, line: int, notes: Notebook) -> None:
    """A line that names both, because they differ, weighs more."""
    one, values = event.values.get("version"), event.values
    kernel = values.get("kernel", one if event.kind != "libcuda-version" else None)
    library = values.get("library", one if event.kind != "kernel-version" else None)
    if kernel:
        notes.tell("driver.kernel_version", kernel, line, _SYMPTOM if "kernel" in values else 0)
    if library:
        notes.tell("driver.libcuda.version", library, line, _SYMPTOM if "library" in values else 0)


def _no_module(_event: LogEvent, line: int, notes: Notebook) -> None:
    notes.tell("driver.kernel_version", None, line, _FAILED)
    _no_gpu(line, notes)


def _visible(event: LogEvent, line: int, notes: Notebook) -> None:
    told = notes.told("environment.variables") or ()
    if not any(v.name == "CUDA_VISIBLE_DEVICES" for v in told):
        notes.add(
            "environment.variables", Variable(name="CUDA_VISIBLE_DEVICES", value=event.values.get("value", "")), line
        )


def _whole(_event: LogEvent, line: int, notes: Notebook) -> None:
    """Before this line cuda_diagnostics prints CUDA_VISIBLE_DEVICES, where it is set."""
    if not any(v.name == "CUDA_VISIBLE_DEVICES" for v in notes.told("environment.variables") or ()):
        notes.tell("environment.unset", ("CUDA_VISIBLE_DEVICES",), line)


_ON_A_GPU = (
    "cudnn-too-old", "cudnn-part-missing", "handle-failed", "out-of-memory", "no-machine-code", "code-rejected",
    "libdevice-missing", "ptxas-too-old",
)  # fmt: skip
"""What is only said of a GPU that TensorFlow has taken."""
_TELLERS: dict[str, Callable[[LogEvent, int, Notebook], None]] = {
    "cuinit-failed": _cuinit_failed,
    "no-cuda-driver": _no_cudart,
    "cudart-not-opened": _no_cudart,
    "library-not-loaded": _library,
    "libraries-not-opened": _not_opened,
    "registers-no-gpu": lambda _, line, notes: _no_gpu(line, notes),
    "capability-too-old": _left_out,
    "few-multiprocessors": _left_out,
    "device-created": _created,
    "libcuda-version": _versions,
    "kernel-version": _versions,
    "driver-versions-differ": _versions,
    "versions-match": _versions,
    "kernel-module-absent": _no_module,
    "device-node-absent": lambda _, line, notes: _no_gpu(line, notes),
    "visible-devices": _visible,
    "diagnostics-whole": _whole,
    **dict.fromkeys(_ON_A_GPU, lambda _, line, notes: _starts(line, notes)),
    "cudnn-loaded": lambda _, line, notes: _starts(line, notes),
}
_SYMPTOMS = dict.fromkeys(
    (
        "operation-failed", "out-of-memory", "handle-failed", "dnn-absent", "cudnn-too-old", "cudnn-part-missing",
        "code-rejected", "libdevice-missing", "ptxas-too-old",
    ),
    "op-fails",
)  # fmt: skip
_DIFFER = "driver-versions-differ"
_SYMPTOMS[_DIFFER] = "driver-does-not-load"
_VERSIONS = ("libcuda-version", "kernel-version")
"""What is said where a program fails."""
