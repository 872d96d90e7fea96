"""Flaw: the loop makes each batch with numpy between two steps, in the thread that starts them."""

import time

import numpy as np

from tests.gpu.training import common

if __name__ == "__main__":
    made = common.model()
    pictures, labels = common.images(1024)
    chance, steps, began = np.random.default_rng(7), 0, 0.0
    while steps < 2 or time.monotonic() - began < common.seconds():
        chosen = chance.integers(0, len(pictures), common.BATCH)
        batch = np.stack([np.roll(np.flip(pictures[i], 1), 3, 0) for i in chosen])
        batch = np.clip(batch.astype(np.float32) * chance.uniform(0.8, 1.2), 0, 255).astype(np.uint8)
        made.train_on_batch(batch, labels[chosen])
        steps += 1
        began = began or time.monotonic()
    print(f"{steps / (time.monotonic() - began):.2f} steps/s", flush=True)
