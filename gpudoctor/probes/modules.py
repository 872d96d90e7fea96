"""The kernel side of the driver: what it runs with, what lies on disk, what it is kept from."""

from __future__ import annotations

import errno
import re
from typing import Any

from ..facts import BuildLog, DkmsBuild, DriverGpu, KernelModule, LogEvent, Major, ModuleFile, Parameter, Unread
from ..logs import dkms
from ..patterns import Pattern
from .ask import Answers, Task, reason

TASK: Task = ("modules.modules", {})
_PARAMETERS = (
    "ModifyDeviceFiles",
    "DeviceFileUID",
    "DeviceFileGID",
    "DeviceFileMode",
    "NvLinkDisable",
    "RmProfilingAdminOnly",
    "PreserveVideoMemoryAllocations",
    "DynamicPowerManagement",
    "EnableStreamMemOPs",
    "EnablePCIERelaxedOrderingMode",
    "EnableResizableBar",
    "EnableGpuFirmware",
    "OpenRmEnableUnsupportedGpus",
    "GrdmaPciTopoCheckOverride",
    "CoherentGPUMemoryMode",
    "RegistryDwords",
    "RegistryDwordsPerDevice",
    "GpuBlacklist",
    "ExcludedGpus",
)
"""Those that decide what works, and how fast."""
_MAJOR = re.compile(r"^\s*(\d+) (nvidia[\w-]*)$", re.MULTILINE)
_FIELDS = (
    "loaded",
    "parameters",
    "gpus",
    "capabilities",
    "majors",
    "kernels_on_disk",
    "module_files",
    "kernel_headers",
    "dkms",
    "build_log",
    "blacklisted",
    "switched_off",
)


def read(answers: Answers) -> dict[str, Any]:
    """The fields of Driver that this task answers."""
    got: dict[str, Any] | None = answers.last("modules")
    if got is None:
        return dict.fromkeys(_FIELDS, answers.unread(TASK[0]))
    devices = got["devices"].get("text")
    blacklisted = got["blacklisted"]
    return {
        "loaded": _loaded(got["loaded"]),
        "parameters": _parameters(got["params"]),
        "gpus": _gpus(got["gpus"]),
        "capabilities": _capabilities(got["nvidia"]),
        "majors": _unread("/proc/devices", got["devices"]["errno"], "grep nvidia /proc/devices")
        if devices is None
        else tuple(Major(name=name, number=int(number)) for number, name in _MAJOR.findall(devices)),
        **_disk(got["disk"]),
        "dkms": _dkms(got["dkms"]),
        "build_log": _build_log(got["build_log"]),
        "blacklisted": tuple(blacklisted)
        if isinstance(blacklisted, list)
        else _unread("/etc/modprobe.d", blacklisted, "modprobe --showconfig | grep -E 'nvidia|nouveau'"),
        "switched_off": _switched_off(got),
    }


def _unread(path: str, number: int, settle: str | None = None) -> Unread:
    return Unread(why=f"{path}: {reason(number)}", settle=settle)


def _loaded(listed: Any) -> tuple[KernelModule, ...] | Unread:
    if isinstance(listed, int):
        return _unread("/sys/module", listed, "lsmod")
    return tuple(
        KernelModule(
            name=one["name"],
            version=_text(one["version"]),
            source_version=_text(one["srcversion"]),
            taint=_text(one["taint"]),
        )
        for one in listed
    )


def _text(got: dict[str, Any]) -> str | Unread | None:
    """A small file's text; None where there is none."""
    if "text" in got:
        return str(got["text"]).strip()
    return None if got["errno"] == errno.ENOENT else Unread(why=reason(got["errno"]))


def _parameters(got: dict[str, Any]) -> tuple[Parameter, ...] | Unread | None:
    if "text" not in got:
        return (
            None
            if got["errno"] == errno.ENOENT
            else _unread("/proc/driver/nvidia/params", got["errno"], "sudo cat /proc/driver/nvidia/params")
        )
    told = dict(line.split(": ", 1) for line in got["text"].splitlines() if ": " in line)
    return tuple(Parameter(name=name, value=told[name].strip().strip('"')) for name in _PARAMETERS if name in told)


def _gpus(listed: Any) -> tuple[DriverGpu, ...] | Unread | None:
    if isinstance(listed, int):
        return (
            None
            if listed == errno.ENOENT
            else _unread("/proc/driver/nvidia/gpus", listed, "sudo ls /proc/driver/nvidia/gpus")
        )
    return tuple(_gpu(address, got) for address, got in sorted(listed.items()))


