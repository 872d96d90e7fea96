"""Device nodes and variables: there, right, open to this user, and not hidden."""

from __future__ import annotations

import pytest

from tests.provoked.case import Build, Case, prove
from tests.provoked.scene import Scene
from tests.provoked.test_driver import does

UVM, CONTROL, USER = "/dev/nvidia-uvm", "/dev/nvidiactl", 54321


def as_a_user(machine: Scene) -> None:
    """Someone without rights; with the groups that /etc/group gives at a log in."""
    machine.do(
        f"groupadd -f video; useradd -u {USER} -M -d / -s /bin/bash gpudoctor-ana; chmod -R a+rwX {machine.place}/home"
    )
    way = [*machine.place.parents, machine.place, *machine.python.resolve().parents]
    machine.do("\n".join(f"chmod a+x '{directory}'" for directory in way))  # in the scene alone, all but its own place
    machine.as_user = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups")
    machine.env["USER"] = "gpudoctor-ana"


def only_for_video(machine: Scene) -> None:
    as_a_user(machine)
    machine.do("chgrp video /dev/nvidia*; chmod 660 /dev/nvidia*")


def only_for_root(machine: Scene) -> None:
    as_a_user(machine)
    machine.do("chmod 600 /dev/nvidia*")


def denied_by_policy(machine: Scene) -> None:
    """SELinux enforces, and open() is refused although the mode allows it: here by a mount without devices."""
    as_a_user(machine)
    machine.do("mount -t tmpfs scene /sys/fs; mkdir /sys/fs/selinux; echo 1 > /sys/fs/selinux/enforce")
    machine.do(f"mount --bind {CONTROL} {CONTROL}; mount -o remount,bind,nodev {CONTROL}")


def hidden(value: str) -> Case:
    def do(machine: Scene) -> None:
        machine.env["CUDA_VISIBLE_DEVICES"] = value

    wrong = value not in ("", "-1", "none")
    return Case(f"cuda-visible-devices-{'wrong' if wrong else 'empty'}", do, repr(value))


CASES = (
    Case("cuinit-uvm-device-missing", does(f"rm {UVM}")),
    Case("device-nodes-missing", does("rm /dev/nvidia*"), "all"),
    Case("device-nodes-missing", does(f"rm {CONTROL}"), "the control node"),
    Case("device-nodes-missing", does("rm /dev/nvidia1"), "one GPU's"),
    Case("uvm-node-stale-major", does(f"rm {UVM}; mknod -m 666 {UVM} c 10 1")),
    Case("device-node-permission", only_for_video, "for a group"),
    Case("device-node-permission", only_for_root, "for root"),
    Case("lsm-denied", denied_by_policy, only_look=(0,)),
    *(hidden(value) for value in ("", "-1", "none", "7", "0,5", "GPU-ffffffff-0000", "cuda:0")),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)
