"""TF_CONFIG: does it say what TensorFlow needs, and do its addresses lead to the other processes?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from shlex import quote

from gpudoctor.checks._reasons import named, several
from gpudoctor.checks._said import left_open, lines, machines_alone
from gpudoctor.facts import ALL_REDUCE, ClusterTask, Facts, PortHolder, TfConfig, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_ROLES = ("chief", "worker", "ps", "evaluator")
"""What TensorFlow's multi_worker_util takes."""
_ONE_OF = ("chief", "evaluator")
_SOURCE = "TF_CONFIG of the examined process"
_SHOW = "python3 -c 'import json, os; print(json.dumps(json.loads(os.environ[\"TF_CONFIG\"]), indent=1))'"


def _config(facts: Facts) -> TfConfig:
    """TF_CONFIG. Not applicable where it is not set."""
    machines_alone(facts, "no text shows where TF_CONFIG's addresses lead")
    told = facts.cluster.tf_config
    if isinstance(told, Unread) and facts.environment.known("TF_CONFIG") is None:
        raise NotApplicable("TF_CONFIG is not set")
    config = known(told)
    if config is None:
        raise NotApplicable("TF_CONFIG is not set")
    return config


def _cluster(facts: Facts) -> TfConfig:
    """A TF_CONFIG that names tasks which speak to each other."""
    config = _config(facts)
    if len(_speaking(config)) < 2:
        raise NotApplicable("TF_CONFIG names no two tasks that speak to each other")
    return config


def _speaking(config: TfConfig) -> tuple[ClusterTask, ...]:
    """Evaluators are alone: nobody connects to them."""
    return tuple(t for t in config.tasks if t.role != "evaluator" and t.port is not None)


def _others(config: TfConfig) -> tuple[ClusterTask, ...]:
    return tuple(t for t in _speaking(config) if t != config.mine())


def _shown(tasks: Iterable[ClusterTask]) -> tuple[Evidence, ...]:
    return tuple(Evidence(text=f"{t.name}: {t.address}", source=_SOURCE) for t in tasks)


def _advice(summary: str, *steps: str) -> Fix:
    return Fix(kind="command" if steps else "advice", risk="safe", summary=summary, steps=steps)


@check("GD330", "tf-config-invalid", stage=Stage.USE, explains=("op-fails", "collective-fails"))
def tf_config_invalid(facts: Facts) -> Findings:
    """TF_CONFIG is not what TensorFlow reads.

    What it looks at: the variable, read as TFConfigClusterResolver and ClusterSpec read it: a JSON object; 'cluster' an object of roles
    with a list of host:port each; 'task' with 'type' and 'index'; the roles chief, worker, ps and evaluator; at most one chief and one
    evaluator; parameter servers with at least one worker. In a pasted text: that TensorFlow says what it lacks.

    Why it matters: strategies over several machines do not start. MirroredStrategy on one machine reads it, too: with a TF_CONFIG that
    is no JSON it ends with a JSONDecodeError.

    How to fix: write it anew, the same cluster on every machine, and 'task' of its own on each; or unset it where one machine is meant.

    Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras; TensorFlow, tfconfig_cluster_resolver.py,
    server_lib.py (ClusterSpec), multi_worker_util.py (_validate_cluster_spec); tried with 2.21.
    """
    if facts.text.is_all:
        yield _refused_in_words(
            facts, "cluster-refused", "the roles of TF_CONFIG's cluster are not what TensorFlow takes"
        )
        return
    config = _config(facts)
    flaws = [*config.flaws, *_broken_rules(config)]
    if not flaws:
        return f"TF_CONFIG is as TensorFlow reads it, with {several(len(config.tasks), 'task')}"
    failed = [m for m in facts.measurements if m.failed]
    ours = bool(failed) and all(m.kernel == ALL_REDUCE for m in failed)
    yield Found(
        message=f"TF_CONFIG can't be used: {flaws[0]}" + (f" (and {several(len(flaws) - 1, 'more flaw')})." if flaws[1:] else "."),
        proof=tuple(Evidence(text=flaw, source=_SOURCE) for flaw in flaws),
        fixes=(
            _advice(
                "Write it anew: the same 'cluster' on every machine, on each its own 'task', such as "
                '{"cluster": {"worker": ["host1:2222", "host2:2222"]}, "task": {"type": "worker", "index": 0}}'
            ),
            _advice("Where one machine alone is meant, take it away", "unset TF_CONFIG"),
        ),
        explains=("op-fails", "collective-fails") if ours else ("collective-fails",),
    )  # fmt: skip


