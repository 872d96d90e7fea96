"""The causes for which speaks what somebody has found out by himself (logs/found_out.py)."""

from __future__ import annotations

from collections.abc import Iterator

from ..compat.built_for import built_for
from ..facts import READS_LIKE_A_FAULT, Facts, Unread
from ..patterns import Pattern
from . import libraries
from .setups import native_windows

BY_KIND = {
    "nvcc-shows-another": "ld-library-path-wrong-toolkit",
    "path-overwritten-said": "ld-library-path-not-set",
    "holder-found-said": "gpu-memory-held-by-other-process",
    "plain-package-then-cpu": "tf-cpu-only-package",
    "runtime-not-set-up-said": "container-toolkit-missing",
    "vgpu-slows-said": "vgpu-unlicensed",
    "card-is-too-old-said": "gpu-compute-capability-too-old",
    "nvidia-docker-was-needed": "container-no-gpus-flag",
    "toolkit-lacks-a-library": "container-toolkit-too-old",
    "uvm-node-lacks": "cuinit-uvm-device-missing",
    "cublas-older-than-linked": "cublas-version-mismatch",
    "gpu-ran-out-said": "gpu-oom-model-or-data",
    "cudnn-wrong-said": "cudnn-version-mismatch",
    "cudnn-old-said": "cudnn-version-too-old",
    "machine-loses-power": "psu-insufficient",
    "bus-error-for-good": "xid79-fell-off-bus",
    "link-lost-lanes": "pcie-link-degraded",
    "peers-apart-shown": "multi-gpu-topology-no-p2p",
    "log-has-no-module": "driver-module-not-loaded",
    "toolkit-never-put-in": "cuda-toolkit-missing",
    "cards-taken-by-others": "gpu-memory-held-by-other-process",
    "stub-was-found": "libcuda-stub-loaded",
    "path-misspelt": "ld-library-path-not-set",
    "module-of-new-kernel-absent": "driver-module-not-loaded",
    "no-cdi-devices": "container-toolkit-missing",
    "node-without-gres": "slurm-no-gpu-allocated",
    "node-lists-none-said": "k8s-device-plugin-not-registered",
    "other-maker-asked": "no-nvidia-gpu",
    "device-handle-unknown": "xid79-fell-off-bus",
    "driver-called-too-old": "driver-too-old",
    "runtime-line-removed": "container-no-gpus-flag",
    "cudnn-has-no-create": "cudnn-missing",
    "device-id-unknown": "container-visible-devices-wrong",
    "iommu-is-behind-said": "nccl-p2p-iommu-acs",
    "nvls-failed": "nccl-nvls-fabric-manager",
    "cuda-answers-34": "libcuda-stub-loaded",
    "redistributable-was-it": "msvc-runtime-missing",
    "toolkit-was-old-said": "container-toolkit-too-old",
    "link-drops-at-work-said": "pcie-link-degraded",
    "memory-stays-after-the-end": "gpu-memory-held-by-other-process",
    "toolkits-are-mixed-said": "ld-library-path-wrong-toolkit",
    "cupti-lacks": "ld-library-path-not-set",
    "no-toolkit-said": "cuda-toolkit-missing",
    "windows-support-asked": "tf-windows-native-cpu-only",
    "gpu-in-a-build-asked": "container-runtime-not-default",
    "library-path-given-to-cdi": "container-driver-root-wrong",
    "peers-across-sockets-said": "multi-gpu-topology-no-p2p",
    "no-gpu-at-all-said": "no-nvidia-gpu",
    "two-packages-said": "tf-packages-overlap",
    "slurm-kills-said": "cgroup-memory-limit",
    "use-stays-low-said": "cpu-starved-input",
    "cudnn-linked-as-another": "cudnn-wrong-major",
}
"""Kind of a line -> the cause that it speaks for by itself."""
TOGETHER: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("gpu-memory-handle-alloc", (("growth-helps",), ("cudnn-named", "cudnn-failed", "handle-failed", "no-algorithm"))),
    ("lsm-denied", (("start-is-denied",), ("selinux-named",))),
    ("jupyter-kernel-other-environment", (("ide-named",), ("shell-works",), ("lists-gpus",), ("says-no-gpu",))),
    ("cuda-version-mismatch", (("registers-no-gpu",), ("talks-of-colab", "in-colab"))),  # which has a GPU, and another CUDA
    ("jit-cache-unwritable", (("run-as-user",), ("slow-start", "start-is-slow", "takes-long"))),
    ("python-32bit", (("python-of-64-bit-put-in",), ("no-version",), ("installed-now",))),
    ("cpu-no-avx", (("processor-found-out",), ("processor-without-avx",))),
    ("optimus-gpu-powered-off", (("laptop-tool",), ("module-no-device",))),
    ("gpu-memory-held-by-other-process", (("memory-kept-told",), ("reboot-frees-told",))),
    ("tf-preallocates-all-memory", (("memory-of-all-told",), ("memory-asked-told",), ("one-of-several-works",))),
    ("nvlink-degraded", (("nvlink-inactive",), ("nvswitch-named",))),
    ("cudnn-wrong-major", (("cudnn-of-another-release-said",), ("library-not-loaded",))),
    ("driver-libcuda-not-on-path", (("nix-path",), ("smi-works",), ("no-cuda-driver", "libcuda-absent"))),
    ("container-runtime-not-default", (("gpu-of-the-pod-asked", "swarm-named"), ("smi-not-found", "libcuda-absent"))),
    ("container-rootless-cgroups", (("cgroups-are-managed",), ("rootless",))),
    ("conda-cpu-build", (("cpuonly-said",), ("torch-lacks-gpu", "torch-sees-none", "torch-without-cuda", "says-no-gpu"))),
    ("optimus-gpu-powered-off", (("hybrid-listed",), ("says-no-gpu", "gpu-hardly-used", "gpu-idle-said"))),
    ("cuda-version-mismatch", (("cudart-not-opened",), ("names-cuda",))),
    ("driver-library-mismatch", (("cuda-answers-804",), ("system-updated-said",))),
    ("driver-secure-boot", (("secure-boot",), ("nothing-is-signed-said",))),
    ("driver-secure-boot", (("secure-boot", "secure-boot-named"), ("it-was-in-the-bios",))),
    ("cpu-starved-input", (("data-on-a-share",), ("gpu-is-slow", "gpu-hardly-used"))),
    ("cuda-toolkit-missing", (("no-card-told",), ("library-not-loaded",))),
    ("cpu-starved-input", (("processor-holds-up-said",), ("gpu-hardly-used", "gpu-idle-said"))),
    ("gpu-too-new-for-build", (("module-call-failed",), ("card-newer-than-build",))),
    ("driver-library-mismatch", (("module-and-libraries-differ-said",), ("cuinit-failed", "nvml-failed", "says-no-gpu"))),
    ("gpu-memory-held-by-other-process", (("notebooks-open-said",), ("works-again",), ("gemm-failed", "handle-failed", "cudnn-failed", "oom"))),
)  # fmt: skip
"""A cause, and the kinds that speak for it together: one of each group."""


