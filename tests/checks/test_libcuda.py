from __future__ import annotations

import os

import msgspec
import pytest

from gpudoctor.facts import LibraryFile, SearchStep, Unread
from tests.factory import LIBCUDA, cu_init, found, healthy, lists_no_gpu, outcome, roots, with_, with_variable

LINUX = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"


def test_driver_library_mismatch() -> None:
    facts = cu_init(healthy(), 803, LIBCUDA.replace("159.04", "95.05"), version="580.95.05")
    assert roots(facts) == ["driver-library-mismatch"]
    message = found(facts)["driver-library-mismatch"].message
    assert "580.159.04" in message
    assert "580.95.05" in message


def test_driver_library_mismatch_by_nvml_alone() -> None:
    says = with_(healthy(), gpu__nvml_error=18, gpu__nvml_error_text="Driver/library version mismatch")
    facts = with_(says, driver__libcuda__init_result=Unread(why="it crashed"))
    assert outcome(facts, "driver-library-mismatch") == "found"
    assert outcome(says, "driver-library-mismatch") == "passed"  # cuInit answers 0: that NVML is a stray one


def test_driver_library_mismatch_by_versions() -> None:
    facts = cu_init(healthy(), 100, LIBCUDA, version="570.86.15")
    assert "driver-library-mismatch" in roots(facts)
    assert "driver-library-mismatch" not in roots(cu_init(healthy(), 100, LIBCUDA, version="580.159.4"))


@pytest.mark.parametrize(("kernel", "user"), [("580.159.04", "1.1"), ("535.129.03-grid", "535.129.03")])
def test_versions_that_are_no_releases_are_not_compared(kernel: str, user: str) -> None:
    facts = cu_init(with_(healthy(), driver__kernel_version=kernel), 100, LIBCUDA, version=user)
    assert outcome(facts, "driver-library-mismatch") == "skipped"
    assert outcome(facts, "driver-too-old") == "passed"
    assert outcome(cu_init(facts, 803, LIBCUDA, version=user), "driver-library-mismatch") == "found"


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


def nowhere(**more: object) -> dict[str, object]:
    return {
        "driver__libcuda__path": None,
        "driver__libcuda__load_error": "libcuda.so.1: cannot open shared object file",
        "driver__libcuda__init_result": Unread(why="no libcuda"),
        "driver__libcuda__devices": Unread(why="no libcuda"),
        **more,
    }


def test_driver_libcuda_not_on_path() -> None:
    facts = lists_no_gpu(with_(healthy(), **nowhere(driver__libcuda__candidates=("/opt/driver/lib/libcuda.so.1",))))
    assert roots(facts) == ["driver-libcuda-not-on-path"]
    assert found(facts)["driver-libcuda-not-on-path"].fixes[0].env[0].value == "/opt/driver/lib"
    assert "libcuda-not-found" in found(facts)


def test_driver_library_damaged() -> None:
    refused = nowhere(
        driver__libcuda__load_error=f"{LINUX}: file too short",
        driver__libcuda__candidates=("/opt/x/libcuda.so.1", LINUX),
    )
    facts = lists_no_gpu(with_(healthy(), **refused))
    assert roots(facts) == ["driver-library-damaged"]
    assert [f.kind for f in found(facts)["driver-library-damaged"].fixes] == ["command"]
    inside = found(with_(facts, system__container="docker"))["driver-library-damaged"].fixes[0]
    assert inside.kind == "advice"
    assert "on the host" in inside.summary
    step = SearchStep(directory="/opt/x", origin="LD_LIBRARY_PATH")
    by_variable = with_(
        with_variable(facts, "LD_LIBRARY_PATH", "/opt/x:/opt/y"),
        driver__libcuda__load_error="/opt/x/libcuda.so.1: invalid ELF header",
        driver__libcuda__found_in=step,
    )
    assert found(by_variable)["driver-library-damaged"].fixes[0].steps == ("export LD_LIBRARY_PATH=/opt/y",)
    assert outcome(healthy(), "driver-library-damaged") == "passed"
    assert outcome(with_(healthy(), driver__libcuda__path=Unread(why="?")), "driver-library-damaged") == "unknown"


def test_a_libcuda_that_kills_its_process_is_damaged_where_its_header_says_so() -> None:
    dead = with_(
        healthy(),
        driver__libcuda__path=Unread(why="?"),
        driver__libcuda__init_result=Unread(why="?"),
        driver__libcuda__found_in=SearchStep(directory=os.path.dirname(LINUX), origin="system"),
        driver__libcuda__no_answer="loading libcuda.so.1: the process was killed by SIGBUS",
    )
    library = LibraryFile(name="libcuda.so.1", path=LINUX, kind="system", flaw="file too short")
    facts = with_(dead, libraries__files=(library,))
    assert "driver-library-damaged" in roots(facts)
    assert "SIGBUS" in found(facts)["driver-library-damaged"].message
    whole = with_(dead, libraries__files=(msgspec.structs.replace(library, flaw=None),))
    assert outcome(whole, "driver-library-damaged") == "passed"
    linked = with_(facts, driver__libcuda__found_in=SearchStep(directory=os.path.dirname(LINUX[4:]), origin="cache"))
    assert "driver-library-damaged" in roots(linked)


@pytest.mark.parametrize("place", ["/usr/local/cuda/compat", "/usr/local/cuda/lib64/stubs"])
def test_a_libcuda_that_is_not_the_drivers_is_not_offered(place: str) -> None:
    facts = with_(healthy(), **nowhere(driver__libcuda__candidates=(f"{place}/libcuda.so.1",)))
    assert outcome(facts, "driver-libcuda-not-on-path") == "passed"
    assert "libcuda-not-found" in found(facts)


@pytest.mark.parametrize(
    ("directory", "code", "cause"),
    [
        ("/usr/local/cuda/compat", 803, "cuda-compat-unsupported"),
        ("/usr/local/cuda/lib64/stubs", 999, "libcuda-stub-loaded"),
    ],
)
def test_a_link_in_such_a_directory_counts(directory: str, code: int, cause: str) -> None:
    step = SearchStep(directory=directory, origin="LD_LIBRARY_PATH")
    facts = cu_init(with_variable(healthy(), "LD_LIBRARY_PATH", directory), code, "/opt/x/libcuda.so.1", found_in=step)
    assert roots(facts) == [cause]
    assert found(facts)[cause].fixes[0].steps == ("unset LD_LIBRARY_PATH",)


def test_a_kernel_module_that_could_not_be_looked_at_is_not_called_unloaded() -> None:
    unread = with_(healthy(), driver__kernel_version=Unread(why="/proc is hidden"))
    for code, cause in ((803, "driver-library-mismatch"), (804, "cuda-compat-unsupported")):
        message = found(cu_init(unread, code))[cause].message
        assert "not loaded" not in message
        assert "unknown release" in message
        assert "not loaded" in found(cu_init(with_(healthy(), driver__kernel_version=None), code))[cause].message
