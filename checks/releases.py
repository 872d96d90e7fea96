"""Does the installed release of TensorFlow fit this driver, GPU, Python and these libraries, by what compat/ knows?"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import NoReturn

import msgspec

from gpudoctor import compat
from gpudoctor.checks import _fit, _installs, _stated, _told
from gpudoctor.checks._pip import pip
from gpudoctor.checks._reasons import several, short
from gpudoctor.checks._said import lines, undecided
from gpudoctor.checks._said import said as told
from gpudoctor.checks.wheel_texts import cudnn_without_code
from gpudoctor.compat.code import fit
from gpudoctor.compat.records import LibraryWheel, Release
from gpudoctor.compat.solve import answer, best, requirements
from gpudoctor.facts import Facts, LibraryFile, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check


@check("GD123", "driver-too-old-for-ptx", stage=Stage.DRIVER, explains=("op-fails", "gpu-too-new-for-build"))
def driver_too_old_for_ptx(facts: Facts) -> Findings:
    """The driver can't compile the PTX that this TensorFlow has instead of machine code for the GPU.

    What it looks at: which kernels of this release have machine code for the GPU and which only PTX, and of which version
    (read from the wheel), against the CUDA version of the driver's branch. Kernels that ran here prove the contrary.

    Why it matters: the documents promise that a driver of the same CUDA major version is enough. That holds for machine
    code only: PTX of a newer version is refused (CUDA_ERROR_UNSUPPORTED_PTX_VERSION), and most operations fail.

    How to fix: a newer driver; or a release of TensorFlow whose PTX this driver knows.

    Source: NVIDIA, CUDA minor-version compatibility, limits; the wheels' fat binaries (compat/matrix.json).
    """
    if facts.text.is_all:
        yield Found(
            message="The driver can't compile PTX of a CUDA that is newer than its own.",
            proof=lines(told(facts, "ptx-too-new", settle="nvidia-smi")),
            fixes=(
                Fix(kind="advice", risk="needs reboot", summary="Install a newer driver, on the host", steps=(), verify="nvidia-smi"),
            ),
        )  # fmt: skip
        return
    _fit.need_gpus(facts)
    if _fit.computes(facts):
        return _fit.WORKS
    said = [r for r in _fit.of_rule(facts, "ptx") if r.effect == "fails"]
    if not said:
        return f"no PTX of TensorFlow {facts.tensorflow.version} is too new for this driver"
    yield Found(
        message=f"TensorFlow {facts.tensorflow.version}: {said[0].text}.",
        proof=(_fit.tensorflow_evidence(facts), _fit.record(said[0])),
        fixes=(
            *_fit.another_release(facts),
            Fix(kind="advice", risk="needs reboot", summary="Or install a newer driver, on the host", steps=()),
        ),
    )


@check("GD211", "cudnn-dropped-gpu", stage=Stage.LIBRARIES, explains=("op-fails",))
def cudnn_dropped_gpu(facts: Facts) -> Findings:
    """The cuDNN that is installed has no code for this GPU any more.

    What it looks at: the version of the cuDNN that TensorFlow's loader picks, and the GPU's compute capability. cuDNN 9.11
    and newer has no code for GPUs before Turing (7.5), while TensorFlow itself still supports them. In a pasted text: the version that
    TensorFlow, pip or apt name there, the card's name, and an operation of cuDNN that fails.

    Why it matters: convolutions and recurrent layers fail with CUDNN_STATUS_EXECUTION_FAILED; pip installs such a cuDNN
    by itself, because the extra of TensorFlow 2.20 and newer sets no upper bound.

    How to fix: install an older cuDNN of the same major version.

    Source: cuDNN support matrix; the wheels' fat binaries (compat/matrix.json, support).
    """
    if facts.text.is_all:
        if not (named := list(cudnn_without_code(facts))):
            undecided("python3 -m pip list | grep -i cudnn; nvidia-smi --query-gpu=name,compute_cap --format=csv")
        yield from named
        return None
    _fit.release(facts)
    _fit.need_gpus(facts)
    if _fit.computes(facts):
        return _fit.WORKS
    file = _fit.picked(facts, "libcudnn")
    cuda = known(facts.tensorflow.build.cuda_version) if known(facts.tensorflow.build.cuda) else None
    if file is None or cuda is None:
        known(facts.tensorflow.libraries)
        return "TensorFlow's loader picks no cuDNN"
    version = known(file.version)
    if version is None:
        return "the cuDNN that is picked names no version"
    name = f"nvidia-cudnn-cu{cuda.split('.')[0]}"
    said = [r for r in _fit.of_rule(facts, "cudnn", packages={name: version}) if r.effect in ("fails", "needs")]
    if not said:
        return f"cuDNN {version} is not known to lack code for these GPUs"
    pins = [quote(p) for r in said for p in r.pins]
    yield Found(
        message=f"{said[0].text[:1].upper()}{said[0].text[1:]}.",
        proof=(
            Evidence(text=f"cuDNN {version}: {file.path}", source="what TensorFlow's loader picks"),
            _fit.record(said[0]),
        ),
        fixes=(
            Fix(
                kind="command" if pins else "advice",
                risk="safe",
                summary="Install a cuDNN that still has code for this GPU",
                steps=pip(facts, "install", *pins) if pins else (),
            ),
        ),
    )


def _nccl_of(facts: Facts, file: LibraryFile | None) -> str:
    """The distribution that the file is of; where none owns it, that of TensorFlow's CUDA."""
    if file is not None and isinstance(file.owner, str) and file.owner.startswith("nvidia-nccl-"):
        return file.owner.split()[0]
    return f"nvidia-nccl-cu{str(facts.tensorflow.build.cuda_version).split('.')[0]}"


