"""Kernel, architecture, container."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import psutil

from ..facts import System, Unread, unread_all
from .ask import Answers, Task

TASK: Task = ("system.system", {})
_CGROUPS = {"kubepods": "kubernetes", "docker": "docker", "libpod": "podman", "lxc": "lxc", "containerd": "containerd"}


def read(answers: Answers) -> System:
    """The system as the patient sees it."""
    got: dict[str, Any] | None = answers.last("system")
    if got is None:
        return unread_all(System, answers.unread(TASK[0]))
    os_release = got["os_release"].get("text")
    model = got["device_tree"].get("text", "")
    marks = got["marks"]
    return System(
        system=got["system"],
        kernel=got["release"],
        machine=got["machine"],
        cores=_own(psutil.cpu_count, "the processors can't be counted"),
        memory_total_bytes=_own(lambda: psutil.virtual_memory().total, "/proc/meminfo can't be read"),
        distribution=_distribution(os_release) if os_release is not None else None,
        user_id=got["uid"] if got["uid"] is not None else Unread(why="this system has no user ids"),
        container=_container(got),
        wsl="/dev/dxg" in marks or "microsoft" in got["release"].lower(),
        tegra="/etc/nv_tegra_release" in marks or "jetson" in model.lower() or "tegra" in got["release"].lower(),
    )


def _own(ask: Callable[[], int | None], why: str) -> int | Unread:
    """psutil's answer, of our own process."""
    try:
        got = ask()
    except (OSError, psutil.Error):
        got = None
    return got if got is not None else Unread(why=why)


def _distribution(os_release: str) -> str | None:
    match = re.search(r'^ID="?([\w.-]+)', os_release, re.MULTILINE)
    return match.group(1) if match else None


def _container(got: dict[str, Any]) -> str | Unread | None:
    """Which container this is; None needs a readable /proc that shows no sign of one."""
    if got["kubernetes"]:
        return "kubernetes"
    if "/.dockerenv" in got["marks"]:
        return "docker"
    if got["init_environ_container"]:
        return str(got["init_environ_container"])
    if "/run/.containerenv" in got["marks"]:
        return "podman"
    cgroup = got["cgroup"].get("text")
    if cgroup is None:
        return Unread(why="/proc/1/cgroup can't be read", settle="cat /proc/1/cgroup")
    return next((name for word, name in _CGROUPS.items() if word in cgroup), None)
