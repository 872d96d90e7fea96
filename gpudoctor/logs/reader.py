"""A pasted text -> facts. Each language reads every line; what none understands is passed over.

To add a language: a module with `LANGUAGE = Language(…)` (language.py) and a place in LANGUAGES.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts, TextEvent
from . import answers, containers, imports, nvidia_smi, pip, python, report, tensorflow_facts
from .language import Language, Understood
from .notebook import Notebook
from .text import Pasted

LANGUAGES: tuple[Language, ...] = (containers.LANGUAGE, pip.LANGUAGE, imports.LANGUAGE)
"""Those whose lines are understood one by one."""
_TEXT = 400
_MANY = 20_000
"""Different lines of which it is remembered that they tell nothing."""


def read(pasted: Pasted) -> Facts:
    """What a text tells; everything else is Unread('not in this text')."""
    notes = Notebook()
    tracebacks, statements = python.Reader(notes), report.Reader(notes)
    languages: tuple[tuple[str, tuple[str, ...], Callable[[str, int, Notebook], Understood | None]], ...] = (
        (tensorflow_facts.LANGUAGE, tensorflow_facts.WORDS, tensorflow_facts.line),
        (nvidia_smi.LANGUAGE, nvidia_smi.WORDS, nvidia_smi.line),
        (python.LANGUAGE, python.WORDS, lambda text, number, _: tracebacks.line(text, number)),
        *((one.name, one.words, one.line) for one in LANGUAGES),
        (report.LANGUAGE, report.WORDS, lambda text, number, _: statements.line(text, number)),
    )
    seen: set[tuple[str, str]] = set()
    nothing: set[str] = set()
    for line in answers.together(pasted.lines):
        if line.text in nothing:
            continue
        understood = False
        for language, words, reads in languages:
            if not any(word in line.text for word in words):
                continue
            told = reads(line.text, line.number, notes)
            if told is None:
                continue
            understood = True
            text = told.values.pop("", line.text)
            if (told.kind, text) not in seen:
                seen.add((told.kind, text))
                notes.note(
                    TextEvent(
                        line=line.number, language=language, kind=told.kind, text=text[:_TEXT],
                        values=told.values, symptom=told.symptom,
                    )
                )  # fmt: skip
        if not understood and len(nothing) < _MANY and not line.text.startswith(python.STATE):
            nothing.add(line.text)
    statements.finish()
    return notes.facts(pasted.count, pasted.left_out)
