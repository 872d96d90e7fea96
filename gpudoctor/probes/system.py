"""Kernel, processors, memory, limits, security modules, and the kernel's log."""

from __future__ import annotations

import errno
import re
from typing import Any

import msgspec

from ..facts import KernelEvent, NumaNode, System, Unread, unread_all
from . import container, kernel_log
from .ask import Answers, Task, reason

TASK: Task = ("system.system", {})
AGAIN: tuple[Task, ...] = (("system.cgroup", {}), kernel_log.TASK)
"""What is asked once more where something died: was it killed, did the kernel say why?"""

_FLAGS = (
    *(
        "sse4_1",
        "sse4_2",
        "avx",
        "f16c",
        "fma",
        "avx2",
        "avx512f",
        "avx512_vnni",
        "avx512_bf16",
        "amx_tile",
        "avx_vnni",
    ),
    *("asimd", "asimddp", "sve", "sve2", "bf16"),
)
_PARAMETERS = re.compile(
    r"(iommu|intel_iommu|amd_iommu|pci|pcie_\w+|lockdown|module_blacklist|modprobe\.blacklist|rd\.driver\.blacklist"
    r"|rdblacklist)[=.]|nvidia|nouveau|nova|vfio"
)
_UNLIMITED_V1 = 1 << 62


def read(answers: Answers) -> System:
    """The system as the patient sees it."""
    got: dict[str, Any] | None = answers.last("system")
    if got is None:
        return unread_all(System, answers.unread(TASK[0]))
    os_release = got["os_release"].get("text")
    model = got["device_tree"].get("text", "")
    marks = got["marks"]
    user = got["user"]
    nobody = Unread(why="this system has no user ids")
    flags = _cpu_flags(got["cpuinfo"])
    return System(
        system=got["system"],
        kernel=got["release"],
        machine=got["machine"],
        distribution=_distribution(os_release) if os_release is not None else None,
        container=container.kind(answers),
        wsl="/dev/dxg" in marks or "microsoft" in got["release"].lower(),
        tegra="/etc/nv_tegra_release" in marks or "jetson" in model.lower() or "tegra" in got["release"].lower(),
        hostname=got["hostname"],
        user_id=user.get("uid", nobody),
        user_name=user.get("name", nobody),
        home=user.get("home", nobody),
        groups=tuple(user["groups"]) if user else nobody,
        cpu_model=_cpu_model(got["cpuinfo"]),
        cpu_flags=flags if isinstance(flags, Unread) else tuple(f for f in _FLAGS if f in flags),
        hypervisor=flags if isinstance(flags, Unread) else "hypervisor" in flags,
        machine_vendor=_line(got["dmi_vendor"], "/sys/class/dmi/id/sys_vendor"),
        machine_product=_line(got["dmi_product"], "/sys/class/dmi/id/product_name"),
        cores=got["cores"] or Unread(why="the processors can't be counted", settle="nproc --all"),
        cores_usable=got["cores_usable"] or Unread(why="this system has no affinity", settle="nproc"),
        cpus_usable=_cpus_usable(got["status"]),
        numa_nodes=_numa_nodes(got["nodes"]),
        memory_nodes_usable=_memory_nodes(got),
        cpu_quota_cores=_cpu_quota(got["cgroup"]),
        **_memory(got),
        **_limits(got["limits"]),
        **_security(got),
        kernel_parameters=_parameters(got["cmdline"]),
        uptime_seconds=_number(got["uptime"].get("text"), Unread(why="/proc/uptime can't be read", settle="uptime")),
        suspends=_suspends(got),
        **_jit_cache(answers),
        kernel_log=kernel_log.read(answers),
    )


def _jit_cache(answers: Answers) -> dict[str, Any]:
    got: dict[str, Any] | None = answers.last("jit_cache")
    if got is None:
        return dict.fromkeys(("jit_cache", "jit_cache_writable"), answers.unread("environments.home"))
    writable = got.get("writable", Unread(why="there is no home directory"))
    return {"jit_cache": got["path"], "jit_cache_writable": writable}


def read_again(before: System, answers: Answers) -> System:
    """`before` with what was counted and logged since."""
    killed = _oom_kills(answers.last("cgroup") or {})
    log = kernel_log.read(answers)
    return msgspec.structs.replace(
        before,
        oom_kills_during=_since(before.oom_kills, killed),
        kernel_log_during=_new_lines(before.kernel_log, log),
    )


def _since(before: int | Unread | None, after: int | Unread | None) -> int | Unread | None:
    if isinstance(before, int) and isinstance(after, int):
        return max(0, after - before)
    return before if isinstance(before, Unread) else after if isinstance(after, Unread) else None


