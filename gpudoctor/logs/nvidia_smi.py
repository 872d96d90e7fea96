"""nvidia-smi: its errors, its table, its list (-L). What -q, topo and nvlink print is in nvidia_smi_query."""

from __future__ import annotations

import re
from typing import Any

from ..facts import GpuDevice, GpuProcess, MigDevice, Unread
from ..patterns import Pattern
from .language import Understood
from .notebook import NOT_HERE, Notebook

LANGUAGE = "nvidia-smi"
WORDS = (
    "NVML",
    "nvml",
    "NVIDIA",
    "version mismatch",
    "blocked by",
    "communicate",
    "GPU",
    "No devices",
    "device handle",
    "Driver Version",
    "CUDA Version",
    "Off",
    "On ",
    "MiB",
    "MB /",
    "WDDM",
    "TCC",
    "MCDM",
    "ERR!",
    "N/A",
    "running processes",
    "MIG ",
    "Disabled",
    "Enabled",
)

_ERRORS: tuple[tuple[int, str], ...] = (
    (
        18,
        r"(?i:(?:NVML: )?driver ?/ ?library version mismatch)|NVML/RM version mismatch|(?:NVML_)?ERROR_LIB_RM_VERSION_MISMATCH|NVMLError_LibRmVersionMismatch",
    ),
    (
        9,
        (
            r"NVML: Driver Not Loaded|ERROR: NVIDIA driver is not loaded|couldn.?t communicate with (?:the )?(?:latest )?NVIDIA driver|NVML_ERROR_DRIVER_NOT_LOADED|NVMLError_DriverNotLoaded"
            r"|nvidia-smi\b[^.\n]{0,60}\b(?:cannot|can not|can't|could ?n[o']t|unable to|not able to) communicate (?:to|with) (?:the )?(?:nvidia )?driver"
        ),
    ),
    (4, r"NVML: Insufficient Permissions|NVML_ERROR_NO_PERMISSION|NVMLError_NoPermission"),
    (
        12,
        r"NVML: (?:NVML )?(?:Shared )?Library Not Found|couldn.?t find (?:the )?(?:libnvidia-ml\b|nvml\.dll)|NVMLError_LibraryNotFound",
    ),
    (
        17,
        r"GPU access blocked by the operating system|NVML_ERROR_OPERATING_SYSTEM|NVMLError_OperatingSystem|NVML: (?:The operating system has blocked|N/A\b)",
    ),
    (16, r"NVML: GPU requires reset|NVMLError_ResetRequired|NVML_ERROR_RESET_REQUIRED"),
    (14, r"NVML: Corrupted infoROM|NVMLError_CorruptedInforom"),
    (13, r"NVML: Function Not Found"),
    (11, r"NVML: Interrupt Request Issue|NVMLError_IrqIssue"),
    (10, r"NVML: Timeout|NVMLError_Timeout"),
    (8, r"NVML: Insufficient External Power|NVMLError_InsufficientPower"),
    (15, r"NVML: GPU is lost|NVML_ERROR_GPU_IS_LOST|NVMLError_GpuIsLost"),
    (
        999,
        r"NVML: Unknown Error|nvmlInit(?:_v2)?(?:\(\))? failed: Unknown Error|NVML_ERROR_UNKNOWN\b|NVMLError_Unknown|(?i:failed to initiali[sz]e nvml\W{0,3} ?unknown error)",
    ),
)
"""NVML's codes, by nvidia-smi's words."""
_COMPILED = tuple((code, Pattern(pattern)) for code, pattern in _ERRORS)
_LIBRARY = Pattern(r"NVML library version: (?P<version>\d+(?:\.\d+)+)")
_LOST = Pattern(
    r"Unable to determine the device handle for (?:GPU|gpu)\s?(?P<index>\d+)?:?\s*(?P<address>[0-9A-Fa-f:.]+)?: "
    r"(?P<error>GPU is lost|Unknown Error|.*?lost.*|.*)"
)
_BANNER = Pattern(
    r"NVIDIA-SMI +(?P<smi>[\d.]+) +(?:KMD Version|Driver Version): *(?P<driver>[\d.]+)"
    r"(?: +CUDA (?:UMD )?Version: *(?P<cuda>\d+\.\d+|N/A))?"
)
_ADDRESS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_ROW = Pattern(
    rf"\|\s{{0,6}}(?P<index>\d{{1,3}})\s{{1,4}}(?P<name>\S[^|]{{0,40}}?)\s{{1,30}}(?P<persistence>On|Off|N/A|WDDM|TCC|MCDM|ERR!)\s{{0,4}}"
    rf"\|\s{{0,6}}(?P<address>{_ADDRESS})\s{{1,8}}(?P<display>On|Off|N/A|ERR!)\s{{0,4}}(?:\|\s{{0,30}}(?P<ecc>\d{{1,12}}|Off|N/A|ERR!|[\w\[\]!]{{1,12}})\s{{0,4}}\|)?"
)
_STATE = Pattern(
    r"\|\s{0,4}(?P<fan>\d{1,3}%|N/A|ERR!|\[[^\]|]{1,20}\])\s{1,6}(?P<temperature>\d{1,3}C|N/A|ERR!|\[[^\]|]{1,20}\])\s{1,6}"
    r"(?P<state>P\d{1,2}|N/A|ERR!|Unknown|\[[^\]|]{1,20}\])\s{1,24}(?P<draw>\d{1,4}W|N/A|ERR!|Unknown Error|\[[^\]|]{1,20}\])\s{0,2}/\s{0,4}"
    r"(?P<limit>\d{1,4}W|N/A|ERR!|\[[^\]|]{1,20}\])\s{0,4}\|\s{0,12}(?P<used>\d{1,7})Mi?B\s{0,2}/\s{0,8}(?P<total>\d{1,7})Mi?B\s{0,4}"
    r"(?:\|\s{0,10}(?P<busy>\d{1,3}%|N/A|ERR!)\s{1,12}(?P<mode>Default|E\. ?Process|E\. ?Thread|Exclusive_\w{1,8}|Prohibited))?"
)
_BROKEN_STATE = Pattern(r"\|\s{0,4}(?:\S{1,6}\s{1,12}){0,5}ERR!")
_MIG_MODE = Pattern(r"\|\s{0,60}\|\s{0,40}\|\s{0,40}(?P<mode>Disabled|Enabled)\*?\s{0,4}\|")
_MIG_ROW = Pattern(
    r"\|\s{1,4}(?P<index>\d{1,3})\s{1,6}(?P<gi>\d{1,3})\s{1,6}(?P<ci>\d{1,3})\s{1,6}\d{1,3}\s{1,4}\|\s{0,30}\d{1,7}MiB\s{0,2}/\s{0,8}(?P<total>\d{1,7})MiB"
)
_PROCESS = Pattern(
    r"\|\s{1,6}(?P<index>\d{1,3})\s{1,12}(?:(?:\d{1,3}|N/A)\s{1,6}(?:\d{1,3}|N/A)\s{1,20})?(?P<pid>\d{1,10})\s{1,8}"
    r"(?P<kind>C\+G|M\+C|C|G)\s{1,6}(?P<name>\S[^|]{0,80}?)\s{1,60}(?P<used>\d{1,7}MiB|N/A)\s{0,12}\|"
)
_LISTED = Pattern(r"GPU (?P<index>\d{1,3}): (?P<name>[^(]{1,60}?) \(UUID: (?P<uuid>GPU-[\w-]{4,40})\)")
_MIG_LISTED = Pattern(
    r"MIG (?P<name>\d\w?g\.\d+gb\S{0,8})\s{1,6}Device\s{1,4}\d{1,3}: \(UUID: (?P<uuid>MIG-[\w/-]{4,60})\)"
)
_MODES = {
    "Default": "default",
    "E.Process": "exclusive-process",
    "Exclusive_Process": "exclusive-process",
    "E.Thread": "exclusive-thread",
    "Exclusive_Thread": "exclusive-thread",
    "Prohibited": "prohibited",
}
_FAILED = 1
_GPU_IS_LOST = 15
_MIB = 1 << 20
_UNTOLD = dict.fromkeys(GpuDevice.__struct_fields__[1:], Unread(why=NOT_HERE, settle="nvidia-smi -q"))
TOLD = Understood("", {})
"""Understood, and nothing to quote."""


