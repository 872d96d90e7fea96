from __future__ import annotations

import msgspec
import pytest

from gpudoctor.checks._processors import numbers
from gpudoctor.diagnosis import judge
from gpudoctor.facts import Facts, Unread
from tests.factory import found, healthy, measured, outcome, reduced, roots, with_
from tests.figures import native

NARROW, QUOTA = "cpu-affinity-narrow", "cgroup-cpu-quota"


def on(usable: int, cores: int = 32) -> Facts:
    return with_(healthy(), system__cores=cores, system__cores_usable=usable)


def waiting(facts: Facts) -> Facts:
    """The host's own work takes its time."""
    return measured(facts, "copy-latency", "GPU:1", value=210.0)


def test_a_processor_for_two_gpus() -> None:
    assert outcome(healthy(), NARROW) == "passed"
    facts = on(1)
    assert roots(facts) == [NARROW]
    one = found(facts)[NARROW]
    assert one.level == "warn"
    assert one.message == "This process may run on 1 of the machine's 32 processors. It feeds 2 GPUs."
    assert one.fixes[0].steps == ("taskset -c 0-31 python3 train.py",)
    slow = found(waiting(facts))[NARROW]
    assert "It feeds 2 GPUs: copy-latency takes 210 us (40 us or less is usual: 5.2 times)." in slow.message
    assert any("copy-latency: 210 us" in p.text for p in slow.proof)


def test_few_processors_count_where_a_figure_suffers() -> None:
    assert outcome(on(2), NARROW) == "passed"
    assert roots(waiting(on(2))) == [NARROW]
    assert roots(waiting(on(7))) == [NARROW]
    assert outcome(waiting(on(8)), NARROW) == "passed"
    pageable = measured(on(2), "copy-host-to-device-pageable", "GPU:0", value=0.5)
    assert roots(pageable) == [NARROW]
    assert (
        "copy-host-to-device-pageable reaches 0.5 GB/s (2 GB/s or more is usual: 4.0 times)"
        in found(pageable)[NARROW].message
    )


def test_a_machine_of_few_processors_is_not_narrowed() -> None:
    assert outcome(waiting(on(1, cores=1)), NARROW) == "passed"
    assert outcome(waiting(healthy()), NARROW) == "passed"
    assert outcome(on(1), "numa-misplaced") in ("passed", "skipped")


def test_processors_that_are_not_known() -> None:
    assert outcome(with_(healthy(), system__cores=Unread(why="?")), NARROW) == "unknown"
    assert outcome(with_(healthy(), system__cores_usable=Unread(why="?")), NARROW) == "unknown"
    assert outcome(with_(on(1), gpu__devices=()), NARROW) == "skipped"


def test_of_a_running_process_its_own_set_counts() -> None:
    facts = with_(on(32), process__pid=4711, process__cpus_usable="5")
    assert roots(facts) == [NARROW]
    assert found(facts)[NARROW].fixes[0].steps == ("taskset -acp 0-31 4711",)
    assert outcome(with_(facts, process__cpus_usable="0-31"), NARROW) == "passed"
    assert outcome(with_(facts, process__cpus_usable=Unread(why="?")), NARROW) == "unknown"


def test_it_explains_a_collective_that_goes_through_the_host() -> None:
    facts = reduced(on(1), 60.0)
    (root,) = judge(facts).diagnosis.root_causes
    assert (root.cause, root.explains) == (NARROW, ("slow-collective",))


@pytest.mark.parametrize("few", [{"system__cores": 32, "system__cores_usable": 1}, {"system__cpu_quota_cores": 0.5}])
def test_too_few_explain_a_gpu_that_comes_off_worse(few: dict[str, float]) -> None:
    one, *_ = healthy().measurements
    rates = tuple(
        msgspec.structs.replace(one, device=f"GPU:{i}", value=v) for i, v in enumerate((51.0, 50.8, 51.3, 20.0))
    )
    assert roots(with_(healthy(), measurements=rates)) == ["gpu-outlier"]
    (root,) = judge(with_(healthy(), measurements=rates, **few)).diagnosis.root_causes
    assert root.cause in (NARROW, QUOTA)
    assert root.explains == ("gpu-outlier",)


@pytest.mark.parametrize(
    ("quota", "suffers", "level"),
    [(0.5, False, "warn"), (1.0, True, "warn"), (2.0, False, "info"), (7.0, True, "warn"), (8.0, True, "info")],
)
def test_a_quota_warns_where_it_costs_something(quota: float, suffers: bool, level: str) -> None:
    facts = with_(healthy(), system__cpu_quota_cores=quota)
    one = found(waiting(facts) if suffers else facts)[QUOTA]
    assert one.level == level
    assert ("It feeds 2 GPUs" in one.message) is (level == "warn")
    assert bool(one.may_explain) is (level == "warn")


def test_a_quota_without_gpus_is_a_note() -> None:
    facts = with_(healthy(), system__cpu_quota_cores=0.5, gpu__devices=())
    assert found(facts)[QUOTA].level == "info"


def test_lists_of_processors() -> None:
    assert numbers("0-2,8") == {0, 1, 2, 8}
    assert numbers("") == set()
    assert native("copy-latency", "GPU:0").value == 6.4
