"""The NVIDIA driver: kernel side, device nodes, user library, and what it answers."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread
from .libraries import SearchStep


class DeviceNode(Fact, frozen=True, kw_only=True):
    """A file in /dev and the errno of opening it read-write as this user."""

    path: str
    exists: bool | Unread = NOT_RECORDED
    major: int | Unread | None = NOT_RECORDED
    minor: int | Unread | None = NOT_RECORDED
    open_errno: int | Unread | None = NOT_RECORDED
    """None: open() succeeded. Read from open(), not from the mode bits."""


class CudaDevice(Fact, frozen=True, kw_only=True):
    """A device as the driver API enumerates it under this environment."""

    index: int
    name: str | Unread = NOT_RECORDED
    uuid: str | Unread = NOT_RECORDED
    pci_address: str | Unread = NOT_RECORDED
    compute_capability: tuple[int, int] | Unread = NOT_RECORDED
    multiprocessors: int | Unread = NOT_RECORDED


class Libcuda(Fact, frozen=True, kw_only=True):
    """The user-space driver library that a process of this environment gets, and its answers."""

    path: str | Unread | None = NOT_RECORDED
    """Links resolved; None: the loader found none that could be used (`load_error` says why)."""
    version: str | Unread | None = NOT_RECORDED
    """Driver release in the file's name or text; None where the file tells none."""
    found_in: SearchStep | Unread | None = NOT_RECORDED
    """The directory, as the search named it, and whose list it was; None: loaded without a search."""
    load_error: str | Unread | None = NOT_RECORDED
    init_result: int | Unread = NOT_RECORDED
    """CUresult of cuInit(0)."""
    init_seconds: float | Unread = NOT_RECORDED
    no_answer: str | Unread | None = NOT_RECORDED
    """How the child that called cuInit ended without an answer (time limit, signal); None: it answered."""
    api_version: int | Unread = NOT_RECORDED
    """cuDriverGetVersion: 13000 is CUDA 13.0."""
    devices: tuple[CudaDevice, ...] | Unread = NOT_RECORDED
    candidates: tuple[str, ...] | Unread = NOT_RECORDED
    """Every libcuda.so.1 file seen on this machine, stubs and compat libraries among them."""
    log: str | Unread = NOT_RECORDED
    """Standard error of the child, last part."""


class Driver(Fact, frozen=True, kw_only=True):
    """Kernel module, nodes, processes, library."""

    kernel_version: str | Unread | None = NOT_RECORDED
    """Release in /proc/driver/nvidia/version; None: no such file, the module is not loaded."""
    kernel_flavour: str | Unread | None = NOT_RECORDED
    """'open' or 'proprietary'."""
    modules: tuple[str, ...] | Unread = NOT_RECORDED
    """Loaded kernel modules of GPU drivers (nvidia*, nouveau, nova*, amdgpu, vfio_pci)."""
    uvm_major: int | Unread | None = NOT_RECORDED
    """Major number of nvidia-uvm in /proc/devices."""
    nodes: tuple[DeviceNode, ...] | Unread = NOT_RECORDED
    daemons: tuple[str, ...] | Unread = NOT_RECORDED
    """NVIDIA daemons among the visible processes ('nv-fabricmanager')."""
    libcuda: Libcuda = Libcuda()
    all_devices: tuple[CudaDevice, ...] | Unread = NOT_RECORDED
    """What the driver API enumerates without CUDA_VISIBLE_DEVICES."""

    def node(self, path: str) -> DeviceNode | Unread | None:
        """The node at `path`; None where it was not looked for or is not listed."""
        if isinstance(self.nodes, Unread):
            return self.nodes
        return next((n for n in self.nodes if n.path == path), None)
