"""Kernels on TensorFlow's devices: the patient's answers -> measurements."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..facts import ALL_REDUCE, TRAINING, TRAINING_MIXED, DeviceUse, Measurement, TensorFlowDevice, Unread

STANDARD = (
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
    ALL_REDUCE,
)
"""What the standard level of `check` runs: names of the kernels in `gpudoctor/patient/kernels.py`, in the order in which they run."""
BETWEEN = "training-step-between"
"""The training step on 2, 4, … devices, fewer than all; its measurements are those of TRAINING."""
ALL = (
    *STANDARD[:-1],
    "dataset",
    "dataset-to-device",
    "dataset-to-device-prefetch",
    ALL_REDUCE,
    "all-reduce-nccl",
    "all-reduce-hierarchical",
    TRAINING,
    BETWEEN,
    TRAINING_MIXED,
)
"""What `bench` runs."""
TWO_WORKERS = "all-reduce-two-workers"
"""Two processes, each with a device of its own; in `gpudoctor/patient/two_workers.py`."""
FULL = (*ALL, TWO_WORKERS)
"""What the full level of `check` runs."""
_ON_SOME: dict[str, Callable[[int], Iterable[int]]] = {
    TRAINING: lambda count: {1, count},
    BETWEEN: lambda count: (1 << k for k in range(1, count.bit_length()) if 1 << k < count),
    TRAINING_MIXED: lambda _: (1,),
}
COSTS = (
    ("matmul", 1.5, 0.5),
    (ALL_REDUCE, 0.2, 1.6),
    (TRAINING, 2.5, 2.3),
    ("matmul-float16", 0.6, 0.1),
    ("host-to-device", 0.3, 0.1),
    (TRAINING_MIXED, 2.0, 0.0),
    ("all-reduce-nccl", 0.1, 0.8),
    (TWO_WORKERS, 6.0, 0.0),
    ("matmul-tf32", 0.8, 0.2),
    ("matmul-bfloat16", 0.6, 0.1),
    ("convolution", 0.3, 0.1),
    (BETWEEN, 0.0, 1.6),
    ("all-reduce-hierarchical", 0.1, 0.8),
    ("dataset-to-device-prefetch", 0.4, 0.1),
    ("dataset-to-device", 0.4, 0.1),
    ("device-to-host", 0.4, 0.1),
    ("numpy-to-tensor", 0.3, 0.0),
    ("dataset", 0.3, 0.0),
    ("solve", 0.4, 0.2),
    ("xla", 0.4, 0.1),
    ("fft", 0.1, 0.0),
)
"""Kernels, the most telling first: seconds that each takes on one H200, and for each GPU more. Where time is short, the first stay."""
TOGETHER = (ALL_REDUCE, "all-reduce-nccl", "all-reduce-hierarchical", *_ON_SOME)
"""What runs in the process that owns all devices."""


LIMIT_S = 120.0
"""Of all kernels together, after the import."""


def runs(kernels: Sequence[str], devices: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(kernel, device) of every measurement that `kernels` give on `devices`, which are 'GPU:0', … or the two processors."""
    for kernel in kernels:
        if kernel in _ON_SOME:
            for count in sorted(_ON_SOME[kernel](len(devices))):
                yield kernel.replace(BETWEEN, TRAINING), ",".join(devices[:count])
        elif kernel == TWO_WORKERS:
            yield kernel, ",".join(devices[:2] if len(devices) > 1 else _PROCESSORS)
        elif kernel in TOGETHER:
            yield kernel, ",".join(devices)
        else:
            yield from ((kernel, d) for d in devices if d != _PROCESSORS[1])


_PROCESSORS = ("CPU:0", "CPU:1")


def unanswered(
    kernels: Sequence[str], devices: Sequence[TensorFlowDevice], answered: Sequence[Measurement], why: Unread
) -> list[Measurement]:
    """A measurement without a value for every kernel and device that should have answered and did not."""
    gpus = [f"GPU:{i}" for i in range(sum(d.type == "GPU" for d in devices))]
    have = {(m.kernel, m.device) for m in answered}
    return [
        Measurement(kernel=k, backend="tensorflow", device=d, value=why, verified=why)
        for k, d in runs(kernels, gpus or _PROCESSORS)
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
        each=_each(got.get("each")),
    )


def _each(raw: Sequence[dict[str, Any]] | None) -> tuple[DeviceUse, ...] | Unread:
    if raw is None:
        return Unread(why="this kernel does not say")
    return tuple(
        DeviceUse(
            device=one["device"],
            utilisation_percent=one.get("utilisation_percent", Unread(why="NVML does not tell it")),
            peak_memory_bytes=one.get("peak_bytes", Unread(why="this TensorFlow does not tell it")),
        )
        for one in raw
    )
