"""Kernels on TensorFlow's devices: with the TensorFlow and the numpy of the examined interpreter.

A kernel is a function (tf, device kind, device index) -> dict. It runs in a forked child that has touched no device yet.
"""

import time
from typing import Any, Callable, Dict


def _device(tf: Any, kind: str, index: int) -> str:
    """Make one device visible, without taking all of its memory, and name it."""
    mine = tf.config.list_physical_devices(kind)[index]
    if kind == "GPU":
        tf.config.set_visible_devices([mine], "GPU")
        tf.config.experimental.set_memory_growth(mine, True)
    return "/%s:0" % kind


def matmul_float32(tf: Any, kind: str, index: int) -> Dict[str, Any]:
    """Matrix product of random float32 matrices without TF32, checked on samples against float64."""
    import numpy as np

    n, queued, repeats = (8192, 8, 5) if kind == "GPU" else (1024, 2, 5)
    set_tf32 = getattr(tf.config.experimental, "enable_tensor_float_32_execution", None)
    if set_tf32 is not None:
        set_tf32(False)
    device = _device(tf, kind, index)
    random = np.random.default_rng(20260101 + index)
    host_a = random.random((n, n), dtype=np.float32) - np.float32(0.5)
    host_b = random.random((n, n), dtype=np.float32) - np.float32(0.5)
    with tf.device(device):
        a, b = tf.constant(host_a), tf.constant(host_b)
        c = tf.matmul(a, b)
        where = c.device
        corner = float(c[0, 0].numpy())  # waits for the device
        samples = []
        for _ in range(repeats):
            started = time.perf_counter()
            for _ in range(queued):
                c = tf.matmul(a, b)
            corner = float(c[-1, -1].numpy())
            samples.append(2.0 * n**3 * queued / (time.perf_counter() - started) / 1e12)
        rows, columns = random.integers(0, n, 16), random.integers(0, n, 16)
        got = tf.gather(tf.gather(c, rows), columns, axis=1).numpy().astype(np.float64)
    exact = host_a[rows].astype(np.float64) @ host_b[:, columns].astype(np.float64)
    scale = np.abs(host_a[rows]).astype(np.float64) @ np.abs(host_b[:, columns]).astype(np.float64)
    error = float(np.max(np.abs(got - exact) / scale))
    tolerance = n**0.5 * 2.0**-24  # rounding errors of a float32 sum of n random terms
    return {
        "placed_on": where,
        "dtype": "float32",
        "size": [n, n, n],
        "samples": samples,
        "unit": "TFLOP/s",
        "error": error if np.isfinite(error) else None,
        "tolerance": tolerance,
        "verified": bool(np.isfinite(got).all() and error <= tolerance and np.isfinite(corner)),
    }


KERNELS: Dict[str, Callable[[Any, str, int], Dict[str, Any]]] = {"matmul": matmul_float32}
