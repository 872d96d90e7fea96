"""Reads what LD_DEBUG=libs prints: every search, every directory, whose list named it."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable

from ..facts import SearchStep

_LINE = re.compile(r"^\s*\d+:\t(.*)$")
_FIND = re.compile(r"find library=(\S+) \[\d+\]; searching")
_PATH = re.compile(r"\s*search path=(.*?)\t+\((.*)\)\s*$")
_TRYING = re.compile(r"\s*trying file=(.*)$")
_ORIGIN = re.compile(r"(RPATH|RUNPATH) from file (.*)$")
_HWCAPS = re.compile(r"(/(glibc-hwcaps/[^/]+|tls|haswell|avx512_1|x86_64))+(?=/$)")


@dataclasses.dataclass
class Search:
    """One search for one soname."""

    soname: str
    steps: list[SearchStep] = dataclasses.field(default_factory=list)
    tried: list[str] = dataclasses.field(default_factory=list)

    @property
    def last(self) -> str | None:
        """The file tried last, as the account names it: the one taken, where one was."""
        return self.tried[-1] if self.tried else None


def searches(text: str, tidy: Callable[[str], str] = os.path.normpath) -> list[Search]:
    """Every search in a trace, in order.

    A directory appears once in `steps`, however many hardware-capability subdirectories were tried in it. `tidy`
    is asked for the plain name of a directory: only where the files are can a '..' be resolved behind a link.
    """
    tidied: dict[str, str] = {}
    found: list[Search] = []
    origin = ""
    for raw in text.splitlines():
        match = _LINE.match(raw)
        if not match:
            continue
        line = match.group(1)
        if m := _FIND.match(line):
            found.append(Search(m.group(1)))
            origin = ""
        elif not found:
            continue
        elif m := _PATH.match(line):
            origin = _name(m.group(2))
        elif "search cache=" in line:
            origin = "ld.so.cache"
        elif m := _TRYING.match(line):
            path = m.group(1)
            found[-1].tried.append(path)
            named = os.path.dirname(path)
            if named not in tidied:
                tidied[named] = os.path.normpath(_HWCAPS.sub("", tidy(named) + "/"))
            step = SearchStep(directory=tidied[named], origin=origin)
            if step not in found[-1].steps:
                found[-1].steps.append(step)
    return found


def without_trace(text: str) -> str:
    """What the process itself wrote: `text` without the loader's lines and the patient's marks."""
    kept = (line for line in text.splitlines() if not _LINE.match(line) and not line.startswith("@gpudoctor "))
    return "\n".join(kept)


def _name(account: str) -> str:
    """'RUNPATH of libtensorflow_framework.so.2' for glibc's 'RUNPATH from file /…'."""
    if m := _ORIGIN.match(account):
        return f"{m.group(1)} of {os.path.basename(m.group(2))}"
    return {"LD_LIBRARY_PATH": "LD_LIBRARY_PATH", "system search path": "system"}.get(account, account)


def sections(text: str) -> dict[str, str]:
    """Cut a trace at the patient's marks: {'call Cusolver': text until 'done Cusolver', …}."""
    parts: dict[str, list[str]] = {}
    current: str | None = None
    for line in text.splitlines():
        if line.startswith("@gpudoctor "):
            word = line[len("@gpudoctor ") :]
            current = word if word.startswith(("call ", "load")) and word != "loaded" else None
            if current is not None:
                parts.setdefault(current, [])
        elif current is not None:
            parts[current].append(line)
    return {name: "\n".join(lines) for name, lines in parts.items()}
