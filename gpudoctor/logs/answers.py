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
_PYTHON = Pattern(r"(?:Out\[\d+\]: ?)?['\"]?(?P<answer>[23]\.\d{1,2}\.\d{1,2})['\"]?$")
_TRUTH = Pattern(r"(?:Out\[\d+\]: ?)?(?P<answer>True|False)$")
_LIST = Pattern(r"(?:Out\[\d+\]: ?)?(?P<answer>\[\]|list\(\)|\[(?:Logical|Physical)Device\(.{0,400}\])$")
_NAME = Pattern(r"(?:Out\[\d+\]: ?)?(?P<answer>''|\"\")$")
_QUESTIONS: tuple[tuple[Pattern, Pattern], ...] = (
    (Pattern(r"\b(?:tf|tensorflow)\.(?:__version__|VERSION|version\.VERSION)\b"), _VERSION),
    (Pattern(r"\bplatform\.python_version\(\)"), _PYTHON),
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
_SILENT: tuple[tuple[Pattern, str], ...] = (
    (_MODULES, _NOTHING),
    (
        Pattern(
            r"^(?:[^|\n]{0,80}[$#>%] ?)?(?:sudo )?(?:find /(?:usr(?:/\w{1,20})?)?(?: -\w{1,12}(?: \w{1,8})?){0,3} -i?(?:name|path|wholename) ['\"]?[*/]{0,3}(?:lib)?cudnn[\w*.]{0,20}['\"]?|locate (?:-\w )?['\"]?(?:lib)?cudnn[\w*.]{0,20}['\"]?"
            r"|find /(?:usr(?:/\w{1,20})?)?(?: \S{1,20}){0,6} ?\| ?grep (?:-\w{1,3} )?['\"]?(?:lib)?cudnn[\w*.]{0,12}['\"]?)(?: (?:-type \w|-print|2> ?/dev/null|-not -path \S{1,20})){0,3}$"
        ),
        "find libcudnn: nothing",
    ),
    (
        Pattern(
            r"^(?:[^|\n]{0,80}[$#>%] ?)?(?:sudo )?(?:find /(?:usr(?:/\w{1,20})?)?(?: -\w{1,12}(?: \w{1,8})?){0,3} -i?(?:name|path) ['\"]?[*/]{0,3}(?:lib)?cuda?rt[\w*.]{0,20}['\"]?|locate (?:-\w )?['\"]?(?:lib)?cudart[\w*.]{0,20}['\"]?"
            r"|ls (?:-\w{1,4} )?/usr/local/? ?\| ?grep (?:-\w{1,3} )?['\"]?cuda['\"]?|ls -d /usr/local/cuda\*)(?: (?:-type \w|-print|2> ?/dev/null|-not -path \S{1,20})){0,3}$"
        ),
        "find libcudart: nothing",
    ),
    (
        Pattern(
            r"^(?:[^|\n]{0,80}[$#>%!] ?)?(?:python[\d.]{0,4} -m )?(?:pip\d?|uv pip|conda) (?:list|freeze)(?: 2> ?/dev/null)? ?\| ?grep (?:-\w{1,3} )?['\"]?(?:nvidia|nvidia-cu\w{0,12}|cu1[123]|-cu1[123]|cudnn)['\"]?$"
        ),
        "pip list | grep nvidia: nothing",
    ),
)
_FIND_ONE = Pattern(
    r"^(?:[^|\n]{0,80}[$#>%] ?)?(?:sudo )?(?:find /(?: -\w{1,12}(?: \w{1,8})?){0,3} -i?name|locate) ['\"]?[*/]{0,3}(?P<name>lib(?:cublas|cufft|curand|cusolver|cusparse))[\w*.]{0,20}['\"]?(?: (?:-type \w|-print|2> ?/dev/null)){0,3}$"
)
"""Commands whose silence tells, and what is said of it."""
_DEFINES = Pattern(r"define +CUDNN_(?P<part>MAJOR|MINOR|PATCHLEVEL) +(?P<number>\d{1,2})$")
_LS = Pattern(
    r"^(?:[^|\n]{0,80}[$#>%] ?)?(?:sudo )?ls (?:-\w{1,6} ){0,2}(?P<directory>(?:[~.]|\$\w{1,20}|\$\{\w{1,20}\})?/?[\w.+@-][\w./+@-]{1,160}|/[\w./+@-]{1,160})/?(?:/[\w*.+-]{0,30}\*[\w*.+-]{0,30})?(?: ?\| ?(?:grep|head|sort|tail)\b[^|\n]{0,40}){0,2}$"
)
_FILES = Pattern(r"(?<![\w/.])(?P<name>lib(?:cu|nv)\w{2,20}\.so(?:\.\d{1,3}){0,4})(?![\w.])")
_LISTED = 40
"""Lines of a list of files, at most."""
_FAR = 60
"""Lines between a question and its answer, at most: TensorFlow's log stands there."""
_PENDING = 8
_PARTS = ("MAJOR", "MINOR", "PATCHLEVEL")
_SHOWN_FILES = 6
_LONG = 200


def _lists(text: str) -> bool:
    return text.startswith("ls ") or " ls " in text


def together(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, answers with their questions before them."""
    label, shown, silent, nothing = "", "", 0, ""
    header: dict[str, str] = {}
    directory, listed = "", 0
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
                yield Line(silent, nothing)
            silent = 0
        if len(text) < _LONG and ("grep" in text or "find /" in text or "locate " in text or _lists(text)):
            said = next((one for asked, one in _SILENT if asked.search(text)), "")
            if not said and (one := _FIND_ONE.match(text)):
                said = f"find {one['name']}: nothing"
            silent, nothing = (line.number, said) if said else (silent, nothing)
        if "CUDNN_" in text and (found := _DEFINES.search(text)):
            header[found["part"]] = found["number"]
            if found["part"] == "PATCHLEVEL" and len(header) == len(_PARTS):
                yield Line(line.number, f"cuDNN {'.'.join(header[part] for part in _PARTS)} (cudnn_version.h)")
                header = {}
        if directory:
            listed += 1
            files = list(dict.fromkeys(_FILES.findall(text)))[:_SHOWN_FILES] if ".so" in text else []
            if (
                listed > _LISTED
                or _PROMPT.match(text)
                or not text
                or ": " in text
                or (" " in text.strip() and not files)
            ):
                directory = ""
            elif files and "/" not in text:
                yield line
                yield from (Line(line.number, f"{directory}/{name}") for name in files)
                continue
        if len(text) < _LONG and _lists(text) and (found := _LS.match(text)):
            directory, listed = found["directory"].rstrip("/"), 0
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
