"""One fault that is brought about for real, the cause that must be named first, and the cure that its fixes must be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.provoked.proof import Proof
from tests.provoked.scene import Scene

Build = Callable[[], AbstractContextManager[Scene]]
OF_A_FILE = ("services:", "spec:")
"""First lines of what belongs into a file of docker compose or Kubernetes; no shell takes it."""
OF_THE_SHELL = ("export ", "unset ", "ulimit ")
"""Lines that work in the shell in which they are pasted, and what it starts."""


@dataclass(frozen=True)
class Case(Proof):
    """`do` is what happens to the machine."""

    do: Callable[[Scene], None]
    only_look: tuple[int, ...] = ()
    """Fixes whose lines show something, and mend nothing."""
    persons_part: Callable[[Scene], None] | None = None
    """What the fix's sentence leaves to a person, before its lines, if any, are pasted (a licence's file that nobody else has)."""
    elsewhere: bool = False
    """What its fix starts runs on another machine."""
    arguments: tuple[str, ...] = ()
    level: str = "quick"
    left: tuple[str, ...] = ()
    """Causes that the fix itself brings: a way around costs something."""
    is_note: bool = False
    """Its check only informs: it is found, and is no root cause."""

    def __str__(self) -> str:
        return f"{self.cause}: {self.how}"


def prove(case: Case, build: Build) -> None:
    """The cause comes first; each of its fixes that has lines, pasted as printed, makes it go away."""
    with build() as machine:
        case.do(machine)
        report = machine.check(*case.arguments, level=case.level)
        if case.is_note:
            assert case.cause in report.found(), report.found()
        else:
            assert report.causes[:1] == [case.cause], f"{report.causes}, found {report.found()}"
        fixes = report.fixes(case.cause)
        pasted = [
            n for n, fix in enumerate(fixes) if fix["steps"] and fix["steps"][0] not in OF_A_FILE and not case.elsewhere
        ]
        if not pasted and case.persons_part is not None:
            case.persons_part(machine)
            after = machine.check(*case.arguments, level=case.level)
            assert case.cause not in after.found()
            assert after.causes == []
        for number in pasted[:1]:
            _cures(case, machine, fixes[number], number)
    for number in pasted[1:]:
        with build() as machine:
            case.do(machine)
            again = machine.check(*case.arguments, level=case.level).fixes(case.cause)[number]
            _cures(case, machine, again, number)


def _cures(case: Case, machine: Scene, fix: dict[str, object], number: int) -> None:
    steps = fix["steps"]
    assert isinstance(steps, list)
    if case.persons_part is not None:
        case.persons_part(machine)
    if all(step.startswith(OF_THE_SHELL) for step in steps):
        after = machine.check(*case.arguments, lines=tuple(steps), level=case.level)
    else:
        machine.paste(steps, must_succeed=number not in case.only_look)
        after = machine.check(*case.arguments, level=case.level)
    if number in case.only_look:
        assert case.cause in after.found()
    else:
        assert case.cause not in after.found(), f"{steps} does not cure it: {after.found()}"
        assert set(after.causes) <= set(case.left), f"after {steps}: {after.causes}"
