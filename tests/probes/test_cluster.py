"""TF_CONFIG's addresses, looked at in a real child: real sockets of this machine, and of nobody else."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.facts import Cluster, ClusterTask, Environment, Horovod, Launched, TfConfig, Unread, Variable
from gpudoctor.probes import cluster
from gpudoctor.probes.ask import NOT_ANSWERED, Patient

Make = Callable[..., Patient]
PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def listening() -> Iterator[int]:
    """A port of this machine on which this process listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def config(*addresses: str, index: int = 0) -> str:
    return json.dumps({"cluster": {"worker": list(addresses)}, "task": {"type": "worker", "index": index}})


def environment(**values: str) -> Environment:
    return Environment(variables=tuple(Variable(name=n, value=v) for n, v in values.items()))


def seen(patient: Make, text: str, **env: str) -> TfConfig:
    job = cluster.config_job(20)
    got = cluster.read(NOT_ANSWERED, patient(TF_CONFIG=text, **env).do(job), environment(TF_CONFIG=text)).tf_config
    assert isinstance(got, TfConfig), got
    return got


def test_who_answers_who_refuses_and_who_is_not_there(patient: Make, listening: int) -> None:
    nowhere = free()
    got = seen(
        patient,
        config(f"127.0.0.1:{free()}", f"localhost:{listening}", f"127.0.0.1:{nowhere}", "no.such.host.invalid:1"),
    )
    mine, open_, closed, lost = got.tasks
    assert got.mine() == mine
    assert got.flaws == ()
    assert (mine.connection, mine.here, mine.loopback, mine.resolved) == (None, True, True, ("127.0.0.1",))
    assert (open_.connection, open_.here, open_.loopback) == ("accepted", True, True)
    assert closed.connection == "refused"
    assert lost.resolved is None or isinstance(lost.resolved, Unread)  # without a name server it stays open
    assert isinstance(lost.connection, Unread)
    assert got.port_holders == ()


def test_an_address_of_nobody(patient: Make) -> None:
    """TEST-NET-1 is routed nowhere."""
    got = seen(patient, config("127.0.0.1:1", "192.0.2.1:2222")).tasks[1]
    assert got.here is False
    assert got.connection in ("timed out", "ENETUNREACH", "EHOSTUNREACH", "EPERM", "ECONNRESET", "accepted", "refused")
    assert got.loopback is False


def test_who_has_this_tasks_port(patient: Make, listening: int) -> None:
    (holder,) = _holders(seen(patient, config(f"127.0.0.1:{listening}", "127.0.0.1:1")))
    assert (holder.pid, holder.same_config) == (os.getpid(), False)
    assert isinstance(holder.command, str)
    assert holder.command


SERVER = """
import socket
one = socket.socket()
one.bind(("127.0.0.1", 0))
one.listen()
print(one.getsockname()[1], flush=True)
input()
"""


def test_the_task_itself_has_its_port(patient: Make) -> None:
    """It was started with the same TF_CONFIG."""
    port = free()
    text = config(f"127.0.0.1:{port}", "127.0.0.1:1")
    program = SERVER.replace('("127.0.0.1", 0)', f'("127.0.0.1", {port})')
    server = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TF_CONFIG": text},
    )
    try:
        assert server.stdout is not None
        assert int(server.stdout.readline()) == port
        (holder,) = _holders(seen(patient, text))
        assert (holder.pid, holder.same_config) == (server.pid, True)
    finally:
        server.kill()
        server.communicate()


def _holders(got: TfConfig) -> tuple[Any, ...]:
    assert isinstance(got.port_holders, tuple), got.port_holders
    return got.port_holders


