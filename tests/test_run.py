"""`gpudoctor run`: the command runs as if nobody stood between, and is judged at its end."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes import watch
from gpudoctor.probes.watch_tree import TreeWatch
from tests.building import Workshop, put
from tests.provoked.proof import Proof
from tests.running import COMMAND, MARK, ROOT, TOKEN, causes, left

PYTHON = sys.executable


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), MARK: TOKEN, **more}


def run(
    *command: str, stdin: bytes = b"", options: tuple[str, ...] = (), env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """`gpudoctor run -- command`; afterwards no process of it may be left."""
    done = subprocess.run(
        [*COMMAND, "run", *options, "--", *command],
        input=stdin,
        capture_output=True,
        env=environment(**(env or {})),
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert left() == []
    return done


def reported(tmp_path: Path, *command: str, code: int = 0, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    kept = tmp_path / "report.json"
    done = run(*command, options=("--format", "json", "-o", str(kept)), env=env)
    assert done.returncode == code, done.stderr
    loaded: dict[str, Any] = json.loads(kept.read_text())
    return loaded


# ------------------------------------------------------------------------------- the way through


def test_the_report_follows_on_standard_error() -> None:
    done = run("sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, b"out\n")
    first, _, rest = done.stderr.partition(b"\n")
    assert first == b"err"
    assert b"The run\n" in rest
    assert b"exit code 7" in rest


def test_every_byte_of_a_million_lines() -> None:
    program = "import sys\nfor i in range(1000000): print('line', i)\nsys.stderr.write('x' * 300000)"
    done = run(PYTHON, "-c", program)
    assert done.stdout == b"".join(b"line %d\n" % i for i in range(1000000))
    assert done.stderr.startswith(b"x" * 300000)


def test_bytes_that_are_no_text() -> None:
    data = bytes(range(256)) * 5000
    done = run("cat", stdin=data)
    assert (done.returncode, done.stdout) == (0, data)


def test_both_streams_into_one_file_keep_their_order(tmp_path: Path) -> None:
    program = "import os\nfor i in range(2000): os.write(1 + i % 2, b'%d\\n' % i)"
    with (tmp_path / "all").open("wb") as f:
        command = [*COMMAND, "run", "-o", str(tmp_path / "report"), "--", PYTHON, "-c", program]
        subprocess.run(command, stdout=f, stderr=f, env=environment(), cwd=ROOT, check=True, timeout=120)
    assert (tmp_path / "all").read_bytes() == b"".join(b"%d\n" % i for i in range(2000))
    assert "exit code 0" in (tmp_path / "report").read_text()


def test_options_after_the_command_are_the_commands() -> None:
    done = subprocess.run(
        [*COMMAND, "run", "printf", "%s", "--format"], capture_output=True, env=environment(), cwd=ROOT, check=True
    )
    assert done.stdout == b"--format"


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [(("no-such-command",), 127, b"command not found"), (("/etc/passwd",), 126, b"Permission denied")],
)
def test_a_command_that_can_not_be_started(command: tuple[str, ...], code: int, words: bytes) -> None:
    done = run(*command)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr == b"gpudoctor: " + command[0].encode() + b": " + words + b"\n"


def test_a_command_that_a_signal_ends(tmp_path: Path) -> None:
    ran = reported(tmp_path, "sh", "-c", "kill -SEGV $$", code=128 + 11)["facts"]["run"]
    assert (ran["exit_code"], ran["signal"]) == (None, "SIGSEGV")


def test_what_the_command_is_given() -> None:
    """Its own variables, directory, open files, signals: as if it had been started here."""
    program = (
        "import os, signal; print(os.getcwd(), os.environ['MINE'], os.read(int(os.environ['FD']), 9), "
        "signal.getsignal(signal.SIGPIPE) is not None, signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    reading, writing = os.pipe()
    os.write(writing, b"inherited")
    command = [PYTHON, "-c", program]
    env = environment(MINE="x", FD=str(reading))
    done = subprocess.run(
        [*COMMAND, "run", "--", *command], env=env, cwd=ROOT, pass_fds=[reading], capture_output=True, check=True
    )
    assert done.stdout.decode() == f"{ROOT} x b'inherited' True set()\n"
    os.close(reading)
    os.close(writing)


def test_something_that_it_leaves_behind_holds_nobody_up() -> None:
    began = time.monotonic()
    done = subprocess.run(
        [*COMMAND, "run", "--", "sh", "-c", "sleep 60 & echo $!"],
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        check=True,
    )
    assert time.monotonic() - began < 40
    os.kill(int(done.stdout), signal.SIGKILL)  # it is the user's, and still there
    assert left() == []


def started(*command: str, **more: Any) -> subprocess.Popen[bytes]:
    """Under `gpudoctor run`; its first line says that the command is there."""
    process = subprocess.Popen(
        [*COMMAND, "run", "--", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
        **more,
    )
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return process


CATCHES = """
import signal, sys, time
def caught(number, frame):
    print("caught", number, flush=True)
    sys.exit(5)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, caught)
