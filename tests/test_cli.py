"""The command line, end to end: what is asked, what is printed, which exit code."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor import __version__
from tests.building import Workshop, put
from tests.running import COMMAND, MARK, ROOT, TOKEN, at_work, causes, gpudoctor, left, one_line, report

HOSTS = ROOT / "tests" / "hosts"
HAS_GPU = Path("/proc/driver/nvidia/version").exists()
no_gpu_here = pytest.mark.skipif(HAS_GPU, reason="this machine has an NVIDIA GPU")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A virtual environment without TensorFlow."""
    place = tmp_path_factory.mktemp("bare") / "v"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    return str(place)


# ------------------------------------------------------------------------------- check


@no_gpu_here
def test_a_machine_without_a_gpu(tensorflow_directory: Path) -> None:
    done = gpudoctor("check", "--format", "json", "--python", sys.executable)
    assert done.returncode == 1
    got = report(done)
    assert causes(got)[0] == "no-nvidia-gpu"
    assert got["diagnosis"]["verdict"] == "faulty"
    assert "tf-lists-no-gpu" in got["diagnosis"]["root_causes"][0]["explains"]
    measured = {m["kernel"]: m for m in got["measurements"]}
    assert (measured["matmul"]["device"], measured["matmul"]["verified"]) == ("CPU:0", True)
    assert measured["matmul"]["value"] > 0
    assert (measured["all-reduce"]["device"], measured["all-reduce"]["verified"]) == ("CPU:0,CPU:1", True)
    assert [m["kernel"] for m in got["measurements"] if m["verified"] is False] == []


@no_gpu_here
def test_text_and_json_and_replay_agree(tmp_path: Path, tensorflow_directory: Path) -> None:
    file = tmp_path / "report.json"
    assert (
        gpudoctor(
            "check", "--level", "quick", "--format", "json", "-o", str(file), "--python", sys.executable
        ).returncode
        == 1
    )
    got = json.loads(file.read_text())
    text = gpudoctor("check", "--level", "quick", "--python", sys.executable)
    replayed_text = gpudoctor("replay", str(file))
    replayed = gpudoctor("replay", str(file), "--format", "json")
    assert [text.returncode, replayed_text.returncode, replayed.returncode] == [1, 1, 1]
    for key in ("facts", "measurements", "findings", "diagnosis", "skipped", "unknown"):
        assert report(replayed)[key] == got[key]
    for printed in (text.stdout, replayed_text.stdout):
        assert [line.split()[-2] for line in printed.splitlines() if line.startswith("✗")] == causes(got)
        assert printed.splitlines()[-1].startswith(f"Faulty: {len(causes(got))} root cause")


@no_gpu_here
def test_without_tensorflow(bare: str) -> None:
    done = gpudoctor("check", "--format", "json", "--python", bare)
    assert done.returncode == 1
    assert causes(report(done)) == ["no-nvidia-gpu", "tf-not-installed"]
    text = gpudoctor("check", "--python", bare)
    assert "tf-not-installed" in text.stdout
    assert "Traceback" not in text.stderr


def test_only_and_skip(bare: str) -> None:
    done = gpudoctor("check", "--only", "tf-not-installed", "--format", "json", "--python", bare)
    assert causes(report(done)) == ["tf-not-installed"]
    done = gpudoctor("check", "--only", "GD401", "--skip", "python", "--python", bare)
    assert done.returncode == 2
    assert one_line(done) == "gpudoctor: no check is left to run"


def test_timings_go_to_standard_error(bare: str) -> None:
    done = gpudoctor("check", "--level", "quick", "--timings", "--python", bare)
    assert "cuInit" in done.stderr
    assert " s  +" not in done.stdout


