"""lspci: which GPUs are on the bus, and which kernel driver owns NVIDIA's."""

from __future__ import annotations

from ..patterns import Pattern
from .language import Understood

LANGUAGE = "pci"
WORDS = (
    "UNCLAIMED",
    "vendor: ",
    "controller",
    "accelerator",
    "Kernel driver in use",
    "NVIDIA Corporation",
    ".0 ",
    ".1 ",
    ".2 ",
    ".3 ",
)
_DEVICE = Pattern(
    r"^(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] (?P<kind>[A-Z0-9][\w/ .-]{2,60}?)(?: \[\w{4}\])?: (?P<name>.{1,200})"
)
_DISPLAY = ("VGA", "3D", "Display", "Processing accelerator")
_NVIDIA = Pattern(r"NVIDIA Corporation (?:(?P<chip>[A-Z]{1,2}\w{2,5}) )?")
_VENDORS = (("nvidia", Pattern(r"(?i:nvidia)|10de:")), ("amd", Pattern(r"\bAMD|\bATI\b|Radeon|1002:")))
_UNCLAIMED = Pattern(r"\*-(?:display|vga|3d|generic)(?::\d{1,2})? UNCLAIMED")
_OF_NVIDIA = Pattern(r"^\W{0,4}vendor: NVIDIA\b")
"""lshw's words for a device that no driver has, and what stands below it."""
_IN_USE = Pattern(r"Kernel driver in use: (?P<driver>[\w-]+)")


class Reader:
    """Reads line by line; of which device a line speaks is what it remembers."""

    def __init__(self) -> None:
        self._vendor: str | None = None
        self._unclaimed = False

    def line(self, text: str, _number: int) -> Understood | None:
        """A GPU on the bus, or who owns it."""
        if "*-" in text:
            self._unclaimed = _UNCLAIMED.search(text) is not None
        elif self._unclaimed and _OF_NVIDIA.search(text):
            self._unclaimed = False
            return Understood("gpu-unclaimed", {"": f"UNCLAIMED: {text}"}, "driver-does-not-load")
        if found := _DEVICE.match(text):
            display = found["kind"].startswith(_DISPLAY)
            self._vendor = _vendor(found["name"]) if display else None
            return self._gpu(text, found["name"], self._vendor) if self._vendor else None
        if (used := _IN_USE.search(text)) is not None:
            values = {"driver": used["driver"], "": f"{self._vendor}: {text}"}
            return Understood("gpu-driver", values) if self._vendor == "nvidia" else None
        if text.startswith("NVIDIA Corporation ") or ": NVIDIA Corporation " in text or "  NVIDIA Corporation " in text:
            return self._gpu(text, text, "nvidia")
        return None

    def _gpu(self, text: str, name: str, vendor: str) -> Understood:
        if "(rev ff)" in text and vendor == "nvidia":
            return Understood("gpu-does-not-answer", {}, "driver-does-not-load")
        chip = _NVIDIA.search(name)
        return Understood("gpu-on-bus", {"vendor": vendor, **({"chip": chip["chip"]} if chip and chip["chip"] else {})})


def _vendor(name: str) -> str:
    return next((vendor for vendor, pattern in _VENDORS if pattern.search(name)), "other")
