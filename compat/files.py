"""compat/*.json: read on the first question, never on import; written in one form, so that a change shows as itself."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import msgspec

from .records import Gpus, Matrix, Xids

DIRECTORY = Path(__file__).parent


@functools.cache
def matrix() -> Matrix:
    """The whole of compat/matrix.json."""
    return msgspec.json.decode((DIRECTORY / "matrix.json").read_bytes(), type=Matrix)


@functools.cache
def gpus() -> Gpus:
    """The whole of compat/gpus.json."""
    return msgspec.json.decode((DIRECTORY / "gpus.json").read_bytes(), type=Gpus)


@functools.cache
def xids() -> Xids:
    """The whole of compat/xid.json."""
    return msgspec.json.decode((DIRECTORY / "xid.json").read_bytes(), type=Xids)


def text_of(record: object) -> str:
    """A record, or a whole file, as it is written: fields in the order of their type, one to a line."""
    return json.dumps(msgspec.to_builtins(record), indent=1, ensure_ascii=False) + "\n"