def _has_code(wheel: LibraryWheel, capability: str) -> bool:
    how = fit(compat.kernels_of(wheel), capability)
    return bool(how.native or how.compiled)


_NEWER_NCCL = Fix(
    kind="advice",
    risk="safe",
    summary="Install a newer NCCL, or a newer TensorFlow, which brings one",
    steps=(),
)


def _of_an_older_cuda(facts: Facts) -> tuple[TextEvent, ...]:
    """NCCL's own lines of the CUDA that it was built with and of the oldest GPU of its communicator, where the one is older than the other."""
    for version in facts.text.said("nccl-version"):
        for gpu in facts.text.said("nccl-oldest-gpu"):
            needs = _told.needs((int(gpu.values["major"]), 0))
            if needs is not None and "cuda" in version.values and _told.pair(version.values["cuda"]) < needs:
                return (version, gpu)
    return ()


@check("GD307", "nccl-too-old-for-gpu", stage=Stage.LIBRARIES, explains=("op-fails", "collective-fails"))
def nccl_too_old_for_gpu(facts: Facts) -> Findings:
    """The NCCL that is loaded has no code for this GPU.

    What it looks at: the release of NCCL that TensorFlow loads (from 2.21 on; before, NCCL is linked in), the machine code
    and PTX that its wheel holds (read from the wheels), and the compute capability of the GPUs.

    Why it matters: one GPU works, and every all-reduce between two fails.

    How to fix: install an NCCL of the same CUDA major version that has code for the GPU.

    Source: the wheels' fat binaries (compat/matrix.json, library_wheels).
    """
    if facts.text.is_all and (told := facts.text.said("nccl-no-code")):
        yield Found(message="This NCCL has no code for the GPU.", proof=lines(told), fixes=(_NEWER_NCCL,))
        return
    if facts.text.is_all and (lacks := facts.text.said("no-device-function")):
        if older := _of_an_older_cuda(facts):
            yield Found(
                message="This NCCL has no code for the GPU.", proof=lines((*lacks, *older)), fixes=(_NEWER_NCCL,)
            )
            return
        undecided("NCCL_DEBUG=INFO python3 …")
    _fit.need_gpus(facts)
    gpus = [g for g in _fit.machine(facts, installed=True).gpus if g.compute_capability is not None]
    if len(gpus) < 2:
        raise NotApplicable("NCCL works between GPUs: there are no two")
    if _fit.computes(facts):
        return _fit.WORKS
    if _fit.has_nccl_inside(facts):
        raise NotApplicable("NCCL is linked into this TensorFlow")
    file = _fit.picked(facts, "libnccl")
    version = file.version if file is not None and isinstance(file.version, str) else known(facts.nccl.version)
    read = [w for w in compat.library_wheels("nccl") if w.distribution == _nccl_of(facts, file)]
    wheel = next((w for w in read if w.version == version), None)
    if wheel is None:
        return f"NCCL {version or 'without a version'} is not known to lack code for these GPUs"
    for gpu in gpus:
        if not _has_code(wheel, gpu.compute_capability or ""):
            fits = [w.version for w in read if _has_code(w, gpu.compute_capability or "")]
            yield Found(
                message=f"NCCL {version} has no code for {gpu.name} (compute capability {gpu.compute_capability}).",
                proof=(Evidence(text=f"{wheel.distribution} {wheel.version}", source=wheel.source),),
                fixes=(
                    Fix(
                        kind="command" if fits else "advice",
                        risk="safe",
                        summary="Install an NCCL that has code for it",
                        steps=pip(facts, "install", quote(f"{wheel.distribution}=={fits[-1]}")) if fits else (),
                    ),
                ),
            )
            return
    return f"NCCL {version} has code for {several(len(gpus), 'GPU')}"


