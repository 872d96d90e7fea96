"""CUDA's libraries in pasted texts: what could not be opened, against what the text shows to be there."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gpudoctor.checks import _stated, _told
from gpudoctor.checks._said import lines
from gpudoctor.checks._stated import EXTRA, asked, cudnns, lines_of, lost, named, opened, parts_lost, toolkits, within
from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread
from gpudoctor.findings import LIKELY, Fix, Found
from gpudoctor.patterns import Pattern

_AMPERE = (8, 0)


def other_cuda(facts: Facts) -> Iterator[Found]:
    """The text names a CUDA that does not bring what TensorFlow asks for (cuda-version-mismatch)."""
    if said := facts.text.said("wants-other-cuda"):
        yield Found(
            message=f"TensorFlow asks for CUDA {said[0].values['wanted']}; installed is {said[0].values['has']}.",
            proof=lines(said),
            fixes=(EXTRA,),
        )
        return
    if not lost(facts) and facts.text.said("gpus-added", "device-created"):  # which its CUDA opened
        return
    if not lost(facts) and facts.driver.libcuda.path is None:  # no library of CUDA's is asked for without it
        return
    newer = None if lost(facts) else _told.too_new(facts, any_of_them=True)
    if _asked_by_cudnn(facts) or (newer and newer[1] >= _AMPERE):  # which no CUDA helps (gpu-too-new-for-build)
        return
    wishes = [
        [(name, between) for name, between in one if not name.startswith(("libcurand", "curand"))]
        for one in asked(facts)
    ]
    if not wishes or not all(wishes) or not _fails(facts):
        return
    failed = [name for name in lost(facts) if toolkits(name)]
    stated = named(facts, "cuda")
    beside = tuple(name for name in opened(facts) if toolkits(name))
    first = failed[0] if failed else wishes[0][0][0]
    if stated and not any(all(within(v, between) for _, between in wish) for v in stated for wish in wishes):
        versions = " and ".join(".".join(map(str, v)) for v in stated)
        if not failed:
            first = next((n for n, between in wishes[0] if not any(within(v, between) for v in stated)), first)
        told = lines_of(facts, tuple(failed))
        who, cure = _stated.asker(told)
        yield Found(
            message=f"{who} asks for {first}, which CUDA {versions} does not bring.",
            proof=lines((*told[:2], *list(stated.values())[:2])),
            fixes=(cure,),
        )
    elif minor := _other_minor(failed, beside):
        yield Found(
            message=f"TensorFlow finds {minor[1]} and not {minor[0]}: the CUDA that is installed is of another minor version.",
            proof=lines(lines_of(facts, (minor[0],))[:2] + facts.text.said("library-opened")[:2]),
            fixes=(EXTRA,),
        )
    else:
        yield from _solver_of_11_0(facts)


def _solver_of_11_0(facts: Facts) -> Iterator[Found]:
    """On Windows, where a toolkit is installed as a whole: of CUDA's libraries cusolver64_11.dll alone is lost. CUDA 11.0 has
    cusolver64_10.dll in its place."""
    failed = tuple(name for name in lost(facts) if toolkits(name))
    if failed == ("cusolver64_11.dll",) and _some_are_opened(facts):
        yield Found(
            message="Of CUDA's libraries only cusolver64_11.dll is not there: CUDA 11.0, which has cusolver64_10.dll, is installed.",
            proof=lines((*lines_of(facts, failed)[:1], *facts.text.said("libraries-not-opened")[:1])),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Install CUDA 11.2 beside it, and put its bin directory before the other's on PATH",
                    steps=(),
                ),
            ),
        )


def _fails(facts: Facts) -> bool:
    """A library was not opened; or no GPU is listed by a release whose extra brings no libraries."""
    if facts.tensorflow.build.cuda is False or (
        facts.tensorflow.gpus() and not isinstance(facts.tensorflow.gpus(), Unread)
    ):
        return False
    if lost(facts) or facts.text.said("libraries-not-opened"):
        return True
    if facts.system.system == "Darwin":
        return False
    release = _release(facts)
    first = (2, 11) if facts.system.system == "Windows" else (2, 14) if facts.text.said("names-extra") else (99,)
    old = release is not None and release < first
    none = facts.tensorflow.devices == () or bool(facts.text.said("says-no-gpu", "cuda-mismatch-said"))
    return old and none and isinstance(facts.driver.libcuda.init_result, Unread)


def _release(facts: Facts) -> tuple[int, int] | None:
    """TensorFlow's; where nobody states it, the only one that is named."""
    releases = _told.releases(facts)
    return releases[0] if isinstance(facts.tensorflow.version, str) or len(releases) == 1 else None


