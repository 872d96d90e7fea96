"""`gpudoctor check` in containers and on hosts that are laid out for it: real mounts, nodes, control groups and engines."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import place
from tests.building import Workshop, put
from tests.place import DOCKER, GPU_NODES, HOST, MODULE
from tests.provoked.proof import Proof, proves
from tests.running import causes, gpudoctor, report

pytestmark = pytest.mark.skipif(not place.possible(), reason="needs root and mount namespaces")
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
OPENS = dict.fromkeys(GPU_NODES, (1, 3))
"""Nodes that open, as no driver is here: those of /dev/null."""


def examined(prefix: tuple[str, ...], env: dict[str, str] | None = None, *arguments: str) -> dict[str, Any]:
    done = gpudoctor(
        "check", "--level", "quick", "--no-trials", "--format", "json", "--python", sys.executable, *arguments, prefix=prefix, env=env
    )  # fmt: skip
    assert done.stdout, done.stderr
    return report(done)


def finding(judged: dict[str, Any], cause: str) -> dict[str, Any]:
    got: dict[str, Any] = next(f for f in judged["findings"] if f["cause"] == cause)
    return got


@pytest.fixture
def driver(workshop: Workshop, tmp_path: Path) -> dict[str, str]:
    """Variables with which the driver's library is a fake one that finds no device."""
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    return {"LD_LIBRARY_PATH": str(tmp_path / "driver"), "FAKE_CUDA_INIT": "100"}


def test_no_place_is_made_on_this_machine(tmp_path: Path) -> None:
    """What is not laid out is bound from this machine: a file there would be one of its own."""
    for n, more in enumerate(({"mounts": {"/usr/lib/x": "/dev/null"}}, {"nodes": {"/opt/x": (1, 3)}})):
        with pytest.raises(AssertionError, match="on this machine"):
            place.lay(tmp_path / str(n), HOST, **more)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="on this machine"):
        place.lay(tmp_path / "file", {"/opt/x": ""})


# ----------------------------------------------------------------------------- inside


@proves("container-no-gpus-flag", "a root with Docker's file and no nodes")
def test_without_gpus(tmp_path: Path) -> None:
    judged = examined(place.lay(tmp_path / "place", {**DOCKER, **MODULE}))
    assert judged["facts"]["system"]["container"] == "docker"
    assert causes(judged)[0] == "container-no-gpus-flag"
    assert finding(judged, "container-no-gpus-flag")["fixes"][0]["steps"] == ["docker run --rm -it --gpus all IMAGE"]


