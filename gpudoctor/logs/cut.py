"""The last line of a text that was cut short: what a program began to say there, where it can go on in one way only."""

from __future__ import annotations

import re

_ERRORS = (
    "NO_DEVICE", "UNKNOWN", "INVALID_DEVICE", "OUT_OF_MEMORY", "NOT_INITIALIZED", "OPERATING_SYSTEM", "SYSTEM_DRIVER_MISMATCH",
    "SYSTEM_NOT_READY", "COMPAT_NOT_SUPPORTED_ON_DEVICE", "STUB_LIBRARY", "DEVICE_UNAVAILABLE", "NOT_FOUND",
)  # fmt: skip
_MESSAGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("cuda_dnn.cc:", r"cuda_dnn\.cc:\d{1,5}\] ", ("could not create cudnn handle", "Could not create cudnn handle")),
    ("cuda_blas.cc:", r"cuda_blas\.cc:\d{1,5}\] ", ("failed to create cublas handle",)),
    ("cuInit: ", r"failed call to cuInit: ", tuple(f"CUDA_ERROR_{name}: " for name in _ERRORS)),
    (
        "diagnostics.cc:",
        r"cuda_diagnostics\.cc:\d{1,5}\] ",
        ("kernel driver does not appear to be running on this host", "no NVIDIA GPU device is present: /dev/nvidia0 does not exist"),
    ),
    ("gpu_device.cc:", r"gpu_device\.cc:\d{1,5}\] ", ("Cannot dlopen some GPU libraries", "Skipping registering GPU devices...")),
    (
        "DLL load failed",
        r"DLL load failed[^:\n]{0,60}: ",
        (
            "The specified module could not be found.",
            "The specified procedure could not be found.",
            "A dynamic link library (DLL) initialization routine failed.",
        ),
    ),
    (".so", r"\blib(?:cu|nv)\w{2,24}\.so[.\d]{0,12}: ", ("cannot open shared object file: No such file or directory",)),
)  # fmt: skip
"""A word of the line, what stands before the message, and the messages."""


def completed(line: str) -> str:
    """The line with the rest of its message; as it is where that can be another one."""
    for word, before, messages in _MESSAGES:
        if word not in line or (found := re.search(rf"{before}(\S.{{0,60}})$", line)) is None:
            continue
        said = found[1].rstrip("`'\" ")
        whole = [one for one in messages if one.startswith(said)]
        if len(whole) == 1:
            return line[: found.start(1)] + whole[0]
    return line
