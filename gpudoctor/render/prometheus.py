"""Prometheus' text format, for the textfile collector of node_exporter; made by prometheus-client, which is an extra."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import get_args

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from ..facts import Measurement
from ..findings import Verdict
from . import ignored
from .lines import clean
from .view import Ending, View

_UNITS = {
    "GFLOP/s": ("flop_per_second", "floating point operations per second", 1e9),
    "TFLOP/s": ("flop_per_second", "floating point operations per second", 1e12),
    "MB/s": ("bytes_per_second", "bytes per second", 1e6),
    "GB/s": ("bytes_per_second", "bytes per second", 1e9),
    "us": ("seconds", "seconds", 1e-6),
}
"""Our unit -> the end of the metric's name, in words, how many of it."""
_ENDINGS: dict[Ending, int] = {"passed": 0, "found": 1, "unknown": 2, "skipped": 3, "ignored": 4}
_KERNEL = ("kernel", "backend", "device", "dtype", "size")


def render(view: View) -> str:
    """Gauges alone. What is not known has no sample."""
    registry = CollectorRegistry()

    def gauge(name: str, words: str, labels: tuple[str, ...] = ()) -> Gauge:
        return Gauge(f"gpudoctor_{name}", words, labels, registry=registry)

    gauge("build_info", "Which gpudoctor made this.", ("version",)).labels(clean(view.report.tool.version)).set(1)
    if (at := _seconds(view.report.started_at)) is not None:
        gauge("timestamp_seconds", "When the examination began, in seconds since 1970.").set(at)
    if view.took_s is not None:
        gauge("duration_seconds", "How long the examination took.").set(view.took_s)
    gauge("exit_code", "What gpudoctor check ends with: 1 findings, 3 the verdict is open.").set(view.exit_code)
    verdict = gauge("verdict", "1 for the verdict that was reached, 0 for the others.", ("verdict",))
    for word in get_args(Verdict):
        verdict.labels(word).set(word == view.verdict)
    roots = gauge("root_cause", "1 for each root cause; those of level info are no fault.", ("cause", "code", "level"))
    for root in view.report.diagnosis.root_causes:
        roots.labels(root.cause, root.code, root.level).set(1)
    gpus = gauge("gpus", "How many GPUs TensorFlow, CUDA and NVML list.", ("source",))
    for source, number in view.gpus.items():
        gpus.labels(source).set(number)
    gauge("ignored_findings", "Findings that the ignore list takes out.").set(ignored.count(view.report.ignored))
    ended = (
        "How a check ended: 0 ruled out, 1 found, 2 could not be decided, 3 does not apply here, 4 found and ignored."
    )
    status = gauge("check_status", ended, ("cause", "code", "subject", "level"))
    for one in view.outcomes:
        status.labels(one.cause, one.code, one.subject, one.level).set(_ENDINGS[one.ended])
    ends = {end: words for end, words, _ in _UNITS.values()}
    _measurements(view, {end: _pair(registry, end, words) for end, words in ends.items()}, registry)
    return generate_latest(registry).decode()


def _pair(registry: CollectorRegistry, end: str, words: str) -> tuple[Gauge, Gauge]:
    """The gauges for what was measured in a unit, and for what was to be expected."""
    value, expected = f"gpudoctor_measurement_{end}", f"gpudoctor_measurement_expected_{end}"
    return (
        Gauge(value, f"What a kernel reached, in {words}.", _KERNEL, registry=registry),
        Gauge(expected, f"What the kernel is compared with, in {words}.", _KERNEL, registry=registry),
    )


def _measurements(view: View, gauges: dict[str, tuple[Gauge, Gauge]], registry: CollectorRegistry) -> None:
    words = "Whether a kernel's result was compared and is right (1) or wrong (0)."
    verified = Gauge("gpudoctor_measurement_verified", words, _KERNEL, registry=registry)
    for one, verdict in view.measured:
        labels = [clean(text) for text in _labels(one)]
        if isinstance(one.verified, bool):
            verified.labels(*labels).set(one.verified)
        if verdict is not None and verdict.unit in _UNITS:
            end, _, many = _UNITS[verdict.unit]
            value, expected = gauges[end]
            value.labels(*labels).set(verdict.value * many)
            if verdict.expected is not None:
                expected.labels(*labels).set(verdict.expected * many)


def _labels(one: Measurement) -> tuple[str, ...]:
    size = "x".join(map(str, one.size)) if isinstance(one.size, tuple) else ""
    return one.kernel, one.backend, one.device, one.dtype if isinstance(one.dtype, str) else "", size


def _seconds(started_at: str) -> float | None:
    try:
        at = datetime.fromisoformat(started_at)
        return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
