"""Kubernetes: what its events and NVIDIA's device plugin say of GPUs, and what a node itself shows of them."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _engines
from gpudoctor.checks._said import left_open, lines, said
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_NOT_STARTED = "container-does-not-start"
_PLUGIN = "kubectl -n kube-system logs -l name=nvidia-device-plugin-ds"
_NODES = "kubectl describe nodes | grep -A10 Capacity"


_BRINGS = (
    _NOT_STARTED,
    "k8s-device-plugin-not-registered",
    "nvidia-smi-fails",
    "libcuda-not-found",
    "tf-lists-no-gpu",
)


@check(
    "GD630",
    "container-runtime-not-default",
    stage=Stage.CONTAINER,
    explains=_BRINGS,
)
def container_runtime_not_default(facts: Facts) -> Findings:
    """Kubernetes starts its containers without NVIDIA's runtime.

    What it looks at: in a pasted text, that NVIDIA's device plugin does not find NVML in its own container, that pods see
    a GPU only with runtimeClassName or with nvidia as the default runtime, or that libcuda.so.1 or nvidia-smi is not in a pod that asks for a GPU. On a node: that no
    plugin for nvidia.com/gpu is at its kubelet, and that its containerd knows no runtime of NVIDIA; for information.

    Why it matters: the plugin, and every pod that gets a GPU from it, needs NVIDIA's runtime. docker's setting does not
    count where the kubelet uses containerd or CRI-O.

    How to fix: make nvidia the default runtime of the engine that the kubelet uses, or give the pods and the plugin
    runtimeClassName: nvidia; restart the engine, then the plugin.

    Source: NVIDIA/k8s-device-plugin, README, 'Prerequisites' and 'Configure containerd'.
    """
    if not facts.text.is_all:
        return (yield from _no_runtime_for_the_kubelet(facts))
    if needed := facts.text.said("runtime-class-needed"):
        yield Found(
            message="A pod gets NVIDIA's runtime only where it names the runtime class: it is not the default.",
            proof=lines(needed[:1]),
            fixes=(_DEFAULT_RUNTIME,),
        )
        return
    if told := (_said_to_be_needed(facts) or _asked_and_not_inside(facts)):
        yield Found(
            message="What starts the pods is not NVIDIA's runtime: they get no GPU, though the scheduler gives them one.",
            proof=lines(told),
            fixes=(_DEFAULT_RUNTIME,),
            explains=(_NOT_STARTED, "nvidia-smi-fails", "libcuda-not-found", "tf-lists-no-gpu", READS_LIKE_A_FAULT),
        )
        return
    if facts.driver.libcuda.path is None and (plugin := facts.text.said("plugin-named")):
        yield Found(
            message="The driver's library is not in the pod: what starts it is not NVIDIA's runtime.",
            proof=lines((*facts.text.said("library-not-loaded")[:2], *plugin)),
            fixes=(_DEFAULT_RUNTIME,),
            explains=("libcuda-not-found", "tf-lists-no-gpu"),
        )
        return
    by_plugin = tuple(e for e in facts.text.said("pod-lacks-nvml-said") if "plugin" in e.text.lower())
    stated = by_plugin if facts.text.said("cluster-named") else ()
    yield Found(
        message="The device plugin runs without NVIDIA's runtime, and so finds no GPU.",
        proof=lines(stated or said(facts, "k8s-plugin-no-nvml", settle=_PLUGIN)),
        fixes=(_DEFAULT_RUNTIME,),
        explains=(*_BRINGS, READS_LIKE_A_FAULT),
    )


def _said_to_be_needed(facts: Facts) -> tuple[TextEvent, ...]:
    """Somebody says that pods see GPUs only with NVIDIA's runtime as the default one."""
    needed = facts.text.said("default-runtime-needed")
    return needed if facts.text.said("cluster-named") else ()


_LIMIT = Pattern(r"nvidia\.com/gpu[\"']?: ")
"""As a pod asks; podman's device has a '='."""


def _asked_and_not_inside(facts: Facts) -> tuple[TextEvent, ...]:
    """A pod asks for GPUs, was started, and nvidia-smi, which the runtime mounts, is not inside."""
    asked = tuple(e for e in facts.text.said("gpus-asked") if _LIMIT.search(e.text))
    pipeline = facts.text.said("gpu-of-the-pod-asked")
    absent = facts.text.said("nvidia-smi-not-inside") or (facts.text.said("smi-not-found") if pipeline else ())
    asked = asked or pipeline
    if not asked or not absent or facts.text.said("runtime-class-named", "run-without-gpus"):
        return ()
    return (*asked[:1], *absent[:1])


