"""The container or job around the patient, and the container tools that this machine shows; by files alone."""

import json
import os
import re
from typing import Any, Dict, List, Optional

from .core import answer, list_directory, read_text

_MARKS = (
    "/.dockerenv",
    "/run/.containerenv",
    "/.singularity.d",
    "/dev/dxg",
    "/dev/lxd/sock",
    "/dev/incus/sock",
    "/kaggle",
    "/var/run/secrets/kubernetes.io",
)
_SIGNS = (
    "APPTAINER_CONTAINER",
    "SINGULARITY_CONTAINER",
    "APPTAINER_NAME",
    "SINGULARITY_NAME",
    "KUBERNETES_SERVICE_HOST",
    "SLURM_JOB_ID",
    "COLAB_RELEASE_TAG",
    "COLAB_GPU",
    "KAGGLE_KERNEL_RUN_TYPE",
    "SNAP_NAME",
    "JUPYTERHUB_API_URL",
    "WSL_DISTRO_NAME",
)
_BINARIES = (
    "docker",
    "dockerd",
    "podman",
    "containerd",
    "crio",
    "apptainer",
    "singularity",
    "enroot",
    "nvidia-ctk",
    "nvidia-cdi-hook",
    "nvidia-container-cli",
    "nvidia-container-runtime",
    "nvidia-container-runtime-hook",
)
_PLACES = ("/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/local/nvidia/toolkit", "/snap/bin", "/opt/bin")
_SMALL = 1 << 18


def container(root: str = "") -> None:
    """Which container, what was handed over, which tools."""
    answer(
        "container",
        {
            "marks": [p for p in _MARKS if os.path.exists(root + p)],
            "signs": [v for v in _SIGNS if v in os.environ],
            "own_variable": os.environ.get("container"),
            "init_variable": _init_variable(root),
            "systemd": _first_line(root + "/run/systemd/container"),
            "cgroup": read_text(root + "/proc/1/cgroup", _SMALL),
            "release": os.uname().release if hasattr(os, "uname") else "",
            "mounts": _telling_mounts(root),
            "uid_map": read_text(root + "/proc/self/uid_map", 4096),
            "device_rules": _device_rules(root),
        },
    )


def container_tools(root: str = "") -> None:
    """Engines, NVIDIA's toolkit and their settings."""
    answer(
        "container_tools",
        {
            "binaries": [p for p in ("%s/%s" % (d, n) for n in _BINARIES for d in _PLACES) if os.path.exists(root + p)],
            "docker_snap": _text_of(root + "/snap/docker/current/meta/snap.yaml"),
            "libnvidia_container": _library_names(root),
            "docker": _first_text(root, ("/etc/docker/daemon.json", "/var/snap/docker/current/config/daemon.json")),
            "containerd": _with_directory(root, "/etc/containerd/config.toml", "/etc/containerd/conf.d"),
            "toolkit": read_text(root + "/etc/nvidia-container-runtime/config.toml", _SMALL),
            "cdi": _cdi_specs(root),
        },
    )


def _first_line(path: str) -> Optional[str]:
    lines: List[str] = read_text(path, 256).get("text", "").splitlines()
    return lines[0] if lines else None


def _text_of(path: str) -> Optional[str]:
    text = read_text(path, _SMALL).get("text")
    return text if text is None else str(text)


def _init_variable(root: str) -> Optional[str]:
    """`container=` among the variables of process 1."""
    try:
        with open(root + "/proc/1/environ", "rb") as f:
            for item in f.read(1 << 20).split(b"\0"):
                if item.startswith(b"container="):
                    return item[10:].decode("utf-8", "replace")
    except OSError:
        pass
    return None


def _telling_mounts(root: str) -> Any:
    """[root, mount point, type, source] of mounts that tell of a container or of NVIDIA's driver; or the errno."""
    got = read_text(root + "/proc/self/mountinfo", 4 << 20)
    if "text" not in got:
        return got["errno"]
    found: List[List[str]] = []
    for line in got["text"].splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or len(kind) < 2:
            continue
        if fields[4] in ("/", "/etc/hostname", "/etc/resolv.conf", "/etc/hosts") or re.search(
            r"nvidia|libcuda|/\.singularity\.d|/usr/lib/wsl", fields[4]
        ):
            found.append([fields[3], fields[4], kind[0], kind[1]])
    return found[:300]


