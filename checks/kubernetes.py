"""Kubernetes: what its events and NVIDIA's device plugin say of GPUs. Read from pasted texts."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import Facts
from gpudoctor.findings import Fix, Found, Stage
from gpudoctor.registry import check

_NOT_STARTED = "container-does-not-start"
_PLUGIN = "kubectl -n kube-system logs -l name=nvidia-device-plugin-ds"
_NODES = "kubectl describe nodes | grep -A10 Capacity"


@check(
    "GD630",
    "container-runtime-not-default",
    stage=Stage.CONTAINER,
    explains=(_NOT_STARTED, "k8s-device-plugin-not-registered", "nvidia-smi-fails"),
)
def container_runtime_not_default(facts: Facts) -> Iterator[Found]:
    """Kubernetes starts its containers without NVIDIA's runtime.

    What it looks at: in a pasted text, that NVIDIA's device plugin does not find NVML in its own container.

    Why it matters: the plugin, and every pod that gets a GPU from it, needs NVIDIA's runtime. docker's setting does not
    count where the kubelet uses containerd or CRI-O.

    How to fix: make nvidia the default runtime of the engine that the kubelet uses, or give the pods and the plugin
    runtimeClassName: nvidia; restart the engine, then the plugin.

    Source: NVIDIA/k8s-device-plugin, README, 'Prerequisites' and 'Configure containerd'.
    """
    yield Found(
        message="The device plugin runs without NVIDIA's runtime, and so finds no GPU.",
        proof=lines(said(facts, "k8s-plugin-no-nvml", settle=_PLUGIN)),
        fixes=(
            Fix(
                kind="command",
                risk="needs root",
                summary="On each node with GPUs: make it the default runtime (docker or crio instead of containerd, where used)",
                steps=(
                    "sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default",
                    "sudo systemctl restart containerd",
                    "kubectl -n kube-system delete pod -l name=nvidia-device-plugin-ds",
                ),
                verify="kubectl describe nodes | grep nvidia.com/gpu",
            ),
        ),
    )


@check("GD631", "k8s-device-plugin-not-registered", stage=Stage.CONTAINER, explains=(_NOT_STARTED,))
def k8s_device_plugin_not_registered(facts: Facts) -> Iterator[Found]:
    """The node does not tell Kubernetes of its GPUs.

    What it looks at: in a pasted text, a pod that waits for nvidia.com/gpu while the node's capacity has none of it.

    Why it matters: the device plugin registers the GPUs with the kubelet; without it none can be given to a pod.

    How to fix: deploy NVIDIA's device plugin, and read its log.

    Source: Kubernetes documentation, 'Schedule GPUs'.
    """
    waits = said(facts, "k8s-insufficient", "k8s-no-capacity", settle=_NODES)
    if not facts.text.said("k8s-no-capacity"):
        raise left_open(_NODES)
    yield Found(
        message="The node offers no nvidia.com/gpu.",
        proof=lines(waits),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Deploy NVIDIA's device plugin (or the GPU operator), and read its log on that node",
                steps=(_PLUGIN,),
                verify="kubectl describe nodes | grep nvidia.com/gpu",
            ),
        ),
    )
