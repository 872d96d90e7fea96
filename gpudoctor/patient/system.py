"""The machine, as the patient sees it."""

import os
import platform
import re
from typing import Any, Dict, List, Mapping, Optional

from .core import answer, list_directory, read_bytes, read_text

# ----------------------------------------------------------------------------- variables


def environment(names: List[str], prefixes: List[str]) -> None:
    """The variables that matter, by name: as this process was started with them, and as Python has them now."""

    def wanted(variables: Mapping[str, str]) -> Dict[str, str]:
        return {k: v for k, v in variables.items() if k in names or k.startswith(tuple(prefixes))}

    now = wanted(os.environ)
    started = _environ_of("self")
    answer(
        "environment",
        {
            "now": now,
            "started": now if isinstance(started, int) else wanted(started),
            "sudo": _before_sudo(wanted) if "SUDO_USER" in os.environ else None,
        },
    )


def _environ_of(pid: str) -> Any:
    """The variables that a process was started with, or the errno."""
    try:
        with open("/proc/%s/environ" % pid, "rb") as f:
            items = f.read(4 << 20).split(b"\0")
    except OSError as e:
        return e.errno
    return {os.fsdecode(k): os.fsdecode(v) for k, _, v in (i.partition(b"=") for i in items if b"=" in i)}


def _before_sudo(wanted: Any) -> Dict[str, Any]:
    """What sudo itself was started with, and which GPU libraries lie on its LD_LIBRARY_PATH."""
    pid = os.getppid()
    for _ in range(16):
        stat = read_text("/proc/%d/stat" % pid, 4096).get("text", "")
        comm, _, rest = stat.partition(" (")[2].rpartition(") ")
        if comm == "sudo":
            got = _environ_of(str(pid))
            if isinstance(got, int):
                return {"errno": got}
            return {"variables": wanted(got), "libraries": _libraries_on(got.get("LD_LIBRARY_PATH", ""))}
        fields = rest.split()
        if len(fields) < 2 or fields[1] == "0":
            break
        pid = int(fields[1])
    return {"gone": True}


def _libraries_on(path: str) -> List[str]:
    """Libraries of the CUDA family in the directories of a search path."""
    found: List[str] = []
    for directory in path.split(":")[:40]:
        names = list_directory(directory) if directory else []
        if not isinstance(names, int):
            found += [os.path.join(directory, n) for n in names if re.match(r"lib(cu|nv|nccl)\w*\.so", n)]
    return found[:400]


# ----------------------------------------------------------------------------- the machine


def system(root: str = "") -> None:
    """Kernel, architecture, processors, memory, limits, security modules, what kind of machine this is."""
    marks = [p for p in ("/dev/dxg", "/etc/nv_tegra_release") if os.path.exists(root + p)]
    answer(
        "system",
        {
            "system": platform.system(),
            "release": platform.release(),
            "machine": platform.machine(),
            "hostname": platform.node(),
            "marks": marks,
            "device_tree": read_text(root + "/proc/device-tree/model"),
            "os_release": read_text(root + "/etc/os-release"),
            "cpuinfo": read_text(
                root + "/proc/cpuinfo", 1 << 14
            ),  # the first processors: every one costs the kernel time
            "cores": _sysconf("SC_NPROCESSORS_ONLN"),
            "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
            "nodes": _numa_nodes(root),
            "meminfo": read_text(root + "/proc/meminfo", 1 << 12),
            "memory_pages": [_sysconf("SC_PHYS_PAGES"), _sysconf("SC_PAGE_SIZE")],
            "shm": _space(root + "/dev/shm"),
            "cgroup": _cgroup_levels(root),
            "limits": _limits(),
            "user": _user(root),
            "status": read_text(root + "/proc/self/status", 1 << 14),
            "selinux": read_text(root + "/sys/fs/selinux/enforce", 16),
            "apparmor": read_text(root + "/sys/module/apparmor/parameters/enabled", 16),
            "apparmor_profile": _either(root, ("/proc/self/attr/apparmor/current", "/proc/self/attr/current")),
            "lockdown": read_text(root + "/sys/kernel/security/lockdown", 256),
            "efi": os.path.isdir(root + "/sys/firmware/efi"),
            "secure_boot": _bytes_of(root + "/sys/firmware/efi/efivars/SecureBoot-" + _EFI_GLOBAL),
            "dmi_vendor": read_text(root + "/sys/class/dmi/id/sys_vendor", 256),
            "dmi_product": read_text(root + "/sys/class/dmi/id/product_name", 256),
            "cmdline": read_text(root + "/proc/cmdline", 1 << 14),
            "uptime": read_text(root + "/proc/uptime", 64),
            "suspends": read_text(root + "/sys/power/suspend_stats/success", 64),
            "suspends_older": read_text(root + "/sys/kernel/debug/suspend_stats", 4096),
            "sleep_states": read_text(root + "/sys/power/state", 64),
        },
    )


