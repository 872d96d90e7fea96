"""The machine and the operating system as the examined interpreter sees them."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class KernelEvent(Fact, frozen=True, kw_only=True):
    """A line of the kernel's log that may tell of a GPU."""

    kind: str
    """'xid', 'rminit-failed', 'nvrm', 'iommu-fault', 'aer', 'module-rejected', 'oom-kill',
    'resumed' (from a suspend or hibernation), 'uvm-loaded'."""
    text: str
    xid: int | None = None
    """NVIDIA's error number, where `kind` is 'xid'."""
    pci_address: str | None = None
    """Of the GPU, as in `PciDevice.address`; None: the line names none."""
    seconds: float | None = None
    """Since boot, by the clock of the kernel's log; None: the log carries no times."""


class NumaNode(Fact, frozen=True, kw_only=True):
    """Processors and memory that are next to each other."""

    index: int
    cpus: str | Unread = NOT_RECORDED
    """'0-31,64-95'; '': it has memory alone, as that of a GPU that is a node."""
    memory_total_bytes: int | Unread = NOT_RECORDED
    distances: tuple[int, ...] | Unread = NOT_RECORDED
    """To each node, by the firmware: 10 is its own memory, 20 twice as far."""


class System(Fact, frozen=True, kw_only=True):
    """Kernel, processors, memory, limits, security modules; None is 'looked, and it is not there'."""

    system: str | Unread = NOT_RECORDED
    """'Linux', 'Windows', 'Darwin', as platform.system() says."""
    kernel: str | Unread = NOT_RECORDED
    machine: str | Unread = NOT_RECORDED
    """'x86_64', 'aarch64', …"""
    distribution: str | Unread | None = NOT_RECORDED
    """ID of /etc/os-release: 'debian', 'ubuntu', 'rhel', …"""
    container: str | Unread | None = NOT_RECORDED
    """'docker', 'podman', 'kubernetes', 'containerd', 'lxc', 'apptainer', 'enroot', 'systemd-nspawn', …, or None on a
    bare host or virtual machine; `Container` has the rest."""
    wsl: bool | Unread = NOT_RECORDED
    tegra: bool | Unread = NOT_RECORDED
    hostname: str | Unread = NOT_RECORDED

    user_id: int | Unread = NOT_RECORDED
    user_name: str | Unread | None = NOT_RECORDED
    home: str | Unread | None = NOT_RECORDED
    groups: tuple[int, ...] | Unread = NOT_RECORDED
    """Numbers of the groups that this process is in."""

    cpu_model: str | Unread | None = NOT_RECORDED
    cpu_flags: tuple[str, ...] | Unread = NOT_RECORDED
    """Those of the first processor that matter to TensorFlow ('avx', 'avx2', 'fma', …; on Arm 'asimd', 'sve', …)."""
    hypervisor: bool | Unread = NOT_RECORDED
    """The processor says that it is a virtual one."""
    machine_vendor: str | Unread | None = NOT_RECORDED
    machine_product: str | Unread | None = NOT_RECORDED
    """As the firmware (DMI) or the hypervisor names the machine; None: it names none."""
    cores: int | Unread = NOT_RECORDED
    """Logical processors of the machine."""
    cores_usable: int | Unread = NOT_RECORDED
    """Those that this process may run on (affinity)."""
    cpus_usable: str | Unread = NOT_RECORDED
    """The same by their numbers, as the kernel lists them: '0-31,64-95'."""
    numa_nodes: tuple[NumaNode, ...] | Unread | None = NOT_RECORDED
    """None: this kernel knows no NUMA."""
    memory_nodes_usable: str | Unread | None = NOT_RECORDED
    """NUMA nodes whose memory this process may have: '0-1'; None: this kernel knows no NUMA."""
    cpu_quota_cores: float | Unread | None = NOT_RECORDED
    """The least quota of the process's control group and of those above it, in cores; None: none."""

    memory_total_bytes: int | Unread = NOT_RECORDED
    memory_available_bytes: int | Unread = NOT_RECORDED
    memory_limit_bytes: int | Unread | None = NOT_RECORDED
    """The least limit of the control group and of those above it; None: none."""
    oom_kills: int | Unread | None = NOT_RECORDED
    """Processes of this control group that the kernel has killed for want of memory; None: it does not count them."""
    oom_kills_during: int | Unread | None = NOT_RECORDED
    """Those of them while this examination ran."""
    shm_total_bytes: int | Unread | None = NOT_RECORDED
    shm_free_bytes: int | Unread | None = NOT_RECORDED
    """Of /dev/shm; None: there is none."""

    limit_memlock_bytes: int | Unread | None = NOT_RECORDED
    limit_address_space_bytes: int | Unread | None = NOT_RECORDED
    limit_open_files: int | Unread | None = NOT_RECORDED
    limit_processes: int | Unread | None = NOT_RECORDED
    limit_stack_bytes: int | Unread | None = NOT_RECORDED
    limit_data_bytes: int | Unread | None = NOT_RECORDED
    """Soft limits of the process (ulimit); None: unlimited."""

    selinux: str | Unread | None = NOT_RECORDED
    """'enforcing', 'permissive'; None: not in use."""
    apparmor_profile: str | Unread | None = NOT_RECORDED
    """'unconfined', 'docker-default (enforce)', …; None: AppArmor is not in use."""
    lockdown: str | Unread | None = NOT_RECORDED
    """'none', 'integrity', 'confidentiality'; None: the kernel has none, or hides it."""
    seccomp: int | Unread | None = NOT_RECORDED
    """0 off, 1 strict, 2 a filter decides which system calls this process may make."""
    secure_boot: bool | Unread | None = NOT_RECORDED
    """None: no UEFI, or hidden from here."""
    kernel_parameters: tuple[str, ...] | Unread = NOT_RECORDED
    """Words of the kernel's command line that matter to GPUs (iommu=, pci=, nouveau, nvidia, blacklists)."""
    uptime_seconds: float | Unread = NOT_RECORDED
    suspends: int | Unread | None = NOT_RECORDED
    """How often the machine was suspended since it was started; None: its kernel can't."""

    jit_cache: str | Unread | None = NOT_RECORDED
    """Where CUDA keeps the kernels that it compiled; None: no home directory."""
    jit_cache_writable: bool | Unread = NOT_RECORDED

    kernel_log: tuple[KernelEvent, ...] | Unread = NOT_RECORDED
    """Oldest first, as far back as the kernel keeps its log."""
    kernel_log_during: tuple[KernelEvent, ...] | Unread = NOT_RECORDED
    """What came in while this examination ran; looked at where something died or failed."""
