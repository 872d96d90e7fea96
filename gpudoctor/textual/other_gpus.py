"""Texts that name other makers' GPUs alone."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts
from ..patterns import Pattern

_OF_AMD = Pattern(r"(?i)\b(?:vega|radeon|instinct|gfx\d{3,4}|navi|firepro)\b")
"""As TensorFlow for ROCm names a device."""


def on_bus(facts: Facts) -> set[str]:
    """The makers of the GPUs that the list of the bus has; '': one that is not told."""
    return {e.values.get("vendor", "") for e in facts.text.said("gpu-on-bus")}


def without_nvidia(facts: Facts) -> Iterator[str]:
    """The GPUs that the text names are others', or it says that there is none."""
    said = facts.text.said
    if said("talks-of-colab", "in-colab", "prime-intel", "laptop-mode", "gpu-switched-off", "hybrid-named"):
        return  # whose card is another one, or a second one
    vendors = on_bus(facts)
    vendors |= {vendor for e in said("other-gpu-mentioned") for vendor in e.values}
    vendors |= {"amd" for e in said("device-found") if _OF_AMD.search(e.values.get("name", ""))}
    named = {e.values.get("vendor", "").upper().split()[0] for e in said("other-gpu-named")}
    if said("nvidia-gpu-named") or "nvidia" in vendors:
        return
    if "amd" in vendors or named & {"AMD", "ATI", "RADEON"}:
        yield "amd-gpu"
    if vendors or named or said("gpu-not-there", "no-card-told"):
        yield "no-nvidia-gpu"
