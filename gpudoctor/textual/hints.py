"""Circumstances that make one of the causes left the likely one: it goes first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Facts
from ..patterns import Pattern
from . import libraries, memory, pace, setups, together, visible
from .fitting import NOT_WHOLE, gpus_asked, library_is_older, removed
from .likeness import reads_like_another
from .other_gpus import without_nvidia


def hinted(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """`fits` with those first for which the text has a hint. None is added."""
    first = tuple(dict.fromkeys(cause for cause in _hints(facts) if cause in fits))
    return (*first, *(cause for cause in fits if cause not in first))


def _hints(facts: Facts) -> Iterator[str]:
    said = facts.text.said
    yield from setups.speaks(facts)
    yield from together.speaks(facts)
    yield from pace.speaks(facts)
    release = libraries.release_of(facts)
    if any(_BLACKWELL.search(e.values.get("cards", "")) for e in said("names")) and (release or (0,)) < _FOR_BLACKWELL:
        yield "gpu-too-new-for-build"
    if said("address-space-limited"):
        yield "address-space-limit"
    if said("libdevice-named"):
        yield "libdevice-missing"
    held = {e.values.get("driver") for e in said("gpu-driver", "gpu-held-by")}
    if "vfio-pci" in held:
        yield "gpu-bound-to-vfio"
    if "nouveau" in held or said("nouveau-loaded"):
        yield "driver-nouveau-conflict"
    if facts.system.secure_boot is True or said("unsigned-module-rejected", "secure-boot-named"):
        yield "driver-secure-boot"
    if said("gpu-switched-off", "prime-intel", "laptop-mode"):
        yield "optimus-gpu-powered-off"
    if facts.system.wsl is True or said("wsl-named"):
        if (
            said("desktop-named")
            and said("gpus-asked")
            and said("on-windows")
            and not said("docker-of-snap", "snap-named")
        ):
            yield "wsl-driver-toolkit-mismatch"
        yield "wsl-libcuda-path"
    if said("fabric-version-named"):
        yield "fabric-manager-version-mismatch"
    lib = facts.driver.libcuda
    inside = isinstance(facts.system.container, str) or said("container-shell")
    asked = (*gpus_asked(facts), *said("on-a-host"))
    if lib.init_result == _MISMATCH and _started_in_container(facts):
        yield "cuda-compat-unsupported"
    if said("docker-of-snap") or setups.of_snap(facts):
        yield "container-snap-docker"
    if said("desktop-named") and not said("on-windows", "on-a-mac"):
        yield "container-docker-desktop-linux"
    if lib.path is None and (inside or said("container-named")) and said("ldconfig-cures"):
        yield "container-ldconfig-path"
    if said("driver-elsewhere"):
        yield "container-driver-root-wrong"
    if said("driver-versions-differ") and library_is_older(facts):
        yield "cuda-compat-unsupported"
    if said("cgroups-changed"):
        yield "container-cgroupv2-unsupported"
    if said("label-off-in-vain"):
        yield "device-node-permission"
    if said("rootless"):
        yield "container-rootless-cgroups"
    if said("container-driver-request") and said("on-windows"):
        yield "wsl-driver-toolkit-mismatch"
    if said("runc-gives-none"):
        yield "container-runtime-not-default"
    if facts.system.container == "kubernetes" and said("runtime-class-named"):
        yield "container-runtime-not-default"
    if (facts.system.container == "kubernetes" and said("nvidia-smi-not-inside")) or (
        said("cluster-named") and said("pod-lacks-nvml-said")
    ):
        yield "container-runtime-not-default"
    if facts.gpu.nvml_error == _REFUSED and said("label-named") and not said("no-selinux", "label-off-in-vain"):
        yield "lsm-denied"
    if said("container-detects-none"):
        yield "container-host-driver-broken"
    if said("illegal-address"):
        yield "xid13-31-43-app-or-gpu-fault"
    if said("mig-named"):
        yield "mig-single-instance-limit"
    if said("pageable-copy", "pageable-measured"):
        yield "h2d-pageable"
    cards = facts.text.cards()
    if (
        said("collective-hangs", "hangs-off-nvlink", "p2p-named")
        and cards
        and all(_WITHOUT_PEERS.search(name) for name in cards)
    ):
        yield "p2p-unsupported-geforce"
    if said("collective-hangs") and said("nvls-bound") and not said("nccl-transport"):
        yield "nccl-nvls-fabric-manager"
    stalls = said("collective-hangs", "several-compute-wrongly", "peer-copies-wrong")
    between = said("several-machines") and not said("one-machine", "machines-compared")
    if stalls and said("amd-processor-named") and not between:  # whose IOMMU is on as it comes
        yield "nccl-p2p-iommu-acs"
    if between:
        yield "nccl-wrong-interface"
    if len({e.values["host"] for e in said("nccl-host")}) > 1:
        yield "nccl-wrong-interface"
    lacks = lib.path is None or lib.init_result in (-1, 34) or facts.driver.kernel_version is None
    works = {e.line for e in said("host-works")}
    handed = works and said("container-named") and all(e.line in works for e in asked)
    by_hand = (lib.path is None or not facts.text.shows_a_failure) and said("nodes-by-hand")
    none = lib.path is None or lib.init_result == _NO_DEVICE
    composed = none and said("compose-named", "devcontainer-named") and not asked
    if (
        (inside and not asked and lacks)
        or (_names_container_first(facts) and not asked and not reads_like_another(facts, "container-no-gpus-flag"))
        or (lib.path is None and any("://" not in e.text for e in said("container-named")) and not asked)
        or by_hand
        or composed
        or (lacks and handed)
    ):
        yield "container-no-gpus-flag"
    elif lib.path is None and isinstance(facts.driver.kernel_version, str):
        yield "driver-libcuda-not-on-path"
        yield "container-capabilities-without-compute"
    if (
        said("nvidia-smi-not-found")
        and isinstance(facts.gpu.driver_version, str)
        and said("container-named", "container-shell")
    ):
        yield "container-no-gpus-flag"
    if said("other-pods-have-it"):
        yield "container-no-gpus-flag"
    if said("nix-path") or (lib.path is None and said("built-by-nix", "nixos-named") and not inside):
        yield "driver-libcuda-not-on-path"
    if (said(*_SEES_NONE) or lib.init_result == _NO_DEVICE) and not said("smi-works") and setups.is_colab(facts):
        yield "colab-cpu-runtime"
    if said("laptop-tool") and lib.path is None:  # which keeps the driver's libraries off the loader's path
        yield "driver-libcuda-not-on-path"
    if said("laptop-tool") and not (lib.init_result == _UNKNOWN and isinstance(lib.version, str)):
        yield "optimus-gpu-powered-off"
    if said("suspended", "left-idle-said"):
        yield "cuinit-unknown-after-suspend"
    if said("root-works"):
        yield "cuinit-uvm-device-missing"
        yield "device-node-permission"
    if said("protobuf-named"):
        yield "protobuf-mismatch"
    if said("device-not-available") and str(facts.tensorflow.version).startswith(("0.", "1.", "2.0")):
        yield "tf-cpu-only-package"
    if isinstance(facts.tensorflow.import_error, str) and (
        libraries.names_another_than_linked(facts) or said("cuda-required")
    ):
        yield "cuda-version-mismatch"
    if said("linker-avoided"):
        yield "driver-too-old-for-ptx"
    made = said("handle-failed", "handle-not-made", "handle-without-memory")
    if said("card-was-changed", "loss-is-nan") and not said("only-several-wrong", "several-compute-wrongly"):
        yield "gpu-too-new-for-build"
    if not made and any("EXECUTION_FAILED" in e.text for e in said("cudnn-failed")):
        yield "gpu-too-new-for-build"
    if any(_of_windows(e.values) for e in said("no-version")):
        yield "tf-windows-native-cpu-only"
    if facts.system.system == "Darwin" and said("torch-without-cuda"):
        yield "tf-macos-no-cuda"
    if said("run-by-sudo"):
        yield "sudo-stripped-environment"
    if lib.init_result == _NO_DEVICE and {e.values.get("value") for e in said("gpu-chosen")} - {"0"}:
        yield "cuda-visible-devices-wrong"
    if said("wheel-libs-named") and said("file-is-there"):
        yield "pip-nvidia-libs-not-found"
    if said("cuda-change-helps") or libraries.asks_for_another(facts):
        yield "cuda-version-mismatch"
    lost = _parts_lost_on_windows(facts)
    if lost and (said("file-is-there") or any(name.startswith(_UNPACKS) for name in lost)):
        yield "zlibwapi-missing"  # the file is there, or may be: what it needs is not
    if said("conda-brings-cuda") and not libraries.names_another(facts):
        yield "ld-library-path-not-set"
    there = said("ide-named", "file-is-there", "service-named", "cudnn-works-elsewhere")
    if said("shell-works") or (there and not libraries.names_another(facts)):
        yield "ld-library-path-not-set"
    if said("less-data-works") and said(
        "copy-finds-no-room", "allocation-refused", "out-of-memory", "resource-exhausted"
    ):
        yield "gpu-oom-model-or-data"
    if said("several-programs", "context-not-made") and said("allocation-refused", "out-of-memory"):
        yield "gpu-memory-held-by-other-process"
    if said("another-framework"):
        yield "tf-preallocates-all-memory"
    if said("stubs-on-path") and facts.driver.kernel_version is not None:
        yield "libcuda-stub-loaded"
    if removed(facts):
        yield "driver-missing"
    if said("toolkit-absent-said") and not said("library-opened"):
        yield "cuda-toolkit-missing"
    if said("image-without-cuda") and said("library-not-loaded"):
        yield from ("cuda-libs-missing", "cuda-toolkit-missing")
    if said("growth-helps"):
        yield from ("gpu-memory-handle-alloc", "tf-preallocates-all-memory")
    if any(_is_newer(e.values["fails"], e.values["works"]) for e in said("card-decides")):
        yield "gpu-too-new-for-build"
    if facts.tensorflow.directory is None and said("notebook-lacks-tensorflow", "in-a-notebook", "notebook-fails"):
        yield "jupyter-kernel-other-environment"
    yield from without_nvidia(facts)


def _parts_lost_on_windows(facts: Facts) -> list[str]:
    """Parts of cuDNN that Windows does not load for a module that is not found: their own file, or one that they need."""
    told = facts.text.said("cudnn-part-on-windows")
    return [e.values.get("library", "") for e in told if e.values.get("code") == "126"]


_UNPACKS = "cudnn_cnn_infer"
"""The part of cuDNN 8 that loads zlibwapi.dll itself."""
_WITH_ZLIB, _OF_9 = 8300, 90000
"""cuDNN's numbers of the releases for Windows that need zlibwapi.dll: 8.3 to 8.9."""
_GENERATIONS = ("k", "m", "p", "v", "t", "a", "l", "h", "b")
"""Letters of NVIDIA's products for servers, by age."""


