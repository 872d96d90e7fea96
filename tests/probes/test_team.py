"""Children that take turns, and that one team hands to the next."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from gpudoctor.patient.team import Do, Team, turn

Told = list[tuple[int, str, dict[str, Any]]]
LIMIT_S, WORK_S = 1.0, 0.2


def ran(begin: Callable[[int], Do], targets: list[int], names: list[str], *, limit_s: float = LIMIT_S) -> Told:
    told: Told = []
    Team(begin, (), lambda *one: told.append(one), limit_s, time.time() + 20).run(targets, names)
    return told


def working(how: Callable[[int, str], None] = lambda _, __: time.sleep(WORK_S)) -> Callable[[int], Do]:
    """Each piece of work is done in its turn, and tells from when to when."""

    def begin(target: int) -> Do:
        def do(name: str) -> dict[str, Any]:
            with turn():
                began = time.time()
                how(target, name)
                return {"from": began, "till": time.time()}

        return do

    return begin


def test_no_two_are_at_it_at_once_and_the_wait_is_not_their_time() -> None:
    told = ran(working(), [0, 1, 2, 3], ["a", "b"], limit_s=3 * WORK_S)
    assert sorted((target, name) for target, name, _ in told) == [(t, n) for t in range(4) for n in "ab"]
    spans = sorted((got["from"], got["till"]) for _, _, got in told)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert all(WORK_S <= got["total_seconds"] < 3 * WORK_S for _, _, got in told)


def test_work_without_a_turn_goes_on_beside_it() -> None:
    def begin(target: int) -> Do:
        def do(name: str) -> dict[str, Any]:
            if target:
                with turn():
                    time.sleep(WORK_S)
            else:
                time.sleep(WORK_S)
            return {"till": time.time()}

        return do

    started = time.time()
    told = ran(begin, [0, 1], ["a", "b"])
    assert max(got["till"] for _, _, got in told) - started < 3 * WORK_S


@pytest.mark.parametrize("ends", ["hangs", "is killed", "raises"])
def test_one_that_does_not_give_it_back_holds_up_nobody_for_longer_than_its_limit(ends: str) -> None:
    def how(target: int, name: str) -> None:
        if target == 0:
            if ends == "hangs":
                time.sleep(60)
            if ends == "is killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError(name)
        time.sleep(WORK_S)

    started = time.time()
    got = {target: got for target, _, got in ran(working(how), [0, 1, 2], ["a"])}
    assert time.time() - started < LIMIT_S + 6 * WORK_S
    assert {t: "failed" in one for t, one in got.items()} == {0: True, 1: False, 2: False}
    assert got[0].get("timed_out", False) is (ends == "hangs")


def test_when_the_time_is_over_who_waited_is_no_failure() -> None:
    told: Told = []
    begin = working(lambda _, __: time.sleep(60))
    Team(begin, (), lambda *one: told.append(one), 60.0, time.time() + 0.5).run([0, 1], ["a"])
    assert [got["skipped"].rpartition(": ")[2] for _, _, got in told] == ["the time for kernels was over"] * 2


def test_a_child_goes_on_for_the_next_team() -> None:
    def begin(_: int) -> Do:
        return lambda name: {"pid": os.getpid(), "name": name}

    told: Told = []

    def say(*one: Any) -> None:
        told.append(one)

    first = Team(begin, (), say, LIMIT_S, time.time() + 20)
    second = Team(begin, (), say, LIMIT_S, time.time() + 20, last="end")
    first.run([-1], ["a", "b"], leave=True)
    second.go_on_with(first.hand_over())
    second.run([-1], ["c"])
    assert [got["name"] for _, _, got in told] == ["a", "b", "c", "end"]
    assert len({got["pid"] for _, _, got in told}) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(told[0][2]["pid"], 0)


def test_without_a_team_it_is_always_our_turn() -> None:
    with turn():
        pass


def test_who_waits_for_a_turn_does_meanwhile_what_needs_none() -> None:
    def begin(target: int) -> Do:
        done: list[float] = []

        def piece() -> None:
            time.sleep(WORK_S / 8)
            done.append(time.time())

        def do(_: str) -> dict[str, Any]:
            with turn([piece] * 20):
                began = time.time()
                time.sleep(WORK_S)
            return {"from": began, "done": done}

        return do

    first, second, third = sorted((got for _, _, got in ran(begin, [0, 1, 2], ["a"])), key=lambda got: got["from"])
    assert len(first["done"]) < len(second["done"]) < len(third["done"]) < 20  # no more is begun when the turn has come
    assert second["done"][-1] <= second["from"] < third["from"]
