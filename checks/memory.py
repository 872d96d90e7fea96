"""The GPU's memory, as pasted texts show it: too much is asked for, or TensorFlow has taken all of it."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _work
from gpudoctor.checks._said import lines, said
from gpudoctor.facts import Facts, TextEvent, Unread
from gpudoctor.findings import EnvChange, Fix, Found, Stage
from gpudoctor.registry import check

_BEFORE = "nvidia-smi  # before the program is started: does anything hold memory?"
_SHORT = (
    "resource-exhausted",
    "allocation-refused",
    "gpu-memory-short-said",
    "out-of-memory",
    "torch-out-of-memory",
    "cuda-out-of-memory",
    "program-finds-no-memory",
    "dnn-absent",
    "no-algorithm",
)
_FOR_WANT = (
    *_SHORT, "takes-all-memory", "handle-failed", "handle-not-made", "handle-without-memory", "gemm-failed", "gemv-failed", "cudnn-failed", "cublas-failed",
    "allocator-report", "memory-cures", "fft-failed", "solver-failed", "executor-not-made", "copy-finds-no-room", "gpu-sync-failed",
)  # fmt: skip
"""Failures for want of memory."""
_GROWTH = "TF_FORCE_GPU_ALLOW_GROWTH"


def growth() -> Fix:
    """Let TensorFlow take memory as it needs it."""
    return Fix(
        kind="env",
        risk="safe",
        summary="Let TensorFlow take memory as it needs it, for this shell and what it starts",
        steps=(f"export {_GROWTH}=true",),
        env=(EnvChange(name=_GROWTH, op="set", value="true"),),
    )


@check(
    "GD870",
    "tf-preallocates-all-memory",
    stage=Stage.USE,
    explains=("op-fails", "gpu-memory-handle-alloc", "gpu-memory-held-by-other-process"),
)
def tf_preallocates_all_memory(facts: Facts) -> Iterator[Found]:
    """TensorFlow has taken nearly all memory of the GPU, as it does at its start, and others find none.

    What it looks at: in a pasted text, that somebody says so, beside no failure that has another reason.

    Why it matters: TensorFlow reserves almost everything that is free on every GPU that it sees, whatever the model needs. A
    second process, PyTorch in the same one, or cuDNN's own handle then fails for want of memory.

    How to fix: TF_FORCE_GPU_ALLOW_GROWTH=true, or tf.config.experimental.set_memory_growth for each GPU before the first
    operation; CUDA_VISIBLE_DEVICES for the GPUs that this program is to use.

    Source: https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """
    together = facts.text.said("frameworks-together")
    short = facts.text.said(*_SHORT) if together else ()
    idle = _held_for_nothing(facts)
    told = (*together, *short) if short else idle or said(facts, "takes-all-memory", settle="nvidia-smi")
    if facts.text.said(*_work.REFUSED, "cudnn-too-old", "tensor-too-large", "no-memory-for-a-context"):
        _work.unknown("nvidia-smi")
    failures = (e for e in facts.text.understood() if e.symptom not in (None, "runs-slowly") and not e.is_weak)
    if any(e.kind not in _FOR_WANT for e in failures):
        _work.unknown("nvidia-smi", why="something else fails, too")
    if not facts.text.shows_a_failure and _means_another(facts):
        _work.unknown("nvidia-smi")
    yield Found(
        message="TensorFlow takes nearly all memory of the GPUs that it sees, at its start.",
        proof=lines(told),
        fixes=(growth(),),
    )


_MOST, _SMALLEST = 0.75, 3.5


def _held_for_nothing(facts: Facts) -> tuple[TextEvent, ...]:
    """What tells that TensorFlow holds most of a GPU for a small model, or without any work, and that another program finds none."""
    held = [e for e in facts.text.said("memory-held-said") if _is_most(facts, e.values)]
    small, idle = facts.text.said("small-model-said"), facts.text.said("holds-without-work")
    others = facts.text.said("other-finds-none")
    refused = facts.text.said(*_SHORT)
    if not held or not others or not (small or idle) or facts.text.said("gpu-process", "memory-limited"):
        return ()
    if not (small and idle) and not refused:  # it may fail for want of something else
        return ()
    return (held[0], *small[:1], *idle[:1], *others[:1])


def _is_most(facts: Facts, values: dict[str, str]) -> bool:
    used = float(values["used"])
    if "total" in values:
        return used >= _MOST * float(values["total"])
    totals = [float(e.values["gib"]) for e in facts.text.said("card-memory-said")]
    return len(set(totals)) == 1 and totals[0] > _SMALLEST and _MOST * totals[0] <= used <= totals[0]


_CLEARLY = 0.3


def _means_another(facts: Facts) -> bool:
    """Whether the memory is mentioned beside what somebody complains of."""
    alike = () if isinstance(facts.text.alike, Unread) else facts.text.alike
    return bool(facts.text.said("one-works-said")) or any(
        one.share >= _CLEARLY and one.cause == "single-gpu-silently" for one in alike
    )


@check("GD871", "gpu-oom-model-or-data", stage=Stage.USE, explains=("op-fails",))
def gpu_oom_model_or_data(facts: Facts) -> Iterator[Found]:
    """The model, or a batch of its data, does not fit into the GPU's memory.

    What it looks at: in a pasted text, 'OOM when allocating tensor', XLA's 'Out of memory while trying to allocate', and the
    numbers of PyTorch's 'CUDA out of memory', where nothing tells that another process holds the memory.

    Why it matters: the step can't be computed on this GPU.

    How to fix: a smaller batch, smaller inputs, or mixed precision; then a GPU with more memory, or the model spread over
    several.

    Source: TensorFlow, bfc_allocator.cc; https://www.tensorflow.org/guide/gpu
    """
    told = _work.torch_alone(facts) or said(facts, "tensor-too-large", settle=_BEFORE)
    if _work.held_by_others(facts) is not None:
        _work.unknown("nvidia-smi", why="another process holds memory, too")
    yield Found(
        message="A tensor does not fit into what is left of the GPU's memory.",
        proof=lines(told),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Halve the batch size until it fits; then smaller inputs, or tf.keras.mixed_precision",
                steps=(),
                verify="nvidia-smi",
            ),
        ),
    )


@check("GD872", "wsl-pinned-memory-limit", stage=Stage.USE, explains=("op-fails", "cgroup-memory-limit"))
def wsl_pinned_memory_limit(facts: Facts) -> Iterator[Found]:
    """Under WSL the driver locks only a part of the host's memory, and TensorFlow asks for more.

    What it looks at: in a pasted text, that memory on the host could not be allocated for the GPU ('failed to alloc … bytes on
    host', 'could not allocate pinned host memory'), and that it is WSL 2.

    Why it matters: copies to the GPU go through locked memory of the host. CUDA calls it out of memory though the GPU has room, and
    TensorFlow tries again with less, which is slow or fails.

    How to fix: give WSL more memory (.wslconfig, memory=…; the limit goes with it), smaller batches and prefetch buffers; or Linux without WSL.

    Source: NVIDIA, CUDA on WSL User Guide, 'WSL 2 Support Constraints' (pinned system memory); TensorFlow, gpu_host_allocator.h.
    """
    told = said(facts, "pinned-memory-full", settle="free -g; uname -r")
    if facts.system.wsl is not True:
        _work.unknown("uname -r", why="this text does not say that it is WSL")
    yield Found(
        message="The driver can't lock so much of the host's memory under WSL; it is not the GPU's memory that is full.",
        proof=lines(told[:2]),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="In %UserProfile%\\.wslconfig, under [wsl2], raise memory=, then wsl --shutdown; smaller batches and "
                "prefetch buffers need less",
                steps=(),
                verify="free -g",
            ),
        ),
    )
