"""NVIDIA's multi-process service, as the patient finds it."""

from __future__ import annotations

from typing import Any

from ..facts import Mps, Unread, unread_all
from .ask import Answers, Task, reason

TASK: Task = ("mps.mps", {})
_LISTENS = {"listens": True, "deserted": False, "absent": None}


def read(answers: Answers) -> Mps:
    """Where its clients look for it, whether somebody listens there, and which of its processes are visible."""
    got: dict[str, Any] | None = answers.last("mps")
    if got is None:
        return unread_all(Mps, answers.unread(TASK[0], "ls -l /tmp/nvidia-mps"))
    directory, control, processes = got["directory"], got["control"], got["processes"]
    listens: bool | Unread | None = (
        Unread(why=f"{directory}/control: {reason(control)}", settle=f"sudo ls -l {directory}")
        if isinstance(control, int)
        else _LISTENS[control]
    )
    return Mps(
        directory=directory,
        directory_errno=got["errno"],
        listens=listens,
        processes=Unread(why="/proc shows no processes", settle="pgrep -a nvidia-cuda-mps")
        if isinstance(processes, int)
        else tuple(f"{name} (PID {pid})" for name, pid in processes),
    )