def _other_minor(failed: list[str], beside: tuple[str, ...]) -> tuple[str, str] | None:
    """A library of one minor version that is lost beside one of the same major version that is found."""
    for name in failed:
        low, high = toolkits(name) or ((0,), (0,))
        exact = name.startswith(("libcudart", "cudart")) and low[0] == 10
        replaced = name.startswith(("libcusolver", "cusolver")) and high == (11, 1)
        replaced = replaced or (name.startswith("cusolver64_") and low == (11, 1))  # CUDA 11.0 has cusolver64_10.dll
        for other in beside:
            major = (toolkits(other) or ((0,), (0,)))[0][0]
            if toolkits(other) == (low, high):
                continue
            if (exact and major == 10 and not other.startswith(("libcufft", "libcurand"))) or (
                replaced and major == 11
            ):
                return name, other
    return None


def other_cudnn(facts: Facts) -> Iterator[Found]:
    """cuDNN alone is lost, and the text names one of another major version (cudnn-wrong-major)."""
    names = lost(facts)
    refused = {e.values.get("library") for e in facts.text.said("library-not-loaded") if e.language == "python"}
    names = tuple(name for name in names if name in refused) or names
    asked_for = {name.removesuffix(".dylib").rstrip("dl.")[-1] for name in names}
    stated = cudnns(facts)
    if not names or not all(is_cudnn(n) for n in names) or not stated or not asked_for <= set("123456789"):
        return
    if not any(str(v[0]) in asked_for for v in stated):
        versions = " and ".join(".".join(map(str, v)) for v in stated)
        yield Found(
            message=f"TensorFlow asks for {names[0]}; installed is cuDNN {versions}.",
            proof=lines((*lines_of(facts, names)[:2], *list(stated.values())[:2])),
            fixes=(EXTRA,),
        )


def is_cudnn(name: str) -> bool:
    """Whether a file is of cuDNN, by its name."""
    return name.startswith(("libcudnn.", "cudnn64_"))


_NUMBERED = Pattern(r"\.so\.\d")
"""'libcudnn.so' is a link of its own: that 'libcudnn.so.4' is there tells nothing of it."""


def file_that_is_there(facts: Facts, in_wheels: bool) -> Iterator[Found]:
    """The text shows the file that was not found (ld-library-path-not-set, pip-nvidia-libs-not-found)."""
    needs = ("libcuda.so", "Error: libnvrtc")  # that is lost then
    parts = tuple(one for one in parts_lost(facts) if not any(word in one[1].text for word in needs))
    names = (*lost(facts), *(name for name, _ in parts))
    if in_wheels and gap_in_text(facts):
        return  # tf-wheel-runpath-gap
    if any(refused_file(facts)):
        return
    for event in facts.text.said("shows-file"):
        name, directory = event.values["library"], event.values["directory"].rstrip("/")
        inside = _IN_A_WHEEL.search(event.text)
        wheel = inside is not None or "/site-packages/nvidia" in directory or "/dist-packages/nvidia" in directory
        if not wheel and toolkits(os.path.basename(name)) and _another_on_the_path(facts, directory):
            continue  # ld-library-path-wrong-toolkit
        if wheel is not in_wheels or not any(
            name == n or (_NUMBERED.search(n) and name.startswith(n + ".")) for n in names
        ):
            continue
        yield Found(
            message=f"{os.path.basename(name)} is there, and TensorFlow's loader does not look in its directory.",
            proof=lines((event, *lines_of(facts, (name,))[:2], *(e for part, e in parts if part == name))),
            fixes=(
                on_the_path(
                    "Put the directory on the loader's path", FROM_PYTHON.format(inside[1]) if inside else directory
                ),
            ),
            explains=("tf-lists-no-gpu", "op-fails", "cudnn-incomplete-install"),
        )
        return


_GAP, _LEFT_OUT = (2, 21), "libcusolver.so.11"
"""The release whose loader does not look where its own extra puts this library (compat/matrix.json, out_of_reach)."""


