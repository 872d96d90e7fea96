"""What a native kernel works with: the GPUs of its process, an eye on the one under test, and things kept between kernels."""

from typing import Any, Callable, Dict, List, Optional

from .cuda import Absent, Cuda, CudaError, Gpu
from .loaded import mapped_file
from .sampler import Sampler
from .team import Do, Skip

_OUT_OF_DEVICE_MEMORY, _PLENTY = 2, 2 << 30
"""CUDA's error, which it also gives where the host's memory is meant; and how much of a device's no kernel fills that does not look
itself."""


class Bench:
    """The place where one process runs its native kernels. With one device it is `gpu`; with several, `of(ordinal)`."""

    def __init__(self, cuda: Cuda) -> None:
        self.cuda = cuda
        self._gpus: Dict[int, Gpu] = {}
        self._kept: Dict[str, Any] = {}
        self._sampler: Optional[Sampler] = None
        self._closing: List[Callable[[], Any]] = []
        self.watched: Optional[Dict[str, Any]] = None

    def of(self, ordinal: int) -> Gpu:
        """A device of this process, opened at first use."""
        if ordinal not in self._gpus:
            self._gpus[ordinal] = Gpu(self.cuda, ordinal).open()
        return self._gpus[ordinal]

    @property
    def gpu(self) -> Gpu:
        """The only one."""
        return self.of(0)

    @property
    def sampler(self) -> Sampler:
        """The eye on the only one."""
        if self._sampler is None:
            self._sampler = Sampler(self.gpu.identity()["pci_address"])
        return self._sampler

    def begin(self) -> None:
        """A kernel begins: nothing was watched, and the peak is what is held now."""
        self.watched = None
        for gpu in self._gpus.values():
            gpu.forget_peak()

    def times(self, work: Callable[[], Any], samples: int) -> List[float]:
        """Seconds that `work`, queued in the only device's stream, takes there; NVML is asked meanwhile (`watched`)."""
        self.gpu.times(work, 0)
        self.sampler.begin()
        try:
            return self.gpu.times(work, samples, warm_up=0)
        finally:
            self.watched = self.sampler.end()

    def short_of_memory(self) -> str:
        """How much is free on the first of its devices that has too little for the kernels here; nothing where none has."""
        for gpu in self._gpus.values():
            gpu.use()
            free = gpu.memory_bytes()[0]
            if free < _PLENTY:
                return "only %d MiB of the device's memory are free" % (free >> 20)
        return ""

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """A thing that later kernels use as well."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def let_go(self, name: str) -> Any:
        """Keep it no longer; None: it was not kept."""
        return self._kept.pop(name, None)

    def opened(self) -> List[Gpu]:
        """The devices that were opened."""
        return list(self._gpus.values())

    def at_the_end(self, do: Callable[[], Any]) -> None:
        """What must be done before this process ends."""
        self._closing.append(do)

    def end(self) -> None:
        """Do what was left for the end, the last first."""
        while self._closing:
            self._closing.pop()()

    def peak_bytes(self) -> int:
        """The most device memory that this process has held at a time since the kernel began, by its own account."""
        return sum(gpu.peak_bytes for gpu in self._gpus.values())


def opened(bench: Bench, gpus: List[int]) -> Bench:
    """With a context on each GPU that lets us have one; the others say why when they are used."""
    for ordinal in gpus:
        try:
            bench.of(ordinal)
        except CudaError:
            pass
    return bench


def until_failure(do: Do) -> Do:
    """What a failure leaves behind (memory, a context that answers nothing but the same error) is no later kernel's."""

    def guarded(position: str) -> Dict[str, Any]:
        try:
            return do(position)
        except Skip:
            raise
        except Exception as e:
            cause: BaseException = e
            while isinstance(cause.__context__, CudaError):  # to give memory back failed as well
                cause = cause.__context__
            return {"failed": "%s: %s" % (type(cause).__name__, cause), "ends": True}

    return guarded


def doing(bench: Bench, kernel_of: Callable[[int], Callable[[Bench], Dict[str, Any]]]) -> Do:
    def do(position: str) -> Dict[str, Any]:
        bench.begin()
        try:
            value = kernel_of(int(position))(bench)
        except Absent as e:
            raise Skip(str(e))
        except CudaError as e:
            short = e.code == _OUT_OF_DEVICE_MEMORY and bench.short_of_memory()
            if not short:
                raise
            return {"skipped": short, "ends": True}  # what it took until then goes with its child
        value.setdefault("library", {"path": mapped_file("libcuda.so"), "version": None})
        return {"value": value, "watched": bench.watched, "peak_bytes": bench.peak_bytes()}

    return do
