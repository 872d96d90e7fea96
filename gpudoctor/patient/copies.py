"""Copies between host and device, inside a device and between two, timed by the device's own events.

Bytes are counted once. The data are random; every byte of a result on the host is compared, of one on a device both ends and the
middle. One copy must be long against what queues it.
"""

import ctypes
import mmap
import os
import time
from ctypes import c_void_p
from typing import Any, Callable, Dict, List, Optional

from .bench import Bench
from .cuda import CudaError, Gpu
from .near import far_cpus, move_to, near_cpus
from .team import Skip, turn


def _results(samples: List[float], size: int, queued: int, same: bool) -> Dict[str, Any]:
    """Rates in GB/s; `same`: the copy holds the data."""
    return {
        "samples": [size * queued / s / 1e9 for s in samples],
        "unit": "GB/s",
        "dtype": "bytes",
        "size": [size],
        "queued": queued,
        "warm_up": 1,
        "verified": same,
        "error": 0.0 if same else None,
        "tolerance": 0.0,
        "against": "the data themselves",
    }


class Pinned:
    """Two locked buffers of the host, the first full of random data, one of its ordinary memory, and one on the device."""

    def __init__(self, gpu: Gpu, size: int) -> None:
        self.gpu, self.size = gpu, size
        self._plain: Optional[mmap.mmap] = None
        self.full, self.empty, self.there = gpu.pinned(size), gpu.pinned(size), gpu.allocate(size)
        block, done = os.urandom(min(size, (1 << 20) + 4099)), 0
        ctypes.memmove(self.full, block, len(block))
        done = len(block)
        while done < size:
            length = min(done, size - done)
            ctypes.memmove(self.full + done, self.full, length)
            done += length

    def plain(self) -> int:
        """The address of ordinary memory, as numpy's arrays are, with the data."""
        if self._plain is None:
            self._plain = mmap.mmap(-1, self.size)
            ctypes.memmove(ctypes.addressof(ctypes.c_char.from_buffer(self._plain)), self.full, self.size)
        return ctypes.addressof(ctypes.c_char.from_buffer(self._plain))

    def forget_plain(self) -> None:
        """It does not hold the data any more."""
        self._plain = None

    def free(self) -> None:
        """Give all of it back."""
        self.forget_plain()
        self.gpu.free(self.there)
        self.gpu.free_pinned(self.full)
        self.gpu.free_pinned(self.empty)

    def clear(self) -> None:
        """Neither the other buffer nor the device holds the data."""
        ctypes.memset(self.empty, 0, self.size)
        self.gpu.cuda.call("cuMemsetD8_v2", self.there, 0, self.size)
        self.gpu.cuda.call("cuCtxSynchronize")

    def same(self) -> bool:
        """Whether both buffers of the host hold the same."""
        return same_bytes(self.full, self.empty, self.size)

    def forth(self, queued: int = 1) -> None:
        """Queue copies to the device."""
        for _ in range(queued):
            self.gpu.cuda.call("cuMemcpyHtoDAsync_v2", self.there, self.full, self.size, self.gpu.stream)

    def back(self, queued: int = 1) -> None:
        """Queue copies from the device."""
        for _ in range(queued):
            self.gpu.cuda.call("cuMemcpyDtoHAsync_v2", self.empty, self.there, self.size, self.gpu.stream)


def same_bytes(one: int, other: int, size: int) -> bool:
    """Whether two places in the host's memory hold the same."""
    compare = ctypes.CDLL(None).memcmp
    compare.argtypes, compare.restype = [c_void_p, c_void_p, ctypes.c_size_t], ctypes.c_int
    return bool(compare(one, other, size) == 0)


def prepare_copies(bench: Bench, size: int) -> Dict[str, Any]:
    """Lock the host's memory, beside the GPU where the machine tells which that is, and fill it: slow, and the same for all copies."""
    move_to(near_cpus(bench.gpu.identity()["pci_address"]))
    _pinned(bench, size).plain()
    return {"no_value": "it only prepares the copies"}


def _pinned(bench: Bench, size: int) -> Pinned:
    kept: Pinned = bench.keep("pinned", lambda: Pinned(bench.gpu, size))
    if kept.size != size:
        bench.let_go("pinned")
        kept.free()
        kept = bench.keep("pinned", lambda: Pinned(bench.gpu, size))
    return kept


def copy_host_to_device(bench: Bench, size: int, queued: int, samples: int) -> Dict[str, Any]:
    """Locked host memory -> device."""
    buffers = _pinned(bench, size)
    buffers.clear()
    with turn():
        took = bench.times(lambda: buffers.forth(queued), samples)
    buffers.back()
    bench.gpu.wait()
    return _results(took, size, queued, buffers.same())


