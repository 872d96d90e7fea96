"""Containers: were GPUs handed over?"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.facts import Facts, Unread, known
from gpudoctor.findings import Evidence, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check

_HOW = {
    "docker": "docker run --gpus all …",
    "podman": "podman run --device nvidia.com/gpu=all …",
    "kubernetes": "resources.limits: nvidia.com/gpu: 1",
    "lxc": "lxc config device add CONTAINER gpu gpu",
}


@check(
    "GD601",
    "container-no-gpus-flag",
    stage=Stage.CONTAINER,
    explains=("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails", "libcuda-not-found"),
)
def container_no_gpus_flag(facts: Facts) -> Iterator[Found]:
    """This container was started without GPUs.

    What it looks at: whether this is a container, whether the host's kernel has the NVIDIA module loaded (a
    container sees the host's /proc/driver/nvidia), and whether /dev/nvidiactl is inside.

    Why it matters: the driver's device nodes and libraries come from the host when a container is started;
    nothing that is installed inside replaces them.

    How to fix: start it with GPUs (`docker run --gpus all`), which needs the NVIDIA container toolkit on the host.

    Source: NVIDIA Container Toolkit documentation; observed: a container of an H200 host without the nodes.
    """
    container = known(facts.system.container)
    if container is None:
        raise NotApplicable("this is no container")
    if known(facts.driver.kernel_version) is None:
        raise NotApplicable("the host's kernel has no NVIDIA module loaded")
    node = known(facts.driver.node("/dev/nvidiactl"))
    if node is not None and known(node.exists):
        return
    library = facts.driver.libcuda.path
    without = "neither /dev/nvidiactl nor libcuda.so.1 is" if library is None else "/dev/nvidiactl is not"
    how = _HOW.get(container)
    seen = [] if isinstance(facts.driver.nodes, Unread) else [n.path for n in facts.driver.nodes if n.exists is True]
    yield Found(
        message=f"The host has an NVIDIA driver, and {without} in this {container} container.",
        proof=(
            Evidence(
                text=f"kernel module {facts.driver.kernel_version}, the host's", source="/proc/driver/nvidia/version"
            ),
            Evidence(text=f"device nodes inside: {', '.join(seen) or 'none'}", source="/dev"),
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Start the container with GPUs" + (f": {how}" if how else ""),
                steps=(),
                verify="nvidia-smi, inside the container",
            ),
        ),
    )
