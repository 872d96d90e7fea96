"""What somebody's plain words put first where the lines leave it open: where a library lies, which version is here, what lies over
what (logs/told_faults.py). It adds none that does not fit, and proves none."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Facts, Unread
from ..patterns import Pattern
from . import found_out, libraries, moved, setups, together
from .hints import strong
from .other_gpus import on_bus, without_nvidia

_ONE_PACKAGE = (2, 1)
_UNPACKS = "cudnn_cnn_infer64_"
"""The part of cuDNN that loads zlibwapi.dll."""
_MAJOR = Pattern(r"(?i)cudnn\w{0,20}(?:64_|\.so\.)(\d)\b")
_CUDNN = ("libcudnn", "cudnn64_", "cudnn_")


def plainly(facts: Facts) -> tuple[str, ...]:
    """The causes that go before all others that fit."""
    return tuple(dict.fromkeys(_said(facts)))


def _said(facts: Facts) -> Iterator[str]:
    said = facts.text.said
    yield from found_out.firstly(facts)
    yield from _compiler(facts)
    yield from _where_built(facts)
    if facts.system.secure_boot is True and said("unsigned-module-rejected", "key-not-enrolled-said"):
        yield "driver-secure-boot"
    if _majors_differ(facts) or any(_of_another_major(e.text) for e in said("cudnn-differs")):
        yield "cudnn-wrong-major"
    yield from _lost(facts)
    picks = facts.tensorflow.libraries
    lost = isinstance(facts.tensorflow.import_error, str) or (bool(picks) and not isinstance(picks, Unread))
    if said("cudnn-part-on-windows") and said("single-dll-fetched-said"):
        yield "cudnn-incomplete-install"
    if libraries.has_another_cublas(facts):
        yield "cublas-version-mismatch"
    if said("wrong-toolkit-said"):
        yield "ld-library-path-wrong-toolkit"
    if lost and said("one-account-works"):
        yield "ld-library-path-not-set"
    if said("complains-new-card-unfit"):
        yield "gpu-too-new-for-build"
    if said("complains-old-card-unfit"):
        yield "gpu-compute-capability-too-old"
    ends = said("traceback-cut") and not facts.text.shows_a_failure
    if said("complains-cuda-moved") or _linked_with_another(facts) or (ends and libraries.names_another(facts)):
        yield "cuda-version-mismatch"
    waits = said(*_WAITS) and not said("loss-is-nan")  # jit-cold-start
    if said("card-newer-than-build") and not said("library-not-loaded", "library-opened", *_OF_PEERS):
        yield "jit-cold-start" if waits else "gpu-too-new-for-build"
    if said("card-before-build") and not (said("library-not-loaded") or isinstance(facts.tensorflow.import_error, str)):
        yield "gpu-compute-capability-too-old"
    release = libraries.release_of(facts)
    apart = release is None or release < _ONE_PACKAGE  # later both are the same
    if apart and said("packages-overlap-said") and not said("library-not-loaded", "library-opened", "cuinit-failed"):
        yield "tf-packages-overlap"
    if said("namesake-said") and said("tf-lacks-attribute", "tf-hollow", "benign-api-of-tf1"):
        yield "tf-shadowed"
    if (
        said("gpu-not-among-devices", "device-not-available")
        and said("plain-pip-said")
        and (release or (1,)) < _ONE_PACKAGE
    ):
        yield "tf-cpu-only-package"
    if said("none-is-visible") and said("gpus-asked", "compose-named", "container-named"):
        yield "container-visible-devices-wrong"
    versions = {e.values.get("cuda") for e in said("nvidia-smi")}
    if "N/A" in versions and (len(versions) > 1 or isinstance(facts.system.container, str)):
        yield "container-capabilities-without-compute"  # libcuda is not inside
    if said("plain-package-said") and not said("library-not-loaded", "library-opened"):
        yield "tf-cpu-only-package"
    if said("only-root-has-it", "only-root-and-group") and facts.driver.libcuda.init_result != _UNKNOWN:
        yield "device-node-permission"
    if said("image-lacks-libcuda-said", "gpus-not-given-said"):
        yield "container-no-gpus-flag"
    if said("nvml-failed") and said("talks-of-colab", "in-colab") and not said("smi-works"):
        yield "colab-cpu-runtime"
    fails = isinstance(facts.tensorflow.import_error, str) or facts.tensorflow.devices == ()
    if fails and said("gpu-package", "names-cuda") and not facts.text.cards() and "amd-gpu" in without_nvidia(facts):
        yield "amd-gpu"
    if (
        said("other-finds-none")
        and said("several-programs")
        and said("beside-others-told")
        and not said("takes-much-told")
        and not facts.text.shows_a_failure
    ):
        yield "gpu-memory-held-by-other-process"
    if together.narrow_link(facts):
        yield "pcie-link-degraded"
    if together.peers_crawl(facts):
        yield "nccl-p2p-iommu-acs"
    if said("tasks-on-bridge") and said("second-machine-named", "several-machines"):
        yield "tf-config-address-unreachable"
    if said("module-not-built-said") and said("module-build-said"):
        yield "driver-module-not-loaded"
    if any(_breaks_off(e.values) for e in said("no-version")) or (said("list-ends-said") and _wants_later(facts)):
        yield "pip-too-old"
    if said("script-of-that-name") and said("import-failed", "tf-is-a-file") and not said("library-not-loaded"):
        yield "tf-shadowed"
    yield from _of_the_machine(facts)
    if not said("library-not-loaded", "cuinit-failed") and facts.driver.libcuda.path is not None:
        yield from moved.firstly(facts)


_WHOLE = Pattern(r"\d\.\d{1,2}\.\d{1,2}\w{0,5}$")
_LATER = Pattern(r"^[=~>]*=? ?(?:1\.15|2\.[0-9])")


def _breaks_off(asked: dict[str, str]) -> bool:
    """Whether pip's list of versions is cut off behind those for which each pip finds wheels, and one is asked for whose wheels an old
    pip does not see."""
    listed = [one.strip() for one in asked.get("versions", "").split(",")]
    cut = len(listed) > _SEVERAL and not _WHOLE.match(listed[-1])
    since = "1.13.1" in listed and "1.5.0" in listed and not {"1.15.0", "2.0.0"} & {*listed}
    return cut and since and _LATER.match(asked.get("spec", "")) is not None


_SEVERAL = 5
_ASKED = Pattern(r"(?i)\b(?:need|want|require|install|get)\w*\b[^.\n]{0,30}(?<![\w.])(?:1\.15|2\.\d)(?!\.0-?b)")


def _wants_later(facts: Facts) -> bool:
    """Whether a release is named whose wheels an old pip does not see."""
    told = [v for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split()]
    asked = any(_ASKED.search(e.text) for e in facts.text.said("list-ends-said"))
    return asked or any(tuple(map(int, one.split(".")[:2])) >= (1, 15) for one in told)


def _of_the_machine(facts: Facts) -> Iterator[str]:
    """A laptop's second GPU is not on the bus; the fabric of a machine with NVSwitch; a build that is linked with no CUDA."""
    said = facts.text.said
    if said("headers-missing") and said("build-failed"):  # without them it builds for no kernel
        yield "driver-module-not-loaded"
    vendors = on_bus(facts)
    others = vendors or (said("displays-listed") and said("other-gpu-mentioned"))
    hybrid, gone = said("hybrid-named"), said("card-gone-said")
    by_tool = hybrid and (others or gone or hybrid[0].line == 1)
    lost = bool(said("library-not-loaded", "cudnn-not-found"))
    works = said("smi-works") or isinstance(facts.gpu.driver_version, str)
    named = hybrid or said("laptop-named", "nvidia-gpu-named")
    if said("module-no-device") and said("no-card-told"):
        yield "no-nvidia-gpu"
    if said("module-finds-no-gpu") and said("module-no-device") and "nvidia" not in vendors and not named:
        yield "no-nvidia-gpu"
    absent = "nvidia" not in vendors and not works and not lost
    if absent and (by_tool or (said("laptop-named") and gone and others)):
        yield "optimus-gpu-powered-off"
    switched = [e.text for e in said("nvswitch-named") if _SWITCHED.search(e.text)]
    works = works or any("abric" in text for text in switched)
    lost = lost or facts.driver.libcuda.path is None
    none = facts.tensorflow.devices == () or said("torch-lacks-gpu", "says-no-gpu")
    if switched and works and none and not lost:
        yield "fabric-manager-not-running"
    if said("no-cuda-links-said") and not lost:
        yield "tf-cpu-only-package"


