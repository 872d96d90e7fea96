"""Cards against builds: of which compute capability a card is by what people call it, of which CUDA a build is, and which of both is older.

Every later reader asks this one: which card is 'new' depends on the build that is told.
"""

from __future__ import annotations

from typing import NamedTuple

from ..compat.built_for import built_for, least_of_pytorch, newest_of_pytorch
from ..facts import TextEvent
from ..patterns import Pattern
from .language import LONGEST
from .notebook import Notebook

Pair = tuple[int, int]
LANGUAGE = "devices"
NEWER, FITS, BEFORE = "card-newer-than-build", "card-fits-build", "card-before-build"
UNFIT = (NEWER, f"{NEWER}-beside", BEFORE)
"""Kinds of cards for which the build is not made; beside a card that it is made for, too."""
_BY_NAME: tuple[tuple[Pair, Pattern], ...] = tuple(
    (capability, Pattern(rf"(?i){names}"))
    for capability, names in (
        ((12, 0), r"(?<!\d)50[5-9]0(?!\d)|\brtx ?pro ?\d{3,4}\b|\bblackwell\b|\bgb10\b|\bdgx spark\b|\brtx ?6000d\b"),
        ((10, 0), r"\bg?b[123]00\b"),
        ((9, 0), r"\b(?:gh?[12]00|h[128]00|h20|hopper)\b"),
        ((8, 9), r"(?<!\d)40[5-9]0(?!\d)|\bl(?:4|40[sg]?|20?|16)\b|\bada\b"),
        ((8, 0), r"\ba(?:x?[18]00|30)x?\b|\bampere\b"),
        ((8, 6), r"(?<!\d)30[5-9]0(?!\d)|\brtx ?2050\b|\ba(?:1[06]?[gm]?|2|40)\b|\b(?:rtx ?)?a[1-6][05]00h?\b|\brtx ?a[45]00\b|\bmx ?570\b|\bcmp ?[79]0hx\b"),
        ((7, 5), r"(?<!\d)20[678]0(?!\d)|(?<!\d)16[3-6]0(?!\d)|\btitan ?rtx\b|\bquadro rtx\b|\b(?:quadro )?t(?:[456]00|550|1000|1200|2000)\b|\bt(?:4g?|10|40)\b|\bmx ?[45]50\b|\bturing\b|\bcmp ?[345]0hx\b"),
        ((7, 0), r"\bv100s?\b|\btitan ?v\b|\bgv100\b|\bvolta\b"),
        ((6, 0), r"\bg?p100\b|\bpascal\b"),
        ((6, 1), r"(?<!\d)10[1-8]0(?!\d)|\btitan ?xp\b|\btesla p(?:4|6|10|40)\b|\bp40?\b(?! ?mm)|\bquadro p\d{3,4}\b|\bp(?:[2456]000|2200|[56]20)\b|\bmx ?(?:150|2[35]0|3[35]0)\b|\bp10[246]m?-\d{2,3}\b"),
        ((5, 0), r"\bgtx ?7(?:45|50)(?: ?ti)?\b(?! ?m)|\b(?:8[34][05]|9[34][05]) ?(?:mx?|a)\b|\b920 ?mx\b|\bgtx ?(?:850|9[56]0) ?m\b|\bmx ?1[13]0\b|\btesla m10\b|\bnvs ?810\b|\bquadro (?:k(?:1200|2200|620)m?|m(?:[1-6]\d0|1[02]00|2000m)m?)\b|\bmaxwell\b"),
        ((5, 2), r"\bgtx ?9[5-8]0(?: ?ti)?(?!\d| ?m\b)|\b9[78]0 ?(?:ti|m)\b|\bgtx ?965m\b|\btesla m(?:4|6|40|60)\b|\bm(?:40|60)\b|\bquadro m\d{4}m?\b|\bgtx ?titan ?x\b"),
        ((3, 7), r"\bk80\b"),
        ((3, 5), r"\bk[24]0\w{0,2}\b|\bgtx ?780(?: ?ti)?(?! ?m)\b|\bgtx ?titan(?: (?:black|z))?$|\bgt ?7(?:[1-3]0|35)m?\b|\bquadro k(?:5200|6000|[56]10m)\b|\b(?:825|910|920)m\b|\bkepler\b"),
        ((3, 0), r"\b(?:grid )?k(?:520|340|[12])\b(?! ?=)|\bk10\b|\bgtx?x? ?(?:6[4-9]\d|7[4-7]\d|[78][678]0m|765m)(?: ?(?:ti|boost))?m?x?\b|\bquadro k\d{3,4}m?\b|\bnvs ?510\b"),
        ((2, 1), r"\bg(?:t|ts|tx) ?(?:4[1-6]\d|5[1-6]\d)m?\b|\bgtx? ?(?:5[78]0m|47[05]m|4[68]0m|67[05]m)\b|\bgt ?6(?:[12]\d|3[05])m?\b|\b(?:610|620|630|710|820)m\b|\bnvs ?(?:31[05]|4200m?|5[24]00m?)\b|\bquadro (?:600|[1-4]000m?|3010m)\b|\bfermi\b"),
        ((2, 0), r"\bgtx ?(?:465|4[78]0|5[789]0)\b|\btesla [cm]20[5-9]\d\b|\bquadro 50[01]0m?\b"),
    )
)  # fmt: skip
"""Compute capability -> what its cards are called, the newer ones first."""
_GENERATION = Pattern(
    r"(?i)\b(?:sm|compute)_?(?P<digits>\d{2,3})[af]?\b|\b(?:compute capabilit\w+|cc|capability)[ :=]{1,3}(?:of |is |version )?(?P<number>\d{1,2}\.\d)(?![\d.]*\d)"
)
_FIRST: tuple[tuple[Pair, Pair, Pair], ...] = (
    ((10, 0), (12, 8), (12, 8)), ((9, 0), (11, 0), (11, 8)), ((8, 0), (11, 0), (11, 0)), ((7, 5), (10, 0), (10, 0)), ((7, 0), (9, 0), (9, 0)),
    ((6, 0), (8, 0), (8, 0)), ((5, 2), (6, 5), (6, 5)), ((5, 0), (6, 0), (6, 0)), ((0, 0), (0, 0), (0, 0)),
)  # fmt: skip
"""From this compute capability on: the CUDA below which a build has no code that runs there, and the first that knows it. PTX for Ampere
runs on Hopper, and Ampere's machine code on Ada."""
_LEAST: tuple[tuple[Pair, Pair], ...] = (((13, 0), (7, 5)), ((12, 0), (5, 0)), ((11, 0), (3, 5)), ((9, 0), (3, 0)))
"""From this CUDA on: the least compute capability for which it compiles."""
_LEAST_OF_2, _LEAST_OF_ALL = (3, 5), (3, 0)
"""The same of TensorFlow's packages: since 2.0, and of any."""
_FOR_BLACKWELL, _KNOWS_BLACKWELL = (2, 21), (12, 9)
"""The first TensorFlow whose code Blackwell's driver compiles throughout, as that of a CUDA which knows these cards."""


