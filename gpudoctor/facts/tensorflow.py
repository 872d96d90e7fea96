"""TensorFlow: its files, its loader's answers, its import, its device list."""

from __future__ import annotations

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

    def gpus(self) -> tuple[TensorFlowDevice, ...] | Unread:
        """The GPUs that TensorFlow lists."""
        if isinstance(self.devices, Unread):
            return self.devices
        return tuple(d for d in self.devices if d.type == "GPU")
