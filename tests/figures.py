"""What a healthy machine with two H200 measures without a framework."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.facts import ClockReason, DeviceUse, Load, Measurement, Unread

ADDRESSES = ("0000:00:06.0", "0000:00:07.0")
"""Of its GPUs on the PCI bus."""
MIB = 1 << 20
NATIVE_RATES: tuple[tuple[str, str, tuple[int, ...], str, float, float], ...] = (
    ("matmul-float32", "float32", (8192, 8192, 8192), "TFLOP/s", 51.2, 0.002),
    ("matmul-tf32", "tf32", (8192, 8192, 8192), "TFLOP/s", 367.6, 0.04),
    ("matmul-float16", "float16", (8192, 8192, 8192), "TFLOP/s", 700.0, 0.05),
    ("matmul-bfloat16", "bfloat16", (8192, 8192, 8192), "TFLOP/s", 700.0, 0.05),
    ("matmul-float8", "float8", (8192, 8192, 8192), "TFLOP/s", 1200.0, 0.05),
    ("repeat-matmul", "float16", (8192, 8192, 8192), "TFLOP/s", 690.0, 0.0),
    ("memory-pattern", "bytes", (2048 * MIB,), "GB/s", 4000.0, 0.01),
    ("copy-inside", "bytes", (512 * MIB,), "GB/s", 2100.0, 0.002),
    ("copy-host-to-device", "bytes", (128 * MIB,), "GB/s", 55.4, 0.002),
    ("copy-device-to-host", "bytes", (128 * MIB,), "GB/s", 55.3, 0.002),
    ("copy-both-ways", "bytes", (128 * MIB,), "GB/s", 98.7, 0.01),
    ("copy-host-to-device-pageable", "bytes", (128 * MIB,), "GB/s", 9.1, 0.1),
    ("copy-device-to-host-pageable", "bytes", (128 * MIB,), "GB/s", 16.5, 0.1),
    ("copy-latency", "bytes", (4,), "us", 6.4, 0.05),
)
"""Kernel, dtype, size, unit, value, spread: without a framework on an H200."""
NATIVE_OF_SEVERAL: tuple[tuple[str, str, str, tuple[int, ...], float, float], ...] = (
    ("copy-pair", "GPU:0,GPU:1", "bytes", (256 * MIB,), 395.0, 0.002),
    ("copy-pair", "GPU:1,GPU:0", "bytes", (256 * MIB,), 394.0, 0.002),
    ("all-reduce", "GPU:0,GPU:1", "float32", (32 * MIB,), 284.0, 0.01),
    ("all-reduce", "GPU:0,GPU:1", "float32", (256 * MIB,), 328.0, 0.01),
)
"""Kernel, devices, dtype, size, GB/s, spread."""


def native(kernel: str, device: str, *, addresses: tuple[str, ...] = ADDRESSES, **changes: Any) -> Measurement:
    """What the kernel measures natively on a healthy H200 (pair); `addresses` are the GPUs' in CUDA's order."""
    numbers = [int(name.removeprefix("GPU:")) for name in device.split(",")]
    if len(numbers) == 1:
        dtype, size, unit, value, spread = next(r[1:] for r in NATIVE_RATES if r[0] == kernel)
    else:
        of = [r[2:] for r in NATIVE_OF_SEVERAL if r[:2] == (kernel, device)]
        wanted = changes.get("size", of[0][1])
        dtype, size, value, spread = next(r for r in of if r[1] == wanted)
        unit = "GB/s"
    whole = Measurement(
        kernel=kernel,
        backend="native",
        device=device,
        pci_addresses=tuple(addresses[i] for i in numbers),
        device_name="NVIDIA H200",
        dtype=dtype,
        size=size,
        unit=unit,
        value=value,
        spread=spread,
        samples=(value * (1 - spread / 2), value, value * (1 + spread / 2)),
        seconds=0.5,
        queued=8,
        verified=True,
        error=0.0,
        tolerance=0.0,
        against="the data themselves",
        library=None,
        load=load() if len(numbers) == 1 else None,
        transport=("P2P/CUMEM",) if kernel == "all-reduce" else Unread(why="this kernel does not say"),
    )
    return msgspec.structs.replace(whole, **changes)


def load(**changes: Any) -> Load:
    """A healthy H200 at work, as NVML sees it: at its power limit now and then."""
    whole = Load(
        seconds=0.2,
        samples=40,
        clock_sm_mhz=1755,
        clock_sm_min_mhz=1695,
        clock_memory_mhz=3201,
        clock_reasons=(ClockReason(name="sw-power-cap", share=0.9),),
        power_w=690.0,
        power_max_w=705.0,
        energy_j=140.0,
        temperature_max_c=55,
        utilisation_percent=100.0,
        pcie_generation=5,
        pcie_width=16,
    )
    return msgspec.structs.replace(whole, **changes)


def step(count: int, value: float, busy: tuple[int, ...] = (), *, kernel: str = "training-step") -> Measurement:
    """TensorFlow's training step on the first `count` GPUs, `value` images a second; `busy`: percent of each."""
    names = [f"GPU:{i}" for i in range(count)]
    return Measurement(
        kernel=kernel,
        backend="tensorflow",
        device=",".join(names),
        device_name="NVIDIA H200",
        dtype="float32",
        size=(128, 112, 112, 3),
        unit="images/s",
        value=value,
        spread=0.02,
        samples=(value,) * 3,
        verified=True,
        error=0.0,
        tolerance=1e-6,
        against="a loss that falls",
        placed_on=", ".join(f"/job:localhost/replica:0/task:0/device:{name}" for name in names),
        each=tuple(
            DeviceUse(device=name, utilisation_percent=u, peak_memory_bytes=4 << 30)
            for name, u in zip(names, busy or (95,) * count, strict=True)
        ),
    )


def in_tensorflow(kernel: str, value: float, device: str = "GPU:0", **changes: Any) -> Measurement:
    """What TensorFlow measures."""
    whole = Measurement(
        kernel=kernel,
        backend="tensorflow",
        device=device,
        device_name="NVIDIA H200",
        dtype="float32",
        size=(16 << 20,),
        unit="GB/s",
        value=value,
        spread=0.02,
        samples=(value,) * 3,
        verified=True,
    )
    return msgspec.structs.replace(whole, **changes)
