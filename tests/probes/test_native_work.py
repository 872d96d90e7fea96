"""Matrix products, the memory check and launches, whole: on the fake driver, whose memory is the host's, with a fake cuBLAS."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes.ask import Patient
from tests.building import Workshop, put
from tests.interpreters import interpreters
from tests.probes.test_native_gemm import in_patient

SMALL = {"n": 64, "queued": 2, "samples": 2}
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def place(libcuda: str, nvml: str, workshop: Workshop, tmp_path: Path) -> str:
    """The driver, NVML, cuBLAS and cuBLASLt, for LD_LIBRARY_PATH."""
    for name in ("cublas", "cublasLt"):
        put(workshop.fake(f"lib{name}.c", f"lib{name}.so.12"), tmp_path / "blas", f"lib{name}.so.12")
    return f"{libcuda}:{nvml}:{tmp_path}/blas"


@pytest.fixture
def run(place: str) -> Run:
    """Runs one kernel on the fake GPU; its answer."""

    def make(kernel: str, parameters: dict[str, Any], python: str = sys.executable, **env: str) -> dict[str, Any]:
        everything = {**os.environ, "LD_LIBRARY_PATH": place, "FAKE_CUDA_DEVICES": "1", **env}
        plan = {"plan": [[kernel, parameters]], "limit_s": 5.0, "total_s": 20.0}
        answers = Patient((python,), everything).ask([("native.native", plan)], limit_s=30)
        assert not answers.errors
        (got,) = answers.all("native")
        assert (got["kernel"], got["parameters"], got["gpus"]) == (kernel, parameters, [0])
        return dict(got)

    return make


# ----------------------------------------------------------------------------- products

PRODUCTS = {
    "matmul-float32": ("float32", 64 * 2.0**-24),
    "matmul-tf32": ("tf32", 2.0**-7),
    "matmul-float16": ("float16", 2.0**-7),
    "matmul-bfloat16": ("bfloat16", 2.0**-5),
    "matmul-float8": ("float8", 2.0**-5),
}


@pytest.mark.parametrize("python", [sys.executable, *list(interpreters().values())[:1]])
@pytest.mark.parametrize("kernel", PRODUCTS)
def test_a_product(run: Run, place: str, kernel: str, python: str) -> None:
    got = run(kernel, SMALL, python)
    value, (dtype, tolerance) = got["value"], PRODUCTS[kernel]
    assert (value["dtype"], value["size"], value["unit"], value["queued"]) == (dtype, [64] * 3, "TFLOP/s", 2)
    assert (value["verified"], value["tolerance"]) == (True, tolerance)
    assert 0 < value["error"] <= tolerance
    assert len(value["samples"]) == 2
    assert min(value["samples"]) > 0
    assert value["warm_up"] >= 4
    assert value["first_s"] > 0
    name = "cublasLt" if dtype == "float8" else "cublas"
    assert value["library"] == {"path": f"{place.rpartition(':')[2]}/lib{name}.so.12", "version": "12.9.1"}
    assert got["watched"]["samples"] >= 1
    assert value.get("rounded_to_tf32") == {"float32": False, "tf32": True}.get(dtype)
    size = {"float16": 6, "bfloat16": 6, "float8": 4}.get(dtype, 12) * 64 * 64
    assert got["peak_bytes"] == size + (32 << 20)


@pytest.mark.parametrize("kernel", PRODUCTS)
@pytest.mark.parametrize("how", ["wrong", "idle"])
def test_a_wrong_product(run: Run, kernel: str, how: str) -> None:
    if (kernel, how) == ("matmul-float8", "idle"):
        pytest.skip("the fake cuBLASLt has no such fault")
    value = run(kernel, SMALL, FAKE_CUBLAS=how, FAKE_CUBLASLT=how)["value"]
    assert value["verified"] is False
    assert value["error"] is None if how == "idle" else value["error"] > 100


def test_float32_that_is_rounded_to_tf32_all_the_same(run: Run) -> None:
    value = run("matmul-float32", SMALL, FAKE_CUBLAS="tf32")["value"]
    assert (value["verified"], value["rounded_to_tf32"]) == (False, True)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"FAKE_CUBLAS": "14"}, "cublasGemmEx answers 14, CUBLAS_STATUS_INTERNAL_ERROR"),
        ({"FAKE_CUBLAS": "crash"}, "was ended by signal 11"),
        ({"FAKE_CUBLAS_CREATE": "1"}, "cublasCreate answers 1, CUBLAS_STATUS_NOT_INITIALIZED"),
        ({"FAKE_CUDA_FAIL": "cuMemcpyDtoDAsync_v2=700,cuMemcpyDtoD_v2=700"}, "answers 700, CUDA_ERROR_ILLEGAL_ADDRESS"),
    ],
)
def test_a_product_that_fails(run: Run, how: dict[str, str], words: str) -> None:
    got = run("matmul-float16", {**SMALL, "n": 640 if "FAKE_CUDA_FAIL" in how else 64}, **how)
    assert "value" not in got
    assert words in got["failed"]


def test_a_product_that_hangs(place: str) -> None:
    env = {**os.environ, "LD_LIBRARY_PATH": place, "FAKE_CUDA_DEVICES": "1", "FAKE_CUBLAS": "hang"}
    plan = {"plan": [["matmul-float32", SMALL], ["launch-latency", {"samples": 1}]], "limit_s": 2.0, "total_s": 20.0}
    first, second = Patient((sys.executable,), env).ask([("native.native", plan)], limit_s=30).all("native")
    assert first["timed_out"] is True
    assert second["value"]["verified"] is True


@pytest.mark.parametrize(
    ("kernel", "capability", "words"),
    [
        ("matmul-float16", "6.1", "float16 needs a GPU of compute capability 7.0 or higher, this is 6.1"),
        ("matmul-tf32", "7.5", "TF32 needs a GPU of compute capability 8.0 or higher, this is 7.5"),
        ("matmul-bfloat16", "7.5", "bfloat16 needs"),
        ("matmul-float8", "8.6", "float8 needs a GPU of compute capability 8.9"),
    ],
)
def test_a_device_without_it(run: Run, kernel: str, capability: str, words: str) -> None:
    assert words in run(kernel, SMALL, FAKE_CUDA_CAPABILITY=capability)["skipped"]


@pytest.mark.parametrize(
    ("kernel", "how", "words"),
    [
        ("matmul-bfloat16", {"FAKE_CUBLAS": "15"}, "CUBLAS_STATUS_NOT_SUPPORTED"),
        ("matmul-float8", {"FAKE_CUBLASLT": "none"}, "finds no way to multiply float8 here"),
        ("matmul-float8", {"FAKE_CUBLASLT": "15"}, "CUBLAS_STATUS_NOT_SUPPORTED"),
        ("matmul-float8", {"FAKE_CUBLASLT_VERSION": "11.5.2"}, "cuBLASLt 11.5.2 has no float8"),
    ],
)
def test_a_library_without_it(run: Run, kernel: str, how: dict[str, str], words: str) -> None:
    assert words in run(kernel, SMALL, **how)["skipped"]


@pytest.mark.parametrize("kernel", ["matmul-float32", "matmul-float16", "matmul-tf32", "matmul-bfloat16"])
def test_an_old_cublas(run: Run, libcuda: str, workshop: Workshop, tmp_path: Path, kernel: str) -> None:
    put(workshop.fake("libcublas.c", "libcublas.so.10", "OLD"), tmp_path / "old", "libcublas.so.10")
    env = {"LD_LIBRARY_PATH": f"{libcuda}:{tmp_path}/old", "FAKE_CUBLAS_VERSION": "10.2.2"}
    got = run(kernel, SMALL, **env)
    if kernel in ("matmul-float32", "matmul-float16"):
        assert got["value"]["verified"] is True
    else:
        assert got["skipped"].startswith("cuBLAS 10.2.2 has no ")


def test_no_cublas(run: Run, libcuda: str, nvml: str) -> None:
    got = run("matmul-float32", SMALL, LD_LIBRARY_PATH=f"{libcuda}:{nvml}")
    if "value" in got or "nvidia-cublas-cu12" not in got.get("skipped", ""):
        pytest.skip("this machine has cuBLAS")
    assert got["skipped"].endswith("pip install nvidia-cublas-cu12 brings it")


SPARE = 256 << 20
FITS = """
gpu = Gpu(Cuda(), 0).open()
try:
    n, held = matrices(gpu, 4096, [4, 4, 2])
    print(n, len(held), gpu.peak_bytes)
    for address in held:
        gpu.free(address)
