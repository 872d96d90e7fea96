"""More of what people complain of, as titles put it: modules that are not rebuilt, GPUs that vanish, containers that lose them.

As weak as grievances.py: it counts only where no line of a program shows that something fails.
"""

from __future__ import annotations

from ..facts import COMPLAINT
from .language import Kind
from .prose import Prose

_NOT = r"(?:\bnot|n[o'\u2019]t|\bcannot|\bnever|\bno longer|\bunable to|\bfails? to|\bfailed to|\bwithout)"
_DRIVER = r"(?:nvidia|gpu)(?:[ /-](?:gpu|graphics|kernel|open))?[ /-](?:drivers?|modules?)(?:[ /](?:kernel )?modules?)?"
_INSIDE = r"\b(?:docker|containers?|podman|pods?|workspaces?)\b"
_GPUS = r"(?:gpus?|nvidia devices?|graphics cards?)"
_NO = r"(?:\bno\b|\bnot\b|n['\u2019]t\b|\bcannot\b|\bwithout\b|\bneither\b|\bmissing\b)"
_AGAIN = r"(?:after (?:it |running |being |having )?(?:\w+ ){0,3}?(?:while|time|hours?|days?|minutes?|idle|idling|daemon-reload)\b|any ?more|all at once|suddenly|periodically|randomly|at some point|over time|overnight)"
_AMD = r"\bamd(?: ?/ ?\w+)?(?: (?:ryzen|epyc|threadripper))? ?(?:cpus?|processors?|ryzen|epyc|threadripper|platform)\b"
_SEVERAL = r"(?:multi(?:ple)?[- ]?gpus?|(?:two|dual|both|several|[2-8]x?) ?(?:x )?(?:gpus?|rtx|gtx|cards)\b|data ?parallel|mirrored ?strategy|distributed training)"
_BAD = r"(?:fail(?:s|ed|ing)?|hang(?:s|ing)?|hung|freez(?:e|es|ing)|stuck|crash(?:es|ed|ing)?|(?:not|n't) work(?:s|ing)?|trouble)"
_FINE = r"(?:works?|working|fine|ok|okay|good|runs?|no problem|all right)"
_PRIME = r"(?:bumblebee|optimus|nvidia[ -]prime|hybrid graphics)"