def test_nothing_is_written_beside_the_patient(bare: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    before = sorted(str(p) for p in Path(bare).rglob("*"))
    gpudoctor("check", "--python", bare, env={"HOME": str(home)}, cwd=home)
    assert sorted(str(p) for p in Path(bare).rglob("*")) == before
    assert list(home.iterdir()) == []


# ------------------------------------------------------------------------------- a libcuda that misbehaves


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ("3", "answered 3 (CUDA_ERROR_NOT_INITIALIZED"),
        ("34", "answered 34 (CUDA_ERROR_STUB_LIBRARY"),
        ("100", "answered 100 (CUDA_ERROR_NO_DEVICE"),
        ("802", "answered 802 (CUDA_ERROR_SYSTEM_NOT_READY"),
        ("803", "answered 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ("804", "answered 804 (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
        ("999", "answered 999 (CUDA_ERROR_UNKNOWN"),
        ("hang", "did not end within"),
        ("crash", "ended by SIGSEGV"),
    ],
)
def test_what_libcuda_does_is_said(workshop: Workshop, tmp_path: Path, bare: str, init: str, words: str) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    env = {"LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_INIT": init}
    started = time.monotonic()
    done = gpudoctor("check", "--format", "json", "--timeout", "3", "--no-trials", "--python", bare, env=env)
    assert time.monotonic() - started < 12
    assert done.returncode == 1
    got = report(done)
    assert any(words in f["message"] for f in got["findings"])
    expected = {
        "34": "libcuda-stub-loaded",
        "802": "fabric-manager-not-running",
        "803": "driver-library-mismatch",
        "804": "cuda-compat-unsupported",
        "999": "cuinit-uvm-device-missing",
    }
    if init in expected:
        assert expected[init] in causes(got)
    # everything else is complete
    assert "tf-not-installed" in causes(got)
    for subject in ("environment", "system", "pci", "python", "libraries"):
        assert "unread" not in json.dumps(got["facts"][subject]), subject


def test_under_the_real_tensorflow_a_hang_ends(workshop: Workshop, tmp_path: Path, tensorflow_directory: Path) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    env = {"LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_INIT": "hang"}
    done = gpudoctor("check", "--format", "json", "--timeout", "30", "--python", sys.executable, env=env)
    got = report(done)
    assert got["facts"]["tensorflow"]["import_error"] is None
    assert "did not end within" in json.dumps(got["facts"]["tensorflow"]["devices"])
    assert "cuinit-no-answer" in [f["cause"] for f in got["findings"]]


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "--only", "tf-list-no-gpu"], "did you mean tf-lists-no-gpu"),
        (["check", "--skip", "nonsense"], "no check is called 'nonsense'"),
        (["check", "--python", "/no/such/python"], "does not exist"),
        (["check", "--python", "/etc/passwd"], "is not executable"),
        (["check", "--python", "/bin/ls"], "is no Python"),
        (["check", "--python", "/bin/cat"], "is no Python"),
        (["check", "--python", "/bin/true"], "is no Python"),
        (["check", "--python", "/tmp"], "without bin/python3"),
        (["check", "--level", "deep"], "deep"),
        (["check", "--timeout", "-3"], "--timeout"),
        (["check", "--frobnicate"], "--frobnicate"),
        (["check", "-o", "/no/such/directory/report.txt"], "can't write to"),
        (["check", "-o", "/"], "can't write to"),
        (["replay", "/no/such/file"], "No such file"),
        (["replay", "/"], "directory"),
        (["replay", "/etc/passwd"], "is no report"),
        (["replay", "/dev/null"], "is no report"),
        (["explain", "GD999"], "no check is called 'GD999'"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_wrong_usage_is_one_line_and_two(arguments: list[str], words: str) -> None:
    done = gpudoctor(*arguments)
    assert done.returncode == 2
    assert words in one_line(done)
    assert done.stdout == ""


def test_an_output_that_can_not_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("precious")
    assert gpudoctor("check", "--only", "nonsense", "-o", str(kept)).returncode == 2
    assert kept.read_text() == "precious"
    new = tmp_path / "new.txt"
    assert gpudoctor("check", "--python", "/bin/ls", "-o", str(new)).returncode == 2
    assert not new.exists()


def test_a_full_disk(bare: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    done = gpudoctor("check", "--level", "quick", "--only", "python", "-o", "/dev/full", "--python", bare)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr.splitlines()[-1]
    with open("/dev/full", "w") as full:
        run = subprocess.run([*COMMAND, "list"], stdout=full, stderr=subprocess.PIPE, cwd=ROOT, text=True, check=False)
    assert run.returncode == 3
    assert run.stderr == "gpudoctor: can't write to standard output: No space left on device\n"


def test_a_closed_pipe() -> None:
    for arguments in (["list"], ["replay", str(HOSTS / "h200-x2-healthy.json"), "--format", "json"]):
        process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True
        )
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait(20) == 3
        assert said == "gpudoctor: standard output was closed before the report was written\n"


def test_an_interrupt_leaves_nothing(workshop: Workshop, tmp_path: Path, bare: str) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    env = {**os.environ, MARK: TOKEN, "LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_INIT": "hang"}
    process = subprocess.Popen(
        [*COMMAND, "check", "--python", bare],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=env,
        text=True,
    )
    at_work(process)
    time.sleep(1.5)
    assert left() != []
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=10)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "gpudoctor: interrupted"
    assert left() == []


