"""Facts <-> file: the report of one examination, as it is printed, kept and judged again."""

from __future__ import annotations

import time
from typing import Literal

import msgspec

from . import __version__
from .answer import Answer
from .diagnosis import judge
from .errors import Error
from .facts import Facts, Measurement
from .findings import Diagnosis, Finding, Ignored, Judgement, Level, Skipped, Unknown
from .registry import Check

Kind = Literal["home", "user", "host", "address", "mac", "gpu-uuid", "serial", "secret", "email", "domain"]
"""What a token stands for; `identifiers` finds them."""
SCHEMA_VERSION = 1
MAX_BYTES = 16 << 20
"""A larger file is no report of ours: one of a machine with eight GPUs has 0.4 MB."""
MAX_VALUES = 200_000
"""Of a list or an object, all of a report together; eight GPUs have 15,000. Each takes memory, and checks look at it."""
MAX_GPUS = 128
"""Of a machine: checks look at each pair."""


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
    ignored: tuple[Ignored, ...] = ()
    """The ignore list, entry by entry, with the findings that count for nothing because of it: they are not in `findings`."""
    redactions: tuple[Redaction, ...] | None = None
    """What `gpudoctor.redact` replaced; None: nothing was redacted."""

    @property
    def seen(self) -> Facts:
        """The facts with the measurements in them, as checks and verdicts want them."""
        return msgspec.structs.replace(self.facts, measurements=self.measurements)


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
        ignored=judgement.ignored,
        redactions=redactions,
    )


class NotAReport(Error, ValueError):  # noqa: N818
    """A file that is no report of gpudoctor's; the text is the reason."""


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    cause: str


class _Said(msgspec.Struct, frozen=True, kw_only=True):
    """Of a recorded diagnosis, what every version says in the same words."""

    verdict: str
    root_causes: tuple[_Named, ...] = ()
    candidates: dict[str, tuple[_Named, ...]] = {}


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a report that a replay needs. Older ones lack fields, newer ones have others: both are read."""

    schema_version: int
    started_at: str
    facts: Facts
    tool: Tool | None = None
    measurements: tuple[Measurement, ...] = ()
    diagnosis: _Said | None = None
    redactions: tuple[Redaction, ...] | None = None


class Recorded(msgspec.Struct, frozen=True):
    """What was seen on a machine, and what was said of it then."""

    facts: Facts
    """With the measurements."""
    started_at: str
    redactions: tuple[Redaction, ...] | None = None
    answer: Answer | None = None
    """None: nothing was said yet."""
    version: str = ""
    """Of the gpudoctor that said it."""


def recorded(data: bytes) -> Recorded:
    """The facts in a printed report with its measurements, when it was made, what was replaced in it, what it said.

    A report comes from a stranger: its size is bounded and every field is validated. Raises NotAReport.
    """
    if len(data) > MAX_BYTES:
        raise NotAReport(f"larger than {MAX_BYTES >> 20} MiB")
    if data.count(b",") > MAX_VALUES:
        raise NotAReport(f"more than {MAX_VALUES:,} values in it")
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as e:
        raise NotAReport(str(e)) from e
    if file.schema_version > SCHEMA_VERSION:
        raise NotAReport(
            f"schema version {file.schema_version} is newer than this gpudoctor's {SCHEMA_VERSION}; upgrade gpudoctor"
        )
    said = file.diagnosis
    bounded(file.facts)
    return Recorded(
        facts=msgspec.structs.replace(file.facts, measurements=file.measurements),
        started_at=file.started_at,
        redactions=file.redactions,
        answer=None
        if said is None
        else Answer(
            verdict=said.verdict,
            causes=tuple(one.cause for one in said.root_causes),
            candidates={symptom: tuple(one.cause for one in left) for symptom, left in said.candidates.items()},
        ),
        version=file.tool.version if file.tool is not None else "",
    )


def bounded(facts: Facts) -> None:
    """Raises NotAReport where no machine is like that."""
    for listed in (facts.gpu.devices, facts.driver.libcuda.devices):
        if isinstance(listed, tuple) and len(listed) > MAX_GPUS:
            raise NotAReport(f"{len(listed)} GPUs in it: no machine has more than {MAX_GPUS}")


def read(data: bytes) -> tuple[Facts, str, tuple[Redaction, ...] | None]:
    """The same without what was said. Raises NotAReport."""
    file = recorded(data)
    return file.facts, file.started_at, file.redactions


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
