from __future__ import annotations

import pytest

from gpudoctor.facts import DeviceNode, SearchStep, Unread
from tests.factory import LIBCUDA, cu_init, found, healthy, lists_no_gpu, outcome, roots, with_, with_variable


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


def test_driver_library_mismatch() -> None:
    facts = cu_init(healthy(), 803, LIBCUDA.replace("159.04", "95.05"), version="580.95.05")
    assert roots(facts) == ["driver-library-mismatch"]
    message = found(facts)["driver-library-mismatch"].message
    assert "580.159.04" in message
    assert "580.95.05" in message


def test_driver_library_mismatch_by_nvml_alone() -> None:
    facts = with_(healthy(), gpu__nvml_error=18, gpu__nvml_error_text="Driver/library version mismatch")
    assert outcome(facts, "driver-library-mismatch") == "found"


def test_driver_library_mismatch_by_versions() -> None:
    facts = cu_init(healthy(), 100, LIBCUDA, version="570.86.15")
    assert "driver-library-mismatch" in roots(facts)
    assert "driver-library-mismatch" not in roots(cu_init(healthy(), 100, LIBCUDA, version="580.159.4"))


def test_different_versions_that_work_are_no_fault() -> None:
    assert outcome(with_(healthy(), driver__libcuda__version="570.86.15"), "driver-library-mismatch") == "passed"


def test_libcuda_stub_loaded() -> None:
    stub = "/usr/local/cuda/lib64/stubs/libcuda.so"
    step = SearchStep(directory="/usr/local/cuda/lib64/stubs", origin="LD_LIBRARY_PATH")
    facts = cu_init(
        with_variable(healthy(), "LD_LIBRARY_PATH", "/a:/usr/local/cuda/lib64/stubs/:/b"), 34, stub, found_in=step
    )
    assert roots(facts) == ["libcuda-stub-loaded"]
    fix = found(facts)["libcuda-stub-loaded"].fixes[0]
    assert fix.kind == "env"
    assert fix.steps == ("export LD_LIBRARY_PATH=/a:/b",)


def test_a_variable_is_not_blamed_for_what_the_cache_found() -> None:
    facts = cu_init(
        with_variable(healthy(), "LD_LIBRARY_PATH", "/stubs"),
        34,
        "/stubs/libcuda.so",
        found_in=SearchStep(directory="/stubs", origin="ld.so.cache"),
    )
    assert [f.kind for f in found(facts)["libcuda-stub-loaded"].fixes] == ["command"]


def test_cuda_compat_unsupported() -> None:
    compat = "/usr/local/cuda-13.0/compat/libcuda.so.580.95.05"
    step = SearchStep(directory="/usr/local/cuda/compat", origin="LD_LIBRARY_PATH")
    variable = with_variable(healthy(), "LD_LIBRARY_PATH", "/usr/local/cuda/compat")
    facts = cu_init(variable, 803, compat, version="580.95.05", found_in=step)
    assert roots(facts) == ["cuda-compat-unsupported"]
    assert found(facts)["cuda-compat-unsupported"].fixes[0].steps == ("unset LD_LIBRARY_PATH",)
    assert roots(cu_init(healthy(), 804)) == ["cuda-compat-unsupported"]


@pytest.mark.parametrize("exists", [True, False])
def test_uvm_device_missing(exists: bool) -> None:
    node = DeviceNode(path="/dev/nvidia-uvm", exists=exists, open_errno=6 if exists else Unread(why="not there"))
    control = DeviceNode(path="/dev/nvidiactl", exists=True, open_errno=None)
    facts = cu_init(with_(healthy(), driver__nodes=(control, node)), 999)
    assert roots(facts) == ["cuinit-uvm-device-missing"]


def test_uvm_device_is_no_cause_where_it_opens() -> None:
    facts = cu_init(healthy(), 999)
    assert outcome(facts, "cuinit-uvm-device-missing") == "passed"
    assert roots(facts) == []


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
