"""What a report says, derived once for every format: the verdict and its sentence, the exit code, the causes, how each check ended,
what was measured."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Literal, NamedTuple

from .. import bundle, registry
from ..bundle import FailOn, Report
from ..facts import Measurement, Unread
from ..findings import Finding, LevelWord, RootCause, Verdict
from ..verdicts import Verdict as Judged
from ..verdicts import judged
from . import ignored, log
from .lines import Line, clean

Ending = Literal["found", "passed", "unknown", "skipped", "ignored"]


class Outcome(NamedTuple):
    """How a check ended."""

    code: str
    cause: str
    subject: str
    level: LevelWord
    """Of what it found; where that is nothing, of what it would find."""
    ended: Ending
    findings: tuple[Finding, ...] = ()
    why: str = ""
    """Why it is unknown, does not apply, is ruled out, or ignored."""
    settle: str | None = None


@dataclasses.dataclass(frozen=True)
class View:
    """A report, as every format sees it."""

    report: Report
    fail_on: FailOn = "warn"
    recorded: bool = False
    """It was made elsewhere: what it says to run is not ours to recommend."""
    took_s: float | None = None
    """How long the examination took; None: it is not known."""

    @property
    def verdict(self) -> Verdict:
        """One word."""
        return self.report.diagnosis.verdict

    @property
    def sentence(self) -> str:
        """The verdict as the text report ends with it, without its mark."""
        return sentence(self.report).plain.lstrip("✓? ")

    @property
    def exit_code(self) -> int:
        """What `gpudoctor check` ends with."""
        return bundle.exit_code(self.report, self.fail_on)

    @property
    def causes(self) -> tuple[RootCause, ...]:
        """The root causes that make the verdict, in their order."""
        return tuple(r for r in self.report.diagnosis.root_causes if r.level != "info")

    @property
    def open_symptoms(self) -> tuple[Finding, ...]:
        """The symptoms without a cause: with candidates, or unexplained."""
        diagnosis = self.report.diagnosis
        names = {*diagnosis.candidates, *(one.symptom for one in diagnosis.unexplained)}
        return tuple(f for f in self.report.findings if f.symptom and f.cause in names)

    @property
    def ignored(self) -> str | None:
        """How many findings the ignore list takes out, and which; None: none."""
        return ignored.sentence(self.report.ignored)

    @property
    def where(self) -> str:
        """Where fixes were tried."""
        return "there" if self.recorded else "here"

    @cached_property
    def gpus(self) -> dict[str, int]:
        """How many GPUs TensorFlow, CUDA and NVML list; whose list could not be read is not there."""
        facts = self.report.facts
        lists = {
            "tensorflow": facts.tensorflow.gpus(),
            "cuda": facts.driver.libcuda.devices,
            "nvml": facts.gpu.devices,
        }
        return {name: len(listed) for name, listed in lists.items() if not isinstance(listed, Unread)}

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """How each check ended, by code."""
        report, levels = self.report, {one.code: one.level.word for one in registry.all_checks()}
        ended: dict[str, Outcome] = {}

        def end(code: str, cause: str, how: Ending, why: str | None = None, settle: str | None = None) -> None:
            subject, level = registry.subject_of(code), levels.get(code, "fail")
            ended[code] = Outcome(code, cause, subject, level, how, why=why or "", settle=settle)

        for out in report.diagnosis.ruled_out:
            end(out.code, out.cause, "passed", out.reason)
        for left in report.unknown:
            end(left.code, left.cause, "unknown", left.why, left.settle)
        for skipped in report.skipped:
            end(skipped.code, skipped.cause, "skipped", skipped.reason)
        for one in report.ignored:
            for finding in one.findings:
                word = f"until {one.entry.until}: " if one.entry.until else ""
                end(finding.code, finding.cause, "ignored", f"{word}{one.entry.reason}  [{one.entry.file}]")
        found: dict[str, list[Finding]] = {}
        for finding in report.findings:
            found.setdefault(finding.code, []).append(finding)
        for code, ones in found.items():
            end(code, ones[0].cause, "found")
            ended[code] = ended[code]._replace(level=worst(ones), findings=tuple(ones))
        return tuple(ended[code] for code in sorted(ended))

    @cached_property
    def measured(self) -> tuple[tuple[Measurement, Judged | None], ...]:
        """What was measured, each with what it is worth; what failed or had nothing to do has no verdict."""
        worth = {id(one): verdict for one, verdict in judged(self.report.seen)}
        return tuple((one, worth.get(id(one))) for one in self.report.measurements)


def worst(findings: list[Finding]) -> LevelWord:
    """The highest of their levels."""
    levels = {one.level for one in findings}
    return "fail" if "fail" in levels else "warn" if "warn" in levels else "info"


def sentence(report: Report) -> Line:
    """The verdict in a sentence."""
    if report.facts.text.is_all:
        return log.verdict(report)
    diagnosis = report.diagnosis
    if diagnosis.verdict == "healthy":
        return Line((("✓ Healthy", "bold green"), (f": {_healthy(report)}", "")))
    if diagnosis.verdict == "unknown":
        why = ": nothing wrong was found, and what would show it could not be looked at."
        return Line((("? Unknown", "bold yellow"), (why, "")))
    word, style = ("Faulty", "bold red") if diagnosis.verdict == "faulty" else ("Warning", "bold yellow")
    causes = [r.cause for r in diagnosis.root_causes if r.level != "info"]
    named = f"{count(len(causes), 'root cause')}: {', '.join(causes)}"
    none = "no cause could be named; see above what is left to look at."
    return Line(((word, style), (f": {clean(named) if causes else none}", "")))


def _healthy(report: Report) -> str:
    gpus = report.facts.tensorflow.gpus()
    if gpus and not isinstance(gpus, Unread):
        return f"TensorFlow lists {count(len(gpus), 'GPU')}."
    if ignored.count(report.ignored):
        return "nothing is wrong but what is ignored."
    open_ = f", {len(report.unknown)} checks could not be decided" if report.unknown else ""
    return f"nothing wrong was found{open_}."


def count(number: int, what: str) -> str:
    """'no GPU', '1 GPU', '2 GPUs'."""
    return f"no {what}" if number == 0 else f"{number} {what}{'' if number == 1 else 's'}"


def one_line(text: str) -> str:
    """A text of others in one line, without anything that moves a cursor."""
    return clean(" ".join(text.split()))


def cut(text: str, most: int) -> str:
    """At most so many characters; what is missing shows."""
    return text if len(text) <= most else text[: most - 1] + "…"
