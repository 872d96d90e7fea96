"""glibc's search rules over the files, without running anything.

Source: the manual page ld.so(8) and glibc's elf/dl-load.c, elf/dl-deps.c and elf/dl-cache.c (2.26 to 2.41).
In the order of a search for a name without a slash, made by an object L:

1. an object that is loaded already and has that name, or that DT_SONAME, wins without a search;
2. if L has no DT_RUNPATH: the DT_RPATH of L, of the object that needed L, … and of the executable (the chain
   ends at an object that dlopen brought in: its caller's DT_RPATH does not count for its dependencies);
3. LD_LIBRARY_PATH as it was when the process started;
4. the DT_RUNPATH of L (not of the objects that brought L in);
5. /etc/ld.so.cache; 6. the system directories (5 and 6 not for an object marked DF_1_NODEFLIB).

In each directory the glibc-hwcaps subdirectories of this processor come first. A file that is there and
is no complete ELF object ends the search with an error; one of another class or machine is passed over.
Dependencies are searched breadth first, each on behalf of the object that needs it.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import re
import struct
import subprocess
from collections.abc import Callable, Mapping

from ..facts import LibraryPick, SearchStep
from . import elf

_ELF_HEADER = 64
_MACHINES = {"x86_64": 62, "aarch64": 183}
_CACHE_FLAGS = {"x86_64": 0x0303, "aarch64": 0x0A03}
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"


@dataclasses.dataclass(frozen=True)
class Platform:
    """What the dynamic loader of a machine has built in."""

    machine: str = "x86_64"
    system_directories: tuple[str, ...] = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
    hwcaps: tuple[str, ...] = ()
    """Subdirectories that are searched before a directory itself ('glibc-hwcaps/x86-64-v3')."""
    cache: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Soname -> file, of /etc/ld.so.cache."""


@dataclasses.dataclass
class Loaded:
    """An object in a process."""

    path: str
    elf: elf.Elf
    brought_by: Loaded | None
    names: set[str] = dataclasses.field(default_factory=set)
    identity: tuple[int, int] = (0, 0)


class CannotLoad(Exception):  # noqa: N818
    """A name could not be loaded: not found (`path` None), or found and refused."""

    def __init__(self, soname: str, steps: list[SearchStep], path: str | None = None, reason: str = "") -> None:
        super().__init__(f"{soname}: {reason or 'not found'}")
        self.soname, self.steps, self.path, self.reason = soname, steps, path, reason


