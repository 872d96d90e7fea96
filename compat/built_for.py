"""What the packages of TensorFlow on PyPI are built for, by release alone; and PyTorch's, which people have beside it.

It says in short what the wheels say (matrix.json, which tests/logs/test_builds_agree.py compares), also of releases whose wheels are
gone, and for texts in which nobody tells the patch release. Source: https://www.tensorflow.org/install/source#gpu, and the
wheels' own libraries.
"""

from __future__ import annotations

from typing import NamedTuple

Pair = tuple[int, int]
"""Major and minor version."""


class BuiltFor(NamedTuple):
    """What the releases from `since` on are built for."""

    since: Pair
    cuda: Pair
    cudnn: Pair | None
    """None: not known here."""
    runtime: tuple[str, ...]
    """Sonames of the runtime, and of what tells minor versions of CUDA 11 apart."""


_OF_12 = ("libcudart.so.12",)
_OF_11 = ("libcudart.so.11.0", "libcusolver.so.11")
_TABLE = (
    BuiltFor((2, 18), (12, 5), (9, 3), _OF_12),
    BuiltFor((2, 16), (12, 3), (8, 9), _OF_12),
    BuiltFor((2, 15), (12, 2), (8, 9), _OF_12),
    BuiltFor((2, 14), (11, 8), (8, 7), _OF_11),
    BuiltFor((2, 12), (11, 8), (8, 6), _OF_11),
    BuiltFor((2, 5), (11, 2), (8, 1), _OF_11),
    BuiltFor((2, 4), (11, 0), (8, 0), ("libcudart.so.11.0", "libcusolver.so.10")),
    BuiltFor((2, 1), (10, 1), (7, 6), ("libcudart.so.10.1",)),
    BuiltFor((1, 13), (10, 0), (7, 4), ("libcudart.so.10.0",)),
    BuiltFor((1, 5), (9, 0), (7, 0), ("libcudart.so.9.0",)),
    BuiltFor((1, 3), (8, 0), (6, 0), ("libcudart.so.8.0",)),
    BuiltFor((1, 0), (8, 0), (5, 1), ("libcudart.so.8.0",)),
    BuiltFor((0, 11), (8, 0), None, ("libcudart.so.8.0",)),
    BuiltFor((0, 0), (7, 5), None, ("libcudart.so.7.5",)),
)


def built_for(release: Pair) -> BuiltFor:
    """Of a release like (2, 14); of one newer than all that are known, what the newest are built for."""
    return next(one for one in _TABLE if release >= one.since)


_NEWEST_OF_PYTORCH: tuple[tuple[Pair, Pair], ...] = (
    ((2, 9), (13, 0)), ((2, 8), (12, 9)), ((2, 7), (12, 8)), ((2, 6), (12, 6)), ((2, 4), (12, 4)), ((2, 1), (12, 1)), ((2, 0), (11, 8)),
    ((1, 13), (11, 7)), ((1, 12), (11, 6)), ((1, 11), (11, 5)), ((1, 10), (11, 3)), ((1, 8), (11, 1)), ((1, 7), (11, 0)), ((1, 5), (10, 2)),
    ((1, 3), (10, 1)), ((0, 0), (10, 0)),
)  # fmt: skip
_LEAST_OF_PYTORCH: tuple[tuple[Pair, Pair], ...] = (((13, 0), (7, 5)), ((12, 8), (7, 0)))


def newest_of_pytorch(release: Pair) -> Pair:
    """The newest CUDA for which a release of PyTorch is to be had; of one newer than all that are known, what the newest is to be had for.
    Source: https://pytorch.org/get-started/previous-versions"""
    return next(cuda for since, cuda in _NEWEST_OF_PYTORCH if release >= since)


def least_of_pytorch(cuda: Pair) -> Pair:
    """The least compute capability that PyTorch's packages for this CUDA have code for, where that is more than CUDA itself asks.
    Source: PyTorch 2.8.0, release notes (Maxwell and Pascal are left out for CUDA 12.8), and its support matrix (RELEASE.md)."""
    return next((least for since, least in _LEAST_OF_PYTORCH if cuda >= since), (0, 0))
