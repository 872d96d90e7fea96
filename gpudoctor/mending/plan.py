"""Which fix of each cause gpudoctor does itself, and which it leaves to the user, with the reason."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

import msgspec

from ..bundle import Report
from ..diagnosis import first_usable, together
from ..exports import SCRIPTS, Shell, lines
from ..facts import Facts, Python
from ..findings import EnvChange, Fix, RootCause
from .actions import Action, Lines, Link, Pip


class UnknownCauseError(ValueError):
    """A cause was named that is not found here."""


class Mended(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that gpudoctor can mend, by which fix, and what it does for that."""

    cause: str
    fix: Fix
    actions: tuple[Action, ...]


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that is left to the user: its fix, if it has one, and why it is not done."""

    cause: str
    fix: Fix | None
    why: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done, in order."""

    mended: tuple[Mended, ...]
    left: tuple[Left, ...]

    @property
    def actions(self) -> tuple[Action, ...]:
        """All, each once."""
        found: list[Action] = []
        for one in (a for m in self.mended for a in m.actions):
            found += [one] if one not in found else []
        return tuple(found)


def plan(report: Report, named: Iterable[str] = ()) -> Plan:
    """The plan for the root causes of `report`: all that are warnings or worse, or those `named` by code or cause.

    Raises UnknownCauseError.
    """
    roots = [r for r in report.diagnosis.root_causes if r.level != "info"]
    wanted = list(named)
    for name in wanted:
        if not any(name in (r.code, r.cause) for r in report.diagnosis.root_causes):
            raise UnknownCauseError(f"{name} is no cause that was found here")
    if wanted:
        roots = [r for r in report.diagnosis.root_causes if r.code in wanted or r.cause in wanted]
    mended: list[Mended] = []
    left: list[Left] = []
    for root in roots:
        decided = _of(root, report.facts)
        if isinstance(decided, Mended):
            mended.append(decided)
        else:
            left.append(decided)
    # in one script the variables of several causes are one change: none puts back what another takes off
    env = together(e for m in mended if m.fix.kind == "env" for e in m.fix.env)
    scripts = _scripts(env, report.facts.python)
    if not isinstance(scripts, str):
        mended = [msgspec.structs.replace(m, actions=scripts) if m.fix.kind == "env" else m for m in mended]
    return Plan(mended=tuple(mended), left=tuple(left))


_LASTING = ("link", "command", "env")
"""The kinds that gpudoctor does, those first that hold in every shell."""


def _of(root: RootCause, facts: Facts) -> Mended | Left:
    why = "no fix of it can be done by a program"
    ours = [f for f in root.fixes if f.kind in _LASTING and f.steps and not f.failed]
    for fix in sorted(ours, key=lambda f: _LASTING.index(f.kind)):
        if fix.risk != "safe":
            why = f"it {fix.risk}" if fix.risk.startswith("needs") else f"it is {fix.risk}"
            continue
        actions = _actions(fix, facts)
        if not isinstance(actions, str):
            return Mended(cause=root.cause, fix=fix, actions=actions)
        why = actions
    if root.fixes and not ours:
        why = "what was tried did not help" if all(f.failed for f in root.fixes) else why
    shown = first_usable(root.fixes) or next(iter(root.fixes), None)
    return Left(cause=root.cause, fix=shown, why=why)


def _actions(fix: Fix, facts: Facts) -> tuple[Action, ...] | str:
    """What does this fix, or why it can't be done here."""
    if fix.kind == "link":
        return _links(fix)
    return _scripts(fix.env, facts.python) if fix.kind == "env" else _pip(fix, facts.python)


def _links(fix: Fix) -> tuple[Action, ...] | str:
    for one in fix.links:
        directory = os.path.dirname(one.link)
        if not os.access(directory, os.W_OK):
            return f"you may not write in {directory}"
        if os.path.lexists(one.link):
            return f"{one.link} exists already"
    return tuple(Link(path=one.link, target=one.target) for one in fix.links)


def _scripts(env: tuple[EnvChange, ...], python: Python) -> tuple[Action, ...] | str:
    """The activation scripts of the environment, as far as it has any."""
    prefix = python.prefix
    if not isinstance(prefix, str) or not env:
        return "it is a variable of your shell"
    if python.conda is True:
        directory = os.path.join(prefix, "etc", "conda", "activate.d")
        found = [(os.path.join(directory, f"gpudoctor.{shell.value}"), shell) for shell in SCRIPTS]
    elif python.virtual_environment is True:
        names = {Shell.SH: "activate", Shell.FISH: "activate.fish", Shell.CSH: "activate.csh"}
        found = [(os.path.join(prefix, "bin", name), shell) for shell, name in names.items()]
        found = [(path, shell) for path, shell in found if os.path.isfile(path)]
    else:
        return 'this Python is no environment with an activation script; put eval "$(gpudoctor env)" where your programs start'
    if not found:
        return f"{prefix} has no activation script"
    for path, _ in found:
        nearest = path if os.path.exists(path) else _existing(path)
        if not os.access(nearest, os.W_OK):
            return f"you may not write {path}"
    return tuple(Lines(path=path, lines=lines(env, shell)) for path, shell in found)


def _existing(path: str) -> str:
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _pip(fix: Fix, python: Python) -> tuple[Action, ...] | str:
    """Where every step is a command of pip, or uv, for the examined interpreter, and the environment is the user's."""
    commands = tuple(tuple(shlex.split(step)) for step in fix.steps)
    if not isinstance(python.executable, str) or not all(_is_pip(c, python.executable) for c in commands):
        return "it is more than a command of pip"
    if python.externally_managed is True:
        return "the system's package manager looks after this Python: make an environment of your own"
    site = python.prefix if isinstance(python.prefix, str) else os.path.dirname(python.executable)
    if not os.access(site, os.W_OK):
        return f"you may not write in {site}"
    return (Pip(commands=commands),)


def _is_pip(command: tuple[str, ...], executable: str) -> bool:
    if command[:2] == ("uv", "pip"):
        return command[2] in ("install", "uninstall") and command[3:5] == ("--python", executable)
    if command[:3] == (executable, "-m", "ensurepip"):
        return True
    if command[:3] != (executable, "-m", "pip") or "--break-system-packages" in command:
        return False
    return command[3] == "install" or (command[3] == "uninstall" and "-y" in command)
