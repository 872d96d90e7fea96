"""What a kernel measured. A measurement is a fact; its judgement is a check's."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class Measurement(Fact, frozen=True, kw_only=True):
    """One kernel on one device."""

    kernel: str
    backend: str
    """'tensorflow', 'cuda'."""
    device: str
    """'GPU:0', 'CPU:0'."""
    device_name: str | Unread | None = NOT_RECORDED
    dtype: str | Unread = NOT_RECORDED
    size: tuple[int, ...] | Unread = NOT_RECORDED
    unit: str | Unread = NOT_RECORDED
    value: float | Unread = NOT_RECORDED
    """Median of `samples`."""
    spread: float | Unread = NOT_RECORDED
    """(max - min) / median of the samples."""
    samples: tuple[float, ...] | Unread = NOT_RECORDED
    seconds: float | Unread = NOT_RECORDED
    """Wall time of the whole kernel, set-up and verification included."""
    verified: bool | Unread = NOT_RECORDED
    """The result was compared with float64 on sampled elements, and is right."""
    error: float | Unread = NOT_RECORDED
    """Largest relative error of the sampled elements."""
    tolerance: float | Unread = NOT_RECORDED
