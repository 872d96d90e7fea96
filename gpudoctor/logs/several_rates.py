"""What somebody tells of how fast so many GPUs are: in numbers, or more time than before."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..patterns import Pattern

_FLAGS = re.IGNORECASE
_RATES = Pattern(
    r"(?:(?<![\w.,/])|(?<=gpus=))(?P<count>1|one|single|2|two|both|dual|3|three|4|four|8|eight|16)(?:[ -]?(?:gpus?|cards?|procs?|process(?:es)?|workers?|nodes?|machines?|hosts?|servers?)(?: only)?\b| ?:|(?<=both)|(?= (?:does|do|has|have|gives?|gets?|got|reaches|makes|takes?|took|needs?|alone)\b)|(?<=gpus=\d)|(?<=np \d)|(?<=gpus \d))(?:(?!\b(?:one|two|four|both|single)\b)[^\d.;\n]){0,26}?(?:\d{1,5} (?:steps|iterations|batches|epochs|images) in )?(?<![\d.])(?P<value>\d{1,5}(?:\.\d{1,3})?) ?(?P<unit>(?:img|images?|imgs|samples?|examples?|it|steps?|batch(?:es)?|eg|words|tokens|sentences)s? ?/ ?s\w{0,5}|k? ?wps\b|ms ?/ ?step|s ?/ ?(?:step|it)|ms\b|secs?\b|seconds?\b|s\b|mins?\b|minutes?\b|hours?\b|h\b|fps\b)",
    _FLAGS,
)
"""What so many GPUs do."""
_RATES_BEHIND = Pattern(
    r"(?<![\w.])(?P<value>\d{1,5}(?:\.\d{1,3})?) ?(?P<unit>(?:(?:img|images?|imgs|samples?|examples?|it|steps?|batch(?:es)?|words|tokens|sentences) ?(?:/|per) ?s\w{0,5}|ms|s|secs?|seconds?|min\w{0,5}|hours?|h|fps)(?: ?(?:/|per|an|each) ?\w{2,5})?)? ?(?:(?:on|with|for|using|by) )(?P<count>1|one|a single|single|2|two|both|3|three|4|four|8|eight|16)[ -]?(?:gpus?|cards?|workers?|nodes?|machines?)\b",
    _FLAGS,
)
_PER_SECOND = Pattern(
    r"\b(?:global_step|steps?|images?|imgs?|samples?|examples?|it|batches|tokens)(?: ?/ ?| per )s(?:ec\w*)?\b", _FLAGS
)
_COUNTS = {"one": 1, "single": 1, "two": 2, "both": 2, "dual": 2, "three": 3, "four": 4, "eight": 8}
_STEP = Pattern(r"^(?:it|steps?|batch|ms|s/)")
"""Of a step, which is larger with several GPUs: it may take as long."""
_LITTLE, _A_STEP = 0.55, 0.75
"""Of what as many GPUs would do at best; of a step of one."""


class Rates:
    """What so many GPUs do, of all that is read."""

    def __init__(self) -> None:
        self._rates: dict[int, tuple[float, str]] = {}

    def read(self, text: str) -> bool:
        """Whether a line tells of any."""
        before = [(_count(found["count"]), float(found["value"]), found["unit"]) for found in _RATES.finditer(text)]
        said = (*before, *_behind(text))
        for count, value, unit in said:
            self._rates.setdefault(count, (value, unit.replace(" ", "").lower()))
        return bool(said)

    def no_gain(self) -> bool:
        """Whether several do hardly more than one, in numbers."""
        least = min(self._rates, default=1)
        one, unit = self._rates.get(least, (0.0, ""))
        gains = [
            (count / least, value / one if _is_rate(unit) else one / value, unit)
            for count, (value, of) in self._rates.items()
            if one and value and count > least and of[:2] == unit[:2]
        ]
        return any(gain < (_A_STEP if _STEP.search(unit) else _LITTLE * count) for count, gain, unit in gains)


def _count(said: str) -> int:
    said = said.lower().removeprefix("a ")
    return _COUNTS.get(said) or int(said)


def _behind(text: str) -> Iterator[tuple[int, float, str]]:
    """What so many do where the number stands before them: '5.2 on 1 gpu, 0.8 on 8 gpus'."""
    said = list(_RATES_BEHIND.finditer(text))
    default = "steps/s" if _PER_SECOND.search(text) else ""
    for found in said if len(said) > 1 else ():
        if unit := (found["unit"] or default).replace(" per ", "/"):
            yield _count(found["count"]), float(found["value"]), unit


_INSTEAD = Pattern(
    r"\b(?:takes?|took|needs?|needed|is|now)\b[^.\n\d]{0,16}(?P<now>\d{1,5}(?:\.\d{1,2})?) ?(?P<unit>ms|s|secs?|seconds?|min(?:ute)?s?|h|hours?)\b[^.\n\d]{0,24}\b(?:instead of|rather than|compared (?:to|with)|vs\.?|against)[^.\n\d]{0,16}(?P<before>\d{1,5}(?:\.\d{1,2})?) ?(?P=unit)",
    _FLAGS,
)


def takes_more(clause: str) -> bool:
    """'200 s instead of 150 s'."""
    found = _INSTEAD.search(clause)
    return found is not None and float(found["now"]) > float(found["before"])


def _is_rate(unit: str) -> bool:
    """Whether more of it is faster."""
    return unit.endswith(("fps", "wps")) or ("/s" in unit and not unit.startswith(("ms", "s/")))
