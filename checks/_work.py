"""Operations that fail, as a pasted text shows them: does the GPU fit the build, and who has its memory?"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple, NoReturn

from gpudoctor import compat
from gpudoctor.checks import _driver_fixes as fix
from gpudoctor.checks import _others, _told
from gpudoctor.checks._said import lines
from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread
from gpudoctor.findings import LIKELY, Evidence, Fix, Found
from gpudoctor.patterns import Pattern

_CARD = (
    "nvidia-smi --query-gpu=name,compute_cap --format=csv; python3 -c 'import tensorflow as tf; print(tf.__version__)'"
)
REFUSED = ("no-kernel-image", "ptx-rejected", "code-rejected", "arch-mismatch", "cublas-failed", "cudnn-failed")
"""Lines that speak of code for the GPU."""
MADE = (
    "handle-failed",
    "handle-not-made",
    "handle-without-memory",
    "no-algorithm",
    "gemm-failed",
    "gemv-failed",
    "dnn-absent",
)
"""Lines that show that cuBLAS or cuDNN could not be started, or did not do its work."""
_OTHERS_MADE = ("fft-failed", "solver-failed")
"""The same of cuFFT and cuSOLVER."""
FULL = ("tensor-too-large", "allocation-refused", "copy-finds-no-room", "allocator-report", "out-of-memory")
"""Lines that speak of memory."""
_FAULTS = ("gpu-access-failed", "launch-timed-out")
_OTHERS = ("cudnn-too-old", "driver-insufficient", "libraries-mixed", "cudnn-lacks-nvrtc")
"""Lines that state another cause of the same."""
_AMPERE, _BLACKWELL, _PASCAL = 8, 10, 6
_LEAST = 3, 5
"""What XLA asks for, whatever the build."""
_FIRST_FOR_AMPERE = 2, 4
"""TensorFlow, whose packages are for CUDA 11."""


def unknown(settle: str, why: str = "not in this text") -> NoReturn:
    """The text does not tell."""
    raise UnknownFactError(Unread(why=why, settle=settle))


# ------------------------------------------------------------------- the GPU and the build


def too_new(facts: Facts) -> Generator[Found, None, str | None]:
    """What a text tells of a GPU that is newer than the build; the reason why it is not so."""
    text = facts.text
    if foreign := [e for e in text.said("not-in-this-build") if int(e.values.get("has", "0")) >= 10 * _AMPERE]:
        yield Found(message="The GPU is newer than this build.", proof=lines(foreign), fixes=(_newer(),))
        return None
    if fits := _told.fits(facts):
        return fits
    if text.said(*_OTHERS):
        unknown(_CARD)
    refused, failed = text.said(*REFUSED), text.said(*REFUSED, *MADE, *_FAULTS)
    codeless, newer = text.said("no-machine-code"), _told.too_new(facts)
    if text.said("gemm-failed", "cublas-failed"):
        newer = newer or _told.too_new(facts, of_cublas=True)
    known = _told.cards(facts).values()
    proof: tuple[TextEvent, ...] = ()
    if newer and failed:
        proof = (*_naming(facts, newer[0]), *failed)
    elif newer and (told := text.said("nvcc-lacks-new", *(() if text.shows_a_failure else ("loss-is-nan",)))):
        proof = (*_naming(facts, newer[0]), *told)
    elif newer and not text.shows_a_failure and _is_used(facts):
        proof = _naming(facts, newer[0])
    elif not text.shows_a_failure and (told := _refused_card(facts)):
        proof = told
    elif codeless and (refused or _fails_always(facts, codeless)):
        proof = (*codeless, *refused)
    elif text.said("ptx-rejected") and any(c[0] >= _BLACKWELL for c in known):
        proof = text.said("ptx-rejected")
    elif (
        text.said("cublas-failed", "no-kernel-image") and not _told.cudas(facts) and any(c[0] >= _AMPERE for c in known)
    ):
        proof = text.said("cublas-failed", "no-kernel-image")
    if not proof:
        unknown(_CARD, why=LIKELY if newer or _learns_nothing(facts) else "not in this text")
    message = "The GPU is newer than this build of TensorFlow, which has no code that runs on it."
    if newer:
        message = f"{newer[0]} has compute capability {newer[1][0]}.{newer[1][1]}, which is newer than {newer[2]}."
    yield Found(message=message, proof=lines(proof), fixes=(_newer(),))
    return None


def _refused_card(facts: Facts) -> tuple[TextEvent, ...]:
    """Somebody says that the release does not go with a card, and its CUDA is older than each card that is named."""
    told, built, known = facts.text.said("card-refused-said"), _told.built_for(facts), _told.cards(facts).values()
    least = [_told.needs(has) for has in known]
    newer = bool(built and least) and all(one is not None and max(built) < one for one in least)
    return told if newer else ()


def _is_used(facts: Facts) -> bool:
    """TensorFlow has made its device, and somebody complains."""
    made = any(
        "Creating TensorFlow device" in e.text or "Created TensorFlow device" in e.text
        for e in facts.text.said("device-found", "device-created")
    )
    return made and bool(facts.text.said("goes-wrong"))


def _fails_always(facts: Facts, codeless: tuple[TextEvent, ...]) -> bool:
    """Of these builds on these GPUs it is known that most operations fail."""
    newest = max((int(e.values.get("capability", "0").partition(".")[0]) for e in codeless), default=0)
    newer_release = any(r >= _told.RUNS_PTX for r in _told.releases(facts))
    return newest >= _BLACKWELL and not newer_release and not facts.text.said("work-goes-on")


def named_too_new(facts: Facts) -> bool:
    """Whether a text that shows nothing else names a GPU that is newer than the build: likely, and no proof. Not who only asks about
    them, or is content."""
    if facts.text.said("card-merely-named"):
        return False
    return (not _anything_else(facts) and _told.too_new(facts) is not None) or _learns_nothing(facts)


def _learns_nothing(facts: Facts) -> bool:
    """Whether the loss is no number, on a card that is newer than the CUDA that is named, or that CUDA before 11 does not know: its
    cuDNN computes wrongly there. Not where all that is named is newer."""
    if facts.text.shows_a_failure or not facts.text.said("loss-is-nan"):
        return False
    if _told.too_new(facts, of_cublas=True):
        return True
    cudas, releases = _told.cudas(facts), _told.releases(facts)
    older = any(cuda < (11, 0) for cuda in cudas) or any(release < _FIRST_FOR_AMPERE for release in releases)
    is_new = any(has[0] >= _AMPERE for has in _told.cards(facts).values())
    return is_new and (older or not (cudas or releases))


def _anything_else(facts: Facts) -> bool:
    """Whether the text shows anything that goes wrong, or that works."""
    error = facts.tensorflow.import_error
    return (
        facts.text.shows_a_failure or isinstance(error, str) or not isinstance(facts.tensorflow.devices, Unread)
        or not isinstance(facts.driver.libcuda.init_result, Unread) or bool(facts.text.said("work-goes-on", "lists-gpus"))
        or not (_told.releases(facts) or _of_conda(facts))
    )  # fmt: skip


def _of_conda(facts: Facts) -> bool:
    """Whether a line names the CUDA that conda brought: that is the one in use."""
    return any("cudatoolkit" in e.text.lower() for e in facts.text.said("names") if "cuda" in e.values)


def _naming(facts: Facts, card: str) -> tuple[TextEvent, ...]:
    named = facts.text.said("device-found", "names", "gpu")
    return tuple(e for e in named if card in (e.values.get("name"), *e.values.get("cards", "").split("|")))[:1]


def _newer() -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="Use a TensorFlow whose CUDA knows this GPU (gpudoctor compat tells which): a newer release, or NVIDIA's "
        "container nvcr.io/nvidia/tensorflow",
        steps=(),
    )


def too_old(facts: Facts) -> Iterator[Found]:
    """What a text tells of a GPU that is older than the build supports, where TensorFlow itself does not say so."""
    text = facts.text
    foreign = [e for e in text.said("not-in-this-build") if int(e.values.get("has", "0")) < 10 * _AMPERE]
    below = (*text.said("below-the-minimum"), *foreign)
    card = next(((n, c) for n, c in _told.cards(facts).items() if c[0] < _PASCAL), None)
    if card:
        below += tuple(e for e in text.said("minimum-named") if card[1] < _told.pair(e.values["least"]))
    no_code = text.said("no-kernel-image", "arch-mismatch") if card and not _told.too_new(facts) else ()
    if card:  # another one of this machine is meant
        no_code = tuple(e for e in no_code if _told.pair(e.values.get("capability", "0.0")) <= card[1])
    if card and not text.shows_a_failure and not text.said("container-named", "compose-named"):
        no_code += text.said("support-dropped-said")
    if card and card[1] < _LEAST:
        no_code += text.said("no-supported-device")
    if not below and not no_code and card and _is_before_all(facts):
        named = (
            e
            for e in text.said("names", "device-found")
            if card[0] in (*e.values.get("cards", "").split("|"), e.values.get("name"))
        )
        yield Found(
            message=f"{card[0]} (compute capability {card[1][0]}.{card[1][1]}) is older than any TensorFlow can be built for.",
            proof=lines(named),
            fixes=(fix.OTHER_GPU,),
        )
        return
    refused = text.said("driver-insufficient", "driver-refused")
    if refused and (beyond := _told.beyond_its_drivers(facts)):
        yield Found(
            message=f"No driver for {beyond[0]} runs CUDA {beyond[2]}, which this TensorFlow is built for: its last ones are {beyond[1]}.",
            proof=lines((*_naming(facts, beyond[0]), *refused[:1])),
            fixes=(_older(),),
        )
        return
    if not below and not no_code:
        return
    has = f"{card[0]} (compute capability {card[1][0]}.{card[1][1]})" if card else "The GPU"
    yield Found(
        message=f"{has} is older than this build supports.",
        proof=lines((*below, *no_code)),
        fixes=(_older(),),
    )


def _older() -> Fix:
    return Fix(
        kind="advice",
        risk="safe",
        summary="Use an older release that is still built for this GPU (gpudoctor compat tells which), or build it from "
        "source with this compute capability",
        steps=(),
    )


def _is_before_all(facts: Facts) -> bool:
    """Whether TensorFlow lists no GPU, and those that are named are older than any build of it supports."""
    cards = _told.cards(facts)
    return bool(cards) and facts.tensorflow.devices == () and all(has < _LEAST_OF_ALL for has in cards.values())


_LEAST_OF_ALL = (3, 0)
"""The least compute capability that TensorFlow can be built for at all (since 0.5)."""


# ------------------------------------------------------------------- memory

_SIZE = Pattern(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>[KMGT]?)")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SMALL, _TINY = 0.25, 0.05
"""Of the card's memory: less than this is left for TensorFlow where another process holds most of it."""
_LESS_THAN_A_CONTEXT = 0.02
"""Of the card's memory, on every GPU that is found."""
_NEARLY_ALL = 0.9
_MUCH = 1 << 30
"""Bytes that are more than enough for a handle."""
_TORCH_SIZE = r"[\d.]+ (?:[KMG]iB|bytes)"
_TORCH = Pattern(
    rf"(?P<total>{_TORCH_SIZE}) total capacity; (?P<own>{_TORCH_SIZE}) (?:already )?allocated; (?P<free>{_TORCH_SIZE}) free"
    rf"(?:; (?P<reserved>{_TORCH_SIZE}) (?:reserved|cached))?"
)
"""1.0 to 1.13."""
_TORCH_2 = Pattern(
    rf"total capac\w{{1,3}} of (?P<total>{_TORCH_SIZE}) of which (?P<free>{_TORCH_SIZE}) is free\b[^\n]{{0,600}}?"
    rf"(?P<own>{_TORCH_SIZE}) (?:is|are) allocated by PyTorch(?:[^\n]{{0,40}}? (?P<unused>{_TORCH_SIZE}) (?:is|are) reserved by PyTorch)?"
)
"""2.0 and newer; in a container it names the process itself like another one."""
_TORCH_ASKED = Pattern(rf"Tried to allocate (?P<asked>{_TORCH_SIZE})")
_TORCH_OTHERS = Pattern(r"Process \d+ has (?P<other>[\d.]+ [MG]iB) memory in use")


