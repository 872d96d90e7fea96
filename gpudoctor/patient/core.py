"""The core of what runs inside the examined interpreter: it talks, reads files, forks children.

Every answer is one line on the standard output that the process was started with: a mark, the name of the
answer and its JSON. Whatever else the process prints (a sitecustomize, TensorFlow, a C library) goes to
standard error and is kept as log.
"""

import sys

# `python -` puts the working directory first on the path. Keep a stray json.py there from breaking the
# imports below, and put it back afterwards: the user's own program would see it.
_PATH_AS_STARTED = list(sys.path)
sys.path = [p for p in sys.path if p not in ("", ".")]

import ctypes  # noqa: E402
import errno  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import signal  # noqa: E402
import stat  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from typing import Any, Callable, Dict, Optional, Tuple  # noqa: E402

_out = -1
_mark = ""
_talking = threading.Lock()

# ----------------------------------------------------------------------------- talking


def answer(name: str, value: Any) -> None:
    """Send one answer: a mark, a name, a JSON value, one line."""
    line = "%s %s %s\n" % (_mark, name, json.dumps(value, ensure_ascii=False))
    data = line.encode("utf-8", "surrogateescape")  # bytes that are no text are read as such on the other side
    with _talking:
        while data:
            data = data[os.write(_out, data) :]


def talk_to(out: int, mark: str) -> None:
    """From now on answers go to the file descriptor `out`, and begin with `mark`."""
    global _out, _mark
    _out, _mark = out, mark


def serve(request: Dict[str, Any]) -> None:
    """Do the tasks of `request`, a dict with `mark` (reversed) and `tasks` [[name, arguments], …]."""
    talk_to(os.dup(1), request["mark"][::-1])  # reversed: a program that only echoes its input sends no answer
    os.dup2(2, 1)
    die_with_parent()
    _restore_path()
    for name, arguments in request["tasks"]:
        try:
            globals()[name.split(".")[1]](**arguments)
        except BaseException:
            answer("error", {"task": name, "text": traceback.format_exc()})
    answer("end", None)
    sys.stdout.flush()
    os._exit(0)  # a vendor library's exit handler must not change the outcome


def _restore_path() -> None:
    """All imports of ours are made: from here on the path is what the user's own program would see."""
    sys.path = _PATH_AS_STARTED
    try:
        os.getcwd()
    except OSError:  # it was removed: then "" leads nowhere, and resolving it raises
        sys.path = [p for p in sys.path if p]


def die_with_parent() -> None:
    """Linux: do not outlive the process that started this one. Forked children must ask for it again."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except Exception:
        pass


def read_text(path: str, limit: int = 1 << 20) -> Dict[str, Any]:
    """A text file: {"text": …}, or {"errno": n} where it can't be read."""
    try:
        return {"text": read_bytes(path, limit).decode("utf-8", "replace")}
    except OSError as e:
        return {"errno": e.errno}


def read_bytes(path: str, limit: int) -> bytes:
    """The beginning of a file. A pipe or a device is none: opening it may wait for ever, or do something."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, "no regular file", path)
    with open(path, "rb") as f:
        return f.read(limit)


def list_directory(path: str) -> Any:
    """The sorted names in a directory, or the errno."""
    try:
        return sorted(os.listdir(path))
    except OSError as e:
        return e.errno


# ----------------------------------------------------------------------------- forked children


def forked(what: str, limit_s: float, work: Callable[[], Any]) -> Dict[str, Any]:
    """Run `work` in a forked child: {"value": …} or {"failed": …, "signal": n, "timed_out": bool}."""
    return join(fork(work), what, time.time() + limit_s)


def fork(work: Callable[[], Any]) -> Tuple[int, int]:
    """Start `work` in a forked child; its pid and the pipe that its answer comes through."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        die_with_parent()
        try:
            try:
                payload = {"value": work()}
            except BaseException as e:
                payload = {"failed": "%s: %s" % (type(e).__name__, e), "text": traceback.format_exc()}
            data = json.dumps(payload).encode()
            while data:
                data = data[os.write(write_end, data) :]
        finally:
            os._exit(0)
    os.close(write_end)
    return pid, read_end


def join(child: Tuple[int, int], what: str, deadline: float) -> Dict[str, Any]:
    """The answer of a forked child, or how it ended."""
    pid, read_end = child
    started, data, timed_out = time.time(), b"", False
    while True:
        ready = select.select([read_end], [], [], max(0.0, deadline - time.time()))[0]
        if not ready:
            timed_out = True
            os.kill(pid, signal.SIGKILL)
            break
        block = os.read(read_end, 1 << 16)
        if not block:
            break
        data += block
    os.close(read_end)
    status = _reap(pid, 2.0)
    if timed_out:
        return {"failed": "%s did not end within %.3g s" % (what, time.time() - started), "timed_out": True}
    if status is not None and os.WIFSIGNALED(status):
        return {"failed": "%s was ended by signal %d" % (what, os.WTERMSIG(status)), "signal": os.WTERMSIG(status)}
    try:
        return dict(json.loads(data.decode()))
    except ValueError:
        return {"failed": "%s ended without an answer" % what}


def _reap(pid: int, patience_s: float) -> Optional[int]:
    """Wait for a child, but not for ever: a process in the kernel's hands can't be killed."""
    deadline = time.time() + patience_s
    while time.time() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    return None
