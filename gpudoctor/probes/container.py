"""Which container or job this is, what was handed over to it, and the container tools of this machine."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import Any

from ..facts import CdiSpec, Container, ContainerPackage, ContainerTool, ToolkitPath, Unread, unread_all
from .ask import Answers, Task, reason

TASK: Task = ("container.container", {})
TOOLS: Task = ("container.container_tools", {})
ENGINES: Task = ("engines.engines", {})

_IN_CGROUP = {
    "kubepods": "kubernetes",
    "docker": "docker",
    "libpod": "podman",
    "lxc": "lxc",
    "containerd": "containerd",
}
_IN_MOUNTS = (
    (re.compile(r"/kubelet/pods/|/kubelet/"), "kubernetes"),
    (re.compile(r"/docker/containers/"), "docker"),
    (re.compile(r"/containers/storage/|/libpod/"), "podman"),
    (re.compile(r"/io\.containerd\."), "containerd"),
)
_DRIVER_FILE = re.compile(
    r"/(libcuda\.so|libcuda|libnvidia-\w|libnvidia|nvidia-smi|nvidia-(persistenced|cuda-mps)|nvidia\d|nvidiactl|nvidia-uvm)"
    r"|/proc/driver/nvidia|^/usr/local/nvidia|^/usr/lib/wsl|/\.singularity\.d/libs"
)
_PLATFORMS = {
    "SLURM_JOB_ID": "slurm",
    "COLAB_RELEASE_TAG": "colab",
    "COLAB_GPU": "colab",
    "KAGGLE_KERNEL_RUN_TYPE": "kaggle",
    "SNAP_NAME": "snap",
    "JUPYTERHUB_API_URL": "jupyterhub",
}
_TOOLKIT_FILE = "/etc/nvidia-container-runtime/config.toml"
_SETTINGS = re.compile(
    r"^\s*(no-cgroups|ldconfig|root|mode|path|load-kmods|debug|default-kind)\s*=\s*\S.*$", re.MULTILINE
)


def kind(answers: Answers) -> str | Unread | None:
    """Which container this is; None needs a readable /proc that shows no sign of one."""
    return _which(answers)[0]


def read(answers: Answers) -> Container:
    """What was handed over, and the tools."""
    got: dict[str, Any] | None = answers.last("container")
    if got is None:
        return unread_all(Container, answers.unread(TASK[0]))
    mounts = got["mounts"]
    ids = _id_ranges(got["uid_map"].get("text"))
    hidden = Unread(why="/proc/self/uid_map can't be read", settle="cat /proc/self/uid_map")
    return Container(
        evidence=_which(answers)[1],
        platforms=_platforms(got),
        driver_mounts=Unread(why=f"/proc/self/mountinfo: {reason(mounts)}", settle="cat /proc/self/mountinfo")
        if isinstance(mounts, int)
        else tuple(dict.fromkeys(p for _, p, *_ in mounts if _DRIVER_FILE.search(p))),
        device_rules=None if got["device_rules"] is None else tuple(got["device_rules"]),
        user_namespace=hidden if ids is None else ids != [(0, 0, 4294967295)],
        rootless=hidden if ids is None else any(outer and count == 1 for _, outer, count in ids),
        **_tools(answers),
        **_engines(answers),
    )


def _which(answers: Answers) -> tuple[str | Unread | None, tuple[str, ...] | Unread]:
    """The innermost container and what shows it."""
    got: dict[str, Any] | None = answers.last("container")
    if got is None:
        unread = answers.unread(TASK[0])
        return unread, unread
    found = list(_signs(got))
    if found:
        first = found[0][0]
        return first, tuple(proof for name, proof in found if name == first)
    cgroup = got["cgroup"].get("text")
    if cgroup is None:
        hidden = Unread(why="/proc/1/cgroup can't be read", settle="cat /proc/1/cgroup")
        return hidden, hidden
    for word, name in _IN_CGROUP.items():
        if word in cgroup:
            return name, (f"/proc/1/cgroup names {word}",)
    return None, ()


def _signs(got: dict[str, Any]) -> list[tuple[str, str]]:
    """(kind, proof) of every sign, the innermost kind first."""
    marks, signs = got["marks"], got["signs"]
    found = []
    for tool in ("APPTAINER", "SINGULARITY"):
        inside = [v for v in signs if v in (f"{tool}_CONTAINER", f"{tool}_NAME")]
        if inside and "/.singularity.d" in marks:
            found += [(tool.lower(), v) for v in inside]
    mounts = got["mounts"] if isinstance(got["mounts"], list) else []
    whole = next((source for source, point, *_ in reversed(mounts) if point == "/"), "")
    if re.search(r"/enroot/|/pyxis_\d", whole):
        found.append(("enroot", f"/ is mounted from {whole}"))
    if "KUBERNETES_SERVICE_HOST" in signs:
        found.append(("kubernetes", "KUBERNETES_SERVICE_HOST"))
    if "/var/run/secrets/kubernetes.io" in marks:
        found.append(("kubernetes", "/var/run/secrets/kubernetes.io"))
    if "/.dockerenv" in marks:
        found.append(("docker", "/.dockerenv"))
    if "/run/.containerenv" in marks:
        found.append(("podman", "/run/.containerenv"))
    for value, where in (
        (got["init_variable"], "container= of process 1"),
        (got["systemd"], "/run/systemd/container"),
        (got["own_variable"], "container="),
    ):
        if value and value != "wsl":  # systemd's name for WSL2, which is a virtual machine
            found.append((str(value), where))
    for source, point, *_ in mounts:
        found += [(name, f"{point} is mounted from {source}") for form, name in _IN_MOUNTS if form.search(source)][:1]
    return found


def _platforms(got: dict[str, Any]) -> tuple[str, ...]:
    found = [name for sign, name in _PLATFORMS.items() if sign in got["signs"]]
    if "/dev/dxg" in got["marks"] or "microsoft" in got["release"].lower():
        found.append("wsl2")
    return tuple(dict.fromkeys(found))


def _id_ranges(text: str | None) -> list[tuple[int, int, int]] | None:
    """(inside, outside, count) of /proc/self/uid_map."""
    rows = [line.split() for line in (text or "").splitlines()]
    return [(int(r[0]), int(r[1]), int(r[2])) for r in rows if len(r) == 3] or None


# ----------------------------------------------------------------------------- tools


def _tools(answers: Answers) -> dict[str, Any]:
    got: dict[str, Any] | None = answers.last("container_tools")
    if got is None:
        return dict.fromkeys(_TOOL_FIELDS, answers.unread(TOOLS[0]))
    runtimes, default = _docker(got["docker"])
    theirs, their_default = _containerd(got["containerd"])
    versions = [m.group(1) for n in got["libnvidia_container"] if (m := re.search(r"\.so\.(\d+\.\d+\.\d+)$", n))]
    toolkit = versions[0] if versions else None
    snap = re.search(r"^version:\s*['\"]?([^'\"\s]+)", got["docker_snap"] or "", re.MULTILINE)
    return {
        "tools": tuple(_tool(path, toolkit, snap.group(1) if snap else None) for path in got["binaries"]),
        "docker_snap": got["docker_snap"] is not None or "/snap/bin/docker" in got["binaries"],
        "docker_runtimes": runtimes,
        "docker_default_runtime": default,
        "containerd_runtimes": theirs,
        "containerd_default_runtime": their_default,
        "toolkit_settings": _toolkit_settings(got["toolkit"]),
        "cdi_specs": tuple(_cdi_spec(raw) for raw in got["cdi"]),
    }


_TOOL_FIELDS = (
    *("tools", "docker_snap", "docker_runtimes", "docker_default_runtime", "containerd_runtimes"),
    *("containerd_default_runtime", "toolkit_settings", "cdi_specs"),
)


def _tool(path: str, toolkit: str | None, snap: str | None) -> ContainerTool:
    name = os.path.basename(path)
    return ContainerTool(
        name=name, path=path, version=toolkit if name.startswith("nvidia-") else snap if "/snap/" in path else None
    )


def _unreadable(raw: dict[str, Any]) -> Unread:
    return Unread(why=f"{raw['path']}: {reason(raw['errno'])}", settle=f"sudo cat {raw['path']}")


# ----------------------------------------------------------------------------- engines


_ENGINE_FIELDS = (
    *("packages", "control_groups", "docker_server", "docker_snap_runtimes", "rootless_docker", "podman_hooks"),
    *("toolkit_paths", "kubelet_plugins", "kubelet_resources", "kubelet_runtimes"),
)
_KUBELET = "/var/lib/kubelet/device-plugins"


def _engines(answers: Answers) -> dict[str, Any]:
    got: dict[str, Any] | None = answers.last("engines")
    if got is None:
        return dict.fromkeys(_ENGINE_FIELDS, answers.unread(ENGINES[0]))
    packages, groups, toolkit = got["packages"], got["cgroup"], got["toolkit"]
    own, tools = got["own_containerd"], answers.last("container_tools")
    settings = [own] if own else (tools or {}).get("containerd", [])
    return {
        "packages": tuple(ContainerPackage(name=n, version=_upstream(v)) for n, v in packages)
        if isinstance(packages, list)
        else packages and Unread(why=packages, settle="rpm -qa | grep -e nvidia-container -e docker"),
        "control_groups": Unread(why=groups) if isinstance(groups, str) else groups or None,
        "docker_server": got["docker_server"],
        "docker_snap_runtimes": _docker(got["snap"] or {})[0],
        "rootless_docker": tuple(got["rootless"]),
        "podman_hooks": tuple(got["hooks"]),
        "toolkit_paths": _unreadable({"path": _TOOLKIT_FILE, "errno": toolkit})
        if isinstance(toolkit, int)
        else None
        if toolkit is None
        else tuple(ToolkitPath(setting=n, path=p, holds=h) for n, p, h in toolkit),
        **_kubelet(got["kubelet"]),
        "kubelet_runtimes": answers.unread(TOOLS[0]) if tools is None and not own else _containerd(settings)[0],
    }


def _upstream(version: str) -> str:
    """'5:27.3.1-1~ubuntu' -> '27.3.1'."""
    return re.sub(r"^\d+:|[-+~].*$", "", version)


def _kubelet(raw: Any) -> dict[str, Any]:
    if raw is None:
        return dict.fromkeys(("kubelet_plugins", "kubelet_resources"))
    if isinstance(raw, int):
        hidden = Unread(why=f"{_KUBELET}: {reason(raw)}", settle=f"sudo ls {_KUBELET}")
        return {"kubelet_plugins": hidden, "kubelet_resources": hidden}
    registered, record = raw["registered"], f"{_KUBELET}/kubelet_internal_checkpoint"
    if isinstance(registered, int) and registered != errno.ENOENT:
        resources: Any = Unread(why=f"{record}: {reason(registered)}", settle=f"sudo cat {record}")
    else:
        resources = None if isinstance(registered, int) else tuple(registered)
    return {"kubelet_plugins": tuple(raw["sockets"]), "kubelet_resources": resources}


def _docker(raw: dict[str, Any]) -> tuple[tuple[str, ...] | Unread | None, str | Unread | None]:
    """Names of the runtimes and the default one, of daemon.json."""
    if not raw:
        return None, None
    if "text" not in raw:
        return _unreadable(raw), _unreadable(raw)
    try:
        whole = json.loads(raw["text"] or "{}")
        return tuple(whole.get("runtimes") or {}), whole.get("default-runtime")
    except (ValueError, AttributeError, TypeError):
        wrong = Unread(why=f"{raw['path']} is no JSON object", settle=f"python3 -m json.tool {raw['path']}")
        return wrong, wrong


def _containerd(files: list[dict[str, Any]]) -> tuple[tuple[str, ...] | Unread | None, str | Unread | None]:
    """Names of the runtimes and the default one, of containerd's settings; a later file counts more."""
    if not files:
        return None, None
    blocked = next((f for f in files if "text" not in f), None)
    if blocked is not None:
        return _unreadable(blocked), _unreadable(blocked)
    names: dict[str, None] = {}
    default = None
    for one in files:
        names.update(dict.fromkeys(re.findall(r"^\s*\[[^\]\n#]*\bruntimes\.['\"]?([\w-]+)", one["text"], re.MULTILINE)))
        for match in re.finditer(r"^\s*default_runtime_name\s*=\s*['\"]([^'\"\n]*)", one["text"], re.MULTILINE):
            default = match.group(1) or None
    return tuple(names), default


def _toolkit_settings(raw: dict[str, Any]) -> tuple[str, ...] | Unread | None:
    if "text" in raw:
        return tuple(match.group(0).strip() for match in _SETTINGS.finditer(raw["text"]))
    return None if raw["errno"] == errno.ENOENT else _unreadable({**raw, "path": _TOOLKIT_FILE})


def _cdi_spec(raw: dict[str, Any]) -> CdiSpec:
    if raw["errno"] is not None:
        return CdiSpec(path=raw["path"], **dict.fromkeys(CdiSpec.__struct_fields__[1:], _unreadable(raw)))
    library = raw["libcuda"][0] if raw["libcuda"] else None
    match = re.search(r"\.so\.(\d[\d.]*\d)$", library["path"]) if library else None
    return CdiSpec(
        path=raw["path"],
        kind=raw["kind"],
        devices=tuple(raw["devices"]),
        driver_version=match.group(1) if match else None,
        libcuda=library["path"] if library else None,
        libcuda_exists=library["exists"] if library else Unread(why="it mounts no libcuda"),
    )
