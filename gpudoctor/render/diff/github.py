"""GitHub's workflow commands of a comparison: an annotation for each thing that is worse, and the text in a group."""

from __future__ import annotations

import hashlib

from ..github import command
from . import text
from . import view as told
from .view import View


def render(view: View, *, below: bool = False) -> str:
    """Lines for a step's standard output. Commands are off in the text, which holds lines of others. `below` a report, which
    annotates what is found itself."""
    said = text.render(view)
    word = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
    made = []
    for new in view.comparison.new_findings:
        name = "notice" if below else "error" if new.finding.level == "fail" else "warning"
        made.append(
            command(
                name,
                f"{new.finding.cause} {new.finding.code}",
                f"{new.finding.message}\n{told.because(new.explanation)}",
            )
        )
    made += [command("error", "lost", told.changed(one)) for one in view.comparison.lost]
    made += [command("warning", "slower", told.slower(loss)) for loss in view.comparison.losses]
    made += [
        command("notice", f"gpudoctor diff: {view.verdict}", view.sentence),
        "::group::gpudoctor's comparison",
        f"::stop-commands::{word}",
        said.rstrip("\n"),
        f"::{word}::",
        "::endgroup::",
    ]
    return "\n".join(made) + "\n"
