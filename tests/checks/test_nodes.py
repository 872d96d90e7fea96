from __future__ import annotations

import errno

import msgspec
import pytest

from gpudoctor.diagnosis import judge
from gpudoctor.facts import DeviceNode, Facts, GpuDevice, Parameter, Unread, known
from tests.factory import cu_init, found, healthy, outcome, roots, with_


@pytest.mark.parametrize("exists", [True, False])
def test_uvm_device_missing(exists: bool) -> None:
    node = DeviceNode(
        path="/dev/nvidia-uvm", exists=exists, major=238, open_errno=6 if exists else Unread(why="not there")
    )
    facts = with_nodes(cu_init(healthy(), 999), nvidia_uvm=node)
    assert roots(facts) == ["cuinit-uvm-device-missing"]


def test_uvm_device_is_no_cause_where_it_opens() -> None:
    facts = cu_init(healthy(), 999)
    assert outcome(facts, "cuinit-uvm-device-missing") == "passed"
    assert roots(facts) == []


@pytest.mark.parametrize("refusal", [errno.EACCES, errno.EPERM])
def test_device_node_permission(refusal: int) -> None:
    nodes = healthy().driver.nodes
    assert isinstance(nodes, tuple)
    refused = tuple(msgspec.structs.replace(n, open_errno=refusal) for n in nodes)
    facts = cu_init(with_(healthy(), driver__nodes=refused), 999 if refusal == errno.EPERM else 100)
    assert roots(facts) == ["device-node-permission"]
    assert found(facts)["device-node-permission"].fixes[0].steps[0].startswith("ls -l /dev/nvidiactl")
    inside = with_(facts, system__container="docker")
    assert found(inside)["device-node-permission"].fixes[0].kind == "advice"
    assert outcome(healthy(), "device-node-permission") == "passed"


@pytest.mark.parametrize(
    ("mode", "group", "step"),
    [(0o660, 44, "sudo usermod -aG"), (0o660, 0, "sudo chmod 666"), (0o600, 44, "sudo chmod 666"), (0o666, 0, "sudo usermod -aG")],
)  # fmt: skip
def test_there_is_a_group_to_join_or_none(mode: int, group: int, step: str) -> None:
    nodes = known(healthy().driver.nodes)
    refused = tuple(msgspec.structs.replace(n, open_errno=errno.EACCES, mode=mode, group_id=group) for n in nodes)
    fixes = found(cu_init(with_(healthy(), driver__nodes=refused), 100))["device-node-permission"].fixes
    assert fixes[0].steps[-1].startswith(step)


@pytest.mark.parametrize("refusal", [errno.EACCES, errno.EPERM])
def test_gpus_of_others_are_refused_and_not_missed(refusal: int) -> None:
    """A job has one GPU of eight: it sees the nodes of all, and NVML may count all."""
    whole = healthy()
    cuda, nvml, listed = whole.driver.libcuda.devices, whole.gpu.devices, whole.tensorflow.devices
    assert isinstance(cuda, tuple)
    assert isinstance(nvml, tuple)
    assert isinstance(listed, tuple)
    nodes = [DeviceNode(path=f"/dev/nvidia{i}", exists=True, open_errno=refusal if i else None) for i in range(8)]
    job = with_(
        whole,
        driver__nodes=(*nodes, *known(whole.driver.nodes)[:2]),
        driver__libcuda__devices=cuda[:1],
        driver__libcuda__pairs=(),
        tensorflow__devices=listed[:2],
        measurements=whole.measurements[:1],
        system__selinux="enforcing",
        gpu__devices=nvml[:1],
        gpu__pairs=(),
    )
    no = Unread(why="NVML: Insufficient Permissions")
    blank = {field: no for field in GpuDevice.__struct_fields__ if field not in ("index", "nvml_error")}
    others = tuple(GpuDevice(index=i, nvml_error=4, **blank) for i in range(1, 8))
    for facts in (job, with_(job, gpu__devices=(*nvml[:1], *others))):
        judged = judge(facts)
        assert (judged.diagnosis.verdict, judged.findings, judged.unknown) == ("healthy", (), ())


def test_a_node_that_hangs_is_not_judged() -> None:
    hung = DeviceNode(path="/dev/nvidia0", exists=True, open_errno=Unread(why="the process did not end within 20 s"))
    assert outcome(with_(healthy(), driver__nodes=(hung,)), "device-node-permission") == "passed"


def with_nodes(facts: Facts, **changes: DeviceNode | None) -> Facts:
    """`facts` with nodes of /dev replaced, or gone."""
    nodes = facts.driver.nodes
    assert isinstance(nodes, tuple)
    named = {name.replace("_", "-"): node for name, node in changes.items()}
    kept = tuple(n for n in nodes if n.path.removeprefix("/dev/") not in named)
    return with_(facts, driver__nodes=(*kept, *(n for n in named.values() if n is not None)))


def stale(open_errno: int | None) -> DeviceNode:
    return DeviceNode(path="/dev/nvidia-uvm", exists=True, major=511, minor=0, open_errno=open_errno)


@pytest.mark.parametrize("open_errno", [errno.ENXIO, errno.ENODEV, None])
def test_uvm_node_of_another_major(open_errno: int | None) -> None:
    facts = with_nodes(cu_init(healthy(), 999), nvidia_uvm=stale(open_errno))
    assert roots(facts) == ["uvm-node-stale-major"]
    assert "511; the driver's is 238" in found(facts)["uvm-node-stale-major"].message


