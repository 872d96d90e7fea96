"""Device nodes: there, and openable by this user."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from gpudoctor.checks._cuinit import SUCCESS, UNKNOWN_ERROR, init_evidence, init_result
from gpudoctor.facts import Facts, known
from gpudoctor.findings import Evidence, Fix, Found, Stage
from gpudoctor.registry import check


@check(
    "GD105",
    "cuinit-uvm-device-missing",
    stage=Stage.NODES,
    explains=("tf-lists-no-gpu", "cuinit-fails"),
)
def uvm_device_missing(facts: Facts) -> Iterator[Found]:
    """CUDA can't open /dev/nvidia-uvm.

    What it looks at: the node /dev/nvidia-uvm (is it there, does open() work for this user), the other
    nodes, and cuInit's answer 999 (CUDA_ERROR_UNKNOWN).

    Why it matters: nvidia-smi works without it, CUDA does not. The node is made by nvidia-modprobe on the
    first use by root; containers, LXC and hosts whose modules were just reloaded lack it.

    How to fix: `sudo nvidia-modprobe -u -c=0` on the host; in a container, hand the node over.

    Source: NVIDIA driver README, chapter 'Installing the driver' (nvidia-modprobe); observed on an H200
    host without the node: cuInit answers 999.
    """
    lib = facts.driver.libcuda
    result = init_result(facts)
    if result == SUCCESS:
        return
    node = known(facts.driver.node("/dev/nvidia-uvm"))
    control = known(facts.driver.node("/dev/nvidiactl"))
    exists = node is not None and known(node.exists)
    failed = known(node.open_errno) if node is not None and exists else None
    control_there = control is not None and known(control.exists)
    if exists and failed in (None, errno.EACCES, errno.EPERM):  # a refusal is device-node-permission
        return
    if result != UNKNOWN_ERROR and not control_there:
        return
    state = "does not exist" if not exists else f"can't be opened: {os.strerror(failed or 0)}"
    container = facts.system.container
    yield Found(
        message=f"/dev/nvidia-uvm {state}; CUDA does not start without it, though nvidia-smi may.",
        proof=(init_evidence(lib), Evidence(text=f"/dev/nvidia-uvm {state}", source="open()")),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Load the module and make its device node"
                + (f" on the host, and hand it to this {container} container" if isinstance(container, str) else ""),
                steps=("sudo nvidia-modprobe -u -c=0",),
                verify="ls -l /dev/nvidia-uvm && gpudoctor check",
            ),
        ),
    )


@check(
    "GD107",
    "device-node-permission",
    stage=Stage.NODES,
    explains=("tf-lists-no-gpu", "fewer-gpus", "cuinit-no-device", "cuinit-fails"),
)
def device_node_permission(facts: Facts) -> Iterator[Found]:
    """This user may not open NVIDIA's device nodes.

    What it looks at: what open() answers for each of /dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidia0, … as
    the examined user: EACCES (mode bits, access lists) or EPERM (a container's device rules). The mode
    bits alone do not tell.

    Why it matters: CUDA then finds no device, or does not start, for this user only; for root everything works.

    How to fix: give the user access (the group of the nodes, often video or render), or hand the devices to
    the container.

    Source: open(2); NVIDIA driver README, NVreg_DeviceFileMode.
    """
    refused = [n for n in known(facts.driver.nodes) if n.open_errno in (errno.EACCES, errno.EPERM)]
    if not refused:
        return
    names = " ".join(n.path for n in refused)
    container = facts.system.container
    if isinstance(container, str):
        steps: tuple[str, ...] = ()
        summary = f"Hand these devices to the {container} container (docker run --gpus all …), as this user"
    else:
        summary, steps = (
            "See which group may open them, and join it",
            (f"ls -l {names}", 'sudo usermod -aG video "$USER"'),
        )
    yield Found(
        message=f"{names}: permission denied for this user.",
        proof=tuple(
            Evidence(text=f"{n.path}: {os.strerror(known(n.open_errno) or 0)}", source="open(), read and write")
            for n in refused
        ),
        fixes=(
            Fix(
                kind="command" if steps else "advice",
                risk="needs root",
                summary=summary,
                steps=steps,
                verify="log in again, then gpudoctor check",
            ),
        ),
    )
