"""The diagnosis of a pasted text: which causes fit what it shows, what would settle each, and the lines that prove it.

A text tells little, so nearly every check ends unknown. A candidate must fit the deepest thing that the text shows: what
TensorFlow can't open is no matter of the driver, and where cuInit fails no library of CUDA is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..facts import READS_LIKE_A_FAULT, Facts
from ..findings import LIKELY, Diagnosis, Finding, SymptomRank, Unexplained, Unknown
from ..registry import Check
from . import found_out, moved, together
from .clues import CLUES
from .contest import NO_COMPLAINT, as_candidate, contested
from .fitting import DEEPEST, fitting, switched_off
from .hints import hinted, proven, strong
from .likely import as_root, likely, written
from .likeness import meant, ranked
from .plain import plainly
from .proof import quoted
from .setups import firmly


def narrowed(
    facts: Facts,
    diagnosis: Diagnosis,
    findings: Iterable[Finding],
    unknown: tuple[Unknown, ...],
    by_code: dict[str, Check],
) -> Diagnosis:
    """`diagnosis` of a text: one symptom at most stays open, the worst and deepest, with the causes that fit it."""
    ranks = {c.cause: c.rank for c in by_code.values() if c.rank is not None}
    opened = [s for s in (*diagnosis.candidates, *(u.symptom for u in diagnosis.unexplained)) if s in ranks]
    if diagnosis.root_causes:
        opened = [s for s in opened if not any(e.is_weak for e in facts.text.shows(s))]
    if "cuinit-fails" in opened and {e.kind for e in facts.text.shows("driver-does-not-load")} == {_DIFFER}:
        opened.remove("driver-does-not-load")  # the line that says why cuInit fails
    decided = min((_worst(r.cause, by_code, ranks) for r in diagnosis.root_causes), default=SymptomRank.NOTHING_YET)
    checks = {c.cause: c for c in by_code.values()}
    if not opened or (diagnosis.root_causes and decided <= min(ranks[s] for s in opened)):
        whole = msgspec.structs.replace(diagnosis, candidates={}, unexplained=())
        return contested(facts, whole, findings, checks)
    symptom = min(opened, key=lambda s: (ranks[s], DEEPEST.index(s) if s in DEEPEST else -1))
    left = {u.cause: u for u in unknown}
    fits = _first(facts, symptom, unknown, _fitting(facts, symptom))
    first_is_likely = bool(fits) and _is_likely(left.get(fits[0]))
    fits = ranked(facts, symptom, fits, _other_matters(symptom, checks.values()), first_is_likely)
    if symptom in (READS_LIKE_A_FAULT, "runs-slowly"):
        fits = hinted(facts, fits)  # some were not there before; what a slow program does says more than the words
    cures = tuple(c for c in _cured(facts) if c in fits or symptom in (READS_LIKE_A_FAULT, *checks[c].explains))
    weak, found = (READS_LIKE_A_FAULT, "runs-slowly"), tuple(found_out.firstly(facts))
    plain = tuple(c for c in plainly(facts) if c in fits or c in found or symptom in (*weak, *checks[c].explains))
    fits = tuple(name for name in dict.fromkeys((*cures, *plain, *proven(facts, fits))) if name in left)
    shown = next(f for f in findings if f.cause == symptom)
    roots = diagnosis.root_causes
    settled = bool(roots) or bool(facts.text.said(NO_COMPLAINT))
    why = None if settled else likely(facts, fits, bool(fits) and (_is_likely(left[fits[0]]) or fits[0] in cures))
    if why is None and not (fits and fits[0] in _firm(facts)):
        fits = meant(facts, symptom, fits, left, {one.cause for one in diagnosis.ruled_out})
        why = None if settled else written(facts, fits)
    if fits:
        chosen = tuple(as_candidate(checks[name], left.get(name)) for name in fits)
        if why is not None:
            roots, chosen = (as_root(checks[fits[0]], chosen[0], shown, why),), chosen[1:]
        candidates = {symptom: chosen} if chosen else {}
        return msgspec.structs.replace(diagnosis, root_causes=roots, candidates=candidates, unexplained=())
    none = Unexplained(symptom=symptom, message=shown.message, proof=shown.proof, ruled_out=())
    return msgspec.structs.replace(diagnosis, candidates={}, unexplained=(none,))


def _firm(facts: Facts) -> tuple[str, ...]:
    """The causes that stay first whatever the text reads like."""
    return (*strong(facts), *firmly(facts), *together.firstly(facts), *found_out.firstly(facts), *moved.firstly(facts))


def _is_likely(unknown: Unknown | None) -> bool:
    return unknown is not None and unknown.why == LIKELY


def _cured(facts: Facts) -> tuple[str, ...]:
    """The causes about which somebody did what is done, and it worked."""
    return tuple(dict.fromkeys(e.values["cause"] for e in facts.text.said("cured")))


_DIFFER = "driver-versions-differ"
_NO_LIST = frozenset({"collective-fails", "gpu-faults", "op-fails", "runs-slowly"})
"""What goes wrong with GPUs that are listed."""


def _other_matters(symptom: str, checks: Iterable[Check]) -> frozenset[str]:
    """Causes that bring about only what is another matter than `symptom`."""
    if symptom in _NO_LIST:
        return frozenset()
    return frozenset(c.cause for c in checks if c.explains and _NO_LIST.issuperset(c.explains))


def _fitting(facts: Facts, symptom: str) -> tuple[str, ...]:
    """What fits all that shows the symptom: the shortest list, as far as the others agree with it."""
    lists = [CLUES[e.kind] for e in facts.text.shows(symptom) if e.kind in CLUES]
    if symptom in DEEPEST:
        lists.append(fitting(facts))
    lists.sort(key=len)
    fits = lists[0] if lists else _named(facts) if symptom == "op-fails" and not facts.text.shows(symptom) else ()
    for other in lists[1:]:
        fits = tuple(name for name in fits if name in other) or fits
    if symptom in DEEPEST and switched_off(facts):
        fits = ("optimus-gpu-powered-off", *(name for name in fits if name != "optimus-gpu-powered-off"))
    return hinted(facts, fits)


def _named(facts: Facts) -> tuple[str, ...]:
    """What fits a GPU and a build that are named, where no line shows what fails."""
    waits = facts.text.said("takes-long", "slow-named") and not facts.text.said("loss-is-nan")
    return ("jit-cold-start", *_NAMED) if waits else _NAMED


def _first(facts: Facts, symptom: str, unknown: tuple[Unknown, ...], fits: tuple[str, ...]) -> tuple[str, ...]:
    """`fits` with what a check calls likely before it, where no GPU is listed and no line tells why."""
    likely = tuple(u.cause for u in unknown if u.why == LIKELY)
    if symptom != "tf-lists-no-gpu" or fits[:1] not in _NO_REASON or facts.text.said("library-not-loaded"):
        return fits
    return (*likely, *(name for name in fits if name not in likely))


_NO_REASON = (("tf-cpu-only-package",), ("cuda-version-mismatch",), ("cuda-libs-missing",))
_NAMED = ("gpu-too-new-for-build", "cuda-version-mismatch")


def _worst(cause: str, by_code: dict[str, Check], ranks: dict[str, SymptomRank]) -> SymptomRank:
    """The worst that a cause brings about."""
    explains = next((c.explains for c in by_code.values() if c.cause == cause), ())
    return min((ranks[name] for name in explains if name in ranks), default=SymptomRank.NOTHING_YET)


__all__ = ["narrowed", "quoted"]
