"""Kernels on TensorFlow's devices: with the TensorFlow and the numpy of the examined interpreter.

A kernel is a function (tf, device kind, device index, repeats) -> dict. It runs in a forked child, after `prepare`, with
others before and after it. It checks its own numbers; one that has nothing to do here raises `Skip`. Beside
the operation under test only slices of the first dimension are used, which are views, and random data that numpy made:
anything else would have to be compiled first where the build has no machine code for the GPU.
"""

import os
import time
from typing import Any, Callable, Dict, List

from .team import Skip
from .tf_collectives import all_reduce, all_reduce_hierarchical, all_reduce_nccl
from .tf_datasets import dataset, dataset_to_device, dataset_to_device_prefetch
from .tf_timing import copied, gpu_capability, judged, random_numbers, rates, whole_numbers
from .tf_training import training_step, training_step_mixed


def prepare(tf: Any, kind: str, index: int) -> None:
    """Make one device visible (-1: all), without taking its whole memory; a CPU is cut into two logical devices."""
    if not hasattr(tf.config.experimental, "enable_tensor_float_32_execution"):
        raise Skip("the kernels need TensorFlow 2.4 or newer")
    tf.config.experimental.enable_tensor_float_32_execution(False)
    devices = tf.config.list_physical_devices(kind)
    if kind == "GPU":
        mine = devices if index < 0 else [devices[index]]
        tf.config.set_visible_devices(mine, "GPU")
        for device in mine:
            tf.config.experimental.set_memory_growth(device, True)
    else:
        tf.config.set_logical_device_configuration(devices[0], [tf.config.LogicalDeviceConfiguration()] * 2)


