"""What TensorFlow's own words say of the libraries and tools that it met at run time: cuDNN, libdevice, ptxas."""

from __future__ import annotations

import os
from collections.abc import Iterator
from shlex import quote

from gpudoctor import compat
from gpudoctor.checks import _fit, _work
from gpudoctor.checks._pip import pip
from gpudoctor.checks._said import lines, said
from gpudoctor.checks.memory import growth
from gpudoctor.checks.operations import is_older
from gpudoctor.checks.wheel_texts import cudnn_is_older
from gpudoctor.facts import Facts, LogEvent, TextEvent, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_PACKAGES = "python3 -m pip list | grep -iE 'nvidia|tensorflow'"


def _said(facts: Facts, kind: str) -> tuple[LogEvent, ...]:
    if facts.tensorflow.directory is None:
        raise NotApplicable("TensorFlow is not installed")
    if not known(facts.tensorflow.build.cuda):
        raise NotApplicable("this TensorFlow is built without CUDA")
    return known(facts.tensorflow.said(kind))


def _words(events: tuple[LogEvent, ...]) -> tuple[Evidence, ...]:
    return tuple(Evidence(text=e.text, source=f"TensorFlow, {e.source or 'its log'}") for e in events[:3])


def _wheel(facts: Facts, name: str) -> str | None:
    """'nvidia-cudnn-cu12' for 'cudnn', where the build says for which CUDA it is."""
    version = facts.tensorflow.build.cuda_version
    major = version.partition(".")[0] if isinstance(version, str) else ""
    return f"nvidia-{name}-cu{major}" if major.isdecimal() else None


def _python(facts: Facts) -> str:
    return quote(facts.python.executable) if isinstance(facts.python.executable, str) else "python3"


def _loaded_from(facts: Facts, stem: str) -> str | None:
    loaded = facts.tensorflow.loaded
    if isinstance(loaded, Unread):
        return None
    return next((p for p in loaded if os.path.basename(p).startswith(stem + ".so")), None)


def _too_old_by_files(facts: Facts) -> Iterator[Found]:
    """Where TensorFlow was not run: the cuDNN that its loader picks against the one that its extra begins with."""
    file, build = _fit.picked(facts, "libcudnn"), _fit.release(facts)[1]
    wants = compat.built_with(build, "cudnn") if build is not None else None
    if file is None or wants is None or not isinstance(file.version, str):
        return
    try:
        has, needs = compat.version(file.version), compat.version(wants)
    except compat.NotAVersion:
        return
    if has.major != needs.major or (has.major, has.minor) >= (needs.major, needs.minor):
        return
    package = _wheel(facts, "cudnn")
    yield Found(
        message=f"cuDNN {file.version} is what TensorFlow's loader picks; this TensorFlow was built with {wants}, and takes no "
        "older minor version.",
        proof=(
            Evidence(text=f"cuDNN {file.version}: {file.path}", source="what TensorFlow's loader picks"),
            Evidence(text=f"its extra begins with cuDNN {wants}", source=build.source if build is not None else ""),
        ),
        fixes=(
            Fix(
                kind="command" if package else "advice",
                risk="safe",
                summary=f"Install cuDNN {wants} or newer"
                + ("" if "site-packages" in file.path else f", and take {file.path} off the loader's path"),
                steps=pip(facts, "install", "--upgrade", quote(f"{package}>={wants},<{needs.major + 1}"))
                if package
                else (),
            ),
        ),
    )


_NEWER_CUDNN = Fix(
    kind="advice",
    risk="safe",
    summary="Install the cuDNN that the line names as the least, or newer, and take the older one off the loader's path",
    steps=(),
)


