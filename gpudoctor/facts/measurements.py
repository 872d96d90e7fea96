"""What a kernel measured. A measurement is a fact; its judgement is a check's."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread

ALL_REDUCE = "all-reduce"
"""The kernel that all devices run together."""
TRAINING, TRAINING_MIXED = "training-step", "training-step-mixed"
"""A training step of TensorFlow's on one device or several; in mixed_float16 on one."""
LEFT_OUT = Unread(why="left out for want of time (--budget)", chosen=True)
"""The value of a measurement that was not made, so that the others end in time."""

TENSORFLOW, NATIVE = "tensorflow", "native"
"""What ran a kernel: TensorFlow, or the driver and CUDA's libraries without a framework."""


class ClockReason(Fact, frozen=True, kw_only=True):
    """Something that held a GPU's clocks down."""

    name: str
    """'idle', 'sw-power-cap', 'hw-thermal-slowdown', … as of `GpuDevice.clock_event_reasons`."""
    share: float
    """Of the samples that were taken, 0 to 1."""


class Load(Fact, frozen=True, kw_only=True):
    """What NVML said of the GPU while the kernel ran on it; medians, where nothing else is said. None: this GPU does not tell."""

    seconds: float
    samples: int
    clock_sm_mhz: int | Unread | None = NOT_RECORDED
    clock_sm_min_mhz: int | Unread | None = NOT_RECORDED
    """The least that was seen."""
    clock_memory_mhz: int | Unread | None = NOT_RECORDED
    clock_reasons: tuple[ClockReason, ...] | Unread | None = NOT_RECORDED
    power_w: float | Unread | None = NOT_RECORDED
    power_max_w: float | Unread | None = NOT_RECORDED
    energy_j: float | Unread | None = NOT_RECORDED
    """Of the whole time; NVML counts it in steps of some tens of milliseconds."""
    temperature_max_c: int | Unread | None = NOT_RECORDED
    utilisation_percent: float | Unread | None = NOT_RECORDED
    """Mean. NVML's own mean is of a longer time: a short kernel is not in it."""
    pcie_generation: int | Unread | None = NOT_RECORDED
    """The most that was seen: the link wakes up at the first copy."""
    pcie_width: int | Unread | None = NOT_RECORDED


class DeviceUse(Fact, frozen=True, kw_only=True):
    """One of several devices that work together, meanwhile."""

    device: str
    """'GPU:1'."""
    utilisation_percent: int | Unread = NOT_RECORDED
    """The most that NVML said: its own figure is the mean of a time up to a second."""
    peak_memory_bytes: int | Unread = NOT_RECORDED
    """The most that TensorFlow's allocator had given out there."""


class Measurement(Fact, frozen=True, kw_only=True):
    """One kernel on one device."""

    kernel: str
    backend: str
    """TENSORFLOW or NATIVE."""
    device: str
    """'GPU:0', 'CPU:0'; several that work together: 'GPU:0,GPU:1', of a copy from the first to the second. Numbered as CUDA does in the examined
    process."""
    pci_addresses: tuple[str, ...] | Unread = NOT_RECORDED
    """Of `device`, in its order."""
    device_name: str | Unread | None = NOT_RECORDED
    dtype: str | Unread = NOT_RECORDED
    size: tuple[int, ...] | Unread = NOT_RECORDED
    unit: str | Unread = NOT_RECORDED
    value: float | Unread = NOT_RECORDED
    """Median of `samples`, of five or more without the lowest and the highest; Unread with `chosen`: there was nothing to run here, and why."""
    spread: float | Unread = NOT_RECORDED
    """(max - min) / median of the samples that count."""
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
    peak_memory_bytes: int | Unread = NOT_RECORDED
    """The most device memory that the measuring process had held until then, by its own account."""
    load: Load | Unread | None = NOT_RECORDED
    """None: nothing was watched."""
    transport: tuple[str, ...] | Unread = NOT_RECORDED
    """Of a collective: how its parts reach each other, in NCCL's own words from its log: 'P2P/CUMEM', 'SHM/direct', 'NET/Socket/0'."""
    channels: int | Unread = NOT_RECORDED
    """Of a collective: in how many parts NCCL divides it."""
    each: tuple[DeviceUse, ...] | Unread = NOT_RECORDED
    """Of a training step: what each of `device` did."""

    def devices(self) -> tuple[str, ...]:
        """Its devices as names: ('gpu0', 'gpu1'), by the numbers that `device` has."""
        return tuple(d.replace(":", "").lower() for d in self.device.split(","))

    @property
    def in_tensorflow(self) -> bool:
        """TensorFlow ran it."""
        return self.backend == TENSORFLOW

    @property
    def where_it_ran(self) -> str:
        """'TensorFlow', 'native'."""
        return "TensorFlow" if self.in_tensorflow else self.backend

    @property
    def skipped(self) -> bool:
        """It has nothing to do on this device; `value` says why."""
        return isinstance(self.value, Unread) and self.value.chosen

    @property
    def failed(self) -> str | None:
        """Why it ended without a result; None where it has one, and where there was nothing to do."""
        return self.value.why if isinstance(self.value, Unread) and not self.skipped else None
