from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.facts import (
    Cluster,
    ClusterTask,
    Facts,
    Horovod,
    Launched,
    Measurement,
    PortHolder,
    TfConfig,
    Unread,
)
from gpudoctor.probes.cluster import parse
from tests.factory import found, healthy, outcome, roots, with_, with_variable

INVALID, RANGE, TWICE = "tf-config-invalid", "tf-config-task-out-of-range", "tf-config-duplicate-address"
LOCAL, NAME, LOST = "tf-config-localhost", "tf-config-host-unresolvable", "tf-config-address-unreachable"
PORT, OTHER, PROXY = "tf-config-port-taken", "tf-config-task-of-another-host", "tf-config-proxy"
OF_TF_CONFIG = (INVALID, RANGE, TWICE, LOCAL, NAME, LOST, PORT, OTHER, PROXY)
OF_HOROVOD = ("horovod-missing", "horovod-without-tensorflow", "horovod-more-processes-than-gpus")
HIDDEN = Unread(why="hidden")


def task(index: int, **changes: Any) -> ClusterTask:
    """A worker; 0 is on this machine, the others are not, and are reached."""
    whole = ClusterTask(
        role="worker",
        index=index,
        address=f"node{index}:2222",
        resolved=(f"192.0.2.{index + 1}",),
        here=index == 0,
        loopback=False,
        connection="accepted" if index else None,
        proxy_variable=None,
    )
    return msgspec.structs.replace(whole, **changes)


def cluster(*tasks: ClusterTask, **changes: Any) -> Facts:
    """A healthy machine that is worker 0 of `tasks`."""
    one = TfConfig(tasks=tasks or (task(0), task(1)), task_type="worker", task_index=0, port_holders=())
    return with_(healthy(), cluster__tf_config=msgspec.structs.replace(one, **changes))


def test_two_machines_that_reach_each_other() -> None:
    for cause in OF_TF_CONFIG:
        assert outcome(cluster(), cause) == "passed", cause
    assert roots(cluster()) == []
    waiting = cluster(task(0), task(1, connection="refused"))
    assert outcome(waiting, LOST) == "passed"


@pytest.mark.parametrize("cause", OF_TF_CONFIG)
def test_without_tf_config_there_is_nothing_to_look_at(cause: str) -> None:
    assert outcome(with_(healthy(), cluster__tf_config=None), cause) == "skipped"
    assert outcome(with_(healthy(), cluster=Cluster()), cause) == "skipped"
    set_to = with_variable(with_(healthy(), cluster=Cluster()), "TF_CONFIG", "{}")
    assert outcome(set_to, cause) == "unknown"
    assert outcome(with_(set_to, environment__variables=HIDDEN), cause) == "unknown"


