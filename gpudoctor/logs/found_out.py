"""What somebody has found out by himself, or a tool has told him, and says in a sentence: whose nvcc answers, what became of a path, who
had the GPU, what a cluster's tool lists."""

from __future__ import annotations

from ..facts import COMPLAINT
from ..facts import READS_LIKE_A_FAULT as FAINT
from .language import Kind, Language

_KINDS = (
    Kind(
        "nvcc-shows-another",
        r"(?i:\bcuda(?: toolkit)? ?v?(?P<installed>\d{1,2}\.\d)\b[^\n]{0,80}?\bnvcc\b[^\n\d]{0,40}?(?:cuda |release |version )?(?!(?P=installed))(?P<shown>\d{1,2}\.\d)\b(?!\.?\d)(?! (?:is|was) (?:gone|removed)))",
        FAINT,
    ),
    Kind(
        "path-overwritten-said",
        r"(?i:\b(?:wip(?:es|ed)|overw\w+|resets?|clear(?:s|ed)|unsets?|empt(?:ies|ied)|replac(?:es|ed)|los(?:es|t)|remov(?:es|ed)) (?:my |the |our |its )?[`'\"]?\$?LD_LIBRARY_PATH\b"
        r"|\bLD_LIBRARY_PATH\b[`'\"]? (?:is|was|gets|got|had been) (?:\w+ )?(?:wiped|overw\w+|reset|cleared|unset|emptied|replaced|lost|removed)\b)",
        FAINT,
    ),
    Kind(
        "holder-found-said",
        r"(?i:\b(?:another|(?:an|some|my) other|a different|an? old|a stale|a zombie|a forgotten)(?: \w+){0,3}? (?:process|(?:micro)?service|notebook|kernel|job|container|program|session|script|instance)(?: of (?:mine|ours))?"
        r" (?:had|has|held|holds|took|occupied|blocked|used|was (?:using|holding|occupying|blocking)) (?:\w+ ){0,2}?(?:all |both )?(?:the |my )?(?:gpus?\b|gpu'?s|cards?\b|(?:gpu )?memory|vram))",
        FAINT,
    ),
    Kind(
        "plain-package-then-cpu",
        r"(?i:\binstalled (?:the )?[`'\"]?tensorflow(?![-_]gpu|\w)[`'\"]?[^.\n]{0,40}\b(?:on the cpu only|only (?:on|uses|with) (?:the |my )?cpu|on (?:the |my )?cpu\b))",
        FAINT,
    ),
    Kind("runtime-not-set-up-said", r"(?i:\bdocker runtime (?:is )?not (?:configured|set up|registered)\b|\bnvidia runtime (?:is )?not (?:configured|registered|found in docker))", FAINT),
    Kind(
        "vgpu-slows-said",
        r"(?i:\bv-?gpus?\b[^\n]{0,200}\b20 min(?:ute)?s?\b|\bgpus?\b[^.\n]{0,60}\b(?:without (?:an? |the |valid )*|no (?:valid )?|missing |expired |un-?)licen[sc]e|\blicen[sc](?:e|ing) (?:of|for) (?:the |our |my )?v?gpus?\b[^.\n]{0,40}\b(?:expired|missing|changed|ran out|lost|invalid))",
        FAINT,
    ),
    Kind(
        "data-on-a-share",
        r"(?i:\b(?:data ?set|data|images|files|records)\b[^.\n]{0,40}?\b(?:mounted|google|network|external|usb|nfs|shared) ?(?:drive|share|disk|hdd|storage|mount)\b)",
    ),
    Kind(
        "idle-with-memory-said",
        r"(?i:\bgpu(?:'s)?[ -]?(?:utili[sz]ation|util|usage|load)\b[^.\n]{0,24}\b0 ?%?(?![\d.])[^.\n]{0,60}?\b(?:gpu'?s? |its |the |v?ram|video )?memory\b[^.\n]{0,24}\b(?:taken|full|occupied|allocated|used))"
        r"|\u663e\u5b58[^\u3002\n]{0,8}\u6ee1[^\n]{0,24}(?:\u4f7f\u7528\u7387|\u5229\u7528\u7387|(?i:gpu[- ]?util))[^\u3002\n]{0,8}(?<![\d.])0(?![\d.])",
        "runs-slowly",
    ),
    Kind(
        "card-is-too-old-said",
        r"(?i:\b(?:gpu|card)\b[^.\n]{0,80}\bcompute capability\b[^.\n]{0,40}?(?:\btoo (?:low|old)\b|\bis an old one\b|\d\.\d\)?[^.\n]{0,60}\b(?:needs?|wants?|requires?|demands?)\b[^\n]{0,12}(?:at least )?\d\.\d))",
        FAINT,
    ),
    Kind(
        "nvidia-docker-was-needed",
        r"(?i:\b(?:should|must|had to|have to|needed to|ought to)\b[^.\n]{0,30}\bnvidia-docker[`'\"]?(?: run)?,? (?:instead of|rather than|and not|not|in place of) (?:plain |just )?[`'\"]?docker\b)|\u8be5\u7528 ?[`'\"]?nvidia-docker",
        FAINT,
    ),
    Kind(
        "cudnn-wanted-and-here",
        r"(?i:\b(?:wants?|needs?|requires?|expects?|asks for|built (?:with|for|against)|compiled (?:with|for|against)) (?:at least )?cudnn[ v]{0,3}(?P<wanted>[5-9]\.\d{1,2})(?:\.\d+)?\b[^\n]{0,60}?\b(?:loaded|installed|has|have|runtime|there|finds?|found|ships|brings)\b[^\n\d]{0,40}(?P<here>[5-9]\.\d{1,2})(?:\.\d+)?\b)",
        FAINT,
    ),
    Kind(
        "toolkit-lacks-a-library",
        r"(?i:\b(?:miss\w*|can(?:no|')t|not (?:find|found)|lacks?|without|no)\b[^.\n]{0,60}?\blibnvidia-gpucomp\b|\blibnvidia-gpucomp\b[^\n]{0,60}?\b(?:cannot open|not found|missing|no such|can(?:no|')t be (?:found|opened|loaded)))",
        FAINT,
    ),
    Kind(
        "uvm-node-lacks",
        r"(?i:\bno /dev/nvidia-uvm\b(?! ?\?)|\bunless\b[^.\n]{0,12}\b(?:nvidia-smi|nvidia-modprobe|devicequery)\b[^.\n]{0,60}\b(?:was|were|is|are|has been) (?:first |once )?(?:run|called|started)\b)",
        FAINT,
    ),
    Kind(
        "driver-for-linux-asked",
        r"(?i:\b(?:apt|apt-get)\b[^\n]{0,20} install\b[^\n]{0,60}\b(?:nvidia-utils|nvidia-driver|libnvidia-compute|nvidia-compute-utils)-\d{3})",
    ),
    Kind(
        "cublas-older-than-linked",
        r"TensorRT was linked against cuBLAS(?:/cuBLAS ?LT)? (?P<major>\d{1,3})\.[\d.]{1,8} but loaded cuBLAS(?:/cuBLAS ?LT)? (?P=major)\.[\d.]{1,8}|\blibcublas(?:Lt)?\.so\.\d{1,2} (?:is not|isn't|not) defined\b",
        FAINT,
    ),
    Kind(
        "gpu-ran-out-said",
        r"(?i:\bgpu\b[^.\n]{0,60}\bmemory (?:has |had )?(?:run|ran) out\b)",
        FAINT,
    ),
    Kind(
        "cudnn-wrong-said",
        r"(?i:\bwrong (?:sub-?|minor |patch )?version of (?:the )?cudnn\b|\bcudnn\w{0,6}(?:\.dll)?(?: \w+){0,3}? (?:is |was |being )?(?:of )?(?:a |the )?wrong (?:sub-?|minor )?version\b|\b(?:cause|culprit|reason|problem|issue)\b[^.\n]{0,16}\b(?:is|was|lies (?:in|with)|seems to be) (?:with )?(?:the |my )?(?:\w+ )?cudnn version|\bcudnn\b[^.\n]{0,12}\d[^\n]{0,60}\btoo (?:new|recent) for (?:this |the |my )?(?:TF|tensorflow)\b)",
        FAINT,
    ),
    Kind(
        "cudnn-old-said",
        r"(?i:\b(?:outdated|too[- ]old|obsolete) (?:version of )?cudnn\b|\bcudnn\b[^.\n]{0,12}\b(?:is|was) (?:\w+ )?(?:outdated|too old)\b|\b(?:message|error|warning|complain\w{0,3})\b (?:about|of|on|with|regarding) (?:the |my )?cudnn version\b)",
        FAINT,
    ),
    Kind(
        "machine-loses-power",
        r"(?i:\b(?:computer|pc|machine|system|server|workstation)\b[^.\n]{0,12}\b(?:loses?|lost) (?:its |all )?power\b)",
        FAINT,
    ),
    Kind(
        "bus-error-for-good",
        r"nvidia [0-9a-f:.]{7,12}: AER: can't recover \(no error_detected callback\)|TLP Header:(?: (?:0x)?f{8}){4}",
        FAINT,
    ),
    Kind(
        "link-lost-lanes",
        r"\bLnkSta:\W{1,3}Speed (?:[58]|16|32)(?:\.0)? ?GT/s(?: \(\w{2,10}\))?, Width x[124] \(downgraded\)",
        FAINT,
    ),
    Kind(
        "peers-apart-shown",
        r"Peer access from (?!GeForce)\S[^\n]{0,60} -> [^\n]{0,60} : No\b",
        FAINT,
    ),
    Kind(
        "run-as-user",
        r"\b(?:docker|podman) run [^\n]{0,200}?(?:-u|--user)[ =][\"']?\$?\(?id\b",
    ),
    Kind(
        "python-of-64-bit-put-in",
        r"(?i:\b(?:installed|put|got|took|switched to|changed to)\b[^.\n]{0,20}\bpython\b[^.\n]{0,12}64[- ]?bit)",
    ),
    Kind(
        "processor-found-out",
        r"(?i:\bit (?:really |indeed |actually |in fact )?was (?:the|my) (?:old )?(?:cpu|processor)\b(?! (?:bottleneck|version|build)))",
        FAINT,
    ),
    Kind(
        "log-has-no-module",
        r"(?i:\bdmesg\b[^\n|]{0,12}\| ?grep (?:-\w )?['\"]?(?:nvidia|nvrm)['\"]?\W{0,4}(?:\w+ ){0,3}?(?:nothing\b|empty\b|no output))",
        FAINT,
    ),
    Kind(
        "toolkit-never-put-in",
        r"(?i:\bthere (?:was|is) no (?:proper |real )?cuda (?:toolkit )?on (?:the|my|this) (?:machine|pc|computer|system)\b|\bhad never installed (?:the )?(?:base|toolkit|cuda)\b(?! ?\d))",
        FAINT,
    ),
    Kind(
        "cards-taken-by-others",
        r"(?i:\b(?:gpus?|cards?|(?:two|three|four|[2-7]|all|some|most)(?: of (?:them|the gpus|the cards))?),? (?:is|are|was|were) (?:all |already |currently )?(?:taken|occupied|used) by (?:others|other (?:users|people)|colleagues))",
        FAINT,
    ),
    Kind(
        "iommu-on-said",
        r"\b(?:intel|amd)_iommu=on\b(?![^\n]{0,80}\biommu=pt)|(?i:\bIOMMU (?:is|was) (?:\w+ )?(?:on|active|enabled)\b|\bAMD-Vi (?:is )?(?:active|enabled)\b)",
    ),
    Kind(
        "stub-was-found",
        r"(?i:\bcuda (?:driver )?library is (?:just |only )?a stub\b|\b(?:had|have|need(?:ed)?) to (?:remove|delete|rename)\b[^.\n]{0,50}/stubs\b)",
        FAINT,
    ),
    Kind(
        "module-of-new-kernel-absent",
        r"(?i:\b(?:no|without|lacks?|missing)\b[^\n]{0,80}?\b(?:folder|directory|modules?|nvidia\.ko)\b[^.\n]{0,30}\b(?:for|of|under) (?:the |my )?(?:new(?:est|er)?|running|current|latest) kernel)",
        FAINT,
    ),
    Kind(
        "driver-called-too-old",
        r"(?i:\b(?:nvidia|gpu|graphics|cuda)(?:'s)?[ -]?(?:drivers?|version)\b[^.\n?]{0,30}(?<!not )(?<!n't )\btoo old\b(?![^\n]{0,40}\?))",
        FAINT,
    ),
    Kind(
        "cudnn-of-another-release-said",
        r"(?i:\bcu ?dnn\b[^.\n?]{0,30}\b(?:is|was|be) (?:the |an? )?(?:wrong|old)\b[^.\n]{0,10}\bversion\b)",
        FAINT,
    ),
    Kind(
        "runtime-line-removed",
        r"(?i:\b(?:removed?|deleted?|dropped|took out|commented out) [^.\n]{0,12}[`'\"]?runtime: ?[\"']?nvidia\b)",
        FAINT,
    ),
    Kind("gpu-of-the-pod-asked", r"\bset_gpu_limit\("),
    Kind("swarm-named", r"(?i:\bdocker (?:swarm|stack)\b|\bswarm (?:service|mode|stack))"),
    Kind("cudnn-has-no-create", r"could not find cudnnCreate in cudnn DSO[^\n]{0,160}undefined symbol", FAINT),
    Kind("device-id-unknown", r"nvidia-container-cli: device error: unknown device id: \S", "container-does-not-start"),
    Kind(
        "iommu-is-behind-said",
        r"(?i:\b(?:what is behind|cause|culprit|reason|behind it)\b[^\n]{0,40}?\b(?:is|was|:)[^\n]{0,24}\bIOMMU\b(?! (?:is|was) (?:off|disabled)))",
        FAINT,
    ),
    Kind("cuda-package-not-found", r"No matching distribution found for (?:cupy-cuda\d|onnxruntime-gpu|nvidia-\w+-cu\d)", "install-fails"),
    Kind(
        "redistributable-was-it",
        r"(?i:\b(?:turned out to be|it (?:really |actually |indeed )?was|(?:cause|culprit|reason|problem) (?:was|is)) (?:an? |the |my |of |due to |in )*(?:missing |old |outdated |wrong |broken )?(?:VC|visual c(?:\+\+)?|msvc)[ -]?(?:\+\+ )?(?:runtime|redist))",
        FAINT,
    ),
    Kind(
        "toolkit-was-old-said",
        r"(?i:\bnvidia-(?:ctk|container-toolkit)\b[^\n]{0,60}\b(?:was|is) (?:an? )?(?:very |too )?(?:old|outdated)\b)",
        FAINT,
    ),
    Kind(
        "link-drops-at-work-said",
        r"(?i:\b(?:working|under load|in use|busy|training|at work|while computing)\b[^.\n]{0,24}\b(?:drops?|falls?|goes|dropped|fell|went)\b[^.\n]{0,16}\bto (?:2\.5 ?GT|gen ?1\b|x1\b)|\blink (?:drops?|falls?|goes|dropped|fell|went) from (?:gen ?)?[2-5] ?x ?\d{1,2} (?:down )?to (?:gen ?)?1 ?x ?\d{1,2}\b)",
        FAINT,
    ),
    Kind(
        "memory-stays-after-the-end",
        r"(?i:\b(?:once|after|when|even if)\b[^.\n]{0,40}\b(?:program|script|process|run|job|evaluation|kernel)\b[^.\n]{0,24}\b(?:over|ended|ends|stopped|killed|interrupted|finished|finishes|through|exit(?:ed|s)?)\b[^.\n]{0,80}\b(?:memory|vram)\b[^.\n]{0,40}\b(?:keeps?|still|remains?|stays?|not (?:released?|freed?|given))\b"
        r"|\bGPU (?:memory|ram)\b[^.\n]{0,24}\b(?:not|never|no longer)\b[^.\n]{0,20}\b(?:released?|freed|come back|returned|cleared|given back)\b[^.\n]{0,24}\bafter\b[^.\n]{0,16}\b(?:stopping|killing|interrupt\w*|ctrl))",
        FAINT,
    ),
    Kind(
        "toolkits-are-mixed-said",
        r"(?i:\bmix(?:ture|ed|es|ing|-up)?\b[^.\n]{0,30}\b(?:installs?|installations?|toolkits?|cudas?)\b[^\n]{0,16}\d{1,2}\.\d\b[^.\n]{0,8}(?:and|,|with|&)[^.\n]{0,8}\d{1,2}\.\d)",
        FAINT,
    ),
    Kind("cupti-lacks", r"cupti_wrapper\.cc:\d+\] Check failed", FAINT),
    Kind(
        "no-toolkit-said",
        r"(?i:\bnvcc(?: --version| -V)?[`'\"]?[^.\n]{0,12}\b(?:shows?|gives?|prints?|says?|returns?|tells?) nothing\b|\b(?:there(?:'s| is) no|but no|n\u00e3o existe|n'existe pas|kein\w{0,2})\b[^.\n]{0,24}[\"'`]?NVIDIA GPU Computing Toolkit)",
        FAINT,
    ),
    Kind("windows-support-asked", r"(?i:\bnative[- ]windows (?:cuda|gpu) support[^.\n]{0,24}(?:back|again|please|return))", FAINT),
    Kind("gpu-in-a-build-asked", r"(?i:\b(?:need|want|use|load)\b[^.\n]{0,30}\bgpus?\b[^.\n]{0,30}\bduring (?:the )?[`'\"]?docker build\b)", FAINT),
    Kind("no-wheel-said", r"(?i:\bno matching distribution (?:is |was )?found\b(?! for\b))", FAINT),
    Kind("no-gpu-at-all-said", r"(?i:\b(?:cluster|machine|vm|server|computer|laptop|pc|nodes?)s? (?:having|has|have|with|had) (?:no|not a single) (?:nvidia )?gpus? (?:at all|whatsoever|in it)\b)", FAINT),
    Kind(
        "system-updated-said",
        r"(?i:\b(?:after|since)\b[^.\n]{0,30}\b(?:ubuntu|system|os|apt|dnf|debian|fedora)\b[^.\n]{0,12}\bup(?:dates?|grades?)\b|\bsystem updates? (?:are|were|is|was) the (?:one|only) thing)",
    ),
    Kind("nothing-is-signed-said", r"(?i:\b(?:nothing|not|never|n't)\b[^.\n]{0,12}\b(?:gets? |being |are )?signed\b)"),
    Kind("it-was-in-the-bios", r"(?i:\bbios\b[^.\n]{0,20}\bit (?:really |indeed )?was\b[^\n]{0,30}\b(?:off|disabled)\b)"),
    Kind("library-path-given-to-cdi", r"nvidia-ctk cdi generate[^\n]{0,80}--library-search-path", FAINT),
    Kind("peers-across-sockets-said", r"(?i:\b(?:gpus?|p2p|peer)\b[^\n]{0,60}\b(?:between|over|across|through|sides of) (?:the )?(?:\w+ )?(?:QPI|UPI|two IOH))", FAINT),
    Kind("machine-type-without-gpu", r"(?i:\b(?:ec2|aws|amazon)\b[^\n]{0,60}\b(?:t[23][ag]?|t4g|m[4-7][a-z]{0,3}|c[4-7][a-z]{0,3}|r[4-7][a-z]{0,3})\.(?:nano|micro|small|medium|\d{0,2}x?large)\b)"),
    Kind("cgroups-are-managed", r"^no-cgroups ?= ?false"),
    Kind("cpuonly-said", r"(?i:\bgot (?:the )?[`'\"]?cpuonly\b|\[cpuonly\])"),
    Kind("hybrid-listed", r"(?i:\bNVIDIA [^\n]{0,40}\[Discrete\])"),
    Kind("no-known-devices", r"Device mapping: no known devices\b"),
    Kind(
        "two-packages-said",
        r"(?i:\bpull(?:s|ed) in (?:the )?[`'\"]?tensorflow(?:-gpu)?[`'\"]? (?:as well|too|also)\b|\btensorflow-gpu[`'\"]? (?:is|was) (?:there|installed|present) (?:as well|too|also)\b)",
        FAINT,
    ),
    Kind(
        "cudnn-linked-as-another",
        r"\bln -[a-z]{1,3} (?:\S{0,200}/)?libcudnn\.so\.(?P<here>\d{1,2})\b[.\d]{0,12} (?:\S{0,200}/)?libcudnn\.so\.(?!(?P=here)\b)\d",
    ),
    Kind("notebooks-open-said", r"(?i:\b(?:too|very|so) many (?:\w+ ){0,2}?(?:note ?books?|kernels|sessions|consoles)\b[^.\n]{0,20}\b(?:open|running|alive)\b)"),
    Kind("module-call-failed", r"\bcuModule(?:GetFunction|GetGlobal|LoadData)\w{0,6}\b[^\n]{0,40}?\bfail", FAINT),
    Kind("use-stays-low-said", r"(?i:gpu)[^\u3002\n]{0,6}(?:\u5360\u7528\u7387|\u5229\u7528\u7387|\u4f7f\u7528\u7387)[^\u3002\n]{0,10}?(?:\u4e0a\u4e0d\u53bb|\u4e0a\u4e0d\u6765|\u4e0d\u9ad8|\u5f88\u4f4e|\u592a\u4f4e|\u4f4e\u5f97|\u504f\u4f4e|\u5fc3\u9ad8\u5fc3\u4f4e)", "runs-slowly"),
    Kind("module-and-libraries-differ-said", r"(?:\u5185\u6838|\u9a71\u52a8)[^\u3002\n]{0,8}\u7248\u672c[^\u3002\n]{0,6}(?:\u4e0d\u5339\u914d|\u4e0d\u4e00\u81f4|\u5bf9\u4e0d\u4e0a|\u4e0d\u7b26)"),
    Kind("processor-holds-up-said", r"(?i:\bcpu\b[^.\n]{0,30}?\b(?:is|was|isn't|being)\b[^.\n]{0,16}?\b(?:the |a |my )?bottleneck\b|\b(?:clearly|obviously|certainly) the cpu (?:that|which)\b|\bbottleneck (?:is|was|seems to be) (?:the |my )?cpu\b)"),
    Kind("onnxruntime-of-cudnn-9", r"(?i:\bonnxruntime[-_]gpu\b[^\n\d]{1,12}1\.(?:19|2\d)\b)"),
    Kind("cudnn-8-stated", r"(?i:\bcudnn\b\W{1,4}8[.\d]{1,5}(?!\d))"),
    Kind(
        "slurm-kills-said",
        r"(?i:\bslurm\b[^.\n]{0,40}\bkill\w*\b[^.\n]{0,40}\b(?:oom|out[- ]of[- ]memory)\b|\bslurm(?:stepd)?\b[^.\n]{0,20}\boom\b(?! at))",
        FAINT,
    ),
    Kind("open-modules-work-said", r"(?i:\bwith (?:the )?open(?:[- ]source|[- ]kernel)? (?:nvidia )?(?:drivers?|(?:kernel )?modules?)\b[^.\n]{0,40}\b(?:works?|no problem|fine|boots?)\b)", FAINT),
    Kind("cudart-not-opened", r"cudaGetErrorString symbol not found", FAINT),
    Kind("path-misspelt", r"\bexport (?!LD_LIBRARY_PATH\b)LD_L[A-Z]{3,9}_PA[A-Z]{1,3}=", FAINT),
    Kind("start-is-denied", r"starting container process caused:? \W{0,3}permission denied", "container-does-not-start"),
    Kind("no-cdi-devices", r"\bFound 0 CDI devices\b", FAINT),
    Kind("node-without-gres", r"\bGres=\(null\)|^\W{0,4}Gres=\(null\)", FAINT),
    Kind(
        "node-lists-none-said",
        r"(?i:\b(?:kubectl )?describe nodes?\b[^.\n]{0,60}?\b(?:no|not|without|n't)\b[^.\n]{0,30}?\b(?:nvidia\.com/gpu|gpus?)\b|\bnvidia\.com/gpu\b[^.\n]{0,30}\b(?:is missing|missing|does(?:n't| not) (?:appear|show)|not (?:listed|there|shown|in))\b[^.\n]{0,50}\bnodes?\b"
        r"|\bnodes?\b[^.\n]{0,40}\b(?:lists?|shows?|reports?|has|advertis\w+) no (?:nvidia\.com/gpu|gpus?)\b)",
        FAINT,
    ),
    Kind(
        "other-maker-asked",
        r"(?i:\b(?:gpus?|cards?) (?:which|that) (?:isn't|is not|aren't|are not) (?:from |made by |an? )?nvidia|\bnon[- ]?nvidia (?:gpus?|cards?)\b|\bwithout an? nvidia (?:gpu|card)\b)",
        FAINT,
    ),
)  # fmt: skip
LANGUAGE = Language(
    name=COMPLAINT,
    foreign=True,
    words=("bottleneck", "he CPU", "he cpu", "cupti_", "ln -", "cuModule", "GPU", "\u7248\u672c", "many ", "lurm", "LURM", "open", "Open", "no known devices", "pulls in", "pulled in", "onnxruntime", "symbol not found", "pdate", "pgrade", "signed", "BIOS", "bios", " gpu", "untime", "-ctk", "oolkit", "old", "work", " link ", " mix", "Mix", "nvcc", "indows", "ocker build", "search-path", "QPI", "UPI", "IOH", "EC2", "ec2", "AWS", "mazon", "no-cgroups", "cpuonly", "[Discrete]", "emory", "VRAM", "too old", "untime:", "gpu_limit", "swarm", "Swarm", "docker stack", "cudnn DSO", "unknown device id", "matching distribution", "nvidia-uvm", "unless", "apt", "TensorRT", "libcublas", "memory ", "ower", "AER:", "TLP Header", "LnkSta", "Peer access", "docker run", "podman run", "ython", "it was", "it really", "it actually", "it indeed", "t WAS", "CPU", "dmesg", "no proper", "never installed", "taken by", "used by", "occupied by", "ommu=on", "IOMMU", "AMD-Vi", "kernel", "gpucomp", "stub", "export LD_L", "\u663e\u5b58", "ompute capability", "ompute Capability", "nvidia-docker", "udnn", "uDNN", "UDNN", "tili", " usage", "sage", "drive", "Drive", " share", "mount", "20 min", "icens", "icenc", "permission denied", "nvcc", "LD_LIBRARY_PATH", "other ", "ifferent", " old ", "stale", "zombie", "forgotten", "tensorflow", "untime not", "untime is not", "CDI devices", "Gres=", "node", "NVIDIA", "nvidia", "Nvidia"),
    kinds=_KINDS,
)  # fmt: skip