def _gpu(address: str, got: dict[str, Any]) -> DriverGpu:
    if "text" not in got:
        path = f"/proc/driver/nvidia/gpus/{address}/information"
        why = _unread(path, got["errno"], f"sudo cat {path}")
        return DriverGpu(pci_address=address, model=why, uuid=why, minor=why, excluded=why, firmware=why)
    told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in got["text"].splitlines())}
    uuid, minor = told.get("GPU UUID"), told.get("Device Minor", "")
    return DriverGpu(
        pci_address=told.get("Bus Location", address).lower(),
        model=told.get("Model"),
        uuid=None if uuid is None or "?" in uuid else uuid,
        minor=int(minor) if minor.isdigit() else None,
        excluded=told["GPU Excluded"] == "Yes" if "GPU Excluded" in told else None,
        firmware=told.get("GPU Firmware"),
    )


def _capabilities(listed: Any) -> bool | Unread:
    if isinstance(listed, int):
        return False if listed == errno.ENOENT else _unread("/proc/driver/nvidia", listed)
    return "capabilities" in listed


def _disk(got: dict[str, Any]) -> dict[str, Any]:
    if "errno" in got:
        why = _unread("/lib/modules", got["errno"], "find /lib/modules/$(uname -r) -name 'nvidia*.ko*', on the host")
        return {"kernels_on_disk": why, "module_files": why, "kernel_headers": why}
    return {
        "kernels_on_disk": tuple(got["kernels"]),
        "module_files": tuple(ModuleFile(kernel=f["kernel"], path=f["path"]) for f in got["files"]),
        "kernel_headers": got["headers"],
    }


def _dkms(listed: Any) -> tuple[DkmsBuild, ...] | Unread:
    """No directory of dkms is the same as nothing in it."""
    if isinstance(listed, int):
        return () if listed == errno.ENOENT else _unread("/var/lib/dkms", listed, "sudo dkms status")
    return tuple(DkmsBuild(version=one["version"], kernel=one["kernel"]) for one in listed)


_TOLD = ("headers-missing", "compiler-differs", "no-compiler")
_COMPLAINTS: tuple[tuple[str, Pattern | re.Pattern[str]], ...] = (
    ("no-room", re.compile(r"No space left on device|Cannot allocate memory|memory exhausted|Killed signal")),
    *((kind.name, kind.compiled) for kind in dkms.LANGUAGE.kinds if kind.name in _TOLD),
    ("no-compiler", re.compile(r"\b(g?cc|clang|ld|make)(-\d+)?: (command )?(not found|No such file)")),
    ("error", re.compile(r": (fatal )?error: |\bERROR: modpost: |\*\*\* \[.*\] Error \d")),
)
_MOST_COMPLAINTS, _LINE = 12, 300


def _build_log(got: dict[str, Any] | None) -> BuildLog | Unread | None:
    if got is None:
        return None
    if "errno" in got:
        return _unread("/var/lib/dkms", got["errno"], "sudo tail -n 50 /var/lib/dkms/nvidia/*/build/make.log")
    found = []
    for line in got["text"].splitlines():
        kind = next((name for name, form in _COMPLAINTS if form.search(line[:_LINE])), None)
        if kind is not None:
            found.append(LogEvent(kind=kind, text=line[:_LINE].strip()))
    others = [e for e in found if e.kind != "error"]
    return BuildLog(
        path=got["path"],
        version=got["version"],
        kernel=got["kernel"],
        complaints=tuple([*others, *(e for e in found if e.kind == "error")][:_MOST_COMPLAINTS]),
    )


def _switched_off(got: dict[str, Any]) -> str | Unread | None:
    """bbswitch's 'OFF' and prime-select's 'off', each a word at the end of its file."""
    for path, key, word in (("/proc/acpi/bbswitch", "bbswitch", "OFF"), ("/etc/prime-discrete", "prime", "off")):
        text = got[key].get("text")
        if text is not None and text.split()[-1:] == [word]:
            return f"{path}: {text.strip()}"
    unread = [got[key]["errno"] for key in ("bbswitch", "prime") if got[key].get("errno", errno.ENOENT) != errno.ENOENT]
    return Unread(why=f"/proc/acpi/bbswitch, /etc/prime-discrete: {reason(unread[0])}") if unread else None
