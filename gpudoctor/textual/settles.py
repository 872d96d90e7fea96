"""The one command whose output tells whether it is this cause, for the causes whose check does not name it itself."""

from __future__ import annotations

from .fitting import BROKEN_GPU

_LOADER = (
    "TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=dso_loader=1 python3 -c "
    "\"import tensorflow as tf; tf.config.list_physical_devices('GPU')\""
)
_WHEELS = "python3 -m pip list | grep -iE 'nvidia|tensorflow'"
_KERNEL_LOG = "sudo dmesg | grep -iE 'nvrm|xid|nouveau'"
_INSIDE = "nvidia-smi -L  # here, and on the host"
SETTLES = {
    "cuda-libs-missing": _WHEELS,
    "cuda-version-mismatch": _WHEELS,
    "cudnn-wrong-major": _WHEELS,
    "cuda-lib-from-other-toolkit": _LOADER,
    "cu12-cu13-wheel-clash": _WHEELS,
    "tf-wheel-runpath-gap": _LOADER,
    "pip-nvidia-libs-not-found": _LOADER,
    "cuda-lib-unusable": _LOADER,
    "ld-library-path-not-set": "find / -name 'libcu*.so*' -not -path '/proc/*' 2>/dev/null",
    "ld-library-path-wrong-toolkit": 'echo "$LD_LIBRARY_PATH"',
    "sudo-stripped-environment": 'echo "$SUDO_USER $LD_LIBRARY_PATH"',
    "wheel-damaged": "gpudoctor check --only wheel-damaged",
    "tf-import-broken": "python3 -c 'import tensorflow'",
    "tf-shadowed": "python3 -c 'import tensorflow; print(tensorflow.__file__)'",
    "tf-packages-overlap": "python3 -m pip list | grep -i tensorflow",
    "conda-cpu-build": "conda list | grep tensorflow",
    "glibc-too-old": "ldd --version",
    "cpu-no-avx": "grep -c avx /proc/cpuinfo",
    "cuda-visible-devices-empty": 'echo "${CUDA_VISIBLE_DEVICES-not set}"',
    "cuda-visible-devices-wrong": 'echo "${CUDA_VISIBLE_DEVICES-not set}"; nvidia-smi -L',
    "container-no-gpus-flag": _INSIDE,
    "container-visible-devices-wrong": 'echo "$NVIDIA_VISIBLE_DEVICES"',
    "container-capabilities-without-compute": 'echo "$NVIDIA_DRIVER_CAPABILITIES"',
    "container-cgroup-devices-lost": _INSIDE,
    "apptainer-no-nv": 'echo "$APPTAINER_NAME $SINGULARITY_NAME"; nvidia-smi -L',
    "slurm-no-gpu-allocated": 'echo "$SLURM_JOB_ID $SLURM_JOB_GPUS"',
    "colab-cpu-runtime": "nvidia-smi -L",
    "device-nodes-missing": "ls -l /dev/nvidia*",
    "device-node-permission": "ls -l /dev/nvidia*; id",
    "cuinit-uvm-device-missing": "ls -l /dev/nvidia-uvm",
    "uvm-node-stale-major": "ls -l /dev/nvidia-uvm; grep nvidia /proc/devices",
    "driver-missing": "nvidia-smi",
    "driver-module-not-loaded": "lsmod | grep nvidia; cat /proc/driver/nvidia/version",
    "driver-nouveau-conflict": "lsmod | grep nouveau",
    "driver-secure-boot": "mokutil --sb-state; sudo dmesg | grep -i nvidia",
    "driver-library-mismatch": "cat /proc/driver/nvidia/version; ldconfig -p | grep libcuda.so.1",
    "cuda-compat-unsupported": 'echo "$LD_LIBRARY_PATH"; ldconfig -p | grep libcuda.so.1',
    "libcuda-stub-loaded": 'echo "$LD_LIBRARY_PATH"; ldconfig -p | grep libcuda',
    "driver-libcuda-not-on-path": "find / -name 'libcuda.so*' -not -path '/proc/*' 2>/dev/null",
    "wsl-libcuda-path": "ls /usr/lib/wsl/lib; ldconfig -p | grep libcuda",
    "gpu-bound-to-vfio": "lspci -nnk -d 10de:",
    "optimus-gpu-powered-off": "lspci -nnk -d 10de:; prime-select query",
    "no-nvidia-gpu": "lspci -nn | grep -i nvidia",
    "amd-gpu": "lspci -nn | grep -iE 'vga|display'",
    "fabric-manager-version-mismatch": "nv-fabricmanager --version; cat /proc/driver/nvidia/version",
    "cuinit-unknown-after-suspend": "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
    "driver-kernel-incompatible": "dkms status; uname -r",
    "wsl-driver-toolkit-mismatch": "wsl.exe --version; docker version",
    "gpu-exclusive-busy": "nvidia-smi -q -d COMPUTE; nvidia-smi",
    "compute-mode-prohibited": "nvidia-smi -q -d COMPUTE",
    "fabric-manager-not-running": "systemctl status nvidia-fabricmanager",
    "mig-enabled-no-instance": "nvidia-smi -L",
    "address-space-limit": "ulimit -v",
    "gpu-memory-held-by-other-process": "nvidia-smi",
    "gpu-memory-handle-alloc": "nvidia-smi",
    "gpu-too-new-for-build": "nvidia-smi --query-gpu=name,compute_cap --format=csv",
    "driver-too-old-for-ptx": "nvidia-smi",
    "cudnn-version-too-old": _WHEELS,
    "cudnn-incomplete-install": _WHEELS,
    "lsm-denied": "sudo dmesg | grep -iE 'denied|apparmor|avc'",
    "tf-cpu-only-package": "python3 -c 'import tensorflow as tf; print(tf.sysconfig.get_build_info())'",
    "tf-aarch64-cpu-only": "uname -m",
    "gpu-compute-capability-too-old": "nvidia-smi --query-gpu=name,compute_cap --format=csv",
    "python-32bit": "python3 -c 'import struct; print(8 * struct.calcsize(\"P\"))'",
    **dict.fromkeys(BROKEN_GPU, _KERNEL_LOG),
}
"""The one command whose output tells whether it is this cause."""