def firstly(facts: Facts) -> Iterator[str]:
    """Those that go first."""
    said = facts.text.said
    yield from (cause for kind, cause in BY_KIND.items() if said(kind))
    yield from (cause for cause, groups in TOGETHER if all(said(*kinds) for kinds in groups))
    yield from _of_cards(facts)
    yield from _of_versions(facts)
    yield from _of_containers(facts)
    yield from _of_places(facts)
    if said("no-known-devices") and not said(*_TELLS_WHY):
        yield "tf-cpu-only-package"
    if said("no-kernel-image") and _all_old(facts):
        yield "gpu-compute-capability-too-old"
    if said("iommu-on-said") and facts.text.shows("collective-fails"):
        yield "nccl-p2p-iommu-acs"
    if facts.tensorflow.devices == () and any(_EMPTY.match(e.text) for e in said("visible-set")):
        yield "cuda-visible-devices-empty"
    if _chosen_beyond(facts):
        yield "cuda-visible-devices-wrong"


def _of_containers(facts: Facts) -> Iterator[str]:
    """By how a container was started, and what its engine's tools say."""
    said = facts.text.said
    without, handed = facts.driver.libcuda.path is None, said("gpus-asked")
    absent = any(_IN_A_CONTAINER.search(e.text) for e in said("libcuda-absent"))
    if not handed and (absent or (without and said("image-built-said"))):
        yield "container-no-gpus-flag"
    if without and _was_run_without(facts) and not said("cluster-named"):
        yield "container-no-gpus-flag"
    if any(_LOADS_LIBCUDA.search(e.text) for e in said("container-cli")) and isinstance(facts.gpu.driver_version, str):
        yield "driver-libcuda-not-on-path"
    if said("driver-for-linux-asked") and said("wsl-named") and not said("container-named") and not handed:
        yield "wsl-libcuda-path"


