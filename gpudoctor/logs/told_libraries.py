"""What people tell of where CUDA's libraries are: under sudo, in an image, in wheels that were removed, on Windows' path; and after which
change of the version it works. It is weak."""

from __future__ import annotations

from .language import Kind, Language, told

_OK = r"\b(?:works?|worked|working|fine|ok|okay|runs?|ran|no (?:problem|error|issue|trouble)s?|perfect(?:ly)?|finds?|found|sees?|imports?|lists?|trains?|uses?|good)\b"
_FAILS = r"\b(?:fail(?:s|ed|ing)?|error\w*|cannot|can ?not|can't|cant|doesn't|doesnt|does not|didn't|won't|isn't|aren't|wasn't|not found|not|no|crash\w*|ImportError|OSError|complains?|lib(?:cu|nv)\w{2,12}\.so|missing|loses?|lost|breaks?|misses)\b"
_PLAIN = r"(?:(?!n't|\b(?:not|never|no|fail\w*|error\w*|only|neither|nor)\b)[^.\n?;]){0,80}?"
"""Words of a sentence that denies nothing."""
_WELL = r"\b(?:works?|worked|working|fine|ok|okay|runs|trains|no (?:problem|error|issue|trouble)s?|(?:solv|fix|cur)(?:es|ed)|help(?:s|ed)|goes away|(?:is|was) gone|disappear(?:s|ed)?|good)\b"
_NO_TOOL = r"(?! ?(?:apt|apt-get|pip\d?|dpkg|ldconfig|ln|cp|mv|modprobe|docker|sh|chmod|nano|vi|nvidia\S*|rm|tar|dnf|yum|pacman|systemctl|service|find|make|snap|ubuntu-drivers)\b)"
_SUDO = Language(
    name="circumstances",
    words=("hout sudo", "hout `sudo", "ith sudo", "ith `sudo", "nder sudo", "nder `sudo", "by sudo", "By sudo", "via sudo", "ia `sudo", "hrough sudo", "use sudo", "sing sudo", "use `sudo", "mit sudo", "hne sudo", "con sudo", "Con sudo", "sin sudo", "Sin sudo", "vec sudo", "ans sudo", "com sudo", "sem sudo", "enza sudo", "as root", "As root", "as the root", "as superuser", "own name", "own user", "own account", "my user", "ormal user", "egular user", "rdinary user", "rivileged user", "root user", "\u7528sudo", "\u7528 sudo", "\u52a0 sudo", "\u52a0sudo"),
    kinds=(
        Kind(
            "fails-under-sudo",
            r"(?i:^(?![^\n]{0,400}(?:\b(?:pip\d?|conda|apt(?:-get)?)\b[^.\n]{0,30}\bwithout sudo|\b(?:docker|podman|apptainer|singularity)\b|works? (?:fine |only )?(?:with|under|using|as|through) (?:sudo|root)|without sudo,? (?:\w+ ){0,3}(?:fails|not|can't|cannot|doesn't|does not|won't|no)\b))[^\n]{0,400}?(?:"
            rf"\bwithout `?sudo\b{_PLAIN}{_OK}"
            rf"|(?<!n't )(?<!not )(?<!only )(?<!never ){_OK}(?: \w+){{0,3}}? (?:without|(?:when|if) (?:I do(?:n't| not) (?:use|run (?:it )?(?:with|under|by))|not (?:using|run with|under))|unless (?:I use|run with)) (?:the )?`?sudo\b(?! ?(?:password|rights))"
            rf"|\b(?:with|using|under|via|through|by) (?:the )?[`'\"]?sudo\b{_NO_TOOL}(?:(?!\b(?:works?|worked|unless|without)\b)[^.\n?]){{0,110}}?{_FAILS}"
            r"|\bas long as I (?:do not|don't) use sudo\b"
            rf"|\b(?:only )?when (?:I )?(?:start|run|call|launch|execut)\w{{0,3}} (?:it )?(?:as root|(?:by|with|under|through|via) sudo)\b[^.\n?]{{0,60}}\b(?:my own user|my user|as (?:my|a) (?:\w+ )?user|without)\b[^.\n?]{{0,30}}(?:no (?:problem|error|issue)|{_OK})"
            r"|\b(?:with|under|by|through) sudo\b[.,;] (?:but )?(?:without|when run without|not under)\b(?! (?:any|much))"
            rf"|\bas (?:the )?(?:super ?user|root)(?: user)?\b(?:(?!\b(?:works?|worked|unless|without)\b)[^.\n?]){{0,60}}?{_FAILS}"
            rf"|(?<!n't ){_FAILS}(?:(?!\b(?:unless|until|except|without|if I don't)\b)[^.\n?;]){{0,60}}?\b(?:with|under|using|via|through|when (?:I )?(?:run|running|use|using|started|launched|start|launch)(?: it)?(?: (?:with|by|under|via))?) [`'\"]?sudo\b{_NO_TOOL}"
            rf"|\b(?:as|under) (?:an? |the )?(?:(?:my )?(?:own|normal|regular|ordinary|unprivileged|non-root) (?:user|name|account)|my user)\b{_PLAIN}{_OK}"
            r"|\b(?:sin|ohne|sans|sem|senza) `?sudo\b[^.\n?]{0,40}\b(?:funciona|va|anda|geht|l\u00e4uft|klappt|funktioniert|marche|fonctionne|roda|funziona)\b"
            r"|\b(?:con|mit|avec|com) `?sudo\b[^\n?]{0,110}\b(?:falla|no encuentra|no (?:va|funciona|existe)|fehlt|nicht|ne (?:marche|trouve|fonctionne)|\u00e9choue|falha|n\u00e3o|non (?:trova|funziona))"
            r"|(?:\u4e0d\u7528|\u4e0d\u52a0) ?sudo[^\n]{0,20}(?:\u6b63\u5e38|\u53ef\u4ee5)|(?:\u7528|\u52a0) ?sudo[^\n]{0,20}(?:\u62a5\u9519|\u627e\u4e0d\u5230|\u4e0d\u884c)))",
            once=True,
        ),
    ),
    foreign=True,
)  # fmt: skip
_ACCOUNT = r"(?:[\w.'-]+ ){0,3}?(?:accounts?|users?|logins?|user name|benutzer\w{0,3}|konto|usuarios?|utilisateurs?|cuenta|compte)\b"
ACCOUNTS = Language(
    name="circumstances",
    words=("ccount", "user", "login", "Benutzer", "Konto", "usuario", "tilisateur", "cuenta", "compte", "用户", "账户"),
    kinds=(
        Kind(
            "one-account-works",
            rf"(?i:^(?![^\n]{{0,300}}\b(?:sudo|root|docker|git ?hub|google|aws|azure|conda|pip install|permission denied)\b)[^\n]{{0,400}}?(?:"
            rf"\b(?:second(?:ary)?|2nd|other|another|different|guest|colleague'?s?|zweite[nrs]?|andere[nrs]?|otro|otra|autre) {_ACCOUNT}[^\n?]{{0,80}}?(?:\b(?:fail\w*|can ?not|can't|cant|not|never|no|errors?|ImportError|nicht|ne)\b|n't\b)"
            rf"|{_OK}[^.\n?]{{0,30}}?\b(?:only|just|nur)\b[^.\n?]{{0,12}}? (?:one|a single|my(?: own)?|the first|this|einem|meinem) {_ACCOUNT}|{_OK}[^.\n?]{{0,16}} (?:one|first|main|primary|admin|own|my|un|mi|mon) {_ACCOUNT}[^.\n?]{{0,30}}\b(?:but|and|while|pero|mais|aber)\b[^.\n?]{{0,12}}\b(?:not|fails?|no|pas|nicht|n't)\b))"
            r"|(?:一个|某个|我的)(?:用户|账户)[^\n。]{0,16}(?:可以|正常)[^\n。]{0,16}(?:另一个|其他|别的)(?:用户|账户)[^\n。]{0,12}(?:不|报错|无法)",
            once=True,
        ),
    ),
    foreign=True,
)  # fmt: skip
"""It works for one user of a machine, and not for another: variables are set for the first alone."""
_IMAGE = r"(?:(?:^|[`$#>:(+] ?)FROM (?:--\S{1,60} )?|\b(?:starts|begins?|is|was) FROM |(?i:\b(?:base )?image(?: is|:|=| was)? [`'\"]?)|(?i:\b(?:based|built|builds?|build it|made|derived) (?:on|from|upon|of) [`'\"]?)|\b(?:docker|podman)\b[^\n]{0,200} run [^\n]{0,300}? )"
IMAGES = Language(
    name="circumstances",
    words=("nvidia/cuda:", "python:", "ubuntu:", "debian:", "miniconda3:", "anaconda3:", "condaforge/", "micromamba", "-notebook", "centos:", "rockylinux", "fedora:"),
    kinds=(
        Kind(
            "image-of-runtime-alone",
            rf"{_IMAGE}(?:\S{{0,40}}/)?nvidia/cuda:(?P<tag>\d{{1,2}}\.\d{{1,2}}(?:\.\d{{1,2}})?-base(?:-\S{{1,24}})?)(?=[\s`'\",)]|$)(?! nvidia-smi)",
            once=True,
        ),
        Kind(
            "image-without-cudnn",
            rf"{_IMAGE}(?:\S{{0,40}}/)?nvidia/cuda:(?P<tag>\d{{1,2}}\.\d{{1,2}}(?:\.\d{{1,2}})?-(?:runtime|devel)(?!-cudnn)(?:-\S{{1,24}})?)(?=[\s`'\",)]|$)(?! nvidia-smi)",
            once=True,
        ),
        Kind(
            "image-of-a-system",
            rf"{_IMAGE}(?:docker\.io/(?:library/)?)?(?P<tag>(?:python|ubuntu|debian|continuumio/(?:mini|ana)conda3|condaforge/\S{{1,20}}|mambaorg/micromamba|centos|rockylinux\S{{0,4}}|fedora):[\w.-]{{1,40}}|(?:quay\.io/)?(?:jupyter/)?(?:tensorflow|scipy|base|minimal)-notebook(?!:cuda)(?::[\w.-]{{1,40}})?)(?=[\s`'\",)]|$)(?! nvidia-smi)"
            r"|^(?:(?:quay\.io/)?jupyter/)?(?P<tag2>(?:tensorflow|scipy|base|minimal)-notebook)$",
            once=True,
        ),
    ),
    foreign=True,
)  # fmt: skip
"""Of what a container is made: an image with nothing of CUDA but its runtime, or with nothing of it."""
BRINGS = Language(
    name="circumstances",
    words=("RUN ", "cudatoolkit", "nvidia-c", "cuda-"),
    kinds=(
        Kind(
            "image-brings-cuda",
            r"^\+? ?(?:RUN|&&) [^\n]{0,400}\b(?:conda (?:env|install|create)|cudatoolkit|cuda-(?:toolkit|libraries|runtime|command|1\d)|nvidia-c\w{3,12}-cu1\d|libcublas|and-cuda|cuda_\d{1,2}\.\d\S{0,30}\.run)",
            once=True,
        ),
    ),
    foreign=True,
)
WHEELS_ASKED = Language(
    name="circumstances",
    words=("nvidia-c",),
    kinds=(
        Kind("wheels-asked", r"\bpip\d? install [^\n]{0,300}?\bnvidia-c(?:ublas|uda-runtime|ufft|urand|usolver|usparse|udnn)-cu1\d\b", once=True),
    ),
    foreign=True,
)  # fmt: skip
WHEELS = Language(
    name="circumstances",
    words=("nvidia-c",),
    kinds=(
        Kind(
            "wheels-removed",
            r"\bpip\d? uninstall (?:-y |--yes )?[^\n;&]{0,200}?\bnvidia-c(?:ublas|ufft|urand|usolver|usparse|udnn|uda-runtime)-cu1\d\b(?![^\n]{0,200}\bpip\d? install)"
            r"|(?i:\b(?:uninstalled|removed|deleted|pruned|stripped(?: out)?) (?:[\w,-]+ ){0,4}?(?:the )?(?:wheels? (?:of |for )?)?`?(?P<name>nvidia-c(?:ublas|ufft|urand|usolver|usparse|udnn)-cu1\d)\b)",
            once=True,
        ),
    ),
    foreign=True,
)
CHANGE = Language(
    name="circumstances",
    words=(
        "witch",
        "ngrad",
        "pgrad",
        "evert",
        "olled",
        "eplac",
        "hang",
        " went",
        " going",
        "oing back",
        " moving",
        " moved",
        " install",
        " using ",
    ),
    kinds=(
        Kind(
            "cuda-change-helps",
            r"(?i:^(?![^\n]{0,400}\b(?:does(?:n't| not)|did(?:n't| not)|still|won't|no luck|drivers?)\b)[^\n]{0,400}?(?:"
            r"\b(?:after|once|when|as soon as|with|since) (?:I |we |you )?(?:have |had )?(?:switch\w*|chang\w*|downgrad\w*|upgrad\w*|go(?:ing|es)?|went|mov\w+|return\w*|revert\w*|rolled|install\w*|replac\w+|us(?:e|ed|ing))(?: (?:back|down|up|it|the|an?|our|my|image|base|version|over|instead))* (?:to|by|with|for|on)? ?(?:the )?cuda(?: toolkit| version)? ?v?\d{1,2}(?:\.\d{1,2}){0,2}\b[^.?\n]{0,60}?\b(?:works?|worked|fine|used|uses|finds?|found|sees?|seen|detected|detects|recogni[sz]e[sd]|solved|fixed|gone)\b"
            r"|\b(?:works?|worked|fine|solved|fixed|resolved)\b(?: \w+){0,3}? (?:with|after|once|when|by) (?:I |we )?(?:switch\w*|chang\w*|downgrad\w*|go(?:ing|es)?|went|mov\w+|revert\w*|rolled|us(?:e|ed|ing))(?: (?:back|down|it|the|an?))* (?:to|on)? ?(?:the )?cuda(?: toolkit| version)? ?v?\d{1,2}(?:\.\d{1,2}){0,2}\b))",
            once=True,
        ),
    ),
    foreign=True,
)
"""Another version of CUDA, and it works."""
IN_WHEELS = Language(
    name="circumstances",
    words=("torch", "-packages", "nvidia/", "nvidia-c", "nvidia cudnn", "wheel", "nvidia package"),
    kinds=(
        Kind(
            "file-in-wheels-said",
            r"(?i:\b(?:it(?:'s| is)|they(?:'re| are)|finds?|found|lies?|sits?|located|exists?|see|have|there|copy|copies|files?(?: is| are)?|librar(?:y|ies)(?: is| are)?)\b[^.?\n]{0,60}?\b(?:in|inside|under|within) (?:[\w'\u2019]+ ){0,3}?[`'\"]?(?:torch(?:/lib)?\b|site-packages|dist-packages|nvidia[ /-]cudnn|nvidia/\w+/lib|nvidia (?:pip )?(?:wheel|package)s?|the (?:pip )?wheels?))"
            r"|-packages/nvidia/\w{1,20}/lib\S{0,60}[^\n\u3002]{0,8}(?:\u91cc|\u4e2d|\u4e0b|\u4e0b\u9762|\u76ee\u5f55)?(?:\u660e\u660e|\u786e\u5b9e|\u4e5f)?(?:\u6709|\u5b58\u5728|\u80fd\u627e\u5230|\u53ef\u4ee5\u770b\u5230)"
            r"|(?i:\bconda list\b|\bpip (?:list|show|freeze)\b)[^\n]{0,40}?\b(?:shows?|lists?|says?|has|contains?|prints?)\b[^\n]{0,60}?\b(?:nvidia-cudnn-cu\d\d|nvidia-\w+-cu\d\d)",
            once=True,
        ),
    ),
    foreign=True,
)
"""Where somebody finds what the loader does not."""
SEARCHED = Language(
    name="circumstances",
    words=("find /", "locate", "nowhere", "anywhere", "on the ", "on this ", "on my ", "in the file", "in this image"),
    kinds=(
        Kind(
            "no-cudnn-file",
            r"(?i:\b(?:find(?: \S{1,20}){1,8}|locate)['\"`*\w.* -]{0,30}\bcudnn[\w.*]{0,12}['\"`]{0,2}[^.\n?]{0,30}?\b(?:(?:finds|found|prints|printed|gives|gave|shows|returns|returned|yields)(?: me)? |: ?)(?:nothing|no (?:file|result|output|match)\w{0,2}|none|an? empty|zero)\b"
            r"|\b(?:no|not an?y?|nothing named|not a single) [`'\"]?(?:lib)?cudnn(?:\w*\.?so\S{0,4}|\d*_?\d*\.dll| files?| dlls?| librar\w+)?[`'\"]? (?:anywhere|(?:file )?(?:on|in) (?:the|my|this) (?:\w+ )?(?:disk|drive|machine|computer|system|filesystem))"
            r"|\b(?:lib)?cudnn\S{0,12} (?:is|was) nowhere (?:on|to be found))",
            once=True,
        ),
        Kind(
            "no-library-file",
            r"(?i:\b(?:find(?: \S{1,20}){1,8}|locate)['\"`*\w.* -]{0,30}?\b(?P<library>lib(?:cublas|cufft|curand|cusolver|cusparse))[\w.*]{0,12}['\"`]{0,2}[^.\n?]{0,30}?(?:\b(?:finds|found|prints|printed|gives|gave|shows|returns|returned|yields)(?: me)? |: ?)(?:nothing|no (?:file|result|output|match)\w{0,2}|none|an? empty|zero)\b)",
            once=True,
        ),
        Kind(
            "no-toolkit",
            r"(?i:\b(?:find(?: \S{1,20}){1,8}|locate)['\"`*\w.* -]{0,30}?\b(?:lib)?cudart[\w.*]{0,12}['\"`]{0,2}[^.\n?]{0,30}?\b(?:(?:finds|found|prints|printed|gives|gave|shows|returns|returned|yields)(?: me)? |: ?)(?:nothing|no (?:file|result|output|match)\w{0,2}|none|an? empty|zero)\b"
            r"|\b(?:no|not an?y?|nothing named|not a single) [`'\"]?(?:lib)?cudart(?:\w*\.?so\S{0,4}|\d*_?\d*\.dll| files?)?[`'\"]? (?:anywhere|(?:file )?(?:on|in) (?:the|my|this) (?:\w+ )?(?:disk|drive|machine|computer|system|filesystem)))",
            once=True,
        ),
    ),
    foreign=True,
)
"""Who searched the whole disk."""
TAKEN = Language(
    name="circumstances",
    words=(
        "wrong",
        "libcublas",
        "old cuda",
        "old CUDA",
        "older cuda",
        "older CUDA",
        "other cuda",
        "other CUDA",
        "/usr/local/cuda ",
    ),
    kinds=(
        Kind("cublas-package", r"^(?:ii +)?libcublas\d{0,2}(?:-dev)?(?::amd64)?[ =]+(?P<cuda>\d{1,2}\.\d)\.\d"),
        Kind(
            "wrong-toolkit-said",
            r"(?i:\b(?:takes?|took|taking|picks?|picked|picking|loads?|loaded|loading|finds?|found|chooses|chose|links? (?:to|against)|linked (?:to|against))\b(?: up)? (?:\w+ )?the (?:wrong|old|older|other) (?:one of (?:my |the |its )?)?(?:two )?(?:cuda|toolkit)s?\b(?! (?:device|gpu|card|driver))"
            r"|(?<![\w.])/usr/local/cuda(?![-\w./])[^.\n?]{0,30}\b(?:stayed|remained|still (?:is|was|points?|pointed|links?|linked|goes|went))\b)",
            once=True,
        ),
    ),
    foreign=True,
)
"""Of two toolkits the one that is not wanted is found; and of which CUDA cuBLAS's package is, which is of another one's at times."""
SYMBOLS = Language(
    name="circumstances",
    words=("not found (required", "ln -"),
    kinds=(
        Kind(
            "version-of-another",
            r"(?P<file>\S{0,200}lib(?:cudart|cublas|cufft|curand|cusolver|cusparse)\.so\.[\d.]{1,8}): version [`'\"\u2018]?(?P<wanted>lib(?:cudart|cublas|cufft|curand|cusolver|cusparse)\.so\.[\d.]{1,8})['`\"\u2019]? not found \(required by",
            "tf-lists-no-gpu",
            once=True,
        ),
        Kind(
            "linked-to-another",
            r"\bln -\w{1,3} \S{0,200}?(?P<has>lib(?:cudart|cublas|cufft|curand|cusolver|cusparse)\.so\.\d{1,2}(?:\.\d{1,2})?)(?:\.\d{1,4}){0,2} \S{0,200}?(?P<wanted>lib(?:cudart|cublas|cufft|curand|cusolver|cusparse)\.so\.\d{1,2}(?:\.\d{1,2})?)(?![.\w])",
            once=True,
        ),
    ),
    foreign=True,
)
"""A file under the name of another version."""
PACKAGES = Language(
    name="circumstances",
    words=("-cudart", "cublas-", "libcublas", "cufft-", "curand-", "cusolver-", "cusparse-"),
    kinds=(
        Kind(
            "apt-part",
            r"^(?!#|[^\n]{0,300}\b(?i:no|not|without|missing|left out|lacks?|forgot|except|but)\b|[^\n]{0,300}n't\b)[^\n]{0,300}?(?<![\w-])(?:cuda-|lib)(?:cudart|cublas|cufft|curand|cusolver|cusparse)-\d{1,2}-\d(?![\w-])",
        ),
    ),
    foreign=True,
)
"""NVIDIA's packages of single libraries, listed or installed."""
EMPTY = Language(
    name="circumstances",
    words=(" 0 ", "0 lib", "0 cu"),
    kinds=(
        Kind(
            "empty-file",
            r"^(?:\d{1,4}[./-]\d\d[./-]\d{2,4}\s{1,4}\d\d:\d\d(?:\s?[AP]M)?\s{1,30}0\s{1,4}|-a-{4}\s.{0,40}\s0\s{1,4}|-[rwx-]{9}[.+@]?\s{1,4}\d{1,3}\s{1,4}\S{1,20}\s{1,4}\S{1,20}\s{1,12}0\s.{0,40}\s|0\s{1,4})(?:/\S{1,120}/)?(?P<library>(?:lib(?:cu|nv)\w{2,20}\.so[.\d]{0,12}|(?:cu|nv)\w{3,16}64_\d{1,3}\.dll))$",
            once=True,
        ),
    ),
    foreign=True,
)
"""A list of files that shows one without a byte."""
ABSENT = Language(
    name="circumstances",
    words=("find /", "find lib", "locate ", "grep", "/usr/local", "/opt"),
    kinds=(
        Kind("no-cudnn-file", r"^find libcudnn: nothing$", once=True),
        Kind("no-toolkit", r"^find libcudart: nothing$", once=True),
        Kind("no-library-file", r"^find (?P<library>lib(?:cublas|cufft|curand|cusolver|cusparse)): nothing$"),
        Kind(
            "no-toolkit",
            r"(?i:(?<!why is )(?<!if )\b(?:there(?:'s| is) no|has no|have no|no|without an?y?) [`'\"]?cuda\S{0,4}[`'\"]? (?:directory|folder|dir|entry)? ?(?:in|under|at|inside) [`'\"]?/(?:usr/local|opt)\b)"
            r"|/usr/local ?(?:\u4e0b\u9762|\u4e0b|\u91cc\u9762|\u91cc|\u4e2d)?(?:\u4e5f)?\u6ca1\u6709 ?cuda",
            once=True,
        ),
        Kind(
            "no-wheels",
            r"^pip list \| grep nvidia: nothing$|(?i:\bpip\d? (?:list|freeze)\b[^\n]{0,30}\bgrep\b[^\n]{0,30}\b(?:nvidia|cudnn|cu1\d)\b[^.\n]{0,30}?(?:\b(?:nothing|empty|no (?:output|result|line|match)\w{0,2}|none)\b|\u6ca1\u6709\u8f93\u51fa|\u6ca1\u6709\u4efb\u4f55|\u4ec0\u4e48\u90fd\u6ca1|\u4e3a\u7a7a))",
            once=True,
        ),
    ),
    foreign=True,
)
"""What the silence of a command tells, and who says so."""
WINDOWS = Language(
    name="circumstances",
    words=("64_",),
    kinds=(
        Kind("dll-listed", r"^(?:\d{1,4}[./-]\d\d[./-]\d{2,4}\s.{0,60}\s|-a-{4} .{0,60}\s)?(?P<library>(?:cudart|cublas|cublasLt|cufft|cufftw|curand|cusolver|cusparse|cudnn)64_\d{1,3}\.dll)$"),
        Kind(
            "dll-shown",
            r"(?P<directory>[A-Za-z]:(?:\\[\w .()-]{1,40}){1,8})\\(?P<library>(?:cudart|cublas|cublasLt|cufft|curand|cusolver|cusparse|cudnn)64_\d{1,3}\.dll)\b(?![^\n]{0,30}(?i:not found|missing|does(?:n't| not)|cannot|isn't))"
            r"|(?i:\b(?:put|copied|extracted|moved|placed|unpacked|unzipped|saved|have) (?:the )?)(?P<library2>cudnn64_\d\.dll)(?: \w+){0,2}? (?:to|into|in|at|under) [`'\"]?(?P<directory2>[A-Za-z]:(?:\\[\w.-]{1,40}){1,8})\b(?![^\n]{0,20}\?)",
        ),
    ),
    foreign=True,
)  # fmt: skip
WINDOWS_PATH = Language(
    name="circumstances",
    words=(":\\",),
    kinds=(Kind("windows-path", r"(?i:^(?:(?:set )?path ?= ?)?(?P<path>[\"']?(?:[a-z]:\\[^;\n]{1,120};){2,40}[^;\n]{0,120}))"),),
    foreign=True,
)  # fmt: skip
NOTEBOOKS = Language(
    name="circumstances",
    words=("tensorflow-notebook",),
    kinds=(Kind("notebook-for-processors", r"(?<![\w.-])tensorflow-notebook\b(?!\S{0,20}cuda)", once=True),),
    foreign=True,
)
"""The image of Jupyter's stacks, whose TensorFlow comes without CUDA's libraries."""
OF_NODE = Language(
    name="circumstances",
    words=("tfjs-node",),
    kinds=(Kind("binding-of-node", r"\btfjs-node(?:-gpu)?\b", once=True),),
    foreign=True,
)
"""TensorFlow.js, which brings a library of its own."""
MEMORY = Language(
    name="circumstances",
    words=(
        " free",
        "OOM",
        "oom",
        "ut of memory",
        "emory problem",
        "emory issue",
        "emory limit",
        "emory shortage",
        "enough",
        "plenty",
        "lot of",
        "lots of",
    ),
    kinds=(
        Kind(
            "memory-not-it-said",
            r"(?i:^(?![^\n]{0,300}\b(?:whether|is it|if)\b)[^\n]{0,300}?(?:(?:\b(?:not|hardly|can't|cannot)\b|n't\b)[^.\n?]{0,40}\b(?:out of memory|oom|a? ?(?:v?ram|memory) (?:problem|issue|limit\w*|shortage))\b"
            r"|\b(?:plenty|enough|lots?|\d{1,3} ?G(?:i?B)?) (?:of )?(?:free )?(?:gpu )?(?:v?ram|memory) (?:is |are )?(?:free|left|available|unused)\b|\b\d{1,3} ?G(?:i?B)? (?:of )?free (?:gpu |video )?(?:memory|v?ram)\b))",
            once=True,
        ),
    ),
    foreign=True,
)
"""Who has looked, and memory is not short."""
_UNSET = r"(?:unset(?:s|ting)?|empt(?:y|ied|ying)|clear(?:s|ed|ing)?|remov(?:e|es|ed|ing)|delet(?:e|es|ed|ing)|dropp?(?:s|ed|ing)?|without(?: setting)?|take away|took away|(?:comment(?:s|ed|ing)?|leav(?:e|es|ing)|left) out)"
NO_PATH = Language(
    name="circumstances",
    words=("LD_LIBRARY_PATH",),
    kinds=(
        Kind(
            "works-without-path",
            r"(?i:^(?![^\n]{0,400}\b(?:suggest\w*|told me|docs?|not help|n't help|no longer|either way|makes no difference|in vain)\b)[^\n]{0,300}?(?:"
            rf"\b{_UNSET} (?:the |my |our |that |variable |export |line |of |from |\S{{1,60}} (?:from|off|out of) ){{0,4}}[`'\"$]?LD_LIBRARY_PATH\b{_PLAIN}(?:(?<!not )(?<!n't ){_WELL})"
            rf"|\b(?:with|if|when|once|as soon as)\b[^.\n]{{0,20}}?\bLD_LIBRARY_PATH['`\"]? (?:is |was )?(?:unset|empty|cleared|removed|not set)\b{_PLAIN}{_WELL}"
            rf"|(?<!not )(?<!n't )\b(?:works?|fine|ok|okay|goes away|(?:is|was) gone|disappears?|no errors?)\b(?: \w+){{0,2}}? (?:(?:if|when|once|after|with) )?(?:I |we |you )?{_UNSET} (?:the |my ){{0,1}}[`'\"$]?LD_LIBRARY_PATH\b"
            r")(?![^.\n]{0,60}\?))",
            once=True,
        ),
    ),
    foreign=True,
)
"""Who has seen it work without the variable."""
FROM_SOURCE, OF_A_DISTRIBUTION, DISTRIBUTION = told(
    (
        (
            "built-from-source-said",
            ("source", "Source", "\u6e90\u7801"),
            (r"(?i:^(?![^\n]{0,200}\b(?:source or binary\)\W{0,6}binary|if (?:compiling|building|installed|built|compiled) from sources?|should I|how to|(?:not|n't|never|instead of|without) (?:build|built|compil\w+)|(?:build|compil)ing from sources? (?:is (?:all|the only|no|not)|would|may|might|could|should))\b|[^\n]{0,80}, built from source, etc\.?\)(?![^\n]{0,20}source))[^\n]{0,300}?"
            r"(?:\b(?:(?:re)?built|(?:re)?build(?:ing)?|compil(?:ed|ing|ation)|install(?:ed|ation|ing)?)\b[^.\n]{0,60}?\bfrom (?:the )?sources?\b(?! or binary)|\bcompile(?:d)?[- ]from[- ]source\b"
            r"|\bsource or binary\)?\W{0,6}(?:from )?source\b|\u6e90\u7801\u7f16\u8bd1|\u7f16\u8bd1\u6e90\u7801))"),
            True,
        ),
        (
            "distribution-toolkit-said",
            ("nvidia-cuda-toolkit",),
            r"\b(?:apt(?:-get|itude)?|synaptic)\b[^\n]{0,60}\binstall\b[^\n]{0,120}\bnvidia-cuda-toolkit\b(?!=)|(?i:\binstall(?:ed|ing)? (?:the )?(?:package )?['\"`]?nvidia-cuda-toolkit\b)",
            True,
        ),
        ("distribution-named", ("buntu",), r"(?i:(?<!e\.g\., linux )(?<!e\.g\. linux )\bubuntu\W{0,3}(?:(?:linux|lts|version)\W{1,2})?(?P<release>1[468]|2[024])\.04\b)(?![^\n]{0,40}\(or similar)", False),
    )
)  # fmt: skip
"""Who built TensorFlow had the libraries that it is linked with; the CUDA that a distribution packages itself."""
LANGUAGES = (
    FROM_SOURCE,
    OF_A_DISTRIBUTION,
    DISTRIBUTION,
    NO_PATH,
    ACCOUNTS,
    NOTEBOOKS,
    OF_NODE,
    MEMORY,
    PACKAGES,
    EMPTY,
    ABSENT,
    _SUDO,
    IMAGES,
    BRINGS,
    WHEELS_ASKED,
    WHEELS,
    CHANGE,
    IN_WHEELS,
    SEARCHED,
    TAKEN,
    SYMBOLS,
    WINDOWS,
    WINDOWS_PATH,
)
