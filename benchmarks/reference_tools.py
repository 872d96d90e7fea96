"""The reference tools: how each is run, and how its output is read.

nvbandwidth (-v prints each sample with its two ends), all_reduce_perf of nccl-tests, and torch in a child process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MIB = 1 << 20

# nvbandwidth's test -> our kernel
COPIES = {
    "host_to_device_memcpy_ce": "copy-host-to-device",
    "device_to_host_memcpy_ce": "copy-device-to-host",
    "device_to_device_memcpy_read_ce": "copy-pair",
    "device_local_copy": "copy-inside",
}
# the arguments of each run -> with or without CUDA graphs: 8 MiB; 128 MiB and 1 GiB
ALL_REDUCES = (("-b", "8M", "-e", "8M", "-G", "1"), ("-b", "128M", "-e", "1G", "-f", "8"))
ALL_REDUCE_SIZES = (8 * MIB, 128 * MIB, 1024 * MIB)


@dataclass(frozen=True)
class Figure:
    """One figure of one side: GB/s (10^9 bytes), TFLOP/s, as the kernel has it."""

    kernel: str
    device: str
    """'GPU:0'; of a pair or a collective 'GPU:0,GPU:1', of a copy from the first to the second."""
    size: tuple[int, ...]
    """Bytes, or the matrix' sides; empty where the tool doesn't say."""
    value: float
    samples: tuple[float, ...] = ()
    library: str | None = None
    """The file that did it; None: not known."""
    version: str | None = None
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Ran:
    """A command that ended, or was ended."""

    command: tuple[str, ...]
    seconds: float
    code: int | None
    """None: it took too long."""
    out: str
    err: str
    files: Mapping[str, str]
    """The beginning of a library's name ('libnccl.so') -> the file that the process had mapped."""

    @property
    def failed(self) -> str | None:
        """Why there is no result, in one line."""
        if self.code == 0:
            return None
        last = (self.err.strip() or self.out.strip()).splitlines()[-1:] or ["no output"]
        return (
            f"{Path(self.command[0]).name} "
            + (f"exit {self.code}: " if self.code is not None else "timed out: ")
            + last[0][:160]
        )


def mapped(maps: str, names: Sequence[str]) -> dict[str, str]:
    """Which of the libraries a text like /proc/PID/maps names (proc_pid_maps(5)), the first file of each."""
    found: dict[str, str] = {}
    for line in maps.splitlines():
        parts = line.split(maxsplit=5)
        path = parts[5] if len(parts) == 6 else ""
        for name in names:
            if path.rpartition("/")[2].startswith(name):
                found.setdefault(name, path)
    return found


