"""Our kernels beside the reference tools: what those print is read, and ratios count only where they may."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import reference
from benchmarks.reference import Side, compare, largest, table, time_verdict
from benchmarks.reference_tools import (
    MIB,
    Figure,
    all_reduce_perf,
    gpudoctor_bench,
    mapped,
    nvbandwidth,
    run,
    torch_matmuls,
)
from benchmarks.reference_tools import TORCH as SCRIPT

# The lines are our own, in the form that the tools print them in.
NVBANDWIDTH = """nvbandwidth Version: v0.8
Built from Git version: unknown

CUDA Runtime Version: 13000
CUDA Driver Version: 13000
Driver Version: 580.00.00

host-1
Device 0: NVIDIA H200 (00000000:01:00)
Device 1: NVIDIA H200 (00000000:02:00)

Running host_to_device_memcpy_ce.
	Sample 0: Host -> Device 0: 55.10 GB/s
	Sample 1: Host -> Device 0: 55.30 GB/s
	Sample 2: Host -> Device 0: 51.00 GB/s
	Sample 0: Host -> Device 1: 54.00 GB/s
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.10     54.00

SUM host_to_device_memcpy_ce 109.10
MIN host_to_device_memcpy_ce 54.00
Running host_to_device_bidirectional_memcpy_ce.
	Sample 0: Host -> Device 0: 40.00 GB/s
Running device_to_device_memcpy_read_ce.
	Sample 0: Device 1 -> Device 0: 391.00 GB/s
	Sample 0: Device 0 -> Device 1: 394.00 GB/s
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    391.00
 1    394.00       N/A

Running device_local_copy.
	Sample 0: Device 0 -> Device 0: 2082.00 GB/s
Running device_to_host_memcpy_ce.
	Sample 0: Device 0 -> Host: 55.20 GB/s
NOTE: The reported results may not reflect the full capabilities of the platform.
"""

ALL_REDUCE = """# nThread 1 nGpus 2 minBytes 134217728 maxBytes 1073741824 step: 8(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid    100 on     host-1 device  0 [0x01] NVIDIA H200
#  Rank  1 Group  0 Pid    100 on     host-1 device  1 [0x02] NVIDIA H200
NCCL version 2.28.9+cuda13.0
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   134217728      33554432     float     sum      -1    472.6  284.00  284.00      0    470.1  285.50  285.50      0
  1073741824     268435456     float     sum      -1   3284.2  326.94  326.94      0   3281.0  327.26  327.26      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 305.925
#
"""


def test_nvbandwidths_samples_are_read_by_their_ends() -> None:
    figures = {(f.kernel, f.device): f for f in nvbandwidth(NVBANDWIDTH, "/usr/lib/libcuda.so.1")}
    assert {key: f.value for key, f in figures.items()} == {
        ("copy-host-to-device", "GPU:0"): 55.1,
        ("copy-host-to-device", "GPU:1"): 54.0,
        ("copy-pair", "GPU:1,GPU:0"): 391.0,
        ("copy-pair", "GPU:0,GPU:1"): 394.0,
        ("copy-inside", "GPU:0"): 2082.0,
        ("copy-device-to-host", "GPU:0"): 55.2,
    }
    assert figures["copy-host-to-device", "GPU:0"].samples == (55.1, 55.3, 51.0)
    assert figures["copy-inside", "GPU:0"].version == "nvbandwidth v0.8"
    assert nvbandwidth("[CUDA_ERROR_NO_DEVICE] no CUDA-capable device is detected in expression cuInit(0)\n") == []


def test_the_bus_bandwidth_out_of_place_is_read() -> None:
    figures = all_reduce_perf(ALL_REDUCE, 2, "/x/libnccl.so.2")
    assert [(f.size, f.value, f.more["in_place"]) for f in figures] == [
        ((128 * MIB,), 284.0, 285.5),
        ((1024 * MIB,), 326.94, 327.26),
    ]
    assert {(f.device, f.version, f.library) for f in figures} == {
        ("GPU:0,GPU:1", "NCCL 2.28.9+cuda13.0", "/x/libnccl.so.2")
    }


def test_wrong_sums_and_other_ranks_are_no_figures() -> None:
    wrong = ALL_REDUCE.replace("284.00      0", "284.00      7")
    assert [f.size for f in all_reduce_perf(wrong, 2)] == [(1024 * MIB,)]
    in_place = ALL_REDUCE.replace("327.26      0", "327.26    N/A")
    assert [f.size for f in all_reduce_perf(in_place, 2)] == [(128 * MIB,)]
    with pytest.raises(ValueError, match="2 ranks, not 4"):
        all_reduce_perf(ALL_REDUCE, 4)


TORCH = {
    "version": "2.11.0+cu130",
    "files": ["/x/libcublas.so.13", "/x/libcublasLt.so.13", "/y/libnccl.so.2"],
    "failed": [],
    "measurements": [
        {"kernel": "matmul-float16", "n": 16384, "device": "GPU:0", "samples": [660.0, 670.0, 665.0]},
        {"kernel": "matmul-float8", "n": 8192, "device": "GPU:0", "samples": [1200.0]},
    ],
}


def test_torchs_figures_name_the_library_that_made_them() -> None:
    half, eighth = torch_matmuls(json.dumps(TORCH))
    assert (half.size, half.value, half.library, half.version) == (
        (16384,) * 3,
        665.0,
        "/x/libcublas.so.13",
        "torch 2.11.0+cu130",
    )
    assert (eighth.value, eighth.library) == (1200.0, "/x/libcublasLt.so.13")


FAKE_TORCH = """
import time
class Tensor:
    def __init__(self, shape, dtype): self.shape, self.dtype = shape, dtype
    def to(self, dtype): return Tensor(self.shape, dtype)
    def t(self): return Tensor(self.shape[::-1], self.dtype)