@check("GD517", "cudnn-version-too-old", stage=Stage.LIBRARIES, explains=("op-fails",))
def cudnn_version_too_old(facts: Facts) -> Findings:
    """The cuDNN that is loaded is older than the one that TensorFlow was built with.

    What it looks at: TensorFlow's line 'Loaded runtime CuDNN library: A but source was compiled with: B', and which file
    it had loaded. Where TensorFlow was not run: the version of the file that its loader picks, against the oldest that the
    extra of this release asks for, which is the one that it was built with. In a pasted text also JAX's 'Outdated cuDNN
    installation found' and 'Found cuDNN version …, but JAX was built against', and pip's word that TensorFlow requires a
    newer one than is installed.

    Why it matters: convolutions and recurrent layers fail, often with 'DNN library is not found'. It happens where
    another package (PyTorch) pins an older cuDNN, or where an older one lies first on the loader's path.

    How to fix: install a cuDNN of the same major version that is not older than TensorFlow's.

    Source: TensorFlow, cuda_dnn.cc; cuDNN's compatibility rules.
    """
    if outdated := facts.text.said("cudnn-outdated"):
        yield Found(
            message="The cuDNN that is found is older than this program needs.",
            proof=lines(outdated),
            fixes=(_NEWER_CUDNN,),
        )
        return
    if facts.text.is_all and (by_pip := list(cudnn_is_older(facts))):
        yield from by_pip
        return
    if isinstance(facts.tensorflow.events, Unread) and (by_files := list(_too_old_by_files(facts))):
        yield from by_files
        return
    if facts.text.is_all:
        said(facts, "cudnn-too-old", settle=_PACKAGES)
    for event in _said(facts, "cudnn-too-old")[:1]:
        if facts.text.is_all and not is_older(event.values):
            _work.unknown(_PACKAGES)
        has, wants = event.values.get("loaded", "?"), event.values.get("compiled", "?")
        path, package = _loaded_from(facts, "libcudnn"), _wheel(facts, "cudnn")
        where = (Evidence(text=path, source="/proc/self/maps of TensorFlow's process"),) if path else ()
        major = wants.partition(".")[0]
        steps: tuple[str, ...] = ()
        if package and "." in wants and major.isdecimal():
            wanted = quote(f"{package}>={wants},<{int(major) + 1}")
            steps = (f"{_python(facts)} -m pip install --upgrade {wanted}",)
        yield Found(
            message=f"cuDNN {has} is loaded; this TensorFlow needs {wants} or newer of the same major version.",
            proof=(*_words((event,)), *where),
            fixes=(
                Fix(
                    kind="command" if steps else "advice",
                    risk="safe",
                    summary=f"Install cuDNN {wants} or newer"
                    + ("" if path is None or "site-packages" in path else f", and take {path} off the loader's path"),
                    steps=steps,
                ),
            ),
        )
    return "TensorFlow does not say that cuDNN is too old"


_NVRTC = Fix(
    kind="advice",
    risk="safe",
    summary="Install libnvrtc of the same CUDA (nvidia-cuda-nvrtc-cu12, cuda-nvrtc), with its link libnvrtc.so",
    steps=(),
)


@check("GD518", "cudnn-incomplete-install", stage=Stage.LIBRARIES, explains=("op-fails",))
def cudnn_incomplete_install(facts: Facts) -> Findings:
    """A part of cuDNN, or what it needs, is missing.

    What it looks at: cuDNN's own lines 'Could not load library libcudnn_… Error: …' and 'Unable to load any of …',
    where a kernel fails.

    Why it matters: cuDNN consists of several files that it loads when they are first needed; the program ends there.

    How to fix: install cuDNN whole; where the error names libnvrtc, install that (nvidia-cuda-nvrtc).

    Source: observed in public reports; cuDNN installation guide.
    """
    if facts.text.is_all:
        told = said(facts, "cudnn-lacks-nvrtc", settle=_PACKAGES)
        if not facts.text.said("cudnn-part-missing"):
            yield Found(message="cuDNN needs libnvrtc, which is not found.", proof=lines(told), fixes=(_NVRTC,))
            return
    events = _said(facts, "cudnn-part-missing")
    if not events or not _fails(facts):
        return "nothing failed for a missing part" if events else "TensorFlow names no missing part of cuDNN"
    names = " ".join(e.text for e in events)
    package = _wheel(facts, "cuda-nvrtc" if "nvrtc" in names else "cudnn")
    has = _version_of(facts, package)
    wanted = quote(f"{package}=={has}" if has else str(package))
    steps = pip(facts, "install", "--force-reinstall", "--no-deps", wanted) if package else ()
    yield Found(
        message="cuDNN can't load one of its parts.",
        proof=_words(events),
        fixes=(
            Fix(
                kind="command" if steps else "advice",
                risk="safe",
                summary="Install libnvrtc" if "nvrtc" in names else "Install cuDNN whole, at the version that you have",
                steps=steps,
            ),
        ),
    )


def _fails(facts: Facts, kernel: str | None = None) -> bool:
    """Whether a kernel (this one) was begun and ended without a result. A text is pasted because something failed."""
    return facts.text.is_all or any(
        m.failed and m.in_tensorflow for m in facts.measurements if kernel in (None, m.kernel)
    )


def _xla_failed(facts: Facts, kind: str) -> tuple[LogEvent, ...]:
    """The events of a kind, where the function that XLA compiles failed: most of them are harmless where it works."""
    events = _said(facts, kind)
    if facts.text.is_all and kind != "ptxas-missing":  # there the driver's own compiler steps in
        return events
    if not any(m.kernel == "xla" for m in facts.measurements):
        raise NotApplicable("no function was compiled by XLA")
    return events if _fails(facts, "xla") else ()


def _compiled(facts: Facts, what: str) -> str:
    return f"XLA does not miss {what}" if _fails(facts, "xla") else "a function that XLA compiled works"


