"""Containers that are started with GPUs for nvidia-smi, and meet another driver's libraries: of which image they are."""

from __future__ import annotations

from ..patterns import Pattern
from .language import Understood
from .notebook import Notebook

LANGUAGE = "containers"
WORDS = (
    "docker run ",
    "podman run ",
    "nvidia-docker run ",
    "nvidia-docker2 run ",
    "container run ",
    "Failed to initialize NVML",
)
_RUN = Pattern(r"\b(?:docker2?|podman|container) run (?P<rest>[^\n]{1,600})")
_IMAGE = Pattern(
    r"(?:^| )(?P<image>(?:[\w.-]{1,60}(?::\d{2,5})?/){1,4}[\w.-]{1,60}(?::[\w.-]{1,80})?|[a-z0-9][\w.-]{0,60}:[\w.-]{1,80})(?: |$)"
)
_VALUE = Pattern(
    r" (?:-[vpewuhlm]|--(?:volume|publish|env|workdir|user|hostname|label|mount|name|network|shm-size|gpus|device|runtime|ipc|pid|ulimit|platform|entrypoint)) [^\s-]\S{0,200}"
)
_MIXED = Pattern(r"^Failed to initialize NVML: [Dd]river/library version mismatch")
_NEAR = 3
"""Lines between a command and what it prints."""


class Reader:
    """Reads line by line; the last command is what it remembers."""

    def __init__(self) -> None:
        self._at, self._image, self._command = -_NEAR - 1, "", ""

    def line(self, text: str, number: int, _notes: Notebook) -> Understood | None:
        """'image-run' for each image, 'image-mismatch' for one in which the driver's libraries are another release's."""
        if (run := _RUN.search(text)) is not None:
            rest = _VALUE.sub("", f" {run['rest']}")
            found = _IMAGE.search(rest) if "gpus" in text or "nvidia" in text else None
            self._at, self._image, self._command = number, found["image"] if found else "", text
            return Understood("image-run", {"image": self._image}) if found and "nvidia-smi" in text else None
        if self._image and 0 < number - self._at <= _NEAR and _MIXED.match(text):
            return Understood("image-mismatch", {"image": self._image, "": self._command})
        return None
