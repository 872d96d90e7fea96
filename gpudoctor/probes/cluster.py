"""TF_CONFIG, Horovod and launchers: the patient's answers -> facts."""

from __future__ import annotations

import json
from typing import Any

from ..facts import Cluster, ClusterTask, Environment, Horovod, Launched, PortHolder, TfConfig, Unread
from ..facts.cluster import split
from .ask import Answers, Job, Task, reason

FILES: Task = ("cluster.horovod_files", {})
_CONFIG = "cluster.tf_config"
VARIABLE = "TF_CONFIG"
CONNECT_S = 2.0
"""How long an address may take to answer. One that is reached answers, or refuses, within a fraction of it."""
_TOTAL_S = 6.0
_SETTLE = "python3 -c 'import os; print(os.environ.get(\"TF_CONFIG\"))'"


def config_job(limit_s: float) -> Job:
    """The child that looks at TF_CONFIG's addresses; there is nothing to do where it is not set."""
    total = min(_TOTAL_S, limit_s / 2)
    return Job([(_CONFIG, {"connect_s": min(CONNECT_S, total / 2), "total_s": total})], limit_s, only_if_set=VARIABLE)


def read(files: Answers, config: Answers | None, environment: Environment) -> Cluster:
    """All of the subject. `config` None: that child was not started, as TF_CONFIG is not set."""
    return Cluster(
        tf_config=_config(config, environment),
        horovod=_horovod(files),
        launched=_launched(environment),
    )


def _config(answers: Answers | None, environment: Environment) -> TfConfig | Unread | None:
    set_to = environment.get(VARIABLE)
    if answers is None or not answers.spoke:
        if set_to is None or isinstance(set_to, Unread):
            return set_to
        if answers is None:
            return Unread(why="TF_CONFIG's addresses are still being looked at")
        return answers.unread(_CONFIG, _SETTLE)
    if "tf_config" not in answers.values:
        return answers.unread(_CONFIG, _SETTLE)
    told: dict[str, Any] | None = answers.last("tf_config")
    return None if told is None else parse(told["text"], told["addresses"], told["holders"])


def parse(text: str, addresses: dict[str, dict[str, Any]], holders: Any) -> TfConfig:
    """TF_CONFIG as TensorFlow's TFConfigClusterResolver and ClusterSpec read it."""
    if not text.strip():
        return TfConfig(flaws=("it is set and empty, which is no JSON",))
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as e:
        return TfConfig(flaws=(f"it is no JSON: {e}",))
    if not isinstance(whole, dict):
        return TfConfig(flaws=(f"it is {_kind(whole)}, and must be a JSON object",))
    flaws: list[str] = []
    tasks = _tasks(whole.get("cluster", {}), addresses, flaws)
    role, index = _task(whole.get("task", {}), flaws) if tasks or "task" in whole else (None, None)
    listening: tuple[PortHolder, ...] | Unread = (
        Unread(why=f"the listening sockets: {reason(holders)}", settle="ss -ltnp")
        if isinstance(holders, int)
        else tuple(map(_holder, holders))
    )
    return TfConfig(flaws=tuple(flaws), tasks=tasks, task_type=role, task_index=index, port_holders=listening)


def _tasks(cluster: Any, addresses: dict[str, dict[str, Any]], flaws: list[str]) -> tuple[ClusterTask, ...]:
    if not isinstance(cluster, dict):
        flaws.append(f"'cluster' is {_kind(cluster)}, and must be an object of roles")
        return ()
    found: list[ClusterTask] = []
    for role, listed in cluster.items():
        if isinstance(listed, list):
            numbered: list[tuple[Any, Any]] = list(enumerate(listed))
        elif isinstance(listed, dict):
            numbered = list(listed.items())
        else:
            flaws.append(f"'{role}' is {_kind(listed)}, and must be a list of addresses")
            continue
        for at, address in numbered:
            index = _integer(at)
            if index is None or not isinstance(address, str):
                flaws.append(f"'{role}' has an entry that is no address ({_kind(address)})")
                continue
            if split(address)[1] is None:
                flaws.append(f"{role} {index}: '{address}' is no host:port")
            found.append(_seen(role, index, address, addresses.get(address)))
    return tuple(found)