def _matmul(
    tf: Any, kind: str, index: int, repeats: int, dtype: str, n_cpu: int, tolerance: float, tf32: bool = False
) -> Dict[str, Any]:
    """Square matrix product; 16 rows x 16 columns of the result against float64.

    The error is in units of what an element is on average: sqrt(n) times the mean product.
    """
    import numpy as np

    n = n_cpu if kind == "CPU" else 8192 if gpu_capability(tf, index) >= (7, 0) else 4096
    host_type = getattr(tf, dtype).as_numpy_dtype
    host_a = random_numbers(np, (n, n), 20260101 + index, host_type)
    host_b = random_numbers(np, (n, n), 20260201 + index, host_type)
    rows, columns = np.arange(16) * (n // 16) + index % 7, np.arange(16) * (n // 16) + 5
    tf.config.experimental.enable_tensor_float_32_execution(tf32)
    with tf.device("/%s:0" % kind):
        a, b = tf.constant(host_a), tf.constant(host_b)
        timed = rates(lambda: tf.matmul(a, b), lambda c: c[-1:].numpy(), 2.0 * n**3 / 1e12, repeats)
        c = tf.matmul(a, b)
        got = np.stack([c[int(r) : int(r) + 1].numpy()[0][columns] for r in rows]).astype(np.float64)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    left, right = host_a[rows].astype(np.float64), host_b[:, columns].astype(np.float64)
    scale = (np.abs(left) @ np.abs(right)) / n**0.5
    timed.update(judged(np, got, left @ right, scale, tolerance or n * 2.0**-24))
    timed.update({"placed_on": c.device, "dtype": "tf32" if tf32 else dtype, "size": [n, n, n], "unit": "TFLOP/s"})
    return timed


def _needs_ampere(tf: Any, kind: str, index: int, what: str) -> None:
    if kind != "GPU":
        raise Skip("%s is for GPUs" % what)
    if gpu_capability(tf, index) < (8, 0):
        raise Skip("%s needs a GPU of compute capability 8.0 or higher" % what)


def matmul_float32(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """float32 without TF32: allowed are the rounding errors of a float32 sum of n terms."""
    return _matmul(tf, kind, index, repeats, "float32", 1024, 0.0)


def matmul_tf32(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """float32 in TF32: the factors have 10 bits."""
    _needs_ampere(tf, kind, index, "TF32")
    return _matmul(tf, kind, index, repeats, "float32", 0, 2.0**-7, tf32=True)


def matmul_float16(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """float16, summed in float32: the result has 10 bits. Summed in float16 where TensorFlow does or was told so."""
    wide = os.environ.get("TF_FP16_MATMUL_USE_FP32_COMPUTE", "1").lower() not in ("0", "false")
    return _matmul(tf, kind, index, repeats, "float16", 256, 2.0**-7 if wide and kind == "GPU" else 2.0**-3)


def matmul_bfloat16(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """bfloat16, summed in float32: the result has 7 bits."""
    if kind == "GPU":
        _needs_ampere(tf, kind, index, "bfloat16")
    return _matmul(tf, kind, index, repeats, "bfloat16", 256, 2.0**-5)


def convolution(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """3x3 convolution in float32; 64 elements against float64. GPUs get the layout of cuDNN: no transposition."""
    import numpy as np

    gpu = kind == "GPU"
    batch, side, channels = (32, 56, 64) if gpu else (2, 28, 16)
    host_x = random_numbers(np, (batch, side + 2, side + 2, channels), 20260301 + index)
    host_w = random_numbers(np, (3, 3, channels, channels), 20260401 + index)
    layout = "NCHW" if gpu else "NHWC"
    with tf.device("/%s:0" % kind):
        x = tf.constant(np.ascontiguousarray(host_x.transpose(0, 3, 1, 2)) if gpu else host_x)
        w = tf.constant(host_w)
        flops = 2.0 * batch * side * side * channels * channels * 9
        timed = rates(
            lambda: tf.nn.conv2d(x, w, 1, "VALID", data_format=layout),
            lambda y: y[-1:].numpy(),
            flops / 1e12,
            repeats,
        )
        y = tf.nn.conv2d(x, w, 1, "VALID", data_format=layout)
        whole = y.numpy().transpose(0, 2, 3, 1) if gpu else y.numpy()
    got, exact, scale = np.empty(64), np.empty(64), np.empty(64)
    wide = host_w.astype(np.float64)
    for k in range(64):
        n, i, j, o = k % batch, k * 5 % side, k * 11 % side, k * 7 % channels
        window = host_x[n, i : i + 3, j : j + 3].astype(np.float64)
        got[k], exact[k] = whole[n, i, j, o], np.sum(window * wide[..., o])
        scale[k] = np.sum(np.abs(window * wide[..., o]))
    timed.update(judged(np, got, exact, scale, 2.0**-11))
    timed["verified"] = timed["verified"] and bool(np.isfinite(whole).all())
    timed.update({"placed_on": y.device, "dtype": "float32", "size": [batch, side, side, channels], "unit": "TFLOP/s"})
    return timed


def fft(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """Batch of complex transforms; two of them against numpy's in complex128."""
    import numpy as np

    batch, n = (256, 16384) if kind == "GPU" else (16, 4096)
    host = random_numbers(np, (batch, n), 20260501 + index) + 1j * random_numbers(np, (batch, n), 20260601 + index)
    host = host.astype(np.complex64)
    with tf.device("/%s:0" % kind):
        x = tf.constant(host)
        flops = 5.0 * batch * n * np.log2(n)
        timed = rates(lambda: tf.signal.fft(x), lambda y: y[-1:].numpy(), float(flops) / 1e9, repeats)
        y = tf.signal.fft(x)
        got = np.concatenate([y[:1].numpy(), y[-1:].numpy()])
    exact = np.fft.fft(host[[0, -1]].astype(np.complex128))
    timed.update(judged(np, got, exact, float(np.sqrt(np.mean(np.abs(exact) ** 2))), 1e-4 if kind == "GPU" else 1e-3))
    timed.update({"placed_on": y.device, "dtype": "complex64", "size": [batch, n], "unit": "GFLOP/s"})
    return timed


def solve(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """A well-conditioned system; what is left over, in float64, against the size of the terms."""
    import numpy as np

    n = 2048 if kind == "GPU" else 256
    host_a = random_numbers(np, (n, n), 20260701 + index) + np.float32(n) * np.eye(n, dtype=np.float32)
    host_b = random_numbers(np, (n, 1), 20260801 + index)
    with tf.device("/%s:0" % kind):
        a, b = tf.constant(host_a), tf.constant(host_b)
        timed = rates(
            lambda: tf.linalg.solve(a, b), lambda x: x[-1:].numpy(), (2.0 / 3.0) * float(n) ** 3 / 1e9, repeats
        )
        x = tf.linalg.solve(a, b)
        got = x.numpy().astype(np.float64)
    wide = host_a.astype(np.float64)
    scale = np.abs(wide) @ np.abs(got) + np.abs(host_b)
    timed.update(judged(np, wide @ got, host_b.astype(np.float64), scale, n * 2.0**-24))
    timed.update({"placed_on": x.device, "dtype": "float32", "size": [n, n], "unit": "GFLOP/s"})
    return timed


def xla(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """A function compiled by XLA that needs libdevice (sine) and a fusion; 16 rows against float64."""
    import numpy as np

    n = 1024 if kind == "GPU" else 128
    host_x, host_y = random_numbers(np, (n, n), 20260901 + index), random_numbers(np, (n, n), 20261001 + index)

    def plain(x: Any, y: Any) -> Any:
        return tf.sin(tf.matmul(x, y)) + y

    try:
        compiled = tf.function(plain, jit_compile=True, autograph=False)
    except TypeError:  # its name up to 2.4
        compiled = tf.function(plain, experimental_compile=True, autograph=False)

    with tf.device("/%s:0" % kind):
        x, y = tf.constant(host_x), tf.constant(host_y)
        timed = rates(lambda: compiled(x, y), lambda z: z[-1:].numpy(), 2.0 * n**3 / 1e12, repeats)
        z = compiled(x, y)
        rows = np.arange(16) * (n // 16)
        got = z.numpy()[rows].astype(np.float64)
    exact = np.sin(host_x[rows].astype(np.float64) @ host_y.astype(np.float64)) + host_y[rows]
    timed.update(judged(np, got, exact, 1.0, 2.0**-8))
    timed.update({"placed_on": z.device, "dtype": "float32", "size": [n, n], "unit": "TFLOP/s"})
    return timed


# ----------------------------------------------------------------------------- copies


def numpy_to_tensor(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """numpy array -> TensorFlow tensor in the host's memory: what comes before every copy to a device."""
    import numpy as np

    if index > 0:
        raise Skip("it is the host's own work: measured with the first GPU")
    data = whole_numbers(np, kind, 7)
    samples = []
    with tf.device("/CPU:0"):
        for _ in range(1 + min(repeats, 5)):
            started = time.perf_counter()
            tensor = tf.constant(data)
            samples.append(data.nbytes / (time.perf_counter() - started) / 1e9)
    done = copied(np, tensor.numpy(), data, samples[1:])
    done["placed_on"] = tensor.device
    return done


def _copy(tf: Any, kind: str, index: int, repeats: int, back: bool) -> Dict[str, Any]:
    """A new tensor for every copy: TensorFlow keeps what it has copied once, and copies it no second time."""
    import numpy as np

    data = whole_numbers(np, kind, 11 + index)
    device = "/GPU:0" if kind == "GPU" else "/CPU:1"
    samples = []
    for _ in range(1 + min(repeats, 5)):
        with tf.device("/CPU:0"):
            host = tf.constant(data)
        started = time.perf_counter()
        with tf.device(device):
            there = tf.identity(host)
            there[-1:].numpy()  # waits for the device
        if back:
            started = time.perf_counter()
            with tf.device("/CPU:0"):
                here = tf.identity(there)
                here[-1:].numpy()
        samples.append(data.nbytes / (time.perf_counter() - started) / 1e9)
    done = copied(np, (here if back else there).numpy(), data, samples[1:])
    done["placed_on"] = there.device
    if kind != "GPU":
        done["no_value"] = "both ends are the host's memory"
    return done


def host_to_device(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """Tensor in the host's memory (pageable) -> device."""
    return _copy(tf, kind, index, repeats, back=False)


def device_to_host(tf: Any, kind: str, index: int, repeats: int) -> Dict[str, Any]:
    """Device -> tensor in the host's memory."""
    return _copy(tf, kind, index, repeats, back=True)


KERNELS: Dict[str, Callable[[Any, str, int, int], Dict[str, Any]]] = {
    "matmul": matmul_float32,
    "matmul-tf32": matmul_tf32,
    "matmul-float16": matmul_float16,
    "matmul-bfloat16": matmul_bfloat16,
    "convolution": convolution,
    "fft": fft,
    "solve": solve,
    "xla": xla,
    "numpy-to-tensor": numpy_to_tensor,
    "host-to-device": host_to_device,
    "device-to-host": device_to_host,
    "dataset": dataset,
    "dataset-to-device": dataset_to_device,
    "dataset-to-device-prefetch": dataset_to_device_prefetch,
    "all-reduce": all_reduce,
    "all-reduce-nccl": all_reduce_nccl,
    "all-reduce-hierarchical": all_reduce_hierarchical,
    "training-step": training_step,
    "training-step-mixed": training_step_mixed,
}
ON_HOST = ("numpy-to-tensor", "dataset")
ALONE = (
    "numpy-to-tensor",
    "host-to-device",
    "device-to-host",
    "dataset",
    "dataset-to-device",
    "dataset-to-device-prefetch",
)
"""They share the host: on one device at a time, while nothing else runs."""
TOGETHER = (
    "all-reduce",
    "all-reduce-nccl",
    "all-reduce-hierarchical",
    "training-step",
    "training-step-between",
    "training-step-mixed",
)
"""In the process that owns all devices, last."""
LIBRARY = {
    "matmul": "cublas",
    "convolution": "cudnn",
    "fft": "cufft",
    "solve": "cusolver",
    "all-reduce": "nccl",
    "all-reduce-nccl": "nccl",
    "training": "cudnn",
}
"""Which library does the work of a kernel: its name, or the part of it before the first hyphen."""
_ON_SOME: Dict[str, Callable[[int], List[int]]] = {
    "training-step": lambda count: [1, count],
    "training-step-between": lambda count: [1 << k for k in range(1, count.bit_length()) if 1 << k < count],
    "training-step-mixed": lambda count: [1],
}
"""On how many devices of `count` it runs; what runs between is the same kernel."""


def orders_of(names: List[str], count: int) -> List[str]:
    """'training-step 1', 'training-step 4', 'all-reduce': a kernel, and on how many devices where that is not all of them."""
    orders: List[str] = []
    for name in names:
        if name in _ON_SOME:
            kernel = name.replace("-between", "")
            orders += ["%s %d" % (kernel, n) for n in sorted(set(_ON_SOME[name](count)))]
        elif name in TOGETHER:
            orders.append(name)
    return orders
