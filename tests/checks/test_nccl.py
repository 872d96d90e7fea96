from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpudoctor.checks.nccl import names_interface
from gpudoctor.diagnosis import judge
from gpudoctor.facts import ALL_REDUCE, CudaPair, Facts, Measurement, NcclFile, NcclSetting, PciAcs, PciDevice, Unread
from tests.factory import found, healthy, interface, outcome, roots, with_, with_variable

P2P, SHM, CHANNELS = "nccl-p2p-disabled-by-env", "nccl-shm-disabled-by-env", "nccl-channels-limited"
INTERFACE, ACS = "nccl-wrong-interface", "nccl-p2p-iommu-acs"
SETTINGS = {
    P2P: ("NCCL_P2P_DISABLE", "1"),
    SHM: ("NCCL_SHM_DISABLE", "1"),
    CHANNELS: ("NCCL_MAX_NCHANNELS", "1"),
    INTERFACE: ("NCCL_SOCKET_IFNAME", "eth9"),
}


def pairs(facts: Facts, *, can_access: bool | Unread = True, native_atomics: bool | Unread = True) -> Facts:
    both = tuple(
        CudaPair(device=a, peer=b, can_access=can_access, native_atomics=native_atomics) for a, b in ((0, 1), (1, 0))
    )
    return with_(facts, driver__libcuda__pairs=both)


def in_file(facts: Facts, name: str, value: str) -> Facts:
    one = NcclSetting(name=name, value=value, file="/etc/nccl.conf", line=3)
    return with_(facts, nccl__files=(NcclFile(path="/etc/nccl.conf", exists=True, settings=(one,)),))


def unmeasured() -> Facts:
    """Nobody ran an all-reduce: the settings alone tell."""
    return with_(healthy(), measurements=tuple(m for m in healthy().measurements if m.kernel != ALL_REDUCE))


def disabled() -> Facts:
    return with_variable(unmeasured(), "NCCL_P2P_DISABLE", "1")


@pytest.mark.parametrize("cause", [P2P, CHANNELS, INTERFACE])
def test_a_setting_of_the_environment(cause: str) -> None:
    facts = with_variable(unmeasured(), *SETTINGS[cause])
    assert roots(facts) == [cause]
    one = found(facts)[cause]
    assert one.level == ("fail" if cause == INTERFACE else "warn")
    assert one.fixes[0].steps == (f"unset {SETTINGS[cause][0]}",)
    assert one.proof[0].source == "environment of the examined process"


@pytest.mark.parametrize("cause", [P2P, CHANNELS, INTERFACE])
def test_a_setting_of_a_file(cause: str) -> None:
    facts = in_file(unmeasured(), *SETTINGS[cause])
    assert roots(facts) == [cause]
    now, fix = found(facts)[cause].fixes[:2]
    name = SETTINGS[cause][0]
    assert (now.kind, now.risk) == ("env", "safe")
    assert now.steps == (f"export {name}={'0' if name == 'NCCL_P2P_DISABLE' else ''}",)
    assert (fix.kind, fix.risk) == ("advice", "needs root")
    assert "line 3" in fix.summary
    assert "/etc/nccl.conf" in fix.summary


@pytest.mark.parametrize("cause", list(SETTINGS))
def test_settings_that_are_not_known(cause: str) -> None:
    assert outcome(healthy(), cause) == "passed"
    assert outcome(with_(healthy(), nccl__files=Unread(why="hidden")), cause) == "unknown"
    assert outcome(with_(healthy(), environment__variables=Unread(why="hidden")), cause) == "unknown"


