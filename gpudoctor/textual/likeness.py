"""The order of the candidates by what reports that read alike are about (logs/alike.py)."""

from __future__ import annotations

from collections.abc import Container, Sequence

from ..facts import NOTHING_WRONG, READS_LIKE_A_FAULT, Alike, Facts, Unread
from ..patterns import Pattern
from . import libraries, together
from .other_gpus import on_bus

_LEAST = 0.04
"""A share below this says nothing."""
_CLEAR = 0.7
"""From this share on a cause goes before others that a program's line fits as well."""
_SPOKEN, _OF_WHAT_FITS, _WORDS = 0.25, 0.6, 15
"""The same for a share that is the most of what the causes that fit have together, the others being ruled out by the lines, in
a text of so many words of people: fewer read like anything."""
_MEANT = 0.3
"""The same where no program's line shows anything."""
_LATER = 0.8
"""Each place further down in the list of what fits counts less."""
_FITS = 0.1
"""What fits counts as much as a share of this, where nothing reads like it."""
_WITHOUT_A_DRIVER = (
    "driver-missing",
    "driver-module-not-loaded",
    "driver-nouveau-conflict",
    "driver-rminit-failed",
    "no-nvidia-gpu",
)
"""Where these are, nvidia-smi lists no GPU."""
_ANYTHING = "tf-cpu-only-package"
"""The first of the causes that fit where nothing is known but that no GPU is listed."""


def ranked(
    facts: Facts, symptom: str, fits: tuple[str, ...], others: frozenset[str], first_is_likely: bool
) -> tuple[str, ...]:
    """`fits` in the order of their likeness.

    Where a program's line shows the symptom, only what is clearly meant goes before the others; where nothing tells more than
    that no GPU is listed, or that somebody complains, those that read alike and are not in it are added, but for
    what is of `others`. `first_is_likely`: the check of the first calls it so.
    """
    if isinstance(facts.text.alike, Unread) or not facts.text.alike:
        return fits
    shares = {one.cause: one.share for one in facts.text.alike if one.cause != NOTHING_WRONG}
    shown = facts.text.shows(symptom)
    if symptom == READS_LIKE_A_FAULT:
        works = isinstance(facts.gpu.devices, tuple) and bool(facts.gpu.devices)
        alike = (c for c, share in shares.items() if share >= _LEAST and not (works and c in _WITHOUT_A_DRIVER))
        return tuple(dict.fromkeys((*fits, *alike)))
    if not shown and fits[:1] == (_ANYTHING,):
        scores = {cause: max(shares.get(cause, 0.0), _FITS * _LATER**place) for place, cause in enumerate(fits)}
        more = {c: share for c, share in shares.items() if c not in scores and c not in others and share >= _LEAST}
        scores |= more
        return tuple(sorted(scores, key=lambda cause: -scores[cause]))
    if not shown and _ANYTHING in fits:
        meant = tuple(cause for cause, share in shares.items() if share >= _MEANT and cause not in others)
        return (*meant, *(cause for cause in fits if cause not in meant))
    told = not first_is_likely and not isinstance(facts.text.words, Unread) and facts.text.words >= _WORDS
    least = _OF_WHAT_FITS * sum(shares.get(cause, 0.0) for cause in fits)
    clear = tuple(
        cause
        for cause in fits
        if (share := shares.get(cause, 0.0)) >= _CLEAR or (told and share >= _SPOKEN and share >= least)
    )
    return (*clear, *(cause for cause in fits if cause not in clear))


def meant(
    facts: Facts, symptom: str, fits: tuple[str, ...], open_: Container[str], out: Container[str]
) -> tuple[str, ...]:
    """`fits` with that before all that the text as a whole reads so much more like than like the first of them: what its check
    leaves `open_`, or what is very clear and not ruled `out`. Where CUDA's initialization fails its code tells what fits."""
    top = _top(facts)
    if top is None or (fits and (top.cause in out or symptom == INSTALL_FAILS)):
        return fits
    is_open = not fits or top.cause in fits or (top.cause in open_ and symptom != "cuinit-fails")
    if top.share < (_MEANT_AT_ALL if is_open else _VERY):
        return fits
    if fits and _share(facts, fits[0]) > _OF_FIRST * top.share:
        return fits
    return tuple(dict.fromkeys((top.cause, *fits)))


INSTALL_FAILS = "install-fails"
"""For what pip finds no wheel the versions tell, which no word does."""
_MEANT_AT_ALL, _VERY, _OF_FIRST = 0.1, 0.7, 0.2
"""Shares, and a part of one: measured with reports that the model was not made of."""


def another(facts: Facts, shown: Sequence[str]) -> str | None:
    """What a text as a whole reads so much more like than like the first of what its lines show that these do not decide."""
    top = _top(facts)
    if top is None or top.cause in shown or top.share < _ANOTHER:
        return None
    return top.cause if _share(facts, shown[0]) <= _OF_SHOWN * top.share else None


_ANOTHER, _OF_SHOWN = 0.6, 0.05


def _top(facts: Facts) -> Alike | None:
    """What the text reads most like that is a fault."""
    out = {NOTHING_WRONG, *together.unlikely(facts), *against(facts)} | (
        {"no-nvidia-gpu"} if "nvidia" in on_bus(facts) else set()
    )
    return next((one for one in _whole(facts) if one.cause not in out), None)


def against(facts: Facts) -> set[str]:
    """What a text may read like and its lines speak against, where cuDNN alone is lost: CUDA's libraries that were opened are
    there, and a path is no matter where nobody has a cuDNN."""
    picks = facts.tensorflow.libraries
    lost = [] if isinstance(picks, Unread) else [p.soname for p in picks if p.picked is None]
    if not lost or not all(name.startswith(("libcudnn", "cudnn64_")) for name in lost):
        return set()
    said = facts.text.said
    opened = any(_OF_TOOLKIT.match(e.values.get("library", "")) for e in said("library-opened"))
    has_one = said(*_SPEAKS_OF_CUDNN) or libraries.other_cudnn(facts, lost) is not None
    late = {"cuda-version-mismatch", "cuda-libs-missing", "cuda-toolkit-missing"} if opened else set()
    return late if has_one else late | {"ld-library-path-not-set"}


_OF_TOOLKIT = Pattern(r"lib(?:cudart|cublas|cufft|curand|cusolver|cusparse)")
_SPEAKS_OF_CUDNN = (
    "cudnn-had-said", "cudnn-here-said", "cudnn-copied", "cudnn-works-elsewhere", "shows-file", "library-elsewhere-said", "wheel-libs-named", "one-is-fine-said",
)  # fmt: skip
"""Somebody has a cuDNN, or seems to: then it may lie where nobody looks."""


def _share(facts: Facts, cause: str) -> float:
    return next((one.share for one in _whole(facts) if one.cause == cause), 0.0)


def _whole(facts: Facts) -> tuple[Alike, ...]:
    return () if isinstance(facts.text.whole, Unread) else facts.text.whole


def reads_like_another(facts: Facts, cause: str) -> bool:
    """Whether what is written reads clearly more like another cause of the same family (container-…) than like this one."""
    alike = () if isinstance(facts.text.alike, Unread) else facts.text.alike
    family = cause.partition("-")[0] + "-"
    of = {one.cause: one.share for one in alike if one.cause.startswith(family)}
    itself = of.pop(cause, 0.0)
    return max(of.values(), default=0.0) >= max(_TIMES * itself, _MORE)


_TIMES, _MORE = 2, 0.1
"""So much more likely, and a share at least."""
