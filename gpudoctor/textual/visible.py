"""Which GPUs somebody lets a program see: what the value of CUDA_VISIBLE_DEVICES, or the number of a GPU that is chosen, speaks for."""

from __future__ import annotations

from ..facts import Facts, TextEvent

_EMPTY, _WRONG = "cuda-visible-devices-empty", "cuda-visible-devices-wrong"
_HIDES = ("", "-1", "none", "void", "NoDevFiles")
"""Values that hide all GPUs."""
_FIRST = "0"
"""A GPU that every machine with GPUs has."""


def ordered(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """`fits` with that of the two causes first for which a value speaks. None is taken away."""
    if _EMPTY not in fits:
        return fits
    is_set, chosen = facts.text.said("visible-set"), facts.text.said("gpu-chosen")
    if any(not _hides(_value(e)) and _value(e) != _FIRST for e in is_set):
        at = fits.index(_EMPTY)
        return (*fits[:at], _WRONG, *(one for one in fits[at:] if one != _WRONG)) if _WRONG not in fits[:at] else fits
    if any(_by_a_program(e) for e in is_set):
        return (_EMPTY, *(one for one in fits if one != _EMPTY))
    if any(_hides(_value(e)) or _value(e) == _FIRST for e in (*is_set, *chosen)):
        at = min(fits.index(one) for one in (_EMPTY, _WRONG) if one in fits)
        return (*fits[:at], _EMPTY, *(one for one in fits[at:] if one != _EMPTY))
    return fits


def _value(event: TextEvent) -> str:
    return event.values.get("value", "").strip(" '\"")


def _by_a_program(event: TextEvent) -> bool:
    """A program sets it so, on a line of its own."""
    return _hides(_value(event)) and event.text.lstrip("> ").startswith(("os.environ", "environ["))


def _hides(value: str) -> bool:
    """Whether it hides all GPUs; that of a shell's variable, which may not be set, does."""
    return value in _HIDES or (value.startswith("$") and not value[1:].isdigit())
