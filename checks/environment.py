"""Environment variables that hide GPUs."""

from __future__ import annotations

import re

from gpudoctor.checks._reasons import set_to
from gpudoctor.checks._said import lines
from gpudoctor.facts import READS_LIKE_A_FAULT, CudaDevice, Facts, GpuDevice, TextEvent, UnknownFactError, Unread, known
from gpudoctor.findings import EnvChange, Evidence, Findings, Fix, Found, NotApplicable, Stage
from gpudoctor.patterns import Pattern
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
def cuda_visible_devices_empty(facts: Facts) -> Findings:
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
    return set_to(_VARIABLE, value)


_NOTHING_LEFT = ("tf-lists-no-gpu", "cuinit-no-device", "cuinit-fails")


@check(
    "GD122",
    "cuda-visible-devices-wrong",
    stage=Stage.VISIBILITY,
    explains=(*_NOTHING_LEFT, "fewer-gpus"),
)
def cuda_visible_devices_wrong(facts: Facts) -> Findings:
    """CUDA_VISIBLE_DEVICES names a GPU that does not exist.

    What it looks at: each entry of the variable against the GPUs that NVML lists (where NVML can't be asked,
    those that the driver enumerates without the variable): an index out of range, a UUID of no GPU here (or of several, where it is abbreviated), a word that is neither.
    In a pasted text also a UUID that nvidia-smi -L does not list there, and words of other settings (all, cuda:0) where no GPU is found.

    Why it matters: CUDA stops reading at the first entry that it does not know. '0,7,1' on two GPUs
    leaves one; '7' leaves none; '0,0' makes cuInit answer 101. No error is printed. A list that ends
    with -1 or a comma is as good as without.

    How to fix: list existing GPUs (`nvidia-smi -L`), or unset the variable.

    Source: CUDA C++ Programming Guide, CUDA environment variables; observed on a 2x H200 host (driver 580.159.04).
    """
    if facts.text.is_all and (told := _unlisted(facts)):
        yield Found(
            message=f"{_VARIABLE} names a GPU by a UUID that nvidia-smi does not list.",
            proof=lines(told),
            fixes=(_UNSET,),
            explains=(*_NOTHING_LEFT, READS_LIKE_A_FAULT),
        )
        return
    if facts.text.is_all and (told := _past_the_only_one(facts)):
        yield Found(
            message=f"{_VARIABLE} counts from 0, and names another GPU than the only one.",
            proof=lines(told),
            fixes=(_UNSET,),
            explains=(*_NOTHING_LEFT, READS_LIKE_A_FAULT),
        )
        return
    if facts.text.is_all and (told := _a_word(facts)):
        yield Found(
            message=f"{_VARIABLE} takes numbers and UUIDs of GPUs; any other word hides them all.",
            proof=lines(told),
            fixes=(_UNSET,),
            explains=(*_NOTHING_LEFT, READS_LIKE_A_FAULT),
        )
        return
    value = facts.environment.known(_VARIABLE)
    if value is None:
        raise NotApplicable(f"{_VARIABLE} is not set")
    if _masks_all(value):
        raise NotApplicable(f"{_VARIABLE} hides every GPU")
    if _is_why_in_text(facts, value):
        yield Found(
            message=f"{_VARIABLE} is {value!r}, and CUDA finds no device, though the driver's module and library are there "
            "and of one release: it names no GPU of this machine.",
            proof=(_shown(value),),
            fixes=(_UNSET,),
        )
        return
    gpus, source = _all_gpus(facts)
    if not gpus:
        raise NotApplicable(f"{source} lists no GPU to choose from")
    entries = visible_entries(value)
    bad = next(((n, p) for n, e in enumerate(entries) if (p := _problem(e, entries[:n], gpus)) is not None), None)
    if bad is None:
        return f"{set_to(_VARIABLE, value)}: GPUs of this machine"
    position, problem = bad
    sees = facts.driver.libcuda.devices
    some_left = not isinstance(sees, Unread) and len(sees) > 0
    right = ",".join(str(g.index) for g in gpus)
    yield Found(
        message=f"{_VARIABLE}={value!r}: {problem}{_effect(facts, position, len(entries))}.",
        proof=(_shown(value), Evidence(text=f"{len(gpus)} GPU(s), index 0 to {len(gpus) - 1}", source=source)),
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
        explains=("fewer-gpus",) if some_left else None,
    )


_NO_DEVICE = 100


def _unlisted(facts: Facts) -> tuple[TextEvent, ...]:
    """The line that chooses a GPU by its UUID, and those by which nvidia-smi lists others."""
    listed = tuple(e for e in facts.text.said("gpu") if e.values.get("uuid", "").startswith("GPU-"))
    if not listed or facts.text.said("device-created", "lists-gpus"):
        return ()
    for chosen in facts.text.said("visible-set"):
        uuid = chosen.values.get("value", "").strip("'\"").lower()
        masked = any(_UUID.fullmatch(one) is None for one in (uuid, *(e.values["uuid"].lower() for e in listed)))
        if not masked and not any(e.values["uuid"].lower().startswith(uuid) for e in listed):
            return (chosen, *listed)
    return ()


