"""TensorFlow: its files, its loader's answers, its import, its device list."""

from __future__ import annotations

import msgspec

from .base import NOT_RECORDED, Fact, Unread
from .libraries import LibraryPick


class Build(Fact, frozen=True, kw_only=True):
    """build_info.py of the package, read as text."""

    cuda: bool | Unread = NOT_RECORDED
    rocm: bool | Unread = NOT_RECORDED
    cuda_version: str | Unread | None = NOT_RECORDED
    cudnn_version: str | Unread | None = NOT_RECORDED
    compute_capabilities: tuple[str, ...] | Unread = NOT_RECORDED


class LoaderObject(Fact, frozen=True, kw_only=True):
    """A shared object of TensorFlow and its DT_RUNPATH, $ORIGIN expanded, duplicates dropped."""

    path: str
    runpath: tuple[str, ...] | Unread = NOT_RECORDED
    calls_dlopen: bool | Unread = NOT_RECORDED
    """It holds the loader that was asked: its RUNPATH is the one that counts."""


class TensorFlowDevice(Fact, frozen=True, kw_only=True):
    """A device of tf.config.list_physical_devices()."""

    name: str
    type: str
    model: str | Unread | None = NOT_RECORDED
    compute_capability: tuple[int, ...] | Unread = NOT_RECORDED


class LogEvent(Fact, frozen=True, kw_only=True):
    """One line that TensorFlow wrote and that tells something; `gpudoctor/logs/tensorflow.py` has the kinds."""

    kind: str
    text: str
    """The line without its prefix."""
    severity: str | None = None
    """'I', 'W', 'E', 'F'; None: the line has no prefix."""
    source: str | None = None
    """'gpu_device.cc:2043'."""
    values: dict[str, str] = msgspec.field(default_factory=dict)
    """What the line names: 'error', 'library', 'device', 'capability', 'minimum', …"""


class TensorFlow(Fact, frozen=True, kw_only=True):
    """None is 'looked, and it is not there'."""

    directory: str | Unread | None = NOT_RECORDED
    """The package directory that `import tensorflow` would take; None: not installed."""
    stray: tuple[str, ...] | Unread = NOT_RECORDED
    """Files or directories named tensorflow that are not the package and would be imported."""
    distribution: str | Unread | None = NOT_RECORDED
    """The distribution that owns the directory ('tensorflow', 'tensorflow-cpu', 'tf-nightly', …)."""
    version: str | Unread | None = NOT_RECORDED
    build: Build = Build()
    objects: tuple[LoaderObject, ...] | Unread = NOT_RECORDED
    loader_ok: bool | Unread = NOT_RECORDED
    """MaybeTryDlopenGPULibraries() of TensorFlow's own loader, asked in a child process."""
    libraries: tuple[LibraryPick, ...] | Unread = NOT_RECORDED
    """Each library that the loader asks for, in its order."""
    simulated: tuple[LibraryPick, ...] | Unread = NOT_RECORDED
    """The same by glibc's rules over the files; looked at on level full, or where the loader gives no answer."""
    loader_source: str | Unread = NOT_RECORDED
    """'direct' (TensorFlow's own loader), 'simulated' (glibc's rules over the files)."""
    import_error: str | Unread | None = NOT_RECORDED
    """Last line of the traceback, or how the process ended; None: the import succeeded."""
    import_seconds: float | Unread = NOT_RECORDED
    devices: tuple[TensorFlowDevice, ...] | Unread = NOT_RECORDED
    log: tuple[str, ...] | Unread = NOT_RECORDED
    """What TensorFlow's process wrote to standard error, last lines."""

    events: tuple[LogEvent, ...] | Unread = NOT_RECORDED
    """What of it is understood, every line of the log, equal ones once."""
    loaded: tuple[str, ...] | Unread = NOT_RECORDED
    """Shared objects of CUDA, the driver and TensorFlow that TensorFlow's processes had mapped, after listing the
    devices and after the kernels."""
    logical_devices: tuple[str, ...] | Unread = NOT_RECORDED
    """The logical devices of the process that ran the kernels on all devices."""

    def said(self, *kinds: str) -> tuple[LogEvent, ...] | Unread:
        """The events of these kinds."""
        if isinstance(self.events, Unread):
            return self.events
        return tuple(e for e in self.events if e.kind in kinds)

    def gpus(self) -> tuple[TensorFlowDevice, ...] | Unread:
        """The GPUs that TensorFlow lists."""
        if isinstance(self.devices, Unread):
            return self.devices
        return tuple(d for d in self.devices if d.type == "GPU")
