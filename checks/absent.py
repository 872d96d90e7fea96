"""CUDA libraries of which no file is installed: some of them, cuDNN alone, or all."""

from __future__ import annotations

import os
from typing import Literal

from gpudoctor.checks import _told
from gpudoctor.checks._libraries import all_open, failed, install, looked_in, source, wanted
from gpudoctor.checks._reasons import named
from gpudoctor.checks._said import lines, said
from gpudoctor.checks._stated import EXTRA, cudnns, lost
from gpudoctor.checks.library_texts import is_cudnn
from gpudoctor.checks.places_texts import image_lacks, image_without_cudnn
from gpudoctor.checks.toolkits import damaged_wheels, missing, only_cudnn_is_missing
from gpudoctor.facts import Facts, LibraryPick, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Found, Stage
from gpudoctor.registry import check

Extent = Literal["some", "cuDNN", "all"]


def absent(facts: Facts, extent: Extent) -> Findings:
    """What is not installed, where it is just this much."""
    if only_cudnn_is_missing(facts) is not None:
        return "cuDNN of another major version is there (cudnn-wrong-major)"
    damaged = () if isinstance(facts.python.damaged, Unread) else damaged_wheels(facts)
    gone = [p for p in missing(facts) if wanted(p) not in damaged]
    if not gone:
        return all_open(facts) or _has_a_file(failed(facts), damaged=bool(damaged))
    if _extent(facts, gone) != extent:
        return f"what is missing is {named(wanted(p) for p in gone)}"
    sonames = tuple(dict.fromkeys(wanted(p) for p in gone))
    places = len({os.path.dirname(f.path) for f in known(facts.libraries.files)})
    others = f"{places} directories there hold other CUDA libraries" if places else "none there holds a CUDA library"
    yield Found(
        message=f"{', '.join(sonames)} {'is' if len(sonames) == 1 else 'are'} not installed on this machine.",
        proof=(
            *(Evidence(text=f"{wanted(p)} was looked for in {looked_in(p)}", source=source(facts)) for p in gone[:2]),
            Evidence(
                text=f"no file of {'that name' if len(sonames) == 1 else 'these names'} in wheels, toolkits, system "
                f"directories, conda or LD_LIBRARY_PATH ({others})",
                source="files",
            ),
        ),
        fixes=(install(facts, sonames),),
    )


def _has_a_file(lost: tuple[LibraryPick, ...], *, damaged: bool) -> str:
    if damaged:
        return "the wheels of what is missing are installed (wheel-damaged)"
    return f"there is a file for {named(wanted(p) for p in lost)}, which the loader does not find or take"


def _extent(facts: Facts, gone: list[LibraryPick]) -> Extent:
    if all(wanted(p).startswith("libcudnn") for p in gone):
        return "cuDNN"
    required = [p for p in known(facts.tensorflow.libraries) if p.required]
    return "all" if len(gone) == len(required) and not _has_cuda(facts) else "some"


def _has_cuda(facts: Facts) -> bool:
    """Whether any CUDA library of the toolkit is installed, of whatever version."""
    files = (f for f in known(facts.libraries.files) if not isinstance(f.other_processor, str))
    return any(f.name.startswith(("libcudart.so", "libcublas.so")) for f in files)


@check("GD212", "cudnn-missing", stage=Stage.LIBRARIES, explains=("tf-lists-no-gpu",))
def cudnn_missing(facts: Facts) -> Findings:
    """cuDNN is not installed, though CUDA's other libraries are.

    What it looks at: the libraries that TensorFlow's loader failed to open, and every place where such files are kept: it
    fires where cuDNN's are in none of them, and no other library is missing. In a pasted text, what a search for libcudnn
    prints, or somebody's word that it is not installed; a line that says that TensorFlow can't open it is no proof: the file may lie elsewhere, or be of another version.

    Why it matters: the CUDA toolkit does not contain cuDNN, and TensorFlow registers no GPU without it.

    How to fix: install the cuDNN of the major version that TensorFlow asks for.

    Source: https://www.tensorflow.org/install/pip; cuDNN installation guide.
    """
    if not facts.text.is_all:
        return (yield from absent(facts, "cuDNN"))
    told = (
        image_without_cudnn(facts)
        or _without_cudnn(facts)
        or said(facts, "no-cudnn-file", settle="find / -name 'libcudnn*' -not -path '/proc/*' 2>/dev/null")
    )
    if not any(is_cudnn(name) for name in lost(facts)):
        raise UnknownFactError(Unread(why="no line says that TensorFlow misses it"))
    yield Found(message="There is no libcudnn on this machine, or in this image.", proof=lines(told), fixes=(EXTRA,))


