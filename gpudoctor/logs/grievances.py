"""What people say is wrong, in prose and titles: no driver, no GPU in a container, several GPUs that are slow or wrong.

Such words are weak: they count only where no line of a program shows that something fails, and they decide nothing.
"""

from __future__ import annotations

from ..facts import COMPLAINT
from .language import Kind, Language
from .prose import Prose

_NOT = r"(?:n[o']t|cannot|never|nowhere|unable to|fail(?:s|ed|ing)? to|without)"
_SEEN = (
    r"(?:found|detected|loaded|available|visible|present|installed|recogni[sz]ed|seen|accessible|used|running|there)"
)
_SEE = r"(?:find|see|run|utili[sz]e|detect|access|use|load|recogni[sz]e|get|reach|have|expose|list|show)"
_BE = r"(?:(?:is|are|was|were|be|being|been|to be|seems?|get|gets|got) ){0,4}"
_DRIVER = r"(?:nvidia|gpu|graphics?|cuda)(?: (?:gpu|graphics|display|cuda))? drivers?"
_GPU = r"(?:nvidia |cuda |usable )?(?:gpus?|graphics? cards?|cuda devices?|nvidia devices?)"
_INSIDE = r"(?:\bdocker\b|\bcontainers?\b|\bpodman\b|\bcompose\b|\bimages?\b)"
_CLUSTER = r"(?:\bkubernetes\b|\bk8s\b|\bk3s\b|\bk0s\b|\brke2\b|\bmicrok8s\b|\bminikube\b|\bkind cluster\b|\bkubelet\b|\bgpu[ -]operator\b|\bdevice[ -]plugin\b)"
_FAILS = r"(?:not work|n't work|not working|not function|doesnt work|no longer works|\bfail(?:s|ed|ing)?\b|inoperable|broken|not support|unsupported|not (?:be )?(?:found|detected|available|used)|crash\w*)"
_DISTRIBUTION = r"(?:linux|ubuntu|debian|fedora|arch|mint|pop!?_?os|manjaro|centos|suse|distros?)"
_SEVERAL = r"(?:mirrored ?strategy|nccl|horovod|all_?-?reduce|multi(?:ple)?[- ]?gpus?|(?:two|dual|both|several|[2-8]x?) ?(?:x )?(?:gpus?|rtx|gtx|cards)\b|p2p|distributed training|data ?parallel)"
_WRONG = r"(?:\bnans?\b|\bwrong (?:results?|numbers?|values?|outputs?|data)|\bgarbage\b|\bincorrect (?:results?|values?|outputs?)|\bcorrupt\w*|\bmismatch(?:ing|ed)? (?:results?|data))"
_SLOW = (
    r"(?:\bslow(?:er|ly)?\b|\b(?:performance|bandwidth|busbw|speed|throughput)\b[^\n.]{0,30}\b(?:down\w*|degrad\w*|drops?|los[st]\w*|low\w*|poor|bad|worse|much less)"
    r"|\b(?:low|poor|bad|lower|reduced|worse|lo[st]\w*)\b[^\n.]{0,30}\b(?:performance|bandwidth|busbw|speed|throughput))"
)
_USE = r"util(?:i[sz]ation)?|usage|load"
_LITTLE = r"(?<![\d.])(?:[1-9]|[1-3]\d)(?: ?%)? ?(?:-|to|~|\u2013) ?(?:[1-9]|[1-3]\d) ?%"
_NO_MONITOR = r"^(?![^\n]{0,400}(?:task ?manager|gpu-?z\b))"
"""Those show what draws, not what computes."""

