"""The GPUs as NVML reports them, independent of CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class GpuDevice(Fact, frozen=True, kw_only=True):
    """One GPU. Its name in findings is 'gpu<index>'."""

    index: int
    name: str | Unread = NOT_RECORDED
    uuid: str | Unread = NOT_RECORDED
    pci_address: str | Unread = NOT_RECORDED
    compute_capability: tuple[int, int] | Unread = NOT_RECORDED
    memory_total_bytes: int | Unread = NOT_RECORDED
    fabric_state: int | Unread | None = NOT_RECORDED
    """NVML_GPU_FABRIC_STATE_*: 0 not supported, 1 not started, 2 in progress, 3 completed."""


class Gpu(Fact, frozen=True, kw_only=True):
    """NVML's answers; `nvml_error` is NVML's own code where nvmlInit failed."""

    nvml_error: int | Unread | None = NOT_RECORDED
    nvml_error_text: str | Unread | None = NOT_RECORDED
    driver_version: str | Unread = NOT_RECORDED
    devices: tuple[GpuDevice, ...] | Unread = NOT_RECORDED
