"""An all-reduce between two processes of this host, as MultiWorkerMirroredStrategy does it between hosts.

Both are children with a TF_CONFIG of our own: workers 0 and 1 on 127.0.0.1, at ports that were free. Nothing of it
leaves the machine, and the user's TF_CONFIG is not used.
"""

import json
import os
import select
import signal
import socket
import time
from typing import Any, Dict, List, Optional, Tuple

from .core import answer, fork, join
from .team import Skip, Team
from .tf_timing import Traced, judged, whole_numbers
from .workers import _library

TWO_WORKERS = "all-reduce-two-workers"
_HERE = "127.0.0.1"
_PROXIES_OFF = ("no_grpc_proxy", "no_proxy")
"""gRPC reads the first of these that is set."""
_MOST_SAMPLES = 7


def run_two_workers(tf: Any, gpus: int, repeats: int, limit_s: float, deadline: float) -> None:
    """Answers 'kernel'. In a child that touches no device, forks both workers, and takes them with it when it is killed.

    Each has a GPU of its own where there are two; else both are on the CPU: two processes with NCCL do not share a GPU.
    """
    kind = "GPU" if gpus >= 2 else "CPU"

    def do(_: str) -> Dict[str, Any]:
        limit = 0.9 * min(limit_s, deadline - time.time())
        value = all_reduce_two_workers(tf, kind, repeats, limit)
        return {"value": value, "library": value.pop("library")}

    def say(_: int, name: str, got: Dict[str, Any]) -> None:
        answer("kernel", dict(got, kernel=name, device="%s:0,%s:1" % (kind, kind)))

    Team(lambda _: do, (), say, limit_s, deadline, lives=1).run([-1], [TWO_WORKERS])


