"""Flaw: input and step take turns, for nothing is prefetched."""

from typing import Any

import tensorflow as tf

from tests.gpu.training import common


def work(image: Any, label: Any) -> tuple[Any, Any]:
    """As long for a batch as a step on an H200, or longer: less of it is hidden, for a step returns before the GPU has done it."""
    for _ in range(5):
        image, label = common.heavy(image, label)
    return image, label


if __name__ == "__main__":
    dataset = tf.data.Dataset.from_tensor_slices(common.images()).repeat().map(work)
    common.train(common.model(), common.bare(dataset.batch(common.BATCH, drop_remainder=True)))