class Process:
    """A process as the dynamic loader sees it: the objects in it, in the order in which they came."""

    def __init__(self, executable: str, platform: Platform, library_path: str | None = None) -> None:
        """Start `executable` with LD_LIBRARY_PATH `library_path`. Raises CannotLoad, OSError, BadElf."""
        self.platform = platform
        self.library_path = _split(library_path) if library_path else ()
        self.loaded: list[Loaded] = []
        self.main = self._add(os.path.abspath(executable), None, None)
        self._dependencies(self.main)

    def open(self, path: str) -> Loaded:
        """dlopen of a path. Raises CannotLoad, OSError, BadElf."""
        path = os.path.abspath(path)
        if not self._usable(path, path, []):
            raise CannotLoad(path, [], path, "not there, or of another class or machine")
        return self._whole(lambda: self._add(path, None, None))

    def dlopen(self, soname: str, caller: Loaded | None = None) -> Loaded:
        """dlopen of a soname by code of `caller` (default: the executable). Raises CannotLoad."""
        return self._whole(lambda: self._map(soname, caller or self.main, by_dlopen=True))

    def pick(self, soname: str, caller: Loaded | None = None) -> LibraryPick:
        """`dlopen` as a fact: what was picked, or what stood in the way."""
        steps: list[SearchStep] = []
        if self._already(soname) is None:
            try:
                self._find(soname, caller or self.main, steps)
            except CannotLoad as e:
                refused = e.reason if e.path else None
                return LibraryPick(soname=soname, picked=None, searched=tuple(e.steps), rejected=e.path, reason=refused)
        try:
            got = self.dlopen(soname, caller)
        except CannotLoad as e:
            return LibraryPick(
                soname=soname,
                picked=None,
                searched=tuple(steps),
                stopped_by=None if e.soname == soname else e.soname,
                rejected=e.path,
                reason=e.reason if e.path else None,
                dependency_searched=() if e.soname == soname else tuple(e.steps),
            )
        return LibraryPick(soname=soname, picked=got.path, searched=tuple(steps))

    def _whole(self, load: Callable[[], Loaded]) -> Loaded:
        """An object with all that it needs, or nothing of it."""
        before = list(self.loaded)
        names = [set(o.names) for o in before]
        try:
            got = load()
            self._dependencies(got)
        except (CannotLoad, elf.BadElf, OSError):
            self.loaded = before
            for one, old in zip(before, names, strict=True):
                one.names = old
            raise
        return got

    def _dependencies(self, root: Loaded) -> None:
        queue = [root]
        for one in queue:  # grows while it is walked
            for name in one.elf.needed:
                got = self._map(name, one)
                if got not in queue:
                    queue.append(got)

    def _map(self, soname: str, loader: Loaded, *, by_dlopen: bool = False) -> Loaded:
        loaded = self._already(soname)
        if loaded is not None:
            loaded.names.add(soname)
            return loaded
        return self._add(self._find(soname, loader, []), soname, None if by_dlopen else loader)

    def _already(self, soname: str) -> Loaded | None:
        """The object that goes by this name, by any name it was loaded under or by its DT_SONAME."""
        return next((o for o in self.loaded if soname in o.names or o.elf.soname == soname), None)

    def _add(self, path: str, soname: str | None, brought_by: Loaded | None) -> Loaded:
        status = os.stat(path)
        identity = (status.st_dev, status.st_ino)
        for one in self.loaded:
            if one.identity == identity:
                one.names.add(soname or path)
                return one
        try:
            dynamic = elf.read(path)
        except elf.BadElf as e:
            raise CannotLoad(soname or path, [], path, str(e)) from e
        names = {path, *((soname,) if soname else ())}
        new = Loaded(path, dynamic, brought_by, names, identity)
        self.loaded.append(new)
        return new

    def _find(self, soname: str, loader: Loaded, steps: list[SearchStep]) -> str:
        """The file that a search picks; `steps` grows by each directory. Raises CannotLoad."""
        if "/" in soname:
            return os.path.abspath(soname)
        for origin, directories in self._lists(loader):
            for directory in directories:
                steps.append(SearchStep(directory=directory, origin=origin))
                for sub in (*self.platform.hwcaps, ""):
                    path = os.path.join(directory, sub, soname)
                    if self._usable(path, soname, steps):
                        return path
        if not loader.elf.no_default_libs:
            cached = self.platform.cache.get(soname)
            if cached is not None:
                steps.append(SearchStep(directory=os.path.dirname(cached), origin="ld.so.cache"))
                if self._usable(cached, soname, steps):
                    return cached
            for directory in self.platform.system_directories:
                steps.append(SearchStep(directory=directory, origin="system"))
                for sub in (*self.platform.hwcaps, ""):
                    path = os.path.join(directory, sub, soname)
                    if self._usable(path, soname, steps):
                        return path
        raise CannotLoad(soname, steps)

    def _lists(self, loader: Loaded) -> list[tuple[str, tuple[str, ...]]]:
        lists = []
        if loader.elf.runpath is None:
            chain: list[Loaded] = []
            one: Loaded | None = loader
            while one is not None:
                chain.append(one)
                one = one.brought_by
            if self.main not in chain:
                chain.append(self.main)
            lists += [
                (f"RPATH of {os.path.basename(o.path)}", elf.expand(o.elf.rpath, o.path)) for o in chain if o.elf.rpath
            ]
        lists.append(("LD_LIBRARY_PATH", self.library_path))
        if loader.elf.runpath is not None:
            name = os.path.basename(loader.path)
            lists.append((f"RUNPATH of {name}", elf.expand(loader.elf.runpath, loader.path)))
        return lists

    def _usable(self, path: str, soname: str, steps: list[SearchStep]) -> bool:
        """Whether the loader takes this file; raises CannotLoad where it stops at it."""
        try:
            with open(path, "rb") as f:
                head = f.read(_ELF_HEADER)
        except OSError as e:
            if e.errno == errno.EISDIR:
                raise CannotLoad(soname, steps, path, "cannot read file data: Is a directory") from e
            return False
        if len(head) < _ELF_HEADER:
            raise CannotLoad(soname, steps, path, "file too short")
        if head[:4] != b"\x7fELF":
            raise CannotLoad(soname, steps, path, "invalid ELF header")
        if head[4] != 2:
            return False
        if head[5] != 1:
            raise CannotLoad(soname, steps, path, "ELF file data encoding not little-endian")
        kind, machine = struct.unpack_from("<HH", head, 16)
        if machine != _MACHINES.get(self.platform.machine, machine):
            return False
        if kind not in (2, 3):
            raise CannotLoad(soname, steps, path, "only ET_DYN and ET_EXEC can be loaded")
        return True


def _split(library_path: str) -> tuple[str, ...]:
    """LD_LIBRARY_PATH as the loader splits it; an empty element is the working directory."""
    return tuple(dict.fromkeys(os.path.normpath(p or ".") for p in re.split("[:;]", library_path)))


def this_platform(machine: str = "x86_64", interpreter: str = "/lib64/ld-linux-x86-64.so.2") -> Platform:
    """The platform of this machine: asks its dynamic loader (`--help`, glibc 2.33 and newer) and its cache."""
    default = Platform(machine=machine)
    try:
        text = subprocess.run([interpreter, "--help"], capture_output=True, timeout=5, check=False).stdout.decode()
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    system = tuple(re.findall(r"^  (/\S+) \(system search path\)", text, re.MULTILINE))
    hwcaps = tuple(
        "glibc-hwcaps/" + n for n in re.findall(r"^  (x86-64-v\d) \(supported, searched\)", text, re.MULTILINE)
    )
    return Platform(machine, system or default.system_directories, hwcaps, read_cache(machine))


def read_cache(machine: str = "x86_64", path: str = "/etc/ld.so.cache") -> dict[str, str]:
    """Soname -> file of the loader's cache; empty where there is none or it is of another format."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError:
        return {}
    start = data.find(_CACHE_MAGIC)
    if start < 0:
        return {}
    data = data[start:]
    found: dict[str, str] = {}
    try:
        (count,) = struct.unpack_from("<I", data, 20)
        for index in range(count):
            flags, key, value, _, hwcap = struct.unpack_from("<iIIIQ", data, 48 + 24 * index)
            if flags == _CACHE_FLAGS.get(machine) and not hwcap:
                found.setdefault(_string(data, key), _string(data, value))
    except (struct.error, ValueError):
        return {}
    return found


def _string(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode("utf-8", "surrogateescape")
