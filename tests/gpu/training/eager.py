"""Flaw: each operation of a loop of short ones is started by Python."""

import time

import tensorflow as tf

from tests.gpu.training import common

if __name__ == "__main__":
    state, weights = tf.random.normal((64, 128)), tf.random.normal((128, 128))
    steps, began = 0, time.monotonic()
    while time.monotonic() - began < common.seconds():
        for _ in range(50):
            state = tf.tanh(tf.matmul(state, weights) + 0.1)
        float(tf.reduce_sum(state))
        steps += 1
    print(f"{steps / (time.monotonic() - began):.2f} steps/s", flush=True)
