"""Which causes fit CUDA libraries that TensorFlow can't open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..compat.built_for import built_for
from ..facts import Facts, Unread
from ..patterns import Pattern

_ALL = (
    "cuda-version-mismatch", "ld-library-path-not-set", "cuda-libs-missing", "cuda-toolkit-missing",
    "pip-nvidia-libs-not-found", "cudnn-wrong-major", "cudnn-missing", "ld-library-path-wrong-toolkit",
    "cuda-lib-from-other-toolkit", "wheel-damaged", "cu12-cu13-wheel-clash", "cuda-lib-unusable",
    "sudo-stripped-environment", "tf-wheel-runpath-gap",
)  # fmt: skip
_CUDNN = (
    "cudnn-missing", "ld-library-path-not-set", "cudnn-wrong-major", "pip-nvidia-libs-not-found", "cuda-libs-missing",
    "cudnn-incomplete-install", "cuda-lib-unusable", "wheel-damaged", "cu12-cu13-wheel-clash",
)  # fmt: skip
_RELEASES = {
    1934: (2, 10), 1956: (2, 12), 1960: (2, 13), 2211: (2, 14), 2256: (2, 15), 2251: (2, 16), 2343: (2, 17), 2344: (2, 18),
    2341: (2, 19), 2342: (2, 20), 2365: (2, 21),
}  # fmt: skip
"""Line of gpu_device.cc that says 'Cannot dlopen' -> the release. Source: tests/logs/corpus."""
_GAP = (2, 21)
"""Its wheel does not look where its extra puts libcusolver.so.11."""


def fitting(facts: Facts) -> tuple[str, ...]:
    """The causes, the likely ones first; without those that came with a later release."""
    release, fits = release_of(facts), _fitting(facts)
    if release is None or release >= _WHEELS_SINCE:
        return fits
    return tuple(cause for cause in fits if cause not in _OF_WHEELS)


_WHEELS_SINCE = (2, 12)
_OF_WHEELS = ("pip-nvidia-libs-not-found", "tf-wheel-runpath-gap", "cu12-cu13-wheel-clash", "wheel-damaged")
"""Before, TensorFlow knew nothing of libraries that pip installs."""


def _fitting(facts: Facts) -> tuple[str, ...]:
    picks = facts.tensorflow.libraries
    lost = [] if isinstance(picks, Unread) else [p.soname for p in picks]
    release = release_of(facts)
    if lost and all(name.startswith(("libcudnn.", "cudnn64_")) for name in lost):
        other = other_cudnn(facts, lost)
        first = {True: "cudnn-wrong-major", False: "ld-library-path-not-set", None: _CUDNN[0]}[other]
        return tuple(dict.fromkeys((first, *_CUDNN)))
    stopped = [] if isinstance(picks, Unread) else [p.stopped_by for p in picks if p.stopped_by]
    if stopped:
        return _first("cuda-lib-from-other-toolkit", "cuda-libs-missing", "cuda-version-mismatch")
    if _is_of_another_path(facts):
        return _first("cuda-version-mismatch", "ld-library-path-not-set")
    if lost == ["libcusolver.so.11"] and release in (None, _GAP) and _is_new(facts, release):
        return _first("tf-wheel-runpath-gap", "cuda-libs-missing")
    if facts.text.said("cudnn-not-found"):
        return _CUDNN
    if lost == [_OF_ALL] and not _names_a_toolkit(facts):
        return _first("cuda-libs-missing", "ld-library-path-not-set", "cuda-toolkit-missing")
    opened = [e.values.get("library", "") for e in facts.text.said("library-opened")]
    if lost and all(_SOLVER.match(name) for name in lost) and any(_OF_11.match(name) for name in opened):
        return _first("cuda-version-mismatch", "cuda-libs-missing", "ld-library-path-not-set")
    if any(name.endswith((".dll", ".dylib")) for name in lost):
        likely = ("ld-library-path-not-set",) if _names_a_toolkit(facts) else ("cuda-toolkit-missing",)
        return tuple(c for c in _first(*likely, "cuda-version-mismatch") if c not in _LINUX_ONLY)
    if lost and (any(name.startswith(_FIRST_OF_ALL) for name in opened) or _all_but_some(facts, lost)):
        return _first("cuda-libs-missing", "cuda-version-mismatch", "ld-library-path-not-set")
    if facts.text.said("nvcc-absent") and not _names_a_toolkit(facts) and not facts.text.said("names-extra"):
        return _first("cuda-toolkit-missing", "cuda-libs-missing", "ld-library-path-not-set")
    if not _is_new(facts, release):
        if not _names_a_toolkit(facts) or names_another(facts):
            return _ALL
        return _first("ld-library-path-not-set", "cuda-version-mismatch")
    if release == _GAP and any(name.startswith("libcudart") for name in lost):  # which the wheel would find
        return _first("cuda-libs-missing", "pip-nvidia-libs-not-found", "ld-library-path-not-set")
    if release == _GAP:
        return _first("tf-wheel-runpath-gap", "pip-nvidia-libs-not-found", "cuda-libs-missing")
    if facts.text.said("names-extra") or release == (2, 16):
        return _first("pip-nvidia-libs-not-found", "ld-library-path-not-set", "cuda-libs-missing")
    return _first("cuda-libs-missing", "pip-nvidia-libs-not-found", "ld-library-path-not-set", "cuda-version-mismatch")


_OF_ALL = "libcurand.so.10"
"""CUDA 10.1 to 13 bring it by this name. Source: NVIDIA's packages libcurand-10-1 to libcurand-13-0."""
_SOLVER = Pattern(r"(?:libcusolver\.so\.|cusolver64_)1[01](?:\.dll)?$")
"""The one whose name tells CUDA 11.0 from those that follow: 10 there, 11 in them."""
_OF_11 = Pattern(
    r"libcudart\.so\.11|lib(?:cublas|cublasLt|cusparse)\.so\.11|(?:cudart64_110|(?:cublas|cublasLt|cusparse)64_11)\.dll"
)
_FIRST_OF_ALL = ("libcublas", "libcudart", "libcufft")
"""Who has these has the toolkit's libraries."""


