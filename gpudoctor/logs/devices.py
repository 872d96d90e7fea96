"""What a text tells of the GPUs and of the releases that were used: TensorFlow's lines of its devices, and what people write."""

from __future__ import annotations

import re

from ..patterns import Pattern
from . import clouds
from .claims import is_cuda
from .language import Kind, Language, Understood
from .notebook import Notebook

_SIZE = r"\d[\d.]* ?[KMG]?i?B"

LANGUAGE = Language(
    name="devices",
    words=(": Y ", ": N ", ":   Y ", ":   N ", "name: ", "emory: ", "eeMemory", "deviceMemorySize", "StreamExecutor device", "opened dynamic library", "opened CUDA library", "/step", "Processes:", "CUDA Capability", "MIG", "mig ", "emory", "GPU", "显"),
    kinds=(
        Kind(
            "device-found",
            r"\bname: (?P<name>[^,:]{3,50}?)(?: major: (?P<major>\d+) minor: (?P<minor>\d+)| computeCapability: (?P<capability>\d+\.\d+)"
            r"|, pci bus id: [^,)]{3,40}(?:, compute capability: (?P<capability2>\d+\.\d+))?)"
            r"|StreamExecutor device \(\d+\): (?P<name2>[^,]{3,50}), Compute Capability (?P<capability3>\d+\.\d+)"
            r"|^name: (?P<name3>[A-Z][\w ()-]{3,50})$",
        ),
        Kind("device-asked", r"CUDA Capability Major/Minor version number: +(?P<capability>\d{1,2}\.\d)"),
        Kind("peer-row", r"gpu_(?:device|init)\.cc:\d{1,5}\] (?P<row>\d{1,2}): {1,4}(?P<reach>[YN](?: [YN]){1,15})\s{0,2}$"),
        Kind(
            "memory-at-start",
            rf"(?:totalMemory: (?P<total>{_SIZE}) freeMemory|^Free memory): (?P<free>{_SIZE})|(?i:\btotal ?memory:? (?P<total2>{_SIZE})\W{{1,3}}free ?memory:? (?P<free2>{_SIZE}))"
            rf"|\bfree(?:Memory| ?[Mm]emory:)(?: is| of|:)?(?: only)? (?P<free3>{_SIZE})",
        ),
        Kind("memory-of-card", rf"(?:deviceMemorySize|^Total memory): (?P<total>{_SIZE})"),
        Kind(
            "runtime-opened",
            r"opened dynamic library (?:libcudart\.so\.|cudart64_)(?P<version>\d[\d.]*\d)|opened CUDA library (?:libcublas\.so\.|cublas64_)(?P<version2>\d[\d.]*\d)(?:\.dll)? locally",
        ),
        Kind("process-table", r"^\|\s{1,8}Processes:"),
        Kind("instances-chosen", r"CUDA_VISIBLE_DEVICES\W{1,8}(?P<value>MIG-[\w/-]{4,60}(?: ?, ?MIG-[\w/-]{4,60}){1,15})"),
        Kind(
            "one-instance",
            r"\bnvidia\.com/mig-\S{3,14}: ?['\"]?(?:[2-9]|\d\d)\b|(?i:\bmig\b[^\n]{0,120}\bonly\b|\bonly (?:one|1|a single)\b[^\n]{0,60}\bmig\b|multiple mig (?:devices|instances))",
        ),
        Kind(
            "holder-is-gone",
            r"(?i:\b(?:kill(?:ed|ing)?|zombie|dead|died|terminated|crashed|ctrl[- +]c)\b[^.\n]{0,60}"
            r"\b(?:still|keeps?|holds?|remains?|occupie[sd]|not (?:released?|freed?))\b[^.\n]{0,40}\b(?:memory|gpus?|vram)\b)"
            r"|(?i:\b(?:once|after|when) (?:the |my )?(?:program|script|process|training|job|session|run|python)\b[^.\n]{0,30}\b(?:ended|ends|finished|finishes|exit(?:s|ed)?|is over|done|closed)\b[^\n?]{0,80}(?:\bnot|n't) (?:be |get |their |its )?(?:release|free)d?\b)"
            r"|(?:kill|[Cc]trl[ +-]*[Cc]|杀掉|杀死|退出)[^。\n]{0,30}(?:显存|显卡|GPU)[^。\n]{0,15}(?:不会?释放|没有?释放|未释放|无法释放|[仍还]然?[被在]?占)",
        ),
        Kind("work-goes-on", r"\d+/\d+ \[=+.{0,60}\d ?m?s/step|━ .{0,40}\d ?m?s/step"),
    ),
)  # fmt: skip
"""Lines of programs."""
_CARD = r"(?:cards?|GPUs?|(?:[GR]TX|Quadro|Tesla|Titan)\b[ \w]{0,16}?|\d{3,4} ?(?:Ti|Super)|[AVPTHK]\d{2,4})"
SIZES = Language(
    name="devices",
    words=("MB memory", "MB of memory", "GB", "GiB", "memory_fraction", "memory_limit", "DeviceConfiguration"),
    kinds=(
        Kind(
            "memory-limited",
            r"memory_fraction['\"]?\)? ?[=:] ?0?\.[0-7]|\bmemory_limit ?= ?\d|\b(?:Virtual|Logical)DeviceConfiguration\b",
        ),
        Kind(
            "memory-given",
            r"\b(?:device:GPU:\d{1,2}|[Cc]reated (?:\w{1,12} )?device)\b[^\n]{0,60}? with (?P<given>\d{1,6}) MB (?:of )?memory\b(?:(?!GPU:\d)[^\n]){4,160}? (?:with|only|gets?|got|just|of)(?: \w+)? (?P<other>\d{1,6}) MB\b",
        ),
        Kind("memory-given", r"\b(?:device:GPU:\d{1,2}|[Cc]reated (?:\w{1,12} )?device)\b[^\n]{0,60}? with (?P<given>\d{1,6}) MB (?:of )?memory"),
        Kind(
            "card-memory-said",
            rf"\b(?i:{_CARD})(?: (?:here |itself )?(?:has|have|with|of|is|comes with))?(?: all| a| an)? ?(?:\(|, |-)?(?<![\d.])(?P<gib>\d{{1,3}}) ?Gi?B\b(?! (?:of )?(?i:free|used|in use|left|are|is|host|system|main|RAM|memory|DDR\d))"
            r"|(?<![\d.])(?<!need )(?<!needs )(?<!needs about )(?<!needs around )(?<!requires )(?<!uses )(?<!takes )(?<!allocate )(?P<gib2>\d{1,3}) ?Gi?B (?:of )?(?i:VRAM|GPU memory|video memory|graphics memory|cards?|GPU)\b(?! (?i:together|altogether|combined|in (?:total|all)|total)\b)",
        ),
    ),
)  # fmt: skip
"""How much memory a card has, and how much of it TensorFlow was given."""