def line(text: str, number: int, notes: Notebook) -> Understood | None:
    """nvidia-smi's errors."""
    if "nvidia-container-cli" in text:
        return None  # what it says of the host is a container's matter
    for code, pattern in _COMPILED:
        if pattern.search(text):
            notes.tell("gpu.nvml_error", code, number, _FAILED)
            notes.tell("gpu.nvml_error_text", text.partition("NVML: ")[2] or text[:120], number, _FAILED)
            return Understood("nvml-failed", {"code": str(code)})
    if found := _LIBRARY.search(text):
        notes.tell("gpu.nvml_version", found["version"], number)
        return Understood("nvml-version", {"version": found["version"]})
    if re.match(r"(?:nvidia-smi: )?[\"'`(*]{0,2}No devices were found[.!]?[\"'`)*]{0,2}[.!]?$", text):
        notes.tell("gpu.nvml_error", None, number)
        notes.tell("gpu.devices", (), number, _FAILED)
        return Understood("no-devices", {})
    if (found := _LOST.search(text)) and "lost" in text:
        device = GpuDevice(index=int(found["index"] or 0), nvml_error=_GPU_IS_LOST, nvml_error_text="GPU is lost")
        notes.add("gpu.devices", device, number, _FAILED)
        return Understood("gpu-lost", {"address": found["address"] or ""}, "gpu-faults")
    return None