def _of_places(facts: Facts) -> Iterator[str]:
    """By the machine, or the service, that it runs on."""
    said = facts.text.said
    fails = facts.text.shows("nvidia-smi-fails") or facts.text.shows("driver-does-not-load") or said("says-no-gpu")
    if said("machine-type-without-gpu") and (fails or isinstance(facts.gpu.nvml_error, int)):
        yield "no-nvidia-gpu"
    in_colab = said("talks-of-colab", "in-colab") and not said("visible-set")
    if in_colab and facts.driver.libcuda.init_result == _NO_DEVICE:
        yield "colab-cpu-runtime"
    if said("cuda-package-not-found") and facts.system.system == "Darwin":
        yield "tf-macos-no-cuda"
    if said("notebook-fails") and said("tensorflow-version") and not said("library-not-loaded"):
        yield "jupyter-kernel-other-environment"


def _of_cards(facts: Facts) -> Iterator[str]:
    """By the compute capabilities of the cards for which a program has no use."""
    if facts.text.said("open-modules-work-said") and any(map(_NEEDS_OPEN.search, facts.text.cards())):
        yield "driver-rminit-failed"
    told = facts.text.said("capability-of-card")
    has = [tuple(map(int, e.values["capability"].split("."))) for e in told]
    if not has:
        return
    if facts.text.said("ngc-gpu-unsupported"):
        if max(has) <= (7, 0):
            yield "gpu-compute-capability-too-old"
        elif min(has) >= (10, 0):
            yield "gpu-too-new-for-build"
    if facts.text.said("program-finds-none") and max(has) < (3, 5):  # before GK110
        yield "gpu-compute-capability-too-old"


def _of_versions(facts: Facts) -> Iterator[str]:
    """By what does not go together: libraries, packages, processors."""
    said = facts.text.said
    symbols = [found[1] for e in said("undefined-symbol") if (found := _SYMBOL.search(e.text))]
    if symbols and not any(_OF_TENSORFLOW.search(one) for one in symbols):
        yield "tf-import-broken"  # by a library beside it
    if (said("no-version") or facts.text.shows("install-fails")) and any(
        _ARM.search(e.text) for e in facts.text.understood()
    ):
        yield "tf-aarch64-no-wheel"
    if said("libraries-not-opened") and not said("library-not-loaded") and _has_another_cudnn(facts):
        yield "cudnn-wrong-major"
    if said("onnxruntime-of-cudnn-9") and said("cudnn-8-stated"):
        yield "cudnn-wrong-major"  # since 1.19: onnxruntime's release notes
    if any(_is_older(e.values) for e in said("cudnn-wanted-and-here")):
        yield "cudnn-version-too-old"
    if any(e.values.get(name, "").startswith("cpu_") for e in said("conda-changes") for name in ("build", "after")):
        yield "conda-cpu-build"
    if any(_is_of_another_major(e.values["has"], e.values["wanted"]) for e in said("linked-to-another")):
        yield "cuda-version-mismatch"
    if facts.python.bits == 32 and not facts.text.shows_a_failure:
        yield "python-32bit"
    if _names_another_cuda(facts) or _of_another_cudart(facts):
        yield "cuda-version-mismatch"


def _names_another_cuda(facts: Facts) -> bool:
    """No line shows why it fails, and the CUDA that somebody has is none that his TensorFlow opens."""
    works = facts.tensorflow.gpus() and not isinstance(facts.tensorflow.gpus(), Unread)
    otherwise = facts.text.said(
        "library-opened", "no-version", "conda-brings-cuda", "slow-named", "card-newer-than-build", "gpus-added"
    ) or native_windows(facts)  # fmt: skip
    shown = {e.symptom for e in facts.text.understood() if e.symptom} - {"tf-lists-no-gpu", READS_LIKE_A_FAULT}
    opens_none = facts.text.said("library-not-loaded", "cuinit-failed") or facts.driver.libcuda.path is None
    bare = not shown and not opens_none and not isinstance(facts.tensorflow.import_error, str)
    if not bare or works or otherwise or facts.system.system == "Darwin":
        return False
    release = libraries.release_of(facts)
    if release is None:
        return _fits_none(facts)
    wanted = "{}.{}".format(*built_for(release).cuda)
    return libraries.names_another(facts) and not any(wanted in e.text for e in facts.text.said("names-cuda"))


def _fits_none(facts: Facts) -> bool:
    """Whether the CUDA that a form states is that of none of the releases that are named."""
    wanted = {"{}.{}".format(*built_for(one).cuda) for one in libraries.named_releases(facts)}
    stated = {e.values["cuda"] for e in facts.text.said("says") if "cuda" in e.values}
    return bool(wanted) and len(stated) == 1 and "." in min(stated) and not stated & wanted


