"""What is installed over what, and which build of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from shlex import quote

from gpudoctor.checks import _installs, _said
from gpudoctor.checks._builds_said import by_hand, is_apart, named_apart
from gpudoctor.checks._libraries import wanted
from gpudoctor.checks._pip import pip
from gpudoctor.checks._said import lines
from gpudoctor.checks.library_texts import not_in_this_text
from gpudoctor.checks.wheel_texts import of_two_cudas
from gpudoctor.facts import Facts, LibraryPick, Overlap, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_TENSORFLOW = Pattern(r"(tensorflow|tf-nightly|intel-tensorflow)(-(cpu|gpu|intel|rocm|macos|cpu-aws))?$")
_CUDA_SUFFIX = Pattern(r"-cu(\d+)$")


def _name(owner: str) -> str:
    return owner.split(" ")[0]


def _works(facts: Facts) -> bool:
    """TensorFlow lists GPUs, and nothing that was run on them failed."""
    listed = facts.tensorflow.gpus()
    return (
        not isinstance(listed, Unread)
        and bool(listed)
        and not any(m.failed and m.in_tensorflow for m in facts.measurements)
    )


@check(
    "GD402",
    "tf-packages-overlap",
    stage=Stage.PYTHON,
    explains=(
        "cuda-libs-missing",
        "cuda-version-mismatch",
        "cudnn-wrong-major",
        "tf-cpu-only-package",
        "tf-import-broken",
        "tf-lists-no-gpu",
    ),
)
def tf_packages_overlap(facts: Facts) -> Findings:
    """Several TensorFlow packages are installed over each other.

    What it looks at: the lists of files (RECORD) of tensorflow, tensorflow-cpu, tensorflow-gpu, tf-nightly and their
    like. It fires where two of them own the same files, and the build that lies there now is one without CUDA,
    can't be imported, or is mixed from two versions. In a pasted text it fires where TensorFlow itself says so, and where
    the Python of an environment loads the TensorFlow of the user's own directory; and where somebody says that tensorflow and
    tensorflow-gpu are both installed, of a release before they became one, and no GPU is used.

    Why it matters: all of them write to the same directory, and whoever came last has the files, often because
    another package asked for it. Removing one of them takes files of the other along.

    How to fix: remove all of them, then install one.

    Source: the wheels' RECORD files; https://www.tensorflow.org/install/pip
    """
    users, python = facts.text.said("tensorflow-of-the-user"), facts.text.said("python-of-an-environment")
    if users and python:
        yield Found(
            message="The Python of an environment loads the TensorFlow that pip put into the user's own directory, not the environment's.",
            proof=lines((*users, *python)),
            fixes=(_NOT_THE_USERS,),
        )
        return
    if facts.text.is_all and (told := facts.text.said("tf-mixed-versions")):
        yield _mixed(told)
        return None
    if _works(facts):
        raise NotApplicable("TensorFlow lists its GPUs and works")
    if facts.text.is_all and (both := _two_releases(facts)):
        yield Found(
            message="Two TensorFlow packages of different releases are installed over each other.",
            proof=lines(both),
            fixes=(_ONE_OF_THEM,),
        )
        return None
    if facts.text.is_all and (told := _said_apart(facts)):
        yield Found(
            message="tensorflow-gpu and the package for CPUs are both installed: the one that came last lies over the other.",
            proof=lines(told),
            fixes=(by_hand(("tensorflow", "tensorflow-cpu", "tensorflow-gpu"), "tensorflow-gpu", named_apart(facts)),),
        )
        return None
    for overlap in known(facts.python.overlaps):
        names = [_name(owner) for owner in overlap.owners]
        if len(set(names)) < 2 or not all(_TENSORFLOW.match(n) for n in names):
            continue
        versions = {owner.split(" ")[1] for owner in overlap.owners}
        broken = isinstance(facts.tensorflow.import_error, str)
        if len(versions) == 1 and not broken and known(facts.tensorflow.build.cuda) is not False:
            continue
        yield _over_each_other(facts, overlap, names)
    return "no TensorFlow packages of different builds lie over each other"


def _said_apart(facts: Facts) -> tuple[TextEvent, ...]:
    """Somebody tells that both packages are installed, where no GPU is used, of releases before they became one."""
    named = {v for e in facts.text.said("names") for v in e.values.get("tensorflow", "").split()}
    both, none = facts.text.said("both-packages"), facts.text.said("says-no-gpu")
    return (*both, *none[:1]) if both and none and (not named or any(is_apart(v) for v in named)) else ()


def _two_releases(facts: Facts) -> tuple[TextEvent, ...]:
    """What pip lists of two TensorFlow packages of different releases, where something fails."""
    rows = [e for e in facts.text.said("installed") if _TENSORFLOW.match(e.values.get("name", ""))]
    listed = {e.values["name"]: e for e in rows}
    releases = {".".join(e.values.get("version", "").split(".")[:2]) for e in listed.values()}
    if any(listed[e.values["name"]].values.get("version") != e.values.get("version") for e in rows):
        return ()  # lists of two environments
    return (
        tuple(listed.values())
        if len(listed) > 1 and len(releases) > 1 and (_said.fails(facts) or facts.text.said("tf-lacks-attribute"))
        else ()
    )


_ONE_OF_THEM = Fix(
    kind="command",
    risk="safe",
    summary="Remove all of them, then install one",
    steps=(
        "python3 -m pip uninstall -y tensorflow tensorflow-gpu tensorflow-cpu tf-nightly",
        "python3 -m pip install tensorflow",
    ),
    verify="python3 -m pip list | grep -i tensorflow",
)
_NOT_THE_USERS = Fix(
    kind="command",
    risk="safe",
    summary="Let this Python leave the user's own packages out, then install TensorFlow in its environment",
    steps=("export PYTHONNOUSERSITE=1", "python3 -m pip install tensorflow"),
    verify="python3 -c 'import tensorflow as tf; print(tf.__file__)'",
)


def _mixed(told: tuple[TextEvent, ...]) -> Found:
    """TensorFlow's newest releases name them, on Windows."""
    names = sorted({one.split(" ")[0] for one in told[0].values.get("packages", "").split(", ")})
    every = [name for name in names if _TENSORFLOW.match(name)]
    remove = " ".join(("pip uninstall -y", *every))
    return Found(
        message=f"{' and '.join(every) or 'TensorFlow packages'} of different versions are installed over each other.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Remove all of them, then install one",
                steps=(remove, "pip install tensorflow"),
                verify="python3 -c 'import tensorflow as tf; print(tf.__version__)'",
            ),
        ),
    )


