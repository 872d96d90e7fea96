"""Which CPUs are beside a GPU."""

from __future__ import annotations

import os

import pytest

from gpudoctor.patient import near


@pytest.mark.parametrize(("text", "cpus"), [("0-2,8\n", {0, 1, 2, 8}), ("", set()), ("5", {5}), ("x-3,1-", {1})])
def test_a_list_of_cpus(text: str, cpus: set[int]) -> None:
    assert near.cpu_list(text) == cpus


def machine(monkeypatch: pytest.MonkeyPatch, files: dict[str, str], mine: set[int]) -> None:
    def text(path: str, limit: int = 0) -> dict[str, object]:
        return {"text": files[path]} if path in files else {"errno": 2}

    def names(path: str) -> object:
        inside = sorted({f[len(path) + 1 :].split("/")[0] for f in files if f.startswith(path + "/")})
        return inside or 2

    monkeypatch.setattr(near, "read_text", text)
    monkeypatch.setattr(near, "list_directory", names)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: mine)


TWO_SOCKETS = {
    "/sys/bus/pci/devices/0000:01:00.0/local_cpulist": "0-3\n",
    "/sys/devices/system/node/node0/cpulist": "0-3\n",
    "/sys/devices/system/node/node1/cpulist": "4-7\n",
    "/sys/devices/system/node/has_cpu": "0-1\n",
}


def test_two_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, TWO_SOCKETS, set(range(8)))
    assert near.near_cpus("0000:01:00.0") == {0, 1, 2, 3}
    assert near.far_cpus("0000:01:00.0") == {4, 5, 6, 7}


def test_a_process_that_may_not_run_there(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, TWO_SOCKETS, {5})
    assert near.near_cpus("0000:01:00.0") is None
    assert near.far_cpus("0000:01:00.0") is None
    machine(monkeypatch, TWO_SOCKETS, {1})
    assert near.near_cpus("0000:01:00.0") == {1}
    assert near.far_cpus("0000:01:00.0") is None


def test_one_node_has_nothing_far(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {
        "/sys/bus/pci/devices/0000:01:00.0/local_cpulist": "0-7\n",
        "/sys/devices/system/node/node0/cpulist": "0-7\n",
    }
    machine(monkeypatch, one, set(range(8)))
    assert near.far_cpus("0000:01:00.0") is None
    assert near.near_cpus("0000:09:00.0") is None


def test_moving_there_and_back() -> None:
    mine = os.sched_getaffinity(0)
    one = {min(mine)}
    assert near.move_to(one) == mine
    try:
        assert os.sched_getaffinity(0) == one
        assert near.move_to(None) == one
        near.move_to({10**4})  # none of ours: it stays
        assert os.sched_getaffinity(0) == one
    finally:
        near.move_to(mine)
