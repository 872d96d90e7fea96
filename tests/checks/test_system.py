from __future__ import annotations

import msgspec
import pytest

from gpudoctor.facts import Facts, KernelEvent, Unread, Variable
from tests.checks.test_platforms import without_libcuda
from tests.factory import (
    SKIPPED,
    cannot_open,
    cu_init,
    found,
    healthy,
    lists_no_gpu,
    outcome,
    roots,
    wheel,
    with_,
    with_variable,
)


def import_died(how: str, **changes: object) -> Facts:
    gone = Unread(why=f"import tensorflow: {how}")
    facts = with_(healthy(), tensorflow__import_error=how, tensorflow__import_seconds=gone, measurements=())
    return with_(facts, tensorflow__devices=gone, **changes)


OLD = {"system__cpu_flags": ("sse4_1", "sse4_2")}
ILLEGAL = "the process that imports it was ended by SIGILL"


def test_cpu_no_avx() -> None:
    facts = import_died(ILLEGAL, **OLD)
    assert roots(facts) == ["cpu-no-avx"]
    assert {"tf-import-broken", "tf-lists-no-gpu"} <= set(found(facts))
    assert "hides it" in found(facts)["cpu-no-avx"].message
    assert "source" in found(with_(facts, system__hypervisor=False))["cpu-no-avx"].fixes[0].summary


def test_tensorflow_says_it_itself() -> None:
    died = "the process that imports it was ended by SIGABRT"
    line = "F cpu_feature_guard.cc:37] The TensorFlow library was compiled to use AVX instructions, but these aren't"
    assert roots(import_died(died, tensorflow__log=(line,), **OLD)) == ["cpu-no-avx"]
    assert outcome(import_died(died, **OLD), "cpu-no-avx") == "passed"


def test_the_loader_died_of_it() -> None:
    facts = with_(healthy(), tensorflow__loader_ok=Unread(why="the process … was ended by SIGILL"), **OLD)
    waiting = Unread(why="not imported", chosen=True)
    facts = with_(facts, tensorflow__import_error=waiting, tensorflow__devices=waiting)
    assert outcome(facts, "cpu-no-avx") == "found"


def test_other_deaths() -> None:
    assert outcome(import_died(ILLEGAL), "cpu-no-avx") == "passed"
    assert outcome(import_died("ImportError: numpy", **OLD), "cpu-no-avx") == "passed"
    assert outcome(with_(healthy(), **OLD), "cpu-no-avx") == "passed"
    assert outcome(import_died(ILLEGAL, system__machine="aarch64"), "cpu-no-avx") == "skipped"
    assert outcome(import_died(ILLEGAL, system__cpu_flags=Unread(why="?")), "cpu-no-avx") == "unknown"
    assert outcome(with_(healthy(), tensorflow__import_error=Unread(why="?")), "cpu-no-avx") == "unknown"


FOUR_GIB = {"system__limit_address_space_bytes": 4 << 30}


def test_address_space_limit() -> None:
    facts = with_(cu_init(healthy(), 2), **FOUR_GIB)
    assert roots(facts) == ["address-space-limit"]
    assert "4 GiB" in found(facts)["address-space-limit"].message
    lost = without_libcuda(healthy(), **FOUR_GIB)
    lost = with_(lost, driver__libcuda__load_error="libcuda.so.1: failed to map segment from shared object")
    assert outcome(lost, "address-space-limit") == "found"
    assert roots(import_died("MemoryError", **FOUR_GIB)) == ["address-space-limit"]


def test_an_address_space_limit_that_does_no_harm() -> None:
    name = "address-space-limit"
    assert roots(with_(healthy(), **FOUR_GIB)) == []
    assert outcome(cu_init(healthy(), 2), name) == "passed"
    assert outcome(with_(cu_init(healthy(), 100), **FOUR_GIB), name) == "passed"
    assert outcome(without_libcuda(healthy(), **FOUR_GIB), name) == "passed"
    assert outcome(with_(healthy(), system__limit_address_space_bytes=Unread(why="?")), name) == "unknown"
    assert outcome(with_(healthy(), driver__libcuda__init_result=Unread(why="?"), **FOUR_GIB), name) == "unknown"


KILLED = "the process that imports it was ended by SIGKILL"
LIMITED = {"system__memory_limit_bytes": 2 << 30}
COUNTED = {**LIMITED, "system__oom_kills_during": 1}


def test_cgroup_memory_limit() -> None:
    facts = import_died(KILLED, **COUNTED)
    assert roots(facts) == ["cgroup-memory-limit"]
    assert "2 GiB" in found(facts)["cgroup-memory-limit"].message
    line = KernelEvent(kind="oom-kill", text="Memory cgroup out of memory: Killed process 7 (python3)")
    told = import_died(KILLED, system__kernel_log_during=(line,), system__oom_kills_during=None, **LIMITED)
    assert roots(told) == ["cgroup-memory-limit"]