def _task(task: Any, flaws: list[str]) -> tuple[str | None, int | None]:
    if not isinstance(task, dict):
        flaws.append(f"'task' is {_kind(task)}, and must be an object with 'type' and 'index'")
        return None, None
    flaws += [f"'task' has no '{name}'" for name in ("type", "index") if name not in task]
    index = _integer(task["index"]) if "index" in task else None
    if "index" in task and index is None:
        flaws.append(f"'index' of 'task' is {task['index']!r}, and must be a number")
    return (str(task["type"]) if "type" in task else None), index


def _integer(value: Any) -> int | None:
    """The number that int() makes of it, as TensorFlow does."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _seen(role: str, index: int, address: str, told: dict[str, Any] | None) -> ClusterTask:
    """One task; `told` None: its address is none, or too many come before it."""
    if told is None:
        none = Unread(why=f"{address} was not looked up", chosen=True)
        return ClusterTask(
            role=role,
            index=index,
            address=address,
            resolved=none,
            here=none,
            loopback=none,
            connection=none,
            proxy_variable=none,
        )
    slow = Unread(why=f"looking up {address} took too long", settle=f"getent hosts {split(address)[0]}")
    resolved = told.get("resolved", slow)
    if isinstance(resolved, str):
        resolved = Unread(why=f"looking up {address}: {resolved}", settle=slow.settle)
    if not isinstance(resolved, list):
        nowhere = resolved if isinstance(resolved, Unread) else Unread(why=f"{address} leads to no address")
        return ClusterTask(
            role=role, index=index, address=address, resolved=resolved, here=nowhere, loopback=nowhere,
            connection=nowhere, proxy_variable=told["proxy"],
        )  # fmt: skip
    here = told.get("here", slow)
    if isinstance(here, int) and not isinstance(here, bool):
        here = Unread(why=f"whether {address} is this machine's: {reason(here)}", settle="ip -br address")
    return ClusterTask(
        role=role,
        index=index,
        address=address,
        resolved=tuple(resolved),
        here=here,
        loopback=all(a.startswith("127.") or a == "::1" for a in resolved),
        connection=told.get("connection", Unread(why=f"connecting to {address} took too long")),
        proxy_variable=told["proxy"],
    )


def _holder(told: dict[str, Any]) -> PortHolder:
    if told["pid"] is None:
        hidden = Unread(why="the socket belongs to a process that this user may not look into", settle="sudo ss -ltnp")
        return PortHolder(pid=hidden, command=hidden, same_config=hidden)
    same = told["same"]
    if not isinstance(same, bool):
        same = Unread(why=f"the variables of process {told['pid']}: {reason(same)}", settle="sudo ss -ltnp")
    return PortHolder(pid=told["pid"], command=told["command"], same_config=same)


def _horovod(files: Answers) -> Horovod | Unread | None:
    if "horovod" not in files.values:
        return files.unread(FILES[0])
    told = files.last("horovod")
    return None if told is None else Horovod(directory=told["directory"], built_for=tuple(told["built"]))


_LAUNCHERS = (
    ("Horovod", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
    ("Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", ""),
)  # fmt: skip
"""Rank, number of processes, rank on this machine, number of processes on this machine."""


def _launched(environment: Environment) -> Launched | Unread | None:
    for by, *names in _LAUNCHERS:
        values = [environment.get(name) if name else None for name in names]
        if isinstance(values[0], Unread):
            return values[0]
        if values[0] is not None:
            rank, size, local_rank, local_size = (_integer(v) for v in values)
            return Launched(by=by, rank=rank, size=size, local_rank=local_rank, local_size=local_size)
    return None
