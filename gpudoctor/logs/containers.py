"""docker, podman, nvidia-container-cli, Kubernetes: why a container with GPUs is not started."""

from __future__ import annotations

from .language import Kind, Language

_NOT_STARTED = "container-does-not-start"

LANGUAGE = Language(
    name="containers",
    words=("device driver",),
    kinds=(
        Kind(
            "no-gpu-device-driver",
            r"could not select device driver \"(?P<driver>[^\"]*)\" with capabilities: \[\[(?P<capabilities>[^\]]*)",
            _NOT_STARTED,
        ),
    ),
)
