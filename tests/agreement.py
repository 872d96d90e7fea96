"""What others say of the GPUs, in the words of our facts, and where it differs."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Any

Said = dict[str, Any]
"""Field of a GPU's facts, as they are written -> value. A field that is not said is left out."""

_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_FABRIC = {"Not Started": 1, "In Progress": 2, "Completed": 3}
P2P = {
    "OK": "ok",
    "CNS": "chipset-not-supported",
    "GNS": "gpu-not-supported",
    "TNS": "topology-not-supported",
    "DR": "disabled-by-regkey",
    "NS": "not-supported",
    "U": "unknown",
}


def _number(text: str) -> float:
    return float(text.split()[0])


def _integer(text: str) -> int:
    return int(text.split()[0].rstrip("x"), 0)


def _on(text: str) -> bool:
    return {"Enabled": True, "Disabled": False, "Yes": True, "No": False}[text]


def _word(text: str) -> str:
    return text.lower().replace("_", "-").replace(" ", "-")


_XML: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("name", "product_name", str),
    ("uuid", "uuid", str),
    ("pci_address", "pci/pci_bus_id", lambda text: text.lower()[-12:]),
    ("serial", "serial", str),
    ("board_id", "board_id", _integer),
    ("minor_number", "minor_number", _integer),
    ("vbios_version", "vbios_version", str),
    ("gsp_version", "gsp_firmware_version", str),
    ("persistence_mode", "persistence_mode", _on),
    ("display_attached", "display_attached", _on),
    ("compute_mode", "compute_mode", _word),
    ("mig_mode", "mig_mode/current_mig", _on),
    ("mig_mode_pending", "mig_mode/pending_mig", _on),
    ("ecc_mode", "ecc_mode/current_ecc", _on),
    ("ecc_mode_pending", "ecc_mode/pending_ecc", _on),
    ("row_remap_pending", "remapped_rows/remapped_row_pending", _on),
    ("row_remap_failure", "remapped_rows/remapped_row_failure", _on),
    ("virtualization_mode", "gpu_virtualization_mode/virtualization_mode", _word),
    ("c2c", "c2c_mode", _on),
    ("recovery_action", "gpu_recovery_action", _word),
    ("memory_total_mib", "fb_memory_usage/total", _integer),
    ("bar1_mib", "bar1_memory_usage/total", _integer),
    ("power_limit_w", "gpu_power_readings/current_power_limit", _number),
    ("power_default_w", "gpu_power_readings/default_power_limit", _number),
    ("power_min_w", "gpu_power_readings/min_power_limit", _number),
    ("power_max_w", "gpu_power_readings/max_power_limit", _number),
    ("clock_graphics_max_mhz", "max_clocks/graphics_clock", _integer),
    ("clock_sm_max_mhz", "max_clocks/sm_clock", _integer),
    ("clock_memory_max_mhz", "max_clocks/mem_clock", _integer),
    ("pcie_generation_max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen", _integer),
    ("pcie_generation_gpu_max", "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", _integer),
    ("pcie_width_max", "pci/pci_gpu_link_info/link_widths/max_link_width", _integer),
    ("fabric_state", "fabric/state", lambda text: _FABRIC[text]),
    ("temperature_c", "temperature/gpu_temp", _integer),
)
"""Our field, nvidia-smi's place for it, and how it is read. What is 'N/A' there is not said."""


def smi(text: str) -> list[Said]:
    """The GPUs of `nvidia-smi -q -x`, in NVML's order."""
    return [_gpu(gpu) for gpu in ET.fromstring(text).iter("gpu")]


def _gpu(gpu: ET.Element) -> Said:
    said: Said = {}
    for field, place, read in _XML:
        words = (gpu.findtext(place) or "").strip()
        if words and words not in ("N/A", "None", "[N/A]", "Unknown Error", "Insufficient Permissions"):
            said[field] = read(words)
        elif words == "None" and field in ("virtualization_mode", "recovery_action"):
            said[field] = "none"
    rows = {name: gpu.findtext(f"remapped_rows/remapped_row_{name}") for name in ("corr", "unc")}
    for name, field in (("corr", "rows_remapped_correctable"), ("unc", "rows_remapped_uncorrectable")):
        inactive = gpu.findtext(f"remapped_rows/remapped_row_{name}_inactive")
        if (rows[name] or "").isdigit() and inactive in (None, "0"):
            said[field] = int(rows[name] or 0)
    if said.get("mig_mode") is True:
        said["mig_instances"] = [
            (_integer(m.findtext("gpu_instance_id", "")), _integer(m.findtext("compute_instance_id", "")))
            for m in gpu.iter("mig_device")
        ]
    return said


def links(text: str) -> dict[int, dict[int, float | None]]:
    """GPU -> link -> GB/s, None where it is inactive, of `nvidia-smi nvlink -s`."""
    gpus: dict[int, dict[int, float | None]] = {}
    current: dict[int, float | None] = {}
    for line in text.splitlines():
        if head := re.match(r"GPU (\d+):", line):
            current = gpus.setdefault(int(head[1]), {})
        elif link := re.match(r"\s+Link (\d+): (?:([\d.]+) GB/s|<inactive>)", line):
            current[int(link[1])] = float(link[2]) if link[2] else None
    return gpus


def matrix(text: str) -> dict[tuple[int, int], str]:
    """(GPU, GPU) -> the word between them, each pair once, of `nvidia-smi topo -m` or `-p2p`."""
    lines = [[cell.strip() for cell in _ESCAPE.sub("", line).split("\t")] for line in text.splitlines()]
    header = next(line for line in lines if "GPU0" in line[1:])
    columns = {position: int(name[3:]) for position, name in enumerate(header) if re.fullmatch(r"GPU\d+", name)}
    found = {}
    for row in lines:
        if row is not header and re.fullmatch(r"GPU\d+", row[0]):
            first = int(row[0][3:])
            found.update({(first, c): row[p] for p, c in columns.items() if first < c and p < len(row)})
    return found


def ours(gpu: Mapping[str, Any]) -> Said:
    """A GPU of our report in the units that others use."""
    said = {name: value for name, value in gpu.items() if name != "is"}
    for name in ("memory_total", "bar1"):
        size = said.get(f"{name}_bytes")
        said[f"{name}_mib"] = size >> 20 if isinstance(size, int) else size
    if isinstance(devices := said.get("mig_devices"), list):
        said["mig_instances"] = [(m["gpu_instance"], m["compute_instance"]) for m in devices]
    return said


TOLERANCE = {"temperature_c": 15.0, "power_limit_w": 0.01, "power_default_w": 0.01, "power_min_w": 0.01, "power_max_w": 0.01}  # fmt: skip
"""Of what moves, and of what is rounded."""


def differences(of: str, mine: Said, theirs: Said, who: str) -> list[str]:
    """One line for each field that both say, and say differently; what we could not read counts where they could."""
    different = []
    for field, value in theirs.items():
        if field not in mine:
            different.append(f"{of} {field}: gpudoctor has no such field, {who} says {value!r}")
            continue
        got = mine[field]
        if isinstance(got, dict) and got.get("is") == "unread":
            different.append(f"{of} {field}: gpudoctor could not read it ({got['why']}), {who} says {value!r}")
        elif isinstance(got, int | float) and field in TOLERANCE:
            if abs(got - value) > TOLERANCE[field]:
                different.append(f"{of} {field}: gpudoctor says {got!r}, {who} {value!r}")
        elif got != value:
            different.append(f"{of} {field}: gpudoctor says {got!r}, {who} {value!r}")
    return different
