"""What the checks of the CUDA libraries share: which failed, what is installed, where was looked."""

from __future__ import annotations

import os
import re
from shlex import quote

from gpudoctor import compat
from gpudoctor.checks._installs import at_least
from gpudoctor.checks._pip import pip
from gpudoctor.facts import Facts, LibraryFile, LibraryPick, LoaderObject, SearchStep, Unread, known
from gpudoctor.findings import Fix, NotApplicable


def failed(facts: Facts) -> tuple[LibraryPick, ...]:
    """The required libraries that TensorFlow's loader could not open."""
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    if not known(facts.tensorflow.build.cuda):
        raise NotApplicable("this TensorFlow is built without CUDA")
    listed = facts.tensorflow.gpus()
    if not isinstance(listed, Unread) and listed:
        raise NotApplicable("TensorFlow lists its GPUs: it has found every library that this needs")
    return tuple(p for p in known(facts.tensorflow.libraries) if p.required and known(p.picked) is None)


def all_open(facts: Facts) -> str | None:
    """The reason where nothing failed to open; None where something did."""
    needed = [p for p in known(facts.tensorflow.libraries) if p.required]
    return None if failed(facts) else f"TensorFlow's loader opens all {len(needed)} libraries that it needs"


def wanted(pick: LibraryPick) -> str:
    """The soname that was not found: the library's own or a dependency's."""
    return pick.stopped_by or pick.soname


def installed(facts: Facts, soname: str) -> tuple[LibraryFile, ...]:
    """Every file of this soname on the machine that the loader would not pass over, in wheels first."""
    files = [f for f in known(facts.libraries.files) if f.name == soname and not isinstance(f.other_processor, str)]
    return tuple(sorted(files, key=lambda f: f.kind != "wheel"))


def searched(pick: LibraryPick) -> tuple[SearchStep, ...]:
    return pick.dependency_searched if pick.stopped_by else pick.searched


def was_searched(pick: LibraryPick, path: str) -> bool:
    """Whether the loader looked in the directory of `path`, under any name of it."""
    wanted = os.path.dirname(os.path.normpath(path))
    return any(os.path.normpath(s.directory) == wanted for s in searched(pick))


def holder_of(facts: Facts) -> LoaderObject | None:
    """The object of TensorFlow that calls dlopen."""
    return next((o for o in known(facts.tensorflow.objects) if o.calls_dlopen is True), None)


def wheel_directories(facts: Facts, holder: LoaderObject | None) -> tuple[str, ...]:
    """The nvidia/*/lib directories beside TensorFlow that the holder's RUNPATH names."""
    if holder is None or isinstance(holder.runpath, Unread):
        return ()
    wheels = os.path.join(os.path.dirname(known(facts.tensorflow.directory) or ""), "nvidia") + "/"
    return tuple(d for d in holder.runpath if d.startswith(wheels))


def looked_in(pick: LibraryPick) -> str:
    """Where the loader looked, by origin: the proof of a search."""
    groups: dict[str, list[str]] = {}
    for step in searched(pick):
        groups.setdefault(step.origin or "?", []).append(step.directory)
    return "; ".join(f"{origin}: {', '.join(folded(dirs))}" for origin, dirs in groups.items()) or "nowhere"


def folded(directories: list[str]) -> list[str]:
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


def lies(file: LibraryFile) -> str:
    owner = f" ({file.owner})" if isinstance(file.owner, str) else ""
    return f"{file.name} lies in {os.path.dirname(file.path)}{owner}"


def source(facts: Facts) -> str:
    how = {"direct": "TensorFlow's own loader under LD_DEBUG=libs", "simulated": "glibc's rules over the files"}
    source = facts.tensorflow.loader_source
    return how.get(source, source) if isinstance(source, str) else "TensorFlow's loader"


def install(facts: Facts, sonames: tuple[str, ...]) -> Fix:
    """pip with this TensorFlow's own extra; for releases without one, the wheels by name."""
    version, name = facts.tensorflow.version, facts.tensorflow.distribution
    package = name if isinstance(name, str) else "tensorflow"
    summary = "Install the libraries that this TensorFlow was built for, through its own extra"
    if at_least(version, "2.14"):
        return Fix(
            kind="command",
            risk="safe",
            summary=summary,
            steps=pip(facts, "install", quote(f"{package}[and-cuda]=={version}")),
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
        steps=pip(facts, "install", *dict.fromkeys(wheels)),
    )