def _chosen_beyond(facts: Facts) -> bool:
    """A second GPU is chosen, and the only card that is named is called no second."""
    said = facts.text.said
    cards = facts.text.cards()
    values = [e.values.get("value", "").strip(" '\"") for e in said("visible-set")]
    chosen = bool(values) and all(v.isdigit() for v in values) and values[0] != "0"  # what comes after it was the cure
    several = any(_SEVERAL.search(e.text) for e in said("nvidia-gpu-named", "names")) or said("others-are-seen")
    unseen = facts.tensorflow.devices == () or said("says-no-gpu")
    return chosen and len(cards) == 1 and not several and bool(unseen)


def _was_run_without(facts: Facts) -> bool:
    """Whether the last command that starts a container asks for no GPUs."""
    without, asked = facts.text.said("run-without-gpus"), facts.text.said("gpus-asked")
    return bool(without) and not any(_STARTS.match(e.text) and e.line > without[-1].line for e in asked)


_NEEDS_OPEN = Pattern(r"\b50[5-9]0\b|\bB[23]00\b|RTX PRO")
"""Cards for which NVIDIA's open kernel modules are the only ones (NVIDIA's driver README, 'Open Linux Kernel Modules')."""
_NO_DEVICE = 100
_TELLS_WHY = (
    "library-not-loaded", "cuinit-failed", "few-multiprocessors", "capability-too-old", "cuda-answers-34", "memory-held-told", "no-cuda-driver",
)  # fmt: skip
"""What may be behind TensorFlow's having no devices."""
_STARTS = Pattern(r"\W{0,3}(?:[\w.@:~-]{1,60}[$#] )?(?:sudo )?(?:docker|podman|nerdctl) (?:container )?(?:run|create) ")


def _all_old(facts: Facts) -> bool:
    """Whether the compute capabilities that are named are all before those that new builds have code for."""
    told = [found for e in facts.text.said("names") for found in _CAPABILITY.findall(e.values.get("capabilities", ""))]
    return bool(told) and all(int(major) < _VOLTA for major, _ in told)


def _has_another_cudnn(facts: Facts) -> bool:
    """Whether the one cuDNN that is named is of another major version than the newest TensorFlow that is named opens."""
    majors = {e.values["major"] for e in facts.text.said("cudnn-major-said")}
    newest = max(libraries.named_releases(facts), default=None)
    opens = built_for(newest).cudnn if newest is not None else None
    return len(majors) == 1 and opens is not None and str(opens[0]) not in majors


_CAPABILITY = Pattern(r"(\d{1,2})\.(\d)")
_VOLTA = 7
_LOADS_LIBCUDA = Pattern(r"load library failed: libcuda\.so")
_EMPTY = Pattern(r"\W{0,3}(?:export )?CUDA_VISIBLE_DEVICES= ?(?:\"\"|'')?$")
_ARM = Pattern(r"(?i)\bjetson\b|\baarch64\b|\braspberry\b|\bgraviton\b")


def _is_of_another_major(has: str, wanted: str) -> bool:
    """libcudart.so.12 for libcudart.so.11.0: the same library of another major version."""
    here, asked = has.split("."), wanted.split(".")
    return here[0] == asked[0] and here[2] != asked[2]


def _is_older(told: dict[str, str]) -> bool:
    """The cuDNN that is there is an older one of the major version that is wanted."""
    wanted, here = ([int(part) for part in told[name].split(".")[:2]] for name in ("wanted", "here"))
    return wanted[0] == here[0] and here < wanted


_SYMBOL = Pattern(r"undefined symbol: (\w+)")
_OF_TENSORFLOW = Pattern(r"tensorflow|\dtsl|\dxla|stream_executor|TF_|TFE_|cu(?:da|dnn|blas)")
"""In a symbol's name: it is TensorFlow's own, of another release, or CUDA's."""
_IN_A_CONTAINER = Pattern(r"(?i)\b(?:in|inside|within) (?:an? |the |my )?(?:docker|podman)?(?: ?container)\b")
_SEVERAL = Pattern(
    r"(?i)\b(?:two|both|three|four|eight|several|multiple|second|other)\b|\b[2-8] ?[x\u00d7]|[x\u00d7] ?[2-8]\b|\bgpus\b|\bcards\b"
)


def _of_another_cudart(facts: Facts) -> bool:
    """On Windows the runtime of one CUDA is lost, and that of another is named."""
    picks = facts.tensorflow.libraries
    names = [p.soname for p in (() if isinstance(picks, Unread) else picks)]
    names += [e.values.get("library", "") for e in facts.text.said("windows-library")]
    lost = {found[1] for name in names if (found := _CUDART.search(name))}
    named = {found[1] for e in facts.text.understood() for found in _CUDART.finditer(e.text)}
    return len(lost) == 1 and bool(named - lost)


_CUDART = Pattern(r"cudart64_(\d{2,3})\.dll")
