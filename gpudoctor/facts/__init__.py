"""The facts of one examination: what was seen, typed, with units. Nothing here is judged.

Every field is `T | Unread` with the default `NOT_RECORDED`; None means 'looked, and it is not there'.
"""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, UnknownFactError, Unread, known, unread_all
from .container import Container
from .driver import CudaDevice, DeviceNode, Driver, Libcuda
from .environment import Environment, Variable
from .gpu import Gpu, GpuDevice
from .libraries import Libraries, LibraryFile, LibraryPick, SearchStep
from .measurements import Measurement
from .nccl import Nccl
from .pci import Pci, PciDevice
from .process import MappedFile, Process
from .python import Distribution, Python
from .system import System
from .tensorflow import Build, LoaderObject, LogEvent, TensorFlow, TensorFlowDevice
from .trials import Trial


class Facts(Fact, frozen=True, kw_only=True):
    """Everything that is known of one machine, log or bundle."""

    environment: Environment = Environment()
    system: System = System()
    pci: Pci = Pci()
    driver: Driver = Driver()
    gpu: Gpu = Gpu()
    python: Python = Python()
    libraries: Libraries = Libraries()
    tensorflow: TensorFlow = TensorFlow()
    nccl: Nccl = Nccl()
    container: Container = Container()
    process: Process = Process()
    measurements: tuple[Measurement, ...] = ()
    trials: tuple[Trial, ...] = ()


__all__ = [
    "NOT_RECORDED",
    "Build",
    "Container",
    "CudaDevice",
    "DeviceNode",
    "Distribution",
    "Driver",
    "Environment",
    "Fact",
    "Facts",
    "Gpu",
    "GpuDevice",
    "Libcuda",
    "Libraries",
    "LibraryFile",
    "LibraryPick",
    "LoaderObject",
    "LogEvent",
    "MappedFile",
    "Measurement",
    "Nccl",
    "Pci",
    "PciDevice",
    "Process",
    "Python",
    "SearchStep",
    "System",
    "TensorFlow",
    "TensorFlowDevice",
    "Trial",
    "UnknownFactError",
    "Unread",
    "Variable",
    "known",
    "unread_all",
]
