"""Training of a small convolutional network under MirroredStrategy: what users do, on as many devices as there are.

Synthetic data lie on the devices, the batch of each device is fixed, XLA is off, TF32 is as TensorFlow has it by default.
"""

from typing import Any, Dict, List, Tuple

from .cuda import Cuda, Gpu
from .sampler import Sampler
from .team import Skip
from .tf_collectives import distributed, mirrored
from .tf_timing import Traced, gpu_capability, random_numbers, rates

_CLASSES, _LEARN, _LOSS_SCALE = 10, 0.01, 512.0
_WATCH_S = 0.05
_APART = 2.0**-20
"""How far the weights of two devices may be apart, in units of what a weight is on average."""


def training_step(tf: Any, kind: str, count: int, repeats: int) -> Dict[str, Any]:
    """Images a second in float32 (TF32 where the GPU has it) on `count` devices."""
    return _training(tf, kind, count, repeats, half=False)


def training_step_mixed(tf: Any, kind: str, count: int, repeats: int) -> Dict[str, Any]:
    """The same in mixed_float16: weights and loss in float32, the rest in float16, the loss scaled."""
    if kind == "GPU" and gpu_capability(tf, 0) < (7, 0):
        raise Skip("mixed_float16 needs a GPU of compute capability 7.0 or higher to be faster")
    return _training(tf, kind, count, repeats, half=True)


def _training(tf: Any, kind: str, count: int, repeats: int, half: bool) -> Dict[str, Any]:
    tf.config.experimental.enable_tensor_float_32_execution(True)
    try:
        return _trained(tf, kind, count, repeats, half)
    except tf.errors.ResourceExhaustedError:
        raise Skip("the GPU has not enough free memory for it")
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(False)


def _shape(tf: Any, kind: str) -> Tuple[int, int, List[int]]:
    """Batch of one device, side of an image, channels; on a GPU a step is long beside what all devices share of it."""
    if kind != "GPU":
        return 8, 16, [8, 16, 16]
    return (128 if gpu_capability(tf, 0) >= (8, 0) else 48), 112, [64, 256, 256, 256, 256]


def _weights(np: Any, widths: List[int]) -> List[Any]:
    """Kernels of the convolutions, the matrix behind them, and its bias: about 2 million numbers on a GPU."""
    found, last = [], 3
    for i, width in enumerate(widths):
        side = 7 if i == 0 else 3
        deviation = (2.0 / (side * side * last)) ** 0.5
        found.append(random_numbers(np, (side, side, last, width), 20261101 + i) * np.float32(deviation * 12**0.5))
        last = width
    found.append(random_numbers(np, (last, _CLASSES), 20261201) * np.float32((12.0 / last) ** 0.5))
    return [*found, np.zeros(_CLASSES, np.float32)]


def _images(np: Any, batch: int, side: int, replica: int) -> Tuple[Any, Any]:
    """Noise over the colour of a class; other images on each device."""
    classes = (np.arange(batch) + replica) % _CLASSES
    colours = random_numbers(np, (_CLASSES, 1, 1, 3), 20261301) * np.float32(2)
    return random_numbers(np, (batch, side, side, 3), 20261401 + replica) + colours[classes], classes.astype(np.int32)


