"""Kernels on TensorFlow's devices: the real TensorFlow on two logical CPU devices, and one that is made to fail."""

from __future__ import annotations

import itertools
import os
import sys
import time
from pathlib import Path

import pytest

from gpudoctor import patient as patient_room
from gpudoctor.facts import Measurement, TensorFlow, TensorFlowDevice, Unread
from gpudoctor.kernels import tensorflow as kernels
from gpudoctor.patient import kernels as in_patient
from gpudoctor.probes import tensorflow
from gpudoctor.probes.ask import Answers, Patient
from tests.probes.test_tensorflow import FAKE, fake


def run(names: tuple[str, ...], limit_s: float = 120, repeats: int = 3, **env: str) -> Answers:
    patient = Patient((sys.executable,), {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env})
    return patient.ask([tensorflow.import_task(names, limit_s, repeats)], limit_s=limit_s)


def facts(answers: Answers) -> TensorFlow:
    return tensorflow.read_import(answers, TensorFlow(directory="/x", version=Unread(why="?")))


def measured(answers: Answers) -> dict[tuple[str, str], Measurement]:
    devices = facts(answers).devices
    assert isinstance(devices, tuple), devices
    return {(m.kernel, m.device): m for m in (kernels.read(raw, devices) for raw in answers.all("kernel"))}


