from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.facts import Facts, ModuleFile, Unread
from tests.factory import cu_init, found, healthy, lists_no_gpu, outcome, roots, with_

KERNEL = "6.8.0"


def owned_by(driver: str | None, facts: Facts | None = None, **more: Any) -> Facts:
    """A machine whose GPUs belong to `driver`, and not to NVIDIA's."""
    facts = facts if facts is not None else healthy()
    devices = facts.pci.devices
    assert isinstance(devices, tuple)
    changed = tuple(msgspec.structs.replace(d, driver=driver) if d.is_nvidia_gpu else d for d in devices)
    unloaded = with_(
        cu_init(facts, 100),
        pci__devices=changed,
        driver__kernel_version=None,
        driver__modules=() if driver is None else (driver.replace("-", "_"),),
        driver__uvm_major=None,
        driver__gpus=None,
        driver__nodes=(),
        gpu__nvml_error=9,
        gpu__devices=Unread(why="NVML: Driver Not Loaded"),
    )
    return with_(unloaded, **more)


def without_driver(facts: Facts) -> Facts:
    """The same without the driver's user libraries."""
    gone = Unread(why="no libcuda")
    return lists_no_gpu(
        with_(
            facts,
            driver__libcuda__path=None,
            driver__libcuda__load_error="libcuda.so.1: cannot open shared object file",
            driver__libcuda__init_result=gone,
            driver__libcuda__devices=gone,
            driver__libcuda__candidates=(),
        )
    )


def test_module_that_is_there_and_not_loaded() -> None:
    facts = owned_by(None)
    assert roots(facts) == ["driver-module-not-loaded"]
    one = found(facts)["driver-module-not-loaded"]
    assert "there for the running kernel (6.8.0)" in one.message
    assert one.fixes[0].steps[0] == "sudo modprobe nvidia"


def test_module_of_another_kernel() -> None:
    files = (ModuleFile(kernel="6.8.0-31", path="/lib/modules/6.8.0-31/updates/dkms/nvidia.ko"),)
    facts = owned_by(None, driver__module_files=files, driver__kernel_headers=False)
    one = found(facts)["driver-module-not-loaded"]
    assert "built for kernel 6.8.0-31, and 6.8.0 runs" in one.message
    assert "headers are missing" in one.fixes[0].summary
    assert "linux-headers" in one.fixes[0].steps[0]


def test_no_module_on_disk() -> None:
    beside = (ModuleFile(kernel=KERNEL, path="/lib/modules/6.8.0/kernel/drivers/video/nvidiafb.ko"),)
    one = found(owned_by(None, driver__module_files=beside))["driver-module-not-loaded"]
    assert "none was built for the running kernel" in one.message


def test_a_disk_that_can_not_be_looked_at_is_no_hindrance() -> None:
    facts = owned_by(None, driver__module_files=Unread(why="hidden"), system__distribution="nixos")
    one = found(facts)["driver-module-not-loaded"]
    assert one.fixes[0].steps[0] == "sudo modprobe nvidia"
    assert one.fixes[1].kind == "advice"


def test_a_module_that_is_blacklisted() -> None:
    one = found(owned_by(None, driver__blacklisted=("nouveau", "nvidia")))["driver-module-not-loaded"]
    assert "blacklisted" in one.message


def test_in_a_container_the_host_is_meant() -> None:
    one = found(owned_by(None, system__container="docker"))["driver-module-not-loaded"]
    assert "on the host" in one.message
    assert one.fixes[0].kind == "advice"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"system__wsl": True}, "skipped"),
        ({"driver__modules": ("nvidia",)}, "passed"),
        ({"driver__modules": Unread(why="hidden")}, "unknown"),
        ({"pci__devices": Unread(why="hidden")}, "unknown"),
        ({"driver__kernel_version": Unread(why="hidden")}, "unknown"),
        ({"driver__kernel_version": "580.159.04"}, "passed"),
    ],
)
def test_module_not_loaded_needs_proof(change: dict[str, Any], expected: str) -> None:
    assert outcome(owned_by(None, **change), "driver-module-not-loaded") == expected


def test_without_the_driver_there_is_nothing_to_load() -> None:
    assert roots(without_driver(owned_by(None))) == ["driver-missing"]


def test_nouveau() -> None:
    facts = owned_by("nouveau", driver__blacklisted=())
    assert roots(facts) == ["driver-nouveau-conflict"]
    steps = found(facts)["driver-nouveau-conflict"].fixes[0].steps
    assert "blacklist-nouveau.conf" in steps[0]
    assert steps[1] == "sudo update-initramfs -u"


def test_nouveau_that_is_blacklisted_and_loaded() -> None:
    facts = owned_by("nouveau", driver__blacklisted=("nouveau",), system__distribution="fedora")
    assert found(facts)["driver-nouveau-conflict"].fixes[0].steps == ("sudo dracut --force", "sudo reboot")


def test_nouveau_without_nvidias_driver_is_a_driver_to_install() -> None:
    assert roots(without_driver(owned_by("nouveau"))) == ["driver-missing"]


@pytest.mark.parametrize("cause", ["driver-nouveau-conflict", "gpu-bound-to-vfio"])
def test_owners_that_are_unread(cause: str) -> None:
    assert outcome(owned_by(None, pci__devices=Unread(why="hidden")), cause) == "unknown"
    devices = owned_by(None).pci.devices
    assert isinstance(devices, tuple)
    hidden = tuple(msgspec.structs.replace(d, driver=Unread(why="hidden")) for d in devices)
    assert outcome(owned_by(None, pci__devices=hidden), cause) == "unknown"
    assert outcome(healthy(), cause) == "skipped"


@pytest.mark.parametrize("driver", ["nouveau", "vfio-pci"])
def test_one_gpu_for_nvidia_and_another_for_others_is_no_fault(driver: str) -> None:
    devices = healthy().pci.devices
    assert isinstance(devices, tuple)
    other = msgspec.structs.replace(devices[2], driver=driver)
    assert roots(with_(healthy(), pci__devices=(*devices[:2], other))) == []


def test_vfio() -> None:
    facts = owned_by("vfio-pci")
    assert roots(facts) == ["gpu-bound-to-vfio"]
    assert roots(without_driver(facts)) == ["gpu-bound-to-vfio"]
    assert "0000:00:06.0" in found(facts)["gpu-bound-to-vfio"].fixes[0].steps[0]


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("/etc/prime-discrete: off", "sudo prime-select on-demand"),
        ("/proc/acpi/bbswitch: 0000:01:00.0 OFF", "echo ON | sudo tee /proc/acpi/bbswitch"),
    ],
)
def test_a_laptop_gpu_that_is_switched_off(said: str, step: str) -> None:
    facts = owned_by(None, driver__switched_off=said)
    assert roots(facts) == ["optimus-gpu-powered-off"]
    assert found(facts)["optimus-gpu-powered-off"].fixes[0].steps[0] == step
    devices = facts.pci.devices
    assert isinstance(devices, tuple)
    gone = with_(facts, pci__devices=devices[:1])
    assert roots(gone) == ["optimus-gpu-powered-off"]


def test_switched_off_needs_proof() -> None:
    cause = "optimus-gpu-powered-off"
    assert outcome(healthy(), cause) == "passed"
    assert outcome(with_(healthy(), driver__switched_off="/etc/prime-discrete: off"), cause) == "passed"
    assert outcome(owned_by(None), cause) == "passed"
    assert outcome(owned_by(None, driver__switched_off=Unread(why="hidden")), cause) == "unknown"
