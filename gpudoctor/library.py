"""gpudoctor for programs: examine this machine, judge a recorded report, read a text.

Nothing is printed, no signal is handled, and nothing of the process is changed: any thread may call these.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, BinaryIO, Literal, cast

from . import api, registry
from . import config as lists
from .bundle import FailOn
from .errors import Error
from .examine import ExamineLevel, Options
from .logs.text import Binary
from .registry import Check
from .result import Result

Level = Literal["quick", "standard", "full"]
Config = bool | str | os.PathLike[str]
"""The ignore list: a file; True: those that the command finds; False: none."""


class NotAText(Error, ValueError):  # noqa: N818
    """What was given to `read_log` is empty, or no text."""


class Unsupported(Error):  # noqa: N818
    """`check` examines Linux machines, WSL2 among them."""


def check(
    *,
    level: Level = "standard",
    python: str | os.PathLike[str] | None = None,
    inside: str | None = None,
    pid: int | None = None,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    kernels: bool = True,
    trials: bool = True,
    timeout_s: float | None = None,
    budget_s: float | None = None,
    fail_on: FailOn = "warn",
    config: Config = True,
) -> Result:
    """Examine this machine, judge it, and try the fixes in throw-away processes: `gpudoctor check`.

    `python`, `inside` (a command that ends in a Python) and `pid` name the interpreter to examine, one of them at most; without
    them it is found as the command finds it. `only` and `skip` name checks by code, cause or subject. `timeout_s` bounds every
    single piece of work, in seconds, and `budget_s` all of it, for which the least telling kernels are left out. Takes about a second at the level 'quick', and tens of seconds where TensorFlow is imported.

    Raises NoInterpreter, Unreachable, UnknownCheckError, BadConfig, Unsupported; all are gpudoctor.Error. ValueError where
    arguments exclude each other, or have no such value.
    """
    if sys.platform != "linux":
        raise Unsupported(
            f"check examines Linux machines (WSL2 among them), this is {sys.platform}; replay and read_log work anywhere"
        )
    if sum(one is not None for one in (python, inside, pid)) > 1:
        raise ValueError("python, inside and pid exclude each other: each names an interpreter")
    if level not in ("quick", "standard", "full"):
        raise ValueError(f"level is 'quick', 'standard' or 'full', not {level!r}")
    for name, given in (("timeout_s", timeout_s), ("budget_s", budget_s)):
        if given is not None and not given > 0:
            raise ValueError(f"{name} is a number of seconds above 0, not {given!r}")
    options = Options(
        level=ExamineLevel(level),
        python=None if python is None else os.fspath(python),
        inside=inside,
        pid=pid,
        kernels=kernels,
        timeout_s=timeout_s,
        budget_s=budget_s,
    )
    fails, checks = _fail_on(fail_on), _checks(only, skip, config)
    report, timeline = api.check(options, checks, trials=trials)
    took_s = max((start + seconds for _, start, seconds in timeline.rows), default=0.0)
    return Result(report, fails, "here", took_s, checks)


def replay(
    path: str | os.PathLike[str],
    *,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    fail_on: FailOn = "warn",
    config: Config = True,
) -> Result:
    """Judge a recorded report, or what the collector brought back, with today's checks: `gpudoctor replay`.

    Raises NotAReport, UnknownCheckError, BadConfig; all are gpudoctor.Error. OSError where the file can't be read.
    """
    fails, checks = _fail_on(fail_on), _checks(only, skip, config)
    report = api.replay(Path(path), checks)
    return Result(report, fails, "there", None, checks)


def read_log(source: str | bytes | os.PathLike[str] | IO[str] | IO[bytes]) -> Result:
    """Say what a pasted text tells: `gpudoctor log`.

    `source` is a text, a file's path, or an open file. A str without white space is a path, as is one that is the name of a
    file; every other is a text. A pathlib.Path is always a path. Of a text nothing is ignored, and plug-ins do not read it.

    Raises NotAText, a gpudoctor.Error; OSError where the file can't be read.
    """
    try:
        if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
            with Path(source).open("rb") as f:
                report = api.log(f)
        else:
            report = api.log(_stream(source))
    except Binary as e:
        raise NotAText("this is no text: give what the program printed") from e
    if not report.facts.text.lines:
        raise NotAText("this is empty")
    return Result(report, place="text")


def _is_path(text: str) -> bool:
    if not text or "\n" in text:
        return False
    return not any(c.isspace() for c in text) or os.path.isfile(text)


def _stream(source: object) -> BinaryIO:
    if isinstance(source, io.TextIOBase):
        source = source.read()
    if isinstance(source, str):
        source = source.encode("utf-8", "surrogateescape")
    if isinstance(source, bytes | bytearray):
        return io.BytesIO(source)
    if not hasattr(source, "read"):
        raise TypeError(f"a text, a path or an open file is read, not {type(source).__name__}")
    return cast("BinaryIO", source)


def _checks(only: str | Iterable[str], skip: str | Iterable[str], config: Config) -> tuple[Check, ...]:
    checks = registry.select(_names(only), _names(skip))
    return lists.marked(checks, config if isinstance(config, bool) else Path(config))


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _fail_on(word: FailOn) -> FailOn:
    if word not in ("warn", "fail", "unknown"):
        raise ValueError(f"fail_on is 'warn', 'fail' or 'unknown', not {word!r}")
    return word
