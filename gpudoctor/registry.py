"""The checks: how one is declared, and how some are selected.

A check is one function from facts to findings. Its decorator is its whole registration and its
docstring is its page; the first line of the docstring says what is wrong when it fires.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from .errors import Error
from .facts import Facts, PluginFailure, Plugins
from .findings import Found, IgnoreEntry, Level, Stage, SymptomRank

if TYPE_CHECKING:  # a pasted text needs no plug-ins
    from . import plugins

Body = Callable[[Facts], Iterator[Found]]

SUBJECTS = {
    "1": "driver",
    "2": "libraries",
    "3": "nccl",
    "4": "python",
    "5": "tensorflow",
    "6": "container",
    "7": "topology",
    "8": "measurements",
    "9": "system",
}
"""First digit of a code -> subject."""
_CODE = re.compile(r"(?P<space>[A-Z]{2,4})[1-9]\d\d")
_SPACE = "GD"
"""What the codes of gpudoctor's own checks begin with."""
_BEGINNING = re.compile(r"[A-Z]{2,4}[1-9]\d?")
"""Of a code: 'GD5' is all of a subject."""
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Check(msgspec.Struct, frozen=True):
    """A registered check: for one cause, or (with `rank`) for one symptom."""

    code: str
    cause: str
    stage: Stage
    level: Level
    explains: tuple[str, ...]
    rank: SymptomRank | None
    body: Body
    origin: str | None = None
    """The distribution of the plug-in that brings it, or the module that registered it; None: gpudoctor."""
    ignored: tuple[IgnoreEntry, ...] = ()
    """What the ignore list says of it."""

    @property
    def is_symptom(self) -> bool:
        """A symptom is explained, and explains nothing."""
        return self.rank is not None

    @property
    def subject(self) -> str:
        """The subject of the code: GD1nn is 'driver'."""
        return subject_of(self.code)

    @property
    def page(self) -> str:
        """The docstring, unindented."""
        import inspect  # which takes long

        return inspect.cleandoc(self.body.__doc__ or "")

    @property
    def title(self) -> str:
        """First line of the page: what is wrong when the check fires."""
        return (self.body.__doc__ or "").strip().partition("\n")[0].rstrip().rstrip(".")


def subject_of(code: str) -> str:
    """The subject of a code, of gpudoctor or of a plug-in."""
    return SUBJECTS[code[-3]]


def is_own(code: str) -> bool:
    """Whether a code is of gpudoctor's own space."""
    return code.startswith(_SPACE) and len(code) == len(_SPACE) + 3


def is_code_of_plugin(name: str) -> bool:
    """Whether this could be the code of a plug-in's check, here or not."""
    return _CODE.fullmatch(name.upper()) is not None and not is_own(name.upper())


_checks: dict[str, Check] = {}
_codes: dict[str, str] = {}
"""Cause -> code."""
_theirs: dict[tuple[str, str], Check] = {}
"""Where its body stands -> a check of a plug-in; which of them count is seen when all are there."""


def _register(check: Check) -> None:
    if not (check.body.__doc__ or "").strip():
        raise ValueError(f"{check.code}: a check without a docstring has no page")
    if check.body.__module__.startswith(f"{__package__}.checks."):
        _register_own(check)
    else:
        _register_theirs(check)


def _register_own(check: Check) -> None:
    if not (_CODE.fullmatch(check.code) and is_own(check.code)):
        raise ValueError(f"{check.code}: a code is GD and three digits, the first one its subject's")
    for code in (check.code, _codes.get(check.cause)):
        other = _checks.get(code or "")
        if other is None or _stands_at(other.body) == _stands_at(check.body):
            continue  # where it is the same, the module was loaded again
        raise ValueError(f"{check.code} {check.cause}: {other.code} {other.cause} has that code or name")
    _checks[check.code] = check
    _codes[check.cause] = check.code


def _register_theirs(check: Check) -> None:
    """Who writes a plug-in is no part of this house: what a type checker would say is said here."""
    if not isinstance(check.code, str) or not is_code_of_plugin(check.code) or check.code != check.code.upper():
        raise ValueError(
            f"{check.code}: a plug-in's code is two to four capitals other than GD and three digits, the first one its subject's"
        )
    if not isinstance(check.cause, str) or not _NAME.fullmatch(check.cause):
        raise ValueError(f"{check.code}: {check.cause!r} is no name in lower-case words with hyphens")
    if not isinstance(check.stage, Stage) or not isinstance(check.level, Level):
        raise ValueError(f"{check.code}: stage is a Stage, and level a Level")
    if check.rank is not None and not isinstance(check.rank, SymptomRank):
        raise ValueError(f"{check.code}: rank is a SymptomRank")
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in check.explains):
        raise ValueError(f"{check.code}: explains is a list of names of causes and symptoms")
    _theirs[_stands_at(check.body)] = check


def _stands_at(body: Body) -> tuple[str, str]:
    return body.__module__, body.__qualname__


