"""The CPUs beside a GPU: copies are measured from there, and from the farthest node to compare."""

import os
from typing import List, Optional, Set

from .core import list_directory, read_text


def near_cpus(pci_address: str) -> Optional[Set[int]]:
    """The CPUs of the GPU's NUMA node, of those that this process may use; None where the machine does not tell."""
    text = read_text("/sys/bus/pci/devices/%s/local_cpulist" % pci_address).get("text")
    return None if text is None else cpu_list(text) & os.sched_getaffinity(0) or None


def far_cpus(pci_address: str) -> Optional[Set[int]]:
    """The CPUs of another NUMA node than the GPU's; None where there is no other, or the machine does not tell."""
    near = near_cpus(pci_address)
    names = list_directory("/sys/devices/system/node")
    if near is None or isinstance(names, int):
        return None
    others: List[Set[int]] = []
    for name in names:
        if name.startswith("node") and name[4:].isdigit():
            cpus = cpu_list(read_text("/sys/devices/system/node/%s/cpulist" % name).get("text", ""))
            others += [cpus & os.sched_getaffinity(0)] if cpus and not cpus & near else []
    return next((cpus for cpus in reversed(others) if cpus), None)


def cpu_list(text: str) -> Set[int]:
    """'0-2,8' -> {0, 1, 2, 8}."""
    found: Set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit():
            found.update(range(int(first), int(last or first) + 1))
    return found


def move_to(cpus: Optional[Set[int]]) -> Set[int]:
    """Run on these CPUs from now on (None: stay); where it ran till now. Memory that is taken from now on lies beside them."""
    before = os.sched_getaffinity(0)
    if cpus:
        try:
            os.sched_setaffinity(0, cpus)
        except OSError:
            pass  # a cpuset forbids it
    return before
