"""The languages whose lines are understood one by one, in their order: a module is imported when a text holds a word of it.

To add one: a module with `LANGUAGE = Language(…)` (language.py), a place here, and `python -m tests.logs.spoken`.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from .language import Language

PLACES = (
    "places.LANGUAGE",
    "places.ENGINES",
    "containers.LANGUAGE",
    "kernel.LANGUAGE",
    "dkms.LANGUAGE",
    "cuda_answers.LANGUAGE",
    "services.LANGUAGE",
    "libcuda.LANGUAGE",
    "nodes.LANGUAGE",
    "xid.LANGUAGE",
    "nccl.LANGUAGE",
    "nccl.HOSTS",
    "nccl.BUILT",
    "nccl.REPORTS",
    "gpu_state.LANGUAGE",
    "pip.LANGUAGE",
    "pythons.LANGUAGE",
    "imports.LANGUAGE",
    "tensorflow_ops.LANGUAGE",
    "torch_env.LANGUAGE",
    "other_programs.LANGUAGE",
    "tensorflow_ops.SAID",
    "devices.LANGUAGE",
    "devices.SIZES",
    "tables.LANGUAGE",
    "tables.RATES",
    "answered.LANGUAGES",
    "limits.LANGUAGES",
    "memory_said.LANGUAGE",
    "memory_beside.LANGUAGES",
    "memory_of_all.LANGUAGES",
    "profiles.LANGUAGES",
    "bindings.LANGUAGE",
    "import_order.LANGUAGE",
    "import_order.NO_MATTER",
    "sharing.LANGUAGES",
    "shares.LANGUAGES",
    "notebooks.LANGUAGES",
    "clusters.LANGUAGES",
    "pace.LANGUAGES",
    "circumstances.LANGUAGES",
    "setups.LANGUAGES",
    "told_setups.LANGUAGES",
    "told_drivers.LANGUAGES",
    "driver_releases.LANGUAGES",
    "told_hosts.LANGUAGES",
    "told_libraries.LANGUAGES",
    "told_machines.LANGUAGES",
    "told_packages.LANGUAGES",
    "told_platforms.LANGUAGES",
    "told_faults.LANGUAGES",
    "told_cards.LANGUAGES",
    "found_out.LANGUAGE",
    "complaints.SUSPICIONS",
    "complaints.LANGUAGES",
)
"""A language, or several, by the module and the name there."""
TABLE = os.path.join(os.path.dirname(__file__), "spoken.jsonl")
"""A line a language, as Known. `python -m tests.logs.spoken` makes it anew."""


class Known(NamedTuple):
    """What is known of a language before its module is imported."""

    place: str
    at: int
    name: str
    foreign: bool
    words: tuple[str, ...]


@functools.cache
def known() -> tuple[Known, ...]:
    """All languages, in their order. Raises OSError where the table is not there."""
    with open(TABLE, "rb") as file:
        return tuple(msgspec.json.Decoder(Known).decode_lines(file.read()))


def every() -> Iterator[tuple[str, int, Language]]:
    """Each language with its place and its number there."""
    for place in PLACES:
        for at, one in enumerate(_at(place)):
            yield place, at, one


def all_of_them() -> tuple[Language, ...]:
    """In their order."""
    return tuple(one for _, _, one in every())


def of(text: str, unlogged: str) -> tuple[Language, ...]:
    """Those of which a text holds a word, the foreign ones where its lines that no program logged do."""
    return tuple(_at(one.place)[one.at] for one in known() if holds_one(unlogged if one.foreign else text, one.words))


def holds_one(text: str, words: tuple[str, ...]) -> bool:
    """Whether a text holds one of these words."""
    for word in words:  # noqa: SIM110 - any() is slower
        if word in text:
            return True
    return False


@functools.cache
def _at(place: str) -> tuple[Language, ...]:
    module, name = place.split(".")
    found: Language | tuple[Language, ...] = getattr(importlib.import_module(f".{module}", __package__), name)
    return (found,) if isinstance(found, Language) else found
