"""NCCL, and what TensorFlow, Horovod and people say of collectives: transports, settings, why they fail or hang."""

from __future__ import annotations

from ..facts import Variable
from .language import Kind, Language, Values
from .notebook import Notebook

_FAILS = "collective-fails"


def _set(values: Values, line: int, notes: Notebook) -> None:
    """A variable that NCCL says it uses."""
    told = notes.told("environment.variables") or ()
    if not any(v.name == values["name"] for v in told):
        notes.add("environment.variables", Variable(name=values["name"], value=values["value"]), line)


def _version(values: Values, line: int, notes: Notebook) -> None:
    notes.tell("nccl.version", values["version"], line)


_SEVERAL = (
    r"(?:[Mm]irrored ?[Ss]trategy|NCCL|[Nn]ccl(?!\.conf)|[Mm]ulti(?:ple)?[- ]?(?:GPU|gpu|Gpu|worker|node|machine)s?|(?:[Mm]ultiple|several|two|[Dd]ual|[2-9]|1\d|more) (?:[\w-]{1,12} )?(?:hosts|nodes|machines|GPUs|gpus|cards)"
    r"|[Aa]ll[-_ ]?[Rr]educe|[Hh]orovod|[Dd]istribut(?:ed|ion|e) (?:training|strategy)|[Pp]arallel training|GPU ?\d and GPU ?\d|[Bb]oth (?:GPUs?|cards)|\d\+? (?:or more )?GPUs)"
)
_NANS = r"[`'\"]?[Nn]a[Nn][`'\"]? (?:errors?|values?|loss(?:es)?|gradients?)\b"
_HANGS = (
    r"(?:(?<![Nn]othing )(?<![Nn]ever )[Hh]angs?\b|[Hh]ung\b|hanging\b|hang-?up\b|[Ss]tucks?\b|[Ff]reez(?:e|es|ing)\b|froze(?:n)?\b|[Dd]eadlocks?\b|[Ss]talls?\b|stalled\b|infinite polling|polls? (?:for ever|forever)|never gets? (?:past|beyond|through)\b|(?:doesn't|does not) (?:proceed|progress|continue|finish|return|terminate)"
    r"|never (?:starts?|started|begins?|began|finish(?:es|ed)?|ends?|ended|proceed(?:s|ed)?|returns?|returned|completes?)\b|(?:waits?|blocks?|runs?) forever)"
)
_WRONG = r"(?:(?i:loss|accuracy|results?|gradients?|weights|outputs?|numbers)\b[^.\n]{0,40}\b(?:(?i:nan)s?\b|wrong\b|garbage\b|zeros?\b|(?:does not|doesn't|don't|never|not) (?:go(?:es)? (?:up|down)|improve|converge|decrease|increase|rise|fall|change|move)|corrupt\w*|differs?\b))"
"""What a training shows whose GPUs do not get each other's data."""
_HELPS = r"(?:works?|solve[sd]?|fix(?:es|ed)?|helps|helped|runs|resolve[sd]|gone|cure[sd]?|finally)"
_ASSENTS = (
    r"^(?![^\n]{0,400}(?:\bstill\b|\bnot? (?:help|work|effect|difference|change|luck|solve|fix)|n't (?:help|work|solve|fix)"
    r"|BOOT_IMAGE|[Cc]ommand line|CMDLINE))"
)
"""Before what helped: nobody says that it did not, and it is no kernel's command line."""
_WINDOWS = r"(?:on|On|in|with|for) (?:native )?[Ww]in(?:dows|10|11)\b|Windows (?:10|11|7|[Ss]erver)"
_NO_OP = (
    r"No OpKernel was registered to support Op '?Nccl\w{1,30}|Op type not registered '?Nccl\w{1,30}"
    r"|Distributed package doesn't have NCCL|NCCL is not (?:supported|available) (?:on|for|in) [Ww]indows"
)
_ROUTE = r"(?:[Cc]onnection refused|[Cc]onnection timed out|[Nn]o route to host|[Ss]oftware caused connection abort|[Nn]etwork is unreachable|timeout|timed out|failed)"