def _over_each_other(facts: Facts, overlap: Overlap, names: list[str]) -> Found:
    chosen = next((o for o in overlap.owners if _name(o) == "tensorflow"), None)
    version = f"=={chosen.split(' ')[1]}" if chosen is not None else ""
    proof = [
        Evidence(
            text=f"{overlap.count} files belong to each of {', '.join(overlap.owners)}, {overlap.files[0].path} among them",
            source="RECORD of these packages",
        )
    ]
    if facts.tensorflow.build.cuda is False:
        proof.append(Evidence(text="what lies there now is built without CUDA", source="build_info.py"))
    return Found(
        message=f"{' and '.join(overlap.owners)} are installed over each other.",
        proof=tuple(proof),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Remove all of them, then install the one with CUDA",
                steps=(
                    *pip(facts, "uninstall", "-y", *(quote(n) for n in dict.fromkeys(names))),
                    *pip(facts, "install", quote(f"tensorflow[and-cuda]{version}")),
                ),
            ),
        ),
    )


@check(
    "GD204",
    "cu12-cu13-wheel-clash",
    stage=Stage.LIBRARIES,
    explains=("cuda-lib-unusable", "cuda-libs-missing", "op-fails", "pip-nvidia-libs-not-found", "tf-lists-no-gpu"),
)
def cu12_cu13_wheel_clash(facts: Facts) -> Findings:
    """Wheels of one library for two versions of CUDA are installed over each other.

    What it looks at: the lists of files (RECORD) of the nvidia wheels. nvidia-cudnn-cu12 and nvidia-cudnn-cu13 write
    the same nvidia/cudnn/lib/libcudnn.so.9, the NCCL wheels the same libnccl.so.2. It fires where such a file is the
    one that TensorFlow's loader can't open, or where the file that lies there is for a newer CUDA than the driver. In a pasted text:
    both wheels in pip's list, and cuDNN or NCCL that fails.

    Why it matters: whoever was installed last has the files (PyTorch for CUDA 13 beside TensorFlow for CUDA 12).
    Mostly that works; a library of CUDA 13 under a driver for CUDA 12 does not.

    How to fix: keep one framework an environment; or remove the wheel of the other CUDA and reinstall the right one.

    Source: file lists of nvidia-cudnn-cu12 and -cu13, nvidia-nccl-cu12 and -cu13; sizes on disk.
    """
    if facts.text.is_all:
        yield from not_in_this_text(of_two_cudas(facts))
        return None
    if known(facts.tensorflow.directory) is None or known(facts.tensorflow.build.cuda) is False:
        raise NotApplicable("no TensorFlow with CUDA is installed")
    for overlap in known(facts.python.overlaps):
        names = [_name(owner) for owner in overlap.owners]
        bases = {_CUDA_SUFFIX.sub("", n) for n in names}
        if len(bases) != 1 or len(set(names)) < 2 or not all(n.startswith("nvidia-") for n in names):
            continue
        lost = _lost_in(facts, overlap)
        newer = _for_a_newer_driver(facts, overlap)
        if lost or newer:
            yield _clash(facts, overlap, lost, newer)
    return "no wheels of one library for two versions of CUDA are in each other's way"