_SWITCHED = Pattern(r"(?i)nvswitch|\bHGX\b|\bfabric[- ]?manager")


def _compiler(facts: Facts) -> Iterator[str]:
    """CUDA's compiler, or what a build needs of the toolkit, is not found: it is not in the image, or on no path."""
    said = facts.text.said
    if not said("complains-nvcc-lost", "complains-toolkit-unfound"):
        return
    if any(_OF_LINUX.search(e.text) for e in said("toolkit-unfound-said")):
        yield "ld-library-path-not-set"  # a path of Linux is called on Windows
    elif said(*_IN_AN_IMAGE) and not any(
        _NVCC_THERE.search(e.text) for e in said("library-elsewhere-said", "toolkit-here-said")
    ):
        yield "cuda-toolkit-missing"
    elif said("library-elsewhere-said", "toolkit-here-said") or (
        said("complains-nvcc-lost") and any(e.values.get("cuda") for e in said("names-cuda"))
    ):
        yield "ld-library-path-not-set"  # its bin directory is on no path


_OF_LINUX = Pattern(r"\bbin/nvcc\b[^\n]{0,300}?[\s'\"][A-Za-z]:[\\/]")
_NVCC_THERE = Pattern(r"/bin/nvcc\b|/usr/local/cuda")
_IN_AN_IMAGE = ("in-a-container", "container-shell", "container-run", "talks-of-a-container", "container-named")


