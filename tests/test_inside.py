"""A patient behind a command, as a process that runs, and behind the collector: the same facts as from within."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes.ask import Conversation
from tests.building import Workshop, put
from tests.interpreters import interpreters
from tests.running import ROOT, at_work, gpudoctor, left, one_line, report

MOVING = {
    "chosen_because", "init_seconds", "import_seconds", "log", "process", "seconds", "samples", "spread",
    "memory_available_bytes", "uptime_seconds", "memory_free_bytes", "free_bytes", "shm_free_bytes", "events", "kernel_log", "simulated",
    "simulated_source", "error",
}  # fmt: skip
"""What differs from one run to the next, or is looked at from outside only."""


AS_THE_TOOL = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
"""What tests/running.py sets, for what is started beside it."""


def still(value: Any) -> Any:
    """Facts without what moves."""
    if isinstance(value, dict):
        return {k: still(v) for k, v in value.items() if k not in MOVING}
    return [still(v) for v in value] if isinstance(value, list) else value


def facts(*arguments: str, **more: Any) -> dict[str, Any]:
    done = gpudoctor("check", "--level", "quick", "--format", "json", *arguments, **more)
    assert done.stdout, done.stderr
    got: dict[str, Any] = report(done)["facts"]
    return got


@pytest.fixture
def surroundings(workshop: Workshop, tmp_path: Path) -> dict[str, str]:
    """Variables that change what is found: a libcuda with two GPUs, an NVML, a mask."""
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path / "driver", "libcuda.so.1")
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path / "driver", "libnvidia-ml.so.1")
    return {
        "LD_LIBRARY_PATH": str(tmp_path / "driver"),
        "FAKE_CUDA_DEVICES": "2",
        "FAKE_NVML_COUNT": "2",
        "CUDA_VISIBLE_DEVICES": "1",
    }


def test_behind_a_command_the_same_facts(surroundings: dict[str, str]) -> None:
    within = facts("--python", sys.executable, env=surroundings)
    words = " ".join(f"{k}={v}" for k, v in surroundings.items())
    behind = facts("--in", f"env {words} {sys.executable}")
    assert behind["python"]["chosen_because"].startswith("--in env ")
    assert len(behind["driver"]["libcuda"]["devices"]) == 1
    assert len(behind["driver"]["all_devices"]) == 2
    assert still(behind) == still(within)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
def test_in_a_mount_namespace_of_its_own(surroundings: dict[str, str], tmp_path: Path) -> None:
    """The driver's library is visible there only."""
    hidden, place = tmp_path / "driver", tmp_path / "mounted"
    place.mkdir()
    script = f'mount --bind {hidden} {place}; exec "$0" "$@"'
    env = {**surroundings, "LD_LIBRARY_PATH": str(place)}
    inside = facts("--in", f"unshare -m sh -c '{script}' {sys.executable}", env=env)
    assert inside["driver"]["libcuda"]["path"] == f"{place}/libcuda.so.1"
    assert inside["driver"]["libcuda"]["init_result"] == 0
    outside = facts("--python", sys.executable, env=env)
    assert outside["driver"]["libcuda"]["path"] is None


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[str]:
    """The command that logs in to a server of our own on this machine."""
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    if not os.access(server, os.X_OK) or not shutil.which("ssh"):
        pytest.skip("there is no sshd")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    Path("/run/sshd").mkdir(exist_ok=True)
    settings = [f"HostKey={tmp_path}/host", f"AuthorizedKeysFile={tmp_path}/user.pub", "StrictModes=no", "UsePAM=no"]
    options = [word for one in settings for word in ("-o", one)]
    command = [server, "-D", "-e", "-f", "/dev/null", "-p", str(port), "-o", "ListenAddress=127.0.0.1", *options]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        trust = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes"
        yield f"ssh {trust} -i {tmp_path}/user -p {port} {getpass.getuser()}@127.0.0.1"
        running.kill()


