"""What the programs share: a small convolutional model, synthetic images, training for a given time. TensorFlow 2.x only."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import tensorflow as tf

SIDE, BATCH, CLASSES, IMAGES = 128, 256, 10, 4096


def seconds() -> float:
    """How long to train: the argument, else 20."""
    return float(sys.argv[1]) if len(sys.argv) > 1 else 20.0


def images(count: int = IMAGES) -> tuple[Any, Any]:
    """uint8 images and their labels."""
    chance = np.random.default_rng(7)
    return chance.integers(0, 256, (count, SIDE, SIDE, 3), np.uint8), chance.integers(0, CLASSES, count).astype(
        np.int32
    )


def model(side: int = SIDE, width: int = 64, dtype: str = "uint8") -> Any:
    """A compiled model of eight convolutions; what comes in is of this type, and made float32 on the GPU."""
    layers = tf.keras.layers
    parts = [layers.Input((side, side, 3), dtype=dtype), layers.Rescaling(1 / 255.0)]
    for scale in (1, 2, 4, 8):
        for stride in (2 if scale > 1 else 1, 1):
            parts += [layers.Conv2D(width * scale, 3, strides=stride, padding="same", activation="relu")]
    parts += [layers.GlobalAveragePooling2D(), layers.Dense(CLASSES)]
    made = tf.keras.Sequential(parts)
    made.compile(
        optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False
    )
    return made


def light(image: Any, label: Any) -> tuple[Any, Any]:
    """What costs a processor next to nothing."""
    return tf.image.random_flip_left_right(image), label


def heavy(image: Any, label: Any) -> tuple[Any, Any]:
    """What costs a processor some tenths of a millisecond an image."""
    bright = tf.image.random_brightness(tf.cast(image, tf.float32), 20.0)
    return tf.cast(tf.clip_by_value(tf.image.random_contrast(bright, 0.8, 1.2), 0.0, 255.0), tf.uint8), label


class Until(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """Ends the training after so many seconds from the second step on, and says how fast it was."""

    def __init__(self, limit_s: float) -> None:
        super().__init__()
        self.limit_s, self.steps, self.began = limit_s, 0, 0.0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After each step."""
        self.steps += 1
        if self.steps == 2:
            self.began = time.monotonic()
        elif self.steps > 2 and time.monotonic() - self.began > self.limit_s:
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        """The result."""
        print(f"{(self.steps - 2) / (time.monotonic() - self.began):.2f} steps/s", flush=True)


def train(made: Any, dataset: Any, *callbacks: Any) -> None:
    """Train for `seconds`."""
    made.fit(dataset.repeat(), steps_per_epoch=10**6, epochs=1, verbose=0, callbacks=[Until(seconds()), *callbacks])


def good_dataset(batch: int = BATCH) -> Any:
    """Prepared in parallel, ahead of the step."""
    ready = tf.data.Dataset.from_tensor_slices(images()).cache().shuffle(1024).repeat()
    return (
        ready.map(light, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )


def bare(dataset: Any) -> Any:
    """The dataset as it is written: TensorFlow adds no prefetching of its own."""
    options = tf.data.Options()
    if hasattr(options.experimental_optimization, "inject_prefetch"):
        options.experimental_optimization.inject_prefetch = False
    return dataset.with_options(options)