def _where_built(facts: Facts) -> Iterator[str]:
    """An image is built, or a test runs, on a machine that has no GPU."""
    said = facts.text.said
    if facts.driver.libcuda.init_result == _NO_DEVICE and said("image-built-said"):
        yield "container-no-gpus-flag"
    asked = [e.values.get("which", "") for e in said("requirements-installed-said")]
    if len(asked) > 1 and {"", "cpu"} & {*asked[:-1]} and asked[-1] not in ("", "cpu"):
        yield "tf-packages-overlap"  # one over the other


_NO_DEVICE, _UNKNOWN = 100, 999


def _majors_differ(facts: Facts) -> bool:
    """Somebody tells which cuDNN is asked for, and that another one is here."""
    said, picks = facts.text.said, facts.tensorflow.libraries
    names = [] if isinstance(picks, Unread) else [p.soname for p in picks]
    parts = said("cudnn-part-on-windows", "cudnn-lacks-part", "cudnn-part-missing")
    lost = {found[1] for text in (*names, *(e.text for e in parts)) if (found := _MAJOR.search(text))}
    asked = {e.values["major"] for e in said("cudnn-asked-said")} or lost
    here = {e.values["major"] for e in said("cudnn-here-said")}
    return bool(asked and here) and not asked & here


_BUILT_AND_FOUND = Pattern(
    r"compiled {1,4}against \((\d+), \d+, \d+\) but (?:found runtime version|linked against) \((\d+),|Found cuDNN version (\d)\d{3,4}, but JAX was built against version (\d)\d{3,4},|libcudnn v(\d) with header v(\d) unmatched|compiled with CUDNN (\d+)\.\d+, but CUDNN version in your machine is (\d+)"
)


def _of_another_major(text: str) -> bool:
    """Whether a program that was built with one cuDNN finds one of another major version."""
    found = _BUILT_AND_FOUND.search(text)
    return found is not None and len({one for one in found.groups() if one}) > 1


_OF_PEERS = ("p2p-named", "peer-refused", "tf-peers-apart")
"""Who speaks of these has several cards that work."""
_WAITS = ("takes-long", "slow-named", "start-takes-minutes", "start-is-slow", "compiles-for-minutes-said")
_AT_WORK = (
    *_WAITS, "gpu-is-slow", "device-created", "device-found", "library-opened", "lists-gpus", "conda-brings-cuda", "memory-short-told", "loss-is-nan",
    "nvidia-smi-not-found",
)  # fmt: skip
"""Who tells these has come further, or has another matter."""


def _linked_with_another(facts: Facts) -> bool:
    """Whether nothing but a complaint is told, and a CUDA that this release, a package for GPUs, is not linked with or built for."""
    said = facts.text.said
    if not said("gpu-package", "wants-gpu", "nvidia-gpu-named") or said(*_AT_WORK) or facts.text.shows_a_failure:
        return False
    another = libraries.names_another_than_linked(facts) or libraries.names_another(facts)
    return facts.tensorflow.devices != () and another


