"""A pasted text -> facts. Each language reads every line; what none understands is passed over.

To add a language: a module with `LANGUAGE = Language(…)` (language.py) and a place in LANGUAGES.
"""

from __future__ import annotations

from collections.abc import Callable

from ..facts import Facts, TextEvent
from . import (
    answers,
    circumstances,
    claims,
    grievances,
    containers,
    cuda_answers,
    devices,
    dkms,
    gpu_state,
    imports,
    kernel,
    libcuda,
    nccl,
    nodes,
    nvidia_smi,
    nvidia_smi_query,
    pci,
    pip,
    places,
    python,
    report,
    services,
    tensorflow_facts,
    tensorflow_ops,
    xid,
)
from .language import Language, Understood
from .notebook import Notebook
from .text import Pasted

LANGUAGES: tuple[Language, ...] = (
    places.LANGUAGE,
    containers.LANGUAGE,
    kernel.LANGUAGE,
    dkms.LANGUAGE,
    cuda_answers.LANGUAGE,
    services.LANGUAGE,
    libcuda.LANGUAGE,
    nodes.LANGUAGE,
    xid.LANGUAGE,
    nccl.LANGUAGE,
    nccl.REPORTS,
    gpu_state.LANGUAGE,
    pip.LANGUAGE,
    imports.LANGUAGE,
    tensorflow_ops.LANGUAGE,
    devices.LANGUAGE,
    grievances.LANGUAGE,
    complaints.PROGRAMS,
    *circumstances.LANGUAGES,
)
"""Those whose lines are understood one by one."""
_ALL = (
    tensorflow_facts.WORDS,
    nvidia_smi.WORDS,
    nvidia_smi_query.WORDS,
    python.WORDS,
    claims.WORDS,
    pci.WORDS,
    report.WORDS,
    devices.WORDS,
    *(one.words for one in LANGUAGES),
)
WORDS = tuple(dict.fromkeys(word for each in _ALL for word in each))
"""Every line that tells something holds one of them."""
_TEXT = 400


def read(pasted: Pasted) -> Facts:
    """What a text tells; everything else is Unread('not in this text')."""
    notes = Notebook()
    tracebacks, bus, statements = python.Reader(notes), pci.Reader(), report.Reader(notes)
    table = nvidia_smi.Devices(notes)
    languages: tuple[tuple[str, tuple[str, ...], Callable[[str, int, Notebook], Understood | None]], ...] = (
        (tensorflow_facts.LANGUAGE, tensorflow_facts.WORDS, tensorflow_facts.line),
        (nvidia_smi.LANGUAGE, nvidia_smi.WORDS, nvidia_smi.Reader(notes, table).line),
        (nvidia_smi.LANGUAGE, nvidia_smi_query.WORDS, nvidia_smi_query.Reader(notes, table).line),
        (python.LANGUAGE, python.WORDS, lambda text, number, _: tracebacks.line(text, number)),
        (claims.LANGUAGE, claims.WORDS, claims.line),
        (pci.LANGUAGE, pci.WORDS, lambda text, number, _: bus.line(text, number)),
        *((one.name, one.words, one.line) for one in LANGUAGES),
        (report.LANGUAGE, report.WORDS, lambda text, number, _: statements.line(text, number)),
        (devices.LANGUAGE.name, devices.WORDS, devices.claims),
    )
    seen: set[tuple[str, str]] = set()
    for line in answers.together(pasted.lines):
        for language, words, reads in languages:
            if not any(word in line.text for word in words):
                continue
            told = reads(line.text, line.number, notes)
            if told is None or not told.kind:
                continue
            text = told.values.pop("", line.text)
            key = (told.kind, "" if told.once else text)
            if key not in seen:
                seen.add(key)
                notes.note(
                    TextEvent(
                        line=line.number, language=language, kind=told.kind, text=text[:_TEXT],
                        values=told.values, symptom=told.symptom,
                    )
                )  # fmt: skip
    statements.finish()
    return notes.facts(pasted.count, pasted.left_out)
