"""All-reduces of MirroredStrategy over all devices."""

import time
from typing import Any, Callable, Dict, List, Tuple

from .team import Skip
from .tf_timing import SECONDS, Traced, judged, whole_numbers

_STRATEGIES: Dict[int, Any] = {}


def mirrored(tf: Any, kind: str, count: int) -> Tuple[Any, List[str]]:
    """MirroredStrategy over the first `count` devices, with its default all-reduce; and their names.

    Each number is made once: two strategies of a process number their collectives alike, and TensorFlow takes one for the other.
    """
    names = ["/%s:%d" % (kind.lower(), i) for i in range(count)]
    if count not in _STRATEGIES:
        strategy = tf.distribute.MirroredStrategy(names)
        collective = getattr(strategy.extended, "_collective_ops", None)
        if kind == "CPU" and count > 1 and collective is not None:  # up to 2.12 or so its default sums on one device
            strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=collective)
        _STRATEGIES[count] = strategy
    return _STRATEGIES[count], names


def distributed(tf: Any, strategy: Any, names: List[str], data: List[Any]) -> Any:
    """data[i] on the device of replica i."""

    def value(context: Any) -> Any:
        i = context.replica_id_in_sync_group
        with tf.device(names[i]):
            return tf.constant(data[i])

    return strategy.experimental_distribute_values_from_function(value)


def all_reduce(tf: Any, kind: str, count: int, repeats: int) -> Dict[str, Any]:
    """By MirroredStrategy's default."""
    if count < 2:
        raise Skip("an all-reduce needs two devices")
    return _all_reduce(tf, kind, count, repeats, *mirrored(tf, kind, count))


def _chosen(tf: Any, kind: str, count: int, repeats: int, name: str) -> Dict[str, Any]:
    if count < 2:
        raise Skip("an all-reduce needs two devices")
    names = ["/%s:%d" % (kind.lower(), i) for i in range(count)]
    strategy = tf.distribute.MirroredStrategy(names, cross_device_ops=getattr(tf.distribute, name)())
    return _all_reduce(tf, kind, count, repeats, strategy, names)


def all_reduce_nccl(tf: Any, kind: str, count: int, repeats: int) -> Dict[str, Any]:
    """By tf.distribute.NcclAllReduce."""
    if kind != "GPU":
        raise Skip("NCCL is for GPUs")
    return _chosen(tf, kind, count, repeats, "NcclAllReduce")


def all_reduce_hierarchical(tf: Any, kind: str, count: int, repeats: int) -> Dict[str, Any]:
    """By tf.distribute.HierarchicalCopyAllReduce: copies between the devices and sums on them, without NCCL."""
    return _chosen(tf, kind, count, repeats, "HierarchicalCopyAllReduce")


def _all_reduce(tf: Any, kind: str, count: int, repeats: int, strategy: Any, names: List[str]) -> Dict[str, Any]:
    """The strategy's all-reduce over all devices, other data on each, parts of the sums against the exact ones.

    Every call adds up other pieces of the data: of what is alike, TensorFlow computes and sends one. The same graph without the
    all-reduce is timed too and its time taken off.
    """
    import numpy as np

    calls, elements = (4, 64 << 20) if kind == "GPU" else (2, 1 << 20)
    data = [np.resize(whole_numbers(np, "CPU", 13 + i), elements + calls) for i in range(count)]

    values = distributed(tf, strategy, names, data)
    starts = [0, elements // 2, elements - 1024]

    def graph(reduce: Callable[[Any], Any]) -> Traced:
        def replica(x: Any) -> Any:
            sums = [reduce(x[k : k + elements]) for k in range(calls)]
            return [s[a : a + 1024] for s in sums for a in starts]

        plain = tf.autograph.experimental.do_not_convert(replica)

        def all_replicas(v: Any) -> Any:
            return [strategy.experimental_local_results(part) for part in strategy.run(plain, args=(v,))]

        return Traced(tf, all_replicas)

    reducer = type(strategy.extended._get_cross_device_ops(values)).__name__  # noqa: SLF001

    def summed(x: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)

    real, control = graph(summed), graph(lambda x: tf.identity(x))

    def wait(result: Any) -> Any:
        return [[one.numpy() for one in part] for part in result]

    started = time.perf_counter()
    parts = np.array(wait(real(values))).reshape(calls, len(starts), count, 1024).transpose(2, 0, 1, 3)
    first_s = time.perf_counter() - started
    used = sorted({(o.type, o.device) for o in real.operations() if "educe" in o.type})
    pieces = [[[one[k + a : k + a + 1024] for a in starts] for k in range(calls)] for one in data]
    exact = np.sum(np.array(pieces, np.float64), axis=0)
    wait(control(values))
    wait(real(values))
    seconds: Dict[Any, List[float]] = {real: [], control: []}
    begun = time.perf_counter()
    while len(seconds[real]) < 3 or (len(seconds[real]) < repeats and time.perf_counter() - begun < SECONDS):
        for function, took in seconds.items():
            started = time.perf_counter()
            wait(function(values))
            took.append(time.perf_counter() - started)
    idle = sorted(seconds[control])[len(seconds[control]) // 2]
    moved = elements * 4 * calls * 2.0 * (count - 1) / count
    done = judged(np, parts.astype(np.float64), exact, 1.0, 0.0)
    done.update(
        {
            "samples": [moved / max(s - idle, s / 10) / 1e9 for s in seconds[real]],
            "warm_up": 2,
            "queued": calls,
            "first_s": first_s,
            "overhead_s": idle,
            "placed_on": ", ".join(sorted({d for _, d in used if d})) or names[0].upper(),
            "operation": ", ".join(sorted({t for t, _ in used})) or "no collective: " + reducer,
            "dtype": "float32",
            "size": [elements],
            "unit": "GB/s",
            "against": "the exact sum",
        }
    )
    return done
