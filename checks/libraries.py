"""The CUDA libraries that TensorFlow's loader asks for: reachable, installed, usable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from shlex import quote

from packaging.version import InvalidVersion, Version

from gpudoctor import compat
from gpudoctor.facts import Facts, LibraryFile, LibraryPick, LoaderObject, SearchStep, Unread, known
from gpudoctor.findings import Evidence, Fix, Found, LinkChange, NotApplicable, Stage, on_library_path
from gpudoctor.registry import check


def _failed(facts: Facts) -> tuple[LibraryPick, ...]:
    """The required libraries that TensorFlow's loader could not open."""
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed")
    if not known(facts.tensorflow.build.cuda):
        raise NotApplicable("this TensorFlow is built without CUDA")
    listed = facts.tensorflow.gpus()
    if not isinstance(listed, Unread) and listed:
        raise NotApplicable("TensorFlow lists its GPUs: it has found every library that this needs")
    return tuple(p for p in known(facts.tensorflow.libraries) if p.required and known(p.picked) is None)


def _wanted(pick: LibraryPick) -> str:
    """The soname that was not found: the library's own or a dependency's."""
    return pick.stopped_by or pick.soname


def _installed(facts: Facts, soname: str) -> tuple[LibraryFile, ...]:
    """Every file of this soname on the machine, in wheels first."""
    files = [f for f in known(facts.libraries.files) if f.name == soname]
    return tuple(sorted(files, key=lambda f: f.kind != "wheel"))


def _searched(pick: LibraryPick) -> tuple[SearchStep, ...]:
    return pick.dependency_searched if pick.stopped_by else pick.searched


def _was_searched(pick: LibraryPick, path: str) -> bool:
    """Whether the loader looked in the directory of `path`, under any name of it."""
    wanted = os.path.dirname(os.path.normpath(path))
    return any(os.path.normpath(s.directory) == wanted for s in _searched(pick))


def _holder(facts: Facts) -> LoaderObject | None:
    """The object of TensorFlow that calls dlopen."""
    return next((o for o in known(facts.tensorflow.objects) if o.calls_dlopen is True), None)


def _wheel_directories(facts: Facts, holder: LoaderObject | None) -> tuple[str, ...]:
    """The nvidia/*/lib directories beside TensorFlow that the holder's RUNPATH names."""
    if holder is None or isinstance(holder.runpath, Unread):
        return ()
    wheels = os.path.join(os.path.dirname(known(facts.tensorflow.directory) or ""), "nvidia") + "/"
    return tuple(d for d in holder.runpath if d.startswith(wheels))


def _looked_in(pick: LibraryPick) -> str:
    """Where the loader looked, by origin: the proof of a search."""
    groups: dict[str, list[str]] = {}
    for step in _searched(pick):
        groups.setdefault(step.origin or "?", []).append(step.directory)
    return "; ".join(f"{origin}: {', '.join(_folded(dirs))}" for origin, dirs in groups.items()) or "nowhere"


def _folded(directories: list[str]) -> list[str]:
    """Directories with those of several wheels as one: '/s/nvidia/{cublas,cufft}/lib'."""
    folded: dict[tuple[str, str], list[str]] = {}
    for directory in dict.fromkeys(directories):
        match = re.fullmatch(r"(.*/nvidia/)([^/]+)(/lib)", directory)
        before, name, after = match.groups() if match else (directory, "", "")
        folded.setdefault((before, after), []).append(name)
    return [
        before + (names[0] if len(names) == 1 else "{" + ",".join(names) + "}") + after
        for (before, after), names in folded.items()
    ]


def _lies(file: LibraryFile) -> str:
    owner = f" ({file.owner})" if isinstance(file.owner, str) else ""
    return f"{file.name} lies in {os.path.dirname(file.path)}{owner}"


def _source(facts: Facts) -> str:
    how = {"direct": "TensorFlow's own loader under LD_DEBUG=libs", "simulated": "glibc's rules over the files"}
    source = facts.tensorflow.loader_source
    return how.get(source, source) if isinstance(source, str) else "TensorFlow's loader"


