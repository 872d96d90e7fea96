"""Matrix products through cuBLAS, timed by the device's events, each with a part of its result compared with float64.

What PyTorch and TensorFlow call for torch.matmul and tf.matmul: cublasGemmEx, column major, float32 sums. The data are
random in ±0.5, the memory of the result holds no number before the run that is compared.
"""

import time
from functools import partial
from typing import Any, Callable, Dict, List, Tuple

from .bench import Bench
from .cublas import BlasLibrary, blas_of, load_cublas
from .cuda import CudaError, Gpu
from .elements import SIZES, decoded, exact_products, judged_product, mean_product, random_block
from .team import Skip

_SMALLEST = 1024
_SPARE = 256 << 20
"""Bytes of device memory that are left to the library: its code and its workspace."""
_OUT_OF_MEMORY = 2
_WARM_S = 0.05
_SEEDS = (1, 2)
"""Of A and of B."""
_TF32_SHOWS = 2.0**-14
"""Factors cut to 10 bits make the largest of 64 errors about 2^-10 in our units, float32 at most 2^-16."""


def before_products() -> List[Callable[[], Any]]:
    """What products need and no GPU is needed for: the libraries in memory, the random data. What fails here fails again where
    it is needed."""

    def libraries() -> None:
        try:
            load_cublas()
        except Exception:
            pass

    return [libraries, *(partial(random_block, dtype, seed) for dtype in SIZES for seed in _SEEDS)]


def matrices(gpu: Gpu, n: int, sizes: List[int]) -> Tuple[int, List[int]]:
    """Memory for square matrices of elements of `sizes` bytes: how wide they are, and their addresses.

    `n`, or half of it, and so on, until they fit into what is free. Raises Skip where not even 1024 do.
    """
    asked = n
    while True:
        free = gpu.memory_bytes()[0]
        if n * n * sum(sizes) + _SPARE <= free:
            held: List[int] = []
            try:
                for size in sizes:
                    held.append(gpu.allocate(n * n * size))
                return n, held
            except CudaError as e:
                for address in held:
                    gpu.free(address)
                if e.code != _OUT_OF_MEMORY:
                    raise
        n = n // 128 * 64
        if n < min(_SMALLEST, asked):
            raise Skip("only %d MiB of the device's memory are free" % (free >> 20))


class Product:
    """C = A·B of one type in device memory. float8 has Aᵀ instead of A, and a bfloat16 result."""

    def __init__(self, bench: Bench, dtype: str, n: int, tf32: bool = False, results: int = 1) -> None:
        """`results`: how many places for a result there are. Raises Skip where it can't be had on this device."""
        gpu = self.gpu = bench.gpu
        _needs(gpu, "TF32" if tf32 else dtype)
        self.dtype, self.tf32, self.float8 = dtype, tf32, dtype == "float8"
        self.result_dtype = "bfloat16" if self.float8 else dtype
        (data_a, self._a), (data_b, self._b) = (random_block(dtype, seed) for seed in _SEEDS)
        size = SIZES[dtype]
        self.n, (self._at_a, self._at_b, *self.results) = matrices(
            gpu, n, [size, size] + results * [SIZES[self.result_dtype]]
        )
        try:
            gpu.spread(self._at_a, self.n * self.n * size, data_a)
            gpu.spread(self._at_b, self.n * self.n * size, data_b)
            blas = blas_of(bench)
            self.library: BlasLibrary = blas.light if self.float8 else blas.library
            self._multiply: Callable[[int], Any]
            if self.float8:
                plan = blas.float8(self.n)
                self._multiply = lambda c: plan.multiply(self._at_a, self._at_b, c)
            else:
                self._multiply = lambda c: blas.multiply(dtype, self.n, self._at_a, self._at_b, c, tf32)
        except BaseException:
            self.free()
            raise

    @property
    def result_bytes(self) -> int:
        """The size of a result."""
        return self.n * self.n * SIZES[self.result_dtype]

    def run(self, place: int = 0) -> None:
        """Queue it."""
        self._multiply(self.results[place])

    def judged(self, tolerance: float) -> Dict[str, Any]:
        """Run it into memory that holds no number, and compare 8 rows x 8 columns with float64.

        The error is in units of what an element is on average: sqrt(n) times the mean product.
        """
        gpu, n, size = self.gpu, self.n, SIZES[self.result_dtype]
        gpu.cuda.call("cuMemsetD8_v2", self.results[0], 0xFF, self.result_bytes)
        gpu.cuda.call("cuCtxSynchronize")
        self.run()
        gpu.wait()
        part = n // 8
        rows = [part * k + 37 * k % part for k in range(8)]
        columns = [part * k + 53 * k % part for k in range(8)]
        got = []
        for column in columns:
            data = gpu.get(self.results[0] + column * n * size, n * size)
            got.append(decoded(self.result_dtype, b"".join(data[r * size : (r + 1) * size] for r in rows)))
        exact = exact_products(self._a, self._b, n, rows, columns, self.float8)
        return judged_product(got, exact, mean_product(self._a, self._b, n), tolerance)

    def free(self) -> None:
        """Give the memory back."""
        for address in (self._at_a, self._at_b, *self.results):
            self.gpu.free(address)


