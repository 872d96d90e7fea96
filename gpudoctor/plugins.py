"""Plug-ins: other distributions that bring checks, through the entry point group `gpudoctor.checks`.

They run in our own process, as the checks of gpudoctor do; what fails in one of them is written down, and all else goes on. A
body that never returns, or ends the process by itself (os._exit, a crash), can't be guarded against here.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .facts import PluginFailure

if TYPE_CHECKING:  # a pasted text needs no plug-ins, and is judged in less time than this takes to import
    from importlib.metadata import EntryPoint

GROUP = "gpudoctor.checks"
OFF = "GPUDOCTOR_NO_PLUGINS"
"""A variable; where it is set, and not empty, no plug-in is loaded."""
_MOST_OF_AN_ERROR = 500
"""Characters."""
_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_lock = threading.RLock()


class Plugin(NamedTuple):
    """A distribution's entry point."""

    name: str
    """The distribution with its version."""
    module: str
    failure: PluginFailure | None = None
    """Why it could not be imported."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Around everything of a plug-in that runs: standard output is data, and so what it prints goes to standard error. One
    thread at a time, since the process has one standard output."""
    with _lock, contextlib.redirect_stdout(sys.stderr):
        yield


def is_theirs(error: BaseException) -> bool:
    """Whether an exception is the plug-in's: not where the user interrupts, or a signal handler of gpudoctor's speaks."""
    if isinstance(error, Exception):
        return True
    of_ours = type(error).__module__.partition(".")[0] == __name__.partition(".")[0]
    return not isinstance(error, KeyboardInterrupt) and not of_ours


def failure(
    plugin: str, error: BaseException, check: str | None = None, body: Callable[..., object] | None = None
) -> PluginFailure:
    """What is written down of an exception; of one that no line of the plug-in raised, `body` is where it comes from."""
    where = _where(error)
    if where is None and (code := getattr(body, "__code__", None)) is not None:
        where = _line(code.co_filename, code.co_firstlineno)
    return PluginFailure(plugin=plugin, check=check, error=_said(error), where=where)


def loaded() -> tuple[Plugin, ...]:
    """Every plug-in that is installed beside gpudoctor; imported at the first call."""
    if os.environ.get(OFF):
        return ()
    with _lock:
        return _load()


@functools.cache
def _load() -> tuple[Plugin, ...]:
    import importlib.metadata

    try:
        found = sorted(importlib.metadata.entry_points(group=GROUP), key=lambda e: (_name(e), e.value))
    except Exception as e:  # the metadata of some distribution can't be read
        return (Plugin("an installed distribution", "", failure("an installed distribution", e)),)
    plugins = []
    for one in dict.fromkeys(found):
        name, module = _name(one), one.value.partition(":")[0].strip()
        try:
            with guarded():
                one.load()
            plugins.append(Plugin(name, module))
        except BaseException as e:
            if not is_theirs(e):
                raise
            plugins.append(Plugin(name, module, failure(name, e)))
    return tuple(plugins)


def _name(entry: EntryPoint) -> str:
    with contextlib.suppress(Exception):
        if entry.dist is not None:
            return f"{entry.dist.metadata['Name']} {entry.dist.version}"
    return entry.name


def _said(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except BaseException as e:
        if not is_theirs(e):
            raise
        text = "(its text can't be had)"
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return said if len(said) <= _MOST_OF_AN_ERROR else said[: _MOST_OF_AN_ERROR - 1] + "…"


def _where(error: BaseException) -> str | None:
    """The last line of its way that is the plug-in's: neither ours nor Python's import system."""
    import traceback

    if isinstance(error, SyntaxError) and error.filename:
        return _line(error.filename, error.lineno or 0)
    way = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith("<frozen ")]
    theirs = [one for one in way if not os.path.abspath(one.filename).startswith(_OURS)]
    inside = [one for one in theirs if f"{os.sep}importlib{os.sep}" not in one.filename]
    last = inside or theirs
    return _line(last[-1].filename, last[-1].lineno or 0) if last else None


def _line(path: str, number: int) -> str:
    """The file without the directories above its package, its line, and what stands there."""
    import linecache

    short = "/".join(path.split(os.sep)[-2:])
    text = linecache.getline(path, number).strip()[:200]
    return f"{short}, line {number}" + (f": {text}" if text else "")