_NO_RELEASE = ("tf-not-installed", "install-fails", "tf-import-broken", "tf-lists-no-gpu")


@check("GD409", "python-version-unsupported", stage=Stage.PYTHON, explains=_NO_RELEASE)
def python_version_unsupported(facts: Facts) -> Findings:
    """No release of TensorFlow is published for this version of Python.

    What it looks at: the version and platform of the examined interpreter, which has no TensorFlow, and the files of every
    release on the package index. In a pasted text, what pip, uv, Poetry and conda refuse, for which Python: the versions that
    pip lists tell it, too.

    Why it matters: pip says 'No matching distribution found for tensorflow', and nothing else.

    How to fix: make an environment with a Python that TensorFlow is published for.

    Source: the package index (compat/matrix.json, releases).
    """
    if facts.text.is_all:
        found = list(_refused(facts))
        if not found and (events := _installs.fits_its_wheels(facts)):
            return f"what is asked for is published for Python {facts.python.version}: {short(events[0].text)}"
        yield from found or _not_told()
        return
    if known(facts.tensorflow.directory) is not None:
        raise NotApplicable("TensorFlow is installed")
    python = ".".join(known(facts.python.version).split(".")[:2])
    platform = _fit.machine(facts, installed=False).platform
    published = {p for r in compat.releases() for f in r.files if f.platform == platform for p in f.python}
    if python in published or not published:
        return f"TensorFlow is published for Python {python}" if published else f"nothing is known of {platform}"
    newest = compat.releases()[0]
    has = sorted({p for f in newest.files if f.platform == platform for p in f.python}, key=compat.version)
    choice = f"Python {has[0]} to {has[-1]}" if has else "another Python"
    yield Found(
        message=f"TensorFlow is not published for Python {python}; {newest.version}, the newest known here, is for {choice}.",
        proof=(
            Evidence(text=f"Python {known(facts.python.version)}, {platform}", source="the examined interpreter"),
            Evidence(text=f"TensorFlow {newest.version}: {choice}", source=newest.source),
        ),
        fixes=(_with_another_python(facts, newest, has),),
    )


def _refused(facts: Facts) -> Iterator[Found]:
    """What the words of an installation, or of an import, leave no doubt of."""
    if _installs.is_32bit(facts):
        raise NotApplicable("this Python has 32 bits: no release is for it")
    for event in facts.text.said(
        "python-refused",
        "async-keyword",
        "conda-python",
        "wheel-not-supported",
        "no-version",
        "conda-pinned",
        "python-wish",
    ):
        if not _installs.refuses(facts, event):
            continue
        name = _installs.distribution(event)
        wanted = _installs.pythons(_installs.asked_for(event), name) or _installs.pythons(compat.releases()[:1], name)
        choice = f"Python {_installs.range_of(wanted)}"
        has = f"Python {facts.python.version}" if isinstance(facts.python.version, str) else "this Python"
        yield Found(
            message=f"{name}{event.values.get('spec', '')} is not published for {has}, but for {choice}.",
            proof=lines((event,)),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary=f"Make an environment with {choice} (conda create -n tensorflow python=…, or uv venv --python …), or "
                    "ask for a release that is published for yours",
                    steps=(),
                ),
            ),
        )
        return


def _not_told() -> NoReturn:
    raise UnknownFactError(
        Unread(
            why="which Python asks is not in this text",
            settle="python3 -c 'import sys, platform; print(sys.version, platform.machine())'",
        )
    )


