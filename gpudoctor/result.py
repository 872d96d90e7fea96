"""What an examination, a recorded report or a pasted text comes to, for programs: an object that shows itself."""

from __future__ import annotations

import dataclasses
import io
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import api
from .bundle import FailOn, Report
from .facts import Facts, Measurement
from .findings import Candidate, Finding, Ignored, RootCause, Verdict
from .registry import Check
from .render import log, rendered
from .render.view import View
from .terminal import Format

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Place = Literal["here", "there", "text"]
"""What was judged: this machine; a report that was recorded; a text."""
_SUFFIXES = {
    ".txt": "text",
    ".json": "json",
    ".md": "markdown",
    ".xml": "junit",
    ".prom": "prometheus",
    ".html": "html",
}


@dataclasses.dataclass(frozen=True, repr=False)
class Result:
    """The answer of `gpudoctor.check`, `replay` and `read_log`.

    It has no truth value: ask `ok`, or `verdict`.
    """

    report: Report
    """The whole of it, as `gpudoctor check --format json` prints it; nothing in it is redacted that was not when it was made."""
    fail_on: FailOn = "warn"
    place: Place = "here"
    took_s: float | None = None
    """How long the examination took, in seconds; None: nothing was examined."""
    checks: tuple[Check, ...] | None = dataclasses.field(default=None, compare=False)
    """What it was judged by; None: every check."""

    # --------------------------------------------------------------------------- the answer

    @property
    def verdict(self) -> Verdict:
        """'healthy', 'warning', 'faulty', or 'unknown': nothing wrong was found, and what would show it could not be looked at."""
        return self.report.diagnosis.verdict

    @property
    def ok(self) -> bool:
        """Whether `exit_code` is 0. An open verdict is not ok."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """What the command would end with: 0; 1 findings at or above `fail_on`; 3 the verdict is open."""
        return self.view.exit_code

    @property
    def sentence(self) -> str:
        """The verdict as the last line of the text report has it."""
        return self.view.sentence

    @property
    def causes(self) -> tuple[RootCause, ...]:
        """The root causes that make the verdict, in the order in which to mend them; each with its proof and its fixes. What is
        information alone is in `findings`."""
        return self.view.causes

    @property
    def candidates(self) -> dict[str, tuple[Candidate, ...]]:
        """Symptom -> the causes that are left for it, where none was found; each with the command that would settle it."""
        return dict(self.report.diagnosis.candidates)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that the checks found: causes, what they explain, symptoms; without what is ignored."""
        return self.report.findings

    @property
    def ignored(self) -> tuple[Ignored, ...]:
        """The ignore list, entry by entry, with the findings that count for nothing because of it."""
        return self.report.ignored

    @property
    def facts(self) -> Facts:
        """What was seen, with the measurements; a field that could not be read is a `gpudoctor.facts.Unread`."""
        return self.report.seen

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What kernels measured."""
        return self.report.measurements

    @cached_property
    def view(self) -> View:
        """The report as every format sees it."""
        return self._view_of(self.report)

    def _view_of(self, report: Report) -> View:
        return View(report, self.fail_on, self.place == "there", self.took_s)

    def __bool__(self) -> bool:
        raise TypeError("a gpudoctor.Result is neither true nor false: ask .ok, or .verdict")

    # --------------------------------------------------------------------------- for others

    @cached_property
    def redacted(self) -> Result:
        """The same with tokens instead of names, homes, hosts, addresses, ids and secrets, as it may leave the machine."""
        report = api.redacted(self.report, self.checks, here=self.place == "here")
        return dataclasses.replace(self, report=report)

    def render(self, format: str = "text", *, redact: bool | None = None, verbose: bool = False) -> str:
        """The report in one of the command's formats.

        `redact` None: as the command does, in every format but text. `verbose` is text's. Raises ValueError for a format that is
        none, ImportError where its package is missing (prometheus).
        """
        names = [one.value for one in Format]
        if format not in names:
            raise ValueError(f"no format is called {format!r}: {', '.join(names)}")
        leaves = Format(format).leaves
        of = self.redacted if (leaves if redact is None else redact) else self
        if not leaves:
            return _text(of, verbose=verbose)
        return rendered(of.report, format, of.fail_on, recorded=of.place == "there", took_s=of.took_s)

    def to_json(self, *, redact: bool = True) -> str:
        """Everything: the one format that `gpudoctor.replay` takes."""
        return self.render("json", redact=redact)

    def to_markdown(self, *, redact: bool = True) -> str:
        """For an issue."""
        return self.render("markdown", redact=redact)

    def save(self, path: str | os.PathLike[str], format: str | None = None, *, redact: bool | None = None) -> Path:
        """Write the report to a file, and give its path.

        `format` None: by the end of its name: .txt, .json, .md, .xml (junit), .prom, .html. Raises ValueError for another, OSError.
        """
        file = Path(path)
        chosen = _SUFFIXES.get(file.suffix.lower()) if format is None else format
        if chosen is None:
            raise ValueError(f"{file.name!r} does not say a format ({', '.join(_SUFFIXES)}): name it with format=")
        file.write_text(self.render(chosen, redact=redact), encoding="utf-8")
        return file

    # --------------------------------------------------------------------------- shown

    def __str__(self) -> str:
        return self.render("text")

    def __repr__(self) -> str:
        said = self.render("oneline", redact=False).strip().removeprefix("gpudoctor: ")
        return f"<gpudoctor.Result {said}>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The text report. A line to paste that is longer than the console is wide is folded; `print(result)` has it whole."""
        from rich.text import Text

        for line in _text(self, console=console).splitlines():
            shown = Text.from_ansi(line)
            shown.overflow = "fold"
            yield shown

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:  # noqa: ARG002
        """What a notebook shows. It is kept in the notebook's file, and so it is redacted."""
        return {"text/markdown": self.to_markdown(), "text/plain": self.render("text", redact=True)}


def _text(result: Result, *, verbose: bool = False, console: Console | None = None) -> str:
    """The text report: plain and not wrapped, or with the colours of a console and as wide as it."""
    from rich.console import Console as New

    from .render import text

    report, file = result.report, io.StringIO()
    if console is None and report.facts.text.is_all:
        return log.plain(report, verbose=verbose)
    if console is None:
        out = New(file=file, highlight=False, emoji=False, force_terminal=False, no_color=True)
    else:
        colours: Any = console.color_system
        out = New(
            file=file,
            highlight=False,
            emoji=False,
            force_terminal=True,
            color_system=colours,
            width=console.width,
            legacy_windows=False,
        )
    if report.facts.text.is_all:
        for line in log.lines(report, verbose=verbose):
            out.print(text.rich(line), crop=False)
    else:
        text.show(report, out, verbose=verbose, recorded=result.place == "there")
    return file.getvalue()
