"""CUDA libraries of another version than TensorFlow asks for, and files of one that are not as installed."""

from __future__ import annotations

import os
import re
from itertools import chain
from shlex import quote

import msgspec

from gpudoctor.checks._libraries import all_open, failed, install, installed, lies, looked_in, source, wanted
from gpudoctor.checks._pip import pip
from gpudoctor.checks._reasons import named, short
from gpudoctor.checks.library_texts import (
    asks_for_another_file,
    names_the_cuda_that_is_asked_for,
    not_in_this_text,
    of_another_toolkit,
    other_cuda,
    other_cudnn,
    states_another,
    toolkit_before,
)
from gpudoctor.checks.places_texts import linked_to_another, wheels_of_another_cuda
from gpudoctor.checks.wheel_texts import (
    cudnn_of_another_major,
    names_the_cudnn_that_is_asked_for,
    older_cudnn_before,
    parts_of_another_major,
)
from gpudoctor.facts import DamagedFile, Facts, LibraryFile, LibraryPick, Toolkit, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_SONAME = Pattern(r"(lib\w+)\.so\.(\d+)")
_FAMILY_OF_MAJOR = ("libcudart", "libcublas")
"""Libraries whose soname carries the major version of CUDA."""


def missing(facts: Facts) -> tuple[LibraryPick, ...]:
    """The required libraries of which no file is installed, themselves or something that they need."""
    return tuple(p for p in failed(facts) if not p.rejected and not installed(facts, wanted(p)))


def other_majors(facts: Facts, soname: str) -> tuple[LibraryFile, ...]:
    """Files of the same library with another major version in their name."""
    if (match := _SONAME.match(soname)) is None:
        return ()
    stem, major = match.groups()
    found = []
    for file in known(facts.libraries.files):
        other = _SONAME.match(file.name)
        if other and other.group(1) == stem and other.group(2) != major and not isinstance(file.other_processor, str):
            found.append(file)
    return tuple(found)


def _majors(files: tuple[LibraryFile, ...]) -> list[str]:
    """The major versions of files, newest first."""
    found = {match.group(2) for f in files if (match := _SONAME.match(f.name))}
    return sorted(found, key=int, reverse=True)


def _one_a_directory(files: tuple[LibraryFile, ...]) -> list[LibraryFile]:
    return list({os.path.dirname(f.path): f for f in reversed(files)}.values())[::-1]


@check(
    "GD207",
    "cuda-version-mismatch",
    stage=Stage.LIBRARIES,
    explains=("cuda-libs-missing", "cuda-lib-from-other-toolkit", "tf-lists-no-gpu"),
)
def cuda_version_mismatch(facts: Facts) -> Findings:
    """The CUDA that is installed is of another major version than this TensorFlow was built for.

    What it looks at: the libcudart and libcublas that TensorFlow's loader asks for (their names carry the major
    version of CUDA), and every file of these libraries in wheels, toolkits, system directories and conda. It fires
    where the major that is asked for is in none of them, and another one is.

    Why it matters: each build of TensorFlow opens the libraries of one major version by name; a newer or an older
    toolkit is no substitute. nvidia-smi's "CUDA Version" is the driver's and has no part in this.

    How to fix: install TensorFlow's own extra, beside the toolkit: it brings the libraries of its own build.

    Source: https://www.tensorflow.org/install/pip; the sonames that the loader asks for.
    """
    if facts.text.is_all:
        told = [*other_cuda(facts), *linked_to_another(facts), *wheels_of_another_cuda(facts)]
        if not told and (here := names_the_cuda_that_is_asked_for(facts)):
            return f"the CUDA that is named is the one that is asked for: {short(here[0].text)}"
        yield from not_in_this_text(iter(told), likely=states_another(facts))
        return
    gone = missing(facts)
    asked = [p for p in gone if not p.stopped_by and p.soname.startswith(tuple(s + ".so" for s in _FAMILY_OF_MAJOR))]
    cudart = next((p for p in asked if p.soname.startswith("libcudart.so")), None)
    if cudart is None or len(asked) < sum(
        p.soname.startswith(tuple(s + ".so" for s in _FAMILY_OF_MAJOR)) for p in known(facts.tensorflow.libraries)
    ):
        return all_open(facts) or ("not all libraries of CUDA are missing" if cudart else "libcudart is not missing")
    others = other_majors(facts, cudart.soname)
    if not others:
        return f"no other major version of {cudart.soname} is installed"
    majors = " and ".join(_majors(others))
    cuda = facts.tensorflow.build.cuda_version
    built = f"was built for CUDA {cuda} and asks" if isinstance(cuda, str) else "asks"
    yield Found(
        message=f"TensorFlow {built} for {cudart.soname}; installed is CUDA {majors} only.",
        proof=(
            *(Evidence(text=lies(f), source="files") for f in _one_a_directory(others)[:3]),
            Evidence(text=f"{cudart.soname} was looked for in {looked_in(cudart)}", source=source(facts)),
        ),
        fixes=(install(facts, tuple(dict.fromkeys(wanted(p) for p in gone))),),
    )


