"""Flaw: a small model and small batches, so that Keras takes longer to start a step than the GPU to do it."""

import numpy as np
import tensorflow as tf

from tests.gpu.training import common

if __name__ == "__main__":
    chance = np.random.default_rng(7)
    rows = chance.random((32, 64), np.float32), chance.integers(0, common.CLASSES, 32).astype(np.int32)
    layers = tf.keras.layers
    made = tf.keras.Sequential(
        [layers.Input((64,)), *(layers.Dense(64, activation="relu") for _ in range(3)), layers.Dense(common.CLASSES)]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(optimizer="adam", loss=loss, jit_compile=False)
    common.train(made, tf.data.Dataset.from_tensors(rows).cache().repeat().prefetch(tf.data.AUTOTUNE))
