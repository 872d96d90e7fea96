"""Whether what is said of a text is right, by its answer in answers.json."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from gpudoctor import api
from gpudoctor.bundle import Report

HERE = Path(__file__).parent
PLACES = ("corpus", "h200")


def table() -> dict[str, dict[str, Any]]:
    """'corpus/2.21.0-no-driver.log' -> what is right."""
    return {
        f"{place}/{one['file']}": one["right"]
        for place in PLACES
        for one in json.loads((HERE / place / "answers.json").read_text())
    }


def judged(text: str) -> Report:
    """What is said of a text."""
    return api.log(io.BytesIO(text.encode()))


def said(report: Report) -> tuple[list[str], list[str]]:
    """The causes, and the candidates, in order."""
    diagnosis = report.diagnosis
    roots = [r.cause for r in diagnosis.root_causes if r.level != "info"]
    return roots, [c.cause for group in diagnosis.candidates.values() for c in group]


def first(text: str) -> str:
    """What is named first of a text, be it a note; '': nothing."""
    diagnosis = judged(text).diagnosis
    named = [r.cause for r in diagnosis.root_causes]
    named += [c.cause for group in diagnosis.candidates.values() for c in group]
    return named[0] if named else ""


def shown(report: Report) -> tuple[list[str], list[str]]:
    """The same by what lines show: without the candidates that only the words of people give."""
    roots, candidates = said(report)
    return roots, [] if "reads-like-a-fault" in report.diagnosis.candidates else candidates


def wrong(report: Report, right: dict[str, Any]) -> str | None:
    """What is wrong with what is said; None: nothing."""
    roots, candidates = said(report)
    also = right.get("also", ())
    if bad := {*roots, *candidates} & set(right["must_not"]):
        return f"names {sorted(bad)}"
    if not roots and not candidates and not report.diagnosis.unexplained:
        return None if right["kind"] == "nothing wrong" or "nothing wrong" in also else "finds nothing wrong"
    if roots:
        if right["kind"] == "cause":
            ok = roots[0] == right["causes"][0] and set(roots) <= {*right["causes"], *also}
            return None if ok else f"says {roots}, not {right['causes']}"
        return (
            None
            if set(roots) <= set(also)
            else f"says {roots} alone, where {right['causes'] or right['kind']} is right"
        )
    if right["kind"] != "candidates":
        return f"decides nothing ({candidates[:3]}), where {right['causes'] or right['kind']} is right"
    missing = set(right["causes"]) - set(candidates)
    return f"leaves {sorted(missing)} out of {candidates[:8]}" if missing else None
