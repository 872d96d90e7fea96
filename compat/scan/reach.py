"""Which libraries of its own extra TensorFlow's loader does not find without LD_LIBRARY_PATH.

A site-packages is laid out of small objects that have the dynamic sections of the real ones: the loader's with its
RUNPATH, and each library where the extra's wheel puts it, with what it needs and its RUNPATH where a record tells. Then
`gpudoctor.loader.glibc` searches it by glibc's rules, with nothing of this machine: no cache, no system directories.
"""

from __future__ import annotations

import dataclasses
import struct
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from gpudoctor.compat.records import Library, LibraryWheel, WheelLibrary
from gpudoctor.loader import glibc

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_NEEDED, _STRTAB, _SYMTAB, _STRSZ, _SYMENT, _SONAME, _RPATH, _RUNPATH = 1, 5, 6, 10, 11, 14, 15, 29


@dataclasses.dataclass(frozen=True)
class Loader:
    """The object that opens the libraries."""

    name: str
    """In the wheel ('tensorflow/libtensorflow_framework.so.2')."""
    rpath: tuple[str, ...]
    runpath: tuple[str, ...] | None


def out_of_reach(
    loader: Loader,
    sonames: Iterable[str],
    extra: Mapping[str, str],
    libraries: Iterable[Library],
    library_wheels: Iterable[LibraryWheel],
) -> tuple[str, ...]:
    """Of `sonames`, and of what they need, those that lie in a wheel of `extra` and are not found, in their order.

    The order is the loader's: a library that an earlier one brought in counts as found.
    """
    sonames = tuple(sonames)
    admitted = _admitted(extra, library_wheels)
    shipped = {lib.soname: lib for wheel in admitted for lib in wheel.libraries}
    needed = _closure(sonames, shipped)
    places = {s: place for s in needed if (place := _place(s, extra, libraries, shipped)) is not None}
    missing: list[str] = []
    with tempfile.TemporaryDirectory(prefix="gpudoctor-scan-") as directory:
        site = Path(directory).resolve()
        _put(site / "bin" / "python", object_file())
        _put(site / loader.name, object_file(rpath=loader.rpath, runpath=loader.runpath))
        for soname, place in places.items():
            known = shipped.get(soname)
            wants = tuple(n for n in known.needs if n in places) if known is not None else ()
            _put(site / place, object_file(soname, wants, runpath=known.runpath if known is not None else ()))
        process = glibc.Process(str(site / "bin" / "python"), glibc.Platform(system_directories=()))
        caller = process.open(str(site / loader.name))
        for soname in sonames:
            pick = process.pick(soname, caller)
            if pick.picked is None and soname in places:
                missing.append(pick.stopped_by if isinstance(pick.stopped_by, str) else soname)
    return tuple(dict.fromkeys(missing))


def _admitted(extra: Mapping[str, str], wheels: Iterable[LibraryWheel]) -> list[LibraryWheel]:
    """Of each distribution the newest recorded wheel that the extra admits, as pip would take the newest."""
    best: dict[str, LibraryWheel] = {}
    for wheel in wheels:
        try:
            fits = wheel.distribution in extra and wheel.version in SpecifierSet(extra[wheel.distribution])
        except InvalidSpecifier:
            continue
        old = best.get(wheel.distribution)
        if fits and (old is None or Version(old.version) < Version(wheel.version)):
            best[wheel.distribution] = wheel
    return list(best.values())


def _closure(sonames: tuple[str, ...], shipped: Mapping[str, WheelLibrary]) -> list[str]:
    found = list(dict.fromkeys(sonames))
    for soname in found:  # grows while it is walked
        known = shipped.get(soname)
        found += [n for n in (known.needs if known is not None else ()) if n not in found]
    return found


def _place(
    soname: str, extra: Mapping[str, str], libraries: Iterable[Library], shipped: Mapping[str, WheelLibrary]
) -> str | None:
    """Where a wheel of the extra puts it; None: none of them carries it."""
    if soname in shipped:
        return shipped[soname].path
    stem = soname.split(".so")[0]
    for library in libraries:
        if library.stem == stem and any(library.wheel.replace("{major}", m) in extra for m in ("11", "12")):
            return f"nvidia/{library.directory}/lib/{soname}"
    return None


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def object_file(
    soname: str | None = None,
    needed: tuple[str, ...] = (),
    *,
    rpath: tuple[str, ...] = (),
    runpath: tuple[str, ...] | None = None,
) -> bytes:
    """An ELF shared object (x86-64) of a dynamic section and nothing else."""
    strings = bytearray(b"\0")

    def named(text: str) -> int:
        strings.extend(text.encode() + b"\0")
        return len(strings) - len(text.encode()) - 1

    tags = [(_NEEDED, named(n)) for n in needed]
    tags += [(_SONAME, named(soname))] if soname is not None else []
    tags += [(_RPATH, named(":".join(rpath)))] if rpath else []
    tags += [(_RUNPATH, named(":".join(runpath)))] if runpath is not None else []
    text_at = _HEADER.size + 2 * _SEGMENT.size
    symbols_at = text_at + len(strings) + -(text_at + len(strings)) % 8
    dynamic_at = symbols_at + 24
    tags += [(_STRTAB, text_at), (_SYMTAB, symbols_at), (_STRSZ, len(strings)), (_SYMENT, 24), (0, 0)]
    end = dynamic_at + 16 * len(tags)
    out = bytearray(end)
    out[: _HEADER.size] = _HEADER.pack(
        b"\x7fELF\x02\x01\x01" + bytes(9), 3, 62, 1, 0, _HEADER.size, 0, 0, _HEADER.size, _SEGMENT.size, 2, 64, 0, 0
    )
    load = _SEGMENT.pack(1, 6, 0, 0, 0, end, end, 0x1000)
    dynamic = _SEGMENT.pack(2, 6, dynamic_at, dynamic_at, dynamic_at, end - dynamic_at, end - dynamic_at, 8)
    out[_HEADER.size : text_at] = load + dynamic
    out[text_at : text_at + len(strings)] = strings
    out[dynamic_at:end] = b"".join(struct.pack("<QQ", *tag) for tag in tags)
    return bytes(out)
