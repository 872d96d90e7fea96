"""cuBLAS and cuBLASLt of the examined environment through ctypes: matrix products on the device.

Numbers of types, attributes and states are those of library_types.h, cublas_api.h and cublasLt.h of CUDA 12.9.
"""

import ctypes
import os
from ctypes import byref, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Dict, List, Optional, Tuple

from .bench import Bench
from .cuda import Absent
from .loaded import mapped_file
from .team import Skip
from .vendor import library_files, open_library

WORKSPACE = 32 << 20
"""Bytes of device memory that the library may use: what PyTorch gives it on Hopper, and what cuBLAS takes there by itself."""
_WHEEL = "nvidia-cublas-cu12"
_DATA_TYPES = {"float32": 0, "float16": 2, "bfloat16": 14, "float8": 28}
_COMPUTE_32F, _COMPUTE_TF32, _COMPUTE_OLD = 68, 77, 0
_TENSOR_OP_MATH, _DEFAULT_ALGORITHM, _TENSOR_OP_ALGORITHM = 1, -1, 99
_ARCH_MISMATCH, _NOT_SUPPORTED = 8, 15
_STATES = {
    1: "CUBLAS_STATUS_NOT_INITIALIZED",
    3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE",
    8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR",
    13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR",
    15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR",
}
_V, _I = c_void_p, c_int
_ARGUMENTS: Dict[str, List[Any]] = {
    "cublasGetProperty": [_I, _V],
    "cublasCreate_v2": [_V],
    "cublasSetStream_v2": [_V, _V],
    "cublasSetWorkspace_v2": [_V, _V, c_size_t],
    "cublasSetMathMode": [_V, _I],
    "cublasGemmEx": [_V] + [_I] * 5 + [_V] + [_V, _I, _I] * 2 + [_V] + [_V, _I, _I] + [_I, _I],
    "cublasLtGetProperty": [_I, _V],
    "cublasLtCreate": [_V],
    "cublasLtMatmulDescCreate": [_V, _I, _I],
    "cublasLtMatmulDescSetAttribute": [_V, _I, _V, c_size_t],
    "cublasLtMatrixLayoutCreate": [_V, _I, c_uint64, c_uint64, c_int64],
    "cublasLtMatmulPreferenceCreate": [_V],
    "cublasLtMatmulPreferenceSetAttribute": [_V, _I, _V, c_size_t],
    "cublasLtMatmulAlgoGetHeuristic": [_V] * 7 + [_I, _V, _V],
    "cublasLtMatmul": [_V] * 13 + [c_size_t, _V],
}


class BlasError(Exception):
    """A call that failed: 'cublasCreate answers 1, CUBLAS_STATUS_NOT_INITIALIZED'; `status` is the number."""

    def __init__(self, call: str, status: int, library: str) -> None:
        name = _STATES.get(status)
        Exception.__init__(self, "%s answers %d%s (%s)" % (call, status, ", " + name if name else "", library))
        self.status = status


