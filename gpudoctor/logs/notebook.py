"""What the readers of a text write down: facts, and the lines that they come from."""

from __future__ import annotations

from typing import Any

import msgspec

from ..facts import Fact, Facts, Source, Text, TextEvent, Unread, with_fact

NOT_HERE = "not in this text"
KEPT = 400
"""Events that are kept."""

SETTLES = {
    "driver.kernel_version": "cat /proc/driver/nvidia/version",
    "driver.modules": "lsmod | grep -E 'nvidia|nouveau'",
    "driver.nodes": "ls -l /dev/nvidia*",
    "driver.daemons": "systemctl status nvidia-fabricmanager",
    "driver.libcuda": "ldconfig -p | grep libcuda.so.1",
    "environment": "env | grep -E 'CUDA|LD_LIBRARY_PATH|NVIDIA|TF_|NCCL'",
    "gpu": "nvidia-smi",
    "libraries": "find / -name 'libcud*.so*' -not -path '/proc/*' 2>/dev/null",
    "pci": "lspci -nn | grep -i nvidia",
    "python": "python3 -m pip list",
    "tensorflow": "python3 -c 'import tensorflow as tf; print(tf.__version__, tf.sysconfig.get_build_info())'",
}
"""A fact, or a subject -> the command whose output tells it."""


class Notebook:
    """Facts as they are told, line by line. Where lines contradict each other, what weighs more counts, else what was said
    first: a text often holds several runs, and it was pasted because of the one that failed."""

    def __init__(self) -> None:
        self.events: list[TextEvent] = []
        self._told: dict[str, tuple[int, Any, list[int]]] = {}

    def note(self, event: TextEvent) -> None:
        """Keep an event."""
        if len(self.events) < KEPT:
            self.events.append(event)

    def tell(self, fact: str, value: Any, line: int, weight: int = 0) -> None:
        """`fact` ('driver.libcuda.init_result') is `value`, says `line`."""
        before = self._told.get(fact)
        if before is None or weight > before[0]:
            self._told[fact] = (weight, value, [line])
        elif value == before[1]:
            before[2].append(line)

    def revise(self, fact: str, value: Any, line: int) -> None:
        """What is known of it by now, where a line tells a part of it. What weighs more stays."""
        before = self._told.get(fact)
        if before is None or not before[0]:
            self._told[fact] = (0, value, [*(before[2] if before else ()), line])

    def add(self, fact: str, item: Any, line: int, weight: int = 0) -> None:
        """One more item of a list, which has each once."""
        weighed, items, lines = self._told.get(fact, (weight, (), []))
        if weight > weighed:
            weighed, items, lines = weight, (), []
        if weight < weighed or len(items) >= KEPT or item in items:
            return
        self._told[fact] = (weighed, (*items, item), [*lines, line])

    def exchange(self, fact: str, old: Any, new: Any) -> None:
        """An item of a list is told anew, in more words."""
        weighed, items, lines = self._told[fact]
        self._told[fact] = (weighed, tuple(new if item is old else item for item in items), lines)

    def untell(self, fact: str) -> None:
        """It was no fact in the end."""
        self._told.pop(fact, None)

    def told(self, fact: str) -> Any:
        """What was told of it; None: nothing."""
        found = self._told.get(fact)
        return found[1] if found is not None else None

    def facts(self, lines: int, left_out: str | None) -> Facts:
        """Everything that was told; all else is not in this text."""
        facts = Facts()
        for name in _SUBJECTS:
            facts = with_fact(facts, name, _unread(getattr(facts, name), name))
        facts = with_fact(facts, "environment.unlisted", _not_told("environment"))
        for fact, (_, value, _) in self._told.items():
            facts = with_fact(facts, fact, value)
        sources = (
            Source(fact=fact, lines=tuple(told[2][:20] if fact != "tensorflow.events" else ()))
            for fact, told in self._told.items()
        )
        text = Text(lines=lines, left_out=left_out, events=tuple(self.events), sources=tuple(sources))
        return msgspec.structs.replace(facts, text=text)


_SUBJECTS = tuple(
    name for name in Facts.__struct_fields__ if isinstance(getattr(Facts(), name), Fact) and name != "text"
)


def _not_told(fact: str) -> Unread:
    parts = fact.split(".")
    known = (SETTLES[name] for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in SETTLES)
    return Unread(why=NOT_HERE, settle=next(known, None))


def _unread(subject: Fact, name: str) -> Fact:
    """The subject with each fact unread, and the command that tells that one."""
    kept: dict[str, Fact] = {}
    for field in subject.__struct_fields__:
        default, path = getattr(subject, field), f"{name}.{field}"
        if isinstance(default, Unread):
            kept[field] = _not_told(path)
        elif isinstance(default, Fact):
            kept[field] = _unread(default, path)
    return msgspec.structs.replace(subject, **kept)


__all__ = ["NOT_HERE", "Notebook"]
