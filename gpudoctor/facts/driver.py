"""The NVIDIA driver: kernel side, device nodes, user library, and what it answers."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread
from .libraries import SearchStep
from .tensorflow import LogEvent


def cuda_release(number: int) -> str:
    """A CUDA version as people write it: '13.0' for 13000 (cuda.h, cuDriverGetVersion)."""
    return f"{number // 1000}.{number % 1000 // 10}"


class DeviceNode(Fact, frozen=True, kw_only=True):
    """A file in /dev and the errno of opening it read-write as this user."""

    path: str
    exists: bool | Unread = NOT_RECORDED
    major: int | Unread | None = NOT_RECORDED
    minor: int | Unread | None = NOT_RECORDED
    open_errno: int | Unread | None = NOT_RECORDED
    """None: open() succeeded. Read from open(), not from the mode bits."""
    mode: int | Unread | None = NOT_RECORDED
    """Permission bits, 0o666."""
    user_id: int | Unread | None = NOT_RECORDED
    group_id: int | Unread | None = NOT_RECORDED


class KernelModule(Fact, frozen=True, kw_only=True):
    """A loaded kernel module of a GPU driver, from /sys/module."""

    name: str
    version: str | Unread | None = NOT_RECORDED
    source_version: str | Unread | None = NOT_RECORDED
    """srcversion: a checksum of its source."""
    taint: str | Unread | None = NOT_RECORDED
    """'O' out of tree, 'P' proprietary, 'E' unsigned; '' none."""


class ModuleFile(Fact, frozen=True, kw_only=True):
    """An NVIDIA kernel module on disk, and the kernel release that it is built for."""

    kernel: str
    path: str


class DkmsBuild(Fact, frozen=True, kw_only=True):
    """A driver that dkms knows, and one kernel that it was built for."""

    version: str
    kernel: str | None
    """None: dkms has the source and has built it for no kernel."""


class BuildLog(Fact, frozen=True, kw_only=True):
    """What dkms wrote when it last built the driver's modules for the kernel that runs."""

    path: str
    version: str
    """Release of the driver."""
    kernel: str
    complaints: tuple[LogEvent, ...] = ()
    """Of its end: 'error' the compiler's and make's, 'headers-missing', 'no-compiler', 'compiler-differs', 'no-room'."""


class FabricManager(Fact, frozen=True, kw_only=True):
    """The fabric manager that is installed."""

    path: str
    version: str | Unread | None = NOT_RECORDED
    """Release of its package, else the one that its file names; None: neither tells one."""
    package: str | Unread | None = NOT_RECORDED
    """'nvidia-fabricmanager-580'; None: no package holds the file."""
    package_version: str | Unread | None = NOT_RECORDED
    """As the package manager has it: '580.159.04-0ubuntu0.24.04.1'."""
    manager: str | Unread | None = NOT_RECORDED
    """'dpkg' or 'rpm'; None: none that is known here."""


class Major(Fact, frozen=True, kw_only=True):
    """A character device driver and its major number, from /proc/devices."""

    name: str
    number: int


class Parameter(Fact, frozen=True, kw_only=True):
    """A parameter that the kernel module runs with."""

    name: str
    value: str


class DriverGpu(Fact, frozen=True, kw_only=True):
    """A GPU as the kernel module knows it: /proc/driver/nvidia/gpus/ADDRESS/information."""

    pci_address: str
    model: str | Unread | None = NOT_RECORDED
    uuid: str | Unread | None = NOT_RECORDED
    """None also where the module has not initialised it."""
    minor: int | Unread | None = NOT_RECORDED
    """Its node is /dev/nvidia<minor>."""
    excluded: bool | Unread | None = NOT_RECORDED
    """Kept out of use by a module parameter."""
    firmware: str | Unread | None = NOT_RECORDED
    """Release of the GSP firmware; None: not told, 'N/A' where it runs without."""


class CudaDevice(Fact, frozen=True, kw_only=True):
    """A device as the driver API enumerates it under this environment."""

    index: int
    name: str | Unread = NOT_RECORDED
    uuid: str | Unread = NOT_RECORDED
    pci_address: str | Unread = NOT_RECORDED
    compute_capability: tuple[int, int] | Unread = NOT_RECORDED
    multiprocessors: int | Unread = NOT_RECORDED
    clock_khz: int | Unread = NOT_RECORDED
    """The highest clock of its multiprocessors."""
    memory_clock_khz: int | Unread = NOT_RECORDED
    memory_bus_bits: int | Unread = NOT_RECORDED
    memory_total_bytes: int | Unread = NOT_RECORDED
    l2_bytes: int | Unread = NOT_RECORDED
    compute_mode: int | Unread = NOT_RECORDED
    """0 default, 2 prohibited, 3 one process (CUcomputemode)."""
    integrated: bool | Unread = NOT_RECORDED
    unified_addressing: bool | Unread = NOT_RECORDED
    multi_gpu_board: bool | Unread = NOT_RECORDED
    concurrent_managed_access: bool | Unread = NOT_RECORDED
    cooperative_launch: bool | Unread = NOT_RECORDED
    virtual_memory_management: bool | Unread = NOT_RECORDED
    gpu_direct_rdma: bool | Unread = NOT_RECORDED


