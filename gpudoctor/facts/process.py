"""The running process that was named: as it was started, and what it holds."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class MappedFile(Fact, frozen=True, kw_only=True):
    """A shared library of the process."""

    path: str
    deleted: bool = False
    """The file was removed or replaced since the process loaded it."""


class Process(Fact, frozen=True, kw_only=True):
    """From /proc/PID. `pid` None: no process was named."""

    pid: int | Unread | None = NOT_RECORDED
    executable: str | Unread = NOT_RECORDED
    working_directory: str | Unread = NOT_RECORDED
    user_id: int | Unread = NOT_RECORDED
    other_namespaces: tuple[str, ...] | Unread = NOT_RECORDED
    """Namespaces in which it lives apart from gpudoctor ('mnt', 'pid', 'net', …)."""
    libraries: tuple[MappedFile, ...] | Unread = NOT_RECORDED
    """Shared libraries of the CUDA family and of TensorFlow in its mappings."""
    cpus_usable: str | Unread = NOT_RECORDED
    """The processors that it may run on, as the kernel lists them: '0-31,64-95'."""
    device_nodes: tuple[str, ...] | Unread = NOT_RECORDED
    """/dev/nvidia* that it holds open."""
