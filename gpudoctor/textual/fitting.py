"""Which causes fit how far TensorFlow came, the likely ones first."""

from __future__ import annotations

import re

from ..facts import Facts, TextEvent, Unread
from ..patterns import Pattern
from . import libraries
from .other_gpus import on_bus

_NOT_HANDED_OVER = (
    "container-no-gpus-flag", "container-visible-devices-wrong", "apptainer-no-nv", "slurm-no-gpu-allocated",
    "colab-cpu-runtime",
)  # fmt: skip
_MODULE = (
    "driver-module-not-loaded", "driver-kernel-incompatible", "driver-secure-boot", "driver-nouveau-conflict", "driver-missing", "gpu-bound-to-vfio",
    "optimus-gpu-powered-off", "no-nvidia-gpu", "amd-gpu",
)  # fmt: skip
BROKEN_GPU = (
    "xid79-fell-off-bus",
    "driver-rminit-failed",
    "gpu-needs-reset",
    "xid119-gsp-timeout",
    "xid-hardware-fault",
)
_STUB = ("libcuda-stub-loaded",)
_OF_LINUX = (
    "cuinit-uvm-device-missing", "uvm-node-stale-major", "device-nodes-missing", "device-node-permission", "container-cgroup-devices-lost",
    "address-space-limit", "wsl-libcuda-path",
)  # fmt: skip
"""What Windows does not have: device nodes, control groups."""
_CU_INIT: dict[int, tuple[str, ...]] = {
    -1: ("libcuda-stub-loaded", "container-no-gpus-flag", "container-visible-devices-wrong"),
    2: ("address-space-limit", "gpu-memory-held-by-other-process"),
    34: ("libcuda-stub-loaded", "container-no-gpus-flag", "container-visible-devices-wrong"),
    46: ("gpu-exclusive-busy", "compute-mode-prohibited"),
    100: (
        "cuda-visible-devices-wrong", "cuda-visible-devices-empty", *_NOT_HANDED_OVER, "device-nodes-missing",
        "device-node-permission", "container-cgroup-devices-lost", *BROKEN_GPU, "mig-enabled-no-instance", *_MODULE,
        "wsl-libcuda-path", "wsl-driver-toolkit-mismatch",
    ),
    101: ("device-node-permission", *BROKEN_GPU, "mig-enabled-no-instance"),
    304: ("device-node-permission", "container-cgroup-devices-lost", "address-space-limit", *_NOT_HANDED_OVER),
    500: ("wsl-driver-toolkit-mismatch", "driver-library-mismatch", "cuda-compat-unsupported", "wsl-libcuda-path"),
    802: ("fabric-manager-not-running", "fabric-manager-version-mismatch", "nccl-nvls-fabric-manager"),
    803: ("driver-library-mismatch", "cuda-compat-unsupported", "wsl-libcuda-path"),
    804: ("cuda-compat-unsupported", "driver-library-mismatch"),
    **dict.fromkeys(range(805, 810), ("mps-daemon-stale",)),
    999: (
        "cuinit-uvm-device-missing", "cuinit-unknown-after-suspend", "uvm-node-stale-major", "device-node-permission", "container-cgroup-devices-lost",
        *BROKEN_GPU, "address-space-limit", "wsl-libcuda-path", "optimus-gpu-powered-off",
    ),
}  # fmt: skip
_NO_LIBCUDA = (
    "driver-missing", "container-no-gpus-flag", "no-nvidia-gpu", "driver-libcuda-not-on-path", "wsl-libcuda-path",
    "container-capabilities-without-compute", "container-ldconfig-path", *_NOT_HANDED_OVER[1:], "sudo-stripped-environment", "amd-gpu",
)  # fmt: skip
_CUT = Pattern(r"libcuda\.so[.\d]*: (?:file too short|invalid ELF header)")
_CUT_SHORT = ("driver-library-damaged", "container-no-gpus-flag", "hpc-login-node", "container-image-has-driver-files")
"""libcuda is there and no library: cut short, or an empty file in the place where a driver is mounted to."""
_NVML: dict[int, tuple[str, ...]] = {
    4: ("device-node-permission", "lsm-denied", "container-cgroup-devices-lost", "container-rootless-cgroups"),
    8: ("psu-insufficient", "driver-rminit-failed"),
    9: _MODULE,
    10: BROKEN_GPU,
    11: ("driver-rminit-failed", "xid-hardware-fault", "xid79-fell-off-bus"),
    12: (
        "driver-missing",
        "container-no-gpus-flag",
        "container-capabilities-without-compute",
        "driver-libcuda-not-on-path",
    ),
    13: ("driver-library-mismatch",),
    14: ("xid-hardware-fault", "driver-rminit-failed"),
    15: ("xid79-fell-off-bus",),
    16: ("gpu-needs-reset", "xid79-fell-off-bus", "xid-hardware-fault"),
    17: (
        "wsl-driver-toolkit-mismatch",
        "device-nodes-missing",
        "container-cgroup-devices-lost",
        "device-node-permission",
        "wsl-libcuda-path",
    ),
    18: ("driver-library-mismatch",),
    999: ("container-cgroup-devices-lost", *BROKEN_GPU, "device-node-permission", "container-rootless-cgroups"),
}
_IMPORT = (
    "tf-import-broken", "glibc-too-old", "cpu-no-avx", "tf-shadowed", "tf-packages-overlap", "numpy-abi-break",
    "protobuf-mismatch", "python-32bit", "msvc-runtime-missing", "python-version-unsupported", "cuda-version-mismatch",
    "cuda-libs-missing", "cuda-lib-unusable", "ld-library-path-not-set", "cudnn-wrong-major",
)  # fmt: skip
_INSTALL = (
    "python-version-unsupported", "python-32bit", "tf-aarch64-no-wheel", "tensorflow-gpu-package-removed", "tf-not-installed",
)  # fmt: skip
_NOTHING_MORE = (
    "tf-cpu-only-package", "cuda-libs-missing", "cuda-version-mismatch", "container-no-gpus-flag", "driver-missing",
    "cuda-visible-devices-empty", "ld-library-path-not-set", "pip-nvidia-libs-not-found", "tf-wheel-runpath-gap",
    "gpu-compute-capability-too-old", "no-nvidia-gpu", "driver-module-not-loaded", "cudnn-wrong-major",
    "conda-cpu-build", "tf-windows-native-cpu-only", "tf-macos-no-cuda", "tf-aarch64-cpu-only", "tf-packages-overlap",
    "tf-no-gpu-registered", "amd-gpu",
)  # fmt: skip

