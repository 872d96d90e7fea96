"""GitHub's workflow commands: an annotation for each root cause and open symptom, and the text report in a group."""

from __future__ import annotations

import hashlib
import io

from ..findings import LevelWord, RootCause
from . import lines, log
from .lines import clean
from .view import View

_COMMANDS: dict[LevelWord, str] = {"fail": "error", "warn": "warning", "info": "notice"}


def render(view: View) -> str:
    """Lines for a step's standard output.

    In the report stand lines of others, which GitHub would obey if they looked like commands. So commands are off there, until a
    word comes that the report can't hold: its own checksum.
    """
    text = _text(view)
    word = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    made = [command(_COMMANDS[one.level], f"{one.cause} {one.code}", _told(one, view)) for one in _roots(view)]
    for symptom in view.open_symptoms:
        said = f"{symptom.message}\nThe cause could not be determined; the report shows what is left to look at."
        made.append(command(_COMMANDS[symptom.level], f"{symptom.cause} {symptom.code}", said))
    if view.ignored is not None:
        made.append(command("notice", "gpudoctor's ignore list", view.ignored))
    made.append(command("notice", f"gpudoctor: {view.verdict}", view.sentence))
    made += [
        "::group::gpudoctor's report",
        f"::stop-commands::{word}",
        text.rstrip("\n"),
        f"::{word}::",
        "::endgroup::",
    ]
    return "\n".join(made) + "\n"


def _roots(view: View) -> tuple[RootCause, ...]:
    return view.report.diagnosis.root_causes


def _told(root: RootCause, view: View) -> str:
    fixes = [one.plain.strip() for one in lines.mended(root.fixes[0], "Fix", view.where)] if root.fixes else []
    return "\n".join([f"{root.title}. {root.message}", *fixes])


def command(name: str, title: str, text: str) -> str:
    """A workflow command, whose title and text are harmless."""
    title = clean(title).replace("%", "%25").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
    return f"::{name} title={title}::{clean(text).replace('%', '%25').replace(chr(10), '%0A')}"


def _text(view: View) -> str:
    if view.report.facts.text.is_all:
        return log.plain(view.report)
    from rich.console import Console

    from . import text

    file = io.StringIO()
    out = Console(file=file, highlight=False, emoji=False, force_terminal=False, no_color=True)
    text.show(view.report, out, recorded=view.recorded)
    return file.getvalue()
