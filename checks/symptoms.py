"""What a pasted text shows going wrong, beside TensorFlow itself: nothing of it is run on a live machine."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.checks import _run
from gpudoctor.checks._handed_over import driver_works, lists_nothing
from gpudoctor.checks._said import fails, lines
from gpudoctor.facts import READS_LIKE_A_FAULT, Facts
from gpudoctor.findings import Findings, Found, Level, NotApplicable, Stage, SymptomRank
from gpudoctor.registry import symptom


def _shown(facts: Facts, name: str, message: str) -> Iterator[Found]:
    shown = facts.text.shows(name)
    if not facts.text.is_all and not shown:
        raise NotApplicable("only a text shows it (gpudoctor log)")
    if shown and not (shown[0].is_weak and fails(facts)):
        yield Found(message=message, proof=lines(shown))


@symptom("GD190", "driver-does-not-load", rank=SymptomRank.NO_GPU, stage=Stage.DRIVER)
def driver_does_not_load(facts: Facts) -> Iterator[Found]:
    """The NVIDIA driver can't be installed or loaded.

    What it looks at: in a pasted text, what installers, DKMS, modprobe and the kernel say of the driver.

    Why it matters: without the kernel module there is no GPU for any program.

    Source: the text itself.
    """
    yield from _shown(
        facts, "driver-does-not-load", "The driver's kernel module is not built, not loaded or not started."
    )


@symptom("GD690", "container-does-not-start", rank=SymptomRank.NO_GPU, stage=Stage.CONTAINER)
def container_does_not_start(facts: Facts) -> Iterator[Found]:
    """A container with GPUs can't be started, or has none in it.

    What it looks at: in a pasted text, what docker, podman, nvidia-container-cli, Kubernetes and images of NVIDIA say. What
    the latter say of the driver counts only where nvidia-smi shows none: under WSL they look for files that are not there.

    Why it matters: no program is started at all, or it finds no GPU.

    Source: the text itself.
    """
    shown = facts.text.shows("container-does-not-start")
    if facts.text.is_all and {e.kind for e in shown} == {"ngc-no-driver"}:
        wsl = facts.text.said("on-windows") and facts.text.said("gpus-asked")
        if driver_works(facts) or (wsl and not lists_nothing(facts)):
            return
    yield from _shown(facts, "container-does-not-start", "A container that asks for GPUs is not started, or gets none.")


@symptom("GD490", "install-fails", rank=SymptomRank.OPERATION_FAILS, stage=Stage.PYTHON)
def install_fails(facts: Facts) -> Iterator[Found]:
    """TensorFlow can't be installed.

    What it looks at: in a pasted text, what pip and conda say.

    Why it matters: there is nothing to run.

    Source: the text itself.
    """
    yield from _shown(facts, "install-fails", "The package can't be installed.")


@symptom("GD390", "collective-fails", rank=SymptomRank.OPERATION_FAILS, stage=Stage.USE)
def collective_fails(facts: Facts) -> Iterator[Found]:
    """A collective operation between GPUs fails or hangs.

    What it looks at: in a pasted text, what NCCL and the programs on it say.

    Why it matters: training on several GPUs does not work.

    Source: the text itself.
    """
    yield from _shown(facts, "collective-fails", "A collective operation fails or does not end.")


@symptom("GD890", "gpu-faults", rank=SymptomRank.OPERATION_FAILS, stage=Stage.BUS)
def gpu_faults(facts: Facts) -> Iterator[Found]:
    """A GPU reports a fault.

    What it looks at: in a pasted text, what the kernel log and nvidia-smi say of a GPU.

    Why it matters: what runs on it dies, or is wrong.

    Source: the text itself.
    """
    yield from _shown(facts, "gpu-faults", "A GPU reports a fault.")


_WAITS_MUCH = 50.0
"""Percent of the time at work: less is waiting."""


@symptom("GD891", "runs-slowly", rank=SymptomRank.SLOW, stage=Stage.SPEED)
def runs_slowly(facts: Facts) -> Findings:
    """A program runs slower than its GPUs allow.

    What it looks at: under gpudoctor run, whether its GPUs wait in half of the time or more: a note, for a program may have no
    more to do for them. In a pasted text, what nvidia-smi and programs say of throttling, links and waiting.

    Why it matters: time and money.

    Source: NVML, nvmlDeviceGetUtilizationRates; the text itself.
    """
    if _run.is_there(facts):
        gpus = _run.working(_run.of(facts))
        most = max(_run.percent(g) or 0.0 for g in gpus)
        if most > _WAITS_MUCH:
            return f"a GPU is at work in {most:.0f}% of the time"
        yield Found(
            message=f"The GPUs wait in {100 - most:.0f}% of the time, at least.",
            proof=(_run.at_work(gpus),),
            about=_run.about(gpus),
            level=Level.INFO,
        )
        return None
    yield from _shown(facts, "runs-slowly", "The GPU is slower than it could be.")
    return None


@symptom("GD892", "reads-like-a-fault", rank=SymptomRank.NOTHING_YET, stage=Stage.SPEED)
def reads_like_a_fault(facts: Facts) -> Iterator[Found]:
    """Somebody describes a fault, and no line shows what fails.

    What it looks at: in a pasted text, the words that people wrote. A word model, made of several thousand wordings, tells
    which causes reports that read alike had; it fires where one of them is likelier than 'nothing wrong'.

    Why it matters: a title and three sentences are all that there is of many questions. What is said of them are candidates,
    never a cause.

    Source: the text itself; tests/logs/wordings in gpudoctor's repository.
    """
    yield from _shown(facts, READS_LIKE_A_FAULT, "What is written reads like the report of a fault.")