def _broken_rules(config: TfConfig) -> Iterable[str]:
    """What TensorFlow refuses in a cluster that it can read."""
    for role in dict.fromkeys(t.role for t in config.tasks):
        if role not in _ROLES:
            yield f"'{role}' is no role of TensorFlow's: those are {', '.join(_ROLES)}"
    for role in _ONE_OF:
        if config.count(role) > 1:
            yield f"there are {config.count(role)} tasks '{role}', and may be one"
    if config.has_parameter_servers and not config.count("worker"):
        yield "there are parameter servers, and no worker"


@check("GD331", "tf-config-task-out-of-range", stage=Stage.USE, explains=("collective-fails",))
def tf_config_task_out_of_range(facts: Facts) -> Findings:
    """The task that TF_CONFIG gives to this process is not in its cluster.

    What it looks at: 'type' and 'index' of 'task', against the roles of 'cluster' and the number of their addresses, counted from 0. An
    evaluator need not be in the cluster. In a pasted text: that TensorFlow says so.

    Why it matters: TensorFlow refuses it ('task_type … not found in cluster_spec', 'task_id … exceeds the maximum id'), and the
    others wait for ever for a task that never comes.

    How to fix: count from 0, and give every address one process.

    Source: TensorFlow, multi_worker_util.py (_validate_cluster_spec);
    https://www.tensorflow.org/api_docs/python/tf/distribute/cluster_resolver/TFConfigClusterResolver
    """
    if facts.text.is_all:
        yield _refused_in_words(facts, "task-refused", "the task of TF_CONFIG is not in its cluster")
        return
    config = _config(facts)
    role, index = config.task_type, config.task_index
    if role is None or index is None or not config.tasks:
        raise NotApplicable("TF_CONFIG does not name a cluster and a task")
    if config.mine() is not None or (role == "evaluator" and not config.count(role)):
        return f"this process is {role} {index} of {several(len(config.tasks), 'task')}"
    count = config.count(role)
    last = f"the last '{role}' is of index {count - 1}"
    yield Found(
        message=f"TF_CONFIG says that this process is {role} {index}, and "
        + (last if count else f"its cluster has no '{role}'")
        + ".",
        proof=(Evidence(text=f"task: type '{role}', index {index}", source=_SOURCE), *_shown(config.tasks[:8])),
        fixes=(_advice("Give this process one of the addresses: indices count from 0 in each role", _SHOW),),
    )


@check("GD332", "tf-config-duplicate-address", stage=Stage.USE, explains=("collective-fails",))
def tf_config_duplicate_address(facts: Facts) -> Findings:
    """Two tasks of TF_CONFIG have one address.

    What it looks at: the addresses of the cluster as written, and where their names lead: the same host and port twice, two names of one
    host with one port, and two addresses of this machine with one port (a task's server takes its port on all addresses of its host).

    Why it matters: the second process can't take the port, and ends or takes the first one's place; the others wait for a task that is
    not there.

    How to fix: another port for each task of a host.

    Source: TensorFlow, grpc_server_lib.cc (the server listens on 0.0.0.0 or [::]);
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
    """
    config = _cluster(facts)
    tasks = _speaking(config)
    for one, other in itertools.combinations(tasks, 2):
        if (why := _same_place(one, other)) is not None:
            yield Found(
                message=f"{one.name} and {other.name} of TF_CONFIG have one address: {why}.",
                proof=_shown((one, other)),
                fixes=(_advice("Give each task of a host a port of its own, on every machine the same list"),),
            )
            return
    for task in tasks:
        if known(task.resolved) is not None:
            known(task.here)
    return f"{several(len(tasks), 'task')} with an address each"


def _same_place(one: ClusterTask, other: ClusterTask) -> str | None:
    """Why two tasks can't both be there."""
    if one.port != other.port:
        return None
    if one.host == other.host:
        return one.address
    mine, others = (() if isinstance(t.resolved, Unread) or t.resolved is None else t.resolved for t in (one, other))
    if both := sorted({*mine} & {*others}):
        return f"{one.host} and {other.host} are {both[0]}, and the port is {one.port}"
    if one.here is True and other.here is True:
        return f"{one.host} and {other.host} are this machine, and the port is {one.port}"
    return None