def gap_in_text(facts: Facts) -> Found | None:
    """Only the library that this release's wheel leaves out is lost, and the text shows it beside TensorFlow (tf-wheel-runpath-gap)."""
    if lost(facts) != (_LEFT_OUT,) or _release(facts) != _GAP:
        return None
    for event in facts.text.said("shows-file"):
        directory = event.values["directory"].rstrip("/")
        if event.values["library"] == _LEFT_OUT and directory.endswith("-packages/nvidia/cusolver/lib"):
            version = ".".join(map(str, _GAP))
            return Found(
                message=f"TensorFlow {version} can't find {_LEFT_OUT}: pip installed it beside TensorFlow, whose wheel does not look there.",
                proof=lines((*lines_of(facts, (_LEFT_OUT,))[:1], event)),
                fixes=(on_the_path("Put the directory on the loader's path", directory),),
            )
    return None


def on_the_path(what: str, directory: str) -> Fix:
    """The fix that puts a directory on the loader's path, as a line to paste."""
    return Fix(
        kind="command",
        risk="safe",
        summary=f"{what}, before Python starts",
        steps=(f'export LD_LIBRARY_PATH="{directory}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"',),
    )


def toolkit_before(facts: Facts) -> Iterator[Found]:
    """The path names one toolkit, and the file that was not found lies in that of another version (ld-library-path-wrong-toolkit)."""
    names = lost(facts)
    for event in facts.text.said("shows-file"):
        name, directory = event.values["library"], event.values["directory"].rstrip("/")
        if name in names and toolkits(name) and (path := _another_on_the_path(facts, directory)):
            yield Found(
                message=f"The loader's path names another toolkit than that of {directory}, which has {name}.",
                proof=lines((event, path)),
                fixes=(on_the_path("Put this toolkit's directory before the other's", directory),),
                explains=("tf-lists-no-gpu", "cuda-version-mismatch"),
            )
            return


def _another_on_the_path(facts: Facts, directory: str) -> TextEvent | None:
    """The line whose LD_LIBRARY_PATH names another version's toolkit than `directory`'s; None where the path's own libraries were opened."""
    own = _TOOLKIT_VERSION.search(directory)
    if own is None or facts.text.said("runtime-opened"):
        return None
    for event in facts.text.said("path-shown"):
        _, set_to, path = event.text.partition("LD_LIBRARY_PATH")
        versions = {one[1] for one in _TOOLKIT_VERSION.finditer(path)} if set_to else set()
        if versions and own[1] not in versions:
            return event
    return None


_TOOLKIT_VERSION = Pattern(r"/cuda[-/](\d{1,2}\.\d)[.\d]{0,6}/(?:targets/[\w-]{1,30}/)?lib")
_IN_A_WHEEL = Pattern(r"(?:^|\s)nvidia/(cu\w{2,14}|nv\w{2,10}|nccl)/lib/")
"""As pip lists the files of a wheel."""
FROM_PYTHON = "$(python3 -c 'import nvidia; print(list(nvidia.__path__)[0])')/{}/lib"
"""Where pip puts the libraries of a wheel, in a shell."""


_OUT_OF_REACH = "2.16.1"
"""Its loader looks into one of the directories in which its extra puts libraries (compat/matrix.json, and-cuda-not-found-2.16.1)."""


def extra_out_of_reach(facts: Facts) -> Iterator[Found]:
    """TensorFlow 2.16.1 with its own extra, which lists no GPU (pip-nvidia-libs-not-found)."""
    version, extra = facts.tensorflow.version, facts.text.said("names-extra")
    if version != _OUT_OF_REACH or not extra or not _fails_with_its_extra(facts) or _is_for_cpus(facts):
        return
    yield Found(
        message=f"TensorFlow {_OUT_OF_REACH} does not look where its own extra puts the libraries.",
        proof=lines((*facts.text.said("names"), *extra, *facts.text.said("libraries-not-opened", "lists-no-gpu"))),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Install a release that finds them (2.17 does)",
                steps=("python3 -m pip install --upgrade 'tensorflow[and-cuda]'",),
            ),
        ),
    )


def _is_for_cpus(facts: Facts) -> bool:
    """What is installed is a build without CUDA, which no library helps."""
    listed = facts.python.distributions
    names = {d.name for d in listed} if not isinstance(listed, Unread) else set()
    return facts.system.machine == "aarch64" or bool({"tensorflow-cpu", "tensorflow-cpu-aws"} & names)


def _fails_with_its_extra(facts: Facts) -> bool:
    none = facts.tensorflow.devices == () or bool(facts.text.said("libraries-not-opened"))
    lib = facts.driver.libcuda
    return none and not (isinstance(lib.init_result, int) and lib.init_result) and lib.path is not None