def _bytes(text: str) -> int:
    found = _SIZE.match(text)
    return int(float(found["number"]) * _UNITS[found["unit"]]) if found else 0


def held_by_others(facts: Facts) -> tuple[str, tuple[Evidence, ...]] | None:
    """What a text tells of another process that holds the GPU's memory: a sentence, and its proof."""
    text = facts.text
    if refused := text.said("no-memory-for-a-context"):
        return "There is no room for so much as a context on the GPU: another process holds its memory.", lines(refused)
    total = max(
        (_bytes(e.values["total"]) for e in text.said("memory-of-card", "memory-at-start") if "total" in e.values),
        default=0,
    )
    starts = (
        () if any("Tegra" in n or "Jetson" in n for n in _names(facts)) else text.said("memory-at-start")
    )  # shared with the host
    least = _SMALL if text.shows("op-fails") else _TINY if text.said("reads-like-a-fault") else 0.0
    if total and starts and all(_bytes(e.values["free"]) < _LESS_THAN_A_CONTEXT * total for e in starts):
        least = max(least, _LESS_THAN_A_CONTEXT)  # nothing runs with so little, whatever is told besides
    if little := [e for e in starts if total and _bytes(e.values["free"]) < least * total]:
        return "Most of the GPU's memory was in use before this program started.", lines(little)
    if told := _given_little(facts, total):
        return "TensorFlow was given a small part of the GPU's memory: another process holds the rest.", told
    if earlier := _others.held_before_start(facts):
        return "Another process held memory before this program started.", lines(earlier)
    limits = [e for e in text.said("allocator-limit") if int(e.values["bytes"]) < _A_SCRAP]
    if limits and text.said(*FULL) and not text.said("memory-limited"):
        return "TensorFlow's allocator may use next to nothing: another process held the GPU's memory.", lines(limits)
    others = [e for e in text.said("torch-out-of-memory") if _of_others(e.text)]
    if others and not text.said("frameworks-together", "memory-given"):
        return "Most of the GPU's memory is held by others than this program.", lines(others)
    if (foreign := _others.foreign(facts)) and text.said(*FULL, *MADE):
        return "Another program holds memory of the GPU.", lines(foreign)
    if orphaned := [e for e in text.said("gpu-process") if _orphaned(e)]:
        return "A process whose program is gone holds memory of the GPU.", lines(orphaned)
    if (ended := text.said("first-one-ended")) and text.said(*FULL, *MADE):
        return "It works when another program is ended, which holds memory of the GPU.", lines(ended)
    if gone := text.said("holder-is-gone"):
        return "A process that was ended still holds memory of the GPU.", lines(gone)
    stopped = () if text.said("holder-was-ended") else text.said("holder-is-stopped")
    if stopped and text.said(*FULL, *MADE):
        return "A job that was stopped, and not ended, still holds memory of the GPU.", lines(stopped)
    return _by_the_table(facts)


