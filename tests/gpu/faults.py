"""The faults: what is done to a machine that is healthy, and the cause that is right for it.

A fault is data. `faults(machine)` are those that this machine can show: one without a second GPU has no slow
all-reduce, one without a toolkit no stub of it.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Literal

from tests.gpu.scene import Machine, Scene

Route = Literal[
    "variable",
    "file",
    "hidden",
    "moved",
    "truncated",
    "wrong kind",
    "wrong soname",
    "wrong major",
    "other toolkit",
    "preloaded",
    "mount namespace",
    "fake library",
    "limit",
    "other process",
]
Subject = Literal[
    "visibility", "libcuda", "nodes", "libraries", "package", "import", "nccl", "limit", "memory", "work", "nothing"
]


@dataclasses.dataclass(frozen=True)
class Fault:
    """`make` changes a scene; `causes` is what a check of it must name, the first first."""

    name: str
    route: Route
    subject: Subject
    make: Callable[[Scene], None]
    causes: tuple[str, ...]
    library: str = "-"
    level: str = "quick"
    symptom: str | None = None
    """Where no cause can be named: the symptom that must be left unexplained or with candidates."""
    needs_nvml: bool = False
    """It is told by what NVML lists."""
    hides_nvml: bool = False
    alone: bool = False
    """Nothing else may run beside it on this machine."""
    as_nobody: bool = False
    at_home: bool = False
    """It lies in the home directory of whoever runs the suite: nobody else reads it."""
    more: tuple[str, ...] = ()
    """Arguments of the check."""
    cured: bool = True
    """Whether a fix of kind env or link, where one is offered, can work: not where the fault is in every place."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One fault, or two at once."""

    faults: tuple[Fault, ...]

    @property
    def name(self) -> str:
        return " + ".join(f.name for f in self.faults)

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(c for f in self.faults for c in f.causes))

    @property
    def level(self) -> str:
        return "standard" if any(f.level == "standard" for f in self.faults) else "quick"

    @property
    def more(self) -> tuple[str, ...]:
        return tuple(itertools.chain.from_iterable(f.more for f in self.faults))

    @property
    def alone(self) -> bool:
        return any(f.alone for f in self.faults)

    def make(self, machine: Machine) -> Scene:
        scene = machine.scene()
        for fault in self.faults:
            fault.make(scene)
        return scene


PAIRS: tuple[tuple[Subject, Subject], ...] = (
    ("visibility", "libcuda"),
    ("visibility", "nodes"),
    ("visibility", "libraries"),
    ("visibility", "package"),
    ("libcuda", "libraries"),
    ("libcuda", "package"),
    ("nodes", "libraries"),
    ("nodes", "package"),
    ("libraries", "nccl"),
    ("nccl", "nccl"),
)
"""What can be seen at the same time. Not here: a fake libcuda beside nodes that it never opens; limits, which end what
would be asked; a TensorFlow that is not found beside libraries that it would load; one GPU hidden beside what two do."""


def pairs(all_faults: list[Fault]) -> list[Case]:
    """Every pair whose two causes can both be seen."""
    found = []
    for one, other in itertools.combinations(all_faults, 2):
        if (one.subject, other.subject) not in PAIRS and (other.subject, one.subject) not in PAIRS:
            continue
        if set(one.causes) & set(other.causes) or not one.causes or not other.causes or one.alone or other.alone:
            continue
        if (one.needs_nvml and other.hides_nvml) or (other.needs_nvml and one.hides_nvml):
            continue
        if "standard" in (one.level, other.level) or one.more or other.more:
            continue
        if (one.as_nobody and other.at_home) or (other.as_nobody and one.at_home):
            continue
        files = {f.route for f in (one, other)} - {"variable", "mount namespace"}  # one user file takes another's place
        if one.subject == other.subject == "nccl" and (one.library == other.library or files):
            continue
        # a libcuda is put first on a path that a library's fault may have set anew
        first, second = sorted((one, other), key=lambda f: f.subject == "libcuda")
        found.append(Case((first, second)))
    return found


def draw(machine: Machine, number: int | None, seed: int) -> list[Case]:
    """`number` different cases, two thirds of them single faults as far as there are so many, the rest pairs; None: every
    fault once, and a pair of every two subjects."""
    dice, known = random.Random(seed), faults(machine)
    singles, doubles = [Case((f,)) for f in known], pairs(known)
    dice.shuffle(singles)
    dice.shuffle(doubles)
    if number is None:
        of_each = {frozenset(f.subject for f in case.faults): case for case in doubles}
        return [*singles, *of_each.values()]
    wanted = min(len(singles), max(1, number - min(number // 3, len(doubles))))
    return [*singles[:wanted], *doubles[: number - wanted]]


def faults(machine: Machine) -> list[Fault]:
    """The faults that can be made on this machine."""
    from tests.gpu import faults_driver, faults_libraries, faults_other

    found = [
        *_variables(machine),
        *faults_driver.faults(machine),
        *faults_libraries.faults(machine),
        *faults_other.faults(machine),
    ]
    assert len({f.name for f in found}) == len(found), "two faults of one name"
    return found


# ------------------------------------------------------------------------------- visibility


def variable(name: str, value: str | None) -> Callable[[Scene], None]:
    def make(scene: Scene) -> None:
        scene.env[name] = value

    return make


HIDES_ALL = ("", "-1", "NoDevFiles", "none", "void", "-1,0", " -1")
UNKNOWN = "GPU-00000000-0000-0000-0000-000000000000"


def _variables(machine: Machine) -> Iterator[Fault]:
    name = "CUDA_VISIBLE_DEVICES"
    for value in HIDES_ALL:
        yield Fault(
            f"{name}={value!r}", "variable", "visibility", variable(name, value), ("cuda-visible-devices-empty",)
        )
    count = machine.gpus
    wrong = ["99", "0,0", UNKNOWN, f"{UNKNOWN},0", "abc", "0;1", "0 1", "99,0", "0,99", "0x63", str(count), "all"]
    wrong += ["GPU-", f"0,{count}", "1,1", "1,0,1"] if count > 1 else []
    for value in wrong:
        yield Fault(
            f"{name}={value!r}",
            "variable",
            "visibility",
            variable(name, value),
            ("cuda-visible-devices-wrong",),
            needs_nvml=True,
        )