def installed_as_asked(facts: Facts) -> Iterator[Found]:
    """The text names the very CUDA that brings what is lost, or a set-up without a path (ld-library-path-not-set)."""
    names = lost(facts)
    place = [e for e in facts.text.said("names-cuda") if _TOOLKIT_PLACE.search(e.text)]
    if place and states_what_is_asked(facts) and not facts.text.said("path-shown"):
        yield _path_is_missing((*lines_of(facts, names)[:2], *place[:2]))
        return
    fetched = facts.text.said("cudnn-part-on-windows") and facts.text.said("single-dll-fetched-said")
    if not fetched and (shell := facts.text.said("shell-works")) and (ide := facts.text.said("ide-named")) and names:
        yield _path_is_missing((*lines_of(facts, names)[:2], *shell, *ide))
        return
    unset = facts.text.said("path-not-set")
    if unset and facts.text.said("libraries-not-opened", "library-not-loaded"):
        yield _path_is_missing((*facts.text.said("libraries-not-opened", "library-not-loaded")[:2], *unset))


def states_what_is_asked(facts: Facts) -> bool:
    """Whether all that is lost is of the CUDA that the text names as installed."""
    names, stated = lost(facts), named(facts, "cuda")
    wishes = [between for name in names if (between := toolkits(name)) is not None]
    fits = all(within(version, between) for version in stated for between in wishes)
    return bool(stated and wishes) and len(wishes) == len(names) and fits and not _some_are_opened(facts)


def names_the_cuda_that_is_asked_for(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that name the CUDA that is installed, where each brings all that TensorFlow asks for."""
    wishes, stated = asked(facts), named(facts, "cuda")
    fits = all(within(version, between) for version in stated for wish in wishes for _, between in wish)
    return tuple(stated.values()) if wishes and all(wishes) and fits else ()


def is_one_of_many(facts: Facts) -> bool:
    """Whether a library of the toolkit is lost where others of it are opened. Not libcusolver.so.10, which the next toolkit calls 11."""
    names = [name for name in lost(facts) if toolkits(name)]
    replaced = any(name.startswith(("libcusolver.so.10", "cusolver64_10")) for name in names)
    return bool(names) and not replaced and _some_are_opened(facts)


_FIRST_OF_ALL = ("libcublas.", "libcudart.", "cublas64_", "cudart64_")


def _some_are_opened(facts: Facts) -> bool:
    """A line says so; or TensorFlow's whole list of those that it could not open lacks them."""
    shown = any(name.startswith(_FIRST_OF_ALL) for name in opened(facts))
    whole = facts.text.said("libraries-not-opened") and any(toolkits(name) for name in lost(facts))
    return shown or bool(whole and not any(name.startswith(_FIRST_OF_ALL) for name in lost(facts)))


def states_another(facts: Facts) -> bool:
    """Whether TensorFlow finds no CUDA, and the one that the text names is of another major version than the release is built for: it
    may be nvidia-smi's."""
    built, stated = {cuda[0] for cuda in _told.built_for(facts)}, {version[0] for version in named(facts, "cuda")}
    return lost(facts) == ("libcudart.so",) and bool(built and stated) and not built & stated


_TOOLKIT_PLACE = Pattern(
    r"^(?!.*(?i:\b(?:in vain|not|no|never|nothing)\b|n't\b)).*(?i:\b(?:is there|installed|have|exists?|lies|located|is set)\b).*(?:/usr/local/cuda-\d|/opt/cuda)"
    r"|^(?!.*(?i:\b(?:in vain|not|no|never|nothing)\b|n't\b)).*(?:/usr/local/cuda-\d|/opt/cuda).*(?i:\b(?:is there|installed|exists?|is set)\b)"
)
"""Somebody says that a toolkit lies there."""


def _path_is_missing(told: tuple[TextEvent, ...]) -> Found:
    return Found(
        message="CUDA's libraries are installed, and the loader is not told where.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Put their directory on the loader's path, before Python starts (where find names another: that one)",
                steps=(
                    "find / -name 'libcudart.so*' -o -name 'libcudnn.so*' 2>/dev/null",
                    'export LD_LIBRARY_PATH="/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
                ),
            ),
        ),
    )


_REFUSALS = (
    "file too short", "invalid ELF header", "wrong ELF class", "undefined symbol", "file data", "object file: Permission denied", "object file: Input/output error", "shared object: Operation not permitted",
    "object file: Stale file handle", "object file: Too many levels", "ELF file version", "ELF load command", "no loadable segments", "only ET_DYN", "cannot enable executable stack",
)  # fmt: skip
"""What glibc's loader says of a file that it found."""


