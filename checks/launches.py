"""Operations that are so short that starting them takes longer than doing them."""

from __future__ import annotations

from gpudoctor.checks import _run, _slow_runs
from gpudoctor.checks._said import lines as quoted
from gpudoctor.checks._said import said, speaks_of_speed
from gpudoctor.facts import Facts, UnknownFactError, Unread
from gpudoctor.findings import Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_PROFILE = "tensorboard --logdir LOGS  # Profile, Overview: Kernel Launch Time; the program with tf.keras.callbacks.TensorBoard('LOGS', profile_batch=(10, 20))"
_WITHOUT_PAUSE, _MOST_OF_IT = 0.85, 0.9
"""Of the time; of what both threads do. In the programs of tests/gpu/training on an H200 those that start
operations are at work in 96 to 106% of the time where they hold the GPU up, and in 9 to 16% where the input or nothing does."""
_FEWER = Fix(
    kind="advice",
    risk="safe",
    summary="More work for each operation: larger batches; tf.function around the whole step, or model.compile(jit_compile=True), "
    "which makes few operations of many; steps_per_execution=32 in model.compile. Python's own work between the steps belongs "
    "into tf.data. A model that stays small trains as fast on the processor",
    steps=(),
    verify=_PROFILE,
)


@check("GD848", "gpu-launch-bound", stage=Stage.SPEED, level=Level.WARN, explains=("runs-slowly", "tensor-cores-idle"))
def gpu_launch_bound(facts: Facts) -> Findings:
    """The GPU waits for the program to start its next operation.

    What it looks at: a run under gpudoctor run: no kernel runs in three tenths of the time or more; the program's own thread, or the threads
    of TensorFlow that start operations, are at work without a pause meanwhile, and nothing that prepares input is; little is copied. In a
    pasted text: TensorFlow's profiler, which says how much of a step is kernel launch; somebody who finds the GPU slower
    than the processor with a model that he calls small, or a loop of his own, without tf.function, slower than Keras' fit.

    Why it matters: on a host with an H200 it took 34 microseconds to start an operation from Python and 10 in a graph's loop, whatever the
    operation does. A small layer on a large GPU is done before the next is started. A faster GPU does not help.

    How to fix: larger batches, fewer and larger operations (tf.function, jit_compile=True, steps_per_execution), no Python between the steps.

    Source: TensorFlow guide, 'Optimize TensorFlow GPU performance with the TensorFlow Profiler'; measured on an H200 (docs/measuring.md).
    """
    if not _run.is_there(facts):
        if not facts.text.is_all:
            raise NotApplicable(_run.FROM_A_RUN)
        speaks_of_speed(facts)
        compared, small = facts.text.said("gpu-slower-than-cpu"), facts.text.said("small-work")
        both = (*compared, *small[:1]) if compared and small else ()
        if not facts.text.said("tf-function-named"):
            both = both or facts.text.said("loop-slower-than-fit")
        yield Found(
            message="The GPU waits for operations to be started: each is too short for it.",
            proof=quoted(both or said(facts, "launch-bound", settle=_PROFILE)),
            fixes=(_FEWER,),
        )
        return None
    run = _run.of(facts)
    waiting = _run.waiting(run)
    if waiting.share < _run.WAITS:
        return f"the GPUs are at work in {1 - waiting.share:.0%} of the time"
    main, launching = waiting.main_cores, min(1.0, waiting.launching_cores)
    if main + launching < _WITHOUT_PAUSE:
        return f"what starts operations is at work in {main + launching:.0%} of the time"
    if waiting.input_cores >= _WITHOUT_PAUSE:
        raise UnknownFactError(Unread(why="what prepares input is at work without a pause as well", settle=_PROFILE))
    copied = max(rate.mean for _, rate in _slow_runs.copied_in(waiting, _PROFILE))
    if copied >= _slow_runs.SOME_GB_PER_S:
        return f"{copied:.1f} GB/s are copied to the GPU meanwhile"
    if main >= _MOST_OF_IT * (main + launching):
        who = "Python's own thread is at work without a pause"
    elif launching >= _MOST_OF_IT * (main + launching):
        who = "TensorFlow's thread that starts operations is at work without a pause"
    else:
        who = "Python's own thread and TensorFlow's, which starts operations, take turns without a pause"
    yield Found(
        message=f"The GPU waits in {waiting.share:.0%} of the time for the program to start the next operation. {who}.",
        proof=waiting.proof(run),
        about=_run.about(waiting.gpus),
        fixes=(_FEWER,),
    )
    return None
