"""A GPU that is gone since another TensorFlow was installed: what differs between the two releases."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts

_CUDA = (
    ((2, 15), "12"),
    ((2, 5), "11.2"),
    ((2, 4), "11.0"),
    ((2, 1), "10.1"),
    ((1, 13), "10.0"),
    ((1, 5), "9.0"),
    ((1, 0), "8.0"),
)
"""From this release on: the CUDA whose libraries its package opens. Those of 2.12 to 2.14 are built for 11.8, and open the files of 11.2 by
the same names. Source: https://www.tensorflow.org/install/source#gpu."""
_NOT_ON_WINDOWS = (2, 11)


def firstly(facts: Facts) -> Iterator[str]:
    """What goes first by the two releases."""
    for one in facts.text.said("gone-since-another-release"):
        works, fails = (_numbers(one.values[name]) for name in ("works", "fails"))
        if facts.system.system == "Windows" and works < _NOT_ON_WINDOWS <= fails:
            yield "tf-windows-native-cpu-only"
        elif facts.system.system != "Darwin" and facts.system.machine != "aarch64" and _cuda(works) != _cuda(fails):
            yield "cuda-version-mismatch"


def _numbers(release: str) -> tuple[int, int]:
    major, minor = release.split(".")
    return int(major), int(minor)


def _cuda(release: tuple[int, int]) -> str:
    return next(cuda for since, cuda in _CUDA if release >= since)
