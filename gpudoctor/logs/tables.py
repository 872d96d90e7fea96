"""Tables whose rows tell nothing without their heading: nvidia-smi --query-gpu as CSV, and the CUDA sample's matrix of bandwidths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..patterns import Pattern
from .language import Kind, Language, Understood
from .notebook import Notebook
from .text import Line

_COLUMN = r"[a-z][\w.]{1,50}(?: \[[\w/%]{1,6}\])?"
_QUERY = Pattern(rf"(?:^|--query-gpu[= ])(?P<columns>{_COLUMN}(?:, ?{_COLUMN}){{1,40}})(?=$|\s)")
_MATRIX = Pattern(
    r"\bP2P=Enabled (?P<both>Bidirectional )?Bandwidth\b|\b(?P<both2>Bidirectional) P2P=Enabled Bandwidth\b"
)
_ROW = Pattern(r"\d{1,2}(?: {1,12}\d{1,5}\.\d{1,3}){2,64}$")
_OF_INTEREST = ("pcie.link", "power.limit", "power.default_limit")
"""Columns, one of which makes a heading worth keeping."""
_FAR = 70
"""Rows below a heading, at most."""


def joined(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines, rows with their heading before them."""
    columns: list[str] = []
    matrix, below = "", 0
    for line in lines:
        text = line.text
        below += 1
        if below > _FAR:
            columns, matrix = [], ""
        if any(one in text for one in _OF_INTEREST) and (found := _QUERY.search(text)):
            columns, matrix, below = [one.strip() for one in found["columns"].split(",")], "", 0
        elif columns and len(text) < 300 and text.count(",") == len(columns) - 1:
            yield Line(line.number, f"{', '.join(columns)}: {text}")
            continue
        elif "P2P=" in text:
            found = _MATRIX.search(text)
            matrix = "" if found is None else "both ways" if found["both"] or found["both2"] else "one way"
            columns, below = [], 0
        elif matrix and _ROW.match(text):
            yield Line(line.number, f"P2P=Enabled, {matrix}, GB/s: {text}")
            continue
        yield line


_IDLE, _AT_WORK = ("P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12", "P15"), 30
_FAST = ("P0", "P1", "P2")
"""States in which a link is as fast as it gets."""
_ASKED = Pattern(rf"(?P<columns>{_COLUMN}(?:, {_COLUMN}){{1,40}}): (?P<values>[^\n]{{1,300}})$")


class _Query(Language):
    """What nvidia-smi --query-gpu answers of the PCIe link."""

    def line(self, text: str, _at: int, _notes: Notebook) -> Understood | None:
        """What a row tells."""
        found = _ASKED.match(text)
        if found is None:
            return None
        names = [one.split(" ")[0] for one in found["columns"].split(", ")]
        told = dict(zip(names, (one.strip() for one in found["values"].split(",")), strict=False))
        now = _told(told, "pcie.link.gen.current", "pcie.link.gen.gpucurrent")
        most = _told(told, "pcie.link.gen.max")
        width, widest = _told(told, "pcie.link.width.current"), _told(told, "pcie.link.width.max")
        at_work = (_told(told, "utilization.gpu") or 0) >= _AT_WORK or told.get("pstate") in _FAST
        if at_work and width is not None and widest is not None and width <= widest / 4:
            return Understood("link-slow-at-work", {"lanes": str(width), "all_lanes": str(widest)}, "runs-slowly")
        if now is None or most is None or now >= most:
            return _of_power(told)
        values = {"now": str(now), "most": str(most)}
        if told.get("pstate") in _IDLE:
            if width is not None and widest is not None and width < widest:
                return None
            return Understood("benign-pcie-idle", values)
        if at_work:
            return Understood("link-slow-at-work", values, "runs-slowly")
        return _of_power(told)


def _told(told: dict[str, str], *names: str) -> int | None:
    value = next((told[name] for name in names if name in told), "").split(" ")[0].partition(".")[0]
    return int(value) if value.isdecimal() else None


def _of_power(told: dict[str, str]) -> Understood | None:
    limit, default = _told(told, "enforced.power.limit", "power.limit"), _told(told, "power.default_limit")
    if limit is None or default is None or limit >= default:
        return None
    return Understood("power-limit-said", {"limit": str(limit), "default": str(default)})


LANGUAGE = _Query(name="nvidia-smi", words=("pcie.link.", "power.default_limit"), kinds=())
RATES = Language(
    name="nvidia-smi",
    words=("P2P=Enabled",),
    kinds=(
        Kind(
            "peer-rates",
            r"^P2P=Enabled, (?P<ways>one|both) ways?, GB/s: (?P<row>\d{1,2}) {1,12}(?P<rates>\d{1,5}\.\d{1,3}(?: {1,12}\d{1,5}\.\d{1,3}){0,40})$",
        ),
    ),
)
_PER_S = r"(?i:\b(?:img|imgs|images?|samples?|examples?|sequences?|tokens?|steps?|it|iterations?|batches|frames)[ /]{0,2}(?:/|per) ?s(?:ec(?:ond)?s?)?\b|\b[TG]FLOPS?(?:/s)?\b|\bfps\b)"
_UNIT = Pattern(rf"(?<!\d)(?<!\d )(?:{_PER_S})\W{{0,4}}$")
"""A heading ends with it; a number before it makes a rate of something else."""
_OF_A_GPU = Pattern(
    rf"\W{{0,4}}(?:GPU|gpu|cuda|card|rank)[ _:#]{{0,2}}(?P<index>\d{{1,2}})\s{{0,4}}[:=|,-]?\s{{0,12}}(?P<value>\d{{1,8}}(?:\.\d{{1,4}})?)\s{{0,3}}(?P<unit>{_PER_S})?\W{{0,4}}$"
)
RATE_WORDS = ("gpu", "GPU", "cuda", "card", "rank", "/s", "FLOPS", "per s")


class Rates:
    """What each GPU does in a second, one below the other; the unit in each row, or in the line above the first."""

    def __init__(self) -> None:
        self._unit_at = self._row_at = -_NEXT

    def line(self, text: str, at: int, _notes: Notebook) -> Understood | None:
        """The rate of a GPU."""
        row = _OF_A_GPU.match(text)
        if row is None:
            if _UNIT.search(text):
                self._unit_at = at
            return None
        if not (row["unit"] or at - self._unit_at <= _NEXT or at - self._row_at <= _NEXT):
            return None
        self._row_at = at
        return Understood("gpu-rate", {"index": row["index"], "rate": row["value"]})


_NEXT = 2
"""Lines from one to the next, with an empty one between them."""