@check("GD333", "tf-config-localhost", stage=Stage.USE, explains=("collective-fails",))
def tf_config_localhost(facts: Facts) -> Findings:
    """TF_CONFIG names a task 'localhost' in a cluster of several machines.

    What it looks at: addresses whose names lead to the loopback alone (localhost, 127.0.0.1, a host name that /etc/hosts leads
    there), beside addresses of other machines. In a pasted text: all addresses are localhost, and somebody speaks of a second machine.

    Why it matters: each machine takes them for itself, and connects to itself. Training hangs at its start. For this process's own
    entry alone it may be meant, where every machine has a list of its own: that is told for information.

    How to fix: the name or address by which the other machines reach that one.

    Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
    """
    if facts.text.is_all:
        yield _local_in_words(facts)
        return None
    config = _cluster(facts)
    tasks = _speaking(config)
    local = [t for t in tasks if t.loopback is True]
    away = [t for t in tasks if t.here is False]
    if not local or not away:
        for task in tasks:
            if task.resolved is not None:
                known(task.loopback)
                known(task.here)
        return "every task is on this machine" if local else "no address is a loopback address"
    own = all(t == config.mine() for t in local)
    yield Found(
        message=f"{local[0].name} of TF_CONFIG is {local[0].address}, which is another machine on each, and {away[0].address} is not here.",
        proof=_shown((*local[:4], *away[:4])),
        fixes=(_advice("Name the host as the other machines know it", "hostname -f", "ip -br address"),),
        level=Level.INFO if own else Level.FAIL,
    )


@check("GD334", "tf-config-host-unresolvable", stage=Stage.USE, explains=("collective-fails",))
def tf_config_host_unresolvable(facts: Facts) -> Findings:
    """The name of a host in TF_CONFIG leads to no address.

    What it looks at: getaddrinfo of each host of the cluster, in the examined interpreter. A name server that does not answer leaves it
    open.

    Why it matters: TensorFlow tries again and again, says little of it, and training hangs at its start.

    How to fix: correct the name, or make it known (DNS, /etc/hosts). In Kubernetes a pod's name is known by its headless service, once
    it is ready or publishNotReadyAddresses is set.

    Source: getaddrinfo(3); https://www.tensorflow.org/api_docs/python/tf/distribute/cluster_resolver/TFConfigClusterResolver
    """
    config = _cluster(facts)
    others = _others(config)
    lost = [t for t in others if t.resolved is None]
    for task in others if not lost else ():
        known(task.resolved)
    if not lost:
        return f"the names of {several(len(others), 'other task')} lead to addresses"
    yield Found(
        message=f"TF_CONFIG names {_all_of(lost)}: the name of the host leads to no address here.",
        proof=tuple(Evidence(text=f"{t.name}: {t.host} is not known", source="getaddrinfo") for t in lost[:8]),
        fixes=(_advice("Correct the name, or make it known here", f"getent hosts {quote(lost[0].host or '')}"),),
    )


@check("GD335", "tf-config-address-unreachable", stage=Stage.USE, explains=("collective-fails",))
def tf_config_address_unreachable(facts: Facts) -> Findings:
    """A task of TF_CONFIG can't be reached from here.

    What it looks at: one TCP connection to each other task's address, closed at once: no answer within two seconds, or no way there. A
    connection that is refused is no fault: the host answers, and its process has not been started.

    Why it matters: every process waits for all others, and training hangs at its start.

    How to fix: open the port in the firewall or the security group between the machines (NCCL needs more of them), name the interface's
    address that the others reach, and use the host's network in containers.

    Source: connect(2); https://www.tensorflow.org/guide/distributed_training (TF_CONFIG).
    """
    if facts.text.is_all:
        raise left_open("nc -vz HOST PORT, with each address of TF_CONFIG, from each of the machines")
    config = _cluster(facts)
    others = [t for t in _others(config) if t.resolved is not None]
    lost = [
        t for t in others if not isinstance(t.connection, Unread) and t.connection not in ("accepted", "refused", None)
    ]
    for task in others if not lost else ():
        known(task.connection)
    if not others:
        raise NotApplicable("no other task's address is known")
    if not lost:
        up = sum(t.connection == "accepted" for t in others)
        return f"{several(len(others), 'other task')} can be reached, of which {up} listen"
    yield Found(
        message=f"{_all_of(lost)} of TF_CONFIG can't be reached from here: {lost[0].connection}.",
        proof=tuple(Evidence(text=f"{t.name}, {t.address}: {t.connection}", source="a TCP connection") for t in lost[:8]),
        fixes=(
            _advice(
                "Open the port between the machines (firewall, security group, the container's network), and look at the way there",
                f"ip route get {quote(_first_address(lost[0]))}",
            ),
        ),
    )  # fmt: skip