def _trained(tf: Any, kind: str, count: int, repeats: int, half: bool) -> Dict[str, Any]:
    import numpy as np

    batch, side, widths = _shape(tf, kind)
    strategy, names = mirrored(tf, kind, count)
    compute = tf.float16 if half else tf.float32
    with strategy.scope():
        variables = [tf.Variable(w) for w in _weights(np, widths)]
    given = [_images(np, batch, side, i) for i in range(count)]
    images = distributed(tf, strategy, names, [one for one, _ in given])
    labels = distributed(tf, strategy, names, [one for _, one in given])

    def loss_of(x: Any, wanted: Any) -> Any:
        x = tf.cast(x, compute)
        for i, w in enumerate(variables[:-2]):
            x = tf.nn.relu(tf.nn.conv2d(x, tf.cast(w, compute), 2 if i == 0 else 1, "SAME"))
        seen = tf.cast(tf.reduce_mean(x, [1, 2]), tf.float32)
        told = tf.matmul(seen, variables[-2]) + variables[-1]
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=told))

    def update(all_of_it: Any, gradients: Any) -> None:
        pairs = list(zip(gradients, variables))
        gradients = all_of_it.extended.batch_reduce_to(tf.distribute.ReduceOp.MEAN, pairs)
        for variable, gradient in zip(variables, gradients):
            all_of_it.extended.update(variable, lambda v, g: v.assign_sub(_LEARN * g), args=(gradient,))

    def step(x: Any, wanted: Any) -> Any:
        scale = _LOSS_SCALE if half else 1.0
        with tf.GradientTape() as tape:
            loss = loss_of(x, wanted)
            scaled = loss * scale
        gradients = [g / scale for g in tape.gradient(scaled, variables)]
        tf.distribute.get_replica_context().merge_call(update, args=(gradients,))  # as Keras does it
        return loss

    plain = tf.autograph.experimental.do_not_convert(step)

    def all_replicas(x: Any, wanted: Any) -> Any:
        return strategy.experimental_local_results(strategy.run(plain, args=(x, wanted)))

    whole = Traced(tf, all_replicas)
    losses: List[float] = []

    def wait(result: Any) -> None:
        losses.append(sum(float(one.numpy()) for one in result) / count)

    watch = _Watch(tf, kind, count)
    timed = rates(lambda: whole(images, labels), wait, float(batch * count), repeats)
    timed["each"] = watch.end()
    used = {o.type for o in whole.operations() if "Collective" in o.type or "Nccl" in o.type}
    places = {o.device for o in whole.operations() if o.type == "Conv2D" and o.device}
    apart = _apart(np, strategy, variables)
    finite = bool(np.isfinite(losses).all())
    timed.update(
        {
            "error": apart if finite else None,
            "tolerance": _APART,
            "verified": finite and min(losses[1:]) < losses[0] and apart <= _APART,
            "against": "a loss that falls (%.3g to %.3g)" % (losses[0], min(losses))
            + (", the same weights on all devices" if count > 1 else ""),
            "placed_on": ", ".join(sorted(places)) or names[0].upper(),
            "operation": ", ".join(sorted(used)) or "no collective",
            "dtype": "mixed_float16" if half else "float32",
            "size": [batch, side, side, 3],
            "unit": "images/s",
        }
    )
    return timed


def _apart(np: Any, strategy: Any, variables: List[Any]) -> float:
    """The largest difference between a weight on the first device and on another one, in units of its mean size."""
    largest = 0.0
    for variable in variables:
        first, *others = [v.numpy() for v in strategy.experimental_local_results(variable)]
        unit = float(np.mean(np.abs(first))) or 1.0
        largest = max([largest] + [float(np.max(np.abs(other - first))) / unit for other in others])
    return largest


class _Watch:
    """What each GPU does meanwhile, by NVML, and the most memory that TensorFlow had there."""

    def __init__(self, tf: Any, kind: str, count: int) -> None:
        self._tf, self._names = tf, ["%s:%d" % (kind, i) for i in range(count)]
        self._samplers: Dict[str, Sampler] = {}
        for i, name in enumerate(self._names if kind == "GPU" else []):
            try:
                tf.config.experimental.reset_memory_stats(name)
            except Exception:  # before 2.6
                pass
            try:
                self._samplers[name] = Sampler(Gpu(Cuda(), i).identity()["pci_address"], _WATCH_S)
                self._samplers[name].begin()
            except Exception:
                pass  # no utilisation, and all the rest

    def end(self) -> List[Dict[str, Any]]:
        return [dict(self._of(name), device=name) for name in self._names]

    def _of(self, name: str) -> Dict[str, Any]:
        found: Dict[str, Any] = {}
        seen = self._samplers[name].end() if name in self._samplers else {}
        if seen.get("utilisation_percent"):
            found["utilisation_percent"] = max(seen["utilisation_percent"])
        try:
            found["peak_bytes"] = self._tf.config.experimental.get_memory_info(name)["peak"]
        except Exception:  # before 2.5; a processor
            pass
        return found
