"""NVIDIA's multi-process service: real sockets, a real process of its name."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor import child
from gpudoctor.facts import Mps, Unread
from gpudoctor.probes import mps
from gpudoctor.probes.ask import Answers, Patient
from tests.provoked.proof import proves
from tests.running import causes, gpudoctor, report

Make = Callable[..., Patient]


def look(patient: Patient) -> Mps:
    return mps.read(patient.ask([mps.TASK], limit_s=10))


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM])
def test_somebody_listens_and_is_not_disturbed(patient: Make, tmp_path: Path, kind: int) -> None:
    with socket.socket(socket.AF_UNIX, kind) as daemon:
        daemon.bind(str(tmp_path / "control"))
        if kind != socket.SOCK_DGRAM:
            daemon.listen()
        got = look(patient(CUDA_MPS_PIPE_DIRECTORY=str(tmp_path)))
        assert (got.directory, got.directory_errno, got.listens) == (str(tmp_path), None, True)
        daemon.setblocking(False)
        with pytest.raises(BlockingIOError):
            daemon.recv(1) if kind == socket.SOCK_DGRAM else daemon.accept()
    assert look(patient(CUDA_MPS_PIPE_DIRECTORY=str(tmp_path))).listens is False


def test_no_pipes(patient: Make, tmp_path: Path) -> None:
    got = look(patient(CUDA_MPS_PIPE_DIRECTORY=str(tmp_path)))
    assert (got.directory_errno, got.listens) == (None, None)
    got = look(patient(CUDA_MPS_PIPE_DIRECTORY="/dev/null"))
    assert (got.directory, got.directory_errno, got.listens) == ("/dev/null", 20, None)
    (tmp_path / "control").write_text("no socket")
    assert look(patient(CUDA_MPS_PIPE_DIRECTORY=str(tmp_path))).listens is None


def test_where_it_is_looked_for_without_the_variable(patient: Make) -> None:
    assert look(patient()).directory == "/tmp/nvidia-mps"


@pytest.mark.skipif(os.geteuid() != 0, reason="a user is needed who may not connect")
def test_a_socket_of_another_user(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
        daemon.bind(str(tmp_path / "control"))
        daemon.listen()
        os.chmod(tmp_path / "control", 0o600)
        for place in (tmp_path, *tmp_path.parents):
            if place.stat().st_uid == 0 and place != Path("/"):
                os.chmod(place, place.stat().st_mode | 0o055)
        other = Patient(
            ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--", "/usr/bin/python3"),
            {**os.environ, "CUDA_MPS_PIPE_DIRECTORY": str(tmp_path)},
        )
        if not (shutil.which("setpriv") and Path("/usr/bin/python3").exists()):
            pytest.skip("no setpriv, or no python3 for everybody")
        got = look(other)
    assert isinstance(got.listens, Unread)
    assert "EACCES" in got.listens.why


def test_its_processes(patient: Make, tmp_path: Path) -> None:
    program = tmp_path / "nvidia-cuda-mps-control"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([str(program), "30"]) as daemon:
        got = look(patient())
        daemon.kill()
    assert isinstance(got.processes, tuple)
    assert f"nvidia-cuda-mps-control (PID {daemon.pid})" in got.processes


def test_what_nobody_answered_is_unread() -> None:
    assert isinstance(mps.read(Answers({}, child.RUNNING, {})).listens, Unread)
    hidden = {"directory": "/run/mps", "errno": 13, "control": 13, "processes": 2}
    got = mps.read(Answers({"mps": [hidden]}, child.RUNNING, {}))
    assert (got.directory, got.directory_errno) == ("/run/mps", 13)
    assert isinstance(got.listens, Unread)
    assert isinstance(got.processes, Unread)


@proves("mps-daemon-stale", "a socket that listens where MPS's does, and a libcuda that is refused there")
@pytest.mark.parametrize("named", [True, False])
def test_a_daemon_that_refuses_is_named_and_the_way_past_it_was_tried(
    libcuda: str, tmp_path: Path, named: bool
) -> None:
    """The fake libcuda is refused wherever it finds a socket, as CUDA is."""
    place = tmp_path / "pipes" if named else Path("/tmp/nvidia-mps")
    if place.exists():
        pytest.skip("MPS is in use here")
    place.mkdir()
    env = {"LD_LIBRARY_PATH": libcuda, "FAKE_CUDA_DEVICES": "1", "FAKE_CUDA_MPS": "805"}
    env |= {"CUDA_MPS_PIPE_DIRECTORY": str(place)} if named else {}
    look_at = ("check", "--format", "json", "--level", "quick", "--python", sys.executable)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
            daemon.bind(str(place / "control"))
            daemon.listen()
            refused = report(gpudoctor(*look_at, env=env))
        deserted = report(gpudoctor(*look_at, env=env))
    finally:
        shutil.rmtree(place)
    root = next(r for r in refused["diagnosis"]["root_causes"] if r["cause"] == "mps-daemon-stale")
    assert any(p["text"] == f"a process listens at {place}/control" for p in root["proof"])
    assert not any("nobody listens" in p["text"] for p in root["proof"])
    tried = {f["steps"][0]: f["trial"]["worked"] for f in root["fixes"] if f["kind"] == "env"}
    past = {"export CUDA_MPS_PIPE_DIRECTORY=/dev/null": True}
    assert tried == ({"unset CUDA_MPS_PIPE_DIRECTORY": True} | past if named else past)
    assert any("nobody listens" in p["text"] for r in deserted["diagnosis"]["root_causes"] for p in r["proof"])
    # pasted, it cures it
    cured = {**env, "CUDA_MPS_PIPE_DIRECTORY": "/dev/null"}
    assert "mps-daemon-stale" not in causes(report(gpudoctor(*look_at, env=cured)))
