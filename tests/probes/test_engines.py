"""The container engines of a host as a real child reads them: packages, settings, sockets, what the toolkit is told."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.facts import Container, ContainerPackage, ToolkitPath, Unread
from gpudoctor.probes import container
from gpudoctor.probes.ask import Answers, Patient
from tests.interpreters import interpreters
from tests.probes.test_host import BARE, tree

SETTINGS = "/etc/nvidia-container-runtime/config.toml"
PLUGINS = "/var/lib/kubelet/device-plugins"


def seen(root: Path, files: dict[str, str | bytes], python: str = sys.executable, **env: str) -> Container:
    """With no variables but these."""
    patient = Patient((python,), {"PATH": os.defpath, "HOME": "/home/me", **env})
    where = {"root": str(tree(root, {**BARE, **files}))}
    tasks: list[tuple[str, dict[str, Any]]] = [
        (name, where) for name, _ in (container.TASK, container.TOOLS, container.ENGINES)
    ]
    answers = patient.ask(tasks, limit_s=20)
    assert answers.errors == {}
    return container.read(answers)


STATUS = """Package: nvidia-container-toolkit
Status: install ok installed
Priority: optional
Version: 1.17.4-1
Description: NVIDIA Container toolkit
 Provides tools and utilities to enable GPU support in containers.

Package: zlib1g
Status: install ok installed
Version: 1:1.3.dfsg-3.1ubuntu2

Package: libnvidia-container1
Status: deinstall ok config-files
Version: 1.12.0-1

Package: docker-ce
Architecture: amd64
Version: 5:27.3.1-1~ubuntu.24.04~noble
Status: install ok installed
"""


@pytest.mark.parametrize("python", [sys.executable, *interpreters().values()])
def test_packages_of_dpkg(tmp_path: Path, python: str) -> None:
    got = seen(tmp_path, {"/var/lib/dpkg/status": STATUS}, python)
    assert got.packages == (
        ContainerPackage(name="nvidia-container-toolkit", version="1.17.4"),
        ContainerPackage(name="docker-ce", version="27.3.1"),
    )
    assert got.control_groups == 2


def rpm(directory: Path, body: str) -> str:
    directory.mkdir()
    (directory / "rpm").write_text(f"#!/bin/sh\n{body}\n")
    (directory / "rpm").chmod(0o755)
    return f"{directory}:{os.defpath}"


def test_packages_of_rpm(tmp_path: Path) -> None:
    database: dict[str, str | bytes] = {"/var/lib/rpm/rpmdb.sqlite": ""}
    says = "echo 'nvidia-container-toolkit 1.17.4'; echo 'package podman is not installed'; exit 1"
    got = seen(tmp_path / "a", database, PATH=rpm(tmp_path / "says", says))
    assert got.packages == (ContainerPackage(name="nvidia-container-toolkit", version="1.17.4"),)
    hangs = seen(tmp_path / "b", database, PATH=rpm(tmp_path / "hangs", "exec sleep 60"))
    assert isinstance(hangs.packages, Unread)
    assert "did not end within 3 s" in hangs.packages.why
    gone = seen(tmp_path / "c", database, PATH="/nonexistent")
    assert isinstance(gone.packages, Unread)
    assert "No such file" in gone.packages.why
    assert gone.packages.settle


def test_control_groups(tmp_path: Path) -> None:
    old = "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    both = old + "34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    assert seen(tmp_path / "a", {"/proc/self/mountinfo": old}).control_groups == 1
    assert seen(tmp_path / "b", {"/proc/self/mountinfo": both}).control_groups == 1
    assert seen(tmp_path / "c", {"/proc/self/mountinfo": "1 1 0:1 / / rw - ext4 /dev/a rw\n"}).control_groups is None
    hidden = tree(tmp_path / "d", {})
    answers = Patient((sys.executable,), {}).ask([(container.ENGINES[0], {"root": str(hidden)})], limit_s=20)
    (raw,) = answers.values["engines"]
    assert raw["cgroup"] == "/proc/self/mountinfo: No such file or directory"


def test_which_docker_this_user_talks_to(tmp_path: Path) -> None:
    chosen = json.dumps({"auths": {"registry": {"auth": "c2VjcmV0"}}, "currentContext": "desktop-linux"})
    settings: dict[str, str | bytes] = {"/home/me/.docker/config.json": chosen}
    assert seen(tmp_path / "a", settings).docker_server == "desktop-linux"
    assert seen(tmp_path / "b", settings, DOCKER_CONTEXT="default").docker_server is None
    assert seen(tmp_path / "c", settings, DOCKER_HOST="unix:///run/user/7/docker.sock").docker_server == "unix:///run/user/7/docker.sock"  # fmt: skip
    assert seen(tmp_path / "d", {}, DOCKER_HOST="ssh://ana@build.example").docker_server == "ssh://…"
    elsewhere: dict[str, str | bytes] = {"/cfg/config.json": json.dumps({"currentContext": "rootless"})}
    assert seen(tmp_path / "e", elsewhere, DOCKER_CONFIG="/cfg").docker_server == "rootless"
    for broken in ("{", "[]", '{"auths": {}}'):
        assert seen(tmp_path / f"f{len(broken)}", {"/home/me/.docker/config.json": broken}).docker_server is None


def test_rootless_docker(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with socket.socket(socket.AF_UNIX) as s:
        here = os.getcwd()
        os.chdir(tmp_path / "run")  # a socket's path is short
        s.bind("docker.sock")
        os.chdir(here)
        service: dict[str, str | bytes] = {"/home/me/.config/systemd/user/docker.service": ""}
        got = seen(tmp_path, service, XDG_RUNTIME_DIR="/run")
    assert got.rootless_docker == ("/run/docker.sock", "/home/me/.config/systemd/user/docker.service")
    assert seen(tmp_path / "other", {}).rootless_docker == ()


def test_hooks_and_the_snaps_settings(tmp_path: Path) -> None:
    hook = "/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json"
    settings = json.dumps({"runtimes": {"nvidia": {"path": "/snap/docker/current/x"}}})
    got = seen(tmp_path, {hook: "{}", "/var/snap/docker/current/config/daemon.json": settings})
    assert (got.podman_hooks, got.docker_snap_runtimes) == ((hook,), ("nvidia",))
    assert seen(tmp_path / "plain", {"/var/snap/docker/current/config/daemon.json": "{}"}).docker_snap_runtimes == ()


def test_where_the_toolkit_looks(tmp_path: Path) -> None:
    text = """[nvidia-container-cli]
