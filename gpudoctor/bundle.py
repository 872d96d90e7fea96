"""Facts <-> file: the report of one examination, as it is printed, kept and judged again."""

from __future__ import annotations

import time
from typing import Literal

import msgspec

from . import __version__
from .diagnosis import judge
from .facts import Facts, Measurement
from .findings import Diagnosis, Finding, Judgement, Level, Skipped, Unknown
from .registry import Check

Kind = Literal["home", "user", "host", "address", "mac", "gpu-uuid", "serial", "secret", "email", "domain"]
"""What a token stands for; `identifiers` finds them."""
SCHEMA_VERSION = 1
MAX_BYTES = 64 << 20
"""A larger file is no report of ours."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """Which gpudoctor made a report."""

    name: str = "gpudoctor"
    version: str = __version__


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """A token that stands for something of this machine, and how often it was put in. Never what it stands for."""

    token: str
    kind: Kind
    count: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `gpudoctor check --format json` prints. `facts` and `measurements` are what was seen; the rest
    is what today's checks make of it, and is made anew by `replay`."""

    schema_version: int
    tool: Tool
    started_at: str
    """UTC, ISO 8601."""
    facts: Facts
    findings: tuple[Finding, ...]
    measurements: tuple[Measurement, ...]
    diagnosis: Diagnosis
    skipped: tuple[Skipped, ...]
    unknown: tuple[Unknown, ...]
    redactions: tuple[Redaction, ...] | None = None
    """What `gpudoctor.redact` replaced; None: nothing was redacted."""


def now() -> str:
    """UTC, ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())


def make(
    facts: Facts,
    started_at: str,
    checks: tuple[Check, ...] | None = None,
    redactions: tuple[Redaction, ...] | None = None,
) -> Report:
    """Judge `facts` and put everything into a report."""
    judgement: Judgement = judge(facts, checks)
    return Report(
        schema_version=SCHEMA_VERSION,
        tool=Tool(),
        started_at=started_at,
        facts=msgspec.structs.replace(facts, measurements=()),
        findings=judgement.findings,
        measurements=facts.measurements,
        diagnosis=judgement.diagnosis,
        skipped=judgement.skipped,
        unknown=judgement.unknown,
        redactions=redactions,
    )


class _Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a report that a replay needs: what was seen."""

    schema_version: int
    started_at: str
    facts: Facts
    measurements: tuple[Measurement, ...] = ()
    redactions: tuple[Redaction, ...] | None = None


class NotAReport(ValueError):  # noqa: N818
    """A file that is no report of gpudoctor's; the text is the reason."""


def read(data: bytes) -> tuple[Facts, str, tuple[Redaction, ...] | None]:
    """The facts in a report, with its measurements; when it was made; what was replaced in it.

    A report comes from a stranger: its size is bounded and every field is validated. Raises NotAReport.
    """
    if len(data) > MAX_BYTES:
        raise NotAReport(f"larger than {MAX_BYTES >> 20} MiB")
    try:
        recorded = msgspec.json.decode(data, type=_Recorded)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as e:
        raise NotAReport(str(e)) from e
    if recorded.schema_version > SCHEMA_VERSION:
        raise NotAReport(
            f"schema version {recorded.schema_version} is newer than this gpudoctor's {SCHEMA_VERSION}; upgrade gpudoctor"
        )
    facts = msgspec.structs.replace(recorded.facts, measurements=recorded.measurements)
    return facts, recorded.started_at, recorded.redactions


FailOn = Literal["warn", "fail", "unknown"]


def exit_code(report: Report, fail_on: FailOn) -> int:
    """0 where nothing is at or above `fail_on` (unknown < warn < fail), else 1; 3 where the verdict is open."""
    levels = {f.level for f in report.findings}
    if (
        report.facts.text.is_all
    ):  # of a machine it tells too little to be healthy; what counts is whether it shows a fault
        return 1 if levels & {Level.FAIL.word, Level.WARN.word} else 0
    bad = {"fail": {Level.FAIL.word}, "warn": {Level.FAIL.word, Level.WARN.word}}.get(fail_on)
    if bad is None:
        return 1 if report.unknown or levels & {Level.FAIL.word, Level.WARN.word} else 0
    if levels & bad:
        return 1
    return 3 if report.diagnosis.verdict == "unknown" else 0


def schema() -> dict[str, object]:
    """The JSON Schema of a report."""
    return msgspec.json.schema(Report)
