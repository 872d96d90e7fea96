"""A fact's value as a person reads it."""

from __future__ import annotations

import re
from typing import Any

from ..facts import Fact, LibraryFile, LibraryPick, SearchStep, TensorFlowDevice, Unread, cuda_release
from .walk import ABSENT

_MOST = 300
_UNITS = (
    ("_gt_per_s", "GT/s"),
    ("_mb_per_s", "MB/s"),
    ("_mbit_per_s", "Mbit/s"),
    ("_percent", "%"),
    ("_seconds", "s"),
    ("_mhz", "MHz"),
    ("_khz", "kHz"),
    ("_w", "W"),
    ("_c", "°C"),
    ("_s", "s"),
)
_CUDA = ("api_version", "cuda_driver_version")
_NAMES = ("name", "pci_address", "kind", "path", "soname", "version", "address", "index")
_GENERATIONS = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}


def words(fact: str, value: Any) -> str | None:
    """`value` of the fact; None: it is not there."""
    text = _plain(fact.rpartition(".")[2], value)
    return text if text is None or len(text) <= _MOST else text[: _MOST - 1] + "…"


def _plain(field: str, value: Any) -> str | None:
    if value is ABSENT or value is None or isinstance(value, Unread):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(field, value)
    if isinstance(value, str):
        return value or "(empty)"
    if isinstance(value, tuple):
        return ", ".join(str(_plain(field, one)) for one in value) or "none"
    if isinstance(value, Fact):
        return _fact(value)
    return str(value)


def _number(field: str, value: float) -> str:
    if field.endswith("_bytes"):
        return amount(value)
    if field.endswith("_gt_per_s") and value in _GENERATIONS:
        return f"{value:g} GT/s (generation {_GENERATIONS[value]})"
    if field == "mode" and isinstance(value, int):
        return f"{value:o}"
    if field in _CUDA and isinstance(value, int) and value % 10 == 0:
        return cuda_release(value)
    unit = next((word for end, word in _UNITS if field.endswith(end)), "")
    return f"{value} {unit}".rstrip() if isinstance(value, int) else f"{value:.6g} {unit}".rstrip()


def amount(size_bytes: float) -> str:
    """'64 MiB'."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if abs(size_bytes) < 1024 or unit == "TiB":
            break
        size_bytes /= 1024
    return f"{size_bytes:.4g} {unit}"


def _fact(one: Fact) -> str:
    """What an element is, in its most telling fields."""
    if hasattr(one, "value") and hasattr(one, "name"):
        return str(one.value) or "(empty)"
    if isinstance(one, LibraryPick):
        return str(one.picked) if isinstance(one.picked, str) else "none"
    if isinstance(one, LibraryFile):
        return next((v for v in (one.owner, one.package, one.version) if isinstance(v, str)), "there")
    if isinstance(one, SearchStep):
        return one.directory
    if isinstance(one, TensorFlowDevice):
        return one.model if isinstance(one.model, str) else one.type
    if type(one).__name__ in ("Distribution", "CondaPackage", "KernelModule"):
        return str(getattr(one, "version", "there"))
    told = [getattr(one, name) for name in _NAMES if name in one.__struct_fields__]
    shown = [str(v) for v in told if v is not None and not isinstance(v, Unread)]
    return " ".join(shown) or "there"


_NO_MEASURE = (
    "id",
    "errno",
    "index",
    "result",
    "error",
    "minor",
    "number",
    "major",
    "mode",
    "groups",
    "state",
    "status",
)
_VERSION = re.compile(r"\d+(?:\.\d+)*")


def direction(old: Any, new: Any, field: str) -> str:
    """'up' or 'down' of versions and numbers, else 'changed'."""
    if isinstance(old, bool) or isinstance(new, bool):
        return "changed"
    if field.rpartition("_")[2] in _NO_MEASURE:
        return "changed"
    if isinstance(old, int | float) and isinstance(new, int | float):
        return "up" if new > old else "down"
    if isinstance(old, str) and isinstance(new, str) and ("version" in field or field in ("kernel", "firmware")):
        return version_direction(old, new)
    return "changed"


def version_direction(old: str, new: str) -> str:
    """'up' or 'down' of two versions; 'changed' where they can't be compared."""
    from packaging.version import InvalidVersion, Version

    try:
        before, after = Version(old), Version(new)
    except InvalidVersion:
        numbers = [
            [int(n) for n in _VERSION.findall(text)[0].split(".")] if _VERSION.match(text) else None
            for text in (old, new)
        ]
        if numbers[0] is None or numbers[1] is None or numbers[0] == numbers[1]:
            return "changed"
        return "up" if numbers[0] < numbers[1] else "down"
    return "changed" if before == after else "up" if before < after else "down"
