"""Which libraries TensorFlow's DsoLoader opens, read from the machine code of its small exported functions.

`Get<Name>DsoHandle()` makes two short strings, the library's name and version, and passes them to one local function:

    lea  "10.1"(%rip),%rsi ; call std::string(…)      g++, old strings (to 2.8)
    movl $0x302e3131,-0x60(%rbp) ; movq $4,-0x68(%rbp)  g++ and clang, strings kept in place (2.9 to 2.19)
    mov  $2,%edx ; lea "11"(%rip),%rcx                  clang, the version as a string_view (2.20 on)

So the few kinds of instructions that stand before that call are followed, with constants only, on a stack of our own.
Code of any other form gives no answer instead of a wrong one. `TryDlopenCUDALibraries()` calls those functions whose
libraries it wants before it registers a GPU: its calls tell which these are.
"""

from __future__ import annotations

import re
import struct

from .objects import Image, Symbol

_GET = re.compile(r"_ZN(?:\d+[a-z_]+)+\d+(?:Cached)?DsoLoader\d+Get(\w+)DsoHandleEv")
_TRY = re.compile(r"_ZN(?:\d+[a-z_]+)+\d+DsoLoader\d+((?:Maybe)?TryDlopenCUDALibraries|MaybeTryDlopenGPULibraries)Ev")
_NOT_CUDA = re.compile(r"(Hip|Miopen|Roc|Rocm)\w*$|(CudaDriver|Nvml)$")
"""ROCm's, and the two that come with the driver."""
_STACK = 1 << 62
_RAX, _RCX, _RDX, _RBX, _RSP, _RBP, _RSI, _RDI = range(8)
_VOLATILE = (_RAX, _RCX, _RDX, _RSI, _RDI, 8, 9, 10, 11)
_NAME = re.compile(r"[\w.+-]{1,40}")
_VERSION = re.compile(r"[\d.]{0,15}")


def sonames(image: Image) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """What its loader opens before it registers a GPU, in that order, and the others that it can open, sorted.

    None: the object defines no loader, or one whose code is of another form.
    """
    opened: dict[str, str] = {}
    for symbol, where in image.loader_symbols.items():
        found = _GET.fullmatch(symbol)
        if found and "Cached" not in symbol and not _NOT_CUDA.match(found[1]):
            soname = _Follower(image).soname(where)
            if soname is None:
                return None
            opened[found[1]] = soname
    first = _wanted(image)
    if not first or not set(first) <= set(opened):
        return None
    return tuple(opened[n] for n in first), tuple(sorted({opened[n] for n in opened if n not in first}))


def _wanted(image: Image) -> list[str]:
    """The names in the calls of TryDlopenCUDALibraries, in order; before 2.1 it had other names."""
    entries = {found[1]: where for s, where in image.loader_symbols.items() if (found := _TRY.fullmatch(s))}
    names_in_time = ("TryDlopenCUDALibraries", "MaybeTryDlopenCUDALibraries", "MaybeTryDlopenGPULibraries")
    where = next((entries[n] for n in names_in_time if n in entries), None)
    if where is None:
        return []
    names: list[str] = []
    starts = {s.address: name for name, s in image.loader_symbols.items()}
    code = image.read(where.address, where.size)
    for at in range(len(code) - 4):
        if code[at] not in (0xE8, 0xE9):
            continue
        target = where.address + at + 5 + struct.unpack_from("<i", code, at + 1)[0]
        called = _GET.fullmatch(starts.get(target) or _through_plt(image, target) or "")
        if called and not _NOT_CUDA.match(called[1]) and called[1] not in names:
            names.append(called[1])
    return names


def _through_plt(image: Image, target: int) -> str | None:
    """The function of DsoLoader to which a stub of the procedure linkage table jumps: jmp *slot(%rip)."""
    stub = image.read(target, 16)
    if stub[:4] == b"\xf3\x0f\x1e\xfa":  # endbr64
        target, stub = target + 4, stub[4:]
    if stub[:1] == b"\xf2":  # bnd
        target, stub = target + 1, stub[1:]
    if stub[:2] != b"\xff\x25":
        return None
    return image.loader_slots.get(target + 6 + struct.unpack_from("<i", stub, 2)[0])