_NO_DRIVER = "driver-does-not-load"
_NOT_STARTED = "container-does-not-start"
_KINDS: tuple[tuple[str, str, str | None], ...] = (
    # the driver's module
    (
        "says-dkms-fails",
        (r"\bdkms\b[^\n.]{0,60}(?:\bfail(?:s|ed|ing)? (?:to (?:auto)?build|building|to compile)|(?:n't|not|cannot) (?:build|compile)|\bbroken\b|\bbreaks?\b|\bfails? (?:on|with|for|against)\b)"
        r"|\b(?:kernel|linux)\b[^\n]{0,60}\bbreaks?\b[^\n.]{0,20}\bdkms\b|\b(?:breaks?|broke) (?:the )?(?:nvidia )?dkms\b"),
        _NO_DRIVER,
    ),
    (
        "says-module-not-rebuilt",
        (r"\bmodules?\b[^\n.]{0,30}(?:\bnot|n't|never) (?:be |being |get |getting |automatically |auto-?)*(?:re-?built|rebuild|recompiled)\b[^\n]{0,60}\bkernel\b"
        r"|\bdkms modules?\b[^\n.]{0,30}\b(?:gone|disappear\w*|missing|vanish\w*|lost)\b"
        r"|\bkernel (?:up(?:grade|date)s?)\b[^\n.]{0,20}\b(?:breaks?|broke|kills?|killed)\b[^\n.]{0,20}\b(?:nvidia|drivers?)\b"
        r"|\bnvidia\b[^\n.]{0,30}\b(?:stopped working|broken|no longer works?|(?:doesn't|does not|not) work(?:ing)?|fails?)\b[^\n.]{0,12}\b(?:after|since)\b[^\n.]{0,24}\bkernel\b"
        r"|\bkernel (?:up(?:grade|date)s?)\b[^\n]{0,80}\b(?:dkms (?:install|autoinstall|build)\b|(?:reinstall|rebuild|recompile)\w{0,3} (?:the )?(?:nvidia )?(?:driver|module))"),
        _NO_DRIVER,
    ),
    (
        "says-driver-not-loaded",
        rf"\bnvidia[ -]drivers?\b[^\n.]{{0,20}}(?:(?:\bnot|n't) work(?:ing|s)?\b|\bstopped working\b|\bis broken\b)|\bnvidia[ -]drivers? install(?:ation|er)?[^\n.]{{0,12}}\bfail|\b{_DRIVER}\b[^\n.]{{0,30}}{_NOT} (?:be |been |being |get |getting |even )*(?:load(?:s|ed|ing)?|built)\b(?! ?\?)",
        _NO_DRIVER,
    ),
    (
        "says-hybrid-fails",
        rf"\b(?:d-?gpu|(?:discrete|dedicated) (?:gpu|card|graphics))\b[^\n.]{{0,20}}\b(?:disabled|powered off|switched off|turned off)\b|\bnvidia\b[^\n.]{{0,16}}\b(?:disabled|switched off|turned off) (?:by|with|in) (?:prime|bumblebee|bios)|\b{_PRIME}\b[^\n]{{0,80}}\b(?:not|n't|none|nothing|fail(?:s|ing|ed)?|can(?:no|')t|unable|problems?|trouble)\b|\b(?:not|none|nothing|fail(?:s|ing|ed)?|can(?:no|')t|unable|problems?|trouble)\b[^\n]{{0,80}}\b{_PRIME}\b",
        _NO_DRIVER,
    ),
    (
        "says-nouveau",
        r"\bnouveau\b[^\n.]{0,40}\b(?:still|instead|keeps|being)\b[^\n.]{0,12}\b(?:load(?:ed|s|ing)?|used|in use|running|active|nvidia)\b|\b(?:loads?|loaded|uses?|using|falls? back to|back to) (?:the )?nouveau\b[^\n.]{0,30}\b(?:instead|not nvidia|rather)\b|\bnouveau\b[^\n.]{0,20}\bconflict",
        _NO_DRIVER,
    ),
    (
        "says-secure-boot",
        r"\bsecure ?boot (?:prevents|blocks|stops|rejects|refuses)\b|\bsecure ?boot\b[^\n]{0,80}\bnvidia\b[^\n]{0,40}(?:\bfail|\bnot\b|n't|\brejected\b|\bunsigned\b)|\bnvidia\b[^\n]{0,60}(?:\bfail|\bnot\b|n't|\brejected\b|\bunsigned\b)[^\n]{0,60}\bsecure ?boot\b(?! (?:is )?(?:off|disabled))",
        _NO_DRIVER,
    ),
    (
        "says-versions-differ",
        r"\b(?:driver|nvml|kernel module|library)\b[^\n.]{0,30}\bversions? (?:do not|don't|does not|doesn't|didn't) match\b|\bnvidia-smi\b[^\n.]{0,40}\bversion mismatch\b|\bversion mismatch between\b[^\n.]{0,30}\b(?:driver|kernel module|library|nvml)\b|\b(?:driver and library|kernel module and (?:driver|library))\b[^\n.]{0,20}\bmismatch",
        _NO_DRIVER,
    ),
    (
        "says-uvm-absent",
        r"/dev/nvidia-uvm\b[`'\"]?[^\n.]{0,30}(?:\bmissing\b|(?:\bnot|n't) (?:\w+ ){0,2}(?:exist|created|there|found|present|available))|(?:\bno|\bmissing|\bwithout) [`'\"]?/dev/nvidia-uvm\b",
        _NO_DRIVER,
    ),
    (
        "says-lost-in-sleep",
        r"\b(?:gpus?|cuda|nvidia\w{0,4}|tensorflow)\b[^\n.]{0,60}(?:\bnot\b|n't\b|\bno longer\b|\bfails?\b|\bbroken\b|\bunavailable\b|\blost\b|\bgone\b|\bstops?\b|\bloses?\b|\berror\w{0,3}\b)[^\n.]{0,40}\b(?:after|when|upon|on|following)\b[^\n.]{0,30}\b(?:suspend\w{0,3}|suspension|resum\w{1,3}|sleep|slept|hibernat\w{1,3}|wak(?:es?|ing)(?: up)?|woke)\b",
        _NO_DRIVER,
    ),
    ("says-ptx", r"\bunsupported ptx\b|\bptx (?:version )?(?:is |was )?(?:not supported|unsupported)\b", "op-fails"),
    # containers
    (
        "says-container-loses",
        (rf"{_INSIDE}[^\n]{{0,60}}\b(?:los(?:es?|t|ing)|dropp?(?:s|ed|ing)?)\b[^\n.]{{0,24}}\b{_GPUS}\b|\b(?:los(?:es?|t|ing)) (?:the |their |its )?(?:access to )?(?:the )?{_GPUS}\b[^\n.]{{0,60}}{_INSIDE}"
        rf"|\b{_GPUS}\b[^\n.]{{0,40}}\b(?:unavailable|gone|lost|inaccessible|disappears?|vanish(?:es)?|not available)\b[^\n.]{{0,30}}{_AGAIN}[^\n.]{{0,60}}{_INSIDE}"
        rf"|\b{_GPUS}\b[^\n.]{{0,24}}\b(?:gone|lost|disappears?|vanish(?:es)?)\b[^\n.]{{0,16}}{_INSIDE}[^\n.]{{0,16}}{_AGAIN}"
        rf"|{_INSIDE}[^\n]{{0,60}}\bno (?:access to (?:the )?)?{_GPUS}\b[^\n]{{0,12}}{_AGAIN}"),
        _NOT_STARTED,
    ),
    (
        "says-wsl-container",
        rf"\bwsl ?2?\b[^\n]{{0,80}}\bdocker\b(?=[^\n]{{0,80}}\bgpus?\b)[^\n.]{{0,40}}(?:{_NO}|{_BAD})",
        _NOT_STARTED,
    ),
    (
        "says-toolkit-missing",
        (r"\bnvidia[ -](?:container[ -](?:toolkit|runtime)|docker2?)[`'\"]?\b[^\n.]{0,24}(?:\b(?:is|was|were) (?:simply |just )?missing|(?:\bnot|n't) (?:\w+ ){0,2}?(?:installed|set ?up|configured)\b)"
        r"|\b(?:missing|lack(?:s|ed|ing)?|forg[eo]t\w{0,3}|(?:didn't|did not) install) (?:to install )?(?:the )?[`'\"]?nvidia[ -](?:container[ -](?:toolkit|runtime)|docker2?)\b"),
        _NOT_STARTED,
    ),
    (
        "says-runtime-class",
        (r"\b(?:without|only with|have to|need(?:s|ed)?(?: to)?|must|unless|must be|define|mention\w{0,3}|specify\w{0,3}|defining)\b[^\n]{0,40}\bruntimeClassName\b"
        r"|\bpods?\b[^\n]{0,60}(?:\bnot|n't) (?:be able to |able to )?(?:find(?:ing)?|see(?:ing)?|load(?:ing)?) (?:the )?(?:NVML|libnvidia-ml)\b"),
        _NOT_STARTED,
    ),
    (
        "says-no-capacity",
        (rf"{_NO}[^\n]{{0,60}}\b(?:gpus?|nvidia\.com/gpu)\b[^\n.]{{0,40}}\b(?:capacity|capatity|allocatable|(?:node|k8s|kubernetes)(?:'s)? labels?)\b|\b(?:capacity|allocatable)\b[^\n.]{{0,20}}\b(?:gpus?|nvidia\.com/gpu)\b[^\n.]{{0,20}}{_NO}"
        rf"|\b(?:gpus?|nvidia\.com/gpu)\b[^\n.]{{0,30}}{_NO}[^\n]{{0,30}}\b(?:capacity|allocatable)\b|\b0 gpus? (?:are |is )?allocatable\b|{_NO}[^\n.]{{0,20}}\badvertis\w{{1,4}}[^\n.]{{0,20}}\bgpus?\b|\b(?:k8s|kubernetes)\b[^\n.]{{0,30}}{_NO}[^\n.]{{0,12}}\bschedul\w{{1,5}}[^\n.]{{0,12}}\bgpus?\b"),
        _NOT_STARTED,
    ),
    (
        "says-rootless",
        rf"\brootless\b[^\n]{{0,80}}(?:{_NO}|{_BAD})[^\n]{{0,60}}\b(?:gpus?|nvidia|cuda)\b|\b(?:gpus?|nvidia|cuda)\b[^\n]{{0,80}}(?:{_NO}|{_BAD})[^\n]{{0,40}}\brootless\b",
        _NOT_STARTED,
    ),
    (
        "says-cgroup-v2",
        rf"\b(?:nvidia|gpus?)\b[^\n]{{0,80}}(?:{_NO}|{_BAD})[^\n]{{0,40}}\bcgroups? ?-?v2\b|\bcgroups? ?-?v2\b[^\n]{{0,60}}(?:{_NO}|{_BAD})[^\n]{{0,60}}\b(?:nvidia|gpus?)\b",
        _NOT_STARTED,
    ),
    # several GPUs
    (
        "says-unreachable",
        (r"\b(?:multi[- ]?node|distributed|two nodes|several nodes|\d nodes)\b[^\n.]{0,60}\b(?:time[sd]?[ -]?out|connection (?:refused|timed out)|no route to host)\b|\b(?:time[sd]?[ -]?out|connection refused)\b[^\n.]{0,60}\bmulti[- ]?node\b"
        r"|\bnccl\b[^\n]{0,3}connection refused|\bcall to connect returned connection (?:refused|timed out)"
        r"|\bnccl_socket_ifname\b[^\n]{0,30}(?:no effect|\bnothing\b|\bignored\b|(?:\bnot|n't) (?:work|have an effect|respect))|\bnccl\b[^\n.]{0,40}\bwrong (?:network )?(?:interface|nic|ip)\b"),
        "collective-fails",
    ),
    (
        "says-shm-helps",
        r"(?:--shm-size|--ipc[= ]?host|/dev/shm)\b[^\n.]{0,60}\b(?:helps?|helped|fix(?:es|ed)?|solve[sd]?|works|gone|too small)\b|\b(?:helps?|helped|fix(?:es|ed)?|solve[sd]?|works|gone)\b[^\n.]{0,40}(?:--shm-size|--ipc[= ]?host)|\b(?:unless|only with|without)\b[^\n.]{0,12}(?:--shm-size|--ipc[= ]?host)",
        "collective-fails",
    ),
    (
        "says-nvls-fails",
        r"\bnvls\b[^\n.]{0,30}(?:\bfail|\berror|(?:\bnot|n't) work)|\b(?:fail\w{0,3}|errors?)\b[^\n.]{0,30}\bnvls\b",
        "collective-fails",
    ),
    (
        "says-no-p2p",
        r"^(?:\W{0,4}no|[^\n]{0,60}\bthere is no) (?:gpu )?(?:p2p|peer[- ]to[- ]peer)\b|\b(?:p2p|peer[- ]to[- ]peer|peer access)\b[^\n.]{0,30}(?:\bnot|n't) (?:\w+ ){0,2}(?:work\w{0,3}|supported|available|possible|enabled)|\b(?:nccl )?p2p (?:issues?|problems?|trouble|errors?|fail\w{0,4})\b",
        "collective-fails",
    ),
    (
        "says-slow-pair",
        r"\b(?:dual|two|2x|[2-8] ?x) ?(?:rtx ?)?\w{0,12} ?\d{4}\b[^\n]{0,40}\b(?:slow(?:er)?|low(?:er)?|poor)\b[^\n]{0,20}\bbandwidth|\bgpu ?\d\b[^\n]{0,12}\bgpu ?\d\b[^\n]{0,60}\b(?:slow(?:er)?|low(?:er)?|poor)\b[^\n]{0,20}\bbandwidth",
        "runs-slowly",
    ),
    (
        "says-several-fail",
        (rf"{_SEVERAL}[^\n]{{0,80}}\b{_BAD}\b[^\n]{{0,40}}{_AMD}|{_AMD}[^\n]{{0,40}}\b{_BAD}\b[^\n]{{0,60}}{_SEVERAL}|{_SEVERAL}[^\n]{{0,40}}(?:\bnot|n't) work\w{{0,3}}\b[^\n]{{0,40}}{_AMD}"
        rf"|\b(?:one|single|1) gpu\b[^\n.]{{0,30}}\b{_FINE}\b[^\n.]{{0,24}}\b(?:two|both|2|several|multiple)\b[^\n.]{{0,30}}\b{_BAD}\b|\bnccl\b[^\n]{{0,60}}\bcrash(?:es)?\b"),
        "collective-fails",
    ),
    (
        "says-one-instance",
        (r"(?:\bnot|n't|\bonly|\bunable|\bcannot|\bjust)\b[^\n.]{0,60}\b(?:all|each|every|several|multiple|more than one|other|one|single|first|second)\b[^\n.]{0,20}\bmig (?:instances?|devices?|slices?|partitions?)\b"
        r"|\bmig (?:instances?|devices?|slices?|partitions?)\b[^\n.]{0,60}\bonly (?:one|the first|1)\b"),
        "op-fails",
    ),
    # a GPU
    (
        "says-no-answer",
        r"\bnvidia-smi\b[^\n.]{0,20}\b(?:hangs?|hung|freezes|is stuck|gets stuck|never returns)\b|\b(?:shows?|showing|reports?|says|displays?) [`'\"]?ERR!|\bERR! (?:in|from) [`'\"]?nvidia-smi",
        "gpu-faults",
    ),
    (
        "says-ecc",
        r"\becc errors? (?:on|in|of|from) (?:the |my |one |a )?(?:gpu|card|device|[avh]\d{2,3})\b|\b(?:many|lots of|uncorrected|double[- ]bit|getting|shows?) ecc errors?\b",
        "gpu-faults",
    ),
    (
        "says-machine-freezes",
        r"\b(?:machine|computer|pc|desktop|workstation|whole system)\b[^\n.]{0,16}\b(?:freezes?|froze|locks? up|goes black|black screen)\b[^\n]{0,60}\b(?:train\w{0,3}|gpus?|tensorflow)\b",
        "gpu-faults",
    ),
    (
        "says-too-hot",
        r"\b(?:gpus?|card)\b[^\n.]{0,24}\b(?:too hot|overheat(?:s|ing|ed)?)\b",
        "runs-slowly",
    ),
    (
        "says-clocks-stuck",
        r"\b(?:stuck|stays?|locked) (?:in|at|on) (?:p[5-8]\b|low (?:clocks?|freq)|\d{3} ?mhz)|\bgpu clocks? (?:is |are )?stuck\b",
        "runs-slowly",
    ),
    (
        "says-link-reduced",
        r"\b(?:pcie|pci-e)\b[^\n.]{0,12}\bx ?[1248]\b[^\n.]{0,12}\binstead of\b|\bgen ?[12]\b(?![^\n]{0,24}\bidle)[^\n.]{0,24}\b(?:under load|while training|during training)\b|\b(?:pcie|pci-e|pci express)\b[^\n.]{0,40}\b(?:only|just|stuck|limited|downgraded|reduced|degraded|drops?|falls)\b[^\n.]{0,16}\b(?:x ?[1248]|gen ?[12]|[12]\.[01]|2\.5 ?GT|5 ?GT)\b(?![^\n]{0,80}\bidle)|\b(?:pcie |link )?bandwidth (?:is|was|gets?|gets) (?:\w+ )?(?:downgraded|reduced|degraded)\b",
        "runs-slowly",
    ),
    (
        "says-gpus-vanish",
        (r"(?:^|\b(?:a|an|one|the|my|some|all|another|sometimes|\d|two|three|several) )(?:of (?:my|the) )?(?:gpus?|cards?|titan \w{1,3}|tesla \w{1,5}|[rg]tx ?\d{3,4}(?: ?ti)?)\b[^\n.,]{0,40}"
        r"\b(?:(?:had |have |has |keeps? |is |are |it )?(?:disappear\w{0,3}|vanish\w{0,3})|(?:is|are|was|were|gets?|went|goes) (?:gone|missing|lost)\b|(?:is|are) not in [`'\"]?nvidia-smi)(?! memory)"),
        "gpu-faults",
    ),
    (
        "says-slows-in-time",
        r"\b(?:gpus?|gtx|rtx|card)\b[^\n]{0,80}\b(?:slow(?:er|s down)?|slower)\b[^\n]{0,30}\b(?:by and by|over time|after (?:an|some|a few|\d+) (?:hours?|minutes?|time)|and slower|with time)|\bwhy\b[^\n]{0,60}\b(?:gpu|gtx ?\d{3,4})\b[^\n]{0,20}\bbec[oa]me? slow",
        "runs-slowly",
    ),
)  # fmt: skip

