"""Files of the CUDA libraries, and which of them the dynamic loader picks."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class LibraryFile(Fact, frozen=True, kw_only=True):
    """A file whose name is a soname or a versioned name of the CUDA family."""

    name: str
    path: str
    kind: str
    """Where it was found: 'wheel', 'variable' (LD_LIBRARY_PATH), 'system', 'environment' (conda, prefix)."""
    owner: str | Unread | None = NOT_RECORDED
    """Distribution and version ('nvidia-cusolver-cu12 11.6.3.83'); None: no wheel lists it."""


class Libraries(Fact, frozen=True, kw_only=True):
    """Every file seen, in the order of the search; not what is loaded."""

    files: tuple[LibraryFile, ...] | Unread = NOT_RECORDED


class SearchStep(Fact, frozen=True, kw_only=True):
    """One directory in which the dynamic loader looked, and whose list named it."""

    directory: str
    origin: str
    """'RUNPATH of libtensorflow_framework.so.2', 'LD_LIBRARY_PATH', 'ld.so.cache', 'system'."""


class LibraryPick(Fact, frozen=True, kw_only=True):
    """What a dlopen of `soname` ended in."""

    soname: str
    picked: str | Unread | None = NOT_RECORDED
    """The file that was loaded; None: none was."""
    searched: tuple[SearchStep, ...] = ()
    stopped_by: str | None = None
    """Soname of a dependency that was not found, where that is what failed."""
    rejected: str | None = None
    """A file that was found and could not be used."""
    reason: str | None = None
    """Why `rejected` is refused, where its form tells."""
    dependency_searched: tuple[SearchStep, ...] = ()
    """Where `stopped_by` was searched for."""
    required: bool = True
    """Without it TensorFlow registers no GPU; otherwise it is asked for later."""