#root = "/not/this"
root = "/run/nvidia/driver"
ldconfig = "@/sbin/ldconfig.real"
[nvidia-container-runtime]
"""
    got = seen(tmp_path, {SETTINGS: text})
    assert got.toolkit_paths == (
        ToolkitPath(setting="root", path="/run/nvidia/driver", holds=False),
        ToolkitPath(setting="ldconfig", path="/sbin/ldconfig.real", holds=False),
    )
    there: dict[str, str | bytes] = {
        SETTINGS: text,
        "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "",
        "/sbin/ldconfig.real": "",
    }
    paths = seen(tmp_path / "there", there).toolkit_paths
    assert isinstance(paths, tuple)
    assert [p.holds for p in paths] == [True, True]
    inside = seen(tmp_path / "inside", {SETTINGS: 'ldconfig = "/sbin/ldconfig"\n'})
    assert inside.toolkit_paths == ()  # the container's own


def test_settings_that_can_not_be_read(tmp_path: Path) -> None:
    (tmp_path / SETTINGS.lstrip("/")).mkdir(parents=True)
    got = seen(tmp_path, {})
    assert isinstance(got.toolkit_paths, Unread)
    assert got.toolkit_paths.settle == f"sudo cat {SETTINGS}"


def record(resources: dict[str, Any] | None) -> str:
    return json.dumps({"Data": {"PodDeviceEntries": None, "RegisteredDevices": resources}, "Checksum": 7})


def test_a_kubelet(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"{PLUGINS}/kubelet.sock": "",
        f"{PLUGINS}/nvidia-gpu.sock": "",
        f"{PLUGINS}/DEPRECATION": "",
        f"{PLUGINS}/kubelet_internal_checkpoint": record({"nvidia.com/gpu": ["GPU-1"], "vendor.example/x": []}),
        "/var/lib/rancher/k3s/agent/etc/containerd/config.toml": '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes."nvidia"]\n',
        "/etc/containerd/config.toml": "[plugins.cri.containerd.runtimes.runc]\n",
    }
    got = seen(tmp_path, files)
    assert got.kubelet_plugins == ("kubelet.sock", "nvidia-gpu.sock")
    assert got.kubelet_resources == ("nvidia.com/gpu",)
    assert (got.kubelet_runtimes, got.containerd_runtimes) == (("nvidia",), ("runc",))


def test_a_kubelet_with_little_to_tell(tmp_path: Path) -> None:
    empty = seen(
        tmp_path / "a", {f"{PLUGINS}/kubelet.sock": "", f"{PLUGINS}/kubelet_internal_checkpoint": record(None)}
    )
    assert (empty.kubelet_plugins, empty.kubelet_resources) == (("kubelet.sock",), ())
    none = seen(tmp_path / "b", {f"{PLUGINS}/kubelet.sock": "", "/etc/containerd/config.toml": "version = 2\n"})
    assert (none.kubelet_resources, none.kubelet_runtimes) == (None, ())
    odd = seen(tmp_path / "c", {f"{PLUGINS}/kubelet.sock": "", f"{PLUGINS}/kubelet_internal_checkpoint": "[]"})
    assert isinstance(odd.kubelet_resources, Unread)
    claims = seen(tmp_path / "d", {f"{PLUGINS}/kubelet.sock": "", "/var/lib/kubelet/plugins/gpu.nvidia.com/x": ""})
    assert claims.kubelet_plugins == ("kubelet.sock", "/var/lib/kubelet/plugins/gpu.nvidia.com")
    hidden = seen(tmp_path / "e", {PLUGINS: "no directory"})
    assert isinstance(hidden.kubelet_plugins, Unread)
    assert hidden.kubelet_plugins.settle == f"sudo ls {PLUGINS}"


def test_where_nobody_answers() -> None:
    whole = container.read(Answers({"container": [RAW]}, Patient((sys.executable,), {}).ask([], limit_s=5).outcome, {}))
    assert all(isinstance(getattr(whole, name), Unread) for name in ("packages", "kubelet_plugins", "toolkit_paths"))


RAW: dict[str, Any] = {
    "marks": [], "signs": [], "own_variable": None, "init_variable": None, "systemd": None, "cgroup": {"text": "0::/"},
    "release": "", "mounts": [], "uid_map": {"text": "0 0 4294967295"}, "device_rules": None,
}  # fmt: skip
