"""Which TensorFlow a pasted text names as installed: one whose package has CUDA?"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from gpudoctor import compat
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.findings import Fix
from gpudoctor.patterns import Pattern

_NOT_HERE = Pattern(
    r"(?i)\b(?:un-?install\w*|remov\w+|instead|should|shall|could|would|tried?|if|or|vs|not|no|never|deprecated|removed|fails?|failed|error)\b|n't\b|\?$"
)
"""Who names a package so need not have it."""
_OTHER = Pattern(
    r"(?i),? ?(?:(?:and |but )?not|un-?installed|uninstall|removed|instead of|rather than|without) (?:the )?tensorflow-cpu(?: and\b)?"
)
_PIN = Pattern(
    r"(?i)(?<![\w./-])tensorflow(?P<gpu>[-_]gpu)?(?:\[and-cuda\])?[ \"'(]{0,3}[=~>]=? ?[\"'^~]{0,2}(?P<version>[12]\.\d{1,2})"
)
"""A release that is asked for of pip, in a command or in a file."""
_HAS = Pattern(
    r"(?i)\b(?:install(?:ed|s|ing)?|have|has|use|using|uses|with|add)\b[^.\n]{0,24}\btensorflow(?:[-_]gpu|\[and-cuda\])|\btensorflow[-_]gpu(?: \d[\d.]*)? (?:is |was )?(?:already )?installed\b|^[-\"' ]{0,4}tensorflow(?:[-_]gpu|\[and-cuda\])\W"
)
_OF_CONDA = Pattern(r"(?:gpu|cuda)\w{0,30}_|cuda")


def is_apart(version: str) -> bool:
    """Before 1.15, and in 2.0, tensorflow is for CPUs and tensorflow-gpu for GPUs."""
    try:
        return compat.version(version) < compat.version("1.15") or compat.version(version).release[:2] == (2, 0)
    except compat.NotAVersion:
        return False


def pinned(facts: Facts) -> Iterator[tuple[tuple[int, int], bool, TextEvent]]:
    """The releases that pip is asked for, whether as tensorflow-gpu, and the line."""
    for event in facts.text.said("tf-required", "pip-brings-tensorflow", "gpu-package", "names"):
        if found := _PIN.search(event.text):
            major, _, minor = found["version"].partition(".")
            yield (int(major), int(minor)), bool(found["gpu"]), event


def with_cuda(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that name a package with CUDA, where none without is named; () where the platform has no other."""
    said = facts.text.said
    if said(
        "cpu-after-keras",
        "both-packages",
        "cpu-build-said",
        "cpu-image",
        "distribution-cpu-package",
        "comes-without-cuda",
        "cpu-package-named",
        "cpu-package-may-lie-over",
    ):
        return ()
    if facts.system.system == "Darwin" or facts.system.machine == "aarch64":
        return ()
    conda, installed = facts.python.conda_packages, facts.python.distributions
    builds = () if isinstance(conda, Unread) else tuple(p for p in conda if p.name in ("tensorflow", "tensorflow-base"))
    ours = {} if isinstance(installed, Unread) else {d.name: d.version for d in installed}
    removed = {e.values["name"].lower().replace("_", "-") for e in said("uninstalled")}
    ours = {name: version for name, version in ours.items() if name not in removed}
    if any(not _OF_CONDA.match(p.build) for p in builds) or "tensorflow-cpu" in ours:
        return ()
    if "tensorflow" in ours and is_apart(ours["tensorflow"]):
        return ()
    if told := said("cuda-build-said"):
        return told[:1]
    rows = [e for e in said("installed", "installed-now") if "ensorflow" in e.text]
    if builds or ours.keys() & {"tensorflow", "tensorflow-gpu"}:
        return tuple(rows[:1] or said("installed", "installed-now")[:1])
    pins = list(pinned(facts))
    found = [event for release, gpu, event in pins if gpu or not is_apart(f"{release[0]}.{release[1]}")]
    version = facts.tensorflow.version
    if isinstance(version, str) and not is_apart(version):
        found += said("pip-brings-tensorflow")
    wheels = [(e.values["name"].lower().replace("_", "-"), e) for e in said("wheel-chosen")]
    found += [
        e
        for name, e in wheels
        if name == "tensorflow-gpu" or (name == "tensorflow" and not is_apart(e.values["version"]))
    ]
    apart_too = any(name == "tensorflow" and is_apart(e.values["version"]) for name, e in wheels)
    if any(_NOT_HERE.search(_OTHER.sub("", e.text)) for e in said("gpu-package")) or apart_too:
        return ()
    found += [e for e in said("gpu-package") if _HAS.search(e.text) and not _PIN.search(e.text)]
    apart = any(not gpu and is_apart(f"{release[0]}.{release[1]}") for release, gpu, _ in pins)
    return () if apart else tuple(e for e in found if not _NOT_HERE.search(_OTHER.sub("", e.text)))[:1]


def by_hand(names: tuple[str, ...], wanted: str, version: str | None) -> Fix:
    """Take these packages away, and install `wanted`; advice where nobody tells its version: the newest tensorflow-gpu on the
    package index is an error."""
    return Fix(
        kind="command" if version else "advice",
        risk="safe",
        summary="Replace it by the build with CUDA"
        + ("" if version else f": pip uninstall -y {' '.join(names)}, then {wanted} at the version that you had"),
        steps=(
            f"python3 -m pip uninstall -y {' '.join(names)}",
            f"python3 -m pip install {quote(f'{wanted}=={version}')}",
        )
        if version
        else (),
    )


def named_apart(facts: Facts) -> str | None:
    """The release that a text names, where it is one whose package with CUDA is tensorflow-gpu."""
    told = [v for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split()]
    return told[0] if len(set(told)) == 1 and told[0].count(".") == 2 and is_apart(told[0]) else None