@pytest.mark.parametrize("cause", list(SETTINGS))
def test_one_gpu_speaks_to_nobody(cause: str) -> None:
    facts = with_variable(unmeasured(), *SETTINGS[cause])
    listed, devices = facts.tensorflow.devices, facts.driver.libcuda.devices
    assert isinstance(listed, tuple)
    assert isinstance(devices, tuple)
    assert outcome(with_(facts, tensorflow__devices=listed[:2]), cause) == "skipped"
    quick = with_(facts, tensorflow__devices=Unread(why="not imported"))
    assert outcome(quick, cause) == ("found" if cause != SHM else "passed")
    assert outcome(with_(quick, driver__libcuda__devices=devices[:1]), cause) == "skipped"
    assert outcome(with_(quick, driver__libcuda__devices=Unread(why="hidden")), cause) == "unknown"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("NCCL_P2P_DISABLE", "0", "passed"),
        ("NCCL_P2P_DISABLE", "", "passed"),
        ("NCCL_P2P_DISABLE", "true", "passed"),
        ("NCCL_P2P_DISABLE", "2", "passed"),
        ("NCCL_P2P_DISABLE", " 0x1", "found"),
        ("NCCL_P2P_DISABLE", "01", "found"),
        ("NCCL_P2P_LEVEL", "LOC", "found"),
        ("NCCL_P2P_LEVEL", "0", "found"),
        ("NCCL_P2P_LEVEL", "NVL", "passed"),
        ("NCCL_P2P_LEVEL", "SYS", "passed"),
    ],
)
def test_p2p_as_nccl_reads_it(name: str, value: str, expected: str) -> None:
    assert outcome(with_variable(unmeasured(), name, value), P2P) == expected


def test_p2p_that_nobody_could_use() -> None:
    assert outcome(pairs(disabled(), can_access=False), P2P) == "skipped"
    assert outcome(pairs(disabled(), can_access=Unread(why="?")), P2P) == "unknown"
    assert outcome(with_(disabled(), driver__libcuda__pairs=Unread(why="?")), P2P) == "unknown"
    assert outcome(with_(healthy(), driver__libcuda__pairs=Unread(why="?")), P2P) == "passed"


def test_the_environment_takes_back_what_a_file_says() -> None:
    facts = with_variable(in_file(unmeasured(), "NCCL_P2P_DISABLE", "1"), "NCCL_P2P_DISABLE", "0")
    assert roots(facts) == []


def test_shared_memory_matters_only_without_a_faster_way() -> None:
    facts = with_variable(unmeasured(), "NCCL_SHM_DISABLE", "1")
    assert roots(facts) == []
    apart = pairs(facts, can_access=False)
    assert roots(apart) == [SHM]
    assert "can't" in found(apart)[SHM].proof[1].text
    both = with_variable(disabled(), "NCCL_SHM_DISABLE", "1")
    assert roots(both) == [P2P, SHM]
    assert outcome(pairs(facts, can_access=Unread(why="?")), SHM) == "unknown"
    assert outcome(with_variable(pairs(healthy(), can_access=False), "NCCL_SHM_DISABLE", "0"), SHM) == "passed"


@pytest.mark.parametrize(
    ("name", "value", "nvlink", "expected"),
    [
        ("NCCL_MAX_NCHANNELS", "1", False, "found"),
        ("NCCL_MAX_CTAS", "1", False, "found"),
        ("NCCL_MAX_NRINGS", "2", True, "found"),
        ("NCCL_MAX_NCHANNELS", "2", False, "passed"),
        ("NCCL_MAX_NCHANNELS", "3", True, "found"),
        ("NCCL_MAX_NCHANNELS", "4", True, "passed"),
        ("NCCL_MAX_NCHANNELS", "-2", True, "passed"),
        ("NCCL_MAX_NCHANNELS", "many", True, "passed"),
    ],
)
def test_channels(name: str, value: str, nvlink: bool, expected: str) -> None:
    facts = with_variable(pairs(unmeasured(), native_atomics=nvlink), name, value)
    assert outcome(facts, CHANNELS) == expected


def test_channels_where_the_link_is_not_known() -> None:
    facts = with_variable(pairs(unmeasured(), native_atomics=Unread(why="?")), "NCCL_MAX_NCHANNELS", "2")
    assert outcome(facts, CHANNELS) == "unknown"


# ----------------------------------------------------------------------------- interfaces


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("eth", ["eth0", "eth1"]),
        ("eth0,ib", ["eth0", "ib0"]),
        ("=eth0", ["eth0"]),
        ("=eth", []),
        ("=eth0,lo", ["eth0", "lo"]),
        ("^docker,lo", ["eth0", "eth1", "ib0"]),
        ("^=eth0", ["eth1", "ib0", "lo", "docker0"]),
        ("eth1:5000", ["eth1"]),
        ("=eth0,=eth1", ["eth0"]),
        (",", ["eth0", "eth1", "ib0", "lo", "docker0"]),
    ],
)
def test_how_interfaces_are_named(value: str, names: list[str]) -> None:
    everyone = ["eth0", "eth1", "ib0", "lo", "docker0"]
    assert [n for n in everyone if names_interface(value, n)] == names


