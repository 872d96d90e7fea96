"""`check --in COMMAND` where no Python answers: what the command printed is judged as a pasted text is."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.logs.test_containers import CLI, NEW, NO_NVML, NOT_SELECTED, OLD
from tests.provoked.proof import Proof, proves
from tests.running import causes, gpudoctor, one_line, report

RUN = "docker run --rm -i --gpus all nvcr.io/nvidia/tensorflow:25.02-tf2-py3 python3"


def engine(directory: Path, name: str, printed: str, code: int = 125, stream: int = 2) -> dict[str, str]:
    """Variables with which `name` is a program that prints this and ends."""
    directory.mkdir(exist_ok=True)
    (directory / "printed").write_text(printed + "\n")
    program = directory / name
    program.write_text(f"#!/bin/sh\ncat '{directory}/printed' >&{stream}\nexit {code}\n")
    program.chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}", "DOCKER_CONFIG": str(directory)}


BY_DOCKER = "docker's own words, by a stand-in for docker"
SAID = [
    (NOT_SELECTED, "container-toolkit-missing"),
    ("docker: Error response from daemon: unknown or invalid runtime name: nvidia\n\nRun 'docker run --help' for more information", "container-toolkit-missing"),
    (NEW % (CLI + "requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container"), "container-driver-too-old"),
    (NEW % (CLI + "initialization error: nvml error: driver not loaded"), "container-host-driver-broken"),
    (OLD % (CLI + "ldcache error: process /sbin/ldconfig.real failed with error code: 127"), "container-ldconfig-path"),
    (NEW % (CLI + "ldcache error: open failed: /sbin/ldconfig.real: no such file or directory"), "container-ldconfig-path"),
    (OLD % (CLI + "container error: cgroup subsystem devices not found"), "container-cgroupv2-unsupported"),
    (NEW % (CLI + "mount error: failed to add device rules: unable to find any existing device filters attached to the cgroup: bpf_prog_query(BPF_CGROUP_DEVICE) failed: operation not permitted"), "container-rootless-cgroups"),
    (NEW % (CLI + "initialization error: change root failed: no such file or directory"), "container-driver-root-wrong"),
    (NEW % (CLI + "device error: 4: unknown device"), "container-visible-devices-wrong"),
    (NEW % (CLI + "mount error: file creation failed: /var/lib/docker/overlay2/0a/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists"), "container-image-has-driver-files"),
]  # fmt: skip
PROOFS = tuple(Proof(cause, BY_DOCKER) for cause in dict.fromkeys(cause for _, cause in SAID))


@pytest.mark.parametrize(("printed", "cause"), SAID)
def test_what_docker_says(tmp_path: Path, printed: str, cause: str) -> None:
    env = engine(tmp_path / "bin", "docker", printed)
    done = gpudoctor("check", "--in", RUN, env=env)
    assert done.returncode == 1, done.stderr
    assert f"Cause: {cause}" in done.stdout
    assert "Proof" in done.stdout
    assert "Fix: " in done.stdout
    assert "reached no Python" in one_line(done)


@pytest.mark.parametrize(
    ("command", "printed", "cause"),
    [
        ("podman run --rm -i --device nvidia.com/gpu=all IMAGE python3",
         "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", "container-toolkit-missing"),
        ("nerdctl run --rm -i --gpus all IMAGE python3",
         'time="2025-01-09T08:00:00Z" level=fatal msg="exec: \\"nvidia-container-cli\\": executable file not found in $PATH"', "container-toolkit-missing"),
    ],
)  # fmt: skip
@proves("container-toolkit-missing", "podman's and nerdctl's own words, by stand-ins")
def test_what_other_engines_say(tmp_path: Path, command: str, printed: str, cause: str) -> None:
    env = engine(tmp_path / "bin", command.split()[0], printed)
    done = gpudoctor("check", "--in", command, "--format", "json", env=env)
    assert (done.returncode, causes(report(done))) == (1, [cause])


@proves("container-docker-desktop-linux", "the same, and docker's settings choose desktop-linux")
@proves("container-rootless-cgroups", "the same, and DOCKER_HOST is a user's socket")
def test_docker_of_another_server(tmp_path: Path) -> None:
    """The engine's own settings decide between causes that say the same."""
    env = engine(tmp_path / "bin", "docker", NOT_SELECTED)
    Path(env["DOCKER_CONFIG"], "config.json").write_text(json.dumps({"currentContext": "desktop-linux"}))
    done = gpudoctor("check", "--in", RUN, "--format", "json", env=env)
    assert causes(report(done)) == ["container-docker-desktop-linux"]
    done = gpudoctor("check", "--in", RUN, "--format", "json", env={**env, "DOCKER_CONTEXT": "default"})
    assert causes(report(done)) == ["container-toolkit-missing"]
    refused = NEW % (CLI + "mount error: failed to add device rules: unable to generate new device filter program: load program: permission denied")  # fmt: skip
    env = engine(tmp_path / "bin", "docker", refused)
    server = {**env, "DOCKER_HOST": "unix:///run/user/1000/docker.sock"}
    done = gpudoctor("check", "--in", RUN, "--format", "json", env=server)
    assert causes(report(done)) == ["container-rootless-cgroups"]


def test_what_does_not_decide_is_left_open(tmp_path: Path) -> None:
    env = engine(tmp_path / "bin", "docker", NEW % (CLI + "initialization error: driver rpc error: timed out"))
    done = gpudoctor("check", "--in", RUN, env=env)
    assert done.returncode == 3
    assert "container-host-driver-broken" in done.stdout
    assert "What would settle each" in done.stdout
    assert "reached no Python" in one_line(done)


def test_what_has_nothing_to_do_with_gpus(tmp_path: Path) -> None:
    for printed in (
        "Unable to find image 'nvcr.io/nvidia/tensorflow:25.02-tf2-py3' locally\ndocker: Error response from daemon: manifest unknown.",
        "docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
        "",
    ):
        done = gpudoctor("check", "--in", RUN, env=engine(tmp_path / "bin", "docker", printed))
        assert (done.returncode, done.stdout) == (3, "")
        assert "reached no Python" in one_line(done)


@proves("container-host-driver-broken", "kubectl's words, by a stand-in")
def test_on_standard_output_and_as_a_file(tmp_path: Path) -> None:
    env = engine(tmp_path / "bin", "kubectl", NEW % NO_NVML, code=1, stream=1)
    command = "kubectl exec -i POD -- python3"
    done = gpudoctor("check", "--in", command, "-o", str(tmp_path / "report"), env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert "container-host-driver-broken" in (tmp_path / "report").read_text()


def test_our_own_program_is_no_message() -> None:
    """`cat` prints it, `sh` complains of it: both hold words of engines."""
    for command in ("cat", "sh", "sh -c 'cat >&2; exit 1'"):
        done = gpudoctor("check", "--in", command)
        assert (done.returncode, done.stdout) == (3, "")
        assert "reached no Python" in one_line(done)


def test_a_python_that_is_reached_is_examined(tmp_path: Path) -> None:
    """However much was printed before."""
    program = tmp_path / "docker"
    program.write_text(f"#!/bin/sh\necho '{NOT_SELECTED}' >&2\nexec {sys.executable} -\n")
    program.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--in", RUN, env=env)
    assert report(done)["facts"]["python"]["executable"] == sys.executable
    assert "container-toolkit-missing" not in causes(report(done))