_UNKNOWN_ERROR = 999
"""cuInit's answer."""
DEEPEST = ("libcuda-not-found", "cuinit-fails", "cuinit-no-device", "nvidia-smi-fails", "tf-lists-no-gpu")
"""Symptoms of 'no GPU': the first of them that is shown is the one to explain."""


_PLACES: dict[str, tuple[str, ...]] = {
    "docker": ("container-no-gpus-flag", "container-visible-devices-wrong", "container-cgroup-devices-lost"),
    "kubernetes": ("container-runtime-not-default", "container-no-gpus-flag", "k8s-device-plugin-not-registered"),
    "apptainer": ("apptainer-no-nv",),
    "slurm-job": ("slurm-no-gpu-allocated", "hpc-login-node"),
    "on-a-login-node": ("hpc-login-node", "slurm-no-gpu-allocated"),
    "login-node-said": ("hpc-login-node",),
    "colab": ("colab-cpu-runtime",),
}
"""Where a text comes from -> what is likely there, where no GPU was handed over."""
_ASKED = ("container-capabilities-without-compute", "container-ldconfig-path", "container-visible-devices-wrong")
"""GPUs were asked for when the container was started, and libcuda is not inside."""


def fitting(facts: Facts) -> tuple[str, ...]:
    """The causes that fit what the text shows, the likely ones first; those of the place that it comes from before all."""
    fits = _fitting(facts)
    if (
        facts.text.said("gone-after-suspend")
        and facts.tensorflow.loader_ok is not False
        and not facts.text.said("library-not-loaded")
        and isinstance(facts.driver.libcuda.init_result, Unread)
        and "cuinit-unknown-after-suspend" not in fits
    ):
        fits = (*fits, "cuinit-unknown-after-suspend")  # which lists no GPU either
    if facts.text.said("driver-package-upgraded") and facts.driver.libcuda.init_result == _UNKNOWN_ERROR:
        fits = tuple(dict.fromkeys(("driver-library-mismatch", *fits)))
    if facts.text.said("no-card-told") and facts.driver.libcuda.init_result == _UNKNOWN_ERROR:
        fits = tuple(dict.fromkeys(("no-nvidia-gpu", *fits)))
    if isinstance(facts.driver.kernel_version, str):  # under WSL the kernel's driver tells no version
        fits = tuple(cause for cause in fits if not cause.startswith("wsl-"))
    lost = facts.tensorflow.libraries
    container = facts.system.container
    of_a_pod = container == "kubernetes" and bool(facts.text.said("no-cuda-driver"))
    if (
        "container-no-gpus-flag" not in fits
        or isinstance(facts.driver.libcuda.path, str)
        or (lost and not isinstance(lost, Unread) and not of_a_pod)
    ):
        return fits
    first: list[str] = []
    if isinstance(container, str) and not facts.text.said("on-a-host"):
        asked = gpus_asked(facts)
        wanted = asked and not of_a_pod  # a pod's limit asks the scheduler, not the engine
        first += _PLACES.get(container, ()) if not wanted else _ASKED if container == "docker" else ()
    works = facts.text.said("smi-works") or isinstance(facts.gpu.driver_version, str)
    if not works and (facts.container.platforms == ("colab",) or facts.text.said("talks-of-colab")):
        first += _PLACES["colab"]
    asked_slurm = facts.text.said("slurm-asked")
    for kind in ("slurm-job", "on-a-login-node", "login-node-said"):
        first += _PLACES[kind] if facts.text.said(kind) and not (asked_slurm and works and kind == "slurm-job") else ()
    return tuple(dict.fromkeys((*first, *fits)))