# ------------------------------------------------------------------- what people write

_BARE = tuple(f"{series}{size}" for series in (20, 30, 40, 50) for size in (50, 60, 70, 80, 90))
_CLOUDS = ("xlarge", "gpu-", "g2-standard-", "Standard_N", "_v2", "_v3", "_v4", "_v5")
WORDS = ("TX", "tx", "MX", "GT ", "gt ", "K80", "K40", "K520", "T4", "t4", "k80", "k40", "a30", "a40", "T1", "T2", "100", "H200", "B200", "L40", "A10", "A30", "A40", "000", "GB10", "GT4", "GT5", "GT6", "GT7", "0xx", "0XX", "0 series", "0 Series", "0 card", "Quadro",
         "Tesla", "NVS", "itan", "TITAN", "50 Ti", "50Ti", "940", "930", "920", "960", "780M", "1050", "1070", "1080", "ensor", "orch", "TF", "tf", "uda", "UDA", "cu7", "cu8", "cu9", "cu1", "sm_", "apability", "10M", "20M",
         "mpere", "uring", "olta", "ermi", "lackwell", "opper", *_BARE, *_CLOUDS)  # fmt: skip
_NAME = Pattern(
    r"\b(?i:RTX )?(?P<series>[2345]0)(?:00|xx|XX)?[ -]?(?i:series|owners|cards?|gpus?)|\b(?i:RTX) ?-?(?:(?P<series2>[345]0)(?:xx|XX)|(?P<series3>[345])(?:xxx|XXX))\b"
    r"|(?:NVIDIA )?(?:GeForce )?(?<![a-z]-)\b(?i:RTX|GTX) ?-?(?i:PRO )?A?\d{3,4}[mM]?x?(?:[ -]?(?i:Ti|SUPER|Laptop|Ada)\b)*"
    r"|\b(?:[AaHhVv]100|H200|B[23]00|[Pp]100|GB10|[Kk][48]0[cm]?|(?:GRID )?K520|[Tt]4|L4|L40S?|A10G?|[Aa][34]0|[Aa][3-6][05]00|T1[02]00|T2000|(?i:RTX) ?a[1-6][05]00|MX ?[1-5]\d0)\b"
    r"|\b(?:(?:GT|gt) ?\d{3}[mM]?|[89][1-8]0 ?[mM][xX]?|[67][1-3]0[mM]|7[5-8]0(?:[mM]| ?Ti))\b"
    r"|\bNVS ?\d{3,4}[mM]?\b"
    r"|\b(?:Quadro|Tesla|Titan|TITAN) (?:RTX(?: \d{4})?|[A-Z]+\d*\w{0,5}|[1-6]0{3}M?)\b"
    r"|\b(?P<bare2>(?:[2345]0[5-9]0|10[578]0) ?(?:[Tt]i|TI|SUPER|[Ss]uper))\b"
    r"|(?:^|\b(?i:(?:card|GPU|graphics|memory|model|device)s?(?: is)?[:=] ?|an?|the|my|on|with|two|dual|new|and|use|using|have|got|card|GPU|GeForce|NVIDIA) ?|[\u5728\u7528\u662f\u7684\u5f20\u5757\uff08\uff1a(] ?)(?P<bare>[345]0[5-9]0(?: ?(?:Ti|ti|SUPER))?)\b(?![.,]?\d)",
    re.ASCII,  # between 显卡 and A100 a word ends
)
_ONE = r"[012]\.\d{1,2}(?!\d)(?:\.\d{1,2})?"
_RELEASE = Pattern(
    r"(?<!nvidia-)\b(?:tensorflow|tf)(?:[-_ ]?(?:gpu|nightly-gpu|nightly)|[-_/ ]serving|[-_ ]model[-_ ]server)?(?:\[and-cuda\])?(?! ?> ?\d)(?: (?:is|in|has)(?= v))?[\W_]{0,4}(?:version|ver|v)?s?(?: ?\([^)]{0,40}\))?(?:__)?(?: (?:is|was|of|=+|I use is))?(?: {4,40}(?=\d))?(?:(?: (?:is|was|has been|got))?(?: (?:up|down)(?:dated|graded))? to(?= v?\d))?(?:[^\w\n]|tf|v){0,4}"
    rf"(?P<versions>{_ONE}(?:(?: ?[/,&-] ?| and | or )(?:tf ?)?{_ONE}){{0,6}})",
    re.IGNORECASE | re.ASCII,
)
_TOOLKIT = Pattern(
    r"(?<!need to update to )(?<!need to upgrade to )(?<!have to update to )(?<!have to upgrade to )(?<!should update to )(?<!should upgrade to )\bcuda(?:[-_ ]?toolkit|/cudnn)?[-_ ]?(?:version|ver|v)?(?: \([^)\n]{1,20}\))?[^\w\n.]{0,4}(?:to (?:version )?)?(?P<versions>\d{1,2}\.\d(?!\d)(?:(?: ?[/,] ?)\d{1,2}\.\d(?!\d)){0,3})(?!\)? or (?:later|newer|higher|above)\b)",
    re.IGNORECASE | re.ASCII,
)
_LOG = Pattern(
    r"\d{4}-\d\d-\d\d |[IWEF]\d{4} |File |\|(?! ?[A-Z][\w /()-]{2,30} *\| *\S)|\+-|.{0,200}(?:\.cc:\d|Driver[^\n]{0,60}CUDA Version:|NVIDIA-SMI|gencode|Using cached|Downloading )|/usr/local/cuda-1\d\.\d$"
)
_OWN_BUILD = Pattern(
    r"installed from[^:]{0,40}: ?(?:from )?source\b|\b(?:tf|tensorflow)\b[^\n.]{0,12}(?:\d\.\d{1,2}[.\d]{0,4})?[^\n.]{0,20}\b(?:built|compiled) (?:by (?:us|me|hand|myself|ourselves)|myself|ourselves|from source)\b|\b(?:I|we) (?:have |had )?(?:built|compiled) (?:the |my |our )?(?:tf|tensorflow)\b",
    re.IGNORECASE,
)

