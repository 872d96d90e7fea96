from __future__ import annotations

import errno

import msgspec
import pytest

from gpudoctor.facts import DeviceNode, Facts, KernelEvent, Unread
from tests.factory import cu_init, found, healthy, outcome, roots, with_, with_variable

FIRST, SECOND = "0000:00:06.0", "0000:00:07.0"
FAILED = KernelEvent(
    kind="rminit-failed",
    text=f"NVRM: GPU {SECOND}: RmInitAdapter failed! (0x24:0x72:1568)",
    pci_address=SECOND,
    seconds=885.2,
)
TIMEOUT = KernelEvent(
    kind="xid", xid=119, text=f"NVRM: Xid (PCI:{SECOND[:-2]}): 119, Timeout waiting for RPC", pci_address=SECOND
)
CASES = [("driver-rminit-failed", FAILED), ("xid119-gsp-timeout", TIMEOUT)]


def lost_second(facts: Facts) -> Facts:
    """The driver lists the first of two GPUs alone."""
    cuda, nvml, tf = facts.driver.libcuda.devices, facts.gpu.devices, facts.tensorflow.devices
    assert isinstance(cuda, tuple)
    assert isinstance(nvml, tuple)
    assert isinstance(tf, tuple)
    return with_(
        facts,
        driver__libcuda__devices=cuda[:1],
        driver__all_devices=cuda[:1],
        gpu__devices=nvml[:1],
        tensorflow__devices=tf[:2],
        measurements=facts.measurements[:1],
    )


def logged(facts: Facts, *events: KernelEvent) -> Facts:
    return with_(facts, system__kernel_log=events)


@pytest.mark.parametrize(("cause", "event"), CASES)
def test_a_gpu_that_is_lost(cause: str, event: KernelEvent) -> None:
    facts = logged(lost_second(healthy()), event)
    assert roots(facts) == [cause]
    assert SECOND in found(facts)[cause].message


@pytest.mark.parametrize(("cause", "event"), CASES)
def test_nothing_starts(cause: str, event: KernelEvent) -> None:
    facts = cu_init(healthy(), 999)
    facts = with_(facts, gpu__nvml_error=9, gpu__devices=Unread(why="NVML: Driver Not Loaded"))
    assert cause in roots(logged(facts, event))
    hung = with_(
        healthy(),
        driver__libcuda__no_answer="the process did not end within 20 s",
        driver__libcuda__init_result=Unread(why="hung"),
        driver__libcuda__devices=Unread(why="hung"),
        gpu__nvml_error=Unread(why="hung"),
        gpu__devices=Unread(why="hung"),
    )
    assert cause in roots(logged(hung, event))


@pytest.mark.parametrize(("cause", "event"), CASES)
def test_history(cause: str, event: KernelEvent) -> None:
    """The GPU works now, or another cause keeps CUDA from starting, or the GPU is not ours."""
    assert roots(logged(healthy(), event)) == []
    assert outcome(logged(healthy(), event), cause) == "passed"
    for result in (34, 802, 803, 804):
        assert outcome(logged(cu_init(healthy(), result), event), cause) == "passed"
    assert outcome(logged(cu_init(healthy(), 999), event), cause) == "passed"  # NVML lists both
    refused = tuple(
        DeviceNode(path=f"/dev/nvidia{i}", exists=True, open_errno=errno.EPERM if i else None) for i in (0, 1)
    )
    assert outcome(logged(with_(lost_second(healthy()), driver__nodes=refused), event), cause) == "passed"
    assert outcome(logged(with_(lost_second(healthy()), driver__nodes=refused[:1]), event), cause) == "passed"
    other = msgspec.structs.replace(event, pci_address=FIRST)
    assert outcome(logged(lost_second(healthy()), other), cause) == "passed"


