"""Wheels made in the test: METADATA, build_info.py, real ELF objects with loader code, fat binaries."""

from __future__ import annotations

import hashlib
import struct
import subprocess
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.building import Workshop

VERSIONS = {
    "CudaRuntime": ("cudart", "12"),
    "Cublas": ("cublas", "12"),
    "CublasLt": ("cublasLt", "12"),
    "Cufft": ("cufft", "11"),
    "Cusolver": ("cusolver", "11"),
    "Cusparse": ("cusparse", "12"),
    "Cudnn": ("cudnn", "9"),
    "Cupti": ("cupti", "12"),
    "Nccl": ("nccl", "2"),
    "NvInfer": ("nvinfer", ""),
    "CudaDriver": ("cuda", "1"),
    "Rocblas": ("rocblas", ""),
}
FIRST = ("CudaRuntime", "Cublas", "CublasLt", "Cufft", "Cusolver", "Cusparse", "Cudnn")
FIRST_SONAMES = tuple(f"lib{n}.so.{v}" for n, v in (VERSIONS[f] for f in FIRST))
EXTRA = tuple(
    f"nvidia-{name}-cu12"
    for name in ("cublas", "cuda-runtime", "cufft", "cusolver", "cusparse", "cudnn", "nccl", "nvjitlink")
)
DIRECTORIES = ("cublas", "cuda_runtime", "cufft", "cusolver", "cusparse", "cudnn")


def mangled(name: str, room: str = "tsl") -> str:
    """The symbol of DsoLoader::`name`()."""
    return f"_ZN{len(room)}{room}8internal9DsoLoader{len(name)}{name}Ev"


def _text(place: int, text: str) -> str:
    """A std::string at `place` on the stack, its characters inside it: pointer, size, characters."""
    raw, at = text.encode(), place + 16
    lines = [f"lea {at}(%rsp), %rbx", f"mov %rbx, {place}(%rsp)", f"movq ${len(raw)}, {place + 8}(%rsp)"]
    while raw:
        size, move = next((n, m) for n, m in ((8, "q"), (4, "l"), (2, "w"), (1, "b")) if len(raw) >= n)
        value = int.from_bytes(raw[:size], "little")
        if size == 8:
            lines += [f"movabs ${value}, %rax", f"mov %rax, {at}(%rsp)"]
        else:
            lines.append(f"mov{move} ${value}, {at}(%rsp)")
        raw, at = raw[size:], at + size
    return "\n".join(lines)


def _in_place(name: str, version: str, label: str) -> str:
    """As clang writes it (2.13 to 2.19)."""
    body = [_text(0, name), _text(48, version), "lea 0(%rsp), %rsi", "lea 48(%rsp), %rdx", "call get_dso_handle"]
    return "\n".join(["push %rbx", "sub $96, %rsp", *body, "add $96, %rsp", "pop %rbx", "ret"])


def _view(name: str, version: str, label: str) -> str:
    """The version as a string_view (2.20 on)."""
    size = "xor %edx, %edx" if not version else f"mov ${len(version)}, %edx"
    body = [_text(0, name), f"lea {label}(%rip), %rcx", "lea 0(%rsp), %rsi", size, "call get_dso_handle"]
    return "\n".join(["push %rbx", "sub $96, %rsp", *body, "add $96, %rsp", "pop %rbx", "ret"])


def _constructed(name: str, version: str, label: str) -> str:
    """Old strings, made by their constructor (to 2.8)."""
    return f"""push %rbp
lea {label}(%rip), %rsi
mov %rsp, %rbp
push %r13
push %r12
lea -0x30(%rbp), %r13
push %rbx
lea -0x28(%rbp), %rbx
mov %rdi, %r12
sub $0x28, %rsp
mov %r13, %rdi
mov %rbx, %rdx
call _ZNSsC1EPKcRKSaIcE@PLT
lea -0x32(%rbp), %rdx
lea {label}n(%rip), %rsi
mov %rbx, %rdi
call _ZNSsC1EPKcRKSaIcE@PLT
mov %r13, %rdx
mov %r12, %rdi
mov %rbx, %rsi
call get_dso_handle
ret"""


FORMS: dict[str, Callable[[str, str, str], str]] = {"in place": _in_place, "view": _view, "constructed": _constructed}


def assembled(workshop: Workshop, text: str, soname: str, runpath: Sequence[str], needed: Sequence[str] = ()) -> Path:
    """A shared object of this assembly text."""
    name = hashlib.sha256(repr((text, soname, runpath, needed)).encode()).hexdigest()[:16]
    path = workshop.place / f"{name}.so"
    if not path.exists():
        source = workshop.place / f"{name}.s"
        source.write_text(text + '\n.section .note.GNU-stack,"",@progbits\n')
        needs = [f"-l:{workshop.stub(n).name}" for n in needed]
        paths = [f"-Wl,--enable-new-dtags,-rpath,{':'.join(runpath)}"] if runpath else []
        command = ["gcc", "-shared", "-nostdlib", str(source), f"-Wl,-soname,{soname}", *paths]
        command += ["-Wl,--no-as-needed", f"-L{workshop.place}", *needs, "-o", str(path)]
        subprocess.run(command, check=True, capture_output=True)
    return path


