"""The GPUs as NVML reports them, independent of CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread

_CLOCK_REASONS = {
    0x1: "idle",
    0x2: "applications-clocks-setting",
    0x4: "sw-power-cap",
    0x8: "hw-slowdown",
    0x10: "sync-boost",
    0x20: "sw-thermal-slowdown",
    0x40: "hw-thermal-slowdown",
    0x80: "hw-power-brake",
    0x100: "display-clock-setting",
    0x200: "board-limit",
    0x400: "reliability",
}
"""Bits of NVML's mask of clock event reasons (nvml.h, nvmlClocksEventReason*)."""


def clock_reasons(mask: int) -> tuple[str, ...]:
    """What holds the clocks down, by NVML's mask; a bit that is not known is its number."""
    bits = [1 << n for n in range(mask.bit_length()) if mask >> n & 1]
    return tuple(_CLOCK_REASONS.get(bit, hex(bit)) for bit in bits)


class GpuProcess(Fact, frozen=True, kw_only=True):
    """A process that holds memory of a GPU. In a container those of others may not be listed."""

    pid: int
    kind: str
    """'compute' or 'graphics'."""
    memory_used_bytes: int | Unread | None = NOT_RECORDED
    name: str | Unread | None = NOT_RECORDED
    """None: NVML does not find it here (it lives in another container, say)."""
    ours: bool | Unread = NOT_RECORDED
    """The examination itself started it."""


class MigDevice(Fact, frozen=True, kw_only=True):
    """An instance of a GPU in MIG mode."""

    uuid: str | Unread = NOT_RECORDED
    name: str | Unread = NOT_RECORDED
    gpu_instance: int | Unread = NOT_RECORDED
    compute_instance: int | Unread = NOT_RECORDED
    memory_total_bytes: int | Unread = NOT_RECORDED


class NvLink(Fact, frozen=True, kw_only=True):
    """A link that the product has, in use or not."""

    index: int
    active: bool
    version: int | Unread | None = NOT_RECORDED
    """NVML's number of it, not the marketing one: 6 on an H200, which has NVLink 4."""
    remote: str | Unread | None = NOT_RECORDED
    """What it leads to: 'gpu', 'switch', 'npu', 'unknown'."""
    remote_address: str | Unread | None = NOT_RECORDED
    """PCI address of what it leads to; None: not told, as in virtual machines (FFFFFFFF)."""
    speed_mb_per_s: int | Unread | None = NOT_RECORDED
    """One direction, 10^6 bytes/s."""


