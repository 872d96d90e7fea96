"""What a shared object says of itself: its dynamic section, through the loader's own reader, and its dynamic symbols."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import posixpath
import re
import struct
from typing import IO, Any, cast

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from gpudoctor.loader import elf

from .wheel import BadWheel, Data

_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|util|z|gomp)\.so(\.\d+)?|ld-linux.*)$")


def dynamic(path: str, data: Data, name: str) -> elf.Elf | None:
    """The dynamic section of an object; None: it is no ELF file (a linker script, an empty file). Raises BadWheel."""
    if data[:4] != b"\x7fELF":
        return None
    try:
        return elf.read(path)
    except elf.BadElf as e:
        raise BadWheel(f"{name}: {e}") from e


def needs(of: elf.Elf) -> tuple[str, ...]:
    """What it needs beyond the C and C++ libraries of every Linux."""
    return tuple(n for n in of.needed if not _SYSTEM.match(n))


def paths(of: elf.Elf) -> tuple[str, ...]:
    """Its RUNPATH, or the RPATH where it has none, as written; each entry once."""
    return tuple(dict.fromkeys(of.rpath if of.runpath is None else of.runpath))


def site_directories(of: elf.Elf, name: str) -> tuple[str, ...]:
    """The directories of other wheels that its RUNPATH names, for the object `name` of a wheel."""
    found = []
    for entry in paths(of):
        place = posixpath.normpath(entry.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", posixpath.dirname(name)))
        if place.split("/")[0] in ("nvidia", "tensorrt", "tensorrt_libs"):
            found.append(place)
    return tuple(dict.fromkeys(found))


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A dynamic symbol that the object defines."""

    address: int
    size: int


class Image:
    """An object as it lies in memory."""

    def __init__(self, data: Data) -> None:
        self.data = data
        if isinstance(data, bytes):
            raise BadWheel("an empty object")
        data.seek(0)
        try:
            self._elf = ELFFile(cast(IO[bytes], data))
            self._segments = sorted(
                (s["p_vaddr"], s["p_filesz"], s["p_offset"])
                for s in self._elf.iter_segments()
                if s["p_type"] == "PT_LOAD"
            )
            tables = {n: self._elf.get_section_by_name(n) for n in (".dynsym", ".dynstr", ".rela.plt", ".rela.dyn")}
        except (ELFError, struct.error, ValueError, KeyError) as e:
            raise BadWheel(f"invalid ELF file ({e})") from e
        self._tables: dict[str, Any] = tables

    def read(self, address: int, size: int) -> bytes:
        """Up to `size` bytes of the file that lie at `address`."""
        at = bisect.bisect_right(self._segments, (address, 1 << 64, 0)) - 1
        if at < 0:
            return b""
        start, length, offset = self._segments[at]
        inside = address - start
        return bytes(self.data[offset + inside : offset + min(inside + size, length)]) if inside < length else b""

    def text(self, address: int, limit: int = 64) -> str | None:
        """The C string at `address`; None: there is none."""
        raw, end, _ = self.read(address, limit).partition(b"\0")
        return raw.decode("ascii", "replace") if end else None

    def _section(self, name: str) -> bytes:
        section = self._tables[name]
        if section is None:
            return b""
        return bytes(self.data[section["sh_offset"] : section["sh_offset"] + section["sh_size"]])

    @functools.cached_property
    def _strings(self) -> bytes:
        return self._section(".dynstr")

    def _named(self, word: bytes) -> dict[int, tuple[str, Symbol | None]]:
        """Index of each dynamic symbol whose name holds `word` -> its name, and where it is defined here."""
        strings, wanted = self._strings, {}
        at = strings.find(word)
        while at >= 0:
            start = strings.rfind(b"\0", 0, at) + 1
            end = strings.index(b"\0", at)
            wanted[start] = strings[start:end].decode("ascii", "replace")
            at = strings.find(word, end)
        table = self._section(".dynsym")
        found = {}
        for index, (offset, _, _, section, address, size) in enumerate(
            _SYMBOL.iter_unpack(table[: len(table) // _SYMBOL.size * _SYMBOL.size])
        ):
            if offset in wanted:
                found[index] = (wanted[offset], Symbol(address, size) if section else None)
        return found

    @functools.cached_property
    def loader_symbols(self) -> dict[str, Symbol]:
        """The functions of TensorFlow's DsoLoader that it defines, by their mangled names."""
        return {name: where for name, where in self._named(b"DsoLoader").values() if where is not None}

    @functools.cached_property
    def loader_slots(self) -> dict[int, str]:
        """Address of a slot that the dynamic loader fills with a function of DsoLoader -> its mangled name."""
        names = {index: name for index, (name, _) in self._named(b"DsoLoader").items()}
        found = {}
        for table in (".rela.plt", ".rela.dyn"):
            data = self._section(table)
            for where, info, _ in _RELOCATION.iter_unpack(data[: len(data) // _RELOCATION.size * _RELOCATION.size]):
                name = names.get(info >> 32)
                if name is not None:
                    found[where] = name
        return found
