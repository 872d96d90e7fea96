"""What happened before: a build that failed, a suspend, a fabric manager of another release."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import BuildLog, FabricManager, Facts, GpuProcess, KernelEvent, LogEvent, ModuleFile, Unread, known
from tests.checks.test_modules import owned_by
from tests.factory import DRIVER, cu_init, found, healthy, outcome, roots, with_, with_gpu

ERROR = LogEvent(kind="error", text="nvidia/nv-caps.c:598:5: error: implicit declaration of function 'sys_close'")
MADE = LogEvent(kind="error", text="make[1]: *** [Makefile:1851: /var/lib/dkms/nvidia/x/build] Error 2")
HEADERS = LogEvent(kind="headers-missing", text="Your kernel headers for kernel 6.8.0 cannot be found")
LOG = f"/var/lib/dkms/nvidia/{DRIVER}/build/make.log"
OLDER = (ModuleFile(kernel="6.5.0-9", path="/lib/modules/6.5.0-9/updates/dkms/nvidia.ko.zst"),)


def not_built(*complaints: LogEvent, **more: Any) -> Facts:
    log = BuildLog(path=LOG, version=DRIVER, kernel="6.8.0", complaints=complaints)
    return with_(owned_by(None), **{"driver__module_files": OLDER, "driver__build_log": log, **more})


def test_a_build_that_the_compiler_stopped() -> None:
    facts = not_built(ERROR, MADE)
    assert roots(facts) == ["driver-kernel-incompatible"]
    one = found(facts)["driver-kernel-incompatible"]
    assert f"{DRIVER} can't be built for kernel 6.8.0" in one.message
    assert (one.proof[0].text, one.proof[0].source) == (ERROR.text, LOG)
    assert one.fixes[0].steps == ("sudo apt-get update", "sudo ubuntu-drivers install", "sudo reboot")
    assert "start kernel 6.5.0-9," in one.fixes[1].summary
    elsewhere = with_(facts, system__distribution="nixos", driver__module_files=())
    (only,) = found(elsewhere)["driver-kernel-incompatible"].fixes
    assert only.kind == "advice"


def test_a_build_that_lacked_something_is_no_incompatible_kernel() -> None:
    facts = not_built(HEADERS, ERROR)
    assert roots(facts) == ["driver-module-not-loaded"]
    assert HEADERS.text in [e.text for e in found(facts)["driver-module-not-loaded"].proof]
    assert ERROR.text not in [e.text for e in found(facts)["driver-module-not-loaded"].proof]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"driver__build_log": None}, "skipped"),
        ({"driver__build_log": BuildLog(path=LOG, version=DRIVER, kernel="6.8.0")}, "passed"),
        ({"driver__module_files": (*OLDER, ModuleFile(kernel="6.8.0", path="/x/nvidia.ko"))}, "passed"),
        ({"driver__libcuda__version": "570.86.15"}, "passed"),
        ({"driver__build_log": Unread(why="EACCES")}, "unknown"),
        ({"driver__kernel_version": DRIVER}, "passed"),
        ({"driver__kernel_version": Unread(why="EACCES")}, "unknown"),
        ({"system__container": "docker"}, "skipped"),
        ({"pci__devices": ()}, "skipped"),
    ],
)
def test_an_incompatible_kernel_needs_proof(change: dict[str, Any], expected: str) -> None:
    assert outcome(not_built(ERROR, MADE, **change), "driver-kernel-incompatible") == expected
    assert outcome(healthy(), "driver-kernel-incompatible") == "passed"


# ------------------------------------------------------------------- a suspend

SLEPT = KernelEvent(kind="resumed", text="PM: suspend exit", seconds=900.0)
LOADED = KernelEvent(kind="uvm-loaded", text="nvidia-uvm: Loaded the UVM driver, major device number 238.", seconds=5.0)
CAUSE = "cuinit-unknown-after-suspend"


def woken(**more: Any) -> Facts:
    return with_(cu_init(healthy(), 999), **{"system__suspends": 2, **more})


def test_cuda_after_a_suspend() -> None:
    assert roots(woken()) == [CAUSE]
    one = found(woken())[CAUSE]
    assert "suspended 2 times" in one.proof[1].text
    assert one.fixes[0].steps == ("sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",)
    assert "NVreg_PreserveVideoMemoryAllocations=1" in one.fixes[1].summary
    logged = woken(system__suspends=Unread(why="EACCES"), system__kernel_log=(LOADED, SLEPT))
    assert "PM: suspend exit" in found(logged)[CAUSE].proof[1].text


def test_who_holds_the_gpu_after_a_suspend() -> None:
    process = GpuProcess(pid=812, kind="compute", name="python3")
    screen = GpuProcess(pid=5, kind="graphics", name="Xorg")
    facts = with_gpu(woken(), 0, processes=(process, screen))
    assert "End what holds the GPU (python3 (PID 812))," in found(facts)[CAUSE].fixes[0].summary
    inside = found(with_(facts, system__container="docker"))[CAUSE].fixes[0]
    assert (inside.kind, inside.steps) == ("advice", ())
    assert inside.summary.startswith("On the host: ")


def nodes(of: str, **changes: Any) -> dict[str, Any]:
    ones = known(healthy().driver.nodes)
    return {"driver__nodes": tuple(msgspec.structs.replace(n, **changes) if n.path == of else n for n in ones)}


@pytest.mark.parametrize(
    "change",
    [
        nodes("/dev/nvidia-uvm", exists=False, open_errno=Unread(why="not there")),
        nodes("/dev/nvidia-uvm", open_errno=6),
        nodes("/dev/nvidia-uvm", major=511),
        nodes("/dev/nvidia1", open_errno=1),
        nodes("/dev/nvidiactl", path="/dev/other"),
        {"driver__kernel_version": None},
        {"driver__libcuda__version": "570.86.15"},
        {"gpu__nvml_error": 999},
        {"system__suspends": 0},
        {"system__suspends": None},
        {"system__kernel_log": (SLEPT, LOADED)},
        {"driver__libcuda__init_result": 304},
    ],
)
def test_another_cause_goes_before_the_suspend(change: dict[str, Any]) -> None:
    assert outcome(woken(**change), CAUSE) == "passed"


def test_a_gpu_that_does_not_answer_is_not_the_suspend() -> None:
    assert outcome(with_gpu(woken(), 1, nvml_error=15), CAUSE) == "passed"


def test_a_machine_that_slept_and_works() -> None:
    judged = judge(with_(healthy(), system__suspends=7, system__kernel_log=(SLEPT,)))
    assert (judged.diagnosis.verdict, judged.findings, judged.unknown) == ("healthy", (), ())


def test_nobody_knows_whether_it_slept() -> None:
    hidden = Unread(why="EACCES", settle="sudo dmesg | grep 'PM: suspend exit'")
    assert outcome(woken(system__suspends=hidden), CAUSE) == "unknown"
    assert outcome(with_(healthy(), system__suspends=hidden), CAUSE) == "passed"


# ------------------------------------------------------------------- the fabric manager

MANAGER = FabricManager(
    path="/usr/bin/nv-fabricmanager",
    version="535.183.01",
    package="nvidia-fabricmanager-535",
    package_version="535.183.01-1",
    manager="dpkg",
)
MISMATCH = "fabric-manager-version-mismatch"


def fabric(result: int = 802, of: FabricManager | Unread | None = MANAGER, **more: Any) -> Facts:
    return with_(cu_init(healthy(), result), driver__fabric_manager=of, **more)


def test_a_fabric_manager_of_another_release() -> None:
    assert roots(fabric()) == [MISMATCH]
    one = found(fabric())[MISMATCH]
    assert one.message == f"The fabric manager is of release 535.183.01, the driver of {DRIVER}."
    assert one.proof[1].text == "nvidia-fabricmanager-535 535.183.01-1"
    assert roots(fabric(driver__daemons=("nv-fabricmanager",))) == [MISMATCH]


@pytest.mark.parametrize(
    ("changes", "distribution", "driver", "line"),
    [
        ({}, "ubuntu", DRIVER, f"sudo apt-get install -y --allow-downgrades 'nvidia-fabricmanager-580={DRIVER}-*'"),
        ({}, "debian", "590.44.01", "sudo apt-get install -y --allow-downgrades 'nvidia-fabricmanager=590.44.01-*'"),
        ({"package_version": "535.183.01-0ubuntu2"}, "ubuntu", "590.44.01",
         "sudo apt-get install -y --allow-downgrades 'nvidia-fabricmanager-590=590.44.01-*'"),
        ({"package": "nvidia-fabric-manager", "manager": "rpm"}, "rocky", DRIVER, f"sudo dnf install -y 'nvidia-fabric-manager-{DRIVER}'"),
        ({"package": "nvidia-fabricmanager-535", "manager": "rpm"}, "rhel", DRIVER, f"sudo dnf install -y 'nvidia-fabricmanager-580-{DRIVER}'"),
        ({"manager": "rpm"}, "sles", DRIVER, f"sudo zypper install -y --oldpackage 'nvidia-fabricmanager-580={DRIVER}'"),
    ],
)  # fmt: skip
def test_the_package_that_fits(changes: dict[str, Any], distribution: str, driver: str, line: str) -> None:
    facts = fabric(of=msgspec.structs.replace(MANAGER, **changes), system__distribution=distribution)
    facts = with_(facts, driver__kernel_version=driver, driver__libcuda__version=driver)
    (fix,) = found(facts)[MISMATCH].fixes
    assert fix.steps == (line, "sudo systemctl restart nvidia-fabricmanager")


def test_a_fabric_manager_of_no_package() -> None:
    alone = msgspec.structs.replace(MANAGER, package=None, package_version=None)
    one = found(fabric(of=alone))[MISMATCH]
    assert (one.fixes[0].kind, one.fixes[0].steps) == ("advice", ())
    assert one.proof[1].text == "/usr/bin/nv-fabricmanager is of release 535.183.01"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (fabric(of=msgspec.structs.replace(MANAGER, version=DRIVER)), "passed"),
        (fabric(of=None), "skipped"),
        (fabric(driver__kernel_version=None), "skipped"),
        (fabric(of=msgspec.structs.replace(MANAGER, version=None)), "unknown"),
        (fabric(of=msgspec.structs.replace(MANAGER, version=Unread(why="several"))), "unknown"),
        (fabric(of=Unread(why="EACCES")), "unknown"),
        (fabric(system__container="docker"), "unknown"),
        (fabric(100), "passed"),
        (with_gpu(fabric(100), 1, fabric_state=2), "found"),
        (with_(healthy(), driver__fabric_manager=MANAGER), "passed"),
    ],
)
def test_a_fabric_manager_needs_proof(facts: Facts, expected: str) -> None:
    assert outcome(facts, MISMATCH) == expected
    assert outcome(healthy(), MISMATCH) == "passed"
