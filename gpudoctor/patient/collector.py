"""Runs pieces of work as children of its own and passes on what they answer.

For a patient that can be reached only once: a container that is started for it, a host behind ssh, a machine where
nothing can be installed. One interpreter starts there, and everything else happens beside it, each with a limit.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Dict, List

from .core import answer, talk_to


def collect(jobs: List[Dict[str, Any]]) -> None:
    """Run `jobs` side by side: dicts with name, program, limit_s, keep_bytes, env (changes) and only_if_set."""
    try:
        home = tempfile.mkdtemp(prefix="gpudoctor-")
    except OSError:  # a read-only container, a full disk
        home = "/proc/self/no-scratch"
    threads = []
    try:
        for job in jobs:
            wanted = job.get("only_if_set")
            if wanted and wanted not in os.environ:
                answer("job_skipped", job["name"])
                continue
            thread = threading.Thread(target=_run_job, args=(job, home))
            thread.daemon = True
            thread.start()
            threads.append(thread)
        while any(t.is_alive() for t in threads):
            time.sleep(0.02)
            _pulse()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main(mark: str, header: Dict[str, Any], jobs: List[Dict[str, Any]]) -> None:
    """The collector as a program of its own: writes a collection to standard output, or to the file that is named."""
    if any(a in ("-h", "--help") for a in sys.argv[1:]) or len(sys.argv) > 2:
        sys.stderr.write("usage: python3 %s [FILE]\nThen, elsewhere: gpudoctor replay FILE\n" % sys.argv[0])
        sys.exit(0 if len(sys.argv) == 2 else 2)
    if len(sys.argv) == 2:
        try:
            out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except OSError as e:
            sys.stderr.write("gpudoctor: can't write to %s: %s\n" % (sys.argv[1], e.strerror))
            sys.exit(2)
    else:
        if sys.stdout.isatty():
            sys.stderr.write("gpudoctor: name a file, or redirect standard output\n")
            sys.exit(2)
        out = os.dup(1)
    talk_to(out, mark)
    answer("collection", header)
    answer("collected_at", time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()))
    try:
        collect(jobs)
    except KeyboardInterrupt:
        os._exit(130)  # the children die with their parent
    answer("end", None)


_last_pulse = [0.0]


def _pulse() -> None:
    """A line every other second: writing to a listener that is gone ends this process and its children."""
    now = time.time()
    if now - _last_pulse[0] > 2.0:
        _last_pulse[0] = now
        answer("pulse", None)


def _run_job(job: Dict[str, Any], home: str) -> None:
    started = time.time()
    ended = {"job": job["name"], "exit_code": None, "signal": None, "timed_out": False, "start_error": None}
    env = {k: v for k, v in os.environ.items() if k not in ("LD_DEBUG", "LD_DEBUG_OUTPUT")}
    env.update({"PYTHONDONTWRITEBYTECODE": "1", "KERAS_HOME": home})
    for name, value in job["env"].items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    log = _Log(job["keep_bytes"])
    try:
        child = subprocess.Popen(
            [sys.executable, "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            start_new_session=True,
        )
    except OSError as e:
        ended["start_error"] = e.errno
    else:
        limit = threading.Timer(job["limit_s"], _stop, (child, ended))
        limit.daemon = True
        limit.start()
        streams = [
            threading.Thread(target=_feed, args=(child.stdin, job["program"])),
            threading.Thread(target=log.keep, args=(child.stderr,)),
            threading.Thread(target=_relay, args=(child.stdout, job["name"])),
        ]
        for stream in streams:
            stream.daemon = True
            stream.start()
        code = child.wait()
        limit.cancel()
        for stream in streams:
            stream.join(0.5)  # something that it started may hold the pipes
        _kill_group(child.pid)
        ended["signal" if code < 0 else "exit_code"] = abs(code)
        if ended["timed_out"]:
            ended["signal"] = ended["exit_code"] = None
    ended["seconds"] = time.time() - started
    ended["stderr"] = log.text()
    answer("job_end", ended)


def _stop(child: Any, ended: Dict[str, Any]) -> None:
    ended["timed_out"] = True
    _kill_group(child.pid)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass


def _feed(stream: Any, program: str) -> None:
    try:
        stream.write(program.encode("utf-8", "surrogateescape"))
        stream.close()
    except OSError:
        pass


def _relay(stream: Any, name: str) -> None:
    for line in stream:
        answer("job_line", [name, line.decode("utf-8", "surrogateescape").rstrip("\n")])


class _Log:
    """The first and the last half of a stream: a program may print 50 MB."""

    def __init__(self, limit: int) -> None:
        self._head, self._tail, self._half = b"", b"", limit // 2

    def keep(self, stream: Any) -> None:
        """Read it to its end."""
        while True:
            block = os.read(stream.fileno(), 1 << 16)
            if not block:
                return
            room = max(0, self._half - len(self._head))
            self._head += block[:room]
            self._tail = (self._tail + block[room:])[-self._half :]

    def text(self) -> str:
        """What was kept."""
        return (self._head + self._tail).decode("utf-8", "replace")
