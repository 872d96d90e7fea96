"""The words in which checks say why they found nothing: short, with this machine's values."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 60


def several(number: int, noun: str) -> str:
    """'2 GPUs', '1 GPU', 'no GPU'."""
    return f"{number or 'no'} {noun}{'' if number in (0, 1) else 's'}"


def short(value: object) -> str:
    """A path or a value, without its middle where it is long."""
    text = str(value)
    return text if len(text) <= _MOST else f"{text[: _MOST // 3]}…{text[1 - _MOST * 2 // 3 :]}"


def named(names: Iterable[str]) -> str:
    """'libcudart.so.12 and 3 more', 'libcudart.so.12'."""
    first, *rest = dict.fromkeys(names)
    return first + (f" and {len(rest)} more" if rest else "")


def set_to(name: str, value: str | None) -> str:
    """'NAME is not set', or what it is set to."""
    return f"{name} is not set" if value is None else f"{name}={short(repr(value))}"
