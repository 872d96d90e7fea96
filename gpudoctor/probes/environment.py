"""Environment variables, by allow-list; what looks like a secret is not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..facts import Environment, Unread, Variable, VariableNow, unread_all
from ..secret_names import is_called_secret
from .ask import Answers, Task, reason

NAMES = (
    "COLAB_BACKEND_VERSION",
    "COLAB_GPU",
    "COLAB_RELEASE_TAG",
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "CUDNN_PATH",
    "JPY_PARENT_PID",
    "JUPYTERHUB_SERVER_NAME",
    "KAGGLE_KERNEL_RUN_TYPE",
    "KUBERNETES_SERVICE_PORT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "NUMEXPR_NUM_THREADS",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OPENBLAS_NUM_THREADS",
    "PATH",
    "SLURM_CONTAINER",
    "SLURM_CPUS_ON_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_JOB_GPUS",
    "SLURM_JOB_ID",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_PARTITION",
    "SLURM_LOCALID",
    "SLURM_MEM_PER_CPU",
    "SLURM_MEM_PER_NODE",
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "SLURM_STEP_GPUS",
    "SLURM_STEP_ID",
    "SUDO_USER",
    "VIRTUAL_ENV",
    *(
        f"{tool}_{name}"
        for tool in ("APPTAINER", "SINGULARITY")
        for name in ("BIND", "CONTAINER", "NAME", "NV", "NVCCLI")
    ),
)
PREFIXES = (
    "CUDA_",
    "HOROVOD_",
    "KERAS_BACKEND",
    "KMP_",
    "MKL_",
    "NCCL_",
    "NVIDIA_",
    "OMP_",
    "PYTHON",
    "SLURM_GPU",
    "SLURM_GRES",
    "TF_",
    "XLA_",
)
_OURS = ("PYTHONDONTWRITEBYTECODE", "KERAS_HOME")
"""Set by us for every child: they tell nothing of the user's."""

TASK: Task = ("system.environment", {"names": list(NAMES), "prefixes": list(PREFIXES)})


def read(answers: Answers) -> Environment:
    """The variables as the patient was started with them, and what differs in Python."""
    got: dict[str, Any] | None = answers.last("environment")
    if got is None:
        return unread_all(Environment, answers.unread(TASK[0]))
    started, now = _kept(got["started"]), _kept(got["now"])
    dropped, libraries = _sudo(got["sudo"], started)
    return Environment(
        variables=_variables(started),
        changed=tuple(
            VariableNow(name=k, value=now.get(k)) for k in sorted({*started, *now}) if started.get(k) != now.get(k)
        ),
        dropped_by_sudo=dropped,
        dropped_libraries=libraries,
    )


def _kept(variables: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in variables.items() if not is_called_secret(k) and k not in _OURS}


def _variables(kept: Mapping[str, str]) -> tuple[Variable, ...]:
    return tuple(Variable(name=k, value=v) for k, v in sorted(kept.items()))


def _sudo(
    got: dict[str, Any] | None, started: Mapping[str, str]
) -> tuple[tuple[Variable, ...] | Unread | None, tuple[str, ...] | Unread | None]:
    """What sudo had and this process lacks, and the libraries that went out of reach with it."""
    if got is None:
        return None, None
    if "variables" not in got:
        why = f"the variables of sudo: {reason(got['errno'])}" if "errno" in got else "sudo is not among the ancestors"
        unread = Unread(why=why, settle="echo $LD_LIBRARY_PATH, without sudo")
        return unread, unread
    dropped = {k: v for k, v in _kept(got["variables"]).items() if k not in started}
    return _variables(dropped), tuple(got["libraries"]) if "LD_LIBRARY_PATH" in dropped else ()
