"""The likely cause, where no line proves one: of what programs leave open, what somebody wrote reads like it, or tells nothing
that speaks against it."""

from __future__ import annotations

from typing import NamedTuple

from ..facts import Facts, Unread
from ..findings import Candidate, Evidence, Finding, Fix, RootCause
from ..registry import Check
from .hints import strong

_CLEAR = 0.8
"""From this share of the word model's on what is written says which it is."""
_FEW, _CLEAR_OF_FEW = 5, 0.7
"""Where the lines leave no more than so many."""
_SHORTEST, _FEWEST = 5, 8
"""Lines of a report, and words of somebody's in it: a sentence or two read like anything that their words occur in."""
_HOW = "How to fix: "


class Likely(NamedTuple):
    """Why the first of what fits is likely."""

    message: str
    line: int | None = None
    text: str = ""
    """What somebody wrote that speaks for it."""


def likely(facts: Facts, fits: tuple[str, ...], by_its_check: bool) -> Likely | None:
    """Why the first of what fits is likely; None: it is not. `by_its_check`: its check calls it so. Of a log alone,
    which nobody tells anything of, nothing is likely: it is proven, or it is left open."""
    text = facts.text
    if not fits or isinstance(text.lines, Unread) or isinstance(text.words, Unread) or text.lines < _SHORTEST:
        return None
    if why := written(facts, fits):
        return why
    if text.words < _FEWEST:
        return None
    if by_its_check or fits[0] in strong(facts):
        return Likely("Likely, not proven: it fits what this text shows, and what is named there speaks for it.")
    return _frequent(facts, fits[0])


def written(facts: Facts, fits: tuple[str, ...]) -> Likely | None:
    """Why the first of what fits is likely by what is written alone."""
    text = facts.text
    if not fits or isinstance(text.alike, Unread) or not text.alike:
        return None
    if isinstance(text.lines, Unread) or text.lines < _SHORTEST:
        return None
    first = text.alike[0]
    against, _ = _MOSTLY.get(fits[0], ((), ""))
    needed = _NEEDED.get(fits[0], ())
    if facts.text.said(*against) or (needed and not facts.text.said(*needed)):
        return None
    clear = _CLEAR_OF_FEW if len(fits) <= _FEW else _CLEAR
    if fits[0] == "python-version-unsupported" and any("versions" in e.values for e in facts.text.said("no-version")):
        return None  # for what pip finds no wheel they tell
    if first.cause != fits[0] or first.share < clear or first.line is None:
        return None
    message = "Likely, not proven: it fits what this text shows, and what is written there reads like it."
    return Likely(message, first.line, first.text)


def _frequent(facts: Facts, cause: str) -> Likely | None:
    """What it mostly is where somebody tells of it, and mentions nothing that speaks for another."""
    against, message = _MOSTLY.get(cause, ((), ""))
    if not message or (cause == "cudnn-missing" and any("cudnn" in e.values for e in facts.text.said("names-cuda"))):
        return None
    return None if facts.text.said(*against) else Likely(f"Likely, not proven: {message}")


_MOSTLY: dict[str, tuple[tuple[str, ...], str]] = {
    "cudnn-missing": (("cudnn-named",), "only cuDNN is not found, and nobody here speaks of one that is installed."),
    "fabric-manager-not-running": (("fabric-version-named",), "CUDA waits for the fabric manager."),
    "glibc-too-old": (("libstdcxx",), ""),
    "cgroup-memory-limit": (("host-memory-grows-told", "memory-grows", "memory-grows-by-step"), ""),
    "gpu-memory-handle-alloc": (("memory-is-free", "growth-in-vain", "several-programs"), ""),
    "gpu-memory-held-by-other-process": (("memory-is-free",), ""),
    "gpu-oom-model-or-data": (
        (
            "beside-others-told",
            "several-programs",
            "evicted-told",
            "on-one-node-told",
            "several-no-faster",
            "slow-on-gpu",
            "memory-aside-told",
            "loss-is-nan",
        ),
        "",
    ),
    "gpu-too-new-for-build": (("card-fits-build",), ""),
    "msvc-runtime-missing": (("redistributable-here",), ""),
    "psu-insufficient": (("heat-named",), "the machine goes down when the GPU works, and nobody here speaks of heat."),
}
"""Cause -> what would speak against it, and why it is likely."""
_NEEDED = {
    "gpu-memory-held-by-other-process": (
        "memory-held-told", "first-one-ended", "holder-is-gone", "holder-is-stopped", "holder-was-ended", "gpu-process", "on-one-node-told",
        "context-not-made", "allocation-refused", "executor-not-made",
    ),
    "gpu-oom-model-or-data": (
        "memory-at-work-told", "memory-grows-told", "less-data-works", "resource-exhausted", "out-of-memory", "allocator-report",
        "torch-out-of-memory", "program-finds-no-memory", "tensor-too-large",
    ),
    "host-memory-leak": ("host-memory-grows-told", "memory-grows", "memory-grows-by-step", "memory-grows-told"),
    "tf-config-localhost": ("second-machine-named",),
}  # fmt: skip
"""Cause -> what somebody must say: on one machine it is as it should be; a GPU without memory alone may be full of anything."""


def as_root(check: Check, candidate: Candidate, shown: Finding, why: Likely) -> RootCause:
    """The cause of what is `shown`, with the lines that speak for it."""
    proof = shown.proof[:3]
    if why.text and all(one.source != f"line {why.line}" for one in proof):
        proof = (*proof, Evidence(text=why.text, source=f"line {why.line}"))
    how = next((part for part in check.page.split("\n\n") if part.startswith(_HOW)), "")
    summary = " ".join(how.removeprefix(_HOW).split())
    return RootCause(
        code=check.code,
        cause=check.cause,
        title=check.title,
        level=check.level.word,
        message=why.message,
        about=(),
        proof=proof,
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Make sure first. If it is so: {summary}",
                steps=(candidate.settle,) if candidate.settle else (),
            ),
        ),
        explains=(shown.cause,),
        proven=False,
    )