class Devices:
    """The GPUs that a text tells of, by index: the table, -L and -q tell parts of the same."""

    def __init__(self, notes: Notebook) -> None:
        self._notes = notes
        self._known: dict[int, dict[str, Any]] = {}

    def see(self, index: int, line: int, **told: Any) -> None:
        """What a line tells of a GPU; what was told before stays: a text may hold several runs."""
        known = self._known.setdefault(index, {})
        for name, value in told.items():
            known.setdefault(name, value)
        self._write(line)

    def append(self, index: int, line: int, name: str, item: Any) -> None:
        """One more item of a list."""
        items = self._known.setdefault(index, {}).get(name) or ()
        if item not in items:
            self._known[index][name] = (*items, item)
        self._write(line)

    def replace(self, index: int, line: int, name: str, value: Any) -> None:
        """What is known by now, where lines tell parts of it."""
        self._known.setdefault(index, {})[name] = value
        self._write(line)

    def everywhere(self, line: int, **told: Any) -> None:
        """What a line tells of all GPUs."""
        for index in list(self._known):
            self.see(index, line, **told)

    def told(self, index: int, name: str) -> Any:
        """What was told of it; None: nothing."""
        return self._known.get(index, {}).get(name)

    def _write(self, line: int) -> None:
        devices = tuple(GpuDevice(index=i, **{**_UNTOLD, **self._known[i]}) for i in sorted(self._known))
        self._notes.revise("gpu.devices", devices, line)