@pytest.mark.parametrize(("cause", "event"), CASES)
def test_a_gpu_that_is_left_out_by_rule_is_not_blamed(cause: str, event: KernelEvent) -> None:
    """CUDA does not list it, and NVML reads it."""
    nvml = healthy().gpu.devices
    both = with_(logged(lost_second(healthy()), event), gpu__devices=nvml)
    assert outcome(both, cause) == "passed"
    masked = with_variable(logged(lost_second(healthy()), event), "CUDA_VISIBLE_DEVICES", "0")
    blind = with_(masked, gpu__devices=Unread(why="it crashed"))
    assert outcome(blind, cause) == "found"  # CUDA lists one without the variable, too
    assert outcome(with_(blind, driver__all_devices=Unread(why="killed")), cause) == "unknown"
    assert outcome(with_(both, driver__all_devices=Unread(why="killed")), cause) == "passed"


@pytest.mark.parametrize(("cause", "event"), CASES)
def test_a_log_that_can_not_be_read(cause: str, event: KernelEvent) -> None:
    hidden = Unread(why="Operation not permitted", settle="sudo dmesg")
    assert outcome(with_(healthy(), system__kernel_log=hidden), cause) == "passed"
    assert outcome(with_(lost_second(healthy()), system__kernel_log=hidden), cause) == "unknown"
    assert outcome(with_(logged(healthy(), event), pci__devices=Unread(why="?")), cause) == "passed"
    blind = with_(logged(lost_second(healthy()), event), driver__nodes=Unread(why="?"))
    assert outcome(blind, cause) == "unknown"


def test_a_line_that_names_no_gpu() -> None:
    event = KernelEvent(kind="rminit-failed", text="NVRM: RmInitAdapter failed! (0x26:0x56:1463)")
    assert roots(logged(lost_second(healthy()), event)) == ["driver-rminit-failed"]


def test_the_open_module_does_not_support_it() -> None:
    text = (
        f"NVRM: The NVIDIA GPU {SECOND} (PCI ID: 10de:1b06) installed in this system is not supported by open nvidia.ko"
    )
    event = KernelEvent(kind="rminit-failed", text=text, pci_address=SECOND)
    fixes = found(logged(lost_second(healthy()), event))["driver-rminit-failed"].fixes
    assert "proprietary" in fixes[0].summary


REJECTED = KernelEvent(kind="module-rejected", text="Loading of module with unavailable key is rejected", seconds=9.0)


def unloaded(**changes: object) -> Facts:
    facts = cu_init(healthy(), 100)
    facts = with_(facts, driver__kernel_version=None, driver__modules=(), system__secure_boot=True, **changes)
    return logged(facts, REJECTED)


def test_driver_secure_boot() -> None:
    assert "driver-secure-boot" in roots(unloaded())
    assert "mokutil" in found(unloaded())["driver-secure-boot"].fixes[0].steps[0]
    locked = with_(unloaded(), system__secure_boot=None, system__lockdown="integrity")
    assert "lockdown is integrity" in found(locked)["driver-secure-boot"].message


def test_secure_boot_alone_is_no_fault() -> None:
    name = "driver-secure-boot"
    assert roots(with_(logged(healthy(), REJECTED), system__secure_boot=True)) == []
    assert outcome(with_(unloaded(), system__secure_boot=False), name) == "passed"
    assert outcome(logged(unloaded()), name) == "passed"
    assert outcome(with_(unloaded(), driver__libcuda__candidates=()), name) == "passed"
    assert outcome(with_(unloaded(), system__container="docker"), name) == "skipped"
    assert outcome(with_(unloaded(), pci__devices=()), name) == "skipped"
    for field in ("system__kernel_log", "system__secure_boot", "driver__kernel_version"):
        assert outcome(with_(unloaded(), **{field: Unread(why="?")}), name) == "unknown"


def failing(device: int) -> Facts:
    one, two, *_ = healthy().measurements
    bad = msgspec.structs.replace(two if device else one, value=Unread(why="CUDA_ERROR_ILLEGAL_ADDRESS"))
    return with_(healthy(), measurements=(one, bad) if device else (bad, two))


def xid(number: int, address: str) -> KernelEvent:
    return KernelEvent(kind="xid", xid=number, text=f"NVRM: Xid (PCI:{address}): {number}, …", pci_address=address)


@pytest.mark.parametrize("number", [13, 31, 43, 45])
def test_xid13_31_43_app_or_gpu_fault(number: int) -> None:
    facts = with_(failing(1), system__kernel_log_during=(xid(number, SECOND),))
    assert roots(facts) == ["xid13-31-43-app-or-gpu-fault"]
    assert found(facts)["xid13-31-43-app-or-gpu-fault"].about == ("gpu1",)


