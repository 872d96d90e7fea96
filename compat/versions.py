"""The algebra of versions: TensorFlow's, CUDA's, drivers', compute capabilities. All through `packaging`."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from .files import matrix
from .records import Architecture, DriverBranch

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version


class NotAVersion(ValueError):  # noqa: N818
    """The text is no version; the message says of what."""


@functools.lru_cache(maxsize=4096)
def version(text: str) -> Version:
    """'535.161.08' -> Version. Raises NotAVersion."""
    from packaging.version import InvalidVersion, Version  # which a text without versions does not need

    try:
        return Version(text)
    except InvalidVersion:
        raise NotAVersion(f"{text!r} is no version") from None


@functools.lru_cache(maxsize=1024)
def _specifiers(text: str) -> SpecifierSet:
    from packaging.specifiers import SpecifierSet  # which takes long to import

    return SpecifierSet(text, prereleases=True)


def admits(specifier: str, text: str) -> bool:
    """Whether `text` is in the specifier; '' admits every version. Raises NotAVersion."""
    return _specifiers(specifier).contains(version(text))


def major(text: str) -> int:
    """12 of '12.5.1'."""
    return version(text).major


def major_minor(text: str) -> str:
    """'12.5' of '12.5.1'."""
    it = version(text)
    return f"{it.major}.{it.minor}"


@functools.lru_cache(maxsize=256)
def capability(text: str) -> tuple[int, int]:
    """(9, 0) of '9.0'. Raises NotAVersion."""
    match = re.fullmatch(r"(\d{1,2})\.(\d)", text)
    if match is None:
        raise NotAVersion(f"{text!r} is no compute capability (such as 9.0)")
    return int(match[1]), int(match[2])


@functools.lru_cache(maxsize=1024)
def target(text: str) -> tuple[tuple[int, int], str]:
    """((9, 0), 'a') of 'sm_90a' or 'compute_90a'; the letter is '' for code that is no single architecture's."""
    match = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)([a-z]?)", text)
    if match is None:
        raise NotAVersion(f"{text!r} is no architecture (such as sm_90)")
    return (int(match[1]), int(match[2])), match[3]


_WINDOWS_SPAN = 10  # 527.41 and 528.33 belong to R525, 531 to R530


def driver_branch(driver: str, *, windows: bool = False) -> DriverBranch | None:
    """The branch that a driver's release belongs to; None: not known here. Raises NotAVersion.

    On Linux the first number names the branch. On Windows the numbers in between are used as well, and belong to the
    branch below them.
    """
    number = version(driver).major
    known = {one.branch: one for one in matrix().driver_branches}
    if not windows:
        return known.get(number)
    below = [b for b in known if b <= number < b + _WINDOWS_SPAN]
    return known[max(below)] if below else None


def newest_branch() -> int:
    """The newest branch of the driver that is known here."""
    return max(one.branch for one in matrix().driver_branches)


def architecture(compute_capability: str) -> Architecture | None:
    """The generation of a GPU; None: not known here. Raises NotAVersion."""
    capability(compute_capability)
    return next((one for one in matrix().architectures if compute_capability in one.compute_capabilities), None)


def first_branch(one: Architecture) -> int | None:
    """The oldest branch of the driver that knows this generation: that of the first CUDA that does; None: unknown."""
    has = [
        b.branch for b in matrix().driver_branches if b.cuda is not None and version(b.cuda) >= version(one.first_cuda)
    ]
    return min(has, default=None)