def test_behind_ssh_the_same_facts(ssh: str, surroundings: dict[str, str]) -> None:
    words = " ".join(f"{k}={v}" for k, v in surroundings.items())
    over = facts("--in", f"{ssh} env {words} {sys.executable}")
    within = facts("--in", f"env -i {words} {sys.executable}", cwd=Path.home())
    assert len(over["driver"]["libcuda"]["devices"]) == 1
    for subject in ("pci", "driver", "gpu", "tensorflow", "libraries"):
        assert still(over[subject]) == still(within[subject]), subject


def test_tensorflow_behind_a_command(tensorflow_directory: Path, surroundings: dict[str, str]) -> None:
    done = gpudoctor("check", "--format", "json", "--no-kernels", "--in", sys.executable, env={"FAKE_CUDA_INIT": "100"})
    got = report(done)["facts"]["tensorflow"]
    assert got["directory"] == str(tensorflow_directory)
    assert got["import_error"] is None
    assert [d["type"] for d in got["devices"]] == ["CPU"]
    assert got["loader_source"] == "direct"


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("false", 3, "reached no Python (3.6 or newer): it ended with exit code 1"),
        ("cat", 3, "it ran and did not answer"),
        ("sh -c 'echo no such host >&2; exit 255'", 3, "exit code 255 (no such host)"),
        ("no-such-program python3", 2, "no-such-program does not exist"),
        ("env 'unbalanced", 2, "No closing quotation"),
        ("", 2, "ends in a Python"),
    ],
)
def test_a_command_that_leads_nowhere(command: str, code: int, words: str) -> None:
    done = gpudoctor("check", "--level", "quick", "--in", command)
    assert done.returncode == code
    assert done.stdout == ""
    assert words in one_line(done)


@pytest.mark.parametrize("before", ['printf "Password: "; read p', "echo Welcome; read a; read b", "printf NoNewline"])
def test_a_command_that_prints_and_reads_first(before: str) -> None:
    got = facts("--in", f"sh -c '{before}; exec {sys.executable} -'")
    assert got["python"]["executable"] == sys.executable


def test_an_answer_behind_what_ended_no_line() -> None:
    talk = Conversation([])
    assert talk.hear(f"Password: {talk.mark[::-1]} job_skipped 1\n".encode()) == ("job_skipped", 1)
    assert talk.hear(f"Password: {talk.mark} job_skipped 1\n".encode()) is None


def test_a_command_that_reads_too_much() -> None:
    done = gpudoctor(
        "check", "--level", "quick", "--in", f"sh -c 'echo Who?; head -c 300 > /dev/null; exec {sys.executable} -'"
    )
    assert done.returncode == 3
    assert "SyntaxError" in one_line(done)
    assert "something before it read from standard input, or it is older than 3.6; it printed 'Who?'" in one_line(done)


NOWHERE = "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/nonexistent']\n"


def test_where_no_file_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOWHERE)
    got = facts("--in", f"env PYTHONPATH={tmp_path}:{ROOT} {sys.executable}")
    assert got["python"]["executable"] == sys.executable
    assert got["pci"]["devices"]


def test_what_stops_the_visit_is_said(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import subprocess, threading\n\nclass Thread(threading.Thread):\n"
        "    def start(self):\n        raise RuntimeError('no more threads')\n\nthreading.Thread = Thread\n"
    )
    done = gpudoctor("check", "--level", "quick", "--in", f"env PYTHONPATH={tmp_path} {sys.executable}")
    assert done.returncode == 3
    assert "RuntimeError: no more threads" in one_line(done)


def test_a_command_that_never_gets_there() -> None:
    started = time.monotonic()
    done = gpudoctor("check", "--level", "quick", "--timeout", "1", "--in", "sh -c 'sleep 60'")
    assert time.monotonic() - started < 10
    assert done.returncode == 3
    assert "did not end within" in one_line(done)


def test_a_hang_behind_the_command_is_a_finding(surroundings: dict[str, str]) -> None:
    env = {**surroundings, "FAKE_CUDA_INIT": "hang"}
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--timeout", "2", "--in", sys.executable, env=env)
    got = report(done)["facts"]
    assert "did not end within" in got["driver"]["libcuda"]["no_answer"]
    assert len(got["gpu"]["devices"]) == 2