def _given_little(facts: Facts, total: int) -> tuple[Evidence, ...]:
    """Lines that show that TensorFlow was given a small part of a GPU's memory, and that nobody wanted it so."""
    text = facts.text
    parts_of_one = any(part in n for n in _names(facts) for part in ("MIG", "GRID", "Tegra", "Jetson"))
    if parts_of_one or text.said("memory-limited") or not text.said(*FULL, *MADE, *_OTHERS_MADE):
        return ()
    given = [(int(e.values["memory_mb"]) << 20, e) for e in text.said("device-created")]
    given += [
        (int(e.values[one]) << 20, e)
        for e in text.said("memory-given")
        for one in ("given", "other")
        if one in e.values
    ]
    if not given:
        return ()
    several = tuple(e for e in text.said("several-programs") if not _ONE_BY_ONE.search(e.text))
    if several and max(size for size, _ in given) < _A_SCRAP and text.said(*MADE, *FULL):
        return lines((given[0][1], *several[:1]))
    if apart := (not text.said("several-machines") and _of_two_programs(given)) or _beside_another(facts, given):
        return apart
    told = text.said("card-memory-said")
    devices = () if isinstance(facts.gpu.devices, Unread) else facts.gpu.devices
    tables = {d.memory_total_bytes for d in devices if isinstance(d.memory_total_bytes, int)}
    by_words = {int(e.values["gib"]) << 30 for e in told}
    named = 0 if text.said("memory-is-free") else _others.memory_of_named(_names(facts) or text.cards())
    card = total or (
        tables.pop() if len(tables) == 1 else by_words.pop() if not tables and len(by_words) == 1 else named
    )
    if little := [e for size, e in given if size < _SMALL / 2 * card]:
        return lines((*little, *(told if not total and not devices else ())))
    if nearly_none := [e for size, e in given if size < _NEXT_TO_NOTHING * _of_the_model(e.values.get("name", ""))]:
        return lines(nearly_none)
    buses = {e.values["pci"].lower() for _, e in given if "pci" in e.values}
    seen = [d for d in devices if d.pci_address in buses] or (devices if len(devices) == 1 else ())
    most = max(size for size, _ in given)
    for device in seen:
        used, whole = device.memory_used_bytes, device.memory_total_bytes
        if not isinstance(used, int) or not isinstance(whole, int):
            continue
        if most < _SMALL * whole and used - most - _OF_A_CONTEXT > whole / 2:
            shown = Evidence(text=f"{used >> 20} of {whole >> 20} MiB in use", source=f"nvidia-smi, GPU {device.index}")
            return (*lines(e for _, e in given), shown)
    return ()


