"""Measurements in words: what a report and a benchmark share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..facts import Facts, Measurement, Unread
from ..verdicts.beside import Beside, beside
from ..verdicts.scaling import mixed_gain, scaling

_LARGER = {"GFLOP/s": "TFLOP/s", "TFLOP/s": "PFLOP/s", "MB/s": "GB/s", "GB/s": "TB/s"}


def rate(low: float, high: float, unit: str) -> str:
    """'354 to 358 TFLOP/s': three digits, in the larger unit from a thousand on."""
    if low >= 1000 and unit in _LARGER:
        low, high, unit = low / 1000, high / 1000, _LARGER[unit]
    shown = tuple(f"{float(f'{x:.3g}'):.0f}" if x >= 1000 else f"{x:.3g}" for x in (low, high))
    return f"{shown[0] if shown[0] == shown[1] else ' to '.join(shown)} {unit}"


def what(one: Measurement) -> str:
    """'matmul float16 8192', 'copy-pair 256 MiB': a kernel with its type and size."""
    dtype = one.dtype if isinstance(one.dtype, str) else ""
    shown = "" if dtype in one.kernel or dtype in ("bytes", "none") else f" {dtype}"
    return f"{one.kernel}{shown} {size(one)}".rstrip()


def size(one: Measurement) -> str:
    """'8192' for a square product, '256 MiB' for bytes, else the dimensions."""
    if isinstance(one.size, Unread) or not one.size or one.dtype == "none":
        return ""
    if one.dtype == "bytes" or one.unit in ("GB/s", "us"):
        return amount(one.size[0] * (4 if one.dtype == "float32" else 1))
    distinct = set(one.size)
    return str(one.size[0]) if len(distinct) == 1 else "x".join(str(n) for n in one.size)


def amount(size_bytes: float) -> str:
    """'4 B', '64 KiB', '1.5 GiB'."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size_bytes < 1024 or unit == "TiB":
            break
        size_bytes /= 1024
    return f"{size_bytes:.3g} {unit}"


def where(ones: Sequence[Measurement]) -> str:
    """'GPU:0-7'; 'GPU:0→1' for one copy between two, 'GPU:0↔1' for both ways."""
    names = list(dict.fromkeys(one.device for one in ones))
    pairs = [[name.partition(":")[2] for name in pair.split(",")] for pair in names]
    if not ones[0].kernel.startswith("copy-pair") or any(len(pair) != 2 for pair in pairs):
        return devices(names)
    if len(pairs) == 1:
        return f"GPU:{pairs[0][0]}→{pairs[0][1]}"
    if len(pairs) == 2 and pairs[0] == pairs[1][::-1]:
        return f"GPU:{pairs[0][0]}↔{pairs[0][1]}"
    return f"{devices(names)}, {len(pairs)} pairs"


def devices(names: Iterable[str]) -> str:
    """'GPU:0-7' for eight names in a row; several that worked together are one name with commas."""
    flat = sorted({n for name in names for n in name.split(",")}, key=lambda n: (len(n), n))
    kind, numbers = flat[0].partition(":")[0], [n.partition(":")[2] for n in flat]
    in_digits = all(n.isdecimal() and len(n) < 6 for n in numbers)
    if len(flat) > 2 and in_digits and numbers == [str(i) for i in range(int(numbers[0]), int(numbers[0]) + len(flat))]:
        return f"{kind}:{numbers[0]}-{numbers[-1]}"
    return f"{kind}:{','.join(numbers)}"


def values(ones: Sequence[Measurement]) -> str:
    """The range of the rates of measurements of one kind; '' where none has one."""
    rates = [one.value for one in ones if isinstance(one.value, float)]
    unit = next((one.unit for one in ones if isinstance(one.unit, str)), "")
    return rate(min(rates), max(rates), unit) if rates else ""


# ----------------------------------------------------------------------------- TensorFlow beside native, and several GPUs


def by_kernel(rows: Iterable[Beside]) -> dict[str, list[Beside]]:
    """All GPUs of one kernel together."""
    found: dict[str, list[Beside]] = {}
    for one in rows:
        found.setdefault(one.kernel, []).append(one)
    return found


def parts(ones: Sequence[Beside]) -> str:
    """'92%', '92 to 97%': of the native figure."""
    low, high = (f"{100 * f(one.ratio for one in ones):.0f}" for f in (min, max))
    return f"{low}%" if low == high else f"{low} to {high}%"


def why_less(ones: Sequence[Beside]) -> str:
    """Why the least of them is low; '' where none is."""
    return next((one.why for one in sorted(ones, key=lambda one: one.ratio) if one.why), "")


def beside_native(facts: Facts) -> list[str]:
    """'TensorFlow beside native: matmul 99%, all-reduce 74%', and a line for each that is low, with the reason."""
    groups = by_kernel(beside(facts))
    if not groups:
        return []
    lines = [f"TensorFlow beside native: {', '.join(f'{kernel} {parts(ones)}' for kernel, ones in groups.items())}"]
    for kernel, ones in groups.items():
        if why := why_less(ones):
            worst = min(ones, key=lambda one: one.ratio)
            lines.append(
                f"  {kernel} {worst.in_tensorflow:.3g} of {worst.without:.3g} {worst.unit} ({worst.native}): {why}"
            )
    return lines


def speed_ups(measurements: Sequence[Measurement]) -> list[str]:
    """'training-step on 2 GPUs: 1.94 times one (efficiency 97%)', and what mixed precision gains."""
    lines = []
    for step in scaling(measurements):
        if step.count > 1:
            busy = [u for u in step.utilisation_percent if u is not None]
            held = [m for m in step.peak_memory_bytes if m is not None]
            more = f", utilisation {min(busy)} to {max(busy)}%" if busy else ""
            more += f", memory {amount(min(held))} to {amount(max(held))} each" if held else ""
            lines.append(
                f"training-step on {step.count} GPUs: {step.speed_up:.2f} times one (efficiency {step.efficiency:.0%}){more}"
            )
    gain = mixed_gain(measurements)
    return lines + ([f"mixed_float16: {gain:.2f} times float32 on one GPU"] if gain is not None else [])