def capability(name: str) -> Pair | None:
    """Of a card by what people call it; None: not known here."""
    if found := _GENERATION.search(name):
        number = found["number"] or f"{found['digits'][:-1]}.{found['digits'][-1]}"
        major, minor = number.split(".")
        return int(major), int(minor)
    return next((one for one, names in _BY_NAME if names.search(name)), None)


def first_cuda(has: Pair) -> tuple[Pair, Pair]:
    """The CUDA below which nothing runs on a card of this compute capability, and the first that knows it."""
    return next((least, known) for since, least, known in _FIRST if has >= since)


class Build(NamedTuple):
    """What a text tells of the build in question."""

    cudas: tuple[Pair, ...]
    """Those for which it may be built."""
    others: tuple[Pair, ...]
    """Those that are only named beside it."""
    releases: tuple[Pair, ...]
    """Of TensorFlow."""
    is_told: bool
    """By more than the CUDA that is installed."""
    is_opened: bool
    """TensorFlow has opened its libraries."""
    least: Pair
    """The compute capability below which PyTorch's package has no code."""


def build(notes: Notebook) -> Build:
    """The build by what is opened, else by the release, the image or the wheel, else by the CUDA that is named."""
    told = [e.values for e in notes.events if e.kind == "names"]
    opened = [e.values["version"] for e in notes.events if e.kind == "runtime-opened" and "version" in e.values]
    opened = [one for one in opened if "." in one or len(one) > 2]
    releases = [_pair(one) for values in told for one in values.get("tensorflow", "").split()]
    releases = [one for one in releases if one[0] <= 2]
    named = [_pair(one) for values in told for one in values.get("cuda", "").split()]
    named += [_last_of(one) for e in notes.events if e.kind == "names-cuda" and (one := e.values.get("cuda"))]
    built = [_runtime(one) for one in opened]
    built = built or [_pair(one) for values in told for one in values.get("image", "").split()]
    is_own = bool(named) and any("own_build" in values for values in told)
    if not opened and not is_own:
        built += [_KNOWS_BLACKWELL if one >= _FOR_BLACKWELL else built_for(one).cuda for one in releases]
    least = (0, 0)
    if not built:
        built = [_pair(one) for values in told for one in values.get("program", "").split()]
        if built and any("program" in e.values and "torch" in e.text.lower() for e in notes.events):
            least = least_of_pytorch(min(built))
    is_told = bool(built)
    if not built and (pytorch := [_pair(one) for values in told for one in values.get("pytorch", "").split()]):
        built, named = [newest_of_pytorch(max(pytorch))], []
    return Build(
        tuple(dict.fromkeys(built or named)),
        tuple(dict.fromkeys(named)),
        tuple(dict.fromkeys(releases)),
        is_told,
        bool(opened),
        least,
    )


