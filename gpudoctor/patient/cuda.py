"""The CUDA driver API through ctypes: devices, memory, streams, events, modules. Only libcuda is needed.

Every call that fails raises `CudaError`; a function that this libcuda does not have raises `Absent`.
"""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any, Callable, Dict, List, Optional, Tuple


class Absent(Exception):  # noqa: N818
    """What is needed is not here; the text says what, and how it can be had."""


class CudaError(Exception):
    """A call that failed: 'cuMemAlloc answers 2, CUDA_ERROR_OUT_OF_MEMORY'."""

    def __init__(self, call: str, code: int, name: str) -> None:
        Exception.__init__(self, "%s answers %d%s" % (call, code, ", " + name if name else ""))
        self.call, self.code = call, code


_P, _H = c_uint64, c_void_p  # a device address, a handle
_SIGNATURES: Dict[str, List[Any]] = {
    "cuInit": [c_uint],
    "cuDeviceGet": [_H, c_int],
    "cuDeviceGetCount": [_H],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetUuid": [_H, c_int],
    "cuDeviceGetPCIBusId": [c_char_p, c_int, c_int],
    "cuDeviceGetAttribute": [_H, c_int, c_int],
    "cuDeviceCanAccessPeer": [_H, c_int, c_int],
    "cuDevicePrimaryCtxRetain": [_H, c_int],
    "cuCtxSetCurrent": [_H],
    "cuCtxSynchronize": [],
    "cuCtxEnablePeerAccess": [_H, c_uint],
    "cuCtxDisablePeerAccess": [_H],
    "cuMemGetInfo_v2": [_H, _H],
    "cuMemAlloc_v2": [_H, c_size_t],
    "cuMemFree_v2": [_P],
    "cuMemHostAlloc": [_H, c_size_t, c_uint],
    "cuMemFreeHost": [_H],
    "cuMemcpyHtoDAsync_v2": [_P, _H, c_size_t, _H],
    "cuMemcpyDtoHAsync_v2": [_H, _P, c_size_t, _H],
    "cuMemcpyDtoDAsync_v2": [_P, _P, c_size_t, _H],
    "cuMemcpyHtoD_v2": [_P, _H, c_size_t],
    "cuMemcpyDtoH_v2": [_H, _P, c_size_t],
    "cuMemcpyDtoD_v2": [_P, _P, c_size_t],
    "cuMemcpyPeerAsync": [_P, _H, _P, _H, c_size_t, _H],
    "cuMemsetD8_v2": [_P, ctypes.c_ubyte, c_size_t],
    "cuStreamCreate": [_H, c_uint],
    "cuStreamSynchronize": [_H],
    "cuStreamWaitEvent": [_H, _H, c_uint],
    "cuEventCreate": [_H, c_uint],
    "cuEventRecord": [_H, _H],
    "cuEventSynchronize": [_H],
    "cuEventElapsedTime": [_H, _H, _H],
    "cuModuleLoadData": [_H, c_char_p],
    "cuModuleGetFunction": [_H, _H, c_char_p],
    "cuLaunchKernel": [_H] + [c_uint] * 7 + [_H, _H, _H],
    "cuStreamBeginCapture_v2": [_H, c_int],
    "cuStreamEndCapture": [_H, _H],
    "cuGraphInstantiateWithFlags": [_H, _H, c_uint64],
    "cuGraphUpload": [_H, _H],
    "cuGraphLaunch": [_H, _H],
    "cuGraphExecDestroy": [_H],
    "cuGraphDestroy": [_H],
}
_NON_BLOCKING, _PORTABLE = 1, 1
_MULTIPROCESSORS, _CC_MAJOR, _CC_MINOR = 16, 75, 76


