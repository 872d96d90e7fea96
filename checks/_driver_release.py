"""Which release of the driver a pasted text tells of, and whether it is new enough for the CUDA in use."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpudoctor import compat
from gpudoctor.checks import _told
from gpudoctor.checks._driver_asked import in_container, wsl
from gpudoctor.checks._stated import lost
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.patterns import Pattern

Numbers = tuple[int, ...]


class Told(NamedTuple):
    """A release of the driver, or its branch alone, and the line that tells it."""

    event: TextEvent
    release: str


def numbers(release: str) -> Numbers:
    """(440, 33) of '440.33.01'; of a branch alone (440,)."""
    return tuple(int(n) for n in re.findall(r"\d+", release)[:2])


def suspected(facts: Facts) -> tuple[TextEvent, str, str, str] | None:
    """The line, the release, whose CUDA, and the oldest driver for it, where a text tells of a driver that is too old. TensorFlow
    names the driver whenever cuDNN does not start, and people in their list of versions; it is at fault where it is older than
    the CUDA in use needs."""
    if old := _of_torch(facts):
        return old
    stated = _in_fields(facts)
    if len({one.release for one in stated}) > 1 or not facts.text.said("reads-like-a-fault"):
        stated = []
    told = [(e, e.values["version"], "in use") for e in facts.text.said("driver-suspected")]
    told += [(e, release, "of this TensorFlow") for e, release in stated]
    told += [] if told else _in_passing(facts)
    named = [] if told else _named(facts)
    built = (
        _packaged(facts) or _asked_for(facts) or _told.cudas(facts) if told else _told.built_for(facts) if named else ()
    )
    told += named
    needed = [floor for cuda in built if (floor := compat.floor(".".join(map(str, cuda))))]
    for event, release, whose in told if needed else ():
        if all(_older(release, least) for least in needed):
            return event, release, whose, needed[0]
    return None


def new_enough(facts: Facts) -> tuple[str, str] | None:
    """The release and the CUDA, where each driver that a text tells of is new enough for the newest CUDA that it names; None:
    it is not, or not told."""
    told = _printed(facts) or in_words(facts)
    newest = max((*_packaged(facts), *_told.built_for(facts), *_all_named(facts)), default=None)
    if newest and not (_packaged(facts) or _all_named(facts) or facts.text.said("runtime-opened")):
        newest = max(newest, _LAST_OF.get(newest[0], newest))  # conda brings another minor version to the same release
    least = compat.floor(".".join(map(str, newest))) if newest else None
    if not told or newest is None or least is None:
        return None
    if facts.text.said("driver-refused", "driver-called-too-old"):
        return None  # what fails may run another CUDA than the text names
    if any(not _at_least(one.release, least) for one in told):
        return None
    return told[0].release, ".".join(map(str, newest))


def _of_torch(facts: Facts) -> tuple[TextEvent, str, str, str] | None:
    """The same of a PyTorch that tells itself what CUDA it is built for, or whose CUDA conda brings by name, that it sees none,
    and the driver."""
    built = {e.values["cuda"] for e in facts.text.said("torch-built-for")}
    told, none = _in_fields(facts), bool(facts.text.said("torch-sees-none"))
    if not built and facts.tensorflow.devices == ():  # conda brings its CUDA by name
        built = {
            one[1]
            for e in facts.text.said("conda-brings-cuda")
            if "torch" in e.text
            for one in _BROUGHT.finditer(e.text)
        }
        told, none = told or _printed(facts), True
    if len(built) != 1 or not none or facts.text.said("torch-sees-cuda"):
        return None
    least = compat.floor(next(iter(built)))
    if least is None or len({one.release for one in told}) != 1 or facts.text.said("on-windows"):
        return None
    return (told[0].event, told[0].release, "of this PyTorch", least) if _older(told[0].release, least) else None


_BROUGHT = Pattern(r"\b(?:cudatoolkit|pytorch-cuda)=(\d{1,2}\.\d)\b")
_LAST_OF = {9: (9, 2), 10: (10, 2)}
"""Major versions of CUDA of which each minor version needs a newer driver than the one before, and the last."""


_NOT_INSTALLED = Pattern(r" - (?:distro|third-party)\b|^(?:rc|un|pn|pi|pu) ")
"""As `ubuntu-drivers devices` lists what could be installed, and dpkg what is removed or only known."""


def _all_named(facts: Facts) -> tuple[tuple[int, int], ...]:
    said = facts.text.said
    texts = [v for e in said("names") for v in e.values.get("cuda", "").split()]
    texts += [e.values["cuda"] for e in said("names-cuda", "says") if "cuda" in e.values]
    return tuple((n[0], n[1]) for one in texts if len(n := numbers(one)) == 2)


def _older(release: str, least: str) -> bool:
    """Of a branch alone it is not known within the branch."""
    has, wants = numbers(release), numbers(least)
    return has < wants[: len(has)] if len(has) == 1 else has < wants


def _at_least(release: str, least: str) -> bool:
    has, wants = numbers(release), numbers(least)
    return has > wants[:1] if len(has) == 1 else has >= wants


_REFUSES = ("cuda-call-failed", "runtime-not-started", "allocator-refused", "driver-blamed")
"""Lines by which CUDA's runtime does not start, whatever the cause."""