def _pair(version: str) -> Pair:
    major, _, rest = version.partition(".")
    return int(major), int(rest.partition(".")[0] or 0)


_LAST = {8: 0, 9: 2, 10: 2, 11: 8, 12: 9, 13: 9}


def _last_of(version: str) -> Pair:
    """The newest that 'CUDA 9' may be."""
    return _pair(version) if "." in version else (int(version), _LAST.get(int(version), 0))


def _runtime(version: str) -> Pair:
    """(10, 1) of libcudart.so.10.1 and cudart64_101.dll; any 11 of libcudart.so.11.0."""
    digits = version.replace(".", "")
    major, minor = int(digits[:-1]), int(digits[-1])
    return (major, _LAST.get(major, minor)) if major >= 11 else (major, minor)


def cards(notes: Notebook) -> dict[str, Pair]:
    """Those that programs name, else those that people name, with their compute capability."""
    printed: dict[str, Pair] = {}
    for event in notes.events:
        if event.kind == "device-found" and (name := event.values.get("name")):
            told = event.values.get("capability") or (
                f"{event.values['major']}.{event.values.get('minor', 0)}" if "major" in event.values else ""
            )
            if known := _pair(told) if told else capability(name):
                printed[name] = known
    if printed:
        return printed
    told_of = [e.values for e in notes.events if e.kind == "names"]
    for key in ("cards", "capabilities"):
        names = [one for values in told_of for one in values.get(key, "").split("|") if one]
        if known_ones := {one: known for one in names if (known := capability(one))}:
            return known_ones
    return {}


_WELL = Pattern(
    r"(?i)(?<!not )(?<!n't )(?<!never )\b(?:works?|worked|fine|ok|okay|(?:can|could) (?:use|run|train)|runs|ran|trains|trained|no (?:problem|issue|error)s?)\b|\u6b63\u5e38|\u6ca1\u95ee\u9898"
)
"""Who says so has a card on which it works."""


_USELESS = ("program-finds-none", "ngc-gpu-unsupported")
"""What a program says that has no use for a card: which of them are known then matters."""


def _note_capabilities(notes: Notebook) -> None:
    """Notes the compute capability of each card that people name or a table lists."""
    named = [(e, one) for e in notes.events if e.kind == "names" for one in e.values.get("cards", "").split("|")]
    named += [(e, e.values["name"]) for e in notes.events if e.kind == "gpu" and e.values.get("name")]
    for event, name in named:
        if name and (has := capability(name)) is not None:
            values = {"card": name, "capability": "{}.{}".format(*has)}
            notes.note(
                TextEvent(
                    line=event.line, language=event.language, kind="capability-of-card", text=event.text, values=values
                )
            )


def settle(notes: Notebook) -> None:
    """Notes whether the cards that are told of are newer than the build, known to it, or older than it supports: one of the three, or none."""
    known, told = cards(notes), build(notes)
    if any(e.kind in _USELESS for e in notes.events):
        _note_capabilities(notes)
    if not known or not told.cudas:
        return
    beside = {
        card
        for e in notes.events
        if e.kind == "names" and _WELL.search(e.text)
        for card in e.values.get("cards", "").split("|")
    }
    beyond = (
        max(told.cudas),
        max((*told.cudas, *told.others)),
    )  # a toolkit beside a release may be of another build of it
    newer = {name for name, has in known.items() if beyond[has < _BLACKWELL] < first_cuda(has)[0]}
    least = max(told.least, *(_least(cuda, told) for cuda in told.cudas))
    before = {name for name, has in known.items() if has < least}
    kind, name = "", ""
    if newer and all(one in newer or one in beside for one in known):
        kind, name = NEWER, next(one for one in known if one in newer)
    elif before and all(one in before or one in beside for one in known):
        kind, name = BEFORE, next(one for one in known if one in before)
    elif (
        not newer
        and not before
        and not _may_be_another(notes, known, told.is_told)
        and all(min(told.cudas) >= first_cuda(has)[1] for has in known.values())
    ):
        kind, name = FITS, next(iter(known))
    elif newer:
        kind, name = UNFIT[1], next(one for one in known if one in newer)
    if not kind:
        return
    event = next(
        (
            e
            for e in notes.events
            if name
            in (
                e.values.get("name"),
                *e.values.get("cards", "").split("|"),
                *e.values.get("capabilities", "").split("|"),
            )
        ),
        None,
    )
    if event is not None:
        notes.note(
            TextEvent(line=event.line, language=LANGUAGE, kind=kind, text=event.text[:LONGEST], values={"card": name})
        )


