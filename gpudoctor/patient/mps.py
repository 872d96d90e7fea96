"""NVIDIA's multi-process service (MPS), where a CUDA program of this process looks for it."""

import errno
import os
import socket
import stat
from typing import Any, List

from .core import answer, list_directory, read_text

_MPS_DEFAULT = "/tmp/nvidia-mps"
_MPS_COMM = "nvidia-cuda-mps"
"""Control daemon and servers: comm holds 15 characters."""


def mps() -> None:
    """The directory of the service's pipes, who listens there, and the service's processes."""
    directory = os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or _MPS_DEFAULT
    listed = list_directory(directory)
    answer(
        "mps",
        {
            "directory": directory,
            "errno": listed if isinstance(listed, int) else None,
            "control": _socket_state(os.path.join(directory, "control")),
            "processes": _mps_processes(),
        },
    )


def _socket_state(path: str) -> Any:
    """'absent', 'listens', 'deserted', or the errno.

    A datagram socket can't speak to one of another type: the kernel says so where somebody listens, and nobody is
    disturbed.
    """
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return "absent"
    except OSError as e:
        return "absent" if e.errno in (errno.ENOENT, errno.ENOTDIR) else e.errno
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.setblocking(False)
        try:
            ours.connect(path)
        except OSError as e:
            return {errno.EPROTOTYPE: "listens", errno.ECONNREFUSED: "deserted"}.get(e.errno or 0, e.errno)
    return "listens"


def _mps_processes() -> Any:
    """Name and PID of each; an errno where /proc can't be listed."""
    listed = list_directory("/proc")
    if isinstance(listed, int):
        return listed
    found: List[Any] = []
    for pid in listed:
        if pid.isdigit() and read_text("/proc/%s/comm" % pid, 64).get("text", "").strip() == _MPS_COMM:
            command = read_text("/proc/%s/cmdline" % pid, 4096).get("text", "").split("\0")[0]
            found.append([os.path.basename(command) or _MPS_COMM, int(pid)])
    return found