def _numa_nodes(root: str) -> Any:
    """[number, files] of every NUMA node; the errno where there is no list of them."""
    base = root + "/sys/devices/system/node"
    names = list_directory(base)
    if isinstance(names, int):
        return names
    numbers = sorted(int(name[4:]) for name in names if re.match(r"^node\d+$", name))
    return [
        [
            number,
            {f: read_text("%s/node%d/%s" % (base, number, f), 1 << 14) for f in ("cpulist", "meminfo", "distance")},
        ]
        for number in numbers
    ]


_EFI_GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"


def _sysconf(name: str) -> Optional[int]:
    try:
        got = os.sysconf(name)
    except (AttributeError, ValueError, OSError):
        return None
    return got if got > 0 else None


def _either(root: str, paths: Any) -> Dict[str, Any]:
    """The first of `paths` that can be read."""
    got: Dict[str, Any] = {}
    for path in paths:
        got = read_text(root + path, 512)
        if "text" in got:
            break
    return got


def _bytes_of(path: str) -> Any:
    """A small file as numbers, or the errno."""
    try:
        return list(read_bytes(path, 64))
    except OSError as e:
        return {"errno": e.errno}


def _space(path: str) -> Dict[str, Any]:
    try:
        got = os.statvfs(path)
    except (OSError, AttributeError) as e:
        return {"errno": getattr(e, "errno", None)}
    return {"total": got.f_blocks * got.f_frsize, "free": got.f_bavail * got.f_frsize}


def _limits() -> Dict[str, Optional[int]]:
    """The soft limits of this process; None is 'unlimited'."""
    found: Dict[str, Optional[int]] = {}
    try:
        import resource
    except ImportError:
        return found
    for name in ("MEMLOCK", "AS", "NOFILE", "NPROC", "STACK", "DATA"):
        number = getattr(resource, "RLIMIT_" + name, None)
        if number is not None:
            soft = resource.getrlimit(number)[0]
            found[name] = None if soft == resource.RLIM_INFINITY else soft
    return found


def _user(root: str) -> Dict[str, Any]:
    """Who runs this. The name comes from /etc/passwd alone: a name service can hang."""
    if not hasattr(os, "getuid"):
        return {}
    name, home = None, os.environ.get("HOME")
    for line in read_text(root + "/etc/passwd").get("text", "").splitlines():
        fields = line.split(":")
        if len(fields) > 5 and fields[2] == str(os.getuid()):
            name, home = fields[0], home or fields[5]
            break
    return {
        "uid": os.getuid(),
        "groups": sorted(set(os.getgroups()) | {os.getgid()}),
        "name": name or os.environ.get("USER"),
        "home": home,
    }


# ----------------------------------------------------------------------------- control groups

_CGROUP_FILES = {
    "cpu": ("cpu.cfs_quota_us", "cpu.cfs_period_us"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"),
    "devices": ("devices.list",),
    "": ("cpu.max", "memory.max", "memory.current", "memory.events"),
}


def cgroup() -> None:
    """The control groups once more: what was counted since."""
    answer("cgroup", _cgroup_levels(""))


def _cgroup_levels(root: str) -> Dict[str, Any]:
    """Of each controller of version 1, and of version 2 (''): the files of this process's group and of those above it."""
    groups, mounts = read_text(root + "/proc/self/cgroup"), read_text(root + "/proc/self/mountinfo", 4 << 20)
    if "text" not in groups or "text" not in mounts:
        return {"errno": groups.get("errno", mounts.get("errno"))}
    found: Dict[str, List[Dict[str, str]]] = {}
    for line in groups["text"].splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        for name in names.split(",") if names else [""]:
            if name not in _CGROUP_FILES or (name == "") != (number == "0"):
                continue
            place = _cgroup_mount(mounts["text"], name)
            if place is not None:
                found[name] = _cgroup_walk(root, place, path, _CGROUP_FILES[name])
    return {"levels": found}


def _cgroup_mount(mounts: str, controller: str) -> Any:
    """(root, mount point) of a controller's tree."""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 3:
            continue
        if kind[0] == ("cgroup" if controller else "cgroup2") and (not controller or controller in kind[2].split(",")):
            return fields[3], fields[4]
    return None


def _cgroup_walk(root: str, mount: Any, path: str, names: Any) -> List[Dict[str, str]]:
    top, point = mount
    inside = path[len(top) :] if top != "/" and (path + "/").startswith(top.rstrip("/") + "/") else path
    if top != "/" and inside == path:
        inside = "/"  # the group lies outside of what is mounted here: its own part of the tree is all there is
    here = inside.strip("/")
    levels: List[Dict[str, str]] = []
    for _ in range(32):
        directory = os.path.join(root + point, here) if here else root + point
        texts = {name: read_text(os.path.join(directory, name), 1 << 14).get("text") for name in names}
        levels.append({k: v for k, v in texts.items() if v is not None})
        if not here:
            break
        here = os.path.dirname(here)
    return levels