def test_the_three_ways_exclude_each_other() -> None:
    done = gpudoctor("check", "--python", "python3", "--in", "python3")
    assert done.returncode == 2
    assert "exclude each other" in one_line(done)


# ------------------------------------------------------------------------------- a running process


@pytest.fixture
def running(surroundings: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Python that holds the driver's library, with variables of its own."""
    program = "import ctypes, time; ctypes.CDLL('libcuda.so.1'); print('ready', flush=True); time.sleep(120)"
    (tmp_path / "work").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, **surroundings, **AS_THE_TOOL},
        cwd=tmp_path / "work",
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_that_runs(running: subprocess.Popen[bytes], surroundings: dict[str, str], tmp_path: Path) -> None:
    got = facts("--pid", str(running.pid))
    assert {v["name"]: v["value"] for v in got["environment"]["variables"]}["CUDA_VISIBLE_DEVICES"] == "1"
    assert len(got["driver"]["libcuda"]["devices"]) == 1
    assert got["python"]["executable"] == sys.executable
    assert got["python"]["path"][0] == str(tmp_path / "work")
    process = got["process"]
    assert process["pid"] == running.pid
    assert process["working_directory"] == str(tmp_path / "work")
    assert [m["path"] for m in process["libraries"]] == [str(tmp_path / "driver" / "libcuda.so.1")]
    within = facts("--python", sys.executable, env=surroundings, cwd=tmp_path / "work")
    assert still(got) == still(within)


def test_a_library_that_was_replaced_under_it(running: subprocess.Popen[bytes], tmp_path: Path) -> None:
    (tmp_path / "driver" / "libcuda.so.1").unlink()
    (library,) = facts("--pid", str(running.pid))["process"]["libraries"]
    assert library["deleted"] is True


