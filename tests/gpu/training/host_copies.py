"""Flaw: every step makes a tensor of a large array of NumPy's, in the program's own thread."""

import time

import numpy as np
import tensorflow as tf

from tests.gpu.training import common

LARGE = 448

if __name__ == "__main__":
    made = common.model(LARGE, width=8, dtype="float32")
    optimizer, loss_of = tf.keras.optimizers.SGD(), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    host = np.random.default_rng(7).random((common.BATCH, LARGE, LARGE, 3), np.float32)
    labels = np.zeros(common.BATCH, np.int32)

    @tf.function  # type: ignore[untyped-decorator]
    def step(batch: tf.Tensor, wanted: tf.Tensor) -> tf.Tensor:
        """One step of gradient descent."""
        with tf.GradientTape() as tape:
            loss = loss_of(wanted, made(batch, training=True))
        optimizer.apply_gradients(
            zip(tape.gradient(loss, made.trainable_variables), made.trainable_variables, strict=True)
        )
        return loss

    steps, began = 0, 0.0
    while steps < 3 or time.monotonic() - began < common.seconds():
        host[steps % common.BATCH] += 1.0  # each batch is a new one
        float(step(tf.constant(host), tf.constant(labels)))
        steps += 1
        if steps == 2:
            began = time.monotonic()
    print(f"{(steps - 2) / (time.monotonic() - began):.2f} steps/s", flush=True)