def _with_another_python(facts: Facts, newest: Release, has: list[str]) -> Fix:
    """An environment with the newest Python that TensorFlow is published for, and the release that fits it best."""
    if not has:
        return Fix(kind="advice", risk="safe", summary="Use another Python", steps=())
    here = msgspec.structs.replace(_fit.machine(facts, installed=False), python=has[-1])
    chosen = best(answer(one, here) for one in compat.newest_patches())
    wanted = requirements(chosen, here) if chosen is not None else (f"tensorflow=={newest.version}",)
    return Fix(
        kind="command",
        risk="safe",
        summary=f"Make an environment with Python {has[-1]}",
        steps=(
            f"python{has[-1]} -m venv ~/tensorflow",
            " ".join(("~/tensorflow/bin/python -m pip install", *(quote(w) for w in wanted))),
        ),
    )


@check(
    "GD411",
    "glibc-too-old",
    stage=Stage.PYTHON,
    explains=("tf-import-broken", "tf-lists-no-gpu", "op-fails", "install-fails"),
)
def glibc_too_old(facts: Facts) -> Findings:
    """The system's C library is older than this TensorFlow needs.

    What it looks at: the glibc of the examined interpreter's process against the manylinux tag of the wheel, where the
    import fails or was not tried. In a pasted text, the loader's words for a version of glibc that is not there, or that pip does
    not offer a release whose wheels are for this Python and need a newer glibc than the one that is printed; or somebody's CentOS 6, and
    a TensorFlow 1 that can't be imported.

    Why it matters: the import ends with "version `GLIBC_2.27' not found".

    How to fix: a newer system or container, or a release that was built for this one.

    Source: PEP 600 (manylinux); the wheels' tags (compat/matrix.json, builds).
    """
    if facts.text.is_all and (told := _installs.old_system(facts)):
        least = max(
            (e.values.get("symbol") or f"glibc {e.values['needs']}" for e in told if "here" not in e.values), key=len
        )
        yield _glibc_found(least, told)
        return
    if facts.text.is_all and (told := _installs.before_its_wheels(facts)):
        yield _glibc_found("glibc 2.17", told)
        return
    if facts.text.is_all and (offered := _installs.below_its_wheels(facts)):
        yield _glibc_found(f"glibc {offered[0]}", offered[1])
        return
    said = [r for r in _fit.of_rule(facts, "glibc") if r.effect == "fails"]
    if not said or facts.tensorflow.import_error is None:
        has = facts.python.glibc
        if facts.tensorflow.import_error is None:
            return "TensorFlow imports"
        return (
            f"glibc {has} is new enough" if isinstance(has, str) else "no glibc of this system is known to be too old"
        )
    yield Found(
        message=f"TensorFlow {facts.tensorflow.version}: {said[0].text}.",
        proof=(Evidence(text=f"glibc {facts.python.glibc}", source="the examined interpreter"), _fit.record(said[0])),
        fixes=_fit.another_release(facts)
        or (Fix(kind="advice", risk="safe", summary="Use a newer system, or a container image of one", steps=()),),
    )


def _glibc_found(least: str, told: tuple[TextEvent, ...]) -> Found:
    return Found(
        message=f"This system is older than what this TensorFlow was built for: it has no {least}.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Use a newer system, a container image of one, or an older release of TensorFlow",
                steps=(),
                verify="ldd --version",
            ),
        ),
    )


_FOR_ARM = Fix(
    kind="advice",
    risk="safe",
    summary="Use NVIDIA's container for aarch64, nvcr.io/nvidia/tensorflow (on Jetson: NVIDIA's own wheel for your JetPack)",
    steps=(),
)