print("ready", flush=True)
for _ in range(600):  # a signal that comes just before a sleep is seen after it
    time.sleep(0.1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_is_passed_on(number: signal.Signals) -> None:
    process = started(PYTHON, "-c", CATCHES)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert out == b"caught %d\n" % number
    assert process.returncode == 5
    assert b"The run\n" in err
    assert left() == []


def test_a_reader_that_goes_away() -> None:
    """The command meets a closed pipe, as it would by itself."""
    process = started(PYTHON, "-c", "print('ready', flush=True)\nwhile True: print('x' * 1000)")
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.wait(timeout=60) in (1, 120, 128 + 13)
    assert b"BrokenPipeError" in process.stderr.read()
    process.stderr.close()
    assert left() == []


def in_a_terminal(*command: str, keys: tuple[tuple[bytes, bytes], ...] = ()) -> tuple[bytes, int]:
    """What a terminal shows, and the exit code; `keys`: what is typed as soon as it shows something."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(COMMAND[0], [*COMMAND, "run", "--", *command], environment(TERM="dumb"))
    shown, waiting = b"", list(keys)
    while True:
        try:
            block = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not block:
            break
        shown += block
        if waiting and waiting[0][0] in shown:
            os.write(terminal, waiting.pop(0)[1])
    os.close(terminal)
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_terminal_is_a_terminal() -> None:
    program = "import os; print([os.isatty(i) for i in range(3)]); print('a\\tb'); print('got', input('name? '))"
    shown, code = in_a_terminal(PYTHON, "-c", program, keys=((b"name? ", b"ada\r"),))
    assert code == 0
    assert b"[True, True, True]\r\na\tb\r\nname? " in shown
    assert b"got ada\r\n" in shown
    assert b"The run" in shown


def test_control_c_ends_the_command_and_not_the_diagnosis() -> None:
    shown, code = in_a_terminal(PYTHON, "-c", CATCHES, keys=((b"ready", b"\x03"),))
    assert code == 5
    assert shown.count(b"caught 2") == 1  # once, though the terminal tells both
    assert b"The run" in shown
    assert left() == []


# ------------------------------------------------------------------------------- what is seen


TRAINS = """
import os, sys, threading, time
place, told = os.environ["FAKE_NVML_LIVE"], sys.argv[1].format(pid=os.getpid())
def tell(text):
    with open(place + ".new", "w") as f:
        f.write(text)
    os.rename(place + ".new", place)
time.sleep(1.5)
began, kept, pause = time.monotonic(), [], 0.0
last = began
tell(told)
while (at := time.monotonic() - began) < (16 if "leak" in sys.argv else 11):
    if "leak" in sys.argv:
        while len(kept) < 10 * at:  # by the clock, whatever else the machine does
            kept.append(b"x" * (6 << 20))
        time.sleep(0.1)
        pause, last = max(pause, time.monotonic() - last), time.monotonic()
    elif "main" in sys.argv:
        sum(range(100000))
    elif "thread" in sys.argv:
        one = threading.Thread(target=lambda: sum(range(3000000)))
        one.start()
        one.join()
    else:
        time.sleep(0.1)
with open(place + ".had", "w") as f:
    f.write(f"{time.process_time() / (time.monotonic() - began)} {pause}")
"""
GPM = "gpu0:gpm=1,gpu1:gpm=1"


def busy(index: int, percent: int, in_mib: int = 200, **more: int) -> str:
    """What the fake NVML tells of a GPU that a program is on; {pid} is the program's."""
    numbers = {
        "memory_used_mib": 9000,
        "busy": percent,
        "sm": percent,
        "tensor": percent // 4,
        "in_mib": in_mib,
        **more,
    }
    return ",".join([f"gpu{index}:pid={{pid}}", *(f"gpu{index}:{name}={number}" for name, number in numbers.items())])


@pytest.fixture
def fake(workshop: Workshop, tmp_path: Path) -> dict[str, str]:
    put(workshop.fake("libnvidia_ml.c", "libnvidia-ml.so.1"), tmp_path / "nvml", "libnvidia-ml.so.1")
    (tmp_path / "live").write_text("gpu0:gpm=1,gpu1:gpm=1")
    return {"LD_LIBRARY_PATH": str(tmp_path / "nvml"), "FAKE_NVML_LIVE": str(tmp_path / "live")}


@dataclass(frozen=True)
class Flaw(Proof):
    """What NVML tells of two GPUs while a program runs, and what the program does meanwhile."""

    first: str
    second: str
    does: str = ""

    def __str__(self) -> str:
        return self.cause


_BUSY = busy(0, 93), busy(1, 91)
FLAWS = (
    Flaw("single-gpu-silently", "a program under gpudoctor run, and an NVML by which it holds two GPUs, one at work", busy(0, 93), busy(1, 0, 0)),
    Flaw("gpu-work-unequal", "the same, one GPU at work a third as much", busy(0, 93), busy(1, 30)),
    Flaw("tensor-cores-idle", "the same, float32 units at work and no tensor core", busy(0, 93, tensor=0, fp32=60), busy(1, 91, tensor=0, fp32=60)),
    Flaw("gpu-throttling-thermal", "the same, clocks held down by heat", busy(0, 93, clock_reasons=0x40, celsius=92), _BUSY[1]),
    Flaw("h2d-pageable", "the same, both wait, much is copied, and the program's own thread works", busy(0, 25, 1500), busy(1, 25, 1500), "main"),
    Flaw("gpu-launch-bound", "the same, both wait, little is copied, and the program's own thread works", busy(0, 25), busy(1, 25), "main"),
    Flaw("cpu-starved-input", "the same, both wait, and another thread of the program works", busy(0, 25), busy(1, 25), "thread"),
    Flaw("host-memory-leak", "a program under gpudoctor run that takes 60 MiB a second", *_BUSY, "leak"),
)  # fmt: skip
OF_SPEED = ("GD84", "GD930", "GD80")
_WITHOUT_PAUSE, _LONGEST_PAUSE_S, _TRIES = 0.85, 0.5, 3


def trained(
    tmp_path: Path, fake: dict[str, str], first: str, second: str, does: str
) -> tuple[dict[str, Any], list[str]]:
    """The report, and the causes of slowness in it.

    What keeps a processor busy, or asks for memory without a pause, is to be seen doing so: where others took the processor
    from the program, once more, and skipped in the end.
    """
    for _ in range(_TRIES):
        report = reported(tmp_path, PYTHON, "-c", TRAINS, ",".join([GPM, first, second]), does, env=fake)
        had, pause = map(float, Path(fake["FAKE_NVML_LIVE"] + ".had").read_text().split())
        if pause <= _LONGEST_PAUSE_S and (does not in ("main", "thread") or had >= _WITHOUT_PAUSE):
            return report, [r["cause"] for r in report["diagnosis"]["root_causes"] if r["code"].startswith(OF_SPEED)]
    pytest.skip(f"others took the processor: the program had {had:.2f} of it, and waited {pause:.1f} s at once")


@pytest.mark.parametrize("flaw", FLAWS, ids=str)
def test_a_flaw_is_seen_and_named(fake: dict[str, str], tmp_path: Path, flaw: Flaw) -> None:
    report, named = trained(tmp_path, fake, flaw.first, flaw.second, flaw.does)
    assert named == [flaw.cause], report["facts"]["run"]
    again = subprocess.run(
        [*COMMAND, "replay", str(tmp_path / "report.json"), "--format", "json"],
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        check=False,
    )
    assert causes(json.loads(again.stdout)) == causes(report)


def test_a_program_without_a_flaw(fake: dict[str, str], tmp_path: Path) -> None:
    report, named = trained(tmp_path, fake, *_BUSY, "")
    assert named == []
    ran = report["facts"]["run"]
    assert [g["name"] for g in ran["gpus"]] == ["Fake GPU 0", "Fake GPU 1"]
    assert [g["utilisation_percent"]["mean"] for g in ran["gpus"]] == pytest.approx([93, 91], abs=3)
    assert [g["own_memory_bytes"] >> 20 for g in ran["gpus"]] == [9000, 9000]
    assert 1.0 < ran["warm_up_s"] < 6.0  # it waits before it begins
    assert 0 < ran["overhead"] < 0.03  # of a short run on a machine that does much else; benchmarks/ measure it


OF_OTHERS = busy(1, 95, sm=95).replace("{pid}", "1")


@pytest.mark.parametrize(
    ("first", "does", "expected"),
    [
        (busy(0, 93), "", []),
        (busy(0, 25), "thread", ["cpu-starved-input"]),
        (busy(0, 93), "leak", ["host-memory-leak"]),
        ("gpu0:busy=0", "main", []),
    ],
    ids=["clean", "starved", "leak", "on the processor"],
)
def test_what_others_do_on_another_gpu_is_none_of_its_work(
    fake: dict[str, str], tmp_path: Path, first: str, does: str, expected: list[str]
) -> None:
    report, named = trained(tmp_path, fake, first, OF_OTHERS, does)
    assert named == expected, report["facts"]["run"]
    other = report["facts"]["run"]["gpus"][1]
    assert (other["own_memory_bytes"], other["others"]) == (0, [1])
    assert other["utilisation_percent"]["median"] == pytest.approx(95, abs=3)


@pytest.mark.parametrize(
    ("tuning_s", "training_s", "begin"),
    [(7, 20, 9.0), (0, 9, 0.0), (4, 7, 1.0), (30, 600, 60.0)],
    ids=["a third", "too short for it", "ten seconds stay", "a minute at most"],
)
def test_the_start_is_not_the_steady_part(tuning_s: int, training_s: int, begin: float) -> None:
    """A GPU at 100% while kernels are tuned, at 40% in the training."""
    busy = [100] * (2 * tuning_s) + [40] * (2 * training_s)
    samples = [{"gpu": 0, "at": 5.0 + i / 2, "busy": b} for i, b in enumerate(busy)]
    first, last = watch.steady([samples], [])
    assert last == pytest.approx(5.0 + tuning_s + training_s, abs=1.5 + training_s / 50)
    assert first == pytest.approx(5.0 + begin, abs=1 + (tuning_s + training_s) / 20)


def test_a_gpu_that_lists_no_processes_is_no_gpu_without_any() -> None:
    """One names the program's process; the other was not asked, or answers an error."""
    pid = os.getpid()
    said: list[dict[str, Any]] = [{"count": 2}, {"gpu": 0, "name": "a"}, {"gpu": 1, "name": "b"}]
    for at in range(8):
        told = {"at": float(at), "busy": 90, "memory": 9 << 30}
        said += [{"gpu": 0, **told, "held": [[pid, 9 << 30]]}, {"gpu": 1, **told}]
    first, second = watch.condense(said, TreeWatch(pid), 0.0, 8.0).gpus  # type: ignore[misc]
    assert (first.own_memory_bytes, first.others) == (9 << 30, ())
    assert (second.own_memory_bytes, second.others) == (None, None)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("hang", "NVML did not answer while the program ran"),
        ("crash", "NVML's process was ended by SIGSEGV"),
    ],
)
def test_an_nvml_that_does_not_answer(fake: dict[str, str], tmp_path: Path, how: str, why: str) -> None:
    report = reported(tmp_path, "sleep", "2", env={"FAKE_NVML_INIT": how, **fake})
    assert report["facts"]["run"]["gpus"]["why"] == why
    assert report["facts"]["run"]["samples"] >= 2


