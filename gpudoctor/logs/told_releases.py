"""Who tells that the GPU is gone since another TensorFlow was installed: the release that finds it, and the one that does not."""

from __future__ import annotations

from ..facts import COMPLAINT, TextEvent
from ..patterns import Pattern
from .language import LONGEST
from .notebook import Notebook
from .told_speed import of_people

_NUMBER = r"(?:1\.(?:1[0-5]|\d)|2\.(?:1\d|2[01]|\d))"
_RELEASE = rf"{_NUMBER}(?:\.(?:\d{{1,2}}|x))?(?![\w%]|\.\d|[ -]?(?:[GM]i?B|GHz|s\b|ms\b))"
_NAMED = r"(?:(?:tensorflow(?:[-_]gpu)?|tf|version|ver\.?|release|v)[ =:v-]{0,4})?"
_TENSORFLOW = Pattern(r"(?i)tensorflow|\btf\b|\bkeras\b")
_ANY = Pattern(
    rf"(?i)(?<![\w./])(?<!cuda )(?<!cuda-)(?<!cudnn )(?<!python )(?<!driver )(?<!torch )(?<!nccl )(?<!keras )(?<!bazel )(?<!numpy )(?<!opencv )(?:v|tensorflow(?:[-_]gpu)?[ =]{{0,3}}v?|tf[ =-]?v?)?(?P<any>{_RELEASE})"
)
_MOVED = Pattern(
    rf"(?i)\b(?:(?:updat|upgrad|downgrad|mov|switch|chang|migrat|going|went|go|roll|aktualisi|wechs|actuali[sz]|mise \u00e0 jour|passage)\w*|\u043e\u0431\u043d\u043e\u0432\w*|\u5347\u7ea7\w*)(?:(?!\b(?:cuda|cudnn|driver|python)\b)[^.\n]|\.(?=\d)){{0,50}}?(?<![\w.]){_NAMED}(?P<works>{_RELEASE}),? ?(?:to|-{{0,2}}>|\u2192|=>|auf|\u00e0|a|para|na|\u043d\u0430|\u5230) ?{_NAMED}(?P<fails>{_RELEASE})"
    rf"|\bfrom {_NAMED}(?P<works3>{_RELEASE}) to {_NAMED}(?P<fails3>{_RELEASE})"
    rf"|(?<![\w.])(?P<works2>{_RELEASE}) ?(?:-{{1,2}}>|\u2192|=>) ?{_NAMED}(?P<fails2>{_RELEASE})"
)
_WORKS = Pattern(
    rf"(?i)(?<![\w.]){_NAMED}(?P<works>{_RELEASE})(?:(?!n't\b|\bnot\b|\bno\b|\bnever\b|\bnone\b)[^.,;\n\d]){{0,40}}?\b(?:works?|worked|is fine|was fine|fine|ok|okay|does|did|finds?|found|locates?|located|detects?|detected|sees|saw|lists|listed|uses|used|l\u00e4uft|lief|funktionierte?|funciona|funcionaba|marche|marchait|\u0440\u0430\u0431\u043e\u0442\w+)\b(?! ?(?:not|n't))"
    rf"|\b(?:works?|worked|fine|ok|okay|found|detected|recogni[sz]ed|listed|seen|used|running|ran|funktioniert|l\u00e4uft)\b(?: \w+){{0,4}}? (?:with|on|in|under|for|using|mit|unter|con|com|avec) (?:the )?(?:\w+ )?{_NAMED}(?P<works2>{_RELEASE})"
    rf"|\b(?:with|in|on|under|using) (?:the )?(?:\w+ )?{_NAMED}(?P<works3>{_RELEASE})(?:(?!n't\b|\bnot\b|\bno\b|\bnever\b)[^.;\n\d]){{0,50}}?\b(?:works?|worked|found|detected|recogni[sz]ed|listed|seen|used|fine)\b"
)
_GONE = Pattern(
    r"(?i)\b(?:gpus?|cuda|graphics cards?|grafikkarte|tarjeta|carte graphique)\b(?:[^.\n]|\.(?=\d)){0,90}?(?:\bno longer\b|\bnot\b|n't\b|\bstopp?(?:s|ed)\b|\bnicht\b|\bany ?more\b|\b(?:lost|gone|inaccessible|ceased|unavailable|broken|missing)\b|\bdisappear\w*|\bvanish\w*|\[\]|\bFalse\b|\u043d\u0435 )"
    r"|\b(?:no|zero|0|without|kein\w{0,2}|ning\u00fan|sin|sem|aucun) (?:more )?(?:physical )?gpus?\b|\b(?:stopp?(?:s|ed)|no longer|does(?:n't| not)|did(?:n't| not)|do(?:n't| not)|can(?:'t|not| not)|could(?:n't| not)|fails? to|failed to|unable to|not|ceased to|won't) (?:\w+ ){0,2}?(?:list|detect|see|find|recogni[sz]|us|show|access|run on|work with)\w{0,4}\b[^.\n]{0,24}\b(?:gpus?|cuda|card|graphics)\b"
    r"|\b(?:broke|breaks|broken|lost|loses|kills?|killed|makes?|made) (?:\w+ ){0,3}?gpus?\b|\bonly (?:\w+ ){0,2}?cpu\b|\bcpu only\b|\bsolo (?:la )?cpu\b|\bnur (?:die |auf der )?cpu\b|\u4e0d\u5230 ?gpu|gpu.{0,8}(?:\u4e0d|\u6ca1)"
)
_OF_PIP = Pattern(r"(?i)\bno matching distributions? found for\b|\bcould not find a version that satisfies\b")
_MOST = 80
_PROSE = -2
"""Less than what any program prints."""
SINCE_ANOTHER = "gone-since-another-release"


def settle(notes: Notebook, lines: list[tuple[int, str]]) -> None:
    """Notes what the lines come to together: (number, text), …"""
    people = [one for one in of_people(lines[:_MOST]) if not one[1].startswith(("Collecting ", "Requirement "))]
    people = [one for one in people if not _OF_PIP.search(one[1])]
    whole = "\n".join(text for _, text in people)
    if not _TENSORFLOW.search(whole) or not _GONE.search(whole):
        return
    for number, text in people:
        if (told := _in(text, whole)) is not None:
            works, fails = told
            if notes.told("tensorflow.devices") is None:
                notes.tell("tensorflow.devices", (), number, _PROSE)
            notes.events.append(
                TextEvent(
                    line=number, language=COMPLAINT, kind=SINCE_ANOTHER, text=text[:LONGEST],
                    values={"works": works, "fails": fails}, symptom="tf-lists-no-gpu",
                )
            )  # fmt: skip
            return


def _in(text: str, whole: str) -> tuple[str, str] | None:
    """The release that works and the one that does not, by a line and the others; None: it does not tell."""
    worked = next((_minor(v) for one in _WORKS.finditer(text) for v in one.groups() if v), None)
    if moved := _MOVED.search(text):
        before, after = (_minor(v) for v in moved.groups() if v)
        if before == after:
            return None
        return (after, before) if worked == after else (before, after)
    if worked is None:
        return None
    others = sorted({_minor(one["any"]) for one in _ANY.finditer(whole)} - {worked}, key=_order)
    if not others or _order(others[0]) < _order(worked) < _order(others[-1]):
        return None
    return worked, others[0] if _order(worked) < _order(others[0]) else others[-1]


def _minor(release: str) -> str:
    return ".".join(release.split(".")[:2])


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