_DEFAULT_RUNTIME = Fix(
    kind="command",
    risk="needs root",
    summary="On each node with GPUs: make it the default runtime (docker or crio instead of containerd, where used)",
    steps=(
        "sudo nvidia-ctk runtime configure --runtime=containerd --set-as-default",
        "sudo systemctl restart containerd",
        "kubectl -n kube-system delete pod -l name=nvidia-device-plugin-ds",
    ),
    verify="kubectl describe nodes | grep nvidia.com/gpu",
)


@check("GD631", "k8s-device-plugin-not-registered", stage=Stage.CONTAINER, explains=(_NOT_STARTED,))
def k8s_device_plugin_not_registered(facts: Facts) -> Iterator[Found]:
    """The node does not tell Kubernetes of its GPUs.

    What it looks at: in a pasted text, a pod that waits for nvidia.com/gpu while the node's capacity has none of it, or while
    none of the nodes has any left and nothing shows that one ever had. On a node:
    the sockets of plugins at its kubelet and what they registered there; for information.

    Why it matters: the device plugin registers the GPUs with the kubelet; without it none can be given to a pod.

    How to fix: deploy NVIDIA's device plugin, and read its log.

    Source: Kubernetes documentation, 'Schedule GPUs'.
    """
    if not facts.text.is_all:
        yield from _no_plugin(facts)
        return
    if refused := facts.text.said("k8s-plugin-refused"):
        yield Found(
            message="NVIDIA's device plugin could not register at the kubelet: one of them is too old for the other, or it is not allowed to.",
            proof=lines(refused),
            fixes=(_DEPLOY,),
        )
        return
    waits = said(facts, "k8s-insufficient", "k8s-no-capacity", settle=_NODES)
    on_all = [e for e in waits if e.values.get("nodes", "") == e.values.get("without")]
    if not facts.text.said("k8s-no-capacity") and (not on_all or facts.text.said("k8s-capacity")):
        raise left_open(_NODES)
    yield Found(
        message="The node offers no nvidia.com/gpu.",
        proof=lines(waits),
        fixes=(_DEPLOY,),
    )


_DEPLOY = Fix(
    kind="advice",
    risk="safe",
    summary="Deploy NVIDIA's device plugin (or the GPU operator), and read its log on that node",
    steps=(
        "helm repo add nvdp https://nvidia.github.io/k8s-device-plugin",
        "helm upgrade -i nvdp nvdp/nvidia-device-plugin --namespace nvidia-device-plugin --create-namespace",
        _PLUGIN,
    ),
    verify="kubectl describe nodes | grep nvidia.com/gpu",
)


# ------------------------------------------------------------------------------- what a node shows


_PLACE = "/var/lib/kubelet/device-plugins"


def _unregistered(facts: Facts) -> tuple[str, ...]:
    """The sockets at this node's kubelet, where none is of NVIDIA; not applicable where one is, or without a kubelet."""
    _engines.on_host(facts)
    sockets = known(facts.container.kubelet_plugins)
    if sockets is None:
        raise NotApplicable("this is no node of a Kubernetes cluster")
    if any("nvidia" in name for name in sockets):
        raise NotApplicable("a plugin of NVIDIA is at the kubelet")
    if any("nvidia" in name for name in known(facts.container.kubelet_resources) or ()):
        raise NotApplicable("a plugin has registered GPUs at the kubelet")
    return sockets


def _no_plugin(facts: Facts) -> Iterator[Found]:
    sockets = _unregistered(facts)
    yield Found(
        message="This node has GPUs, and no device plugin tells its kubelet of them.",
        proof=(
            Evidence(text=f"sockets there: {', '.join(sockets) or 'none'}", source=_PLACE),
            Evidence(text="no resource nvidia.com/gpu is registered", source=f"{_PLACE}/kubelet_internal_checkpoint"),
        ),
        fixes=(_DEPLOY,),
        level=Level.INFO,
    )


def _no_runtime_for_the_kubelet(facts: Facts) -> Findings:
    _unregistered(facts)
    if "crio" in _engines.tools(facts):
        raise NotApplicable("CRI-O is installed, and the kubelet may use it")
    runtimes = known(facts.container.kubelet_runtimes)
    if runtimes is None:
        raise NotApplicable("containerd has no settings here")
    if any("nvidia" in name for name in runtimes) or _engines.describes_gpus(facts):
        return "containerd knows a runtime of NVIDIA, or a CDI specification names the GPUs"
    yield Found(
        message="The containerd of this node knows no runtime of NVIDIA, by which a pod could get a GPU.",
        proof=(
            Evidence(text=f"runtimes: {', '.join(runtimes) or 'only the default one'}", source="containerd's settings"),
            Evidence(text="no plugin for nvidia.com/gpu is at the kubelet", source=_PLACE),
        ),
        fixes=(_DEFAULT_RUNTIME,),
        level=Level.INFO,
    )
