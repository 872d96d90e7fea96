"""Facts -> findings -> causes, candidates, what is unexplained. Pure: the same facts, the same answer."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

import msgspec

from . import registry, textual
from .facts import Facts, UnknownFactError
from .findings import (
    Candidate,
    CombinedFix,
    Diagnosis,
    EnvChange,
    Finding,
    Fix,
    Found,
    Judgement,
    Level,
    NotApplicable,
    RootCause,
    RuledOut,
    Skipped,
    SymptomRank,
    Unexplained,
    Unknown,
    Verdict,
)
from .registry import Check

_LEVELS = {level.word: level for level in Level}
COMBINED = "combined"
"""The `cause` of the trial of all root causes' fixes together."""


def judge(facts: Facts, checks: tuple[Check, ...] | None = None) -> Judgement:
    """Run `checks` (default: all) over `facts` and make the diagnosis."""
    checks = registry.all_checks() if checks is None else checks
    findings: list[tuple[Check, Finding]] = []
    skipped, unknown, passed = [], [], []
    for check in checks:
        try:
            yielded, reason = _run(check, facts)
            found = [_finding(check, one, facts) for one in yielded]
        except NotApplicable as e:
            skipped.append(Skipped(code=check.code, cause=check.cause, reason=str(e)))
            continue
        except UnknownFactError as e:
            left = e.unread
            unknown.append(
                Unknown(
                    code=check.code,
                    cause=check.cause,
                    why=left.why,
                    settle=left.settle,
                    needs_root=left.needs_root,
                    chosen=left.chosen,
                )
            )
            continue
        except Exception as e:  # a broken check is not a healthy machine
            import traceback

            where = traceback.extract_tb(e.__traceback__)[-1]
            why = f"the check itself failed: {type(e).__name__}: {e} ({where.name}, line {where.lineno})"
            unknown.append(
                Unknown(code=check.code, cause=check.cause, why=why, settle=None, needs_root=False, chosen=False)
            )
            continue
        if facts.text.is_all:
            found = [textual.quoted(facts, check, one) for one in found]
        findings += [(check, finding) for finding in found]
        if not found:
            passed.append(RuledOut(code=check.code, cause=check.cause, title=check.title, reason=reason))
    return Judgement(
        findings=tuple(f for _, f in findings),
        diagnosis=_diagnose(facts, checks, findings, tuple(unknown), tuple(passed)),
        skipped=tuple(skipped),
        unknown=tuple(unknown),
    )


def _run(check: Check, facts: Facts) -> tuple[list[Found], str | None]:
    """What a check yields, and what it returns: why it is ruled out where it yields nothing. A text leaves most unsaid, which
    is no reason."""
    found, findings = [], iter(check.body(facts))
    while True:
        try:
            found.append(next(findings))
        except StopIteration as end:
            return found, end.value if isinstance(end.value, str) and not facts.text.is_all else None


def _finding(check: Check, found: Found, facts: Facts) -> Finding:
    return Finding(
        code=check.code,
        cause=check.cause,
        title=check.title,
        level=min(check.level, found.level).word,
        symptom=check.is_symptom,
        message=found.message,
        proof=found.proof,
        about=found.about,
        may_explain=check.explains if found.explains is None else found.explains,
        fixes=tuple(sorted((_with_trial(check.cause, fix, facts) for fix in found.fixes), key=_proven)),
    )


def _proven(fix: Fix) -> int:
    """Fixes that were seen to work come first, those that were seen to fail last."""
    worked = fix.trial.worked if fix.trial is not None else None
    return 0 if worked is True else 2 if worked is False else 1


def _with_trial(cause: str, fix: Fix, facts: Facts) -> Fix:
    for trial in facts.trials:
        if trial.cause == cause and trial.steps == fix.steps:
            return msgspec.structs.replace(fix, trial=trial)
    return fix


