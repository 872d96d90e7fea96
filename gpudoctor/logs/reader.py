"""A pasted text -> facts. Each language reads every line; what none understands is passed over.

To add a language: a module with LANGUAGE, WORDS (every line that it understands holds one of them) and a function from
(text, number, notes) to (kind, values) or None, which tells `notes` what the line says; then a line in `read`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts, TextEvent
from . import nvidia_smi, python, tensorflow_facts
from .notebook import Notebook
from .text import Pasted

Understood = tuple[str, dict[str, str]] | None
_TEXT = 400
_MANY = 20_000
"""Different lines of which it is remembered that they tell nothing."""


def read(pasted: Pasted) -> Facts:
    """What a text tells; everything else is Unread('not in this text')."""
    notes = Notebook()
    tracebacks = python.Reader(notes)
    languages: tuple[tuple[str, tuple[str, ...], Callable[[str, int, Notebook], Understood]], ...] = (
        (nvidia_smi.LANGUAGE, nvidia_smi.WORDS, nvidia_smi.line),
        (python.LANGUAGE, python.WORDS, lambda text, number, _: tracebacks.line(text, number)),
    )
    seen: set[tuple[str, str]] = set()
    nothing: set[str] = set()
    for line in pasted.lines:
        if line.text in nothing:
            continue
        understood = False
        event = tensorflow_facts.event_of(line.text)
        if event is not None:
            understood = True
            if (event.kind, event.text) not in seen:
                seen.add((event.kind, event.text))
                tensorflow_facts.tell(event, line.number, notes)
                notes.note(_noted(line.number, tensorflow_facts.LANGUAGE, event.kind, event.text, event.values))
        for language, words, reads in languages:
            if not any(word in line.text for word in words) and line.text != "[]":
                continue
            told = reads(line.text, line.number, notes)
            if told is not None:
                understood = True
                if (told[0], line.text) not in seen:
                    seen.add((told[0], line.text))
                    notes.note(_noted(line.number, language, told[0], line.text, told[1]))
        if (
            not understood
            and len(nothing) < _MANY
            and not line.text.startswith(("Traceback", "File", "import", "from"))
        ):
            nothing.add(line.text)
    return notes.facts(pasted.count, pasted.left_out)


def _noted(number: int, language: str, kind: str, text: str, values: dict[str, str]) -> TextEvent:
    return TextEvent(line=number, language=language, kind=kind, text=text[:_TEXT], values=values)
