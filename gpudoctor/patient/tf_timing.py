"""What the kernels of TensorFlow share: data, the clock, the comparison with what is right."""

import time
from typing import Any, Callable, Dict, List, Tuple

SECONDS = 1.0
"""About how long one kernel is timed."""


def random_numbers(np: Any, shape: Tuple[int, ...], seed: int, dtype: Any = "float32") -> Any:
    """Random numbers in ±0.5, made fast: a block of prime length, repeated."""
    block = np.random.default_rng(seed).random(1048573, dtype=np.float32) - np.float32(0.5)
    return np.resize(block.astype(dtype), shape)


def rates(run: Callable[[], Any], wait: Callable[[Any], Any], amount: float, repeats: int) -> Dict[str, Any]:
    """`amount` a second, several runs queued between two waits; the first two runs are not counted."""
    started = time.perf_counter()
    wait(run())
    first_s = time.perf_counter() - started
    started = time.perf_counter()
    wait(run())
    queued = int(min(16, max(1, 0.05 / (time.perf_counter() - started))))
    samples: List[float] = []
    begun = time.perf_counter()
    while len(samples) < 3 or (len(samples) < repeats and time.perf_counter() - begun < SECONDS):
        started = time.perf_counter()
        for _ in range(queued):
            last = run()
        wait(last)
        samples.append(amount * queued / (time.perf_counter() - started))
    return {"samples": samples, "warm_up": 2, "queued": queued, "first_s": first_s}


class Traced:
    """A function as a graph, and the operations of that. Up to 2.8 or so get_concrete_function() fails on values of a strategy."""

    def __init__(self, tf: Any, program: Callable[..., Any]) -> None:
        self._graph: Any = None

        def whole(*args: Any) -> Any:
            self._graph = tf.compat.v1.get_default_graph()
            return program(*args)

        self._run = tf.function(whole, autograph=False)

    def __call__(self, *args: Any) -> Any:
        return self._run(*args)

    def operations(self) -> List[Any]:
        """Of its graph; none before it ran."""
        return [] if self._graph is None else list(self._graph.get_operations())


def judged(np: Any, got: Any, exact: Any, scale: Any, tolerance: float) -> Dict[str, Any]:
    """The largest error in units of `scale`, and whether it is within `tolerance`."""
    error = float(np.max(np.abs(got - exact) / scale))
    finite = bool(np.isfinite(error))
    return {
        "error": error if finite else None,
        "tolerance": tolerance,
        "verified": finite and error <= tolerance,
        "against": "float64",
    }


def gpu_capability(tf: Any, index: int) -> Tuple[int, ...]:
    device = tf.config.list_physical_devices("GPU")[max(0, index)]
    return tuple(tf.config.experimental.get_device_details(device).get("compute_capability") or (99, 0))


def whole_numbers(np: Any, kind: str, seed: int) -> Any:
    """Whole numbers that float32 holds exactly, also sums of 16 of them."""
    block = np.random.default_rng(seed).integers(0, 1 << 19, 1048573).astype(np.float32)
    return np.resize(block, (16 if kind == "GPU" else 2) << 20)


def copied(np: Any, got: Any, data: Any, samples: List[float]) -> Dict[str, Any]:
    same = bool(np.array_equal(got, data))
    return {
        "samples": samples,
        "warm_up": 1,
        "dtype": "float32",
        "size": [data.size],
        "unit": "GB/s",
        "error": 0.0 if same else None,
        "tolerance": 0.0,
        "verified": same,
        "against": "the data themselves",
    }
