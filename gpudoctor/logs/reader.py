"""A pasted text -> facts. Each language reads every line; what none understands is passed over.

To add a language: a module with `LANGUAGE = Language(…)` (language.py) and a place in LANGUAGES.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts, TextEvent
from . import containers, gpu_state, nccl, nvidia_smi, nvidia_smi_query, python, tensorflow_facts, xid
from .language import Language, Understood
from .notebook import Notebook
from .text import Pasted

LANGUAGES: tuple[Language, ...] = (containers.LANGUAGE, xid.LANGUAGE, nccl.LANGUAGE, nccl.REPORTS, gpu_state.LANGUAGE)
"""Those whose lines are understood one by one."""
_TEXT = 400
_MANY = 20_000
"""Different lines of which it is remembered that they tell nothing."""


def read(pasted: Pasted) -> Facts:
    """What a text tells; everything else is Unread('not in this text')."""
    notes = Notebook()
    tracebacks = python.Reader(notes)
    devices = nvidia_smi.Devices(notes)
    languages: tuple[tuple[str, tuple[str, ...], Callable[[str, int, Notebook], Understood | None]], ...] = (
        (tensorflow_facts.LANGUAGE, tensorflow_facts.WORDS, tensorflow_facts.line),
        (nvidia_smi.LANGUAGE, nvidia_smi.WORDS, nvidia_smi.Reader(notes, devices).line),
        (nvidia_smi.LANGUAGE, nvidia_smi_query.WORDS, nvidia_smi_query.Reader(notes, devices).line),
        (python.LANGUAGE, python.WORDS, lambda text, number, _: tracebacks.line(text, number)),
        *((one.name, one.words, one.line) for one in LANGUAGES),
    )
    seen: set[tuple[str, str]] = set()
    nothing: set[str] = set()
    for line in pasted.lines:
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
            if not told.kind:
                continue
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
    return notes.facts(pasted.count, pasted.left_out)