_BUILT = Pattern(
    r"\b(?:py)?(?:torch|mxnet|jax(?:lib)?|cupy|paddle\w*|onnxruntime|detectron2|dgl)\b[^\n]{0,24}?[-_+ (=](?:cu(?:da)?[-_]?(?P<digits>(?:[789]|1[0-3])\d)\b|cuda ?v?(?P<version>\d{1,2}\.\d)\b)|nvcr\.io/nvidia/\w{4,12}:(?P<year>\d\d)\.(?P<month>\d\d)\b",
    re.IGNORECASE,
)
"""Another program's wheel, and NVIDIA's image."""
_PYTORCH = Pattern(
    r"\b(?:py)?torch(?:[-_ ]?gpu)?(?: version)?(?: is)?[ :=v]{0,4}(?P<version>[12]\.\d{1,2})(?:\.\d{1,2})?(?![\d.]*\d)",
    re.IGNORECASE | re.ASCII,
)
"""A release of PyTorch."""
_OF_IMAGES = (
    ("25.01", "12.8"), ("24.06", "12.5"), ("24.03", "12.4"), ("23.10", "12.2"), ("23.04", "12.1"), ("22.12", "11.8"), ("22.01", "11.6"), ("21.02", "11.2"),
    ("20.10", "11.1"), ("20.06", "11.0"), ("19.11", "10.2"), ("19.02", "10.1"), ("18.09", "10.0"), ("17.09", "9.0"), ("00.00", "8.0"),
)  # fmt: skip
"""From this month's image on: its CUDA. Source: NVIDIA, deep learning frameworks support matrix."""
_GENERATION = Pattern(
    r"\bsm_\d{2,3}\b|\b(?i:compute capabilit\w{1,3})[ :=]{1,3}(?i:of |is |version )?\d{1,2}\.\d(?![\d.]*\d)|\b(?i:ampere|turing|volta|fermi|blackwell|hopper)\b(?=[\w -]{0,16}\b(?i:gpus?|cards?|graphics|architecture|generation|server|machine)\b)"
)
"""A card by its generation alone."""
_NOT_THIS_ONE = Pattern(
    r"(?i)\b(?:minimum|least|required?|requires|needs?|support\w*|higher|greater|or newer|below|built|compiled?|arch_?list|TORCH_CUDA|gencode)\b|>="
)
"""Where capabilities are asked for, or listed."""


