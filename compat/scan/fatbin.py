"""Fat binaries: the GPU code in a shared object, found by their magic number wherever they lie.

MLIR's generated kernels lie in .rodata, nvcc's and clang's in .nv_fatbin. The layout is not documented; it is that of
`fatbinary` of CUDA 8 to 13: a header (magic, version 1, its size 16, size of what follows) and the entries, each with
a header of its own (kind, size, size as compressed, compute capability, flags) and its code.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from typing import Literal

from . import ptx
from .wheel import Data

_MAGIC = struct.pack("<I", 0xBA55ED50)
_HEADER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_KINDS: dict[int, Literal["ptx", "elf"]] = {1: "ptx", 2: "elf"}
_LZ4, _ZSTD = 0x2000, 0x8000
_READ = 64 << 10
"""How much of a compressed module is read for its beginning."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """PTX or machine code for one architecture."""

    kind: Literal["ptx", "elf", "other"]
    arch: int
    """80 is compute capability 8.0."""
    compressed: Literal["lz4", "zstd"] | None
    start: int
    """Where its code begins in the object."""
    size: int


FatBinary = tuple[Entry, ...]


def fat_binaries(data: Data) -> Iterator[FatBinary]:
    """Every fat binary in an object; the magic number by chance, or one that is cut off, is none."""
    at = data.find(_MAGIC)
    while at >= 0:
        found = _entries(data, at)
        if found is None:
            at = data.find(_MAGIC, at + 1)
            continue
        entries, end = found
        if entries:
            yield entries
        at = data.find(_MAGIC, end)


def _entries(data: Data, at: int) -> tuple[FatBinary, int] | None:
    """The entries of the fat binary at `at` and where it ends; None: there is none."""
    if at + _HEADER.size > len(data):
        return None
    _, version, header, size = _HEADER.unpack_from(data, at)
    end = at + header + size
    if version != 1 or header != _HEADER.size or end > len(data):
        return None
    found, at = [], at + header
    while at + _ENTRY.size <= end:
        kind, _, head, length, packed, _, _, _, arch, _, _, flags, _, _ = _ENTRY.unpack_from(data, at)
        if head < _ENTRY.size or at + head + length > end or not 10 <= arch < 1000:
            return None
        compressed: Literal["lz4", "zstd"] | None = "lz4" if flags & _LZ4 else "zstd" if flags & _ZSTD else None
        used = packed if compressed and 0 < packed <= length else length
        found.append(Entry(_KINDS.get(kind, "other"), arch, compressed, at + head, used))
        at += head + length
    return (tuple(found), end) if at == end else None


def ptx_header(data: Data, entry: Entry) -> tuple[str, str] | None:
    """PTX version and target of a PTX entry; None: its beginning can't be read."""
    block = bytes(data[entry.start : entry.start + min(entry.size, _READ)])
    if entry.compressed == "lz4":
        block = ptx.lz4_head(block)
    elif entry.compressed == "zstd":
        block = ptx.zstd_head(block)
    return ptx.header(block)
