"""The pieces of the native matrix products and of the memory check that need no driver."""

from __future__ import annotations

import math
import os
import random
import shutil
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from gpudoctor.patient import elements, gemm, program, ptx
from tests.building import Workshop, put
from tests.interpreters import interpreters
from tests.probes.ptx_machine import Machine

EVERY = [sys.executable, *list(interpreters().values())[:1]]  # this one, and the oldest
ASSEMBLERS = [
    *filter(None, [shutil.which("ptxas")]),
    *(str(p) for entry in sys.path for p in Path(entry or ".").glob("nvidia/*/bin/ptxas")),
]


def in_patient(python: str, tasks: list[str], code: str, **env: str) -> str:
    """What a program of the patient's files and `code` prints."""
    text = program(tasks) + "\n" + code
    done = subprocess.run(
        [python, "-"], input=text, capture_output=True, text=True, env={**os.environ, **env}, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ----------------------------------------------------------------------------- elements

SAME = """
for dtype in sorted(SIZES):
    data, values = random_block(dtype, 7)
    assert len(data) == BLOCK * SIZES[dtype] and len(values) == BLOCK
    assert list(decoded(dtype, data)) == list(values), dtype
    assert encoded(dtype, values) == data, dtype  # what is rounded stays
    assert max(values) <= 0.5 and min(values) >= -0.5
    assert abs(sum(values) / BLOCK) < 0.005 and abs(sum(map(abs, values)) / BLOCK - 0.25) < 0.005
    assert random_block(dtype, 8)[0] != data
    print(dtype, hashlib.sha256(data).hexdigest())
"""


def test_random_blocks_are_the_same_in_old_pythons() -> None:
    said = {in_patient(python, ["elements.decoded"], "import hashlib\n" + SAME) for python in EVERY}
    assert len(said) == 1
    assert said.pop().count("\n") == 4


def test_values_of_float8_are_those_of_another_library() -> None:
    dtypes = pytest.importorskip("ml_dtypes")
    numpy = pytest.importorskip("numpy")
    theirs = numpy.arange(256, dtype=numpy.uint8).view(dtypes.float8_e4m3fn).astype(float)
    ours = elements.decoded("float8", bytes(range(256)))
    assert [str(x) for x in ours] == [str(float(x)) for x in theirs]
    values = [(i + 0.5) / 4096 - 0.5 for i in range(4096)]
    near = numpy.array(values).astype(dtypes.float8_e4m3fn).astype(float)
    got = elements.decoded("float8", elements.encoded("float8", values))
    assert all(abs(g - v) <= abs(n - v) + 1e-12 for g, n, v in zip(got, near, values, strict=True))


def test_values_of_the_halves() -> None:
    assert elements.encoded("float16", [1.0, -2.0, 0.1]).hex() == "003c00c0662e"
    assert elements.encoded("bfloat16", [1.0, -2.0, 0.1]).hex() == "803f00c0cc3d"
    assert elements.decoded("bfloat16", bytes.fromhex("803f00c0cc3d")) == [1.0, -2.0, 0.099609375]
    assert math.isnan(elements.decoded("bfloat16", b"\xff\xff")[0])
    assert math.isnan(elements.decoded("float16", b"\xff\xff")[0])
    assert math.isnan(elements.decoded("float32", b"\xff\xff\xff\xff")[0])


# ----------------------------------------------------------------------------- what it is compared with


@pytest.mark.parametrize("transposed", [False, True])
def test_products_are_those_of_the_matrices_that_are_filled_with_the_blocks(transposed: bool) -> None:
    n = 48
    a, b = [random.random() for _ in range(101)], [random.random() for _ in range(53)]
    memory_a, memory_b = (a * n * n)[: n * n], (b * n * n)[: n * n]
    rows, columns = [0, 7, 47], [0, 31, 46]
    got = elements.exact_products(a, b, n, rows, columns, transposed)
    for column, ours in zip(columns, got, strict=True):
        for row, product in zip(rows, ours, strict=True):
            left = memory_a[row * n : row * n + n] if transposed else memory_a[row::n]
            right = memory_b[column * n : column * n + n]
            assert product == pytest.approx(sum(x * y for x, y in zip(left, right, strict=True)))


def test_a_product_is_judged() -> None:
    exact = [[1.0, 2.0], [3.0, 4.0]]
    good = elements.judged_product([[1.0, 2.0], [3.0, 4.001]], exact, 2.0, 0.001)
    assert good["verified"] is True
    assert good["error"] == pytest.approx(0.0005)
    assert good["against"] == "float64, 4 elements"
    far = elements.judged_product([[1.0, 2.0], [3.01, 4.0]], exact, 2.0, 0.001)
    assert (far["verified"], far["error"]) == (False, pytest.approx(0.005))
    for nothing in ([[1.0, math.nan], [3.0, 4.0]], [[math.inf, 2.0], [3.0, 4.0]], []):
        judged = elements.judged_product(nothing, exact, 2.0, 0.001)
        assert (judged["verified"], judged["error"]) == (False, None)


SHOWS = gemm._TF32_SHOWS


@pytest.mark.parametrize(("dropped", "least", "most"), [(0, 0.0, SHOWS / 4), (13, SHOWS * 4, 2.0**-7)])
def test_tf32_shows_in_the_error(dropped: int, least: float, most: float) -> None:
    """Factors of 10 bits are seen, whatever was asked for; those of float32 are far below."""
    n, rows = 2048, list(range(0, 2048, 128))
    draw = random.Random(3)
    a, b = ([draw.random() - 0.5 for _ in range(50021)] for _ in range(2))
    exact = elements.exact_products(a, b, n, rows, rows, False)
    cut_a, cut_b = cut(a, dropped), cut(b, dropped)
    got = elements.exact_products(cut_a, cut_b, n, rows, rows, False)
    error = elements.judged_product(got, exact, elements.mean_product(a, b, n), 1.0)["error"]
    assert least <= error <= most


def cut(values: list[float], dropped: int) -> list[float]:
    """As float32, rounded to a mantissa that is this many bits shorter."""
    bits = array("I", elements.encoded("float32", values))
    half = 1 << dropped >> 1
    return list(array("f", array("I", [(x + half) >> dropped << dropped for x in bits]).tobytes()))


# ----------------------------------------------------------------------------- the libraries

LOAD = """
try:
    blas, light = load_cublas()
    print(json.dumps([blas.told(), light.told()]))
except Absent as e:
    print("absent:", e)
"""


def wheel(workshop: Workshop, site: Path, major: int = 12) -> Path:
    """A directory of a wheel with fake libraries."""
    lib = site / "nvidia/cublas/lib"
    put(workshop.fake("libcublas.c", f"libcublas.so.{major}"), lib, f"libcublas.so.{major}")
    put(workshop.fake("libcublasLt.c", f"libcublasLt.so.{major}"), lib, f"libcublasLt.so.{major}")
    return lib


@pytest.mark.parametrize("python", EVERY)
def test_cublas_and_the_lt_beside_it(python: str, workshop: Workshop, tmp_path: Path) -> None:
    lib = wheel(workshop, tmp_path / "site")
    env = {"PYTHONPATH": str(tmp_path / "site"), "FAKE_CUBLAS_VERSION": "12.6.4", "FAKE_CUBLASLT_VERSION": "12.6.5"}
    said = in_patient(python, ["cublas.load_cublas"], LOAD, **env)
    assert (
        said
        == f'[{{"path": "{lib}/libcublas.so.12", "version": "12.6.4"}}, {{"path": "{lib}/libcublasLt.so.12", "version": "12.6.5"}}]\n'
    )


def test_cublas_on_the_library_path_is_first(workshop: Workshop, tmp_path: Path) -> None:
    wheel(workshop, tmp_path / "site")
    put(workshop.fake("libcublas.c", "libcublas.so.11"), tmp_path / "here", "libcublas.so.11")
    env = {
        "PYTHONPATH": str(tmp_path / "site"),
        "LD_LIBRARY_PATH": str(tmp_path / "here"),
        "FAKE_CUBLAS_VERSION": "11.5.1",
    }
    said = in_patient(sys.executable, ["cublas.load_cublas"], LOAD, **env)
    alone = f'{{"path": "{tmp_path}/here/libcublas.so.11", "version": "11.5.1"}}'
    assert said == f"[{alone}, {alone}]\n"


def test_no_cublas_at_all() -> None:
    said = in_patient(
        sys.executable,
        ["cublas.load_cublas"],
        "library_files = lambda *_: []\nsystem_names = lambda _: ['libnone.so']\n" + LOAD,
    )
    assert said.startswith("absent: ")
    assert said.endswith("pip install nvidia-cublas-cu12 brings it\n")


# ----------------------------------------------------------------------------- our PTX, without a GPU

SEED, ALL = 0x1234567890ABCDEF, (1 << 64) - 1


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine(ptx.ptx_text("6.0", "sm_50"))


@pytest.mark.parametrize("mask", [0, ALL])
def test_the_pattern_that_the_device_writes(machine: Machine, mask: int) -> None:
    machine.memory = bytearray(64 * 16)
    machine.launch("fill", 2, 8, [16, 50, 1000, SEED, mask])  # 50 units, 16 threads, from the second unit on
    assert machine.memory == bytes(16) + ptx.pattern_bytes(1000, 50, SEED, mask) + bytes(13 * 16)
    assert len({bytes(machine.memory[i : i + 8]) for i in range(16, 51 * 16, 8)}) == 100


def test_the_comparison_on_the_device(machine: Machine) -> None:
    found = 64 * 16
    machine.memory = bytearray(found + 24)
    machine.memory[:found] = ptx.pattern_bytes(7, 64, SEED, 0)
    assert check(machine, found) == (0, ALL, 0)
    machine.memory[33 * 16 + 9] ^= 0x20
    machine.memory[21 * 16] ^= 0x01
    assert check(machine, found) == (2, 7 + 21, 0x2001)
    assert check(machine, found, mask=ALL)[0] == 64
    assert check(machine, found, first=8)[0] == 64


def check(machine: Machine, found: int, first: int = 7, mask: int = 0) -> tuple[int, int, int]:
    machine.put(found, [0, ALL, 0])
    machine.launch("check", 3, 8, [0, 64, first, SEED, mask, found])
    count, at, bits = machine.words(found, 3)
    return count, at, bits


def test_two_places_are_compared(machine: Machine) -> None:
    other, found = 40 * 16, 80 * 16
    machine.memory = bytearray(found + 24)
    machine.memory[:other] = machine.memory[other:found] = ptx.pattern_bytes(0, 40, 1, 0)
    machine.put(found, [0, ALL, 0])
    machine.launch("differ", 1, 32, [0, 40, other, 0, found])
    assert machine.words(found, 3) == (0, ALL, 0)
    machine.memory[other + 39 * 16 + 15] ^= 0x80
    machine.launch("differ", 1, 32, [0, 40, other, 0, found])
    assert machine.words(found, 3) == (1, 39, 1 << 63)


def test_launches_are_counted(machine: Machine) -> None:
    machine.memory = bytearray(8)
    for _ in range(3):
        machine.launch("count", 1, 1, [0])
        machine.launch("nothing", 1, 1, [])
    assert machine.words(0, 1) == (3,)


@pytest.mark.parametrize(
    ("version", "target", "device"),
    [
        ("6.0", "sm_50", "sm_90"),
        *((v, f"sm_{major}{minor}", f"sm_{major}{minor}") for (major, minor), v in ptx._NEWEST),
    ],
)
def test_the_assembler_takes_it(version: str, target: str, device: str, tmp_path: Path) -> None:
    assembler = next(iter(ASSEMBLERS), None)
    if assembler is None:
        pytest.skip("no ptxas: the wheel nvidia-cuda-nvcc-cu12 has it")
    (tmp_path / "units.ptx").write_text(ptx.ptx_text(version, target))
    command = [assembler, f"-arch={device}", str(tmp_path / "units.ptx"), "-o", str(tmp_path / "units.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "is not defined for option 'gpu-name'" in done.stderr:
        pytest.skip(f"this ptxas has no {device}")
    assert (done.returncode, done.stderr) == (0, "")
