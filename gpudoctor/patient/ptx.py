"""Small kernels of our own, written in PTX, which the driver compiles: patterns in memory, comparisons, nothing at all.

A unit is 16 bytes, what one thread reads or writes at a time.
"""

import struct
from ctypes import c_uint64
from typing import Any, List, Optional, Tuple

from .bench import Bench
from .cuda import CudaError, Gpu

UNIT = 16
_ODD, _MIX, _ALL = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, (1 << 64) - 1

_LOOP = """
.visible .entry %(name)s(%(parameters)s)
{
  .reg .pred %%over, %%same;
  .reg .b32 %%block, %%threads, %%thread, %%blocks;
  .reg .b64 %%i, %%step, %%at, %%x, %%y, %%u, %%v;
  .reg .b64 %(registers)s;
%(loads)s
  mov.u32 %%block, %%ctaid.x;
  mov.u32 %%threads, %%ntid.x;
  mov.u32 %%thread, %%tid.x;
  mov.u32 %%blocks, %%nctaid.x;
  mul.wide.u32 %%i, %%block, %%threads;
  cvt.u64.u32 %%x, %%thread;
  add.u64 %%i, %%i, %%x;
  mul.wide.u32 %%step, %%blocks, %%threads;
NEXT:
  setp.ge.u64 %%over, %%i, %%units;
  @%%over bra DONE;
  shl.b64 %%at, %%i, 4;
%(body)s
AGAIN:
  add.u64 %%i, %%i, %%step;
  bra NEXT;
DONE:
  ret;
}
"""
_PATTERN = """
  add.u64 %%x, %%first, %%i;
  mul.lo.u64 %%x, %%x, %d;
  add.u64 %%x, %%x, %%seed;
  shr.u64 %%y, %%x, 29;
  xor.b64 %%y, %%y, %%x;
  mul.lo.u64 %%y, %%y, %d;
  xor.b64 %%x, %%x, %%mask;
  xor.b64 %%y, %%y, %%mask;
  add.u64 %%at, %%at, %%memory;""" % (_ODD - (1 << 64), _MIX - (1 << 64))
_WRITE = """
  st.global.v2.u64 [%at], {%x, %y};"""
_READ = """
  ld.global.v2.u64 {%u, %v}, [%at];"""
_READ_BOTH = """
  add.u64 %x, %at, %memory;
  ld.global.v2.u64 {%u, %v}, [%x];
  add.u64 %at, %at, %other;
  ld.global.v2.u64 {%x, %y}, [%at];"""
_COMPARE = """
  xor.b64 %u, %u, %x;
  xor.b64 %v, %v, %y;
  or.b64 %u, %u, %v;
  setp.eq.u64 %same, %u, 0;
  @%same bra AGAIN;
  add.u64 %x, %first, %i;
  red.global.add.u64 [%found], 1;
  red.global.min.u64 [%found+8], %x;
  red.global.or.b64 [%found+16], %u;"""
_SIMPLE = """
.visible .entry nothing()
{
  ret;
}

.visible .entry count(.param .u64 p_found)
{
  .reg .b64 %found;
  ld.param.u64 %found, [p_found];
  red.global.add.u64 [%found], 1;
  ret;
}
"""


def _loop(name: str, body: str, parameters: List[str]) -> str:
    return _LOOP % {
        "name": name,
        "parameters": ", ".join(".param .u64 p_" + p for p in parameters),
        "registers": ", ".join("%" + p for p in parameters),
        "loads": "\n".join("  ld.param.u64 %%%s, [p_%s];" % (p, p) for p in parameters),
        "body": body.strip("\n"),
    }


def ptx_text(version: str, target: str) -> str:
    """The kernels for a version of PTX and a target: 'fill', 'check', 'differ', 'count' and 'nothing'."""
    pattern = ["memory", "units", "first", "seed", "mask"]
    return "\n".join(
        [
            ".version %s\n.target %s\n.address_size 64" % (version, target),
            _loop("fill", _PATTERN + _WRITE, pattern),
            _loop("check", _PATTERN + _READ + _COMPARE, [*pattern, "found"]),
            _loop("differ", _READ_BOTH + _COMPARE, ["memory", "units", "other", "first", "found"]),
            _SIMPLE,
        ]
    )


