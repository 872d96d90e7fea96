"""The container engines of this machine: their packages and settings, where the toolkit looks, Kubernetes' kubelet."""

import json
import os
import re
import subprocess
from typing import Any, Dict, List, Optional

from .core import answer, list_directory, read_text

_CONTAINER_PACKAGES = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container1",
    "libnvidia-container-tools",
    "nvidia-container-runtime",
    "nvidia-docker",
    "nvidia-docker2",
    "docker-ce",
    "docker.io",
    "moby-engine",
    "podman",
    "containerd.io",
)
_RPM_LIMIT_S = 3.0
_TOOLKIT_FILE = "/etc/nvidia-container-runtime/config.toml"
_KUBELET = "/var/lib/kubelet/device-plugins"
_OWN_CONTAINERD = tuple("/var/lib/rancher/%s/agent/etc/containerd/config.toml" % kind for kind in ("k3s", "rke2"))
_SETTINGS_BYTES = 1 << 18


def engines(root: str = "") -> None:
    """What is installed, what is configured, what this user's docker talks to."""
    answer(
        "engines",
        {
            "packages": _container_packages(root),
            "cgroup": _hierarchy(root),
            "docker_server": _docker_server(root),
            "snap": _settings(root, "/var/snap/docker/current/config/daemon.json"),
            "rootless": _rootless_docker(root),
            "hooks": [
                p
                for d in ("/usr/share/containers/oci/hooks.d", "/etc/containers/oci/hooks.d")
                for p in _named(root, d, r"nvidia.*\.json$")
            ],
            "toolkit": _toolkit_paths(root),
            "kubelet": _kubelet(root),
            "own_containerd": next((got for got in (_settings(root, p) for p in _OWN_CONTAINERD) if got), None),
        },
    )


def _settings(root: str, path: str) -> Optional[Dict[str, Any]]:
    """A settings file with its name; None where there is none."""
    got = read_text(root + path, _SETTINGS_BYTES)
    return None if got.get("errno") in (2, 20) else dict(got, path=path)


def _named(root: str, directory: str, form: str) -> List[str]:
    names = list_directory(root + directory)
    return [] if isinstance(names, int) else ["%s/%s" % (directory, n) for n in names if re.search(form, n)]


# ----------------------------------------------------------------------------- packages


def _container_packages(root: str) -> Any:
    """[name, version] of those that are installed; None without a package manager that is known here, or its complaint."""
    text = read_text(root + "/var/lib/dpkg/status", 1 << 26).get("text")
    if text is not None:
        return [
            [m.group(1), v.group(1)]
            for m in re.finditer(r"^Package: (\S+)\n((?:[^\n]+\n)*)", text, re.MULTILINE)
            if m.group(1) in _CONTAINER_PACKAGES and "Status: install ok installed" in m.group(2)
            for v in [re.search(r"^Version: (\S+)", m.group(2), re.MULTILINE)]
            if v
        ]
    if not any(os.path.isdir(root + p) for p in ("/var/lib/rpm", "/usr/lib/sysimage/rpm")):
        return None
    return _of_rpm()


def _of_rpm() -> Any:
    command = ["rpm", "-q", "--qf", "%{NAME} %{VERSION}\\n"] + list(_CONTAINER_PACKAGES)
    try:
        done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    except OSError as e:
        return "rpm: %s" % os.strerror(e.errno or 0)
    try:
        out = done.communicate(timeout=_RPM_LIMIT_S)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        done.kill()
        return "rpm did not end within %g s" % _RPM_LIMIT_S
    rows = [line.split(" ") for line in out.splitlines()]
    return [row for row in rows if len(row) == 2 and row[0] in _CONTAINER_PACKAGES]


# ----------------------------------------------------------------------------- engines


def _hierarchy(root: str) -> Any:
    """2 or 1 for what is mounted at /sys/fs/cgroup; 0 for nothing, or the complaint."""
    got = read_text(root + "/proc/self/mountinfo", 4 << 20)
    if "text" not in got:
        return "/proc/self/mountinfo: %s" % os.strerror(got["errno"])
    kinds = {}
    for line in got["text"].splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) > 4 and kind:
            kinds[fields[4]] = kind[0]
    if kinds.get("/sys/fs/cgroup") == "cgroup2":
        return 2
    return 1 if "cgroup" in kinds.values() else 0


def _docker_server(root: str) -> Optional[str]:
    """Another server than the system's own: DOCKER_HOST, or the context that is chosen. Nothing else of its settings is
    read: they hold passwords."""
    host = os.environ.get("DOCKER_HOST")
    if host:
        return host if host.startswith("unix://") else host.partition("://")[0] + "://…"
    context = os.environ.get("DOCKER_CONTEXT")
    if not context:
        place = os.environ.get("DOCKER_CONFIG") or os.path.join(os.path.expanduser("~"), ".docker")
        try:
            context = json.loads(read_text(root + place + "/config.json", 1 << 20).get("text", "")).get(
                "currentContext"
            )
        except (ValueError, AttributeError):
            context = None
    return str(context) if context and context != "default" else None


def _rootless_docker(root: str) -> List[str]:
    """The socket and the service of a docker of this user's own."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or "/run/user/%d" % os.getuid()
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    places = (runtime + "/docker.sock", config + "/systemd/user/docker.service")
    return [p for p in places if os.path.exists(root + p)]


def _toolkit_paths(root: str) -> Any:
    """[setting, path, whether it holds what it should] of the toolkit's settings; None where there are none, or the errno."""
    got = read_text(root + _TOOLKIT_FILE, _SETTINGS_BYTES)
    if "text" not in got:
        return None if got["errno"] == 2 else got["errno"]
    found: List[List[Any]] = []
    for name, path in re.findall(r"^\s*(ldconfig|root)\s*=\s*[\"'](@?/[^\"'\n]*)", got["text"], re.MULTILINE):
        if name == "ldconfig" and not path.startswith("@"):
            continue  # it is the container's own, which is not here
        plain = path.lstrip("@")
        found.append([name, plain, os.path.exists(root + plain) if name == "ldconfig" else _holds_driver(root + plain)])
    return found


def _holds_driver(top: str) -> bool:
    """Whether a library of the driver lies below a directory that is a root of its own."""
    places = ["/usr/lib64", "/usr/lib", "/lib64", "/lib", "/usr/lib/wsl/lib", "/run/opengl-driver/lib"]
    for base in ("/usr/lib", "/lib"):
        names = list_directory(top.rstrip("/") + base)
        places += (
            ["%s/%s" % (base, n) for n in names if "linux-gnu" in n or "nvidia" in n] if isinstance(names, list) else []
        )
    for place in places:
        names = list_directory(top.rstrip("/") + place)
        if isinstance(names, list) and any(n.startswith(("libcuda.so", "libnvidia-ml.so")) for n in names):
            return True
    return False


# ----------------------------------------------------------------------------- Kubernetes


def _kubelet(root: str) -> Any:
    """Sockets at the kubelet, and what plugins registered; None without a kubelet, or the errno."""
    names = list_directory(root + _KUBELET)
    if isinstance(names, int):
        return None if names == 2 else names
    claims = _named(root, "/var/lib/kubelet/plugins", "nvidia")
    record = read_text(root + _KUBELET + "/kubelet_internal_checkpoint", 1 << 22)
    registered: Any = record.get("errno")
    if "text" in record:
        try:
            registered = sorted(
                name for name, ids in (json.loads(record["text"])["Data"]["RegisteredDevices"] or {}).items() if ids
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            registered = 22
    return {"sockets": [n for n in names if n.endswith(".sock")] + claims, "registered": registered}