def _is_newer(card: str, than: str) -> bool:
    """Whether a card is of a later generation, by their names; not where one is of another series."""
    one, other = (re.sub(r"^(?:(?:rtx|gtx|geforce|tesla|quadro|titan) ?)+", "", name.lower()) for name in (card, than))
    if one[0].isdigit() and other[0].isdigit():
        return int(one[:2]) % 100 > int(other[:2]) % 100
    letters = [name.lstrip("g")[:1] for name in (one, other)]
    return all(c in _GENERATIONS for c in letters) and _GENERATIONS.index(letters[0]) > _GENERATIONS.index(letters[1])


def _started_in_container(facts: Facts) -> bool:
    """A container was started, which NVIDIA's tool refuses where the host's own driver is of two releases."""
    named = isinstance(facts.system.container, str) or facts.text.said("container-run", "container-named")
    return bool(named) and not facts.text.shows("container-does-not-start")


_MISMATCH = 803
"""cuInit's answer: libcuda is of another release than the kernel module."""
_BLACKWELL = Pattern(r"(?:^|\||RTX )50[5-9]0|\bB[23]00\b|\bGB10\b|RTX PRO")
_FOR_BLACKWELL = (2, 21)  # RUNS_PTX of the checks
_SEES_NONE = ("smi-not-found", "says-no-gpu", "cuda-sees-none", "program-finds-none")
_NO_DEVICE, _REFUSED = 100, 4
"""cuInit's answer, and NVML's."""
_WITHOUT_PEERS = Pattern(r"(?:RTX ?|GeForce |^)(?:20[678]|[45]0[5-9])0(?!\d)", re.IGNORECASE)
"""GeForce cards that have no NVLink, or need a bridge for it."""


