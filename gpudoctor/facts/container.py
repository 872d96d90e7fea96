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


class ContainerPackage(Fact, frozen=True, kw_only=True):
    """An installed package of an engine or of NVIDIA's container toolkit."""

    name: str
    version: str
    """Without what a distribution adds: '1.17.4' of '1.17.4-1'."""


class ToolkitPath(Fact, frozen=True, kw_only=True):
    """A file or directory of the host that the toolkit's config.toml names."""

    setting: str
    """'ldconfig' or 'root'."""
    path: str
    holds: bool | Unread = NOT_RECORDED
    """ldconfig: the file is there; root: a library of the driver lies in one of its library directories."""


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

    packages: tuple[ContainerPackage, ...] | Unread | None = NOT_RECORDED
    """As dpkg or rpm lists them; None: neither is here."""
    control_groups: int | Unread | None = NOT_RECORDED
    """Version of the hierarchy at /sys/fs/cgroup; None: none is mounted."""
    docker_server: str | Unread | None = NOT_RECORDED
    """Where this user's docker is told to go: a context's name or DOCKER_HOST; None: nowhere else."""
    docker_snap_runtimes: tuple[str, ...] | Unread | None = NOT_RECORDED
    """Names of the runtimes in the settings of the snap's docker; None: no such file."""
    rootless_docker: tuple[str, ...] | Unread = NOT_RECORDED
    """What shows this user's own rootless docker: its socket, its service."""
    podman_hooks: tuple[str, ...] | Unread = NOT_RECORDED
    """NVIDIA's hook among podman's, by which it hands over GPUs without a specification."""
    toolkit_paths: tuple[ToolkitPath, ...] | Unread | None = NOT_RECORDED
    """None: there is no config.toml."""
    kubelet_plugins: tuple[str, ...] | Unread | None = NOT_RECORDED
    """Sockets of device plugins (and of GPU drivers for resource claims) at this node's kubelet; None: no kubelet."""
    kubelet_resources: tuple[str, ...] | Unread | None = NOT_RECORDED
    """What plugins have registered there ('nvidia.com/gpu'); None: it keeps no such record."""
    kubelet_runtimes: tuple[str, ...] | Unread | None = NOT_RECORDED
    """Names of the runtimes of the containerd that the kubelet uses (k3s and rke2 bring their own); None: no settings."""