@proves("container-no-gpus-flag", "a pod's variable, no nodes")
def test_a_pod_without_limits(tmp_path: Path) -> None:
    judged = examined(place.lay(tmp_path / "place", {**HOST, **MODULE}), {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert causes(judged)[0] == "container-no-gpus-flag"
    steps = finding(judged, "container-no-gpus-flag")["fixes"][0]["steps"]
    assert steps[-2:] == ["        limits:", "          nvidia.com/gpu: 1"]


@proves("container-visible-devices-wrong", "a root with Docker's file and no nodes, NVIDIA_VISIBLE_DEVICES=void")
def test_where_no_device_is_asked_for(tmp_path: Path, driver: dict[str, str]) -> None:
    there = place.lay(tmp_path / "place", {**DOCKER, **MODULE})
    judged = examined(there, {**driver, "NVIDIA_VISIBLE_DEVICES": "void"})
    assert causes(judged)[0] == "container-visible-devices-wrong"


@proves("container-capabilities-without-compute", "nodes and a mount of NVML alone, NVIDIA_DRIVER_CAPABILITIES=utility")
def test_utility_alone(tmp_path: Path) -> None:
    library = tmp_path / "libnvidia-ml.so.580.159.04"
    library.write_bytes(b"")
    mounts = {f"/run/{library.name}": str(library)}
    there = place.lay(tmp_path / "place", {**DOCKER, **MODULE}, nodes=OPENS, mounts=mounts)
    judged = examined(there, {"NVIDIA_DRIVER_CAPABILITIES": "utility"})
    assert causes(judged)[0] == "container-capabilities-without-compute"


@pytest.fixture
def refused() -> Iterator[Path]:
    made = place.group_without_gpus()
    if made is None:
        pytest.skip("no control group can be made")
    yield made
    for _ in range(20):
        try:
            made.rmdir()
            break
        except OSError:
            time.sleep(0.1)


@proves("container-cgroup-devices-lost", "a real control group that may not open NVIDIA's nodes, whose modes allow it")
def test_devices_lost(tmp_path: Path, refused: Path, driver: dict[str, str]) -> None:
    """What a daemon-reload does: the nodes are there, their mode bits allow all, and the control group does not."""
    mounts = {"/run/libcuda.so.580.159.04": f"{tmp_path}/driver/libcuda.so.1"}
    there = place.lay(tmp_path / "place", {**DOCKER, **MODULE}, nodes=GPU_NODES, mounts=mounts, denied=refused)
    judged = examined(there, driver)
    nodes = {n["path"]: n for n in judged["facts"]["driver"]["nodes"]}
    assert (nodes["/dev/nvidiactl"]["open_errno"], nodes["/dev/nvidiactl"]["mode"] & 0o777) == (1, 0o666)
    assert causes(judged)[0] == "container-cgroup-devices-lost"
    assert "docker restart" in finding(judged, "container-cgroup-devices-lost")["fixes"][0]["steps"][0]


@proves("container-image-has-driver-files", "a libcuda of another release that is no mount")
@proves("driver-library-mismatch", "the same")
def test_an_image_with_a_driver_of_its_own(tmp_path: Path, workshop: Workshop, driver: dict[str, str]) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "own", "libcuda.so.535.161.08")
    (tmp_path / "own" / "libcuda.so.1").symlink_to("libcuda.so.535.161.08")
    env = {**driver, "LD_LIBRARY_PATH": str(tmp_path / "own"), "FAKE_CUDA_INIT": "803"}
    judged = examined(place.lay(tmp_path / "place", {**DOCKER, **MODULE}, nodes=OPENS), env)
    assert causes(judged)[0] == "container-image-has-driver-files"
    assert finding(judged, "driver-library-mismatch")


@proves("container-driver-too-old", "NVIDIA_REQUIRE_CUDA that libcuda does not meet")
def test_a_condition_that_the_driver_does_not_meet(tmp_path: Path, driver: dict[str, str]) -> None:
    env = {**driver, "FAKE_CUDA_INIT": "0", "NVIDIA_REQUIRE_CUDA": "cuda>=99.1 brand=tesla,driver>=470,driver<471"}
    judged = examined(place.lay(tmp_path / "place", {**DOCKER, **MODULE}, nodes=OPENS), env)
    assert "cuda>=99.1" in finding(judged, "container-driver-too-old")["message"]


@proves("apptainer-no-nv", "`check --in apptainer exec`, no libcuda behind it")
def test_apptainer_without_nv(tmp_path: Path) -> None:
    """Behind the command itself: /dev is the host's, and the driver's library is not inside."""
    there = place.lay(tmp_path / "place", {**HOST, **MODULE, "/.singularity.d/env": ""}, nodes=OPENS)
    program = tmp_path / "bin" / "apptainer"
    program.parent.mkdir()
    program.write_text(
        '#!/bin/sh\nwhile [ ! -f "$1" ]; do shift; done\nexport APPTAINER_CONTAINER="$1"; shift\n'
        f'exec {" ".join(there)} "$@"\n'
    )
    program.chmod(0o755)
    (tmp_path / "tf.sif").write_text("")
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}"}
    command = f"apptainer exec {tmp_path}/tf.sif {sys.executable}"
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--no-redact", "--in", command, env=env)
    judged = report(done)
    assert causes(judged)[0] == "apptainer-no-nv"
    assert finding(judged, "apptainer-no-nv")["fixes"][0]["steps"] == [
        f"apptainer exec --nv {tmp_path}/tf.sif python3 …"
    ]


@proves("slurm-no-gpu-allocated", "a job's variable, no nodes")
def test_a_job_without_a_gpu(tmp_path: Path) -> None:
    judged = examined(place.lay(tmp_path / "place", HOST), {"SLURM_JOB_ID": "77"})
    assert causes(judged)[0] == "slurm-no-gpu-allocated"


# ----------------------------------------------------------------------------- on the host

