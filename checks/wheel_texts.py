"""Versions of CUDA's packages in pasted texts: what pip and apt list or install, against what TensorFlow and the GPU need."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from gpudoctor import compat
from gpudoctor.checks import _told
from gpudoctor.checks._said import lines
from gpudoctor.checks._stated import EXTRA, cudnns, installed, lost, parts_lost
from gpudoctor.checks.library_texts import FROM_PYTHON, is_cudnn, on_the_path
from gpudoctor.facts import Facts, TextEvent
from gpudoctor.findings import Fix, Found
from gpudoctor.patterns import Pattern

_SHARED = ("nvidia-cudnn", "nvidia-nccl")
"""Wheels that write the same files for each version of CUDA."""
_SUFFIX = Pattern(r"-cu1\d$")
_FAILED = ("dnn-absent", "cudnn-failed", "no-algorithm", "arch-mismatch", "operation-failed", "cudnn-part-missing")
_TURING = (7, 5)
_WITHOUT_OLD_GPUS = (9, 11)
"""From this cuDNN on there is no code for GPUs before Turing: compat/matrix.json, support."""


def of_two_cudas(facts: Facts) -> Iterator[Found]:
    """Wheels of one library for two versions of CUDA, which write the same files, where that library fails (cu12-cu13-wheel-clash)."""
    for base in _SHARED:
        listed = {name: told for name, told in installed(facts, base).items() if _SUFFIX.search(name)}
        library = f"lib{base.removeprefix('nvidia-')}"
        fails = any(name.startswith(library) for name in lost(facts)) or (
            facts.text.shows("collective-fails") if base == "nvidia-nccl" else facts.text.said(*_FAILED)
        )
        if len(listed) < 2 or not fails:
            continue
        yield Found(
            message=f"{' and '.join(sorted(listed))} write the same files, and whoever came last has them.",
            proof=lines((*(event for _, event in listed.values()), *facts.text.said(*_FAILED)[:1])),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Keep one framework an environment; or remove the wheels of the other CUDA and install the right one again",
                    steps=(),
                ),
            ),
        )
        return


_OF_A_PART = Pattern(r"^libcudnn\w*\.so\.(?P<major>\d{1,2})")


def parts_of_another_major(facts: Facts) -> Iterator[Found]:
    """A part of cuDNN is not found, and all that is there of it is of another major version (cudnn-wrong-major)."""
    for name, event in parts_lost(facts):
        asked, stated = _OF_A_PART.search(name), cudnns(facts)
        majors = {str(version[0]) for version in stated}
        if asked and majors and asked["major"] not in majors:
            yield Found(
                message=f"{name} is asked for; installed is cuDNN {' and '.join(sorted(majors))}.",
                proof=lines((event, *list(stated.values())[:2])),
                fixes=(_of_major(asked["major"]),),
                explains=("tf-lists-no-gpu", "op-fails", "cudnn-incomplete-install"),
            )
            return


def names_the_cudnn_that_is_asked_for(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that name the cuDNN that is installed, where each is of the major version that TensorFlow asks for."""
    majors = {name.removesuffix(".dylib").rstrip("dl.")[-1] for name in lost(facts) if is_cudnn(name)}
    stated = cudnns(facts)
    return tuple(stated.values()) if majors and {str(version[0]) for version in stated} == majors else ()


def _of_major(major: str) -> Fix:
    return Fix(
        kind="command",
        risk="safe",
        summary="Install the cuDNN that is asked for, for the CUDA of the program (-cu12, or -cu11), and name its directory to the loader; "
        "or take a version of the program that is made for the cuDNN that is there",
        steps=(
            f"python3 -m pip install 'nvidia-cudnn-cu12=={major}.*'",
            *on_the_path("", FROM_PYTHON.format("cudnn")).steps,
        ),
    )


def cudnn_of_another_major(facts: Facts) -> Iterator[Found]:
    """TensorFlow can't open its libraries, and the cuDNN that is installed is of another major version than it asks for (cudnn-wrong-major)."""
    shown = facts.text.said("libraries-not-opened", "registers-no-gpu")
    if lost(facts) or not shown:
        return
    asked = {name.rpartition(".")[2] for name in _sonames(facts) if name.startswith("libcudnn.so.")}
    listed = [(".".join(map(str, version)), event) for version, event in cudnns(facts).items()]
    if asked and listed and not any(version.partition(".")[0] in asked for version, _ in listed):
        version, event = listed[0]
        yield Found(
            message=f"TensorFlow asks for cuDNN {' or '.join(sorted(asked))}; installed is {version}.",
            proof=lines((event, shown[0])),
            fixes=(EXTRA,),
        )


def _sonames(facts: Facts) -> tuple[str, ...]:
    """What the release asks for, where one is named."""
    version = facts.tensorflow.version
    releases = _told.releases(facts)
    if not isinstance(version, str):
        if len(releases) != 1:
            return ()
        version = f"{releases[0][0]}.{releases[0][1]}"
    return compat.loader_sonames(version if version.count(".") > 1 else f"{version}.0") or ()


