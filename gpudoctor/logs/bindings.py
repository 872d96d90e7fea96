"""Which processors a program is bound to, and which are next to a GPU (nvidia-smi topo -m)."""

from __future__ import annotations

import re

from ..patterns import Pattern
from .language import Kind, Language, Understood
from .notebook import Notebook

_CPUS = r"\d{1,4}(?:[-,]\d{1,4}){0,80}"
_BINDS = r"(?:taskset (?:-a?p?c|--cpu-list) |numactl (?:-C |--physcpubind[= ]))"
_TRIED = r"(?i:\b(?:tr(?:y|ied|ying|ies)|should|could|would|if I|whether)\b)"
_IS_RUN = rf"^(?![^\n]{{0,200}}{_TRIED})[^\n]{{0,300}}?"
"""Before a command that is run so, and is not one that was tried or thought of."""
LANGUAGE = Language(
    name="bindings",
    words=("affinity list", "physcpubind:", "--cpunodebind", "numactl -", "\tX", " X ", "CPU Affinity", "taskset", "--physcpubind"),
    kinds=(
        Kind("bound-to-cpus", rf"current affinity list: (?P<cpus>{_CPUS})"),
        Kind("bound-to-cpus", r"^physcpubind: (?P<cpus>\d{1,4}(?: \d{1,4}){0,600})$"),
        Kind("bound-to-node", r"\bnumactl\b[^\n]{0,80}(?:--cpunodebind|-N)[= ](?P<node>\d{1,2})(?=$|\s)"),
        Kind("bound-gpu", rf"{_IS_RUN}\bCUDA_VISIBLE_DEVICES=(?P<gpu>\d{{1,2}}) {{1,3}}(?:\S{{1,80}} ){{0,6}}?{_BINDS}(?P<cpus>{_CPUS})(?=\s)"),
        Kind("bound-to-cpus", rf"{_IS_RUN}\b{_BINDS}(?P<cpus>{_CPUS})(?=\s)"),
        Kind("gpu-near-cpus", rf"^GPU(?P<index>\d{{1,2}})\s(?:[^\n]{{0,200}}?\s)?X\s[^\n]{{0,200}}?\s?(?P<cpus>{_CPUS})\s{{1,30}}(?P<node>\d{{1,2}})(?:\s{{1,30}}(?:N/A|\d{{1,2}}))?$"),
        Kind(
            "gpu-near-cpus",
            rf"^GPU ?(?P<index>\d{{1,2}})(?: ?(?:\.\.\.?|-|to) ?(?:GPU ?)?(?P<last>\d{{1,2}}))?\b[^\n]{{0,40}}?\bCPU Affinity:? {{1,8}}(?P<cpus>{_CPUS})(?=$|\s)(?:[^\n]{{0,12}}\bNUMA(?: Affinity| node)?:? {{1,8}}(?P<node>\d{{1,2}}))?",
        ),
    ),
    foreign=True,
)  # fmt: skip
_LOOP = Pattern(
    r"\bfor (?P<name>[a-z_A-Z]\w{0,19}) in (?:(?P<list>\d{1,2}(?: \d{1,2}){1,15})|\{(?P<first>\d{1,2})\.\.(?P<last>\d{1,2})\}|[$`]\(?seq (?P<first2>\d{1,2}) (?P<last2>\d{1,2})[)`]); ?do\b"
)
_TERM = r"\$\(\((?P<{n}>[^()\n]{{1,30}})\)\)"
_EACH = Pattern(
    r"\bCUDA_VISIBLE_DEVICES=\$\{?(?P<name>\w{1,20})\}? [^\n]{0,60}?\b"
    + _BINDS
    + _TERM.format(n="low") + "-" + _TERM.format(n="high")
)  # fmt: skip
_SUM = Pattern(
    r"\$?(?P<name>[a-z_A-Z]\w{0,19})(?: ?\* ?(?P<times>\d{1,4}))?(?: ?\+ ?(?P<plus>\d{1,4}))?(?: ?- ?(?P<minus>\d{1,4}))?$"
)
WORDS = ("; do", ";do", "taskset", "numactl -")


class Reader:
    """A launcher's loop, which binds a program for each GPU."""

    def __init__(self) -> None:
        self._name, self._numbers = "", list[int]()

    def line(self, text: str, _number: int, _notes: Notebook) -> Understood | None:
        """Which processors each GPU's program is bound to."""
        if loop := _LOOP.search(text):
            first, last = loop["first"] or loop["first2"], loop["last"] or loop["last2"]
            named = loop["list"].split() if loop["list"] else range(int(first), int(last) + 1)
            self._name, self._numbers = loop["name"], [int(one) for one in named][:16]
        found = _EACH.search(text)
        if found is None or found["name"] != self._name:
            return None
        low, high = _SUM.match(found["low"].strip()), _SUM.match(found["high"].strip())
        if low is None or high is None or {low["name"], high["name"]} != {self._name}:
            return None
        each = [
            f"{n}:{_value(low, n)}-{_value(high, n)}" for n in self._numbers if 0 <= _value(low, n) <= _value(high, n)
        ]
        return Understood("bound-each", {"each": " ".join(each)}) if each else None


def _value(term: re.Match[str], number: int) -> int:
    return number * int(term["times"] or 1) + int(term["plus"] or 0) - int(term["minus"] or 0)