@check(
    "GD213",
    "cuda-toolkit-missing",
    stage=Stage.LIBRARIES,
    explains=("tf-lists-no-gpu", "cuda-libs-missing", "cudnn-missing"),
)
def cuda_toolkit_missing(facts: Facts) -> Findings:
    """Neither a CUDA toolkit nor CUDA's libraries are installed.

    What it looks at: every library that TensorFlow's loader asks for, and every place where such files are kept: it fires
    where none of them is installed, nor CUDA's runtime or cuBLAS of any version. In a pasted text, whether it says that there
    is no toolkit, in a listing or in somebody's words; a library that can't be opened is no proof: it may lie elsewhere, or be of another version.

    Why it matters: `pip install tensorflow` alone brings none of CUDA's libraries; the extra [and-cuda] (2.14 and newer, on
    Linux) brings all. Older releases, and those for Windows, take them from the system.

    How to fix: install TensorFlow's own extra, of the same version; for an older release the CUDA toolkit and the cuDNN that
    it was built with (gpudoctor compat show).

    Source: https://www.tensorflow.org/install/source#gpu.
    """
    if not facts.text.is_all:
        return (yield from absent(facts, "all"))
    told = (
        _by_words(facts)
        or image_lacks(facts, "image-of-a-system", "notebook-for-processors")
        or _neither(facts)
        or said(facts, "no-toolkit", settle="nvcc --version; ls -d /usr/local/cuda*")
    )
    if not lost(facts) and not facts.text.said("libraries-not-opened"):
        raise UnknownFactError(Unread(why="no line says that TensorFlow misses a library"))
    yield Found(message="No CUDA toolkit is installed.", proof=lines(told), fixes=(EXTRA,))


def _without_cudnn(facts: Facts) -> tuple[TextEvent, ...]:
    """Somebody says that cuDNN is not installed, where it alone is lost, and nothing names one that is."""
    names = lost(facts)
    brought = cudnns(facts) or facts.text.said("names-extra", "conda-brings-cuda", "installs-extra")
    alone = bool(names) and all(is_cudnn(name) for name in names)
    return facts.text.said("cudnn-absent-said") if alone and not brought else ()


_BRINGS_ITS_OWN = (2, 14)


def _neither(facts: Facts) -> tuple[TextEvent, ...]:
    """No wheel of NVIDIA's is installed, and nothing tells of a toolkit: TensorFlow takes the libraries from one or the other."""
    brought = facts.text.said(
        "names-extra", "conda-brings-cuda", "names-cuda", "shows-file", "library-opened", "installs-extra"
    )
    if brought or "libcudart.so" not in lost(facts):
        return ()
    new = any(release >= _BRINGS_ITS_OWN for release in _told.releases(facts))
    looked = facts.text.said("nvcc-absent", "driver-package")
    told = facts.text.said("no-wheels")
    return (*told, *looked) if told and (new or looked) else ()


def _by_words(facts: Facts) -> tuple[TextEvent, ...]:
    """Somebody says that no toolkit is installed, where the runtime itself is lost to a TensorFlow that takes it from the system, and
    nothing names one that is."""
    runtime = tuple(name for name in lost(facts) if name.startswith(("libcudart.so.", "cudart64_")))
    brought = facts.text.said("names-extra", "conda-brings-cuda", "names-cuda", "shows-file", "library-opened")
    from_wheels = any(name == "libcudart.so.12" for name in runtime)
    return facts.text.said("toolkit-absent-said") if runtime and not brought and not from_wheels else ()