def _in_passing(facts: Facts) -> list[tuple[TextEvent, str, str]]:
    """The driver's release that somebody writes in passing, where CUDA's runtime does not start, and nothing else is shown to fail."""
    text, said = facts.text, in_words(facts)
    if len({one.release for one in said}) != 1 or _printed(facts):
        return []
    if not text.said(*_REFUSES) or any(
        e.kind not in _REFUSES for e in text.understood() if e.symptom and not e.is_weak
    ):
        return []
    lost = facts.tensorflow.libraries
    if (
        wsl(facts)
        or text.said("on-windows")
        or isinstance(facts.system.container, str)
        or (lost and not isinstance(lost, Unread))
        or isinstance(facts.driver.libcuda.init_result, int)
    ):
        return []
    return [(said[0].event, said[0].release, "of this TensorFlow")]


def _packaged(facts: Facts) -> tuple[tuple[int, int], ...]:
    """The CUDA that a list of packages names: the one in use, whatever else is installed."""
    listed = [
        e.values.get("version", "") for e in facts.text.said("installed") if e.values.get("name") == "cudatoolkit"
    ]
    return tuple(dict.fromkeys((n[0], n[1]) for version in listed if len(n := numbers(version)) == 2))


_RUNTIME = re.compile(r"libcudart\.so\.(?P<so>\d+\.\d)$|cudart64_(?P<dll>\d{3}|[6-9]\d)\.dll$")


def _asked_for(facts: Facts) -> tuple[tuple[int, int], ...]:
    """The CUDA whose runtime is looked for in vain: the build's, whatever is installed. The name of 11 tells no minor
    version, that of 12 on Windows none at all."""
    found = (one["so"] or one["dll"] for name in lost(facts) if (one := _RUNTIME.match(name)) is not None)
    return tuple(dict.fromkeys(map(_told.runtime, found)))


def _named(facts: Facts) -> list[tuple[TextEvent, str, str]]:
    """The driver that is named, where TensorFlow lists no GPU and finds its libraries, and cuInit's answer is not told."""
    lost = facts.tensorflow.libraries
    listed = facts.tensorflow.gpus()
    opened = facts.text.said("reads-like-a-fault") and facts.text.said("runtime-opened")
    fails = facts.tensorflow.devices == () or bool(opened)
    if (
        not fails
        or (lost and not isinstance(lost, Unread))
        or facts.text.shows_a_failure
        or (listed and not isinstance(listed, Unread))
    ):
        return []
    answer = facts.driver.libcuda.init_result
    if facts.system.wsl is True or isinstance(facts.gpu.nvml_error, int) or (isinstance(answer, int) and answer):
        return []
    newest = max((cuda[0] for cuda in _told.built_for(facts)), default=0)
    if isinstance(api := facts.gpu.cuda_driver_version, int) and api // 1000 >= newest:
        return []  # libraries for forward compatibility are in use
    told = _printed(facts)
    if not told and not wsl(facts) and not in_container(facts):
        told = in_words(facts)
    return [(e, release, "of this TensorFlow") for e, release in told] if len({r for _, r in told}) == 1 else []


def _printed(facts: Facts) -> list[Told]:
    """The releases that programs name: nvidia-smi, the kernel, package managers, Windows."""
    said = facts.text.said
    if banners := [Told(e, e.values["driver"]) for e in said("nvidia-smi") if "driver" in e.values]:
        return banners
    if loaded := [
        Told(e, e.values["version"]) for e in said("kernel-version", "module-loaded") if "version" in e.values
    ]:
        return loaded
    told = [Told(e, e.values["release"]) for e in said("driver-package", "driver-release")]
    told += [Told(e, e.values["version"]) for e in said("dkms-status") if e.values["state"] == "installed"]
    return told + [Told(e, of_windows(e.values)) for e in said("driver-release-windows")]


def of_windows(values: dict[str, str]) -> str:
    """'537.58' of NVIDIA's own number, or of Windows', which ends in it: 31.0.15.3758."""
    if "release" in values:
        return values["release"]
    digits = values["first"] + values["rest"]
    return f"{digits[:3]}.{digits[3:]}"


def _in_fields(facts: Facts) -> list[Told]:
    """The releases in people's lists of versions."""
    said = facts.text.said("says")
    return [Told(e, e.values["driver"]) for e in said if re.fullmatch(r"\d{3}\.\d[\d.]*", e.values.get("driver", ""))]


def in_words(facts: Facts) -> list[Told]:
    """The releases, or branches, that people write."""
    said, told = facts.text.said, _in_fields(facts)
    told += [Told(e, e.values.get("release") or e.values["branch"]) for e in said("driver-release-said")]
    told += [Told(e, e.values["branch"]) for e in said("driver-libraries-named") if not _NOT_INSTALLED.search(e.text)]
    exact = [one for one in told if "." in one.release]
    return exact or told
