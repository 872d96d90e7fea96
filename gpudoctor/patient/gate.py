"""Who waits for whom among the children of one examination: files in the directory that they share (KERAS_HOME).

NVML is asked before anything of ours is on a GPU; TensorFlow's kernels begin when the native ones are over.
"""

import fcntl
import os
import time
from typing import Optional

_NATIVE, _NVML = "native.lock", "nvml.answered"
_held: Optional[int] = None


def _place(name: str) -> str:
    return os.path.join(os.environ.get("KERAS_HOME") or os.devnull, name)  # without it no file can be, nor is one made


def nvml_has_answered() -> None:
    """Whoever waits for NVML's answers may begin."""
    try:
        os.close(os.open(_place(_NVML), os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:
        pass  # there is no such directory: then nobody can wait


def wait_for_nvml(limit_s: float) -> None:
    """Wait until NVML has answered; no longer than `limit_s`, and not where nobody could tell."""
    deadline = time.time() + limit_s
    while os.path.isdir(_place("")) and not os.path.exists(_place(_NVML)) and time.time() < deadline:
        time.sleep(0.005)


def hold_native() -> None:
    """Native kernels run from now on until this process and all that it forks have ended, however they do."""
    global _held
    try:
        _held = os.open(_place(_NATIVE), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(_held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass


def wait_for_native(limit_s: float) -> None:
    """Wait until no native kernel runs; no longer than `limit_s`."""
    deadline = time.time() + limit_s
    try:
        lock = os.open(_place(_NATIVE), os.O_RDWR)
    except OSError:
        return  # none was started here
    try:
        while time.time() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except OSError:
                time.sleep(0.01)
    finally:
        os.close(lock)
