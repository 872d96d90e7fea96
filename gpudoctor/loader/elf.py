"""What the dynamic loader reads of a shared object, through pyelftools."""

from __future__ import annotations

import dataclasses
import functools
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile

_DF_1_NODEFLIB = 0x800


@dataclasses.dataclass(frozen=True)
class Elf:
    """The dynamic section of one object; lists as written, `$ORIGIN` not expanded."""

    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...]
    runpath: tuple[str, ...] | None
    """None: there is no DT_RUNPATH; then DT_RPATH counts."""
    bits: int
    machine: str
    no_default_libs: bool


class BadElf(ValueError):  # noqa: N818
    """A file that the loader refuses; the text is the reason."""


def read(path: str) -> Elf:
    """The dynamic section of the object at `path`.

    Raises BadElf for what is no complete ELF object, OSError where it can't be read. Cached by identity.
    """
    status = os.stat(path)
    return _read(path, status.st_ino, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=1024)
def _read(path: str, *identity: int) -> Elf:
    # they are imported while the patient's children work, and not before these are started
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as f:
        try:
            elf = ELFFile(f)
            kind = elf["e_type"]
            if kind not in ("ET_DYN", "ET_EXEC"):
                raise BadElf("only ET_DYN and ET_EXEC can be loaded")
            for segment in elf.iter_segments():
                if segment["p_type"] == "PT_LOAD" and segment["p_offset"] + segment["p_filesz"] > identity[1]:
                    raise BadElf("file too short")
            dynamic = next((s for s in elf.iter_segments() if isinstance(s, DynamicSegment)), None)
            if dynamic is None:
                raise BadElf("object file has no dynamic section")
            return _dynamic(elf, dynamic)
        except BadElf:
            raise
        except Exception as e:  # of a damaged file, pyelftools raises whatever it trips over
            raise BadElf(f"invalid ELF file ({e})" if str(e) else "invalid ELF file") from e


def _dynamic(elf: ELFFile, dynamic: DynamicSegment) -> Elf:
    soname, needed = None, []
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] | None = None
    flags = 0
    tag: Any
    for tag in dynamic.iter_tags():
        if tag.entry.d_tag == "DT_SONAME":
            soname = tag.soname
        elif tag.entry.d_tag == "DT_NEEDED":
            needed.append(tag.needed)
        elif tag.entry.d_tag == "DT_RPATH":
            rpath = tuple(tag.rpath.split(":"))
        elif tag.entry.d_tag == "DT_RUNPATH":
            runpath = tuple(tag.runpath.split(":"))
        elif tag.entry.d_tag == "DT_FLAGS_1":
            flags = tag.entry.d_val
    return Elf(
        soname=soname,
        needed=tuple(needed),
        rpath=() if runpath is not None else rpath,
        runpath=runpath,
        bits=elf.elfclass,
        machine=elf["e_machine"],
        no_default_libs=bool(flags & _DF_1_NODEFLIB),
    )


def tidy(path: str) -> str:
    """`path` without '..' where that names the same file; else the real path: the kernel follows a link before
    it goes up."""
    plain = os.path.normpath(path)
    return plain if ".." not in path or os.path.realpath(plain) == os.path.realpath(path) else os.path.realpath(path)


def expand(entries: tuple[str, ...], object_path: str) -> tuple[str, ...]:
    """Directories of an RPATH or RUNPATH with `$ORIGIN` set, duplicates and unknown tokens dropped.

    `$ORIGIN` is the directory of the path as opened, links not followed.
    """
    origin = os.path.dirname(os.path.abspath(object_path))
    found = []
    for entry in entries:
        path = entry.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) or "."
        if "$" not in path:
            found.append(tidy(path))
    return tuple(dict.fromkeys(found))
