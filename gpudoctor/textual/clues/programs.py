"""Operations of TensorFlow that fail."""

_NO_HANDLE = (
    "gpu-memory-handle-alloc", "tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-too-new-for-build",
    "cudnn-version-too-old", "cudnn-version-mismatch", "driver-too-old", "cublas-version-mismatch",
)  # fmt: skip
_MEMORY = ("gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory")
_FAULT = ("xid13-31-43-app-or-gpu-fault", "gpu-too-new-for-build", "ecc-uncorrectable-error", "gpu-needs-reset")
_PART = ("cudnn-incomplete-install", "ld-library-path-not-set", "pip-nvidia-libs-not-found", "cudnn-wrong-major")

_BUSY = ("gpu-exclusive-busy", "compute-mode-prohibited", "cuda-visible-devices-wrong", "gpu-needs-reset")

CLUES: dict[str, tuple[str, ...]] = {
    "context-refused": _BUSY,
    "runtime-not-started": ("driver-too-old", "gpu-too-new-for-build", "cuinit-uvm-device-missing", "gpu-needs-reset"),
    "executor-refused": ("gpu-compute-capability-too-old", "gpu-memory-held-by-other-process", "cuda-visible-devices-wrong", "gpu-exclusive-busy"),
    "allocator-refused": ("driver-too-old", "cuda-version-mismatch"),
    "visible-list-wrong": ("cuda-visible-devices-wrong", "gpu-ignored-few-sms", "mig-single-instance-limit", "gpu-compute-capability-too-old"),
    "nvrtc-builtins-lost": ("cuda-libs-missing", "ld-library-path-not-set", "cuda-lib-from-other-toolkit", "pip-nvidia-libs-not-found"),
    "gpu-index-absent": ("cuda-visible-devices-wrong", "gpu-ignored-few-sms", "gpu-left-out-beside-another", "container-visible-devices-wrong"),
    "platform-not-registered": ("tf-cpu-only-package", "tf-no-gpu-registered", "tf-windows-native-cpu-only", "tf-macos-no-cuda"),
    "jit-compiler-lost": ("driver-library-mismatch", "wsl-libcuda-path", "container-capabilities-without-compute", "driver-missing"),
    "cublas-refused": ("cublas-version-mismatch", "ld-library-path-wrong-toolkit", "cuda-lib-from-other-toolkit", "gpu-too-new-for-build"),
    "cudnn-lacks-function": ("cudnn-version-mismatch", "cudnn-wrong-major", "cudnn-version-too-old", "ld-library-path-wrong-toolkit"),
    "cudnn-differs": ("cudnn-version-too-old", "cudnn-version-mismatch", "cudnn-wrong-major"),
    "cudnn-refused": ("cudnn-version-mismatch", "cudnn-version-too-old", "gpu-too-new-for-build"),
    "fft-failed": (*_MEMORY, "cuda-lib-from-other-toolkit", "gpu-too-new-for-build"),
    "solver-failed": ("gpu-memory-handle-alloc", "tf-preallocates-all-memory", "gpu-too-new-for-build", "gpu-oom-model-or-data"),
    "nvcc-lacks-old": ("gpu-compute-capability-too-old",),
    "mig-name-not-read": ("mig-single-instance-limit", "cuda-visible-devices-wrong"),
    "ptxas-too-old": ("ptxas-too-old", "gpu-too-new-for-build"),
    "ptxas-lacks-old": ("cuda-version-mismatch", "gpu-compute-capability-too-old"),
    "nvcc-lacks-new": ("gpu-too-new-for-build", "cuda-version-mismatch"),
    "gpu-sync-failed": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "xid13-31-43-app-or-gpu-fault", "gpu-too-new-for-build"),
    "out-of-memory": (*_MEMORY, "gpu-memory-handle-alloc"),
    "allocator-report": _MEMORY,
    "resource-exhausted": _MEMORY,
    "allocation-refused": ("gpu-memory-held-by-other-process", "tf-preallocates-all-memory", "gpu-oom-model-or-data"),
    "copy-finds-no-room": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "tf-preallocates-all-memory"),
    "memory-short-told": _MEMORY,
    "memory-grows-told": (*_MEMORY, "host-memory-leak"),
    "host-memory-grows-told": ("host-memory-leak", "cgroup-memory-limit", "gpu-oom-model-or-data"),
    "host-memory-much-told": ("host-memory-leak", "cgroup-memory-limit"),
    "host-memory-short-told": ("cgroup-memory-limit", "host-memory-leak"),
    "takes-much-told": ("tf-preallocates-all-memory", "gpu-oom-model-or-data", "gpu-memory-held-by-other-process"),
    "another-dies-told": ("tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-oom-model-or-data"),
    "memory-kept-told": ("tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-oom-model-or-data"),
    "memory-limit-wanted": ("tf-preallocates-all-memory", "gpu-oom-model-or-data", "gpu-memory-held-by-other-process"),
    "program-finds-no-memory": _MEMORY,
    "torch-out-of-memory": _MEMORY,
    "cuda-out-of-memory": ("gpu-memory-held-by-other-process", "gpu-oom-model-or-data", "tf-preallocates-all-memory"),
    "memory-cures": ("gpu-memory-handle-alloc", "tf-preallocates-all-memory", "gpu-memory-held-by-other-process", "gpu-oom-model-or-data"),
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
    "builds-for-another-cuda": ("cuda-version-mismatch", "cuda-toolkit-missing"),
    "no-kernel-image": ("gpu-too-new-for-build", "gpu-compute-capability-too-old", "driver-too-old-for-ptx"),
    "arch-mismatch": ("gpu-compute-capability-too-old", "cudnn-dropped-gpu", "gpu-too-new-for-build"),
    "cudnn-rules": ("cudnn-version-too-old", "cudnn-version-mismatch"),
    "executor-not-made": (
        "gpu-memory-held-by-other-process", "tf-preallocates-all-memory", "gpu-exclusive-busy", "driver-too-old", "gpu-needs-reset",
    ),
    "cuda-outdated": ("cuda-version-mismatch", "cublas-version-mismatch", "ld-library-path-wrong-toolkit"),
    "torch-without-cuda": ("tf-cpu-only-package", "tf-macos-no-cuda", "conda-cpu-build", "tf-aarch64-cpu-only"),
    "cupti-lost": ("ld-library-path-not-set", "cuda-libs-missing", "cuda-version-mismatch"),
    "busy-said": (*_BUSY[:2], "gpu-memory-held-by-other-process", _BUSY[3]),
    "exclusive-mode-said": ("gpu-exclusive-busy", "compute-mode-prohibited"),
    "cudnn-lacks-part": (*_PART, "cudnn-missing", "wsl-libcuda-path"),
    "cudnn-part-on-windows": (_PART[0], "zlibwapi-missing", *_PART[1:], "cuda-libs-missing", "cudnn-missing", "amd-gpu"),
    "cudnn-lacks-cublas": ("ld-library-path-not-set", "cuda-libs-missing", "cuda-version-mismatch", "pip-nvidia-libs-not-found"),
    "cudnn-lacks-libcuda": ("wsl-libcuda-path", "driver-libcuda-not-on-path", "cudnn-incomplete-install"),
    "libraries-mixed": (
        "cudnn-version-mismatch", "cuda-lib-from-other-toolkit", "ld-library-path-wrong-toolkit", "cudnn-incomplete-install",
        "cudnn-wrong-major",
    ),
    "device-unavailable": (
        "gpu-exclusive-busy", "compute-mode-prohibited", "gpu-needs-reset", "gpu-memory-held-by-other-process",
    ),
    "gpu-access-failed": _FAULT,
    "launch-timed-out": _FAULT,
    "host-memory-full": ("cgroup-memory-limit",),
    "pinned-memory-full": ("wsl-pinned-memory-limit", "cgroup-memory-limit"),
    "killed": ("cgroup-memory-limit", "host-memory-leak"),
    "jit-failed": ("libdevice-missing", "ptxas-missing", "ptxas-too-old", "gpu-too-new-for-build"),
    "layout-of-cpu": ("tf-no-gpu-registered", "tf-cpu-only-package"),
}  # fmt: skip