def _closed(facts: Facts) -> tuple[LibraryPick, ...]:
    """The required libraries that TensorFlow's loader can't open."""
    listed = facts.tensorflow.gpus()
    if not isinstance(listed, Unread) and listed:
        return ()
    return tuple(p for p in known(facts.tensorflow.libraries) if p.required and known(p.picked) is None)


def _lost_in(facts: Facts, overlap: Overlap) -> list[str]:
    """Of these, those whose file is one that both own."""
    shared = {os.path.basename(f.path) for f in overlap.files}
    found = []
    for pick in _closed(facts):
        refused = os.path.basename(pick.rejected or "")
        if refused in shared or (pick.stopped_by and pick.soname in shared):
            found.append(refused if refused in shared else f"{pick.soname} (it needs {wanted(pick)})")
    return found


def _winner(overlap: Overlap) -> str | None:
    """The owner whose sizes the files on disk have; None: those of none, or of several."""
    fitting = set(overlap.owners)
    for file in overlap.files:
        sizes = dict(zip(overlap.owners, file.recorded_bytes, strict=False))
        fitting &= {owner for owner, size in sizes.items() if size is not None and size == file.size_bytes}
    return next(iter(fitting)) if len(fitting) == 1 else None


def _for_a_newer_driver(facts: Facts, overlap: Overlap) -> tuple[str, str] | None:
    """(owner, CUDA version of the driver), where the files that lie there are for a newer major than that."""
    winner, api = _winner(overlap), facts.driver.libcuda.api_version
    suffix = _CUDA_SUFFIX.search(_name(winner)) if winner else None
    if winner is None or suffix is None or isinstance(api, Unread) or int(suffix.group(1)) <= api // 1000:
        return None
    return winner, str(facts.driver.libcuda.cuda)


def _clash(facts: Facts, overlap: Overlap, lost: list[str], newer: tuple[str, str] | None) -> Found:
    proof = [
        Evidence(
            text=f"{overlap.count} files belong to each of {', '.join(overlap.owners)}, {overlap.files[0].path} among them",
            source="RECORD of these packages",
        )
    ]
    winner = _winner(overlap)
    if winner is not None:
        proof.append(Evidence(text=f"what lies there is of {winner}", source="sizes on disk"))
    if newer is not None:
        proof.append(Evidence(text=f"the driver is for CUDA {newer[1]}", source="cuDriverGetVersion"))
    explains: tuple[str, ...] = ("tf-lists-no-gpu",) if lost else ()
    if lost and len(lost) == len(_closed(facts)):
        explains += ("cuda-lib-unusable", "cuda-libs-missing", "pip-nvidia-libs-not-found")
    explains += ("op-fails",) if newer else ()
    cuda = facts.tensorflow.build.cuda_version
    major = cuda.split(".")[0] if isinstance(cuda, str) else None
    right = next((o for o in overlap.owners if _name(o).endswith(f"-cu{major}")), None)
    message = f"{' and '.join(overlap.owners)} are installed over each other"
    message += f": TensorFlow can't open {', '.join(lost)}." if lost else f": {winner} needs a newer driver."
    if right is None:
        fix = Fix(kind="advice", risk="safe", summary="Keep one of them, of TensorFlow's CUDA", steps=())
        return Found(message=message, proof=tuple(proof), fixes=(fix,), explains=explains)
    others = [quote(_name(o)) for o in overlap.owners if o != right]
    return Found(
        message=message,
        proof=tuple(proof),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary=f"Keep {_name(right)}, which TensorFlow was built for. What needs the other one goes into an "
                "environment of its own",
                steps=(
                    *pip(facts, "uninstall", "-y", *others),
                    *pip(facts, "install", "--force-reinstall", "--no-deps", quote(right.replace(" ", "=="))),
                ),
            ),
        ),
        explains=explains,
    )


