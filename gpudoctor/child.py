"""A piece of work in a child process: time limit, crash, signal and standard error become facts.

Vendor libraries and frameworks run here, never in our own process. A child is the leader of a session
of its own and is killed with everything that it started, however it ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

KEEP_BYTES = 1 << 20
"""How much of each stream is kept: its first and its last half; a child may print 50 MB."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a child ended, and what it wrote."""

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    """None: it was ended by a signal or at its limit, or never started."""
    signal: int | None
    timed_out: bool
    seconds: float
    start_error: OSError | None = None
    running: bool = False
    """It has not ended yet."""
    in_vain: bool = False
    """`timed_out`, and not at its own limit: all the time that the user gave was over."""

    @property
    def how(self) -> str | None:
        """How it ended, for a person; None: with exit code 0."""
        if self.running:
            return "has not answered yet"
        if self.start_error is not None:
            return f"could not be started: {self.start_error.strerror}"
        if self.in_vain:
            return "had not ended when the time was over (--budget)"
        if self.timed_out:
            return f"did not end within {self.seconds:.3g} s and was killed"
        if self.signal is not None:
            return f"was ended by {signal_name(self.signal)}"
        return f"ended with exit code {self.exit_code}" if self.exit_code else None


RUNNING = Outcome(b"", b"", None, None, False, 0.0, running=True)
"""Stands for the outcome of a child that has not ended yet."""


def signal_name(number: int) -> str:
    """'SIGSEGV' for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Kept:
    """The first and the last half of a stream: at most `limit` bytes are kept, and of the last as many again for a while."""

    def __init__(self, limit: int) -> None:
        self.count = 0
        """Bytes that were added."""
        self._head, self._tail, self._half, self._lost = bytearray(), bytearray(), limit // 2, 0

    def add(self, block: bytes) -> None:
        """What comes next of it."""
        self.count += len(block)
        room = self._half - len(self._head)
        self._head += block[:room]
        self._tail += block[room:]
        if len(self._tail) > 2 * self._half:
            self._lost += len(self._tail) - self._half
            del self._tail[: -self._half]

    def bytes(self) -> bytes:
        """What is kept, and how much is left out in between."""
        gap = b"\n... %d bytes left out ...\n" % self._lost if self._lost else b""
        return bytes(self._head + gap + self._tail)


class Family:
    """Children that are ended together, such as those of one examination."""

    def __init__(self) -> None:
        self._running: set[int] = set()
        self._lock = threading.Lock()
        self.is_ended = False

    def enter(self) -> None:
        """What this thread starts from now on belongs to it."""
        _of_thread.family = self

    def born(self, pid: int) -> None:
        """A child runs."""
        with self._lock:
            self._running.add(pid)
            if self.is_ended:  # it was started meanwhile
                _kill_group(pid)

    def gone(self, pid: int) -> None:
        """It does not any more."""
        with self._lock:
            self._running.discard(pid)

    def end(self) -> None:
        """Kill every child of it that still runs and start no more."""
        with self._lock:
            self.is_ended = True
            for pid in self._running:
                _kill_group(pid)


_everybody = Family()
_of_thread = threading.local()


def kill_all() -> None:
    """Kill every child that still runs and start no more; for the way out after an interrupt."""
    _everybody.end()


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def run(
    command: Sequence[str],
    *,
    limit_s: float,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    directory: str | None = None,
    on_line: Callable[[bytes], object] | None = None,
    keep_bytes: int = KEEP_BYTES,
) -> Outcome:
    """Run `command` for at most `limit_s` seconds; never raises for what the child does.

    `on_line` is called with each whole line of standard output as it comes.
    """
    started = time.monotonic()
    families = [_everybody, *([_of_thread.family] if hasattr(_of_thread, "family") else [])]
    if any(one.is_ended for one in families):
        gone = OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
        return Outcome(b"", b"", None, None, False, 0.0, start_error=gone)
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env) if env is not None else None,
            cwd=directory,
            start_new_session=True,
        )
    except OSError as e:
        return Outcome(b"", b"", None, None, False, time.monotonic() - started, start_error=e)
    for one in families:
        one.born(process.pid)
    try:
        out, err, timed_out = _pump(process, stdin, started + limit_s, on_line, keep_bytes)
        seconds = time.monotonic() - started
    finally:
        # The leader is not reaped yet, so its group's number can't be somebody else's.
        _kill_group(process.pid)
        _reap(process, 2.0)
        for one in families:
            one.gone(process.pid)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
    code = process.returncode
    ended_by = -code if code is not None and code < 0 and not timed_out else None
    return Outcome(
        out.bytes(), err.bytes(), code if code is not None and code >= 0 else None, ended_by, timed_out, seconds
    )


def _reap(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Wait for it, but not for ever: a process stuck in the kernel can't be killed."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience_s)


def _exited(pid: int) -> bool:
    """Whether the child has ended; it is left to be reaped."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # somebody else reaped it
        return True


def _pump(
    process: subprocess.Popen[bytes],
    stdin: bytes,
    deadline: float,
    on_line: Callable[[bytes], object] | None,
    keep_bytes: int,
) -> tuple[Kept, Kept, bool]:
    """Feed and drain the child until its streams close, it exits, or the deadline passes."""
    assert process.stdin and process.stdout and process.stderr
    out, err, line = Kept(keep_bytes), Kept(keep_bytes), bytearray()
    pending = memoryview(stdin)
    exited_at: float | None = None
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            now = time.monotonic()
            if now >= deadline:
                return out, err, True
            if exited_at is None and _exited(process.pid):
                exited_at = now
            if exited_at is not None and now - exited_at > 0.5:
                break  # it is gone, and something that it started holds the pipes
            for key, _ in selector.select(min(deadline - now, 0.1)):
                if key.fileobj is process.stdin:
                    try:
                        pending = pending[os.write(key.fd, pending[: 1 << 16]) :] if pending else pending
                    except BlockingIOError:
                        continue
                    except OSError:
                        pending = pending[:0]
                    if not pending:
                        selector.unregister(process.stdin)
                        with contextlib.suppress(OSError):
                            process.stdin.close()
                    continue
                try:
                    block = os.read(key.fd, 1 << 16)
                except BlockingIOError:
                    continue
                if not block:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    err.add(block)
                else:
                    out.add(block)
                    line = _lines(line + block, on_line)
        while time.monotonic() < deadline:
            if _exited(process.pid):
                return out, err, False
            time.sleep(0.005)
    return out, err, not _exited(process.pid)


def _lines(data: bytearray, on_line: Callable[[bytes], object] | None) -> bytearray:
    if on_line is None:
        return bytearray()
    *whole, rest = bytes(data).split(b"\n")
    for one in whole:
        on_line(one)
    return bytearray(rest)
