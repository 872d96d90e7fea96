"""Training over several processes: TF_CONFIG, its addresses and ports, and what Horovod tells a process."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable

import pytest

from tests.provoked.case import Build, Case
from tests.provoked.scene import Scene

ELSEWHERE = "192.0.2.77:2222"
"""Of TEST-NET-1, which is routed nowhere."""


def config(*addresses: str, index: int = 0, role: str = "worker") -> str:
    return json.dumps({"cluster": {"worker": addresses}, "task": {"type": role, "index": index}})


def told(text: str, **env: str) -> Callable[[Scene], None]:
    def do(machine: Scene) -> None:
        machine.env |= {"TF_CONFIG": text, **env}

    return do


def in_order(machine: Scene) -> None:
    """What a person writes after the fix's sentence: both tasks on this machine, at two ports."""
    machine.env["TF_CONFIG"] = config("127.0.0.1:1", "127.0.0.1:2")


def with_horovod(machine: Scene) -> None:
    for name in ("__init__.py", "tensorflow/mpi_lib.so"):
        (machine.site / "horovod" / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.site / "horovod" / name).touch()


def by_horovod(size: int) -> Callable[[Scene], None]:
    return told(
        config("127.0.0.1:1", "127.0.0.1:2"),
        HOROVOD_RANK="0", HOROVOD_SIZE=str(size), HOROVOD_LOCAL_RANK="0", HOROVOD_LOCAL_SIZE=str(size),
    )  # fmt: skip


def of_nothing(machine: Scene) -> None:
    (machine.site / "horovod").mkdir(exist_ok=True)
    (machine.site / "horovod" / "__init__.py").touch()
    by_horovod(2)(machine)


def too_many(machine: Scene) -> None:
    with_horovod(machine)
    by_horovod(9)(machine)


def as_many(machine: Scene) -> None:
    by_horovod(2)(machine)


def own_address() -> str:
    """An address of this machine that is none of its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            pytest.skip("this machine has no address but its loopback")
        address: str = one.getsockname()[0]
        return address


def taken(machine: Scene) -> None:
    """Another program, with another TF_CONFIG, listens there."""
    machine.env["TF_CONFIG"] = config(f"127.0.0.1:{LISTENING.getsockname()[1]}", "127.0.0.1:2")


LISTENING = socket.socket()
LISTENING.bind(("127.0.0.1", 0))
LISTENING.listen()


def copied(machine: Scene) -> None:
    machine.env["TF_CONFIG"] = config(ELSEWHERE, f"{own_address()}:7")


def other_task(machine: Scene) -> None:
    machine.env["TF_CONFIG"] = config(ELSEWHERE, f"{own_address()}:7", index=1)


def unreachable(machine: Scene) -> None:
    """Nobody listens on a port of TEST-NET-1, unless a gateway answers for it."""
    with socket.socket() as one:
        one.settimeout(3)
        try:
            one.connect(("192.0.2.77", 2222))
        except ConnectionRefusedError:
            pytest.skip("a gateway answers for an address that is routed nowhere")
        except OSError:
            machine.env["TF_CONFIG"] = config("127.0.0.1:1", ELSEWHERE)
            return
    pytest.skip("a gateway answers for an address that is routed nowhere")


def unknown_name(machine: Scene) -> None:
    machine.do("echo 'hosts: files' > /etc/nsswitch.conf")
    machine.env["TF_CONFIG"] = config("127.0.0.1:1", "nobody.invalid:2")


CASES = (
    Case("tf-config-invalid", "TF_CONFIG with single quotes", told("{'cluster': {}}"), persons_part=in_order),
    Case("tf-config-task-out-of-range", "index 2 of two workers", told(config("127.0.0.1:1", "127.0.0.1:2", index=2)), persons_part=in_order),
    Case("tf-config-duplicate-address", "localhost and 127.0.0.1 with one port", told(config("localhost:7", "127.0.0.1:7")), persons_part=in_order),
    Case("tf-config-localhost", "a worker on localhost, another elsewhere", told(config(ELSEWHERE, "localhost:7")), persons_part=in_order),
    Case("tf-config-host-unresolvable", "a name of the domain invalid, and no name server", unknown_name, persons_part=in_order),
    Case("tf-config-address-unreachable", "a worker at an address that is routed nowhere", unreachable, persons_part=in_order),
    Case("tf-config-port-taken", "a program that listens on this task's port", taken, persons_part=in_order),
    Case("tf-config-task-of-another-host", "index 0 where worker 1 has this machine's address", copied, persons_part=other_task),
    Case("tf-config-proxy", "http_proxy, and no list that leaves the workers out",
         told(config("127.0.0.1:1", "127.0.0.1:2"), http_proxy="http://192.0.2.9:3128", no_proxy="", no_grpc_proxy="")),
    Case("horovod-missing", "HOROVOD_RANK, and no package", by_horovod(2), persons_part=with_horovod),
    Case("horovod-without-tensorflow", "a Horovod without any compiled part", of_nothing, persons_part=with_horovod),
    Case("horovod-more-processes-than-gpus", "HOROVOD_LOCAL_SIZE=9, and two GPUs", too_many, persons_part=as_many),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_named_and_cured(case: Case, build: Build) -> None:
    """What to write is a person's; a line to paste is pasted."""
    with build() as machine:
        case.do(machine)
        report = machine.check()
        assert case.cause in report.found(), report.found()
        if case.persons_part is not None:
            case.persons_part(machine)
        steps = () if case.persons_part is not None else tuple(report.fixes(case.cause)[0]["steps"])
        after = machine.check(lines=steps)
        assert case.cause not in after.found(), after.found()