class Cuda:
    def set_device(self, n): assert n == 1
    def empty_cache(self): pass
    class Event:
        def __init__(self, enable_timing): assert enable_timing
        def record(self): self.at = time.perf_counter()
        def synchronize(self): pass
        def elapsed_time(self, end): return (end.at - self.at) * 1e3
class Backends: pass
cuda, backends = Cuda(), Backends()
backends.cuda = Backends(); backends.cuda.matmul = Backends()
__version__, float32, float16, bfloat16, float8_e4m3fn = "9.9", "f32", "f16", "bf16", "f8"
def device(kind, n): return (kind, n)
def randn(*shape, device, dtype): return Tensor(shape, dtype)
def empty_like(a): return Tensor(a.shape, a.dtype)
def ones(shape, device): return Tensor(shape, float32)
def mm(a, b, out):
    assert a.dtype == b.dtype == out.dtype
    assert backends.cuda.matmul.allow_tf32 is (a.dtype == "f32")
    time.sleep(0.02)
def _scaled_mm(a, b, scale_a, scale_b, out_dtype): raise RuntimeError("not on this device")
"""


def test_the_script_that_torch_runs(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(FAKE_TORCH)
    asked = [("matmul-float16", 1000, "GPU:1"), ("matmul-tf32", 1000, "GPU:1"), ("matmul-float8", 64, "GPU:1")]
    ran = run([sys.executable, "-c", SCRIPT], {"PYTHONPATH": str(tmp_path)}, text=json.dumps(asked))
    assert ran.failed is None
    figures = torch_matmuls(ran.out)
    assert [(f.kernel, f.device, f.size, len(f.samples)) for f in figures] == [
        ("matmul-float16", "GPU:1", (1000,) * 3, 5),
        ("matmul-tf32", "GPU:1", (1000,) * 3, 5),
    ]
    assert all(0.03 < f.value < 0.1001 for f in figures)  # 2 x 1000^3 in 20 ms or, on a busy machine, more
    assert json.loads(ran.out)["failed"] == ["matmul-float8 64 on GPU:1: RuntimeError: not on this device"]


def ours(**more: object) -> dict[str, object]:
    made = {"kernel": "matmul-float16", "backend": "cublas", "device": "GPU:0", "dtype": "float16", "size": [16384] * 3}
    return {**made, "unit": "TFLOP/s", "value": 660.0, "samples": [660.0], "library": "/x/libcublas.so.13", **more}


def test_of_ours_what_was_not_measured_and_tensorflow_are_left_out() -> None:
    given = [ours(), ours(value=None), ours(backend="tensorflow", value=1.0)]
    assert [f.value for f in gpudoctor_bench(json.dumps({"measurements": given}))] == [660.0]
    small, large = (Figure("copy-inside", "GPU:0", (size,), size * 1.0) for size in (65536, 512 * MIB))
    assert largest([large, small]) == largest([small, large]) == [large]


def side(*figures: Figure) -> Side:
    made = Side()
    made.add(figures)
    return made


def verdicts(mine: Figure, *others: Figure) -> list[str]:
    return [row.verdict for row in compare(side(mine), side(*others))]


@pytest.mark.parametrize(
    ("kernel", "value", "verdict"),
    [
        ("copy-inside", 98.1, "ok"), ("copy-inside", 101.9, "ok"), ("copy-inside", 97.9, "off (low)"), ("copy-inside", 102.1, "off (high)"),
        ("all-reduce", 97.1, "ok"), ("all-reduce", 96.9, "off (low)"), ("all-reduce", 103.1, "off (high)"),
        ("matmul-tf32", 98.0, "ok"), ("matmul-tf32", 120.0, "ok"), ("matmul-tf32", 97.9, "off (low)"),
    ],
)  # fmt: skip
def test_each_goal(kernel: str, value: float, verdict: str) -> None:
    size = () if kernel == "copy-inside" else (8,)
    mine, other = (Figure(kernel, "GPU:0", size, v, library="/x/lib.so") for v in (value, 100.0))
    assert verdicts(mine, other) == [verdict]


def test_another_library_file_gives_no_verdict(tmp_path: Path) -> None:
    one, other = tmp_path / "libnccl.so.2", tmp_path / "other" / "libnccl.so.2"
    other.parent.mkdir()
    one.write_text("")
    other.write_text("")
    link = tmp_path / "libnccl.so"
    link.symlink_to(one)
    mine = Figure("all-reduce", "GPU:0,GPU:1", (8,), 100.0, library=str(one))

    def theirs(library: Path | None) -> Figure:
        return Figure("all-reduce", "GPU:0,GPU:1", (8,), 100.0, library=str(library) if library else None)

    assert verdicts(mine, theirs(link)) == ["ok"]
    assert verdicts(mine, theirs(other)) == [f"no comparison: ours {one}, theirs {other}"]
    assert verdicts(mine, theirs(link), theirs(other)) == [f"no comparison: ours {one}, theirs {other}"]
    assert verdicts(mine, theirs(None)) == ["no comparison: theirs doesn't name its library"]


def test_the_median_of_the_rounds_is_compared_and_pairs_have_a_direction() -> None:
    rounds = [Figure("copy-pair", "GPU:0,GPU:1", (512 * MIB,), value) for value in (300.0, 394.0, 395.0)]
    theirs = side(Figure("copy-pair", "GPU:0,GPU:1", (), 394.0), Figure("copy-pair", "GPU:1,GPU:0", (), 200.0))
    (row,) = compare(side(*rounds), theirs)
    assert (row.ratio, row.verdict, row.device) == (1.0, "ok", "GPU:0,GPU:1")
    assert "512 MiB    394.00    394.00  1.000  ±2%    ok" in table([row])


def test_time_has_a_verdict_only_where_all_of_theirs_ran() -> None:
    mine, other = Side(seconds=[30.0, 31.0, 90.0]), Side(seconds=[100.0, 100.0, 90.0])
    assert time_verdict(mine, other, complete=True).endswith("ratio 0.31 (goal: below 0.33): ok")
    assert time_verdict(Side(seconds=[34.0]), other, complete=True).endswith(": off")
    assert time_verdict(mine, other, complete=False).endswith("no comparison: not all of theirs ran")


def test_mapped_files() -> None:
    maps = """55d0-55d1 r-xp 00000000 08:01 1 /opt/a dir/libnccl.so.2
