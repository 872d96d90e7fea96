"""A pasted text -> facts. Each language reads every line; what none understands is passed over.

To add a language: a module with `LANGUAGE = Language(…)` (language.py) and a place in LANGUAGES.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..facts import Facts, TextEvent
from . import containers, devices, nvidia_smi, python, sift, tensorflow_facts, tensorflow_ops
from .language import Language, Understood
from .notebook import Notebook
from .text import Pasted

LANGUAGES: tuple[Language, ...] = (containers.LANGUAGE, tensorflow_ops.LANGUAGE, devices.LANGUAGE)
"""Those whose lines are understood one by one."""
_ALL = (tensorflow_facts.WORDS, nvidia_smi.WORDS, python.WORDS, devices.WORDS, *(one.words for one in LANGUAGES))
WORDS = tuple(dict.fromkeys(word for each in _ALL for word in each))
"""Every line that tells something holds one of them."""
_WORDS = re.compile(sift.words(WORDS).pattern.decode())
_TEXT = 400


def read(pasted: Pasted) -> Facts:
    """What a text tells; everything else is Unread('not in this text')."""
    notes = Notebook()
    tracebacks = python.Reader(notes)
    languages: tuple[tuple[str, tuple[str, ...], Callable[[str, int, Notebook], Understood | None]], ...] = (
        (tensorflow_facts.LANGUAGE, tensorflow_facts.WORDS, tensorflow_facts.line),
        (nvidia_smi.LANGUAGE, nvidia_smi.WORDS, nvidia_smi.line),
        (python.LANGUAGE, python.WORDS, lambda text, number, _: tracebacks.line(text, number)),
        *((one.name, one.words, one.line) for one in LANGUAGES),
        (devices.LANGUAGE.name, devices.WORDS, devices.claims),
    )
    seen: set[tuple[str, str]] = set()
    for line in pasted.lines:
        if _WORDS.search(line.text) is None:
            continue
        for language, words, reads in languages:
            if not any(word in line.text for word in words):
                continue
            told = reads(line.text, line.number, notes)
            if told is None:
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
    return notes.facts(pasted.count, pasted.left_out)
