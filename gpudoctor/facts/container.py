"""The container or job that the patient runs in, and the container tools that this host shows.

Which container it is stands in `System.container`; NVIDIA_VISIBLE_DEVICES and its like in `Environment`.
"""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class ContainerTool(Fact, frozen=True, kw_only=True):
    """An engine, or a program of NVIDIA's container toolkit; seen as a file, not run."""

    name: str
    path: str
    version: str | Unread | None = NOT_RECORDED
    """None: no file tells."""


class CdiSpec(Fact, frozen=True, kw_only=True):
    """A file of the Container Device Interface: what an engine puts into a container for a device name."""

    path: str
    kind: str | Unread | None = NOT_RECORDED
    """'nvidia.com/gpu'."""
    devices: tuple[str, ...] | Unread = NOT_RECORDED
    driver_version: str | Unread | None = NOT_RECORDED
    """Of the libcuda that it mounts; None: it mounts none."""
    libcuda: str | Unread | None = NOT_RECORDED
    """The host's file that it mounts."""
    libcuda_exists: bool | Unread = NOT_RECORDED


class Container(Fact, frozen=True, kw_only=True):
    """None is 'looked, and it is not there'."""

    evidence: tuple[str, ...] | Unread = NOT_RECORDED
    """What shows which container `System.container` is: files, variables, mounts."""
    platforms: tuple[str, ...] | Unread = NOT_RECORDED
    """What it runs under besides: 'slurm', 'colab', 'kaggle', 'wsl2', 'snap', 'jupyterhub'."""
    driver_mounts: tuple[str, ...] | Unread = NOT_RECORDED
    """Mount points of driver files and nodes: what was handed over. Empty on a bare host."""
    device_rules: tuple[str, ...] | Unread | None = NOT_RECORDED
    """devices.list of the control group (version 1); None: version 2, which shows none."""
    user_namespace: bool | Unread = NOT_RECORDED
    """User ids inside are others outside."""
    rootless: bool | Unread = NOT_RECORDED
    """That namespace was made by a user without privileges (rootless podman or docker, Apptainer, enroot)."""

    tools: tuple[ContainerTool, ...] | Unread = NOT_RECORDED
    docker_snap: bool | Unread = NOT_RECORDED
    """docker comes from snap, which sees little of the host."""
    docker_runtimes: tuple[str, ...] | Unread | None = NOT_RECORDED
    """Names of the runtimes in daemon.json; None: no such file."""
    docker_default_runtime: str | Unread | None = NOT_RECORDED
    containerd_runtimes: tuple[str, ...] | Unread | None = NOT_RECORDED
    """Names of the runtimes in containerd's settings; None: no such file."""
    containerd_default_runtime: str | Unread | None = NOT_RECORDED
    toolkit_settings: tuple[str, ...] | Unread | None = NOT_RECORDED
    """Lines of /etc/nvidia-container-runtime/config.toml that matter ('no-cgroups = false', …); None: no such file."""
    cdi_specs: tuple[CdiSpec, ...] | Unread = NOT_RECORDED
    """Those of /etc/cdi first; of one kind the last one counts."""