def _device_rules(root: str) -> Any:
    """devices.list of this process's group (version 1 only); None where there is no such thing."""
    groups = read_text(root + "/proc/self/cgroup", _SMALL).get("text", "")
    for line in groups.splitlines():
        _, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if "devices" in names.split(","):
            for place in ("/sys/fs/cgroup/devices" + path.rstrip("/"), "/sys/fs/cgroup/devices"):
                got = read_text(root + place + "/devices.list", _SMALL)
                if "text" in got:
                    return got["text"].splitlines()[:100]
    return None


def _library_names(root: str) -> List[str]:
    """Versioned names of libnvidia-container, which is released together with the toolkit."""
    found: List[str] = []
    for place in ("/usr/lib", "/usr/lib64", "/usr/local/lib") + tuple(
        "/usr/lib/%s-linux-gnu" % m for m in ("x86_64", "aarch64")
    ):
        names = list_directory(root + place)
        if not isinstance(names, int):
            found += ["%s/%s" % (place, n) for n in names if n.startswith("libnvidia-container.so.")]
    return found


def _first_text(root: str, paths: Any) -> Dict[str, Any]:
    """The first of `paths` that is there, with its name."""
    for path in paths:
        if os.path.exists(root + path):
            return dict(read_text(root + path, _SMALL), path=path)
    return {}


def _with_directory(root: str, path: str, directory: str) -> List[Dict[str, Any]]:
    """A settings file and those in the directory beside it."""
    names = list_directory(root + directory)
    paths = [path] + [
        "%s/%s" % (directory, n) for n in ([] if isinstance(names, int) else names) if n.endswith(".toml")
    ]
    return [dict(read_text(root + p, _SMALL), path=p) for p in paths if os.path.exists(root + p)][:20]


def _cdi_specs(root: str) -> List[Dict[str, Any]]:
    """The specifications in the two directories, those that count more last; which driver libraries they name."""
    found: List[Dict[str, Any]] = []
    for directory in ("/etc/cdi", "/var/run/cdi"):
        names = list_directory(root + directory)
        for name in [] if isinstance(names, int) else names:
            if not name.endswith((".yaml", ".yml", ".json")):
                continue
            got = read_text("%s%s/%s" % (root, directory, name), 1 << 20)
            text = got.get("text", "")
            kind, devices = _cdi_outline(text)
            spec: Dict[str, Any] = {"path": "%s/%s" % (directory, name), "errno": got.get("errno")}
            spec.update({"kind": kind, "devices": devices[:64]})
            paths = sorted(set(re.findall(r'"?hostPath"?:\s*"?([^"\s,]*/libcuda\.so\.\d[\d.]*)', text)))
            spec["libcuda"] = [{"path": p, "exists": os.path.exists(root + p)} for p in paths[:10]]
            found.append(spec)
    return found[:20]


def _cdi_outline(text: str) -> Any:
    """(kind, names of the devices) of a specification, in JSON or in the YAML that nvidia-ctk writes."""
    if text.lstrip().startswith("{"):
        try:
            whole = json.loads(text)
            return whole.get("kind"), [str(d.get("name")) for d in whole.get("devices") or []]
        except (ValueError, AttributeError):
            return None, []
    kind, devices, inside = None, [], False
    for line in text.splitlines():
        top = re.match(r"(\w+):\s*(.*)", line)
        if top:
            inside = top.group(1) == "devices"
            if top.group(1) == "kind":
                kind = top.group(2).strip().strip("\"'")
            continue
        named = re.match(r"\s{0,4}(?:- )?name:\s*(.+)", line) if inside else None
        if named:
            devices.append(named.group(1).strip().strip("\"'"))
    return kind, devices
