"""What a setup that people paste or tell of speaks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..compat.built_for import built_for
from ..facts import Facts, Unread
from ..patterns import Pattern
from . import libraries
from .fitting import gpus_asked

Pair = tuple[int, int]
_SINCE_NO_WINDOWS = (2, 11)
_NO_DEVICE, _UNKNOWN, _STUB = 100, 999, (-1, 34)
_NOT_SNAP = Pattern(
    r"(?i)\b(?:not|no|non|nicht|kein|pas|never|without|isn't|wasn't|remov\w{1,3}|purg\w{1,3}|uninstall\w{0,3})\b[^.\n]{0,60}\bsnap\b|\bsnap\b[^.\n]{0,40}\b(?:(?:remov|purg|uninstall)\w{0,3}|not)\b"
)
_WITHOUT_FIFTH = Pattern(r"(?i)\b(?:Tesla )?K\d{2}[cmx]?\b|\bGT[X]? ?[67]\d0\b|\bQuadro K\d{3,4}")
"""Cards before Maxwell."""


def speaks(facts: Facts) -> Iterator[str]:
    """The causes that go first."""
    said, init = facts.text.said, facts.driver.libcuda.init_result
    yield from firmly(facts)
    if said("gone-after-suspend") or (said("lid-closed") and init == _UNKNOWN):
        yield "cuinit-unknown-after-suspend"
    asked, answered = said("prime-asked"), said("answers-intel")
    if asked and answered and 0 < answered[0].line - asked[0].line <= 2:
        yield "optimus-gpu-powered-off"
    if said("by-enroot") and said("slurm-asked", "gpus-asked") and facts.driver.libcuda.path is None:
        yield "container-visible-devices-wrong"
    if said("visible-empty-said"):
        yield "cuda-visible-devices-empty"
    yield from _cudnn(facts)
    if _of_another_cuda(facts):
        yield "cuda-version-mismatch"
    cards = facts.text.cards()
    if said("ngc-gpu-unsupported") and cards and all(_WITHOUT_FIFTH.search(name) for name in cards):
        yield "gpu-compute-capability-too-old"


def firmly(facts: Facts) -> Iterator[str]:
    """Those of them that go first whatever the text reads like."""
    said = facts.text.said
    if _without_gpus(facts) or (_of_a_stub(facts) and not gpus_asked(facts)):
        yield "container-no-gpus-flag"
    if native_windows(facts):
        yield "tf-windows-native-cpu-only"
    if facts.driver.libcuda.init_result == _NO_DEVICE and said("exports-ordinal") and said("one-gpu-granted"):
        yield "cuda-visible-devices-wrong"
    if said("image-lacks-libcuda-said"):
        yield "container-no-gpus-flag"
    if said("traceback-cut") and any(e.line == 1 for e in said("protobuf-named")):  # the title
        yield "protobuf-mismatch"
    if said("ptxas-lacks-old"):
        yield "cuda-version-mismatch"
    if said("nvcc-lacks-new"):
        yield "gpu-too-new-for-build"
    if said("mig-without-instance-said"):
        yield "mig-enabled-no-instance"
    if said("apptainer-run") and not gpus_asked(facts) and not said("no-nv-said", "lists-gpus", "device-created"):
        yield "apptainer-no-nv"
    if of_snap(facts):
        yield "container-snap-docker"
    if facts.system.machine == "aarch64" and said("wheel-of-x86"):
        yield "tf-aarch64-no-wheel"
    if said("ecc-error-said"):
        yield "ecc-uncorrectable-error"
    if said("first-one-ended") and not said("device-unavailable"):
        yield "gpu-memory-held-by-other-process"


def of_snap(facts: Facts) -> bool:
    """Whether somebody says that docker comes from snap."""
    return any(not _NOT_SNAP.search(e.text) for e in facts.text.said("snap-named"))


def native_windows(facts: Facts) -> bool:
    """Whether it is Windows itself, and each TensorFlow that lists no GPU is newer than its last one with CUDA."""
    said = facts.text.said
    elsewhere = ("another-machine-named", "gpus-asked", "container-named", "lists-gpus", "talks-of-colab", "in-colab")
    if facts.system.wsl is True or said(*elsewhere, "library-not-loaded", "library-opened", "directml-named"):
        return False
    system = facts.system.system
    if system != "Windows" and not (isinstance(system, Unread) and said("windows-prompt", "on-windows")):
        return False
    release = libraries.release_of(facts)
    named = [_pair(e.values["tensorflow"]) for e in said("names") if "tensorflow" in e.values]
    newest = release or max((one for one in named if one), default=None)
    return newest is not None and newest >= _SINCE_NO_WINDOWS


def for_processors(facts: Facts) -> bool:
    """Whether the package that is named is for processors only, and none with CUDA is: tensorflow-cpu, or one before 1.15."""
    said = facts.text.said
    silent = not said(
        "gpu-package",
        "names-extra",
        "library-not-loaded",
        "library-opened",
        "both-packages",
        "cuda-build-said",
        "device-found",
    )
    if facts.tensorflow.devices != () or not silent or facts.tensorflow.build.cuda is True:
        return False
    pinned = [found for e in said("pip-brings-tensorflow", "tf-required", "names") if (found := _PIN.search(e.text))]
    old = [(int(one[1]), int(one[2])) for one in pinned]
    return bool(said("cpu-package-named")) or (bool(old) and not any(_has_gpu(one) for one in old))


_PIN = Pattern(r"(?:\btensorflow(?:==| ?= ?[\"']\^?)|\btensorflow-(?=[\d.]{3,8}-cp)|/cpu/tensorflow-)(\d)\.(\d{1,2})")


def _pair(version: str) -> Pair | None:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else None


def _without_gpus(facts: Facts) -> bool:
    """A compose file or a pod's spec asks for no GPU, and no driver is inside."""
    said, lib = facts.text.said, facts.driver.libcuda
    if said("compose-asks"):
        return False
    lacks = lib.path is None or lib.init_result == _NO_DEVICE or bool(said("no-cuda-driver", "nvidia-smi-not-found"))
    lacks = lacks or (facts.tensorflow.devices == () and not said("library-not-loaded", "library-opened"))
    of_pod = said("pod-spec") and said("pod-limits") and not gpus_asked(facts)
    asked = [e for e in gpus_asked(facts) if " run " not in e.text]
    composed = said("compose-file") and not asked
    return lacks and bool(of_pod or composed)