def _diagnose(
    facts: Facts,
    checks: tuple[Check, ...],
    findings: list[tuple[Check, Finding]],
    unknown: tuple[Unknown, ...],
    passed: tuple[RuledOut, ...],
) -> Diagnosis:
    by_code = {c.code: c for c in checks}
    causes = [(c, f) for c, f in findings if not c.is_symptom]
    roots = [(c, f) for c, f in causes if not any(_explains(g, f) for _, g in causes if g is not f)]
    explained = {id(f): _explained_by((c, f), findings) for c, f in roots}
    ranks = {c.cause: c.rank for c in checks if c.rank is not None}
    roots.sort(
        key=lambda cf: (
            -_LEVELS[cf[1].level],
            _worst(cf[1], explained[id(cf[1])], ranks, unknown),
            cf[0].stage,
            cf[0].code,
        )
    )
    root_causes = tuple(
        RootCause(
            code=f.code,
            cause=f.cause,
            title=f.title,
            level=f.level,
            message=f.message,
            about=f.about,
            proof=f.proof,
            fixes=f.fixes,
            explains=tuple(dict.fromkeys(g.cause for g in explained[id(f)])),
        )
        for c, f in roots
    )
    accounted = {id(g) for f in explained.values() for g in f}
    open_symptoms = [f for c, f in findings if c.is_symptom and id(f) not in accounted]
    candidates: dict[str, tuple[Candidate, ...]] = {}
    unexplained = []
    for symptom in open_symptoms:
        left = tuple(
            Candidate(code=u.code, cause=u.cause, title=by_code[u.code].title, unknown_because=u.why, settle=u.settle)
            for u in sorted(unknown, key=lambda u: (by_code[u.code].stage, u.code))
            if symptom.cause in by_code[u.code].explains
        )
        if left:
            candidates[symptom.cause] = left
        else:
            out = tuple(p.cause for p in passed if symptom.cause in by_code[p.code].explains)
            unexplained.append(
                Unexplained(symptom=symptom.cause, message=symptom.message, proof=symptom.proof, ruled_out=out)
            )
    diagnosis = Diagnosis(
        verdict=_verdict([f for _, f in findings], unknown, passed, by_code),
        root_causes=root_causes,
        combined_fix=_combine(facts, root_causes),
        candidates=candidates,
        unexplained=tuple(unexplained),
        ruled_out=passed,
    )
    if facts.text.is_all:
        return textual.narrowed(facts, diagnosis, [f for _, f in findings], unknown, by_code)
    return diagnosis


def _explains(finding: Finding, other: Finding) -> bool:
    """A finding explains another that it names, where what they are about overlaps."""
    if other.cause not in finding.may_explain:
        return False
    return not finding.about or not other.about or bool(set(finding.about) & set(other.about))


def _explained_by(root: tuple[Check, Finding], findings: list[tuple[Check, Finding]]) -> list[Finding]:
    """The findings that `root` explains, directly or through another cause; symptoms first."""
    reached: list[tuple[Check, Finding]] = [root]
    for check, finding in reached:  # grows while it is walked
        if not check.is_symptom:
            reached += [(c, f) for c, f in findings if _explains(finding, f) and all(f is not g for _, g in reached)]
    rest = reached[1:]
    return [f for c, f in rest if c.is_symptom] + [f for c, f in rest if not c.is_symptom]


def _worst(
    finding: Finding, explained: list[Finding], ranks: dict[str, SymptomRank], unknown: tuple[Unknown, ...]
) -> SymptomRank:
    """The worst symptom that a cause explains: one that was found, else one that could not be looked at."""
    seen = [ranks[f.cause] for f in explained if f.cause in ranks]
    unlooked = {u.cause for u in unknown}
    possible = [ranks[name] for name in finding.may_explain if name in ranks and name in unlooked]
    return min([*seen, *possible], default=SymptomRank.NOTHING_YET)


