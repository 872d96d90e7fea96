"""What several GPUs and mixed precision make of a training step of TensorFlow's, as it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _told, _training
from gpudoctor.checks._gpus import measured_on
from gpudoctor.checks._said import left_open, lines, said, speaks_of_speed, undecided
from gpudoctor.facts import ALL_REDUCE, NATIVE, TRAINING, Facts
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.patterns import Pattern
from gpudoctor.registry import check
from gpudoctor.verdicts.scaling import Step, mixed_gain, steps_of

_A_GPU = 2
"""Processors that one GPU's part of a step needs: one that starts the work and one for all else."""
_NO_GAIN, _USUAL_GAIN = 1.1, 1.5


@check("GD850", "scaling-below-expected", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly",))
def scaling_below_expected(facts: Facts) -> Findings:
    """Several GPUs train less fast than users expect of them.

    What it looks at: a training step of a small convolutional network under MirroredStrategy on all GPUs, against the same on one:
    1.8 times with two GPUs, 0.8 times their number with more. It warns where there are fewer than two usable processors for each GPU
    (affinity, control group). Else it is information: what slows one GPU or the way between them is a cause of its own, small
    models scale worse than large ones, and GPUs without direct access to each other do so by the design of the machine. In a pasted text:
    several GPUs are called slower than one, and the model small.

    Why it matters: what is missing is paid for and not used.

    How to fix: more processors for the job or container; a larger batch for each GPU, so that a step is long beside the exchange of
    gradients.

    Source: the measurement itself; what users ask of scaling (1.8 times with 2 GPUs, 3.2 times with 4).
    """
    if facts.text.is_all:
        speaks_of_speed(facts)
        told, small = facts.text.said("several-slower-than-one"), facts.text.said("small-work")
        if not told or not small or facts.text.said("p2p-named", "nccl-transport", "riser-named"):
            raise left_open("gpudoctor bench --backend all")
        message = (
            "Several GPUs are slower than one: a step of so small a model is short beside the exchange of gradients."
        )
        yield Found(message=message, proof=lines((told[0], small[0])), fixes=(_LARGER_BATCH,))
        return None
    several = [step for step in steps_of(facts) if step.count > 1]
    if not several:
        raise NotApplicable("no training step was measured on one GPU and on several")
    most = several[-1]
    behind = [step for step in several if step.speed_up < step.expected]
    if not behind:
        return f"{most.count} GPUs train {most.speed_up:.2f} times as fast as one"
    worst = min(behind, key=lambda step: step.speed_up / step.expected)
    few = _few_processors(facts, worst)
    yield Found(
        message=f"{worst.count} GPUs train {worst.speed_up:.2f} times as fast as one; {worst.expected:.1f} times is expected.",
        proof=(*(_training.shown(step) for step in several), *few, *_notes(facts, worst)),
        about=measured_on(facts, _training.measurement_of(facts, worst)),
        fixes=(_more_processors(worst.count) if few else _LARGER_BATCH,),
        level=Level.WARN if few else Level.INFO,
    )
    return None


_LARGER_BATCH = Fix(
    kind="advice",
    risk="safe",
    summary="Give each GPU a larger batch, so that a step is long beside the exchange of gradients; see the all-reduce and the "
    "way between the GPUs",
    steps=(),
    verify="gpudoctor bench --backend all",
)


def _few_processors(facts: Facts, step: Step) -> tuple[Evidence, ...]:
    usable = [facts.system.cores_usable, facts.system.cpu_quota_cores]
    least = min((n for n in usable if isinstance(n, int | float)), default=None)
    if least is None or least >= _A_GPU * step.count:
        return ()
    text = f"{least:g} usable processors for {step.count} GPUs; fewer than {_A_GPU} for each"
    return (Evidence(text=text, source="affinity and control group of the examined process"),)


def _more_processors(gpus: int) -> Fix:
    return Fix(
        kind="command",
        risk="safe",
        summary=f"Give the job or container {_A_GPU * gpus} processors or more",
        steps=("taskset -pc $$", "cat /sys/fs/cgroup/cpu.max"),
        verify="gpudoctor check --level full",
    )


def _notes(facts: Facts, step: Step) -> Iterator[Evidence]:
    """What else is known of the way of the gradients."""
    for one in facts.measurements:
        if one.kernel != ALL_REDUCE or one.device != step.device or not isinstance(one.value, float):
            continue
        ways = one.transport if isinstance(one.transport, tuple) and one.backend == NATIVE else ()
        if ways and not any(way.startswith(("P2P", "NVLS")) for way in ways):
            text = f"the all-reduce goes through {', '.join(ways)}, not from GPU to GPU: {one.value:.3g} GB/s"
            yield Evidence(text=text, source=f"NCCL's log, {one.kernel} on {one.device}")
        elif one.in_tensorflow and isinstance(one.operation, str) and one.operation.startswith("no collective"):
            yield Evidence(
                text=f"MirroredStrategy sums without a collective ({one.operation})", source="TensorFlow's graph"
            )


_WOULD_HELP = Pattern(
    r"(?i)\b(?:would|should|could|can|or|is|does) [^.?!\n]{0,60}\b(?:mixed[ -]precision|AMP)\b[^.?!\n]{0,40}\?"
)
"""Who asks for it does not use it."""
_MEASURED = "gpudoctor check --level full  # TensorFlow: training-step-mixed"
_FLOAT32 = Fix(
    kind="advice",
    risk="safe",
    summary="Keep float32 on this card; mixed precision saves memory there, and no time",
    steps=(),
    verify=_MEASURED,
)


_WITHOUT_THEM = Pattern(r"\bGTX ?16\d\d|\bMX4[05]0")


def _has_no_tensor_cores(name: str, capability: tuple[int, int]) -> bool:
    return capability < (7, 0) or _WITHOUT_THEM.search(name) is not None


@check("GD851", "mixed-precision-no-gain", stage=Stage.SPEED, level=Level.INFO)
def mixed_precision_no_gain(facts: Facts) -> Findings:
    """Mixed precision hardly makes training faster here.

    What it looks at: the same training step in float32 (with TF32, where the GPU has it and it is on) and in mixed_float16, on one GPU.
    It tells where the gain is less than 1.1. In a pasted text: mixed precision that is called slow, on cards without tensor cores (compute
    capability below 7.0, GeForce GTX 16).

    Why it matters: users expect 1.5 to 1.8 times on convolutional models. Where TF32 does the float32 work on the tensor cores already,
    less is left to gain; where float16 does not reach them, something is wrong with cuDNN.

    How to fix: nothing by itself. Where nothing is gained, float32 is the better choice; channels in multiples of 8 are what float16
    needs to reach the tensor cores.

    Source: the measurement itself; TensorFlow guide, 'Mixed precision'; NVIDIA, Turing tuning guide, for the GTX 16.
    """
    if facts.text.is_all:
        told = said(facts, "mixed-precision-named", settle=_MEASURED)
        speaks_of_speed(facts)
        named = _told.cards(facts)
        if (
            not facts.text.said("slow-named", "gpu-is-slow")
            or all(_WOULD_HELP.search(e.text) for e in told)
            or not named
            or not all(_has_no_tensor_cores(*one) for one in named.items())
        ):
            undecided(_MEASURED)
        yield Found(
            message=f"{' and '.join(named)} has no tensor cores: mixed precision makes nothing faster there.",
            proof=lines(told[:2]),
            fixes=(_FLOAT32,),
        )
        return None
    gain = mixed_gain(facts.measurements)
    if gain is None:
        raise NotApplicable("mixed precision was not measured (gpudoctor check --level full)")
    if gain >= _NO_GAIN:
        return f"mixed_float16 trains {gain:.2f} times as fast as float32"
    one = next(m for m in facts.measurements if (m.kernel, m.device.count(",")) == (TRAINING, 0))
    yield Found(
        message=f"mixed_float16 trains {gain:.2f} times as fast as float32 on this GPU; {_USUAL_GAIN} times is usual.",
        proof=(Evidence(text=f"mixed_float16 / float32: {gain:.2f}", source=f"TensorFlow {TRAINING} on {one.device}"),),
        about=measured_on(facts, one),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Compare cuDNN's version with TensorFlow's, and keep float32 where nothing is gained",
                steps=(),
                verify="gpudoctor bench --backend tensorflow",
            ),
        ),
    )
    return None