def test_a_virtual_environment_is_known_by_how_it_was_called(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    for command, cwd in (([str(python)], None), (["bin/python"], tmp_path / "venv")):
        with subprocess.Popen([*command, "-c", "import time; time.sleep(60)"], cwd=cwd) as process:
            time.sleep(0.3)
            got = facts("--pid", str(process.pid))["python"]
            process.kill()
        assert got["prefix"] == str(tmp_path / "venv")
        assert got["virtual_environment"] is True


@pytest.mark.parametrize(("program", "words"), [(["sleep", "60"], "which is no Python"), (None, "there is no process")])
def test_a_process_that_can_not_be_examined(program: list[str] | None, words: str) -> None:
    pid = 4_000_000
    if program is not None:
        process = subprocess.Popen(program)
        pid = process.pid
        time.sleep(0.2)
    done = gpudoctor("check", "--pid", str(pid))
    if program is not None:
        process.kill()
        process.wait()
    assert done.returncode == 2
    assert words in one_line(done)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
def test_a_process_in_other_namespaces(surroundings: dict[str, str], tmp_path: Path) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    sleeping = f"{sys.executable} -c 'import time; time.sleep(60)'"
    script = f"mount --bind {tmp_path}/driver {place}; exec {sleeping}"
    env = {**os.environ, **surroundings, "LD_LIBRARY_PATH": str(place)}
    with subprocess.Popen(["unshare", "-m", "sh", "-c", script], env=env) as process:
        time.sleep(0.5)
        got = facts("--pid", str(process.pid))
        process.kill()
    assert got["process"]["other_namespaces"] == ["mnt"]
    assert got["driver"]["libcuda"]["path"] == f"{place}/libcuda.so.1"


# ------------------------------------------------------------------------------- the collector


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("collector") / "collector.pyz"
    assert gpudoctor("collector", str(path), "--level", "quick").returncode == 0
    return path


@pytest.mark.parametrize(("version", "python"), interpreters().items())
def test_the_collector_in_every_python(collector: Path, tmp_path: Path, version: str, python: str) -> None:
    subprocess.run([python, str(collector), str(tmp_path / "collected")], check=True, timeout=60)
    done = gpudoctor("replay", "--format", "json", str(tmp_path / "collected"))
    got = report(done)["facts"]
    assert got["python"]["version"].startswith(version + ".")
    assert got["pci"]["devices"]
    assert (tmp_path / "collected").stat().st_mode & 0o077 == 0


def test_the_collector_where_no_file_can_be_made(collector: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOWHERE)
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run([sys.executable, str(collector)], stdout=subprocess.PIPE, check=True, env=env)
    (tmp_path / "collected").write_bytes(done.stdout)
    assert report(gpudoctor("replay", "--format", "json", str(tmp_path / "collected")))["facts"]["pci"]["devices"]


def test_what_the_collector_brings_back_is_what_check_sees(
    collector: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    env = {**os.environ, **surroundings, **AS_THE_TOOL}
    with (tmp_path / "collected").open("wb") as out:
        subprocess.run([sys.executable, str(collector)], stdout=out, check=True, env=env, cwd=ROOT)
    replayed = report(gpudoctor("replay", "--format", "json", str(tmp_path / "collected")))
    assert still(replayed["facts"]) == still(facts("--python", sys.executable, env=surroundings))


def test_a_damaged_collection(collector: Path, tmp_path: Path) -> None:
    out = tmp_path / "collected"
    subprocess.run([sys.executable, str(collector), str(out)], check=True)
    whole = out.read_bytes()
    for damaged in (
        whole[:40], b"gpudoctor-collection collection 7\n", whole.replace(b'"version": 1', b'"version": 99'),
        whole.replace(b"job_line [", b"job_line {"),
    ):  # fmt: skip
        out.write_bytes(damaged)
        done = gpudoctor("replay", str(out))
        assert done.returncode == 2
        assert "a collection" in one_line(done)
    out.write_bytes(whole[: len(whole) // 2])
    assert gpudoctor("replay", str(out)).returncode in (1, 2, 3)


def test_the_collector_says_how_it_is_used(collector: Path) -> None:
    asked = subprocess.run([sys.executable, str(collector), "--help"], capture_output=True, text=True, check=False)
    assert asked.returncode == 0
    assert "usage" in asked.stderr
    unwritable = [sys.executable, str(collector), "/no/such/directory/file"]
    done = subprocess.run(unwritable, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "can't write" in done.stderr


def test_a_listener_that_goes_away_leaves_nothing_behind(
    collector: Path, surroundings: dict[str, str], tmp_path: Path
) -> None:
    from tests.running import MARK, TOKEN

    env = {**os.environ, **surroundings, "FAKE_CUDA_INIT": "hang", MARK: TOKEN}
    process = subprocess.Popen([sys.executable, str(collector)], stdout=subprocess.PIPE, env=env)
    at_work(process)
    time.sleep(0.5)
    assert process.stdout
    process.stdout.close()
    assert process.wait(10) != 0
    assert left() == []


def test_an_interrupt_leaves_nothing_behind(collector: Path, surroundings: dict[str, str], tmp_path: Path) -> None:
    from tests.running import MARK, TOKEN

    env = {**os.environ, **surroundings, "FAKE_CUDA_INIT": "hang", MARK: TOKEN}
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen([sys.executable, str(collector)], stdout=out, stderr=subprocess.DEVNULL, env=env)
        at_work(process)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
    assert left() == []


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
def test_a_process_of_another_user(tmp_path: Path) -> None:
    """It is examined as that user: what root may open says nothing."""
    python = next((p for p in ("/usr/bin/python3", "/usr/local/bin/python3") if os.access(p, os.X_OK)), None)
    if python is None or os.path.realpath(python).startswith("/root"):
        pytest.skip("no interpreter that another user may run")
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=65534,44", "--", python]
    with subprocess.Popen([*command, "-c", "import time; time.sleep(60)"], cwd="/") as process:
        time.sleep(0.5)
        got = facts("--pid", str(process.pid))
        process.kill()
    assert got["process"]["user_id"] == 65534
    assert got["system"]["user_id"] == 65534
    assert 44 in got["system"]["groups"]
