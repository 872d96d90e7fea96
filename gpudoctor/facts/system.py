"""The machine and the operating system as the examined interpreter sees them."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class System(Fact, frozen=True, kw_only=True):
    """Kernel, architecture, container; None is 'looked, and it is not there'."""

    system: str | Unread = NOT_RECORDED
    """'Linux', 'Windows', 'Darwin', as platform.system() says."""
    kernel: str | Unread = NOT_RECORDED
    machine: str | Unread = NOT_RECORDED
    """'x86_64', 'aarch64', …"""
    cores: int | Unread = NOT_RECORDED
    """Logical processors of the machine."""
    memory_total_bytes: int | Unread = NOT_RECORDED
    distribution: str | Unread | None = NOT_RECORDED
    """ID of /etc/os-release: 'debian', 'ubuntu', 'rhel', …"""
    user_id: int | Unread = NOT_RECORDED
    container: str | Unread | None = NOT_RECORDED
    """'docker', 'podman', 'kubernetes', 'lxc', …, or None on a bare host or virtual machine."""
    wsl: bool | Unread = NOT_RECORDED
    tegra: bool | Unread = NOT_RECORDED
