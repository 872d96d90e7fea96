"""Facts -> findings -> causes, candidates, what is unexplained. Pure: the same facts, the same answer."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote
from typing import NamedTuple

import msgspec

from . import ignoring, registry, textual
from .facts import Facts, PluginFailure, Plugins, UnknownFactError
from .findings import (
    Candidate,
    CombinedFix,
    Diagnosis,
    EnvChange,
    Finding,
    Fix,
    Found,
    IgnoreEntry,
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
_NOT_OF_THE_MACHINE = ("plugin-failed",)
"""Causes that stand in nobody's way there."""
_Found = tuple[Check, Finding]
COMBINED = "combined"
"""The `cause` of the trial of all root causes' fixes together."""


class _Ended(NamedTuple):
    """How a check ended: with one of these."""

    found: tuple[Found, ...] = ()
    passed: RuledOut | None = None
    skipped: Skipped | None = None
    unknown: Unknown | None = None


def judge(facts: Facts, checks: tuple[Check, ...] | None = None) -> Judgement:
    """Run `checks` (default: all) over `facts` and make the diagnosis.

    A pasted text is judged by gpudoctor's own checks alone, and nothing in it is ignored.
    """
    if facts.text.is_all:
        every = registry.own_checks() if checks is None else checks
        checks = tuple(msgspec.structs.replace(c, ignored=()) for c in every if c.origin is None)
    elif checks is None:
        checks = registry.all_checks()
    ended, facts = _run_all(checks, facts)
    findings: list[tuple[Check, Finding]] = []
    for check in checks:
        found = [_finding(check, one, facts) for one in ended[check.code].found]
        if facts.text.is_all:
            found = [textual.quoted(facts, check, one) for one in found]
        findings += [(check, ignoring.come_back(check, finding)) for finding in found]
    ends = [ended[check.code] for check in checks]
    skipped = tuple(one.skipped for one in ends if one.skipped is not None)
    unknown = tuple(one.unknown for one in ends if one.unknown is not None)
    passed = tuple(one.passed for one in ends if one.passed is not None)
    gone = _ignored(findings)
    return Judgement(
        findings=tuple(f for _, f in findings if id(f) not in gone),
        diagnosis=_diagnose(facts, checks, findings, unknown, passed, gone),
        skipped=skipped,
        unknown=unknown,
        ignored=ignoring.listed(checks, [f for _, f in findings], gone),
    )


def _run_all(checks: tuple[Check, ...], facts: Facts) -> tuple[dict[str, _Ended], Facts]:
    """How each ended, and the facts with what is known of plug-ins: theirs run first, since how they fail is a fact for one of
    ours."""
    here = Plugins() if facts.text.is_all else registry.plugins_here()
    failed: list[PluginFailure] = []
    ended = {c.code: _run_theirs(c, facts, failed) for c in checks if c.origin is not None}
    if isinstance(here.failed, tuple):
        told = msgspec.structs.replace(here, failed=(*here.failed, *failed))
        facts = msgspec.structs.replace(facts, plugins=told)
    return ended | {c.code: _run_ours(c, facts) for c in checks if c.origin is None}, facts


def _run_ours(check: Check, facts: Facts) -> _Ended:
    try:
        return _run(check, facts)
    except Exception as e:  # a broken check is not a healthy machine
        import traceback

        where = traceback.extract_tb(e.__traceback__)[-1]
        return _broken(check, f"the check itself failed: {type(e).__name__}: {e} ({where.name}, line {where.lineno})")


def _run_theirs(check: Check, facts: Facts, failed: list[PluginFailure]) -> _Ended:
    from . import plugins

    try:
        with plugins.guarded():
            ended = _run(check, facts)
            return ended._replace(found=tuple(map(_valid, ended.found)))
    except BaseException as e:
        if not plugins.is_theirs(e):
            raise
        failed.append(plugins.failure(str(check.origin), e, check.code, check.body))
        return _broken(check, f"the check of {check.origin} failed: {failed[-1].error}")


def _broken(check: Check, why: str) -> _Ended:
    return _Ended(
        unknown=Unknown(code=check.code, cause=check.cause, why=why, settle=None, needs_root=False, chosen=False)
    )


