"""What the dynamic loader reads of a shared object, with the standard library only.

Source: the System V ABI, chapters 4 and 5 (object files, program loading and dynamic linking), and its processor
supplements; glibc's elf/dl-load.c for what is refused.
"""

import os
import struct
from typing import Any, Dict, List, Optional, Tuple

_HEADER_BYTES = 64
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_FLAGS, _DT_FLAGS_1 = 1, 5, 14, 15, 29, 30, 0x6FFFFFFB
_TYPE_EXECUTABLE, _TYPE_SHARED = 2, 3
_STRING_BYTES = 1 << 16
_DYNAMIC_BYTES = 1 << 20


def read_elf(path: str) -> Dict[str, Any]:
    """The dynamic section of the object at `path`; lists as written, `$ORIGIN` not expanded.

    `flaw` is why the loader would refuse the file as far as its form tells, None where it is whole; `cut_short`
    tells that the file ends before something that its header speaks of.
    """
    got: Dict[str, Any] = {
        "bits": None, "machine": None, "type": None, "soname": None, "needed": [], "rpath": None, "runpath": None,
        "flags": 0, "flags_1": 0, "cut_short": False, "flaw": None,
    }  # fmt: skip
    try:
        # not to wait where the name is one of a pipe
        f = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as e:
        got["flaw"] = os.strerror(e.errno or 0)
        return got
    try:
        _read_object(f, os.fstat(f).st_size, got)
    except OSError as e:
        got["flaw"] = "cannot read file data: %s" % os.strerror(e.errno or 0)
    except (struct.error, ValueError, OverflowError, MemoryError):
        got["flaw"] = "invalid ELF file"
    finally:
        os.close(f)
    return got


def _read_object(f: int, size: int, got: Dict[str, Any]) -> None:
    head = os.pread(f, _HEADER_BYTES, 0)
    if len(head) < _HEADER_BYTES:
        got["flaw"], got["cut_short"] = "file too short", True
        return
    if head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
        got["flaw"] = "invalid ELF header"
        return
    wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
    got["bits"] = 64 if wide else 32
    numbers = struct.unpack_from(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), head, 16)
    got["type"], got["machine"] = numbers[0], numbers[1]
    programs_at, sections_at = numbers[4], numbers[5]
    program_bytes, programs, section_bytes, sections = numbers[8], numbers[9], numbers[10], numbers[11]
    got["cut_short"] = sections_at + section_bytes * sections > size
    if got["type"] not in (_TYPE_EXECUTABLE, _TYPE_SHARED):
        got["flaw"] = "only ET_DYN and ET_EXEC can be loaded"
        return
    layout = order + ("IIQQQQQQ" if wide else "IIIIIIII")
    if program_bytes != struct.calcsize(layout):
        got["flaw"] = "ELF file's phentsize not the expected size"
        return
    table = os.pread(f, program_bytes * programs, programs_at)
    loaded: List[Tuple[int, int, int]] = []
    dynamic: Optional[Tuple[int, int]] = None
    for index in range(programs):
        fields = struct.unpack_from(layout, table, index * program_bytes)
        kind = fields[0]
        offset, address, stored = (fields[2], fields[3], fields[5]) if wide else (fields[1], fields[2], fields[4])
        if kind == _PT_LOAD:
            loaded.append((address, offset, stored))
            if offset + stored > size:
                got["flaw"], got["cut_short"] = "file too short", True
                return
        elif kind == _PT_DYNAMIC and dynamic is None:
            dynamic = (offset, stored)
    if dynamic is None:
        got["flaw"] = "object file has no dynamic section"
        return
    entry = order + ("qQ" if wide else "iI")
    each = struct.calcsize(entry)
    data = os.pread(f, min(dynamic[1], _DYNAMIC_BYTES), dynamic[0])
    tags = []
    for index in range(len(data) // each):
        tag, value = struct.unpack_from(entry, data, index * each)
        if tag == 0:
            break
        tags.append((tag, value))
    strings = next((v for t, v in tags if t == _DT_STRTAB), None)
    place = next((o + strings - a for a, o, n in loaded if strings is not None and a <= strings < a + n), None)
    for tag, value in tags:
        if tag == _DT_FLAGS:
            got["flags"] = value
        elif tag == _DT_FLAGS_1:
            got["flags_1"] = value
        elif tag in (_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH):
            if place is None:
                raise ValueError("no string table")
            text = _string_at(f, place + value)
            if tag == _DT_NEEDED:
                got["needed"].append(text)
            elif tag == _DT_SONAME:
                got["soname"] = text
            else:
                got["rpath" if tag == _DT_RPATH else "runpath"] = text.split(":")


def _string_at(f: int, offset: int) -> str:
    data = b""
    while b"\0" not in data:
        block = os.pread(f, 256, offset + len(data))
        if not block or len(data) > _STRING_BYTES:
            raise ValueError("a string without an end")
        data += block
    return os.fsdecode(data[: data.index(b"\0")])


def tidied_path(path: str) -> str:
    """`path` without '..' where that names the same file; else the real path: the kernel follows a link before
    it goes up."""
    plain = os.path.normpath(path)
    return plain if ".." not in path or os.path.realpath(plain) == os.path.realpath(path) else os.path.realpath(path)


def expanded(entries: List[str], object_path: str) -> List[str]:
    """Directories of an RPATH or RUNPATH with `$ORIGIN` set, each once; those with unknown tokens are dropped."""
    origin = os.path.dirname(os.path.abspath(object_path))
    found: List[str] = []
    for entry in entries:
        path = entry.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) or "."
        if "$" in path:
            continue
        path = tidied_path(path)
        if path not in found:
            found.append(path)
    return found
