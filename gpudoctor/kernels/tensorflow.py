"""Kernels on TensorFlow's devices: the patient's answers -> measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from ..facts import Measurement, TensorFlowDevice, Unread

ALL = ("matmul",)
"""Names of the kernels in `in_patient.py`, in the order in which they run."""


def unanswered(
    kernels: Sequence[str], devices: Sequence[TensorFlowDevice], answered: Sequence[Measurement], why: str
) -> list[Measurement]:
    """A measurement without a value for every kernel and device that should have answered and did not."""
    gpus = [f"GPU:{i}" for i in range(sum(d.type == "GPU" for d in devices))] or ["CPU:0"]
    have = {(m.kernel, m.device) for m in answered}
    return [
        Measurement(kernel=k, backend="tensorflow", device=d, value=Unread(why=why), verified=Unread(why=why))
        for k in kernels
        for d in gpus
        if (k, d) not in have
    ]


def read(raw: dict[str, Any], devices: Sequence[TensorFlowDevice]) -> Measurement:
    """One kernel's answer; one that failed is a measurement whose value is unread, with the reason."""
    name, device = raw["kernel"], raw["device"]
    listed = next((d for d in devices if d.name.endswith(device)), None)
    model = listed.model if listed is not None else Unread(why="TensorFlow does not list this device")
    if "value" not in raw:
        failed = Unread(why=raw["failed"])
        return Measurement(
            kernel=name,
            backend="tensorflow",
            device=device,
            device_name=model,
            dtype="float32",
            value=failed,
            verified=failed,
            seconds=raw["total_seconds"],
        )
    got = raw["value"]
    samples = tuple(got["samples"])
    median = statistics.median(samples)
    return Measurement(
        kernel=name,
        backend="tensorflow",
        device=device,
        device_name=model,
        dtype=got["dtype"],
        size=tuple(got["size"]),
        unit=got["unit"],
        value=median,
        spread=(max(samples) - min(samples)) / median,
        samples=samples,
        seconds=raw["total_seconds"],
        verified=got["verified"],
        error=Unread(why="the result is not finite") if got["error"] is None else got["error"],
        tolerance=got["tolerance"],
    )
