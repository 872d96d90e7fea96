"""The checks: how one is declared, and how some are selected.

A check is one function from facts to findings. Its decorator is its whole registration and its
docstring is its page; the first line of the docstring says what is wrong when it fires.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator

from .facts import Facts
from .findings import Found, Level, Stage, SymptomRank

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


@dataclasses.dataclass(frozen=True)
class Check:
    """A registered check: for one cause, or (with `rank`) for one symptom."""

    code: str
    cause: str
    stage: Stage
    level: Level
    explains: tuple[str, ...]
    rank: SymptomRank | None
    body: Body

    @property
    def is_symptom(self) -> bool:
        """A symptom is explained, and explains nothing."""
        return self.rank is not None

    @property
    def subject(self) -> str:
        """The subject of the code: GD1nn is 'driver'."""
        return SUBJECTS[self.code[2]]

    @property
    def page(self) -> str:
        """The docstring, unindented."""
        return inspect.cleandoc(self.body.__doc__ or "")

    @property
    def title(self) -> str:
        """First line of the page: what is wrong when the check fires."""
        return self.page.partition("\n")[0].rstrip(".")


_checks: dict[str, Check] = {}


def _register(check: Check) -> None:
    if not re.fullmatch(r"GD[1-9]\d\d", check.code):
        raise ValueError(f"{check.code}: a code is GD and three digits, the first one its subject's")
    if not check.page:
        raise ValueError(f"{check.code}: a check without a docstring has no page")
    for other in _checks.values():
        if other.body.__module__ == check.body.__module__ and other.body.__qualname__ == check.body.__qualname__:
            continue  # the module was loaded again
        if check.code == other.code or check.cause == other.cause:
            raise ValueError(f"{check.code} {check.cause}: {other.code} {other.cause} has that code or name")
    _checks[check.code] = check


def check(
    code: str, cause: str, *, stage: Stage, explains: Iterable[str] = (), level: Level = Level.FAIL
) -> Callable[[Body], Body]:
    """Register the decorated function as the check for `cause`.

    `explains` names the symptoms and causes that this cause brings about, never codes.
    """

    def register(body: Body) -> Body:
        _register(Check(code, cause, stage, level, tuple(explains), None, body))
        return body

    return register


def symptom(code: str, name: str, *, rank: SymptomRank, stage: Stage) -> Callable[[Body], Body]:
    """Register the decorated function as the check for a symptom: what a person notices."""

    def register(body: Body) -> Body:
        _register(Check(code, name, stage, Level.FAIL, (), rank, body))
        return body

    return register


def all_checks() -> tuple[Check, ...]:
    """Every check of the package, by code."""
    package = importlib.import_module("gpudoctor.checks")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(sorted(_checks.values(), key=lambda c: c.code))


class UnknownCheckError(ValueError):
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
