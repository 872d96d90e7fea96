"""What a check finds, and what a diagnosis says. Ground floor: knows facts, nothing else of ours."""

from __future__ import annotations

import enum
from collections.abc import Generator, Iterable
from shlex import quote
from typing import Any, Literal, TypeAlias

import msgspec

from .facts import Trial

FixKind = Literal["env", "link", "command", "advice"]
Risk = Literal["safe", "needs root", "needs reboot", "destructive"]
LevelWord = Literal["info", "warn", "fail"]
_WORDS: tuple[LevelWord, ...] = ("info", "warn", "fail")

LIKELY = "likely, and this text does not prove it"
"""Why a check is unknown whose cause a text makes the likely one."""


class Level(enum.IntEnum):
    """How bad a finding is. It belongs to the check; a `Found` may be of a lower one, never of a higher."""

    INFO = 0
    WARN = 1
    FAIL = 2

    @property
    def word(self) -> LevelWord:
        """'info', 'warn', 'fail'."""
        return _WORDS[self.value]


class Stage(enum.IntEnum):
    """Where on the way from the bus to a fast program something stands in the way."""

    BUS = 0
    DRIVER = 1
    NODES = 2
    CONTAINER = 3
    VISIBILITY = 4
    LIBRARIES = 5
    PYTHON = 6
    TENSORFLOW = 7
    USE = 8
    SPEED = 9


class SymptomRank(enum.IntEnum):
    """How much a symptom hurts; root causes are ranked by the worst one that they explain."""

    NO_GPU = 0
    FEWER_GPUS = 1
    OPERATION_FAILS = 2
    SLOW = 3
    NOTHING_YET = 4


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is said of the facts. Unlike a fact it is written with every field, and never read back."""


class Evidence(Statement, frozen=True, kw_only=True):
    """One piece of proof from this machine."""

    text: str
    source: str
    """Who says so: a file, a library's answer, a variable."""


class EnvChange(Statement, frozen=True, kw_only=True):
    """A change of one environment variable; `prepend` is for lists of directories."""

    name: str
    op: Literal["set", "unset", "prepend"]
    value: str = ""


class LinkChange(Statement, frozen=True, kw_only=True):
    """A symbolic link to make; `target` is as written into the link (relative where it can be)."""

    link: str
    target: str


class Fix(Statement, frozen=True, kw_only=True):
    """A way to mend a cause: lines to paste, what they risk, how to see that they worked."""

    kind: FixKind
    risk: Risk
    summary: str
    steps: tuple[str, ...]
    verify: str = "gpudoctor check"
    env: tuple[EnvChange, ...] = ()
    links: tuple[LinkChange, ...] = ()
    trial: Trial | None = None

    @property
    def failed(self) -> bool:
        """It was tried, and was not enough."""
        return self.trial is not None and self.trial.worked is False


class Found(Statement, frozen=True, kw_only=True):
    """What a check's body yields."""

    message: str
    proof: tuple[Evidence, ...] = ()
    about: tuple[str, ...] = ()
    """What it is about: ('gpu2',); nothing is the whole host."""
    fixes: tuple[Fix, ...] = ()
    explains: tuple[str, ...] | None = None
    """Where this case explains less than its check may."""
    level: Level = Level.FAIL
    """Where this case is less bad than its check's level, which it can't exceed: a fault of a host's container engine bites
    only who starts a container."""


Findings: TypeAlias = Generator[Found, None, Any]
"""What a check's body is: it yields what it finds. What it returns, where it found nothing, is the reason in a few words
(a str; any, so that a body may also just end): 'cuInit answers 0'."""


class Finding(Statement, frozen=True, kw_only=True):
    """A `Found` with the check that found it."""

    code: str
    cause: str
    """The name of the cause or symptom."""
    title: str
    level: LevelWord
    symptom: bool
    message: str
    proof: tuple[Evidence, ...] = ()
    about: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    may_explain: tuple[str, ...] = ()
    """Names of the symptoms and causes that it brings about, found here or not."""


class IgnoreEntry(Statement, frozen=True, kw_only=True):
    """What the ignore list says of a check: that its findings are known."""

    code: str
    cause: str
    reason: str
    until: str | None = None
    """The last day on which it counts, ISO 8601; None: for ever."""
    about: tuple[str, ...] = ()
    """It is for findings about these alone: ('gpu2',); nothing: for all."""
    file: str
    """Where it stands."""
    expired: bool = False