def _needs(gpu: Gpu, what: str) -> None:
    """Raises Skip where the device has no tensor cores for it. Source: CUDA's programming guide, compute capabilities."""
    least = {"float16": (7, 0), "TF32": (8, 0), "bfloat16": (8, 0), "float8": (8, 9)}.get(what, (0, 0))
    has = gpu.capability()
    if has < least:
        raise Skip("%s needs a GPU of compute capability %d.%d or higher, this is %d.%d" % ((what,) + least + has))


def _measured(
    bench: Bench, dtype: str, n: int, queued: int, samples: int, tolerance: float, tf32: bool = False
) -> Dict[str, Any]:
    """TFLOP/s, 2 n^3 operations a product; the first run is told apart, then it runs until clocks are up."""
    product = Product(bench, dtype, n, tf32)
    try:
        started = time.perf_counter()
        product.run()
        bench.gpu.wait()
        warm, runs = time.perf_counter(), 1
        first_s = warm - started
        while runs < 2 or time.perf_counter() - warm < _WARM_S:
            product.run()
            bench.gpu.wait()
            runs += 1

        def work() -> None:
            for _ in range(queued):
                product.run()

        took = bench.times(work, samples)
        n = product.n
        done: Dict[str, Any] = {
            "samples": [2.0 * n**3 * queued / s / 1e12 for s in took],
            "unit": "TFLOP/s",
            "dtype": "tf32" if tf32 else dtype,
            "size": [n, n, n],
            "queued": queued,
            "warm_up": runs + queued,
            "first_s": first_s,
            "library": product.library.told(),
        }
        done.update(product.judged(tolerance or n * 2.0**-24))
        if dtype == "float32" and done["error"] is not None:
            done["rounded_to_tf32"] = done["error"] > _TF32_SHOWS
        return done
    finally:
        product.free()


def gemm_float32(bench: Bench, n: int, queued: int, samples: int) -> Dict[str, Any]:
    """float32 without TF32: allowed are the rounding errors of a float32 sum of n terms. `rounded_to_tf32`: the factors
    were, whatever was asked for (NVIDIA_TF32_OVERRIDE)."""
    return _measured(bench, "float32", n, queued, samples, 0.0)


def gemm_tf32(bench: Bench, n: int, queued: int, samples: int) -> Dict[str, Any]:
    """float32 in TF32: the factors have 10 bits. `rounded_to_tf32` false: the library did not (NVIDIA_TF32_OVERRIDE=0)."""
    return _measured(bench, "float32", n, queued, samples, 2.0**-7, tf32=True)


def gemm_float16(bench: Bench, n: int, queued: int, samples: int) -> Dict[str, Any]:
    """float16 summed in float32: the result has 10 bits."""
    return _measured(bench, "float16", n, queued, samples, 2.0**-7)


def gemm_bfloat16(bench: Bench, n: int, queued: int, samples: int) -> Dict[str, Any]:
    """bfloat16 summed in float32: the result has 7 bits."""
    return _measured(bench, "bfloat16", n, queued, samples, 2.0**-5)


def gemm_float8(bench: Bench, n: int, queued: int, samples: int) -> Dict[str, Any]:
    """float8 (e4m3) through cuBLASLt, the result in bfloat16."""
    return _measured(bench, "float8", n, queued, samples, 2.0**-5)