def _of_a_stub(facts: Facts) -> bool:
    """Inside a container the image's own stub answers, and no module is seen: the driver was not handed over."""
    inside = isinstance(facts.system.container, str)
    return inside and facts.driver.libcuda.init_result in _STUB and bool(facts.text.said("kernel-module-absent"))


_TOOLKITS_OWN = ("libcudart.so", "libcublas.so")
_LAST_OF_OLD, _GPU_PACKAGE = (2, 11), ((1, 15), (2, 1))


def _of_another_cuda(facts: Facts) -> bool:
    """Whether Colab, which has a CUDA, lacks the one that an older TensorFlow asks for; or the CUDA that is named has not what this
    release was built for, where no line tells why it lists no GPU."""
    said = facts.text.said
    if said("talks-of-colab", "in-colab") and not said("linux-host-named"):
        lost = {e.values.get("library", "") for e in said("library-not-loaded")}
        pinned = [found for e in said("pip-brings-tensorflow") if (found := _PINNED.search(e.text))]
        old = [(int(one[2]), int(one[3])) for one in pinned if one[1] or _has_gpu((int(one[2]), int(one[3])))]
        asked = any(name.startswith(_TOOLKITS_OWN) for name in lost) or bool(said("cudart-not-opened"))
        if asked or (facts.tensorflow.devices == () and old and all(one <= _LAST_OF_OLD for one in old)):
            return True
    release = libraries.release_of(facts)
    here = [one for e in said("names-cuda") if (one := _pair(e.values.get("cuda", "")))]
    bare = not facts.text.shows_a_failure and not said("library-not-loaded", "library-opened", "conda-brings-cuda")
    if release != _OF_CUDA_11_0 or facts.tensorflow.devices != () or not bare:
        return False
    return bool(here) and all(one > (11, 0) for one in here)


