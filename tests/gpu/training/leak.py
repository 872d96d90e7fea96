"""Flaw: what each step saw is kept on the host, for a picture that nobody makes."""

from typing import Any

import tensorflow as tf

from tests.gpu.training import common


class Keeps(tf.keras.callbacks.Callback):  # type: ignore[misc]
    """A list that grows."""

    def __init__(self, seen: Any) -> None:
        super().__init__()
        self.seen, self.kept = seen, []  # type: ignore[var-annotated]

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After each step."""
        self.kept.append(self.seen[: common.BATCH].copy())


if __name__ == "__main__":
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        made = common.model()
    dataset = common.good_dataset(common.BATCH * strategy.num_replicas_in_sync)
    common.train(made, dataset, Keeps(common.images()[0]))