class _Unknown(Exception):  # noqa: N818
    """An instruction that is not followed."""


class _Follower:
    """The constants in registers and on the stack along a function without loops."""

    def __init__(self, image: Image) -> None:
        self.image = image
        self.registers: list[int | None] = [None] * 16
        self.registers[_RSP] = _STACK
        self.stack: dict[int, int] = {}
        self.made: dict[int, str] = {}
        """Strings that a constructor made: address -> text."""

    def soname(self, where: Symbol) -> str | None:
        """The soname that the function at `where` asks for; None: its code is of another form."""
        code, base = self.image.read(where.address, where.size), where.address
        at = 0
        try:
            while at < len(code):
                at = self._step(code, at, base)
                if code[at - 5 : at - 4] == b"\xe8" and self._called:
                    found = self._asked()
                    if found is not None:
                        name, version = found
                        return f"lib{name}.so.{version}" if version else f"lib{name}.so"
                    self._constructed()
                    for register in _VOLATILE:
                        self.registers[register] = None
        except (_Unknown, IndexError, struct.error):
            pass
        return None

    # ------------------------------------------------------------------ calls

    def _asked(self) -> tuple[str, str] | None:
        """Name and version, where the arguments are those of the local GetDsoHandle."""
        name = self._string(self.registers[_RSI])
        if name is None or not _NAME.fullmatch(name):
            return None
        size, start = self.registers[_RDX], self.registers[_RCX]
        version = self._string(size)
        if version is None and size == 0:
            version = ""
        elif version is None and size is not None and start is not None and size < 16 and start < _STACK >> 1:
            version = self.image.read(start, size).decode("ascii", "replace")
        return (name, version) if version is not None and _VERSION.fullmatch(version) else None

    def _constructed(self) -> None:
        """std::string(const char*, …) or _M_construct(begin, end)."""
        made, start, end = self.registers[_RDI], self.registers[_RSI], self.registers[_RDX]
        if made is None or made < _STACK >> 1 or start is None or start >= _STACK >> 1:
            return
        if end is not None and start <= end <= start + 40:
            self.made[made] = self.image.read(start, end - start).decode("ascii", "replace")
        elif (text := self.image.text(start)) is not None:
            self.made[made] = text

    def _string(self, address: int | None) -> str | None:
        """The std::string at `address`."""
        if address is None or address < _STACK >> 1:
            return None
        if address in self.made:
            return self.made[address]
        start, size = self._load(address, 8), self._load(address + 8, 8)
        if start is None or size is None or size > 40 or start < _STACK >> 1:
            return None
        raw = [self.stack.get(start + i) for i in range(size)]
        return bytes(b for b in raw if b is not None).decode("ascii", "replace") if None not in raw else None

    # ------------------------------------------------------------------ memory

    def _load(self, address: int | None, size: int) -> int | None:
        if address is None:
            return None
        raw = [self.stack.get(address + i) for i in range(size)]
        return int.from_bytes(bytes(b for b in raw if b is not None), "little") if None not in raw else None

    def _store(self, address: int | None, size: int, value: int | None) -> None:
        if address is None:
            return
        for i in range(size):
            if value is None:
                self.stack.pop(address + i, None)
            else:
                self.stack[address + i] = value >> 8 * i & 0xFF

    # ------------------------------------------------------------------ instructions

    _called = False

    def _step(self, code: bytes, at: int, base: int) -> int:
        """Follow one instruction; where the next one begins."""
        self._called = False
        size, segment, rex = 4, False, 0
        while code[at] in (0x66, 0x64, 0xF2, 0xF3):
            size = 2 if code[at] == 0x66 else size
            segment = segment or code[at] == 0x64
            at += 1
        if code[at] & 0xF0 == 0x40:
            rex = code[at]
            at += 1
        size = 8 if rex & 8 else size
        op, at = code[at], at + 1
        low = (op & 7) | (rex & 1) << 3
        if op & 0xF8 in (0x50, 0x58):
            return self._push_or_pop(at, low, push=op < 0x58)
        if op == 0xE8:
            self._called = True
            return at + 4
        if op & 0xF8 == 0xB8:
            width = 8 if size == 8 else size
            self.registers[low] = int.from_bytes(code[at : at + width], "little")
            return at + width
        if op & 0xF0 == 0x70:  # a conditional jump ahead is not taken
            return at + 1
        if op == 0x90:
            return at
        if op == 0x0F:
            return self._two_bytes(code, at, rex, base)
        immediate = {0xC7: min(size, 4), 0xC6: 1, 0x83: 1, 0x81: min(size, 4), 0x80: 1}.get(op, 0)
        if op not in (0x88, 0x89, 0x8B, 0x8D, 0x31, 0x33, 0x85, 0x39, 0x3B) and not immediate:
            raise _Unknown(hex(op))
        register, other, address, at = self._operands(code, at, rex, base, immediate)
        if segment:
            address = None
        value = int.from_bytes(code[at : at + immediate], "little", signed=True) if immediate else None
        at += immediate
        width = 1 if op in (0x88, 0xC6, 0x80) else size
        mask = (1 << 8 * width) - 1
        if op in (0xC7, 0xC6) and value is not None:
            self._put(other, address, width, value & mask)
        elif op in (0x88, 0x89):
            source = self.registers[register]
            self._put(other, address, width, source & mask if source is not None else None)
        elif op == 0x8B:
            self.registers[register] = self.registers[other] if other is not None else self._load(address, width)
        elif op == 0x8D:
            self.registers[register] = address
        elif op in (0x31, 0x33):
            self.registers[register if op == 0x33 else other or 0] = 0 if other == register else None
        elif op in (0x83, 0x81) and other is not None:
            self._arithmetic(register & 7, other, value or 0)
        return at

    def _push_or_pop(self, at: int, register: int, *, push: bool) -> int:
        top = self.registers[_RSP]
        if push:
            self.registers[_RSP] = top - 8 if top is not None else None
            self._store(self.registers[_RSP], 8, self.registers[register])
        else:
            self.registers[register] = self._load(top, 8)
            self.registers[_RSP] = top + 8 if top is not None else None
        return at

    def _two_bytes(self, code: bytes, at: int, rex: int, base: int) -> int:
        op, at = code[at], at + 1
        if op & 0xF0 == 0x80:
            return at + 4
        if op in (0x1E, 0x1F):
            return self._operands(code, at, rex, base, 0)[3]
        raise _Unknown(f"0f {op:x}")

    def _arithmetic(self, what: int, register: int, value: int) -> None:
        old = self.registers[register]
        if what == 7:  # cmp
            return
        done = {0: lambda a: a + value, 5: lambda a: a - value, 4: lambda a: a & value}.get(what)
        self.registers[register] = done(old) if done is not None and old is not None else None

    def _put(self, register: int | None, address: int | None, size: int, value: int | None) -> None:
        if register is None:
            self._store(address, size, value)
        elif size >= 4:
            self.registers[register] = value
        else:
            self.registers[register] = None

    def _operands(
        self, code: bytes, at: int, rex: int, base: int, immediate: int
    ) -> tuple[int, int | None, int | None, int]:
        """Of a ModRM byte: its register, the other register or the address of the memory, and what follows."""
        modrm, at = code[at], at + 1
        mode, register, rm = modrm >> 6, (modrm >> 3 & 7) | (rex & 4) << 1, modrm & 7
        if mode == 3:
            return register, rm | (rex & 1) << 3, None, at
        start: int | None
        if rm == 4:
            sib, at = code[at], at + 1
            number = (sib & 7) | (rex & 1) << 3
            plain = sib >> 3 & 7 == 4 and not rex & 2 and not (mode == 0 and sib & 7 == 5)
            start = self.registers[number] if plain else None
            if mode == 0 and sib & 7 == 5:
                at += 4
        elif rm == 5 and mode == 0:
            (offset,) = struct.unpack_from("<i", code, at)
            return register, None, base + at + 4 + immediate + offset, at + 4
        else:
            start = self.registers[rm | (rex & 1) << 3]
        offset = 0
        if mode == 1:
            (offset,), at = struct.unpack_from("<b", code, at), at + 1
        elif mode == 2:
            (offset,), at = struct.unpack_from("<i", code, at), at + 4
        return register, None, start + offset if start is not None else None, at
