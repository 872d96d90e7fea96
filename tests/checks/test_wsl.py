"""WSL: version 1, which has no GPU, and the libcuda that is loaded under version 2."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Facts, Unread
from tests.factory import cu_init, found, healthy, lists_no_gpu, outcome, roots, with_

WSL = "/usr/lib/wsl/lib/libcuda.so.1"
LINUX = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"


def wsl(facts: Facts, **more: object) -> Facts:
    changes: dict[str, object] = {
        "system__wsl": True,
        "driver__kernel_version": None,
        "driver__modules": (),
        "driver__nodes": (),
        "driver__gpus": None,
        "driver__uvm_major": None,
        "pci__devices": Unread(why="/sys/bus/pci/devices is empty"),
        "driver__libcuda__candidates": (LINUX, WSL),
    }
    return with_(facts, **{**changes, **more})


def test_a_linux_driver_inside_wsl() -> None:
    facts = wsl(cu_init(healthy(), 100, path=LINUX))
    assert roots(facts) == ["wsl-libcuda-path"]
    assert found(facts)["wsl-libcuda-path"].fixes[0].env[0].value == "/usr/lib/wsl/lib"


def test_no_libcuda_on_the_path_of_wsl() -> None:
    gone = Unread(why="no libcuda")
    facts = lists_no_gpu(
        wsl(
            healthy(),
            driver__libcuda__path=None,
            driver__libcuda__load_error="not found",
            driver__libcuda__init_result=gone,
            driver__libcuda__devices=gone,
            driver__libcuda__candidates=(WSL,),
        )
    )
    assert roots(facts) == ["wsl-libcuda-path"]


def test_wsl_that_works_or_has_no_driver_of_windows() -> None:
    cause = "wsl-libcuda-path"
    assert outcome(healthy(), cause) == "skipped"
    assert outcome(wsl(with_(healthy(), driver__libcuda__path=WSL)), cause) == "passed"
    assert outcome(wsl(with_(healthy(), driver__libcuda__path=LINUX)), cause) == "passed"
    assert outcome(wsl(cu_init(healthy(), 100, path=WSL)), cause) == "passed"
    assert outcome(wsl(cu_init(healthy(), 100, path=LINUX), driver__libcuda__candidates=(LINUX,)), cause) == "passed"
    assert outcome(wsl(cu_init(healthy(), 34, path="/usr/local/cuda/lib64/stubs/libcuda.so")), cause) == "skipped"
    assert outcome(wsl(healthy(), driver__libcuda__path=Unread(why="hidden")), cause) == "unknown"
    assert outcome(with_(healthy(), system__wsl=Unread(why="hidden")), cause) == "unknown"


RELEASES = {
    "4.4.0-19041-Microsoft": "found",
    "4.4.0-22621-Microsoft": "found",
    "3.4.0-Microsoft": "found",
    "4.19.104-microsoft-standard": "passed",
    "5.15.167.4-microsoft-standard-WSL2": "passed",
    "4.4.0-210-generic": "passed",
}


@pytest.mark.parametrize("release", RELEASES)
def test_the_release_tells_wsl_1(release: str) -> None:
    facts = wsl(cu_init(healthy(), 100, path=LINUX), system__kernel=release)
    assert outcome(facts, "wsl1-no-gpu") == RELEASES[release]


def test_wsl_1_is_the_cause_of_all_that_is_missing() -> None:
    gone = Unread(why="no libcuda")
    facts = lists_no_gpu(
        wsl(
            healthy(),
            system__kernel="4.4.0-19041-Microsoft",
            driver__libcuda__path=None,
            driver__libcuda__load_error="not found",
            driver__libcuda__init_result=gone,
            driver__libcuda__devices=gone,
            driver__libcuda__candidates=(),
        )
    )
    assert roots(facts) == ["wsl1-no-gpu"]
    assert outcome(healthy(), "wsl1-no-gpu") == "skipped"
    assert outcome(with_(healthy(), system__wsl=Unread(why="hidden")), "wsl1-no-gpu") == "unknown"
    assert outcome(wsl(healthy(), system__kernel=Unread(why="hidden")), "wsl1-no-gpu") == "unknown"
