"""Who asks how long a program takes, or praises how fast it is, and does not complain."""

from __future__ import annotations

from ..facts import NOTHING_WRONG, Alike
from ..patterns import Pattern
from .told_speed import CHEERS, FIRST, NAMES_GPU, NOT_IT

_MERELY_ASKS = Pattern(
    r"(?i)\bhow (?:long|many|much|slow|fast)\b|\b(?:could|can|would|will) (?:you|I|we|it|there|this|someone)\b|\bis (?:there|it|this)\b|\bdo(?:es)? (?:you|it|this|the)\b|\bwhat(?:'s| is| was| are| do)\b|\bwhich\b|^\W{0,4}(?:will|would|should|are) [^.!\n]{5,160}\?|\bplease (?:tell|share|publish|add)\b|\bthanks?\b|\bfeature request|\[feature\]|^\W{0,3}(?:add|support|show|mention|document|feature)\b|\brelease notes|\bwould (?:help|be nice|like)"
    r"|\bwie lange\b|多长时间|多久|\u0441\u043a\u043e\u043b\u044c\u043a\u043e|¿?cuánto|quanto tempo|combien de temps|どのくらい"
)
_HOW_LONG = Pattern(
    r"(?i)\bhow (?:long|much time|many (?:hours|days)) (?:does|did|do|will|would|is|it|have|has)\b|\bwie lange\b|\u0441\u043a\u043e\u043b\u044c\u043a\u043e \u0432\u0440\u0435\u043c\u0435\u043d\u0438|多长时间|多久|cu\u00e1nto tiempo|quanto tempo|combien de temps|\u3069\u306e\u304f\u3089\u3044"
)
_COMPLAINS = Pattern(
    r"(?i)\b(?:(?<!how )slow(?:ly|er)?(?! (?:is|will|would))|errors?|fail\w*|problems?|issues?|wrong|stuck|hangs?|freez\w+|crash\w*|cannot|low\b|bottle ?neck|forever|ages|too long|so long|only|barely|hardly|never|still|despite|same|isn't|strange|weird|expected|normal|bad|help me|why)\b|n't\b|\bnot (?!sure)|\bno (?!gpu\b)|zu lang|\u043f\u043e\u0447\u0435\u043c\u0443|为什么|怎么|慢|langsam|lent[oae]?\b"
)
_ABOUT_SPEED = {
    "cpu-starved-input", "gpu-launch-bound", "jit-cold-start", "jit-cache-unwritable", "tensor-cores-idle", "gpu-wrong-result", "scaling-below-expected",
    "gpu-outlier", "gpu-busy-with-other-work", "h2d-pageable", "mixed-precision-no-gain", "gpu-throttling-thermal", "gpu-throttling-power",
}  # fmt: skip


def merely_asks(lines: list[str], found: tuple[Alike, ...]) -> bool:
    """Whether what reads like a slow program only asks how long it takes, or praises how fast it is."""
    if not found or len(lines) > _SHORT_TEXT:
        return False
    whole = "\n".join(lines)
    if sum(map(str.isdigit, whole)) > _FIGURES:  # who measures has something to say
        return False
    if _NOTES.match(whole):
        return True
    if _HOW_LONG.search(whole) and not _COMPLAINS.search(whole):
        return True
    if found[0].cause not in _ABOUT_SPEED | {NOTHING_WRONG}:
        return False
    if NOT_IT.search(whole) and FIRST.search(whole) and not NAMES_GPU.search(whole):
        return True
    return (_MERELY_ASKS.search(whole) or CHEERS.search(whole)) is not None and not _COMPLAINS.search(whole)


_NOTES = Pattern(r"(?i)\W{0,8}(?:release notes|change-?log|what's new)\b")
_SHORT_TEXT, _FIGURES = 12, 16
"""Lines, and digits in them."""