def _lost(facts: Facts) -> Iterator[str]:
    """A library is lost: cuDNN's only DLL that somebody fetched, a file that lies elsewhere, or nothing but the toolkit is here."""
    said = facts.text.said
    picks = facts.tensorflow.libraries
    names = [] if isinstance(picks, Unread) else [p.soname for p in picks]
    parts = said("cudnn-part-on-windows", "cudnn-lacks-part", "cudnn-part-missing")
    if any("libnvrtc" in e.text for e in parts):  # what the part itself needs is not there
        return
    of_cudnn = (
        bool(parts) or bool(said("cudnn-not-found")) or (bool(names) and all(n.startswith(_CUDNN) for n in names))
    )
    if not (names or of_cudnn):
        yield from _named_alone(facts)
        return
    if "libcuda.so.1" in names:
        return
    firm = {*strong(facts), *setups.speaks(facts)}
    if firm & {"cudnn-wrong-major", "zlibwapi-missing", "pip-nvidia-libs-not-found", "cuda-version-mismatch"}:
        return
    if said("fails-under-sudo", "run-by-sudo") or (names and libraries.fitting(facts)[:1] == ("cudnn-wrong-major",)):
        return
    if said("file-is-there") and any(_UNPACKS in e.values.get("library", "") for e in parts):
        return  # the file is there: what it needs is not
    if parts and said("single-dll-fetched-said"):
        yield "cudnn-incomplete-install"
        return
    elsewhere = said("library-elsewhere-said", "cudnn-works-elsewhere", "built-from-source-said") or said(
        *(("cudnn-copied",) if of_cudnn else ("toolkit-here-said", "toolkit-had-said"))
    )
    if elsewhere:
        another = _is_of_another(facts, names)
        if not another:
            yield "ld-library-path-not-set"
            return
        if said("toolkit-had-said") and not of_cudnn:
            yield "cuda-version-mismatch"
            return
    if of_cudnn and _has_the_toolkit_alone(facts) and not said("cudnn-loaded"):
        yield "cudnn-missing"


_RUNTIME = Pattern(r"(?:cudart|cublas)(?:64_|\.so\.)(?P<version>\d{1,3}(?:\.\d)?)")


_TOOLKIT = Pattern(r"(?i)\btoolkit v?(\d{1,2}\.\d)")


_HAD = Pattern(r"(?i)\b(?:installed|have|got|ran) (?:the |nvidia )*cuda(?: toolkit)? ?v?(\d{1,2}(?:\.\d)?)\b")


def _is_of_another(facts: Facts, names: list[str]) -> bool:
    """Whether a library that is lost is not of the CUDA that is named."""
    told = [e for e in facts.text.said("names-cuda", "names") if "Download and install" not in e.text]
    here = [e.values["cuda"] for e in told if e.values.get("cuda")]
    here = [one for each in here for one in each.split()]
    here += [found[1] for e in facts.text.said("toolkit-here-said") if (found := _TOOLKIT.search(e.text))]
    here += [found[1] for e in facts.text.said("toolkit-had-said") if (found := _HAD.search(e.text))]
    wanted = {found["version"].replace(".", "") for name in names if (found := _RUNTIME.search(name))}
    numbers = {(one[:-1], one[-1]) if len(one) > 2 or one[0] in "6789" else (one, "") for one in wanted}
    fits = any(_serves(one.partition("."), number) for one in here for number in numbers)
    return libraries.names_another(facts) or (bool(here and numbers) and not fits)


def _serves(here: tuple[str, str, str], wanted: tuple[str, str]) -> bool:
    """Whether a CUDA brings the library of another's number: up to 10 the minor version counts, too."""
    major, minor = wanted
    exact = bool(minor and here[2]) and (major == "10" or len(major) == 1)
    return here[0] == major and (not exact or here[2][0] == minor)


_FILE = Pattern(r"(?i)\b(?:lib)?(?:cudnn|cublas|cudart|cufft|cusolver|cusparse|curand)\w{0,20}\.(?:dll|so)\b")


def _named_alone(facts: Facts) -> Iterator[str]:
    """No line tells that a library is lost, and somebody who complains names one."""
    said = facts.text.said
    if facts.text.shows_a_failure or facts.tensorflow.devices == ():
        return
    if any(_FILE.search(e.text) for e in said("single-dll-fetched-said")):
        yield "cudnn-incomplete-install"
    elif any(_FILE.search(e.text) for e in said("library-elsewhere-said")):
        yield "ld-library-path-not-set"
    elif said("cudnn-part-named") and _has_the_toolkit_alone(facts):
        yield "cudnn-missing"


def _has_the_toolkit_alone(facts: Facts) -> bool:
    """A CUDA is named as installed, and nobody speaks of a cuDNN that is."""
    said = facts.text.said
    brought = said(
        "cudnn-had-said", "cudnn-mentioned", "cudnn-named", "file-is-there", "wheels-asked", "conda-brings-cuda", "cudnn-works-elsewhere",
        "shows-file", "wheel-libs-named", "names-extra", "cudnn-package", "image-with-cudnn",
    )  # fmt: skip
    cudas = [e for e in said("names-cuda") if e.values.get("cuda")]
    named = any("cudnn" in e.values for e in said("names-cuda"))
    alone = bool(cudas or said("toolkit-had-said")) and not named and not brought
    return alone or bool(said("only-toolkit-said"))