SETTINGS = "/etc/nvidia-container-runtime/config.toml"
PLUGINS = "/var/lib/kubelet/device-plugins"
PACKAGE = "Package: {}\nStatus: install ok installed\nVersion: {}-1\n\n"
BROKEN = {
    "/usr/sbin/dockerd": "",
    "/usr/sbin/podman": "",
    "/usr/sbin/nvidia-container-cli": "",
    SETTINGS: '[nvidia-container-cli]\nldconfig = "@/sbin/ldconfig.none"\nroot = "/run/nvidia/driver"\nno-cgroups = true\n',
    "/run/nvidia/driver/usr/lib/readme": "",
    "/var/lib/dpkg/status": PACKAGE.format("nvidia-container-toolkit", "1.17.4")
    + PACKAGE.format("libnvidia-container1", "1.12.0"),
    f"{PLUGINS}/kubelet.sock": "",
    f"{PLUGINS}/kubelet_internal_checkpoint": json.dumps({"Data": {"RegisteredDevices": {}}, "Checksum": 1}),
    "/etc/containerd/config.toml": '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n',
}
BITES_LATER = (
    Proof("container-toolkit-missing", "a host with dockerd and podman, without the toolkit's programs"),
    Proof("container-ldconfig-path", "the toolkit's settings name an ldconfig that is not there"),
    Proof("container-driver-root-wrong", "the toolkit's settings name a root without libcuda"),
    Proof("container-no-cgroups-set", "the toolkit's settings say no-cgroups beside a docker that is not rootless"),
    Proof("container-toolkit-too-old", "dpkg's list has a libnvidia-container of another generation than the toolkit"),
    Proof("k8s-device-plugin-not-registered", "a kubelet's socket and checkpoint, no socket of the plug-in"),
    Proof("container-runtime-not-default", "containerd's settings without NVIDIA's runtime"),
    Proof("container-docker-desktop-linux", "DOCKER_CONTEXT=desktop-linux"),
)
WHOLE = {
    "/usr/sbin/dockerd": "",
    **{f"/usr/sbin/nvidia-{n}": "" for n in ("ctk", "container-cli", "container-runtime-hook")},
    "/run/toolkit/ldconfig": "",
    "/run/toolkit/root/usr/lib/libcuda.so.580.159.04": "",
    SETTINGS: '[nvidia-container-cli]\nldconfig = "@/run/toolkit/ldconfig"\nroot = "/run/toolkit/root"\n',
    "/var/lib/dpkg/status": PACKAGE.format("nvidia-container-toolkit", "1.17.4")
    + PACKAGE.format("libnvidia-container1", "1.17.4"),
    f"{PLUGINS}/kubelet.sock": "",
    f"{PLUGINS}/nvidia-gpu.sock": "",
}
of_its_own = pytest.mark.skipif(os.path.islink("/usr/sbin"), reason="/usr/sbin is another directory's name")


def of_containers(judged: dict[str, Any]) -> dict[str, str]:
    """Level by cause."""
    return {f["cause"]: f["level"] for f in judged["findings"] if f["code"].startswith("GD6")}


@of_its_own
def test_what_bites_only_who_starts_a_container(tmp_path: Path) -> None:
    judged = examined(place.lay(tmp_path / "place", {**HOST, **MODULE, **BROKEN}), {"DOCKER_CONTEXT": "desktop-linux"})
    assert judged["facts"]["system"]["container"] is None
    assert of_containers(judged) == dict.fromkeys((p.cause for p in BITES_LATER), "info")


@of_its_own
def test_a_host_on_which_containers_work(tmp_path: Path) -> None:
    judged = examined(place.lay(tmp_path / "place", {**HOST, **MODULE, **WHOLE}))
    assert judged["facts"]["system"]["container"] is None
    assert of_containers(judged) == {}


@of_its_own
@proves("container-rootless-cgroups", "the socket of a rootless docker, no-cgroups is not set")
@proves("container-snap-docker", "the only docker is a snap, whose settings name no runtime")
def test_rootless_docker_and_docker_of_snap(tmp_path: Path) -> None:
    files = {
        "/usr/sbin/nvidia-container-cli": "",
        "/run/user/1000/docker.sock": "",
        "/snap/bin/docker": "",
        "/var/snap/docker/current/config/daemon.json": "{}",
    }
    there = place.lay(tmp_path / "place", {**HOST, **MODULE, **files})
    judged = examined(there, {"XDG_RUNTIME_DIR": "/run/user/1000"})
    assert of_containers(judged) == {"container-rootless-cgroups": "info", "container-snap-docker": "info"}
