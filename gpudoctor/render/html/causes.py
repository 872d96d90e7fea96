"""The answer: root causes with proof and fixes, the fix for all, what they explain, and symptoms whose cause is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...facts import Trial, Unread
from ...findings import Candidate, CombinedFix, Evidence, Finding, Fix, RootCause
from ..lines import MARKS
from ..view import View
from .markup import Child, Markup, capped, code, listed, table, tag, text

_MOST, _MOST_PROOFS, _MOST_FIXES, _MOST_CANDIDATES = 100, 100, 20, 200
_MOST_OF_PROOFS, _MOST_OF_PROOF, _MOST_OF_COMMANDS = 100_000, 10_000, 20_000
"""Characters."""
_WORDS = {"fail": "fault", "warn": "warning", "info": "for information"}


def roots(view: View) -> Iterator[Markup]:
    """Those that make the verdict, in the order in which they stand in the way; then the fix for all."""
    yield from _roots(view.causes, "cause", view)
    if (combined := view.report.diagnosis.combined_fix) is not None:
        yield tag("article", _combined(combined, view.where), class_="cause combined", id="combined-fix")


def notes(view: View) -> Iterator[Markup]:
    """Root causes that are information: nothing is wrong."""
    yield from _roots([one for one in view.report.diagnosis.root_causes if one.level == "info"], "note", view)


def _roots(every: Sequence[RootCause], word: str, view: View) -> Iterator[Markup]:
    shown, left = capped(every, _MOST)
    for number, root in enumerate(shown, 1):
        yield tag("article", _root(root, view), class_=f"cause {root.level}", id=f"{word}-{number}")
    if left is not None:
        yield left
        yield tag("p", listed(dict.fromkeys(one.cause for one in every[_MOST : 4 * _MOST])), class_="cut")


def explained(view: View) -> Iterator[Markup]:
    """What was found beside root causes and open symptoms: what a cause brings about, and what fits a text as well."""
    is_root = {(one.cause, one.message, one.about) for one in view.report.diagnosis.root_causes}
    is_open = {one.cause for one in view.open_symptoms}
    rest = [
        one
        for one in view.report.findings
        if (one.cause, one.message, one.about) not in is_root and one.cause not in is_open
    ]
    by = {name: root.cause for root in reversed(view.report.diagnosis.root_causes) for name in root.explains}
    shown, left = capped(rest, _MOST)
    for one in shown:
        because: list[Child] = [" · explained by ", code(by[one.cause])] if one.cause in by else []
        head = (
            tag("h3", one.title),
            tag("p", code(one.cause), f" {one.code}", _about(one.about), because, class_="name"),
        )
        yield tag("article", head, tag("p", one.message), proof(one.proof), class_="cause")
    if left is not None:
        yield left


def open_symptoms(view: View) -> Iterator[Markup]:
    """Symptoms without a found cause: what is left with what settles it, or that nothing explains them."""
    shown, left = capped(view.open_symptoms, _MOST)
    for number, one in enumerate(shown, 1):
        yield tag("article", _open(one, view), class_="cause open", id=f"open-{number}")
    if left is not None:
        yield left


# ------------------------------------------------------------------------------- a cause


def _root(root: RootCause, view: View) -> Iterator[Markup]:
    yield tag("h3", mark(MARKS[root.level][0], _WORDS[root.level]), " ", root.title)
    explains: list[Child] = [" · explains ", *listed(root.explains[:_MOST])] if root.explains else []
    yield tag("p", code(root.cause), f" {root.code}", _about(root.about), explains, class_="name")
    yield tag("p", root.message)
    yield proof(root.proof)
    yield from fixes(root.fixes, view.where)


def fixes(every: tuple[Fix, ...], where: str) -> Iterator[Markup]:
    """What mends it, one way or another; tried `where`."""
    shown, left = capped(every, _MOST_FIXES)
    for position, fix in enumerate(shown):
        yield from _fix(fix, "Or" if position else "Fix", where)
    if left is not None:
        yield left


def mark(mark: str, word: str) -> Markup:
    """A sign for the eye, a word for the ear."""
    return Markup(tag("span", mark, class_="mark", aria_hidden="true") + tag("span", f"{word}:", class_="heard"))


def _about(about: tuple[str, ...]) -> str:
    return f" · {', '.join(about[:_MOST])}" if about else ""


def proof(every: tuple[Evidence, ...]) -> Markup:
    """What was seen, and who says so."""
    if not every:
        return Markup()
    shown, left = capped(every, _MOST_PROOFS)
    most = min(_MOST_OF_PROOFS // len(shown), _MOST_OF_PROOF)
    items = (tag("li", tag("span", text(one.text, most)), " ", tag("cite", text(one.source, 500))) for one in shown)
    return Markup(tag("h4", "Proof") + tag("ul", items, class_="proof") + (left or ""))


def _fix(fix: Fix, word: str, where: str) -> Iterator[Markup]:
    risk = tag("span", fix.risk, class_=f"chip {fix.risk.replace(' ', '-')}")
    yield tag("h4", f"{word}: ", tag("span", fix.summary, class_="summary"))
    yield tag("p", risk, _tried(fix.trial, where), class_="chips")
    if fix.steps:
        yield commands(fix.steps)
    if fix.verify != "gpudoctor check":
        yield tag("p", "Then: ", code(fix.verify))


def _tried(trial: Trial | None, where: str) -> list[Child]:
    if trial is None:
        return []
    if isinstance(trial.worked, Unread):
        return [" ", tag("span", f"tried {where}: not decided", class_="chip unknown"), f" {trial.worked.why}"]
    words, kind = ("works", "works") if trial.worked else ("not enough", "fails")
    outcome = trial.outcome if isinstance(trial.outcome, str) else trial.outcome.why
    return [" ", tag("span", f"tried {where}: {words}", class_=f"chip {kind}"), f" {outcome}"]


def _combined(combined: CombinedFix, where: str) -> Iterator[Markup]:
    many = len(combined.causes)
    yield tag("h3", f"One fix for {'both' if many == 2 else f'all {many:,}'} causes")
    yield tag("p", listed(combined.causes[:_MOST]), class_="name")
    if combined.trial is not None:
        yield tag("p", _tried(combined.trial, where), class_="chips")
    yield commands(combined.steps)


def commands(steps: tuple[str, ...]) -> Markup:
    """Lines to paste, which one click selects: whole, or not at all."""
    if sum(map(len, steps)) > _MOST_OF_COMMANDS:
        return tag("p", f"({len(steps):,} lines to paste, too long to be shown here)", class_="cut")
    return tag("pre", tag("code", text("\n".join(steps), 2 * _MOST_OF_COMMANDS)), class_="shell", tabindex=0)


# ------------------------------------------------------------------------------- a symptom without a cause


def _open(symptom: Finding, view: View) -> Iterator[Markup]:
    diagnosis = view.report.diagnosis
    yield tag("h3", mark("?", "open"), " ", symptom.title)
    yield tag("p", code(symptom.cause), f" {symptom.code}", _about(symptom.about), class_="name")
    yield tag("p", symptom.message)
    yield proof(symptom.proof)
    if candidates := diagnosis.candidates.get(symptom.cause, ()):
        yield tag("h4", "What is left, and what would settle it")
        yield from _candidates(candidates, view)
    for one in diagnosis.unexplained:
        if one.symptom == symptom.cause:
            out: list[Child] = [" Ruled out: ", *listed(one.ruled_out[:_MOST]), "."] if one.ruled_out else []
            yield tag("p", "Unexplained: none of the causes that gpudoctor knows explains it.", out)


def _candidates(candidates: tuple[Candidate, ...], view: View) -> Iterator[Markup]:
    shown, left = capped(candidates, _MOST_CANDIDATES)
    of_text = view.report.facts.text.is_all
    head = ("cause", "what settles it") if of_text else ("cause", "why it is open", "what settles it")

    def row(one: Candidate) -> list[Child]:
        name = [code(one.cause), tag("span", one.title, class_="below")]
        return [name, *([] if of_text else [one.unknown_because]), settled_by(one.settle, recorded=view.recorded)]

    yield table("Candidates", head, map(row, shown), class_="prose")
    if of_text and len(candidates) > 1:
        yield tag("p", "Likely ones first.", class_="note")
    if left is not None:
        yield left


def settled_by(command: str | None, *, recorded: bool) -> Child:
    """The command that would tell. What a recorded report says to run is not ours to recommend."""
    if command is None:
        return None
    return ["(the report says) ", command] if recorded else code(command)
