"""Which cause of a full memory goes first: of what somebody tells, what speaks for others on the GPU, or for TensorFlow that takes
all of it; else the model does not fit."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts

_TOO_LARGE, _TAKEN, _HELD = "gpu-oom-model-or-data", "tf-preallocates-all-memory", "gpu-memory-held-by-other-process"
_SHORT = (
    "memory-short-told",
    "program-finds-no-memory",
    "torch-out-of-memory",
    "cuda-out-of-memory",
    "resource-exhausted",
    "out-of-memory",
    "copy-finds-no-room",
    "memory-grows-told",
)
_BY_OTHERS = (
    "memory-held-told",
    "first-one-ended",
    "works-when-ended",
    "holder-is-gone",
    "holder-is-stopped",
    "gpu-process",
    "reboot-frees-told",
)
_BY_TENSORFLOW = ("takes-all-memory", "frameworks-together", "growth-helps")
_HOSTS_GROWS = ("host-memory-grows-told", "memory-grows", "memory-grows-by-step")
_HOSTS_ENDS = ("host-memory-short-told", "killed", "killed-said")
_FAILS_AT_WORK = ("less-data-works", "memory-grows-told", "memory-at-work-told")
_NEARLY_ALL = 0.75


def firstly(facts: Facts) -> Iterator[str]:
    """The one that goes first of a text that tells of a GPU without memory."""
    said = facts.text.said
    if said(*_HOSTS_GROWS) and said(*_HOSTS_ENDS):
        yield "host-memory-leak"
        return
    if said("host-memory-short-told") and not said(*_SHORT):
        yield "cgroup-memory-limit"
        return
    if said("memory-kept-told") and not said(*_BY_OTHERS, "memory-grows-told", "on-one-node-told"):
        yield _TAKEN
        return
    if not said(*_SHORT):
        if said("device-unavailable"):  # which is no want of memory
            return
        if said("takes-much-told", "memory-limit-wanted") and not said("memory-held-told"):
            yield _TAKEN
        elif said("memory-held-told") and (
            said("executor-not-made") or any(_is_most(e.values) for e in said("memory-held-said"))
        ):
            yield _HELD
        return
    most = any(_is_most(e.values) for e in said("memory-held-said"))
    beside = said("beside-others-told", "another-dies-said", "several-programs", "context-not-made")
    asked = said("much-asked-for-told")
    small = () if asked else said("small-model-said", "holds-without-work")
    left = said("memory-held-told")
    taken = said("takes-much-told") and not asked and not left and (small or beside or said("other-finds-none"))
    both = said("another-framework") or (said("memory-given") and said("torch-out-of-memory"))
    together = both and not said("memory-grows-told")
    if (small and most and not said("memory-held-told")) or taken or together or said(*_BY_TENSORFLOW):
        yield _TAKEN
    elif said(*_BY_OTHERS, "on-one-node-told"):
        if not said("device-unavailable"):
            yield _HELD
    elif said(
        "cuda-out-of-memory", "allocation-refused", "copy-finds-no-room"
    ):  # what the driver answers at a program's start as well
        if most or beside:
            yield _HELD
        elif said(*_FAILS_AT_WORK) or (said("copy-finds-no-room") and said("gpu-memory-short-said")):
            yield _TOO_LARGE
    elif beside:
        yield _HELD
    else:
        yield _TOO_LARGE


def _is_most(values: dict[str, str]) -> bool:
    """Whether it is most of the card's memory that is said to be held."""
    return "total" in values and float(values["used"]) >= _NEARLY_ALL * float(values["total"])