@check("GD511", "tf-wheel-runpath-gap", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def tf_wheel_runpath_gap(facts: Facts) -> Iterator[Found]:
    """TensorFlow's own wheel does not look where its own extra installs a library.

    What it looks at: each library that TensorFlow's loader failed to open; whether pip installed it beside
    TensorFlow (site-packages/nvidia/*/lib); and the RUNPATH of the object that calls dlopen. It fires where
    that RUNPATH names the directories of other nvidia wheels, and not this one's.

    Why it matters: everything is installed as the documentation says, and TensorFlow lists no GPU with
    nothing but 'Cannot dlopen some GPU libraries'. TensorFlow 2.21.0 has this defect for libcusolver.so.11:
    libtensorflow_cc.so.2 names nvidia/cusolver/lib, and the loader sits in libtensorflow_framework.so.2.

    How to fix: add the directory to LD_LIBRARY_PATH, or make one link in a directory that the RUNPATH names.
    The link lasts until the wheels are reinstalled. Reinstalling mends nothing.

    Source: ELF dynamic section of the 2.21.0 wheel; confirmed on H200 hosts.
    """
    gaps = [(pick, file) for pick in _failed(facts) if (file := _gap(facts, pick)) is not None]
    if not gaps:
        return
    holder = _holder(facts)
    holder_name = os.path.basename(holder.path) if holder else "TensorFlow's library"
    names = ", ".join(pick.soname for pick, _ in gaps)
    version = facts.tensorflow.version
    directories = _wheel_directories(facts, holder)
    proof: list[Evidence] = []
    for pick, file in gaps:
        proof.append(Evidence(text=_lies(file), source="files"))
        proof.append(Evidence(text=f"{pick.soname} was looked for in {_looked_in(pick)}", source=_source(facts)))
    named = ", ".join(_folded(list(directories)))
    proof.append(Evidence(text=f"RUNPATH of {holder_name} names {named}", source="ELF dynamic section"))
    yield Found(
        message=f"TensorFlow {version if isinstance(version, str) else ''} can't find {names}: pip installed it beside "
        f"TensorFlow, and {holder_name}, which opens it, does not look there.".replace("  ", " "),
        proof=tuple(proof),
        fixes=_gap_fixes(facts, [file for _, file in gaps], directories),
    )


def _gap(facts: Facts, pick: LibraryPick) -> LibraryFile | None:
    """The file beside TensorFlow that the loader's RUNPATH fails to name, if this is such a case."""
    if pick.stopped_by or pick.rejected:
        return None
    directories = _wheel_directories(facts, _holder(facts))
    site = os.path.dirname(known(facts.tensorflow.directory) or "")
    for file in _installed(facts, pick.soname):
        beside = file.path.startswith(os.path.join(site, "nvidia") + "/")
        if file.kind == "wheel" and beside and directories and os.path.dirname(file.path) not in directories:
            return file
    return None


def _gap_fixes(facts: Facts, files: list[LibraryFile], directories: tuple[str, ...]) -> tuple[Fix, ...]:
    fixes = [on_library_path([os.path.dirname(f.path) for f in files])]
    present = {os.path.dirname(f.path) for f in known(facts.libraries.files)}
    place = next((d for d in directories if d in present), None)
    if place is not None:
        links = tuple(
            LinkChange(link=os.path.join(place, f.name), target=os.path.relpath(f.path, place)) for f in files
        )
        fixes.append(
            Fix(
                kind="link",
                risk="safe",
                summary="Make a link where TensorFlow does look; it lasts until the wheels are reinstalled",
                steps=tuple(f"ln -s {quote(link.target)} {quote(link.link)}" for link in links),
                links=links,
            )
        )
    return tuple(fixes)


@check("GD512", "pip-nvidia-libs-not-found", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def pip_nvidia_libs_not_found(facts: Facts) -> Iterator[Found]:
    """pip installed the CUDA libraries where the loader does not look.

    What it looks at: each library that TensorFlow's loader failed to open (or a dependency of one), and
    whether an nvidia-* wheel has it. It fires where TensorFlow names no such directory at all (2.13 and older),
    where the wheels lie in another site-packages than TensorFlow, or where a wheel's own dependency is out of
    reach. A gap in a wheel that does name the others is tf-wheel-runpath-gap.

    Why it matters: the files are there, and TensorFlow lists no GPU.

    How to fix: put their directories on LD_LIBRARY_PATH.

    Source: ELF dynamic sections of the wheels 2.12 to 2.21 (compat/matrix.json).
    """
    lost: list[tuple[LibraryPick, LibraryFile]] = []
    for pick in _failed(facts):
        if pick.rejected or _gap(facts, pick) is not None:
            continue
        wheels = [f for f in _installed(facts, _wanted(pick)) if f.kind == "wheel" and not _was_searched(pick, f.path)]
        if wheels:
            lost.append((pick, wheels[0]))
    if not lost:
        return
    yield Found(
        message=f"pip installed {', '.join(dict.fromkeys(_wanted(p) for p, _ in lost))}, and the loader does not look there.",
        proof=_lost_proof(facts, lost),
        fixes=(on_library_path([os.path.dirname(f.path) for _, f in lost]),),
    )


def _lost_proof(facts: Facts, lost: list[tuple[LibraryPick, LibraryFile]]) -> tuple[Evidence, ...]:
    """Where each file lies; of the first one, where it was looked for."""
    pick = lost[0][0]
    return (
        *(Evidence(text=_lies(file), source="files") for _, file in lost),
        Evidence(text=f"{_wanted(pick)} was looked for in {_looked_in(pick)}", source=_source(facts)),
    )


@check("GD202", "ld-library-path-not-set", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def ld_library_path_not_set(facts: Facts) -> Iterator[Found]:
    """A CUDA library is installed outside the loader's path.

    What it looks at: each library that TensorFlow's loader failed to open, and whether a toolkit, conda or a
    system directory has a file of exactly that soname, while no wheel has.

    Why it matters: the files are there, and TensorFlow lists no GPU.

    How to fix: put the directory on LD_LIBRARY_PATH.

    Source: ld.so(8).
    """
    lost: list[tuple[LibraryPick, LibraryFile]] = []
    for pick in _failed(facts):
        files = _installed(facts, _wanted(pick))
        outside = [f for f in files if not _was_searched(pick, f.path)]
        if not pick.rejected and outside and all(f.kind != "wheel" for f in files):
            lost.append((pick, outside[0]))
    if not lost:
        return
    yield Found(
        message=f"{', '.join(dict.fromkeys(_wanted(p) for p, _ in lost))} is installed, outside of the loader's path.",
        proof=_lost_proof(facts, lost),
        fixes=(on_library_path([os.path.dirname(f.path) for _, f in lost]),),
    )


@check("GD201", "cuda-libs-missing", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cuda_libs_missing(facts: Facts) -> Iterator[Found]:
    """CUDA libraries that TensorFlow needs are not installed.

    What it looks at: each library that TensorFlow's loader failed to open (or a dependency of one), and
    every place where such files are kept: the wheels of the examined Python, CUDA toolkits, the system's
    directories, conda, LD_LIBRARY_PATH. It fires where a file of that soname is in none of them.

    Why it matters: TensorFlow registers no GPU if one is missing. `pip install tensorflow` alone
    brings none of them; the extra [and-cuda] (2.14 and newer) brings all.

    How to fix: install TensorFlow's own extra, of the same version.

    Source: https://www.tensorflow.org/install/pip; the wheels' metadata (compat/matrix.json).
    """
    missing = [p for p in _failed(facts) if not p.rejected and not _installed(facts, _wanted(p))]
    if not missing:
        return
    sonames = tuple(dict.fromkeys(_wanted(p) for p in missing))
    places = len({os.path.dirname(f.path) for f in known(facts.libraries.files)})
    yield Found(
        message=f"{', '.join(sonames)} {'is' if len(sonames) == 1 else 'are'} not installed on this machine.",
        proof=(
            *(
                Evidence(text=f"{_wanted(p)} was looked for in {_looked_in(p)}", source=_source(facts))
                for p in missing[:2]
            ),
            Evidence(
                text=f"no file of {'that name' if len(sonames) == 1 else 'these names'} in wheels, toolkits, system "
                f"directories, conda or LD_LIBRARY_PATH ({places} directories there hold other CUDA libraries)",
                source="files",
            ),
        ),
        fixes=(_install(facts, sonames),),
    )


def _install(facts: Facts, sonames: tuple[str, ...]) -> Fix:
    """pip with this TensorFlow's own extra; for releases without one, the wheels by name."""
    python = quote(facts.python.executable) if isinstance(facts.python.executable, str) else "python3"
    version, name = facts.tensorflow.version, facts.tensorflow.distribution
    package = name if isinstance(name, str) else "tensorflow"
    summary = "Install the libraries that this TensorFlow was built for, through its own extra"
    try:
        has_extra = isinstance(version, str) and Version(version) >= Version("2.14")
    except InvalidVersion:
        has_extra = False
    if has_extra:
        return Fix(
            kind="command",
            risk="safe",
            summary=summary,
            steps=(f"{python} -m pip install {quote(f'{package}[and-cuda]=={version}')}",),
        )
    cuda = facts.tensorflow.build.cuda_version
    major = cuda.split(".")[0] if isinstance(cuda, str) else None
    wheels = [w for s in sonames if (w := compat.wheel_of(s, major)) is not None] if major else []
    if not wheels:
        return Fix(
            kind="advice", risk="safe", summary=f"Install the CUDA {cuda} libraries: {', '.join(sonames)}", steps=()
        )
    return Fix(
        kind="command",
        risk="safe",
        summary=f"Install the wheels of CUDA {major} that hold them, then put their directories on LD_LIBRARY_PATH",
        steps=(f"{python} -m pip install {' '.join(dict.fromkeys(wheels))}",),
    )


@check("GD203", "cuda-lib-unusable", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cuda_lib_unusable(facts: Facts) -> Iterator[Found]:
    """The loader finds a CUDA library file and refuses it.

    What it looks at: each library that TensorFlow's loader failed to open although the search ended at a file
    that exists: cut short, not an ELF object, or with a symbol that its dependencies lack.

    Why it matters: a file that is found first ends the search, even if a good one lies behind it.

    How to fix: reinstall the wheel that owns it, or remove the file's directory from the path.

    Source: ld.so(8); glibc elf/dl-load.c.
    """
    for pick in _failed(facts):
        unreadable = [f for f in _installed(facts, _wanted(pick)) if _was_searched(pick, f.path)]
        path = pick.rejected or (unreadable[0].path if unreadable else None)
        if path is None:
            continue
        owner = next((f.owner for f in known(facts.libraries.files) if f.path == path), None)
        python = quote(facts.python.executable) if isinstance(facts.python.executable, str) else "python3"
        package = owner.split(" ") if isinstance(owner, str) else None
        yield Found(
            message=f"{path} is found for {pick.soname}, and the loader refuses it.",
            proof=(
                Evidence(
                    text=f"{pick.soname}: the search ends at {path}" + (f": {pick.reason}" if pick.reason else ""),
                    source=_source(facts),
                ),
            ),
            fixes=(
                Fix(
                    kind="command",
                    risk="safe",
                    summary="Put a good file in its place",
                    steps=(
                        f"{python} -m pip install --force-reinstall --no-deps {quote(f'{package[0]}=={package[1]}')}",
                    ),
                )
                if package
                else Fix(
                    kind="advice",
                    risk="safe",
                    summary=f"Replace {path}, or take its directory off the loader's path",
                    steps=(),
                    verify=f"ldd {path}",
                ),
            ),
        )
