"""Containers that are not started: what docker, podman and Kubernetes say of it. Read from pasted texts."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._said import lines, said
from gpudoctor.facts import Facts
from gpudoctor.findings import Fix, Found, Stage
from gpudoctor.registry import check


@check("GD620", "container-toolkit-missing", stage=Stage.CONTAINER, explains=("container-does-not-start",))
def container_toolkit_missing(facts: Facts) -> Iterator[Found]:
    """The NVIDIA container toolkit is not installed, or the engine does not know of it.

    What it looks at: in a pasted text, docker's and podman's words for: nobody here can hand over a GPU.

    Why it matters: the engine itself knows nothing of GPUs; the toolkit's runtime or its CDI specification puts the
    driver's nodes and libraries into a container.

    How to fix: install nvidia-container-toolkit on the host, configure the engine with nvidia-ctk, restart it.

    Source: docker's device driver lookup ('could not select device driver'); NVIDIA Container Toolkit, installation guide.
    """
    told = said(facts, "no-gpu-device-driver", settle="docker info | grep -i -A2 runtimes; nvidia-ctk --version")
    yield Found(
        message="The container engine has nothing that could hand over a GPU.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="Install the toolkit and make it known to docker",
                steps=(
                    "sudo apt-get install -y nvidia-container-toolkit",
                    "sudo nvidia-ctk runtime configure --runtime=docker",
                    "sudo systemctl restart docker",
                ),
                verify="docker run --rm --gpus all ubuntu nvidia-smi",
            ),
        ),
    )