@check(
    "GD408",
    "conda-cpu-build",
    stage=Stage.PYTHON,
    explains=("tf-cpu-only-package", "tf-lists-no-gpu", "cuda-version-mismatch"),
)
def conda_cpu_build(facts: Facts) -> Findings:
    """conda installed the build of TensorFlow without CUDA.

    What it looks at: the build strings of conda's TensorFlow packages (conda-meta) and build_info.py of the package
    that would be imported. 'cpu_…', 'mkl_…' and 'eigen_…' are builds without CUDA.

    Why it matters: conda chooses the CPU build where it sees no driver while it solves: in an image that is built
    without a GPU, on a login node. No driver or variable changes that build afterwards.

    How to fix: install the build with CUDA by name, where the driver is visible (or with CONDA_OVERRIDE_CUDA set).

    Source: conda's virtual package __cuda (docs.conda.io, Managing virtual packages); build strings of conda-forge.
    """
    if facts.text.is_all:
        yield from _conda_in_text(facts)
        return
    if known(facts.tensorflow.directory) is None:
        raise NotApplicable("TensorFlow is not installed")
    if known(facts.tensorflow.build.cuda) is not False:
        return "this TensorFlow is built with CUDA"
    if not known(facts.python.conda):
        raise NotApplicable("the interpreter is no conda environment's")
    owner, installed = facts.tensorflow.distribution, known(facts.python.distributions)
    if any(d.name == owner and isinstance(d.installer, str) and d.installer != "conda" for d in installed):
        raise NotApplicable(f"{owner} was not installed by conda")
    packages = [p for p in known(facts.python.conda_packages) if p.name in ("tensorflow", "tensorflow-base")]
    without = [p for p in packages if re.match(r"(cpu|mkl|eigen)", p.build)]
    if not without:
        return "conda installed no build of TensorFlow for CPUs only"
    version, prefix = without[0].version, known(facts.python.prefix)
    yield Found(
        message=f"conda installed TensorFlow {version} as a build for CPUs only ({without[0].build}).",
        proof=tuple(Evidence(text=f"{p.name} {p.version} {p.build}", source=f"{prefix}/conda-meta") for p in without),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Install the build with CUDA, where conda can see the driver",
                steps=(f"conda install -p {quote(prefix)} -c conda-forge {quote(f'tensorflow={version}=cuda*')}",),
            ),
        ),
    )


def _conda_in_text(facts: Facts) -> Iterator[Found]:
    """conda's lists and plans, where TensorFlow lists no GPU, or where a build with CUDA is replaced by one without."""
    if facts.system.system == "Darwin":
        raise NotApplicable("for macOS there is no build with CUDA")
    without, cuda = Pattern(r"(cpu|mkl|eigen)"), Pattern(r"(gpu|cuda)")
    replaced = tuple(
        e
        for e in facts.text.said("conda-changes")
        if cuda.match(e.values["build"]) and without.match(e.values["after"])
    )
    if facts.text.said("comes-without-cuda") and isinstance(facts.tensorflow.devices, Unread) and not replaced:
        replaced = tuple(  # the plan that would mend what somebody complains of
            e
            for e in facts.text.said("conda-changes")
            if without.match(e.values["build"]) and cuda.match(e.values["after"])
        )
    said_so = tuple(
        e for e in facts.text.said("cpu-build-said") if "torch" not in e.text and _installs.shows_no_gpu(facts)
    )
    if said_so and not replaced and isinstance(facts.python.conda_packages, Unread):
        yield Found(
            message="conda installed the build of TensorFlow for CPUs only.",
            proof=lines(said_so),
            fixes=(_with_cuda("*"),),
        )
        return
    packages = facts.python.conda_packages if replaced else known(facts.python.conda_packages)
    ours = () if isinstance(packages, Unread) else packages
    builds = [p for p in ours if p.name in ("tensorflow", "tensorflow-base")]
    if not replaced:
        if not any(without.match(p.build) for p in builds) or any(cuda.match(p.build) for p in builds):
            return
        if known(facts.tensorflow.devices) or facts.tensorflow.build.cuda is True:
            return
    chosen = next((p for p in builds if without.match(p.build)), None)
    version = chosen.version if chosen is not None else replaced[0].values["version"]
    rows = facts.text.said("installed")
    yield Found(
        message=f"conda installed TensorFlow {version} as a build for CPUs only.",
        proof=lines(replaced) or lines(e for e in rows if without.match(e.values.get("build", ""))),
        fixes=(_with_cuda(version),),
    )


def _with_cuda(version: str) -> Fix:
    return Fix(
        kind="command",
        risk="safe",
        summary="Install the build with CUDA, where conda can see the driver",
        steps=(f"conda install -c conda-forge {quote(f'tensorflow={version}=cuda*')}",),
    )
