"""The diagnosis of a pasted text: which causes fit what it shows, what would settle each, and the lines that prove it.

A text tells little, so nearly every check ends unknown. A candidate must fit the deepest thing that the text shows: what
TensorFlow can't open is no matter of the driver, and where cuInit fails no library of CUDA is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from .facts import Facts, Unread, with_fact
from .findings import Candidate, Diagnosis, Evidence, Finding, SymptomRank, Unexplained, Unknown
from .registry import Check

_LIBRARIES = (
    "cuda-libs-missing", "tf-wheel-runpath-gap", "pip-nvidia-libs-not-found", "ld-library-path-not-set",
    "cuda-version-mismatch", "cudnn-wrong-major", "ld-library-path-wrong-toolkit", "wheel-damaged", "cu12-cu13-wheel-clash",
    "cuda-lib-unusable", "sudo-stripped-environment",
)  # fmt: skip
_NOT_HANDED_OVER = (
    "container-no-gpus-flag", "container-visible-devices-wrong", "apptainer-no-nv", "slurm-no-gpu-allocated",
    "colab-cpu-runtime",
)  # fmt: skip
_MODULE = (
    "driver-module-not-loaded", "driver-secure-boot", "driver-nouveau-conflict", "driver-missing", "gpu-bound-to-vfio",
    "optimus-gpu-powered-off", "no-nvidia-gpu",
)  # fmt: skip
_BROKEN_GPU = (
    "xid79-fell-off-bus",
    "driver-rminit-failed",
    "gpu-needs-reset",
    "xid119-gsp-timeout",
    "xid-hardware-fault",
)
_CU_INIT: dict[int, tuple[str, ...]] = {
    34: ("libcuda-stub-loaded",),
    100: (
        "cuda-visible-devices-empty", "cuda-visible-devices-wrong", *_NOT_HANDED_OVER, "device-nodes-missing",
        "device-node-permission", "container-cgroup-devices-lost", *_BROKEN_GPU, "mig-enabled-no-instance", *_MODULE,
        "wsl-libcuda-path", "amd-gpu",
    ),
    101: ("cuda-visible-devices-wrong", "device-node-permission", *_BROKEN_GPU),
    304: ("device-node-permission", "container-cgroup-devices-lost", "address-space-limit", *_NOT_HANDED_OVER),
    802: ("fabric-manager-not-running",),
    803: ("driver-library-mismatch", "cuda-compat-unsupported", "wsl-libcuda-path"),
    804: ("cuda-compat-unsupported",),
    999: (
        "cuinit-uvm-device-missing", "uvm-node-stale-major", "device-node-permission", "container-cgroup-devices-lost",
        *_BROKEN_GPU, "address-space-limit", "wsl-libcuda-path",
    ),
}  # fmt: skip
_NO_LIBCUDA = (
    "driver-missing", "container-no-gpus-flag", "no-nvidia-gpu", "driver-libcuda-not-on-path", "wsl-libcuda-path",
    "container-capabilities-without-compute", *_NOT_HANDED_OVER[1:], "sudo-stripped-environment", "amd-gpu",
)  # fmt: skip
_NVML: dict[int, tuple[str, ...]] = {
    4: ("device-node-permission", "lsm-denied", "container-cgroup-devices-lost"),
    9: _MODULE,
    12: (
        "driver-missing",
        "container-no-gpus-flag",
        "container-capabilities-without-compute",
        "driver-libcuda-not-on-path",
    ),
    15: ("xid79-fell-off-bus",),
    17: ("device-nodes-missing", "container-cgroup-devices-lost", "device-node-permission", "wsl-libcuda-path"),
    18: ("driver-library-mismatch",),
    999: ("container-cgroup-devices-lost", *_BROKEN_GPU, "device-node-permission"),
}
_OPERATION: dict[str, tuple[str, ...]] = {
    "out-of-memory": ("gpu-memory-held-by-other-process",),
    "handle-failed": ("gpu-memory-handle-alloc", "gpu-memory-held-by-other-process", "cudnn-version-too-old"),
    "dnn-absent": ("cudnn-version-too-old", "cudnn-incomplete-install", "gpu-memory-handle-alloc"),
    "code-rejected": ("gpu-too-new-for-build", "driver-too-old-for-ptx"),
}
"""Kind of a line of a program that fails -> the causes that fit it."""
_IMPORT = ("tf-import-broken", "glibc-too-old", "cpu-no-avx", "tf-shadowed", "tf-packages-overlap", "numpy-abi-break", "protobuf-mismatch", "python-32bit")  # fmt: skip
_NOTHING_MORE = (
    "tf-cpu-only-package", "cuda-libs-missing", "cuda-version-mismatch", "container-no-gpus-flag", "driver-missing",
    "cuda-visible-devices-empty", "ld-library-path-not-set", "pip-nvidia-libs-not-found", "tf-wheel-runpath-gap",
    "gpu-compute-capability-too-old", "no-nvidia-gpu", "driver-module-not-loaded", "cudnn-wrong-major",
    "conda-cpu-build", "tf-aarch64-cpu-only", "tf-packages-overlap",
)  # fmt: skip

_LOADER = (
    "TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=dso_loader=1 python3 -c "
    "\"import tensorflow as tf; tf.config.list_physical_devices('GPU')\""
)
_WHEELS = "python3 -m pip list | grep -iE 'nvidia|tensorflow'"
_KERNEL_LOG = "sudo dmesg | grep -iE 'nvrm|xid|nouveau'"
_INSIDE = "nvidia-smi -L  # here, and on the host"
_SETTLES = {
    "cuda-libs-missing": _WHEELS,
    "cuda-version-mismatch": _WHEELS,
    "cudnn-wrong-major": _WHEELS,
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
    **dict.fromkeys(_BROKEN_GPU, _KERNEL_LOG),
}
"""The one command whose output tells whether it is this cause."""
_DEEPEST = ("libcuda-not-found", "cuinit-fails", "cuinit-no-device", "nvidia-smi-fails", "tf-lists-no-gpu")
"""Symptoms of 'no GPU': the first of them that is shown is the one to explain."""


def _fitting(facts: Facts) -> tuple[str, ...]:
    """The causes that fit what the text shows, the likely ones first."""
    lib, tensorflow = facts.driver.libcuda, facts.tensorflow
    nvml = facts.gpu.nvml_error
    by_nvml = _NVML.get(nvml, ()) if isinstance(nvml, int) else ()
    if tensorflow.directory is None:
        return ("tf-not-installed", "tf-shadowed", "python-version-unsupported")
    if lib.path is None:
        return _both(by_nvml, _NO_LIBCUDA)
    if isinstance(lib.init_result, int) and lib.init_result:
        fits = _CU_INIT.get(lib.init_result, _CU_INIT[999])
        if facts.driver.kernel_version is None or tensorflow.said("device-node-absent"):
            fits = (*_NOT_HANDED_OVER, *_MODULE, "device-nodes-missing", "wsl-libcuda-path")
        return _both(by_nvml, _mismatched(facts, fits))
    if by_nvml:
        return by_nvml
    if facts.gpu.devices == ():
        return (*_BROKEN_GPU, *_NOT_HANDED_OVER, "device-nodes-missing", "gpu-bound-to-vfio")
    if tensorflow.loader_ok is False:
        return _libraries(facts)
    if isinstance(tensorflow.import_error, str):
        return _IMPORT
    if not isinstance(tensorflow.libraries, Unread) and tensorflow.libraries:
        return (*_libraries(facts), "driver-missing", "no-nvidia-gpu", "container-no-gpus-flag")
    return _NOTHING_MORE


def _both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Those that fit two things that the text shows; where none does, those that fit the second."""
    return tuple(c for c in first if c in second) or second