_BLACKWELL = (10, 0)


def _may_be_another(notes: Notebook, known: dict[str, Pair], is_told: bool) -> bool:
    """Whether it may be another card, or another build, than those that are told of."""
    one_build = all(
        "own_build" not in e.values and not _OWN.search(e.text)
        for e in notes.events
        if e.kind in ("names", "names-cuda")
    )
    several = {e.kind for e in notes.events} & {
        "several-machines",
        "card-decides",
        "card-was-changed",
        "no-machine-code",
        "nvcc-lacks-new",
        "card-refused-said",
        "ngc-gpu-too-new",
        "ngc-gpu-unsupported",
        "not-in-this-build",
    }
    if not is_told and any(e.kind == "no-kernel-image" or "pytorch" in e.values for e in notes.events):
        return True
    unknown = any(
        capability(one) is None
        for e in notes.events
        if e.kind == "names"
        for one in e.values.get("cards", "").split("|")
        if one
    )
    return not one_build or bool(several) or unknown or len({*known.values()}) > 1


_OWN = Pattern(r"(?i)\bsm_\d|\bfrom source\b|\bwe build\b|\bcompute capabilities\b")
"""Who builds it himself says for which cards."""


def _least(cuda: Pair, told: Build) -> Pair:
    by_cuda = next((least for since, least in _LEAST if cuda >= since), (0, 0))
    by_release = _LEAST_OF_2 if told.releases and min(told.releases) >= (2, 0) else (0, 0)
    of_tensorflow = _LEAST_OF_ALL if told.releases or told.is_opened else (0, 0)
    return max(by_cuda, by_release, of_tensorflow)