def _version_of(facts: Facts, package: str | None) -> str | None:
    """The version of a distribution that is installed; None: it is not, or nobody could look."""
    installed = facts.python.distributions
    ours = () if isinstance(installed, Unread) else installed
    return next((d.version for d in ours if d.name == package and not d.shadowed), None)


def _data_directory(facts: Facts) -> EnvChange:
    """Where the wheel of nvcc lies beside TensorFlow, as XLA is told: before all other places."""
    directory = facts.tensorflow.directory if isinstance(facts.tensorflow.directory, str) else ""
    wheel = os.path.join(os.path.dirname(directory), "nvidia", "cuda_nvcc")
    value = f'"{wheel}"' if " " in wheel else wheel  # XLA cuts its flags at spaces, and knows quotes
    return EnvChange(name="XLA_FLAGS", op="set", value=f"--xla_gpu_cuda_data_dir={value}")


def _nvcc_wheel(facts: Facts) -> Fix:
    package = _wheel(facts, "cuda-nvcc")
    steps = pip(facts, "install", package) if package else ()
    return Fix(
        kind="command" if steps else "advice",
        risk="safe",
        summary="Install the wheel that holds ptxas and libdevice, where TensorFlow looks for them",
        steps=steps,
    )


def _libdevice_in_text(facts: Facts) -> tuple[LogEvent, ...]:
    """Not finding it at once is a warning; it is what fails where the text shows nothing else that does, and no work."""
    settle = "python3 -m pip list | grep -i nvcc; find / -name libdevice.10.bc 2>/dev/null"
    text = facts.text
    if not text.said("libdevice-missing"):
        if text.said("work-goes-on") or any(e.kind not in _BY_XLA for e in text.shows("op-fails")):
            _work.unknown(settle)
        said(facts, "libdevice-not-seen", settle=settle)
    told = text.said("libdevice-missing", "libdevice-not-seen")
    return tuple(LogEvent(kind=e.kind, text=e.text) for e in told)


_BY_XLA = ("error", "jit-failed", "operation-failed", "libdevice-missing", "cuda-call-failed")
"""Lines that follow where libdevice is not found."""


@check("GD525", "libdevice-missing", stage=Stage.LIBRARIES, explains=("op-fails",))
def libdevice_missing(facts: Facts) -> Findings:
    """XLA does not find NVIDIA's libdevice.

    What it looks at: 'libdevice not found at …' in TensorFlow's log or in the failure of the function that gpudoctor
    compiles with XLA.

    Why it matters: functions with jit_compile=True fail, and so do optimizers and models that Keras compiles.

    How to fix: install nvidia-cuda-nvcc beside TensorFlow, or point XLA_FLAGS at a CUDA toolkit that has
    nvvm/libdevice/libdevice.10.bc.

    Source: XLA, nvptx_backend.cc and GetLibdeviceDir; https://www.tensorflow.org/xla
    """
    events = _libdevice_in_text(facts) if facts.text.is_all else _xla_failed(facts, "libdevice-missing")
    if not events:
        return _compiled(facts, "libdevice")
    fix = _nvcc_wheel(facts)
    if _version_of(facts, _wheel(facts, "cuda-nvcc")) is not None:
        change = _data_directory(facts)
        fix = Fix(
            kind="env",
            risk="safe",
            summary="Tell XLA where it lies, for this shell and what it starts",
            steps=(f"export XLA_FLAGS={quote(change.value)}",),
            env=(change,),
        )
    yield Found(message="XLA needs libdevice.10.bc and does not find it.", proof=_words(events), fixes=(fix,))


@check("GD526", "ptxas-missing", stage=Stage.LIBRARIES, explains=("op-fails",))
def ptxas_missing(facts: Facts) -> Findings:
    """XLA finds no ptxas, and can't compile without it.

    What it looks at: TensorFlow's words about ptxas where the function that gpudoctor compiles with XLA fails. Where it
    works, the driver or a library has compiled in place of ptxas, and nothing is wrong. In a pasted text such words that no driver
    steps in for, where they are an error or what somebody reports, and nothing else fails.

    Why it matters: functions with jit_compile=True fail.

    How to fix: install nvidia-cuda-nvcc beside TensorFlow, or put the bin directory of a CUDA toolkit on PATH.

    Source: XLA, 'No PTX compilation provider is available', ptxas lookup in cuda_asm_compiler.
    """
    if facts.text.is_all:
        told = facts.text.said("ptxas-lacking") or _ends_without_ptxas(facts)
        told = told or said(facts, "ptxas-lacking", settle="which -a ptxas")
        yield Found(message="XLA needs ptxas and finds none.", proof=lines(told), fixes=(_nvcc_wheel(facts),))
        return
    if events := _xla_failed(facts, "ptxas-missing"):
        yield Found(
            message="XLA needs ptxas to compile for this GPU and finds none.",
            proof=_words(events),
            fixes=(_nvcc_wheel(facts),),
        )
    return _compiled(facts, "ptxas")