def _of_windows(asked: dict[str, str]) -> bool:
    """Whether pip lists a tensorflow-gpu as Windows has it: 2.11 was published for Linux only, for the same Pythons as 2.10."""
    listed = asked.get("versions", "")
    return (
        asked.get("name") == "tensorflow-gpu"
        and "2.10." in listed
        and "2.11" not in listed
        and "2.12" not in listed
        and bool(re.match(r"==? ?2\.11", asked.get("spec", "")))
    )


def proven(facts: Facts, fits: tuple[str, ...]) -> tuple[str, ...]:
    """`fits` with those first that a program's line or the names of the cards speak for, whatever the text reads like."""
    said = facts.text.said
    meant = (*strong(facts), *setups.firmly(facts), *memory.firstly(facts), *together.firstly(facts))
    first = tuple(cause for cause in meant if cause in fits)
    if facts.text.said("riser-named") and "pcie-link-degraded" in fits:
        first = (*first, "pcie-link-degraded")
    if facts.text.said("module-not-listed") and facts.text.said(*_INSTALLED):
        first = (*first, "driver-module-not-loaded")
    fits = tuple(dict.fromkeys((*first, *fits)))
    if facts.text.said("nvidia-gpu-named") or facts.text.cards():
        fits = _last(fits, {"amd-gpu"})
    if (
        facts.text.said("iommu-is-off")
        and facts.text.said("p2p-off-tried", "p2p-cure")
        and "p2p-unsupported-geforce" in fits
    ):
        fits = tuple(dict.fromkeys(("p2p-unsupported-geforce", *first, *fits)))
    reach = facts.text.said("peers-together") and not facts.text.said("peer-refused", "tf-peers-apart")
    if reach or ((cards := facts.text.cards()) and not any(_GEFORCE.search(name) for name in cards)):
        fits = _last(fits, {"p2p-unsupported-geforce"})
    if (
        facts.text.said("no-version")
        and not facts.text.said("gpu-package", "no-cuda-wheel")
        and not _asks_for_gpu(facts)
    ):
        fits = _last(fits, _OF_BUILDS)
        if facts.text.said("apple-silicon"):
            others = {c for c in fits if c != "tf-aarch64-no-wheel"}
            fits = _last(_last(fits, others), {"python-32bit"})  # its Python is one of 64 bit
    against = {cause for kind, cause in _AGAINST.items() if facts.text.said(kind)} | together.unlikely(facts)
    unfit = said("new-card-unfit-said") or (said("no-kernel-image") and any(map(_BLACKWELL.search, facts.text.cards())))
    fits = _last(fits, against - {"gpu-too-new-for-build"} if unfit else against)
    if _is_handed_gpus(facts):
        here = (
            {"container-toolkit-missing"} if facts.text.said("ngc-no-driver") else set()
        )  # without it, it would not start
        fits = _last(_last(fits, here), {"container-no-gpus-flag"})
    if setups.is_colab(facts):
        fits = _last(fits, _OF_BUILDS)
    if (
        facts.text.said("nv-said") or any("--nv" in e.text for e in facts.text.said("gpus-asked"))
    ) and not facts.text.said("apptainer-run", "no-nv-said"):
        fits = _last(fits, {"apptainer-no-nv"})
    if fits[:1] == ("jit-cache-unwritable",) and not facts.text.said("compute-cache-named", "cache-not-kept"):
        fits = (*(c for c in fits if c == "jit-cold-start"), *(c for c in fits if c != "jit-cold-start"))
    return visible.ordered(facts, fits)


