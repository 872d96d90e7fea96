"""Where CUDA's libraries are, in pasted texts: behind sudo, not in an image, in wheels of another CUDA, not in the list of what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor import compat
from gpudoctor.checks import _told
from gpudoctor.checks._said import lines
from gpudoctor.checks._stated import EXTRA, installed, lines_of, lost, named, parts_lost, toolkits, within
from gpudoctor.checks.library_texts import FROM_PYTHON, is_cudnn, on_the_path
from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread
from gpudoctor.findings import LIKELY, Fix, Found
from gpudoctor.patterns import Pattern

_FIRST_WITH_WHEELS = (2, 12)


def dropped_by_sudo(facts: Facts) -> Iterator[Found]:
    """A library is lost under sudo, and somebody says that it is found without (sudo-stripped-environment)."""
    told, names = facts.text.said("fails-under-sudo"), lost(facts)
    run = facts.text.said("run-by-sudo")
    if not names or facts.text.said("root-works"):
        return
    if told:
        yield Found(
            message=f"Under sudo {names[0]} is not found: sudo drops LD_LIBRARY_PATH.",
            proof=lines((*lines_of(facts, names)[:2], *told, *run)),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Name the variable behind sudo, or run it without",
                    steps=('sudo env LD_LIBRARY_PATH="$LD_LIBRARY_PATH" python3 program.py',),
                ),
            ),
        )
    elif run and facts.text.said("path-shown"):
        raise UnknownFactError(Unread(why=LIKELY, settle='echo "$SUDO_USER $LD_LIBRARY_PATH"'))


def _cuda_lost(facts: Facts) -> tuple[str, ...]:
    return tuple(name for name in lost(facts) if name.startswith(_OF_CUDA))


_OF_CUDA = ("libcudart.", "libcublas", "libcufft.", "libcurand.", "libcusolver.", "libcusparse.")


def image_lacks(facts: Facts, *kinds: str) -> tuple[TextEvent, ...]:
    """The lines by which a container is made of an image that has nothing of CUDA, or its runtime alone, where its libraries are lost."""
    told = facts.text.said(*kinds)
    brought = facts.text.said("image-brings-cuda", "installs-extra", "conda-brings-cuda", "shows-file")
    if not told or brought or not (_cuda_lost(facts) or facts.text.said("libraries-not-opened")):
        return ()
    return (*lines_of(facts, lost(facts))[:2], *told)


def image_without_cudnn(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines by which a container is made of NVIDIA's image without cuDNN, where cuDNN alone is lost."""
    names, told = lost(facts), facts.text.said("image-without-cudnn", "image-of-runtime-alone")
    brought = facts.text.said(
        "installs-extra", "conda-brings-cuda", "cudnn-wheel-named", "cudnn-package", "image-with-cudnn"
    )
    if not names or not told or brought or not all(is_cudnn(name) for name in names):
        return ()
    return (*lines_of(facts, names)[:2], *told)


def libraries_gone(facts: Facts) -> Iterator[Found]:
    """Some of CUDA's libraries were removed, or are not in the list of those that are there, or in the image (cuda-libs-missing)."""
    names = lost(facts)
    of_cudnn = bool(names) and all(is_cudnn(name) for name in names)
    if not of_cudnn and (image := image_lacks(facts, "image-of-runtime-alone")):
        yield _gone(
            "The image has CUDA's runtime alone: its libraries are in the images called runtime and devel.", image
        )
    elif (removed := facts.text.said("wheels-removed")) and (names or facts.text.said("libraries-not-opened")):
        shown = facts.text.said("libraries-not-opened", "library-not-loaded")[:2]
        yield _gone("Wheels of libraries that TensorFlow needs were removed.", (*removed, *shown))
    elif searched := [
        e
        for e in facts.text.said("no-library-file")
        if any(n.split(".so")[0] == e.values["library"] for n in _stopped_by(facts))
    ]:
        name = searched[0].values["library"]
        yield _gone(f"There is no {name} on this machine.", (*lines_of(facts, (f"{name}.",))[:2], *searched))
    elif (absent := _not_listed(facts) or _not_among_packages(facts)) is not None:
        name, listed = absent
        yield _gone(f"{name} is not among the libraries of this toolkit.", (*lines_of(facts, (name,))[:1], *listed[:2]))


def _gone(message: str, proof: tuple[TextEvent, ...]) -> Found:
    return Found(
        message=message, proof=lines(proof), fixes=(EXTRA,), explains=("tf-lists-no-gpu", "ld-library-path-not-set")
    )