def copy_device_to_host(bench: Bench, size: int, queued: int, samples: int) -> Dict[str, Any]:
    """Device -> locked host memory."""
    buffers = _pinned(bench, size)
    buffers.clear()
    buffers.forth()
    with turn():
        took = bench.times(lambda: buffers.back(queued), samples)
    return _results(took, size, queued, buffers.same())


def copy_from_far(bench: Bench, size: int, queued: int, samples: int) -> Dict[str, Any]:
    """Locked memory of another NUMA node than the GPU's -> device."""
    far = far_cpus(bench.gpu.identity()["pci_address"])
    if far is None:
        raise Skip("all of the host's memory is one NUMA node, or the machine does not tell")
    before = move_to(far)
    try:
        buffers = Pinned(bench.gpu, size)
        buffers.clear()
        with turn():
            took = bench.times(lambda: buffers.forth(queued), samples)
        buffers.back()
        bench.gpu.wait()
        same = buffers.same()
        buffers.free()
    finally:
        move_to(before)
    return _results(took, size, queued, same)


def copy_both_ways(bench: Bench, size: int, queued: int, samples: int) -> Dict[str, Any]:
    """Both directions at the same time, in two streams; the bytes of both are counted."""
    gpu, buffers = bench.gpu, _pinned(bench, size)
    buffers.clear()
    other, second = gpu.new_stream(), gpu.allocate(size)
    started, done = gpu.new_event(), gpu.new_event()
    gpu.cuda.call("cuMemcpyHtoDAsync_v2", second, buffers.full, size, gpu.stream)
    gpu.wait()

    def both() -> None:
        gpu.record(started)
        gpu.cuda.call("cuStreamWaitEvent", other, started, 0)
        for _ in range(queued):
            buffers.forth()
            gpu.cuda.call("cuMemcpyDtoHAsync_v2", buffers.empty, second, size, other)
        gpu.record(done, other)
        gpu.cuda.call("cuStreamWaitEvent", gpu.stream, done, 0)

    with turn():
        took = bench.times(both, samples)
    right = buffers.same()
    ctypes.memset(buffers.empty, 0, size)
    buffers.back()
    gpu.wait()
    gpu.free(second)
    return _results([t / 2 for t in took], size, queued, right and buffers.same())


def _pageable(bench: Bench, size: int, samples: int, back: bool) -> Dict[str, Any]:
    """Ordinary memory of the host, as numpy's arrays are: the driver copies it through buffers of its own. Timed by the host's clock."""
    gpu, buffers = bench.gpu, _pinned(bench, size)
    buffers.clear()
    here = buffers.plain()
    if back:
        gpu.cuda.call("cuMemcpyHtoD_v2", buffers.there, here, size)
        ctypes.memset(here, 0, size)
    call = "cuMemcpyDtoH_v2" if back else "cuMemcpyHtoD_v2"
    arguments = (here, buffers.there, size) if back else (buffers.there, here, size)
    took = []
    with turn():
        bench.sampler.begin()
        for number in range(1 + samples):
            started = time.perf_counter()
            gpu.cuda.call(call, *arguments)
            gpu.cuda.call("cuCtxSynchronize")
            if number:
                took.append(time.perf_counter() - started)
        bench.watched = bench.sampler.end()
    if back:
        right = same_bytes(here, buffers.full, size)
        if not right:
            buffers.forget_plain()
    else:
        buffers.back()
        gpu.wait()
        right = buffers.same()
    return _results(took, size, 1, right)


def copy_host_to_device_pageable(bench: Bench, size: int, samples: int) -> Dict[str, Any]:
    """Ordinary host memory -> device."""
    return _pageable(bench, size, samples, back=False)


def copy_device_to_host_pageable(bench: Bench, size: int, samples: int) -> Dict[str, Any]:
    """Device -> ordinary host memory."""
    return _pageable(bench, size, samples, back=True)


def copy_inside(bench: Bench, size: int, queued: int, samples: int) -> Dict[str, Any]:
    """From one place of a device's memory to another. Bytes are counted once, and are read as well as written."""
    gpu = bench.gpu
    first, second = gpu.allocate(size), gpu.allocate(size)
    try:
        block = os.urandom((1 << 20) + 4099)
        gpu.spread(first, size, block)

        def copy() -> None:
            for _ in range(queued):
                gpu.cuda.call("cuMemcpyDtoDAsync_v2", second, first, size, gpu.stream)

        took = bench.times(copy, samples)
        return _results(took, size, queued, _ends(gpu, first, size) == _ends(gpu, second, size))
    finally:
        gpu.free(first)
        gpu.free(second)


