"""Kernels without a framework: only the driver, and CUDA's libraries of the examined environment.

Every GPU has a child of its own that sees no other, so that one that hangs or crashes ends nothing but its own work.
What needs two GPUs or all runs afterwards, in a child that owns them.
"""

import os
import time
from typing import Any, Callable, Dict, List, Optional, Sequence

from .bench import Bench, doing, opened, until_failure
from .copies import (
    copy_both_ways,
    copy_device_to_host,
    copy_device_to_host_pageable,
    copy_from_far,
    copy_host_to_device,
    copy_host_to_device_pageable,
    copy_inside,
    copy_latency,
    copy_pair,
    let_pairs_go,
    prepare_copies,
)
from .core import answer, forked
from .cuda import Cuda, Gpu
from .fitting import fitting
from .gate import hold_native, wait_for_nvml
from .gemm import before_products, gemm_bfloat16, gemm_float8, gemm_float16, gemm_float32, gemm_tf32
from .memory_check import launch_latency, memory_pattern, repeat_matmul
from .team import Do, Team, turn
from .together import ALL, Collectives

LOOK_S = 20.0
"""How long the driver may take to count its GPUs."""

_OPEN_S = 0.6
"""What it takes to get a context on each GPU, on hosts with 1 to 4x H200."""

SINGLE: Dict[str, Callable[..., Dict[str, Any]]] = {
    "prepare-copies": prepare_copies,
    "copy-host-to-device": copy_host_to_device,
    "copy-device-to-host": copy_device_to_host,
    "copy-both-ways": copy_both_ways,
    "copy-host-to-device-pageable": copy_host_to_device_pageable,
    "copy-device-to-host-pageable": copy_device_to_host_pageable,
    "copy-host-to-device-far": copy_from_far,
    "copy-inside": copy_inside,
    "copy-latency": copy_latency,
    "launch-latency": launch_latency,
    "matmul-float32": gemm_float32,
    "matmul-tf32": gemm_tf32,
    "matmul-float16": gemm_float16,
    "matmul-bfloat16": gemm_bfloat16,
    "matmul-float8": gemm_float8,
    "repeat-matmul": repeat_matmul,
    "memory-pattern": memory_pattern,
}
"""Kernels of one GPU: (bench, **parameters) -> what was measured."""
BY_HOST = ("copy-host-to-device-pageable", "copy-device-to-host-pageable", "copy-latency", "launch-latency")
"""The host does their work. Where it has few processors, nothing of ours runs beside them."""
IN_TURN = ("copy-host-to-device", "copy-device-to-host", "copy-both-ways", "copy-host-to-device-far", *BY_HOST)
"""GPUs share what they need: no two are timed at once, but what a GPU does by itself may run beside them."""
_PROCESSORS = 4
"""For each GPU: fewer are few."""
PAIRS: Dict[str, Callable[..., Dict[str, Any]]] = {"copy-pair": copy_pair}
"""Kernels of two GPUs, (bench, first, second, **parameters)."""


def native(
    plan: List[List[Any]],
    limit_s: float,
    total_s: float,
    only: Optional[List[int]] = None,
    after_nvml: bool = False,
    share_s: Optional[float] = None,
    costs: Sequence[Sequence[Any]] = (),
) -> None:
    """Run `plan`, [kernel, parameters] each, on the GPUs `only` (None: all); at most `limit_s` seconds each and `total_s` in all.

    `after_nvml`: NVML is being asked beside us, and must not see our work.
    `costs`: [position in the plan, seconds on one GPU or pair] each, the most telling first: what does not fit into `share_s`
    is left out. Answers 'native_devices', then a 'native' for each kernel and GPU (or pair, or all) that was begun.
    """
    hold_native()
    started = time.time()
    seen = forked("counting the GPUs", min(LOOK_S, total_s), _look)
    answer("native_devices", seen)
    devices = seen.get("value", [])
    if not devices:
        return
    if after_nvml:
        wait_for_nvml(LOOK_S)
    deadline = time.time() + total_s
    gpus = [i for i in range(len(devices)) if only is None or i in only]
    if share_s is not None:
        left_s = started + share_s - time.time() - _OPEN_S * len(gpus)
        _, out = fitting([(i, s * _times(plan[i][0], len(gpus))) for i, s in costs], left_s)
        answer("native_left_out", out)
        plan = [one for i, one in enumerate(plan) if i not in out]
    _Run(plan, devices, gpus, limit_s, deadline).everything()


