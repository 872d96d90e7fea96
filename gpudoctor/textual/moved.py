"""A GPU that is gone since another TensorFlow was installed: what differs between the two releases."""

from __future__ import annotations

from collections.abc import Iterator

from ..compat.built_for import built_for
from ..facts import Facts

_NOT_ON_WINDOWS = (2, 11)


def firstly(facts: Facts) -> Iterator[str]:
    """What goes first by the two releases."""
    for one in facts.text.said("gone-since-another-release"):
        works, fails = (_numbers(one.values[name]) for name in ("works", "fails"))
        if facts.system.system == "Windows" and works < _NOT_ON_WINDOWS <= fails:
            yield "tf-windows-native-cpu-only"
        elif facts.system.system != "Darwin" and facts.system.machine != "aarch64" and _opens(works) != _opens(fails):
            yield "cuda-version-mismatch"


def _numbers(release: str) -> tuple[int, int]:
    major, minor = release.split(".")
    return int(major), int(minor)


def _opens(release: tuple[int, int]) -> tuple[str, ...]:
    return built_for(release).runtime
