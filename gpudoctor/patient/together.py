"""All-reduces over all GPUs, and over pairs of them: in what order, and what is tried where they fail."""

import os
from typing import Any, Callable, Dict, List, Optional, Tuple

from .bench import Bench, doing, opened, until_failure
from .collective import (
    NcclLog,
    connections,
    last_warning,
    nccl_all_reduce,
    nccl_all_reduce_latency,
    nccl_all_reduce_pair,
    pairs_of,
    prepare_nccl,
)
from .core import answer
from .cuda import Cuda
from .team import Do, Team

ALL: Dict[str, Callable[..., Dict[str, Any]]] = {
    "all-reduce": nccl_all_reduce,
    "all-reduce-latency": nccl_all_reduce_latency,
    "all-reduce-pair": nccl_all_reduce_pair,
}
"""Kernels of all GPUs, (bench, gpus, **parameters); the last one is run on pairs."""
PAIR_OF_ALL = "all-reduce-pair"
TRIED: Dict[str, Any] = {"size": 8 << 20, "samples": 1, "iterations": 5}
"""How a pair is tried where all GPUs together fail, unless the plan says how."""

_LAST = "end"


class Collectives:
    """All GPUs in one child: first without graphs, then pairs of them, then with graphs, which may hang for a reason of their own.

    Where all together fail, each pair is tried in a child of its own, and the answer says which work.
    """

    def __init__(
        self, plan: List[List[Any]], devices: List[Dict[str, Any]], gpus: List[int], limit_s: float, deadline: float
    ) -> None:
        self._devices, self._gpus, self._limit_s, self._deadline = devices, gpus, limit_s, deadline
        pairs = [(gpus[one], gpus[other]) for one, other in pairs_of(len(gpus))]
        wanted = [(name, p) for name, p in plan if name in ALL]
        whole = [(name, p, list(gpus)) for name, p in wanted if name != PAIR_OF_ALL]
        self._work: List[Tuple[str, Dict[str, Any], List[int]]] = [
            *[one for one in whole if not _as_graph(*one[:2])],
            *[(name, p, list(pair)) for name, p in wanted if name == PAIR_OF_ALL for pair in pairs],
            *[one for one in whole if _as_graph(*one[:2])],
        ]
        self._pairs = [list(pair) for pair in pairs]
        self._held: List[Tuple[int, Dict[str, Any]]] = []
        self._whole: Optional[bool] = None
        """Whether all together were right, without a graph."""
        self._right: Dict[Tuple[int, ...], bool] = {}
        """The same for pairs."""
        self._unbegun: List[int] = []
        self._connections = ""
        self._log = NcclLog()
        self._team = Team(
            lambda _: self.child()[1],
            (),
            self._say,
            limit_s,
            deadline,
            last=_LAST,
            lives=1,
            called=lambda position: self._work[int(position)][0],
        )

    @property
    def wanted(self) -> bool:
        """Whether there is anything to do."""
        return len(self._gpus) > 1 and bool(self._work)

    def child(self) -> Tuple[Bench, Do]:
        """In the child: what it works with, and what does our orders."""
        return self._child(self._log, self._work, self._gpus)

    def _say(self, _: int, position: str, got: Dict[str, Any]) -> None:
        if position != _LAST:
            index = int(position)
            self._hear(index, self._with_connections(self._work[index][0], _with_log(got, self._log)))

    def everything(self, before: Team) -> None:
        """Answer for all of it, with the child that the team before has left, if it has."""
        if not self.wanted:
            return
        self._team.go_on_with(before.hand_over())
        self._team.run([-1], [str(i) for i in range(len(self._work))])
        self._log.close()
        if self._held or self._unbegun:
            self._try_pairs()
        pairs = {"right": [], "wrong": [], "not_tried": []}  # type: Dict[str, List[List[int]]]
        for pair in self._pairs:
            right = self._right.get(tuple(pair))
            pairs["not_tried" if right is None else "right" if right else "wrong"].append(pair)
        for index, got in self._held:
            self._answer(index, dict(got, pairs=pairs))

    def _hear(self, index: int, got: Dict[str, Any]) -> None:
        name, p, gpus = self._work[index]
        begun = not got.pop("not_begun", False)
        if name == PAIR_OF_ALL:
            if not begun:
                self._unbegun.append(index)
                return
            self._judge_pair(gpus, got)
        elif "skipped" in got:
            pass
        elif not _as_graph(name, p):
            self._whole = self._whole is not False and _is_right(got)
        elif got.get("timed_out") and self._whole:
            got = {"skipped": _GRAPHS_HANG % self._limit_s, "total_seconds": got["total_seconds"]}
        if name == PAIR_OF_ALL or "skipped" in got or _is_right(got) or (_as_graph(name, p) and self._whole):
            self._answer(index, got)
        else:
            self._held.append((index, got))

    def _with_connections(self, name: str, got: Dict[str, Any]) -> Dict[str, Any]:
        """Of one communicator's measurements the first alone makes connections: each is told with them."""
        if name == PAIR_OF_ALL:
            return got
        text = "\n".join(part for part in (self._connections, got.get("log", "")) if part)
        self._connections = "" if "failed" in got else connections(text)
        return dict(got, log=text) if text else got

    def _judge_pair(self, pair: List[int], got: Dict[str, Any]) -> None:
        if "skipped" not in got:
            self._right[tuple(pair)] = _is_right(got) and self._right.get(tuple(pair), True)

    def _try_pairs(self) -> None:
        """Each pair that was not measured yet, in a child that sees no other GPU."""
        tries: List[Tuple[int, List[int], Dict[str, Any]]] = [
            (i, self._work[i][2], self._work[i][1]) for i in self._unbegun
        ]
        planned = [gpus for name, _, gpus in self._work if name == PAIR_OF_ALL]
        tries += [(-1, pair, TRIED) for pair in self._pairs if pair not in planned]
        logs = [NcclLog() for _ in tries]

        def begin(number: int) -> Do:
            _, pair, parameters = tries[number]
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(self._devices[i]["uuid"] for i in pair)
            return self._child(logs[number], [(PAIR_OF_ALL, parameters, [0, 1])], [0, 1])[1]

        def say(number: int, position: str, got: Dict[str, Any]) -> None:
            if position == _LAST:
                return
            index, pair, _ = tries[number]
            got = _with_log(got, logs[number])
            got.pop("not_begun", None)
            self._judge_pair(pair, got)
            if index >= 0:
                self._answer(index, got)

        team = Team(
            begin,
            ("0",),
            say,
            self._limit_s,
            self._deadline,
            last=_LAST,
            lives=1,
            called=lambda _: PAIR_OF_ALL,
        )
        team.run(list(range(len(tries))), ["0"])
        for log in logs:
            log.close()

    def _answer(self, index: int, got: Dict[str, Any]) -> None:
        name, parameters, gpus = self._work[index]
        answer("native", dict(got, kernel=name, parameters=parameters, gpus=gpus))

    def _child(
        self, log: NcclLog, work: List[Tuple[str, Dict[str, Any], List[int]]], gpus: List[int]
    ) -> Tuple[Bench, Do]:
        prepare_nccl(log.path)
        bench = opened(Bench(Cuda()), gpus)
        run = until_failure(doing(bench, lambda position: _of_all(work[position])))

        def do(position: str) -> Dict[str, Any]:
            if position == _LAST:
                bench.end()
                return {}
            if work[int(position)][0] != PAIR_OF_ALL and self._whole is False:
                return {"skipped": "not run: all-reduce over all GPUs failed before"}
            return run(position)

        return bench, do


def _of_all(one: Tuple[str, Dict[str, Any], List[int]]) -> Callable[[Bench], Dict[str, Any]]:
    name, parameters, gpus = one
    return lambda bench: ALL[name](bench, gpus, **parameters)


_GRAPHS_HANG = (
    "as a CUDA graph on every GPU it did not end within %.3g s, without one it does: NCCL's guide warns that graphs launched by one"
    " thread on several GPUs may block each other"
)


def _as_graph(name: str, parameters: Dict[str, Any]) -> bool:
    return bool(parameters.get("graph", name == "all-reduce-latency"))


def _is_right(got: Dict[str, Any]) -> bool:
    return bool(got.get("value", {}).get("verified"))


def _with_log(got: Dict[str, Any], log: NcclLog) -> Dict[str, Any]:
    """With what NCCL wrote meanwhile, and its last warning where the work failed."""
    text = log.news()
    if "failed" in got:
        log.begin_anew()  # its child has ended
        warning = last_warning(text)
        failed = got["failed"]
        got = dict(got, failed=failed + (" (NCCL warned: %s)" % warning if warning and warning not in failed else ""))
    return dict(got, log=text) if text else got
