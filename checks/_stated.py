"""What a pasted text names as installed, against the libraries that TensorFlow could not open."""

from __future__ import annotations

import re

from gpudoctor import compat
from gpudoctor.checks import _told
from gpudoctor.checks._said import holds
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.findings import Fix
from gpudoctor.patterns import Pattern

EXTRA = Fix(
    kind="command",
    risk="safe",
    summary="On Linux TensorFlow's own extra brings the libraries of its build (2.14 and newer)",
    steps=("python3 -m pip install 'tensorflow[and-cuda]'",),
)
_OF_ITS_CUDA = Fix(
    kind="advice",
    risk="safe",
    summary="Install the onnxruntime-gpu that is built for the CUDA that is there, or the CUDA that this one is built for",
    steps=("https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html#requirements",),
)

Version = tuple[int, ...]

_TOOLKITS: dict[str, tuple[tuple[Version, Version], ...]] = {
    # library -> for each version of its soname the toolkits that bring it: from, and before which
    "cublas": (((10,), (11,)), ((11,), (12,)), ((12,), (13,)), ((13,), (14,))),
    "cusparse": (((10,), (11,)), ((11,), (12,)), ((12,), (13,))),
    "cufft": (((10, 1), (12,)), ((12,), (13,)), ((13,), (14,))),
    "curand": (((10, 1), (14,)),),
    "cusolver": (((10, 1), (11, 1)), ((11, 1), (13,)), ((13,), (14,))),
}
_FIRST = {"cublas": 10, "cusparse": 10, "cufft": 10, "curand": 10, "cusolver": 10}
_EXACT = "cudart", "cublas", "cufft", "curand", "cusolver", "cusparse"


def toolkits(library: str) -> tuple[Version, Version] | None:
    """The CUDA toolkits that bring a library, by its file name: from, and before which. None: unknown, or not of a toolkit.

    Up to 10.0 every library carries the version of its toolkit; from 10.1 on its own; libcudart that of its major version
    from 11 on. Source: the file names in NVIDIA's toolkit archives, release notes of 10.1 ('libraries are versioned').
    """
    found = re.match(
        r"(?:lib)?(cudart|cublas|cufft|curand|cusolver|cusparse)(?:Lt)?(?:64_)?(?:\.so\.)?([\d.]*)", library
    )
    if found is None or not found[2].strip("."):
        return None
    name, number = found[1], found[2].strip(".")
    if "64_" in library:
        number = _of_dll(number)
    version = tuple(int(n) for n in number.split(".") if n)
    if name == "cudart" and version[0] >= 11:
        return (version[0],), (version[0] + 1,)
    if len(version) > 1:
        return version[:2], (version[0], version[1] + 1)
    at = version[0] - _FIRST.get(name, 99)
    ranges = _TOOLKITS.get(name, ())
    return ranges[at] if 0 <= at < len(ranges) else None


def _of_dll(number: str) -> str:
    """'101' -> '10.1', '110' -> '11.0', '90' -> '9.0', '10' -> '10'."""
    if len(number) == 3 or (len(number) == 2 and int(number) >= 50):
        return f"{number[:-1]}.{number[-1]}"
    return number


def _parsed(text: str) -> Version:
    return tuple(int(n) for n in text.split(".")[:2] if n)


def named(facts: Facts, what: str) -> dict[Version, TextEvent]:
    """The versions of 'cuda' or 'cudnn' that the text names as installed, and the line of each."""
    found: dict[Version, TextEvent] = {}
    files = [e.values["library"] for e in facts.text.said("shows-file")] if what == "cuda" else []
    shown = any(_tells_its_toolkit(one) and toolkits(one) for one in files)
    for event in facts.text.said("names-cuda"):
        of_a_package = shown and _OF_CUDNN.search(event.text) is not None
        if (value := event.values.get(what)) and not of_a_package:
            found.setdefault(_parsed(value), event)
    for event in facts.text.said("shows-file"):
        library = event.values["library"]
        if what == "cudnn" and (version := re.match(r"libcudnn(?:_\w+)?\.so\.(\d+)", library)):
            found.setdefault((int(version[1]),), event)
        elif what == "cuda" and _tells_its_toolkit(library) and (between := toolkits(library)):
            found.setdefault(between[0], event)
    return found


_OF_CUDNN = Pattern(r"\blibcudnn\d[\w.=-]{0,40}\+cuda")
"""A package of cuDNN tells the CUDA that it is made for, which files tell better."""


def installed(facts: Facts, prefix: str) -> dict[str, tuple[str, TextEvent]]:
    """Name of a package -> the version that the text lists or installs last, and the line."""
    found: dict[str, tuple[str, TextEvent]] = {}
    for event in facts.text.said("installed", "installed-now", "uninstalled"):
        if event.kind == "uninstalled":
            found.pop(event.values["name"], None)
            continue
        if (name := event.values.get("name", "")).startswith(prefix):
            found[name] = event.values.get("version", ""), event
        for one in event.values.get("names", "").split():
            name, _, version = one.rpartition("-")
            if name.startswith(prefix):
                found[name] = version, event
    return found


