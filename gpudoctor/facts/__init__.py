"""The facts of one examination: what was seen, typed, with units. Nothing here is judged.

Every field is `T | Unread` with the default `NOT_RECORDED`; None means 'looked, and it is not there'.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .base import NOT_RECORDED, Fact, UnknownFactError, Unread, every_unread, known, unread_all
from .container import CdiSpec, Container, ContainerPackage, ContainerTool, ToolkitPath
from .driver import (
    BuildLog,
    CudaDevice,
    CudaPair,
    DeviceNode,
    DkmsBuild,
    Driver,
    DriverGpu,
    FabricManager,
    KernelModule,
    Libcuda,
    Major,
    ModuleFile,
    Mps,
    Parameter,
)
from .environment import Environment, Variable, VariableNow
from .gpu import Gpu, GpuDevice, GpuPair, GpuProcess, MigDevice, NvLink
from .libraries import CachedLibrary, Libraries, LibraryFile, LibraryPick, SearchStep, Toolkit
from .measurements import ALL_REDUCE, Measurement
from .nccl import Nccl, NcclFile, NcclSetting, NetworkInterface, RdmaPort
from .pci import Pci, PciAcs, PciBar, PciDevice
from .process import MappedFile, Process
from .python import (
    CondaPackage,
    DamagedFile,
    Distribution,
    KernelSpec,
    ModulePlace,
    OtherInterpreter,
    Overlap,
    Python,
    RecordedFile,
)
from .system import KernelEvent, System
from .tensorflow import Build, LoaderObject, LogEvent, TensorFlow, TensorFlowDevice
from .text import COMPLAINT, NOTHING_WRONG, READS_LIKE_A_FAULT, Alike, Source, Text, TextEvent
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
    text: Text = Text()
    measurements: tuple[Measurement, ...] = ()
    trials: tuple[Trial, ...] = ()


def with_fact(facts: Facts, fact: str, value: Any) -> Facts:
    """`facts` with another value for the fact of this name."""
    *way, last = fact.split(".")
    holders: list[Any] = [facts]
    for name in way:
        holders.append(getattr(holders[-1], name))
    for holder, name in zip(reversed(holders), (last, *reversed(way)), strict=True):
        value = msgspec.structs.replace(holder, **{name: value})
    assert isinstance(value, Facts)
    return value


__all__ = [
    "ALL_REDUCE",
    "COMPLAINT",
    "NOTHING_WRONG",
    "NOT_RECORDED",
    "READS_LIKE_A_FAULT",
    "Alike",
    "Build",
    "BuildLog",
    "CachedLibrary",
    "CdiSpec",
    "CondaPackage",
    "Container",
    "ContainerPackage",
    "ContainerTool",
    "CudaDevice",
    "CudaPair",
    "DamagedFile",
    "DeviceNode",
    "Distribution",
    "DkmsBuild",
    "Driver",
    "DriverGpu",
    "Environment",
    "FabricManager",
    "Fact",
    "Facts",
    "Gpu",
    "GpuDevice",
    "GpuPair",
    "GpuProcess",
    "KernelEvent",
    "KernelModule",
    "KernelSpec",
    "Libcuda",
    "Libraries",
    "LibraryFile",
    "LibraryPick",
    "LoaderObject",
    "LogEvent",
    "Major",
    "MappedFile",
    "Measurement",
    "MigDevice",
    "ModuleFile",
    "ModulePlace",
    "Mps",
    "Nccl",
    "NcclFile",
    "NcclSetting",
    "NetworkInterface",
    "NvLink",
    "OtherInterpreter",
    "Overlap",
    "Parameter",
    "Pci",
    "PciAcs",
    "PciBar",
    "PciDevice",
    "Process",
    "Python",
    "RdmaPort",
    "RecordedFile",
    "SearchStep",
    "Source",
    "System",
    "TensorFlow",
    "TensorFlowDevice",
    "Text",
    "TextEvent",
    "Toolkit",
    "ToolkitPath",
    "Trial",
    "UnknownFactError",
    "Unread",
    "Variable",
    "VariableNow",
    "every_unread",
    "known",
    "unread_all",
    "with_fact",
]
