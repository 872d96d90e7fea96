"""Flaw: there is a strategy for all GPUs, and the model is made outside of its scope."""

import tensorflow as tf

from tests.gpu.training import common

if __name__ == "__main__":
    tf.get_logger().setLevel("INFO")
    strategy = tf.distribute.MirroredStrategy()
    print(f"{strategy.num_replicas_in_sync} replicas", flush=True)
    common.train(common.model(), common.good_dataset())
