"""What holds a GPU back or closes it, as programs and people say it: busy, unlicensed, throttled, a slow link, faults of programs."""

from __future__ import annotations

from .language import Kind, Language, Values
from .notebook import Notebook

_SYMPTOM = 1


def _no_gpu(_values: Values, line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.devices", (), line, _SYMPTOM)


LANGUAGE = Language(
    name="gpu",
    words=(
        "busy or unavailable", "DEVICE_UNAVAILABLE", "DEVICES_UNAVAILABLE", "icens", "icenc", "Power Cap", "power cap", "hrottl", "Gen", "gen ",
        "ILLEGAL_ADDRESS", "illegal memory access", "LAUNCH_FAILED", "launch failure", "Registered devices", "PCIe bandwidth", "Width", "device ordinal", "num_gpus", "InvalidDevice", "device_count", "Invalid device", "Invalid CUDA",
        "supported devices found", "too old", "is not supported by", "which supports up to", "nvenc API", "nvml",
    ),
    kinds=(
        Kind("device-busy", r"busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE|cudaErrorDevicesUnavailable", "op-fails"),
        Kind(
            "vgpu-no-licence",
            r"Failed to (?:acquire|obtain|fetch) (?:a )?[Ll]icen[sc]e|Valid GRID [Ll]icense not found|[Uu]nlicensed vGPU|vGPU (?:is )?[Uu]nlicensed"
            r"|Status {1,40}: Unlicensed|vGPU[^\n]{0,40}throttl\w{1,4} without a licen[sc]e",
        ),
        Kind("names-vgpu-licence", r"(?:vGPU|GRID|gridd)[^\n]{0,80}\b[Ll]icen[sc](?:e|ing)|\b[Ll]icen[sc](?:e|ing)[^\n]{0,80}(?:vGPU|GRID)\b"),
        Kind(
            "power-cap-slows",
            r"(?:[Tt]hrottl|[Cc]locks? (?:go|goes|drop|drops|fall|falls)\b)[^\n]{0,80}S[Ww] [Pp]ower [Cc]ap"
            r"|S[Ww] [Pp]ower [Cc]ap[^\n:]{0,80}(?:[Tt]hrottl|[Cc]lock)",
            "runs-slowly",
        ),
        Kind(
            "thermal-throttle",
            r"[Tt]hermal(?:ly)? [Tt]hrottl|[Tt]hrottl\w{1,4} (?:due to|because of) (?:the )?(?:heat|temperature|overheating)",
            "runs-slowly",
        ),
        Kind(
            "link-slow-at-work",
            r"\b[Gg]en ?[12]\b(?![^.\n]{0,60}\bidle)[^.\n]{0,60}\b(?:under load|during|while) ?[^.\n]{0,40}(?:load|training)",
            "runs-slowly",
        ),
        Kind("illegal-address", r"CUDA_ERROR_ILLEGAL_ADDRESS|an illegal memory access was encountered", "op-fails"),
        Kind("launch-failed", r"CUDA_ERROR_LAUNCH_FAILED|unspecified launch failure", "op-fails"),
        Kind(
            "driver-refused",
            r"NVIDIA driver on your system is too old|CUDA \d{1,2}\.\d{1,2} is not supported by(?: your driver|$)|your driver \(which supports up to \d"
            r"|[Dd]river does not support the required nvenc API|CUDA driver (?:version |library )?is too old"
            r"|(?:undefined symbol|symbol not found|[Cc]ould not find symbol|symbol lookup error)\W{1,3}['\"]?nvml[A-Z]\w{3,60}",
            "op-fails",
        ),
        Kind(
            "wrong-ordinal",
            r"(?i:\binvalid device ordinal)|device >= 0 && device < num_gpus|cudaErrorInvalidDevice\b|torch\.cuda\.device_count\(\) is \d"
            r"|AssertionError: Invalid device id|Invalid CUDA '?device=\d",
            "op-fails",
        ),
        Kind("platform-without-devices", r"no supported devices found for platform CUDA", "op-fails"),
        Kind("registered-without-gpu", r"Registered devices: \[(?:CPU|XLA_CPU)(?:, ?(?:CPU|XLA_CPU))?\]", "op-fails", tell=_no_gpu),
    ),
)  # fmt: skip