def cudnns(facts: Facts) -> dict[Version, TextEvent]:
    """The versions of cuDNN that the text names as installed, be it the wheel, and the line of each."""
    found = dict[Version, TextEvent]()
    for version, event in installed(facts, "nvidia-cudnn-cu").values():
        found.setdefault(_parsed(version), event)
    for event in facts.text.said("cudnn-wheel-named"):
        if not event.text.endswith("?"):
            found.setdefault(_parsed(event.values["version"]), event)
    return found | named(facts, "cudnn")


def _tells_its_toolkit(library: str) -> bool:
    """libcudart does; the others up to 9, whose versions are the toolkit's."""
    return (
        library.startswith("libcudart.so.")
        or re.match(r"lib(?:cublas|cufft|cusolver|cusparse|curand)\.so\.[789]\.\d", library) is not None
    )


def within(version: Version, between: tuple[Version, Version]) -> bool:
    """Whether a toolkit is of these; of '11' it is not known which minor version is meant."""
    low, high = between
    if len(version) == 1:
        return low[0] <= version[0] <= (high[0] if len(high) > 1 and high[1] else high[0] - 1)
    return low <= version < high


def lost(facts: Facts) -> tuple[str, ...]:
    """The libraries that the text says could not be opened."""
    picks = facts.tensorflow.libraries
    return () if isinstance(picks, Unread) else tuple(p.soname for p in picks if p.picked is None)


def parts_lost(facts: Facts) -> tuple[tuple[str, TextEvent], ...]:
    """The parts of cuDNN that are not found at their first use, and the lines."""
    told = facts.text.said("cudnn-part-missing")
    return tuple(
        (e.values["library"], e) for e in told if "cannot open shared object file" in e.values.get("error", "")
    )


Asked = tuple[tuple[str, tuple[Version, Version]], ...]
"""Libraries, and the toolkits that bring each."""


def asked(facts: Facts) -> tuple[Asked, ...]:
    """The libraries of a CUDA toolkit that TensorFlow asks for, as far as the text tells: where it names none, those of
    each release that it names."""
    names = lost(facts)
    if told := _of_toolkits(names):
        return (told,)
    if any(name != "libcudart.so" for name in names):
        return ()
    version = facts.tensorflow.version
    versions = [version] if isinstance(version, str) else [f"{r[0]}.{r[1]}" for r in _told.releases(facts)]
    return tuple(of for one in versions if (of := _of_toolkits(_of_release(facts, one, bool(names)))))


def _of_toolkits(names: tuple[str, ...]) -> Asked:
    return tuple((name, between) for name in names if (between := toolkits(name)) is not None)


def _of_release(facts: Facts, version: str, cudart_is_lost: bool) -> tuple[str, ...]:
    """What a release asks for whose extra brings no libraries. Where all that is told is that libcudart is lost, the CUDA
    that is named may be nvidia-smi's: who names cuDNN as well, nvcc or a toolkit, speaks of what is installed."""
    if _pair(version) >= _BRINGS_ITS_OWN:
        known = cudart_is_lost or facts.text.said("names-extra") or holds(facts, "conda")
        return () if known else compat.built_for(_pair(version)).runtime[:1]
    if cudart_is_lost and (holds(facts, "conda") or not (named(facts, "cudnn") or holds(facts, *_INSTALLED))):
        return ()
    return compat.loader_sonames(version) or _of_old_release(facts, version)


_BRINGS_ITS_OWN = (2, 14)
_INSTALLED = ("compilation tools", "oolkit", "/cuda-", "nvcc", " cuda-1")


def _pair(version: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _of_old_release(facts: Facts, release: str) -> tuple[str, ...]:
    """The runtime of a release whose wheel was not read. conda's builds, and one's own, ask for others."""
    if (
        _told.own_build(facts)
        or (holds(facts, "conda") and not _from_pypi(facts))
        or any(r[0] == 0 for r in _told.releases(facts))
    ):
        return ()
    return compat.built_for(_pair(release)).runtime


def _from_pypi(facts: Facts) -> bool:
    """conda's list says that TensorFlow is pip's."""
    listed = facts.text.said("installed")
    return any(e.values.get("name") == "tensorflow" and e.values.get("channel") == "pypi" for e in listed)


def opened(facts: Facts) -> tuple[str, ...]:
    """The libraries that were opened."""
    return tuple(e.values["library"] for e in facts.text.said("library-opened") if "library" in e.values)


def lines_of(facts: Facts, names: tuple[str, ...]) -> tuple[TextEvent, ...]:
    """The lines that name these libraries as not opened."""
    return tuple(
        e
        for e in facts.text.said("library-not-loaded")
        if e.values.get("library", "") in names or any(n in e.text for n in names)
    )


def asker(told: tuple[TextEvent, ...]) -> tuple[str, Fix]:
    """Who asks for the libraries that these lines tell of, and what to install for it."""
    if any("onnxruntime" in one.text for one in told):
        return "onnxruntime", _OF_ITS_CUDA
    return "TensorFlow", EXTRA