def _new_lines(
    before: tuple[KernelEvent, ...] | Unread, after: tuple[KernelEvent, ...] | Unread
) -> tuple[KernelEvent, ...] | Unread:
    if isinstance(before, Unread) or isinstance(after, Unread):
        return before if isinstance(before, Unread) else after
    return tuple(event for event in after if event not in before)


def _number(text: str | None, otherwise: Unread) -> float | Unread:
    match = re.match(r"\s*(\d+(\.\d+)?)", text or "")
    return float(match.group(1)) if match else otherwise


def _suspends(got: dict[str, Any]) -> int | Unread | None:
    """The kernel's own count; an older kernel shows it to root alone, among the files for debugging."""
    count = got["suspends"].get("text", "").strip()
    older = re.search(r"^success: (\d+)", got["suspends_older"].get("text", ""), re.MULTILINE)
    if count.isdigit() or older:
        return int(count if count.isdigit() else older.group(1))  # type: ignore[union-attr]
    if "text" in got["sleep_states"] and not got["sleep_states"]["text"].split():
        return None
    why = f"/sys/power/suspend_stats/success: {reason(got['suspends'].get('errno', errno.EINVAL))}"
    return Unread(why=why, settle="sudo dmesg | grep 'PM: suspend exit'")


def _distribution(os_release: str) -> str | None:
    match = re.search(r'^ID="?([\w.-]+)', os_release, re.MULTILINE)
    return match.group(1) if match else None


def _line(raw: dict[str, Any], path: str) -> str | Unread | None:
    """The text of a file of one line; None where there is no such file."""
    if "text" in raw:
        return str(raw["text"]).strip("\n \0")
    return None if raw["errno"] in _ABSENT else Unread(why=f"{path}: {reason(raw['errno'])}", settle=f"sudo cat {path}")


_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ENODEV)


# ----------------------------------------------------------------------------- processors


def _cpu_field(raw: dict[str, Any], *names: str) -> str | None:
    match = re.search(rf"^({'|'.join(names)})\s*:\s*(.*)$", raw.get("text", ""), re.MULTILINE)
    return match.group(2) if match else None


def _cpu_flags(raw: dict[str, Any]) -> set[str] | Unread:
    found = _cpu_field(raw, "flags", "Features")
    return Unread(why="/proc/cpuinfo names no flags", settle="lscpu") if found is None else set(found.split())


def _cpu_model(raw: dict[str, Any]) -> str | Unread | None:
    if "text" not in raw:
        return Unread(why=f"/proc/cpuinfo: {reason(raw['errno'])}", settle="lscpu")
    return _cpu_field(raw, "model name", "Model")


def _cpus_usable(status: dict[str, Any]) -> str | Unread:
    found = _CPU_LIST.search(status.get("text", ""))
    return found.group(1) if found else Unread(why="/proc/self/status names no processors", settle="taskset -pc $$")


def _numa_nodes(got: Any) -> tuple[NumaNode, ...] | Unread | None:
    if isinstance(got, int):
        return None if got in _ABSENT else Unread(why=f"/sys/devices/system/node: {reason(got)}", settle="numactl -H")
    return tuple(_numa_node(number, files) for number, files in got)


def _numa_node(number: int, files: dict[str, dict[str, Any]]) -> NumaNode:
    unread = Unread(why=f"/sys/devices/system/node/node{number} can't be read", settle="numactl -H")
    memory = re.search(r"MemTotal:\s+(\d+) kB", files["meminfo"].get("text", ""))
    far = files["distance"].get("text", "").split()
    return NumaNode(
        index=number,
        cpus=files["cpulist"]["text"].strip() if "text" in files["cpulist"] else unread,
        memory_total_bytes=int(memory.group(1)) << 10 if memory else unread,
        distances=tuple(map(int, far)) if far and all(f.isdigit() for f in far) else unread,
    )


def _memory_nodes(got: dict[str, Any]) -> str | Unread | None:
    found = re.search(r"^Mems_allowed_list:\s*(\S+)$", got["status"].get("text", ""), re.MULTILINE)
    if found:
        return found.group(1)
    return None if "text" in got["status"] else Unread(why="/proc/self/status can't be read", settle="numactl -s")


_CPU_LIST = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)


def _parameters(raw: dict[str, Any]) -> tuple[str, ...] | Unread:
    text = raw.get("text")
    if text is None:
        return Unread(why=f"/proc/cmdline: {reason(raw['errno'])}", settle="cat /proc/cmdline")
    return tuple(word for word in text.split(" -- ")[0].split() if _PARAMETERS.match(word))


# ----------------------------------------------------------------------------- memory and control groups