def test_a_kernel_of_ours_was_killed() -> None:
    ended = Unread(why="the process was ended by signal 9")
    one = healthy().measurements[0]
    facts = with_(
        healthy(), measurements=(type(one)(kernel="matmul", backend="tensorflow", device="GPU:0", value=ended),)
    )
    assert roots(with_(facts, **COUNTED)) == ["cgroup-memory-limit"]


def test_what_had_nothing_to_do_did_not_die() -> None:
    skipped = msgspec.structs.replace(SKIPPED, value=Unread(why="SIGKILL", chosen=True))
    assert outcome(with_(healthy(), measurements=(skipped,), **COUNTED), "cgroup-memory-limit") == "passed"


def test_deaths_that_are_no_want_of_memory() -> None:
    name = "cgroup-memory-limit"
    assert outcome(with_(healthy(), **COUNTED), name) == "passed"
    assert outcome(import_died(KILLED, system__oom_kills_during=1), name) == "passed"
    assert outcome(import_died(KILLED, system__oom_kills_during=0, **LIMITED), name) == "passed"
    assert outcome(import_died("did not end within 180 s and was killed", **COUNTED), name) == "passed"
    assert outcome(import_died(KILLED, system__oom_kills_during=Unread(why="?"), **LIMITED), name) == "unknown"
    assert outcome(import_died(KILLED, system__memory_limit_bytes=Unread(why="?")), name) == "unknown"
    assert outcome(with_(healthy(), tensorflow__import_error=Unread(why="?")), name) == "unknown"


@pytest.mark.parametrize(("quota", "expected"), [(None, "passed"), (20.0, "passed"), (16.0, "info"), (0.5, "warn")])
def test_cgroup_cpu_quota(quota: float | None, expected: str) -> None:
    facts = with_(healthy(), system__cpu_quota_cores=quota)
    if expected == "passed":
        assert outcome(facts, "cgroup-cpu-quota") == expected
    else:
        assert found(facts)["cgroup-cpu-quota"].level == expected


def test_a_quota_that_is_not_known() -> None:
    assert outcome(with_(healthy(), system__cpu_quota_cores=Unread(why="?")), "cgroup-cpu-quota") == "unknown"
    facts = with_(healthy(), system__cpu_quota_cores=1.0, system__cores_usable=Unread(why="?"))
    assert outcome(facts, "cgroup-cpu-quota") == "unknown"


def under_sudo(facts: Facts, *libraries: str) -> Facts:
    dropped = (Variable(name="LD_LIBRARY_PATH", value="/opt/cuda lib:/opt/x"),)
    return with_(facts, environment__dropped_by_sudo=dropped, environment__dropped_libraries=libraries)


def test_sudo_stripped_environment() -> None:
    facts = cannot_open(healthy(), "libcusolver.so.11", (wheel("cublas"),))
    facts = under_sudo(facts, "/opt/cuda lib/libcusolver.so.11")
    assert roots(facts)[0] == "sudo-stripped-environment"
    assert found(facts)["sudo-stripped-environment"].fixes[0].env[0].value == "/opt/cuda lib:/opt/x"
    lost = under_sudo(without_libcuda(healthy()), "/opt/x/libcuda.so.1")
    assert outcome(lost, "sudo-stripped-environment") == "found"


def test_sudo_that_does_no_harm() -> None:
    name = "sudo-stripped-environment"
    assert outcome(healthy(), name) == "skipped"
    assert outcome(under_sudo(healthy(), "/opt/x/libcusolver.so.11"), name) == "passed"
    missing = cannot_open(healthy(), "libcusolver.so.11", (wheel("cublas"),))
    assert outcome(under_sudo(missing, "/opt/x/libcufft.so.11"), name) == "passed"
    assert outcome(with_(missing, environment__dropped_by_sudo=()), name) == "passed"
    assert outcome(with_(missing, environment__dropped_by_sudo=Unread(why="?")), name) == "unknown"


def test_jit_cache_unwritable() -> None:
    name = "jit-cache-unwritable"
    for change in ({"system__jit_cache_writable": False}, {"system__jit_cache": None}):
        facts = with_(healthy(), **change)
        assert outcome(facts, name) == "found"
        assert found(facts)[name].level == "info"
    facts = with_(healthy(), system__jit_cache_writable=False)
    assert outcome(healthy(), name) == "passed"
    assert outcome(with_variable(facts, "CUDA_CACHE_DISABLE", "1"), name) == "skipped"
    assert outcome(lists_no_gpu(cu_init(facts, 100)), name) == "skipped"
    assert outcome(with_(healthy(), system__jit_cache_writable=Unread(why="?")), name) == "unknown"