def _verdict(
    findings: list[Finding], unknown: tuple[Unknown, ...], passed: tuple[RuledOut, ...], by_code: dict[str, Check]
) -> Verdict:
    """Unread is not healthy: a symptom that could not be looked for leaves the verdict open, and so does one
    that nobody asked for while a cause of it could not be looked at."""
    levels = {f.level for f in findings}
    if Level.FAIL.word in levels:
        return "faulty"
    if Level.WARN.word in levels:
        return "warning"
    symptoms = [u for u in unknown if by_code[u.code].is_symptom]
    causes = [u for u in unknown if not by_code[u.code].is_symptom and not u.chosen]
    unlooked = {s.cause for s in symptoms}
    if any(not s.chosen for s in symptoms) or any(unlooked & set(by_code[c.code].explains) for c in causes):
        return "unknown"
    return "healthy" if passed or findings else "unknown"


def _combine(facts: Facts, roots: tuple[RootCause, ...]) -> CombinedFix | None:
    """One list of steps for several root causes: of each its first fix that was not seen to fail.

    None where one of them has nothing that can be typed here: the rest alone would not help.
    """
    standing = [r for r in roots if r.level != Level.INFO.word]
    chosen = [(r, f) for r in standing if (f := first_usable(r.fixes)) is not None]
    if len(chosen) < 2 or len(chosen) < len(standing):
        return None
    if any(f.risk in ("needs reboot", "destructive") for _, f in chosen):
        return None  # what is pasted after a reboot is another day's work
    steps = merged_steps([f for _, f in chosen])
    trial = next((t for t in facts.trials if t.cause == COMBINED and t.steps == steps), None)
    return CombinedFix(
        causes=tuple(r.cause for r, _ in chosen),
        steps=steps,
        env=together(e for _, f in chosen for e in f.env),
        links=tuple(link for _, f in chosen for link in f.links),
        trial=trial,
    )


def first_usable(fixes: Iterable[Fix]) -> Fix | None:
    """The first fix that names steps and whose trial, if there was one, did not fail."""
    return next((f for f in fixes if f.kind != "advice" and f.steps and not f.failed), None)


def merged_steps(fixes: Iterable[Fix]) -> tuple[str, ...]:
    """The steps of several fixes, in order, each once; new values of one list of directories as one value, before what is
    put first in it."""
    every = list(fixes)
    lists = [f for f in every if f.env and len(f.env) == len(f.steps) and all(_cuts_a_list(e) for e in f.env)]
    first = [_line(e) for e in together(e for f in lists for e in f.env)]
    rest = [step for f in every if f not in lists for step in f.steps]
    if sum(bool(f.env) for f in every) < 2:
        first, rest = [], [step for f in every for step in f.steps]
    return tuple(dict.fromkeys([*first, *rest]))


def together(changes: Iterable[EnvChange]) -> tuple[EnvChange, ...]:
    """The changes of several fixes as one: each takes entries off the list that was there before, and what one took off no
    other puts back; what is put first comes after that."""
    every = list(changes)
    cuts: dict[str, list[EnvChange]] = {}
    for change in every:
        if _cuts_a_list(change):
            cuts.setdefault(change.name, []).append(change)
    merged = [_cut(name, same) for name, same in cuts.items()]
    return tuple(dict.fromkeys([*merged, *(c for c in every if not _cuts_a_list(c))]))


def _cuts_a_list(change: EnvChange) -> bool:
    return change.name.endswith("PATH") and change.op != "prepend"


def _cut(name: str, changes: list[EnvChange]) -> EnvChange:
    lists = [change.value.split(":") if change.op == "set" else [] for change in changes]
    value = ":".join(entry for entry in lists[0] if all(entry in other for other in lists))
    return EnvChange(name=name, op="set" if value else "unset", value=value)


def _line(change: EnvChange) -> str:
    return f"export {change.name}={quote(change.value)}" if change.op == "set" else f"unset {change.name}"