_NEXT_TO_NOTHING = 0.05
"""A part of a card's memory that nobody sets as a limit."""


def _of_the_model(name: str) -> int:
    """The memory of a GPU of this name; 0: not known, or there are several."""
    sizes = {m.memory_gb for m in compat.gpu_models(name)} if name else set()
    size = sizes.pop() if len(sizes) == 1 else None
    return int(size * (1 << 30)) if size else 0


def _of_two_programs(given: list[tuple[int, TextEvent]]) -> tuple[Evidence, ...]:
    """Two lines by which one program was given nearly all of a GPU, and another nothing to speak of."""
    by_gpu: dict[str, list[tuple[int, TextEvent]]] = {}
    for size, event in given:
        if (gpu := _LOGICAL.search(event.text)) is not None:
            card = _PHYSICAL.search(event.text)
            by_gpu.setdefault(gpu[1] + (card[0] if card else ""), []).append((size, event))
    for same in by_gpu.values():
        same.sort(key=lambda one: one[0])
        if same[0][0] < _TINY * same[-1][0]:
            return lines((same[-1][1], same[0][1]))
    return ()


_LOGICAL, _PHYSICAL = (
    Pattern(r"\bdevice:GPU:(\d{1,2})\b"),
    Pattern(r"\bname: [^,\n]{2,40}(?:, pci bus id: [^,\n]{5,20})?"),
)


