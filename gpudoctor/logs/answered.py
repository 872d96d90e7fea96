"""What looks bad and is as it should be, by several lines together; and which suspicions such a line answers."""

from __future__ import annotations

from collections.abc import Iterator

from ..facts import Alike, TextEvent
from ..patterns import Pattern
from .language import Kind, Language
from .notebook import Notebook

_BY_A_PATH = (
    "cuda-toolkit-missing", "cuda-libs-missing", "cuda-version-mismatch", "ld-library-path-not-set", "ld-library-path-wrong-toolkit",
    "pip-nvidia-libs-not-found", "cudnn-missing", "cudnn-wrong-major", "cuda-lib-from-other-toolkit", "tf-wheel-runpath-gap", "driver-missing",
)  # fmt: skip
"""What keeps TensorFlow from finding libraries: then it lists no GPU."""
_OF_LINKS = ("nvlink-down", "nvlink-degraded", "p2p-not-used")
ANSWERS: dict[str, tuple[str, ...]] = {
    "benign-no-nvswitch": ("fabric-manager-not-running", "fabric-manager-version-mismatch", "nvlink-down"),
    "benign-pcie-idle": ("pcie-link-degraded",),
    "benign-nvlink-overhead": _OF_LINKS,
    "benign-no-nvlink": _OF_LINKS,
    "benign-renumbered": ("cuda-visible-devices-wrong", "cuda-visible-devices-empty", "tf-no-gpu-registered"),
}
"""Kind of a harmless line -> the causes that somebody may think of who sees it."""

SAID = Language(
    name="circumstances",
    words=("vcc", "NVCC"),
    kinds=(
        Kind(
            "nvcc-absent",
            r"(?i:\bnvcc\b['\"`]?(?: -V| --version)?:? (?:is |was )?(?:command )?not (?:found|recogni[sz]ed|installed)|\b(?:no|without) ['\"`]?nvcc\b|\bnvcc\b['\"`]? (?:is )?missing)",
            once=True,
        ),
    ),
)
DIRECTORIES = Language(
    name="circumstances",
    words=("exist", "No such file", "not there", "is gone"),
    kinds=(
        Kind(
            "directory-absent",
            r"(?i:(?:/[\w.+-]{1,40}){2,8}/?['\"`]? (?:\w+ )?(?:does not|doesn't|doesnt|do not|don't|no longer) exists?\b|\bLD_LIBRARY_PATH\b[^\n]{0,160}\b(?:(?:does not|doesn't|do not|don't|no longer) exist|No such file|not there|is gone)"
            r"|^(?:ls: )?(?:cannot access |can't access )?['\"`]?/[^\n]{0,80}(?:cuda|CUPTI)[^\n:]{0,80}: No such file or directory)",
            once=True,
        ),
    ),
)
WORKS = Language(
    name="circumstances",
    words=("is_gpu_available", "visible gpu devices: ", "sees ", "lists ", "finds ", "uses "),
    kinds=(
        Kind("gpus-added", r"\bAdding visible gpu devices: \d"),
        Kind(
            "gpu-works-said",
            r"\bis_gpu_available(?:\(\))?['\"`]{0,2} ?(?:is |gives |returns |prints |says |=+ ?|: ?|-> ?|\u2192 ?){0,2}True\b"
            r"|(?i:^(?![^\n]{0,200}\b(?:whether|if|how|but not|can't|doesn't|not)\b)[^\n]{0,200}\b(?:tensorflow|tf|keras) (?:sees|lists|finds|uses) (?:my|the|both|all|its) (?:\w+ ){0,2}(?:GPUs?|cards?)\b)",
            once=True,
        ),
    ),
)
EMPTY = Language(
    name="circumstances",
    words=("[]",),
    kinds=(
        Kind(
            "empty-list-said",
            r"(?:^|[:>=\u2192,]|\bis|\breturns|\bgives|\bprints) ?['\"`]?\[\](?:$|[\s.,;!?'\"`)])",
            once=True,
        ),
    ),
)
LINKS = Language(
    name="circumstances",
    words=("NVLink", "nvlink", "NVLINK", "links are inActive", "NV1", "NV2", "NV3", "NV4", "NV6", "NV8"),
    kinds=(
        Kind(
            "nvlink-idle-said",
            r"(?i:\bNVLinks?\b[^.\n]{0,60}\b(?:in-?active|not active|not available|n/a|(?:prints|shows|says|returns) nothing|is empty|not supported)\b|\ball links are inactive\b|\bactivate (?:the |my )?nvlinks?\b)",
            once=True,
        ),
    ),
)
BONDS = Language(
    name="circumstances", words=LINKS.words[5:], kinds=(Kind("nvlinks-bonded", r"\bNV(?P<links>[1-9]\d?)\b"),)
)
IDLE = Language(
    name="circumstances",
    words=("2.5GT/s", "2.5 GT/s", "x16 1.1", "x8 1.1", "en1", "en 1", "1.1"),
    kinds=(
        Kind(
            "benign-pcie-idle",
            r"\bLnkSta:[^\n]{0,12}Speed 2\.5 ?GT/s(?![^\n]{0,40}Width x\d{1,2} \(downgraded)[^\n]{0,80}\bP(?:5|8|12)\b|\bP(?:5|8|12)\b[^\n]{0,80}\bLnkSta:[^\n]{0,12}Speed 2\.5 ?GT/s(?![^\n]{0,40}Width x\d{1,2} \(downgraded)|@ x(?:8|16) 1\.1\b[^\n]{0,200}\brender test\b[^\n]{0,60}\b[345]\.0\b"
            r"|(?i:\b(?:pci-?e? )?(?:gen ?1|1\.1)\b[^.\n]{0,40}\b(?:idle|idling|on the desktop|doing nothing)\b[^\n]{0,80}\b(?:gen ?[345]|[345]\.0)\b[^.\n]{0,40}\b(?:load|training|trains|work|busy)\b"
            r"|\b(?:gen ?[345]|[345]\.0)\b[^.\n]{0,40}\b(?:load|training|trains|work|busy)\b[^\n]{0,80}\b(?:gen ?1|1\.1)\b[^.\n]{0,40}\b(?:idle|idling|on the desktop|doing nothing)\b)",
            once=True,
        ),
    ),
)
LANGUAGES = (SAID, DIRECTORIES, WORKS, EMPTY, LINKS, BONDS, IDLE)
_NO_NVLINK = Pattern(
    r"\b(?:L40S?|L4|L20|T4G?|A10G?|A2|A16|P40?|M[46]0|K80|RTX (?:[456]000|A?[45]\d00) Ada\b|RTX ?A[12]000|(?:RTX ?)?(?:40[5-9]0|50[5-9]0|20[56]0|30[5-8]0)(?: ?(?:Ti|SUPER|Super))?|GTX ?1[06]\d0(?: ?Ti)?|RTX ?A4000|A4000)(?![\w-])"
)
"""Products without NVLink."""