class CudaPair(Fact, frozen=True, kw_only=True):
    """What the driver API says of one GPU reaching another's memory directly. Device indices, as CudaDevice has them."""

    device: int
    peer: int
    can_access: bool | Unread = NOT_RECORDED
    """cuDeviceCanAccessPeer."""
    performance_rank: int | Unread = NOT_RECORDED
    """Relative; 0 is the fastest kind of link on this machine."""
    access_supported: bool | Unread = NOT_RECORDED
    native_atomics: bool | Unread = NOT_RECORDED
    """Every atomic operation works over the link: so it is with NVLink."""


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
    pairs: tuple[CudaPair, ...] | Unread = NOT_RECORDED
    """Every ordered pair of `devices`."""
    candidates: tuple[str, ...] | Unread = NOT_RECORDED
    """Every libcuda.so.1 file seen on this machine, stubs and compat libraries among them."""
    log: str | Unread = NOT_RECORDED
    """Standard error of the child, last part."""

    @property
    def cuda(self) -> str | None:
        """`api_version` as people write it: '13.0'; None: it is not known."""
        api = self.api_version
        return None if isinstance(api, Unread) else cuda_release(api)


class Mps(Fact, frozen=True, kw_only=True):
    """NVIDIA's multi-process service (MPS), where a CUDA program of this environment looks for it."""

    directory: str | Unread = NOT_RECORDED
    """CUDA_MPS_PIPE_DIRECTORY, or where that is not set /tmp/nvidia-mps."""
    directory_errno: int | Unread | None = NOT_RECORDED
    """Of listing it; None: it can be listed."""
    listens: bool | Unread | None = NOT_RECORDED
    """Whether a process listens at the socket `control` in it; None: there is no such socket."""
    processes: tuple[str, ...] | Unread = NOT_RECORDED
    """The service's own that are visible here: 'nvidia-cuda-mps-control (PID 812)'."""


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
    loaded: tuple[KernelModule, ...] | Unread = NOT_RECORDED
    """The same modules, with what /sys/module tells of them."""
    parameters: tuple[Parameter, ...] | Unread | None = NOT_RECORDED
    """Of /proc/driver/nvidia/params, those that decide what works; None: the module is not loaded."""
    gpus: tuple[DriverGpu, ...] | Unread | None = NOT_RECORDED
    """None: the module is not loaded."""
    capabilities: bool | Unread = NOT_RECORDED
    """/proc/driver/nvidia/capabilities is there (MIG, fabric)."""
    majors: tuple[Major, ...] | Unread = NOT_RECORDED
    """Of NVIDIA's character devices."""
    kernels_on_disk: tuple[str, ...] | Unread = NOT_RECORDED
    """Kernel releases in /lib/modules, the running one among them where its directory is there."""
    module_files: tuple[ModuleFile, ...] | Unread = NOT_RECORDED
    """nvidia.ko* under /lib/modules, for every kernel there."""
    kernel_headers: bool | Unread = NOT_RECORDED
    """/lib/modules/RELEASE/build leads somewhere: modules can be built for the running kernel."""
    dkms: tuple[DkmsBuild, ...] | Unread = NOT_RECORDED
    build_log: BuildLog | Unread | None = NOT_RECORDED
    """None: dkms has no log of a build for the running kernel."""
    blacklisted: tuple[str, ...] | Unread = NOT_RECORDED
    """GPU drivers that modprobe or the kernel's command line is told not to load."""
    switched_off: str | Unread | None = NOT_RECORDED
    """The file, and its text, by which a hybrid laptop's NVIDIA GPU is switched off; None: nothing says so."""
    nodes: tuple[DeviceNode, ...] | Unread = NOT_RECORDED
    """Those that CUDA needs: nvidiactl, nvidia-uvm, nvidia0, …"""
    other_nodes: tuple[DeviceNode, ...] | Unread = NOT_RECORDED
    """nvidia-uvm-tools, nvidia-modeset, nvidia-caps/*, nvidia-nvswitch*: looked at, not opened."""
    daemons: tuple[str, ...] | Unread = NOT_RECORDED
    """NVIDIA daemons among the visible processes ('nv-fabricmanager')."""
    fabric_manager: FabricManager | Unread | None = NOT_RECORDED
    """None: it is not installed."""
    mps: Mps = Mps()
    libcuda: Libcuda = Libcuda()
    all_devices: tuple[CudaDevice, ...] | Unread = NOT_RECORDED
    """What the driver API enumerates without CUDA_VISIBLE_DEVICES."""

    def node(self, path: str) -> DeviceNode | Unread | None:
        """The node at `path`; None where it was not looked for or is not listed."""
        if isinstance(self.nodes, Unread):
            return self.nodes
        return next((n for n in self.nodes if n.path == path), None)