_OF_BUILDS = {"tf-macos-no-cuda", "tf-windows-native-cpu-only"}
"""Who asks for the package tensorflow is not refused for want of CUDA."""


def _asks_for_gpu(facts: Facts) -> bool:
    """pip is asked for a package that has CUDA."""
    return any("gpu" in e.values.get("name", "") for e in facts.text.said("no-version"))


_GEFORCE = Pattern(r"(?i)geforce|\b[gr]tx|titan|^[345]0[5-9]0")


def _last(fits: tuple[str, ...], unlikely: set[str]) -> tuple[str, ...]:
    """`fits` with these behind all others."""
    return (*(cause for cause in fits if cause not in unlikely), *(cause for cause in fits if cause in unlikely))


_AGAINST = {
    "alone-there": "gpu-memory-held-by-other-process",
    "without-containers": "container-no-gpus-flag",
    "container-computes-said": "container-no-gpus-flag",
    **dict.fromkeys(("card-fits-build", "card-before-build"), "gpu-too-new-for-build"),
    "device-asked": "driver-too-old",  # deviceQuery has worked
}
"""Kind of a line -> the cause that it speaks against."""


_INSTALLED = ("driver-installed-said", "driver-package", "driver-release", "dkms-status")
_UNKNOWN = 999
"""cuInit's answer for an error that it has no name for."""


