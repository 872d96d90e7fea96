"""What people tell of their setup in several lines, or paste of it: Windows and its release, a laptop's lid, compose files, pod specs,
a Dockerfile, packages of cuDNN, the graphics that a laptop uses. It is weak, and of each kind the first line is kept."""

from __future__ import annotations

from .language import Kind, Language, Tell, Values
from .notebook import Notebook


def _release(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.version", values["version"], line, 1)


_NO_MORE = r"(?i:stop(?:s|ped|ping)? (?:work|be|respond)\w*|no longer|not? work\w*|does(?:n't| not)|did(?:n't| not)|fail\w*|gone|lost|lose[sn]?|disappear\w*|vanish\w*|unavailable|breaks?|broken|until (?:a |the |I )?(?:re(?:boot|start)))"
_RESUMED = r"(?i:\b(?:after|from|since|once|when|whenever|every|upon|following)\b(?:(?!\b(?:not?|without|never|disabl\w{1,4}|off)\b)[^.,?\n;]){0,40}?\b(?:suspen(?:d|ded|sion)|hibernat(?:e|ed|ion)|resum(?:e|ed|ing)(?! (?:the |my |a )?(?:training|run|fit|session|job|from (?:a |the )?(?:last |saved )?(?:checkpoint|epoch|weights)))))\b"
_OF_CARDS = (
    r"\b(?:architectures?|compute (?:capabilit(?:y|ies)|compatibility)|cards?|gpus?|kepler|maxwell|fermi|sm_?\d\d)\b"
)
_TELLS: dict[str, Tell] = {"release-beside-list": _release}
_PRINTED = ("visible-empty-said",)
_SEVERAL_TIMES = ("cudnn-mentioned",)
"""TensorFlow's log says it, too."""
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "windows-prompt",
        ("PS ", ":\\Users\\", "CMD", "cmd", "indows", "Win", "win"),
        (r"(?:^|[\s(.])(?:PS )?[A-Z]:\\[\w\\. -]{0,80}> ?(?:python|py|pip|conda|ipython)\b"
        r"|(?:在 ?|\b(?i:in|from|via|using|at) (?:the |my )?(?:windows )?)(?:CMD|cmd)(?:\.exe)?(?= ?中|[\s.,;)]|$)"
        r"|(?i:\b(?:on|have|using|use|running|native|my|under) (?:native )?(?:windows|win) ?1[01]\b(?! ?(?:host|wsl)))"),
    ),
    (
        "another-machine-named",
        ("HPC", "luster", "VM", "irtual", "emote", "ssh", "ocker", "ontainer", "olab", "aggle", "inux", "buntu", "WSL", "wsl", "loud"),
        r"\b(?:HPC|VMs?|WSL ?2?|EC2)\b|(?i:\b(?:clusters?|virtual (?:box|machine)|virtualbox|remote(?:ly)?|ssh|docker|containers?|colab|kaggle|linux|ubuntu|wsl ?2?|cloud)\b)",
    ),
    ("directml-named", ("irectml", "irectML", "irectMl"), r"(?i:\bdirectml\b|\btensorflow-directml)"),
    ("release-beside-list", ("PhysicalDevice",), r"(?:->|=>|[:»]|^) ?(?P<version>[12]\.\d{1,2}\.\d) \[PhysicalDevice"),
    (
        "gone-after-suspend",
        ("uspen", "ibernat", "resum"),
        rf"(?:{_NO_MORE}[^.\n?]{{0,80}}?{_RESUMED}|{_RESUMED}[^.\n?]{{0,80}}?{_NO_MORE})",
    ),
    (
        "lid-closed",
        (" lid", " Lid"),
        r"(?i:(?<!with )(?<!don't )(?<!not )(?<!never )\b(?:clos(?:e[ds]?|ing)|shut(?:s|ting)?|open(?:ed|ing)?) (?:the |my |its )?(?:laptop(?:'s)? |notebook(?:'s)? )?lid\b|\b(?:after|when|once|since|every time) (?:the |my )?(?:laptop(?:'s)? )?lid (?:is|was|has been|gets|got)? ?(?:closed|shut|opened))",
    ),
    ("compose-file", ("services:",), r"^services: ?$"),
    ("pod-limits", ("limits:", "requests:"), r"^(?:limits|requests): ?(?:$|\{(?![^}\n]{0,200}(?:gpu|nvidia))[^}\n]{0,200}\b(?:cpu|memory)\b)"),
    ("pod-spec", ("containers:", "initContainers:"), r"^- ?containers: ?$|^containers: ?$"),
    ("compose-asks", ("gpus:", "nvidia", "devices"), r"^-? ?gpus: ?[\"']?(?:all|\d)|nvidia\.com/gpu=|^-? ?[\"']?/dev/nvidia\w*|nvidia\.com/(?:gpu|mig-[\w.]{1,20})(?:\.shared)?[\"']?: ?[\"']?[1-9]"),
    ("image-with-cudnn", ("nvidia/cuda:",), r"^\+? ?FROM (?:--\S{1,60} )?\S{0,60}nvidia/cuda:\d{1,2}\.\d{1,2}(?:\.\d{1,2})?-cudnn(?P<cudnn>\d)-"),
    ("image-installs", ("tensorflow",), r"^(?!-)\+? ?RUN [^\n]{0,300}\bpip\d? install [^\n]{0,200}?\btensorflow(?:-gpu)?==(?P<version>\d\.\d{1,2})"),
    ("installs-extra", ("and-cuda",), r"\bpip\d? install [^\n]{0,200}\btensorflow\[and-cuda\]"),
    (
        "cudnn-package",
        ("libcudnn", "nvidia-cudnn-cu"),
        (r"^ii +libcudnn\d+(?:-cuda-\d+)?(?::amd64)? +(?P<version>\d\.\d{1,2}\.\d{1,2})"
        r"|Successfully installed [^\n]{0,600}\bnvidia-cudnn-cu\d\d-(?P<version2>\d\.\d{1,2}\.\d{1,2})|^nvidia-cudnn-cu\d\d +(?P<version3>\d\.\d{1,2}\.\d{1,2})"),
    ),
    (
        "cudnn-mentioned",
        ("uDNN", "udnn", "UDNN"),
        r"(?i:^(?![^\n]{0,300}(?:\.cc:|Error))[^\n]{0,300}?\bcudnn(?:[ -]?v(?:ersion)?\.?)?[ -]?(?P<major>[4-9])\b(?![.,]\d\d))",
    ),
    (
        "old-system-named",
        ("ent", "CENT", "RHEL", "ed Hat", "edHat", "cientific Linux"),
        r"(?i:\b(?:centos|rhel|red ?hat(?: enterprise)?(?: linux)?(?: server)?|scientific linux)\W{0,3}(?:linux )?(?:release |version |v)?6(?:\.\d{1,2})?\b(?![.\w]))",
    ),
    (
        "import-fails-said",
        ("mport",),
        r"(?i:\b(?:not possible|unable|can(?:'|no)?t|cannot|can not|impossible|fails?|failed|failing|won't|could(?:n't| not)) (?:[\w']+ ){0,4}?import(?:ing|ed)? (?:the )?[`'\"]?tensorflow|\btensorflow[^.\n]{0,20} (?:can ?not|can't|won't|could(?:n't| not)) be imported)",
    ),
    (
        "support-dropped-said",
        ("upport", "rop"),
        (
            rf"(?i:(?:\bsupport\b[^.\n]{{0,30}})?{_OF_CARDS}[^.\n]{{0,12}}(?:\d\.\d[^.\n]{{0,12}})?\b(?:dropped|removed|discontinued|abandoned)\b|\b(?:drop(?:s|ped|ping)?|remov(?:es|ed|ing)) (?:the )?support (?:of|for)\b[^.\n]{{0,30}}{_OF_CARDS}"
            rf"|{_OF_CARDS}[^.\n]{{0,40}}\b(?:(?:is|are) (?:not|no longer)|isn't|aren't|no longer) supported\b)"
        ),
    ),
    ("prime-asked", ("prime-select",), r"[$#] ?(?:sudo )?prime-select query\b"),
    ("answers-intel", ("intel",), r"^intel$"),
    (
        "first-one-ended",
        ("shut", "Shut", "clos", "Clos", "kill", "Kill", "stop", "Stop", "restart"),
        (r"(?i:(?<!not )\b(?:shut(?:ting)? ?down|clos(?:e|ed|ing)|kill(?:ed|ing)?|stop(?:ped|ping)?|restart(?:ed|ing)?) (?:the )?(?:kernel (?:of|for|in) )?(?:the |my )?(?:first|other|1st|previous|one)\b(?: (?:notebook|kernel|one|program|script|session|process)(?:'s)?(?: kernel)?)?[^.\n?]{0,40}\b(?:second|other|2nd|new one|it|this|next)\b(?: \w+){0,2} (?:works?|runs?|trains?|is (?:fine|ok)|ran|worked)\b)"),
    ),
    (
        "processor-without-avx",
        ("i3", "i5", "i7", "Core 2", "ore2", "ore 2", "entium", "eleron", "henom", "thlon", "Xeon", "Atom"),
        (r"\b[iI][357][- ]?(?:[3-9]\d{2})(?:Q?[MUEKS]{1,2})?\b(?! ?(?:MB|GB|MHz))|(?i:\bcore ?2 (?:duo|quad|extreme)\b|\bphenom\b|\bathlon (?:ii|64)\b)|\bXeon\W{1,3}(?:\w+ )?[EXLW][57]\d{3}\b(?! ?[vV]\d)"),
    ),
    (
        "visible-empty-said",
        ("CUDA_VISIBLE_DEVICES",),
        r"(?i:\bCUDA_VISIBLE_DEVICES['\"`]*(?: ?== ?(?:''|\"\")|(?: \w+){0,3}? (?:is|gets|as|to|becomes|was|being) (?:always |set to |(?:an |the )?)?(?:''|\"\"|empty\b)))(?![^\n]{0,20}\?$)",
    ),
    (
        "without-containers",
        ("ocker", "ontainer"),
        r"(?i:\b(?:no|without(?: an?| any)?|(?:am|are|is) not (?:in|inside|using)(?: an?)?) (?:docker|containers?)\b)",
    ),
    (
        "ecc-error-said",
        ("ECC", "ecc"),
        r"(?i:^(?!\W{0,40}ecc errors?\W{0,40}$|[^\n]{0,300}(?:\b(?:no|0|zero|without|never|not)\b[^\n]{0,12}\becc\b|\becc errors? *:? *0\b))[^\n]{0,300}?\b(?:ecc (?:memory )?error|uncorr\w{0,10} ecc)s?\b(?! counts?| mode))",
    ),
    (
        "old-not-offered",
        ("versions", "Versions"),
        r"(?i:\bno versions? (?:\w+ ){0,3}(?:below|before|older than|lower than|prior to|under|earlier than) \d\.\d|\bonly (?:the )?versions? (?:\w+ ){0,2}(?:from|above|starting (?:from|at|with)|>=?) ?\d\.\d[^.\n]{0,40}\b(?:available|offered|listed|found)\b)",
    ),
    ("exports-ordinal", ("CUDA_VISIBLE_DEVICES",), r"^export CUDA_VISIBLE_DEVICES=[\"']?(?P<value>[1-9]\d?)[\"']?(?=\s|$)"),
    ("one-gpu-granted", ("--gres", "--gpus"), r"^#SBATCH [^\n#]{0,80}?--(?:gres[= ]gpu(?::[a-zA-Z]\w{0,20})?(?::1)?|gpus(?:-per-node)?[= ](?:\w{1,20}:)?1)(?=\s|$)"),
)  # fmt: skip
LANGUAGES = tuple(
    Language(
        "circumstances",
        words,
        (Kind(name, pattern, tell=_TELLS.get(name), once=name not in _SEVERAL_TIMES),),
        told=name not in _PRINTED,
    )
    for name, words, pattern in _KINDS
)
