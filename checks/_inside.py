"""Which container this is, and the GPUs in it."""

from __future__ import annotations

import re

from gpudoctor.facts import DeviceNode, Facts, known
from gpudoctor.findings import NotApplicable


def inside(facts: Facts) -> str:
    """Which container this is; not applicable on a bare host."""
    container = known(facts.system.container)
    if container is None:
        raise NotApplicable("this is no container")
    return container


def gpu_nodes(facts: Facts) -> list[DeviceNode]:
    """/dev/nvidia0, … that are there."""
    nodes = known(facts.driver.nodes)
    return [n for n in nodes if re.fullmatch(r"/dev/nvidia\d+", n.path) and known(n.exists)]
