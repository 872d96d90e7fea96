"""Files of the CUDA libraries, and which of them the dynamic loader picks."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class LibraryFile(Fact, frozen=True, kw_only=True):
    """A file whose name is a soname or a versioned name of the CUDA family."""

    name: str
    path: str
    kind: str
    """Where it was found: 'wheel', 'variable' (LD_LIBRARY_PATH), 'toolkit', 'system', 'environment' (conda, prefix),
    'cache' (a directory that only the loader's cache names), 'preload' (LD_PRELOAD)."""
    real: str | Unread = NOT_RECORDED
    """The file itself, links resolved."""
    owner: str | Unread | None = NOT_RECORDED
    """Distribution and version ('nvidia-cusolver-cu12 11.6.3.83'); None: no wheel lists it."""
    package: str | Unread | None = NOT_RECORDED
    """Package of conda or dpkg that lists it ('dpkg libcudnn9-cuda-12 9.14.0.64-1'); None: none was found."""
    soname: str | Unread | None = NOT_RECORDED
    """DT_SONAME; None: it has none."""
    version: str | Unread | None = NOT_RECORDED
    """By the real file's name, else its wheel, its package, or the files of its toolkit; None: nothing tells."""
    size_bytes: int | Unread = NOT_RECORDED
    flaw: str | Unread | None = NOT_RECORDED
    """Why the loader refuses it, as far as its form tells; None: it is whole."""
    other_processor: str | Unread | None = NOT_RECORDED
    """The class and machine that it is for, where those are not the interpreter's: the loader passes it over."""


class CachedLibrary(Fact, frozen=True, kw_only=True):
    """What the dynamic loader's cache (/etc/ld.so.cache) knows of a soname."""

    soname: str
    path: str


class Toolkit(Fact, frozen=True, kw_only=True):
    """A CUDA toolkit, by its files; nothing of it was run."""

    path: str
    real: str
    named_by: str | None
    """The variable that names it (CUDA_HOME, …); None: found in a usual place."""
    version: str | Unread | None
    """'12.5.1', of its version.json or version.txt, else '12.5' of its libcudart; None: nothing tells."""


class Libraries(Fact, frozen=True, kw_only=True):
    """Every file seen, in the order of the search; not what is loaded."""

    files: tuple[LibraryFile, ...] | Unread = NOT_RECORDED
    cache: tuple[CachedLibrary, ...] | Unread | None = NOT_RECORDED
    """None: there is no cache."""
    toolkits: tuple[Toolkit, ...] | Unread = NOT_RECORDED


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
    """A file that was found and could not be used: the library's own, or that of one which it needs."""
    reason: str | None = None
    """Why `rejected` is refused, where its form tells."""
    dependency_searched: tuple[SearchStep, ...] = ()
    """Where `stopped_by` was searched for."""
    required: bool = True
    """Without it TensorFlow registers no GPU; otherwise it is asked for later."""
