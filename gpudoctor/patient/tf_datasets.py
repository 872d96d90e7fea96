"""Batches of tf.data: made on the processors, and brought to a device with and without prefetching."""

import time
from typing import Any, Dict

from .team import Skip
from .tf_timing import copied, whole_numbers

_BATCHES, _KINDS = 4, 7
"""Batches that one sample is the mean of; how many of them differ."""


def _dataset(tf: Any, kind: str, index: int, repeats: int, device: str, prefetch: int) -> Dict[str, Any]:
    """Each batch is new: what is read, plus a number. The last one is compared with that sum."""
    import numpy as np

    data = whole_numbers(np, kind, 17 + index)
    with tf.device("/CPU:0"):
        batches = tf.data.Dataset.from_tensors(data).repeat()
        made = tf.data.Dataset.zip((tf.data.Dataset.range(1 << 30), batches)).map(
            lambda i, x: (i, x + tf.cast(i % _KINDS, tf.float32))
        )
        source = iter(made.prefetch(prefetch) if prefetch else made)

    def bring() -> Any:
        with tf.device("/CPU:0"):
            number, batch = next(source)
        with tf.device(device):
            there = tf.identity(batch)
            there[-1:].numpy()  # waits for the device
        return number, there

    samples = []
    for _ in range(1 + min(repeats, 5)):
        started = time.perf_counter()
        for _ in range(_BATCHES):
            number, there = bring()
        samples.append(data.nbytes * _BATCHES / (time.perf_counter() - started) / 1e9)
    done = copied(np, there.numpy(), data + np.float32(int(number.numpy()) % _KINDS), samples[1:])
    done.update({"placed_on": there.device, "queued": _BATCHES, "warm_up": _BATCHES})
    return done


def dataset(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """A tf.data pipeline alone, without a device that takes its batches: what feeds every training."""
    if index > 0:
        raise Skip("it is the host's own work: measured with the first GPU")
    return _dataset(tf, kind, index, repeats, "/CPU:0", prefetch=0)


def _to_device(tf: Any, kind: str, index: int, repeats: int, prefetch: int) -> Dict[str, Any]:
    done = _dataset(tf, kind, index, repeats, "/GPU:0" if kind == "GPU" else "/CPU:1", prefetch)
    if kind != "GPU":
        done["no_value"] = "both ends are the host's memory"
    return done


def dataset_to_device(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """tf.data without prefetching: a batch is made, then copied, then the next one is made."""
    return _to_device(tf, kind, index, repeats, prefetch=0)


def dataset_to_device_prefetch(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """tf.data with prefetching: the next batch is made while one is copied."""
    return _to_device(tf, kind, index, repeats, prefetch=2)