@pytest.mark.parametrize("cause", OF_TF_CONFIG[2:])
def test_one_process_speaks_to_nobody(cause: str) -> None:
    assert outcome(cluster(task(0)), cause) == "skipped"
    evaluator = task(0, role="evaluator", address="node9:1", connection="timed out")
    assert outcome(cluster(task(0), evaluator), cause) == "skipped"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("{'cluster': {}}", "no JSON"),
        ("[1]", "a list"),
        ('{"cluster": ["a:1"], "task": {"type": "worker", "index": 0}}', "'cluster' is a list"),
        ('{"cluster": {"worker": "a:1"}, "task": {"type": "worker", "index": 0}}', "'worker' is a text"),
        ('{"cluster": {"worker": [1]}, "task": {"type": "worker", "index": 0}}', "no address"),
        ('{"cluster": {"worker": ["node7"]}, "task": {"type": "worker", "index": 0}}', "no host:port"),
        ('{"cluster": {"worker": ["a:99999"]}, "task": {"type": "worker", "index": 0}}', "no host:port"),
        ('{"cluster": {"worker": ["a:1", "b:1"]}}', "no 'type'"),
        ('{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker"}}', "no 'index'"),
        ('{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": "x"}}', "must be a number"),
        ('{"cluster": {"workers": ["a:1", "b:1"]}, "task": {"type": "workers", "index": 0}}', "'workers' is no role"),
        ('{"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}}', "2 tasks 'chief'"),
        ('{"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}}', "no worker"),
    ],
)
def test_what_tensorflow_does_not_read(text: str, word: str) -> None:
    facts = with_(healthy(), cluster__tf_config=parse(text, {}, []))
    assert roots(facts) == [INVALID]
    assert word in found(facts)[INVALID].message


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"cluster": {"worker": ["a:1", "[fd00::1]:1"]}, "task": {"type": "worker", "index": "1"}}',
        '{"cluster": {"worker": {"0": "a:1"}, "ps": ["b:1"], "chief": ["c:1"]}, "task": {"type": "chief", "index": 0}}',
        '{"cluster": {"worker": ["a:1"]}, "task": {"type": "evaluator", "index": 0}}',
    ],
)
def test_what_tensorflow_reads(text: str) -> None:
    facts = with_(healthy(), cluster__tf_config=parse(text, {}, []))
    assert outcome(facts, INVALID) == "passed"
    assert outcome(facts, RANGE) in ("passed", "skipped")


def test_a_broken_tf_config_breaks_our_all_reduce() -> None:
    """MirroredStrategy reads it, too; what fails beside it is not its doing."""
    failed = Measurement(
        kernel="all-reduce", backend="tensorflow", device="GPU:0,GPU:1", value=Unread(why="JSONDecodeError: Expecting")
    )
    facts = with_(healthy(), cluster__tf_config=parse("{bad", {}, []), measurements=(failed,))
    assert roots(facts) == [INVALID]
    assert "op-fails" in found(facts)[INVALID].may_explain
    other = msgspec.structs.replace(failed, kernel="matmul", device="GPU:0")
    facts = with_(facts, measurements=(failed, other))
    assert "op-fails" not in found(facts)[INVALID].may_explain


@pytest.mark.parametrize(("role", "index"), [("worker", 2), ("worker", -1), ("chief", 0)])
def test_a_task_that_the_cluster_lacks(role: str, index: int) -> None:
    assert roots(cluster(task_type=role, task_index=index)) == [RANGE]


@pytest.mark.parametrize(
    "second",
    [
        task(1, address="node0:2222"),
        task(1, resolved=("192.0.2.1",)),
        task(1, here=True),
    ],
)
def test_one_address_twice(second: ClusterTask) -> None:
    assert roots(cluster(task(0), second)) == [TWICE]
    apart = msgspec.structs.replace(second, address="node0:2223")
    assert outcome(cluster(task(0), apart), TWICE) == "passed"
    assert outcome(cluster(task(0), task(1, resolved=HIDDEN)), TWICE) == "unknown"


def test_localhost_beside_other_machines() -> None:
    loop = {"resolved": ("127.0.0.1",), "here": True, "loopback": True}
    one, two = task(1, address="localhost:2223", **loop), task(2)
    assert roots(cluster(task(0), one, two)) == [LOCAL]
    assert outcome(cluster(task(0), one), LOCAL) == "passed"  # both are here
    mine = cluster(task(0, address="localhost:2222", **loop), task(1))
    assert found(mine)[LOCAL].level == "info"
    assert outcome(cluster(task(0), task(1, loopback=HIDDEN)), LOCAL) == "unknown"


def test_a_name_that_leads_nowhere() -> None:
    gone = task(1, resolved=None, here=HIDDEN, loopback=HIDDEN, connection=HIDDEN)
    facts = cluster(task(0), gone)
    assert roots(facts) == [NAME]
    assert outcome(facts, LOST) == "skipped"
    assert outcome(cluster(task(0), task(1, resolved=HIDDEN)), NAME) == "unknown"


