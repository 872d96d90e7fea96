"""What looks bad and is as it should be, by several lines together; and which suspicions such a line answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..facts import Alike, TextEvent, rates_to_others
from ..patterns import Pattern
from .clusters import ANSWERS as OF_CLUSTERS
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
    "benign-kept-off": (
        "cuda-visible-devices-empty",
        "cuda-visible-devices-wrong",
        "no-nvidia-gpu",
        "container-no-gpus-flag",
    ),
    **OF_CLUSTERS,
    "benign-task-manager": (
        "tf-cpu-only-package",
        "msvc-runtime-missing",
        "ld-library-path-not-set",
        "cuda-visible-devices-wrong",
    ),
    "benign-power-cap": ("gpu-throttling-power", "gpu-power-limit-lowered", "gpu-throttling-thermal"),
    "benign-smi-cuda": (
        "driver-too-old",
        "driver-missing",
        "cuda-version-mismatch",
        "container-driver-too-old",
        *_BY_A_PATH,
    ),
    "benign-smi-shows-all": (
        "apptainer-no-nv",
        "cuda-visible-devices-wrong",
        "cuda-visible-devices-empty",
        "container-visible-devices-wrong",
        "container-no-gpus-flag",
        "single-gpu-silently",
    ),
    "benign-leftover": ("tf-packages-overlap", "tf-import-broken", "tf-not-installed", "pip-nvidia-libs-not-found"),
    "benign-deprecation": ("numpy-abi-break", "tf-import-broken", "protobuf-mismatch"),
    "benign-renumbered": ("cuda-visible-devices-wrong", "cuda-visible-devices-empty", "tf-no-gpu-registered"),
}
"""Kind of a harmless line -> the causes that somebody may think of who sees it."""

SAID = Language(
    name="circumstances",
    words=("vcc", "NVCC"),
    kinds=(
        Kind(
            "nvcc-absent",
            r"(?i:\bnvcc\b['\"`]?(?: -V| --version)?:? (?:is |was )?(?:command )?not (?:found|recogni[sz]ed|installed)|\bnvcc\b['\"`]?(?: -V| --version)?['\"`]? (?:shows|prints|says|gives|returns|outputs|finds) (?:me )?nothing\b|\b(?:no|without) ['\"`]?nvcc\b|\bnvcc\b['\"`]? (?:is )?missing)",
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
            r"(?i:(?<![\w.])(?!/proc/)(?:/[\w.+-]{1,40}){2,8}/?['\"`]? (?:\w+ )?(?:does not|doesn't|doesnt|do not|don't|no longer) exists?\b|\bLD_LIBRARY_PATH\b[^\n]{0,160}\b(?:(?:does not|doesn't|do not|don't|no longer) exist|No such file|not there|is gone)"
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
            r"(?:^|(?<!Devices)[:>=\u2192,]|\bis|\breturns|\bgives|\bprints) ?['\"`]?\[\](?:$|[\s.,;!?'\"`)])",
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
    words=("urrent", "2.5GT/s", "2.5 GT/s", "x16 1.1", "x8 1.1", "en1", "en 1", "1.1"),
    kinds=(
        Kind(
            "benign-pcie-idle",
            r"\bLnkSta:[^\n]{0,12}Speed 2\.5 ?GT/s(?![^\n]{0,40}Width x\d{1,2} \(downgraded)[^\n]{0,80}\bP(?:5|8|12)\b|\bP(?:5|8|12)\b[^\n]{0,80}\bLnkSta:[^\n]{0,12}Speed 2\.5 ?GT/s(?![^\n]{0,40}Width x\d{1,2} \(downgraded)|@ x(?:8|16) 1\.1\b[^\n]{0,200}\brender test\b[^\n]{0,60}\b[345]\.0\b"
            r"|(?i:\bgen(?:eration)?\W{0,3}(?:\w{1,8}\W{0,3})?current\W{1,3}1\b(?![^\n]{0,200}\b(?:thought|slower|same in|slow)\b)[^\n]{0,80}\b(?:nothing (?:is )?(?:running|runs)|idle|P8)\b)"
            r"|(?i:\b(?:pci-?e? )?(?:gen ?1|1\.1)\b[^.\n]{0,40}\b(?:idle|idling|on the desktop|doing nothing)\b[^\n]{0,80}\b(?:gen ?[345]|[345]\.0)\b[^.\n]{0,40}\b(?:load|training|trains|work|busy)\b"
            r"|\b(?:gen ?[345]|[345]\.0)\b[^.\n]{0,40}\b(?:load|training|trains|work|busy)\b[^\n]{0,80}\b(?:gen ?1|1\.1)\b[^.\n]{0,40}\b(?:idle|idling|on the desktop|doing nothing)\b)",
            once=True,
        ),
    ),
)
TRAINS = Language(
    name="circumstances",
    words=("train", "Train", "work", "run", "learn"),
    kinds=(
        Kind(
            "trains-well-said",
            r"(?i:^(?![^\n]{0,300}\b(?:if|docs?|should|(?:py)?torch)\b)[^\n]{0,200}?(?:(?<!to )\b(?:it|everything|all|training|this|(?:the|my) (?:model|net|network|training|script|program)) (?:\w+ ){0,2}?(?:trains?|works?|runs?|learns|is working|is running)"
            r"(?: \w+){0,2}? (?:fine|well|ok|okay|great|normally|correctly|perfectly|as expected|and is fast|without (?:any )?(?:problems?|errors?|issues?))\b(?! (?:on|with) (?:the )?cpu)"
            r"|\btraining works\b(?! (?:on|with) (?:the )?cpu)))",
            once=True,
        ),
    ),
    foreign=True,
)
SMI_CUDA = Language(
    name="circumstances",
    words=("CUDA", "uda"),
    kinds=(
        Kind(
            "smi-cuda-said",
            r"(?i:\bnvidia-smi\b[^.\n]{0,40}\b(?:says|shows|prints|reports|displays|tells|claims|lists|gives)\b[^.\n]{0,30}\bcuda (?:version:? ?)?(?P<version>\d{1,2}\.\d)"
            r"|\bcuda (?:version:? ?)?(?P<version2>\d{1,2}\.\d)\b,? (?:\w+ )?(?:in|of|from|by|according to) (?:the )?(?:output of |top of )?[`'\"]?nvidia-smi\b)",
            once=True,
        ),
    ),
)
SPEED = Language(
    name="circumstances",
    words=("2.5GT/s", "2.5 GT/s"),
    kinds=(
        Kind(
            "link-at-gen-1",
            r"\b2\.5 ?GT/s\b(?: \(downgraded\))?(?:,? Width x(?:8|16)\b(?! \(downgraded)|(?![^\n]{0,40}Width))",
            once=True,
        ),
    ),
)
STATE = Language(
    name="circumstances",
    words=("P8", "P12"),
    kinds=(Kind("idle-state-said", r"(?i:nvidia-smi|pstate|power state|perf\w{0,10})(?![^\n]{0,40}\b(?:during|while|training)\b)[^\n]{0,40}\bP(?:8|12)\b(?![^\n]{0,80}\b(?:training|slow|trains)\b)", once=True),),
)  # fmt: skip
TASK_MANAGER = Language(
    name="circumstances",
    words=("ask manager", "ask Manager", "askmanager"),
    kinds=(
        Kind(
            "task-manager-said",
            r"(?i:\btask ?manager\b[^.\n]{0,60}(?:\b[0-3] ?%|\bno (?:\w+ )?(?:activity|usage|load)\b|\bnothing\b|\bidle\b|\bnot (?:used|being used|utili[sz]ed)\b)|(?:\b[0-3] ?%|\bno (?:\w+ )?(?:activity|usage|load)\b|\bidle\b)[^.\n]{0,60}\btask ?manager\b)",
            once=True,
        ),
    ),
)
UNDER_CHOICE = Language(
    name="circumstances",
    words=("CUDA_VISIBLE_DEVICES",),
    kinds=(
        Kind(
            "smi-under-choice",
            r"CUDA_VISIBLE_DEVICES=[\"']?\d[\d,]{0,20}[\"']?[;& ](?!(?:and|or|gives|is|with)\b)[^\n,:]{0,160}\bnvidia-smi\b(?! -i)|(?i:\bnvidia-smi\b[^.\n]{0,40}\b(?:shows|lists|sees|ignores)\b[^\n]{0,80}\bCUDA_VISIBLE_DEVICES\b)",
            once=True,
        ),
    ),
)
_AMISS = r"(?![^.\n]{0,160}(?:n't\b|\b(?:not|should|never|hardly|no longer|if|whether|until|instead|expect)\b))"
"""Of a sentence: nobody wants it otherwise."""
RIGHT_SPEED = Language(
    name="circumstances",
    foreign=True,
    words=("peed", "usual", "normal", "always", "fast as", "hroughput", "erformance", "imes"),
    kinds=(
        Kind(
            "speed-right-said",
            rf"(?i:(?:^|[.;:!?,(] ?){_AMISS}[^.\n]{{0,80}}?(?:\b(?:speed|performance|throughput|(?:step |epoch )?times?)\b[^.\n]{{0,30}}?\b(?:is|are|stays?|looks?|matches|match|agrees?)\b"
            r"(?: (?:\w+ )?(?:ok|okay|fine|good|normal|right|great|perfect|excellent)\b(?! ?(?:on|with|in) (?:the )?(?:cpu|another|my old))|[^.\n]{0,40}?\b(?:published|benchmarks?|expected|usual|before|always|reviews?|spec(?:s|ification)?)\b)"
            r"|\b(?:trains?|runs?|works|computes|goes)\b[^.\n]{0,30}?\bat (?:the |its |a )?(?:usual|normal|expected|full)\b[^.\n]{0,25}?(?:\bspeed\b|\d ?m?s\b|ms/step|/s\b|\brate\b)"
            r"|\bas fast as (?:before|usual|always|ever|expected|published|the (?:others|published|reviews))\b))",
            once=True,
        ),
    ),
)
"""Who finds that it is as fast as it should be."""
UNWANTED = Language(
    name="circumstances",
    foreign=True,
    words=("GPU", "gpu", "CUDA", "CPU", "cpu", "graphics card"),
    kinds=(
        Kind(
            "no-gpu-wanted",
            r"(?i:(?:\b(?:do(?:es)?|did|will) not|(?:do(?:es)?|did|wo)n'?t|\bnever|\bneither)\b(?: \w+){0,4}? (?:need|want|plan|require|intend)\b(?! to (?:buy|install|know))(?: \w+){0,3}? (?:gpus?|cuda|graphics cards?)\b(?! (?:memory|version|driver|to be|with|of|for (?:the|this|that) (?:part|step)))"
            r"|\b(?:a |the )?gpu (?:is|was)(?:n't| not) (?:needed|wanted|required|necessary|planned)\b|\bno need (?:for|of) (?:a |the |any )?(?:gpu|cuda)\b(?! (?:toolkit )?(?:to be )?(?:installed )?(?:on|in) (?:the |my |our )?(?:host|image|container))|\bno gpu (?:is )?(?:needed|wanted|required)\b"
            r"|\b(?:has|have|is|with) no (?:nvidia )?gpu\b[^.\n]{0,60}(?:n'?t|\bnot|\bno) (?:\w+ )?need\b|\b(?:the )?cpu (?:alone |only )?(?:is|would be|was) (?:\w+ )?(?:fine|enough|ok|okay|sufficient|all (?:that )?(?:I|we) (?:need|want))\b(?! here\b|[.,;] (?:(?:but )?(?:with|on) (?:the |my )?gpu|only that)\b)|\b(?:on|with) (?:the )?cpu is (?:\w+ )?(?:fast enough|fine|ok|okay|sufficient)\b(?! here\b))",
            once=True,
        ),
    ),
)
"""Who is content without a GPU."""
LANGUAGES = (
    RIGHT_SPEED,
    UNWANTED,
    UNDER_CHOICE,
    TASK_MANAGER,
    SAID,
    DIRECTORIES,
    WORKS,
    EMPTY,
    LINKS,
    BONDS,
    IDLE,
    TRAINS,
    SMI_CUDA,
    SPEED,
    STATE,
)
_NO_NVLINK = Pattern(
    r"\b(?:L40S?|L4|L20|T4G?|A10G?|A2|A16|P40?|M[46]0|K80|RTX (?:[456]000|A?[45]\d00) Ada\b|RTX ?A[12]000|(?:RTX ?)?(?:40[5-9]0|50[5-9]0|20[56]0|30[5-8]0)(?: ?(?:Ti|SUPER|Super))?|GTX ?1[06]\d0(?: ?Ti)?|RTX ?A4000|A4000)(?![\w-])"
)
"""Products without NVLink."""


_SLOWED_DOWN = {"slow-named", "gpu-is-slow", "link-slow-at-work"}
"""Who says so asks for more than the link."""
_OF_LANES = Pattern(r"\bx ?[124]\b|\b[124]x\b")


def settle(notes: Notebook) -> None:
    """Name what is harmless by several lines together, and take back what is no failure then."""
    _take_back(notes)
    for kind, event in _idle(notes):
        notes.events.append(_as(kind, event))
    kinds = {e.kind for e in notes.events}
    if "benign-pcie-idle" in kinds and not kinds & _SLOWED_DOWN:
        notes.events[:] = [e for e in notes.events if e.kind != "link-called-slow" or _OF_LANES.search(e.text)]
    notes.events += [_as(kind, event) for kind, event in _harmless(notes)]


def _as(kind: str, event: TextEvent) -> TextEvent:
    """The event, called harmless."""
    return TextEvent(line=event.line, language=event.language, kind=kind, text=event.text, values=event.values)


def _take_back(notes: Notebook) -> None:
    """What was no failure in the end: adapters that NCCL leaves out where it uses another, a pod that was given a node, a worker
    that is meant to have no GPU, a list of modules where no module is to be seen or one was loaded later."""
    kinds = {e.kind for e in notes.events}
    placed = max((e.line for e in notes.events if e.kind == "pod-scheduled"), default=0)
    waited = all(e.line < placed and _DESCRIBED.match(e.text) for e in notes.events if e.kind == "k8s-insufficient")
    elsewhere = bool(kinds & _NO_MODULE_THERE) or isinstance(notes.told("gpu.driver_version"), str)
    renamed = {
        "k8s-insufficient": "benign-waited" if placed and waited else "",
        "nccl-ib-failed": "benign-adapter" if "nccl-ib-used" in kinds else "",
        "module-not-listed": "modules-not-shown" if elsewhere else "",
    }
    for at, event in enumerate(notes.events):
        new = renamed.get(event.kind, "")
        if new and (event.kind != "nccl-ib-failed" or "open" in event.text):
            notes.events[at] = _as(new, event)
    hidden = [e.values.get("value", "").strip(" '\"") in ("", "-1") for e in notes.events if e.kind == "visible-set"]
    _without_gpu(notes, kinds)
    meant = "kept-off-on-purpose" in kinds and bool(hidden) and all(hidden) and not kinds & _LACKS
    if meant and notes.told("driver.libcuda.init_result") == _NO_DEVICE:
        notes.untell("driver.libcuda.init_result")
        notes.untell("tensorflow.devices")
        notes.events[:] = [_as("benign-kept-off", e) if e.kind == "cuinit-failed" else e for e in notes.events]


def _without_gpu(notes: Notebook, kinds: set[str]) -> None:
    """No GPU is wanted, and what TensorFlow says of none is all that there is."""
    if "no-gpu-wanted" not in kinds or kinds & _WANTED or any(e.symptom for e in notes.events):
        return
    if notes.told("tensorflow.devices") != () or isinstance(notes.told("tensorflow.import_error"), str):
        return
    for fact in ("devices", "libraries", "loader_ok"):
        notes.untell(f"tensorflow.{fact}")
    for fact in ("path", "load_error", "init_result"):
        notes.untell(f"driver.libcuda.{fact}")
    notes.untell("driver.kernel_version")
    notes.events[:] = [_as("benign-no-gpu-wanted", e) if e.kind in _OF_NO_GPU else e for e in notes.events]


_WANTED = {"wants-gpu", "import-failed", "empty-list-said", "nvidia-gpu-named"}
_OF_NO_GPU = {
    "cuinit-failed", "library-not-loaded", "libraries-not-opened", "cudart-not-opened", "no-cuda-driver", "registers-no-gpu",
    "kernel-module-absent", "device-node-absent", "says-no-gpu", "gpu-not-there",
}  # fmt: skip
"""What TensorFlow says where there is none."""
_DESCRIBED = Pattern(r"(?:Normal|Warning) ")
"""How the events of one pod are listed (kubectl describe)."""
_NO_MODULE_THERE = {
    "nvidia-listed",
    "module-loaded",
    "wsl-named",
    "wsl",
    "in-a-container",
    "container-shell",
    "talks-of-a-container",
    "in-a-pod",
    "in-colab",
    "talks-of-colab",
}
_NO_DEVICE = 100


def _idle(notes: Notebook) -> Iterator[tuple[str, TextEvent]]:
    """A link of the first generation, beside the power state in which a GPU has nothing to do."""
    said = {e.kind: e for e in reversed(notes.events)}
    if _SLOWED_DOWN & said.keys():
        return
    if "link-at-gen-1" in said and "idle-state-said" in said and "benign-pcie-idle" not in said:
        yield "benign-pcie-idle", said["link-at-gen-1"]


def _harmless(notes: Notebook) -> Iterator[tuple[str, TextEvent]]:
    said = {e.kind: e for e in reversed(notes.events)}
    if works(notes):
        if "nvcc-absent" in said:
            yield "benign-no-nvcc", said["nvcc-absent"]
        if "directory-absent" in said and "library-opened" in said:
            yield "benign-absent-directory", said["directory-absent"]
    well = "trains-well-said" in said and not any(e.symptom for e in notes.events) and not _LACKS & said.keys()
    if (well or works(notes)) and (shown := said.get("smi-cuda-said")) and _is_newer(shown, notes):
        yield "benign-smi-cuda", shown
    if (capped := said.get("held-back")) and _at_its_limit(notes, said.keys()):
        yield "benign-power-cap", capped
    listed = {"lists-gpus", "device-created"} & said.keys()  # whatever somebody concludes from that graph
    if (
        works(notes)
        and "task-manager-said" in said
        and not (_SLOWED_DOWN if listed else _SLOWED_DOWN | _LACKS) & said.keys()
    ):
        yield "benign-task-manager", said["task-manager-said"]
    if {"smi-under-choice", "others-are-seen"} <= said.keys() and not any(e.symptom for e in notes.events):
        yield "benign-smi-shows-all", said["smi-under-choice"]
    chosen = {e.values.get("value", "").strip(" '\"") for e in notes.events if e.kind == "visible-set"}
    made = {e.values["logical"]: e for e in reversed(notes.events) if e.kind == "device-created"}
    numbers = chosen.pop().split(",") if len(chosen) == 1 else []
    if made and len(made) == len(numbers) and all(one.strip().isdecimal() for one in numbers) and numbers[0] != "0":
        yield "benign-renumbered", next(reversed(made.values()))
    elif not made and len(numbers) == 1 and numbers[0].strip().isdecimal() and numbers[0] != "0" and not fails(notes):
        found = [e for e in notes.events if e.kind == "device-found" and "name" in e.values]
        if len(found) == 1:
            yield "benign-renumbered", found[0]
    cards = _cards(notes)
    idle = said.get("nvlinks-inactive") or said.get("nvlink-idle-said")
    if idle and cards and all(_NO_NVLINK.search(name) for name in cards):
        yield "benign-no-nvlink", idle
    if (
        "fabric-manager-failed" in said
        and cards
        and all(_NO_NVSWITCH.search(name) for name in cards)
        and not fails(notes)
    ):
        yield "benign-no-nvswitch", said["fabric-manager-failed"]
    if (
        (row := said.get("peer-rates"))
        and not {"nvlink-inactive", "nvlinks-inactive"} & said.keys()
        and _at_their_best(notes)
    ):
        yield "benign-nvlink-overhead", row


def _at_its_limit(notes: Notebook, kinds: Collection[str]) -> bool:
    """A GPU that works runs at the power limit that it comes with, and nobody calls it slow."""
    reasons = {e.values["reason"] for e in notes.events if e.kind == "held-back"}
    told = [(d.power_limit_w, d.power_default_w) for d in notes.told("gpu.devices") or ()]
    known = [(limit, default) for limit, default in told if isinstance(limit, float) and isinstance(default, float)]
    slow = "speed-right-said" not in kinds and _SLOWED_DOWN & set(kinds)
    return reasons == {"sw-power-cap"} and bool(known) and all(one >= _NEARLY * two for one, two in known) and not slow


_NEARLY = 0.98
_LACKS = {"says-no-gpu", "goes-wrong", "lost-at-work", "empty-list-said", "lists-cpu", "lists-no-gpu"}
"""Who says so has no GPU, or has trouble."""


def lacks(notes: Notebook) -> bool:
    """Whether somebody has trouble, by his own words."""
    return any(e.kind in _LACKS | _SLOWED_DOWN for e in notes.events)


def _is_newer(shown: TextEvent, notes: Notebook) -> bool:
    """Whether nvidia-smi's CUDA is at least as new as one that is installed."""
    named = [e.values["cuda"] for e in notes.events if e.kind in ("names-cuda", "names") and "cuda" in e.values]
    own = [one for each in named for one in each.split() if "." in one]
    own = [one for one in own if one != shown.values["version"]]
    return bool(own) and all(_pair(shown.values["version"]) >= _pair(one) for one in own)


def _pair(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


_NO_NVSWITCH = Pattern(r"GeForce|Quadro|TITAN|\b[GR]TX\b")
_A_LINK, _OF_IT = 25.0, (0.84, 1.02)
"""GB/s of one NVLink since Volta, one way; and which part of it is data."""


def _at_their_best(notes: Notebook) -> bool:
    """Whether the rates between GPUs are those of all links that are between them."""
    bonded = max((int(e.values["links"]) for e in notes.events if e.kind == "nvlinks-bonded"), default=0)
    rates = [rate for e in notes.events if e.kind == "peer-rates" for rate in rates_to_others(e)]
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


def fails(notes: Notebook) -> bool:
    """A line shows a failure, or TensorFlow lists no GPU."""
    return any(e.symptom for e in notes.events) or notes.told("tensorflow.devices") == ()


def works(notes: Notebook) -> bool:
    """Whether TensorFlow uses GPUs, and nothing fails."""
    if fails(notes):
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