def _has_gpu(release: Pair) -> bool:
    """Whether the package 'tensorflow' of this release computes on GPUs."""
    return release >= _GPU_PACKAGE[1] or _GPU_PACKAGE[0] <= release < (2, 0)


_PINNED = Pattern(r"\btensorflow(-gpu)?==(\d)\.(\d{1,2})")
_OF_CUDA_11_0 = (2, 4)
"""It opens libcusolver.so.10, which no later CUDA brings."""


def _cudnn(facts: Facts) -> Iterator[str]:
    said = facts.text.said
    images = {e.values["cudnn"] for e in said("image-with-cudnn")}
    installed = [
        needs for e in said("image-installs") if (one := _pair(e.values["version"])) and (needs := built_for(one).cudnn)
    ]
    if images and installed and not said("installs-extra") and all(str(needs[0]) not in images for needs in installed):
        yield "cudnn-wrong-major"
    picks = facts.tensorflow.libraries
    names = () if isinstance(picks, Unread) else tuple(p.soname for p in picks)
    lost = {found[1] for name in names if (found := _LOST_CUDNN.match(name))}
    others = {e.values["major"] for e in said("cudnn-mentioned")}
    if len(lost) == 1 == len(names) and others - lost:
        yield "cudnn-wrong-major"
    release = libraries.release_of(facts)
    wanted = built_for(release).cudnn if release else None
    told = {e.values["cudnn"].partition(".")[0] for e in said("names-cuda") if e.values.get("cudnn")}
    linked = release is not None and release < _OPENS_THEM and isinstance(facts.tensorflow.import_error, str)
    if wanted and (linked or said("cudnn-lacks-function")) and told and str(wanted[0]) not in told:
        yield "cudnn-wrong-major"
    here = [_pair(e.values["version"]) for e in said("cudnn-package")]
    pinned = [found for e in said("pip-brings-tensorflow") if (found := _PINNED.search(e.text))]
    if len(pinned) == 1:
        wanted = built_for((int(pinned[0][2]), int(pinned[0][3]))).cudnn or wanted
    older = [one for one in map(_pair, (e.values.get("cudnn", "") for e in said("names-cuda"))) if one]
    fails = said("no-algorithm", "handle-failed", "handle-not-made", "cudnn-failed", "dnn-absent")
    growth = said("growth-in-vain", "memory-is-free")
    is_older = growth and wanted and older and all(one < wanted for one in older)
    if fails and (is_older or (said("growth-in-vain") and not said("cublas-failed", "gemm-failed"))):
        yield "cudnn-version-too-old"
    if wanted and here and all(one and one[0] == wanted[0] and one < wanted for one in here):
        yield "cudnn-version-too-old"


_OPENS_THEM = (1, 14)
"""From here on; before, it is linked with CUDA and cuDNN, and can't be imported without."""
_LOST_CUDNN = Pattern(r"(?:libcudnn\.so\.|cudnn64_)(\d)")


def is_colab(facts: Facts) -> bool:
    """The text comes from there; Colab is not the place where it works."""
    named = facts.text.said("talks-of-colab", "in-colab")
    left = [e for e in facts.text.said("linux-host-named") if not _SERVED.search(e.text)]
    return bool(named) and not left and not any(_WORKS.search(e.text) for e in named)


_WORKS = Pattern(r"(?i)\b(?:works?|worked|working|fine|ok|okay|runs|ran)\b")
_SERVED = Pattern(r"(?i)\bserver (?:up|is up|starts?|started|runs|is running)\b")
"""A program that serves, no machine."""