def strong(facts: Facts) -> Iterator[str]:
    """What a program's line or the names of the cards speak for."""
    said = facts.text.said
    if any(_OF_A_TOOLKIT.search(e.text) for e in said("libraries-mixed", "cublas-mixed")):
        yield "ld-library-path-wrong-toolkit"
    if any(_TWO_CUDNN.search(e.text) for e in said("libraries-mixed")):
        yield "cudnn-version-mismatch"
    if isinstance(facts.tensorflow.import_error, str) and libraries.names_another_than_linked(facts):
        yield "cuda-version-mismatch"
    found = [e.values["capability"] for e in said("device-found", "device-asked") if "capability" in e.values]
    release = libraries.release_of(facts)
    if found and release is not None and release >= (2, 0) and all(one in _BEFORE_MINIMUM for one in found):
        yield "gpu-compute-capability-too-old"
    old = said("swig-import") or (release is not None and _WITH_AVX <= release < (2, 0))
    if said("root-works") and facts.driver.libcuda.init_result == _UNKNOWN:
        yield "cuinit-uvm-device-missing"
        yield "device-node-permission"
    if said("label-off-in-vain"):
        yield "device-node-permission"
    if together.peers_crawl(facts):
        yield "nccl-p2p-iommu-acs"
    lost = [e.values.get("library", e.text) for e in said("cudnn-part-on-windows", "cudnn-lacks-part")]
    wanted = {major[1] for one in lost if (major := _MAJOR.search(one))}
    here = {e.values["major"] for e in said("cudnn-major-said")}
    if wanted and here and not wanted & here:
        yield "cudnn-wrong-major"
    loaded = [int(e.values["version"]) for e in said("cudnn-loaded") if e.values.get("version", "").isdigit()]
    if _parts_lost_on_windows(facts) and any(_WITH_ZLIB <= version < _OF_9 for version in loaded):
        yield "zlibwapi-missing"
    if said("old-not-offered"):
        yield "python-version-unsupported"
    elsewhere = said("is-installed-elsewhere", "lists-gpus", "release-beside-list")
    apart = said("notebook-differs") or (said("terminal-imports") and said("in-a-notebook", "notebook-fails"))
    apart = apart or (said("in-a-notebook") and (elsewhere or (said("shell-works") and said("notebook-fails"))))
    if said("notebook-lacks-tensorflow") or (apart and not isinstance(facts.tensorflow.directory, str)):
        yield "jupyter-kernel-other-environment"
    yield from libraries.speaks(facts, bool(apart))
    newer = [e for e in said("processor-with-avx") if not _WORKS_ON_ANOTHER.search(e.text)]
    loads = said("dll-routine") or (said("swig-import") and facts.tensorflow.import_error == NOT_WHOLE)
    if loads and said("processor-without-avx") and not newer:
        yield "cpu-no-avx"
    if said("dll-routine") and old and not newer and (release is None or release >= _WITH_AVX):
        yield "cpu-no-avx"
    ends_in = {e.values["package"] for e in said("import-ends-in")}
    if said("dll-procedure") and ends_in == {"google"}:
        yield "protobuf-mismatch"
    if (
        ends_in
        and not ends_in & _NAMED_OF_THEIR_OWN
        and facts.tensorflow.loader_ok is not False
        and not _loads_a_file(facts)
    ):
        yield "tf-import-broken"
    if setups.for_processors(facts):
        yield "tf-cpu-only-package"
    if said("notebook-for-processors") and not said("library-not-loaded"):
        yield "tf-cpu-only-package"
    failed, cards = said("gemm-failed", "cublas-failed", "handle-failed"), facts.text.cards()
    if failed and said("memory-not-it-said") and release is None and cards and all(_AMPERE.search(c) for c in cards):
        yield "gpu-too-new-for-build"
    yield from without_nvidia(facts)


