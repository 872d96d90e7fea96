"""Runs PTX: the few instructions that our kernels use, one thread after another. Anything else is an error."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

WIDE, NARROW = (1 << 64) - 1, (1 << 32) - 1
_ENTRY = re.compile(r"\.visible \.entry (\w+)\(([^)]*)\)\s*\{(.*?)\n\}", re.DOTALL)
_BINARY: dict[str, Callable[[int, int], int]] = {
    "add.u64": lambda x, y: x + y,
    "mul.lo.u64": lambda x, y: x * y,
    "xor.b64": lambda x, y: x ^ y,
    "or.b64": lambda x, y: x | y,
    "shl.b64": lambda x, y: x << y,
    "shr.u64": lambda x, y: x >> y,
}
_REDUCE: dict[str, Callable[[int, int], int]] = {
    "red.global.add.u64": lambda x, y: x + y,
    "red.global.min.u64": min,
    "red.global.or.b64": lambda x, y: x | y,
}


class Machine:
    """A device with the kernels of a text; `memory` begins at the address 0."""

    def __init__(self, text: str) -> None:
        self.memory = bytearray()
        self._kernels: dict[str, tuple[list[str], list[str]]] = {}
        for name, parameters, body in _ENTRY.findall(text):
            lines = [line.strip() for line in body.splitlines() if line.strip() and not line.strip().startswith(".reg")]
            self._kernels[name] = (re.findall(r"\.param \.u64 (\w+)", parameters), lines)

    def put(self, address: int, words: list[int]) -> None:
        """Write words of 64 bits."""
        struct.pack_into(f"<{len(words)}Q", self.memory, address, *words)

    def words(self, address: int, count: int) -> tuple[int, ...]:
        """Read words of 64 bits."""
        return struct.unpack_from(f"<{count}Q", self.memory, address)

    def launch(self, name: str, blocks: int, threads: int, arguments: list[int]) -> None:
        """Run a kernel to its end."""
        parameters, lines = self._kernels[name]
        given = dict(zip(parameters, arguments, strict=True))
        for block in range(blocks):
            for thread in range(threads):
                special = {"%ctaid.x": block, "%ntid.x": threads, "%tid.x": thread, "%nctaid.x": blocks}
                self._thread(lines, given, special)

    def _thread(self, lines: list[str], given: dict[str, int], registers: dict[str, int]) -> None:
        at = 0
        while True:
            line, at = lines[at], at + 1
            if line.endswith(":"):
                continue
            predicate, _, rest = line.rstrip(";").partition(" ") if line.startswith("@") else ("", "", line.rstrip(";"))
            if predicate and not registers[predicate[1:]]:
                continue
            name, _, text = rest.partition(" ")
            if name == "ret":
                return
            if name == "bra":
                at = lines.index(text + ":")
                continue
            self._one(name, re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", text), given, registers)

    def _one(self, name: str, operands: list[str], given: dict[str, int], registers: dict[str, int]) -> None:
        def value(operand: str) -> int:
            return registers[operand] if operand.startswith("%") else int(operand) & WIDE

        def address(operand: str) -> int:
            base, _, offset = operand.strip("[]").partition("+")
            return registers[base] + int(offset or 0)

        target = operands[0]
        if name == "ld.param.u64":
            registers[target] = given[operands[1].strip("[]")]
        elif name in ("mov.u32", "cvt.u64.u32"):
            registers[target] = value(operands[1]) & NARROW
        elif name == "mul.wide.u32":
            registers[target] = value(operands[1]) * value(operands[2])
        elif name in _BINARY:
            registers[target] = _BINARY[name](value(operands[1]), value(operands[2])) & WIDE
        elif name == "setp.ge.u64":
            registers[target] = value(operands[1]) >= value(operands[2])
        elif name == "setp.eq.u64":
            registers[target] = value(operands[1]) == value(operands[2])
        elif name == "st.global.v2.u64":
            self.put(address(target), [value(r) for r in re.findall(r"%\w+", operands[1])])
        elif name == "ld.global.v2.u64":
            place = address(operands[1])
            assert place % 16 == 0
            registers.update(zip(re.findall(r"%\w+", target), self.words(place, 2), strict=True))
        elif name in _REDUCE:
            place = address(target)
            self.put(place, [_REDUCE[name](self.words(place, 1)[0], value(operands[1])) & WIDE])
        else:
            raise AssertionError(f"no such instruction: {name}")
