"""The driver: its kernel module, its nodes, its services."""

_NOT_THERE = (
    "driver-module-not-loaded", "driver-kernel-incompatible", "driver-secure-boot", "driver-nouveau-conflict", "driver-missing",
    "gpu-bound-to-vfio", "optimus-gpu-powered-off", "no-nvidia-gpu", "amd-gpu",
)  # fmt: skip
_NO_GPU_FOR_IT = (
    "driver-nouveau-conflict", "gpu-bound-to-vfio", "optimus-gpu-powered-off", "driver-rminit-failed", "no-nvidia-gpu",
    "gpu-compute-capability-too-old", "driver-too-old", "amd-gpu",
)  # fmt: skip
_NOT_BUILT = ("driver-kernel-incompatible", "driver-module-not-loaded")

CLUES: dict[str, tuple[str, ...]] = {
    "gpu-unclaimed": ("driver-missing", "driver-module-not-loaded", "driver-kernel-incompatible", "driver-secure-boot"),
    "headers-not-offered": ("driver-module-not-loaded", "driver-kernel-incompatible"),
    "nouveau-said": ("driver-missing", "driver-nouveau-conflict", "driver-module-not-loaded"),
    **dict.fromkeys(
        ("driver-versions-differ", "libcuda-version", "kernel-version"),
        ("driver-library-mismatch", "cuda-compat-unsupported", "wsl-libcuda-path"),
    ),
    "versions-reported": ("driver-library-mismatch", "cuda-compat-unsupported"),
    "gpu-held-by": ("driver-nouveau-conflict", "gpu-bound-to-vfio"),
    "registers-claimed": ("driver-nouveau-conflict", "gpu-bound-to-vfio", "driver-rminit-failed"),
    "nouveau-computes": ("driver-nouveau-conflict", "driver-missing"),
    "probe-not-called": ("driver-nouveau-conflict", "gpu-bound-to-vfio", "optimus-gpu-powered-off"),
    "gpu-not-supported": ("driver-too-old", "driver-rminit-failed", "gpu-compute-capability-too-old"),
    "probe-failed": ("driver-rminit-failed", "driver-too-old", "gpu-compute-capability-too-old", "xid79-fell-off-bus"),
    "module-finds-no-gpu": _NO_GPU_FOR_IT,
    "module-no-device": _NO_GPU_FOR_IT,
    "module-not-found": ("driver-module-not-loaded", "driver-missing", "driver-kernel-incompatible"),
    "module-no-modules": ("driver-module-not-loaded", "driver-missing", "driver-kernel-incompatible"),
    "module-unknown-symbol": _NOT_BUILT,
    "module-not-inserted": ("driver-secure-boot", *_NOT_BUILT, "driver-nouveau-conflict"),
    "gpu-does-not-wake": ("optimus-gpu-powered-off", "xid79-fell-off-bus", "driver-rminit-failed"),
    "gpu-does-not-answer": ("optimus-gpu-powered-off", "xid79-fell-off-bus", "driver-rminit-failed"),
    "headers-missing": ("driver-module-not-loaded", "driver-kernel-incompatible"),
    "compiler-differs": ("driver-module-not-loaded", "driver-kernel-incompatible"),
    "no-compiler": ("driver-module-not-loaded", "driver-missing"),
    "build-failed": _NOT_BUILT,
    "smi-does-not-work": _NOT_THERE,
    "module-called-absent": _NOT_THERE,
    "installer-sees-no-gpu": ("no-nvidia-gpu", *_NO_GPU_FOR_IT),
    "installer-can-not-load": ("driver-nouveau-conflict", "driver-secure-boot", *_NOT_BUILT, "no-nvidia-gpu"),
    "package-not-installed": ("driver-kernel-incompatible", "driver-missing", "driver-module-not-loaded"),
    "smi-not-found": (
        "driver-missing", "container-no-gpus-flag", "no-nvidia-gpu", "container-capabilities-without-compute",
        "wsl-libcuda-path", "amd-gpu", "apptainer-no-nv", "colab-cpu-runtime",
    ),
    "apptainer-no-files": ("driver-missing", "driver-module-not-loaded", "no-nvidia-gpu"),
    "module-not-listed": (
        "driver-module-not-loaded", "driver-missing", "driver-kernel-incompatible", "driver-secure-boot", "driver-nouveau-conflict",
        "optimus-gpu-powered-off", "no-nvidia-gpu",
    ),
    "persistenced-finds-none": (*_NOT_THERE, "device-nodes-missing", "driver-rminit-failed"),
    "laptop-gpu-not-started": ("driver-module-not-loaded", "optimus-gpu-powered-off", *_NOT_THERE[1:5]),
    "node-of-gres-absent": ("device-nodes-missing", "driver-module-not-loaded", "driver-missing", "no-nvidia-gpu"),
    "node-does-not-answer": ("cuinit-uvm-device-missing", "driver-rminit-failed", "driver-module-not-loaded"),
    "node-refused": ("device-node-permission", "container-cgroup-devices-lost", "lsm-denied"),
    "module-bad-argument": ("driver-module-not-loaded", "driver-kernel-incompatible", "cuinit-uvm-device-missing", "driver-secure-boot"),
    # what people say
    "other-module-key-rejected": ("driver-secure-boot",),
}  # fmt: skip