def _past_the_only_one(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that choose a GPU by an index above 0, and the one that says that there is a single GPU; none where 0 is chosen too."""
    one, chosen = facts.text.said("one-gpu-there"), facts.text.said("visible-set")
    first = {e.values.get("value", "").strip(" '\"").split(",")[0].strip() for e in chosen}
    gpus = facts.tensorflow.gpus()
    found = facts.text.said("device-created", "lists-gpus") or (not isinstance(gpus, Unread) and gpus)
    past = bool(first) and all(index.isdecimal() and int(index) > 0 for index in first)
    several = len(facts.text.cards()) > 1 or facts.text.said("library-not-loaded", "library-lost")
    return (*chosen, *one) if one and past and not found and not several else ()


def _a_word(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines that set it to a word of another setting ('all' is NVIDIA_VISIBLE_DEVICES's, 'cuda:0' is PyTorch's), and that no GPU is found."""
    chosen = facts.text.said("visible-set")
    words = tuple(e for e in chosen if _WORD.fullmatch(e.values.get("value", "").strip(" '\"")))
    lacks = facts.text.said("says-no-gpu", "lists-no-gpu", "cuda-answers-100", "torch-lacks-gpu")
    if facts.driver.libcuda.init_result == _NO_DEVICE:
        lacks = facts.text.said("cuinit-failed") or lacks
    lacks = lacks or facts.text.shows(_NOTHING_LEFT[0])
    elsewhere = facts.driver.libcuda.path is None or facts.text.said(
        "device-created", "lists-gpus", "library-not-loaded", "kernel-module-absent"
    )
    return (*words, *lacks[:1]) if words and len(words) == len(chosen) and lacks and not elsewhere else ()


_WORD = Pattern(r"(?i)all|any|auto|gpus?|cuda|true|yes|/?(?:device:)?(?:gpu|cuda):?\d{1,2}")
"""What is no number, no UUID and none of the words that are meant to hide GPUs."""
_UUID = Pattern(r"gpu-[0-9a-f]{4,8}(?:-[0-9a-f-]{0,28})?")
"""As the driver writes it; people mask it by other letters."""


def _is_why_in_text(facts: Facts, value: str) -> bool:
    """In a text, which tells nothing of the GPUs that there are: whether a driver that works shows no device for a variable
    that names another one than the first, which every machine has."""
    lib, kernel = facts.driver.libcuda, facts.driver.kernel_version
    if not facts.text.is_all or lib.init_result != _NO_DEVICE or not isinstance(facts.gpu.devices, Unread):
        return False
    if isinstance(facts.gpu.nvml_error, int):
        return False
    whole = isinstance(kernel, str) and kernel == lib.version
    return whole and value.split(",")[0].strip() not in ("0", "00")


def _all_gpus(facts: Facts) -> tuple[tuple[GpuDevice, ...] | tuple[CudaDevice, ...], str]:
    """Every GPU of this machine, and who says so: NVML, else the driver API asked without the variable."""
    if isinstance(facts.gpu.devices, Unread) and not isinstance(facts.driver.all_devices, Unread):
        return facts.driver.all_devices, f"cuDeviceGetCount without {_VARIABLE}"
    return known(facts.gpu.devices), "NVML"


def visible_entries(value: str) -> list[str]:
    """The entries that are meant: up to -1, which ends a list, and without a comma too many at its end."""
    entries = [e.strip() for e in value.split(",")]
    if "-1" in entries:
        entries = entries[: entries.index("-1")]
    while entries and not entries[-1]:
        entries.pop()
    return entries


def _effect(facts: Facts, position: int, count: int) -> str:
    """What CUDA makes of it, in its own words where those are known."""
    devices = facts.driver.libcuda.devices
    if not isinstance(devices, Unread):
        return f"; CUDA then sees {len(devices)} GPU(s)"
    result = facts.driver.libcuda.init_result
    if not isinstance(result, Unread) and result != 0:
        return f"; cuInit then answers {result} and no GPU is visible"
    return f"; CUDA ignores it and all that follows, {position} of {count} entries count"


def _problem(entry: str, before: list[str], gpus: tuple[GpuDevice, ...] | tuple[CudaDevice, ...]) -> str | None:
    """Why CUDA does not take this entry; None where it does. It reads a number as strtoul(3) does."""
    if entry in before:
        return f"GPU {entry} is named twice"
    if re.fullmatch(r"\d+\s*[; ]\s*\d.*", entry):
        return f"{entry!r} is read as its first number alone; entries are separated by commas"
    if re.fullmatch(r"\+?\d+", entry):
        return None if int(entry) < len(gpus) else f"there is no GPU {int(entry)}"
    if re.fullmatch(r"0x[0-9a-fA-F]+", entry):
        return None if int(entry, 16) < len(gpus) else f"there is no GPU {int(entry, 16)}"
    if entry.upper().startswith("MIG-"):
        raise UnknownFactError(Unread(why="MIG instances are not looked at", settle="nvidia-smi -L"))
    if entry.upper().startswith("GPU-"):
        matching = [g for g in gpus if known(g.uuid).lower().startswith(entry.lower())]
        return None if len(matching) == 1 else f"{entry} is the UUID of {len(matching) or 'no'} GPU(s) here"
    return f"{entry!r} is neither an index nor a UUID"