_FEWEST = 3


def _not_listed(facts: Facts) -> tuple[str, tuple[TextEvent, ...]] | None:
    """A lost library of the toolkit whose bin directory is listed without it."""
    listed = facts.text.said("dll-listed")
    there = {e.values["library"].lower() for e in listed}
    names = tuple(name for name in lost(facts) if toolkits(name))
    if len(there) < _FEWEST or not any(one.startswith(("cudart64_", "cublas64_")) for one in there) or not names:
        return None
    gone = [name for name in names if name.lower() not in there]
    same = [between for one in there if (between := toolkits(one))]
    fits = all(_meet(between, other) for name in gone if (between := toolkits(name)) for other in same)
    return (gone[0], listed) if gone and len(gone) == len(names) and fits else None


_PART = Pattern(r"(?<![\w-])(?:cuda-|lib)(cudart|cublas|cufft|curand|cusolver|cusparse)-\d{1,2}-\d(?![\w-])")
_WHOLE = Pattern(r"(?<![\w-])cuda-(?:toolkit-|libraries-|runtime-)?\d{1,2}-\d(?![\w-])")


def _not_among_packages(facts: Facts) -> tuple[str, tuple[TextEvent, ...]] | None:
    """A lost library whose package of NVIDIA's is not among those of the other libraries, which are listed one by one."""
    told = facts.text.said("apt-part")
    parts = {part for event in told for part in _PART.findall(event.text)}
    if len(parts) < _FEWEST or any(_WHOLE.search(e.text) for e in (*told, *facts.text.said("names-cuda"))):
        return None
    needed = (name for name in _stopped_by(facts) if name.startswith(_OF_CUDA))
    gone = [name for name in needed if name.removeprefix("lib").split(".")[0].removesuffix("Lt") not in parts]
    return (gone[0], told) if gone else None


def _stopped_by(facts: Facts) -> tuple[str, ...]:
    """The libraries that were not found, themselves or as what others need."""
    picks = facts.tensorflow.libraries
    return () if isinstance(picks, Unread) else tuple(p.stopped_by or p.soname for p in picks if p.picked is None)


def _meet(one: tuple[tuple[int, ...], tuple[int, ...]], other: tuple[tuple[int, ...], tuple[int, ...]]) -> bool:
    """Whether a toolkit brings both."""
    return max(one[0], other[0]) < min(one[1], other[1])


_OF_TOOLKIT = Pattern(r"(?i)nvidia gpu computing toolkit\\cuda\\v[\d.]+\\bin$")
"""Its installer puts it on the path."""


def dll_off_the_path(facts: Facts) -> Iterator[Found]:
    """On Windows: the file lies in a directory that is not on the path that is shown (ld-library-path-not-set)."""
    paths = [e.values["path"].lower() for e in facts.text.said("windows-path")]
    names = {name.lower() for name in lost(facts)}
    for event in facts.text.said("dll-shown"):
        directory, name = event.values["directory"].lower().rstrip("\\"), event.values["library"].lower()
        on_it = (_OF_TOOLKIT.search(directory) is not None and bool(facts.text.said("library-opened"))) or any(
            directory in re.split(r"[\\/]?[\"']?;[\"']?", path) for path in paths
        )
        if name in names and not on_it:
            yield Found(
                message=f"{name} lies in {event.values['directory']}, which is not on PATH.",
                proof=lines(
                    (event, *lines_of(facts, (event.values["library"],))[:1], *facts.text.said("windows-path")[:1])
                ),
                fixes=(
                    Fix(
                        kind="advice",
                        risk="safe",
                        summary=f"Put {event.values['directory']} on PATH, and open a new window",
                        steps=(),
                    ),
                ),
            )
            return


def linked_to_another(facts: Facts) -> Iterator[Found]:
    """A file of another version stands under the name that is asked for (cuda-version-mismatch)."""
    told = facts.text.said("version-of-another")
    links = [
        e
        for e in facts.text.said("linked-to-another")
        if e.values["has"] != e.values["wanted"]
        and e.values["has"].split(".so")[0] == e.values["wanted"].split(".so")[0]
        and (first := toolkits(e.values["has"]))
        and (second := toolkits(e.values["wanted"]))
        and first != second
    ]
    asked = {*lost(facts), *(e.values["wanted"] for e in told)}
    if told or (links and any(e.values["wanted"] in asked for e in links)):
        name = told[0].values["wanted"] if told else links[0].values["wanted"]
        yield Found(
            message=f"The file under the name {name} is that of another version of CUDA: a link does not make it the one that is asked for.",
            proof=lines((*told, *links[:2])),
            fixes=(EXTRA,),
        )


