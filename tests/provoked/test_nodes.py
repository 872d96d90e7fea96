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
    return Case(f"cuda-visible-devices-{'wrong' if wrong else 'empty'}", f"CUDA_VISIBLE_DEVICES={value!r}", do)


CASES = (
    Case("cuinit-uvm-device-missing", "/dev/nvidia-uvm deleted", does(f"rm {UVM}")),
    Case("device-nodes-missing", "all of /dev/nvidia* deleted", does("rm /dev/nvidia*")),
    Case("device-nodes-missing", "/dev/nvidiactl deleted", does(f"rm {CONTROL}")),
    Case("device-nodes-missing", "/dev/nvidia1 deleted", does("rm /dev/nvidia1")),
    Case("uvm-node-stale-major", "/dev/nvidia-uvm of another major number", does(f"rm {UVM}; mknod -m 666 {UVM} c 10 1")),
    Case("device-node-permission", "nodes for the group video, and a user who is not in it", only_for_video),
    Case("device-node-permission", "nodes for root, and another user", only_for_root),
    Case("lsm-denied", "SELinux says that it enforces; open() of a node is refused by a mount without devices", denied_by_policy, only_look=(0,)),
    *(hidden(value) for value in ("", "-1", "none", "7", "0,5", "GPU-ffffffff-0000", "cuda:0")),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    prove(case, build)
