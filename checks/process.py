"""The running process that was named with --pid."""

from __future__ import annotations

import os
from collections.abc import Mapping

from gpudoctor.checks._said import lines, said, undecided
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_WHILE_IT_RUNS = "gpudoctor check --pid PID  # of the program while it runs"


@check("GD910", "process-holds-replaced-library", stage=Stage.USE, explains=("op-fails",), level=Level.WARN)
def process_holds_replaced_library(facts: Facts) -> Findings:
    """The process runs with a library that was replaced on disk since it started.

    What it looks at: the mappings of the process that was named with --pid. A CUDA, driver or TensorFlow library
    that is marked as deleted there was removed or replaced by an upgrade while the process ran.

    Why it matters: what such a process does is not what a new one would do. A driver library of another release than
    the kernel module fails at its next call; a wheel that was upgraded under a notebook loads its other half in the
    new version.

    How to fix: restart the process (a notebook: restart its kernel).

    Source: proc(5), /proc/PID/maps, '(deleted)'.
    """
    pid = facts.process.pid
    if pid is None or isinstance(pid, Unread):
        raise NotApplicable("no process was named (--pid)")
    gone = [one.path for one in known(facts.process.libraries) if one.deleted]
    if not gone:
        return f"process {pid} holds no library that was replaced"
    names = ", ".join(os.path.basename(path) for path in gone)
    yield Found(
        message=f"Process {pid} holds {names}, which was replaced on disk since: what is installed is not what it runs.",
        proof=tuple(Evidence(text=f"{path} (deleted)", source=f"/proc/{pid}/maps") for path in gone),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Restart process {pid} (a notebook: restart its kernel)",
                steps=(),
                verify="gpudoctor check --pid, with the new process",
            ),
        ),
    )


@check(
    "GD911",
    "cuda-lib-preloaded-by-other-package",
    stage=Stage.LIBRARIES,
    explains=(
        "tf-lists-no-gpu",
        "op-fails",
        "tf-import-broken",
        "cudnn-version-too-old",
        "cudnn-version-mismatch",
        "cuda-lib-from-other-toolkit",
        "gpu-memory-handle-alloc",
        READS_LIKE_A_FAULT,
    ),
    level=Level.WARN,
)
def cuda_lib_preloaded_by_other_package(facts: Facts) -> Findings:
    """Another package that the process imported first has brought a CUDA library of its own.

    What it looks at: the mappings of the process that was named with --pid, and the file that TensorFlow's loader takes
    in a fresh process. It fires where the process has a library of the same soname from another directory. In a pasted
    text that somebody tells that the order of two imports, TensorFlow's and such a package's, decides; or that both orders
    are written out beside TensorFlow's word that another cuDNN is loaded.

    Why it matters: a soname that is loaded already is never searched for again. PyTorch, CuPy or OpenCV, imported first,
    decide which cuDNN or cuBLAS TensorFlow computes with, and a version that does not fit fails far from its reason.

    How to fix: import TensorFlow first; better, keep the two in environments of their own.

    Source: ld.so(8), dlopen(3): objects are known by their soname.
    """
    if facts.text.is_all:
        told = (
            facts.text.said("order-decides")
            or _both_orders(facts)
            or said(facts, "order-decides", settle=_WHILE_IT_RUNS)
        )
        if facts.text.said("out-of-memory", "torch-out-of-memory", "gpu-memory-short-said"):
            undecided(_WHILE_IT_RUNS)  # tf-preallocates-all-memory
        yield Found(
            message="Whether TensorFlow works depends on which package is imported first: the first one's libraries are used by both.",
            proof=lines(told),
            fixes=(_tensorflow_first("the other package"),),
        )
        return
    pid = facts.process.pid
    if pid is None or isinstance(pid, Unread):
        raise NotApplicable("no process was named (--pid)")
    held = {os.path.basename(one.path): one.path for one in known(facts.process.libraries) if not one.deleted}
    strange = [
        (pick.soname, path, pick.picked)
        for pick in known(facts.tensorflow.libraries)
        if isinstance(pick.picked, str)
        and (path := _of_soname(held, pick.soname)) is not None
        and os.path.dirname(os.path.realpath(path)) != os.path.dirname(os.path.realpath(pick.picked))
    ]
    if not strange:
        return f"process {pid} has no CUDA library from another place"
    soname, path, picked = strange[0]
    yield Found(
        message=f"Process {pid} has {', '.join(one for one, _, _ in strange)} from another place than TensorFlow would take it.",
        proof=(
            *(Evidence(text=f"{path} is loaded", source=f"/proc/{pid}/maps") for _, path, _ in strange),
            Evidence(text=f"alone, TensorFlow takes {soname} from {picked}", source="TensorFlow's own loader"),
        ),
        fixes=(_tensorflow_first(f"the package that brings {path}"),),
    )


def _both_orders(facts: Facts) -> tuple[TextEvent, ...]:
    """The line that completes both orders of the imports, where another cuDNN is loaded than is wanted."""
    loaded = facts.text.said("cudnn-too-old")
    shown = () if facts.text.said("order-tells-nothing") else facts.text.said("both-orders-shown")
    return (*loaded[:1], *shown) if loaded and shown else ()


def _tensorflow_first(other: str) -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary=f"Import TensorFlow before {other}, or keep it in an environment of its own",
        steps=(),
        verify="gpudoctor check --pid, with the new process",
    )


def _of_soname(held: Mapping[str, str], soname: str) -> str | None:
    """The mapped file of a soname: 'libcudnn.so.9', or 'libcudnn.so.9.1.0' that it leads to."""
    return next((path for name, path in held.items() if name == soname or name.startswith(f"{soname}.")), None)
