"""The causes for which speaks what somebody has found out by himself (logs/found_out.py)."""

from __future__ import annotations

from collections.abc import Iterator

from ..compat.built_for import built_for
from ..facts import READS_LIKE_A_FAULT, Facts, Unread
from ..patterns import Pattern
from . import libraries
from .setups import native_windows

BY_KIND: dict[str, tuple[str, ...]] = {
    "nvcc-shows-another": ("ld-library-path-wrong-toolkit",),
    "path-overwritten-said": ("ld-library-path-not-set",),
    "holder-found-said": ("gpu-memory-held-by-other-process",),
    "plain-package-then-cpu": ("tf-cpu-only-package", "tf-packages-overlap"),
    "runtime-not-set-up-said": ("container-toolkit-missing", "container-runtime-not-default"),
    "vgpu-slows-said": ("vgpu-unlicensed",),
    "card-is-too-old-said": ("gpu-compute-capability-too-old",),
    "nvidia-docker-was-needed": ("container-no-gpus-flag",),
    "toolkit-lacks-a-library": ("container-toolkit-too-old",),
    "uvm-node-lacks": ("cuinit-uvm-device-missing",),
    "cublas-older-than-linked": ("cublas-version-mismatch",),
    "gpu-ran-out-said": ("gpu-oom-model-or-data",),
    "cudnn-wrong-said": ("cudnn-version-mismatch",),
    "cudnn-old-said": ("cudnn-version-too-old",),
    "machine-loses-power": ("psu-insufficient",),
    "bus-error-for-good": ("xid79-fell-off-bus",),
    "link-lost-lanes": ("pcie-link-degraded",),
    "peers-apart-shown": ("multi-gpu-topology-no-p2p",),
    "log-has-no-module": ("driver-module-not-loaded",),
    "toolkit-never-put-in": ("cuda-toolkit-missing",),
    "cards-taken-by-others": ("gpu-memory-held-by-other-process",),
    "stub-was-found": ("libcuda-stub-loaded",),
    "path-misspelt": ("ld-library-path-not-set",),
    "module-of-new-kernel-absent": ("driver-module-not-loaded",),
    "no-cdi-devices": ("container-toolkit-missing", "container-no-gpus-flag", "cdi-spec-stale"),
    "node-without-gres": ("slurm-no-gpu-allocated",),
    "node-lists-none-said": ("k8s-device-plugin-not-registered",),
    "other-maker-asked": ("no-nvidia-gpu", "amd-gpu"),
}
"""Kind of a line -> the causes, likely ones first."""


def firstly(facts: Facts) -> Iterator[str]:
    """Those that go first."""
    for kind, causes in BY_KIND.items():
        if facts.text.said(kind):
            yield causes[0]
    said = facts.text.said
    if said("growth-helps") and said("cudnn-named", "cudnn-failed", "handle-failed", "no-algorithm"):
        yield "gpu-memory-handle-alloc"
    if said("start-is-denied") and said("selinux-named"):
        yield "lsm-denied"
    if said("image-built-said") and facts.driver.libcuda.path is None and not said("gpus-asked"):
        yield "container-no-gpus-flag"
    if said("ngc-gpu-unsupported") and (has := _capabilities(facts)):
        if all(one <= (7, 0) for one in has):
            yield "gpu-compute-capability-too-old"
        elif all(one >= (10, 0) for one in has):
            yield "gpu-too-new-for-build"
    symbols = [found[1] for e in said("undefined-symbol") if (found := _SYMBOL.search(e.text))]
    if symbols and not any(_OF_TENSORFLOW.search(one) for one in symbols):
        yield "tf-import-broken"  # by a library beside it
    if said("ide-named") and said("shell-works") and said("lists-gpus") and said("says-no-gpu"):
        yield "jupyter-kernel-other-environment"
    if said("registers-no-gpu") and said("talks-of-colab", "in-colab"):  # it has a GPU, and another CUDA
        yield "cuda-version-mismatch"
    if said("no-version") and any(_ARM.search(e.text) for e in facts.text.understood()):
        yield "tf-aarch64-no-wheel"
    if any(_is_older(e.values) for e in said("cudnn-wanted-and-here")):
        yield "cudnn-version-too-old"
    if said("driver-for-linux-asked") and said("wsl-named") and not said("container-named", "gpus-asked"):
        yield "wsl-libcuda-path"
    if said("run-as-user") and said("slow-start", "start-is-slow", "takes-long"):
        yield "jit-cache-unwritable"
    if said("python-of-64-bit-put-in") and said("no-version") and said("installed-now"):
        yield "python-32bit"
    if said("processor-found-out") and said("processor-without-avx"):
        yield "cpu-no-avx"
    if said("iommu-on-said") and facts.text.shows("collective-fails"):
        yield "nccl-p2p-iommu-acs"
    if said("laptop-tool") and said("module-no-device"):
        yield "optimus-gpu-powered-off"
    if said("memory-kept-told") and said("reboot-frees-told"):
        yield "gpu-memory-held-by-other-process"
    if said("memory-of-all-told") and said("memory-asked-told") and said("one-of-several-works"):
        yield "tf-preallocates-all-memory"
    if said("data-on-a-share") and said("gpu-is-slow", "gpu-hardly-used"):
        yield "cpu-starved-input"
    if facts.python.bits == 32 and not facts.text.shows_a_failure:
        yield "python-32bit"
    if said("program-finds-none") and _all_before_gk110(facts):
        yield "gpu-compute-capability-too-old"
    if said("device-handle-unknown"):
        yield "xid79-fell-off-bus"
    if said("notebook-fails") and said("tensorflow-version") and not said("library-not-loaded"):
        yield "jupyter-kernel-other-environment"
    if any(_IN_A_CONTAINER.search(e.text) for e in said("libcuda-absent")) and not said("gpus-asked"):
        yield "container-no-gpus-flag"
    if _names_another_cuda(facts):
        yield "cuda-version-mismatch"
    if _chosen_beyond(facts):
        yield "cuda-visible-devices-wrong"
    if _of_another_cudart(facts):
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
    if not bare or works or otherwise or facts.system.system == "Darwin" or not libraries.names_another(facts):
        return False
    release = libraries.release_of(facts)
    wanted = "{}.{}".format(*built_for(release).cuda) if release is not None else ""
    return not any(wanted in e.text for e in facts.text.said("names-cuda"))


def _all_before_gk110(facts: Facts) -> bool:
    """Each card that is named is older than those for which JAX and others have code."""
    has = _capabilities(facts)
    return bool(has) and all(one < (3, 5) for one in has)


def _capabilities(facts: Facts) -> list[tuple[int, ...]]:
    """The compute capabilities of the cards that the text names, as far as they are known."""
    told = facts.text.said("capability-of-card")
    return [tuple(map(int, e.values["capability"].split("."))) for e in told]


def _chosen_beyond(facts: Facts) -> bool:
    """A second GPU is chosen, and the only card that is named is called no second."""
    said = facts.text.said
    cards = facts.text.cards()
    values = [e.values.get("value", "").strip(" '\"") for e in said("visible-set")]
    chosen = bool(values) and all(v.isdigit() and v != "0" for v in values)
    several = any(_SEVERAL.search(e.text) for e in said("nvidia-gpu-named", "names")) or said("others-are-seen")
    return chosen and len(cards) == 1 and not several and facts.tensorflow.devices == ()


_ARM = Pattern(r"(?i)\bjetson\b|\baarch64\b|\braspberry\b|\bgraviton\b")


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
