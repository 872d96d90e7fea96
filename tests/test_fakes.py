"""The fake libcuda is as strict as CUDA where a program's fault would go unseen, and does what it records."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.building import Workshop, put
from tests.running import ROOT

BEGIN = """
import ctypes, os
from ctypes import byref, c_void_p, c_uint64
from gpudoctor.patient import cuda as driver
def refused(code, call, *arguments):
    try:
        cuda.call(call, *arguments)
    except driver.CudaError as e:
        assert e.code == code, e
    else:
        raise AssertionError(call)
"""
OPEN = """
cuda = driver.Cuda()
gpu = driver.Gpu(cuda, 0).open()
"""


def run(workshop: Workshop, place: Path, program: str, **env: str) -> None:
    put(workshop.fake("libcuda.c", "libcuda.so.1"), place, "libcuda.so.1")
    fakes = {"LD_LIBRARY_PATH": str(place), "FAKE_CUDA_DEVICES": "2", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        env={**os.environ, **fakes, **env},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr


STRICT = {
    "no context": "cuda = driver.Cuda(); refused(201, 'cuMemAlloc_v2', byref(c_uint64()), 8)",
    "a fork": """
cuda = driver.Cuda()
child = os.fork()
if not child:
    refused(3, 'cuDevicePrimaryCtxRetain', byref(c_void_p()), 0)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
    "beyond an allocation": OPEN
    + """
at = gpu.allocate(64)
gpu.put(at, bytes(64))
refused(1, 'cuMemcpyHtoD_v2', at, ctypes.create_string_buffer(65), 65)
refused(1, 'cuMemcpyDtoH_v2', ctypes.create_string_buffer(65), at + 1, 64)
gpu.free(at)
refused(1, 'cuMemFree_v2', at)
refused(1, 'cuMemcpyHtoD_v2', at, ctypes.create_string_buffer(64), 64)
""",
    "more than is free": OPEN
    + """
free, total = gpu.memory_bytes()
assert free == 1 << 30 < total
at = gpu.allocate(1 << 20)
assert gpu.memory_bytes()[0] == (1 << 30) - (1 << 20)
refused(2, 'cuMemAlloc_v2', byref(c_uint64()), 1 << 30)
gpu.free(at)
assert gpu.memory_bytes()[0] == 1 << 30
""",
    "peer access": OPEN
    + """
other = driver.Gpu(cuda, 1).open()
refused(705, 'cuCtxDisablePeerAccess', gpu.context)
cuda.call('cuCtxEnablePeerAccess', gpu.context, 0)
refused(704, 'cuCtxEnablePeerAccess', gpu.context, 0)
refused(217, 'cuCtxEnablePeerAccess', other.context, 0)
refused(400, 'cuEventRecord', other.new_event(), gpu.stream)
""",
    "an event that was not recorded": OPEN
    + "refused(400, 'cuEventElapsedTime', byref(ctypes.c_float()), gpu.new_event(), gpu.new_event())",
    "PTX": OPEN
    + """
refused(218, 'cuModuleLoadData', byref(c_void_p()), b'no PTX')
text = b'.version 6.0\\n.target sm_50\\n.visible .entry nothing()\\n{ ret; }\\n.visible .entry mine() { ret; }'
module = gpu.load(text)
gpu.launch(gpu.function(module, 'nothing'), 1, 1, [])
refused(500, 'cuModuleGetFunction', byref(c_void_p()), module, b'count')
""",
    "a kernel that writes where nothing is": OPEN
    + """
module = gpu.load(b'.version 6.0\\n.target sm_50\\n.visible .entry count(.param .u64 p)\\n{ ret; }')
count, at = gpu.function(module, 'count'), gpu.allocate(64)
gpu.put(at, bytes(64))
gpu.launch(count, 2, 32, [c_uint64(at)])
assert gpu.get(at, 8) == (64).to_bytes(8, 'little')
try:
    gpu.launch(count, 2, 32, [c_uint64(at + 64)])
except driver.CudaError as e:
    assert e.code == 700
refused(700, 'cuStreamSynchronize', gpu.stream)
refused(700, 'cuMemFree_v2', at)
driver.Gpu(cuda, 1).open().allocate(64)
""",
}


