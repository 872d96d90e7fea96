"""Native kernels that are killed, hang, crash or find no memory, on real GPUs: it is reported, the others complete, nothing is left.

`pytest -m gpu tests/gpu/test_native_faults.py`. The Python that gpudoctor chooses here (the first on PATH) must have cuBLAS.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.building import Workshop, put
from tests.running import COMMAND, MARK, ROOT, TOKEN, alive, left

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/proc/driver/nvidia/version").exists(), reason="no NVIDIA driver is loaded"),
]

SURROUNDINGS = {k: v for k, v in os.environ.items() if k.startswith(("LD_LIBRARY", "CUDA_", "NVIDIA_", "NCCL_"))}
"""What the machine has set, before the tests take it away."""
LONG = ("--repeats", "100")
"""With it a product of float32 takes some seconds."""
LIMITED = ("--quick", "--timeout", "12")
"""A third of it for each kernel."""
Measured = list[dict[str, Any]]
"""Measurements as they are in the JSON."""

NVML = """
import json, pynvml
pynvml.nvmlInit()
found = {}
for i in range(pynvml.nvmlDeviceGetCount()):
    handle = pynvml.nvmlDeviceGetHandleByIndex(i)
    pids = sorted(p.pid for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle))
    found[pynvml.nvmlDeviceGetUUID(handle)] = [pids, pynvml.nvmlDeviceGetMemoryInfo(handle).used >> 20]
print(json.dumps(found))
"""
HOLD = """
import ctypes, sys, time
cuda, free, total = ctypes.CDLL("libcuda.so.1"), ctypes.c_size_t(), ctypes.c_size_t()
context, held = ctypes.c_void_p(), ctypes.c_uint64()
def call(result):
    assert result == 0, result
call(cuda.cuInit(0))
call(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
call(cuda.cuCtxSetCurrent(context))
for mib in (1024, 64, 2):
    while True:
        call(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)))
        if free.value >> 20 < int(sys.argv[1]) + mib or cuda.cuMemAlloc_v2(ctypes.byref(held), ctypes.c_size_t(mib << 20)):
            break
print("held", flush=True)
time.sleep(120)
"""
"""Takes the first GPU's memory in ever smaller pieces, and leaves about as many MiB as it is told."""


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    return {**os.environ, **SURROUNDINGS, "PYTHONPATH": path, MARK: TOKEN, **more}


def on_the_gpus() -> dict[str, tuple[list[int], int]]:
    """Who computes on each GPU, by NVML, and MiB in use."""
    done = subprocess.run(
        [sys.executable, "-c", NVML], env=environment(), capture_output=True, text=True, check=True, timeout=60
    )
    return {uuid: (pids, used) for uuid, (pids, used) in json.loads(done.stdout).items()}


def shared() -> set[str]:
    """NCCL's files in shared memory."""
    return {path.name for path in Path("/dev/shm").glob("nccl-*")}


def as_before(before: Mapping[str, tuple[list[int], int]], now: Mapping[str, tuple[list[int], int]]) -> bool:
    """The same processes; what a driver keeps for itself may differ a little."""
    return set(before) == set(now) and all(
        now[uuid][0] == pids and now[uuid][1] - used < 64 for uuid, (pids, used) in before.items()
    )


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process, no process on a GPU by NVML, no memory of a GPU, no file of NCCL's."""
    before, files = on_the_gpus(), shared()
    yield
    assert left() == []
    deadline = time.monotonic() + 10
    while not as_before(before, now := on_the_gpus()) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert as_before(before, now), (before, now)
    assert shared() <= files


@pytest.fixture(scope="module")
def gpus() -> list[str]:
    """'GPU:0', …: those that CUDA shows."""
    count = "import ctypes; c, n = ctypes.CDLL('libcuda.so.1'), ctypes.c_int(); c.cuInit(0); c.cuDeviceGetCount(ctypes.byref(n)); print(n.value)"
    done = subprocess.run(
        [sys.executable, "-c", count], env=environment(), capture_output=True, text=True, check=True, timeout=60
    )
    return [f"GPU:{i}" for i in range(int(done.stdout))]


