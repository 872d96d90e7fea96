"""Kernels on TensorFlow's devices: the real TensorFlow on two logical CPU devices, and one that is made to fail."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor import examine
from gpudoctor import patient as patient_room
from gpudoctor.examine import ExamineLevel
from gpudoctor.facts import Measurement, TensorFlow, TensorFlowDevice, Unread
from gpudoctor.kernels import tensorflow as kernels
from gpudoctor.patient import kernels as in_patient
from gpudoctor.probes import tensorflow
from gpudoctor.probes.ask import Answers, Patient
from tests.probes.test_tensorflow import FAKE, fake
from tests.running import ROOT


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
    assert (*in_patient.KERNELS,) == tuple(k for k in kernels.ALL if k != kernels.BETWEEN)
    assert set(in_patient.TOGETHER) == set(kernels.TOGETHER)
    assert set(kernels.STANDARD) < set(kernels.ALL)
    assert set(in_patient.ALONE) < set(kernels.ALL)
    assert "kernels" in patient_room.names()


def test_training_steps_are_of_the_full_level() -> None:
    standard, full, none = (
        examine.framework_of(examine.Options(level=level, kernels=asked))
        for level, asked in ((ExamineLevel.STANDARD, True), (ExamineLevel.FULL, True), (ExamineLevel.FULL, False))
    )
    assert (standard, full, none) == (kernels.STANDARD, kernels.FULL, ())
    assert {"training-step", "training-step-mixed", "dataset", "all-reduce-nccl", kernels.TWO_WORKERS} <= set(full)
    assert [k for k in standard if k in kernels.TOGETHER] == ["all-reduce"]
    assert examine.framework_of(examine.Options(level=ExamineLevel.FULL, framework=("fft",))) == ("fft",)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 8])
def test_both_sides_expect_the_same_runs(count: int) -> None:
    """What the patient orders is what the tool misses where no answer comes."""
    together = [name for name in kernels.ALL if name in kernels.TOGETHER]
    orders = [one.partition(" ") for one in in_patient.orders_of(together, count)]
    devices = [f"GPU:{i}" for i in range(count)]
    ordered = {(kernel, ",".join(devices[: int(number or count)])) for kernel, _, number in orders}
    assert ordered == set(kernels.runs(together, devices))
    steps = sorted(d.count(",") + 1 for k, d in ordered if k == "training-step")
    assert steps == {1: [1], 2: [1, 2], 3: [1, 2, 3], 4: [1, 2, 4], 6: [1, 2, 4, 6], 8: [1, 2, 4, 8]}[count]
    assert len(orders) == len(ordered)


BOTH = "CPU:0,CPU:1"


def test_every_kernel_is_right_on_the_cpu(answers: Answers) -> None:
    got = measured(answers)
    assert list(got) == list(kernels.runs(kernels.ALL, ["CPU:0", "CPU:1"]))
    for (name, device), one in got.items():
        if name in ("matmul-tf32", "all-reduce-nccl"):
            assert one.skipped
            assert "GPU" in one.value.why  # type: ignore[union-attr]
            continue
        assert one.verified is True, (name, one)
        assert isinstance(one.error, float)
        assert isinstance(one.tolerance, float)
        assert 0 <= one.error <= one.tolerance
        assert one.backend == "tensorflow"
        assert device in (("CPU:0", BOTH) if name == "training-step" else (BOTH,) if "all-" in name else ("CPU:0",))
        assert isinstance(one.placed_on, str)
        assert "CPU" in one.placed_on
        assert one.library is None
        if "-to-device" in name or name == "device-to-host":
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


def test_without_collectives_it_is_told(answers: Answers) -> None:
    one = measured(answers)["all-reduce-hierarchical", BOTH]
    assert one.operation == "no collective: HierarchicalCopyAllReduce"
    assert one.verified is True


TWO_CPUS = """
import sys
import tensorflow as tf
from tensorflow.python.eager import context
from gpudoctor.patient import tf_collectives
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
context.enable_run_metadata()
print("queued", tf_collectives._chosen(tf, "CPU", 2, 3, sys.argv[1])["queued"])
graphs = [g for run in context.export_run_metadata().function_graphs for g in run.partition_graphs]
print("sums", max(sum(node.op == "AddN" for node in g.node) for g in graphs))
"""


def on_two_cpus(way: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": "-1"}
    command = [sys.executable, "-c", TWO_CPUS, way]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_nccl_all_reduce_is_a_graph_that_tensorflow_accepts(tensorflow_directory: Path) -> None:
    """It wants every tensor on a device. Without GPUs it ends where its operation has no kernel."""
    done = on_two_cpus("NcclAllReduce")
    assert "No OpKernel was registered to support Op 'NcclAllReduce'" in done.stderr, done.stderr[-2000:]


def test_every_all_reduce_that_counts_is_done(tensorflow_directory: Path) -> None:
    """Of operations on the same data TensorFlow does one."""
    done = on_two_cpus("HierarchicalCopyAllReduce")
    told = dict(line.split() for line in done.stdout.splitlines())
    assert told["sums"] == told["queued"] != "1", done.stderr[-2000:]


def test_training_learns_and_keeps_the_devices_together(answers: Answers) -> None:
    got = measured(answers)
    alone, both = got["training-step", "CPU:0"], got["training-step", BOTH]
    assert (alone.unit, alone.dtype, alone.size) == ("images/s", "float32", (8, 16, 16, 3))
    assert isinstance(alone.against, str)
    assert isinstance(both.against, str)
    assert alone.against.startswith("a loss that falls (")
    assert both.against.endswith("the same weights on all devices")
    assert both.operation == "CollectiveReduceV2"
    assert alone.operation == "no collective"
    assert isinstance(both.placed_on, str)
    assert {place[-5:] for place in both.placed_on.split(", ")} == {"CPU:0", "CPU:1"}
    assert isinstance(both.each, tuple)
    assert [e.device for e in both.each] == ["CPU:0", "CPU:1"]
    assert all(isinstance(e.utilisation_percent, Unread) for e in both.each)
    assert isinstance(alone.first_s, float)
    assert isinstance(alone.samples, tuple)
    assert alone.first_s > 8 / max(alone.samples)  # building the graph is told apart
    assert got["training-step-mixed", "CPU:0"].dtype == "mixed_float16"


def test_batches_of_tf_data_are_the_right_ones(answers: Answers) -> None:
    got = measured(answers)
    for name in ("dataset", "dataset-to-device", "dataset-to-device-prefetch"):
        one = got[name, "CPU:0"]
        assert (one.verified, one.against, one.queued) == (True, "the data themselves", 4)
    assert isinstance(got["dataset", "CPU:0"].value, float)


def test_what_is_loaded_and_what_tensorflow_made_of_the_cpu(answers: Answers) -> None:
    got = facts(answers)
    assert isinstance(got.loaded, tuple)
    assert any(os.path.basename(p).startswith("libtensorflow_framework.so") for p in got.loaded)
    assert got.logical_devices == ("/device:CPU:0", "/device:CPU:1")


def test_it_is_quick(answers: Answers) -> None:
    """Beyond the import; the machine that runs the tests may be busy."""
    assert sum(raw["total_seconds"] for raw in answers.all("kernel")) < 20


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


LAZY = """
import os, sys
sys.path.remove(os.path.dirname(os.path.dirname(__file__)))
del sys.modules["tensorflow"]
import tensorflow as real
from tensorflow.python.distribute import distribute_lib
%s
sys.modules["tensorflow"] = real
"""


@pytest.mark.parametrize(
    "flaw",
    [
        "distribute_lib.StrategyExtendedV2.batch_reduce_to = lambda self, op, pairs, options=None: [g for g, _ in pairs]",
        "right = real.nn.relu\nreal.nn.relu = lambda x: right(x) * float('nan')",
        "distribute_lib.StrategyExtendedV2.update = lambda *a, **k: None",
    ],
    ids=["no all-reduce", "not finite", "nothing learnt"],
)
def test_a_training_that_goes_wrong_is_found(tensorflow_directory: Path, tmp_path: Path, flaw: str) -> None:
    place = fake(tmp_path, LAZY % flaw)
    got = measured(run(("training-step",), PYTHONPATH=place, KERAS_HOME=str(tmp_path), CUDA_VISIBLE_DEVICES="-1"))
    assert got["training-step", BOTH].verified is False, got["training-step", BOTH]


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
    answers = run(kernels.STANDARD, limit_s=30, PYTHONPATH=place)
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
    got = measured(run(kernels.STANDARD, limit_s=30, PYTHONPATH=broken(tmp_path, 2, crash)))
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
    got = measured(run(kernels.STANDARD, limit_s=9, PYTHONPATH=broken(tmp_path, 1, slow)))
    assert time.monotonic() - started < 9
    assert len(got) == len(kernels.STANDARD)
    assert all(isinstance(m.value, Unread) for m in got.values())
    assert "time for kernels was over" in str(got["xla", "GPU:0"].value)


def test_a_strategy_of_fewer_devices_has_a_process_of_its_own(tmp_path: Path) -> None:
    """Two strategies of a process number their collectives alike."""
    answers = run(kernels.ALL, limit_s=30, PYTHONPATH=broken(tmp_path, 6))
    pids = {(r["kernel"], r["device"].count(",") + 1): r["value"]["pid"] for r in answers.all("kernel")}
    assert pids["training-step", 6] == pids["all-reduce", 6] == pids["training-step", 1]
    assert len({pids["training-step", n] for n in (2, 4, 6)}) == 3


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
    asked = ("matmul", "all-reduce", "training-step", "training-step-between")
    rest = kernels.unanswered(asked, devices, [done], Unread(why="the process did not end within 180 s"))
    all_of_them = "GPU:0,GPU:1,GPU:2,GPU:3"
    assert [m.device for m in rest] == ["GPU:0", "GPU:2", "GPU:3", all_of_them, "GPU:0", all_of_them, "GPU:0,GPU:1"]
    assert [m.kernel for m in rest[-4:]] == ["all-reduce", *["training-step"] * 3]
    assert all(isinstance(m.value, Unread) and isinstance(m.verified, Unread) for m in rest)
    cpu = (TensorFlowDevice(name="/physical_device:CPU:0", type="CPU"),)
    assert [m.device for m in kernels.unanswered(("matmul", "all-reduce"), cpu, [], Unread(why="?"))] == [
        "CPU:0",
        "CPU:0,CPU:1",
    ]
