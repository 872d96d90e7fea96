"""One thing of the product switched off, so that a test must fail: `GPUDOCTOR_TEST_MUTANT=rule:GD511 pytest tests/checks`.

    rule:GD511                    the check finds nothing
    explains:GD511:cuinit-fails   the check does not say that it explains this
    probe:driver.read_nodes       the probe gets no answers: all that it returns is unread
    task:driver.nodes             the patient's function answers nothing

`python -m tests.mutants ARGUMENTS` is gpudoctor with it; the product knows nothing of mutants.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import os
import pkgutil
import re
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gpudoctor
from gpudoctor import patient, probes, registry
from gpudoctor.facts import Facts, Unread, unread_all
from gpudoctor.findings import Found
from gpudoctor.probes.ask import NOT_ANSWERED, Answers

VARIABLE = "GPUDOCTOR_TEST_MUTANT"


def rules() -> list[str]:
    """Every check without its body."""
    return [f"rule:{c.code}" for c in registry.all_checks()]


def explanations() -> list[str]:
    """Every check without one of the names that it explains."""
    return [f"explains:{c.code}:{name}" for c in registry.all_checks() for name in c.explains]


def readers() -> list[str]:
    """Every function of a probe that turns answers into facts."""
    found = []
    for module in pkgutil.iter_modules(probes.__path__):
        loaded = importlib.import_module(f"gpudoctor.probes.{module.name}")
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            if re.fullmatch("read(_.*)?", name) and function.__module__ == loaded.__name__:
                found.append(f"probe:{module.name}.{name}")
    return found


def tasks() -> list[str]:
    """Every function of the patient that the product names as a task."""
    here = Path(gpudoctor.__file__).parent
    texts = "\n".join(p.read_text() for p in here.rglob("*.py") if p.parent.name != "patient")
    named = dict.fromkeys(re.findall(r'"(\w+\.\w+)"', texts))
    return [f"task:{name}" for name in sorted(named) if _is_task(*name.split("."))]


def _is_task(file: str, function: str) -> bool:
    return (
        file in patient.names() and re.search(rf"^def {function}\(", patient.program([file]), re.MULTILINE) is not None
    )


def apply(mutant: str) -> None:
    """Make it, for the rest of this process."""
    kind, _, what = mutant.partition(":")
    if kind == "rule":
        check = registry.find(what)
        registry._checks[what] = dataclasses.replace(check, body=_silent(check.body))
    elif kind == "explains":
        code, _, name = what.partition(":")
        check = registry.find(code)
        registry._checks[code] = dataclasses.replace(check, explains=tuple(n for n in check.explains if n != name))
    elif kind == "probe":
        module, _, name = what.partition(".")
        loaded = importlib.import_module(f"gpudoctor.probes.{module}")
        setattr(loaded, name, _unanswered(getattr(loaded, name)))
    elif kind == "task":
        _mute(*what.split("."))
    else:
        raise ValueError(f"{mutant}: no such mutant")


def _silent(body: registry.Body) -> registry.Body:
    """It still ends 'unknown' or 'does not apply' where it did: a test must see it fire."""

    @functools.wraps(body)
    def silent(facts: Facts) -> Iterator[Found]:
        for _ in body(facts):
            pass
        yield from ()

    return silent


def _unanswered(read: Callable[..., Any]) -> Callable[..., Any]:
    """`read` where no child has answered; one that takes no answers returns nothing but unread."""
    hints = typing.get_type_hints(read)
    takes = [name for name, hint in hints.items() if name != "return" and "Answers" in str(hint)]
    signature = inspect.signature(read)

    @functools.wraps(read)
    def unanswered(*arguments: Any, **named: Any) -> Any:
        if not takes:
            return unread_all(hints["return"], Unread(why="a mutant"))
        bound = signature.bind(*arguments, **named)
        for name in takes:
            if isinstance(bound.arguments.get(name), Answers):
                bound.arguments[name] = NOT_ANSWERED
        return read(*bound.args, **bound.kwargs)

    return unanswered


def _mute(file: str, function: str) -> None:
    text_of = patient._text

    def muted(name: str) -> tuple[str, tuple[str, ...]]:
        text, needs = text_of(name)
        nothing = f"\n\ndef {function}(*_arguments, **_named):\n    pass\n"
        return (text + nothing if name == file else text), needs

    setattr(patient, "_text", muted)  # noqa: B010


if __name__ == "__main__":
    from gpudoctor.__main__ import main

    if VARIABLE in os.environ:  # a test may start it with no variables at all
        apply(os.environ[VARIABLE])
    main()