def named(value: str, *interfaces: Any) -> Facts:
    facts = with_variable(healthy(), "NCCL_SOCKET_IFNAME", value)
    return with_(facts, nccl__interfaces=tuple(interfaces)) if interfaces else facts


def test_an_interface_that_is_not_there() -> None:
    one = found(named("eth9"))[INTERFACE]
    assert "names no network interface" in one.message
    assert one.fixes[1].env[0].value == "eth0"
    assert one.may_explain == ("op-fails", "collective-fails")


def test_an_interface_that_is_down_or_has_no_address() -> None:
    for down in (interface("eth1", up=False), interface("eth1", addresses=())):
        facts = named("=eth1", interface("eth0"), down)
        assert "eth1, which is down or without an address" in found(facts)[INTERFACE].message


@pytest.mark.parametrize("value", ["eth", "=eth0", "^docker,lo", "eth9,lo", "e", ""])
def test_interfaces_that_are_there(value: str) -> None:
    assert outcome(named(value), INTERFACE) == "passed"


def test_interfaces_that_are_not_known() -> None:
    assert outcome(with_(named("eth9"), nccl__interfaces=Unread(why="hidden")), INTERFACE) == "unknown"
    hidden = interface("eth0", up=Unread(why="?"), addresses=Unread(why="?"))
    assert outcome(named("eth0", hidden), INTERFACE) == "passed"


def all_reduce(facts: Facts, **changes: Any) -> Facts:
    """`facts` with an all-reduce that was run."""
    one = Measurement(kernel=ALL_REDUCE, backend="tensorflow", device="GPU:0,1", value=200.0, verified=True)
    return with_(facts, measurements=(*facts.measurements, msgspec.structs.replace(one, **changes)))


HUNG = {"value": Unread(why="all-reduce did not end within 30 s"), "verified": Unread(why="it did not end")}
WRONG = {"value": 12.0, "verified": False, "error": 3.0, "tolerance": 1e-5}


def test_an_interface_explains_a_collective_that_fails() -> None:
    failed = {"value": Unread(why="NCCL: invalid usage"), "verified": Unread(why="it failed")}
    assert roots(all_reduce(named("eth9"), **failed)) == [INTERFACE]


# ----------------------------------------------------------------------------- IOMMU and ACS


def on_pcie(iommu_type: str | Unread | None = None, control: int | Unread | None = None) -> Facts:
    """Two GPUs below one PCIe switch."""
    facts = pairs(healthy(), native_atomics=False)
    devices = facts.pci.devices
    assert isinstance(devices, tuple)
    acs = PciAcs(capability=0x5F, control=control) if isinstance(control, int) else control
    bridge = PciDevice(
        address="0000:00:01.0", vendor=1, device=1, pci_class=0x060400, driver=None, parent=None, acs=acs
    )
    gpus = tuple(
        msgspec.structs.replace(d, parent=bridge.address, iommu_group=7, iommu_type=iommu_type)
        for d in devices
        if d.is_nvidia_gpu
    )
    return with_(facts, pci__devices=(bridge, *gpus))


@pytest.mark.parametrize("how", [HUNG, WRONG])
@pytest.mark.parametrize(("iommu", "control"), [("DMA", 0), ("DMA-FQ", None), ("identity", 0x1D), (None, 0x04)])
def test_traffic_that_is_redirected(how: dict[str, Any], iommu: str | None, control: int | None) -> None:
    facts = all_reduce(on_pcie(iommu, control), **how)
    assert roots(facts) == [ACS]
    assert found(facts)[ACS].fixes[0].env[0].name == "NCCL_P2P_DISABLE"


def test_the_same_is_no_fault_where_all_reduce_works_or_was_not_run() -> None:
    assert outcome(healthy(), ACS) == "skipped"
    assert outcome(on_pcie("DMA", 0x1D), ACS) == "skipped"
    assert outcome(all_reduce(on_pcie("DMA", 0x1D)), ACS) == "passed"
    failed = all_reduce(on_pcie("DMA", 0x1D), value=Unread(why="NCCL: invalid usage"))
    assert outcome(failed, ACS) == "passed"


