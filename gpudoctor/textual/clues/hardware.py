"""GPUs that fault."""

_NO_ANSWER = ("xid79-fell-off-bus", "xid119-gsp-timeout", "gpu-needs-reset", "xid-hardware-fault", "psu-insufficient")
CLUES: dict[str, tuple[str, ...]] = {
    "device-handle-unknown": _NO_ANSWER,
    "smi-error": _NO_ANSWER,
    "aer-fatal": ("xid79-fell-off-bus", "pcie-link-degraded", "psu-insufficient"),
    "xid-repair": ("gpu-memory-repair-pending", "ecc-uncorrectable-error"),
    "xid-link": ("nvlink-down", "nvlink-degraded", "xid-hardware-fault", "xid79-fell-off-bus"),
    "xid-other": ("xid-hardware-fault", "xid13-31-43-app-or-gpu-fault"),
    "device-busy": (
        "gpu-exclusive-busy",
        "vgpu-unlicensed",
        "compute-mode-prohibited",
        "gpu-memory-held-by-other-process",
    ),
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
    "machine-resets": ("psu-insufficient", "gpu-throttling-thermal", "xid79-fell-off-bus"),
}