def _built(text: str) -> dict[str, str]:
    """The CUDA of another program's wheel, and of NVIDIA's image; the releases of PyTorch."""
    found = list(_BUILT.finditer(text))
    images = (f"{one['year']}.{one['month']}" for one in found if one["year"])
    digits = (one["digits"] or one["version"] for one in found if not one["year"])
    return {
        "image": " ".join(next(cuda for since, cuda in _OF_IMAGES if image >= since) for image in images),
        "program": " ".join(f"{one[:-1].rstrip('.')}.{one[-1]}" for one in digits),
        "pytorch": " ".join(dict.fromkeys(one["version"] for one in _PYTORCH.finditer(text))),
    }


_ANOTHERS = (
    "AMD ",
    "other computer (",
    "other machine (",
    "other PC (",
    "other GPU (",
    "other GPU, a ",
    "other server (",
)
"""What stands before a card's name that is AMD's, or the one of another machine."""


def claims(text: str, _line: int, _notes: Notebook) -> Understood | None:
    """The cards, and the releases of TensorFlow and CUDA, that a line of prose or of a form names."""
    if len(text) > 600 or _LOG.match(text):
        return None
    cards = [
        one["bare"]
        or (f"{'GTX' if bare[0] == '1' else 'RTX'} {bare[:4]} {bare[4:].strip()}" if (bare := one["bare2"]) else "")
        or (f"RTX {series[0]}090" if (series := one["series"] or one["series2"] or one["series3"]) else one[0])
        for one in _NAME.finditer(text)
        if not text.endswith(_ANOTHERS, 0, one.start())
    ]
    machines = clouds.machines(text) if any(word in text for word in _CLOUDS) else {}
    cards += machines.values()
    values = {
        "cards": "|".join(dict.fromkeys(cards)),
        "tensorflow": " ".join(_each(_RELEASE, text)),
        "cuda": " ".join(_each(_TOOLKIT, text)),
        **_built(text),
        "capabilities": ""
        if cards or _NOT_THIS_ONE.search(text)
        else "|".join(dict.fromkeys(_GENERATION.findall(text))),
        "machines": "|".join(f"{name}={card}" for name, card in machines.items()),
        "own_build": "yes" if _OWN_BUILD.search(text) else "",
    }
    if not all(is_cuda(version) for version in values["cuda"].split()):
        values["cuda"] = ""
    told = {name: value for name, value in values.items() if value}
    return Understood("names", told) if told else None


def _each(pattern: Pattern, text: str) -> dict[str, None]:
    found: dict[str, None] = {}
    for one in pattern.finditer(text):
        versions = re.findall(r"\d+\.\d+(?:\.\d+)?", one["versions"])
        found |= dict.fromkeys(versions[:1] if "cudnn" in one[0].lower() else versions)
    return found