@pytest.mark.parametrize("how", ["timed out", "EHOSTUNREACH", "ENETUNREACH"])
def test_an_address_that_is_not_reached(how: str) -> None:
    facts = cluster(task(0), task(1, connection=how), task(2))
    assert roots(facts) == [LOST]
    assert how in found(facts)[LOST].message
    assert outcome(cluster(task(0), task(1, connection=HIDDEN)), LOST) == "unknown"


def test_a_port_that_is_taken() -> None:
    other = PortHolder(pid=77, command="tensorboard", same_config=False)
    facts = cluster(port_holders=(other,))
    assert roots(facts) == [PORT]
    assert "tensorboard" in found(facts)[PORT].message
    same = cluster(port_holders=(msgspec.structs.replace(other, same_config=True),))
    assert found(same)[PORT].level == "info"
    assert found(same)[PORT].may_explain == ()
    hidden = cluster(port_holders=(PortHolder(pid=HIDDEN, command=HIDDEN, same_config=HIDDEN),))
    assert outcome(hidden, PORT) == "unknown"
    assert outcome(cluster(task_index=5), PORT) == "skipped"


def test_the_task_of_another_machine() -> None:
    here, away = task(0, here=True), task(1, here=False)
    assert roots(cluster(here, away, task_index=1)) == [OTHER]
    behind_a_service = cluster(task(0, here=False), task(1))
    assert outcome(behind_a_service, OTHER) == "passed"
    assert outcome(cluster(task(0, here=HIDDEN), task(1)), OTHER) == "unknown"


def test_a_proxy_in_the_way() -> None:
    facts = cluster(task(0), task(1, proxy_variable="http_proxy"))
    assert roots(facts) == [PROXY]
    assert found(facts)[PROXY].fixes[0].steps == ("export no_grpc_proxy=node0,node1",)
    assert outcome(cluster(task(0), task(1, proxy_variable=HIDDEN)), PROXY) == "unknown"


# ------------------------------------------------------------------------------- Horovod


def launched(by: str = "Horovod", local_size: int = 2, *, horovod: Horovod | Unread | None = None) -> Facts:
    one = Launched(by=by, rank=0, size=4, local_rank=0, local_size=local_size)
    installed = Horovod(directory="/opt/venv/horovod", built_for=("tensorflow",)) if horovod is None else horovod
    return with_(healthy(), cluster__launched=one, cluster__horovod=installed)


@pytest.mark.parametrize("cause", OF_HOROVOD)
def test_horovod_that_is_in_order(cause: str) -> None:
    assert outcome(launched(), cause) == "passed"
    assert outcome(with_(healthy(), cluster__launched=None), cause) == "skipped"
    assert outcome(with_(healthy(), cluster=Cluster()), cause) == "skipped"
    assert outcome(launched(by="Slurm"), cause) == "skipped"
    assert outcome(with_(healthy(), cluster__launched=HIDDEN, environment__variables=HIDDEN), cause) == "unknown"


def test_a_python_without_horovod() -> None:
    assert roots(with_(launched(), cluster__horovod=None)) == ["horovod-missing"]
    assert outcome(launched(horovod=HIDDEN), "horovod-missing") == "unknown"


def test_horovod_that_is_built_without_tensorflow() -> None:
    cause = OF_HOROVOD[1]
    assert roots(launched("Open MPI", horovod=Horovod(directory="/x", built_for=()))) == [cause]
    torch = launched(horovod=Horovod(directory="/x", built_for=("torch",)))
    assert found(torch)[cause].level == "info"


def test_more_processes_than_gpus() -> None:
    cause = OF_HOROVOD[2]
    assert roots(launched(local_size=4)) == [cause]
    assert found(launched(local_size=4))[cause].level == "warn"
    assert outcome(with_variable(launched(local_size=4), "CUDA_VISIBLE_DEVICES", "0"), cause) == "skipped"
    assert outcome(with_(launched(local_size=4), driver__libcuda__devices=HIDDEN), cause) == "unknown"