def _beside_another(facts: Facts, given: list[tuple[int, TextEvent]]) -> tuple[Evidence, ...]:
    """What TensorFlow was given is little beside what one process of nvidia-smi's table holds, which it is not then."""
    most, last = max(given, key=lambda one: one[0])
    held = [e for e in facts.text.said("gpu-process") if _bytes(e.values.get("used", "")) > 4 * most + _OF_A_CONTEXT]
    return lines((last, held[0])) if held else ()


_ONE_BY_ONE = Pattern(r"\b(?:only one|one after (?:another|the other)|(?:not|don't|never) run)\b")
_A_SCRAP = 512 << 20
"""Bytes: no GPU that TensorFlow takes has so little."""
_OF_A_CONTEXT = 1 << 30
"""Bytes that CUDA and its libraries take beside what TensorFlow gives out, at most."""


def _names(facts: Facts) -> tuple[str, ...]:
    return tuple(e.values.get("name", "") for e in facts.text.said("device-found"))


def _of_others(text: str) -> bool:
    if (shares := torch_shares(text)) is not None:
        return shares.others > _MOST and shares.others * shares.total > _OF_A_DESKTOP
    return "allocated by PyTorch" not in text and bool(_TORCH_OTHERS.search(text))


class Shares(NamedTuple):
    """Whose the GPU's memory is, by the numbers of PyTorch's error: parts of the whole, which is in bytes."""

    own: float
    others: float
    """Others than PyTorch, its own context among them."""
    asked: float
    total: int


