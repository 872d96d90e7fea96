"""compat/*.json: read on the first question, never on import; written in one form, so that a change shows as itself."""

from __future__ import annotations

import functools
import os

import msgspec

from .records import Gpus, Matrix, Xids

DIRECTORY = os.path.dirname(__file__)
"""Where they are; no Path, which takes long to import for a short text."""


@functools.cache
def matrix() -> Matrix:
    """The whole of compat/matrix.json."""
    return msgspec.json.decode(_read("matrix.json"), type=Matrix)


@functools.cache
def gpus() -> Gpus:
    """The whole of compat/gpus.json."""
    return msgspec.json.decode(_read("gpus.json"), type=Gpus)


@functools.cache
def xids() -> Xids:
    """The whole of compat/xid.json."""
    return msgspec.json.decode(_read("xid.json"), type=Xids)


def text_of(record: object) -> str:
    """A record, or a whole file, as it is written: fields in the order of their type, one to a line."""
    import json

    return json.dumps(msgspec.to_builtins(record), indent=1, ensure_ascii=False) + "\n"


def _read(name: str) -> bytes:
    with open(os.path.join(DIRECTORY, name), "rb") as file:
        return file.read()