@pytest.mark.parametrize("what", STRICT)
def test_it_refuses(workshop: Workshop, tmp_path: Path, what: str) -> None:
    run(workshop, tmp_path, STRICT[what])


def test_a_graph_repeats_what_was_recorded_in_all_its_streams(workshop: Workshop, tmp_path: Path) -> None:
    program = """
here, one, two = gpu.pinned(1 << 20), gpu.allocate(1 << 20), gpu.allocate(1 << 20)
other = gpu.new_stream()
forked, joined = gpu.new_event(), gpu.new_event()
gpu.put(one, bytes(1 << 20)); gpu.put(two, bytes(1 << 20))
ctypes.memset(here, 1, 1 << 20)
cuda.call('cuStreamBeginCapture_v2', gpu.stream, 2)
gpu.record(forked)
cuda.call('cuStreamWaitEvent', other, forked, 0)
cuda.call('cuMemcpyHtoDAsync_v2', one, here, 1 << 20, gpu.stream)
cuda.call('cuMemcpyHtoDAsync_v2', two, here, 1 << 19, other)
refused(900, 'cuStreamSynchronize', other)
gpu.record(joined, other)
cuda.call('cuStreamWaitEvent', gpu.stream, joined, 0)
graph, ready = c_void_p(), c_void_p()
refused(401, 'cuStreamEndCapture', other, byref(graph))
cuda.call('cuStreamEndCapture', gpu.stream, byref(graph))
cuda.call('cuGraphInstantiateWithFlags', byref(ready), graph, 0)
assert gpu.get(one, 1) == gpu.get(two, 1) == bytes(1)
for value in (2, 3):
    ctypes.memset(here, value, 1 << 20)
    (took,) = gpu.times(lambda: cuda.call('cuGraphLaunch', ready, gpu.stream), 1)
    assert gpu.get(one, 1 << 20) == bytes([value]) * (1 << 20)
    assert gpu.get(two, 1 << 20) == bytes([value]) * (1 << 19) + bytes(1 << 19)
    assert abs(took / ((1 << 20) / 10e9) - 1) < 1e-3, took  # side by side: as long as the longer one
gpu.put(one, bytes(8))  # nothing is recorded any more
assert gpu.get(one, 8) == bytes(8)
"""
    run(workshop, tmp_path, OPEN + program, FAKE_CUDA_GB_PER_S="gpu0=10")


def test_work_in_a_stream_takes_its_time_in_turn(workshop: Workshop, tmp_path: Path) -> None:
    program = """
here, there = gpu.pinned(1 << 20), gpu.allocate(1 << 20)
other, first, last = gpu.new_stream(), gpu.new_event(), gpu.new_event()
copy = lambda stream: cuda.call('cuMemcpyHtoDAsync_v2', there, here, 1 << 20, stream)
one = (1 << 20) / 10e9
def took(*steps):
    gpu.record(first)
    for step in steps: step()
    gpu.record(last)
    return round(gpu.between(first, last) / one, 2)
assert took() == 0
assert took(lambda: copy(gpu.stream)) == 1
assert took(lambda: copy(gpu.stream), lambda: copy(gpu.stream)) == 2
assert took(lambda: copy(other)) == 0
done = gpu.new_event()
steps = [lambda: copy(other), lambda: copy(gpu.stream), lambda: gpu.record(done, other)]
assert took(*steps, lambda: cuda.call('cuStreamWaitEvent', gpu.stream, done, 0)) == 2  # one copy was still to be done there
"""
    run(workshop, tmp_path, OPEN + program, FAKE_CUDA_GB_PER_S="gpu0=10")
