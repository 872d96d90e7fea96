"""Programs that are bound to processors which are far from their GPU, as a pasted text shows them; and how to bind them elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks._processors import numbers
from gpudoctor.checks._said import lines, said, undecided
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.findings import Fix, Found

_NEAR = "nvidia-smi topo -m; taskset -pc PID"


def rebind(cpus: str, pid: int | Unread | None) -> Fix:
    running = isinstance(pid, int)
    step = f"taskset -acp {quote(cpus)} {pid}" if running else f"taskset -c {quote(cpus)} python3 train.py"
    return Fix(
        kind="command",
        risk="safe",
        summary="Let it run next to its GPU (where a job's or container's set of processors forbids it, ask for others there)",
        steps=(step,),
        verify=f"taskset -pc {pid if running else 'PID'}",
    )


def in_words(facts: Facts) -> Iterator[Found]:
    told = said(facts, "bound-to-cpus", "bound-to-node", "bound-gpu", "bound-each", settle=_NEAR)
    near = facts.text.said("gpu-near-cpus")
    if not near:
        undecided(_NEAR)
    if each := [e for e in told if e.kind in ("bound-gpu", "bound-each")]:
        yield from _apart(each, near)
        return
    if any(_touch(one, gpu) for one in told for gpu in near):
        return
    message = "The program is bound to processors that are next to none of the GPUs."
    yield Found(message=message, proof=lines((*told[:2], *near[:2])), fixes=(rebind(near[0].values["cpus"], None),))


def _apart(told: list[TextEvent], near: tuple[TextEvent, ...]) -> Iterator[Found]:
    """GPUs whose own program runs on processors that are next to others."""
    next_to: dict[int, TextEvent] = {}
    for event in near:
        first = int(event.values["index"])
        next_to |= dict.fromkeys(range(first, int(event.values.get("last", first)) + 1), event)
    bound = {int(e.values["gpu"]): e.values["cpus"] for e in told if "gpu" in e.values}
    for event in told:
        each = (one.split(":") for one in event.values.get("each", "").split())
        bound |= {int(gpu): cpus for gpu, cpus in each}
    far = [
        g
        for g, cpus in sorted(bound.items())
        if g in next_to and not numbers(cpus) & numbers(next_to[g].values["cpus"])
    ]
    if far:
        names = ", ".join(map(str, far))
        message = f"The programs of GPU {names} run on processors that are next to other GPUs."
        fix = rebind(next_to[far[0]].values["cpus"], None)
        yield Found(message=message, proof=lines((*told[:2], next_to[far[0]])), fixes=(fix,))


def _touch(bound: TextEvent, gpu: TextEvent) -> bool:
    if "node" in bound.values:
        return bound.values["node"] == gpu.values.get("node", bound.values["node"])
    return bool(numbers(bound.values["cpus"].replace(" ", ",")) & numbers(gpu.values["cpus"]))