def _all_but_some(facts: Facts, lost: list[str]) -> bool:
    """Whether the list of what can't be opened is whole, and those that every toolkit brings are not in it. libcusolver.so.10 has
    another name in the toolkits after 11.0."""
    whole = bool(facts.text.said("libraries-not-opened", "registers-no-gpu"))
    return whole and not any(
        name.startswith(("libcublas.", "libcudart.", "libcudnn", "libcusolver.so.10")) for name in lost
    )


_LINUX_ONLY = (
    "pip-nvidia-libs-not-found", "tf-wheel-runpath-gap", "cu12-cu13-wheel-clash", "sudo-stripped-environment",
    "wheel-damaged",
)  # fmt: skip


def _names_a_toolkit(facts: Facts) -> bool:
    return bool(_named(facts))


def _named(facts: Facts) -> set[str]:
    return {e.values["cuda"] for e in facts.text.said("names-cuda") if e.values.get("cuda")}


def _brings(facts: Facts, release: tuple[int, int]) -> bool:
    """Whether a CUDA that is named is the one that this release is built for; where no minor version is told, it may be."""
    if release < (1, 0):  # those were built for 7.5, 8.0 and others
        return True
    major, minor = built_for(release).cuda
    wanted = str(major) if major >= _MINOR_FITS else f"{major}.{minor}"
    named = _named(facts)
    return any(f"{one}.".startswith(f"{wanted}.") or f"{wanted}.".startswith(f"{one}.") for one in named)


def names_another(facts: Facts) -> bool:
    """Whether the CUDA that is named is another than the one that this release is built for."""
    release = release_of(facts)
    return release is not None and _names_a_toolkit(facts) and not _brings(facts, release)


def asks_for_another(facts: Facts) -> bool:
    """Whether the library that is lost is of another major version of CUDA than the release that is named is built for: it is another
    TensorFlow that asks for it."""
    release, names = release_of(facts), _lost_names(facts)
    found = [one[1] for name in names if (one := _OF_MAJOR.match(name))]
    stated = isinstance(facts.tensorflow.version, str) or bool(facts.text.said("binding-of-node"))
    return release is not None and stated and bool(found) and str(built_for(release).cuda[0]) not in found


_OF_MAJOR = Pattern(r"libcudart\.so\.(8|9|10|11|12|13)\b")


def named_releases(facts: Facts) -> tuple[tuple[int, int], ...]:
    """(2, 14) of each TensorFlow that is named."""
    told = (v.split(".") for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split())
    return tuple((int(one[0]), int(one[1])) for one in told)


def names_another_than_linked(facts: Facts) -> bool:
    """Whether the CUDA that is named is not the one whose libraries this release is linked with: up to 1.13 it opens none later."""
    named = _named(facts)
    known = release_of(facts) or max(named_releases(facts), default=None)
    if not named or known is None or known >= (1, 14):
        return False
    linked = "{}.{}".format(*built_for(known).cuda)
    return not any(f"{linked}.".startswith(f"{one}.") for one in named)


def other_cudnn(facts: Facts, lost: list[str]) -> bool | None:
    """Whether the cuDNN that is named is of another major version; None: none is named."""
    asked = {found[1] for name in lost if (found := re.search(r"(?:\.so\.|64_|libcudnn\.)(\d)", name))}
    named = {e.values["cudnn"].partition(".")[0] for e in facts.text.said("names-cuda") if e.values.get("cudnn")}
    return bool(named - asked) if asked and named else None


def _first(*causes: str) -> tuple[str, ...]:
    return (*causes, *(c for c in _ALL if c not in causes))


