"""What a program did under `gpudoctor run`, judged: each flaw alone, and a run without one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.facts import ClockReason, Facts, Load, Quantiles, Run, RunGpu, RunThreads, Text, TextEvent, Unread
from tests.factory import found, healthy, outcome, roots, with_

GIB = 1 << 30
OF_A_RUN = (
    "cpu-starved-input", "gpu-launch-bound", "tensor-cores-idle", "single-gpu-silently", "h2d-pageable", "gpu-work-unequal", "host-memory-leak",
)  # fmt: skip


def around(mean: float) -> Quantiles:
    return Quantiles(mean=mean, low=mean * 0.8, median=mean, high=mean * 1.1, most=mean * 1.2)


def load(**changes: Any) -> Load:
    whole = Load(
        seconds=60.0,
        samples=120,
        clock_sm_mhz=1980,
        clock_sm_min_mhz=1965,
        clock_memory_mhz=None,
        clock_reasons=(ClockReason(name="sw-power-cap", share=0.4),),
        power_w=612.0,
        power_max_w=698.0,
        energy_j=None,
        temperature_max_c=61,
        utilisation_percent=93.0,
        pcie_generation=5,
        pcie_width=16,
    )
    return msgspec.structs.replace(whole, **changes)


def gpu(index: int, busy: float = 93.0, **changes: Any) -> RunGpu:
    whole = RunGpu(
        index=index,
        name="NVIDIA H200",
        pci_address=("0000:00:06.0", "0000:00:07.0")[index],
        load=load(),
        utilisation_percent=around(busy),
        own_sm_percent=None,
        memory_before_bytes=0,
        memory_most_bytes=40 * GIB,
        own_memory_bytes=40 * GIB,
        others=(),
        copied_in_gb_per_s=around(0.4),
        copied_out_gb_per_s=around(0.01),
        copying_share=0.1,
        copies_counted=True,
        sm_percent=busy * 0.9,
        tensor_percent=busy * 0.3,
        fp32_percent=busy * 0.1,
    )
    return msgspec.structs.replace(whole, **changes)


def threads(main: float, others: float, launching: float) -> tuple[RunThreads, ...]:
    return (
        RunThreads(name="python3", main=True, count=1, cores=main),
        RunThreads(name="python3", count=40, cores=others),
        RunThreads(name="tf_Compute", count=32, cores=launching),
        RunThreads(name="cuda-EvtHandlr", count=2, cores=0.02),
    )


def ran(*gpus: RunGpu, by: tuple[RunThreads, ...] | None = None, **changes: Any) -> Facts:
    """A machine on which a training of 70 s was run on two GPUs, that works well where nothing is changed."""
    by = by or threads(0.3, 2.5, 0.4)
    whole = Run(
        command=("python3", "train.py"),
        exit_code=0,
        signal=None,
        interrupted=False,
        seconds=75.0,
        warm_up_s=14.0,
        steady_s=60.0,
        gpus=gpus or (gpu(0), gpu(1)),
        samples=140,
        overhead=0.004,
        processes=1,
        threads=300,
        cores=around(3.2),
        system_share=0.1,
        workers_cores=0.0,
        by_thread=by,
        cores_usable=32,
        waiting_for_disk_share=0.0,
        read_bytes_per_s=2e6,
        memory_bytes=(6 * GIB,) * 9,
        memory_total_bytes=256 * GIB,
        tensorflow=True,
        log_bytes=2000,
    )
    return with_(healthy(), run=msgspec.structs.replace(whole, **changes))


def test_a_run_without_a_flaw() -> None:
    assert {cause: outcome(ran(), cause) for cause in OF_A_RUN} == dict.fromkeys(OF_A_RUN, "passed")
    assert roots(ran()) == []
    assert found(ran()) == {}
    assert outcome(ran(), "runs-slowly") == "passed"


def test_a_program_of_another_framework_needs_no_tensorflow() -> None:
    theirs = with_(ran(tensorflow=False), tensorflow__directory=None, measurements=())
    assert outcome(theirs, "tf-not-installed") == "skipped"
    assert outcome(theirs, "tf-lists-no-gpu") == "skipped"
    assert roots(theirs) == []
    idle = ran(gpu(0, 0.0, own_memory_bytes=0), gpu(1, 0.0, own_memory_bytes=0), tensorflow=False)
    assert roots(with_(idle, tensorflow__directory=None, measurements=())) == ["tf-not-installed"]
    ours = with_(ran(), tensorflow__directory=None, measurements=())
    assert "tf-not-installed" in roots(ours)


def test_one_of_two_gpus_on_purpose() -> None:
    alone = ran(gpu(0), gpu(1, 0.0, own_memory_bytes=None, memory_most_bytes=0))
    assert found(alone) == {}
    assert outcome(alone, "gpu-work-unequal") == "skipped"


@pytest.mark.parametrize("cause", OF_A_RUN)
def test_a_machine_on_which_nothing_was_run(cause: str) -> None:
    assert outcome(healthy(), cause) == "skipped"
    assert outcome(ran(steady_s=2.0), cause) == "skipped"
    assert outcome(ran(steady_s=None), cause) == "skipped"


# ------------------------------------------------------------------------------- input


def starved(busy: float, *who: float, **changes: Any) -> Facts:
    return ran(gpu(0, busy), gpu(1, busy - 2), by=threads(*who), **changes)


@pytest.mark.parametrize(
    ("busy", "who", "how"),
    [
        (40.0, (0.05, 0.58, 0.05), "Input and GPU take turns"),
        (10.0, (0.03, 1.0, 0.02), "One thread prepares all of it."),
        (40.0, (0.05, 8.0, 0.1), "8.0 processors prepare it."),
        (40.0, (0.05, 31.0, 0.1), "All 32 processors that it may use are at work on it."),
    ],
)
def test_starved_input(busy: float, who: tuple[float, ...], how: str) -> None:
    facts = starved(busy, *who)
    one = found(facts)["cpu-starved-input"]
    assert how in one.message
    assert (one.level, one.about) == ("warn", ("gpu0", "gpu1"))
    assert f"GPU 0: at work in {busy:.0f}% of the time" in one.proof[0].text
    assert roots(facts) == ["cpu-starved-input"]


def test_workers_are_processes_and_disks_are_waited_for() -> None:
    assert "cpu-starved-input" in found(starved(30.0, 0.1, 0.0, 0.1, workers_cores=6.0))
    assert (
        "wait for a disk"
        in found(starved(30.0, 0.05, 0.1, 0.05, waiting_for_disk_share=0.7))["cpu-starved-input"].message
    )


@pytest.mark.parametrize(
    ("busy", "who", "how"),
    [
        (76.5, (0.025, 0.89, 0.37), "in up to 24% of the time. One thread prepares all of it."),  # slow_map on an H200
        (82.0, (0.05, 30.0, 0.3), "in up to 18% of the time. All 32 processors that it may use are at work on it."),
        (60.0, (0.05, 0.9, 0.45), "in up to 40% of the time. One thread prepares all of it."),
    ],
)
def test_input_at_its_limit_costs_something_where_the_gpu_waits_a_little(
    busy: float, who: tuple[float, ...], how: str
) -> None:
    facts = starved(busy, *who)
    assert how in found(facts)["cpu-starved-input"].message
    assert roots(facts) == ["cpu-starved-input"]


@pytest.mark.parametrize(
    ("busy", "who"),
    [
        (90.0, (0.03, 0.9, 0.3)),  # it hardly waits
        (80.0, (0.05, 3.0, 0.3)),  # they could prepare more
        (80.0, (0.05, 0.5, 0.3)),  # it pauses
        (80.0, (0.3, 0.9, 0.5)),  # to start operations takes as long
    ],
)
def test_a_gpu_that_waits_a_little_is_well_used_where_its_input_is_not_at_its_limit(
    busy: float, who: tuple[float, ...]
) -> None:
    assert outcome(starved(busy, *who), "cpu-starved-input") == "passed"


@pytest.mark.parametrize(
    ("busy", "who", "how"),
    [  # the programs of tests/gpu/training on an H200: eager, by_python, graph_loop, small_steps
        (12.0, (0.96, 0.02, 0.0), "Python's own thread is at work without a pause."),
        (37.0, (0.97, 0.0, 0.02), "Python's own thread is at work without a pause."),
        (36.0, (0.02, 0.0, 0.98), "TensorFlow's thread that starts operations is at work without a pause."),
        (18.0, (0.29, 0.1, 0.77), "take turns without a pause."),
    ],
)
def test_a_program_that_is_slow_to_start_its_operations(busy: float, who: tuple[float, ...], how: str) -> None:
    facts = starved(busy, *who)
    one = found(facts)["gpu-launch-bound"]
    assert one.message.endswith(how)
    assert f"waits in {1 - busy / 100:.0%} of the time" in one.message
    assert (one.level, one.about) == ("warn", ("gpu0", "gpu1"))
    assert roots(facts) == ["gpu-launch-bound"]


@pytest.mark.parametrize(
    ("busy", "who", "outcome_of_it"),
    [
        (95.0, (0.03, 0.32, 0.13), "passed"),  # clean
        (58.0, (0.02, 1.11, 0.09), "passed"),  # no_prefetch
        (75.0, (0.95, 0.0, 0.0), "passed"),  # it hardly waits
        (40.0, (0.5, 0.1, 0.3), "passed"),  # they pause
        (40.0, (0.8, 0.9, 0.3), "unknown"),  # and so does who prepares the input
    ],
)
def test_operations_that_are_started_in_time(busy: float, who: tuple[float, ...], outcome_of_it: str) -> None:
    assert outcome(starved(busy, *who), "gpu-launch-bound") == outcome_of_it


def test_operations_of_a_gpu_that_does_not_tell_what_is_copied() -> None:
    """It may wait for copies just as well."""
    silent: dict[str, Any] = {"copied_in_gb_per_s": None, "copying_share": None}
    assert outcome(ran(gpu(0, 40.0, **silent), by=threads(0.6, 0.0, 0.4)), "gpu-launch-bound") == "unknown"
    copies = ran(gpu(0, 40.0, copied_in_gb_per_s=around(2.0)), by=threads(0.6, 0.0, 0.4))
    assert outcome(copies, "gpu-launch-bound") == "passed"


def test_a_program_of_which_nobody_knows_what_it_waits_for() -> None:
    facts = starved(40.0, 0.5, 0.1, 0.3)
    assert outcome(facts, "cpu-starved-input") == "unknown"
    assert found(facts)["runs-slowly"].level == "info"
    assert roots(facts) == []


def test_nobody_works_and_nobody_tells_why() -> None:
    assert outcome(starved(40.0, 0.02, 0.02, 0.02), "cpu-starved-input") == "unknown"


# ------------------------------------------------------------------------------- GPUs


def test_one_works_and_the_other_holds_memory() -> None:
    facts = ran(gpu(0), gpu(1, 0.0))
    one = found(facts)["single-gpu-silently"]
    assert one.message == "The program holds memory on 2 GPUs, and only GPU 0 is at work."
    assert one.proof[1].text == "GPU 0: 40.0 GiB held; GPU 1: 40.0 GiB held"
    assert roots(facts) == ["single-gpu-silently"]


def test_a_model_outside_the_scope_of_its_strategy() -> None:
    line = "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0', '/job:localhost/replica:0/task:0/device:GPU:1')"
    said = Text(events=(TextEvent(line=3, language="tensorflow-python", kind="strategy-devices", text=line),))
    one = found(with_(ran(gpu(0), gpu(1, 0.0)), text=said))["single-gpu-silently"]
    assert one.message.endswith("the model was made outside of its scope.")
    assert one.proof[2].text == line


def test_a_host_that_names_no_processes() -> None:
    """What became more in use counts."""
    hidden: dict[str, Any] = {"own_memory_bytes": None, "others": None}
    assert "single-gpu-silently" in found(ran(gpu(0, **hidden), gpu(1, 0.0, **hidden)))
    was_full: dict[str, Any] = {**hidden, "memory_before_bytes": 40 * GIB}
    assert outcome(ran(gpu(0, **hidden), gpu(1, 0.0, **was_full)), "single-gpu-silently") == "passed"


def test_unequal_work() -> None:
    facts = ran(gpu(0), gpu(1, 93.0, sm_percent=30.0))
    one = found(facts)["gpu-work-unequal"]
    assert one.message == "GPU 1 does 36% of the work of GPU 0."
    assert roots(facts) == ["gpu-work-unequal"]
    uncounted = ran(gpu(0, sm_percent=None), gpu(1, 40.0, sm_percent=None, others=(77,)))
    assert found(uncounted)["gpu-work-unequal"].proof[1].text == "GPU 1: 1 other process on it"


def test_heat_explains_unequal_work() -> None:
    hot = load(
        clock_reasons=(ClockReason(name="sw-thermal-slowdown", share=0.5),), clock_sm_mhz=900, temperature_max_c=91
    )
    facts = ran(gpu(0), gpu(1, 93.0, sm_percent=30.0, load=hot))
    one = found(facts)["gpu-throttling-thermal"]
    assert one.message == "GPU 1 (NVIDIA H200) is slowed down by heat at 91 °C."
    assert one.proof[0].source == "NVML while the program ran"
    assert roots(facts) == ["gpu-throttling-thermal"]


def test_a_power_brake_while_it_ran() -> None:
    braked = load(clock_reasons=(ClockReason(name="hw-power-brake", share=0.3),))
    assert roots(ran(gpu(0, load=braked), gpu(1))) == ["gpu-throttling-power"]


def test_tensor_cores() -> None:
    idle: dict[str, Any] = {"tensor_percent": 0.0, "fp32_percent": 60.0}
    assert roots(ran(gpu(0, **idle), gpu(1, **idle))) == ["tensor-cores-idle"]
    light: dict[str, Any] = {"tensor_percent": 0.0, "fp32_percent": 5.0}
    assert outcome(ran(gpu(0, **light), gpu(1, **light)), "tensor-cores-idle") == "passed"
    older: dict[str, Any] = {"tensor_percent": None, "fp32_percent": None}
    assert outcome(ran(gpu(0, **older), gpu(1, **older)), "tensor-cores-idle") == "skipped"


# ------------------------------------------------------------------------------- copies


def test_arrays_that_are_copied_step_by_step() -> None:
    by_hand = ran(gpu(0, 20.0, copied_in_gb_per_s=around(1.5)), by=threads(0.8, 0.02, 0.05))
    one = found(by_hand)["h2d-pageable"]
    assert "1.5 GB/s are copied to it" in one.message
    assert "over a link of generation 5 x16" in one.proof[2].text
    assert roots(by_hand) == ["h2d-pageable"]
    assert "h2d-pageable" in found(ran(gpu(0, 40.0, copied_in_gb_per_s=around(4.0)), by=threads(0.2, 0.1, 0.1)))


def test_copies_that_were_seen_in_windows() -> None:
    seen: dict[str, Any] = {"copies_counted": False, "copying_share": 0.5, "copied_in_gb_per_s": around(0.9)}
    assert "h2d-pageable" in found(ran(gpu(0, 40.0, **seen), by=threads(0.2, 0.1, 0.1)))
    counted = ran(gpu(0, 40.0, **{**seen, "copies_counted": True}), by=threads(0.05, 0.6, 0.1))
    assert outcome(counted, "h2d-pageable") == "passed"


def test_a_gpu_that_does_not_tell_what_is_copied() -> None:
    silent: dict[str, Any] = {"copied_in_gb_per_s": None, "copying_share": None}
    assert outcome(ran(gpu(0, 40.0, **silent), by=threads(0.6, 0.1, 0.1)), "h2d-pageable") == "unknown"


# ------------------------------------------------------------------------------- the host


def test_memory_that_grows() -> None:
    growing = ran(memory_bytes=tuple(6 * GIB + i * GIB // 4 for i in range(9)))
    one = found(growing)["host-memory-leak"]
    assert one.message == "The program's memory on the host grows by 34 MiB/s: in 2.1 hours it would fill this host."
    assert one.level == "warn"
    assert roots(growing) == ["host-memory-leak"]
    interrupted = found(ran(memory_bytes=tuple(6 * GIB + i * GIB // 4 for i in range(9)), interrupted=True))
    assert interrupted["host-memory-leak"].level == "info"


def test_memory_that_grows_when_the_program_has_come_to_its_steps() -> None:
    """As tests/gpu/training/leak did on an H200: TensorFlow traced and tuned in the first quarter of the steady part."""
    moments = (
        6133739520,
        6134755328,
        6135173120,
        6891630592,
        7482081280,
        8137863168,
        8948842496,
        9485017088,
        10013687808,
    )
    one = found(ran(memory_bytes=moments, steady_s=27.0))["host-memory-leak"]
    assert one.message.startswith("The program's memory on the host grows by 183 MiB/s: in 23 minutes it would fill")


@pytest.mark.parametrize(
    "moments",
    [
        (6, 6, 6, 6, 7, 8, 9, 10, 11),  # something that began in the middle: nobody knows yet
        (2, 4, 6, 8, 8, 8, 8, 8, 8),  # a cache is filled
        (6, 6, 6, 9, 6, 6, 6, 9, 6),
        (6, 6, 6, 6, 6, 6, 6, 6, 9),  # a checkpoint is being written
        (9, 8, 8, 8, 7, 7, 6, 6, 6),
    ],
)
def test_memory_that_does_not_leak(moments: tuple[int, ...]) -> None:
    assert outcome(ran(memory_bytes=tuple(m * GIB for m in moments)), "host-memory-leak") == "passed"


def test_everything_on_the_processors() -> None:
    untouched: dict[str, Any] = {
        "own_memory_bytes": None,
        "memory_most_bytes": 0,
        "others": (),
        "utilisation_percent": around(0.0),
    }
    facts = ran(gpu(0, **untouched), gpu(1, **untouched))
    unlisted = with_(facts, tensorflow__devices=Unread(why="not imported", chosen=True))
    one = found(unlisted)["tf-lists-no-gpu"]
    assert one.message == "The program ran on processors alone: no GPU had to do with it."
    assert "192 s of processor time" in one.proof[0].text
    not_tensorflow = with_(unlisted, run__tensorflow=False)
    assert outcome(not_tensorflow, "tf-lists-no-gpu") == "unknown"
    assert outcome(facts, "tf-lists-no-gpu") == "passed"