_SLOWED_DOWN = {"slow-named", "gpu-is-slow", "link-slow-at-work"}
"""Who says so asks for more than the link."""
_OF_LANES = Pattern(r"\bx ?[124]\b|\b[124]x\b")


def settle(notes: Notebook) -> None:
    """Name what is harmless by several lines together, and take back what is no failure then."""
    kinds = {e.kind for e in notes.events}
    if "benign-pcie-idle" in kinds and not kinds & _SLOWED_DOWN:
        notes.events[:] = [e for e in notes.events if e.kind != "link-called-slow" or _OF_LANES.search(e.text)]
    for kind, event in _harmless(notes):
        found = TextEvent(line=event.line, language=event.language, kind=kind, text=event.text, values=event.values)
        notes.events.append(found)


def _harmless(notes: Notebook) -> Iterator[tuple[str, TextEvent]]:
    said = {e.kind: e for e in reversed(notes.events)}
    if works(notes):
        if "nvcc-absent" in said:
            yield "benign-no-nvcc", said["nvcc-absent"]
        if "directory-absent" in said and "library-opened" in said:
            yield "benign-absent-directory", said["directory-absent"]
    chosen = {e.values.get("value", "").strip(" '\"") for e in notes.events if e.kind == "visible-set"}
    made = {e.values["logical"]: e for e in reversed(notes.events) if e.kind == "device-created"}
    numbers = chosen.pop().split(",") if len(chosen) == 1 else []
    if made and len(made) == len(numbers) and all(one.strip().isdecimal() for one in numbers) and numbers[0] != "0":
        yield "benign-renumbered", next(reversed(made.values()))
    cards = _cards(notes)
    idle = said.get("nvlinks-inactive") or said.get("nvlink-idle-said")
    if idle and cards and all(_NO_NVLINK.search(name) for name in cards):
        yield "benign-no-nvlink", idle
    if (
        (row := said.get("peer-rates"))
        and not {"nvlink-inactive", "nvlinks-inactive"} & said.keys()
        and _at_their_best(notes)
    ):
        yield "benign-nvlink-overhead", row


_A_LINK, _OF_IT = 25.0, (0.84, 1.02)
"""GB/s of one NVLink since Volta, one way; and which part of it is data."""


def _at_their_best(notes: Notebook) -> bool:
    """Whether the rates between GPUs are those of all links that are between them."""
    bonded = max((int(e.values["links"]) for e in notes.events if e.kind == "nvlinks-bonded"), default=0)
    rates: list[float] = []
    for event in notes.events:
        if event.kind == "peer-rates":
            way, at = 2 if event.values["ways"] == "both" else 1, int(event.values["row"])
            row = [float(one) / way for one in event.values["rates"].split() if one.count(".") == 1]
            rates += row[:at] + row[at + 1 :]
    return bool(bonded and rates) and all(_whole(rate) for rate in rates) and _whole(max(rates)) == bonded


def _whole(rate: float) -> int:
    """How many links carry a rate; 0: it is no number of them."""
    links = max(1, round(rate / _A_LINK / sum(_OF_IT) * 2))
    return links if _OF_IT[0] <= rate / links / _A_LINK <= _OF_IT[1] else 0


def _cards(notes: Notebook) -> list[str]:
    named = [n for e in notes.events if e.kind == "names" for n in e.values.get("cards", "").split("|") if n]
    return [
        *named,
        *(e.values["name"] for e in notes.events if e.kind in ("gpu", "device-found") and "name" in e.values),
    ]


def works(notes: Notebook) -> bool:
    """Whether TensorFlow uses GPUs, and nothing fails."""
    if any(e.symptom for e in notes.events) or notes.told("tensorflow.devices") == ():
        return False
    if any(e.kind == "empty-list-said" for e in notes.events):
        return False  # of another moment
    return any(e.kind in ("device-created", "gpus-added", "gpu-works-said", "lists-gpus") for e in notes.events)


def answered(notes: Notebook, found: tuple[Alike, ...]) -> bool:
    """Whether what a text reads like is answered by a harmless line, or by libraries that are found."""
    if not found:
        return False
    kinds = {e.kind for e in notes.events}
    if kinds & _SLOWED_DOWN:
        kinds.discard("benign-pcie-idle")
    if any(found[0].cause in ANSWERS.get(kind, ()) for kind in kinds):
        return True
    return found[0].cause in _BY_A_PATH and works(notes)