def pattern_bytes(first: int, units: int, seed: int, mask: int) -> bytes:
    """What 'fill' writes from the unit `first` on."""
    words = []
    for i in range(first, first + units):
        x = (i * _ODD + seed) & _ALL
        y = ((x ^ x >> 29) * _MIX) & _ALL
        words += [x ^ mask, y ^ mask]
    return struct.pack("<%dQ" % len(words), *words)


_NEWEST = (
    ((12, 1), "8.8"),
    ((12, 0), "8.7"),
    ((11, 0), "9.0"),
    ((10, 3), "8.8"),
    ((10, 0), "8.6"),
    ((8, 9), "7.8"),
    ((8, 6), "7.1"),
    ((8, 0), "7.0"),
    ((7, 5), "6.3"),
    ((5, 0), "6.0"),
)
"""Which version of PTX first knows a device. Source: PTX ISA, release notes."""
_REFUSED = (200, 209, 218, 221, 222, 223)
"""The driver does not compile it: invalid image, no binary, invalid PTX, no compiler, unknown version, told not to."""


class Units:
    """Our kernels on a device, and three words in which they tell what they found."""

    def __init__(self, gpu: Gpu) -> None:
        """Raises CudaError where the driver does not compile them."""
        self._gpu, capability = gpu, gpu.capability()
        own = [v for least, v in _NEWEST if capability >= least][:1]
        targets = [("6.0", "sm_50")] + [(v, "sm_%d%d" % capability) for v in own]
        module: Any = None
        for number, (version, target) in enumerate(targets):
            try:
                module = gpu.load(ptx_text(version, target).encode())
                break
            except CudaError as e:
                if number == len(targets) - 1 or e.code not in _REFUSED:
                    raise
        self._blocks = 8 * gpu.multiprocessors()
        self._functions = {n: gpu.function(module, n) for n in ("fill", "check", "differ", "count", "nothing")}
        self.found_at = gpu.allocate(256)
        self.forget()

    def function(self, name: str) -> Any:
        """A kernel."""
        return self._functions[name]

    def _each(self, name: str, units: int, arguments: List[int]) -> None:
        blocks = max(1, min(self._blocks, (units + 255) // 256))
        self._gpu.launch(self._functions[name], blocks, 256, [c_uint64(a) for a in arguments])

    def fill(self, memory: int, size: int, first: int, seed: int, mask: int = 0) -> None:
        """Queue: write the pattern into `size` bytes (whole units), which are those from the unit `first` on."""
        self._each("fill", size // UNIT, [memory, size // UNIT, first, seed, mask])

    def check(self, memory: int, size: int, first: int, seed: int, mask: int = 0) -> None:
        """Queue: compare `size` bytes with the pattern."""
        self._each("check", size // UNIT, [memory, size // UNIT, first, seed, mask, self.found_at])

    def differ(self, memory: int, other: int, size: int) -> None:
        """Queue: compare `size` bytes in two places."""
        self._each("differ", size // UNIT, [memory, size // UNIT, other, 0, self.found_at])

    def forget(self) -> None:
        """Nothing was found so far. Waits."""
        self._gpu.put(self.found_at, struct.pack("<3Q", 0, _ALL, 0))

    def found(self) -> Tuple[int, int, int]:
        """How many units differed since it was last forgotten, the first one, and the bits that did. Waits."""
        self._gpu.wait()
        count, first, bits = struct.unpack("<3Q", self._gpu.get(self.found_at, 24))
        return count, first, bits


def units_of(bench: Bench) -> Tuple[Optional[Units], str]:
    """Our kernels on the only device; None, with the reason, where this driver does not compile them."""

    def make() -> Tuple[Optional[Units], str]:
        try:
            return Units(bench.gpu), ""
        except CudaError as e:
            if e.code not in _REFUSED:
                raise
            return None, "the driver compiles no PTX here: %s" % e

    kept = bench.keep("ptx", make)
    return kept[0], kept[1]
