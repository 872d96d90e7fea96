"""Which releases of TensorFlow work on a machine, which don't and why, and the command that installs the best."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from .files import matrix
from .records import Build, Release
from .rules import Case, Machine, Reason, reasons
from .versions import version

Verdict = Literal["works", "depends", "unknown", "fails"]
_ORDER: dict[str, int] = {"works": 0, "depends": 1, "unknown": 2, "fails": 3}


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A release on a machine.

    works: nothing that is known stands in the way. depends: on what was not told. unknown: something that decides is
    not known here. fails: a record says that it does not work.
    """

    version: str
    distribution: str
    verdict: Verdict
    reason: Reason | None
    """The one that decided; None: it works as pip installs it."""
    reasons: tuple[Reason, ...]

    @property
    def pins(self) -> tuple[str, ...]:
        """Requirements to install with it."""
        return tuple(dict.fromkeys(p for r in self.reasons for p in r.pins))

    @property
    def needs(self) -> tuple[Reason, ...]:
        """What must be done beside the installation."""
        return tuple(r for r in self.reasons if r.effect == "needs" and not r.pins)


def build_of(release: str, platform: str) -> Build | None:
    """What the wheel of this release holds that computes on GPUs; None: it was not read."""
    found = [b for b in matrix().builds if b.version == release and b.platform == platform and b.is_cuda is not False]
    return min(found, key=lambda b: b.distribution != "tensorflow", default=None)


def answer(release: Release, machine: Machine, distribution: str | None = None) -> Answer:
    """Judge one release. Raises NotAVersion where the machine names something that is no version."""
    case = Case(
        release=release,
        build=build_of(release.version, machine.platform),
        machine=machine,
        distribution=distribution,
    )
    said = reasons(case)
    deciding: dict[str, Verdict] = {"fails": "fails", "unknown": "unknown", "depends": "depends"}
    verdict: Verdict = max((deciding.get(r.effect, "works") for r in said), key=_ORDER.__getitem__, default="works")
    able = [f for f in case.candidates() if f.cuda is not False and (machine.python in (None, *f.python))]
    name = min((f.distribution for f in able), key=lambda n: n != "tensorflow", default=distribution or "tensorflow")
    first = next((r for r in said if deciding.get(r.effect) == verdict), None)
    if first is None:
        first = next((r for r in said if r.effect == "needs"), None)
    return Answer(version=release.version, distribution=name, verdict=verdict, reason=first, reasons=said)


def solve(machine: Machine, releases: Iterable[Release] | None = None) -> tuple[Answer, ...]:
    """Judge releases, newest first; all that are known where none are named."""
    chosen = matrix().releases if releases is None else tuple(releases)
    return tuple(answer(one, machine) for one in sorted(chosen, key=lambda r: version(r.version), reverse=True))


_STEP, _APART = 2, 6
"""What a step beside the installation, and CUDA to be installed apart, are worth in minor releases."""


def best(answers: Iterable[Answer]) -> Answer | None:
    """The newest that works; an older one where it spares a step and is not much older. None: none may work."""
    newest_first = sorted(answers, key=lambda a: version(a.version), reverse=True)
    minors = list(dict.fromkeys(version(a.version).release[:2] for a in newest_first))

    def rank(one: Answer) -> tuple[int, int]:
        cost = sum(_STEP if need.steps != ("",) else _APART for need in one.needs)
        return _ORDER[one.verdict], minors.index(version(one.version).release[:2]) + cost

    return min((a for a in newest_first if a.verdict != "fails"), key=rank, default=None)


def requirements(one: Answer, machine: Machine) -> tuple[str, ...]:
    """What pip must be told to install: the release, with its extra where there is one, and the pins that it needs."""
    build = build_of(one.version, machine.platform)
    extra = "[and-cuda]" if build is not None and build.extra is not None and one.distribution == "tensorflow" else ""
    return (f"{one.distribution}{extra}=={one.version}", *one.pins)


def command(one: Answer, machine: Machine, python: str | None = None) -> str:
    """The command that installs a release: `python`'s own pip, the extra where there is one, the pins that it needs.

    For native Windows in the form that its command prompt takes.
    """
    return " && ".join(_commands(one, machine, python))


def _commands(one: Answer, machine: Machine, python: str | None) -> Iterator[str]:
    words = requirements(one, machine)
    if machine.platform == "windows-x86_64":
        launcher = f"py -{machine.python}" if machine.python else "py"
        yield " ".join((launcher, "-m pip install", *(f'"{w}"' if set(w) & set("<>=[") else w for w in words)))
        return
    which = python or (f"python{machine.python}" if machine.python else "python3")
    yield shlex.join([which, "-m", "pip", "install", *words])
    for need in one.needs:
        yield from (step.replace("$(python3 ", f"$({shlex.quote(which)} ") for step in need.steps if step)