def _first_address(task: ClusterTask) -> str:
    return task.resolved[0] if isinstance(task.resolved, tuple) and task.resolved else task.host or ""


def _all_of(tasks: Iterable[ClusterTask]) -> str:
    return named(f"{t.name} ({t.address})" for t in tasks)


@check("GD336", "tf-config-port-taken", stage=Stage.USE, explains=("collective-fails",))
def tf_config_port_taken(facts: Facts) -> Findings:
    """Another program listens on the port that TF_CONFIG gives to this process.

    What it looks at: the listening sockets of this machine (/proc/net/tcp) with this task's port, and the process that has them. One
    that was started with the same TF_CONFIG is this task itself: told for information, as a second one can't start beside it. In a
    pasted text: 'Could not start gRPC server' and 'Address already in use', beside TF_CONFIG or a ClusterSpec.

    Why it matters: TensorFlow's server can't start ('Address already in use', 'Could not start gRPC server').

    How to fix: end that process, if it is left over from an earlier run, or take another port, in every machine's TF_CONFIG.

    Source: proc(5), /proc/net/tcp; TensorFlow, grpc_server_lib.cc.
    """
    if facts.text.is_all:
        yield _taken_in_words(facts)
        return
    config = _cluster(facts)
    mine = config.mine()
    if mine is None or mine.port is None:
        raise NotApplicable("TF_CONFIG gives this process no address")
    holders = known(config.port_holders)
    if not holders:
        return f"nobody listens on port {mine.port} here"
    holder = holders[0]
    pid, command = known(holder.pid), known(holder.command)
    who = f"process {pid} ({command})"
    proof = (Evidence(text=f"{who} listens on port {mine.port}", source="/proc/net/tcp"), *_shown((mine,)))
    if _is_the_task(holder):
        yield Found(
            message=f"{mine.name} of TF_CONFIG runs already, as {who}: a second one can't take port {mine.port}.",
            proof=proof,
            fixes=(_advice("If it is left over from an earlier run, end it", f"kill {pid}"),),
            level=Level.INFO,
            explains=(),
        )
        return
    yield Found(
        message=f"Port {mine.port}, which TF_CONFIG gives to this process, is taken here by {who}.",
        proof=proof,
        fixes=(
            _advice("Take another port for this task, in the TF_CONFIG of every machine; or end that process"),
            _advice("See what it is", f"ps -o pid,user,lstart,args -p {pid}"),
        ),
    )


def _refused_in_words(facts: Facts, kind: str, why: str) -> Found:
    """TensorFlow refuses TF_CONFIG, and says why. Raises UnknownFactError."""
    refused = facts.text.said(kind)
    if not refused:
        raise left_open(_SHOW)
    return Found(
        message=f"TensorFlow refuses TF_CONFIG: {why}.",
        proof=lines(refused[:2]),
        fixes=(_advice("Write it anew: the same 'cluster' on every machine, on each its own 'task'", _SHOW),),
    )


def _taken_in_words(facts: Facts) -> Found:
    """TensorFlow's server finds its port taken. Raises UnknownFactError."""
    server, taken, named_ = (
        facts.text.said(kind) for kind in ("server-not-started", "address-in-use", "cluster-named")
    )
    if not server or not taken or not named_:
        raise left_open("ss -ltnp")
    return Found(
        message="The port that the cluster gives to this process is taken: by another program, or by a server that this program has "
        "started itself before (tf.train.Server beside train_and_evaluate or a strategy).",
        proof=lines((server[0], taken[0], named_[0])),
        fixes=(
            _advice("See who has it", "ss -ltnp"),
            _advice("Start one server alone in a process: tf.estimator and the strategies start theirs from TF_CONFIG"),
        ),
    )