7f00-7f01 r-xp 00000000 08:01 2 /x/libcublasLt.so.13
7f01-7f02 rw-p 00000000 00:00 0
"""
    assert mapped(maps, ("libnccl.so", "libcublas.so")) == {"libnccl.so": "/opt/a dir/libnccl.so.2"}


def test_a_command_that_takes_too_long_is_ended() -> None:
    ran = run([sys.executable, "-c", "import time; time.sleep(60)"], {}, limit_s=0.5)
    assert (ran.code, ran.seconds < 20) == (None, True)
    assert ran.failed is not None and "timed out" in ran.failed


@pytest.fixture
def host(tmp_path: Path) -> Callable[..., list[str]]:
    """Stand-ins for the commands, which print what they are told to; the arguments that name them."""
    library = tmp_path / "libnccl.so.2"
    library.write_bytes(b"x" * 4096)
    cublas = tmp_path / "libcublas.so.13"
    cublas.write_bytes(b"x")

    def program(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\nimport mmap, sys, time\n{text}")
        path.chmod(0o755)
        return str(path)

    def made(copy: float = 2090.0, library_of_ours: Path = library) -> list[str]:
        measured = [
            ours(library=str(cublas)),
            ours(kernel="copy-inside", backend="cuda", size=[512 * MIB], value=copy),
            *(
                ours(
                    kernel="all-reduce",
                    backend="nccl",
                    device="GPU:0,GPU:1",
                    size=[n * MIB],
                    value=v,
                    library=str(library_of_ours),
                )
                for n, v in ((8, 170.0), (128, 283.0), (1024, 326.0))
            ),
        ]
        told = {**TORCH, "files": [str(cublas)], "measurements": TORCH["measurements"][:1]}
        small = ALL_REDUCE.replace("   134217728      33554432", "     8388608       2097152").replace(
            "284.00", "172.00"
        )
        small = "\n".join(line for line in small.splitlines() if "1073741824     2" not in line)
        holds = f"f = open({str(library)!r}, 'r+b')\nm = mmap.mmap(f.fileno(), 0)\ntime.sleep(0.3)\n"
        return [
            "--bench", program("bench", f"print({json.dumps({'measurements': measured})!r})"),
            "--nvbandwidth", program("nvbandwidth", f"assert sys.argv[1:3] == ['-v', '-t']\nprint({NVBANDWIDTH!r})"),
            "--all-reduce-perf", program("perf", f"{holds}print({small!r} if '-G' in sys.argv else {ALL_REDUCE!r})"),
            "--torch-python", program("torch", f"print({json.dumps(told)!r})"),
        ]  # fmt: skip

    return made


def test_both_sides_take_turns_and_everything_is_kept(
    host: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NCCL_NVLS_ENABLE", "0")
    code = reference.main([*host(), "--rounds", "2", "--json", str(tmp_path / "kept.json")])
    out = capsys.readouterr().out
    kept = json.loads((tmp_path / "kept.json").read_text())
    rows = {(row["kernel"], tuple(row["size"])): row["verdict"] for row in kept["rows"]}
    assert rows == {
        ("matmul-float16", (16384,) * 3): "ok",
        ("copy-inside", (512 * MIB,)): "ok",
        ("all-reduce", (8 * MIB,)): "ok",
        ("all-reduce", (128 * MIB,)): "ok",
        ("all-reduce", (1024 * MIB,)): "ok",
    }
    assert code == (1 if kept["time"].endswith(": off") else 0)
    assert len(kept["ours"]["seconds"]) == len(kept["theirs"]["seconds"]) == 2
    assert len([f for f in kept["theirs"]["rounds"] if f["kernel"] == "copy-inside"]) == 2
    assert kept["environment"]["NCCL_NVLS_ENABLE"] == "0"
    assert kept["environment"]["LD_LIBRARY_PATH"].split(":")[0] == str(tmp_path)
    assert f"{tmp_path}/libnccl.so.2 (NCCL 2.28.9+cuda13.0)" in out


def test_a_missed_goal_and_another_library_are_said(
    host: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "elsewhere.so"
    other.write_text("")
    assert reference.main([*host(copy=1900.0, library_of_ours=other), "--rounds", "1"]) == 1
    out = capsys.readouterr().out
    assert "±2%    off (low)" in out
    assert out.count(f"no comparison: ours {other}, theirs {tmp_path}/libnccl.so.2") == 3


def test_what_is_not_found_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: Callable[..., list[str]]
) -> None:
    bench = host()[:2]
    missing = [
        word
        for name in ("nvbandwidth", "all-reduce-perf", "torch-python")
        for word in (f"--{name}", str(tmp_path / "none"))
    ]
    assert reference.main([*bench, *missing, "--rounds", "1"]) == 3
    out = capsys.readouterr().out
    assert "nothing was measured by both sides" in out
    assert "copies are not compared. Give --nvbandwidth PATH." in out
    assert "all-reduce is not compared. Give --all-reduce-perf PATH." in out
    assert "torch not found" in out


def test_a_bench_that_fails_is_said(
    host: Callable[..., list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'No such command: bench' >&2\nexit 2\n")
    broken.chmod(0o755)
    assert reference.main(["--bench", str(broken), *host()[2:], "--rounds", "3"]) == 3
    assert "ours: broken exit 2: No such command: bench" in capsys.readouterr().out