_NO_DRIVER = "driver-does-not-load"
_NOT_STARTED = "container-does-not-start"
_KINDS: tuple[tuple[str, str, str | None], ...] = (
    # the driver
    (
        "says-kernel-module",
        rf"nvidia kernel modules? {_BE}(?:missing|{_NOT} {_SEEN}|{_NOT} (?:built|compiled|load))|(?:missing|no) nvidia kernel module|falling back to nouveau",
        _NO_DRIVER,
    ),
    (
        "says-smi-no-gpu",
        rf"nvidia-smi\b[^\n]{{0,60}}(?:\bno|\bnot any|n't any) (?:nvidia )?(?:devices?|gpus?|cards?)(?: were| was)?(?: {_SEEN})?\b|\bdriver[^\n.]{{0,12}} {_NOT} (?:\w+ )?{_SEE} (?:\w+ ){{0,2}}{_GPU}",
        _NO_DRIVER,
    ),
    ("says-laptop-gpu", rf"\b(?:d-?gpu|discrete (?:gpu|graphics|card)|dedicated (?:gpu|graphics|card))\b[^\n.]{{0,30}}\b(?:not|isn't|n't) {_BE}(?:working|{_SEEN})|\bno d-?gpu\b", _NO_DRIVER),
    ("says-smi-no-driver", r"nvidia-smi\b[^\n]{0,60}\bno (?:nvidia |gpu |cuda )?drivers?\b", _NO_DRIVER),
    (
        "says-wsl-libcuda",
        r"(?<![/\w-])wsl ?2?\b(?!/)[^\n]{0,200}\blibcuda\.so|libcuda\.so[^\n]{0,200}(?<![/\w-])wsl ?2?\b(?!/)|/usr/lib/wsl/lib[^\n]{0,80}\bLD_LIBRARY_PATH\b[^\n]{0,40}\b(?:must|has|needs?|add|missing)",
        _NO_DRIVER,
    ),
    (
        "says-no-libcuda",
        rf"(?:missing|no|lacks?|without|{_NOT} {_SEE}|{_NOT} (?:open|locate)) (?:the )?(?:file )?['\"`]?libcuda\.so|libcuda\.so(?:\.1)?['\"`]?(?: file)? (?:can(?:not|'t| not)|could(?:n't| not)) be (?:{_SEEN}|opened|located)|{_NOT} (?:find|locate|open|load) (?:the )?libcuda\b|\blibcuda {_BE}(?:not|n't|isn't) (?:\w+ )?(?:discovered|found)",
        _NO_DRIVER,
    ),
    (
        "says-no-driver",
        rf"\bno {_DRIVER}(?:$|[.!?,]| (?:{_BE}{_SEEN}|inside|in the|in my))|\b{_DRIVER} {_BE}(?:not|n't) {_BE}{_SEEN}",
        _NO_DRIVER,
    ),
    ("says-no-nvml", r"libnvidia-ml\.so[\d.`'\"]{0,4} (?:\w+ )?(?:missing|not found)\b(?![^\n]{0,30}\bpods?\b)|(?:missing|no) [`'\"]?libnvidia-ml\.so", _NO_DRIVER),
    ("says-root-only", r"\bgpus?\b[^\n]{0,80}\bonly\b[^\n.]{0,60}\b(?:as|by) (?:the )?root\b|\bonly\b[^\n.]{0,80}\b(?:as|by) (?:the )?root\b[^\n]{0,80}\bgpus?\b", _NO_DRIVER),
    (
        "says-old-driver",
        r"\bdrivers?\b[^\n.]{0,20}\b(?:is|are|being|was) (?:too old|outdated|insufficient|not (?:new|recent) enough)|\b(?:too old|outdated) (?:nvidia |cuda |gpu )?drivers?\b",
        "op-fails",
    ),
    (
        "says-amd",
        r"^(?![^\n]*\brocm)(?:[^\n]{0,200}\btensorflow(?:-gpu)?\b[^\n]{0,100}\b(?:amd|radeon)\b(?! (?:ryzen|epyc|threadripper|cpu|processor))|[^\n]{0,200}\b(?:amd|radeon)\b(?! (?:ryzen|epyc|threadripper|cpu|processor))[^\n]{0,100}\btensorflow\b)",
        "op-fails",
    ),
    # containers
    ("says-nv-option", r"(?:\bno|\bnot|n't|without|unsets?|lacks?|neither|missing|forg[eo]t\w{0,3})\b[^\n.]{0,40}[=`' \"]--nv\b|[`' \"]--nv\b[^\n.]{0,40}\b(?:missing|not (?:set|there|added|passed)|unset)", _NOT_STARTED),
    (
        "says-docker-desktop",
        (rf"docker[ -]desktop\b(?=[^\n]{{0,200}}\b(?:gpus?|nvidia|cuda)\b)(?=[^\n]{{0,200}}\b{_DISTRIBUTION}\b)"
        rf"|\b(?:gpus?|nvidia|cuda)\b[^\n]{{0,120}}docker[ -]desktop[^\n]{{0,40}}\b{_DISTRIBUTION}\b|\b{_DISTRIBUTION}\b(?=[^\n]{{0,200}}\b(?:gpus?|nvidia|cuda)\b)[^\n]{{0,80}}docker[ -]desktop"),
        _NOT_STARTED,
    ),
    ("says-swarm", r"(?:docker stack|docker service|\bswarm\b)(?=[^\n]{0,160}(?:gpu|nvidia|cuda))[^\n]{0,200}(?:can'?t|cannot|not|n't|fail|without|no )", _NOT_STARTED),
    (
        "says-cluster",
        (rf"(?:gpus?|nvidia|cuda)\b[^\n]{{0,80}}{_FAILS}[^\n]{{0,40}}{_CLUSTER}|{_CLUSTER}[^\n]{{0,80}}(?:gpus?|nvidia|cuda)\b[^\n]{{0,60}}{_FAILS}"
        rf"|{_CLUSTER}[^\n]{{0,60}}{_NOT} (?:\w+ ){{0,2}}{_SEE} (?:\w+ ){{0,2}}{_GPU}|{_NOT} (?:\w+ ){{0,2}}{_SEE} (?:\w+ ){{0,2}}{_GPU}[^\n]{{0,40}}{_CLUSTER}"
        rf"|libnvidia-ml\.so[^\n]{{0,30}}(?:missing|not found)[^\n]{{0,30}}(?:\bpods?\b|{_CLUSTER})"),
        _NOT_STARTED,
    ),
    ("says-not-mounted", rf"nvidia-smi\b[^\n.]{{0,20}} (?:not|n't) {_BE}(?:mounted|found|available|there)\b[^\n.]{{0,20}}{_INSIDE}", _NOT_STARTED),
    ("says-gpus-option", r"(?:needs?|requires?|missing|without|forg[eo]t\w{0,3}|lacks?|add(?:ed|ing)?|pass(?:ed|ing)?|using|with) (?:the )?[`'\"]?(?:--)?gpus(?:[ =]all)?\b[`'\"]? (?:flag|option|argument|parameter|switch)", None),
    (
        "says-none-inside",
        (rf"{_INSIDE}[^\n.]{{0,60}}\bno {_GPU}\b|\bno {_GPU} {_BE}(?:{_SEEN} )?(?:\w+ ){{0,2}}{_INSIDE}|{_NOT} (?:\w+ ){{0,2}}{_SEE} (?:\w+ ){{0,3}}{_GPU} (?:\w+ ){{0,3}}{_INSIDE}|"
        rf"{_INSIDE}[^\n.]{{0,80}}{_NOT} (?:\w+ ){{0,3}}{_SEE}\b[^\n.]{{0,30}}\b(?:gpus?|nvidia|cuda)\b|{_INSIDE}[^\n.]{{0,60}}\b(?:gpus?|nvidia|cuda)\b[^\n.]{{0,30}}\b(?:not|n't) {_BE}{_SEEN}"
        rf"|\b(?:gpus?|nvidia devices?|cuda)\b[^\n.]{{0,30}}\b(?:not|n't) {_BE}(?:working|{_SEEN}) (?:\w+ ){{0,3}}{_INSIDE}"),
        _NOT_STARTED,
    ),
    # several GPUs
    ("says-wrong-results", rf"{_SEVERAL}[^\n]{{0,100}}{_WRONG}|{_WRONG}[^\n]{{0,100}}{_SEVERAL}", "collective-fails"),
    ("says-slow-collective", rf"\b(?:nccl|all_?-?reduce|p2p)(?:\b|_perf)[^\n]{{0,80}}{_SLOW}|{_SLOW}[^\n]{{0,80}}\b(?:nccl|all_?-?reduce|p2p)(?:\b|_perf)", "runs-slowly"),
    # a GPU
    (
        "says-gsp",
        (r"\bGSP(?:[ -]firmware)?\b[^\n]{0,60}\b(?:hangs?|hung|race|deadlock|time[sd]?[ -]?out|crash(?:es)?|stuck|error|fail(?:s|ed|ure)?)\b"
        r"|\b(?:hangs?|hung|deadlocks?|stuck|times out|crash(?:es)?)\b[^\n]{0,60}\bGSP\b"
        r"|\b(?:gone|fix(?:es|ed)?|solve[sd]?|works?|helps?|helped|cure[sd]?|disabl\w{2,3})\b[^\n]{0,80}(?:NVreg_EnableGpuFirmware=0|\bGSP\b)"),
        "gpu-faults",
    ),
    ("says-gpu-lost", r"(?:^|\b(?:a|one|the|my|1) )(?:gpus?|card) (?:is |are |was |gets? |got |goes |went |becomes? )?(?:lost|missing after|disappear(?:s|ed)?)\b(?! memory)", "gpu-faults"),
    (
        "says-exclusive",
        r"\bexclusive(?: process| thread|_process|_thread)? (?:compute )?mode\b|compute[ -]mode\b[^\n.]{0,30}\bexclusive",
        "op-fails",
    ),
    # what slows
    (
        "says-gpu-waits",
        (rf"{_NO_MONITOR}[^\n]{{0,300}}?(?:"
        rf"\bGPUs?(?:'s)?[- ]?(?:{_USE})\b[^\n.]{{0,30}}\b(?:low(?:er)?|zero|tiny|poor|bad|fluctuat\w{{2,4}}|oscillat\w{{2,4}}|drops?|jump(?:s|ing)|swing(?:s|ing)|(?:not|n't|never) (?:reach|exceed|above|full|go(?:es)? (?:above|over)))\b"
        rf"|\bGPUs?(?:'s)?[- ]?(?:{_USE})\b[^\n.]{{0,24}}{_LITTLE}|\bGPUs? (?:does|do|is|are|stays?|runs?|works?|sits?) (?:only |just |at |about |around ){{0,3}}{_LITTLE}"
        rf"|\b(?:low|poor|bad|zero|fluctuating|spiky)\b[- ](?:volatile )?GPU[- ](?:{_USE})\b|\bGPUs?\b[^\n.]{{0,12}}\b(?:under-?utili[sz]ed|starv(?:ed|es|ing)|waits? for (?:the )?(?:data|input|cpu|batches))\b"
        r"|\b(?:GPU|gpu|显卡) ?(?:的)?(?:利用率|使用率|占用率)[^\n。]{0,12}(?:低|不高|上不去|很小|波动|跳|是 ?0|为 ?0))"),
        "runs-slowly",
    ),
    (
        "says-input-bound",
        r"\binput(?: pipeline)? bottleneck\b|\b(?:data ?load(?:ing|er)|input pipeline|(?:tf\.)?data pipeline|generator) (?:is|was|seems(?: to be)?|becomes|being) (?:\w+ ){0,2}(?:bottleneck|slow\w{0,2}|slower)\b",
        "runs-slowly",
    ),
    (
        "says-slow-copy",
        rf"\b(?:host[- ]to[- ]device|h2d|htod|memcpy|copy(?:ing)? (?:\w+ ){{0,3}}(?:to|from) (?:the |my )?gpu|data transfer (?:to|between)[^\n.]{{0,16}}gpu)\b[^\n]{{0,60}}{_SLOW}|{_SLOW}[^\n]{{0,40}}\b(?:host[- ]to[- ]device|h2d|htod|cudamemcpy\w*|(?:copy|transfer)\w{{0,4}} (?:\w+ ){{0,3}}to (?:the |my )?gpu)\b",
        "runs-slowly",
    ),
    (
        "says-power-cap",
        r"\b(?:sw|hw|software|hardware)?[ _]?power[ _](?:cap|limit|brake)\w{0,10}\b(?![^\n]{0,30}(?:not active|n/a))[^\n]{0,60}\b(?:trigger\w{0,3}|problem|issue|reached|hit\w{0,4}|slow\w{0,4}|throttl\w{1,4}|clocks?)\b",
        "runs-slowly",
    ),
    (
        "says-hot",
        (r"(?<!no )(?<!not )\bthrottl\w{0,5}\b[^\n]{0,100}\b(?:temperatures?|heat|hot|degrees|thermal\w{0,2}|cooling|fans?|\d\d ?\u00b0? ?C)\b"
        r"|\b(?:temperatures?|heat|hot|overheat\w{0,4}|degrees|thermal\w{0,2}|\d\d ?\u00b0? ?C)\b[^\n]{0,100}(?<!no )(?<!not )\b(?:throttl\w{1,5}|slow(?:er|s|ed)? down|down-?clock\w{0,3})"),
        "runs-slowly",
    ),
)  # fmt: skip