_NAMED_OF_THEIR_OWN = {"google", "numpy"}
"""Packages whose faults have names of their own."""


def _loads_a_file(facts: Facts) -> bool:
    """Whether the import ends where the system loads a library: what is amiss with it is another matter."""
    return bool(
        facts.text.said("dll-absent", "dll-procedure", "dll-routine", "glibc", "libstdcxx", "numpy-message")
    ) or (".so" in str(facts.tensorflow.import_error))


_AMPERE = Pattern(
    r"(?i)\b(?:RTX ?)?(?:30[5-9]0|40[5-9]0)\b|\bRTX ?A\d{4}|\bA(?:100|10|30|40|6000)\b|\bL40S?\b|\bH[12]00\b"
)
"""Cards that need CUDA 11 at least, which no TensorFlow before 2.4 is built for."""
_WITH = r"(?:i[3579]-?\d{4,5}[A-Z]{0,2}|Ryzen[^.\n]{0,16}|Xeon[^.\n]{0,20}|\d\d?th gen)\b"
_WORKS_ON_ANOTHER = Pattern(
    rf"(?i)\b{_WITH}(?:(?!\b(?:not|never|fails?|same(?! (?:\w+ )?(?:env\w*|wheel|package|install|version|script|code|file|setup|python))|neither|but)\b|n't\b)[^.\n?]){{0,60}}?\b(?:works?|worked|ok|okay|fine|runs|ran|imports|no (?:problem|error|issue)s?)\b"
    rf"|(?<!not )(?<!n't )\b(?:works?|worked|ok|okay|fine|runs|ran|imports) (?:\w+ ){{0,3}}?(?:on|with) (?:[\w']+ ){{0,4}}?{_WITH}"
)
"""It does on a machine whose processor has AVX."""
_MAJOR = Pattern(r"cudnn\w{0,20}(?:64_|\.so\.)(\d)\b")
_WITH_AVX = (1, 6)
"""Since then its packages need it; those before 2.1 end so on a processor without."""
_BEFORE_MINIMUM = ("1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "3.0", "3.2")
"""Below 3.5, which TensorFlow 2.0 asks for: https://www.tensorflow.org/install/gpu."""
_TWO_CUDNN = Pattern(r"libcudnn_\w{2,20}\.so[.\d]{0,8} ?: ?undefined symbol\b[^\n]{0,160}\bversion libcudnn")
"""Parts of two releases: one asks the other for what it does not have."""
_OF_A_TOOLKIT = Pattern(
    r"/cuda[-/]\d{1,2}\.\d{1,2}/[^\s:]{0,120}lib\w{2,20}\.so[.\d]{0,12}: (?:undefined symbol|version)"
)
"""A library of a toolkit lacks what another version's brings."""


def _names_container_first(facts: Facts) -> bool:
    """The title of a complaint that no program's line explains names a container."""
    lib = facts.driver.libcuda
    weak = (
        lib.path is not None
        and not isinstance(lib.init_result, int)
        and not facts.text.shows("container-does-not-start")
    )
    return weak and any(e.line == 1 for e in facts.text.said("container-named"))


def _is_handed_gpus(facts: Facts) -> bool:
    """GPUs are asked for where the container in question is started, and nowhere is one started without."""
    said = facts.text.said
    if said("nv-said"):
        return True
    if said("run-without-gpus", "gpus-asked-too-late", "zero-gpus-asked", "no-nv-said", "kernel-module-absent"):
        return False
    if any(_ON_TRIAL.search(e.text) for e in said("gpus-asked")):
        return False
    works = {e.line for e in said("host-works")}
    asked = [e for e in gpus_asked(facts) if e.line not in works and " nvidia-smi" not in e.text]
    if said("compose-file", "compose-named", "devcontainer-named"):
        asked = [e for e in asked if not any(word in e.text for word in ("docker", "podman", " run "))]
    return bool(asked)


_ON_TRIAL = Pattern(
    r"(?i)\b(?:solv\w*|fix\w*|works?|worked|add\w*|needs?|needed|should|must|lack\w*|miss\w*|forg\w*|without|no|not|instead|if|helps?|helped|docs?|documentation|readme|tutorial)\b|n't\b"
)
"""Who says so of --gpus has not used it where it fails."""
