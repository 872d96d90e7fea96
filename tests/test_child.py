from __future__ import annotations

import os
import sys
import time

import psutil
import pytest

from gpudoctor import child

PYTHON = sys.executable


def python(program: str, limit_s: float = 10.0, **more: object) -> child.Outcome:
    return child.run([PYTHON, "-c", program], limit_s=limit_s, **more)  # type: ignore[arg-type]


def descendants() -> list[psutil.Process]:
    return [p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(autouse=True)
def nothing_is_left() -> object:
    before = descendants()  # scenes of other tests
    yield
    deadline = time.monotonic() + 5
    while (left := [p for p in descendants() if p not in before]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def test_output_and_exit_code() -> None:
    got = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (got.stdout, got.stderr, got.exit_code, got.signal, got.timed_out) == (b"out\n", b"err\n", 3, None, False)
    assert got.how == "ended with exit code 3"


def test_input_larger_than_a_pipe() -> None:
    got = child.run([PYTHON, "-c", "import sys; print(len(sys.stdin.read()))"], limit_s=10, stdin=b"x" * 3_000_000)
    assert got.stdout == b"3000000\n"


def test_input_that_nobody_reads() -> None:
    assert child.run(["true"], limit_s=10, stdin=b"x" * 3_000_000).exit_code == 0


def test_a_signal_is_a_fact() -> None:
    got = python("import os; os.kill(os.getpid(), 11)")
    assert got.signal == 11
    assert got.how == "was ended by SIGSEGV"


def test_the_limit_holds() -> None:
    started = time.monotonic()
    got = python("import time; print('before', flush=True); time.sleep(60)", limit_s=0.7)
    assert time.monotonic() - started < 3
    assert got.timed_out
    assert got.stdout == b"before\n"
    assert "did not end within" in str(got.how)


def test_signals_that_a_child_ignores_do_not_save_it() -> None:
    ignoring = "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; time.sleep(60)"
    assert python(ignoring, limit_s=0.7).timed_out


def test_grandchildren_go_with_it() -> None:
    left = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)"
    started = time.monotonic()
    got = python(left)
    assert time.monotonic() - started < 5
    pid = int(got.stdout)
    time.sleep(0.1)
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_flood_keeps_its_first_and_last_part() -> None:
    flood = "import sys; sys.stderr.write('first\\n'); [sys.stderr.write('x' * 1023 + '\\n') for _ in range(51200)]; sys.stderr.write('last\\n')"
    got = python(flood, limit_s=60)
    assert len(got.stderr) < 4 * child.KEEP_BYTES
    assert got.stderr.startswith(b"first\n")
    assert got.stderr.endswith(b"last\n")
    assert b"bytes left out" in got.stderr


def test_lines_come_as_they_are_written() -> None:
    seen: list[tuple[bytes, float]] = []
    started = time.monotonic()
    slow = "import time; print('one', flush=True); time.sleep(1); print('two'); print('rest', end='')"
    python(slow, on_line=lambda line: seen.append((line, time.monotonic() - started)))
    assert [line for line, _ in seen] == [b"one", b"two"]
    assert seen[1][1] - seen[0][1] > 0.5


def test_a_program_that_is_not_there() -> None:
    got = child.run([os.path.join(os.sep, "no", "such", "program")], limit_s=1)
    assert got.start_error is not None
    assert got.how == "could not be started: No such file or directory"