def release_of(facts: Facts) -> tuple[int, int] | None:
    """(2, 16), as the text says or as the place of its line tells; None: neither."""
    version = facts.tensorflow.version
    if isinstance(version, str):
        numbers = re.match(r"(\d+)\.(\d+)", version)  # of '2.2rc2' as well
        return (int(numbers[1]), int(numbers[2])) if numbers else None
    named = {v for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split()}
    if len(named) == 1:
        major, minor = next(iter(named)).split(".")[:2]
        return int(major), int(minor)
    return next((_RELEASES.get(line) for line in _lines(facts)), None)


def _is_of_another_path(facts: Facts) -> bool:
    """Whether no toolkit on the path that is printed beside a lost libcusolver brings it: 10 is of CUDA 10.1 to 11.0, 11 of those after."""
    told = [(e.values.get("library", ""), _ON_PATH.findall(e.text)) for e in facts.text.said("library-not-loaded")]
    lost = {name.rpartition(".")[2]: paths for name, paths in told if name.startswith("libcusolver.so.") and paths}
    return any(
        {"10" if (int(a), int(b)) <= (11, 0) else "11" for a, b in paths} == {"11" if number == "10" else "10"}
        for number, paths in lost.items()
    )


_ON_PATH = Pattern(r"/cuda-(\d{1,2})\.(\d)")


def speaks(facts: Facts, notebook_alone: bool) -> Iterator[str]:
    """What goes first: a library is lost in the notebook alone, cuDNN asks for the cuBLAS of another CUDA, the file is in the wheels."""
    said = facts.text.said
    if notebook_alone and said("library-not-loaded"):  # which the shell was told of
        yield "ld-library-path-not-set"
    asked = {e.values["major"] for e in said("cudnn-lacks-cublas") if "major" in e.values}
    here = {e.values["cuda"].partition(".")[0] for e in said("says") if "cuda" in e.values}
    if asked and here and not asked & here:
        yield "cuda-version-mismatch"
    if said("file-in-wheels-said", "wheel-libs-asked") and said("library-not-loaded", "cudnn-part-missing"):
        yield "pip-nvidia-libs-not-found"
    elif said("cudnn-loaded") and said("cudnn-lacks-part", "cudnn-part-missing"):
        yield "cudnn-incomplete-install"


def _lost_names(facts: Facts) -> tuple[str, ...]:
    picks = facts.tensorflow.libraries
    return () if isinstance(picks, Unread) else tuple(p.soname for p in picks)


def has_another_cublas(facts: Facts) -> bool:
    """Whether cuBLAS alone is lost, and its package is of another CUDA than the runtime that is opened: it lies in that one's directory."""
    said, names = facts.text.said, _lost_names(facts)
    brought = {e.values["cuda"] for e in said("cublas-package")}
    opened = {e.values["version"] for e in said("runtime-opened") if "version" in e.values}
    return bool(brought and opened and names) and not brought & opened and all("cublas" in name for name in names)


def likely(facts: Facts, release: tuple[int, int]) -> str:
    """Why a package with CUDA lists no GPU, where no line of its log is there: libraries, by what is named of them."""
    if not _names_a_toolkit(facts):
        return "cuda-libs-missing"
    if not _brings(facts, release):
        return "cuda-version-mismatch"
    return "ld-library-path-not-set" if release < (2, 14) else "pip-nvidia-libs-not-found"


_MINOR_FITS = 11
"""From this CUDA on the names of its libraries do not carry the minor version."""


def _lines(facts: Facts) -> Iterator[int]:
    """The places in gpu_device.cc that say 'Cannot dlopen'."""
    events = facts.tensorflow.events
    for event in () if isinstance(events, Unread) else events:
        place = re.fullmatch(r"gpu_device\.cc:(\d+)", event.source or "")
        if place and event.kind == "libraries-not-opened":
            yield int(place[1])


_SINCE_2_10 = 1934
"""Lower places are of releases before."""


_OLD = Pattern(r"\.so\.(?:[4-9]\.\d|10(?:\.\d)?|11\.0)$|libcudnn\.so\.[4-7]$")
"""Libraries that releases before 2.12 ask for."""


def _is_new(facts: Facts, release: tuple[int, int] | None) -> bool:
    """From 2.14 on the extra brings the libraries; and from 2.12 on those that are lost are not named."""
    if release is not None:
        return release >= (2, 14)
    if facts.text.said("lists-xla-gpu"):  # 1.14 to 2.3
        return False
    logged = () if isinstance(facts.tensorflow.events, Unread) else facts.tensorflow.events
    if any(e.kind == "library-not-loaded" and e.severity == "W" for e in logged):  # later ones warn of none by name
        return False
    named = [v.split(".") for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split()]
    if named:
        return any((int(one[0]), int(one[1])) >= (2, 14) for one in named)
    if any(line < _SINCE_2_10 for line in _lines(facts)):
        return False
    picks = facts.tensorflow.libraries
    return isinstance(picks, Unread) or not any(_OLD.search(p.soname) for p in picks)
