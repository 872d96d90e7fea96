"""A root directory of its own, in a mount namespace of its own: this machine's programs, and a /dev, /etc, /proc, /run, /sys and
/var that a test lays out. What is examined there is read as on any machine: nothing of gpudoctor knows of it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OWN = ("dev", "etc", "proc", "run", "snap", "sys", "var")
WHOLE = ("/proc/driver", "/usr/sbin")
"""Directories of this machine over which the test's own are mounted, where it lays a file there."""
_KEPT = ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "os-release")
"""Of /etc."""
_DEVICES = {"null": (1, 3), "zero": (1, 5), "random": (1, 8), "urandom": (1, 9)}
HOST = {"/proc/1/cgroup": "0::/init.scope\n", "/proc/1/environ": "PATH=/bin\0"}
"""What shows no container."""
DOCKER = {**HOST, "/.dockerenv": ""}
MODULE = {"/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Jan 1 2026\n"}
Node = tuple[int, int]
GPU_NODES: dict[str, Node] = {
    "/dev/nvidiactl": (195, 255),
    "/dev/nvidia0": (195, 0),
    "/dev/nvidia1": (195, 1),
    "/dev/nvidia-uvm": (238, 0),
}


def lay(
    directory: Path,
    files: Mapping[str, str],
    *,
    nodes: Mapping[str, Node] | None = None,
    mounts: Mapping[str, str] | None = None,
    denied: Path | None = None,
) -> tuple[str, ...]:
    """The words before a command that run it there. `nodes` are character devices, `mounts` files of this machine by where
    they are mounted there, `denied` a control group whose device rules hold for it."""
    directory.mkdir()
    new, given = directory / "root", directory / "given"
    new.mkdir()
    q = shlex.quote
    lines = [f"mount -t tmpfs tmpfs {q(str(new))}"]
    for entry in sorted(os.scandir("/"), key=lambda e: e.name):
        there = q(f"{new}/{entry.name}")
        if entry.is_symlink():
            lines.append(f"cp -P /{entry.name} {there}")
        elif entry.is_dir() and entry.name not in OWN:
            lines.append(f"mkdir {there} && mount --rbind {q(entry.path)} {there}")
    lines += [f"mkdir {q(f'{new}/{name}')}" for name in OWN]
    lines += [f"[ ! -e /etc/{n} ] || cp -rL /etc/{n} {q(f'{new}/etc/{n}')}" for n in _KEPT]
    lines += [f"mount --rbind /proc {q(f'{new}/proc')}", f"mkdir {q(f'{new}/dev/shm')}"]
    for path in (*(nodes or {}), *(mounts or {})):
        assert path.split("/")[1] in OWN, f"{path} would be made on this machine"
    for path, (major, minor) in {**{f"/dev/{n}": d for n, d in _DEVICES.items()}, **(nodes or {})}.items():
        lines.append(f"mknod -m 666 {q(f'{new}{path}')} c {major} {minor}")
    for path, text in files.items():
        source = given / path.lstrip("/")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        if any(path.startswith(f"{top}/") for top in WHOLE):
            continue
        if path.startswith("/proc/"):
            lines.append(f"mount --bind {q(str(source))} {q(f'{new}{path}')}")
            continue
        assert path.startswith("/.") or path.split("/")[1] in OWN, f"{path} would be written on this machine"
        lines.append(f"mkdir -p {q(f'{new}{os.path.dirname(path)}')} && cp {q(str(source))} {q(f'{new}{path}')}")
    for top in WHOLE:
        if any(path.startswith(f"{top}/") for path in files):
            lines.append(f"mount --bind {q(f'{given}{top}')} {q(f'{new}{top}')}")
    for path, source_path in (mounts or {}).items():
        there = q(f"{new}{path}")
        lines.append(
            f"mkdir -p {q(f'{new}{os.path.dirname(path)}')}; : > {there}; mount --bind {q(source_path)} {there}"
        )
    if denied is not None:
        lines.append(f"echo $$ > {q(str(denied / 'cgroup.procs'))}")
    script = directory / "script"
    script.write_text("set -e\n" + "\n".join(lines) + f'\nexec chroot {q(str(new))} "$@"\n')
    return ("unshare", "-m", "--propagation", "private", "sh", str(script))


def possible() -> bool:
    """Whether this user may make such a place."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    command = ["unshare", "-m", "--propagation", "private", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def group_without_gpus() -> Path | None:
    """A new control group (version 1) that may not open NVIDIA's devices; None where none can be made."""
    made = Path(f"/sys/fs/cgroup/devices/gpudoctor-test-{os.getpid()}")
    try:
        made.mkdir()
    except OSError:
        return None
    try:
        (made / "devices.deny").write_text("c 195:* rwm\n")
        (made / "devices.deny").write_text("c 238:* rwm\n")
    except OSError:
        made.rmdir()
        return None
    return made
