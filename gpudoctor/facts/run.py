"""A program that ran under `gpudoctor run`: what its processes and the GPUs did meanwhile."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread
from .measurements import Load


class Quantiles(Fact, frozen=True, kw_only=True):
    """A quantity over the steady part of a run; each sample counts for the time since the one before."""

    mean: float
    low: float
    """In a tenth of the time it was less."""
    median: float
    high: float
    """In a tenth of the time it was more."""
    most: float


class RunGpu(Fact, frozen=True, kw_only=True):
    """A GPU while the program ran. What is not said to be of the whole run is of its steady part. None: this GPU, or this
    host, does not tell."""

    index: int
    """NVML's number."""
    name: str | Unread = NOT_RECORDED
    pci_address: str | Unread = NOT_RECORDED
    load: Load | Unread = NOT_RECORDED
    utilisation_percent: Quantiles | Unread | None = NOT_RECORDED
    """Of the time in which a kernel ran, of any program. Copies do not count."""
    own_sm_percent: float | Unread | None = NOT_RECORDED
    """Mean of what NVML counts for the program's own processes."""
    memory_before_bytes: int | Unread | None = NOT_RECORDED
    """In use when the program was started."""
    memory_most_bytes: int | Unread | None = NOT_RECORDED
    """The most that was in use in the whole run."""
    own_memory_bytes: int | Unread | None = NOT_RECORDED
    """The most that the program's processes held; None: this host names no processes, or by numbers of another namespace."""
    others: tuple[int, ...] | Unread | None = NOT_RECORDED
    """Other processes that computed on it; None as above."""
    copied_in_gb_per_s: Quantiles | Unread | None = NOT_RECORDED
    """Over the bus to the GPU."""
    copied_out_gb_per_s: Quantiles | Unread | None = NOT_RECORDED
    copying_share: float | Unread | None = NOT_RECORDED
    """Of the samples, those with more than 0.5 GB/s to the GPU, 0 to 1."""
    copies_counted: bool | Unread = NOT_RECORDED
    """The bus was counted all the time (GPM); else in windows of 20 ms, a few in a hundred of it."""
    sm_percent: float | Unread | None = NOT_RECORDED
    """Of the multiprocessors, those at work, mean (GPM, from Hopper on)."""
    tensor_percent: float | Unread | None = NOT_RECORDED
    """Of the tensor cores' time, mean (GPM)."""
    fp32_percent: float | Unread | None = NOT_RECORDED
    """Of the float32 units' time, mean (GPM)."""

    def held_bytes(self) -> int | Unread | None:
        """Memory that the program held: by its processes, else by what became more while it ran."""
        if isinstance(self.own_memory_bytes, int):
            return self.own_memory_bytes
        if isinstance(self.memory_most_bytes, int) and isinstance(self.memory_before_bytes, int):
            return max(0, self.memory_most_bytes - self.memory_before_bytes)
        return self.memory_most_bytes if isinstance(self.memory_most_bytes, Unread) else None


class RunThreads(Fact, frozen=True, kw_only=True):
    """Threads of the program's busiest process that have one name."""

    name: str
    main: bool = False
    """The thread that Python's own program runs in; it stands alone."""
    count: int
    cores: float
    """Processors that they kept busy together, mean."""


class Run(Fact, frozen=True, kw_only=True):
    """From `gpudoctor run`. `command` None: nothing was run. The steady part leaves out the first 5% and the last 1% of all work
    that the GPUs did (where no GPU worked, of what the processors did, a tenth and 1%), and of what is between the first third, at most
    a minute, as long as ten seconds stay: imports, tracing, compilation, tuning."""

    command: tuple[str, ...] | Unread | None = NOT_RECORDED
    exit_code: int | Unread | None = NOT_RECORDED
    """None: it was ended by a signal."""
    signal: str | Unread | None = NOT_RECORDED
    """'SIGKILL', which ended it."""
    interrupted: bool | Unread = NOT_RECORDED
    """SIGINT, SIGTERM or the like came while it ran."""
    seconds: float | Unread = NOT_RECORDED
    warm_up_s: float | Unread | None = NOT_RECORDED
    """Till the steady part; None: there is none."""
    steady_s: float | Unread | None = NOT_RECORDED
    gpus: tuple[RunGpu, ...] | Unread = NOT_RECORDED
    samples: int | Unread = NOT_RECORDED
    """Of the processes, in the whole run."""
    overhead: float | Unread = NOT_RECORDED
    """Processor time of the watching, in shares of one core."""
    processes: int | Unread = NOT_RECORDED
    """The most at a time."""
    threads: int | Unread = NOT_RECORDED
    """The most at a time, of all processes."""
    cores: Quantiles | Unread | None = NOT_RECORDED
    """Processors that all processes kept busy, in the steady part."""
    system_share: float | Unread | None = NOT_RECORDED
    """Of the processor time, that in the kernel."""
    workers_cores: float | Unread | None = NOT_RECORDED
    """Processors that processes other than the busiest kept busy, mean."""
    by_thread: tuple[RunThreads, ...] | Unread | None = NOT_RECORDED
    """Of the busiest process, the busiest first."""
    cores_usable: int | Unread = NOT_RECORDED
    """By the affinity of the program."""
    waiting_for_disk_share: float | Unread | None = NOT_RECORDED
    """Of the samples, those in which a thread waited for a disk or a network file system (state D)."""
    read_bytes_per_s: float | Unread | None = NOT_RECORDED
    """From disks."""
    memory_bytes: tuple[int, ...] | Unread | None = NOT_RECORDED
    """Host memory of its processes that no other shares, at nine moments of equal distance from the beginning to the end of
    the steady part."""
    memory_total_bytes: int | Unread = NOT_RECORDED
    """Of the host."""
    tensorflow: bool | Unread = NOT_RECORDED
    """One of its processes had TensorFlow loaded."""
    log_bytes: int | Unread = NOT_RECORDED
    """That it wrote to standard output and error, as far as gpudoctor passed them on."""
