"""The very lines by which a container, a pod or a job is started with GPUs."""

from __future__ import annotations

import re

from gpudoctor.facts import Facts
from gpudoctor.findings import Fix

_INSIDE = "nvidia-smi -L, inside the container"
_COMPOSE = (
    "services:",
    "  SERVICE:",
    "    deploy:",
    "      resources:",
    "        reservations:",
    "          devices:",
    "            - driver: nvidia",
    "              count: all",
    "              capabilities: [gpu]",
)
_POD = (
    "spec:",
    "  containers:",
    "    - name: CONTAINER",
    "      resources:",
    "        limits:",
    "          nvidia.com/gpu: 1",
)
_LINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "docker": ("docker run --gpus all …", ("docker run --rm -it --gpus all IMAGE",)),
    "podman": (
        "podman run --device nvidia.com/gpu=all …",
        ("podman run --rm -it --device nvidia.com/gpu=all --security-opt=label=disable IMAGE",),
    ),
    "containerd": ("nerdctl run --gpus all …", ("nerdctl run --rm -it --gpus all IMAGE",)),
    "kubernetes": ("resources.limits: nvidia.com/gpu: 1", _POD),
    "lxc": ("lxc config device add CONTAINER gpu gpu", (
        "lxc config set CONTAINER nvidia.runtime=true",
        "lxc config device add CONTAINER gpu gpu",
        "lxc restart CONTAINER",
    )),
    "enroot": (
        "NVIDIA_VISIBLE_DEVICES=all, for enroot's hook 98-nvidia.sh",
        ("NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility enroot start CONTAINER",),
    ),
}  # fmt: skip
"""Kind of container -> in a word, and the lines."""


def with_gpus(container: str) -> tuple[Fix, ...]:
    """How a container of this kind gets GPUs."""
    how, steps = _LINES.get(container, ("", ()))
    first = Fix(
        kind="advice",
        risk="safe",
        summary="Start the container with GPUs"
        + (f": {how}" if how else "")
        + "; it needs the NVIDIA container toolkit on the host",
        steps=steps,
        verify=_INSIDE,
    )
    return (first, _in_compose(_COMPOSE)) if container == "docker" else (first,)


def _in_compose(steps: tuple[str, ...]) -> Fix:
    return Fix(
        kind="advice", risk="safe", summary="Where docker compose starts it: in its file", steps=steps, verify=_INSIDE
    )


def with_variable(container: str, name: str, value: str, *more: str) -> tuple[Fix, ...]:
    """How a container of this kind is started with a variable that NVIDIA's runtime reads; `more` goes with docker run."""
    summary = f"Start the container again with {name}={value}"
    options = " ".join(more)
    if container == "docker":
        steps: tuple[str, ...] = (f"docker run --rm -it {options} -e {name}={value} IMAGE",)
        compose = ("services:", "  SERVICE:", "    environment:", f"      {name}: {value}")
        other: tuple[Fix, ...] = (_in_compose(compose),)
    elif container == "kubernetes":
        steps = ("spec:", "  containers:", "    - name: CONTAINER", "      env:", f"        - name: {name}", f'          value: "{value}"')  # fmt: skip
        other = ()
    else:
        steps, other = (f"{container} run --rm -it -e {name}={value} IMAGE",) if container == "podman" else (), ()
    return (Fix(kind="advice", risk="safe", summary=summary, steps=steps, verify=_INSIDE), *other)


def with_shared_memory(container: str) -> tuple[Fix, ...]:
    """How a container of this kind gets more shared memory."""
    if container == "kubernetes":
        steps: tuple[str, ...] = _SHARED_POD
    else:
        engine = container if container in ("podman", "docker") else "docker"
        gpus = "--device nvidia.com/gpu=all" if engine == "podman" else "--gpus all"
        steps = (f"{engine} run --rm -it {gpus} --shm-size=1g IMAGE",)
    first = Fix(
        kind="advice",
        risk="safe",
        summary=f"Start the {container} container with more shared memory (docker run --shm-size=1g …)",
        steps=steps,
        verify="df -h /dev/shm && gpudoctor check",
    )
    compose = ("services:", "  SERVICE:", "    shm_size: 1gb")
    return (first, _in_compose(compose)) if container == "docker" else (first,)


_SHARED_POD = (
    "spec:",
    "  containers:",
    "    - name: CONTAINER",
    "      volumeMounts:",
    "        - {name: shm, mountPath: /dev/shm}",
    "  volumes:",
    "    - {name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}",
)


def again(container: str, facts: Facts) -> tuple[Fix, ...]:
    """How a container that lost its devices gets them back, and keeps them."""
    host = facts.system.hostname
    name = host if isinstance(host, str) and re.fullmatch(r"[0-9a-f]{12}", host) else "CONTAINER"
    restart = {"kubernetes": f"kubectl delete pod {host if isinstance(host, str) else 'POD'}"}
    first = Fix(
        kind="advice",
        risk="safe",
        summary="Start it again, on the host",
        steps=(restart.get(container, f"{'podman' if container == 'podman' else 'docker'} restart {name}"),),
        verify="nvidia-smi, inside the container",
    )
    return (first, _LASTING)


_LASTING = Fix(
    kind="advice",
    risk="needs root",
    summary="To keep it from coming back, on the host: let systemd know the devices, or hand them over by the Container Device "
    "Interface, which a daemon-reload does not undo",
    steps=(
        "sudo nvidia-ctk system create-dev-char-symlinks --create-all",
        "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
        "docker run --rm -it --device nvidia.com/gpu=all IMAGE",
    ),
    verify="sudo systemctl daemon-reload, on the host; then nvidia-smi, inside the container",
)