@check(
    "GD412",
    "tf-aarch64-cpu-only",
    stage=Stage.PYTHON,
    explains=("tf-cpu-only-package", "tf-lists-no-gpu", "install-fails"),
)
def tf_aarch64_cpu_only(facts: Facts) -> Findings:
    """On aarch64 the published TensorFlow is built without CUDA.

    What it looks at: the machine that the interpreter runs on, the build of the TensorFlow that is installed, and whether a
    GPU is here.

    Why it matters: pip installs it without a word, the [and-cuda] extra too, and it never lists a GPU.

    How to fix: NVIDIA's container for aarch64 (nvcr.io/nvidia/tensorflow), on Jetson NVIDIA's own wheel; or build it from
    source.

    Source: the package index and the wheels (compat/matrix.json, releases and packages).
    """
    if facts.text.is_all:
        yield from _arm_in_text(facts)
        return
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed")
    if _fit.machine(facts, installed=True).platform != "linux-aarch64":
        raise NotApplicable("this is not aarch64")
    if known(facts.tensorflow.build.cuda) is not False:
        return "this TensorFlow is built with CUDA"
    devices = facts.driver.libcuda.devices
    on_bus = [] if isinstance(facts.pci.devices, Unread) else [d for d in facts.pci.devices if d.is_nvidia_gpu]
    if (isinstance(devices, Unread) or not devices) and not on_bus and facts.system.tegra is not True:
        raise NotApplicable("no NVIDIA GPU is here")
    yield Found(
        message="For aarch64 TensorFlow is published without CUDA: this one computes on the CPU only.",
        proof=(
            _fit.tensorflow_evidence(facts),
            Evidence(text="is_cuda_build is False", source="build_info.py"),
            Evidence(text="linux-aarch64", source="the examined interpreter"),
        ),
        fixes=(_FOR_ARM,),
    )


def _arm_in_text(facts: Facts) -> Iterator[Found]:
    """On aarch64, where no GPU is listed, or pip finds none of the wheels with CUDA's libraries."""
    if known(facts.system.machine) != "aarch64" or facts.system.system == "Darwin":
        raise NotApplicable("this is not Linux on aarch64")
    if facts.tensorflow.build.cuda is True or "nv" in str(facts.tensorflow.version):
        raise NotApplicable("this build has CUDA")
    if facts.driver.libcuda.path is None:
        raise UnknownFactError(Unread(why="libcuda is not found, which is the driver's matter"))
    if facts.text.said("empty-file"):
        raise UnknownFactError(Unread(why="a library's file is empty, which no package of TensorFlow's brings about"))
    if _stated.lost(facts):
        raise UnknownFactError(Unread(why="it looks for CUDA's libraries: it is built with CUDA"))
    told = facts.text.said("no-cuda-wheel")
    if not told and facts.text.said("cuda-answers-100", "only-root-gets-it", "only-root-on-a-board", "nvmap-refused"):
        raise UnknownFactError(Unread(why="CUDA itself finds no GPU", settle="deviceQuery, as root"))
    if not told and not _installs.shows_no_gpu(facts):
        known(facts.tensorflow.devices)
    yield Found(
        message="For aarch64 TensorFlow is published without CUDA: it computes on the CPU only.",
        proof=lines(told) or (Evidence(text="aarch64, and no GPU is listed", source="the text"),),
        fixes=(_FOR_ARM,),
    )


@check("GD530", "known-hazard", stage=Stage.USE, level=Level.INFO)
def known_hazard(facts: Facts) -> Findings:
    """Something is known to go wrong with this release of TensorFlow on a machine like this one.

    What it looks at: the hazards of GPUs and drivers in compat/matrix.json that fail or need a step and whose conditions
    hold here, where no kernel has shown yet that the GPUs compute.

    Why it matters: the documents allow these combinations. It is said for information: whether it hurts depends on what
    your program does, and what does hurt here is found by its own check.

    How to fix: as the hazard says; `gpudoctor compat show RELEASE` lists them with their sources.

    Source: compat/matrix.json, hazards, each with its own source.
    """
    _fit.need_gpus(facts)
    of_hardware = {f"hazard {h.id}" for h in compat.matrix().hazards if h.compute_capability or h.driver}
    for reason in _fit.of_rule(facts, "hazard"):
        if reason.rule in of_hardware and reason.effect != "note" and not _fit.computes(facts):
            pins = [quote(p) for p in reason.pins]
            yield Found(
                message=f"{reason.text[:1].upper()}{reason.text[1:].rstrip('.')}.",
                proof=(_fit.tensorflow_evidence(facts), Evidence(text=reason.rule, source=reason.source)),
                fixes=(
                    Fix(
                        kind="command", risk="safe", summary="Install what it needs", steps=pip(facts, "install", *pins)
                    ),
                )
                if pins
                else (),
            )
    return f"no known hazard of TensorFlow {facts.tensorflow.version} shows here"