def loader_object(
    workshop: Workshop,
    soname: str = "libtensorflow_framework.so.2",
    *,
    form: str = "in place",
    room: str = "tsl",
    directories: Sequence[str] = DIRECTORIES,
    versions: Mapping[str, tuple[str, str]] = VERSIONS,
) -> bytes:
    """An object that holds the loader: its functions in one of the forms that compilers gave them."""
    lines = [".text", "get_dso_handle: ret", ".size get_dso_handle, .-get_dso_handle"]
    for function, (name, version) in versions.items():
        symbol, label = mangled(f"Get{function}DsoHandle", room), f".L{function}"
        lines += [f".globl {symbol}", f".type {symbol}, @function", f"{symbol}:", FORMS[form](name, version, label)]
        lines += [f".size {symbol}, .-{symbol}", ".section .rodata", f'{label}: .asciz "{version}"']
        lines += [f'{label}n: .asciz "{name}"', ".text"]
    whole = mangled("TryDlopenCUDALibraries", room)
    lines += [f".globl {whole}", f".type {whole}, @function", f"{whole}:"]
    lines += [f"call {mangled(f'Get{n}DsoHandle', room)}@PLT" for n in FIRST]
    lines += ["ret", f".size {whole}, .-{whole}"]
    runpath = ["$ORIGIN/", *(f"$ORIGIN/../nvidia/{d}/lib" for d in directories)]
    return assembled(workshop, "\n".join(lines), soname, runpath).read_bytes()


def lz4(text: bytes) -> bytes:
    """An LZ4 block: a run of line ends as a match, the rest literal."""
    run = len(text) - len(text.lstrip(b"\n"))
    out = b""
    if run > 5:
        out, text = b"\x1f\n\x01\x00" + _more(run - 1 - 4 - 15), text[run:]
    count = len(text)
    return out + (bytes([0xF0]) + _more(count - 15) if count >= 15 else bytes([count << 4])) + text


def _more(count: int) -> bytes:
    assert count >= 0
    return b"\xff" * (count // 255) + bytes([count % 255])


def ptx(isa: str, target: str, *, before: int = 40) -> bytes:
    """The text of a PTX module."""
    return (
        b"\n" * before + f".version {isa}\n.target {target}\n.address_size 64\n\n.visible .entry k()\n".encode() + b"\0"
    )


def entry(kind: str, arch: int, code: bytes, compressed: str | None = None, *, kind_number: int | None = None) -> bytes:
    """An entry of a fat binary."""
    number = kind_number if kind_number is not None else {"ptx": 1, "elf": 2}[kind]
    flags = 0x11 | {None: 0, "lz4": 0x2000, "zstd": 0x8000}[compressed]
    padded = code + bytes(-len(code) % 8)
    used = len(code) if compressed else 0
    return (
        struct.pack("<HHIQIIHHIIIQQQ", number, 0x101, 64, len(padded), used, 64, 1, 1, arch, 0, 0, flags, 0, 0) + padded
    )


def fat_binary(*entries: bytes) -> bytes:
    """A fat binary of these entries."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


MACHINE_CODE = b"\x7fELF not decoded"


def kernel(machine: Sequence[int], isa: str, target: str) -> bytes:
    """A fat binary with machine code for some architectures and PTX for one."""
    number = int("".join(c for c in target if c.isdigit()))
    codes = [entry("elf", a, MACHINE_CODE) for a in machine]
    return fat_binary(*codes, entry("ptx", number, lz4(ptx(isa, target)), "lz4"))


BUILD_INFO = """import collections
build_info = collections.OrderedDict([('cuda_compute_capabilities', ['sm_60', 'sm_80', 'compute_90']),
    ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True)])
"""
REQUIRES = (
    "numpy>=1.26.0,<2.2",
    "keras>=3.5.0",
    'h5py>=3.11.0; python_version < "3.13"',
    "six",
    'tensorflow-intel==9.9.0; platform_system == "Windows"',
    'tensorboard~=9.9; sys_platform == "win32"',
)


def metadata(name: str, version: str, requires: Sequence[str] = (), extra: Sequence[str] | None = None) -> str:
    """The METADATA file."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Requires-Python: >=3.9"]
    lines += [f"Requires-Dist: {r}" for r in requires]
    if extra is not None:
        lines += ["Provides-Extra: and-cuda", *(f'Requires-Dist: {e}; extra == "and-cuda"' for e in extra)]
    return "\n".join(lines) + "\n\nA description that names\nRequires-Dist: nothing\n"


def wheel(
    directory: Path,
    files: Mapping[str, bytes | str],
    name: str = "tensorflow",
    version: str = "9.9.0",
    tag: str = "cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64",
    requires: Sequence[str] = (),
    extra: Sequence[str] | None = None,
) -> Path:
    """A wheel of these files."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name.replace('-', '_')}-{version}-{tag}.whl"
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for inside, data in files.items():
            z.writestr(inside, data)
        z.writestr(f"{info}/METADATA", metadata(name, version, requires, extra))
        z.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
    return path
