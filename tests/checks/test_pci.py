from __future__ import annotations

import msgspec
import pytest

from gpudoctor.facts import Facts, PciDevice, Unread
from tests.factory import found, healthy, lists_no_gpu, outcome, roots, with_


def no_gpu(**more: object) -> Facts:
    devices = healthy().pci.devices
    assert isinstance(devices, tuple)
    changes: dict[str, object] = {
        "pci__devices": devices[:1],
        "driver__kernel_version": None,
        "driver__libcuda__path": None,
        "driver__libcuda__init_result": Unread(why="no libcuda"),
        "driver__libcuda__devices": Unread(why="no libcuda"),
        "driver__libcuda__candidates": (),
        "gpu__devices": Unread(why="no NVML"),
    }
    return lists_no_gpu(with_(healthy(), **{**changes, **more}))


def test_no_nvidia_gpu() -> None:
    assert roots(no_gpu()) == ["no-nvidia-gpu"]


def test_the_audio_function_of_a_gpu_is_no_gpu() -> None:
    audio = PciDevice(address="0000:01:00.1", vendor=0x10DE, device=0x22BA, pci_class=0x040300, driver=None)
    assert roots(no_gpu(pci__devices=(audio,))) == ["no-nvidia-gpu"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"pci__devices": Unread(why="/sys is hidden")}, "unknown"),
        ({"system__wsl": True}, "skipped"),
        ({"system__tegra": True}, "skipped"),
        ({"driver__kernel_version": "580.159.04"}, "passed"),
        ({"driver__kernel_version": Unread(why="/proc is hidden")}, "unknown"),
        ({"pci__devices": (PciDevice(address="0000:00:01.0"),)}, "unknown"),
        ({"driver__libcuda__devices": healthy().driver.libcuda.devices}, "passed"),
    ],
)
def test_absence_needs_proof(change: dict[str, object], expected: str) -> None:
    assert outcome(no_gpu(**change), "no-nvidia-gpu") == expected


def test_a_gpu_on_the_bus_is_no_fault() -> None:
    assert outcome(healthy(), "no-nvidia-gpu") == "passed"


AMD = PciDevice(address="0000:03:00.0", vendor=0x1002, device=0x744C, pci_class=0x030000, driver="amdgpu")


def test_an_amd_gpu_explains_that_there_is_none_of_nvidia() -> None:
    facts = no_gpu(pci__devices=(AMD,))
    assert roots(facts) == ["amd-gpu"]
    assert "0000:03:00.0 1002:744c" in found(facts)["amd-gpu"].proof[0].text
    accelerator = msgspec.structs.replace(AMD, pci_class=0x120000)
    assert roots(no_gpu(pci__devices=(accelerator,))) == ["amd-gpu"]


def test_an_amd_gpu_beside_nvidias_is_no_fault() -> None:
    devices = healthy().pci.devices
    assert isinstance(devices, tuple)
    assert outcome(with_(healthy(), pci__devices=(*devices, AMD)), "amd-gpu") == "passed"
    assert outcome(no_gpu(pci__devices=(*devices, AMD)), "amd-gpu") == "passed"


def test_what_else_of_amd_there_is() -> None:
    bridge = msgspec.structs.replace(AMD, pci_class=0x060400)
    assert outcome(no_gpu(pci__devices=(bridge,)), "amd-gpu") == "passed"
    assert outcome(no_gpu(pci__devices=(AMD,), tensorflow__build__rocm=True), "amd-gpu") == "skipped"
    assert outcome(no_gpu(pci__devices=Unread(why="hidden")), "amd-gpu") == "unknown"
    assert outcome(healthy(), "amd-gpu") == "passed"
