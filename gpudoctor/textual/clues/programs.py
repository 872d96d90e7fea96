"""Operations of TensorFlow that fail."""

_NO_HANDLE = (
    "gpu-memory-handle-alloc", "tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-too-new-for-build",
    "cudnn-version-too-old", "cudnn-version-mismatch", "driver-too-old",
)  # fmt: skip
_MEMORY = ("gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory")
_FAULT = ("xid13-31-43-app-or-gpu-fault", "gpu-too-new-for-build", "ecc-uncorrectable-error", "gpu-needs-reset")
_PART = ("cudnn-incomplete-install", "ld-library-path-not-set", "pip-nvidia-libs-not-found", "cudnn-wrong-major")

CLUES: dict[str, tuple[str, ...]] = {
    "out-of-memory": (*_MEMORY, "gpu-memory-handle-alloc"),
    "allocator-report": _MEMORY,
    "allocation-refused": ("gpu-memory-held-by-other-process", "tf-preallocates-all-memory", "gpu-oom-model-or-data"),
    "copy-finds-no-room": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "tf-preallocates-all-memory"),
    "torch-out-of-memory": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "tf-preallocates-all-memory"),
    "handle-not-made": _NO_HANDLE,
    "handle-without-memory": _NO_HANDLE[:3],
    "no-algorithm": (*_NO_HANDLE, "gpu-oom-model-or-data", "cudnn-incomplete-install"),
    "dnn-absent": (
        "cudnn-version-too-old", "gpu-memory-handle-alloc", "cudnn-incomplete-install", "cudnn-version-mismatch",
        "tf-preallocates-all-memory", "gpu-too-new-for-build",
    ),
    "cudnn-failed": (
        "gpu-memory-handle-alloc", "gpu-too-new-for-build", "cudnn-version-mismatch", "cudnn-version-too-old",
        "cudnn-dropped-gpu", "tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "driver-too-old",
    ),
    "gemm-failed": (
        "gpu-memory-handle-alloc", "tf-preallocates-all-memory", "gpu-too-new-for-build", "gpu-memory-held-by-other-process",
        "cublas-version-mismatch", "cublas-bug-cuda-11-2",
    ),
    "gemv-failed": (
        "cublas-bug-cuda-11-2", "gpu-memory-handle-alloc", "gpu-too-new-for-build", "cublas-version-mismatch",
        "tf-preallocates-all-memory",
    ),
    "cublas-failed": (
        "gpu-too-new-for-build", "gpu-memory-handle-alloc", "cublas-version-mismatch", "cublas-bug-cuda-11-2",
    ),
    "code-rejected": (
        "gpu-too-new-for-build", "driver-too-old-for-ptx", "gpu-compute-capability-too-old", "xid13-31-43-app-or-gpu-fault",
    ),
    "ptx-rejected": ("gpu-too-new-for-build", "driver-too-old-for-ptx", "xid13-31-43-app-or-gpu-fault"),
    "no-kernel-image": ("gpu-too-new-for-build", "gpu-compute-capability-too-old"),
    "arch-mismatch": ("gpu-compute-capability-too-old", "cudnn-dropped-gpu", "gpu-too-new-for-build"),
    "cudnn-rules": ("cudnn-version-too-old", "cudnn-version-mismatch"),
    "memory-kept": ("tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-oom-model-or-data"),
    "memory-fills": ("tf-preallocates-all-memory", "gpu-oom-model-or-data", "gpu-memory-held-by-other-process"),
    "says-out-of-memory": _MEMORY,
    "says-memory-taken": ("tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-oom-model-or-data"),
    "says-no-holder": ("gpu-memory-held-by-other-process", "tf-preallocates-all-memory"),
    "executor-not-made": (
        "gpu-memory-held-by-other-process", "tf-preallocates-all-memory", "gpu-exclusive-busy", "driver-too-old", "gpu-needs-reset",
    ),
    "cupti-lost": ("ld-library-path-not-set", "cuda-libs-missing", "cuda-version-mismatch"),
    "says-minimum-capability": ("gpu-compute-capability-too-old", "gpu-too-new-for-build"),
    "says-no-libdevice": ("libdevice-missing", "ptxas-missing"),
    "says-visible-overwritten": ("cuda-visible-devices-wrong", "cuda-visible-devices-empty"),
    "exclusive-mode-said": ("gpu-exclusive-busy", "compute-mode-prohibited"),
    "notebook-differs": ("jupyter-kernel-other-environment", "tf-not-installed", "cuda-visible-devices-empty"),
    "some-gpus-only": (
        "gpu-ignored-few-sms", "gpu-compute-capability-too-old", "cuda-visible-devices-wrong",
        "mig-single-instance-limit", "xid79-fell-off-bus", "driver-rminit-failed", "single-gpu-silently",
    ),
    "cudnn-lacks-part": _PART,
    "cudnn-part-on-windows": (*_PART, "cuda-libs-missing"),
    "cudnn-lacks-cublas": ("ld-library-path-not-set", "cuda-libs-missing", "cuda-version-mismatch", "pip-nvidia-libs-not-found"),
    "cudnn-lacks-libcuda": ("wsl-libcuda-path", "driver-libcuda-not-on-path", "cudnn-incomplete-install"),
    "libraries-mixed": (
        "cudnn-version-mismatch", "cuda-lib-from-other-toolkit", "ld-library-path-wrong-toolkit", "cudnn-incomplete-install",
    ),
    "device-unavailable": (
        "gpu-exclusive-busy", "compute-mode-prohibited", "gpu-needs-reset", "gpu-memory-held-by-other-process",
    ),
    "gpu-access-failed": _FAULT,
    "launch-timed-out": _FAULT,
    "host-memory-full": ("cgroup-memory-limit",),
    "killed": ("cgroup-memory-limit",),
    "jit-failed": ("libdevice-missing", "ptxas-missing", "ptxas-too-old", "gpu-too-new-for-build"),
    "layout-of-cpu": ("tf-no-gpu-registered", "tf-cpu-only-package"),
}  # fmt: skip