def _valid(found: Found) -> Found:
    """What a plug-in has found, with every field of its type. Raises TypeError, msgspec.ValidationError."""
    if not isinstance(found, Found):
        raise TypeError(f"yielded {type(found).__name__}, which is no Found")
    return msgspec.convert(msgspec.to_builtins(found), Found)


def _run(check: Check, facts: Facts) -> _Ended:
    """What a check yields, or returns: why it is ruled out where it yields nothing. A text leaves most unsaid, which is no
    reason."""
    code, cause = check.code, check.cause
    found: list[Found] = []
    try:
        findings = iter(check.body(facts))
        while True:
            found.append(next(findings))
    except StopIteration as end:
        if found:
            return _Ended(tuple(found))
        reason = end.value if isinstance(end.value, str) and not facts.text.is_all else None
        return _Ended(passed=RuledOut(code=code, cause=cause, title=check.title, reason=reason))
    except NotApplicable as e:
        return _Ended(skipped=Skipped(code=code, cause=cause, reason=str(e)))
    except UnknownFactError as e:
        left = e.unread
        return _Ended(
            unknown=Unknown(
                code=code, cause=cause, why=left.why, settle=left.settle, needs_root=left.needs_root, chosen=left.chosen
            )
        )


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
    gone: dict[int, IgnoreEntry],
) -> Diagnosis:
    """`gone`: the findings that count for nothing; what they explain is explained."""
    by_code = {c.code: c for c in checks}
    roots, explained = _roots(findings)
    accounted = {id(g) for f in explained.values() for g in f} | gone.keys()
    roots = [(c, f) for c, f in roots if id(f) not in gone]
    ranks = {c.cause: c.rank for c in checks if c.rank is not None}
    roots.sort(
        key=lambda cf: (
            -_LEVELS[cf[1].level],
            facts.text.is_all and not explained[id(cf[1])],  # of a text, what shows in it goes first
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
        verdict=_verdict([f for _, f in findings if id(f) not in gone], unknown, bool(passed or findings), by_code),
        root_causes=root_causes,
        combined_fix=_combine(facts, root_causes),
        candidates=candidates,
        unexplained=tuple(unexplained),
        ruled_out=passed,
    )
    if facts.text.is_all:
        return textual.narrowed(facts, diagnosis, [f for _, f in findings], unknown, by_code)
    return diagnosis


def _roots(findings: list[_Found]) -> tuple[list[_Found], dict[int, list[Finding]]]:
    """The causes that no other found cause explains, and by their id what each of them explains."""
    causes = [(c, f) for c, f in findings if not c.is_symptom]
    roots = [(c, f) for c, f in causes if not any(_explains(g, f) for _, g in causes if g is not f)]
    return roots, {id(f): _explained_by((c, f), findings) for c, f in roots}


def _ignored(findings: list[_Found]) -> dict[int, IgnoreEntry]:
    """By the ids of findings the entry because of which they count for nothing: that which names them, or names the root cause
    that explains them where no other does."""
    gone = {id(f): entry for c, f in findings if (entry := ignoring.entry_for(c, f)) is not None}
    if not gone:
        return {}
    roots, explained = _roots(findings)
    standing = {id(g) for _, f in roots if id(f) not in gone for g in explained[id(f)]}
    for _, root in roots:
        if (entry := gone.get(id(root))) is not None:
            gone = {id(g): entry for g in explained[id(root)] if id(g) not in standing} | gone
    return gone


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
    findings: list[Finding], unknown: tuple[Unknown, ...], has_looked: bool, by_code: dict[str, Check]
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
    return "healthy" if has_looked else "unknown"


def _combine(facts: Facts, roots: tuple[RootCause, ...]) -> CombinedFix | None:
    """One list of steps for several root causes: of each its first fix that was not seen to fail.

    Only causes that are as bad as the worst: what makes a GPU slow does not stand in the way of one that is not listed.
    None where one of them has nothing that can be typed here: the rest alone would not help.
    """
    blamed = [r for r in roots if r.level != Level.INFO.word and r.cause not in _NOT_OF_THE_MACHINE]
    faults = [r for r in blamed if r.level == Level.FAIL.word]
    standing = faults or blamed
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