def run(
    command: Sequence[str], env: Mapping[str, str], libraries: Sequence[str] = (), text: str = "", limit_s: float = 900
) -> Ran:
    """Run to the end, in a process group of its own, and see which files of `libraries` it maps meanwhile."""
    files: dict[str, str] = {}
    with (
        tempfile.TemporaryFile("w+") as given,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        given.write(text)
        given.seek(0)
        began = time.perf_counter()
        try:
            process = subprocess.Popen(
                command, stdin=given, stdout=out, stderr=err, env=dict(env), start_new_session=True
            )
        except OSError as e:
            return Ran(tuple(command), 0.0, 127, "", str(e), files)
        try:
            while len(files) < len(libraries) and process.poll() is None and time.perf_counter() - began < 20:
                try:
                    files |= mapped(Path(f"/proc/{process.pid}/maps").read_text(), libraries)
                except OSError:
                    break
                time.sleep(0.02)
            code: int | None = process.wait(max(0.1, limit_s - (time.perf_counter() - began)))
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        seconds = time.perf_counter() - began
        out.seek(0)
        err.seek(0)
        return Ran(tuple(command), seconds, code, out.read(), err.read(), files)


_TEST = re.compile(r"Running (\w+)\.")
_SAMPLE = re.compile(r"\s+Sample \d+: (Host|Device \d+) -> (Host|Device \d+): ([\d.]+) GB/s")


def nvbandwidth(out: str, library: str | None = None) -> list[Figure]:
    """What `nvbandwidth -v` measured: each sample names the source and the destination of its copy; the median of them is its result.

    The matrix is not read: in the read tests its row is the reader, so data goes from the column to the row.
    """
    version = re.search(r"nvbandwidth Version: (\S+)", out)
    samples: dict[tuple[str, str], list[float]] = {}
    kernel: str | None = None
    for line in out.splitlines():
        if test := _TEST.match(line):
            kernel = COPIES.get(test[1])
        elif kernel and (sample := _SAMPLE.match(line)):
            ends = [end.replace("Device ", "GPU:") for end in sample.group(1, 2) if end != "Host"]
            samples.setdefault((kernel, ",".join(dict.fromkeys(ends))), []).append(float(sample[3]))
    return [
        Figure(
            name,
            device,
            (),
            statistics.median(values),
            tuple(values),
            library,
            f"nvbandwidth {version[1] if version else '?'}",
        )
        for (name, device), values in samples.items()
    ]


_ROW = re.compile(
    r"\s*(?P<bytes>\d+)\s+\d+\s+float\s+sum\s+-1"
    r"\s+[\d.]+\s+[\d.]+\s+(?P<out>[\d.]+)\s+(?P<wrong>\S+)\s+[\d.]+\s+[\d.]+\s+(?P<in>[\d.]+)\s+(?P<in_wrong>\S+)"
)


def all_reduce_perf(out: str, gpus: int, library: str | None = None) -> list[Figure]:
    """What all_reduce_perf printed: the bus bandwidth out of place, which ours is; in place in `more`.

    A row with wrong elements is no figure. Raises ValueError where it names another number of ranks.
    """
    ranks = len(re.findall(r"^#\s+Rank\s+\d+ ", out, re.MULTILINE))
    if ranks != gpus:
        raise ValueError(f"all_reduce_perf had {ranks} ranks, not {gpus}")
    version = re.search(r"NCCL version (\S+)", out)
    device = ",".join(f"GPU:{n}" for n in range(gpus))
    return [
        Figure(
            "all-reduce", device, (int(row["bytes"]),), float(row["out"]), (float(row["out"]),), library,
            f"NCCL {version[1]}" if version else None, {"in_place": float(row["in"])},
        )
        for row in map(_ROW.match, out.splitlines())
        if row and row["wrong"] == "0" and row["in_wrong"] == "0"
    ]  # fmt: skip


TORCH = """
import json, re, statistics, sys
import torch

def product(kernel, n, gpu):
    torch.backends.cuda.matmul.allow_tf32 = kernel == "matmul-tf32"
    kinds = {"matmul-float16": torch.float16, "matmul-bfloat16": torch.bfloat16}
    a, b = (torch.randn(n, n, device=gpu, dtype=torch.float32).to(kinds.get(kernel, torch.float32)) for _ in "ab")
    if kernel != "matmul-float8":
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)
    a, b, one = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn).t(), torch.ones((), device=gpu)
    return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

def seconds(work, times):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in "be")
    begin.record()
    for _ in range(times):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3

told = {"version": torch.__version__, "measurements": [], "failed": []}
for kernel, n, device in json.load(sys.stdin):
    try:
        torch.cuda.set_device(int(device[4:]))
        work = product(kernel, n, torch.device("cuda", int(device[4:])))
        seconds(work, 3)
        times = max(1, min(200, round(0.1 / seconds(work, 1))))
        samples = [2 * n**3 * times / seconds(work, times) / 1e12 for _ in range(5)]
        told["measurements"].append({"kernel": kernel, "n": n, "device": device, "samples": samples})
    except Exception as e:
        told["failed"].append(f"{kernel} {n} on {device}: {type(e).__name__}: {str(e)[:200]}")
    work = None
    torch.cuda.empty_cache()
told["files"] = sorted(set(re.findall(r"/\\S+/lib(?:cublas|cublasLt|nccl)\\.so\\S*", open("/proc/self/maps").read())))
print(json.dumps(told))
"""


def torch_files(out: str) -> dict[str, str]:
    """The beginning of each library's name -> the file that torch has mapped."""
    return {Path(path).name.partition(".so")[0] + ".so": path for path in json.loads(out)["files"]}


def torch_matmuls(out: str) -> list[Figure]:
    """What the script above measured: medians, in TFLOP/s."""
    told, files = json.loads(out), torch_files(out)
    return [
        Figure(
            m["kernel"], m["device"], (m["n"],) * 3, statistics.median(m["samples"]), tuple(m["samples"]),
            files.get("libcublasLt.so" if m["kernel"] == "matmul-float8" else "libcublas.so"), f"torch {told['version']}",
            {"files": files},
        )
        for m in told["measurements"]
    ]  # fmt: skip


def _size(one: dict[str, Any]) -> tuple[int, ...]:
    """Bytes for what counts float32 elements, as collectives do."""
    size = one.get("size") or ()
    return tuple(4 * n if one["kernel"].startswith("all-reduce") and one["dtype"] == "float32" else n for n in size)


def gpudoctor_bench(out: str) -> list[Figure]:
    """Our own figures from `gpudoctor bench --format json`; not those of TensorFlow, nor what was not measured."""
    return [
        Figure(
            m["kernel"], m["device"], _size(m), float(m["value"]), tuple(m.get("samples") or ()),
            m.get("library"), m.get("library_version"), m,
        )
        for m in json.loads(out)["measurements"]
        if m.get("backend") != "tensorflow" and isinstance(m.get("value"), (int, float))
    ]  # fmt: skip
