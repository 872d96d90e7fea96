"""A question and its answer on lines of their own -> one line: the forms of issue trackers ('### Python version', then '3.9'),
what is typed at Python's prompt ('tf.__version__', then '2.10.0'), `pip show`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..patterns import Pattern
from .text import Line

_HEADING = Pattern(r"(?:#{1,6} ?|(?:- )?\*\*|- \[[ x]\] )(?P<label>[A-Za-z][\w /().,&?-]{1,60}?)(?:\*\*)?:?(?:\*\*)?$")
_LABELS = Pattern(
    r"(?:tensor ?flow|tf)(?:[- ]gpu)? version|os platform|operating system|os$|platform$|python version|python$|cuda|cudnn"
    r"|gpu|environment",
    re.IGNORECASE,
)
_FILLED = Pattern(r"[^(]{0,60}\d\.\d")
"""A version that stands in the label itself: 'Cuda compilation tools, release 9.2'."""
_NO_VALUE = Pattern(r"_?No response_?$|#{1,6} |(?:- )?\*\*|-+$|n/?a$|(?:```|~~~)", re.IGNORECASE)
_VERSION = Pattern(r"(?:Out\[\d+\]: ?)?['\"]?(?P<answer>[012]\.\d{1,2}\.\d+[\w.+-]{0,24})['\"]?$")
_TRUTH = Pattern(r"(?:Out\[\d+\]: ?)?(?P<answer>True|False)$")
_LIST = Pattern(r"(?:Out\[\d+\]: ?)?(?P<answer>\[\]|list\(\)|\[(?:Logical|Physical)Device\(.{0,400}\])$")
_NAME = Pattern(r"(?:Out\[\d+\]: ?)?(?P<answer>''|\"\")$")
_QUESTIONS: tuple[tuple[Pattern, Pattern], ...] = (
    (Pattern(r"\b(?:tf|tensorflow)\.(?:__version__|VERSION|version\.VERSION)\b"), _VERSION),
    (Pattern(r"\bis_built_with_cuda\(?\)?"), _TRUTH),
    (Pattern(r"\bis_gpu_available\("), _TRUTH),
    (Pattern(r"\btorch\.cuda\.is_available\("), _TRUTH),
    (Pattern(r"\bis_built_with_(?:gpu_support|rocm)\("), _TRUTH),
    (Pattern(r"\blist_(?:physical|logical)_devices\(\s*(?:device_type\s*=\s*)?['\"]GPU['\"]"), _LIST),
    (Pattern(r"\bgpu_device_name\(\)"), _NAME),
)
"""What is asked, and what its answer looks like."""
_SHOWN = Pattern(r"Name: (?P<name>[\w.-]+)$")
_OF_SHOWN = Pattern(r"Version: (?P<version>[\w.+-]+)$")
_MODULES = Pattern(r"^(?:[^|\n]{0,80}[$#>%] ?)?(?:sudo )?lsmod ?\| ?grep (?:-\w )?['\"]?nvidia['\"]?$")
_PROMPT = Pattern(r"(?:[^\s|]{1,60}[:~@][^|\n]{0,60})?[$#>%] ?(?:$|[#$]? ?(?:sudo )?[a-z])|\[[^\]\n]{3,60}\] ?[$#]")
_NOTHING = "lsmod | grep nvidia: nothing"
"""What a list of modules says that is empty."""
_FAR = 60
"""Lines between a question and its answer, at most: TensorFlow's log stands there."""
_PENDING = 8


def together(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, answers with their questions before them."""
    label, shown, silent = "", "", 0
    pending: list[tuple[str, Pattern, int]] = []
    for at, line in enumerate(lines):
        text = line.text
        if label:
            filled = "" if _NO_VALUE.match(text) or _HEADING.match(text) else f"{label}: {text}"
            label = ""
            if filled:
                yield Line(line.number, filled)
                continue
        if (
            len(text) < 80
            and (heading := _HEADING.match(text))
            and _LABELS.match(heading["label"])
            and not _FILLED.match(heading["label"])
        ):
            label = heading["label"]
            continue
        if silent and text:
            if _PROMPT.match(text):
                yield Line(silent, _NOTHING)
            silent = 0
        silent = line.number if _MODULES.search(text) else silent
        if name := _SHOWN.match(text):
            shown = name["name"]
        elif shown and (version := _OF_SHOWN.match(text)):
            yield Line(line.number, f"{shown}=={version['version']}")
            shown = ""
            continue
        if pending and len(text) < 420:
            answer = next((one for one in pending if at - one[2] <= _FAR and one[1].match(text)), None)
            if answer is not None and (found := answer[1].match(text)):
                pending.remove(answer)
                yield Line(line.number, f"{answer[0]} {found['answer']}")
                continue
        if "(" in text or "__version__" in text or "VERSION" in text:
            for asked, form in _QUESTIONS:
                if (found := asked.search(text)) and not re.match(r"(?:File |\w*Error)", text):
                    pending = [*pending, (found[0].rstrip("(") if form is _TRUTH else found[0], form, at)][-_PENDING:]
        yield line
