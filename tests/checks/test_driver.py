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
    assert "(10de:2335, NVIDIA H200)" in found(facts)["driver-missing"].proof[0].text
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


def test_driver_too_old() -> None:
    facts = lists_no_gpu(with_(healthy(), driver__libcuda__api_version=11080, driver__kernel_version="520.61.05"))
    assert roots(facts) == ["driver-too-old"]
    one = found(facts)["driver-too-old"]
    assert "CUDA 12.5.1, which needs a driver 525.60.13 or newer; the driver here is of CUDA 11.8" in one.message
    inside = found(with_(facts, system__container="docker"))["driver-too-old"].fixes[0]
    assert inside.summary.startswith("On the host")


def test_driver_too_old_where_cuinit_fails() -> None:
    old = {"driver__kernel_version": "470.256.02", "driver__libcuda__version": "470.256.02"}
    assert "release 470.256.02" in found(with_(cu_init(healthy(), 999), **old))["driver-too-old"].message
    assert outcome(cu_init(healthy(), 999), "driver-too-old") == "passed"
    floor = with_(cu_init(healthy(), 999), driver__kernel_version="525.60.13")
    assert outcome(floor, "driver-too-old") == "passed"
    assert outcome(with_(cu_init(healthy(), 100), driver__kernel_version=None), "driver-too-old") == "skipped"


def test_forward_compatibility_makes_up_for_an_old_driver() -> None:
    facts = with_(healthy(), driver__kernel_version="470.256.02", driver__libcuda__api_version=12040)
    assert outcome(facts, "driver-too-old") == "passed"


def test_an_older_minor_version_is_no_fault() -> None:
    assert outcome(with_(healthy(), driver__libcuda__api_version=12000), "driver-too-old") == "passed"


def test_driver_too_old_needs_proof() -> None:
    assert outcome(healthy(), "driver-too-old") == "passed"
    for change, expected in (
        ({"tensorflow__build__cuda_version": Unread(why="hidden")}, "unknown"),
        ({"driver__libcuda__api_version": Unread(why="hidden")}, "unknown"),
        ({"tensorflow__build__cuda": False}, "skipped"),
        ({"tensorflow__build__cuda_version": "9.0"}, "skipped"),
        ({"tensorflow__directory": None}, "skipped"),
    ):
        assert outcome(with_(healthy(), **change), "driver-too-old") == expected