def test_xids_of_others() -> None:
    name = "xid13-31-43-app-or-gpu-fault"
    assert outcome(healthy(), name) == "skipped"
    assert outcome(with_(healthy(), system__kernel_log_during=(xid(31, SECOND),)), name) == "skipped"
    assert outcome(logged(failing(1), xid(31, SECOND)), name) == "passed"  # before we came
    assert outcome(with_(failing(1), system__kernel_log_during=(xid(31, FIRST),)), name) == "passed"
    assert outcome(with_(failing(1), system__kernel_log_during=(xid(79, SECOND),)), name) == "passed"
    assert outcome(with_(failing(1), system__kernel_log_during=Unread(why="?")), name) == "unknown"


def test_what_nvidia_says_of_an_xid_is_shown() -> None:
    proof = found(logged(lost_second(healthy()), TIMEOUT))["xid119-gsp-timeout"].proof
    assert any("GSP RPC Timeout" in e.text and "reset" in e.text and "catalog" in e.source.lower() for e in proof)
    facts = with_(failing(1), system__kernel_log_during=(xid(31, SECOND), xid(45, SECOND)))
    texts = [e.text for e in found(facts)["xid13-31-43-app-or-gpu-fault"].proof]
    assert "Xid 31: GPU memory page fault; NVIDIA's immediate action: restart the application" in texts


HARDWARE = "xid-hardware-fault"


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (46, f"sudo nvidia-smi --gpu-reset -i {SECOND}"),
        (62, f"sudo nvidia-smi --gpu-reset -i {SECOND}"),
        (79, "sudo reboot"),
        (95, f"sudo nvidia-smi --gpu-reset -i {SECOND}"),
        (143, f"sudo nvidia-smi --gpu-reset -i {SECOND}"),
        (54, None),
        (142, None),
    ],
)
def test_xid_hardware_fault(number: int, step: str | None) -> None:
    facts = logged(lost_second(healthy()), xid(number, SECOND))
    assert roots(facts) == [HARDWARE]
    finding = found(facts)[HARDWARE]
    assert f"{SECOND} (10de:2335, NVIDIA H200)" in finding.message
    assert f"Xid {number}" in finding.message
    assert any("NVIDIA's immediate action" in e.text for e in finding.proof)
    assert finding.fixes[0].steps == ((step,) if step else ())


@pytest.mark.parametrize("number", [13, 31, 43, 45, 48, 63, 94, 56, 61, 119, 154, 165, 9999])
def test_xids_that_are_no_hardware_fault_by_themselves(number: int) -> None:
    """A program's, repaired, informational, unused, of another check, or unknown."""
    assert outcome(logged(lost_second(healthy()), xid(number, SECOND)), HARDWARE) == "passed"


def test_a_hardware_fault_is_told_once() -> None:
    """A GPU that works is left alone, and where another check knows more that one speaks."""
    event = xid(62, SECOND)
    assert roots(logged(healthy(), event)) == []
    assert outcome(logged(lost_second(healthy()), xid(62, FIRST)), HARDWARE) == "passed"
    assert roots(logged(lost_second(healthy()), event, TIMEOUT)) == ["xid119-gsp-timeout"]
    assert roots(logged(lost_second(healthy()), event, FAILED)) == ["driver-rminit-failed"]
    assert outcome(with_(lost_second(healthy()), system__kernel_log=Unread(why="?")), HARDWARE) == "unknown"
    devices = healthy().gpu.devices
    assert isinstance(devices, tuple)
    silent = msgspec.structs.replace(devices[1], nvml_error=15, pci_address=Unread(why="NVML: GPU is lost"))
    lost = with_(logged(lost_second(healthy()), xid(79, SECOND)), gpu__devices=(devices[0], silent))
    assert outcome(lost, HARDWARE) == "skipped"
    assert roots(lost) == ["xid79-fell-off-bus"]
    assert any("Xid 79: GPU has fallen off the bus" in e.text for e in found(lost)["xid79-fell-off-bus"].proof)