class BlasLibrary:
    """A library of the family, its file and its version."""

    def __init__(self, library: Any, path: str, stem: str) -> None:
        """`stem`: 'cublas' or 'cublasLt'."""
        self._library, self.path = library, path
        numbers = []
        for which in range(3):
            value = c_int()
            self.call(stem + "GetProperty", which, byref(value))
            numbers.append(value.value)
        self.version = tuple(numbers)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function. Raises BlasError; Absent where this library does not have it."""
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise Absent("%s has no %s" % (self.path, name))
        function.argtypes = _ARGUMENTS[name]
        status = function(*arguments)
        if status:
            raise BlasError(name.partition("_v")[0], status, self.path)

    def told(self) -> Dict[str, str]:
        """The file and its version."""
        return {"path": self.path, "version": ".".join(map(str, self.version))}


def load_cublas() -> Tuple[BlasLibrary, BlasLibrary]:
    """cuBLAS, and the cuBLASLt of the same directory, which is loaded first: else the system's could serve a wheel's cuBLAS.

    Raises Absent.
    """
    for path in library_files("libcublas.so", "cublas")[:1]:
        beside = os.path.basename(path).replace("libcublas.so", "libcublasLt.so")
        try:
            ctypes.CDLL(os.path.join(os.path.dirname(path), beside), ctypes.RTLD_GLOBAL)
        except OSError:
            pass  # loading cuBLAS itself says what is missing
    library, path = open_library("libcublas.so", "cublas", _WHEEL)
    blas = BlasLibrary(library, path, "cublas")
    light_path = mapped_file("libcublasLt.so")
    if light_path is None:
        return blas, blas  # before CUDA 10.1 there was none
    return blas, BlasLibrary(ctypes.CDLL(light_path, ctypes.RTLD_GLOBAL), light_path, "cublasLt")


class Cublas:
    """A handle in the stream of a bench's only GPU, with a workspace of its own where the library can be given one.

    Making it takes about 0.3 s, so it is kept.
    """

    def __init__(self, bench: Bench) -> None:
        self.gpu = bench.gpu
        self.gpu.use()
        self.library, self.light = load_cublas()
        self._handle, self._one, self._zero = c_void_p(), c_float(1.0), c_float(0.0)
        self._light_handle: Optional[c_void_p] = None
        self.library.call("cublasCreate_v2", byref(self._handle))
        self.library.call("cublasSetStream_v2", self._handle, self.gpu.stream)
        self.workspace = self.gpu.allocate(WORKSPACE)
        try:
            self.library.call("cublasSetWorkspace_v2", self._handle, self.workspace, WORKSPACE)
        except Absent:
            pass  # before 11.2: it takes what it needs by itself

    def multiply(self, dtype: str, n: int, a: int, b: int, c: int, tf32: bool) -> None:
        """Queue C = A·B, n x n, column major, summed in float32. Raises Skip where this cuBLAS can't do it here."""
        old, half = self.library.version < (11,), dtype != "float32"
        if old and (tf32 or dtype == "bfloat16"):
            raise Skip("cuBLAS %s has no %s" % (self.library.told()["version"], "TF32" if tf32 else dtype))
        compute = _COMPUTE_OLD if old else _COMPUTE_TF32 if tf32 else _COMPUTE_32F
        kind = _DATA_TYPES[dtype]
        one, zero = byref(self._one), byref(self._zero)
        self.library.call("cublasSetMathMode", self._handle, _TENSOR_OP_MATH if old and half else 0)
        algorithm = _TENSOR_OP_ALGORITHM if half else _DEFAULT_ALGORITHM
        factors = (a, kind, n, b, kind, n)
        try:
            self.library.call(
                "cublasGemmEx", self._handle, 0, 0, n, n, n, one, *factors, zero, c, kind, n, compute, algorithm
            )
        except BlasError as e:
            if e.status in (_ARCH_MISMATCH, _NOT_SUPPORTED):
                raise Skip(str(e))
            raise

    def float8(self, n: int) -> "Float8":
        """What multiplies n x n matrices of float8. Raises Skip where this library can't on this device."""
        if self.light.version < (11, 8):
            raise Skip("cuBLASLt %s has no float8: 11.8 is the first" % self.light.told()["version"])
        if self._light_handle is None:
            self._light_handle = c_void_p()
            self.light.call("cublasLtCreate", byref(self._light_handle))
        return Float8(self, self._light_handle, n)


class _Found(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [
        ("algorithm", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int),
        ("waves", c_float),
        ("reserved", c_int * 4),
    ]


class Float8:
    """C = Aᵀ·B, A and B of e4m3, C of bfloat16, column major: the only layout that Ada and Hopper have for float8.

    The scales are one, which is what a library takes without a pointer. Partial sums are moved to float32 (no fast
    accumulation), as torch._scaled_mm does unless told otherwise. Source: cuBLAS's documentation, cublasLtMatmul.
    """

    def __init__(self, blas: Cublas, handle: c_void_p, n: int) -> None:
        self._blas, self._handle, self._one, self._zero = blas, handle, c_float(1.0), c_float(0.0)
        self._work, call = c_void_p(), blas.light.call
        call("cublasLtMatmulDescCreate", byref(self._work), _COMPUTE_32F, _DATA_TYPES["float32"])
        transposed = c_int(1)
        call("cublasLtMatmulDescSetAttribute", self._work, 3, byref(transposed), ctypes.sizeof(transposed))
        self._factor, self._result = c_void_p(), c_void_p()
        call("cublasLtMatrixLayoutCreate", byref(self._factor), _DATA_TYPES["float8"], n, n, n)
        call("cublasLtMatrixLayoutCreate", byref(self._result), _DATA_TYPES["bfloat16"], n, n, n)
        wish, room = c_void_p(), c_size_t(WORKSPACE)
        call("cublasLtMatmulPreferenceCreate", byref(wish))
        call("cublasLtMatmulPreferenceSetAttribute", wish, 1, byref(room), ctypes.sizeof(room))
        self._found, count = _Found(), c_int()
        layouts = (self._factor, self._factor, self._result, self._result)
        try:
            call(
                "cublasLtMatmulAlgoGetHeuristic",
                handle,
                self._work,
                *layouts,
                wish,
                1,
                byref(self._found),
                byref(count),
            )
        except BlasError as e:
            if e.status not in (_ARCH_MISMATCH, _NOT_SUPPORTED):
                raise
            raise Skip(str(e))
        if not count.value or self._found.state:
            raise Skip("cuBLASLt %s finds no way to multiply float8 here" % blas.light.told()["version"])

    def multiply(self, a: int, b: int, c: int) -> None:
        """Queue C = Aᵀ·B."""
        blas = self._blas
        factors = (a, self._factor, b, self._factor)
        results = (c, self._result, c, self._result)
        one, zero, how = byref(self._one), byref(self._zero), byref(self._found)
        blas.light.call(
            "cublasLtMatmul",
            self._handle,
            self._work,
            one,
            *factors,
            zero,
            *results,
            how,
            blas.workspace,
            WORKSPACE,
            blas.gpu.stream,
        )


def blas_of(bench: Bench) -> Cublas:
    """The handle of this process."""
    kept = bench.keep("cublas", lambda: Cublas(bench))
    assert isinstance(kept, Cublas)
    return kept
