"""Containers that are not started."""

_DRIVER = ("container-host-driver-broken", "driver-library-mismatch", "driver-module-not-loaded", "driver-missing")
_BROKEN = (*_DRIVER[:1], "xid79-fell-off-bus", "driver-rminit-failed", "gpu-needs-reset", "cuinit-uvm-device-missing")

CLUES: dict[str, tuple[str, ...]] = {
    "no-gpu-device-driver": ("container-toolkit-missing", "container-snap-docker", "container-docker-desktop-linux"),
    "ngc-no-driver": (
        "container-no-gpus-flag", "container-toolkit-missing", "container-host-driver-broken", "container-visible-devices-wrong",
        "container-capabilities-without-compute", "wsl-driver-toolkit-mismatch",
    ),
    "container-hook-failed": (
        "container-driver-too-old", "container-host-driver-broken", "container-cgroupv2-unsupported", "container-ldconfig-path",
        "container-rootless-cgroups", "container-toolkit-too-old", "container-driver-root-wrong", "container-snap-docker",
        "container-visible-devices-wrong", "wsl-driver-toolkit-mismatch", "container-docker-desktop-linux",
        "container-image-has-driver-files", "container-toolkit-missing", "driver-library-mismatch", "cuda-compat-unsupported",
        *_BROKEN, "no-nvidia-gpu", "lsm-denied", "cdi-spec-stale", "device-nodes-missing", "container-no-gpus-flag",
    ),
    "container-loses-gpu": ("container-cgroup-devices-lost", "xid79-fell-off-bus", "gpu-needs-reset"),
    "container-driver-not-loaded": ("container-host-driver-broken", "wsl-driver-toolkit-mismatch", "container-driver-root-wrong"),
    "container-no-nvml": (
        "container-host-driver-broken", "container-snap-docker", "container-docker-desktop-linux", "container-driver-root-wrong",
        "wsl-driver-toolkit-mismatch", "container-ldconfig-path",
    ),
    "container-compat": ("cuda-compat-unsupported", "driver-library-mismatch", "container-host-driver-broken"),
    "container-driver-timeout": (*_BROKEN[:1], "container-toolkit-too-old"),
    "container-driver-request": (
        "container-host-driver-broken", "wsl-driver-toolkit-mismatch", "container-driver-root-wrong", "container-toolkit-too-old",
        "container-rootless-cgroups",
    ),
    "container-nvml-refused": ("container-driver-root-wrong", "container-host-driver-broken", "lsm-denied"),
    "container-wsl-no-adapter": ("wsl-driver-toolkit-mismatch", "no-nvidia-gpu", "container-host-driver-broken"),
    "container-driver-answers": (*_BROKEN, "container-rootless-cgroups"),
    "container-rules-fail": ("container-rootless-cgroups", "container-toolkit-too-old", "container-cgroupv2-unsupported"),
    "container-ldcache": ("container-ldconfig-path", "container-toolkit-too-old"),
    "container-mount-uvm": ("cuinit-uvm-device-missing", "container-host-driver-broken"),
    "container-mount-wsl": ("container-toolkit-too-old", "wsl-driver-toolkit-mismatch", "container-host-driver-broken"),
    "container-cgroup-mount": ("container-cgroupv2-unsupported", "container-rootless-cgroups", "container-toolkit-too-old"),
    "container-no-dxcore": ("container-snap-docker", "wsl-driver-toolkit-mismatch", "container-toolkit-too-old"),
    "container-cli": ("container-host-driver-broken", "container-toolkit-too-old", "container-runtime-not-default"),
    "nvidia-smi-not-inside": (
        "container-no-gpus-flag", "container-toolkit-missing", "container-visible-devices-wrong", "container-snap-docker",
        "container-docker-desktop-linux", "container-capabilities-without-compute", "container-rootless-cgroups",
        "container-runtime-not-default",
    ),
    "hook-called-directly": ("container-runtime-not-default", "container-toolkit-missing"),
    "start-is-denied": ("lsm-denied", "container-rootless-cgroups", "device-node-permission"),
    "nvidia-docker-absent": ("container-toolkit-missing",),
    "nvidia-docker-plugin-down": ("container-toolkit-missing", "container-toolkit-too-old"),
    "compose-too-old": ("container-toolkit-too-old", "container-no-gpus-flag"),
    "cdi-spec-not-made": ("container-host-driver-broken", "driver-missing", "driver-library-mismatch", "driver-libcuda-not-on-path"),
    "ngc-gpu-too-new": ("gpu-too-new-for-build",),
    "ngc-gpu-unsupported": ("gpu-too-new-for-build", "gpu-compute-capability-too-old"),
    "cdi-unresolved": ("container-toolkit-missing", "container-visible-devices-wrong", "container-rootless-cgroups"),
    "cdi-no-vendor": ("container-toolkit-missing", "no-nvidia-gpu", "driver-missing", "amd-gpu"),
    "cdi-unsupported": ("container-toolkit-missing", "container-toolkit-too-old"),
    "cdi-file-gone": ("cdi-spec-stale", "container-toolkit-too-old", "container-driver-root-wrong"),
    "driver-root-lacks-files": ("container-driver-root-wrong",),
    "device-node-not-given": ("device-nodes-missing", "container-host-driver-broken", "driver-module-not-loaded"),
    "no-gpus-option": ("container-toolkit-too-old",),
    "toolkit-not-fetched": ("container-toolkit-missing", "container-toolkit-too-old"),
    "k8s-no-runtime": ("container-toolkit-missing", "container-runtime-not-default"),
    "k8s-plugin-no-devices": ("container-runtime-not-default", "container-host-driver-broken", "container-toolkit-missing"),
    "k8s-insufficient": (
        "k8s-device-plugin-not-registered", "container-runtime-not-default", "container-toolkit-missing",
        "container-host-driver-broken",
    ),
}  # fmt: skip
