"""The facts of one examination: what was seen, typed, with units. Nothing here is judged.

Every field is `T | Unread` with the default `NOT_RECORDED`; None means 'looked, and it is not there'.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .base import NOT_RECORDED, Fact, UnknownFactError, Unread, every_unread, known, unread_all
from .cluster import Cluster, ClusterTask, Horovod, Launched, PortHolder, TfConfig
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
    cuda_release,
)
from .environment import Environment, Variable, VariableNow
from .gpu import Gpu, GpuDevice, GpuPair, GpuProcess, MigDevice, NvLink, clock_reasons
from .libraries import CachedLibrary, Libraries, LibraryFile, LibraryPick, SearchStep, Toolkit
from .measurements import (
    ALL_REDUCE,
    LEFT_OUT,
    NATIVE,
    TENSORFLOW,
    TRAINING,
    TRAINING_MIXED,
    ClockReason,
    DeviceUse,
    Load,
    Measurement,
)
from .nccl import Nccl, NcclFile, NcclSetting, NetworkInterface, RdmaPort
from .pci import Pci, PciAcs, PciBar, PciDevice
from .plugins import PluginFailure, Plugins
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
from .run import Quantiles, Run, RunGpu, RunThreads
from .system import KernelEvent, NumaNode, System
from .tensorflow import Build, LoaderObject, LogEvent, TensorFlow, TensorFlowDevice
from .text import COMPLAINT, NOTHING_WRONG, READS_LIKE_A_FAULT, Alike, Source, Text, TextEvent, rates_to_others
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
    cluster: Cluster = Cluster()
    container: Container = Container()
    process: Process = Process()
    run: Run = Run()
    plugins: Plugins = Plugins()
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
    "LEFT_OUT",
    "NATIVE",
    "NOTHING_WRONG",
    "NOT_RECORDED",
    "READS_LIKE_A_FAULT",
    "TENSORFLOW",
    "TRAINING",
    "TRAINING_MIXED",
    "Alike",
    "Build",
    "BuildLog",
    "CachedLibrary",
    "CdiSpec",
    "ClockReason",
    "Cluster",
    "ClusterTask",
    "CondaPackage",
    "Container",
    "ContainerPackage",
    "ContainerTool",
    "CudaDevice",
    "CudaPair",
    "DamagedFile",
    "DeviceNode",
    "DeviceUse",
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
    "Horovod",
    "KernelEvent",
    "KernelModule",
    "KernelSpec",
    "Launched",
    "Libcuda",
    "Libraries",
    "LibraryFile",
    "LibraryPick",
    "Load",
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
    "NumaNode",
    "NvLink",
    "OtherInterpreter",
    "Overlap",
    "Parameter",
    "Pci",
    "PciAcs",
    "PciBar",
    "PciDevice",
    "PluginFailure",
    "Plugins",
    "PortHolder",
    "Process",
    "Python",
    "Quantiles",
    "RdmaPort",
    "RecordedFile",
    "Run",
    "RunGpu",
    "RunThreads",
    "SearchStep",
    "Source",
    "System",
    "TensorFlow",
    "TensorFlowDevice",
    "Text",
    "TextEvent",
    "TfConfig",
    "Toolkit",
    "ToolkitPath",
    "Trial",
    "UnknownFactError",
    "Unread",
    "Variable",
    "VariableNow",
    "clock_reasons",
    "cuda_release",
    "every_unread",
    "known",
    "rates_to_others",
    "unread_all",
    "with_fact",
]