_ERROR = Pattern(r"\b[A-Z]\w{2,40}Error\b|^F |: F |\bF external/|\bInternal: |INTERNAL")


def _ends_without_ptxas(facts: Facts) -> tuple[TextEvent, ...]:
    """XLA's words that no driver compiles in place of ptxas, as the title of a report or as an error."""
    if facts.text.shows_a_failure or facts.text.said("benign-driver-compiles"):
        return ()
    told = facts.text.said("ptxas-missing")
    return tuple(e for e in told if "driver" not in e.text.lower() and (e.line == 1 or _ERROR.search(e.text)))


_BY_PTXAS = (
    "error",
    "jit-failed",
    "operation-failed",
    "ptxas-too-old",
    "ptxas-missing",
    "ptxas-lacking",
    "cuda-call-failed",
)
"""Lines that follow where ptxas does not know the GPU."""


@check("GD527", "ptxas-too-old", stage=Stage.LIBRARIES, explains=("op-fails",))
def ptxas_too_old(facts: Facts) -> Findings:
    """The ptxas that XLA found is older than the GPU.

    What it looks at: 'ptxas does not support CC …', 'ptxas too old' and ptxas' own errors, where the function that
    gpudoctor compiles with XLA fails.

    Why it matters: functions with jit_compile=True fail. An older toolkit earlier on PATH is enough to cause it.

    How to fix: take the older toolkit's bin directory off PATH, or install a newer nvidia-cuda-nvcc.

    Source: XLA, asm_compiler.cc; public reports.
    """
    if facts.text.is_all:
        said(facts, "ptxas-too-old", settle="ptxas --version")
        if any(e.kind not in _BY_PTXAS for e in facts.text.shows("op-fails")):
            _work.unknown("ptxas --version")
    events = _xla_failed(facts, "ptxas-too-old")
    if not events:
        return _compiled(facts, "ptxas")
    path = next((e.values["path"] for e in events if "path" in e.values), "the ptxas that XLA found")
    yield Found(
        message=f"{path} does not know this GPU.",
        proof=_words(events),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Install the one of TensorFlow's CUDA, and let XLA take it before what is on PATH, for this shell and "
                "what it starts",
                steps=(*_nvcc_wheel(facts).steps, f"export XLA_FLAGS={quote(_data_directory(facts).value)}")
                if isinstance(facts.tensorflow.directory, str)
                else ("which -a ptxas", *_nvcc_wheel(facts).steps),
                verify="which -a ptxas",
            ),
        ),
    )


def _handle_in_text(facts: Facts) -> Iterator[Found]:
    told = said(facts, "handle-failed", "handle-without-memory", settle="nvidia-smi")
    by_card = facts.text.said("card-decides") and not facts.text.said("handle-without-memory", "out-of-memory")
    if (
        by_card
        or facts.text.said("first-one-ended")
        or facts.text.said(
            "cudnn-too-old", "driver-insufficient", "cudnn-part-missing", "memory-is-free", "growth-in-vain"
        )
        or _work.room_for_a_handle(facts)
    ):
        _work.unknown("nvidia-smi")
    yield Found(
        message="cuBLAS or cuDNN finds no room for its handle: the GPU's memory is used up, mostly by TensorFlow itself.",
        proof=lines(told),
        fixes=(growth(), _who_holds_it()),
    )


def _who_holds_it() -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="See which processes hold memory on which GPU",
        steps=("nvidia-smi", "nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv"),
    )


@check("GD529", "gpu-memory-handle-alloc", stage=Stage.USE, explains=("op-fails",))
def gpu_memory_handle_alloc(facts: Facts) -> Findings:
    """The GPU's memory is used up: a kernel, or the handle of a library, finds no room.

    What it looks at: 'Could not create cudnn handle', 'failed to create cublas handle', 'ran out of memory' and
    CUDA_ERROR_OUT_OF_MEMORY in TensorFlow's log, where a kernel of gpudoctor's fails. These need about 1 GiB and let
    TensorFlow grow: what fills the memory is another process.

    Why it matters: programs fail at their first operation, with words about cuDNN or cuBLAS rather than memory.

    How to fix: see who holds the memory, and end it or give this program another GPU.

    Source: TensorFlow, cuda_dnn.cc, cuda_blas.cc, bfc_allocator.cc; public reports.
    """
    if facts.text.is_all:
        yield from _handle_in_text(facts)
        return
    events = (*_said(facts, "handle-failed"), *_said(facts, "out-of-memory"))
    if not events or not _fails(facts):
        return "no kernel failed" if events else "TensorFlow tells of no want of GPU memory"
    yield Found(
        message="A kernel failed for want of GPU memory.",
        proof=_words(events),
        fixes=(_who_holds_it(),),
    )
