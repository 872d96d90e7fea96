"""How fast products are beside each other: who needs longer on a slower one has no fault."""

from __future__ import annotations

import itertools
import re

from ..patterns import Pattern

_TFLOPS = {
    "k80": 4.1, "k40": 4.3, "k20": 3.5, "k520": 2.4, "m40": 6.8, "m60": 4.8, "p4": 5.5, "p40": 11.8, "p100": 9.5, "v100": 14.0, "t4": 8.1, "a100": 19.5, "a40": 18.0,
    "750ti": 1.3, "940mx": 0.9, "940m": 0.8, "950": 1.6, "960": 2.3, "970": 3.9, "980": 4.6, "980ti": 5.6, "mx150": 1.1, "mx250": 1.2, "1050": 1.8, "1050ti": 2.1,
    "1060": 4.4, "1070": 6.5, "1070ti": 8.1, "1080": 8.9, "1080ti": 11.3, "1650": 3.0, "1660": 5.0, "1660ti": 5.4, "2060": 6.5, "2070": 7.5, "2080": 10.1,
    "2080ti": 13.4, "3060": 7.5, "3070": 11.0, "3080": 16.0, "3090": 19.0, "4090": 40.0, "titanx": 6.6, "titanxp": 12.0, "titanv": 14.0, "titanrtx": 16.3,
}  # fmt: skip
"""Single precision, of one GPU of each; of the cards since 2020, which count each unit twice, what is left of it at work."""
_CARD = Pattern(
    r"(?i)(?<![\w.])(?:(?:nvidia|geforce|maxwell|tesla|gtx|rtx)[ -]?){0,3}(?P<card>titan ?(?:xp|x|v|rtx)|(?:940mx?|mx[12]50|9[5-8]0|750|10[5-8]0|16[56]0|20[678]0|30[6-9]0|4090)(?: ?ti)?|[kmpvta]\d{1,3})(?!\w|\.\d)"
)
_TOOK = Pattern(
    r"(?i)(?<![\w.:])(?P<n>\d{1,4}(?:\.\d{1,2})?)(?: ?(?:-|\u2013|to|~) ?(?P<m>\d{1,4}(?:\.\d{1,2})?))? ?(?P<u>days?|hours?|hrs?|h|min(?:ute)?s?|s|sec(?:ond)?s?|ms)\b"
)
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_SEVERAL = Pattern(
    r"(?i)\b(?:[2-9]|two|three|four|eight) ?x? ?(?:gpus|cards|titan|gtx|rtx|tesla|[kpvat]\d{2,3})\b|\bgpus\b|\bmulti-?gpu"
)
_AT_MOST, _LEAST = 1.5, 1.25
"""Of what the products' numbers let expect; and how far they must be apart."""
_FAR = 200
"""Characters between the times and their cards."""


def explain(text: str) -> bool:
    """Whether a text tells of two times on two products, and the slower one takes as much longer as it is slower."""
    times = list(_TOOK.finditer(text))
    if len(times) != 2 or _SEVERAL.search(text):
        return False
    cards = [(one, re.sub(r"\W", "", one["card"].lower())) for one in _CARD.finditer(text)]
    names = dict.fromkeys(name for _, name in cards)
    if len(names) != 2 or not all(name in _TFLOPS for name in names):
        return False
    far, pair = min(
        (sum(_gap(time, cards, name) for time, name in zip(times, two, strict=True)), two)
        for two in itertools.permutations(names)
    )
    if far > _FAR:
        return False
    took = [_seconds(one) for one in times]
    speeds = [_TFLOPS[name] for name in pair]
    slow, fast = (0, 1) if speeds[0] < speeds[1] else (1, 0)
    expected = speeds[fast] / speeds[slow]
    return expected >= _LEAST and 1.0 < took[slow] / took[fast] <= _AT_MOST * expected


def _gap(time: re.Match[str], cards: list[tuple[re.Match[str], str]], name: str) -> int:
    """Characters between a time and the product of this name that stands nearest."""
    return min(max(card.start() - time.end(), time.start() - card.end()) for card, called in cards if called == name)


def _seconds(took: re.Match[str]) -> float:
    unit = took["u"].lower()
    return float(took["m"] or took["n"]) * (0.001 if unit == "ms" else _UNITS[unit[0]])
