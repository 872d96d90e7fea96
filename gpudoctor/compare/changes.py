"""Differences in words: what changed, of what, from what to what."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Iterable
from typing import Any, cast

from ..facts import Facts, NumaNode, Unread
from . import policy
from .align import Gpus
from .model import Change, Kind, NotKnown, sentence
from .walk import ABSENT, Difference, Key
from .words import amount, direction, words

_CARD = ("pci.devices", "driver.gpus", "gpu.devices", "driver.all_devices", "driver.libcuda.devices")
_KNOWN_TO = ("on the bus", "to the kernel module", "to NVML", "to CUDA")
_GROWS = ("system.memory_total_bytes", "system.numa_nodes.memory_total_bytes")
_OF_SEVERAL = ("library", "library_version", "transport", "channels")


@dataclasses.dataclass(frozen=True)
class Sides:
    """The facts of both sides, their GPUs, and the words for each GPU."""

    old: Facts
    new: Facts
    old_gpus: Gpus
    new_gpus: Gpus
    gpus: dict[str, str]
    other_machine: bool

    def called(self, key: str) -> str:
        """'gpu-0' or 'gpu-0 and gpu-1' in words."""
        for join in (" to ", " and ", ","):
            if join in key:
                return (" and " if join == "," else join).join(self.called(part) for part in key.split(join))
        return self.gpus.get(key, key)


def came_or_went(found: Iterable[Difference]) -> set[str]:
    """GPUs that are new or gone, to more than CUDA, which goes by variables."""
    return {d.keys[0] for d in found if d.fact in _CARD[:3] and _is_element(d) and d.keys[0].startswith("gpu-")}


def _is_element(one: Difference) -> bool:
    return not one.unread and (one.old is ABSENT or one.new is ABSENT) and len(one.way) == one.fact.count(".") + 2


_FAMILY = re.compile(r"-(cu\d+|cpu|gpu|rocm|aws|intel|macos|cpu-aws|gpu-intel)$")


def families(found: Iterable[Difference]) -> set[str]:
    """Packages of which one was exchanged for another of its kind: tensorflow for tensorflow-cpu, a wheel for CUDA 12 for one for 13."""
    came: set[str] = set()
    went: set[str] = set()
    for one in found:
        if one.fact == "python.distributions" and _is_element(one):
            (came if one.old is ABSENT else went).add(_FAMILY.sub("", one.keys[0]))
    return came & went


def order(one: Difference) -> int:
    """Of what is one change the difference that tells most stands first."""
    return _CARD.index(one.fact) if one.fact in _CARD else int(one.old is not ABSENT)


def together(one: Difference, cards: set[str], exchanged: set[str]) -> Hashable | None:
    """What it shares with others that are one change with it; None: it stands alone."""
    if one.unread and not one.fact.startswith("measurements"):
        return None
    if one.fact in _CARD and _is_element(one) and one.keys[0] in cards:
        return ("card", one.keys[0])
    if one.fact == "python.distributions" and _is_element(one) and (kind := _FAMILY.sub("", one.keys[0])) in exchanged:
        return ("package", kind)
    if one.fact in ("gpu.devices.nvlinks", "gpu.devices.nvlinks.active"):
        return ("nvlinks", one.keys[0])
    if one.fact.startswith("measurements.load.pcie_"):
        return ("link", one.fact, one.keys[0].rpartition(" ")[2], one.old, one.new)
    if one.fact.removeprefix("measurements.") in _OF_SEVERAL:
        return ("several", one.fact, one.old, one.new)
    if one.fact.startswith("measurements"):  # what was measured is of the moment
        return ("measured", one.keys[:1])
    return ("numa",) if one.fact.startswith("system.numa_nodes") else None


def change(ones: list[Difference], sides: Sides, shared: Hashable | None) -> Change | None:
    """What these differences, which belong together by `shared`, are to a person; None: nothing."""
    first = ones[0]
    name = policy.named(first.fact, first.keys)
    if first.unread or policy.of_the_moment(name, other_machine=sides.other_machine):
        return None
    if first.fact == "system.hostname" and any(isinstance(f.system.container, str) for f in (sides.old, sides.new)):
        return None  # a container has another name each time
    if first.fact in _GROWS and all(f.system.hypervisor is True for f in (sides.old, sides.new)):
        return None  # a virtual machine is given memory as it asks for it
    kind = shared[0] if isinstance(shared, tuple) else None
    if kind == "card":
        return _card(ones, sides)
    if kind == "package":
        return _exchanged(ones)
    if kind == "nvlinks":
        return _nvlinks(first, sides)
    subject, what = _subject(first, sides)
    if kind == "numa":
        old, new = (_numa(facts.system.numa_nodes) for facts in (sides.old, sides.new))
        return _made(first, "the system", "NUMA nodes", "changed", old, new) if old != new else None
    if kind == "link":
        subject = sides.called(first.keys[0].rpartition(" ")[2])
    elif first.fact.startswith("measurements"):
        subject = " ".join(first.keys[0].split(" ")[:2])
        subject += f" and {len(ones) - 1} more" if len(ones) > 1 else ""
    made = _made(first, subject, what, *_values(first))
    return None if made.old == made.new and isinstance(first.old, int | float) else made  # less than a person is told


def _made(one: Difference, subject: str, what: str, kind: Kind, old: str | None, new: str | None) -> Change:
    name = policy.named(one.fact, one.keys)
    return Change(
        id=name.rstrip(":"),
        group=policy.group(one.fact),
        subject=subject,
        what=what,
        kind=kind,
        old=old,
        new=new,
        importance=policy.importance(name),
    )


def _values(one: Difference) -> tuple[Kind, str | None, str | None]:
    old, new = one.old, one.new
    if isinstance(old, tuple) and isinstance(new, tuple):  # what only one of the lists has
        less, more = (tuple(x for x in a if x not in b) for a, b in ((old, new), (new, old)))
        old, new = (less or None, more or None) if less or more else (old, new)
    before, after = words(one.fact, old), words(one.fact, new)
    if before is None and after is not None:
        return "added", before, after
    if after is None:
        return "removed", before, after
    return cast(Kind, direction(one.old, one.new, one.fact.rpartition(".")[2])), before, after


def _subject(one: Difference, sides: Sides) -> tuple[str, str]:
    label = policy.label(one.fact)
    if not one.keys:
        return policy.subject(one.fact), label
    first, *rest = one.keys
    if first.startswith("gpu-"):
        return sides.called(first), " ".join([*rest, label])
    if one.fact.startswith("tensorflow.devices"):
        return first.replace("/physical_device:", "TensorFlow's "), label
    if one.fact.startswith("libraries.files"):
        return first.rpartition("/")[2], f"{label} in {first.rpartition('/')[0]}"
    if one.fact.startswith("nccl.files") and rest:
        return rest[0], f"{label} in {first}"
    return first, " ".join([*rest, label])


def _card(ones: list[Difference], sides: Sides) -> Change:
    """A GPU that is not there any more, or is new."""
    first = min(ones, key=lambda one: _CARD.index(one.fact))
    old, new = (_known_to(ones, before=before) for before in (True, False))
    values = [value for one in ones for value in (one.old, one.new)]
    models = [m for v in values if isinstance(m := getattr(v, "name", None) or getattr(v, "model", None), str)]
    subject = sides.called(first.keys[0]) + (f" {models[0]}" if models else "")
    kind: Kind = "added" if first.old is ABSENT else "removed"
    made = _made(first, subject, "known", kind, old, new)
    return Change(**{**{f: getattr(made, f) for f in made.__struct_fields__}, "group": "GPUs", "importance": "high"})


def _exchanged(ones: list[Difference]) -> Change:
    """A package that another one stands for now."""
    old, new = (
        ", ".join(
            f"{one.keys[0]} {words(one.fact, value)}" for one in ones if (value := getattr(one, side)) is not ABSENT
        )
        for side in ("old", "new")
    )
    family = _FAMILY.sub("", ones[0].keys[0])
    as_one = Difference((*ones[0].way[:2], Key(family)), ones[0].old, ones[0].new)
    return _made(as_one, family, "package", "changed", old, new)


def _known_to(ones: list[Difference], *, before: bool) -> str | None:
    """Who knows a GPU on one side: 'on the bus, to NVML'; of those for whom that is another answer now."""
    there = {min(_CARD.index(one.fact), 3) for one in ones if (one.old if before else one.new) is not ABSENT}
    return ", ".join(_KNOWN_TO[n] for n in sorted(there)) or None


def _nvlinks(one: Difference, sides: Sides) -> Change:
    """How many links of a GPU are in use, and of how many."""
    key = one.keys[0]
    (were, before), (are, after) = (
        _links(facts, gpus, key) for facts, gpus in ((sides.old, sides.old_gpus), (sides.new, sides.new_gpus))
    )
    kind: Kind = "changed" if were == are else "up" if are > were else "down"
    made = Difference(one.way[:4], one.old, one.new)
    return _made(made, sides.called(key), "NVLinks in use", kind, before, after)


def _links(facts: Facts, gpus: Gpus, key: str) -> tuple[int, str | None]:
    devices = facts.gpu.devices if isinstance(facts.gpu.devices, tuple) else ()
    links = next((d.nvlinks for d in devices if gpus.nvml.get(d.index) == key), None)
    if not isinstance(links, tuple):
        return 0, None
    active = sum(link.active for link in links)
    return active, f"{active} of {len(links)}"


def _numa(nodes: Any) -> str | None:
    if not isinstance(nodes, tuple):
        return None
    return "; ".join(_node(n) for n in nodes) or "none"


def _node(one: NumaNode) -> str:
    size = f", {amount(one.memory_total_bytes)}" if isinstance(one.memory_total_bytes, int) else ""
    return f"{one.index}: processors {one.cpus if isinstance(one.cpus, str) else '?'}{size}"


def in_words(one: Difference, sides: Sides) -> str:
    """A difference that is no change, for a person."""
    subject, what = _subject(one, sides)
    return sentence(_made(one, subject, what, *_values(one)))


def not_known(one: Difference, sides: Sides) -> NotKnown:
    """A fact that one side only has."""
    subject, what = _subject(one, sides)
    side, unread = ("before", one.old) if isinstance(one.old, Unread) else ("now", one.new)
    return NotKnown(
        id=policy.named(one.fact, one.keys).rstrip(":"),
        subject=subject,
        what=what,
        side=cast(Any, side),
        why=unread.why,
    )