LANGUAGE = Language(
    name="nccl",
    words=(
        "Verification error", "from one ", "connectFullMesh", "the loopback address",
        "NCCL", "nccl", "Nccl", "Duplicate GPU", "NVLINK connected", "CUDA IPC handle", "NET/IB", "Connect: ", "socket interface", "Cuda failure", "nvls.cc", "PeerAccess(", "eer access", "Peer Device", "dev/shm", "shared memory", "insufficient", "ACSCtl", "ACS", "iommu", "IOMMU",
        "VT-d", "AMD-Vi", "btl_tcp", "subset of ranks", "ollective", "us error", "nhandled", "SIGBUS", "signal 7", "exitcode", "device function", "NVLink SHARP", "ulticast", "broadband", "P2P", "CUDA IPC",
    ),
    kinds=(
        Kind(
            "nccl-shm-other",
            r"NCCL WARN [^\n]{0,160}(?:shared memory (?:segment|file)|Could not map /dev/shm/)[^\n]{0,160}(?:No such file|Permission denied|not permitted|Too many open|Cannot allocate memory)"
            r"|Error while attaching to shared memory segment|NCCL WARN Call to (?:shm_open|mmap) failed",
            _FAILS,
        ),
        Kind(
            "nccl-shm-full",
            r"Call to posix_fallocate failed|failed to extend /dev/shm/nccl|Error while creating shared memory segment|Unable to allocate shared memory"
            r"|NCCL WARN [^\n]{0,200}No space left on device|insufficient shared memory|bus error encountered in worker",
            _FAILS,
        ),
        Kind(
            "bus-error",
            r"(?<!PCIe )\b[Bb]us error\b(?!: severity)|\bSIGBUS\b|[Ss]ignal 7\b|exitcode ?: -7\b|^#?\d{1,3} +0x[0-9a-f]{8,16} (?:in )?ncclShm\w{2,20}",
            _FAILS,
        ),
        Kind(
            "nccl-no-interface",
            r"no socket interface found|No usable listening interface found|[Nn]o usable (?:network |socket )?interface"
            r"|is neither AF_INET\(2\) nor AF_INET6|Socket creation failed : Address family not supported",
            _FAILS,
        ),
        Kind("gloo-not-connected", r"Gloo connectFullMesh failed|Unable to resolve hostname to a \(local\) address\. Using the loopback", _FAILS),
        Kind("nccl-other-subnet", r"NCCL WARN Net : No interface found in the same subnet", _FAILS),
        Kind("nccl-fabric-not-ready", r"NCCL WARN [^\n]{0,80}(?:failure 802|system not yet initialized)|cuMulticast\w{2,20}\b[^\n]{0,120}(?:\b802\b|system not yet initialized)", _FAILS),
        Kind(
            "nvls-failed",
            r"nvls\.cc:\d{1,5} (?:NCCL WARN|Cuda failure)|Failed to bind NVLink SHARP|NVLink SHARP \(NVLS\) [Mm]ulticast memory|NCCL WARN [^\n]{0,80}[Mm]ulticast|cuMulticast(?:BindMem|BindAddr|Create|AddDevice)\b[^\n]{0,120}(?:[Ff]ail|[Ee]rror|invalid argument)",
            _FAILS,
        ),
        Kind(
            "nccl-no-code",
            r"NCCL WARN [^\n]{0,80}(?:no kernel image is available|invalid device function|named symbol not found|provided PTX was compiled)",
            _FAILS,
        ),
        Kind("no-device-function", r"(?i:\bno device function\b)|NCCL[^\n]{0,120}invalid device function", _FAILS),
        Kind("nccl-no-memory", r"NCCL WARN [^\n]{0,80}'out of memory'|^Cuda failure (?:\d{1,3} )?'out of memory'", _FAILS),
        Kind("nccl-duplicate-gpu", r"Duplicate GPU detected", _FAILS),
        Kind("nccl-versions-differ", r"Mismatched NCCL version detected", _FAILS),
        Kind("nccl-driver-old", r"NCCL WARN CUDA Driver version found is \d{4,5}\. Minimum|NCCL WARN CUDA some PFN functions not found", _FAILS),
        Kind("nccl-lacks-driver", r"NCCL WARN Failed to (?:find CUDA library|open libnvidia-ml)", _FAILS),
        Kind("nccl-nvlink-without-p2p", r"P2P is disabled between NVLINK connected GPUs", _FAILS),
        Kind(
            "peer-copies-wrong",
            r"Verification error @ element \d+: val = |(?i:\b(?:tensors?|cop(?:y|ies|ying)|mov(?:es?|ing)|data|values?)\b[^.\n]{0,80}\bfrom one (?:gpu|device|card) to (?:the other|another|the next)\b"
            r"[^.\n]{0,80}\b(?:zeros?|wrong|garbage|nans?|(?:doesn't|does not|don't) work|incorrect|corrupt\w*)\b)",
            _FAILS,
        ),
        Kind("nccl-no-transport", r"NCCL WARN No transport found for rank", _FAILS),
        Kind("nccl-ipc-failed", r"failed to (?:open|get) CUDA IPC handle(?![^\n]{0,60}: 217\b)", _FAILS),
        Kind("nccl-imex", r"NCCL WARN MNNVL [^\n]{0,60}not working on this system", _FAILS),
        Kind("nccl-bind-failed", r"NCCL WARN (?:Call to bind failed|Net : error encountered when getting address info|Bootstrap : failed to find interface)", _FAILS),
        Kind("nccl-ib-used", r"NCCL INFO NET/IB ?: Using \["),
        Kind(
            "nccl-ib-failed",
            r"NCCL WARN (?:Call to ibv_\w{3,30} failed|NET/IB ?: (?:Got completion|\S{2,20} Got async event|Unable to open device))|^NET/IB ?: Got completion from peer",
            _FAILS,
        ),
        Kind("nccl-peer-gone", r"NCCL WARN [^\n]{0,80}(?:[Cc]onnection closed by remote peer|Connection reset by peer|Broken pipe)", _FAILS),
        Kind(
            "peer-refused",
            r"code=\d{1,3}\(\w{4,60}\) {0,2}\"?cudaDeviceEnablePeerAccess|peer access is not supported between these two devices|P2P\)? access (?:isn't|is not) supported between|CUDA IPC handle : 217|cudaErrorPeerAccessUnsupported|PEER_ACCESS_UNSUPPORTED",
            _FAILS,
        ),
        Kind("geforce-no-p2p", r"doesn't support faster communication broadband|\b(?:RTX ?)?(?:20|30|40|50)[6-9]0(?: ?Ti)?\b[^.\n]{0,40}\b(?:has no|have no|without|lacks?|doesn't support|does not support|don't support) (?:P2P|p2p|[Pp]eer)", _FAILS),
        Kind(
            "tf-peers-apart",
            r"(?:Peer access not supported between|cannot enable peer access from) device ordinals? (?P<first>\d{1,3}) (?:and|to device ordinal) (?P<second>\d{1,3})"
            r"|Device=(?P<first2>\d{1,3}) CANNOT Access Peer Device=(?P<second2>\d{1,3})",
        ),
        Kind("some-peers-said", r"(?i:\b(?:only|just) (?:some|certain|few|\d{1,2}) (?:\w+ ){0,3}pairs\b[^.\n]{0,60}\bpeer access\b|\bpeer access (?:is )?(?:just|only) (?:possible )?between (?:the )?GPUs (?:under|behind|on) (?:one|the same)\b)"),
        Kind("peers-together", r"Device=\d{1,3} CAN Access Peer Device=\d|Peer access from \S[^\n]{0,60} -> [^\n]{0,60} : Yes"),
        Kind("nccl-setting", r"(?:NCCL INFO (?P<name>NCCL_\w{1,40}) set (?:by environment )?to|^\W{0,3}(?P<name2>NCCL_\w{1,40}) set by environment to) (?P<value>[^\s]{1,80}?)\.?$", tell=_set),
        Kind("nccl-interface", r"NCCL INFO (?:Bootstrap ?:|NET/Socket ?:|NET ?:) Using [^\n]{0,200}\[\d\](?P<interface>(?:veth|docker|br-|virbr|cni|flannel)[\w.-]{0,20}):(?P<address>[\da-fA-F.:]{2,45})"),
        Kind("nccl-interface", r"NCCL INFO (?:Bootstrap ?:|NET/Socket ?:|NET ?:) Using (?:interface )?(?:\[\d\])?(?P<interface>[\w.-]{1,20}):(?P<address>[\da-fA-F.:]{2,45})"),
        Kind(
            "nccl-connect-failed",
            rf"NCCL (?:Network is unreachable / )?(?P<error2>[Cc]onnection (?:timed out|refused)|[Nn]etwork is unreachable)|NCCL\b[^\n]{{0,60}}[Cc]onnect(?: to (?P<address>[\w.:%-]{{2,60}})(?:<\d{{1,6}}>)?)?[^\n]{{0,60}}\b(?P<error>{_ROUTE})",
            _FAILS,
        ),
        Kind("mpi-connect-failed", rf"btl_tcp[^\n]{{0,120}}connect\(\) to (?P<address>[\w.:]{{2,45}}) failed: (?P<error>{_ROUTE})", _FAILS),
        Kind("nccl-connect-failed", r"^socket(?:Start|Poll)Connect: [Cc]onnect to (?P<address>[\w.:%-]{2,60})(?:<\d{1,6}>)? (?P<error>failed|timed out)", _FAILS),
        Kind("nccl-cuda-failure", r"NCCL WARN Cuda failure", _FAILS),
        Kind("nccl-transport", r"NCCL INFO (?:Channel|Ring) 0?0(?:/0)? ?: (?P<first>\d{1,5})\[\w{1,8}\] -> (?P<second>\d{1,5})\[\w{1,8}\] (?:\[(?:send|receive)\] )?via (?P<way>P2P|SHM|direct shared memory|NET)"),
        Kind("nccl-op-absent", _NO_OP, _FAILS),
        Kind(
            "nccl-system-error",
            r"unhandled system error|ncclSystemError|ncclCommInitRank failed: unhandled system",
            _FAILS,
        ),
        Kind("nccl-cuda-error", r"unhandled cuda error|ncclUnhandledCudaError|nccl\w{0,20}: unhandled cuda", _FAILS),
        Kind(
            "nccl-error",
            r"NCCL(?: [Ee]rror \d)?: (?:invalid (?:usage|argument)|internal error|remote process exited)|nccl[A-Z]\w{2,24} failed: (?:invalid|internal|remote)|ncclInvalidArgument: |ncclInternalError|ncclInvalidUsage|ncclRemoteError|NCCL failure|NCCL error|Error invoking NCCL"
            r"|Watchdog caught collective operation timeout|Collective ops is aborted by|[Cc]ollective\w{0,10} (?:op\w{0,10} )?timed out|by subset of ranks and are waiting for remainder",
            _FAILS,
        ),
        Kind("acs-on", r"ACSCtl:\s{1,4}SrcValid\+|ReqRedir\+|ACS is enabled on"),
        Kind(
            "iommu-cure",
            rf"{_ASSENTS}[^\n]{{0,300}}(?:(?:intel_iommu|amd_iommu|iommu)=(?:off|pt|soft)|pci=noacs|ECAP_ACS|disable_acs"
            rf"|(?:IOMMU|ACS|VT-d|AMD-Vi)\b(?! (?:is|are|was|were|stays|has been) (?:\w{{1,10}} )?(?:off|disabled)\b(?![^.\n]{{0,60}}\b{_HELPS}\b))[^.\n]{{0,60}}\b(?:off|disabled)\b(?![^.\n]{{0,20}}\b(?:checked|already|verified)\b)"
            r"|(?:[Dd]isabl\w{1,3}|[Tt]urn\w{0,3}|[Ss]witch\w{0,3}) (?:off )?(?:the )?(?:IOMMU|ACS|VT-d|AMD-Vi))",
        ),
        Kind("p2p-cure", rf"{_ASSENTS}[^\n]{{0,300}}(?:\bunless (?:\w+ ){{0,3}}NCCL_P2P_DISABLE|\b{_HELPS}\b[^.\n]{{0,60}}NCCL_P2P_DISABLE|NCCL_P2P_DISABLE[^.\n]{{0,60}}(?:\b{_HELPS}\b|\b(?:it|training) starts\b|\bno (?:more )?(?:dead ?lock|hang)))|(?:[Hh]angs?|[Ff]reez\w{{1,3}}|[Dd]ead ?locks?)\b[^.\n]{{0,40}}\bwith P2P enabled\b"),
    ),
)  # fmt: skip
HOSTS = Language(
    name="nccl",
    words=("] NCCL INFO ",),
    kinds=(
        Kind(
            "nccl-host",
            r"(?:^|[> ])(?P<host>[A-Za-z0-9][\w.-]{0,60}):\d{1,8}:\d{1,8} \[\d{1,3}\] NCCL INFO (?:Bootstrap|NET)\b",
        ),
    ),
)
"""Which machines take part."""
BUILT = Language(
    name="report",
    words=("NCCL version", "Min Comp Cap", "NVLS Bind"),
    kinds=(
        Kind("nccl-version", r"NCCL version (?P<version>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?:\+cuda(?P<cuda>\d{1,2}\.\d))?", tell=_version),
        Kind("nccl-oldest-gpu", r"\bMin Comp Cap (?P<major>\d{1,2})\b", once=True),
        Kind("nvls-bound", r"NCCL INFO NVLS Bind mem"),
    ),
)  # fmt: skip
"""Which NCCL it is, and what it can."""
_SHM = r"(?i:\bshared[- ]memory\b|/dev/shm|\bshm\b(?![-_]size))"
_TOO_SMALL = r"(?i:\b(?:too (?:small|little|low)|insufficient|runs? out|ran out|is full\b|only (?:has |have |of )?(?:64|32|16) ?M)|(?:\bnot|n't) (?:be )?(?:sufficient|enough|large enough|big enough))"
_FREIGHT = r"(?i:nccl|multi-?gpus?|several gpus|all-?reduce|tensor[- ]parallel\w*)"
_COPIED = r"(?:mov|cop|transferr?)(?:e|es|ed|ing|y|ies|ied|ying)?"
_DEVICE = r"(?:gpu|device|card)"
_APART = (
    rf"(?:[^.\n]{{0,40}}\b(?:(?:between|across|from one|from (?:a )?gpu to) [^.\n]{{0,30}}\b(?:gpus?|devices|cards)|(?:from )?{_DEVICE}[- ]to[- ]{_DEVICE}"
    rf"|(?:to|onto) (?:the |an?)?(?:other|another|different|second) {_DEVICE})\b)"
)
_ACROSS = rf"\b(?:(?:cross|inter)[- ]?{_DEVICE}|{_DEVICE}[- ]to[- ]{_DEVICE}|peer[- ]to[- ]peer|p2p|peer) (?:\w+ )?(?:cop(?:y|ies|ying)|transfers?|moves?)\b"
"""What is copied between GPUs, before or behind the word for it."""
_SPOILT = r"(?:(?:values?|numbers|data|tensors?) (?:randomly )?(?:change|differ)\w*|corrupt(?:s|ed|ion)?|garbage|wrong (?:data|values?|results?|numbers)|zeros|zero tensors?|all zero|(?:fail(?:s|ed|ing)? )silent(?:ly)?|silent(?:ly)? fail(?:s|ed|ing|ures?)?)\b"
REPORTS = Language(
    name="report",
    words=("hared memory", "hared-memory", "dev/shm", "shm", "共享内存", "hang", "Hang", "hung", "tuck", "reez", "roze", "eadlock", "tall", "infinite polling", "doesn't", "NaN", "Nan", "nan", "ilent", "rong", "arbage", "zero", "not ", "orrupt", "can't be", "cannot be", "couldn't be", "CPU first", "differ", "does not", "never", "forever", "indows", "卡", "死锁", "挂起"),
    kinds=(
        Kind(
            "shm-called-small",
            rf"{_FREIGHT}[^\n]{{0,160}}{_SHM}[^.\n]{{0,50}}{_TOO_SMALL}|{_FREIGHT}[^\n]{{0,160}}{_TOO_SMALL} {_SHM}|{_SHM}[^.\n]{{0,50}}{_TOO_SMALL}[^\n]{{0,160}}{_FREIGHT}"
            rf"|{_TOO_SMALL} {_SHM}[^\n]{{0,160}}{_FREIGHT}|(?i:nccl)[^\n]{{0,160}}共享内存[^\n]{{0,20}}(?:不足|不够|太小|过小|有限|只有)|共享内存[^\n]{{0,20}}(?:不足|不够|太小|过小|只有)[^\n]{{0,160}}(?i:nccl)"
            rf"|--shm[-_]size\b[^.\n]{{0,40}}\b{_HELPS}[^.\n]{{0,60}}{_FREIGHT}|{_FREIGHT}[^\n]{{0,160}}\b{_HELPS} (?:\w+ ){{0,4}}[`'\"]?--shm[-_]size",
            _FAILS,
        ),
        Kind("collective-hangs", rf"\b{_SEVERAL}(?:(?!\b(?:if|when) (?:only|just) (?:one|1)\b)[^\n]){{0,160}}\b{_HANGS}|(?<!question is about )\b{_HANGS}[^\n]{{0,160}}\b{_SEVERAL}", _FAILS),
        Kind("collective-hangs", r"(?:多卡|多机|双卡|分布式|NCCL|nccl)[^\n]{0,60}(?:卡住|卡死|死锁|挂起)", _FAILS),
        Kind(
            "several-compute-wrongly",
            rf"\b{_SEVERAL}[^\n]{{0,120}}\b{_WRONG}|\b{_WRONG}[^\n]{{0,120}}\b{_SEVERAL}|{_NANS}[^\n]{{0,120}}\b{_SEVERAL}",
        ),
        Kind(
            "peer-refused",
            r"(?i:\b(?:gpu[- ])?(?:p2p|peer[- ]to[- ]peer)\b(?: access| mode)? (?:can(?:'t|not| not)|could(?:n't| not)) be (?:turned on|enabled|activated|used)\b)",
            _FAILS,
        ),
        Kind(
            "peer-copies-wrong",
            rf"(?i:\b{_COPIED} {_APART}[^.\n]{{0,60}}\b{_SPOILT}|\b{_SPOILT} [^.\n]{{0,40}}\b{_COPIED} {_APART}"
            rf"|{_ACROSS}[^.\n]{{0,60}}\b{_SPOILT}|\b{_SPOILT} [^.\n]{{0,30}}{_ACROSS}"
            rf"|\b{_COPIED} {_APART}[^.\n]{{0,40}}\b(?:has|have|needs?|must) (?:to )?(?:go|be moved|be copied|pass)\b[^.\n]{{0,30}}\bcpu first)",
            _FAILS,
        ),
        Kind("mirrored-on-windows", rf"(?:[Mm]irrored ?[Ss]trategy|NCCL|[Mm]ulti[- ]?(?:GPU|gpu))[^\n?]{{0,100}}(?:{_WINDOWS})(?!\W{{0,3}}\?)", _FAILS),
    ),
    foreign=True,
)  # fmt: skip
"""What people say of collectives: weak words."""
