"""Operations that fail, as pasted texts show them: cuDNN and cuBLAS of other versions, no GPU for an operation, MIG."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.checks import _told, _work
from gpudoctor.checks._driver_said import decided
from gpudoctor.checks._said import lines, said
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.findings import Evidence, Fix, Found, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check

_PACKAGES = "python3 -m pip list | grep -iE 'nvidia|tensorflow'; conda list | grep -iE 'cud|tensorflow'"
_LIST = "python3 -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\""
_LARGE = 1_000_000
"""Rows of a product, above which cuBLAS 11.2 fails."""


@check("GD570", "cudnn-version-mismatch", stage=Stage.LIBRARIES, explains=("op-fails", "gpu-memory-handle-alloc"))
def cudnn_version_mismatch(facts: Facts) -> Iterator[Found]:
    """The cuDNN that is loaded is another one than TensorFlow was built with.

    What it looks at: in a pasted text, TensorFlow's line 'Loaded runtime CuDNN library: A but source was compiled with: B',
    where A is not the older one (that is cudnn-version-too-old); or the loader's, that one part of cuDNN lacks a symbol of another.

    Why it matters: TensorFlow up to 1.x takes only the cuDNN of its own minor version, and no release takes one of another
    major version: convolutions and recurrent layers fail.

    How to fix: install the cuDNN that the line names as compiled with, and take the other one off the loader's path.

    Source: TensorFlow, cuda_dnn.cc.
    """
    if parts := [e for e in facts.text.said("libraries-mixed") if facts.text.is_all and _PARTS.search(e.text)]:
        yield Found(
            message="Parts of cuDNN that are loaded together are of several releases.",
            proof=lines(parts),
            fixes=(
                Fix(
                    kind="advice",
                    risk="safe",
                    summary="Leave one cuDNN where the loader looks: take the system's (dpkg -l 'libcudnn*') or the wheel's "
                    "(nvidia-cudnn-cu…) off it, and take LD_LIBRARY_PATH out of the shell",
                    steps=(),
                    verify="ldconfig -p | grep libcudnn; python3 -m pip list | grep -i cudnn",
                ),
            ),
        )
        return
    told = [e for e in said(facts, "cudnn-too-old", settle=_PACKAGES) if not is_older(e.values)]
    if not told:
        _work.unknown(_PACKAGES)
    loaded, compiled = told[0].values.get("loaded", "?"), told[0].values.get("compiled", "?")
    yield Found(
        message=f"cuDNN {loaded} is loaded; this TensorFlow was built with {compiled}, and takes no other.",
        proof=lines(told),
        fixes=(
            Fix(kind="advice", risk="safe", summary=f"Install cuDNN {compiled}, and take the other off the loader's path", steps=()),
        ),
    )  # fmt: skip


_PARTS = Pattern(
    r"libcudnn_\w{3,40}\.so\.\d[.\d]*: (?:undefined symbol: \w{1,200}, version libcudnn_\w{3,40}\.so|symbol \w{1,200},? version libcudnn_\w{3,40}\.so[.\d]* not defined)"
)
"""Of parts alone: a library of another kind that lacks one of cuDNN's symbols may be another toolkit's."""


def is_older(values: dict[str, str]) -> bool:
    """Whether the cuDNN that was loaded is older than the one that was compiled with."""
    return _version(values.get("loaded", "0")) < _version(values.get("compiled", "0"))


def _version(text: str) -> tuple[int, ...]:
    """(7, 2, 1) of '7.2.1' and of '7201'."""
    if text.isdecimal() and len(text) >= 4:
        return int(text) // 1000, int(text) // 100 % 10, int(text) % 100
    return tuple(int(n) for n in re.findall(r"\d+", text))


@check("GD571", "cublas-version-mismatch", stage=Stage.LIBRARIES, explains=("op-fails", "tf-lists-no-gpu"))
def cublas_version_mismatch(facts: Facts) -> Iterator[Found]:
    """The parts of cuBLAS that are loaded are of different versions.

    What it looks at: in a pasted text, the dynamic loader's words for a symbol that libcublas lacks in libcublasLt, or another
    library in libcublas. Where cuBLAS alone is not found, and its package is of another CUDA than the runtime that is opened, it is a candidate.

    Why it matters: matrix products fail, or the program ends there.

    How to fix: one version of cuBLAS: reinstall its package, and take other toolkits off LD_LIBRARY_PATH.

    Source: glibc's dynamic loader; public reports.
    """
    told = said(facts, "cublas-mixed", settle=_PACKAGES)
    yield Found(
        message="libcublas and the library that it works with are of different versions.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="See which files are loaded, then keep one version of them",
                steps=('echo "$LD_LIBRARY_PATH"', "python3 -m pip list | grep -i cublas"),
            ),
        ),
    )


@check("GD572", "cublas-bug-cuda-11-2", stage=Stage.LIBRARIES, explains=("op-fails",))
def cublas_bug(facts: Facts) -> Iterator[Found]:
    """cuBLAS of CUDA 11.2 and 11.3 can't compute a large matrix-vector product.

    What it looks at: in a pasted text, 'Blas xGEMV launch failed' with a million rows or more, under a TensorFlow that is
    built for CUDA 11.2.

    Why it matters: one operation fails that is right, and works with other versions.

    How to fix: take cuBLAS of CUDA 11.4 or a newer 11 in the place of 11.2's.

    Source: tensorflow issues 54463 and 57666 (compat/matrix.json, cublas-11.2).
    """
    told = [e for e in said(facts, "gemv-failed", settle="nvcc --version") if _rows(e) >= _LARGE]
    if not told or any(cuda[0] != 11 or cuda[1] > 3 for cuda in _told.cudas(facts)):
        _work.unknown("nvcc --version")
    yield Found(
        message="cuBLAS of CUDA 11.2 fails in a product with very many rows.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Take cuBLAS of a newer CUDA 11",
                steps=("conda install -c nvidia 'libcublas=11.11.*'",),
            ),
        ),
    )


def _rows(event: TextEvent) -> int:
    found = re.search(r"\bm=(\d+)", event.text)
    return int(found[1]) if found else 0


@check("GD573", "tf-no-gpu-registered", stage=Stage.TENSORFLOW, explains=("op-fails",))
def tf_no_gpu_registered(facts: Facts) -> Iterator[Found]:
    """An operation is meant for a GPU, and TensorFlow has none.

    What it looks at: in a pasted text, the list of devices in 'Cannot assign a device for operation …' and 'No OpKernel was
    registered …', where no GPU is among them, the build has CUDA and nothing in the text tells why.

    Why it matters: this is what is noticed; why TensorFlow has no GPU, only its own log or a look at the machine tells.

    How to fix: see whether this TensorFlow can use a GPU at all, and what it says at its start.

    Source: TensorFlow, placer.cc, op_kernel.cc.
    """
    told = said(facts, "gpu-not-among-devices", "gpu-not-registered", settle=_LIST)
    if _why_none(facts):
        raise NotApplicable("the text tells more")
    if isinstance(facts.tensorflow.build.cuda, Unread):
        _work.unknown(_LIST)  # a build without CUDA says the same
    yield Found(
        message="TensorFlow has registered no GPU, so the operation has no device.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="See what TensorFlow says at its start, and whether it is built with CUDA",
                steps=(f"TF_CPP_MIN_LOG_LEVEL=0 {_LIST}", "gpudoctor check"),
            ),
        ),
    )


def _why_none(facts: Facts) -> bool:
    """Whether the text tells how far TensorFlow came on its way to a GPU."""
    lib, tensorflow = facts.driver.libcuda, facts.tensorflow
    return (
        isinstance(lib.init_result, int) or lib.path is None or tensorflow.loader_ok is False
        or tensorflow.build.cuda is False or tensorflow.directory is None or isinstance(tensorflow.import_error, str)
        or isinstance(facts.gpu.nvml_error, int) or facts.gpu.devices == ()
        or (not isinstance(tensorflow.libraries, Unread) and bool(tensorflow.libraries))
    )  # fmt: skip


@check("GD574", "mig-single-instance-limit", stage=Stage.VISIBILITY, explains=("fewer-gpus",))
def mig_single_instance(facts: Facts) -> Iterator[Found]:
    """Several MIG instances are meant for one process; CUDA shows it one.

    What it looks at: in a pasted text, CUDA_VISIBLE_DEVICES with more than one MIG device, several instances beside the
    one GPU that TensorFlow lists, or that somebody says so.

    Why it matters: CUDA enumerates a single compute instance for a process, however many are named.

    How to fix: one process for each instance, each with its own CUDA_VISIBLE_DEVICES; or turn MIG off to use the whole GPU.

    Source: NVIDIA Multi-Instance GPU User Guide, CUDA visible devices.
    """
    if not facts.text.is_all:
        raise NotApplicable("only a text tells what was meant (gpudoctor log)")
    proof = _instances(facts)
    if not proof:
        _work.unknown("nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES")
    yield Found(
        message="A process can use one MIG instance at a time, and several are meant for it.",
        proof=proof,
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Start one process for each instance, each with CUDA_VISIBLE_DEVICES=MIG-… of its own",
                steps=(),
                verify="nvidia-smi -L",
            ),
        ),
    )


def _instances(facts: Facts) -> tuple[Evidence, ...]:
    chosen = facts.environment.get("CUDA_VISIBLE_DEVICES")
    if isinstance(chosen, str) and sum(part.strip().startswith("MIG-") for part in chosen.split(",")) > 1:
        return (Evidence(text=f"CUDA_VISIBLE_DEVICES={chosen}", source="environment"),)
    if told := facts.text.said("instances-chosen", "one-instance") or decided(facts, "mig-single-instance-limit"):
        return lines(told)
    devices, listed = facts.gpu.devices, facts.tensorflow.gpus()
    if isinstance(devices, Unread) or isinstance(listed, Unread) or len(listed) != 1:
        return ()
    parts = [d for device in devices if isinstance(device.mig_devices, tuple) for d in device.mig_devices]
    if len(parts) < 2:
        return ()
    return (Evidence(text=f"{len(parts)} MIG instances, and TensorFlow lists one GPU", source="nvidia-smi"),)
