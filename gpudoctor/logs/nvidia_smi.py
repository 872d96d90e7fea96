"""nvidia-smi: its errors, its table, its list (-L)."""

from __future__ import annotations

import re

from ..facts import GpuDevice
from .language import Understood
from .notebook import Notebook

LANGUAGE = "nvidia-smi"
WORDS = (
    "NVML",
    "NVIDIA",
    "version mismatch",
    "blocked by",
    "GPU",
    "No devices",
    "device handle",
    "Driver Version",
    "CUDA Version",
    "Off",
    "On ",
    "MiB",
)

_ERRORS: tuple[tuple[int, str], ...] = (
    (
        18,
        r"(?i:(?:NVML: )?driver/library version mismatch)|NVML_ERROR_LIB_RM_VERSION_MISMATCH|NVMLError_LibRmVersionMismatch",
    ),
    (
        9,
        r"NVML: Driver Not Loaded|couldn.?t communicate with the NVIDIA driver|NVML_ERROR_DRIVER_NOT_LOADED|NVMLError_DriverNotLoaded",
    ),
    (4, r"NVML: Insufficient Permissions|NVML_ERROR_NO_PERMISSION|NVMLError_NoPermission"),
    (12, r"NVML: (?:NVML )?(?:Shared )?Library Not Found|couldn.?t find (?:the )?libnvidia-ml\.so"),
    (17, r"GPU access blocked by the operating system|NVML_ERROR_OPERATING_SYSTEM"),
    (15, r"NVML: GPU is lost|NVML_ERROR_GPU_IS_LOST|NVMLError_GpuIsLost"),
    (999, r"NVML: Unknown Error|NVML_ERROR_UNKNOWN\b|NVMLError_Unknown"),
)
"""NVML's codes, by nvidia-smi's words."""
_COMPILED = tuple((code, re.compile(pattern)) for code, pattern in _ERRORS)
_LIBRARY = re.compile(r"NVML library version: (?P<version>\d+(?:\.\d+)+)")
_LOST = re.compile(
    r"Unable to determine the device handle for (?:GPU|gpu)\s?(?P<index>\d+)?:?\s*(?P<address>[0-9A-Fa-f:.]+)?: "
    r"(?P<error>GPU is lost|Unknown Error|.*?lost.*|.*)"
)
_BANNER = re.compile(
    r"NVIDIA-SMI +(?P<smi>[\d.]+) +(?:KMD Version|Driver Version): *(?P<driver>[\d.]+)"
    r"(?: +CUDA (?:UMD )?Version: *(?P<cuda>\d+\.\d+|N/A))?"
)
_ROW = re.compile(
    r"\|\s+(?P<index>\d+)\s+(?P<name>\S.*?)\s+(?:On|Off|N/A)\s+\|\s+(?P<address>[0-9A-F]{4,8}:[0-9A-F]{2}:\S+)"
)
_LISTED = re.compile(r"GPU (?P<index>\d+): (?P<name>.+?) \(UUID: (?P<uuid>GPU-[\w-]+)\)")
_FAILED = 1
_GPU_IS_LOST = 15


def line(text: str, number: int, notes: Notebook) -> Understood | None:
    """The kind of a line, and what it names."""
    if "nvidia-container-cli" in text:
        return None  # what it says of the host is a container's matter
    for code, pattern in _COMPILED:
        if pattern.search(text):
            notes.tell("gpu.nvml_error", code, number, _FAILED)
            notes.tell("gpu.nvml_error_text", text.partition("NVML: ")[2] or text[:120], number, _FAILED)
            return Understood("nvml-failed", {"code": str(code)})
    if found := _LIBRARY.search(text):
        notes.tell("gpu.nvml_version", found["version"], number)
        return Understood("nvml-version", {"version": found["version"]})
    if re.match(r"No devices were found$", text):
        notes.tell("gpu.nvml_error", None, number)
        notes.tell("gpu.devices", (), number, _FAILED)
        return Understood("no-devices", {})
    if (found := _LOST.search(text)) and "lost" in text:
        device = GpuDevice(index=int(found["index"] or 0), nvml_error=_GPU_IS_LOST, nvml_error_text="GPU is lost")
        notes.add("gpu.devices", device, number, _FAILED)
        return Understood("gpu-lost", {"address": found["address"] or ""})
    if found := _BANNER.search(text):
        notes.tell("gpu.nvml_error", None, number)
        notes.tell("gpu.driver_version", found["driver"], number)
        if found["cuda"] and found["cuda"] != "N/A":
            major, _, minor = found["cuda"].partition(".")
            notes.tell("gpu.cuda_driver_version", int(major) * 1000 + int(minor) * 10, number)
        return Understood("nvidia-smi", {k: v for k, v in found.groupdict().items() if v})
    if found := _ROW.match(text) or _LISTED.match(text):
        _device(found, number, notes)
        return Understood("gpu", {k: v for k, v in found.groupdict().items() if v})
    return None


def _device(found: re.Match[str], number: int, notes: Notebook) -> None:
    named = found.groupdict()
    index = int(named["index"])
    told = notes.told("gpu.devices") or ()
    if any(device.index == index for device in told):
        return
    device = GpuDevice(index=index, name=named["name"].strip(), nvml_error=None)
    notes.add("gpu.devices", device, number)