def test_uvm_node_of_another_major_in_a_container() -> None:
    facts = with_(with_nodes(cu_init(healthy(), 999), nvidia_uvm=stale(6)), system__container="lxc")
    assert found(facts)["uvm-node-stale-major"].fixes[0].kind == "advice"


def test_uvm_major_needs_proof() -> None:
    cause, broken = "uvm-node-stale-major", cu_init(healthy(), 999)
    assert outcome(healthy(), cause) == "passed"
    assert outcome(with_nodes(healthy(), nvidia_uvm=stale(None)), cause) == "passed"
    assert outcome(broken, cause) == "passed"
    assert outcome(with_nodes(broken, nvidia_uvm=None), cause) == "skipped"
    assert outcome(with_(broken, driver__uvm_major=None), cause) == "skipped"
    assert outcome(with_(broken, driver__uvm_major=Unread(why="hidden")), cause) == "unknown"


def test_no_control_node() -> None:
    facts = with_nodes(cu_init(healthy(), 100), nvidiactl=None, nvidia0=None, nvidia1=None, nvidia_uvm=None)
    assert roots(facts) == ["device-nodes-missing"]
    one = found(facts)["device-nodes-missing"]
    assert "/dev/nvidiactl, /dev/nvidia0, /dev/nvidia1 are missing" in one.message
    assert one.fixes[0].steps[0] == "sudo nvidia-modprobe -u -c=0 -c=1"


def test_one_gpu_without_a_node() -> None:
    whole = healthy()
    devices, listed = whole.driver.libcuda.devices, whole.tensorflow.devices
    assert isinstance(devices, tuple)
    assert isinstance(listed, tuple)
    facts = with_nodes(whole, nvidia1=None)
    facts = with_(
        facts,
        driver__libcuda__devices=devices[:1],
        driver__all_devices=devices[:1],
        driver__libcuda__pairs=(),
        tensorflow__devices=listed[:2],
    )
    assert roots(facts) == ["device-nodes-missing"]
    assert found(facts)["device-nodes-missing"].may_explain == ("fewer-gpus",)


def test_a_gpu_that_is_excluded_needs_no_node() -> None:
    gpus = healthy().driver.gpus
    assert isinstance(gpus, tuple)
    excluded = tuple(msgspec.structs.replace(g, excluded=True) for g in gpus)
    facts = with_(with_nodes(cu_init(healthy(), 100), nvidia0=None, nvidia1=None), driver__gpus=excluded)
    assert outcome(facts, "device-nodes-missing") == "passed"


def test_a_module_that_makes_no_nodes() -> None:
    facts = with_nodes(cu_init(healthy(), 100), nvidia0=None)
    told = with_(facts, driver__parameters=(Parameter(name="ModifyDeviceFiles", value="0"),))
    assert "ModifyDeviceFiles 0" in found(told)["device-nodes-missing"].message


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"system__container": "docker"}, "skipped"),
        ({"system__wsl": True}, "skipped"),
        ({"driver__kernel_version": None}, "skipped"),
        ({"driver__gpus": Unread(why="hidden")}, "unknown"),
        ({"driver__nodes": Unread(why="hidden")}, "unknown"),
        ({}, "found"),
    ],
)
def test_missing_nodes_need_proof(change: dict[str, object], expected: str) -> None:
    facts = with_nodes(cu_init(healthy(), 100), nvidia0=None)
    assert outcome(with_(facts, **change), "device-nodes-missing") == expected


def test_nodes_that_are_there_or_not_needed() -> None:
    assert outcome(healthy(), "device-nodes-missing") == "passed"
    assert outcome(with_nodes(healthy(), nvidia0=None), "device-nodes-missing") == "passed"
    assert outcome(with_(healthy(), driver__gpus=Unread(why="hidden")), "device-nodes-missing") == "passed"


def refused(mode: int, **changes: object) -> Facts:
    """Nothing starts, and there is a node that open() refuses, with these permission bits; the user is 1000, in group 44."""
    nodes = healthy().driver.nodes
    assert isinstance(nodes, tuple)
    closed = msgspec.structs.replace(nodes[0], open_errno=errno.EACCES, mode=mode, user_id=0, group_id=44)
    broken = cu_init(healthy(), 999)
    facts = with_(broken, driver__nodes=(closed, *nodes[1:]), system__user_id=1000, system__groups=(1000, 44))
    return with_(facts, **changes)


def test_a_security_module_denies_what_the_mode_allows() -> None:
    for mode in (0o666, 0o660):
        facts = refused(mode, system__selinux="enforcing")
        assert roots(facts) == ["lsm-denied"]
        assert "SELinux" in found(facts)["lsm-denied"].message
    facts = refused(0o666, system__selinux=None, system__apparmor_profile="docker-default (enforce)")
    assert "docker-default" in found(facts)["lsm-denied"].message


def test_no_security_module_is_blamed_for_the_mode() -> None:
    for mode in (0o600, 0o606 & ~0o006):
        assert outcome(refused(mode, system__selinux="enforcing"), "lsm-denied") == "passed"
    for calm in ({"system__selinux": "permissive"}, {"system__selinux": None}):
        assert outcome(refused(0o666, **calm), "lsm-denied") == "passed"
    assert outcome(refused(0o666, system__selinux=Unread(why="hidden")), "lsm-denied") == "unknown"
    assert outcome(healthy(), "lsm-denied") == "passed"