def check(
    code: str, cause: str, *, stage: Stage, explains: Iterable[str] = (), level: Level = Level.FAIL
) -> Callable[[Body], Body]:
    """Register the decorated function as the check for `cause`.

    `explains` names the symptoms and causes that this cause brings about, never codes.
    """

    def register(body: Body) -> Body:
        names = (explains,) if isinstance(explains, str) else tuple(explains)
        _register(Check(code, cause, stage, level, names, None, body))
        return body

    return register


def symptom(code: str, name: str, *, rank: SymptomRank, stage: Stage) -> Callable[[Body], Body]:
    """Register the decorated function as the check for a symptom: what a person notices."""

    def register(body: Body) -> Body:
        _register(Check(code, name, stage, Level.FAIL, (), rank, body))
        return body

    return register


def own_checks() -> tuple[Check, ...]:
    """Every check of gpudoctor's own, by code."""
    package = importlib.import_module(f"{__package__}.checks")
    files = sorted(file for at in package.__path__ for file in os.listdir(at))
    for module in (name for name, kind in map(os.path.splitext, files) if kind == ".py"):
        importlib.import_module(f"{package.__name__}.{module}")
    return tuple(sorted(_checks.values(), key=lambda c: c.code))


def all_checks() -> tuple[Check, ...]:
    """Every check: gpudoctor's own by code, then those of plug-ins by code."""
    return (*own_checks(), *_of_plugins()[0])


def plugins_here() -> Plugins:
    """The plug-ins of this process, and which of them, or of their checks, can't be used. `Plugins()`: there are none."""
    from . import plugins

    checks, failed = _of_plugins()
    names = [one.name for one in plugins.loaded()] + [c.origin for c in checks if c.origin is not None]
    return Plugins(installed=tuple(dict.fromkeys(names)), failed=failed) if names or failed else Plugins()


def _of_plugins() -> tuple[tuple[Check, ...], tuple[PluginFailure, ...]]:
    """The checks of plug-ins that can be used, and what is wrong with the others. Those of a module that could not be imported
    to its end are left out; of two with the same code or name the first one counts, and gpudoctor's before any."""
    from . import plugins

    loaded = plugins.loaded()
    if not loaded and not _theirs:
        return (), ()
    failed = [one.failure for one in loaded if one.failure is not None]
    taken = {word: f"{c.code} {c.cause}" for c in own_checks() for word in (c.code, c.cause)}
    used: list[Check] = []
    for check in _theirs.values():
        module = check.body.__module__
        of = _plugin_of(module, loaded)
        if of is not None and of.failure is not None:
            continue
        origin = of.name if of is not None else module
        if other := taken.get(check.code) or taken.get(check.cause):
            error = ValueError(f"{check.code} {check.cause}: {other} has that code or name")
            failed.append(plugins.failure(origin, error, check.code, check.body))
            continue
        taken |= dict.fromkeys((check.code, check.cause), f"{check.code} {check.cause} of {origin}")
        used.append(msgspec.structs.replace(check, origin=origin))
    return tuple(sorted(used, key=lambda c: c.code)), tuple(failed)


def _plugin_of(module: str, loaded: tuple[plugins.Plugin, ...]) -> plugins.Plugin | None:
    """The plug-in whose entry point names this module or one around it, else one of the same package."""
    inside = [p for p in loaded if p.module and f"{module}.".startswith(f"{p.module}.")]
    beside = [p for p in loaded if p.module.partition(".")[0] == module.partition(".")[0]]
    return next(iter(inside or beside), None)


class UnknownCheckError(Error, ValueError):
    """A name that no check has."""


def select(only: Iterable[str] = (), skip: Iterable[str] = ()) -> tuple[Check, ...]:
    """The checks whose code, cause or subject is named in `only` (nothing: all) and not in `skip`.

    Raises UnknownCheckError for a name that matches no check, and where no check is left.
    """
    checks = all_checks()
    wanted = _match(only, checks)
    unwanted = _match(skip, checks)
    left = tuple(c for c in checks if (not wanted or c.code in wanted) and c.code not in unwanted)
    if not left:
        raise UnknownCheckError("no check is left to run")
    return left


def find(name: str) -> Check:
    """The check with this code or cause. Raises UnknownCheckError."""
    for one in all_checks():
        if name.upper() == one.code or name.lower() == one.cause:
            return one
    raise UnknownCheckError(_no_such(name, all_checks()))


def _match(names: Iterable[str], checks: tuple[Check, ...]) -> set[str]:
    matched = set()
    for name in names:
        codes = {c.code for c in checks if name.upper() == c.code or name.lower() in (c.cause, c.subject)}
        if not codes and _BEGINNING.fullmatch(name.upper()):
            codes = {c.code for c in checks if c.code.startswith(name.upper())}
        if not codes:
            raise UnknownCheckError(_no_such(name, checks))
        matched |= codes
    return matched


def _no_such(name: str, checks: tuple[Check, ...]) -> str:
    import difflib

    known = [c.cause for c in checks] + [c.code for c in checks] + [c.subject for c in checks]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"no check is called {name!r}{hint} (gpudoctor list shows them all)"
