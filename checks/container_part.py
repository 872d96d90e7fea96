"""Containers that were given a part of the host's GPUs."""

from __future__ import annotations

import re

from gpudoctor.checks import _start
from gpudoctor.checks._handed_over import ENGINES, a_part_was_asked_for
from gpudoctor.checks._inside import gpu_nodes, inside
from gpudoctor.checks._reasons import set_to, several
from gpudoctor.checks._said import lines
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, known
from gpudoctor.findings import Evidence, Findings, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD640", "container-has-some-gpus", stage=Stage.CONTAINER, level=Level.INFO, explains=("fewer-gpus",))
def container_has_some_gpus(facts: Facts) -> Findings:
    """This container was given some of the host's GPUs, and not all.

    What it looks at: the NVIDIA GPUs on the PCI bus, which a container sees whole, the device nodes of GPUs inside, and
    whether NVIDIA_VISIBLE_DEVICES names GPUs one by one. In containers that one command starts; what a cluster
    allocates is as many as were asked for. In a pasted text: that some were asked for, and fewer are seen than there are.

    Why it matters: nothing that is set inside the container brings the others.

    How to fix: start it with all, if they are meant to be used.

    Source: NVIDIA Container Toolkit documentation, 'GPU Enumeration'.
    """
    if told := a_part_was_asked_for(facts):
        message = "This container was started with some of the host's GPUs, and sees these."
        fixes = _start.with_gpus("docker")
        yield Found(message=message, proof=lines(told), fixes=fixes, explains=("fewer-gpus", READS_LIKE_A_FAULT))
        return
    container = inside(facts)
    if container not in ENGINES:
        raise NotApplicable(f"what a {container} container gets is decided elsewhere")
    value = facts.environment.known("NVIDIA_VISIBLE_DEVICES")
    named = [e for e in (value or "").split(",") if re.fullmatch(r"\d+|GPU-[\w-]+", e.strip())]
    if not named:
        return set_to("NVIDIA_VISIBLE_DEVICES", value)
    whole = [d.address for d in known(facts.pci.devices) if d.is_nvidia_gpu]
    nodes = gpu_nodes(facts)
    if not 0 < len(nodes) < len(whole) or len(nodes) > len(named):
        return f"the container has {len(nodes)} of the host's {several(len(whole), 'GPU')}"
    yield Found(
        message=f"This {container} container was given {len(nodes)} of the host's {len(whole)} GPUs.",
        proof=(
            Evidence(text=f"NVIDIA_VISIBLE_DEVICES={value}", source="environment of the examined process"),
            Evidence(text=f"inside: {', '.join(n.path for n in nodes)}", source="/dev"),
            Evidence(text=f"GPUs: {', '.join(whole)}", source="the PCI bus"),
        ),
        fixes=_start.with_gpus(container),
    )