# ------------------------------------------------------------------------------- odd surroundings


def test_no_home(bare: str) -> None:
    done = gpudoctor("check", "--format", "json", "--python", bare, env={"HOME": ""})
    assert "tf-not-installed" in causes(report(done))
    minimal = subprocess.run(
        ["env", "-i", f"PYTHONPATH={ROOT}", *COMMAND, "check", "--level", "quick", "--format", "json", "--python", bare],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert minimal.returncode == 1
    assert "tf-not-installed" in causes(json.loads(minimal.stdout))


def namespace(*mounts: str) -> tuple[str, ...]:
    """A mount namespace in which these commands were run first."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    prefix = ("unshare", "-m") if os.getuid() == 0 else ("unshare", "-rm")
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    return (*prefix, "sh", "-c", "; ".join([*mounts, 'exec "$@"']), "sh")


def test_a_read_only_working_directory(bare: str, tmp_path: Path) -> None:
    place = tmp_path / "ro"
    place.mkdir()
    prefix = namespace(f"mount -t tmpfs -o ro none {place}", f"cd {place}")
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--python", bare, prefix=prefix)
    assert "tf-not-installed" in causes(report(done))


def test_a_working_directory_that_is_gone(bare: str, tmp_path: Path) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    prefix = ("sh", "-c", f'cd {place} && rmdir {place} && exec "$@"', "sh")
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--python", bare, prefix=prefix)
    assert "tf-not-installed" in causes(report(done))


def test_sys_hidden(bare: str) -> None:
    done = gpudoctor("check", "--format", "json", "--python", bare, prefix=namespace("mount -t tmpfs none /sys"))
    got = report(done)
    assert "tf-not-installed" in causes(got)
    assert "no-nvidia-gpu" not in causes(got)
    if not HAS_GPU:
        assert "no-nvidia-gpu" in [u["cause"] for u in got["unknown"]]


def test_proc_hidden(bare: str) -> None:
    done = gpudoctor("check", "--format", "json", "--python", bare, prefix=namespace("mount -t tmpfs none /proc"))
    got = report(done)
    assert "tf-not-installed" in causes(got)
    assert "no-nvidia-gpu" not in causes(got)
    assert "no-nvidia-gpu" in [u["cause"] for u in got["unknown"]]


def test_no_temporary_directory(bare: str) -> None:
    prefix = namespace(
        "mount -t tmpfs -o ro none /tmp",
        "mount -t tmpfs -o ro none /var/tmp",
        "mount -t tmpfs -o ro none /usr/tmp 2>/dev/null",
    )
    python = sys.executable
    if python.startswith("/tmp"):
        pytest.skip("the interpreter itself lies in /tmp")
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--python", python, prefix=prefix, cwd=Path("/"))
    assert report(done)["facts"]["python"]["executable"] == python


# ------------------------------------------------------------------------------- the other commands


@pytest.mark.parametrize("arguments", [["--version"], ["--version", "check"]])
def test_version(arguments: list[str]) -> None:
    assert gpudoctor(*arguments).stdout == f"gpudoctor {__version__}\n"


def test_version_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gpudoctor", "--version"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    for heavy in ("typer", "rich", "msgspec", "psutil", "elftools", "pynvml", "json"):
        assert f" {heavy}\n" not in done.stderr


def test_list_and_explain() -> None:
    listed = gpudoctor("list")
    assert listed.returncode == 0
    assert "GD511  tf-wheel-runpath-gap" in listed.stdout
    assert set(re.findall(r"^GD\d", gpudoctor("list", "measurements").stdout, re.MULTILINE)) == {"GD8"}
    for name in ("GD511", "gd511", "tf-wheel-runpath-gap"):
        page = gpudoctor("explain", name)
        assert page.returncode == 0
        assert "libtensorflow_framework.so.2" in page.stdout
        assert "Explains: tf-lists-no-gpu" in page.stdout
    assert "Causes: " in gpudoctor("explain", "tf-lists-no-gpu").stdout


def test_help() -> None:
    for arguments in ([], ["--help"], ["check", "-h"], ["replay", "--help"]):
        assert "Usage" in gpudoctor(*arguments).stdout + gpudoctor(*arguments).stderr


def test_replay_of_a_healthy_host() -> None:
    done = gpudoctor("replay", str(HOSTS / "h200-x2-healthy.json"))
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "✓ Healthy: TensorFlow lists 2 GPUs."
    assert done.stderr == ""


def test_replay_from_a_pipe() -> None:
    text = (HOSTS / "h200-x2-tf-2.21-plain.json").read_text()
    done = subprocess.run([*COMMAND, "replay", "-"], input=text, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 1
    assert "tf-wheel-runpath-gap" in done.stdout


@pytest.mark.parametrize(("fail_on", "code"), [("fail", 1), ("warn", 1), ("unknown", 1)])
def test_fail_on(fail_on: str, code: int) -> None:
    assert gpudoctor("replay", str(HOSTS / "h200-x2-tf-2.21-plain.json"), "--fail-on", fail_on).returncode == code
    assert gpudoctor("replay", str(HOSTS / "h200-x2-healthy.json"), "--fail-on", fail_on).returncode == 0


# ------------------------------------------------------------------------------- ends that nobody asked for


def _hear_hang_ups() -> None:
    """Also where the tests themselves run under nohup."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_signal_leaves_a_process(
    workshop: Workshop, tmp_path: Path, tensorflow_directory: Path, number: signal.Signals
) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path, "libnvidia-ml.so.1")
    env = {
        **os.environ, MARK: TOKEN, "LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_INIT": "hang", "FAKE_NVML_INIT": "hang",
    }  # fmt: skip
    process = subprocess.Popen(
        [*COMMAND, "check", "--python", sys.executable],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=env,
        text=True,
        preexec_fn=_hear_hang_ups,
    )
    time.sleep(9)  # TensorFlow is imported by now, and a forked child of it hangs in cuInit
    process.send_signal(number)
    _, said = process.communicate(timeout=10)
    assert left() == []
    if number is not signal.SIGKILL:
        assert process.returncode == 128 + number
        assert said.splitlines()[-1] == f"gpudoctor: ended by {number.name}"