def only_cudnn_is_missing(facts: Facts) -> LibraryPick | None:
    """The failed libcudnn, where nothing else is missing and a libcudnn of another major version is there."""
    gone = missing(facts)
    if not gone or any(not wanted(p).startswith("libcudnn.so.") for p in gone):
        return None
    return gone[0] if other_majors(facts, wanted(gone[0])) else None


@check("GD206", "cudnn-wrong-major", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cudnn_wrong_major(facts: Facts) -> Findings:
    """The cuDNN that is installed is of another major version than this TensorFlow asks for.

    What it looks at: whether cuDNN is the only library that is missing (libcudnn.so.8, libcudnn.so.9), and every
    libcudnn in wheels, toolkits, system directories and conda. In a pasted text: the cuDNN that it names as installed, or that pip
    lists there.

    Why it matters: TensorFlow opens cuDNN by the name of its major version; 2.17 and older ask for 8, 2.18 and
    newer for 9. Without it no GPU is registered.

    How to fix: install the cuDNN of TensorFlow's own extra. Both can lie side by side.

    Source: https://www.tensorflow.org/install/source#gpu; the soname that the loader asks for.
    """
    if facts.text.is_all:
        told = [*other_cudnn(facts), *cudnn_of_another_major(facts), *parts_of_another_major(facts)]
        if not told and (here := names_the_cudnn_that_is_asked_for(facts)):
            return f"the cuDNN that is named is the one that is asked for: {short(here[0].text)}"
        yield from not_in_this_text(iter(told))
        return
    pick = only_cudnn_is_missing(facts)
    if pick is None:
        return all_open(facts) or _not_cudnn(facts)
    others = other_majors(facts, wanted(pick))
    yield Found(
        message=f"TensorFlow asks for {wanted(pick)}; installed is cuDNN {' and '.join(_majors(others))} only.",
        proof=(
            *(Evidence(text=_with_version(f), source="files") for f in _one_a_directory(others)[:3]),
            Evidence(text=f"{wanted(pick)} was looked for in {looked_in(pick)}", source=source(facts)),
        ),
        fixes=(install(facts, (wanted(pick),)),),
    )


def _not_cudnn(facts: Facts) -> str:
    gone = [wanted(p) for p in missing(facts)]
    others = [name for name in gone if not name.startswith("libcudnn.so.")]
    if others:
        return f"also missing: {named(others)}"
    return "no other major version of cuDNN is installed" if gone else "no library is missing altogether"


def _with_version(file: LibraryFile) -> str:
    version = f", version {file.version}" if isinstance(file.version, str) else ""
    package = f" ({file.package})" if isinstance(file.package, str) else ""
    return lies(file) + package + version


# ----------------------------------------------------------------------------- files that are not as installed


def damaged_wheels(facts: Facts) -> dict[str, DamagedFile]:
    """Soname that could not be opened -> the file of a wheel that should be it, and is gone or of another size."""
    by_name = {os.path.basename(d.path): d for d in known(facts.python.damaged)}
    found = {}
    for pick in failed(facts):
        refused = os.path.basename(pick.rejected or "")
        if refused in by_name and by_name[refused].size_bytes is not None:
            found[refused] = by_name[refused]
        if pick.rejected or installed(facts, wanted(pick)):
            continue
        gone = by_name.get(wanted(pick)) or _for_another_processor(facts, wanted(pick))
        if gone is not None:
            found[wanted(pick)] = gone
    return found


def _for_another_processor(facts: Facts, soname: str) -> DamagedFile | None:
    """A wheel's file that the loader passes over, where no list tells what size it had."""
    for file in known(facts.libraries.files):
        if file.name == soname and isinstance(file.other_processor, str) and isinstance(file.owner, str):
            size = file.size_bytes if isinstance(file.size_bytes, int) else 0
            return DamagedFile(path=file.path, owner=file.owner, size_bytes=size, recorded_bytes=None)
    return None


@check("GD209", "wheel-damaged", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def wheel_damaged(facts: Facts) -> Findings:
    """Files of an installed wheel are gone, or not as pip wrote them.

    What it looks at: each library that TensorFlow's loader could not open, and the RECORD of the nvidia wheels: the
    list of their files with their sizes. It fires where such a file is not there or has another size, or where it is for
    another processor, so that the loader passes over it.

    Why it matters: pip takes the wheel for installed and does nothing when asked to install it. It happens when two
    wheels own the same file and one of them is removed (nvidia-cudnn-cu12 and -cu13), when an installation or a
    copy is cut short (disk full), and when a cleaning of the image goes too far.

    How to fix: reinstall the wheel by force.

    Source: Binary distribution format, RECORD (packaging.python.org); the files' sizes.
    """
    damaged = list(damaged_wheels(facts).values())
    if not damaged:
        return all_open(facts) or "no file of a wheel is gone or changed"
    gone = [os.path.basename(d.path) for d in damaged if d.size_bytes is None]
    other = [os.path.basename(d.path) for d in damaged if d.size_bytes is not None]
    owners = list(dict.fromkeys(d.owner for d in damaged))
    said = [f"{', '.join(gone)} {_is(gone)} gone"] if gone else []
    said += [f"{', '.join(other)} {_is(other)} not as installed"] if other else []
    requirements = [quote(owner.replace(" ", "==")) for owner in owners]
    yield Found(
        message=f"{' and '.join(owners)} {_is(owners)} installed, and {'; '.join(said)}.",
        proof=tuple(_state(facts, d) for d in damaged),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Put the wheel's files back",
                steps=pip(facts, "install", "--force-reinstall", "--no-deps", *requirements),
            ),
        ),
    )


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _state(facts: Facts, file: DamagedFile) -> Evidence:
    source = f"RECORD of {file.owner}"
    if file.size_bytes is None:
        return Evidence(text=f"{file.path} does not exist", source=source)
    if file.recorded_bytes is not None:
        text = f"{file.path} has {file.size_bytes} bytes; {file.recorded_bytes} were installed"
        return Evidence(text=text, source=source)
    kind = next((f.other_processor for f in known(facts.libraries.files) if f.path == file.path), None)
    return Evidence(text=f"{file.path} is for another processor ({kind})", source="its ELF header")