_WRONG = Pattern(
    r"(?i)(?<!\bno )(?<!\bany )(?<!\bno other )(?<!without )(?<!\bzero )\b(?:errors?|exceptions?|fail(?:s|ed|ing|ure)?|crash\w*|hangs?|hanging|hung|stuck|stall\w*|freez\w+|froze\w*|dies|aborts?|aborted|killed|segfaults?|segmentation fault|sigsegv|core dumped|illegal instruction|stopped working|zeros?|garbage|nonsense|wrong|incorrect|"
    r"inaccurate|broken|problems?|troubles?|diverg\w+|explod\w+)\b(?! ?(?:type|report|template|free|rate|bars?))"
    r"|(?:\b(?:not|never|nothing|cannot|unable to|refuses to|won't|can't|hardly)|n't) (?:\w+ ){0,3}?(?:works?|run|start|train|learn|converge|us|go|respond|finish|happen|proceed|launch|execut|complet|continu)\w*\b"
    r"|\b(?:other|another|different|old|previous|second|colleague'?s|friend'?s|home) (?:\w+ )?(?:machines?|computers?|pcs?|devices?|servers?|cards?|gpus?|laptops?|box|workstations?|notebooks?)\b[^.\n]{0,80}\b(?:works?|worked|runs?|ran|fine|ok|unchanged|without|trains?|correct\w*|good)\b"
    r"|\b(?:works?|worked|runs?|ran|fine|trains?|trained|ok)\b[^.\n]{0,40}\b(?:on|with|under) (?:an? |the |my )?(?:other|another|different|old|previous|second|colleague'?s|friend'?s)\b"
    r"|(?<![a-z])nans?(?![a-z])|\b(?:on|with|under) (?:the |my )?cpu\b[^.\n]{0,40}\b(?:works?|fine|learns?|trains?|runs?|ok|correct\w*|right|good)\b|\b(?:fine|works?|correct|right|ok|runs?|trains?) (?:\w+ )?(?:on|with) (?:the |my )?cpu\b"
    r"|\bgeht (?:\w+ ){0,4}nicht\b|\b(?:fehler|absturz|h\u00e4ngt|falsche?|funktioniert (?:\w+ ){0,4}nicht|l\u00e4uft (?:\w+ ){0,4}nicht)\b|\bst\u00fcrzt\b|\b(?:no (?:funciona|arranca|entrena|corre|va)|falla|errores|se cuelga|se bloquea|resultados incorrectos|plante|ne (?:marche|fonctionne|d\u00e9marre) pas|erreur|n\u00e3o (?:funciona|roda)|erro|trava)\b"
    r"|\u62a5\u9519|\u9519\u8bef|\u5931\u8d25|\u5361\u4f4f|\u5361\u6b7b|\u5d29\u6e83|\u4e0d\u80fd|\u65e0\u6cd5|\u4e0d\u4e86|\u4e0d\u6536\u655b|\u4e0d\u5bf9|\u5168\u662f0|\u90fd\u662f0|\u043e\u0448\u0438\u0431\u043a|\u0437\u0430\u0432\u0438\u0441\u0430|\u0432\u044b\u043b\u0435\u0442|\u043d\u0435 \u0440\u0430\u0431\u043e\u0442\u0430|_STATUS_\w*(?:FAIL|ERROR|MISMATCH|NOT_SUPP)"
)
"""What people say of a program that goes wrong, in any of its ways."""
_MERELY_ASKED = Pattern(
    r"(?i)^\W{0,3}(?:(?:hi|hello|hey)\b[^?]{0,20})?(?:do(?:es)?|will|would|is|are|can|could|should|which|what|has|have|did|if|when)\b[^\n]{0,300}\?\W*$|^(?:#|\*\*|- \[|>|\||~|`)"
)
_PROGRAMS, _FATAL = (
    Pattern(r"\.(?:cc|cu|h):\d"),
    Pattern(r"Check failed|_STATUS_\w*(?:FAIL|ERROR|MISMATCH|NOT_SUPP)|CUDA_ERROR_"),
)


def goes_wrong(line: str) -> bool:
    """Whether somebody says there that something goes wrong; a question and a heading say nothing."""
    if _PROGRAMS.search(line):
        return _FATAL.search(line) is not None
    return len(line) <= 1000 and _WRONG.search(line) is not None and _MERELY_ASKED.search(line) is None


_ASKED_OF = Pattern(
    r"(?i)\b(?:do(?:es)?|will|would|can|could|is|are|should|has|have)\b(?:[^.!?\n]|\.\d){0,120}?\b(?:support\w*|compatible|works?|run|buy|get|faster|slower|better|enough|tested|tried|recommended?|worth)\b(?:[^.!?\n]|\.\d){0,120}?\?|\bwhich (?:[\w/-]+ ){1,3}(?:do|did|does|should|is|are|would)\b(?:[^.!?\n]|\.\d){0,120}?\?"
    r"|\b(?:funktioniert|l\u00e4uft|geht|unterst\u00fctzt|funciona|soporta|marche|fonctionne|supporte)\b(?:[^.!?\n]|\.\d){0,80}\?|(?:\u652f\u6301|\u80fd\u7528|\u53ef\u4ee5\u7528)[^\u3002\n]{0,40}\u5417"
)
_PRAISED = Pattern(
    r"(?i)\b(?:works?|worked|runs?|ran|trains?|trained) (?:\w+ ){0,2}?(?:great|fine|well|perfectly|nicely|smoothly|flawlessly|without (?:any )?(?:problems?|issues?|errors?|trouble))\b|\bgreat work\b|\bnice (?:work|project)\b|\bfor the record\b|\bbenchmarks?\b|\b\d+ (?:images|img|samples|frames|steps|tokens)(?: per |/)(?:s|sec\w*)\b|\bl\u00e4uft (?:\w+ ){0,3}?(?:prima|gut|super|problemlos)\b|\bfunciona (?:muy )?bien\b|\u8fd0\u884c\u6b63\u5e38|\u6ca1\u95ee\u9898"
)
_FEW = 6
"""Lines of a remark."""


def merely_named(lines: list[str]) -> bool:
    """Whether a remark asks of a card and a build, or is content with them, and tells of nothing that goes wrong."""
    spoken = [line for line in lines if line.strip()]
    if not 0 < len(spoken) <= _FEW or any(map(goes_wrong, spoken)):
        return False
    return any(_ASKED_OF.search(line) or _PRAISED.search(line) for line in spoken)
