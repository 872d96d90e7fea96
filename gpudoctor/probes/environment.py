"""Environment variables, by allow-list; what looks like a secret is not kept."""

from __future__ import annotations

import re
from typing import Any

from ..facts import Environment, Variable
from .ask import Answers, Task

NAMES = (
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "CUDNN_PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PATH",
    "PYTHONHOME",
    "PYTHONPATH",
    "SUDO_USER",
    "VIRTUAL_ENV",
)
PREFIXES = ("CUDA_", "KERAS_BACKEND", "NCCL_", "NVIDIA_", "SLURM_JOB", "TF_", "XLA_")
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|AUTH", re.IGNORECASE)

TASK: Task = ("system.environment", {"names": list(NAMES), "prefixes": list(PREFIXES)})


def read(answers: Answers) -> Environment:
    """The variables as the patient was started with them."""
    got: dict[str, Any] | None = answers.last("environment")
    if got is None:
        return Environment(variables=answers.unread(TASK[0]))
    kept = {k: v for k, v in got.items() if not looks_secret(k)}
    return Environment(variables=tuple(Variable(name=k, value=v) for k, v in sorted(kept.items())))


def looks_secret(name: str) -> bool:
    """Whether a variable of this name may hold what nobody else should see."""
    return _SECRET.search(name) is not None