def test_a_parent_that_ignores_its_children(bare: str) -> None:
    prefix = ("bash", "-c", "trap '' CHLD; exec \"$@\"", "bash")
    done = gpudoctor("check", "--level", "quick", "--format", "json", "--python", bare, prefix=prefix)
    assert "tf-not-installed" in causes(report(done))


def test_a_narrow_terminal_encoding(bare: str) -> None:
    done = gpudoctor("check", "--level", "quick", "--python", bare, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert "tf-not-installed" in done.stdout


def test_a_python_that_prints_by_itself(bare: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('good morning')")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = gpudoctor("check", "--level", "quick", "--python", bare, env={"PYTHONPATH": path})
    assert done.returncode == 1
    assert "internal error" not in done.stderr


def test_a_closed_standard_output() -> None:
    done = gpudoctor("list", prefix=("bash", "-c", 'exec "$@" >&-', "bash"))
    assert done.returncode == 3
    assert one_line(done) == "gpudoctor: standard output is closed"


def test_a_device_list_that_hangs_is_not_healthy(tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    hang = "class config:\n    @staticmethod\n    def list_physical_devices():\n        import time; time.sleep(60)\n"
    (tmp_path / "tensorflow" / "__init__.py").write_text(hang)
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = gpudoctor(
        "check", "--timeout", "6", "--skip", "no-nvidia-gpu", "--skip", "libcuda-not-found", "--python", sys.executable,
        env={"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1].startswith("? Unknown")


def test_an_environment_that_does_not_run_is_named(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin" / "python3"
    broken.write_text("#!/bin/sh\necho out of order >&2; exit 3\n")
    broken.chmod(0o755)
    done = gpudoctor("check", "--level", "quick", env={"VIRTUAL_ENV": str(tmp_path)})
    assert f"passed over: {broken} (VIRTUAL_ENV): it ended with exit code 3 (out of order)" in done.stdout
    done = gpudoctor("check", "--level", "quick", env={"VIRTUAL_ENV": str(tmp_path / "gone")})
    assert f"passed over: VIRTUAL_ENV={tmp_path / 'gone'} has no Python" in done.stdout


def test_the_cause_does_not_wait_for_a_driver_that_hangs(workshop: Workshop, tmp_path: Path, bare: str) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), tmp_path, "libcuda.so.1")
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "FAKE_CUDA_INIT": "hang"}
    process = subprocess.Popen(
        [*COMMAND, "check", "--timeout", "8", "--no-trials", "--python", bare],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=env, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    first = process.stderr.readline()
    told = time.monotonic()
    assert "tf-not-installed" in first + process.stderr.readline()
    out, _ = process.communicate(timeout=30)
    assert re.search(r"did not end within 8(\.\d+)? s", out)
    assert time.monotonic() - told > 2