LANGUAGE = Prose(
    name=COMPLAINT,
    words=(
        "river", "RIVER", "AMD", "amd", "adeon", "nvidia", "NVIDIA", "Nvidia", "libcuda", "libnvidia-ml", "iscrete", "edicated", "dgpu", "root", "--nv", "ocker", "ontainer", "ubernetes", "k8s", "K8s", "k3s", "K3", "swarm",
        "NaN", "Nan", "nan", "wrong", "arbage", "ncorrect", "NCCL", "nccl", "educe", "P2P", "p2p", "GSP", "NVreg", "GPU", "gpu", "xclusive", "XCLUSIVE",
        "nput", "ata load", "ataload", "ataLoad", "enerator", "power", "Power", "hrottl", "verheat", "显卡", "emcpy", "EMCPY", "H2D", "h2d", "HtoD", "o-Device", "o-device", "o device",
    ),
    kinds=tuple(Kind(name, f"(?i:{pattern})", symptom) for name, pattern, symptom in _KINDS),
)  # fmt: skip
PROGRAMS = Language(
    name="suspicions",
    words=("nsufficient driver",),
    kinds=(Kind("driver-blamed", r"(?i:possibly insufficient driver version)", "op-fails"),),
)
"""What programs say of a cause that they only suspect."""
