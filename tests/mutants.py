"""One thing of the product switched off, so that a test must fail: `GPUDOCTOR_TEST_MUTANT=rule:GD511 pytest tests/checks`.

    rule:GD511                    the check finds nothing
    explains:GD511:cuinit-fails   the check does not say that it explains this
    probe:driver.read_nodes       the probe gets no answers: all that it returns is unread
    task:driver.nodes             the patient's function answers nothing
    text:GD511                    the check, which judges machines and texts, is shown no text
    language:containers           no line is read by this module of gpudoctor/logs
    kind:no-gpu-runtime           no line is of this kind
    clue:no-gpu-runtime           such a line suggests no cause

`python -m tests.mutants ARGUMENTS` is gpudoctor with it; the product knows nothing of mutants.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

import gpudoctor
from gpudoctor import patient, probes, registry
from gpudoctor.checks._said import machines_alone
from gpudoctor.facts import Facts, Text, UnknownFactError, Unread, unread_all
from gpudoctor.findings import Findings, Found, NotApplicable
from gpudoctor.logs import languages as line_languages
from gpudoctor.logs import reader
from gpudoctor.logs.language import Language
from gpudoctor.probes.ask import NOT_ANSWERED, Answers
from gpudoctor.textual.clues import CLUES

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


def texts() -> list[str]:
    """Every check that judges machines and texts, without the text."""
    return [f"text:{c.code}" for c in registry.all_checks() if _reads_text(c.body) and not _of_texts_alone(c.code)]


def languages() -> list[str]:
    """Every module that reads lines of a text."""
    one_by_one = (place.partition(".")[0] for place in line_languages.PLACES)
    others = (name for name, part in vars(reader).items() if inspect.ismodule(part) and _reads_lines(part))
    return [f"language:{name}" for name in dict.fromkeys((*one_by_one, *others))]


def kinds() -> list[str]:
    """Every kind of line that languages name."""
    return [f"kind:{name}" for name in dict.fromkeys(k.name for one in line_languages.all_of_them() for k in one.kinds)]


def clues() -> list[str]:
    """Every kind of line for which causes are suggested."""
    return [f"clue:{kind}" for kind in CLUES]


KINDS: dict[str, Callable[[], list[str]]] = {
    "rule": rules, "probe": readers, "task": tasks, "text": texts, "language": languages, "clue": clues,
    "explains": explanations, "kind": kinds,
}  # fmt: skip


def shown_by_texts(mutant: str) -> bool:
    """Whether the tests of texts must notice it."""
    kind, _, what = mutant.partition(":")
    if kind in ("rule", "explains"):
        return _of_texts_alone(what.partition(":")[0])
    return kind in ("text", "language", "kind", "clue")


def _of_texts_alone(code: str) -> bool:
    """Whether the check does not apply to machines."""
    try:
        list(registry.find(code).body(Facts()))
    except NotApplicable as reason:
        return str(reason).startswith("only a text")
    except UnknownFactError:
        pass
    return False


def _reads_text(body: registry.Body) -> bool:
    """Whether a check asks for the text, itself or in a function of checks/ that it calls, and not only to refuse it."""
    called: list[Callable[..., Any]] = [inspect.unwrap(body)]
    for one in called:  # grows while it is walked
        source, scope = inspect.getsource(one), one.__globals__
        if f"{machines_alone.__name__}(facts" in source:
            return False
        if "facts.text." in source:
            return True
        parts = [
            vars(scope[name]) if inspect.ismodule(scope.get(name)) else {} for name in re.findall(r"\b_\w+", source)
        ]
        named = [known.get(name) for known in (scope, *parts) for name in re.findall(r"\w+", source)]
        ours = [f for f in named if inspect.isfunction(f) and f.__module__.startswith("gpudoctor.checks.")]
        called += [f for f in dict.fromkeys(ours) if f not in called]
    return False


def _reads_lines(module: types.ModuleType) -> bool:
    return hasattr(module, "WORDS") or bool(_of_module(module))


def _of_module(module: types.ModuleType) -> list[Language]:
    """Its languages whose lines are understood one by one."""
    own = [one for value in vars(module).values() for one in (value if isinstance(value, tuple) else (value,))]
    return [one for one in line_languages.all_of_them() if any(one is other for other in own)]


def _is_task(file: str, function: str) -> bool:
    return (
        file in patient.names() and re.search(rf"^def {function}\(", patient.program([file]), re.MULTILINE) is not None
    )


def apply(mutant: str) -> None:
    """Make it, for the rest of this process."""
    kind, _, what = mutant.partition(":")
    if kind == "rule":
        check = registry.find(what)
        registry._checks[what] = msgspec.structs.replace(check, body=_silent(check.body))
    elif kind == "explains":
        code, _, name = what.partition(":")
        check = registry.find(code)
        registry._checks[code] = msgspec.structs.replace(check, explains=tuple(n for n in check.explains if n != name))
    elif kind == "probe":
        module, _, name = what.partition(".")
        loaded = importlib.import_module(f"gpudoctor.probes.{module}")
        setattr(loaded, name, _unanswered(getattr(loaded, name)))
    elif kind == "task":
        _mute(*what.split("."))
    elif kind == "text":
        check = registry.find(what)
        registry._checks[what] = msgspec.structs.replace(check, body=_textless(check.body))
    elif kind == "language":
        part = importlib.import_module(f"gpudoctor.logs.{what}")
        lost = _of_module(part)
        _speak(tuple(one for one in line_languages.all_of_them() if one not in lost))
        setattr(part, "WORDS", ())  # noqa: B010
    elif kind == "kind":
        kept = (
            one._replace(kinds=tuple(k for k in one.kinds if k.name != what)) for one in line_languages.all_of_them()
        )
        _speak(tuple(kept))
    elif kind == "clue":
        del CLUES[what]
    else:
        raise ValueError(f"{mutant}: no such mutant")


def _speak(languages: tuple[Language, ...]) -> None:
    """Have the reader know these."""
    setattr(line_languages, "all_of_them", lambda: languages)  # noqa: B010
    setattr(line_languages, "of", lambda text, unlogged: languages)  # noqa: B010


def _silent(body: registry.Body) -> registry.Body:
    """It still ends 'unknown' or 'does not apply' where it did: a test must see it fire."""

    @functools.wraps(body)
    def silent(facts: Facts) -> Findings:
        found = body(facts)
        while True:
            try:
                next(found)
            except StopIteration as end:
                yield from ()
                return end.value or "switched off"

    return silent


def _textless(body: registry.Body) -> registry.Body:
    """It is shown what the text tells of the machine, and not the text."""

    @functools.wraps(body)
    def textless(facts: Facts) -> Iterator[Found]:
        return body(msgspec.structs.replace(facts, text=Text()))

    return textless


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