class Cuda:
    """libcuda after cuInit. Raises `Absent` where the loader finds none, CudaError where cuInit fails."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as e:
            raise Absent(str(e))
        self._functions: Dict[str, Any] = {}
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver API, by its name with the version in it."""
        function = self._functions.get(name)
        if function is None:
            try:
                function = getattr(self._library, name)
            except AttributeError:
                raise Absent("this libcuda has no %s" % name)
            function.argtypes = _SIGNATURES[name]
            self._functions[name] = function
        result = function(*arguments)
        if result:
            raise CudaError(name.partition("_v")[0], result, self._name(result))

    def _name(self, result: int) -> str:
        text = c_char_p()
        try:
            self._library.cuGetErrorName(result, byref(text))
        except AttributeError:
            pass
        return (text.value or b"").decode("utf-8", "replace")

    def count(self) -> int:
        """How many devices this process sees."""
        count = c_int()
        self.call("cuDeviceGetCount", byref(count))
        return count.value


class Gpu:
    """One device, its primary context, and a stream of our own in it."""

    def __init__(self, cuda: Cuda, ordinal: int) -> None:
        self.cuda, self.ordinal, handle = cuda, ordinal, c_int()
        cuda.call("cuDeviceGet", byref(handle), ordinal)
        self.device = handle.value
        self.context: Optional[c_void_p] = None
        self.stream: Optional[c_void_p] = None
        self._held: Dict[int, int] = {}
        self.peak_bytes = 0

    def open(self) -> "Gpu":
        """Make its context, and make it the current one."""
        context = c_void_p()
        self.cuda.call("cuDevicePrimaryCtxRetain", byref(context), self.device)
        self.context = context
        self.use()
        self.stream = self.new_stream()
        return self

    def use(self) -> None:
        """Make its context the current one of this thread."""
        self.cuda.call("cuCtxSetCurrent", self.context)

    # ------------------------------------------------------------------------- what it is

    def identity(self) -> Dict[str, Any]:
        """Name, PCI address, and what CUDA_VISIBLE_DEVICES calls it."""
        name, bus = ctypes.create_string_buffer(256), ctypes.create_string_buffer(32)
        self.cuda.call("cuDeviceGetName", name, 256, self.device)
        self.cuda.call("cuDeviceGetPCIBusId", bus, 32, self.device)
        uuid = (ctypes.c_ubyte * 16)()
        self.cuda.call("cuDeviceGetUuid", uuid, self.device)
        h, model = bytes(bytearray(uuid)).hex(), name.value.decode("utf-8", "replace")
        kind = "MIG" if " MIG " in model else "GPU"
        return {
            "name": model,
            "pci_address": bus.value.decode("ascii", "replace").lower()[-12:],
            "uuid": "%s-%s-%s-%s-%s-%s" % (kind, h[:8], h[8:12], h[12:16], h[16:20], h[20:]),
        }

    def attribute(self, number: int) -> int:
        """A CUdevice_attribute."""
        value = c_int()
        self.cuda.call("cuDeviceGetAttribute", byref(value), number, self.device)
        return value.value

    def capability(self) -> Tuple[int, int]:
        """Its compute capability."""
        return self.attribute(_CC_MAJOR), self.attribute(_CC_MINOR)

    def multiprocessors(self) -> int:
        """How many it has."""
        return self.attribute(_MULTIPROCESSORS)

    def memory_bytes(self) -> Tuple[int, int]:
        """Free and total."""
        free, total = c_size_t(), c_size_t()
        self.cuda.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value, total.value

    # ------------------------------------------------------------------------- memory

    def allocate(self, size: int) -> int:
        """Device memory of `size` bytes; its address."""
        address = c_uint64()
        self.cuda.call("cuMemAlloc_v2", byref(address), size)
        self._held[address.value] = size
        self.peak_bytes = max(self.peak_bytes, sum(self._held.values()))
        return address.value

    def free(self, address: int) -> None:
        """Give device memory back."""
        self.cuda.call("cuMemFree_v2", address)
        self._held.pop(address, None)

    def forget_peak(self) -> None:
        """From now on the peak is counted anew."""
        self.peak_bytes = sum(self._held.values())

    def pinned(self, size: int) -> int:
        """Host memory of `size` bytes that is locked in its place, for all contexts; its address."""
        address = c_void_p()
        self.cuda.call("cuMemHostAlloc", byref(address), size, _PORTABLE)
        return address.value or 0

    def free_pinned(self, address: int) -> None:
        """Give locked host memory back."""
        self.cuda.call("cuMemFreeHost", address)

    def put(self, address: int, data: bytes) -> None:
        """Copy `data` to the device, and wait for it: the driver returns as soon as ordinary memory is staged."""
        self.cuda.call("cuMemcpyHtoD_v2", address, ctypes.cast(c_char_p(data), c_void_p), len(data))
        self.cuda.call("cuCtxSynchronize")

    def get(self, address: int, size: int) -> bytes:
        """`size` bytes of the device's memory."""
        kept = ctypes.create_string_buffer(size)
        self.cuda.call("cuMemcpyDtoH_v2", ctypes.cast(kept, c_void_p), address, size)
        return kept.raw

    def spread(self, address: int, size: int, block: bytes) -> None:
        """Fill `size` bytes with `block`, again and again: sent once, doubled on the device."""
        done = min(len(block), size)
        self.put(address, block[:done])
        while done < size:
            length = min(done, size - done)
            self.cuda.call("cuMemcpyDtoD_v2", address + done, address, length)
            done += length
        self.cuda.call("cuCtxSynchronize")

    # ------------------------------------------------------------------------- time

    def new_stream(self) -> c_void_p:
        """A stream of the current context that waits for no other."""
        stream = c_void_p()
        self.cuda.call("cuStreamCreate", byref(stream), _NON_BLOCKING)
        return stream

    def new_event(self) -> c_void_p:
        """An event of the current context."""
        event = c_void_p()
        self.cuda.call("cuEventCreate", byref(event), 0)
        return event

    def record(self, event: c_void_p, stream: Optional[c_void_p] = None) -> None:
        """Note the time when the stream (ours, where none is named) comes here."""
        self.cuda.call("cuEventRecord", event, stream or self.stream)

    def between(self, begin: c_void_p, end: c_void_p) -> float:
        """Seconds between two events; waits for the second."""
        self.cuda.call("cuEventSynchronize", end)
        took = c_float()
        self.cuda.call("cuEventElapsedTime", byref(took), begin, end)
        return took.value / 1e3

    def wait(self) -> None:
        """Wait until our stream is done."""
        self.cuda.call("cuStreamSynchronize", self.stream)

    def times(self, work: Callable[[], Any], samples: int, warm_up: int = 1) -> List[float]:
        """Seconds on the device that `work`, which queues something in our stream, takes; one for each sample."""
        begin, end, took = self.new_event(), self.new_event(), []
        for number in range(warm_up + samples):
            self.record(begin)
            work()
            self.record(end)
            seconds = self.between(begin, end)
            if number >= warm_up:
                took.append(seconds)
        return took

    # ------------------------------------------------------------------------- kernels

    def load(self, text: bytes) -> c_void_p:
        """A module from PTX, which the driver compiles; NUL-terminated by ctypes."""
        module = c_void_p()
        self.cuda.call("cuModuleLoadData", byref(module), text)
        return module

    def function(self, module: c_void_p, name: str) -> c_void_p:
        """A kernel of a module."""
        function = c_void_p()
        self.cuda.call("cuModuleGetFunction", byref(function), module, name.encode())
        return function

    def launch(self, function: c_void_p, blocks: int, threads: int, arguments: List[Any]) -> None:
        """Queue a kernel in our stream; `arguments` are ctypes objects."""
        packed = (c_void_p * max(1, len(arguments)))(*[ctypes.addressof(a) for a in arguments])
        self.cuda.call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, self.stream, packed, None)
