"""Collectives that fail or hang."""

_ANY = (
    "nccl-p2p-iommu-acs", "nccl-shm-too-small", "nccl-wrong-interface", "p2p-unsupported-geforce", "nccl-nvls-fabric-manager",
    "fabric-manager-not-running", "nccl-too-old-for-gpu", "multi-gpu-topology-no-p2p", "nccl-unavailable-windows",
    "gpu-memory-held-by-other-process", "driver-too-old", "xid79-fell-off-bus",
)  # fmt: skip


def _first(*names: str) -> tuple[str, ...]:
    return (*names, *(n for n in _ANY if n not in names))


_WAITS = ("tf-config-address-unreachable", "tf-config-localhost", "nccl-wrong-interface", "tf-config-port-taken")


CLUES: dict[str, tuple[str, ...]] = {
    "nccl-shm-other": ("nccl-shm-too-small", "nccl-wrong-interface"),
    "gloo-not-connected": ("nccl-wrong-interface",),
    "nccl-duplicate-gpu": ("mig-single-instance-limit", "cuda-visible-devices-wrong"),
    "nccl-versions-differ": ("cu12-cu13-wheel-clash", "cuda-lib-preloaded-by-other-package"),
    "nccl-driver-old": ("driver-too-old", "container-driver-too-old"),
    "nccl-lacks-driver": ("driver-missing", "driver-libcuda-not-on-path", "container-no-gpus-flag", "container-capabilities-without-compute"),
    "nccl-nvlink-without-p2p": ("nvlink-down", "fabric-manager-not-running", "xid-hardware-fault", "nccl-p2p-iommu-acs"),
    "nccl-no-transport": ("nccl-wrong-interface", "nccl-shm-too-small", "nccl-p2p-iommu-acs"),
    "nccl-ipc-failed": ("nccl-p2p-iommu-acs", "p2p-unsupported-geforce", "mig-single-instance-limit", "gpu-exclusive-busy"),
    "nccl-imex": ("nccl-nvls-fabric-manager", "fabric-manager-not-running"),
    "nccl-bind-failed": ("nccl-wrong-interface",),
    "nccl-ib-failed": ("nccl-wrong-interface", "nccl-p2p-iommu-acs"),
    "nccl-peer-gone": _first("nccl-wrong-interface", "nccl-shm-too-small"),
    "nccl-cuda-failure": _first("nccl-nvls-fabric-manager", "p2p-unsupported-geforce", "gpu-memory-held-by-other-process"),
    "nccl-connect-failed": ("nccl-wrong-interface", "nccl-p2p-iommu-acs"),
    "nccl-fabric-not-ready": ("fabric-manager-not-running", "fabric-manager-version-mismatch", "nccl-nvls-fabric-manager"),
    "nccl-no-memory": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "nccl-shm-too-small"),
    "peer-copies-wrong": ("nccl-p2p-iommu-acs", "p2p-unsupported-geforce"),
    "several-spoilt-said": ("nccl-p2p-iommu-acs", "p2p-unsupported-geforce", "multi-gpu-topology-no-p2p"),
    "peer-refused": ("p2p-unsupported-geforce", "multi-gpu-topology-no-p2p", "nccl-p2p-iommu-acs"),
    "nccl-system-error": ("nccl-shm-too-small", "nccl-wrong-interface", "nccl-p2p-iommu-acs"),
    "nccl-cuda-error": _first(
        "nccl-nvls-fabric-manager", "fabric-manager-not-running", "p2p-unsupported-geforce", "nccl-too-old-for-gpu",
        "gpu-memory-held-by-other-process",
    ),
    "bus-error": ("nccl-shm-too-small",),
    "shm-called-small": ("nccl-shm-too-small",),
    "no-device-function": ("nccl-too-old-for-gpu", "gpu-too-new-for-build", "gpu-compute-capability-too-old"),
    "nccl-error": _ANY,
    "server-not-started": ("tf-config-port-taken",),
    "cluster-no-way": ("tf-config-address-unreachable", "tf-config-proxy", "tf-config-localhost", "tf-config-host-unresolvable"),
    "cluster-peer": ("tf-config-proxy", "tf-config-address-unreachable"),
    "nccl-op-absent": ("nccl-unavailable-windows", "tf-cpu-only-package"),
    "collective-hangs": _ANY,
    "hangs-off-nvlink": ("nccl-p2p-iommu-acs", "p2p-unsupported-geforce", "multi-gpu-topology-no-p2p", "nccl-shm-too-small"),
    "workers-wait-said": _WAITS,
    "session-waits": _WAITS,
    "chief-missing-said": ("tf-config-invalid", "tf-config-address-unreachable"),
    "mirrored-on-windows": ("nccl-unavailable-windows",),
}  # fmt: skip
