from __future__ import annotations

import errno

import msgspec
import pytest

from gpudoctor.facts import DeviceNode, Unread
from tests.factory import cu_init, found, healthy, outcome, roots, with_


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


def test_a_node_that_hangs_is_not_judged() -> None:
    hung = DeviceNode(path="/dev/nvidia0", exists=True, open_errno=Unread(why="the process did not end within 20 s"))
    assert outcome(with_(healthy(), driver__nodes=(hung,)), "device-node-permission") == "passed"
