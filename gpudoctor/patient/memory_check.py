"""Whether a device keeps what is written and computes the same again; and how long a launch takes.

The comparisons run on the device, in the kernels of ptx.py.
"""

import os
import struct
import time
from ctypes import c_uint64
from typing import Any, Dict, List, Optional, Tuple

from .bench import Bench
from .copies import round_trips
from .cuda import CudaError, Gpu
from .gemm import Product
from .ptx import UNIT, Units, pattern_bytes, units_of
from .team import Skip

_PIECE = 2 << 20
_FULL = 2
_INTEGRATED = 18
_INVERTED = (1 << 64) - 1
_THROUGH_HOST = 64 << 20


# ------------------------------------------------------------------------- memory


def memory_pattern(bench: Bench, size: int, samples: int) -> Dict[str, Any]:
    """Fill memory with a pattern of address and seed, compare it on the device, and again with every bit inverted.

    `size`: bytes, at most half of what is free, for others may want it (where the memory is the host's, at most 1 GiB). GB/s are those of reading
    and comparing, `samples` times for each pattern. `found` tells what differed; `error` is how many units of 16 bytes.
    """
    gpu = bench.gpu
    units, why = units_of(bench)
    size = min(size, gpu.memory_bytes()[0] // 2) // _PIECE * _PIECE
    if gpu.attribute(_INTEGRATED):
        size = min(size, 1 << 30)
    if size < _PIECE:
        raise Skip("less than %d MiB of the device's memory are free" % (_PIECE >> 20))
    chunks = _chunks(gpu, size if units else min(size, _THROUGH_HOST))
    try:
        if units is None:
            return _by_the_host(gpu, chunks[0], samples, why)
        return _by_the_device(bench, units, chunks, samples)
    finally:
        for address, _ in chunks:
            gpu.free(address)


def _chunks(gpu: Gpu, size: int) -> List[Tuple[int, int]]:
    """(address, bytes) of pieces that make up `size`, or as much of it as there is: in few pieces, where that can be."""
    chunks: List[Tuple[int, int]] = []
    left = piece = size
    while left:
        try:
            piece = min(piece, left)
            chunks.append((gpu.allocate(piece), piece))
            left -= piece
        except CudaError as e:
            if e.code != _FULL:
                raise
            piece = piece // 2 // _PIECE * _PIECE
            if not piece:
                break
    if not chunks:
        raise Skip("not even %d MiB of the device's memory could be had" % (_PIECE >> 20))
    return chunks


def _by_the_device(bench: Bench, units: Units, chunks: List[Tuple[int, int]], samples: int) -> Dict[str, Any]:
    gpu, size = bench.gpu, sum(length for _, length in chunks)
    (seed,) = struct.unpack("<Q", os.urandom(8))
    took: List[float] = []
    wrong, first, bits = 0, _INVERTED, 0
    for mask in (0, _INVERTED):
        unit = 0
        for address, length in chunks:
            units.fill(address, length, unit, seed, mask)
            unit += length // UNIT
        _try_the_comparison(gpu, units, chunks, seed, mask)
        units.forget()
        took += bench.times(lambda mask=mask: _check_all(units, chunks, seed, mask), samples)  # type: ignore[misc]
        count, at, which = units.found()
        wrong, first, bits = wrong + count, min(first, at), bits | which
    found = None
    if wrong:
        found = (
            "in %d readings %d units of 16 bytes were not what was written, the first at byte %d of %d (bits %#x)"
            % (
                2 * (samples + 1),
                wrong,
                first * UNIT,
                size,
                bits,
            )
        )
    return _memory_result([size / s / 1e9 for s in took], size, wrong, found, "the pattern, on the device")


def _check_all(units: Units, chunks: List[Tuple[int, int]], seed: int, mask: int) -> None:
    unit = 0
    for address, length in chunks:
        units.check(address, length, unit, seed, mask)
        unit += length // UNIT


def _try_the_comparison(gpu: Gpu, units: Units, chunks: List[Tuple[int, int]], seed: int, mask: int) -> None:
    """Flip a bit in the last unit of the last chunk: the comparison must see it, and nothing else there."""
    address, length = chunks[-1]
    last = (sum(size for _, size in chunks) - UNIT) // UNIT
    at = address + length - UNIT
    right = pattern_bytes(last, 1, seed, mask)
    gpu.wait()
    gpu.put(at, right[:-1] + bytes(bytearray([bytearray(right)[-1] ^ 0x10])))
    units.forget()
    units.check(at, UNIT, last, seed, mask)
    found = units.found()
    gpu.put(at, right)
    if found != (1, last, 0x10 << 56):
        raise RuntimeError("a bit was flipped on purpose, and the comparison on the device finds %s" % (found,))


def _by_the_host(gpu: Gpu, chunk: Tuple[int, int], samples: int, why: str) -> Dict[str, Any]:
    """A smaller part, written and read back by the host: both directions of the link are in the time."""
    address, size = chunk
    block = os.urandom((1 << 20) + 7)
    flipped = block.translate(bytes(bytearray(255 - i for i in range(256))))
    rates, wrong = [], 0
    for data in (block, flipped):
        whole = (data * (size // len(data) + 1))[:size]
        for _ in range(samples):
            started = time.perf_counter()
            gpu.put(address, whole)
            got = gpu.get(address, size)
            rates.append(size / (time.perf_counter() - started) / 1e9)
            if got != whole:
                wrong += sum(got[i : i + UNIT] != whole[i : i + UNIT] for i in range(0, size, UNIT))
    found = "%d units of 16 bytes did not come back as they were written" % wrong if wrong else None
    done = _memory_result(rates, size, wrong, found, "the data, on the host")
    done["by_host"] = why
    return done


def _memory_result(rates: List[float], size: int, wrong: int, found: Optional[str], against: str) -> Dict[str, Any]:
    return {
        "samples": rates,
        "unit": "GB/s",
        "dtype": "bytes",
        "size": [size],
        "queued": 1,
        "warm_up": 1,
        "verified": not wrong,
        "error": float(wrong),
        "tolerance": 0.0,
        "against": against,
        "found": found,
    }


# ------------------------------------------------------------------------- the same again


def repeat_matmul(bench: Bench, n: int, dtype: str, seconds: float) -> Dict[str, Any]:
    """The same product again and again for about `seconds`, each result compared with the first one, bit for bit.

    A healthy device never differs: "all cuBLAS API routines from a given toolkit version generate the same bit-wise results
    at every run when executed on GPUs with the same architecture and the same number of SMs", with one stream active, which
    is so here (cuBLAS's documentation, Results Reproducibility). Before each run the memory is filled with something else.
    The first result is compared with float64. TFLOP/s count the filling and the comparison in: it is no rate of its own.
    """
    gpu = bench.gpu
    units, why = units_of(bench)
    product = Product(bench, dtype, n, results=2)
    try:
        first = product.judged(product.n * 2.0**-24 if dtype == "float32" else 2.0**-7)
        product.run(1)
        once = gpu.times(lambda: product.run(1), 1)[0]
        bench.sampler.begin()
        try:
            if units is None:
                runs, wrong, took = _again_by_the_host(product, seconds)
            else:
                runs = max(2, min(1000, int(seconds / once)))
                took, wrong = _again(gpu, units, product, runs)
        finally:
            bench.watched = bench.sampler.end()
        done = dict(
            first,
            samples=[2.0 * product.n**3 * runs / took / 1e12],
            unit="TFLOP/s",
            dtype=dtype,
            size=[product.n] * 3,
            queued=runs,
            warm_up=3,
            verified=first["verified"] and not wrong,
            against="its first result, bit for bit; that one: " + first["against"],
            different=wrong,
            found="in %d runs %d parts differed from the first result" % (runs, wrong) if wrong else None,
            library=product.library.told(),
        )
        if units is None:
            done["by_host"] = why
        return done
    finally:
        product.free()


def _again(gpu: Gpu, units: Units, product: Product, runs: int) -> Tuple[float, int]:
    """Seconds, and how many units of 16 bytes differed in all runs."""
    one, other = product.results
    size = product.result_bytes

    def work() -> None:
        for number in range(runs):
            units.fill(other, size, 0, number)
            product.run(1)
            units.differ(one, other, size)

    _try_the_difference(gpu, units, product)
    units.forget()
    took = gpu.times(work, 1, warm_up=0)[0]
    return took, units.found()[0]


def _try_the_difference(gpu: Gpu, units: Units, product: Product) -> None:
    """One result and a pattern: nearly every unit must differ."""
    one, other = product.results
    size = product.result_bytes
    units.fill(other, size, 0, 1)
    units.forget()
    units.differ(one, other, size)
    if units.found()[0] < size // UNIT // 2:
        raise RuntimeError("the comparison on the device finds a result and a pattern alike")


def _again_by_the_host(product: Product, seconds: float) -> Tuple[int, int, float]:
    """Runs, how many of them differed, and seconds, where every result is read back."""
    gpu, size = product.gpu, product.result_bytes
    one, other = product.results
    kept, runs, wrong, started = gpu.get(one, size), 0, 0, time.perf_counter()
    while runs < 2 or time.perf_counter() - started < seconds:
        gpu.cuda.call("cuMemsetD8_v2", other, 0xFF, size)
        gpu.cuda.call("cuCtxSynchronize")
        product.run(1)
        gpu.wait()
        wrong += gpu.get(other, size) != kept
        runs += 1
    return runs, wrong, time.perf_counter() - started


# ------------------------------------------------------------------------- launches


def launch_latency(bench: Bench, samples: int) -> Dict[str, Any]:
    """An empty kernel, and the wait for it; `queued_us`: one launch of 1000 in a row, waited for once.

    Python's call is in both, a microsecond or two. That launches happen at all is shown by a kernel that counts them.
    """
    gpu = bench.gpu
    units, why = units_of(bench)
    if units is None:
        raise Skip(why)
    nothing = (units.function("nothing"), 1, 1, 1, 1, 1, 1, 0, gpu.stream, None, None)
    done = round_trips(lambda: gpu.cuda.call("cuLaunchKernel", *nothing), gpu.wait, samples)

    def thousand() -> None:
        for _ in range(1000):
            gpu.cuda.call("cuLaunchKernel", *nothing)

    done["queued_us"] = [s * 1e3 for s in gpu.times(thousand, samples)]
    units.forget()
    where = c_uint64(units.found_at)
    for _ in range(1000):
        gpu.launch(units.function("count"), 1, 1, [where])
    counted = units.found()[0]
    same = counted == 1000
    done.update({"dtype": "none", "size": [1], "verified": same, "error": abs(counted - 1000.0), "tolerance": 0.0})
    done["against"] = "the count of 1000 launches"
    return done