def _times(name: str, gpus: int) -> int:
    """How many times a kernel runs, one after the other."""
    if name in PAIRS:
        return gpus * (gpus - 1)
    if name in ALL:
        return int(gpus > 1)
    return gpus if name in IN_TURN else 1


def _look() -> List[Dict[str, Any]]:
    cuda = Cuda()
    return [Gpu(cuda, i).identity() for i in range(cuda.count())]


class _Run:
    def __init__(
        self, plan: List[List[Any]], devices: List[Dict[str, Any]], gpus: List[int], limit_s: float, deadline: float
    ) -> None:
        self._plan, self._devices, self._gpus = plan, devices, gpus
        self._limit_s, self._deadline = limit_s, deadline

    def everything(self) -> None:
        """One after another: what single GPUs do side by side, the pairs, all together. One child does the pairs and what is of
        all: the driver makes one context after another, and what is timed beside that is slower."""
        single = [[name, p, (-1,)] for name, p in self._plan if name in SINGLE]
        few = len(os.sched_getaffinity(0)) < _PROCESSORS * len(self._gpus)
        quiet = [str(i) for i, (name, _, _) in enumerate(single) if few and name in BY_HOST]
        pairs = [
            [name, p, (one, other)]
            for name, p in self._plan
            if name in PAIRS
            for one in self._gpus
            for other in self._gpus
            if one != other
        ]
        collectives = Collectives(self._plan, self._devices, self._gpus, self._limit_s, self._deadline)
        self._team(single, quiet, lambda index: self._alone(index, single)).run(
            self._gpus, [str(i) for i in range(len(single))]
        )
        both = self._team(pairs, (), lambda _: _together(collectives, pairs))
        both.run([-1], [_PAIR_ORDER + str(i) for i in range(len(pairs))], leave=collectives.wanted)
        collectives.everything(both)

    def _team(self, work: List[List[Any]], quiet: Any, begin: Callable[[int], Do]) -> Team:
        def say(index: int, order: str, got: Dict[str, Any]) -> None:
            name, parameters, on = work[_position(order)]
            gpus = list(on) if on != (-1,) else [index]
            answer("native", dict(got, kernel=name, parameters=parameters, gpus=gpus))

        def called(order: str) -> str:
            return str(work[_position(order)][0])

        return Team(begin, quiet, say, self._limit_s, self._deadline, called=called)

    def _alone(self, index: int, work: List[List[Any]]) -> Do:
        os.environ["CUDA_VISIBLE_DEVICES"] = self._devices[index]["uuid"]
        # what the driver compiles for us is not left in the user's home
        os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
        with turn(before_products() if any("matmul" in name for name, _, _ in work) else ()):
            bench = opened(Bench(Cuda()), [0])
        return until_failure(doing(bench, lambda position: _of_one(work[position])))


_PAIR_ORDER = "pair "


def _position(order: str) -> int:
    return int(order.rpartition(" ")[2])


def _together(collectives: Collectives, pairs: List[List[Any]]) -> Do:
    bench, of_all = collectives.child()
    of_pair = until_failure(doing(bench, lambda position: _of_two(pairs[position])))

    def do(order: str) -> Dict[str, Any]:
        if order.startswith(_PAIR_ORDER):
            return of_pair(str(_position(order)))
        let_pairs_go(bench)
        return of_all(order)

    return do


def _of_one(one: List[Any]) -> Callable[[Bench], Dict[str, Any]]:
    name, parameters, _ = one
    return lambda bench: SINGLE[name](bench, **parameters)


def _of_two(one: List[Any]) -> Callable[[Bench], Dict[str, Any]]:
    name, parameters, (first, second) = one
    return lambda bench: PAIRS[name](bench, first, second, **parameters)