_LOOPBACK = Pattern(r"[\"'](?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}):")


def _local_in_words(facts: Facts) -> Found:
    """Every address of the cluster is localhost, and it is meant for several machines. Raises UnknownFactError."""
    told, others = facts.text.said("task-addresses"), facts.text.said("second-machine-named")
    count = sum(e.values["addresses"].count(":") for e in told)
    local = sum(len(_LOOPBACK.findall(e.values["addresses"])) for e in told)
    if not others or count < _TWO or local < count or not facts.text.said("cluster-named"):
        raise left_open(_SHOW)
    return Found(
        message="Every task of TF_CONFIG is on 'localhost', which is another machine on each of them.",
        proof=lines((*told[:2], others[0])),
        fixes=(_advice("Name the host as the other machines know it", "hostname -f", "ip -br address"),),
    )


_TWO = 2


def _is_the_task(holder: PortHolder) -> bool:
    return known(holder.same_config)


@check("GD337", "tf-config-task-of-another-host", stage=Stage.USE, explains=("collective-fails",))
def tf_config_task_of_another_host(facts: Facts) -> Findings:
    """TF_CONFIG gives this process the task of another machine.

    What it looks at: whether the address of this process's task is one of this machine, where another task's is. With addresses
    that are translated (a port that a container publishes, a service's address) none is this machine's, and nothing is said.

    Why it matters: 'task' must differ from machine to machine. Where it was copied, two processes are the same task, one is none, and
    training hangs at its start.

    How to fix: the index of this machine's own address.

    Source: https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras ('the task component is different on each worker').
    """
    config = _cluster(facts)
    mine = config.mine()
    if mine is None or mine.resolved is None:
        raise NotApplicable("TF_CONFIG gives this process no address that is known")
    if known(mine.here):
        return f"{mine.name} is on this machine"
    here = [t for t in _others(config) if t.here is True and t.loopback is False]
    if not here:
        return "no task's address is one of this machine"
    yield Found(
        message=f"TF_CONFIG says that this process is {mine.name} ({mine.address}), which is another machine; this one is {_all_of(here)}.",
        proof=_shown((mine, *here[:4])),
        fixes=(_advice(f"Set 'task' to that of this machine: type '{here[0].role}', index {here[0].index}"),),
    )


@check("GD338", "tf-config-proxy", stage=Stage.USE, explains=("collective-fails",))
def tf_config_proxy(facts: Facts) -> Findings:
    """TensorFlow's connections to the other tasks go to an HTTP proxy.

    What it looks at: grpc_proxy, https_proxy and http_proxy of the examined process, the first that is set, and whether no_grpc_proxy or
    else no_proxy leaves out the hosts of TF_CONFIG.

    Why it matters: gRPC goes by them for every address, those of the own machine and network as well; the proxy does not lead there. TensorFlow
    says nothing of it, and training hangs at its start.

    How to fix: leave the hosts out. no_grpc_proxy is for gRPC alone, and takes the place of no_proxy there.

    Source: gRPC core, doc/environment_variables.md; tried: two workers of TensorFlow 2.21 on 127.0.0.1 with http_proxy, and with
    https_proxy, wait for ever.
    """
    config = _cluster(facts)
    tasks = _speaking(config)
    caught = [t for t in tasks if isinstance(t.proxy_variable, str)]
    for task in tasks if not caught else ():
        known(task.proxy_variable)
    if not caught:
        return f"no proxy is set for {named(t.host or '' for t in tasks)}"
    hosts = ",".join(dict.fromkeys(t.host or "" for t in tasks))
    yield Found(
        message=f"{caught[0].proxy_variable} sends what is for {_all_of(caught)} to a proxy.",
        proof=tuple(
            Evidence(
                text=f"{t.address}: no list leaves {t.host} out", source=f"{t.proxy_variable} of the examined process"
            )
            for t in caught[:8]
        ),
        fixes=(_advice("Leave the hosts of TF_CONFIG out, for gRPC alone", f"export no_grpc_proxy={quote(hosts)}"),),
    )
