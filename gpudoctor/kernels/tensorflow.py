"""Kernels on TensorFlow's devices: the patient's answers -> measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from ..facts import Measurement, TensorFlowDevice, Unread

ALL = (
    "matmul",
    "matmul-tf32",
    "matmul-float16",
    "matmul-bfloat16",
    "convolution",
    "fft",
    "solve",
    "xla",
    "numpy-to-tensor",
    "host-to-device",
    "device-to-host",
    "all-reduce",
)
"""Names of the kernels in `gpudoctor/patient/kernels.py`, in the order in which they run."""
TOGETHER = ("all-reduce",)
"""Those that run on all devices at once."""


def unanswered(
    kernels: Sequence[str], devices: Sequence[TensorFlowDevice], answered: Sequence[Measurement], why: str
) -> list[Measurement]:
    """A measurement without a value for every kernel and device that should have answered and did not."""
    gpus = [f"GPU:{i}" for i in range(sum(d.type == "GPU" for d in devices))]
    single, several = gpus or ["CPU:0"], [",".join(gpus or ["CPU:0", "CPU:1"])]
    have = {(m.kernel, m.device) for m in answered}
    return [
        Measurement(kernel=k, backend="tensorflow", device=d, value=Unread(why=why), verified=Unread(why=why))
        for k in kernels
        for d in (several if k in TOGETHER else single)
        if (k, d) not in have
    ]


def read(raw: dict[str, Any], devices: Sequence[TensorFlowDevice]) -> Measurement:
    """One kernel's answer; one that failed is a measurement whose value is unread, with the reason."""
    device = raw["device"]
    first = device.partition(",")[0]
    listed = next((d for d in devices if d.name.endswith(first)), None)
    model = listed.model if listed is not None else Unread(why="TensorFlow does not list this device")
    if "value" not in raw:
        skipped = raw.get("skipped")
        failed = Unread(why=skipped, chosen=True) if skipped else Unread(why=raw["failed"])
        return Measurement(
            kernel=raw["kernel"],
            backend="tensorflow",
            device=device,
            device_name=model,
            value=failed,
            verified=failed,
            seconds=raw["total_seconds"],
        )
    got: dict[str, Any] = raw["value"]
    none = Unread(why="this kernel does not say")
    samples = tuple(got["samples"])
    value: float | Unread = statistics.median(samples)
    spread: float | Unread = (max(samples) - min(samples)) / statistics.median(samples)
    if "no_value" in got:
        value = spread = Unread(why=got["no_value"], chosen=True)
    library = raw.get("library")
    return Measurement(
        kernel=raw["kernel"],
        backend="tensorflow",
        device=device,
        device_name=model,
        dtype=got["dtype"],
        size=tuple(got["size"]),
        unit=got["unit"],
        value=value,
        spread=spread,
        samples=none if isinstance(value, Unread) else samples,
        seconds=raw["total_seconds"],
        first_s=got.get("first_s", none),
        warm_up=got.get("warm_up", none),
        queued=got.get("queued", 1),
        overhead_s=got.get("overhead_s", 0.0),
        verified=got["verified"],
        against=got.get("against", none),
        error=Unread(why="the result is not finite, or not the data") if got["error"] is None else got["error"],
        tolerance=got["tolerance"],
        placed_on=got.get("placed_on", none),
        operation=got.get("operation", none),
        library=library["path"] if library else None,
        library_version=library["version"] if library else None,
    )
