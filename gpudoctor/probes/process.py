"""A running process, from /proc: how to start an interpreter like it, and what it holds."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping

import psutil

from ..facts import MappedFile, Process, Unread
from .ask import Patient, reason

_OURS = re.compile(r"lib(cud|cu|nv|nccl|tensorflow)|_pywrap_tensorflow")


class NotExaminable(ValueError):  # noqa: N818
    """There is no such process, it can't be read, or it runs no Python."""


def read(pid: int) -> Process:
    """What /proc tells of it; what can't be read is unread."""
    return Process(
        pid=pid,
        executable=_link(pid, "exe"),
        working_directory=_link(pid, "cwd"),
        user_id=_user(pid),
        other_namespaces=_other_namespaces(pid),
        libraries=_libraries(pid),
        cpus_usable=_cpus_usable(pid),
        device_nodes=_device_nodes(pid),
    )


def patient(pid: int, ours: Mapping[str, str]) -> Patient:
    """Starts the interpreter of the process with its variables and `ours`, in its directory, and as its user and in its
    namespaces where we may. Raises NotExaminable."""
    env = _environment(pid)
    command = _python(pid, env)
    namespaces = _other_namespaces(pid)
    if isinstance(namespaces, Unread):
        raise NotExaminable(f"process {pid}: {namespaces.why}; try with sudo")
    uid, directory = _user(pid), _link(pid, "cwd")
    entered = [n for n in namespaces if n in _ENTERED]
    prefix: tuple[str, ...] = ()
    if entered:
        if os.geteuid() != 0:
            raise NotExaminable(
                f"process {pid} lives in other namespaces ({', '.join(entered)}): entering them needs root (sudo)"
            )
        if shutil.which("nsenter") is None:
            raise NotExaminable(f"process {pid} lives in other namespaces and there is no nsenter (package util-linux)")
        prefix = ("nsenter", f"--target={pid}", *(_ENTERED[n] for n in entered))
    if isinstance(uid, int) and uid != os.geteuid() and os.geteuid() == 0:
        prefix = (*prefix, *_as_user(pid, uid))
    where = directory if isinstance(directory, str) and not entered and os.path.isdir(directory) else None
    return Patient((*prefix, command), {**env, **ours}, where, sees_our_files="mnt" not in entered)


_ENTERED = {"mnt": "--mount", "net": "--net", "ipc": "--ipc", "uts": "--uts", "cgroup": "--cgroup", "pid": "--pid"}
"""Namespaces that decide what a GPU program sees -> nsenter's option."""


def _as_user(pid: int, uid: int) -> tuple[str, ...]:
    """setpriv runs the rest as that user, with the groups of the process: they may open what it opens."""
    try:
        group: int = psutil.Process(pid).gids().effective
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
            line = next((line for line in f if line.startswith("Groups:")), "")
    except (psutil.Error, OSError):
        group, line = uid, ""
    groups = ",".join(line.split()[1:])
    return ("setpriv", f"--reuid={uid}", f"--regid={group}", f"--groups={groups}" if groups else "--clear-groups", "--")


def _environment(pid: int) -> dict[str, str]:
    try:
        return psutil.Process(pid).environ()
    except psutil.NoSuchProcess as e:
        raise NotExaminable(f"there is no process {pid}") from e
    except (psutil.Error, OSError) as e:
        raise NotExaminable(f"process {pid}: its variables can't be read ({_why(e)}); try with sudo") from e


def _why(error: Exception) -> str:
    return "permission denied" if isinstance(error, psutil.AccessDenied) else str(error)


def _python(pid: int, env: Mapping[str, str]) -> str:
    """The interpreter as it was called: by that path a virtual environment is known."""
    exe = _link(pid, "exe")
    if isinstance(exe, Unread):
        raise NotExaminable(f"process {pid}: {exe.why}; try with sudo")
    if not re.match(r"(python|pypy)", os.path.basename(exe)):
        raise NotExaminable(f"process {pid} runs {exe}, which is no Python")
    try:
        called = (psutil.Process(pid).cmdline() or [exe])[0]
    except (psutil.Error, OSError) as e:
        raise NotExaminable(f"process {pid}: its command can't be read ({_why(e)})") from e
    cwd = _link(pid, "cwd")
    named = shutil.which(called, path=env.get("PATH", os.defpath)) if "/" not in called else called
    places = [named] if named else []
    if named and not os.path.isabs(named) and isinstance(cwd, str):
        places = [os.path.join(cwd, named)]
    places += [os.path.join(env[v], "bin", "python3") for v in ("VIRTUAL_ENV", "CONDA_PREFIX") if env.get(v)]
    for place in places:
        if (
            os.path.realpath(f"/proc/{pid}/root{place}").removeprefix(f"/proc/{pid}/root") == exe
            or os.path.realpath(place) == exe
        ):
            return place
    return exe


def _link(pid: int, name: str) -> str | Unread:
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError as e:
        return Unread(why=f"/proc/{pid}/{name}: {reason(e.errno or 0)}", settle=f"sudo readlink /proc/{pid}/{name}")


def _user(pid: int) -> int | Unread:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError as e:
        return Unread(why=f"/proc/{pid}: {reason(e.errno or 0)}")


def _other_namespaces(pid: int) -> tuple[str, ...] | Unread:
    other = []
    for name in ("mnt", "pid", "net", "ipc", "uts", "user", "cgroup"):
        try:
            theirs = os.readlink(f"/proc/{pid}/ns/{name}")
            if theirs != os.readlink(f"/proc/self/ns/{name}"):
                other.append(name)
        except FileNotFoundError:
            continue  # a kernel without it
        except OSError as e:
            return Unread(why=f"/proc/{pid}/ns/{name}: {reason(e.errno or 0)}", settle=f"sudo ls -l /proc/{pid}/ns")
    return tuple(other)


def _libraries(pid: int) -> tuple[MappedFile, ...] | Unread:
    try:
        with open(f"/proc/{pid}/maps", "rb") as f:
            lines = [os.fsdecode(line) for line in f]
    except OSError as e:
        return Unread(why=f"/proc/{pid}/maps: {reason(e.errno or 0)}", settle=f"sudo cat /proc/{pid}/maps")
    paths = dict.fromkeys(fields[5].strip() for line in lines if len(fields := line.split(None, 5)) > 5)
    found = [(p.removesuffix(" (deleted)"), p.endswith(" (deleted)")) for p in paths]
    return tuple(MappedFile(path=p, deleted=gone) for p, gone in found if _OURS.match(os.path.basename(p)))


def _cpus_usable(pid: int) -> str | Unread:
    settle = f"taskset -pc {pid}"
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
            fields = dict(line.split(":", 1) for line in f if ":" in line)
    except OSError as e:
        return Unread(why=f"/proc/{pid}/status: {reason(e.errno or 0)}", settle=settle)
    listed = fields.get("Cpus_allowed_list", "").strip()
    return listed or Unread(why=f"/proc/{pid}/status names no processors", settle=settle)


def _device_nodes(pid: int) -> tuple[str, ...] | Unread:
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError as e:
        return Unread(why=f"/proc/{pid}/fd: {reason(e.errno or 0)}", settle=f"sudo ls -l /proc/{pid}/fd")
    held = (_link(pid, f"fd/{name}") for name in names)
    return tuple(sorted({h for h in held if isinstance(h, str) and h.startswith("/dev/nvidia")}))