def test_one_gpu_that_hangs_holds_up_no_other(fake: dict[str, str], tmp_path: Path) -> None:
    told = ",".join([GPM, busy(0, 80)])
    report = reported(tmp_path, PYTHON, "-c", TRAINS, told, env={"FAKE_NVML_HANG": "1", **fake})
    gpus = report["facts"]["run"]["gpus"]
    assert [(g["index"], g["tensor_percent"]) for g in gpus] == [(0, 20.0)]


TENSORFLOW = """
import sys, tensorflow as tf, time
print("made", tf.reduce_sum(tf.ones((3, 3))).numpy(), flush=True)
began = time.monotonic()
for batch in tf.data.Dataset.range(10**9).batch(32).prefetch(2):
    if time.monotonic() - began > 3:
        break
sys.exit(3)
"""


def test_a_real_training_on_processors(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    report = reported(tmp_path, PYTHON, "-c", TENSORFLOW, code=3)
    ran = report["facts"]["run"]
    assert ran["tensorflow"] is True
    assert ran["exit_code"] == 3
    assert ran["threads"] > 2
    assert [t.get("main", False) for t in ran["by_thread"]].count(True) == 1
    assert ran["cores"]["mean"] > 0.2
    assert ran["log_bytes"] > 9
    assert report["facts"]["python"]["executable"] == PYTHON


def test_what_it_logs_is_read(tmp_path: Path) -> None:
    line = "W0000 00:00:1.0 1 gpu_device.cc:2342] Cannot dlopen some GPU libraries. Skipping registering GPU devices..."
    oom = "ResourceExhaustedError: OOM when allocating tensor with shape[65536,65536] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
    report = reported(tmp_path, "sh", "-c", f"echo '{line}' >&2; echo '{oom}' >&2; exit 1", code=1)
    kinds = [e["kind"] for e in report["facts"]["text"]["events"]]
    assert "tensor-too-large" in kinds
    assert "lines" not in report["facts"]["text"]  # it is a machine's report, with a log beside
    assert "gpu-oom-model-or-data" in causes(report)


DEAR_S = 0.03
CROWD = """
import threading, time
for _ in range(600): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
kept = []
print("ready", flush=True)
while True:
    kept.append(b"x" * (4 << 20))
    time.sleep(0.05)
"""


FAMILY = """
import subprocess, sys, time
time.sleep(1.5)
one = subprocess.Popen([sys.executable, "-c", "import subprocess, time; p = subprocess.Popen(['sleep', '61']); print(p.pid, flush=True); time.sleep(1.5)"])
one.wait()
time.sleep(60)
"""


def test_what_is_started_later_is_of_the_program_and_what_its_parent_left_stays_so() -> None:
    with subprocess.Popen([PYTHON, "-c", FAMILY], stdout=subprocess.PIPE, env=environment()) as process:
        others = subprocess.Popen(["sleep", "60"])
        assert process.stdout
        tree = TreeWatch(process.pid)
        tree.begin()
        grandchild = int(process.stdout.readline())
        time.sleep(4)
        tree.end()
        os.kill(grandchild, signal.SIGKILL)
        others.kill()
        others.wait()
        process.kill()
    assert grandchild in tree.pids
    assert others.pid not in tree.pids
    assert len(tree.pids) == 3
    assert max(s.processes for s in tree.samples) == 3
    assert [s.processes for s in tree.samples][-1] == 2  # the child has ended, the grandchild has not


def test_memory_is_asked_for_often_where_a_look_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    look = TreeWatch._look

    def dear(self: TreeWatch) -> None:
        ends = time.thread_time() + DEAR_S
        look(self)
        while time.thread_time() < ends:
            pass

    monkeypatch.setattr(TreeWatch, "_look", dear)
    with subprocess.Popen([PYTHON, "-c", CROWD], stdout=subprocess.PIPE, env=environment()) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"ready\n"
            tree = TreeWatch(process.pid)
            tree.begin()
            time.sleep(6)
            tree.end()
        finally:
            process.kill()
    assert left() == []
    assert len(tree.samples) in (1, 2)  # the third is due 2 * DEAR_S / 0.5% - 4 s after the first
    assert max(s.all_threads for s in tree.samples) > 600
    assert len(tree.memory) >= 4  # of 12
    sizes = [size for _, size in tree.memory]
    assert sizes == sorted(sizes)
    assert sizes[-1] - sizes[0] > 64 << 20
