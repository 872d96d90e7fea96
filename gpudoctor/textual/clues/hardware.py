"""GPUs that fault."""

_NO_ANSWER = ("xid79-fell-off-bus", "xid119-gsp-timeout", "gpu-needs-reset", "xid-hardware-fault", "psu-insufficient")
_WAITS = ("cpu-starved-input", "single-gpu-silently", "h2d-pageable", "numa-misplaced")
CLUES: dict[str, tuple[str, ...]] = {
    "gsp-history": ("xid119-gsp-timeout", "driver-rminit-failed", "xid79-fell-off-bus"),
    "device-handle-unknown": _NO_ANSWER,
    "smi-error": _NO_ANSWER,
    "aer-fatal": ("xid79-fell-off-bus", "pcie-link-degraded", "psu-insufficient"),
    "xid-repair": ("gpu-memory-repair-pending", "ecc-uncorrectable-error"),
    "sxid-fatal": ("nvlink-down", "xid-hardware-fault", "nvlink-degraded", "xid79-fell-off-bus"),
    "gpu-locked": ("xid13-31-43-app-or-gpu-fault", "xid-hardware-fault", "gpu-needs-reset", "xid79-fell-off-bus"),
    "register-read-bad": ("xid79-fell-off-bus", "driver-rminit-failed", "gpu-needs-reset", "xid-hardware-fault"),
    "xid-link": ("nvlink-down", "nvlink-degraded", "xid-hardware-fault", "xid79-fell-off-bus"),
    "xid-other": ("xid-hardware-fault", "xid13-31-43-app-or-gpu-fault"),
    "device-busy": (
        "gpu-exclusive-busy",
        "vgpu-unlicensed",
        "compute-mode-prohibited",
        "gpu-memory-held-by-other-process",
    ),
    "link-called-slow": ("pcie-link-degraded", "h2d-pageable", "multi-gpu-topology-no-p2p", "p2p-not-used"),
    "power-cap-named": ("gpu-throttling-power", "gpu-throttling-thermal"),
    "thermal-throttle": ("gpu-throttling-thermal", "gpu-throttling-power"),
    "illegal-address": (
        "xid13-31-43-app-or-gpu-fault",
        "gpu-too-new-for-build",
        "ecc-uncorrectable-error",
        "xid79-fell-off-bus",
    ),
    "launch-failed": (
        "xid13-31-43-app-or-gpu-fault",
        "gpu-too-new-for-build",
        "xid79-fell-off-bus",
        "psu-insufficient",
    ),
    "iommu-fault-of-gpu": (
        "nccl-p2p-iommu-acs",
        "xid-hardware-fault",
        "xid13-31-43-app-or-gpu-fault",
        "xid79-fell-off-bus",
    ),
    "wrong-ordinal": (
        "cuda-visible-devices-wrong",
        "mig-single-instance-limit",
        "gpu-ignored-few-sms",
        "xid79-fell-off-bus",
    ),
    "platform-without-devices": (
        "cuda-visible-devices-wrong",
        "cuda-visible-devices-empty",
        "container-no-gpus-flag",
        "mig-single-instance-limit",
        "gpu-compute-capability-too-old",
        "mig-enabled-no-instance",
        "gpu-exclusive-busy",
    ),
    "input-maybe-bound": _WAITS,
    "gpu-underused": _WAITS,
    "strategy-device-absent": (
        "cuda-visible-devices-wrong",
        "single-gpu-silently",
        "gpu-ignored-few-sms",
        "gpu-compute-capability-too-old",
        "mig-single-instance-limit",
    ),
    "driver-blamed": ("driver-too-old", "container-driver-too-old", "driver-too-old-for-ptx"),
    "machine-resets": ("psu-insufficient", "gpu-throttling-thermal", "xid79-fell-off-bus"),
}