class GpuDevice(Fact, frozen=True, kw_only=True):
    """One GPU. Its name in findings is 'gpu<index>'. None: this product does not have it."""

    index: int
    nvml_error: int | Unread | None = NOT_RECORDED
    """NVML's code where the GPU can't be asked: 15 'GPU is lost', 16 'needs a reset'."""
    nvml_error_text: str | Unread | None = NOT_RECORDED
    name: str | Unread = NOT_RECORDED
    uuid: str | Unread = NOT_RECORDED
    pci_address: str | Unread = NOT_RECORDED
    compute_capability: tuple[int, int] | Unread = NOT_RECORDED
    minor_number: int | Unread | None = NOT_RECORDED
    """Of /dev/nvidia<minor>."""
    serial: str | Unread | None = NOT_RECORDED
    board_id: int | Unread | None = NOT_RECORDED
    vbios_version: str | Unread | None = NOT_RECORDED
    gsp_version: str | Unread | None = NOT_RECORDED
    numa_node: int | Unread | None = NOT_RECORDED
    """Of the GPU's own memory, where that is a NUMA node."""

    memory_total_bytes: int | Unread | None = NOT_RECORDED
    memory_used_bytes: int | Unread | None = NOT_RECORDED
    memory_free_bytes: int | Unread | None = NOT_RECORDED
    memory_reserved_bytes: int | Unread | None = NOT_RECORDED
    """By the driver; older drivers count it as used and tell None."""
    bar1_bytes: int | Unread | None = NOT_RECORDED
    processes: tuple[GpuProcess, ...] | Unread | None = NOT_RECORDED

    compute_mode: str | Unread | None = NOT_RECORDED
    """'default', 'exclusive-process', 'exclusive-thread', 'prohibited'."""
    persistence_mode: bool | Unread | None = NOT_RECORDED
    display_attached: bool | Unread | None = NOT_RECORDED
    virtualization_mode: str | Unread | None = NOT_RECORDED
    """'none', 'pass-through', 'vgpu', 'host-vgpu', 'host-vsga'."""
    vgpu_licensed: bool | Unread | None = NOT_RECORDED
    """None: no licence applies."""
    mig_mode: bool | Unread | None = NOT_RECORDED
    mig_mode_pending: bool | Unread | None = NOT_RECORDED
    mig_devices: tuple[MigDevice, ...] | Unread | None = NOT_RECORDED
    """None: MIG is off."""

    clock_graphics_mhz: int | Unread | None = NOT_RECORDED
    clock_sm_mhz: int | Unread | None = NOT_RECORDED
    clock_memory_mhz: int | Unread | None = NOT_RECORDED
    clock_graphics_max_mhz: int | Unread | None = NOT_RECORDED
    clock_sm_max_mhz: int | Unread | None = NOT_RECORDED
    clock_memory_max_mhz: int | Unread | None = NOT_RECORDED
    clock_event_reasons: tuple[str, ...] | Unread | None = NOT_RECORDED
    """What holds the clocks down now: 'idle', 'sw-power-cap', 'hw-thermal-slowdown', …"""
    power_draw_w: float | Unread | None = NOT_RECORDED
    power_limit_w: float | Unread | None = NOT_RECORDED
    """The one that is enforced."""
    power_default_w: float | Unread | None = NOT_RECORDED
    power_min_w: float | Unread | None = NOT_RECORDED
    power_max_w: float | Unread | None = NOT_RECORDED
    temperature_c: int | Unread | None = NOT_RECORDED
    temperature_slowdown_c: int | Unread | None = NOT_RECORDED
    temperature_shutdown_c: int | Unread | None = NOT_RECORDED
    utilisation_gpu_percent: int | Unread | None = NOT_RECORDED
    utilisation_memory_percent: int | Unread | None = NOT_RECORDED

    ecc_mode: bool | Unread | None = NOT_RECORDED
    ecc_mode_pending: bool | Unread | None = NOT_RECORDED
    ecc_volatile_corrected: int | Unread | None = NOT_RECORDED
    """Errors since the driver was loaded or the GPU was reset; aggregate: of its life."""
    ecc_volatile_uncorrected: int | Unread | None = NOT_RECORDED
    ecc_aggregate_corrected: int | Unread | None = NOT_RECORDED
    ecc_aggregate_uncorrected: int | Unread | None = NOT_RECORDED
    rows_remapped_correctable: int | Unread | None = NOT_RECORDED
    rows_remapped_uncorrectable: int | Unread | None = NOT_RECORDED
    row_remap_pending: bool | Unread | None = NOT_RECORDED
    row_remap_failure: bool | Unread | None = NOT_RECORDED
    retired_pages_single_bit: int | Unread | None = NOT_RECORDED
    """Before Ampere pages are retired, from Ampere on rows are remapped."""
    retired_pages_double_bit: int | Unread | None = NOT_RECORDED
    retired_pages_pending: bool | Unread | None = NOT_RECORDED
    recovery_action: str | Unread | None = NOT_RECORDED
    """What the driver asks for: 'none', 'reset', 'reboot', 'drain-p2p', 'drain-and-reset', …"""

    pcie_generation: int | Unread | None = NOT_RECORDED
    pcie_generation_max: int | Unread | None = NOT_RECORDED
    """Of GPU and slot together; an idle link may run at less."""
    pcie_generation_gpu_max: int | Unread | None = NOT_RECORDED
    pcie_width: int | Unread | None = NOT_RECORDED
    pcie_width_max: int | Unread | None = NOT_RECORDED
    pcie_replays: int | Unread | None = NOT_RECORDED

    nvlinks: tuple[NvLink, ...] | Unread | None = NOT_RECORDED
    """Empty: a product without."""
    c2c: bool | Unread | None = NOT_RECORDED
    """Linked to the processor chip to chip, as in Grace Hopper."""
    fabric_state: int | Unread | None = NOT_RECORDED
    """NVML_GPU_FABRIC_STATE_*: 0 not supported, 1 not started, 2 in progress, 3 completed."""
    fabric_status: int | Unread | None = NOT_RECORDED
    """NVML's code of how it was completed, 0 is success."""
    fabric_health: tuple[str, ...] | Unread | None = NOT_RECORDED
    """What is wrong with it: 'bandwidth-degraded', …; None: not told."""


class GpuPair(Fact, frozen=True, kw_only=True):
    """Two GPUs, by their indices."""

    first: int
    second: int
    read: str | Unread | None = NOT_RECORDED
    """Whether one can read the other's memory directly: 'ok', 'chipset-not-supported', 'gpu-not-supported',
    'topology-not-supported', 'disabled-by-regkey', 'not-supported', 'unknown'."""
    nvlink: str | Unread | None = NOT_RECORDED
    """The same over NVLink."""
    topology: str | Unread | None = NOT_RECORDED
    """Where their PCIe paths meet, in nvidia-smi's words: 'PIX', 'PXB', 'PHB', 'NODE', 'SYS'; 'internal' on one board."""


class Gpu(Fact, frozen=True, kw_only=True):
    """NVML's answers; `nvml_error` is NVML's own code where nvmlInit failed."""

    nvml_error: int | Unread | None = NOT_RECORDED
    nvml_error_text: str | Unread | None = NOT_RECORDED
    nvml_version: str | Unread | None = NOT_RECORDED
    driver_version: str | Unread = NOT_RECORDED
    cuda_driver_version: int | Unread | None = NOT_RECORDED
    """13000 for 13.0: the newest CUDA that the driver knows."""
    devices: tuple[GpuDevice, ...] | Unread = NOT_RECORDED
    pairs: tuple[GpuPair, ...] | Unread = NOT_RECORDED
