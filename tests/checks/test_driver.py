from __future__ import annotations

from gpudoctor.facts import Unread
from tests.factory import cu_init, found, healthy, lists_no_gpu, outcome, roots, with_


def without_libcuda(**more: object) -> dict[str, object]:
    return {
        "driver__libcuda__path": None,
        "driver__libcuda__load_error": "libcuda.so.1: cannot open shared object file",
        "driver__libcuda__init_result": Unread(why="no libcuda"),
        "driver__libcuda__devices": Unread(why="no libcuda"),
        "driver__libcuda__candidates": (),
        "driver__kernel_version": None,
        **more,
    }


def test_driver_missing() -> None:
    facts = lists_no_gpu(with_(healthy(), **without_libcuda()))
    assert roots(facts) == ["driver-missing"]
    fix = found(facts)["driver-missing"].fixes[0]
    assert fix.steps[0] == "sudo ubuntu-drivers install"
    assert "525.60.13" in fix.summary


def test_driver_missing_without_its_libraries_only() -> None:
    facts = with_(healthy(), **without_libcuda(driver__kernel_version="580.159.04"))
    assert "is loaded (580.159.04)" in found(facts)["driver-missing"].message


def test_driver_missing_is_no_cause_where_a_libcuda_lies_about() -> None:
    facts = with_(healthy(), **without_libcuda(driver__libcuda__candidates=("/opt/driver/libcuda.so.1",)))
    assert outcome(facts, "driver-missing") == "passed"


def test_a_stub_is_no_driver() -> None:
    stub = "/usr/local/cuda/lib64/stubs/libcuda.so.1"
    facts = with_(healthy(), **without_libcuda(driver__libcuda__candidates=(stub,)))
    assert outcome(facts, "driver-missing") == "found"


def test_driver_missing_is_not_decided_inside_a_container() -> None:
    facts = with_(healthy(), **without_libcuda(system__container="docker"))
    assert outcome(facts, "driver-missing") == "unknown"


def test_driver_missing_does_not_apply_without_a_gpu() -> None:
    devices = healthy().pci.devices
    assert isinstance(devices, tuple)
    facts = with_(healthy(), **without_libcuda(pci__devices=devices[:1]))
    assert outcome(facts, "driver-missing") == "skipped"


def test_fabric_manager_not_running() -> None:
    facts = cu_init(healthy(), 802)
    assert roots(facts) == ["fabric-manager-not-running"]
    assert "nvidia-fabricmanager-580" in found(facts)["fabric-manager-not-running"].fixes[0].summary
    running = with_(facts, driver__daemons=("nv-fabricmanager",))
    assert outcome(running, "fabric-manager-not-running") == "passed"


def test_no_fabric_manager_is_no_fault_where_cuda_starts() -> None:
    assert outcome(healthy(), "fabric-manager-not-running") == "passed"


def test_cuinit_symptoms() -> None:
    assert outcome(cu_init(healthy(), 100), "cuinit-no-device") == "found"
    assert outcome(cu_init(healthy(), 3), "cuinit-fails") == "found"
    assert "CUDA_ERROR_NOT_INITIALIZED" in found(cu_init(healthy(), 3))["cuinit-fails"].message
    hung = with_(
        healthy(),
        driver__libcuda__no_answer="the process did not end within 20 s",
        driver__libcuda__init_result=Unread(why="hung"),
    )
    assert "did not end" in found(hung)["cuinit-no-answer"].message


def test_a_result_that_nobody_knows_is_shown_as_it_is() -> None:
    assert found(cu_init(healthy(), 12345))["cuinit-fails"].message == "cuInit answered 12345"
