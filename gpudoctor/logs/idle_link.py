"""Who worries about a PCIe link of the first generation, and tells of no work under which it is so: an idle GPU saves power by that."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts import TextEvent
from ..patterns import Pattern
from .language import LONGEST
from .notebook import Notebook
from .text import Line

_KIND, _CALLED_SLOW, _COPIES = "benign-pcie-idle", "link-called-slow", "copies-slow-said"
_FIRST = Pattern(
    r"(?i)\bpci-?e?x?\b[^.\n]{0,30}\bgen(?:eration)?[ .:]{0,2}1(?![\d.]*\d)|\bgen ?1 ?@ ?x? ?(?:16|8)\b|\bLnkSta:[^\n]{0,12}\b2\.5 ?GT/s|\blink\.gen\.current\b[^\d\n]{1,12}1\b|\bgen ?1 ?(?:x|@) ?16\b|@ ?x(?:16|8) 1\.1\b"
)
_AT_WORK = Pattern(
    r"(?i)\b(?:(?:under|full|heavy|at|with) (?:\w+ )?load|load(?:s|ed)?|train\w*|busy|gaming|games?|render\w*|benchmark\w*|slow(?:ly|er|s)?|bandwidth\w*|throughput|stays?|stuck|never|even (?:when|under|during|while)|always|fps|hours?|utili[sz]ation|transfers?|copies|copy\w*)\b"
    r"|\d ?[MG]i?B/s|\bx ?[124]\b(?!\d)|\b[124]x\b|downgraded|满载|训练|负载|慢"
)
"""Then it may be a fault."""
_STAYS = Pattern(
    r"(?i)\b(?:stays?|remains?|still|even|also|the same|no change)\b[^.\n]{0,40}\b(?:under|at|during|with|while)\b[^.\n]{0,20}\b(?:load|training|work|trains?)\b"
)
"""Then it is one."""
_RISES = Pattern(
    r"(?i)\b(?:jumps?|goes|rises?|switche?s|climbs?|changes|is)(?: back| up)? (?:to|at) (?:pci-?e ?)?(?:gen ?)?[345](?:\.0)?\b(?![\d.]*\d)"
    r"|\b(?:while|when|during|as (?:soon|long) as)\b[^.\n]{0,60}\b(?:says|shows|reads|reports|gives) (?:gen ?)?[345]\b(?![\d.]*\d)|变成了? ?@ ?x16 [345]\.0|[345]\.0 ?x16に"
)
"""And then none."""
_RATE = Pattern(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3})?) ?G(?:i?B|byte)/s(?:ec)?\b")
_OF_ANOTHER = Pattern(
    r"(?i)\b(?:nvme|ssds?|hdds?|disks?|raid|lustre|nfs|storage|network|ethernet|infiniband|nvlink\w*|nvswitch|hbm\d*e?|g?ddr\d*x?|vram)\b"
)
"""Whose rate it is then: not the link's."""
_MORE_THAN_A_FIRST_GENERATION_CARRIES, _THAN_ANY_LINK = 5.0, 70.0
"""GB/s: sixteen of its lanes carry 4, those of the fifth 63 (PCI Express Base Specification, 250 MB/s a lane and direction)."""
_DEVICE, _OF_NVIDIA = Pattern(r"^\s*(?:[\da-f]{4}:)?[\da-f]{2}:[\da-f]{2}\.[\da-f] "), Pattern(r"(?i)\bnvidia\b")
_NARROW = Pattern(r"\bLnkSta:[^\n]{0,60}\bWidth x[124] \(downgraded\)")
"""No saving of power takes lanes away."""


def is_all(lines: Sequence[Line], notes: Notebook) -> bool:
    """Whether that is all that the lines tell: notes that it is harmless; or that it stays so at work."""
    first = next((line for line in lines if _FIRST.search(line.text)), None)
    if first is None:
        return False
    if (narrow := _narrow(lines)) is not None:
        notes.note(_event(narrow, _CALLED_SLOW, "runs-slowly"))
        return False
    if (stays := next((line for line in lines if _STAYS.search(line.text)), None)) is not None:
        notes.note(_event(stays, "link-slow-at-work", "runs-slowly"))
        return False
    rises = any(_RISES.search(line.text) for line in lines) or _is_fast(lines)
    if not rises and any(_AT_WORK.search(line.text) for line in lines):
        return False
    called = {_CALLED_SLOW, _COPIES} if rises else {_CALLED_SLOW}
    if any(e.symptom and e.kind not in called for e in notes.events):
        return False
    notes.events[:] = [e for e in notes.events if e.kind not in called]
    if not any(e.kind == _KIND for e in notes.events):
        notes.note(_event(first, _KIND))
    return True


def _is_fast(lines: Sequence[Line]) -> bool:
    """Whether all that is measured is more than such a link carries."""
    rates = [float(one[1]) for line in lines if not _OF_ANOTHER.search(line.text) for one in _RATE.finditer(line.text)]
    return bool(rates) and all(_MORE_THAN_A_FIRST_GENERATION_CARRIES <= r <= _THAN_ANY_LINK for r in rates)


def _narrow(lines: Sequence[Line]) -> Line | None:
    """What lspci says of an NVIDIA GPU's link that has lost most of its lanes."""
    ours = False
    for line in lines:
        if _DEVICE.match(line.text):
            ours = _OF_NVIDIA.search(line.text) is not None
        elif (ours or "lspci -" in line.text) and _NARROW.search(line.text):
            return line
    return None


def _event(line: Line, kind: str, symptom: str | None = None) -> TextEvent:
    return TextEvent(line=line.number, language="circumstances", kind=kind, text=line.text[:LONGEST], symptom=symptom)