_PIECES = 4 << 20


def _ends(gpu: Gpu, address: int, size: int) -> bytes:
    """The first, the middle and the last 4 MiB."""
    length = min(_PIECES, size)
    return b"".join(gpu.get(address + at, length) for at in (0, (size - length) // 2, size - length))


def copy_pair(
    bench: Bench, first: int, second: int, size: int, queued: int, samples: int, peer: bool
) -> Dict[str, Any]:
    """From the first GPU to the second. `peer`: the second reads the first one's memory itself; else the driver has
    the data go through the host."""
    source, target = bench.of(first), bench.of(second)
    target.use()
    if peer:
        _reach(target, source)
    block = os.urandom((1 << 20) + 4099)
    source.use()
    here = _end_of_pair(bench, source, size)
    source.spread(here, size, block)
    target.use()
    there = _end_of_pair(bench, target, size)
    target.cuda.call("cuMemsetD8_v2", there, 0, size)
    target.cuda.call("cuCtxSynchronize")

    def copy() -> None:
        for _ in range(queued):
            if peer:
                target.cuda.call("cuMemcpyDtoDAsync_v2", there, here, size, target.stream)
            else:
                target.cuda.call("cuMemcpyPeerAsync", there, target.context, here, source.context, size, target.stream)

    took = target.times(copy, samples)
    got = _ends(target, there, size)
    if peer:
        target.cuda.call("cuCtxDisablePeerAccess", source.context)
    source.use()
    return _results(took, size, queued, got == _ends(source, here, size))


def _end_of_pair(bench: Bench, gpu: Gpu, size: int) -> int:
    """Memory of the GPU whose context is the current one: either end of all its pairs."""
    name = _END_OF_PAIR % gpu.ordinal
    address, kept = bench.keep(name, lambda: (gpu.allocate(size), size))
    if kept != size:
        bench.let_go(name)
        gpu.free(address)
        address, _ = bench.keep(name, lambda: (gpu.allocate(size), size))
    return int(address)


_END_OF_PAIR = "pair %d"


def let_pairs_go(bench: Bench) -> None:
    """Give back what the pairs were measured with."""
    for gpu in bench.opened():
        kept = bench.let_go(_END_OF_PAIR % gpu.ordinal)
        if kept is not None:
            gpu.use()
            gpu.free(kept[0])


_ALREADY = 704


def _reach(target: Gpu, source: Gpu) -> None:
    """Let the current context read another GPU's memory. Raises Skip where the driver says that it can't."""
    can = ctypes.c_int()
    target.cuda.call("cuDeviceCanAccessPeer", ctypes.byref(can), target.device, source.device)
    if not can.value:
        raise Skip("the driver does not let GPU %d read the memory of GPU %d" % (target.ordinal, source.ordinal))
    try:
        target.cuda.call("cuCtxEnablePeerAccess", source.context, 0)
    except CudaError as e:
        if e.code != _ALREADY:
            raise


# ----------------------------------------------------------------------------- latencies


def round_trips(work: Callable[[], Any], wait: Callable[[], Any], samples: int) -> Dict[str, Any]:
    """Microseconds from the call to the end of the wait for it, each sample the median of 200."""
    medians = []
    with turn():
        for number in range(1 + samples):
            took = []
            for _ in range(200):
                started = time.perf_counter()
                work()
                wait()
                took.append(time.perf_counter() - started)
            if number:
                medians.append(sorted(took)[100] * 1e6)
    return {"samples": medians, "unit": "us", "warm_up": 200, "queued": 1}


def copy_latency(bench: Bench, samples: int) -> Dict[str, Any]:
    """Four bytes to the device, and the wait for it: what a small copy costs. One call of ctypes is in it, about a microsecond."""
    gpu = bench.gpu
    here, there, word = gpu.pinned(4096), gpu.allocate(4096), os.urandom(4)
    try:
        ctypes.memmove(here, word, 4)
        done = round_trips(lambda: gpu.cuda.call("cuMemcpyHtoDAsync_v2", there, here, 4, gpu.stream), gpu.wait, samples)
        same = gpu.get(there, 4) == word
    finally:
        gpu.free(there)
        gpu.free_pinned(here)
    done.update({"dtype": "bytes", "size": [4], "verified": same, "error": 0.0 if same else None})
    done.update({"tolerance": 0.0, "against": "the data themselves"})
    return done