@pytest.fixture(scope="module")
def answers(tensorflow_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """All kernels once, without a GPU."""
    home = str(tmp_path_factory.mktemp("keras"))
    return run(kernels.ALL, KERAS_HOME=home, CUDA_VISIBLE_DEVICES="-1", TF_CPP_MIN_LOG_LEVEL="0")


def test_the_lists_of_kernels_agree() -> None:
    assert tuple(in_patient.KERNELS) == kernels.ALL
    assert in_patient.TOGETHER == kernels.TOGETHER
    assert set(in_patient.ALONE) < set(kernels.ALL)
    assert "kernels" in patient_room.names()


def test_every_kernel_is_right_on_the_cpu(answers: Answers) -> None:
    got = measured(answers)
    assert [k for k, _ in got] == list(kernels.ALL)
    for (name, device), one in got.items():
        if name == "matmul-tf32":
            assert one.skipped
            assert "GPU" in one.value.why  # type: ignore[union-attr]
            continue
        assert one.verified is True, (name, one)
        assert isinstance(one.error, float)
        assert isinstance(one.tolerance, float)
        assert 0 <= one.error <= one.tolerance
        assert one.backend == "tensorflow"
        assert device == ("CPU:0,CPU:1" if name == "all-reduce" else "CPU:0")
        assert isinstance(one.placed_on, str)
        assert "CPU" in one.placed_on
        assert one.library is None
        if name in ("host-to-device", "device-to-host"):
            assert one.skipped  # both ends are the host's memory
        else:
            assert isinstance(one.value, float)
            assert isinstance(one.samples, tuple)
            assert one.value > 0
            assert len(one.samples) >= 3


def test_the_tolerance_tells_precisions_apart(answers: Answers) -> None:
    """What float16 may do would be wrong for float32."""
    got = measured(answers)
    single, half = got["matmul", "CPU:0"], got["matmul-float16", "CPU:0"]
    assert isinstance(half.error, float)
    assert isinstance(single.tolerance, float)
    assert half.error > single.tolerance


def test_the_all_reduce_is_a_collective_over_both_devices(answers: Answers) -> None:
    one = measured(answers)["all-reduce", "CPU:0,CPU:1"]
    assert one.operation == "CollectiveReduceV2"
    assert isinstance(one.placed_on, str)
    assert "CPU:0" in one.placed_on
    assert "CPU:1" in one.placed_on
    assert one.devices() == ("cpu0", "cpu1")
    assert one.against == "the exact sum"
    assert isinstance(one.overhead_s, float)
    assert one.overhead_s > 0


def test_what_is_loaded_and_what_tensorflow_made_of_the_cpu(answers: Answers) -> None:
    got = facts(answers)
    assert isinstance(got.loaded, tuple)
    assert any(os.path.basename(p).startswith("libtensorflow_framework.so") for p in got.loaded)
    assert got.logical_devices == ("/device:CPU:0", "/device:CPU:1")


def test_it_is_quick(answers: Answers) -> None:
    """Beyond the import; the machine that runs the tests may be busy."""
    assert sum(raw["total_seconds"] for raw in answers.all("kernel")) < 12


WRONG = """
import os, sys
sys.path.remove(os.path.dirname(os.path.dirname(__file__)))
del sys.modules["tensorflow"]
import tensorflow as real
right, identity = real.matmul, real.identity
def matmul(a, b):
    c = right(a, b).numpy()
    c[:, 5] *= 1.2
    return real.constant(c)
real.matmul = matmul
real.linalg.solve = lambda a, b: b * float("nan")
sys.modules["tensorflow"] = real
"""


def test_wrong_numbers_are_found(tensorflow_directory: Path, tmp_path: Path) -> None:
    place = fake(tmp_path, WRONG)
    got = measured(run(("matmul", "fft", "solve"), PYTHONPATH=place, KERAS_HOME=str(tmp_path)))
    assert got["matmul", "CPU:0"].verified is False
    assert got["solve", "CPU:0"].verified is False
    assert isinstance(got["solve", "CPU:0"].error, Unread)
    assert got["fft", "CPU:0"].verified is True


# ------------------------------------------------------------------------------- kernels that fail

GPUS = FAKE % "return [Device('/physical_device:GPU:%%d' %% i, 'GPU') for i in range(%d)]"
KERNEL = """
import os, sys, time
main = sys.modules["__main__"]
GOOD = {"samples": [1.0], "dtype": "float32", "size": [1], "unit": "TFLOP/s", "error": 0.0, "tolerance": 0.1, "verified": True}
main.prepare = lambda tf, kind, index: None
def put(name, work): main.KERNELS[name] = lambda tf, kind, index, repeats: work(index) or dict(GOOD, pid=os.getpid())
for name in main.KERNELS: put(name, lambda index: None)
"""


def broken(place: Path, gpus: int, *lines: str) -> str:
    return fake(place, GPUS % gpus + KERNEL + "\n".join(lines) + "\n")


def test_a_crash_leaves_the_others(tmp_path: Path) -> None:
    place = broken(tmp_path, 2, "put('fft', lambda index: index == 0 and os.kill(os.getpid(), 11))")
    answers = run(kernels.ALL, limit_s=30, PYTHONPATH=place)
    got = measured(answers)
    assert len(got) == 2 * 11 + 1
    failed = {key: m for key, m in got.items() if isinstance(m.value, Unread)}
    assert list(failed) == [("fft", "GPU:0")]
    assert "fft was ended by signal 11" in str(failed["fft", "GPU:0"].value)
    pids = {(r["kernel"], r["device"]): r["value"]["pid"] for r in answers.all("kernel") if "value" in r}
    assert pids["convolution", "GPU:0"] != pids["solve", "GPU:0"]  # a new child did the rest
    assert pids["convolution", "GPU:1"] == pids["solve", "GPU:1"]
    assert got["all-reduce", "GPU:0,GPU:1"].value == 1.0


def test_a_device_on_which_everything_crashes_is_given_up(tmp_path: Path) -> None:
    crash = "for name in main.KERNELS: put(name, lambda index: index == 1 and os.kill(os.getpid(), 6))"
    got = measured(run(kernels.ALL, limit_s=30, PYTHONPATH=broken(tmp_path, 2, crash)))
    one = [m for (_, device), m in got.items() if device == "GPU:1"]
    assert sum("signal 6" in str(m.value) for m in one) == 3
    assert sum(m.skipped for m in one) == 8
    assert all(m.value == 1.0 for (_, device), m in got.items() if device == "GPU:0")


def test_a_hang_costs_its_limit_and_leaves_the_others(tmp_path: Path) -> None:
    place = broken(tmp_path, 4, "put('matmul', lambda index: index != 2 and time.sleep(60))")
    started = time.monotonic()
    got = measured(run(("matmul", "fft", "host-to-device"), limit_s=20, PYTHONPATH=place))
    assert time.monotonic() - started < 20
    for i in range(4):
        assert ("did not end within" in str(got["matmul", f"GPU:{i}"].value)) is (i != 2)
        assert got["fft", f"GPU:{i}"].value == 1.0
        assert got["host-to-device", f"GPU:{i}"].value == 1.0


def test_when_the_time_for_kernels_is_over_it_says_so(tmp_path: Path) -> None:
    slow = "for name in main.KERNELS: put(name, lambda index: time.sleep(60))"
    started = time.monotonic()
    got = measured(run(kernels.ALL, limit_s=9, PYTHONPATH=broken(tmp_path, 1, slow)))
    assert time.monotonic() - started < 9
    assert len(got) == len(kernels.ALL)
    assert all(isinstance(m.value, Unread) for m in got.values())
    assert "time for kernels was over" in str(got["xla", "GPU:0"].value)


def test_an_exception_is_a_reason_and_the_child_goes_on(tmp_path: Path) -> None:
    place = broken(tmp_path, 1, "def boom(index): raise RuntimeError('libdevice not found at ./libdevice.10.bc')", "put('xla', boom)")  # fmt: skip
    answers = run(("xla", "fft"), limit_s=20, PYTHONPATH=place)
    got = measured(answers)
    assert "RuntimeError: libdevice not found" in str(got["xla", "GPU:0"].value)
    assert got["fft", "GPU:0"].value == 1.0
    events = facts(answers).events
    assert isinstance(events, tuple)
    assert [e.kind for e in events] == ["libdevice-missing"]


def test_a_result_that_lies_elsewhere_is_no_result(tmp_path: Path) -> None:
    place = broken(tmp_path, 1, "GOOD['placed_on'] = '/job:localhost/replica:0/task:0/device:CPU:0'")
    got = measured(run(("fft",), limit_s=20, PYTHONPATH=place))
    assert "instead" in str(got["fft", "GPU:0"].value)


def test_a_tensorflow_that_is_too_old_is_no_fault(tmp_path: Path) -> None:
    got = measured(run(("matmul", "all-reduce"), limit_s=20, PYTHONPATH=fake(tmp_path, GPUS % 1)))
    assert [m.skipped for m in got.values()] == [True, True]
    assert "2.4" in str(got["matmul", "GPU:0"].value)


def test_copies_have_the_host_to_themselves(tmp_path: Path) -> None:
    """Nothing else runs while a device copies; everything else runs side by side."""
    log = tmp_path / "log"
    body = f"def note(index):\n    began = time.time(); time.sleep(0.3); open({str(log)!r}, 'a').write('%s %f %f\\n' % (index, began, time.time()))"
    lines = [body, "put('host-to-device', note)", "put('fft', lambda index: time.sleep(0.2 * index))"]
    run(("host-to-device", "fft"), limit_s=30, PYTHONPATH=broken(tmp_path, 3, *lines))
    times = sorted(tuple(map(float, line.split()[1:])) for line in log.read_text().splitlines())
    assert len(times) == 3
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(times))


def test_kernels_that_never_answered_are_not_forgotten() -> None:
    devices = tuple(TensorFlowDevice(name=f"/physical_device:GPU:{i}", type="GPU") for i in range(4))
    done = kernels.read({"kernel": "matmul", "device": "GPU:1", "failed": "x", "total_seconds": 1.0}, devices)
    rest = kernels.unanswered(("matmul", "all-reduce"), devices, [done], "the process did not end within 180 s")
    assert [m.device for m in rest] == ["GPU:0", "GPU:2", "GPU:3", "GPU:0,GPU:1,GPU:2,GPU:3"]
    assert all(isinstance(m.value, Unread) and isinstance(m.verified, Unread) for m in rest)
    cpu = (TensorFlowDevice(name="/physical_device:CPU:0", type="CPU"),)
    assert [m.device for m in kernels.unanswered(("matmul", "all-reduce"), cpu, [], "?")] == ["CPU:0", "CPU:0,CPU:1"]