def _mismatched(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """A library older than the kernel module was not left behind by an upgrade: it is rather another package's."""
    user, kernel = facts.driver.libcuda.version, facts.driver.kernel_version
    if facts.driver.libcuda.init_result != 803 or not isinstance(user, str) or not isinstance(kernel, str):
        return fits
    older = [int(n) for n in user.split(".")] < [int(n) for n in kernel.split(".")]
    return ("cuda-compat-unsupported", *(f for f in fits if f != "cuda-compat-unsupported")) if older else fits


def _libraries(facts: Facts) -> tuple[str, ...]:
    """Of the libraries' causes those that fit the names, where names are told."""
    picks = facts.tensorflow.libraries
    lost = [] if isinstance(picks, Unread) else [p.soname for p in picks]
    if not lost:
        return _LIBRARIES
    if lost == ["libcusolver.so.11"]:  # which the wheel of 2.21 does not look for where its extra puts it
        return (
            "tf-wheel-runpath-gap",
            *(c for c in _LIBRARIES if c not in ("tf-wheel-runpath-gap", "cudnn-wrong-major")),
        )
    cudnn = [name for name in lost if name.startswith("libcudnn")]
    if len(cudnn) == len(lost):
        return tuple(c for c in _LIBRARIES if c != "cuda-version-mismatch")
    return tuple(c for c in _LIBRARIES if c != "cudnn-wrong-major")


def narrowed(
    facts: Facts,
    diagnosis: Diagnosis,
    findings: Iterable[Finding],
    unknown: tuple[Unknown, ...],
    by_code: dict[str, Check],
) -> Diagnosis:
    """`diagnosis` of a text: one symptom at most stays open, the deepest, with the causes that fit it."""
    ranks = {c.cause: c.rank for c in by_code.values() if c.rank is not None}
    found = [s for s in (*diagnosis.candidates, *(u.symptom for u in diagnosis.unexplained)) if s in ranks]
    no_gpu = next((s for s in _DEEPEST if s in found), None)
    decided = any(_brings_no_gpu(r.cause, by_code, ranks) for r in diagnosis.root_causes)
    if decided:
        return msgspec.structs.replace(diagnosis, candidates={}, unexplained=())
    left = {u.cause: u for u in unknown}
    if no_gpu is not None:
        symptom, fitting = no_gpu, tuple(name for name in _fitting(facts) if name in left)
    elif "op-fails" in found:
        symptom, fitting = "op-fails", _operation(facts)
    else:
        return msgspec.structs.replace(diagnosis, candidates={}, unexplained=())
    checks = {c.cause: c for c in by_code.values()}
    chosen = tuple(_candidate(checks[name], left.get(name)) for name in fitting if name in checks)
    if chosen:
        return msgspec.structs.replace(diagnosis, candidates={symptom: chosen}, unexplained=())
    open_symptom = next(f for f in findings if f.cause == symptom)
    none = Unexplained(symptom=symptom, message=open_symptom.message, proof=open_symptom.proof, ruled_out=())
    return msgspec.structs.replace(diagnosis, candidates={}, unexplained=(none,))


def _candidate(check: Check, unknown: Unknown | None) -> Candidate:
    why, settle = (unknown.why, unknown.settle) if unknown is not None else ("not in this text", None)
    return Candidate(
        code=check.code,
        cause=check.cause,
        title=check.title,
        unknown_because=why,
        settle=_SETTLES.get(check.cause, settle or "gpudoctor check"),
    )


def _operation(facts: Facts) -> tuple[str, ...]:
    """The causes that fit the first failure of a kind that tells something."""
    events = () if isinstance(facts.text.events, Unread) else facts.text.events
    return next((_OPERATION[e.kind] for e in events if e.kind in _OPERATION), ())


def _brings_no_gpu(cause: str, by_code: dict[str, Check], ranks: dict[str, SymptomRank]) -> bool:
    explains = next((c.explains for c in by_code.values() if c.cause == cause), ())
    return any(ranks.get(name) is SymptomRank.NO_GPU for name in explains)


# ------------------------------------------------------------------------------- the lines that prove it


def quoted(facts: Facts, check: Check, finding: Finding) -> Finding:
    """`finding` with the lines of the text as its proof: those of the facts without which it would not be made."""
    numbers = sorted(set(_needed(facts, check, finding)))
    events = {} if isinstance(facts.text.events, Unread) else {e.line: e.text for e in facts.text.events}
    proof = tuple(Evidence(text=events[n], source=f"line {n}") for n in numbers if n in events)[:8]
    return msgspec.structs.replace(finding, proof=proof) if proof else finding


def _needed(facts: Facts, check: Check, finding: Finding) -> Iterator[int]:
    gone = Unread(why="left out")
    for source in () if isinstance(facts.text.sources, Unread) else facts.text.sources:
        if source.fact != "tensorflow.events":
            if not _still(check, with_fact(facts, source.fact, gone), finding):
                yield from source.lines[:3]
            continue
        events = facts.tensorflow.events
        noted = () if isinstance(facts.text.events, Unread) else facts.text.events
        if isinstance(events, Unread) or _still(check, with_fact(facts, source.fact, ()), finding):
            continue
        for kind in dict.fromkeys(e.kind for e in events):
            rest = tuple(e for e in events if e.kind != kind)
            if not _still(check, with_fact(facts, source.fact, rest), finding):
                yield from [n.line for n in noted if n.language == "tensorflow" and n.kind == kind][:3]


def _still(check: Check, facts: Facts, finding: Finding) -> bool:
    """Whether the check says the same of other facts."""
    try:
        return any(one.message == finding.message for one in check.body(facts))
    except Exception:
        return False


__all__ = ["narrowed", "quoted"]
