"""Who asks how long a program takes, or praises how fast it is, and does not complain."""

from __future__ import annotations

from ..facts import NOTHING_WRONG, Alike
from ..patterns import Pattern
from . import card_speeds
from .first_use import FIRST, NOT_IT
from .told_speed import CHEERS, NAMES_GPU

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


_SECONDS = Pattern(
    r"(?i)(?<![\w.])(?P<n>\d{1,5}(?:[.,]\d{1,4})?) ?(?P<u>ms|milli-?sec\w*|s|secs?|seconds?|sekunden?|segundos?|secondes?|\u0441\u0435\u043a\w*|\u79d2|\u6beb\u79d2)(?![A-Za-z])"
)
_LONGER = Pattern(
    r"(?i)\b(?:min(?:ute)?s?|minuten|minutos|hours?|forever|ages)\b|\u5206\u949f|\u043c\u0438\u043d\u0443\u0442"
)
_A_BIT = Pattern(
    r"(?i)\b(?:a (?:bit|little)|slightly|somewhat) (?:longer|slower|more time)\b|\b(?:takes?|needs?) (?:a few|some|several|two|three) (?:more )?seconds\b"
)
_BRIEF_S, _TIMES = 8.0, 3
"""Seconds that a first use takes as it should, where later ones are so many times as quick."""


def is_explained(lines: list[str], found: tuple[Alike, ...]) -> bool:
    """Whether what is told besides a question explains what is asked: a slower card takes longer, and who keeps a GPU busy
    with the processor's threads keeps these busy, too."""
    whole = "\n".join(lines)
    if len(lines) > _SHORT_TEXT or not found:
        return False
    if found[0].cause in _ABOUT_SPEED | {NOTHING_WRONG} and card_speeds.explain(whole):
        return True
    return _GPU_FULL.search(whole) is not None and _CPU_BUSY.search(whole) is not None and not _SLOW.search(whole)


_GPU_FULL = Pattern(
    r"(?i)\bgpu\b(?![^.\n]{0,16}\bmem)[^.\n%,;]{0,40}?\b(?:9[5-9]|100) ?%|\b(?:9[5-9]|100) ?% (?:of (?:the |my )?)?(?:gpu\b(?! mem)|on (?:the )?gpu\b)"
)
_CPU_BUSY = Pattern(
    r"(?i)\bcpu\b[^.\n,;]{0,40}?(?:\b(?:[6-9]\d|\d{3,4}) ?%|\b(?:so |too |very )?high\b|\bbusy\b|\bfull\b)|\b\d{3,4} ?% (?:of (?:the )?)?cpu\b"
)
_SLOW = Pattern(
    r"(?i)\b(?:slow\w*|long(?:er)?|idle|crash\w*|errors?|hangs?|stuck|freez\w+|fps|forever|no gpu|wrong|nan|oom|out of memory|instead of (?:the )?gpu|temperature|throttl\w*)\b|\bnot (?:use|using|used)\b|\u6162"
)


def is_brief(lines: list[str], found: tuple[Alike, ...]) -> bool:
    """Whether all that is told is that a first use takes some seconds, and those after it are quick: CUDA and cuDNN start."""
    if not found or found[0].cause not in _ABOUT_SPEED | _OF_A_FIRST_USE or len(lines) > _SHORT_TEXT:
        return False
    whole = "\n".join(lines)
    if not FIRST.search(whole) or _LONGER.search(whole):
        return False
    if _A_BIT.search(whole):
        return True
    told = [(float(one["n"].replace(",", ".")), one["u"].lower()) for one in _SECONDS.finditer(whole)]
    seconds = [number / 1000 if unit[0] in "m\u6beb" else number for number, unit in told]
    return len(seconds) > 1 and max(seconds) <= _BRIEF_S and max(seconds) >= _TIMES * min(seconds)


def is_reckoned(lines: list[str], found: tuple[Alike, ...]) -> bool:
    """Whether somebody reckons how long all the steps of a training will take, where each takes no longer than such steps do, and finds
    it long: he compares it with nothing."""
    whole = "\n".join(lines)
    if len(lines) > _SHORT_TEXT or not found:
        return False
    step = _A_STEP.search(whole)
    if step is None or not _ALL_STEPS.search(whole) or not _IN_ALL.search(whole) or _COMPARES.search(whole):
        return False
    number = step["n"] or step["n2"]
    unit = (step["u"] or step["u2"]).lower()
    return float(number.replace(",", ".")) * (0.001 if unit[0] == "m" else 1.0) <= _USUAL_STEP_S


_A_STEP = Pattern(
    r"(?i)(?<![\w.])(?P<n>\d{1,4}(?:[.,]\d{1,4})?) ?(?P<u>ms|s|secs?|seconds?) ?(?:/|per|a|each|for (?:each|every|one|a)) ?(?:step|iter\w*|batch)\b|\b(?:step|iteration|batch)\b[^.\n\d]{0,40}(?<![\w.])(?P<n2>\d{1,4}(?:[.,]\d{1,4})?) ?(?P<u2>ms|s|secs?|seconds?)\b"
)
_ALL_STEPS = Pattern(
    r"(?i)\b(?:\d{4,8}|\d{2,4} ?k|\d{1,3},\d{3}) (?:training )?(?:steps|iterations|batches)\b|\b(?:steps|iterations|batches)\b[^.\n\d]{0,24}(?<![\w.])(?:\d{4,8}|\d{2,4} ?k)\b"
)
_IN_ALL = Pattern(r"(?i)\b(?:\d{1,3}(?:\.\d)?|two|three|four|five|six|seven|ten|several) ?(?:days?|weeks?|hours?)\b")
_COMPARES = Pattern(
    r"(?i)\bcpus?\b|\b(?:faster(?! ?-?r-?cnn)|slower|same|util\w*|usage|idle|instead of|compared|others?|paper|author\w*|used to|before|previous\w*|second gpu|two gpus|multi\w*)\b|%"
)
_USUAL_STEP_S = 1.0
"""Of object detection or a large network on one GPU."""
_OF_A_FIRST_USE = {NOTHING_WRONG, "gpu-too-new-for-build", "tf-preallocates-all-memory"}
_NOTES = Pattern(r"(?i)\W{0,8}(?:release notes|change-?log|what's new)\b")
_SHORT_TEXT, _FIGURES = 12, 16
"""Lines, and digits in them."""