def cudnn_is_older(facts: Facts) -> Iterator[Found]:
    """pip says that TensorFlow requires a newer cuDNN than the one that is installed, of the same major version, and cuDNN fails
    (cudnn-version-too-old)."""
    failed = facts.text.said(*_FAILED)
    for event in facts.text.said("cudnn-requirement") if failed else ():
        needs, has = (_numbers(event.values[name]) for name in ("needs", "has"))
        if has[0] == needs[0] and has < needs:
            yield Found(
                message=f"TensorFlow needs cuDNN {event.values['needs']}; installed is {event.values['has']}.",
                proof=lines((event, failed[0])),
                fixes=(EXTRA,),
            )
            return


def older_cudnn_before(facts: Facts) -> Iterator[Found]:
    """An older cuDNN is loaded: LD_LIBRARY_PATH leads to its directory, and one that is new enough is installed as well; or
    somebody tells that it works without the variable (ld-library-path-wrong-toolkit)."""
    for event in facts.text.said("cudnn-too-old")[:1]:
        has, wants = (_numbers(event.values.get(name, "0")) for name in ("loaded", "compiled"))
        if has[0] != wants[0] or has >= wants:
            return
        where = next(_of_this_version_on_the_path(facts, event.values["loaded"]), None)
        good = [line for version, line in _cudnns_named(facts) if version[0] == wants[0] and version[:3] >= wants]
        cured = facts.text.said("works-without-path")
        if cured or (where and good):
            yield Found(
                message=f"LD_LIBRARY_PATH puts cuDNN {event.values['loaded']} before the one that TensorFlow was built for.",
                proof=lines((event, *(where or ())[:2], *good[:1], *cured)),
                fixes=(
                    Fix(
                        kind="advice",
                        risk="safe",
                        summary="Take the directory off LD_LIBRARY_PATH, for this program at least",
                        steps=("unset LD_LIBRARY_PATH",),
                    ),
                ),
                explains=("tf-lists-no-gpu", "op-fails", "cudnn-version-too-old"),
            )


def _cudnns_named(facts: Facts) -> Iterator[tuple[tuple[int, ...], TextEvent]]:
    """The versions of cuDNN that are installed by pip, or that the text names with all their numbers."""
    for version, event in installed(facts, "nvidia-cudnn-cu").values():
        yield _numbers(version), event
    told = [(e.values.get("version", ""), e) for e in facts.text.said("cudnn-upgraded", "cudnn-wheel-named")]
    told += [(e.values.get("cudnn", ""), e) for e in facts.text.said("names-cuda")]
    for version, event in told:
        if version.count(".") > 1 and not event.text.endswith("?"):
            yield _numbers(version), event


def _of_this_version_on_the_path(facts: Facts, version: str) -> Iterator[tuple[TextEvent, TextEvent]]:
    """The lines by which a directory of LD_LIBRARY_PATH holds the cuDNN of this version."""
    shown = [e for e in facts.text.said("shows-file") if _OF_CUDNN.search(e.text) and f".so.{version}" in e.text]
    for path in facts.text.said("path-shown"):
        _, set_to, value = path.text.partition("LD_LIBRARY_PATH")
        directories = {os.path.normpath(one) for one in _DIRECTORY.findall(value)} if set_to else set()
        for file in shown:
            if os.path.normpath(file.values["directory"]) in directories:
                yield path, file


_OF_CUDNN = Pattern(r"\blibcudnn\w*\.so\.")
_DIRECTORY = Pattern(r"/[\w./+-]{3,200}")


def cudnn_without_code(facts: Facts) -> Iterator[Found]:
    """cuDNN fails on a GPU for which this version has no code any more (cudnn-dropped-gpu)."""
    failed = facts.text.said(*_FAILED)
    cards = _told.cards(facts)
    old = {name: cc for name, cc in cards.items() if cc < _TURING}
    failing = _told.failing_cards(facts, tuple(cards))
    mixed = len(old) < len(cards) and not (failing and all(name in old for name in failing))
    if not failed or not old or (mixed and not facts.text.said("arch-mismatch")):
        return
    wheel = next(iter(installed(facts, "nvidia-cudnn-cu")), "nvidia-cudnn-cu12")
    for event, version in _cudnns(facts):
        if version[:1] == _WITHOUT_OLD_GPUS[:1] and version[:2] >= _WITHOUT_OLD_GPUS:
            number = ".".join(map(str, version[:2]))
            yield Found(
                message=f"cuDNN {number} has no code for {next(iter(old))} (compute capability {'.'.join(map(str, next(iter(old.values()))))}).",
                proof=lines((event, failed[0])),
                fixes=(
                    Fix(
                        kind="command",
                        risk="safe",
                        summary="Install a cuDNN that still has code for this GPU (of the system: by its package manager)",
                        steps=(f"python3 -m pip install '{wheel}<9.11'",),
                    ),
                ),
            )
            return


def _cudnns(facts: Facts) -> Iterator[tuple[TextEvent, tuple[int, ...]]]:
    """The lines that name a cuDNN which is installed or loaded, and its version."""
    for event in facts.text.said("cudnn-loaded"):
        number = int(event.values["version"])
        yield event, (number // 10000, number // 100 % 100)
    for version, event in installed(facts, "nvidia-cudnn-cu").values():
        yield event, _numbers(version)
    for event in facts.text.said("cudnn-upgraded", "cudnn-wheel-named"):
        yield event, _numbers(event.values["version"])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)) or (0,)
