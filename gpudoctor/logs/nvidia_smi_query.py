"""nvidia-smi's long answers: -q, topo -m, topo -p2p, nvlink -s."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..facts import GpuPair, NvLink
from ..patterns import Pattern
from .language import Understood
from .notebook import Notebook
from .nvidia_smi import TOLD, Devices, address

WORDS = (" :", "GPU", "Link ", "Errors", "Pages", "Reasons", "Usage", "Bit", "Volatile", "Aggregate", "Mode", "PCI", "Temperature",
         "Power", "Clocks", "Utilization", "Rows", "Product", "Processes", "NVLink", "inactive", "inActive", "Fabric")  # fmt: skip
_GPU = Pattern(r"GPU (?P<address>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])$")
_VALUE = Pattern(r"(?P<key>[A-Z][\w .()/-]{0,48}?)\s{0,40} : (?P<value>.{1,200})$")
_HEADER = Pattern(r"(?:vGPU|[A-Z])[\w /()-]{1,40}$")
_OF_POWER = Pattern(r"(?:(?:Current |Enforced |Default )?Power Limit|Power Draw) {1,40}: \d{1,4}\.\d\d W$")
"""These rows tell of themselves where they belong."""
_MAX_GPUS = 64
_MIB = 1 << 20
_PARTS = ("Volatile", "Aggregate", "PCIe Generation", "Link Width", "Single Bit", "Double Bit", "GPU Link Info")
"""Headers of a part of a section. A line without a value is a header: a section, or one of these."""

_REASONS = {
    "Idle": "idle",
    "Applications Clocks Setting": "applications-clocks-setting",
    "SW Power Cap": "sw-power-cap",
    "HW Slowdown": "hw-slowdown",
    "HW Thermal Slowdown": "hw-thermal-slowdown",
    "HW Power Brake Slowdown": "hw-power-brake",
    "Sync Boost": "sync-boost",
    "SW Thermal Slowdown": "sw-thermal-slowdown",
    "Display Clock Setting": "display-clock-setting",
}
_SLOW = ("hw-thermal-slowdown", "sw-thermal-slowdown", "hw-power-brake", "hw-slowdown", "sw-power-cap")


def _mib(value: str) -> int | None:
    found = re.match(r"(\d+) Mi?B", value)
    return int(found[1]) * _MIB if found else None


def _whole(value: str) -> int | None:
    found = re.match(r"(\d+)(?:x| C| %| MHz)?$", value)
    return int(found[1]) if found else None


def _watt(value: str) -> float | None:
    found = re.match(r"(\d+(?:\.\d+)?) W$", value)
    return float(found[1]) if found else None


def _on(value: str) -> bool | None:
    return {"Enabled": True, "Disabled": False, "Yes": True, "No": False}.get(value)


def _mode(value: str) -> str | None:
    return {
        "Default": "default", "Exclusive_Process": "exclusive-process", "Exclusive_Thread": "exclusive-thread", "Prohibited": "prohibited",
    }.get(value)  # fmt: skip


def _virtual(value: str) -> str | None:
    return {
        "None": "none",
        "Pass-Through": "pass-through",
        "VGPU": "vgpu",
        "Host VGPU": "host-vgpu",
        "Host VSGA": "host-vsga",
    }.get(value)


def _licensed(value: str) -> bool | None:
    return True if value.startswith("Licensed") else False if value.startswith("Unlicensed") else None


def _fabric(value: str) -> int | None:
    return {"Not Started": 1, "In Progress": 2, "Completed": 3}.get(value)


def _text(value: str) -> str | None:
    return None if value in ("N/A", "[N/A]", "Unknown Error") else value


_FIELDS: dict[tuple[str, str], tuple[str, Callable[[str], Any]]] = {
    ("", "Product Name"): ("name", _text),
    ("", "Persistence Mode"): ("persistence_mode", _on),
    ("", "GPU UUID"): ("uuid", _text),
    ("", "VBIOS Version"): ("vbios_version", _text),
    ("", "Minor Number"): ("minor_number", _whole),
    ("", "Compute Mode"): ("compute_mode", _mode),
    ("MIG Mode", "Current"): ("mig_mode", _on),
    ("MIG Mode", "Pending"): ("mig_mode_pending", _on),
    ("GPU Virtualization Mode", "Virtualization Mode"): ("virtualization_mode", _virtual),
    ("GPU Virtualization Mode", "Virtualization mode"): ("virtualization_mode", _virtual),
    ("vGPU Software Licensed Product", "License Status"): ("vgpu_licensed", _licensed),
    ("GRID Licensed Product", "License Status"): ("vgpu_licensed", _licensed),
    ("PCIe Generation", "Max"): ("pcie_generation_max", _whole),
    ("PCIe Generation", "Current"): ("pcie_generation", _whole),
    ("PCIe Generation", "Device Max"): ("pcie_generation_gpu_max", _whole),
    ("Link Width", "Max"): ("pcie_width_max", _whole),
    ("Link Width", "Current"): ("pcie_width", _whole),
    ("PCI", "Replays Since Reset"): ("pcie_replays", _whole),
    ("FB Memory Usage", "Total"): ("memory_total_bytes", _mib),
    ("FB Memory Usage", "Reserved"): ("memory_reserved_bytes", _mib),
    ("FB Memory Usage", "Used"): ("memory_used_bytes", _mib),
    ("FB Memory Usage", "Free"): ("memory_free_bytes", _mib),
    ("Utilization", "Gpu"): ("utilisation_gpu_percent", _whole),
    ("Utilization", "GPU"): ("utilisation_gpu_percent", _whole),
    ("ECC Mode", "Current"): ("ecc_mode", _on),
    ("ECC Mode", "Pending"): ("ecc_mode_pending", _on),
    ("Retired Pages", "Single Bit ECC"): ("retired_pages_single_bit", _whole),
    ("Retired Pages", "Double Bit ECC"): ("retired_pages_double_bit", _whole),
    ("Retired Pages", "Pending"): ("retired_pages_pending", _on),
    ("Retired Pages", "Pending Page Blacklist"): ("retired_pages_pending", _on),
    ("Remapped Rows", "Correctable Error"): ("rows_remapped_correctable", _whole),
    ("Remapped Rows", "Uncorrectable Error"): ("rows_remapped_uncorrectable", _whole),
    ("Remapped Rows", "Pending"): ("row_remap_pending", _on),
    ("Remapped Rows", "Remapping Failure Occurred"): ("row_remap_failure", _on),
    ("Temperature", "GPU Current Temp"): ("temperature_c", _whole),
    ("Temperature", "GPU Slowdown Temp"): ("temperature_slowdown_c", _whole),
    ("Temperature", "GPU Shutdown Temp"): ("temperature_shutdown_c", _whole),
    ("Power", "Power Draw"): ("power_draw_w", _watt),
    ("Power", "Average Power Draw"): ("power_draw_w", _watt),
    ("Power", "Enforced Power Limit"): ("power_limit_w", _watt),
    ("Power", "Power Limit"): ("power_limit_w", _watt),
    ("Power", "Current Power Limit"): ("power_limit_w", _watt),
    ("Power", "Default Power Limit"): ("power_default_w", _watt),
    ("Power", "Min Power Limit"): ("power_min_w", _watt),
    ("Power", "Max Power Limit"): ("power_max_w", _watt),
    ("Fabric", "State"): ("fabric_state", _fabric),
    ("Clocks", "SM"): ("clock_sm_mhz", _whole),
    ("Clocks", "Graphics"): ("clock_graphics_mhz", _whole),
    ("Max Clocks", "SM"): ("clock_sm_max_mhz", _whole),
    ("Max Clocks", "Graphics"): ("clock_graphics_max_mhz", _whole),
}
"""(section or part, key) -> the fact and how its value is read; what is no value (N/A) is None."""
_MAY_BE_NOTHING = (
    "ecc_mode",
    "retired_pages_pending",
    "row_remap_pending",
    "row_remap_failure",
    "vgpu_licensed",
    "mig_mode",
)
"""Facts of which N/A says that the product does not have them."""


class Reader:
    """Remembers of which GPU and of which section a line speaks."""

    def __init__(self, notes: Notebook, devices: Devices) -> None:
        self._notes, self._devices = notes, devices
        self._index: int | None = None
        self._addresses: list[str] = []
        self._section = self._part = self._bits = ""
        self._gpus: list[int] = []
        self._pairs: dict[tuple[int, int], dict[str, str]] = {}
        self._linked: int | None = None

    def line(self, text: str, number: int, _: Notebook) -> Understood | None:
        """The kind of a line, and what it names."""
        if found := _GPU.match(text):
            where = address(found["address"])
            if where not in self._addresses:
                self._addresses.append(where)
            self._index = min(self._addresses.index(where), _MAX_GPUS - 1)
            self._section = self._part = self._bits = ""
            self._devices.see(self._index, number, nvml_error=None, pci_address=where)
            return TOLD
        if (said := self._links(text, number) or self._matrix(text, number)) is not None:
            return said
        if (
            text
            in (
                "GPU Link Info",
                "Fabric",
                "PCIe Generation",
                "Ecc Mode",
                "ECC Mode",
                "ECC Errors",
                "Retired Pages",
                "Remapped Rows",
                "Clocks Throttle Reasons",
                "Clocks Event Reasons",
                "Power Readings",
                "GPU Power Readings",
            )
            and self._index is None
        ):
            self._index = 0  # the head is cut off
        if self._index is None:
            if not _OF_POWER.match(text):
                return None
            self._index, self._section = 0, "Power"
        if found := _VALUE.match(text):
            return self._value(found["key"].strip(), found["value"].strip(), number)
        if _HEADER.match(text):
            return self._header(text)
        return None

    def _header(self, text: str) -> Understood:
        if text in ("Single Bit", "Double Bit"):
            self._bits = text
        elif text in _PARTS:
            self._part, self._bits = text, ""
        else:
            self._section, self._part, self._bits = text, "", ""
        return TOLD

    def _value(self, key: str, value: str, number: int) -> Understood | None:
        index = self._index or 0
        section = "Power" if self._section.endswith("Power Readings") else self._section
        if section.startswith("Clocks") and section.endswith("Reasons"):
            return self._reason(index, key, value, number)
        if section == "ECC Errors":
            return self._errors(index, key, value, number)
        places = (self._part, section, "" if key != "Product Name" or not section else section)
        field = next((f for place in places if (f := _FIELDS.get((place, key)))), None)
        if field is None:
            if key == "Performance State" and re.fullmatch(r"P(?:[5-9]|1\d)", value):
                return self._idle(index)
            return TOLD
        name, read = field
        got = read(value)
        if got is not None or (name in _MAY_BE_NOTHING and value in ("N/A", "Not Supported")):
            self._devices.see(index, number, **{name: got})
        trouble = {"row_remap_failure", "row_remap_pending", "retired_pages_pending"} if got is True else set[str]()
        if (
            name in trouble
            or (name == "compute_mode" and got == "prohibited")
            or (name == "vgpu_licensed" and got is False)
        ):
            return Understood("gpu-answer", {"index": str(index), "name": key, "value": value})
        if name == "fabric_state" and got in (1, 2):
            return Understood("fabric-waits", {"index": str(index), "value": value})
        if name in ("power_limit_w", "power_default_w"):
            limit, default = self._devices.told(index, "power_limit_w"), self._devices.told(index, "power_default_w")
            if limit and default and limit < default:
                return Understood("power-limit-said", {"limit": f"{limit:.0f}", "default": f"{default:.0f}"})
        return TOLD

    def _idle(self, index: int) -> Understood | None:
        now, most = self._devices.told(index, "pcie_generation"), self._devices.told(index, "pcie_generation_max")
        if isinstance(now, int) and isinstance(most, int) and now < most:
            return Understood("benign-pcie-idle", {"index": str(index)})
        return TOLD

    def _reason(self, index: int, key: str, value: str, number: int) -> Understood | None:
        reason = _REASONS.get(key)
        if reason is None or value not in ("Active", "Not Active"):
            return TOLD
        if self._devices.told(index, "clock_event_reasons") is None:
            self._devices.see(index, number, clock_event_reasons=())
        if value == "Not Active":
            return TOLD
        self._devices.append(index, number, "clock_event_reasons", reason)
        return Understood("held-back", {"index": str(index), "reason": reason}) if reason in _SLOW else TOLD

    def _errors(self, index: int, key: str, value: str, number: int) -> Understood | None:
        if self._part not in ("Volatile", "Aggregate") or not value.isdecimal():
            return TOLD
        corrected = self._bits == "Single Bit" or "Correctable" in key
        uncorrected = self._bits == "Double Bit" or "Uncorrectable" in key
        if (self._bits and key != "Total") or not (corrected or uncorrected):
            return TOLD
        name = f"ecc_{self._part.lower()}_{'uncorrected' if uncorrected else 'corrected'}"
        self._devices.replace(index, number, name, int(value) + (self._devices.told(index, name) or 0))
        if uncorrected and int(value):
            return Understood("gpu-answer", {"index": str(index), "name": f"{self._part} {key}", "value": value})
        return TOLD

    def _links(self, text: str, number: int) -> Understood | None:
        """nvlink -s, whose GPUs are named as by -L."""
        if found := re.match(r"GPU (\d{1,3}): ", text):
            self._linked = int(found[1])
            return None
        if self._linked is None:
            return None
        if found := re.match(r"Link (\d{1,2}): (?:(<inactive>)|\d+(?:\.\d+)? GB/s)", text):
            self._devices.append(self._linked, number, "nvlinks", NvLink(index=int(found[1]), active=not found[2]))
            return Understood("nvlink-inactive", {"index": str(self._linked), "link": found[1]}) if found[2] else TOLD
        if "NVLink information as all links are inActive" in text:
            return Understood("nvlinks-inactive", {"index": str(self._linked)})
        return None

    def _matrix(self, text: str, number: int) -> Understood | None:
        """topo -m and topo -p2p."""
        words = text.split()
        if len(words) > 1 and words[0] == "GPU0" and words[1] in ("GPU1", "CPU"):
            self._gpus = [int(w[3:]) for w in words if re.fullmatch(r"GPU\d{1,2}", w)]
            return TOLD
        if not self._gpus or not words or not re.fullmatch(r"GPU\d{1,2}", words[0]):
            return None
        first, told = int(words[0][3:]), None
        for second, word in zip(self._gpus, words[1:], strict=False):
            name = {"OK": "ok", "CNS": "chipset-not-supported", "GNS": "gpu-not-supported", "TNS": "topology-not-supported",
                    "NS": "not-supported"}.get(word)  # fmt: skip
            if first < second and (name or re.fullmatch(r"NV\d{1,2}|PIX|PXB|PHB|NODE|SYS|SOC", word)):
                pair = self._pairs.setdefault((first, second), {})
                fact = "read" if name else "nvlink" if word.startswith("NV") else "topology"
                pair.setdefault(fact, name or ("ok" if fact == "nvlink" else "SYS" if word == "SOC" else word))
                told = told or (word if word in ("CNS", "GNS", "TNS", "NS", "SYS", "SOC") else None)
        pairs = tuple(GpuPair(first=a, second=b, **known) for (a, b), known in sorted(self._pairs.items()))
        if pairs:
            self._notes.revise("gpu.pairs", pairs, number)
        return Understood("gpu-pairs", {"index": str(first), "word": told}) if told else TOLD


__all__ = ["WORDS", "Reader"]
