"""Flaw: input and step take turns, for nothing is prefetched."""

import tensorflow as tf

from tests.gpu.training import common

if __name__ == "__main__":
    dataset = tf.data.Dataset.from_tensor_slices(common.images()).repeat().map(common.heavy)
    common.train(common.model(), common.bare(dataset.batch(common.BATCH, drop_remainder=True)))
