"""What people tell of containers, clusters and virtual machines: what they did to the engine, who has the GPU, what is asked for.
It is weak: it decides where programs say nothing else."""

from __future__ import annotations

from .language import Kind, Language, told
from .places import SEEN, inside

_NEEDED = r"(?i:\b(?:unless|without|after|once|only (?:works? )?(?:if|when|after|with)|(?:if|when) (?:they|you|I|we|one|it|that) (?:do(?:es)?n't|do(?:es)? not)|needs? to|needed to|ha(?:s|ve|d) to|must|solved (?:it )?by|fixed (?:it )?by|helped|works? (?:if|when|with|after)))\b"
_NVIDIA_DEFAULT = r"(?i:[`'\"]?nvidia(?:-container-runtime)?[`'\"]? (?:\w+ )?(?:(?:as|to be|is|be) )?(?:the |its |a )?default[- ]runtime|default[-_ ]runtime(?:_name)?[`'\"]?(?: ?= ?| ?: ?| to | as | is (?:set to )?)[`'\"]{0,2}nvidia)"
_TOOLKIT = r"[`'\"]?nvidia[- ](?:container[- ](?:toolkit|runtime)|docker ?2?)\b"
_HAS = r"(?:gpus?|cuda|nvidia-smi|nvml|(?:graphics )?cards?)"
_GOES = r"(?:becom(?:es?|ing) (?:unavailable|inaccessible|unusable|invisible)|disappear(?:s|ed|ing)?|vanish(?:es|ed)?|(?:is|are|gets?|got|was) (?:lost|gone)|(?:is |are |was )?(?:suddenly )?(?:not|no longer) (?:available|visible|found|seen|detected|usable|works?)|stop(?:s|ped)? working|(?:can|could)(?: not|not|n't) (?:be )?(?:found|seen|used?|see) (?:[^.\n]{0,20} )?any ?(?:more|longer)|goes? away|drops? (?:out|off))"
_LOSES = r"(?:los(?:es?|t|ing)|drop(?:s|ped)?)(?: (?:access|to|sight|connection|of|its|the|all|their|my|both)){0,4}"
_LATER = r"(?:after (?:some|a) (?:time|while|(?:few|couple of) (?:hours?|days?|minutes?))|after (?:several|a few|\d{1,3}|some) (?:hours?|days?|minutes?)|eventually|overnight|over night|randomly|sporadically|suddenly|every (?:few|now and then|couple of|\d{1,2}) ?(?:hours?|days?)?|(?:hours|days|minutes) later|at (?:some|a) (?:random )?point|from time to time|a while later)\b"
_KINDS: tuple[tuple[str, tuple[str, ...], str, bool], ...] = (
    (
        "cdi-generated",
        ("cdi generate", "CDI"),
        r"\bnvidia-ctk (?:-\S{1,20} ){0,3}cdi generate\b|(?i:\b(?:re-?)?(?:generat|creat|writ|mak)\w{1,4} (?:the |a |an |its |my |this ){0,2}(?:new |nvidia )?CDI[- ](?:spec\w*|files?|yaml|description)\b)",
        False,
    ),
    (
        "toolkit-said",
        ("nvidia-container", "nvidia container", "ontainer Toolkit", "ontainer toolkit", "nvidia-docker", "nvidia docker", "Nvidia Docker", "NVIDIA Docker"),
        (
            r"(?i:^(?![^\n]{0,300}\?)(?![^\n]{0,300}\b(?:still|although|though|even|remov\w{1,3}|purg\w{1,3}|uninstall\w{0,3})\b)[^\n]{0,300}?(?:"
            rf"\b(?:ha(?:d|ve|s)(?:n't| not)|was(?:n't| not)|were(?:n't| not)|did(?:n't| not)|never|forg[eo]t(?:ten)? to) (?:\w+ ){{0,2}}?(?:install(?:ed)?|set up) (?:the )?{_TOOLKIT}"
            rf"|{_TOOLKIT}[`'\"]? (?:is|was|were) (?:(?:not|never) (?:yet |even |properly )?(?:installed|there|set up|available|present|found)|missing)\b|{_TOOLKIT}[`'\"]? (?:is|was)n't installed\b"
            rf"|\binstall(?:ing|ed|ation)? (?:of )?(?:the )?{_TOOLKIT}[^.\n]{{0,60}}\b(?:fixed|fixes|solved|solves|resolved|resolves|helped|did the trick)\b"
            rf"|\b(?:fixed|solved|resolved)\b[^.\n]{{0,20}}\b(?:by|after|with|through) install(?:ing)? (?:the )?{_TOOLKIT}))"
        ),
        True,
    ),
    (
        "toolkit-here",
        ("nvidia-container-toolkit", "Container Toolkit CLI", "untimes:", "Default Runtime"),
        r"^ii +nvidia-container-toolkit(?:-base)?(?::\w+)? |\bNVIDIA Container Toolkit CLI version|^Runtimes:[^\n]{0,200}(?<![.\w-])nvidia\b|^Default Runtime: nvidia\b|(?i:\bnvidia-container-toolkit[`'\"]? (?:is|was) (?:already |properly |correctly )?installed\b)",
        True,
    ),
    (
        "nv-said",
        ("--nv",),
        r"(?i:^(?![^\n]{0,300}(?:\b(?:without|not|no|never|forg[eo]t\w*|should|try|if|whether|instead)\b|n't\b|\?$))[^\n]{0,300}?\b(?:with|using|used?|pass(?:ed|ing)?|add(?:ed|ing)?) (?:the )?[`'\"]?--nv(?:ccli)?\b)",
        True,
    ),
    (
        "login-node-said",
        ("node", "节点"),
        (
            r"(?i:^(?![^\n]{0,300}\b(?:works?|worked|fine|ok|gpus? (?:is|are))\b[^.\n]{0,20}\bon (?:the|our|a|my) (?:\w+ )?(?:login|head|front-?end|submit|admin)[- ]?nodes?\b|[^\n]{0,300}\bnot (?:\w+ )?on (?:the|our|a) (?:\w+ )?(?:login|head))"
            r"[^\n]{0,300}?\bon (?:the|our|a|my) (?:\w+ )?(?:login|head|front-?end|submit|admin)[- ]?nodes?\b)|在(?:登录|登陆|管理|头)节点(?:上|运行|执行)"
        ),
        True,
    ),
    (
        "reboot-helps",
        ("boot",),
        (
            r"(?i:^(?![^\n]{0,300}\b(?:does(?:n't| not)|did(?:n't| not)|not|never|no) (?:\w+ ){0,2}(?:help|fix|solve|change))[^\n]{0,300}?(?:\bre-?boot(?:ing|ed)?(?: (?:the|my) (?:\w+ )?(?:machine|host|server|pc|computer|node|system))? (?:\w+ )?(?:fixe[sd]|solve[sd]|helps|helped|cures|cured|resolve[sd]|brings|brought)\b"
            r"|\b(?:fixed|solved|resolved|gone|works? again|fine again|works?|worked) (?:\w+ )?(?:after|by|with|until|once) (?:an? |the |I )?(?:\w+ )?re-?boot))"
        ),
        True,
    ),
    (
        "works-again",
        ("again", "fixe", "solve", "help", "works"),
        r"(?i:^(?![^\n]{0,300}\b(?:does(?:n't| not)|did(?:n't| not)|not|never|won't|none)\b[^.\n]{0,30}\b(?:help|fix|solve|cure|again))[^\n]{0,300}?(?:\b(?:works?|worked|working|runs?|fine|ok|starts?|have (?:it|them|the gpus?)|back) (?:\w+ ){0,2}?again\b|\b(?:fixes|fixed|solves|solved|resolves|resolved|cures|cured) (?:it|this|that|the|my|all|everything)\b|\b(?:helped|helps me|(?<!be )(?<!get )(?<!been )fixed)\b))",
        False,
    ),
    (
        "driver-package-upgraded",
        ("nvidia",),
        r"\[ALPM\] upgraded (?:lib32-)?nvidia-utils \(|\bUpgrade: [^\n]{0,300}\b(?:libnvidia-compute|nvidia-utils|libcuda1)|\bpacman -Syu\b[^\n]{0,200}\bnvidia-utils\b",
        True,
    ),
    (
        "driver-was-updated",
        ("pdat", "pgrad", "ove", "升级", "更新"),
        r"驱动[^。\n]{0,30}(?:升级|更新)|\b[Mm]oved from (?=\d{3}\.\d{2,3}\b)|(?i:\bdrivers?\b[^.\n]{0,40}\b(?:updat|upgrad)\w{1,4}\b|(?<!please )\b(?:updat|upgrad)\w{1,4}\b(?! your\b)[^.\n]{0,40}\bdrivers?\b)",
        True,
    ),
    (
        "default-runtime-needed",
        ("efault", "untimeClass"),
        rf"(?i:\bruntimeClass(?:Name)?\b[^.\n]{{0,60}}\b(?:(?:it |everything |all )(?:works?|is fine|is ok)|tout va bien|fonctionne|funciona|geht es|l\u00e4uft es)\b)|^(?![^\n]{{0,300}}\b(?:still|already|however|but it)\b)[^\n]{{0,300}}?(?:{_NEEDED}[^.\n]{{0,60}}?{_NVIDIA_DEFAULT}|{_NVIDIA_DEFAULT}[^.\n]{{0,40}}\b(?i:solve[sd]|fixe[sd]|helped|works?|did the trick|is (?:needed|required|necessary))\b)",
        True,
    ),
    (
        "cluster-named",
        ("ubernetes", "k8s", "K8s", "K8S", "k3s", "K3s", "ubectl", "ubeflow", "pod", "Pod", "ontainerd", "inikube", "kind-", "k3d", "kfp", "ind cluster"),
        r"(?i:\b(?:kubernetes(?!\.docker\.internal)|k8s|micro ?k8s|k3s|k3d|kfp|kind cluster|rke2|kubectl|kubeflow|minikube|pods?)\b|\bcontainerd\b)",
        True,
    ),
    (
        "guest-named",
        ("irtual", "VMware", "VMWare", "vmware", "Vmware", "arallels", "UTM", "VBox", "vbox"),
        (
            r"(?i:^(?![^\n]{0,400}\b(?:not|without|besides|instead of|outside|host (?:of|for)|dual[- ]boot)\b)[^\n]{0,400}?(?:"
            r"\b(?:in|inside|within|under|on|into) (?:an? |the |my |our ){0,2}(?:(?:ubuntu|linux|debian|centos|windows|fedora|virtual|machine|vm|guest|of|[\d.]{1,6}|in|under|on|latest) ){0,4}?(?:oracle )?(?:virtual ?box|vbox|vmware[- ](?:workstation|player|fusion)|parallels(?: desktop)?|UTM)\b"
            r"|\b(?:virtual ?box|vmware[- ](?:workstation|player|fusion)|parallels(?: desktop)?) (?:vm|guest|virtual machine|machine|linux|ubuntu|debian|centos|fedora|windows)\b"
            r"|\b(?:vm|guest|virtual machine) ?(?:is |runs |running )?(?:\(|(?:in|on|by|with|under|of) )(?:oracle )?(?:virtual ?box|vmware[- ](?:workstation|player|fusion)|parallels)"
            r"|\b(?:use|uses|using|have|run|running|installed|with) (?:\w+ ){0,2}?(?:virtual ?box|vmware[- ](?:workstation|player|fusion)|parallels desktop)\b[^\n]{0,60}?\b(?:guest|ubuntu|linux|debian|centos|fedora|vm|virtual machine)\b"
            r"|\((?:in |on |under |inside )?(?:an? |the )?(?:oracle )?(?:virtual ?box|vmware[- ](?:workstation|player|fusion))))"
            r"|(?:在|用|使用|通过) ?(?i:vmware(?: ?workstation)?|virtual ?box) ?(?i:pro ?)?\d{0,2}(?:的|里|中|上)?(?:面|边)?(?:虚拟机)"
        ),
        True,
    ),
    (
        "host-driver-said",
        ("host", "Host"),
        (
            r"(?i:\bhost(?:'s|s)?\b(?:(?!\b(?:containers?|images?|docker|before|was|were|needs?|requires?|wants?|must|should|if|from|without|updat\w*|upgrad\w*|no longer)\b|n't)[^.;\n]){0,40}?\bdrivers?\b(?: (?:version|release|branch))?(?: ?[:=]| is| are| at| of|,)?(?: still| only| at| version| nvidia){0,2} ?[`'\"*v(]{0,2}(?P<branch>[3-6]\d\d)(?:\.\d{1,3}){0,2}\b(?! ?(?:\+|or (?:newer|later|higher))))"
            r"|(?i:^(?:(?!\b(?:needs?|requires?|wants?|must|should|if|before|was|were|updat\w*|upgrad\w*)\b)[^\n]){0,200}?\b(?:drivers?|nvidia)\b(?: (?:version|release|is|are|of|drivers?|here)| ?[:=]){0,2} ?[`'\"*v(]{0,2}(?P<branch2>[3-6]\d\d)(?:\.\d{1,3}){0,2}[`'\"*)]{0,2} (?:(?:is|are|runs?|installed|still|loaded) ){0,2}on (?:the|my|our|its|this) (?:\w+ )?host\b)"
            r"|(?i:\bdrivers? (?:(?:version|release) )?on (?:the|my|our|its|this) (?:\w+ )?host(?: machine)?(?: ?[:=]| is| are)(?: of| at| version| still){0,2} ?[`'\"*v(]{0,2}(?P<branch3>[3-6]\d\d)(?:\.\d{1,3}){0,2}\b)"
        ),
        True,
    ),
    (
        "vfio-owns",
        ("vfio", "VFIO"),
        r"(?i:^(?![^\n]{0,400}\b(?:should|want|wants|how (?:to|can|do)|need to|try to|trying to|not|isn't|can't|cannot|won't)\b[^.\n]{0,60}\bvfio)[^\n]{0,400}?(?:\b(?:gpu|card|graphics card|[rg]tx ?\d{3,4}\w*|device)s?(?: \w+){0,3}? (?:is|are|was|were|gets?|stays?|remains?|being) (?:\w+ )?(?:(?:owned|bound|claimed|grabbed|taken|held|captured|reserved|seized|hijacked|used) (?:\w+ )?(?:by|to)|passed (?:through|on|over)(?: to [^.\n]{1,40}?)? (?:with|by|via|using)) (?:the )?[`'\"]?vfio(?:[-_]pci)?\b|\bvfio(?:[-_]pci)?[`'\"]? (?:still |already |always )?(?:owns|claims|grabs|holds|takes|has|grabbed|claimed|took|captures) (?:\w+ ){0,2}(?:gpu|card|graphics|device)s?\b|\bkernel driver in use: vfio-pci\b[^\n]{1,40}\b(?:gpu|card|nvidia|geforce|[rg]tx)))",
        True,
    ),
    (
        "nodes-gone-said",
        ("/dev/nvidia", "device file", "device node", "evice Node", "evice files"),
        r"(?i:^(?!ls: |stat: |\W{0,20}error\b)(?![^\n]{0,300}\b(?:container|docker|pod|inside)\b)[^\n]{0,400}?(?:(?<!if )(?<!if the )(?<!when )\b(?:gpu|nvidia|the|its) (?:device (?:files?|nodes?))\b|(?<!if )(?<!if the )(?<!when )(?<!\w)/dev/nvidia(?:\*|\d|ctl|X)?(?![\w-])(?: (?:device )?(?:files?|nodes?))?)[`'\"]? (?:\w+ )?(?:(?:(?:is|are|was|were) (?:\w+ ){0,2}?)?(?:missing|gone|not (?:available|there|present|created|made|being created)|absent|unavailable)|(?:(?:does|do|did)(?:n't| not) (?:exist|appear|show up|get created))|(?:is|are)n't (?:\w+ )?(?:available|there|present|created)|disappears?|vanish(?:es)?))",
        True,
    ),
    ("rootful-named", ("oot", "sudo docker"), r"(?i:\brootful\b|\broot'?s docker\b|\bdocker (?:of|as|run by) root\b|\bsudo docker\b)", True),
    (
        "no-cgroups-cures",
        ("no-cgroups",),
        r"(?i:^(?![^\n]{0,300}\b(?:does(?:n't| not)|did(?:n't| not)|no luck|rootless)\b)[^\n]{0,300}?(?:\bno-cgroups\b[`'\"]?[^.\n]{0,30}\bfalse\b[^.\n]{0,40}\b(?:works?|worked|fixe[sd]|solve[sd]|helps|helped|resolve[sd]|did the trick)\b|\b(?:fixed|solved|resolved|works?|worked)\b[^.\n]{0,40}\bno-cgroups\b[`'\"]?[^.\n]{0,30}\bfalse\b))",
        False,
    ),
    (
        "only-root-gets-it",
        ("root", "sudo", "user"),
        r"(?i:^(?![^\n]{0,300}\brootless\b)[^\n]{0,300}?(?:\b(?:as|for|by|with) (?:an? |any |the )?(?:non-?root|normal|regular|ordinary|unprivileged) users?\b[^.\n]{0,50}\b(?:no|not|\w+n't|cannot|fails?|without|lacks?|loses?)\b|\b(?:\w+n't|cannot|not|fails?|failing|no (?:gpu|device|access))\b[^.\n]{0,50}\b(?:as|for|by) (?:an? |any |the )?(?:non-?root|normal|regular|ordinary|unprivileged) users?\b|\bnon-?root (?:gpu )?(?:access|users?)\b[^.\n]{0,40}\b(?:fails?|denied|impossible|not)\b))",
        True,
    ),
    (
        "mig-without-instance-said",
        ("MIG", "mig"),
        r"(?i:\bMIG\b[- ]?(?:mode )?(?:is )?(?:on|enabled)\b[^.\n]{0,40}\b(?:no|without|zero|0)(?: any)? (?:MIG )?(?:devices?|instances?)\b|\b(?:there (?:are|is)|has|have|with) no MIG (?:devices?|instances?|resources?)\b)",
        True,
    ),
    ("rebooted", ("reboot", "Reboot", "boot", "restart"), r"(?i:\b(?:after|on|(?<!come up )(?<!start )at|following|upon|since|until|every|each) (?:[`'\"]?\w+ ){0,3}?[`'\"]?(?:re-?boot|re-?booting|boot|boot-?up|restart(?! of (?:the |that |my |a |your |\w+'s )?(?:cluster|docker|containerd|daemon\w*|container|kernel|notebook|runtime|service|pod|script|program|session)s?\b)|start-?up)\b)", True),
    (
        "pod-lacks-nvml-said",
        ("libnvidia-ml", "NVML", "nvml"),
        (r"(?i:^(?![^\n]{0,400}\bmismatch\b)[^\n]{0,300}?(?:\b(?P<where>pods?|daemon ?sets?|(?:device[- ])?plugin(?:'s)?|dcgm[- ]exporter(?:'s)?|feature[- ]discovery)\b[^.\n]{0,60}\b(?:no|without|lacks?|miss(?:es|ing)|(?:not|n't|cannot|can't|unable to|fails? to) (?:\w+ )?(?:find|found|have|contain|open|load|see))\b[^.\n]{0,40}[`'\"]?\b(?:libnvidia-ml(?:\.so(?:\.1)?)?|nvml)\b"
        r"|\b(?:libnvidia-ml(?:\.so(?:\.1)?)?|nvml)\b[`'\"]?[^.\n]{0,30}\b(?:missing|not (?:found|there|mounted|present|available)|absent|n't (?:found|there|mounted|present))\b[^.\n]{0,30}\b(?:in|inside|from|by|of)\b[^.\n]{0,30}\b(?P<where2>pods?|daemon ?set|plugin|dcgm[- ]exporter)\b))"),
        True,
    ),
    (
        "image-wants-cuda-said",
        ("uda", "UDA"),
        r"(?i:^(?![^\n]{0,300}(?:\bcuda ?(?:>=|≥) ?\d{1,2}\.\d[^\n]{0,60}\?$|__cuda|\bpip\b|\bconda\b))[^\n]{0,300}?\b(?:errors?|fails?|failed|complain\w*|refus\w*|unmet|condition|requirement|does not start|doesn't start|not satisfied|demands?)\b[^.\n]{0,60}(?<!_)\bcuda ?(?:>=|≥) ?(?P<version>\d{1,2}\.\d)\b)",
        True,
    ),
    (
        "nvidia-docker-used",
        ("nvidia-docker",),
        r"(?i:^(?![^\n]{0,700}\b(?:not|n't|never|without|instead of|should|if|or|need(?:s|ed)?|install\w*|no)\b[^.\n]{0,20}\bnvidia-docker)[^\n]{0,700}?\b(?:with|by|using|via|through|under|used|uses|(?:I|we) use|ran|I run|tried|started)\b (?:it |them |this )?(?:with |by |using )?(?:the )?[`'\"]?nvidia-docker2?\b(?!-|\.|[`'\"]{0,2} (?:is|was|isn't) not))",
        True,
    ),
    (
        "no-nv-said",
        ("--nv",),
        (
            r"(?i:^(?![^\n]{0,300}\b(?:with (?:and|or) without|both|also without|even without|or without|without (?:an? )?(?:nvidia )?gpus?|no gpus?|cpu[- ]only)\b)[^\n]{0,400}?(?:(?<![\w-])--nv\b[`'\"]{0,2} (?:(?:flag|option|switch|argument|parameter) )?"
            r"(?:(?:is|was|gets?|are) (?:\w+ )?(?:not (?:\w+ )?(?:set|passed|used|added|given|there|included)|set (?:with|for|by|in) (?:neither|none)|missing|unset|lost|ignored|dropped|left out)\b|(?:is|was)n't (?:\w+ )?(?:set|passed|used|added|given|there|included)\b)"
            r"|\b(?:started|start|run|runs|ran|called|executed|launched|execs?) (?:\w+ ){0,6}?without (?:the )?[`'\"]?--nv\b|\b(?:forgot(?:ten)?|forget|lack(?:s|ing)?|omit(?:s|ted)?|unsets?) (?:the |to (?:add|pass|set|use) )?(?:\w{1,24}=)?[`'\"]?--nv\b"
            r"|\b(?:does(?:n't| not)|do(?:n't| not)|did(?:n't| not)|never) (?:\w+ )?(?:set|pass|add|use|include)\w{0,3} (?:the )?[`'\"]?--nv\b|\b(?:unsets?|removes?|drops?) \w{1,24}=[`'\"]?--nv\b))"
        ),
        True,
    ),
)  # fmt: skip
TOLD = told(_KINDS)
PLACES = Language(
    name="circumstances",
    words=("/nix/store/", "nix-", "nix develop", "nix run", "nix shell", "nix build", "nixpkgs", "nixos", "NixOS", "/gnu/store/", "guix"),
    kinds=(
        Kind("built-by-nix", r"/(?:nix|gnu)/store/[0-9a-z]{32}-|\bnix-(?:shell|build)\b|\bnix (?:run|develop|shell|build)\b|\bnixpkgs\b|\bguix (?:shell|environment)\b|#!nix-shell", once=True),
        Kind("nixos-named", r"\bNixOS\b|\bnixos-\w", once=True),
    ),
)  # fmt: skip
"""Packages of a store of their own, whose loader looks nowhere else."""
_FEW = r"(?:utility|graphics|video|display|ngx|compat32)"
CAPABILITIES = Language(
    name="circumstances",
    words=("apabilit", "CAPABILITIES"),
    kinds=(
        Kind(
            "capabilities-without-compute",
            rf"\bNVIDIA_DRIVER_CAPABILITIES['\"`]{{0,2}}(?: ?[=:] ?|[ ,](?:(?:is|was|were|set|to|value:|only) ){{0,3}})['\"`]?(?P<value>{_FEW}(?:,{_FEW})*)(?![\w,])"
            rf"|--gpus[= ][^\n]{{0,60}}?capabilities=['\"\\]{{0,2}}(?P<value2>(?:gpu,)?{_FEW}(?:,(?:gpu|{_FEW}))*)(?![\w,])"
            rf"|\bcapabilities['\"]?: ?\[{{1,2}} ?(?P<value3>(?:['\"]?gpu['\"]? ?, ?)?['\"]?{_FEW}['\"]?(?: ?, ?['\"]?(?:gpu|{_FEW})['\"]?){{0,5}}) ?\]",
            once=True,
        ),
        Kind(
            "capabilities-without-compute",
            rf"(?i:^(?![^\n]{{0,300}}(?:\bcompute capabilit|\?$|\b(?:if|whether|didn't help|no effect)\b))[^\n]{{0,200}}?(?:"
            rf"\b(?:sets?|asks? for|requests?|requested|names?|lists?|contains?|has|hands? in|passes|gives)\b (?:only )?(?:the )?(?:driver )?(?P<value4>['\"`]{_FEW}['\"`]|(?<=only ){_FEW})(?: driver)? (?:capability|alone|only)\b"
            rf"|\bcapabilit(?:y|ies)\b[^.\n]{{0,20}} (?:(?:is|are|was|were) )?(?:only|just) (?:the )?['\"`]?(?P<value5>{_FEW})\b))",
            once=True,
        ),
        Kind(
            "compute-capability-cures",
            r"(?i:^(?![^\n]{0,400}(?:\bcompute['\"`]? capabilit(?:y|ies)\W{0,3}(?:of|is|was|\d|>)|\?$|\b(?:no (?:effect|difference|luck)|in vain)\b|n't (?:help|work|solve|fix|change)))[^\n]{0,300}?(?:"
            r"\b(?:add\w*|append\w*|includ\w*|list\w*|nam(?:e|ed|ing)|set(?:ting)?|ask\w*|request\w*|with|chang\w+|extend\w*)\b[^.\n]{0,60}[\s'\"`,=\[+&]compute\b[^.\n]{0,60}\bcapabilit"
            r"|\b(?:add\w*|append\w*|includ\w*|set(?:ting)?|with|chang\w+|extend\w*)\b[^.\n]{0,50}(?:\b|_)capabilit[^.\n]{0,40}[\s'\"`,=\[+&]compute\b"
            r"|[\s'\"`,=\[]compute['\"`]? (?:\w+ ){0,2}?(?:missing|absent|lacking|left out|not (?:listed|there|asked for|set|included))\b[^.\n]{0,40}\bcapabilit"
            r"|\bcapabilit(?:y|ies)\b[^.\n]{0,30}\b(?:lack(?:s|ed)?|miss(?:es|ed|ing)?|without|did(?:n't| not) (?:include|contain|list|have)|does(?:n't| not) (?:include|contain|list|have))\b (?:the )?['\"`]?compute\b))",
        ),
    ),
    foreign=True,
)
"""What a container is given of the driver, where the libraries for computing are not among it."""
LAUNCHERS = Language(
    name="places",
    words=("enroot", "Enroot", "pyxis", "Pyxis", "--container-image"),
    kinds=(Kind("by-enroot", r"\b[Ee]nroot\b|\b[Pp]yxis\b|--container-image[= ]", once=True),),
)
BEHIND_SLURM = Language(
    name="places",
    words=("singularity ", "apptainer "),
    kinds=(
        Kind(
            "apptainer-run",  # beside what is asked of Slurm in the same line
            r"^(?![^\n]{0,400} --nv(?:ccli)?\b)[^\n]{0,40}?\bsrun [^\n]{0,200}(?:--gres|--gpus|-G ?\d)[^\n]{0,200}\b(?:singularity|apptainer) (?:-\w+ )?(?:exec|run|shell) ",
            tell=inside("apptainer", SEEN),
        ),
    ),
)
BUSY = Language(
    name="circumstances",
    words=("busy",),
    kinds=(
        Kind(
            "busy-said",
            r"(?i:^(?![^\n]{0,200}\b(?:not|isn't|100 ?%|keep\w*|stay\w*)\b[^\n]{0,20}\bbusy)[^\n]{0,200}?\b(?:cuda|gpu) (?:device )?(?:is )?busy\b(?! (?:with|at|for|as (?:it|expected|usual|one)|all|most|and|computing|working))(?: error)?)",
            "op-fails",
            once=True,
        ),
    ),
    foreign=True,
)
"""CUDA's 'busy or unavailable' in fewer words."""
WORKFLOWS = Language(
    name="places",
    words=("singularity", "apptainer"),
    kinds=(
        Kind(
            "apptainer-by-workflow",
            r"^(?:singularity|apptainer) ?(?:\{|\.enabled ?= ?true\b)|--(?:use-)?(?:singularity|apptainer)(?=\s|$)|--(?:software-deployment-method|sdm) (?:singularity|apptainer)\b|(?<![\w/])-profile \S{0,40}\b(?:singularity|apptainer)\b",
            once=True,
        ),
    ),
    foreign=True,
)
"""Nextflow and Snakemake start the containers themselves."""
OPTIONS = Language(
    name="places",
    words=("runOptions", "containerOptions", "singularity-args", "apptainer-args"),
    kinds=(
        Kind(
            "workflow-options",
            r"(?:(?<!docker\.)(?<!podman\.)\b(?:runOptions|containerOptions) ?[=:]? ?|--(?:singularity|apptainer)-args[= ])(?P<value>['\"][^\n]{0,200}?['\"])(?=\s|$|,)",
        ),
    ),
    foreign=True,
)
LOSES = Language(
    name="complaint",
    words=(
        "after",
        "After",
        "while",
        "ours",
        "days",
        "uddenly",
        "andomly",
        "poradic",
        "ventually",
        "vernight",
        "from time",
        "point",
        "tops using",
        "topped using",
        "onger use",
        "\u5bb9\u5668",
    ),
    kinds=(
        Kind(
            "container-loses-gpu",
            rf"(?i:^(?=[^\n]{{0,300}}\b(?:docker|containers?|pods?|podman|kubernetes|k8s)\b)(?![^\n]{{0,300}}\b(?:train\w*|epochs?|suspend\w*|sleep|resum\w*|reboot\w*|out of memory|OOM)\b)[^\n]{{0,300}}?(?:\b{_HAS}\b[^.\n]{{0,50}}?\b{_GOES}\b[^.\n]{{0,50}}?\b{_LATER}|\b{_LATER}\b[^.\n]{{0,60}}?\b{_HAS}\b[^.\n]{{0,40}}?\b{_GOES}\b|\b{_HAS}\b {_LATER} {_GOES}\b|\b{_LOSES}\b[^.\n]{{0,30}}?\b{_HAS}\b[^.\n]{{0,40}}?\b{_LATER}"
            rf"|\b{_LATER}\b[^.\n]{{0,60}}?\b{_LOSES}\b[^.\n]{{0,30}}?\b{_HAS}\b|\b{_HAS}\b[^.\n]{{0,24}}?\b(?:lost|gone)\b[^.\n]{{0,24}}?\bafter\b[^.\n]{{0,40}}?\b(?:idle|inactiv\w+|idling)"
            rf"|\b(?:docker|containers?|pods?)\b[^.\n]{{0,40}}?\b(?:stop(?:s|ped)? using|no longer uses?) (?:the |its |my )?{_HAS}\b[^\n]{{0,60}}?\b(?:until|restart\w*|after|hours?|days?)\b))"
            r"|\u5bb9\u5668[^\u3002\n]{0,20}(?:\u4e00\u6bb5\u65f6\u95f4|\u5c0f\u65f6|\u51e0\u5929)[^\u3002\n]{0,12}(?:GPU|gpu|\u663e\u5361)[^\u3002\n]{0,8}(?:\u4e22|\u6d88\u5931|\u6389)",
            "container-does-not-start",
            once=True,
        ),
    ),
    foreign=True,
)
"""A container that had its GPU, and some time later has none, in somebody's words."""
LANGUAGES = (WORKFLOWS, OPTIONS, BUSY, LOSES, *TOLD, PLACES, CAPABILITIES, LAUNCHERS, BEHIND_SLURM)
