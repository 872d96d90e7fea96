"""All-reduce by the patient on fake GPUs: what it measures, what it says of NCCL, and which pairs it blames."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.logs import nccl
from gpudoctor.patient.collective import pairs_of
from gpudoctor.probes.ask import Answers, Patient
from tests.building import Workshop, put

Make = Callable[..., Patient]
MIB = 1 << 20
PLAIN: list[Any] = ["all-reduce", {"size": 4 * MIB, "graph": False, "samples": 3, "iterations": 4}]
GRAPH = ["all-reduce", {"size": MIB, "graph": True, "samples": 3, "iterations": 4}]
LATENCY = ["all-reduce-latency", {"samples": 3, "iterations": 8}]
PAIR = ["all-reduce-pair", {"size": 2 * MIB, "samples": 3, "iterations": 4}]


@pytest.fixture
def host(patient: Make, workshop: Workshop, libcuda: str, tmp_path: Path) -> Make:
    """A patient with fake GPUs, three unless told otherwise, and a libnccl."""
    put(workshop.fake("libnccl.c", "libnccl.so.2"), tmp_path / "wheels/nvidia/nccl/lib", "libnccl.so.2")

    def make(gpus: int = 3, **env: str) -> Patient:
        own = {
            "LD_LIBRARY_PATH": libcuda,
            "KERAS_HOME": str(tmp_path),
            "PYTHONPATH": f"{tmp_path}/wheels",
            "FAKE_CUDA_GB_PER_S": "gpu0=50",
        }
        return patient(**{**own, "FAKE_CUDA_DEVICES": str(gpus), **env})

    return make


def ask(patient: Patient, *plan: list[Any], limit_s: float = 20.0, only: list[int] | None = None) -> Answers:
    how = {"only": only, "limit_s": limit_s, "total_s": 60, "after_nvml": False}
    answers = patient.ask([("native.native", {"plan": plan, **how})], limit_s=90)
    assert answers.ended_well, answers.stderr
    assert not answers.errors
    return answers


def told(answers: Answers, kernel: str) -> list[Any]:
    return [one for one in answers.all("native") if one["kernel"] == kernel]


def transports(log: str) -> set[tuple[str, str, str]]:
    """What the tool's reader of NCCL's lines finds in a log: from, to, way."""
    kinds = [k for k in nccl.LANGUAGE.kinds if k.name == "nccl-transport"]
    found = [m for k in kinds for line in log.splitlines() if (m := re.search(k.pattern, line))]
    return {(m["first"], m["second"], m["way"]) for m in found}


def test_rates_are_those_of_the_events(host: Make, tmp_path: Path) -> None:
    answers = ask(host(FAKE_NCCL_BUSBW="321"), PLAIN, GRAPH, LATENCY, PAIR)
    plain, graph = told(answers, "all-reduce")
    for one, size in ((plain, 4 * MIB), (graph, MIB)):
        assert one["gpus"] == [0, 1, 2]
        value = one["value"]
        moved = size * 2.0 * 2 / 3 / 1e9
        took = value["host_seconds"] if value["graph"] else [moved / 321.0] * 3  # the launch of a graph counts
        assert value["samples"] == pytest.approx([moved / s for s in took], rel=1e-3)
        assert (value["unit"], value["dtype"], value["size"]) == ("GB/s", "float32", [size // 4])
        assert (value["queued"], value["verified"], value["error"]) == (4, True, 0.0)
        assert value["library"] == {"path": f"{tmp_path}/wheels/nvidia/nccl/lib/libnccl.so.2", "version": "2.27.7"}
        assert len(value["host_seconds"]) == 3
    assert (plain["value"]["graph"], graph["value"]["graph"]) == (False, True)
    assert plain["peak_bytes"] == 3 * 2 * 4 * MIB
    (latency,) = told(answers, "all-reduce-latency")
    assert latency["value"]["samples"] == pytest.approx([8 / 321e9 * 4 / 3 * 1e6] * 3, rel=1e-2)
    assert (latency["value"]["unit"], latency["value"]["graph"], latency["value"]["verified"]) == ("us", True, True)
    pairs = told(answers, "all-reduce-pair")
    assert [p["gpus"] for p in pairs] == [[0, 1], [0, 2], [1, 2]]
    assert all(p["value"]["samples"] == pytest.approx([321.0] * 3, rel=1e-3) for p in pairs)
    assert all(p["value"]["verified"] for p in pairs)


def test_one_gpu_has_nothing_to_reduce(host: Make) -> None:
    assert ask(host(gpus=1), PLAIN, GRAPH, LATENCY, PAIR).all("native") == ()


def test_on_chosen_gpus(host: Make) -> None:
    answers = ask(host(FAKE_NCCL="wrong-pair:1-2"), PLAIN, PAIR, only=[1, 2])
    (one,) = told(answers, "all-reduce")
    assert (one["gpus"], one["value"]["verified"]) == ([1, 2], False)
    assert one["pairs"] == {"right": [], "wrong": [[1, 2]], "not_tried": []}
    assert [p["gpus"] for p in told(answers, "all-reduce-pair")] == [[1, 2]]


def test_the_log_tells_transport_channels_and_version(host: Make) -> None:
    one, other = told(ask(host(), PLAIN, [PLAIN[0], {**PLAIN[1], "size": 2 * MIB}]), "all-reduce")
    log = one["log"]
    assert transports(log) == {("0", "1", "P2P"), ("1", "2", "P2P"), ("2", "0", "P2P")}
    assert log.count("via P2P") == 3, "a line a direction, not one a channel"
    assert "NCCL version 2.27.7+cuda12.9" in log
    assert " 24 coll channels," in log
    assert "NCCL_SOCKET_IFNAME set by environment to lo" in log
    assert log.count("AllReduce: 4194304 Bytes -> Algo RING proto SIMPLE") == 1
    assert transports(other["log"]) == transports(log), "they are its connections as well"
    assert other["log"].count("via P2P") == 3
    assert " 24 coll channels," in other["log"]
    assert "4194304 Bytes" not in other["log"]
    assert "set by environment" not in other["log"], "else what is new"
    assert "AllReduce: 2097152 Bytes -> Algo RING" in other["log"]


@pytest.mark.parametrize(
    ("variables", "way"),
    [({"NCCL_P2P_DISABLE": "1"}, "SHM"), ({"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"}, "NET")],
)
def test_the_users_variables_count(host: Make, variables: dict[str, str], way: str, tmp_path: Path) -> None:
    log = f"{tmp_path}/users.log"
    users = {"NCCL_DEBUG_FILE": log, "NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "eth9"}
    users |= {"NCCL_COMM_BLOCKING": "0", "CUDA_LAUNCH_BLOCKING": "1"}
    (one,) = told(ask(host(gpus=2, **users, **variables), PLAIN), "all-reduce")
    assert {t[2] for t in transports(one["log"])} == {way}
    assert "NCCL_P2P_DISABLE set by environment to 1" in one["log"]
    assert "NCCL_SOCKET_IFNAME set by environment to lo" in one["log"]
    assert not (tmp_path / "users.log").exists()


def test_a_wrong_sum_is_seen_and_its_pair_found(host: Make) -> None:
    (one,) = told(ask(host(FAKE_NCCL="wrong-pair:0-2"), PLAIN), "all-reduce")
    assert one["value"]["verified"] is False
    assert one["value"]["error"] == 1.0
    assert one["pairs"] == {"right": [[0, 1], [1, 2]], "wrong": [[0, 2]], "not_tried": []}


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("error", "answers 1: unhandled cuda error"),
        ("crash", "all-reduce was ended by signal 11"),
        ("hang", "all-reduce did not end within"),
    ],
)
def test_the_pair_that_fails_is_named(host: Make, how: str, words: str) -> None:
    answers = ask(host(FAKE_NCCL=f"{how}-pair:0-1"), PLAIN, GRAPH, PAIR, limit_s=4)
    by_graph = {one["parameters"]["graph"]: one for one in told(answers, "all-reduce")}
    one, after = by_graph[False], by_graph[True]
    assert words in one["failed"]
    assert one["pairs"] == {"right": [[0, 2], [1, 2]], "wrong": [[0, 1]], "not_tried": []}
    assert transports(one["log"])
    assert "not run" in after["skipped"]
    pairs = {tuple(p["gpus"]): p for p in told(answers, "all-reduce-pair")}
    assert "failed" in pairs[0, 1]
    assert words.replace("all-reduce ", "all-reduce-pair ") in pairs[0, 1]["failed"]
    assert pairs[0, 2]["value"]["verified"]
    assert pairs[1, 2]["value"]["verified"]
    assert len(pairs) == 3


def test_nccls_own_words(host: Make) -> None:
    (one,) = told(ask(host(gpus=2, FAKE_NCCL="init"), PLAIN), "all-reduce")
    assert one["failed"] == (
        "NcclError: ncclCommInitAll answers 2: unhandled system error; Call to socket failed : Too many open files"
    )
    assert one["pairs"] == {"right": [], "wrong": [[0, 1]], "not_tried": []}


def test_a_pair_that_fails_leaves_the_others(host: Make) -> None:
    """The whole is right, one pair is not: what comes after it is measured in children of their own."""
    answers = ask(host(FAKE_CUDA_FAIL="cuMemFree_v2@gpu1=719"), PAIR)
    pairs = {tuple(p["gpus"]): p for p in told(answers, "all-reduce-pair")}
    assert "CUDA_ERROR_LAUNCH_FAILED" in pairs[0, 1]["failed"]
    assert "failed" in pairs[1, 2]
    assert pairs[0, 2]["value"]["verified"]


def test_graphs_that_hang_are_no_fault_of_the_gpus(host: Make) -> None:
    answers = ask(host(FAKE_NCCL="hang-graph"), GRAPH, PLAIN, LATENCY, PAIR, limit_s=3)
    plain, graph = told(answers, "all-reduce")
    assert plain["value"]["verified"]
    assert "as a CUDA graph on every GPU it did not end within 3 s" in graph["skipped"]
    assert "not run" in told(answers, "all-reduce-latency")[0]["skipped"]
    assert all(p["value"]["verified"] for p in told(answers, "all-reduce-pair"))


def test_graphs_that_fail_or_are_wrong_blame_no_pair(host: Make) -> None:
    plain, graph = told(ask(host(FAKE_NCCL="error-graph"), PLAIN, GRAPH), "all-reduce")
    assert plain["value"]["verified"]
    assert "unhandled cuda error" in graph["failed"]
    assert "pairs" not in graph
    _, graph = told(ask(host(FAKE_NCCL="wrong-graph"), PLAIN, GRAPH), "all-reduce")
    assert graph["value"]["verified"] is False
    assert "pairs" not in graph


def test_a_communicator_that_does_not_go_away_is_killed(host: Make) -> None:
    (one,) = told(ask(host(FAKE_NCCL="hang-destroy"), PLAIN, limit_s=3), "all-reduce")
    assert one["value"]["verified"]


def test_little_free_memory_makes_it_smaller(host: Make) -> None:
    (one,) = told(ask(host(FAKE_CUDA_FREE=f"gpu2={517 * MIB}"), PLAIN), "all-reduce")
    assert one["value"]["size"] == [2 * MIB // 4]
    assert one["value"]["verified"]
    (one,) = told(ask(host(FAKE_CUDA_FREE=f"gpu1={512 * MIB}"), PLAIN), "all-reduce")
    assert one["skipped"] == "GPU 1 has only 512 MiB free"


def test_slow_links_get_fewer_iterations(host: Make) -> None:
    (one,) = told(ask(host(gpus=2, FAKE_NCCL_BUSBW="0.02"), PLAIN), "all-reduce")
    assert one["value"]["queued"] == 2
    assert one["value"]["samples"] == pytest.approx([0.02] * 3, rel=1e-3)


def test_without_nccl_the_wheel_is_named(host: Make, tmp_path: Path) -> None:
    os.remove(tmp_path / "wheels/nvidia/nccl/lib/libnccl.so.2")
    answers = ask(host(), PLAIN, PAIR)
    for one in answers.all("native"):
        assert "pip install nvidia-nccl-cu12 brings it" in one["skipped"]
    assert len(answers.all("native")) == 4


def test_an_nccl_without_graphs(host: Make) -> None:
    plain, graph = told(ask(host(FAKE_NCCL_VERSION="2807"), PLAIN, GRAPH), "all-reduce")
    assert plain["value"]["library"]["version"] == "2.8.7"
    assert graph["skipped"] == "NCCL 2.8.7 can't be captured in a CUDA graph, 2.9 and newer can"


def test_which_pairs() -> None:
    assert pairs_of(2) == [(0, 1)]
    assert len(pairs_of(4)) == 6
    eight = pairs_of(8)
    assert len(eight) == 12
    assert set(eight) >= {(0, 1), (6, 7), (0, 7), (0, 4), (3, 7)}
    assert {one for pair in pairs_of(5) for one in pair} == set(range(5))
