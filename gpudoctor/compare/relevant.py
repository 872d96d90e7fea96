"""Which changes are losses of themselves, and which can have to do with something that became slower; as data."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from .model import Change, Shift

_MOST = 5
_ALWAYS = r"driver\.(kernel_version|kernel_flavour|libcuda\.version|parameters)|system\.(kernel|container)\b|measurements\.library"
_CARD = r"gpu\.devices\.(power_limit_w|clock\w+max\w*|compute_mode|mig_mode|ecc_mode|vbios\w*|row_remap\w*|recovery_action|name)"
_LINK = r"gpu\.devices\.(pcie|pci_address)|pci\.devices\.(max_)?link|pci\.devices\.(numa|acs|iommu|parent)|measurements\.load\.pcie"
_HOST = r"system\.(cores|cpus|cpu_quota|numa|memory|limit_memlock)|process\.cpus"
_BETWEEN = (
    r"gpu\.devices\.(nvlinks|fabric)|gpu\.pairs|driver\.libcuda\.pairs|nccl\b|environment\S*:NCCL_|system\.shm"
    r"|measurements\.(transport|channels)|python\.distributions\S*:nvidia-nccl|driver\.(fabric_manager|daemons)|system\.kernel_parameters"
)
_TENSORFLOW = r"tensorflow\.(version|build|libraries)|python\.(version|distributions\S*:(tensorflow|nvidia-|keras|numpy))|environment\S*:(TF_|XLA_|CUDA_|OMP_)"

RELEVANT: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"all-reduce|copy-pair", (_BETWEEN, _LINK, _ALWAYS)),
    (r"copy-(host|device|both)|host-to-device|device-to-host|dataset", (_LINK, _HOST, _ALWAYS)),
    (r"\S*latency|numpy-to-tensor", (_HOST, _ALWAYS)),
    (r"training", (_CARD, _BETWEEN, _LINK, _HOST, _ALWAYS)),
    (r"", (_CARD, r"environment\S*:(CUDA_|NVIDIA_)", r"python\.distributions\S*:nvidia-(cublas|cudnn)", _ALWAYS)),
)
"""Kernel -> facts that decide how fast it is, the most telling first; the first row that fits."""


_LOSSES = (
    (r"(pci\.devices|driver\.gpus|gpu\.devices):gpu-\d+$", "removed"),
    (r"gpu\.devices\.nvlinks:", "down"),
    (r"measurements\.load\.pcie_(width|generation):", "down"),
)


def is_loss(one: Change) -> bool:
    """It leaves less than there was: a GPU, links between GPUs in use, lanes of a GPU's link while it works."""
    return any(re.match(fact, one.id) and one.kind == kind for fact, kind in _LOSSES)


def beside(loss: Shift, changes: Iterable[Change]) -> Shift:
    """`loss` with the changes that can have to do with it: of its own GPU, or of no GPU."""
    rows = next(facts for kernel, facts in RELEVANT if re.match(kernel, loss.kernel))
    if loss.backend == "tensorflow":
        rows = (*rows, _TENSORFLOW)
    changes = list(changes)
    found: dict[str, Change] = {}
    for pattern in rows:
        found.update((one.id, one) for one in changes if re.match(pattern, one.id) and _of(loss, one))
    return msgspec.structs.replace(loss, beside=tuple(found.values())[:_MOST])


def _of(loss: Shift, one: Change) -> bool:
    """A change of a GPU counts for what that GPU took part in."""
    return loss.whole or not one.subject.startswith("GPU ") or any(s in loss.where for s in one.subject.split(" and "))
