"""A comparison in Prometheus' text format; made by prometheus-client, which is an extra."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from ...compare.model import Word
from ..lines import clean
from .view import View


def render(view: View) -> str:
    """Gauges alone, under names that no report has."""
    registry = CollectorRegistry()
    one = view.comparison

    def gauge(name: str, words: str, labels: tuple[str, ...] = ()) -> Gauge:
        return Gauge(f"gpudoctor_diff_{name}", words, labels, registry=registry)

    gauge("exit_code", "What gpudoctor diff ends with: 1 something is worse.").set(view.exit_code)
    verdict = gauge("verdict", "1 for the verdict of the comparison, 0 for the others.", ("verdict", "basis"))
    for word in get_args(Word):
        verdict.labels(word, one.basis).set(word == view.verdict)
    came = gauge("new_finding", "1 for each finding that the old report has not.", ("cause", "code", "level", "change"))
    for new in one.new_findings:
        because = new.explanation.changes[0].id if new.explanation.changes else ""
        came.labels(new.finding.cause, new.finding.code, new.finding.level, clean(because)).set(1)
    went = gauge("gone_finding", "1 for each finding that only the old report has.", ("cause", "code", "level"))
    for gone in one.gone_findings:
        went.labels(gone.cause, gone.code, gone.level).set(1)
    lost = gauge("lost", "1 for each GPU or link that is not there any more.", ("change", "subject"))
    for change in one.lost:
        lost.labels(clean(change.id), clean(change.subject)).set(1)
    labels = ("kernel", "backend", "where", "dtype", "size")
    ratio = gauge("measurement_ratio", "New by old, of figures that differ beyond the noise.", labels)
    noise = gauge("measurement_noise_ratio", "By how much these may differ and mean nothing.", labels)
    for shift in (*one.losses, *one.gains):
        size = "x".join(map(str, shift.size or ()))
        named = [clean(text) for text in (shift.kernel, shift.backend, shift.where, shift.dtype or "", size)]
        ratio.labels(*named).set(0 if shift.change is None else 1 + shift.change)
        noise.labels(*named).set(shift.noise)
    changes = gauge("changes", "How many facts changed, those that follow from others left out.", ("group",))
    for group, number in Counter(change.group for change in view.leading).items():
        changes.labels(group).set(number)
    return generate_latest(registry).decode()
