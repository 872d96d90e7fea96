"""Environment variables that hide GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.facts import Facts, GpuDevice, UnknownFactError, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Fix, Found, NotApplicable, Stage
from gpudoctor.registry import check

_VARIABLE = "CUDA_VISIBLE_DEVICES"
_MASKS = ("", "-1", "none", "void", "nodevfiles")

_UNSET = Fix(
    kind="env",
    risk="safe",
    summary=f"Unset {_VARIABLE}: every GPU is visible then",
    steps=(f"unset {_VARIABLE}",),
    env=(EnvChange(name=_VARIABLE, op="unset"),),
)


def _shown(value: str) -> Evidence:
    return Evidence(text=f"{_VARIABLE}={value!r}", source="environment of the examined process")


def _masks_all(value: str) -> bool:
    return value.split(",")[0].strip().lower() in _MASKS


@check(
    "GD121",
    "cuda-visible-devices-empty",
    stage=Stage.VISIBILITY,
    explains=("tf-lists-no-gpu", "cuinit-no-device"),
)
def cuda_visible_devices_empty(facts: Facts) -> Iterator[Found]:
    """CUDA_VISIBLE_DEVICES hides every GPU.

    What it looks at: the variable as the examined process was started with it: set to nothing, or to a list
    that begins with -1 (the usual way to hide all GPUs on purpose), NoDevFiles, none or void.

    Why it matters: CUDA reads it before anything else; TensorFlow then sees no GPU, whatever else is right.
    It is often left over from a debugging session, a Dockerfile, a notebook's first cell or a job script.

    How to fix: unset it, and find who sets it (shell profile, job script, os.environ in the program).

    Source: CUDA C++ Programming Guide, CUDA environment variables.
    """
    value = facts.environment.known(_VARIABLE)
    if value is not None and _masks_all(value):
        yield Found(
            message=f"{_VARIABLE} is set to {value!r}, which hides every GPU from CUDA.",
            proof=(_shown(value),),
            fixes=(_UNSET,),
        )


@check(
    "GD122",
    "cuda-visible-devices-wrong",
    stage=Stage.VISIBILITY,
    explains=("tf-lists-no-gpu", "cuinit-no-device", "fewer-gpus"),
)
def cuda_visible_devices_wrong(facts: Facts) -> Iterator[Found]:
    """CUDA_VISIBLE_DEVICES names a GPU that does not exist.

    What it looks at: each entry of the variable against the GPUs that NVML lists: an index out of range, a
    UUID of no GPU here (or of several, where it is abbreviated), a word that is neither.

    Why it matters: CUDA stops reading at the first entry that it does not know. '0,7,1' on two GPUs
    leaves one; '7' leaves none. No error is printed.

    How to fix: list existing GPUs (`nvidia-smi -L`), or unset the variable.

    Source: CUDA C++ Programming Guide, CUDA environment variables; observed on a 2x H200 host.
    """
    value = facts.environment.known(_VARIABLE)
    if value is None:
        raise NotApplicable(f"{_VARIABLE} is not set")
    if _masks_all(value):
        raise NotApplicable(f"{_VARIABLE} hides every GPU")
    gpus = known(facts.gpu.devices)
    if not gpus:
        raise NotApplicable("NVML lists no GPU to choose from")
    entries = [e.strip() for e in value.split(",")]
    for position, entry in enumerate(entries):
        problem = _problem(entry, gpus)
        if problem is None:
            continue
        cut = f"; CUDA ignores it and all that follows, {position} of {len(entries)} entries count" if position else ""
        right = ",".join(str(g.index) for g in gpus)
        yield Found(
            message=f"{_VARIABLE}={value!r}: {problem}{cut or ', so no GPU is visible'}.",
            proof=(
                _shown(value),
                Evidence(text=f"{len(gpus)} GPU(s), index 0 to {len(gpus) - 1}", source="NVML"),
            ),
            fixes=(
                Fix(
                    kind="env",
                    risk="safe",
                    summary="Name the GPUs that exist",
                    steps=(f"export {_VARIABLE}={right}",),
                    env=(EnvChange(name=_VARIABLE, op="set", value=right),),
                ),
                _UNSET,
            ),
        )
        return


def _problem(entry: str, gpus: tuple[GpuDevice, ...]) -> str | None:
    """Why CUDA does not take this entry; None where it does."""
    if re.fullmatch(r"\d+", entry):
        return None if int(entry) < len(gpus) else f"there is no GPU {entry}"
    if entry.upper().startswith("MIG-"):
        raise UnknownFactError(Unread(why="MIG instances are not looked at", settle="nvidia-smi -L"))
    if entry.upper().startswith("GPU-"):
        matching = [g for g in gpus if known(g.uuid).lower().startswith(entry.lower())]
        return None if len(matching) == 1 else f"{entry} is the UUID of {len(matching) or 'no'} GPU(s) here"
    return f"{entry!r} is neither an index nor a UUID"
