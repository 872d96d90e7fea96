"""Flaw: one thread prepares all images, with much to do for each; it is prefetched, which does not help."""

from typing import Any

import tensorflow as tf

from tests.gpu.training import common


def slow(image: Any, label: Any) -> tuple[Any, Any]:
    """Many times the work of `common.heavy`: a batch takes two or three times as long as a step on an H200."""
    for _ in range(8):
        image, label = common.heavy(image, label)
    return image, label


if __name__ == "__main__":
    dataset = tf.data.Dataset.from_tensor_slices(common.images()).repeat().map(slow)
    common.train(common.model(), dataset.batch(common.BATCH, drop_remainder=True).prefetch(2))