class Reader:
    """Reads tables line by line; of which GPU a row speaks is what it remembers."""

    def __init__(self, notes: Notebook, devices: Devices) -> None:
        self._notes, self._devices = notes, devices
        self._index: int | None = None
        self._table = False

    def line(self, text: str, number: int, notes: Notebook) -> Understood | None:
        """The kind of a line, and what it names."""
        if (said := line(text, number, notes)) is not None:
            return said
        if found := _BANNER.search(text):
            return self._banner(found, number)
        if found := _LISTED.search(text):
            self._index = int(found["index"])
            self._devices.see(self._index, number, name=found["name"].strip(), uuid=found["uuid"])
            return Understood("gpu", found.groupdict())
        if (found := _MIG_LISTED.search(text)) and self._index is not None:
            self._devices.see(self._index, number, mig_mode=True)
            self._devices.append(self._index, number, "mig_devices", MigDevice(name=found["name"], uuid=found["uuid"]))
            return TOLD
        return self._row(text, number) if text.startswith("|") else None

    def _banner(self, found: re.Match[str], number: int) -> Understood:
        notes = self._notes
        notes.tell("gpu.nvml_error", None, number)
        notes.tell("gpu.driver_version", found["driver"], number)
        if found["cuda"] and found["cuda"] != "N/A":
            major, _, minor = found["cuda"].partition(".")
            notes.tell("gpu.cuda_driver_version", int(major) * 1000 + int(minor) * 10, number)
        self._table, self._index = True, None
        return Understood("nvidia-smi", {k: v for k, v in found.groupdict().items() if v})

    def _row(self, text: str, number: int) -> Understood | None:
        if found := _ROW.match(text):
            return self._gpu(found, number)
        if (found := _STATE.match(text)) and self._index is not None:
            return self._state(found, text, number)
        if (found := _MIG_ROW.match(text)) is not None:
            device = MigDevice(
                gpu_instance=int(found["gi"]), compute_instance=int(found["ci"]), memory_total_bytes=int(found["total"]) * _MIB
            )  # fmt: skip
            self._devices.append(int(found["index"]), number, "mig_devices", device)
            return TOLD
        if (found := _MIG_MODE.match(text)) and self._index is not None:
            told = {"mig_mode": found["mode"] == "Enabled"}
            self._devices.see(self._index, number, **told, **({} if told["mig_mode"] else {"mig_devices": None}))
            return TOLD
        if found := _PROCESS.match(text):
            return self._process(found, number)
        if "No running processes found" in text:
            self._devices.everywhere(number, processes=())
            return TOLD
        if "No MIG devices found" in text:
            for index in [i for i in range(64) if self._devices.told(i, "mig_mode")]:
                self._devices.see(index, number, mig_devices=())
            return TOLD
        if "GPU is lost" in text:
            return Understood("gpu-lost", {"index": str(self._index)} if self._index is not None else {}, "gpu-faults")
        if self._index is not None and _BROKEN_STATE.match(text):
            return Understood("smi-error", {"index": str(self._index)}, "gpu-faults")
        return None

    def _gpu(self, found: re.Match[str], number: int) -> Understood:
        self._index = int(found["index"])
        name, ecc, mode = found["name"].strip(), found["ecc"], found["persistence"]
        values = {"index": found["index"], "name": name, "address": found["address"]}
        if name == "ERR!" or mode == "ERR!":
            self._devices.see(self._index, number, pci_address=address(found["address"]))
            return Understood("smi-error", values, "gpu-faults")
        told: dict[str, Any] = {"nvml_error": None, "name": name, "pci_address": address(found["address"])}
        if mode in ("On", "Off"):
            told["persistence_mode"] = mode == "On"
        if found["display"] in ("On", "Off"):
            told["display_attached"] = found["display"] == "On"
        if ecc is not None and ecc.isdecimal():
            told |= {"ecc_mode": True, "ecc_volatile_uncorrected": int(ecc)}
        elif ecc in ("Off", "N/A"):
            told |= {"ecc_mode": False if ecc == "Off" else None, "ecc_volatile_uncorrected": None}
        self._devices.see(self._index, number, **told)
        return Understood("gpu", values)

    def _state(self, found: re.Match[str], text: str, number: int) -> Understood:
        index = self._index or 0
        told: dict[str, Any] = {
            "memory_used_bytes": int(found["used"]) * _MIB,
            "memory_total_bytes": int(found["total"]) * _MIB,
        }
        for field, value, unit, kind in (
            ("temperature_c", found["temperature"], "C", int),
            ("power_draw_w", found["draw"], "W", float),
            ("power_limit_w", found["limit"], "W", float),
            ("utilisation_gpu_percent", found["busy"], "%", int),
        ):
            if value is not None and value.rstrip(unit).isdecimal():
                told[field] = kind(value.rstrip(unit))
        mode = _MODES.get((found["mode"] or "").replace(" ", ""))
        if mode is not None:
            told["compute_mode"] = mode
        self._devices.see(index, number, **told)
        if "ERR!" in text or "Unknown Error" in text:
            self._devices.replace(index, number, "nvml_error", Unread(why="nvidia-smi shows ERR!", settle="nvidia-smi"))
            return Understood("smi-error", {"index": str(index)}, "gpu-faults")
        return Understood("gpu-state", {"index": str(index), "used": found["used"], "total": found["total"]})

    def _process(self, found: re.Match[str], number: int) -> Understood:
        used = found["used"]
        process = GpuProcess(
            pid=int(found["pid"]),
            kind="graphics" if found["kind"] == "G" else "compute",
            memory_used_bytes=int(used[:-3]) * _MIB if used != "N/A" else Unread(why="nvidia-smi shows N/A"),
            name=found["name"].strip(),
        )
        self._devices.append(int(found["index"]), number, "processes", process)
        return Understood("gpu-process", {k: found[k] for k in ("index", "pid", "name", "used")})


def address(text: str) -> str:
    """'0000:3b:00.0' for '00000000:3B:00.0'."""
    domain, _, rest = text.lower().partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest}"