def torch_shares(text: str) -> Shares | None:
    """Which part of the GPU's memory PyTorch holds itself, and which part others do, by the numbers of its error; None: it
    has none."""
    found = _TORCH.search(text) or _TORCH_2.search(text)
    if found is None or not (total := _bytes(found["total"])):
        return None
    named = found.groupdict()
    asked = _TORCH_ASKED.search(text)
    own = _bytes(named.get("reserved") or found["own"]) + _bytes(named.get("unused") or "")
    return Shares(
        own / total, (total - _bytes(found["free"]) - own) / total, _bytes(asked[1]) / total if asked else 0.0, total
    )


_MOST = 0.25
"""Others than PyTorch, its own context among them, hold less than this share where PyTorch alone is at work."""
_OF_A_DESKTOP = 3 << 29
"""Bytes that a context, a desktop and what Windows keeps take on any card; on a small one that is much."""
_ITS_OWN = 0.6
"""PyTorch holds this share or more, or would with what it asks for: the model does not fit."""


def torch_alone(facts: Facts) -> tuple[TextEvent, ...]:
    """The lines in which PyTorch has itself taken what it finds missing, or asks for more than the card has."""
    told = facts.text.said("torch-out-of-memory")
    return tuple(e for e in told if (s := torch_shares(e.text)) is not None and _is_alone(s))


def _is_alone(shares: Shares) -> bool:
    """Whether others hold no more than what any machine takes, and PyTorch nearly all."""
    little = shares.others <= _MOST or shares.others * shares.total <= _OF_A_DESKTOP
    small = shares.total <= _SMALL_CARD and shares.own + shares.others > _NEARLY_ALL
    return little and (shares.own + shares.asked >= _ITS_OWN or small)


_SMALL_CARD = 5 << 29
"""Bytes: on 2 GiB hardly a model fits beside a context."""


def _orphaned(event: TextEvent) -> bool:
    return event.values.get("name", "").strip(" []-") in ("Unknown Error", "", "Not Found", "No such process")


def _by_the_table(facts: Facts) -> tuple[str, tuple[Evidence, ...]] | None:
    """What nvidia-smi's table tells: a full GPU beside a failure, or a used one on which no process is listed."""
    text, devices = facts.text, facts.gpu.devices
    for device in () if isinstance(devices, Unread) else devices:
        used, total = device.memory_used_bytes, device.memory_total_bytes
        if not isinstance(used, int) or not isinstance(total, int):
            continue
        shown = (Evidence(text=f"{used >> 20} of {total >> 20} MiB in use", source=f"nvidia-smi, GPU {device.index}"),)
        unlisted = device.processes == () or bool(text.said("process-table") and not text.said("gpu-process"))
        # inside a container the table never lists a process
        if unlisted and used > total / 2 and not isinstance(facts.system.container, str):
            return f"GPU {device.index} is more than half full, and no process is listed that holds it.", shown
        ours = [e for e in text.said("device-created") if int(e.values["memory_mb"]) << 20 > total / 2]
        own = ours or text.said("tensor-too-large", "allocator-report")  # the pool that TensorFlow has taken itself
        if used > _NEARLY_ALL * total and not own and text.said(*FULL, *MADE):
            return f"GPU {device.index} is full, and this program was not given its memory.", shown
    return None


def room_for_a_handle(facts: Facts) -> bool:
    """TensorFlow says itself that there was room: then a handle that can't be made has another reason."""
    return any(int(e.values["free"]) > _MUCH for e in facts.text.said("handle-memory"))