_WHEEL = Pattern(r"^nvidia-(?:cublas|cuda-runtime|cufft|curand|cusolver|cusparse|cudnn)-cu(?P<major>1\d)$")


def _majors_of_wheels(facts: Facts) -> dict[str, TextEvent]:
    """The versions of CUDA of the wheels that are listed."""
    found: dict[str, TextEvent] = {}
    for name, (_, event) in installed(facts, "nvidia-").items():
        if wheel := _WHEEL.match(name):
            found.setdefault(wheel["major"], event)
    return found


def wheels_of_another_cuda(facts: Facts) -> Iterator[Found]:
    """pip lists the wheels of another major version of CUDA than the release is built for (cuda-version-mismatch)."""
    listed, releases = _majors_of_wheels(facts), _told.releases(facts)
    version = facts.tensorflow.version
    newest = releases[0] if isinstance(version, str) and releases else max(releases, default=None)
    shown = facts.text.said("libraries-not-opened", "registers-no-gpu", "library-not-loaded")
    if not listed or not shown or newest is None or newest < _FIRST_WITH_WHEELS or _told.own_build(facts):
        return
    wanted = str(compat.built_for(newest).cuda[0])
    names = _cuda_lost(facts)
    if wanted in listed or any(str(v[0]) == wanted for v in named(facts, "cuda")):
        return
    if names and not any(_wants(name, wanted) for name in names):
        return
    release = ".".join(map(str, newest))
    yield Found(
        message=f"TensorFlow {release} asks for the libraries of CUDA {wanted}; installed are those of CUDA {max(listed)}.",
        proof=lines((*list(listed.values())[:1], *shown[:2])),
        fixes=(EXTRA,),
        explains=("tf-lists-no-gpu", "pip-nvidia-libs-not-found", "ld-library-path-not-set"),
    )


def _wants(name: str, major: str) -> bool:
    between = toolkits(name)
    return name == "libcudart.so" or (between is not None and within((int(major),), between))


def wheel_is_there(facts: Facts) -> Iterator[Found]:
    """pip installed the wheel that brings the very library that is lost (pip-nvidia-libs-not-found)."""
    parts = tuple((name, e) for name, e in parts_lost(facts) if e.values["error"].startswith(f"{name}:"))
    names = (*lost(facts), *(name for name, _ in parts))
    if not names or facts.text.said("wheels-removed"):
        return
    wheels = installed(facts, "nvidia-")
    for event in facts.text.said("wheels-asked"):
        for name, version in _ASKED.findall(event.text):
            wheels.setdefault(name, (version, event))
    cudnn = [(e.values["version"], e) for e in facts.text.said("cudnn-wheel-named") if not e.text.endswith("?")]
    for name in names:
        stem = name.split(".so")[0]
        if ".so." not in name:
            continue
        if stem.startswith("libcudnn"):
            listed = [(v, e) for wheel, (v, e) in wheels.items() if wheel.startswith("nvidia-cudnn-cu")] or cudnn
            there = [e for v, e in listed if v.partition(".")[0] == name.rpartition(".")[2]]
        else:
            there = [
                e
                for wheel, (_, e) in wheels.items()
                if (found := _WHEEL.match(wheel))
                and compat.wheel_of(name, found["major"]) == wheel
                and _wants(name, found["major"])
            ]
        if there and not _others_of_cudnn_lost(names, stem):
            yield Found(
                message=f"pip installed {name}, and the loader does not look in its directory.",
                proof=lines((*there[:1], *lines_of(facts, (name,))[:2], *(e for part, e in parts if part == name))),
                fixes=(
                    on_the_path(
                        "Put the directory on the loader's path",
                        FROM_PYTHON.format(stem.removeprefix("lib").split("_")[0]),
                    ),
                ),
                explains=("tf-lists-no-gpu", "op-fails", "cudnn-incomplete-install", "ld-library-path-not-set"),
            )
            return


_ASKED = Pattern(r"\b(nvidia-[a-z-]{4,16}-cu1\d)(?:==|>=|~=)?(\d[\d.]{0,14})?")


def _others_of_cudnn_lost(names: tuple[str, ...], stem: str) -> bool:
    """Whether other libraries than cuDNN are lost where only its wheel is there: then what is lost is another matter."""
    return stem.startswith("libcudnn") and any(not is_cudnn(name) and not name.startswith("libcudnn") for name in names)
