"""What a text must name before it can be about a cause, whatever else it reads like: no notebook's kernel without a notebook."""

from __future__ import annotations

from collections.abc import Iterable

from ..facts import Alike
from ..patterns import Pattern

_BY_BEGINNING = (
    ("keras-backend", Pattern(r"(?i)keras")),
    ("jupyter-kernel", Pattern(r"(?i)jupyter|notebook|kernel|ipykernel|ipython|vs ?code|spyder|colab")),
    ("colab-", Pattern(r"(?i)colab|/content/|runtime|kaggle")),
    ("wsl", Pattern(r"(?i)wsl|windows|microsoft|/mnt/c/")),
    ("k8s-", Pattern(r"(?i)kube|k8s|k3s|\bpods?\b|cluster|nvidia\.com/gpu|daemonset|device[ -]plugin|operator|openshift|集群")),
    ("mig-", Pattern(r"MIG|(?i:multi-instance|\bmig\b)")),
    ("apptainer-", Pattern(r"(?i)apptainer|singularity|\.sif\b|--nv\b")),
    ("protobuf-", Pattern(r"(?i)protobuf|protoc|google|descriptor|_pb2")),
    ("numpy-", Pattern(r"(?i)numpy|_ARRAY_API|ndarray|multiarray")),
    ("amd-gpu", Pattern(r"(?i)\bamd|radeon|\brx ?\d|rocm|\bhip\b|vega|ryzen|\bati\b|gfx\d|instinct")),
    ("nccl-", Pattern(r"(?i)nccl|all-?reduce|distributed|rank|multi|several|two|both|nodes?\b|gpus|cards|p2p|peer|pair|bridge|nvlink|\bddp|fsdp|horovod|collective|第二|多卡|双卡|\b[2-8] ?x\b")),
    ("tf-config-", Pattern(r"(?i)TF_CONFIG|worker|cluster|chief|grpc|distribut|strategy")),
)  # fmt: skip
"""How the names of causes begin, and the words of which one must stand in the text."""


def unnamed(found: Iterable[Alike], texts: Iterable[str]) -> set[str]:
    """The causes that a text reads like and whose matter it does not name."""
    whole = "\n".join(texts)
    asked = ((one.cause, pattern) for one in found for begins, pattern in _BY_BEGINNING if one.cause.startswith(begins))
    return {cause for cause, pattern in asked if not pattern.search(whole)}
