"""Flaw: one graph with a loop of thousands of short operations, which the threads of TensorFlow start one by one."""

import time

import tensorflow as tf

from tests.gpu.training import common


@tf.function  # type: ignore[untyped-decorator]
def work(state: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """A recurrence by hand."""
    for _ in tf.range(2000):
        state = tf.tanh(tf.matmul(state, weights) + 0.1)
    return state


if __name__ == "__main__":
    state, weights = tf.random.normal((64, 128)), tf.random.normal((128, 128))
    steps, began = 0, time.monotonic()
    while time.monotonic() - began < common.seconds():
        float(tf.reduce_sum(work(state, weights)))
        steps += 1
    print(f"{steps / (time.monotonic() - began):.2f} steps/s", flush=True)
