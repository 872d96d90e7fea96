"""The container or job that the patient runs in, and the container tools that this host shows."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class Container(Fact, frozen=True, kw_only=True):
    """Which one, and what was handed over to it."""

    kind: str | Unread | None = NOT_RECORDED
    """'docker', 'podman', 'kubernetes', 'containerd', 'lxc', 'apptainer', …; None: a bare host or virtual machine."""