# ----------------------------------------------------------------------------- another toolkit in between


def _toolkit_of(facts: Facts, directory: str) -> Toolkit | None:
    """The toolkit that a directory belongs to."""
    for toolkit in known(facts.libraries.toolkits):
        if (directory + "/").startswith((toolkit.path + "/", toolkit.real + "/")):
            return toolkit
    return None


def found_by_variable(facts: Facts, pick: LibraryPick) -> str | None:
    """The directory of LD_LIBRARY_PATH whose file the loader took for `pick` or for what it needs, if it could use it or not."""
    entries = {os.path.normpath(d) for d in _entries(facts)}
    if pick.rejected:
        directory = os.path.dirname(os.path.normpath(pick.rejected))
        return directory if directory in entries else None
    if pick.searched and (pick.picked or pick.stopped_by):
        last = pick.searched[-1]
        return os.path.normpath(last.directory) if last.origin == "LD_LIBRARY_PATH" else None
    place = os.path.dirname(pick.picked) if isinstance(pick.picked, str) else None  # needed by one that came before
    return place if place in entries else None


def _entries(facts: Facts) -> list[str]:
    return [d for d in re.split("[:;]", facts.environment.known("LD_LIBRARY_PATH") or "") if d]


@check("GD210", "ld-library-path-wrong-toolkit", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def ld_library_path_wrong_toolkit(facts: Facts) -> Findings:
    """LD_LIBRARY_PATH puts another CUDA toolkit before the libraries that TensorFlow was built for.

    What it looks at: each library that TensorFlow's loader found in a directory of LD_LIBRARY_PATH and could not
    use (it was refused, or something that it needs was not found), whether that directory is part of a CUDA
    toolkit, and whether another file of the same name lies elsewhere. In a pasted text: a path that names one toolkit, and the file
    that was not found in that of another version; or a path that leads to the older cuDNN which TensorFlow says is loaded, where
    one that is new enough is installed, or works without the variable.

    Why it matters: LD_LIBRARY_PATH comes before the directories that TensorFlow and the wheels name themselves, so
    the good file is not reached.

    How to fix: take the directory off LD_LIBRARY_PATH.

    Source: ld.so(8).
    """
    if facts.text.is_all:
        yield from not_in_this_text(chain(toolkit_before(facts), older_cudnn_before(facts)))
        return None
    lost: list[tuple[LibraryPick, str, Toolkit, LibraryFile]] = []
    broken = failed(facts)
    for pick in broken:
        directory = found_by_variable(facts, pick)
        toolkit = _toolkit_of(facts, directory) if directory is not None else None
        name = os.path.basename(pick.rejected or pick.soname)
        good = [f for f in installed(facts, name) if os.path.dirname(f.path) != directory and f.kind == "wheel"]
        if directory is not None and toolkit is not None and good:
            lost.append((pick, directory, toolkit, good[0]))
    if not lost:
        return all_open(facts) or "LD_LIBRARY_PATH puts no toolkit before the wheels"
    directories = list(dict.fromkeys(directory for _, directory, _, _ in lost))
    first = lost[0][2]
    version = f"CUDA {first.version}" if isinstance(first.version, str) else first.path
    brought = {pick.stopped_by for pick, _, _, _ in lost if pick.stopped_by}
    mine = {pick.soname for pick, _, _, _ in lost} | {p.soname for p in broken if p.stopped_by in brought}
    more = () if any(p.soname not in mine for p in broken) else _EXPLAINED_WHERE_IT_IS_ALL
    names = sorted({os.path.basename(pick.rejected or pick.soname) for pick, _, _, _ in lost})
    yield Found(
        message=f"LD_LIBRARY_PATH puts {', '.join(directories)} ({version}) before the wheels, and "
        f"{', '.join(names)} of there can't be used.",
        proof=tuple(
            Evidence(
                text=f"{os.path.basename(pick.rejected or pick.soname)} was found in {directory} "
                + (f"and needs {pick.stopped_by}, which was not found" if pick.stopped_by else "and refused")
                + f"; {lies(good)}",
                source=source(facts),
            )
            for pick, directory, _, good in lost
        ),
        fixes=(without(facts, directories),),
        explains=("tf-lists-no-gpu", *more),
    )


_EXPLAINED_WHERE_IT_IS_ALL = (
    "cuda-lib-unusable",
    "cuda-libs-missing",
    "cuda-version-mismatch",
    "cudnn-wrong-major",
    "ld-library-path-not-set",
    "pip-nvidia-libs-not-found",
)


def without(facts: Facts, directories: list[str]) -> Fix:
    """The fix that takes `directories` off LD_LIBRARY_PATH."""
    left = ":".join(d for d in _entries(facts) if os.path.normpath(d) not in directories)
    change = EnvChange(name="LD_LIBRARY_PATH", op="set" if left else "unset", value=left)
    return Fix(
        kind="env",
        risk="safe",
        summary="Take the directory off the loader's path, for this shell and what it starts",
        steps=(f"export LD_LIBRARY_PATH={quote(left)}" if left else "unset LD_LIBRARY_PATH",),
        env=(change,),
    )


@check("GD205", "cuda-lib-from-other-toolkit", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cuda_lib_from_other_toolkit(facts: Facts) -> Findings:
    """A library that TensorFlow loads comes from a CUDA of another major version than the rest.

    What it looks at: where TensorFlow's loader found each library: in a toolkit or a wheel of which CUDA major
    version, against the one that TensorFlow was built for. It says nothing where TensorFlow lists its GPUs and all
    that was run on them worked. In a pasted text: a library that asks for one of another major version of CUDA than the libcudart
    that was opened, or for a version of a symbol that the other library does not define.

    Why it matters: some libraries keep the name libcusparse.so.12 from one CUDA to the next, so a missing wheel is
    hidden by another toolkit. It mostly works; where something fails, it is the first thing to set right.

    How to fix: install TensorFlow's own extra, so that all libraries come from one place; and where the other toolkit is on
    LD_LIBRARY_PATH, which comes before the wheels, take it off.

    Source: the real files' places; versions of the toolkits' own files.
    """
    if facts.text.is_all:
        yield from not_in_this_text(chain(of_another_toolkit(facts), asks_for_another_file(facts)))
        return
    if known(facts.tensorflow.directory) is None or not known(facts.tensorflow.build.cuda):
        raise NotApplicable("no TensorFlow with CUDA is installed")
    listed = facts.tensorflow.gpus()
    if not isinstance(listed, Unread) and listed and not any(m.failed and m.in_tensorflow for m in facts.measurements):
        raise NotApplicable("TensorFlow lists its GPUs and everything that was run on them worked")
    cuda = known(facts.tensorflow.build.cuda_version)
    major = cuda.split(".")[0] if cuda else None
    strange = []
    for pick in known(facts.tensorflow.libraries):
        if isinstance(pick.picked, str) and pick.required:
            other = _cuda_major(facts, pick.picked)
            if major is not None and other is not None and other != major:
                strange.append((pick.soname, pick.picked, other))
    if not strange:
        return f"no library comes from another CUDA than {cuda}"
    names = tuple(soname for soname, _, _ in strange)
    first = {
        p.soname: d for p in known(facts.tensorflow.libraries) if p.required and (d := found_by_variable(facts, p))
    }
    directories = list(dict.fromkeys(first[name] for name in names if name in first))
    yield Found(
        message=f"{', '.join(names)} {'comes' if len(names) == 1 else 'come'} from CUDA {strange[0][2]}; "
        f"TensorFlow was built for CUDA {cuda}.",
        proof=tuple(Evidence(text=f"{s} is {path}", source=source(facts)) for s, path, _ in strange),
        fixes=(_from_one_place(facts, names, [s for s, d in first.items() if d in directories], directories),),
        level=Level.INFO,
        explains=(),
    )


def _from_one_place(facts: Facts, names: tuple[str, ...], there: list[str], directories: list[str]) -> Fix:
    """The wheels where they lack, and the loader's path without `directories`, where `there` was found."""
    wheels = install(facts, names)
    if not directories:
        return wheels
    path = without(facts, directories)
    if all(installed(facts, soname)[0].kind == "wheel" for soname in there):
        return path
    return msgspec.structs.replace(
        wheels,
        summary=f"{wheels.summary}, and take the other toolkit off the loader's path, for this shell and what it starts",
        steps=(*wheels.steps, *path.steps),
    )


def _cuda_major(facts: Facts, path: str) -> str | None:
    """The major version of the CUDA that a file was installed with; None: its place does not tell."""
    file = next((f for f in known(facts.libraries.files) if path in (f.path, f.real)), None)
    if file is None:
        return None
    if isinstance(file.owner, str):
        wheel = re.search(r"-cu(\d+) ", file.owner) or re.search(r"/nvidia/cu(\d+)/lib/", file.path)
        return wheel.group(1) if wheel else None
    toolkit = _toolkit_of(facts, os.path.dirname(file.real if isinstance(file.real, str) else file.path))
    version = toolkit.version if toolkit is not None else None
    return version.split(".")[0] if isinstance(version, str) else None
