"""Tables of GPUs at work, of nvidia-smi and gpustat: of several one works, and the others idle."""

from __future__ import annotations

from typing import NamedTuple

from ..patterns import Pattern

_BEGINS = Pattern(r"^\W{0,4}NVIDIA-SMI \d")
_ROW = Pattern(
    r"\|\s{0,12}(?P<used>\d{1,7})Mi?B\s{0,2}/\s{0,8}(?P<total>\d{1,7})Mi?B\s{0,4}\|\s{0,10}(?P<busy>\d{1,3})%"
)
_GPUSTAT = Pattern(
    r"^\[(?P<index>\d{1,2})\] [^|]{3,60}\|[^|,]{1,12}, {0,4}(?P<busy>\d{1,3}) ?%[^|]{0,24}\| {0,6}(?P<used>\d{1,7}) {0,2}/ {0,6}(?P<total>\d{1,7}) MB"
)
_PROCESS = Pattern(r"^\|\s{1,6}(?P<index>\d{1,3})\s{1,12}(?:N/A\s{1,6}N/A\s{1,20})?(?P<pid>\d{1,10})\s{1,8}C\b")
_AT_WORK, _WITH_ITS_PID, _NOT_AT_WORK, _FULL = 15, 8, 1, 0.85


class _Row(NamedTuple):
    busy: int
    full: bool
    line: int
    text: str


class _Table(NamedTuple):
    rows: list[_Row]
    programs: dict[int, set[str]]


class Tables:
    """The tables of a text, line by line."""

    def __init__(self) -> None:
        self._tables: list[_Table] = []

    def line(self, text: str, number: int) -> bool:
        """Whether it is a line of a table."""
        if _BEGINS.match(text):
            self._tables.append(_Table([], {}))
            return True
        found = _GPUSTAT.match(text)
        if found and found["index"] == "0":
            self._tables.append(_Table([], {}))
        found = found or (_ROW.search(text) if text.startswith("|") else None)
        if not self._tables and (found or text.startswith("|")):
            self._tables.append(_Table([], {}))
        if found:
            full = int(found["used"]) >= _FULL * int(found["total"]) > 0
            self._tables[-1].rows.append(_Row(int(found["busy"]), full, number, text))
        elif text.startswith("|") and (process := _PROCESS.match(text)):
            self._tables[-1].programs.setdefault(int(process["index"]), set()).add(process["pid"])
        return found is not None

    def one_works(self, wanted: bool) -> tuple[int, str] | None:
        """The row of the one that works, of a program on several of them; `wanted`: somebody means several to work."""
        last = next((table for table in reversed(self._tables) if len(table.rows) > 1), None)
        if last is None:
            return None
        held = [last.programs.get(at, set()) for at in range(len(last.rows))]
        by_one = bool(held[0]) and all(held[0] & others for others in held)
        working = [row for row in last.rows if row.busy >= (_WITH_ITS_PID if by_one else _AT_WORK)]
        idle = [row for row in last.rows if row.busy <= _NOT_AT_WORK]
        if len(working) != 1 or len(idle) != len(last.rows) - 1:
            return None
        apart = all(held) and not by_one
        all_full = all(row.full for row in last.rows) and not apart
        return (working[0].line, working[0].text) if by_one or all_full or (wanted and not apart) else None
