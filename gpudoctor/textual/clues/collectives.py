"""Collectives that fail or hang."""

_ANY = (
    "nccl-p2p-iommu-acs", "nccl-shm-too-small", "nccl-wrong-interface", "p2p-unsupported-geforce", "nccl-nvls-fabric-manager",
    "fabric-manager-not-running", "nccl-too-old-for-gpu", "multi-gpu-topology-no-p2p", "nccl-unavailable-windows",
    "gpu-memory-held-by-other-process", "driver-too-old", "xid79-fell-off-bus",
)  # fmt: skip


def _first(*names: str) -> tuple[str, ...]:
    return (*names, *(n for n in _ANY if n not in names))


CLUES: dict[str, tuple[str, ...]] = {
    "nccl-shm-other": ("nccl-shm-too-small", "nccl-wrong-interface"),
    "nccl-connect-failed": ("nccl-wrong-interface", "nccl-p2p-iommu-acs"),
    "nccl-fabric-not-ready": ("fabric-manager-not-running", "fabric-manager-version-mismatch", "nccl-nvls-fabric-manager"),
    "nccl-no-memory": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "nccl-shm-too-small"),
    "peer-refused": ("p2p-unsupported-geforce", "multi-gpu-topology-no-p2p", "nccl-p2p-iommu-acs"),
    "nccl-system-error": ("nccl-shm-too-small", "nccl-wrong-interface", "nccl-p2p-iommu-acs"),
    "nccl-cuda-error": _first(
        "nccl-nvls-fabric-manager", "fabric-manager-not-running", "p2p-unsupported-geforce", "nccl-too-old-for-gpu",
        "gpu-memory-held-by-other-process",
    ),
    "bus-error": ("nccl-shm-too-small",),
    "no-device-function": ("nccl-too-old-for-gpu", "gpu-too-new-for-build", "gpu-compute-capability-too-old"),
    "nccl-error": _ANY,
    "nccl-op-absent": ("nccl-unavailable-windows", "tf-cpu-only-package"),
    "collective-hangs": _ANY,
    "mirrored-on-windows": ("nccl-unavailable-windows",),
}  # fmt: skip
