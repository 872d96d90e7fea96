"""What a kernel measured. A measurement is a fact; its judgement is a check's."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread

ALL_REDUCE = "all-reduce"
"""The kernel that all devices run together."""


class Measurement(Fact, frozen=True, kw_only=True):
    """One kernel on one device."""

    kernel: str
    backend: str
    """'tensorflow', 'cuda'."""
    device: str
    """'GPU:0', 'CPU:0'; several that work together: 'GPU:0,GPU:1'."""
    device_name: str | Unread | None = NOT_RECORDED
    dtype: str | Unread = NOT_RECORDED
    size: tuple[int, ...] | Unread = NOT_RECORDED
    unit: str | Unread = NOT_RECORDED
    value: float | Unread = NOT_RECORDED
    """Median of `samples`; Unread with `chosen`: there was nothing to run here, and why."""
    spread: float | Unread = NOT_RECORDED
    """(max - min) / median of the samples."""
    samples: tuple[float, ...] | Unread = NOT_RECORDED
    seconds: float | Unread = NOT_RECORDED
    """Wall time of the whole kernel, set-up and verification included."""
    first_s: float | Unread = NOT_RECORDED
    """The first run alone: loading of the library and compilation included."""
    warm_up: int | Unread = NOT_RECORDED
    """Runs before the first sample."""
    queued: int | Unread = NOT_RECORDED
    """Runs that one sample is the mean of."""
    overhead_s: float | Unread = NOT_RECORDED
    """What the same without the operation takes, taken off each sample."""
    verified: bool | Unread = NOT_RECORDED
    """The result was compared with what `against` names, and is right."""
    against: str | Unread = NOT_RECORDED
    """'float64' (sampled elements), 'the exact sum', 'the data themselves'."""
    error: float | Unread = NOT_RECORDED
    """Largest error of the compared elements, in units of what an element is on average."""
    tolerance: float | Unread = NOT_RECORDED
    placed_on: str | Unread = NOT_RECORDED
    """Where TensorFlow says that the result lies; of a collective, where its parts ran."""
    operation: str | Unread = NOT_RECORDED
    """The TensorFlow operation that did it, where there is a choice."""
    library: str | Unread | None = NOT_RECORDED
    """The file of the vendor's library that the process had loaded for it; None: none."""
    library_version: str | Unread | None = NOT_RECORDED
    """By that library's own answer."""

    def devices(self) -> tuple[str, ...]:
        """What it is about: ('gpu0', 'gpu1')."""
        return tuple(d.replace(":", "").lower() for d in self.device.split(","))

    @property
    def skipped(self) -> bool:
        """It has nothing to do on this device; `value` says why."""
        return isinstance(self.value, Unread) and self.value.chosen

    @property
    def failed(self) -> str | None:
        """Why it ended without a result; None where it has one, and where there was nothing to do."""
        return self.value.why if isinstance(self.value, Unread) and not self.skipped else None
