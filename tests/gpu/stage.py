"""Sets the stage of a fault and runs a command on it: `python -I -S stage.py PLAN.json COMMAND…`.

A mount namespace of its own, in which files are hidden, replaced and added; limits; another user. Nothing stays: the
namespace ends with the command. Standard library only, and no other program, so that it is quick.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import stat
import sys
import tempfile
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_NEWNS = 0x20000
_RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18


def mount(source: str, target: str, kind: str | None = None, flags: int = 0, options: str = "") -> None:
    words = [w.encode() if w is not None else None for w in (source, target, kind)]
    if _LIBC.mount(*words, ctypes.c_ulong(flags), options.encode()) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"{source} on {target}")


def bind(source: str, target: str) -> None:
    mount(source, target, None, _BIND | _REC)


def tree(place: str) -> str:
    """A new empty directory in memory."""
    made = tempfile.mkdtemp(dir=place)
    mount("faults", made, "tmpfs", 0, "mode=755")
    return made


def copy(entry: os.DirEntry[str], target: str) -> None:
    """The same entry at `target`: a link of the same words, or the thing itself, bound."""
    if entry.is_symlink():
        os.symlink(os.readlink(entry.path), target)
        return
    if entry.is_dir():
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    bind(entry.path, target)


def put(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    bind(source, target)


def shadow(place: str, directory: str, hide: list[str], add: dict[str, str]) -> None:
    """`directory` without some of its entries, and with others."""
    made = tree(place)
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name not in hide and entry.name not in add:
                copy(entry, os.path.join(made, entry.name))
    for name, source in add.items():
        put(source, os.path.join(made, name))
    bind(made, directory)


def devices(place: str, hide: list[str], modes: dict[str, list[int]], numbers: dict[str, list[int]]) -> None:
    """/dev without some nodes, and with others of the same name that have another mode and owner, or other numbers."""
    made = tree(place)
    with os.scandir("/dev") as entries:
        for entry in entries:
            if entry.name in hide or entry.name in modes or entry.name in numbers:
                continue
            copy(entry, os.path.join(made, entry.name))
    for name in {**modes, **numbers}:
        path = os.path.join(made, name)
        old = os.stat(f"/dev/{name}").st_rdev if name not in numbers else os.makedev(*numbers[name])
        mode, user, group = modes.get(name, [0o666, 0, 0])
        os.mknod(path, stat.S_IFCHR | 0o600, old)
        os.chmod(path, mode)
        os.chown(path, user, group)
    # nobody makes anew what is not there
    mount("faults", made, None, _REMOUNT | _BIND | _RDONLY)
    bind(made, "/dev")


def set_up(plan: dict[str, Any]) -> None:
    place = plan["place"]
    if plan["mounts"]:
        if _LIBC.unshare(_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        mount("none", "/", None, _REC | _PRIVATE)
    for kind, *rest in plan["mounts"]:
        if kind == "bind":
            bind(*rest)
        elif kind == "shadow":
            shadow(place, *rest)
        elif kind == "devices":
            devices(place, *rest)
        elif kind == "empty":
            bind(tree(place), *rest)
        elif kind == "read-only":
            bind(rest[0], rest[0])
            mount("none", rest[0], None, _REMOUNT | _BIND | _RDONLY)
        elif kind == "tmpfs":
            mount("faults", rest[0], "tmpfs", 0, rest[1])
        else:
            raise ValueError(kind)
    for name, value in plan["limits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if plan["user"] is not None:
        os.setgroups([])
        os.setgid(plan["user"])
        os.setuid(plan["user"])


def main() -> None:
    with open(sys.argv[1]) as f:
        plan = json.load(f)
    set_up(plan)
    os.chdir(plan["cwd"])
    os.execvpe(sys.argv[2], sys.argv[2:], os.environ)


if __name__ == "__main__":
    main()