_NEAR = 3
"""Lines between a command and what it prints."""


def gpus_asked(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that ask for GPUs where the container in question is started: not a trial beside it that lists them, nor a command
    beside an editor's or compose's own file that does not ask."""
    works = [e.line for e in facts.text.said("lists-gpus", "gpu")]
    asked = tuple(e for e in facts.text.said("gpus-asked") if not any(0 <= line - e.line <= _NEAR for line in works))
    tried = isinstance(facts.gpu.driver_version, str) or facts.text.said("run-without-gpus", "smi-works")
    if tried:  # a trial beside the one that is in question
        asked = tuple(e for e in asked if not _TRIAL.search(e.text))
    if facts.text.said("devcontainer-named", "compose-file"):
        asked = tuple(e for e in asked if " run " not in e.text)
    return asked


_TRIAL = Pattern(r"\brun\b[^\n]{0,300}(?: nvidia/cuda| ubuntu| debian| fedora| alpine)[^\n]{0,80} nvidia-smi\b")


def _fitting(facts: Facts) -> tuple[str, ...]:
    lib, tensorflow = facts.driver.libcuda, facts.tensorflow
    nvml = facts.gpu.nvml_error
    by_nvml = _NVML.get(nvml, ()) if isinstance(nvml, int) else ()
    if tensorflow.directory is None:
        if facts.text.shows("install-fails"):
            return _INSTALL
        return ("tf-not-installed", "jupyter-kernel-other-environment", "tf-shadowed", "python-version-unsupported")
    if lib.path is None and _CUT.search(str(lib.load_error)):
        return _CUT_SHORT
    if lib.path is None:
        return _both(by_nvml, _NO_LIBCUDA)
    if isinstance(lib.init_result, int) and lib.init_result:
        fits = _CU_INIT.get(lib.init_result, _CU_INIT[999])
        if facts.system.system == "Windows" and facts.system.wsl is not True:
            fits = (*(c for c in fits if c not in _OF_LINUX), "no-nvidia-gpu", "amd-gpu")
            fits = tuple(dict.fromkeys(fits))
        if "CUDA_VISIBLE_DEVICES" in facts.environment.unset:
            fits = tuple(c for c in fits if not c.startswith("cuda-visible-devices"))
        if facts.driver.kernel_version is None or facts.text.said("device-node-absent"):
            stub = _STUB if lib.init_result in (-1, 34) else ()
            inside = (*_NOT_HANDED_OVER[:1], *stub, *_NOT_HANDED_OVER[1:])
            of_a_host = facts.text.said("on-a-host") and not (stub or facts.text.said("container-named"))
            order = (*_MODULE, *inside) if of_a_host or facts.text.said("other-kernel-works") else (*inside, *_MODULE)
            fits = (*dict.fromkeys(order), "device-nodes-missing", "wsl-libcuda-path")
        return _both(by_nvml, _mismatched(facts, fits))
    if by_nvml:
        works = isinstance(facts.gpu.driver_version, str) and facts.text.said("container-named")
        return ("container-no-gpus-flag", "device-nodes-missing", *by_nvml) if nvml == 9 and works else by_nvml
    if facts.gpu.devices == ():
        broken = tuple(c for c in BROKEN_GPU if c != "driver-rminit-failed")
        return ("driver-rminit-failed", *broken, *_NOT_HANDED_OVER, "device-nodes-missing", "gpu-bound-to-vfio")
    if tensorflow.loader_ok is False:
        return libraries.fitting(facts)
    if facts.text.said("kernel-module-absent", "device-node-absent"):  # which is said where cuInit failed
        order = (*_NOT_HANDED_OVER, *_MODULE)
        order = (*_MODULE, *_NOT_HANDED_OVER) if facts.text.said("other-kernel-works") else order
        return (*order, "device-nodes-missing", "wsl-libcuda-path")
    if lacks_nvcuda(facts):
        return ("driver-missing", "no-nvidia-gpu", "amd-gpu")
    if isinstance(tensorflow.import_error, str):
        fits = (*_IMPORT, "driver-missing") if removed(facts) else _IMPORT
        of_x86 = facts.system.machine == "aarch64" and facts.text.said("wheel-of-x86")
        fits = ("tf-aarch64-no-wheel", *fits) if of_x86 else fits
        return tuple(dict.fromkeys((*_of_a_library(facts), *fits)))
    if not isinstance(tensorflow.libraries, Unread) and tensorflow.libraries:
        return (*libraries.fitting(facts), "driver-missing", "no-nvidia-gpu", "container-no-gpus-flag")
    if facts.text.said("lists-xla-gpu"):  # which needs the driver and libcuda alone
        return libraries.fitting(facts)
    first = {"Windows": "tf-windows-native-cpu-only", "Darwin": "tf-macos-no-cuda"}.get(str(facts.system.system))
    of_torch = facts.text.said("torch-lacks-gpu") and not facts.text.said("tensorflow-named")
    if facts.text.said("talks-of-colab", "in-colab") or (of_torch and first == "tf-windows-native-cpu-only"):
        first = None
    release = libraries.release_of(facts)
    if first == "tf-windows-native-cpu-only" and release is not None and release < _LAST_ON_WINDOWS:
        first = None
    of_conda = any("conda" in e.text for e in facts.text.understood())
    if first is None and facts.system.system == "Windows" and release is not None and not of_conda:
        first = libraries.likely(facts, release) if release >= _ONE_PACKAGE else "tf-cpu-only-package"
        first = "cuda-version-mismatch" if first == "cuda-libs-missing" else first  # no CUDA is named
    if first is None and facts.system.machine == "aarch64":
        first = "tf-aarch64-cpu-only"
    if first is None and facts.text.said("names-extra"):
        first = "pip-nvidia-libs-not-found"
    if first is None and facts.text.said("gpu-not-registered", "gpu-not-among-devices"):
        first = "tf-no-gpu-registered"
    if first is None and release is not None and release >= _ONE_PACKAGE and (release >= _FROM_WHEELS or not of_conda):
        first = libraries.likely(facts, release)
    return (first, *(c for c in _NOTHING_MORE if c != first)) if first is not None else _NOTHING_MORE


def _of_a_library(facts: Facts) -> tuple[str, ...]:
    """What goes first where the traceback of a package for GPUs ends as TensorFlow's own library is loaded, before the error: one that it is
    linked with is not found."""
    loads = facts.tensorflow.import_error == NOT_WHOLE and facts.text.said("swig-import")
    named = facts.text.said("gpu-package", "names-cuda", "nvidia-gpu-named", "says-nvidia")
    return libraries.fitting(facts)[:1] if loads and named and facts.system.system != "Windows" else ()


def lacks_nvcuda(facts: Facts) -> bool:
    """Whether TensorFlow does not find nvcuda.dll, which is the driver's: of the libraries that it looks for on Windows the one
    that is libcuda."""
    return facts.driver.libcuda.path is None and bool(facts.text.said("windows-library"))


def switched_off(facts: Facts) -> bool:
    """Whether a laptop's second GPU was switched off: it is not on the bus, and no driver runs."""
    off = facts.text.said("laptop-mode", "prime-intel", "gpu-switched-off")
    return bool(off) and "nvidia" not in on_bus(facts) and not isinstance(facts.gpu.driver_version, str)


NOT_WHOLE = "the traceback is not whole"
"""As logs/python.py calls it."""


def removed(facts: Facts) -> bool:
    """Whether the driver was removed, and nothing below tells that one was installed since."""
    said = facts.text.said
    there = said(
        "driver-libraries-named", "driver-package", "driver-installed-said", "driver-release-said", "nvidia-smi"
    )
    again = [e.line for e in (*there, *said("nvidia-build-named"))]
    return any(all(line <= e.line for line in again) for e in said("driver-removed")[-1:])


_FROM_WHEELS = (2, 12)
"""Since then TensorFlow's own guide installs it by pip."""
_LAST_ON_WINDOWS = (2, 11)
_ONE_PACKAGE = (2, 1)
"""From 2.1 on the package tensorflow computes on GPUs; before, it is tensorflow-gpu."""


def _both(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Those that fit two things that the text shows; where none does, those that fit the second."""
    return tuple(c for c in first if c in second) or second


def _mismatched(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """A library older than the kernel module was not left behind by an upgrade: it is rather another package's; a newer one
    is what an upgrade gives before the reboot."""
    older = library_is_older(facts)
    apart = facts.text.said("driver-versions-differ") or facts.driver.libcuda.init_result in (803, 804)
    if not apart or older is None:
        return fits
    first = "cuda-compat-unsupported" if older else "driver-library-mismatch"
    return (first, *(f for f in fits if f != first))


def library_is_older(facts: Facts) -> bool | None:
    """Whether libcuda is of an older release than the kernel module: no upgrade leaves it so. None: one of them is not told."""
    user, kernel = facts.driver.libcuda.version, facts.driver.kernel_version
    if not isinstance(user, str) or not isinstance(kernel, str):
        return None
    return _numbers(user) < _numbers(kernel)


def _numbers(release: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", release)]
