"""The CUDA libraries that TensorFlow's loader asks for: reachable, installed, usable."""

from __future__ import annotations

import os
from itertools import chain
from shlex import quote

from gpudoctor.checks._libraries import (
    all_open,
    failed,
    folded,
    holder_of,
    installed,
    lies,
    looked_in,
    source,
    wanted,
    was_searched,
    wheel_directories,
)
from gpudoctor.checks._pip import pip
from gpudoctor.checks.absent import absent
from gpudoctor.checks.library_texts import (
    extra_out_of_reach,
    file_that_is_there,
    gap_in_text,
    installed_as_asked,
    is_one_of_many,
    not_in_this_text,
    refused_file,
    states_what_is_asked,
)
from gpudoctor.checks.places_texts import dll_off_the_path, libraries_gone, wheel_is_there
from gpudoctor.checks.toolkits import damaged_wheels, found_by_variable, without
from gpudoctor.facts import Facts, LibraryFile, LibraryPick, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, LinkChange, Stage, on_library_path
from gpudoctor.registry import check


@check("GD511", "tf-wheel-runpath-gap", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def tf_wheel_runpath_gap(facts: Facts) -> Findings:
    """TensorFlow's own wheel does not look where its own extra installs a library.

    What it looks at: each library that TensorFlow's loader failed to open; whether pip installed it beside
    TensorFlow (site-packages/nvidia/*/lib); and the RUNPATH of the object that calls dlopen. It fires where
    that RUNPATH names the directories of other nvidia wheels, and not this one's. In a pasted text, 2.21 that misses
    libcusolver.so.11 alone, where the text shows that file in its wheel.

    Why it matters: everything is installed as the documentation says, and TensorFlow lists no GPU with
    nothing but 'Cannot dlopen some GPU libraries'. TensorFlow 2.21.0 has this defect for libcusolver.so.11:
    libtensorflow_cc.so.2 names nvidia/cusolver/lib, and the loader sits in libtensorflow_framework.so.2.

    How to fix: add the directory to LD_LIBRARY_PATH, or make one link in a directory that the RUNPATH names.
    The link lasts until the wheels are reinstalled. Reinstalling mends nothing.

    Source: ELF dynamic section of the 2.21.0 wheel; confirmed on H200 hosts.
    """
    if facts.text.is_all and (told := gap_in_text(facts)):
        yield told
        return None
    gaps = [(pick, file) for pick in failed(facts) if (file := _gap(facts, pick)) is not None]
    if not gaps:
        return all_open(facts) or "no library that is missing lies in a wheel beside TensorFlow that RUNPATH leaves out"
    holder = holder_of(facts)
    holder_name = os.path.basename(holder.path) if holder else "TensorFlow's library"
    names = ", ".join(pick.soname for pick, _ in gaps)
    version = facts.tensorflow.version
    directories = wheel_directories(facts, holder)
    proof: list[Evidence] = []
    for pick, file in gaps:
        proof.append(Evidence(text=lies(file), source="files"))
        proof.append(Evidence(text=f"{pick.soname} was looked for in {looked_in(pick)}", source=source(facts)))
    named = ", ".join(folded(list(directories)))
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
    directories = wheel_directories(facts, holder_of(facts))
    site = os.path.dirname(known(facts.tensorflow.directory) or "")
    for file in installed(facts, pick.soname):
        beside = file.path.startswith(os.path.join(site, "nvidia") + "/")
        named = os.path.dirname(file.path) in directories or was_searched(pick, file.path)
        if file.kind == "wheel" and beside and directories and not named:
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
def pip_nvidia_libs_not_found(facts: Facts) -> Findings:
    """pip installed the CUDA libraries where the loader does not look.

    What it looks at: each library that TensorFlow's loader failed to open (or a dependency of one), and
    whether an nvidia-* wheel has it. It fires where TensorFlow names no such directory at all (2.13 and older),
    where the wheels lie in another site-packages than TensorFlow, or where a wheel's own dependency is out of
    reach. A gap in a wheel that does name the others is tf-wheel-runpath-gap.

    Why it matters: the files are there, and TensorFlow lists no GPU.

    How to fix: put their directories on LD_LIBRARY_PATH.

    Source: ELF dynamic sections of the wheels 2.12 to 2.21 (compat/matrix.json).
    """
    if facts.text.is_all:
        yield from not_in_this_text(
            chain(
                file_that_is_there(facts, in_wheels=True),
                wheel_is_there(facts),
                extra_out_of_reach(facts),
            )
        )
        return
    lost: list[tuple[LibraryPick, LibraryFile]] = []
    for pick in failed(facts):
        if pick.rejected or _gap(facts, pick) is not None:
            continue
        wheels = [f for f in installed(facts, wanted(pick)) if f.kind == "wheel" and not was_searched(pick, f.path)]
        if wheels:
            lost.append((pick, wheels[0]))
    if not lost:
        return all_open(facts) or "no library that is missing lies in another wheel"
    yield Found(
        message=f"pip installed {', '.join(dict.fromkeys(wanted(p) for p, _ in lost))}, and the loader does not look there.",
        proof=_lost_proof(facts, lost),
        fixes=(on_library_path([os.path.dirname(f.path) for _, f in lost]),),
    )


def _lost_proof(facts: Facts, lost: list[tuple[LibraryPick, LibraryFile]]) -> tuple[Evidence, ...]:
    """Where each file lies; of the first one, where it was looked for."""
    pick = lost[0][0]
    return (
        *(Evidence(text=lies(file), source="files") for _, file in lost),
        Evidence(text=f"{wanted(pick)} was looked for in {looked_in(pick)}", source=source(facts)),
    )


@check("GD202", "ld-library-path-not-set", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def ld_library_path_not_set(facts: Facts) -> Findings:
    """A CUDA library is installed outside the loader's path.

    What it looks at: each library that TensorFlow's loader failed to open, and whether a toolkit, conda or a
    system directory has a file of exactly that soname, while no wheel has.

    Why it matters: the files are there, and TensorFlow lists no GPU.

    How to fix: put the directory on LD_LIBRARY_PATH.

    Source: ld.so(8).
    """
    if facts.text.is_all:
        told = chain(file_that_is_there(facts, in_wheels=False), dll_off_the_path(facts), installed_as_asked(facts))
        yield from not_in_this_text(told, likely=states_what_is_asked(facts))
        return
    lost: list[tuple[LibraryPick, LibraryFile]] = []
    for pick in failed(facts):
        files = installed(facts, wanted(pick))
        outside = [f for f in files if not was_searched(pick, f.path)]
        if not pick.rejected and outside and all(f.kind != "wheel" for f in files):
            lost.append((pick, outside[0]))
    if not lost:
        return all_open(facts) or "no library that is missing lies outside of wheels alone"
    yield Found(
        message=f"{', '.join(dict.fromkeys(wanted(p) for p, _ in lost))} is installed, outside of the loader's path.",
        proof=_lost_proof(facts, lost),
        fixes=(on_library_path([os.path.dirname(f.path) for _, f in lost]),),
    )


@check("GD201", "cuda-libs-missing", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cuda_libs_missing(facts: Facts) -> Findings:
    """CUDA libraries that TensorFlow needs are not installed.

    What it looks at: each library that TensorFlow's loader failed to open (or a dependency of one), and
    every place where such files are kept: the wheels of the examined Python, CUDA toolkits, the system's
    directories, conda, LD_LIBRARY_PATH. It fires where a file of that soname is in none of them, and others are. Where
    cuDNN alone is missing, or there is no CUDA at all, these causes have names of their own. In a pasted text: wheels that were
    removed, lists that lack the library, an image that has CUDA's runtime alone.

    Why it matters: TensorFlow registers no GPU if one is missing. `pip install tensorflow` alone
    brings none of them; the extra [and-cuda] (2.14 and newer) brings all.

    How to fix: install TensorFlow's own extra, of the same version.

    Source: https://www.tensorflow.org/install/pip; the wheels' metadata (compat/matrix.json).
    """
    if facts.text.is_all:
        yield from not_in_this_text(libraries_gone(facts), likely=is_one_of_many(facts))
        return None
    return (yield from absent(facts, "some"))


@check("GD203", "cuda-lib-unusable", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cuda_lib_unusable(facts: Facts) -> Findings:
    """The loader finds a CUDA library file and refuses it.

    What it looks at: each library that TensorFlow's loader failed to open although the search ended at a file
    that exists: cut short, not an ELF object, or with a symbol that its dependencies lack.

    Why it matters: a file that is found first ends the search, even if a good one lies behind it.

    How to fix: reinstall the wheel that owns it, or remove the file's directory from the path.

    Source: ld.so(8); glibc elf/dl-load.c.
    """
    if facts.text.is_all:
        yield from not_in_this_text(refused_file(facts))
        return
    damaged = () if isinstance(facts.python.damaged, Unread) else damaged_wheels(facts)
    refused: dict[str, list[LibraryPick]] = {}
    for pick in failed(facts):
        if os.path.basename(pick.rejected or "") in damaged:
            continue  # wheel-damaged
        unreadable = [f for f in installed(facts, wanted(pick)) if was_searched(pick, f.path)]
        path = pick.rejected or (unreadable[0].path if unreadable else None)
        if path is not None:
            refused.setdefault(path, []).append(pick)
    for path, picks in refused.items():
        yield Found(
            message=f"{path} is found for {', '.join(p.soname for p in picks)}, and the loader refuses it.",
            proof=tuple(
                Evidence(
                    text=f"{pick.soname}: the search ends at {path}" + (f": {pick.reason}" if pick.reason else ""),
                    source=source(facts),
                )
                for pick in picks
            ),
            fixes=(_instead_of(facts, picks[0], path),),
        )
    return all_open(facts) or "the loader refuses no file of a library that is missing"


def _instead_of(facts: Facts, pick: LibraryPick, path: str) -> Fix:
    """What makes the loader take a good file: the wheel that `path` is of once more, or the path without its directory."""
    owner = next((f.owner for f in known(facts.libraries.files) if f.path == path), None)
    if isinstance(owner, str):
        return Fix(
            kind="command",
            risk="safe",
            summary="Put a good file in its place",
            steps=pip(facts, "install", "--force-reinstall", "--no-deps", quote(owner.replace(" ", "=="))),
        )
    directory = found_by_variable(facts, pick)
    good = [f for f in installed(facts, os.path.basename(path)) if f.path != path and f.flaw is None]
    if directory == os.path.dirname(path) and good:
        return without(facts, [directory])
    return Fix(
        kind="advice",
        risk="safe",
        summary=f"Replace {path}, or take its directory off the loader's path",
        steps=(),
        verify=f"ldd {quote(path)}",
    )