except Skip as e:
    print("skipped:", e)
print("left:", sum(gpu._held.values()))
"""


@pytest.mark.parametrize(
    ("free", "fails", "told"),
    [
        (1 << 30, "", f"4096 3 {10 << 24}"),
        (SPARE + (10 << 22), "", f"2048 3 {10 << 22}"),
        (SPARE + (10 << 22) - 1, "", f"1024 3 {10 << 20}"),
        (SPARE + (10 << 20) - 1, "", "skipped: only 265 MiB of the device's memory are free"),
        (1 << 30, "cuMemAlloc_v2=2", "skipped: only 1024 MiB of the device's memory are free"),
    ],
)
def test_little_memory(libcuda: str, free: int, fails: str, told: str) -> None:
    env = {"LD_LIBRARY_PATH": libcuda, "FAKE_CUDA_DEVICES": "1", "FAKE_CUDA_FREE": str(free), "FAKE_CUDA_FAIL": fails}
    assert in_patient(sys.executable, ["gemm.matrices"], FITS, **env) == f"{told}\nleft: 0\n"


def test_no_memory_for_the_smallest(run: Run) -> None:
    assert "skipped" in run("matmul-float32", {**SMALL, "n": 128}, FAKE_CUDA_FREE=str(SPARE + 3 * 64 * 64 * 4))


# ----------------------------------------------------------------------------- memory

PATTERN = {"size": 8 << 20, "samples": 2}


@pytest.mark.parametrize("python", [sys.executable, *list(interpreters().values())[:1]])
def test_memory_keeps_what_is_written(run: Run, python: str) -> None:
    got = run("memory-pattern", PATTERN, python)
    value = got["value"]
    assert (value["verified"], value["error"], value["found"], value["size"]) == (True, 0.0, None, [8 << 20])
    assert len(value["samples"]) == 4
    assert "by_host" not in value
    assert got["peak_bytes"] == (8 << 20) + 256


def test_memory_that_does_not(run: Run) -> None:
    value = run("memory-pattern", PATTERN, FAKE_CUDA_WRONG="gpu0:kernel")["value"]
    assert value["verified"] is False
    assert value["error"] == 6.0  # a bit in each filling, read three times
    assert "the first at byte 4194304 of 8388608 (bits 0x10)" in value["found"]


def test_no_more_than_there_is(run: Run) -> None:
    value = run("memory-pattern", {"size": 1 << 40, "samples": 1}, FAKE_CUDA_FREE=str(64 << 20))["value"]
    assert value["size"] == [30 << 20]  # half of what is left: others may want memory, too
    assert "skipped" in run("memory-pattern", PATTERN, FAKE_CUDA_FREE=str(2 << 20))


def test_a_driver_that_compiles_nothing(run: Run) -> None:
    refuses = {"FAKE_CUDA_FAIL": "cuModuleLoadData=221"}
    value = run("memory-pattern", PATTERN, **refuses)["value"]
    assert value["verified"] is True
    assert "cuModuleLoadData answers 221" in value["by_host"]
    wrong = run("memory-pattern", PATTERN, **refuses, FAKE_CUDA_WRONG="gpu0:htod")["value"]
    assert wrong["verified"] is False
    assert wrong["error"] == 4.0
    assert "cuModuleLoadData answers 221" in run("launch-latency", {"samples": 1}, **refuses)["skipped"]
    lost = run("memory-pattern", PATTERN, FAKE_CUDA_FAIL="cuModuleLoadData=700")
    assert "700" in lost["failed"]


# ----------------------------------------------------------------------------- again


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("refuses", ["", "cuModuleLoadData=221"])
def test_the_same_again(run: Run, dtype: str, refuses: str) -> None:
    again = {"n": 64, "dtype": dtype, "seconds": 0.05}
    value = run("repeat-matmul", again, FAKE_CUDA_FAIL=refuses)["value"]
    assert (value["verified"], value["different"], value["found"]) == (True, 0, None)
    assert value["queued"] >= 2
    assert ("by_host" in value) == bool(refuses)
    flaky = run("repeat-matmul", again, FAKE_CUDA_FAIL=refuses, FAKE_CUBLAS="flaky")["value"]
    assert flaky["verified"] is False
    assert flaky["different"] >= 1
    assert "differed" in flaky["found"]


def test_the_same_wrong_result_again(run: Run) -> None:
    value = run("repeat-matmul", {"n": 64, "dtype": "float32", "seconds": 0.05}, FAKE_CUBLAS="wrong")["value"]
    assert (value["verified"], value["different"]) == (False, 0)


@pytest.mark.parametrize("refuses", ["", "cuModuleLoadData=221"])
def test_a_result_that_is_only_left_from_before(run: Run, refuses: str) -> None:
    again = {"n": 64, "dtype": "float32", "seconds": 0.05}
    value = run("repeat-matmul", again, FAKE_CUDA_FAIL=refuses, FAKE_CUBLAS="lazy")["value"]
    assert value["verified"] is False
    assert value["different"] >= 1  # the first of these runs was done


# ----------------------------------------------------------------------------- launches


def test_launches(run: Run) -> None:
    value = run("launch-latency", {"samples": 3})["value"]
    assert (value["unit"], value["verified"], value["error"]) == ("us", True, 0.0)
    assert len(value["samples"]) == len(value["queued_us"]) == 3
    assert min(value["samples"]) > 0
