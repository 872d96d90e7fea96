"""Horovod: is the Python that it starts one that has it, and has each process a GPU?"""

from __future__ import annotations

from gpudoctor.checks._reasons import set_to, several
from gpudoctor.checks._said import left_open, lines, machines_alone, said
from gpudoctor.facts import Facts, Launched, TextEvent, Unread, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_BUILD = "HOROVOD_WITH_TENSORFLOW=1 HOROVOD_GPU_OPERATIONS=NCCL python3 -m pip install --no-cache-dir --force-reinstall horovod"
_BY = ("Horovod", "Open MPI")


def _launched(facts: Facts, *by: str) -> Launched:
    """What a launcher of these told the process. Not applicable where none did."""
    machines_alone(facts, "no text shows what a launcher told its processes")
    told = facts.cluster.launched
    if isinstance(told, Unread) and facts.environment.known("HOROVOD_RANK") is None:
        raise NotApplicable("Horovod did not start this process")
    launched = known(told)
    if launched is None or launched.by not in by:
        raise NotApplicable("Horovod did not start this process")
    return launched


def _rank(launched: Launched) -> Evidence:
    return Evidence(text=f"rank {launched.rank} of {launched.size}", source=f"{launched.by}'s variables of the process")


@check("GD340", "horovod-missing", stage=Stage.USE, explains=("collective-fails",))
def horovod_missing(facts: Facts) -> Findings:
    """Horovod started this process, and its Python has no Horovod.

    What it looks at: HOROVOD_RANK, which horovodrun sets, and the package horovod on the examined interpreter's path. In a pasted text
    "No module named 'horovod'", also of a part of it: another environment, or an older release, on the other host.

    Why it matters: 'import horovod.tensorflow' fails, or the program trains alone in every process.

    How to fix: start the program with the Python of the environment in which Horovod is installed; or install it there.

    Source: https://horovod.readthedocs.io/en/stable/running_include.html
    """
    if told := _in_words(facts, "horovod-not-there"):
        yield Found(
            message="The Python that is started has no Horovod, or one without what the launcher asks for: on every host it must be the same.",
            proof=lines(told),
            fixes=(_SAME_PYTHON, _INSTALL),
        )
        return None
    launched = _launched(facts, "Horovod")
    if (horovod := known(facts.cluster.horovod)) is not None:
        return f"Horovod is in {horovod.directory}"
    python = facts.python.executable
    shown = python if isinstance(python, str) else "the examined Python"
    yield Found(
        message=f"Horovod started this process, and {shown} has no package horovod.",
        proof=(_rank(launched), Evidence(text="no directory horovod", source="sys.path of the examined interpreter")),
        fixes=(_SAME_PYTHON, _INSTALL),
    )
    return None


_SAME_PYTHON = Fix(
    kind="advice",
    risk="safe",
    summary="Start the program with the Python of the environment that has Horovod (horovodrun … /path/to/env/bin/python)",
    steps=(),
    verify="horovodrun --check-build",
)
_INSTALL = Fix(kind="command", risk="safe", summary="Or install it here, with NCCL", steps=(_BUILD,))
_FOR_TENSORFLOW = Fix(
    kind="command", risk="safe", summary="Build it for TensorFlow", steps=(_BUILD,), verify="horovodrun --check-build"
)


def _in_words(facts: Facts, kind: str) -> tuple[TextEvent, ...]:
    """What a text says of it; nothing for a machine."""
    return said(facts, kind, settle="horovodrun --check-build") if facts.text.is_all else ()