@pytest.fixture
def two(gpus: list[str]) -> list[str]:
    if len(gpus) < 2:
        pytest.skip("it takes two GPUs")
    return gpus


def start(*arguments: str, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(**env),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def bench(*arguments: str, **env: str) -> tuple[int, Measured]:
    """A run to its end."""
    return end(start("bench", "--format", "json", *arguments, **env))


def end(tool: subprocess.Popen[str]) -> tuple[int, Measured]:
    out, said = waited(tool, 90)
    assert out, said
    measured: Measured = json.loads(out)["measurements"]
    return tool.returncode, measured


def waited(tool: subprocess.Popen[str], limit_s: float) -> tuple[str, str]:
    """What it printed until its end."""
    try:
        return tool.communicate(timeout=limit_s)
    finally:
        tool.kill()


def at_work(tool: subprocess.Popen[str], library: str) -> psutil.Process:
    """A child that has the driver's device open and `library` loaded; it is given a second to be amid its work."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert tool.poll() is None, tool.communicate()
        for one in psutil.Process(tool.pid).children(recursive=True):
            if _uses(one.pid, library):
                time.sleep(1)
                if one.is_running():
                    return one
        time.sleep(0.02)
    raise AssertionError(f"no child with {library} on a GPU within a minute: {alive()}")


def _uses(pid: int, library: str) -> bool:
    try:
        maps = Path(f"/proc/{pid}/maps").read_text()
        if f"/{library}." not in maps or "/libcuda.so." not in maps:
            return False
        opened = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return "/dev/nvidia-uvm" in opened


def verified(got: Measured) -> set[tuple[str, str]]:
    """(kernel, devices) of what has a value, and the right one, in all its sizes."""
    wrong = {(m["kernel"], m["device"]) for m in got if not isinstance(m["value"], float) or m["verified"] is not True}
    return {(m["kernel"], m["device"]) for m in got} - wrong


def why(got: Measured, kernel: str, device: str) -> str:
    """Why measurements of a kernel failed, the first reason; what there was nothing to do for did not fail."""
    ones = [m["value"] for m in got if (m["kernel"], m["device"]) == (kernel, device)]
    failed = [str(value["why"]) for value in ones if isinstance(value, dict) and not value.get("chosen")]
    assert failed, ones
    return failed[0]


def pairs(gpus: list[str]) -> list[str]:
    return [f"{one},{other}" for one in gpus for other in gpus if one != other]


# ----------------------------------------------------------------------------- killed


def test_a_child_is_killed_in_mid_kernel(gpus: list[str]) -> None:
    tool = start("bench", "--format", "json", "copy-inside", "matmul-float32", "repeat-matmul", *LONG)
    at_work(tool, "libcublas.so").send_signal(signal.SIGKILL)
    code, got = end(tool)
    assert code == 1
    # of several GPUs, one that waits for its context has loaded cuBLAS before its first kernel: then it is that one
    everything = {(kernel, gpu) for kernel in ("copy-inside", "matmul-float32", "repeat-matmul") for gpu in gpus}
    ((kernel, gpu),) = everything - verified(got)
    assert why(got, kernel, gpu) == f"{kernel} was ended by signal 9"


def test_the_child_of_all_gpus_is_killed_in_mid_kernel(two: list[str]) -> None:
    tool = start("bench", "--format", "json", "copy-pair", "all-reduce", *LONG)
    at_work(tool, "libnccl.so").send_signal(signal.SIGKILL)
    code, got = end(tool)
    assert code == 1
    assert "was ended by signal 9" in why(got, "all-reduce", ",".join(two))
    assert verified(got) == {("copy-pair", pair) for pair in pairs(two)}


# ----------------------------------------------------------------------------- a library hangs, or crashes


@pytest.fixture(params=["hangs", "crashes"])
def fault(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def faulty(workshop: Workshop, directory: Path, soname: str, fault: str) -> dict[str, str]:
    """The variables under which a process gets this library first."""
    put(
        workshop.fake("vendor_fault.c", soname, *(["CRASH"] if fault == "crashes" else [])),
        directory,
        soname,
    )
    return {"LD_LIBRARY_PATH": f"{directory}:{SURROUNDINGS.get('LD_LIBRARY_PATH', '')}".rstrip(":")}


WORDS = {"hangs": "did not end within", "crashes": "was ended by signal 11"}


def test_cublas_fails_in_mid_kernel(gpus: list[str], workshop: Workshop, tmp_path: Path, fault: str) -> None:
    env = faulty(workshop, tmp_path, "libcublas.so.12", fault)
    code, got = bench("copy-inside", "matmul-float32", "copy-latency", *LIMITED, **env)
    assert code == 1
    for gpu in gpus:
        assert why(got, "matmul-float32", gpu).startswith(f"matmul-float32 {WORDS[fault]}")
    assert verified(got) == {(kernel, gpu) for kernel in ("copy-inside", "copy-latency") for gpu in gpus}


def test_nccl_fails_in_mid_kernel(two: list[str], workshop: Workshop, tmp_path: Path, fault: str) -> None:
    env = faulty(workshop, tmp_path, "libnccl.so.2", fault)
    code, got = bench("copy-inside", "copy-pair", "all-reduce", *LIMITED, **env)
    assert code == 1
    assert WORDS[fault] in why(got, "all-reduce", ",".join(two))
    assert verified(got) == {*(("copy-inside", gpu) for gpu in two), *(("copy-pair", pair) for pair in pairs(two))}


# ----------------------------------------------------------------------------- no memory


@contextlib.contextmanager
def holding(left_mib: int) -> Iterator[None]:
    """Another process holds all of the first GPU's memory but so much."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(left_mib)], env=environment(), stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield
    finally:
        holder.kill()
        holder.communicate()


def test_another_process_holds_nearly_all_memory(gpus: list[str]) -> None:
    """A context and a small copy find room, the large copy does not."""
    with holding(1200):
        _, got = bench("copy-inside", "copy-latency", "--quick")
    (value,) = [m["value"] for m in got if (m["kernel"], m["device"]) == ("copy-inside", "GPU:0")]
    assert "MiB of the device's memory are free" in value["why"]
    assert verified(got) == {("copy-latency", gpu) for gpu in gpus} | {("copy-inside", gpu) for gpu in gpus[1:]}


def test_there_is_not_even_room_for_a_context(gpus: list[str]) -> None:
    with holding(40):
        code, got = bench("copy-inside", "copy-latency", "--quick")
    assert code == 1
    for kernel in ("copy-inside", "copy-latency"):
        assert "CUDA_ERROR_OUT_OF_MEMORY" in why(got, kernel, "GPU:0")
        assert {gpu for k, gpu in verified(got) if k == kernel} == set(gpus[1:])


# ----------------------------------------------------------------------------- the tool is ended


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", [("bench", "matmul-float32", *LONG), ("check", "--level", "standard")])
def test_the_tool_is_ended_in_mid_kernel(command: tuple[str, ...], number: signal.Signals) -> None:
    tool = start(*command)
    at_work(tool, "libcublas.so")
    tool.send_signal(number)
    _, said = waited(tool, 20)
    assert tool.returncode == 128 + number
    end = "interrupted" if number is signal.SIGINT else "ended by SIGTERM"
    assert said.splitlines()[-1] == f"gpudoctor: {end}"


def test_ctrl_c_while_all_gpus_work_together(two: list[str]) -> None:
    tool = start("bench", "all-reduce", *LONG)
    at_work(tool, "libnccl.so")
    tool.send_signal(signal.SIGINT)
    waited(tool, 20)
    assert tool.returncode == 128 + signal.SIGINT
