"""The words in which checks say why they found nothing: short, with this machine's values."""

from __future__ import annotations

import os
from collections.abc import Iterable

_MOST_OF_A_PATH, _MOST_OF_A_VALUE = 80, 60


def several(number: int, noun: str) -> str:
    """'2 GPUs', '1 GPU', 'no GPU'."""
    return f"{number or 'no'} {noun}{'' if number in (0, 1) else 's'}"


def short(path: object) -> str:
    """A path, or the name at its end where it is long. Never a part of a name: redaction goes by whole ones."""
    text = str(path)
    return text if len(text) <= _MOST_OF_A_PATH else f"…/{os.path.basename(text)}"


def named(names: Iterable[str]) -> str:
    """'libcudart.so.12 and 3 more', 'libcudart.so.12'."""
    first, *rest = dict.fromkeys(names)
    return first + (f" and {len(rest)} more" if rest else "")


def set_to(name: str, value: str | None) -> str:
    """'NAME is not set', or what it is set to; of a long list how many are in it."""
    if value is None:
        return f"{name} is not set"
    whole = repr(value)
    return f"{name}={whole}" if len(whole) <= _MOST_OF_A_VALUE else f"{name} is a list of {len(value.split(','))}"
