"""The element types of matrices without numpy: random values and their bytes, and products in float64 to compare with."""

import math
import random
import struct
from array import array
from functools import lru_cache
from operator import mul
from typing import Any, Dict, List, Sequence, Tuple

BLOCK = 65521
"""Elements of a block of random data: a prime, so that the columns of a matrix that is filled with it again and again differ."""
SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
"""Bytes of an element. float8 is e4m3: 4 bits of exponent, 3 of mantissa."""


def _e4m3_value(code: int) -> float:
    """What a byte of e4m3 means: bias 7, no infinity, 0x7f and 0xff are no number. Source: arXiv 2209.05433, table 1."""
    sign, exponent, mantissa = -1.0 if code & 0x80 else 1.0, code >> 3 & 15, code & 7
    if code & 0x7F == 0x7F:
        return float("nan")
    if exponent == 0:
        return sign * math.ldexp(mantissa, -9)
    return sign * math.ldexp(8 + mantissa, exponent - 10)


_FINE = 4096
"""Steps of the table that rounds to e4m3: an eighth of its smallest spacing, 2^-9, for values in ±0.5."""


def _e4m3_table() -> bytes:
    """The nearest code of each 4096th from -0.5 to 0.5."""
    codes = sorted((c for c in range(256) if c not in (0x7F, 0x80, 0xFF)), key=_e4m3_value)
    values, table, at = [_e4m3_value(c) for c in codes], bytearray(), 0
    for step in range(_FINE + 1):
        value = (step + 0.5) / _FINE - 0.5
        while at + 1 < len(values) and abs(values[at + 1] - value) <= abs(values[at] - value):
            at += 1
        table.append(codes[at])
    return bytes(table)


def encoded(dtype: str, values: Sequence[float]) -> bytes:
    """Their bytes, little endian. float16 is rounded, bfloat16 is a float32 cut in two; float8 is for values in ±0.5."""
    if dtype == "float16":
        return struct.pack("<%de" % len(values), *values)
    if dtype == "float8":
        table = _e4m3_table()
        return bytes(bytearray(table[int((v + 0.5) * _FINE)] for v in values))
    data = struct.pack("<%df" % len(values), *values)
    if dtype == "float32":
        return data
    half = bytearray(len(data) // 2)
    half[0::2], half[1::2] = data[2::4], data[3::4]
    return bytes(half)


def decoded(dtype: str, data: bytes) -> List[float]:
    """The values that these bytes are."""
    if dtype == "float16":
        return list(struct.unpack("<%de" % (len(data) // 2), data))
    if dtype == "float8":
        values = [_e4m3_value(code) for code in range(256)]
        return [values[code] for code in bytearray(data)]
    if dtype == "bfloat16":
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
        data = bytes(wide)
    return list(struct.unpack("<%df" % (len(data) // 4), data))


@lru_cache(maxsize=None)
def random_block(dtype: str, seed: int) -> Tuple[bytes, "array[float]"]:
    """Random numbers in ±0.5: the bytes of a block, and the values as the type has them."""
    draw = random.Random(seed).random
    data = encoded(dtype, [draw() - 0.5 for _ in range(BLOCK)])
    return data, array("d", decoded(dtype, data))


def exact_products(
    a: Sequence[float], b: Sequence[float], n: int, rows: Sequence[int], columns: Sequence[int], transposed: bool
) -> List[List[float]]:
    """Elements of A·B in float64, a list for each column. Element (i, k) of A is a[(i + k n) mod len(a)], column major; with
    `transposed` it is a[(i n + k) mod len(a)]. Element (k, j) of B is b[(k + j n) mod len(b)]. At most len(b) terms."""
    if transposed:
        left = [_stretch(a, i * n, n) for i in rows]
    else:
        length = len(a)
        left = [[a[k % length] for k in range(i, i + n * n, n)] for i in rows]
    right = [_stretch(b, j * n, n) for j in columns]
    return [[sum(map(mul, row, column)) for row in left] for column in right]


def _stretch(values: Sequence[float], start: int, length: int) -> List[float]:
    at = start % len(values)
    got = list(values[at : at + length])
    return got + list(values[: length - len(got)])


def judged_product(got: List[List[float]], exact: List[List[float]], scale: float, tolerance: float) -> Dict[str, Any]:
    """The largest error in units of `scale`, and whether all is finite and within `tolerance`."""
    errors = [abs(x - y) / scale for one, other in zip(got, exact) for x, y in zip(one, other)]
    finite = bool(errors) and all(math.isfinite(e) for e in errors)
    error = max(errors) if finite else None
    return {
        "error": error,
        "tolerance": tolerance,
        "verified": error is not None and error <= tolerance,
        "against": "float64, %d elements" % len(errors),
    }


def mean_product(a: Sequence[float], b: Sequence[float], n: int) -> float:
    """What an element of a product of n terms is on average: sqrt(n) times the mean product."""
    return math.sqrt(n) * math.fsum(map(abs, a)) / len(a) * math.fsum(map(abs, b)) / len(b)