@check("GD341", "horovod-without-tensorflow", stage=Stage.USE, explains=("collective-fails",))
def horovod_without_tensorflow(facts: Facts) -> Findings:
    """The installed Horovod is built without TensorFlow.

    What it looks at: the compiled part in horovod/tensorflow (mpi_lib), where Horovod or Open MPI started the process. Built for another
    framework alone it is told for information: that may be meant. In a pasted text Horovod's own line.

    Why it matters: 'Extension horovod.tensorflow has not been built'.

    How to fix: build it again where TensorFlow and a compiler are, with HOROVOD_WITH_TENSORFLOW=1, which makes a failing build say so.

    Source: https://horovod.readthedocs.io/en/stable/install_include.html
    """
    if told := _in_words(facts, "horovod-not-built"):
        yield Found(
            message="The installed Horovod is not built for TensorFlow.", proof=lines(told), fixes=(_FOR_TENSORFLOW,)
        )
        return None
    launched = _launched(facts, *_BY)
    horovod = known(facts.cluster.horovod)
    if horovod is None:
        raise NotApplicable("Horovod is not installed")
    built = known(horovod.built_for)
    if "tensorflow" in built:
        return "Horovod is built for TensorFlow"
    what = f"is built for {' and '.join(built)} alone" if built else "is built for no framework"
    yield Found(
        message=f"The installed Horovod {what}: TensorFlow can't use it.",
        proof=(_rank(launched), Evidence(text="no mpi_lib in tensorflow", source=horovod.directory)),
        fixes=(_FOR_TENSORFLOW,),
        level=Level.INFO if built else Level.FAIL,
    )
    return None


@check("GD342", "horovod-more-processes-than-gpus", stage=Stage.USE, level=Level.WARN, explains=("collective-fails",))
def horovod_more_processes_than_gpus(facts: Facts) -> Findings:
    """Horovod started more processes on this machine than it has GPUs.

    What it looks at: HOROVOD_LOCAL_SIZE, which horovodrun sets, against the GPUs that the driver's CUDA shows to this process, where
    CUDA_VISIBLE_DEVICES does not give each process its own. In a pasted text: a process finds no GPU at the place of its local rank
    ('list index out of range', 'listed an invalid GPU id', 'invalid device ordinal'), where others find one.

    Why it matters: a program takes the GPU of its local rank, and the last ones find none; two that share one fail in NCCL
    ('Duplicate GPU detected').

    How to fix: as many slots as GPUs: horovodrun -np 2 -H localhost:2.

    Source: https://horovod.readthedocs.io/en/stable/running_include.html; NCCL, 'Duplicate GPU detected'.
    """
    if facts.text.is_all:
        yield _more_than_gpus(facts)
        return None
    launched = _launched(facts, "Horovod")
    if launched.local_size is None:
        raise NotApplicable("HOROVOD_LOCAL_SIZE is not set")
    if (visible := facts.environment.known("CUDA_VISIBLE_DEVICES")) is not None:
        raise NotApplicable(set_to("CUDA_VISIBLE_DEVICES", visible))
    count = len(known(facts.driver.libcuda.devices))
    if count == 0:
        raise NotApplicable("CUDA shows no GPU")
    if launched.local_size <= count:
        return f"{launched.local_size} of its processes here, and {several(count, 'GPU')}"
    yield Found(
        message=f"Horovod started {launched.local_size} processes on this machine, which has {several(count, 'GPU')}.",
        proof=(
            _rank(launched),
            Evidence(text=f"HOROVOD_LOCAL_SIZE={launched.local_size}", source="environment of the examined process"),
            Evidence(text=several(count, "GPU"), source="cuDeviceGetCount"),
        ),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Start {count} here: horovodrun -H localhost:{count}, or a hosts file with slots={count} for this machine",
                steps=(),
            ),
        ),
    )


_NEAR = 2
"""Lines from a program's own line to the error that it ends with."""


def _more_than_gpus(facts: Facts) -> Found:
    """A process that takes the GPU of its local rank, and finds none there. Raises UnknownFactError."""
    ranks, text = facts.text.said("rank-takes-gpu"), facts.text
    failed = [e for e in text.said("rank-beyond") if any(0 < e.line - one.line <= _NEAR for one in ranks)]
    failed += text.said("visible-list-wrong") if ranks else ()
    if not failed or not text.said("device-found", "device-created", "gpu"):
        raise left_open("nvidia-smi -L; horovodrun … sh -c 'echo $HOROVOD_LOCAL_SIZE'")
    return Found(
        message="Horovod started more processes on one machine than it has GPUs: one finds none at the place of its local rank.",
        proof=lines((ranks[0], failed[0])),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary="Give every host as many slots as it has GPUs: horovodrun -np 2 -H host1:1,host2:1",
                steps=(),
            ),
        ),
    )