@pytest.mark.parametrize(
    ("env", "caught"),
    [
        ({}, None),
        ({"http_proxy": "http://192.0.2.9:3128"}, "http_proxy"),
        ({"https_proxy": "http://192.0.2.9:3128", "http_proxy": "http://x"}, "https_proxy"),
        ({"grpc_proxy": "http://192.0.2.9:3128"}, "grpc_proxy"),
        ({"http_proxy": "socks5://192.0.2.9:3128"}, None),
        ({"http_proxy": "http://192.0.2.9:3128", "no_proxy": "example.org, 127.0.0.1"}, None),
        ({"http_proxy": "http://192.0.2.9:3128", "no_proxy": "127.0.0.0/8"}, None),
        ({"http_proxy": "http://192.0.2.9:3128", "no_proxy": "10.0.0.0/8,host"}, "http_proxy"),
        ({"http_proxy": "http://x", "no_proxy": "127.0.0.1", "no_grpc_proxy": "other"}, "http_proxy"),
    ],
)
def test_proxies_as_grpc_goes_by_them(patient: Make, env: dict[str, str], caught: str | None) -> None:
    got = seen(patient, config("127.0.0.1:1", f"127.0.0.1:{free()}"), **env)
    assert [t.proxy_variable for t in got.tasks] == [caught, caught]


def test_what_can_not_be_read_is_not_looked_up(patient: Make) -> None:
    got = seen(patient, '{"cluster": {"worker": ["127.0.0.1:1"')
    assert got.tasks == ()
    assert got.flaws


def test_without_the_variable_nothing_is_started() -> None:
    assert cluster.config_job(20).only_if_set == "TF_CONFIG"
    assert cluster.read(NOT_ANSWERED, None, environment()).tf_config is None
    assert isinstance(cluster.read(NOT_ANSWERED, None, environment(TF_CONFIG="{}")).tf_config, Unread)
    hidden = Unread(why="hidden")
    assert cluster.read(NOT_ANSWERED, None, Environment(variables=hidden)).tf_config == hidden


def test_hosts_with_brackets() -> None:
    one = ClusterTask(role="worker", index=0, address="[fd00::1]:2222")
    assert (one.host, one.port) == ("fd00::1", 2222)
    for odd in ("fd00::1:2222", "node7", ":1", "a:0", "a:x", "grpc://a:1", "a b:1"):
        assert ClusterTask(role="worker", index=0, address=odd).port is None, odd


def test_horovods_files(patient: Make, tmp_path: Path) -> None:
    assert _horovod(patient(PYTHONPATH=str(tmp_path))).horovod is None
    for name in ("__init__.py", "torch/mpi_lib_v2.cpython-312-x86_64-linux-gnu.so", "tensorflow/mpi_ops.py"):
        (tmp_path / "horovod" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "horovod" / name).touch()
    got = _horovod(patient(PYTHONPATH=str(tmp_path))).horovod
    assert got == Horovod(directory=f"{tmp_path}/horovod", built_for=("torch",))
    assert isinstance(cluster.read(NOT_ANSWERED, None, environment()).horovod, Unread)


def _horovod(patient: Patient) -> Cluster:
    return cluster.read(patient.ask([cluster.FILES], limit_s=20), None, environment())


def test_who_started_the_process() -> None:
    def launched(**env: str) -> Launched | Unread | None:
        return cluster.read(NOT_ANSWERED, None, environment(**env)).launched

    assert launched() is None
    horovod = {"HOROVOD_RANK": "1", "HOROVOD_SIZE": "4", "HOROVOD_LOCAL_RANK": "0", "HOROVOD_LOCAL_SIZE": "2"}
    assert launched(**horovod) == Launched(by="Horovod", rank=1, size=4, local_rank=0, local_size=2)
    assert launched(OMPI_COMM_WORLD_RANK="3", OMPI_COMM_WORLD_SIZE="x") == Launched(by="Open MPI", rank=3)
    assert launched(SLURM_PROCID="0", SLURM_NTASKS="8", SLURM_LOCALID="0") == Launched(
        by="Slurm", rank=0, size=8, local_rank=0
    )
