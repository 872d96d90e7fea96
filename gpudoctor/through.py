"""Runs a command as if nobody stood between it and its terminal, and keeps a part of what it writes.

Standard input, the terminal, the process group, open files, limits and variables are the command's own: it is started as by
`env` or `time`. Its standard output and error go through a pipe, or, where ours is a terminal, a pseudo-terminal in raw mode
(so the command sees a terminal, and what it writes is not changed), and from there, block by block, to where ours go.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import subprocess
import termios
import threading
import time
import tty
from collections.abc import Callable, Sequence

from .child import Kept, signal_name

KEEP_BYTES = 2 << 20
"""Of each stream; the half of its beginning and the half of its end."""
_BLOCK = 1 << 18
_GRACE_S = 0.3
"""After the command has ended, for what it has started and that still writes."""
_PASSED_ON = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH,
)  # fmt: skip
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_SENT_BY_A_PROCESS = (0, -1, -6)
"""si_code SI_USER, SI_QUEUE, SI_TKILL; the terminal's signals reach the command by themselves."""


class NotStarted(Exception):  # noqa: N818
    """The command can't be started: 127 where it is not found, else 126, as of a shell, `env` and `time`."""

    def __init__(self, command: str, error: OSError) -> None:
        missing = error.errno in (errno.ENOENT, errno.ENOTDIR)
        super().__init__(f"{command}: {'command not found' if missing else error.strerror}")
        self.code = 127 if missing else 126


class Through:
    """A command that runs. To be used from the main thread: it handles signals."""

    def __init__(self, command: Sequence[str], on_start: Callable[[int], None]) -> None:
        """Start it; `on_start` is called with its number before any thread is made. Raises NotStarted."""
        self.interrupted = False
        """A signal that ends programs came while it ran."""
        self._early: list[int] = []
        self._before = {n: signal.getsignal(n) for n in _PASSED_ON}
        self._handled = [n for n in _PASSED_ON if self._before[n] is not signal.SIG_IGN]  # what nohup ignores stays so
        for number in self._handled:
            signal.signal(number, lambda n, _: self._early.append(n))
        self._streams = _streams()
        try:
            ends = {fd: stream.inner for stream in self._streams for fd in stream.fds}
            self._process = subprocess.Popen(
                list(command), stdout=ends.get(1), stderr=ends.get(2), close_fds=False, restore_signals=True
            )
        except OSError as e:
            self._restore()
            raise NotStarted(command[0], e) from e
        finally:
            for stream in self._streams:
                os.close(stream.inner)
        self._waited = {*self._handled, signal.SIGCHLD}
        signal.pthread_sigmask(signal.SIG_BLOCK, self._waited)
        on_start(self._process.pid)

    def wait(self) -> int | None:
        """Till it ends: its exit code; None where a signal ended it (`ended_by`)."""
        threads = [threading.Thread(target=s.pump, daemon=True) for s in self._streams]
        for thread in threads:
            thread.start()
        for number in self._early:
            self._pass_on(number)
        while self._process.poll() is None:
            came = signal.sigtimedwait(self._waited, 1.0)
            if came is None or came.si_signo == signal.SIGCHLD:
                continue
            if came.si_signo == signal.SIGWINCH:
                for stream in self._streams:
                    stream.resize()
            if came.si_code in _SENT_BY_A_PROCESS or came.si_signo == signal.SIGWINCH:
                self._pass_on(came.si_signo)
            self.interrupted |= came.si_signo in _ENDS
        for stream in self._streams:
            stream.end()
        for thread in threads:
            thread.join()
        self._restore()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._waited)
        code = self._process.returncode
        return code if code >= 0 else None

    def _pass_on(self, number: int) -> None:
        self.interrupted |= number in _ENDS
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def _restore(self) -> None:
        for number in self._handled:
            signal.signal(number, self._before[number])

    @property
    def ended_by(self) -> str | None:
        """'SIGKILL'; None: no signal ended it."""
        code = self._process.returncode
        return signal_name(-code) if code is not None and code < 0 else None

    @property
    def shell_code(self) -> int:
        """Its exit code, of a signal 128 and its number, as a shell says it."""
        code = self._process.returncode
        return code if code >= 0 else 128 - code

    def log(self) -> tuple[bytes, int]:
        """What is kept of its output, errors first, and how many bytes there were."""
        ordered = sorted(self._streams, key=lambda s: 2 not in s.fds)
        return b"\n".join(s.kept.bytes() for s in ordered), sum(s.kept.count for s in ordered)


class _Stream:
    """What the command writes to one or both of its streams, on its way to where ours go."""

    def __init__(self, fds: tuple[int, ...]) -> None:
        self.fds = fds
        self.kept = Kept(KEEP_BYTES)
        self._is_terminal = os.isatty(fds[0])
        if self._is_terminal:
            self._outer, self.inner = os.openpty()
            tty.setraw(self.inner)  # the real terminal does what is to be done with its bytes
            self.resize()
        else:
            self._outer, self.inner = os.pipe()
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._outer, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._bell, self._ring = os.pipe()
        self._ended_at: float | None = None

    def resize(self) -> None:
        """The pseudo-terminal is as large as the terminal."""
        if self._is_terminal:
            with contextlib.suppress(OSError, termios.error):
                size = fcntl.ioctl(self.fds[0], termios.TIOCGWINSZ, b"\0" * 8)
                fcntl.ioctl(self._outer, termios.TIOCSWINSZ, size)

    def end(self) -> None:
        """The command has ended: pass on what is left, and no more."""
        self._ended_at = time.monotonic()
        os.write(self._ring, b"!")

    def pump(self) -> None:
        """Pass on till nobody can write any more, or nobody reads."""
        poll = select.poll()
        poll.register(self._outer, select.POLLIN)
        poll.register(self._bell, select.POLLIN)
        try:
            while True:
                left = None
                if self._ended_at is not None:
                    left = self._ended_at + _GRACE_S - time.monotonic()
                ready = {fd for fd, _ in poll.poll(None if left is None else max(0, left * 1000))}
                if self._bell in ready:
                    os.read(self._bell, 1)
                    continue
                if not ready:
                    return  # what it started in the background holds the stream, and is silent
                try:
                    block = os.read(self._outer, _BLOCK)
                except OSError:  # EIO: the last one has closed a pseudo-terminal
                    return
                if not block:
                    return
                _write(self.fds[0], block)
                self.kept.add(block)
        except OSError:
            return  # nobody reads what we write: nor does the command find a reader, then
        finally:
            os.close(self._outer)


def _write(fd: int, block: bytes) -> None:
    """All of it, also where somebody has made the stream one that does not wait. Raises OSError."""
    left = memoryview(block)
    while left:
        try:
            left = left[os.write(fd, left) :]
        except BlockingIOError:
            select.select([], [fd], [])


def _streams() -> list[_Stream]:
    """Of standard output and error those that are open; where both are one file, what is written keeps its order."""
    places: dict[tuple[int, int], list[int]] = {}
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            found = os.fstat(fd)
            places.setdefault((found.st_dev, found.st_ino), []).append(fd)
    return [_Stream(tuple(fds)) for fds in places.values()]