def test_where_nothing_is_redirected() -> None:
    assert outcome(all_reduce(on_pcie("identity", 0x01), **HUNG), ACS) == "passed"
    assert outcome(all_reduce(on_pcie(None, None), **HUNG), ACS) == "passed"
    assert outcome(all_reduce(on_pcie(None, Unread(why="64 bytes")), **HUNG), ACS) == "unknown"
    assert outcome(all_reduce(on_pcie(Unread(why="hidden"), 0), **HUNG), ACS) == "unknown"


def test_nvlink_goes_past_the_iommu() -> None:
    facts = all_reduce(pairs(on_pcie("DMA", 0x1D), native_atomics=True), **HUNG)
    assert outcome(facts, ACS) == "skipped"
    off = with_variable(all_reduce(on_pcie("DMA", 0x1D), **HUNG), "NCCL_P2P_DISABLE", "1")
    assert outcome(off, ACS) == "skipped"


# ----------------------------------------------------------------------------- shared memory

TOO_SMALL = "nccl-shm-too-small"
SYSTEM_ERROR = {
    "device": "GPU:0,GPU:1",
    "value": Unread(
        why="UnknownError: Error invoking NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details)"
    ),
    "verified": Unread(why="it failed"),
}


def test_shared_memory_that_is_full() -> None:
    facts = with_(
        all_reduce(healthy(), **SYSTEM_ERROR), system__shm_total_bytes=1 << 20, system__shm_free_bytes=1 << 20
    )
    assert roots(facts) == [TOO_SMALL]
    assert "1.0 MB left" in found(facts)[TOO_SMALL].message
    assert found(facts)[TOO_SMALL].fixes[0].steps
    inside = with_(facts, system__container="docker")
    assert "--shm-size" in found(inside)[TOO_SMALL].fixes[0].summary


def test_what_docker_gives_is_told_where_nothing_was_tried() -> None:
    quick = with_(healthy(), system__container="docker", system__shm_total_bytes=64 << 20, measurements=())
    finding = found(quick)[TOO_SMALL]
    assert (finding.level, judge(quick).diagnosis.verdict) == ("info", "healthy")
    assert finding.fixes[0].steps == ("docker run --rm -it --gpus all --shm-size=1g IMAGE",)
    assert finding.fixes[1].steps[-1] == "    shm_size: 1gb"
    pod = with_(quick, system__container="kubernetes")
    assert any("medium: Memory" in line for line in found(pod)[TOO_SMALL].fixes[0].steps)
    podman = with_(quick, system__container="podman")
    assert (
        found(podman)[TOO_SMALL]
        .fixes[0]
        .steps[0]
        .startswith("podman run --rm -it --device nvidia.com/gpu=all --shm-size")
    )
    assert outcome(with_(quick, system__shm_total_bytes=1 << 30), TOO_SMALL) == "skipped"
    assert outcome(with_(quick, system__container=None), TOO_SMALL) == "skipped"
    devices = quick.driver.libcuda.devices
    assert isinstance(devices, tuple)
    assert outcome(with_(quick, driver__libcuda__devices=devices[:1]), TOO_SMALL) == "skipped"
    assert outcome(with_(all_reduce(quick), system__container="docker"), TOO_SMALL) == "passed"


def test_small_shared_memory_is_no_fault_where_all_reduce_works() -> None:
    assert outcome(with_(all_reduce(healthy()), system__shm_free_bytes=1 << 20), TOO_SMALL) == "passed"
    assert outcome(with_(healthy(), system__shm_free_bytes=1 << 20, measurements=()), TOO_SMALL) == "skipped"
    assert outcome(all_reduce(healthy(), **SYSTEM_ERROR), TOO_SMALL) == "passed"
    hidden = with_(all_reduce(healthy(), **SYSTEM_ERROR), system__shm_free_bytes=Unread(why="no /dev/shm"))
    assert outcome(hidden, TOO_SMALL) == "unknown"
    usage = {**SYSTEM_ERROR, "value": Unread(why="NCCL: invalid usage")}
    assert outcome(with_(all_reduce(healthy(), **usage), system__shm_free_bytes=1 << 20), TOO_SMALL) == "passed"
