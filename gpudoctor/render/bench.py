"""A benchmark for programs: JSON and CSV with every sample."""

from __future__ import annotations

import csv as csv_
import io
from collections.abc import Callable

import msgspec

from ..bundle import Report, Tool
from ..facts import Facts, Load, Measurement, Unread
from ..verdicts import Verdict, verdicts
from ..verdicts.beside import Beside, beside
from ..verdicts.scaling import Step, mixed_gain, scaling


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """What `gpudoctor bench --format json` prints."""

    tool: Tool
    started_at: str
    driver_version: str | None
    gpus: tuple[str, ...]
    """Their models, as CUDA numbers them."""
    measurements: tuple[Measurement, ...]
    verdicts: tuple[Verdict, ...]
    beside: tuple[Beside, ...] = ()
    """TensorFlow's figures beside the native ones."""
    scaling: tuple[Step, ...] = ()
    """TensorFlow's training step on several GPUs."""
    mixed_precision_gain: float | None = None
    """Of the training step on one GPU: mixed_float16 beside float32."""
    price: float | None = None
    """Of one GPU, as it was told."""


def json(report: Report, price: float | None) -> str:
    """Indented JSON with a line end."""
    return msgspec.json.format(msgspec.json.encode(bench(report, price)), indent=2).decode() + "\n"


def bench(report: Report, price: float | None) -> Bench:
    """What was measured in an examination, and what it is worth."""
    cuda, driver = report.facts.driver.libcuda.devices, report.facts.driver.kernel_version
    listed = () if isinstance(cuda, Unread) else cuda
    return Bench(
        tool=report.tool,
        started_at=report.started_at,
        driver_version=driver if isinstance(driver, str) else None,
        gpus=tuple(d.name if isinstance(d.name, str) else "?" for d in listed),
        measurements=report.measurements,
        verdicts=_verdicts(report),
        beside=beside(_facts(report)),
        scaling=scaling(report.measurements),
        mixed_precision_gain=mixed_gain(report.measurements),
        price=price,
    )


def _verdicts(report: Report) -> tuple[Verdict, ...]:
    return verdicts(_facts(report))


def _facts(report: Report) -> Facts:
    return report.seen


_COLUMNS: dict[str, Callable[[Measurement], object]] = {
    "kernel": lambda m: m.kernel,
    "backend": lambda m: m.backend,
    "device": lambda m: m.device,
    "model": lambda m: m.device_name,
    "dtype": lambda m: m.dtype,
    "size": lambda m: m.size if isinstance(m.size, Unread) else "x".join(map(str, m.size)),
    "value": lambda m: m.value,
    "unit": lambda m: m.unit,
    "spread": lambda m: m.spread,
    "samples": lambda m: m.samples if isinstance(m.samples, Unread) else " ".join(f"{s:.6g}" for s in m.samples),
    "verified": lambda m: m.verified,
    "seconds": lambda m: m.seconds,
    "peak_memory_bytes": lambda m: m.peak_memory_bytes,
    "utilisation_percent": lambda m: load(m, "utilisation_percent"),
    "clock_sm_mhz": lambda m: load(m, "clock_sm_mhz"),
    "power_w": lambda m: load(m, "power_w"),
    "energy_j": lambda m: load(m, "energy_j"),
    "temperature_max_c": lambda m: load(m, "temperature_max_c"),
    "pcie_generation": lambda m: load(m, "pcie_generation"),
    "pcie_width": lambda m: load(m, "pcie_width"),
    "library": lambda m: m.library,
    "library_version": lambda m: m.library_version,
    "why_not": lambda m: m.value.why if isinstance(m.value, Unread) else None,
}


def csv(report: Report, price: float | None) -> str:
    """A line for each measurement; what is not known is empty."""
    file = io.StringIO()
    rows = csv_.writer(file, lineterminator="\n")
    rows.writerow([*_COLUMNS, "expected", "basis", "verdict", *(["value_per_price"] if price else [])])
    judged = {key(v): v for v in _verdicts(report)}
    for one in report.measurements:
        verdict = judged.get(key(one))
        cells = [_cell(get(one)) for get in _COLUMNS.values()]
        cells += [_cell(verdict.expected), verdict.basis, verdict.verdict] if verdict else ["", "", ""]
        if price:
            cells.append(_cell(per_price(one, price)))
        rows.writerow(cells)
    return file.getvalue()


def _cell(value: object) -> str:
    if value is None or isinstance(value, Unread):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def load(one: Measurement, field: str) -> float | None:
    """What NVML said of the GPU meanwhile; None: nothing."""
    if not isinstance(one.load, Load):
        return None
    value: object = getattr(one.load, field)
    return float(value) if isinstance(value, int | float) else None


def key(one: Measurement | Verdict) -> tuple[object, ...]:
    """What a measurement and its verdict have in common."""
    return one.kernel, one.backend, one.device, one.dtype, one.size


def per_price(one: Measurement, price: float) -> float | None:
    """The rate of one GPU by what it costs; latencies and what several GPUs do together have none."""
    if not isinstance(one.value, float) or one.unit == "us" or "," in one.device:
        return None
    return one.value / price