def refused_file(facts: Facts) -> Iterator[Found]:
    """The loader says what is wrong with the file that it found (cuda-lib-unusable)."""
    words = _REFUSALS
    told = [
        e
        for e in facts.text.said("library-not-loaded")
        if any(word in e.text for word in words)
        and " DSO" not in e.text  # there it is the symbol that was asked for
        and not e.values.get("library", "").startswith("libcuda.so")  # the driver's
    ]
    names = lost(facts)
    told += [e for e in facts.text.said("empty-file") if any(e.values["library"].startswith(name) for name in names)]
    if told:
        yield Found(
            message=f"{told[0].values.get('library', 'A library')} is found, and the loader refuses the file.",
            proof=lines(told),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Replace the file: reinstall the package that brings it, or take its directory off the path",
                    steps=(),
                ),
            ),
        )


def _asked_by_cudnn(facts: Facts) -> Found | None:
    """cuDNN asks for a library of another major version of CUDA than TensorFlow is built for: it was installed for that CUDA."""
    built, stated = {cuda[0] for cuda in _told.built_for(facts)}, named(facts, "cuda")
    here = built or {version[0] for version in stated}
    for event in facts.text.said("cudnn-lacks-cublas")[:1]:
        major = int(event.values["major"])
        if here and major not in here:
            return Found(
                message=f"cuDNN asks for a library of CUDA {major}, and "
                + (f"this TensorFlow is built for CUDA {max(built)}" if built else f"CUDA {max(here)} is installed")
                + ": this cuDNN was made for another CUDA.",
                proof=lines((event, *(facts.text.said("names")[:1] if built else list(stated.values())[:1]))),
                fixes=(EXTRA,),
            )
    return None


_NEEDS_OF_ANOTHER = Pattern(r"^libnvJitLink\.so\.(?P<major>\d{1,2}): cannot open")


def of_another_toolkit(facts: Facts) -> Iterator[Found]:
    """A library that was found asks for one that only another major version of CUDA brings than the one that was opened
    (cuda-lib-from-other-toolkit): libnvJitLink is there from 12 on."""
    if of_cudnn := _asked_by_cudnn(facts):
        yield of_cudnn
        return
    opened_majors = {e.values.get("version", "").partition(".")[0] for e in facts.text.said("runtime-opened")}
    for event in facts.text.said("library-not-loaded"):
        needs = _NEEDS_OF_ANOTHER.search(event.values.get("error", ""))
        if needs and opened_majors and needs["major"] not in opened_majors:
            yield Found(
                message=f"{event.values['library']} comes from CUDA {needs['major']}, and libcudart from CUDA {max(opened_majors)}.",
                proof=lines((event, *facts.text.said("runtime-opened")[:1])),
                fixes=(EXTRA,),
            )
            return


_SYMBOL_OF_ANOTHER = Pattern(
    r"(?P<file>/\S{1,200}?lib\w{2,20}\.so[.\d]{0,14}): symbol \w{1,80},? version \S{1,40} not defined in file (?P<other>lib(?:cu|nv)\w{2,20}\.so[.\d]{0,14}) with link time reference"
)


def asks_for_another_file(facts: Facts) -> Iterator[Found]:
    """A library that was found needs a version of a symbol that the file of the other library, found first, does not define
    (cuda-lib-from-other-toolkit)."""
    if facts.text.said("cublas-mixed"):
        return  # cublas-version-mismatch
    for event in facts.text.said("symbol-of-another"):
        yield _of_another_build(facts, event, event.values["file"], event.values["other"])
        return
    for event in facts.text.said("library-not-loaded"):
        if needs := _SYMBOL_OF_ANOTHER.search(event.values.get("error", "") or event.text):
            yield _of_another_build(facts, event, needs["file"], needs["other"])
            return


def _of_another_build(facts: Facts, event: TextEvent, file: str, other: str) -> Found:
    return Found(
        message=f"{file} needs another build of {other} than the one that the loader finds first.",
        proof=lines((event, *facts.text.said("path-shown")[:1])),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary=f"See which {other} lies first on the path, and take its directory off",
                steps=('echo "$LD_LIBRARY_PATH"', f"find / -name '{other}*' 2>/dev/null"),
            ),
        ),
        explains=("tf-lists-no-gpu", "op-fails"),
    )


def not_in_this_text(found: Iterator[Found], likely: bool = False) -> Iterator[Found]:
    """`found`, or the check is unknown: that a text names no other version rules nothing out. `likely`: what it states speaks for it."""
    several = list(found)
    if not several:
        raise UnknownFactError(Unread(why=LIKELY if likely else "not in this text"))
    yield from several
