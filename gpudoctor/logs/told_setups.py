"""What people tell of their setup in several lines, or paste of it: Windows and its release, a laptop's lid, compose files, pod specs,
a Dockerfile, packages of cuDNN, the graphics that a laptop uses. It is weak, and of each kind the first line is kept."""

from __future__ import annotations

from .language import Kind, Language, Tell, Values
from .notebook import Notebook


def _release(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("tensorflow.version", values["version"], line, 1)


_ENDING = r"(?:shut(?:ting)?(?: down|down)?|clos(?:e|ed|ing)|kill(?:ed|ing)?|stop(?:ped|ping)?|quit(?:ting)?|end(?:ed|ing)?|terminat(?:e|ed|ing)|restart(?:ed|ing)?)"
_ON = r"(?: (?:on|of|for|in|the|my|that|kernels?|down)){0,4}"
_OTHER_ONE = r"(?:first|other|1st|previous|older|one)\b(?:'s)?(?! (?:epoch|step|run|try|cell|line|layer|batch|of|gpu|card|attempt|time|day)s?\b)(?: (?:\w+ )?(?:notebook|kernel|one|program|script|session|process|job|python)(?:'s|s|es)?(?: (?:kernel|process))?)?"
_NO_BUT = r"(?:(?!\b(?:not|never|fails?|error|no longer|but)\b|n't\b)[^.\n?]){0,60}?"
_GOES = r"\b(?:works?|worked|runs?|ran|trains?|is (?:fine|ok|okay|good)|all is well|no (?:error|problem)s?|(?:is )?gone|goes away|helps|helped|starts)\b"
_NO_MORE = r"(?i:stop(?:s|ped|ping)? (?:work|be|respond)\w{0,4}|no longer|not? work\w{0,3}|does(?:n't| not)|did(?:n't| not)|\bfail\w{0,4}|gone|lost|lose[sn]?|\bdisappear\w{0,4}|\bvanish\w{0,4}|unavailable|breaks?|broken|until (?:a |the |I )?(?:re(?:boot|start)))"
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
        r"|(?i:\b(?:on|have|using|use|running|native|my|under) (?:native )?(?:windows|win) ?1[01]\b(?! ?(?:host|wsl)|[^\n]{0,80}\bwsl))"),
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
        rf"^(?![^\n]{{0,200}}\b(?:monitor|screen|display)s?\b[^.\n]{{0,40}}\b(?:black|blank|wake|no signal))[^\n]{{0,600}}?(?:{_NO_MORE}[^.\n?]{{0,80}}?{_RESUMED}|{_RESUMED}[^.\n?]{{0,80}}?{_NO_MORE})",
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
        ("libcudnn", "nvidia-cudnn-cu", "CUDNN_PATCHLEVEL", "(cudnn_version.h)"),
        (r"^cuDNN (?P<version4>\d\.\d{1,2}\.\d{1,2}) \(cudnn_version\.h\)$|^libcudnn\d+(?:-dev)?/\S{1,30} (?P<version5>\d\.\d{1,2}\.\d{1,2})|^ii +libcudnn\d+(?:-cuda-\d+)?(?::amd64)? +(?P<version>\d\.\d{1,2}\.\d{1,2})"
        r"|Successfully installed [^\n]{0,600}\bnvidia-cudnn-cu\d\d-(?P<version2>\d\.\d{1,2}\.\d{1,2})|^nvidia-cudnn-cu\d\d +(?P<version3>\d\.\d{1,2}\.\d{1,2})"),
    ),
    (
        "cudnn-too-old",
        ("ompiled", "uilt"),
        (r"(?i:\b(?:compiled|built) (?:with|against|for) cudnn (?P<compiled>\d\.\d{1,2}(?:\.\d{1,2})?)\b[^.\n?]{0,40}\b(?:loaded|runtime)\b[^.\n\d?]{0,40}? (?P<loaded>\d\.\d{1,2}(?:\.\d{1,2})?)(?![\w.]\d)"
        r"|\b(?:loaded|runtime) (?:library )?cudnn(?: library| version)? (?:is |was )?(?P<loaded2>\d\.\d{1,2}(?:\.\d{1,2})?)\b[^\n?]{0,60}?\b(?:compiled|built) (?:with|against|for) (?:cudnn )?(?P<compiled2>\d\.\d{1,2}(?:\.\d{1,2})?)(?![\w.]\d))"),
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
        ("shut", "Shut", "clos", "Clos", "kill", "Kill", "stop", "Stop", "restart", "Restart", "quit", "Quit", "end ", "ended", "terminat"),
        (
            rf"(?i:^(?![^\n]{{0,400}}(?:\b(?:not help|no (?:difference|effect)|in vain|suggest\w*|told me)\b|n't help))[^\n]{{0,300}}?(?<!not )(?<!n't )(?<!without )(?:\b{_ENDING}{_ON} {_OTHER_ONE}\b{_NO_BUT}{_GOES}"
            rf"|\b(?:if|when|once|after|as soon as) (?:the |my )?{_OTHER_ONE} (?:is|was|has been|gets|got) (?:\w+ )?{_ENDING}\b{_NO_BUT}{_GOES}"
            rf"|{_GOES} (?:\w+ ){{0,2}}?(?:if|when|once|after|as soon as|by)\b (?:I |we |you )?(?:first |also )?(?:{_ENDING}{_ON} {_OTHER_ONE}\b|(?:the |my )?{_OTHER_ONE} (?:is|was|has been|gets|got) (?:\w+ )?{_ENDING})))"
        ),
    ),
    (
        "processor-without-avx",
        ("i3", "i5", "i7", "Core 2", "ore2", "ore 2", "Core(TM)", "entium", "eleron", "henom", "thlon", "Xeon", "Atom", "AMD ", "pteron", "empron", "urion"),
        (r"\b[iI][357](?: CPU {1,12}|[- ])?(?:[3-9]\d{2})(?:Q?[MUEKS]{1,2})?\b(?! ?(?:MB|GB|MHz))|(?i:\bcore(?:\(tm\))? ?2 (?:duo|quad|extreme)\b|\bphenom\b|\bathlon(?:\(tm\))? (?:ii|64)\b|\b(?:sempron|turion)\b)"
        r"|\bXeon(?:\(R\))?\W{1,3}(?:CPU )?\W{0,12}(?:\w+ )?[EXLW][3-7]\d{3}\b(?! ?[vV]\d)|\bAtom(?:\(TM\))? (?:CPU )?[CDENZx]|\b(?:Pentium|Celeron)(?:\(R\))? (?:CPU |Gold |Silver |Dual-Core |processor ){0,2}(?:[JN]\d{4}|G[1-5]\d{2,3})\b"
        r"|\b(?:Pentium|Celeron)(?:\(R\))? (?:CPU |Dual-Core |processor ){0,2}(?:B[89]\d0|P[46]\d{3}|[TEU][2-6]\d{3})\b"
        r"|\bPentium(?:\(R\))? (?:4|D|M|III|Dual)\b|\bAMD\b[^\n.]{0,24}\b[EC]-?(?:[356]0|240|300|350|450)[DE]?\b|\bOpteron(?:\(tm\))? (?:Processor )?(?:1[23]|2[234]|41|61|8[234])\d{2}\b"),
    ),
    (
        "cudnn-major-said",
        ("cudnn", "cuDNN", "CUDNN", "CuDNN"),
        (r"(?i:^(?![^\n]{0,300}(?:\b(?:need\w*|requir\w*|want\w*|should|not|never|hasn't (?:\w+ ){0,3}?support|could|uninstall\w*|remov\w*|braucht|verlangt|ben\u00f6tigt|requiere|necesita|pide|exige|demande|requiert|precisa|requer)\b|\u8981\u6c42|\u9700\u8981|\u8981|\u0442\u0440\u0435\u0431\u0443))[^\n]{0,200}?(?<![a-z_])cudnn[ -]?v?(?P<major>[5-9])(?:\.\d[\d.]{0,8})?(?![\d_])"
        r"|cudnn\w{0,20}64_\d\.dll['\"`]{0,2}(?:[^\n\d]{1,24}?)(?<![\d._])(?P<major2>[5-9])(?![\d._%]))"),
    ),
    (
        "uvm-remedy",
        ("nvidia-modprobe", "nvidia-uvm", "nvidia_uvm", "CUDA program", "CUDA app", "CUDA sample", "cuda program", "cuda app", "deviceQuery"),
        (r"(?i:^(?![^\n]{0,400}(?:\?$|\b(?:not help|no (?:effect|difference|luck)|in vain|nothing changes)\b|n't (?:help|work|solve|fix)))[^\n]{0,300}?(?:"
        r"\b(?:nvidia-modprobe [^\n]{0,60}?(?:-u\b|-c ?0\b|--unified-memory\b)|modprobe nvidia[-_]uvm\b)[^\n]{0,120}\b(?:works?|worked|succeeds?|helps?|helped|solve[sd]?|fix(?:es|ed)?|fine|cure[sd]?)\b"
        r"|\b(?:works?|worked|solved|fixed|cured|helped|fine)\b[^.\n]{0,40}\b(?:by|with|after|once|when)\b[^\n.]{0,40}\b(?:nvidia-modprobe [^\n]{0,60}?(?:-u\b|-c ?0\b|--unified-memory\b)|modprobe nvidia[-_]uvm\b)"
        r"|\b(?:works?|working|succeeds?|runs)\b[^.\n]{0,40}\b(?:after|once|until)\b[^.\n]{0,24}\b(?:cuda (?:programs?|app\w{0,9}|samples?)|deviceQuery)\b[^.\n]{0,24}\b(?:run|ran|started|executed)\b[^.\n]{0,12}\bon the host\b))"),
    ),
    (
        "card-refused-said",
        ("ompatible", "support"),
        (r"(?i:^(?![^\n]{0,300}\b(?:whether|if|directml|rocm)\b)[^\n]{0,200}?\b(?:tensorflow|tf)(?:[-_ ]?gpu)? ?v?\d\.\d(?:[^.\n?]|\.\d){0,40}?\b(?:not compatible with|incompatible with|(?:does(?:n't| not)|do(?:n't| not)) (?:support|go (?:together )?with|work (?:on|with))|has no support for|is not supported (?:on|by))"
        r"(?:[^.\n?]){0,30}?\b(?:[RG]TX ?\d{4}|[AHB]\d{2,3}\b|L40|hopper|ampere|blackwell|ada lovelace))"),
    ),
    (
        "avx-absent-said",
        ("AVX", "avx"),
        (r"(?i:^(?![^\n]{0,400}\b(?:if|whether|unless|maybe|perhaps|not compiled|wasn't compiled|host)\b)[^\n]{0,300}?\b(?:cpu|processor|machine|computer|pc|laptop|server|vm|qemu|hypervisor|virtualbox|xeon|celeron|pentium)s?\b[^.\n?]{0,40}?"
        r"\b(?:(?:does(?:n't| not)|do(?:n't| not)) (?:have|support|know|offer|provide)(?: the)?|has no|have no|lacks?|lacking|is missing|misses|without(?: any| the)?)(?: support (?:for|of))? avx2?(?![-\d]?512)\b"
        r"|\bavx2?\b(?: instructions?(?: set)?)? (?:(?:is|are) not|isn't|aren't) (?:supported|available|known|there|present) (?:by|on|in|to) (?:my|the|this|our) (?:\w+ )?(?:cpu|processor|machine|computer|pc|laptop|vm)\b)"),
    ),
    (
        "tensorflow-fails-said",
        ("ensorflow", "ensorFlow"),
        r"(?i:(?<!testing )(?<!installed )\btensorflow\b(?! ?lite)[^.\n?]{0,40}\b(?:exceptions?|errors?|crash\w*|fails?|failed|dies|(?:won't|will not|doesn't|does not|can't) (?:load|start|import))\b|\b(?:exceptions?|errors?|crash\w*|fails?|failed|dies)\b[^.\n?]{0,24}\b(?:load|import|start)\w{0,4} (?:of )?tensorflow\b)",
    ),
    (
        "visible-empty-said",
        ("CUDA_VISIBLE_DEVICES",),
        r"(?i:\bCUDA_VISIBLE_DEVICES['\"`]*(?: ?== ?(?:''|\"\")|(?: \w+){0,3}? (?:is|gets|as|to|becomes|was|being) (?:always |set to |(?:an |the )?)?(?:''|\"\"|empty\b)))(?![^\n]{0,20}\?$)",
    ),
    (
        "without-containers",
        ("ocker", "ontainer"),
        r"(?i:\b(?:no|without(?: an?| any)?|(?:am|are|is) not (?:in|inside|using)(?: an?)?) (?:docker|containers?)\b(?! Desktop|,? (?:com|ap[o\u00f3]s|mas|da|do|de|e|para|que)\b| that (?:needs|wants|uses))(?!(?: containers?)?(?: with \w+| in \w+)? (?:can|could|will|starts?|runs?|works?|is able)\b))",
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
        foreign=name not in _PRINTED,
    )
    for name, words, pattern in _KINDS
)