def _memory(got: dict[str, Any]) -> dict[str, Any]:
    info = got["meminfo"].get("text", "")
    pages, size = got["memory_pages"]
    total = _kib(info, "MemTotal") or (pages * size if pages and size else None)
    unread = Unread(why="/proc/meminfo can't be read", settle="free -b")
    shm = got["shm"]
    absent = (
        None if shm.get("errno") in _ABSENT else Unread(why="the room in /dev/shm can't be read", settle="df /dev/shm")
    )
    return {
        "memory_total_bytes": total or unread,
        "memory_available_bytes": _kib(info, "MemAvailable") or unread,
        "memory_limit_bytes": _memory_limit(got["cgroup"]),
        "oom_kills": _oom_kills(got["cgroup"]),
        "shm_total_bytes": shm.get("total", absent),
        "shm_free_bytes": shm.get("free", absent),
    }


def _kib(meminfo: str, name: str) -> int | None:
    match = re.search(rf"^{name}:\s*(\d+) kB", meminfo, re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None


_NO_CGROUP = Unread(why="the control groups of this process can't be read", settle="cat /proc/self/cgroup")


def _levels(cgroup: dict[str, Any], controller: str) -> list[dict[str, str]] | Unread:
    """The files of the process's own group first, then of those above it; of version 2 where 1 has no such tree."""
    found = cgroup.get("levels")
    if found is None:
        return _NO_CGROUP
    levels: list[dict[str, str]] = found.get(controller) or found.get("") or []
    return levels


def _cpu_quota(cgroup: dict[str, Any]) -> float | Unread | None:
    levels = _levels(cgroup, "cpu")
    if isinstance(levels, Unread):
        return levels
    quotas = []
    for level in levels:
        words = level.get("cpu.max", "").split()
        if not words:
            words = [level.get("cpu.cfs_quota_us", "").strip(), level.get("cpu.cfs_period_us", "").strip()]
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            quotas.append(int(words[0]) / int(words[1]))
    return min(quotas, default=None)


def _memory_limit(cgroup: dict[str, Any]) -> int | Unread | None:
    levels = _levels(cgroup, "memory")
    if isinstance(levels, Unread):
        return levels
    texts = [level.get("memory.max") or level.get("memory.limit_in_bytes") or "" for level in levels]
    limits = [int(t) for t in texts if t.strip().isdigit()]
    return min((n for n in limits if n < _UNLIMITED_V1), default=None)


def _oom_kills(cgroup: dict[str, Any]) -> int | Unread | None:
    levels = _levels(cgroup, "memory")
    if isinstance(levels, Unread):
        return levels
    own = levels[0] if levels else {}
    match = re.search(
        r"^oom_kill (\d+)$", own.get("memory.events") or own.get("memory.oom_control") or "", re.MULTILINE
    )
    return int(match.group(1)) if match else None


_LIMITS = {
    "limit_memlock_bytes": "MEMLOCK",
    "limit_address_space_bytes": "AS",
    "limit_open_files": "NOFILE",
    "limit_processes": "NPROC",
    "limit_stack_bytes": "STACK",
    "limit_data_bytes": "DATA",
}


def _limits(got: dict[str, int | None]) -> dict[str, Any]:
    unread = Unread(why="this system has no such limit")
    return {field: got.get(name, unread) for field, name in _LIMITS.items()}


# ----------------------------------------------------------------------------- security modules


def _security(got: dict[str, Any]) -> dict[str, Any]:
    lockdown = _line(got["lockdown"], "/sys/kernel/security/lockdown")
    chosen = re.search(r"\[(\w+)\]", lockdown) if isinstance(lockdown, str) else None
    selinux = _line(got["selinux"], "/sys/fs/selinux/enforce")
    seccomp = re.search(r"^Seccomp:\s*(\d)", got["status"].get("text", ""), re.MULTILINE)
    return {
        "lockdown": chosen.group(1) if chosen else lockdown if not isinstance(lockdown, str) else None,
        "selinux": {"1": "enforcing", "0": "permissive"}.get(selinux) if isinstance(selinux, str) else selinux,
        "apparmor_profile": _apparmor(got),
        "seccomp": int(seccomp.group(1)) if seccomp else None,
        "secure_boot": _secure_boot(got),
    }


def _apparmor(got: dict[str, Any]) -> str | Unread | None:
    enabled = _line(got["apparmor"], "/sys/module/apparmor/parameters/enabled")
    if enabled is None or enabled == "N":
        return None
    return _line(got["apparmor_profile"], "/proc/self/attr/current")


def _secure_boot(got: dict[str, Any]) -> bool | Unread | None:
    """The variable is four bytes of attributes and one of value."""
    raw = got["secure_boot"]
    if isinstance(raw, list):
        return (
            raw[4] == 1 if len(raw) == 5 else Unread(why="SecureBoot has an unknown form", settle="mokutil --sb-state")
        )
    if not got["efi"] or raw["errno"] in _ABSENT:
        return None
    return Unread(why=f"the variable SecureBoot: {reason(raw['errno'])}", settle="mokutil --sb-state")