LANGUAGE = Prose(
    name=COMPLAINT,
    words=(
        "dkms", "nvidia", "NVIDIA", "Nvidia", "ernel", "DKMS", "apac", "llocat", "ootless", "group", "ode", "NODE", "istribut", "onnect", "SOCKET", "shm", "ipc", "ouveau", "oot", "versions", "mismatch", "ensorflow", "ensorFlow", "uda ", "CUDA", "uvm", "PCI", "pci", "label", "dvertis", "NVLS", "nvls", "nvidia-smi", "ERR!", "ECC", "ecc", "achine", "omputer", "PC", "esktop", "orkstation", "ystem", "ard", "tuck", "stay", "ocked", "en1", "en2", "en 1", "en 2", "WSL", "wsl",
        "odule", "river", "umblebee", "ptimus", "rime", "PRIME", "ybrid", "PTX", "ptx", "ocker", "ontainer", "odman", "orkspace", "ods", "Pod", "pod", "runtimeClassName",
        "p2p", "P2P", "eer", "andwidth", "GPU", "gpu", "AMD", "amd", "NCCL", "nccl", "MIG", "MiG", "mig", "itan", "TITAN", "TX", "esla",
    ),
    kinds=tuple(Kind(name, f"(?i:{pattern})", symptom) for name, pattern, symptom in _KINDS),
)  # fmt: skip