def two_free_ports() -> Tuple[int, int]:
    """Two ports of 127.0.0.1 that nobody listens on, and that the system hands out."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind((_HERE, 0))
        return one.getsockname()[1], other.getsockname()[1]


def all_reduce_two_workers(tf: Any, kind: str, repeats: int, limit_s: float) -> Dict[str, Any]:
    """The strategy's own all-reduce over two processes, other data in each, parts of the sum against the exact one.

    `tf` must not have touched a device. The same graph without the all-reduce is timed too and its time taken off. Raises
    RuntimeError with what the worker that failed first said.
    """
    if not hasattr(tf.distribute, "MultiWorkerMirroredStrategy"):
        raise Skip("MultiWorkerMirroredStrategy needs TensorFlow 2.4 or newer")
    deadline = time.time() + limit_s
    got = _both(tf, kind, repeats, deadline)
    if "failed" in got[0] and "address already in use" in got[0]["failed"].lower():  # somebody else took the port
        got = _both(tf, kind, repeats, deadline)
    for one in got:
        if "failed" in one:
            raise RuntimeError(one["failed"])
    values = [one["value"] for one in got]
    worse = max(values, key=lambda v: (not v["verified"], v["error"] or 0.0))
    done = dict(values[0], **{k: worse[k] for k in ("verified", "error", "tolerance")})
    done["samples"] = [min(pair) for pair in zip(*(v["samples"] for v in values))]
    done["placed_on"] = ", ".join(sorted({v["placed_on"] for v in values}))
    if any(kind not in v["placed_on"] for v in values):
        raise RuntimeError("TensorFlow ran it on %s instead of %s" % (done["placed_on"], kind))
    return done


def _both(tf: Any, kind: str, repeats: int, deadline: float) -> List[Dict[str, Any]]:
    """The answers of both workers, the one that failed first at the front. One that fails ends the other."""
    addresses = ["%s:%d" % (_HERE, port) for port in two_free_ports()]
    meeting = [os.pipe(), os.pipe()]
    workers = [
        fork(lambda task=task: _worker(tf, kind, task, addresses, repeats, meeting))  # type: ignore[misc]
        for task in (0, 1)
    ]
    for ends in meeting:
        os.close(ends[0])
        os.close(ends[1])
    got = []  # type: List[Dict[str, Any]]
    left = dict(enumerate(workers))
    while left:
        ready = select.select([w[1] for w in left.values()], [], [], max(0.0, deadline - time.time()))[0]
        for task in [t for t, w in left.items() if w[1] in ready or not ready]:
            one = join(left.pop(task), "worker %d of two" % task, deadline)
            got.append(one)
            if "failed" in one:
                for pid, _ in left.values():
                    os.kill(pid, signal.SIGKILL)
    return got


def _worker(tf: Any, kind: str, task: int, addresses: List[str], repeats: int, meeting: Any) -> Dict[str, Any]:
    """In the child: join the other worker, add up, measure. It stays until the other is done, who may still want its part."""
    config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": task}}
    os.environ["TF_CONFIG"] = json.dumps(config)
    for name in _PROXIES_OFF:
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), _HERE]))
    gpus = tf.config.list_physical_devices("GPU")
    mine = [gpus[task]] if kind == "GPU" else []
    tf.config.set_visible_devices(mine, "GPU")
    for gpu in mine:
        tf.config.experimental.set_memory_growth(gpu, True)
    try:
        return dict(_reduced(tf, kind, task, repeats), library=_library("all-reduce"))
    finally:
        os.write(meeting[1 - task][1], b".")
        select.select([meeting[task][0]], [], [], 5.0)


def _reduced(tf: Any, kind: str, task: int, repeats: int) -> Dict[str, Any]:
    """Both workers do the same number of rounds: each waits for the other in every one."""
    import numpy as np

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    if strategy.num_replicas_in_sync != 2:
        raise RuntimeError("the strategy has %d replicas in place of two" % strategy.num_replicas_in_sync)
    calls, elements = 2, (16 << 20 if kind == "GPU" else 1 << 20)
    data = [np.resize(whole_numbers(np, "CPU", 17 + i), elements) for i in (0, 1)]
    starts = [0, elements // 2, elements - 1024]

    def value(context: Any) -> Any:
        return tf.constant(data[context.replica_id_in_sync_group])

    values = strategy.experimental_distribute_values_from_function(value)

    def graph(reduces: bool) -> Traced:
        def replica(x: Any) -> Any:
            context, way = tf.distribute.get_replica_context(), tf.distribute.ReduceOp.SUM
            with tf.device(strategy.extended.worker_devices[0]):  # what has no device is not reduced
                x = tf.identity(x)
            sums = [context.all_reduce(way, x) if reduces else tf.identity(x) for _ in range(calls)]
            return [s[a : a + 1024] for s in sums for a in starts]

        plain = tf.autograph.experimental.do_not_convert(replica)

        def whole(v: Any) -> Any:
            return strategy.experimental_local_results(strategy.run(plain, args=(v,)))

        return Traced(tf, whole)

    def run(function: Any) -> Tuple[Any, float]:
        started = time.perf_counter()
        parts = [part.numpy() for part in function(values)[0]]
        return parts, time.perf_counter() - started

    real, control = graph(True), graph(False)
    parts, first_s = run(real)
    exact = data[0].astype(np.float64) + data[1]
    exact = np.array([[exact[a : a + 1024] for a in starts]] * calls)
    took, idle = [], []  # type: List[float], List[float]
    for _ in range(1 + min(repeats, _MOST_SAMPLES)):
        idle.append(run(control)[1])
        took.append(run(real)[1])
    without = sorted(idle[1:])[len(idle[1:]) // 2]
    operations = real.operations()
    used = sorted({o.type for o in operations if "CollectiveReduce" in o.type})
    done = judged(np, np.array(parts, np.float64).reshape(exact.shape), exact, 1.0, 0.0)
    done.update(
        {
            "samples": [data[0].nbytes * calls / max(s - without, s / 10) / 1e9 for s in took[1:]],
            "warm_up": 2,
            "queued": calls,
            "first_s": first_s,
            "overhead_s": without,
            "placed_on": _of_collectives(operations) or "nowhere",
            "operation": ", ".join(used) or "no collective",
            "dtype": "float32",
            "size": [elements],
            "unit": "GB/s",
            "against": "the exact sum",
        }
    )
    return done


def _of_collectives(operations: Any) -> Optional[str]:
    """The devices of the operations that reduce."""
    return ", ".join(sorted({o.device for o in operations if "CollectiveReduce" in o.type and o.device})) or None