class Ignored(Statement, frozen=True, kw_only=True):
    """An entry of the ignore list, and what counts for nothing because of it."""

    entry: IgnoreEntry
    findings: tuple[Finding, ...]
    """What it names, then what that alone explains; nothing where it matches nothing, or has expired."""
    is_back: bool = False
    """It has expired, and what it names is found."""

    @property
    def named(self) -> tuple[Finding, ...]:
        """Those that the entry itself names."""
        return tuple(f for f in self.findings if f.cause == self.entry.cause)


class RootCause(Statement, frozen=True, kw_only=True):
    """A found cause that no other found cause explains."""

    code: str
    cause: str
    title: str
    level: LevelWord
    message: str
    about: tuple[str, ...]
    proof: tuple[Evidence, ...]
    fixes: tuple[Fix, ...]
    explains: tuple[str, ...]
    """Names of the findings that it explains here, symptoms first."""
    proven: bool = True
    """False: of what fits a text it is the likely one, by what somebody wrote there."""


class Candidate(Statement, frozen=True, kw_only=True):
    """A cause that could explain a symptom and could not be looked at."""

    code: str
    cause: str
    title: str
    unknown_because: str
    settle: str | None


class Unexplained(Statement, frozen=True, kw_only=True):
    """A symptom whose causes, as far as this tool knows them, are all ruled out."""

    symptom: str
    message: str
    proof: tuple[Evidence, ...]
    ruled_out: tuple[str, ...]


class Skipped(Statement, frozen=True, kw_only=True):
    """A check that does not apply here, with its reason."""

    code: str
    cause: str
    reason: str


class Unknown(Statement, frozen=True, kw_only=True):
    """A check that could not be decided, and what would settle it."""

    code: str
    cause: str
    why: str
    settle: str | None
    needs_root: bool
    """Whether it takes root to settle it."""
    chosen: bool
    """Nobody asked for it (a lower level)."""


class RuledOut(Statement, frozen=True, kw_only=True):
    """A check that looked and found nothing."""

    code: str
    cause: str
    title: str
    reason: str | None
    """What it saw instead, in a few words with this machine's values; None: of a pasted text none is given."""


class CombinedFix(Statement, frozen=True, kw_only=True):
    """Where several root causes stand on one path: one list of steps that mends all of them."""

    causes: tuple[str, ...]
    steps: tuple[str, ...]
    env: tuple[EnvChange, ...] = ()
    links: tuple[LinkChange, ...] = ()
    trial: Trial | None = None


Verdict = Literal["healthy", "warning", "faulty", "unknown"]
"""'unknown': nothing wrong was found, and what would show it could not be looked at."""


class Diagnosis(Statement, frozen=True, kw_only=True):
    """The answer."""

    verdict: Verdict
    root_causes: tuple[RootCause, ...]
    combined_fix: CombinedFix | None
    candidates: dict[str, tuple[Candidate, ...]]
    """Symptom without a found cause -> the causes that are left."""
    unexplained: tuple[Unexplained, ...]
    ruled_out: tuple[RuledOut, ...]


class Judgement(Statement, frozen=True, kw_only=True):
    """All that the checks said, and the diagnosis made of it."""

    findings: tuple[Finding, ...]
    diagnosis: Diagnosis
    skipped: tuple[Skipped, ...]
    unknown: tuple[Unknown, ...]
    ignored: tuple[Ignored, ...] = ()
    """The ignore list, entry by entry; `findings` and the diagnosis leave out what is in it."""


def on_library_path(directories: Iterable[str]) -> Fix:
    """The fix that puts `directories` before what LD_LIBRARY_PATH holds, as a line to paste and as a change."""
    value = ":".join(dict.fromkeys(directories))
    rest = "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    quoted = quote(value)
    line = f'"{value}{rest}"' if quoted == value else f'{quoted}"{rest}"'
    return Fix(
        kind="env",
        risk="safe",
        summary="Put the directory on the loader's path, for this shell and what it starts",
        steps=(f"export LD_LIBRARY_PATH={line}",),
        env=(EnvChange(name="LD_LIBRARY_PATH", op="prepend", value=value),),
    )


class NotApplicable(Exception):  # noqa: N818 - the word of the house
    """Raised by a check that has nothing to look at here; its text is the reason."""


__all__ = [
    "LIKELY",
    "Candidate",
    "CombinedFix",
    "Diagnosis",
    "EnvChange",
    "Evidence",
    "Finding",
    "Findings",
    "Fix",
    "Found",
    "IgnoreEntry",
    "Ignored",
    "Judgement",
    "Level",
    "LinkChange",
    "NotApplicable",
    "RootCause",
    "RuledOut",
    "Skipped",
    "Stage",
    "SymptomRank",
    "Unexplained",
    "Unknown",
    "on_library_path",
]
