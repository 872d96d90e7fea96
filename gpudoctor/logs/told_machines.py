"""What people tell of machines: a laptop whose NVIDIA GPU is gone, a card from before CUDA as it is in use, a Windows of WSL 1, a
driver that was put into an image, CUDA that works in a container once it was used on the host. It is weak: it decides where no
program's line says otherwise."""

from __future__ import annotations

from .language import Kind, Language, told

_NO = r"(?:(?!\b(?:not|never|without|no|should|need|whether|if|since|after|when|because|once|before|but|host|mismatch|fails?|errors?)\b|n't\b|\b(?:re-?install|updat|upgrad))(?:[^.?\n]|\.(?=\d)))"
_IN_IMAGE = r"\b(?:in|into|inside|within|to(?= (?:the|my|our) (?:docker )?(?:image|docker ?file|container))) (?:my |the |our |an? |that |this |its |it's )?(?:[\w-]{1,15} ){0,2}?(?:docker ?files?|images?|containers?|docker)\b(?! (?:hosts?|machine|server|engine|desktop))"
_HOSTS = r"(?![^.\n]{0,40}\bon (?:the|my|our|its) (?:host|server|machine|node|workstation|pc|desktop)\b)"
_INSTALLS = r"\b(?:install(?:s|ed|ing)?|pulled|brought|add(?:s|ed)?|puts?|(?:runs?|ran)(?= \W?(?:\./)?NVIDIA-Linux-))\b"
_DRIVER = r"(?:\bdrivers?\b|\bnvidia-\d{3}\b|NVIDIA-Linux-|(?<![/-])\bcuda(?:-\d{1,2}-\d)?\b(?![-/:\w]|\.\w))"
_USES = r"\b(?:runs?|ran|running|executed?|executing|used?|using|done|did|start(?:s|ed|ing)?|launch(?:es|ed|ing)?|call(?:s|ed|ing)?|import(?:s|ed|ing)?)\b"
_HOST = r"(?:\b(?:on|from) (?:the |my |our )?(?:host|node)\b|\boutside (?:of )?(?:the |a |any |my )?(?:\w{1,9} )?container\b|\bnatively\b)"
_AS_SOON = r"(?:\b(?:after|as soon as|when|whenever|if|until|unless)\b|\bonce\b(?= (?:i|we|you|it|the|an?|cuda)\b))"
_ONCE = rf"{_AS_SOON}[^.\n]{{0,50}}?(?:\b(?:once|first)\b[^.\n]{{0,40}}?{_HOST}|{_HOST}(?: \w{{1,9}}){{0,2}}? \(?(?:once|first|beforehand)\b)"
_INSIDE = r"\b(?:containers?|docker|podman|pods?)\b"
_STILL_WELL = r"(?:(?!\b(?:never|not|nothing|fails?|errors?)\b|n't\b)[^\n])"
_GONE = r"(?:gone|vanish\w*|disappear\w*|missing|no longer|(?:not|n't) (?:\w{1,9} )?(?:visible|detected|show\w*|there|recogni[sz]ed|found|appear\w*|listed))\b"
_KINDS: tuple[tuple[str, tuple[str, ...], str, bool], ...] = (
    (
        "used-on-host-said",
        ("host", "Host", "node", "outside", "nativ", "\u5bbf\u4e3b\u673a", "\u0445\u043e\u0441\u0442\u0435"),
        (
            r"(?i:^(?![^\n]{0,400}(?:\bnvidia-smi\b[^.\n]{0,30}\b(?:on|from) the host|\bno (?:difference|effect|luck|change)\b|n't (?:help|change|matter)|\bnot (?:help|change|matter)|\bsame (?:error|problem|issue)))[^\n]{0,400}?(?:"
            rf"{_ONCE}{_STILL_WELL}{{0,90}}?(?:{_INSIDE}|\btried again\b|\b(?:everything|all) (?:is|was|works)\b)|{_INSIDE}[^.\n]{{0,60}}?{_ONCE}"
            rf"|{_AS_SOON}[^.\n]{{0,50}}?{_USES}[^.\n]{{0,40}}?{_HOST}{_STILL_WELL}{{0,60}}?{_INSIDE}[^.\n]{{0,30}}?\b(?:too|as well|also)\b"
            rf"|\bthen\b[^.\n]{{0,30}}?{_USES}[^.\n]{{0,30}}?{_HOST}{_STILL_WELL}{{0,60}}?\bafterwards\b[^.\n]{{0,20}}?{_INSIDE}"
            rf"|\brunning\b[^.\n]{{0,40}}?{_HOST}[^.\n]{{0,20}}?\bonce\b[^.\n]{{0,20}}?\b(?:cures?|fix\w*|helps?|solves?|makes)\b"
            r"|\b(?:sobald|nachdem|wenn)\b[^.\n]{0,60}\bauf dem host\b[^\n]{0,60}|\u043f\u043e\u043a\u0430\b[^.\n]{0,20}\u043e\u0434\u0438\u043d \u0440\u0430\u0437[^.\n]{0,40}\u043d\u0430 \u0445\u043e\u0441\u0442\u0435))|\u5728\u5bbf\u4e3b\u673a[^\u3002\n]{0,30}(?:\u4e00\u6b21|\u4e4b\u540e)[^\u3002\n]{0,30}\u5bb9\u5668"
        ),
        True,
    ),
    (
        "driver-into-image-said",
        ("river", "nvidia-", "NVIDIA-Linux", "cuda", "CUDA", "Cuda"),
        (
            r"^RUN [^\n]{0,300}?(?:\binstall\b[^\n]{0,200}? (?:nvidia-(?:driver|\d{3})\S{0,20}|cuda(?:-\d{1,2}-\d)?|cuda-drivers\S{0,9}|xorg-x11-drv-nvidia\S{0,20})(?= |$)|NVIDIA-Linux-\S{3,60}\.run)"
            rf"|(?i:(?:{_IN_IMAGE}|\b(?:my|our|the) (?:docker )?(?:image|docker ?file)\b){_NO}{{0,60}}?(?:{_INSTALLS}{_NO}{{0,40}}?{_DRIVER}|{_DRIVER}[^?\n]{{0,20}} (?:is|are|was|were|gets?) installed\b){_HOSTS}"
            rf"|{_INSTALLS}{_NO}{{0,40}}?{_DRIVER}{_NO}{{0,60}}?{_IN_IMAGE})"
        ),
        True,
    ),
    (
        "old-card-named",
        ("eForce", "EFORCE", "eforce", "uadro FX", "uadro NVS", "nForce"),
        r"(?i:\bgeforce (?:fx ?\d{4}|(?:gts?|gs|gtx\+?|go|le) ?[6-9]\d{3}|[6-9]\d{3}\w{0,3}|(?:gts?|gtx|g)? ?(?:1[0-3]0|2[0-9]{2}|3[0-4]\d)m?)\b|\bquadro (?:fx|nvs) ?\d{2,4}m?\b|\bnforce \d{3})",
        False,
    ),
    (
        "windows-before-wsl2",
        ("10.0.1", "uild", "indows", "Win10", "Win 10"),
        r"\b10\.0\.1[0-7]\d{3}\b|(?i:\bbuild(?: number| version)?\W{0,5}1[0-7]\d{3}\b|\bwin(?:dows)?(?: ?10)?(?: (?:home|pro|enterprise|education))?,? ?\(?(?:version |ver\.? ?|v)?(?:1507|1511|1607|1703|1709|1803|1809)\b)",
        True,
    ),
    (
        "hybrid-named",
        ("rime", "PRIME", "ptimus", "envycontrol", "supergfx", "system76-power", "[Discrete]"),
        r"\[Discrete\]|\bprime-select\b|\boptimus-manager\b|\benvycontrol\b|\bsupergfx(?:ctl|d)\b|\bsystem76-power\b|\bPRIME (?:[Pp]rofiles?|[Rr]ender|[Mm]ode|[Ss]ettings|[Ll]aptop)|\b(?i:nvidia)[- ](?:PRIME|[Pp]rime|[Oo]ptimus)\b|\b[Oo]ptimus (?:laptop|notebook|graphics|technology|system)",
        True,
    ),
    (
        "laptop-named",
        ("aptop", "Legion", "XPS", "hinkPad", "hinkpad", "Zephyrus", "Nitro", "OMEN", "Omen", "(Mobile)", "Razer Blade", "Alienware", "MSI G"),
        r"(?i:\blaptops?\b)|\bLegion\b|\bXPS ?1[357]|\bThink[Pp]ad\b|\bZephyrus\b|\bNitro ?[57]\b|\bO(?:MEN|men)\b|\b(?:HD|UHD|Iris)\b[^\n]{0,40}\(Mobile\)|\bRazer Blade|\bAlienware [mx]?\d\d|\bMSI G[ESTLPFV]\d\d",
        True,
    ),
    (
        "card-gone-said",
        (" gone", " missing", "isappear", "anish", "no longer", "not vis", "not det", "not sh", "not rec", "not fo", "not ap", "not lis", "not see", "n't vis", "n't det", "n't sh", "n't rec", "n't ap", "n't lis", "n't see", "n't fi", "not fi", "not there", "n't there"),
        rf"(?i:\b(?:nvidia(?![-_](?!gpu|card)\w| not found in directory| (?:kernel )?(?:drivers?|modules?|librar\w{1,3}|runtime|device files) (?:is |was |are |were )?(?:not|missing|gone)\b)(?<!module nvidia)|geforce|dedicated|discrete|d-?gpu|[gr]tx ?\d{{3,4}}\w{{0,2}}|quadro \w{{2,6}})\b[^.\n]{{0,40}}?\b{_GONE}|\b(?:not|n't) (?:show|see|detect|find|list|recogni[sz]e)s? (?:the |my |any )?(?:nvidia|dedicated|discrete)\b)",
        True,
    ),
    (
        "no-cuda-links-said",
        ("ldd", "readelf", "objdump", "inked", "links"),
        r"(?i:^(?![^\n]{0,400}\bnot found\b)(?=[^\n]{0,500}\b(?:ldd|readelf|objdump|linked|links?)\b)[^\n]{0,500}?\b(?:no|not|without|any|zero)\b[^.\n]{0,50}?(?:\b(?:links?|linked|dependenc\w{1,3}|references?)\b[^.\n]{0,30}\bcuda\b|\bcuda (?:librar\w{1,3}|dependenc\w{1,3}|links?)\b))",
        True,
    ),
    (
        "container-named",  # programs that are published as images alone
        ("rigate", "mmich", "darr", "nmanic"),
        r"(?i:\b(?:frigate|immich|tdarr|unmanic)\b)",
        True,
    ),
    (
        "other-gpu-named",
        ("amd", "AMD", "adeon", "RADEON"),
        (
            r"(?i:^\W{0,4}(?:gpu|graphics card|video card|vga) ?\W{1,5}(?P<vendor4>amd|radeon)\b|\b(?:my|the|our) (?:gpu|card|graphics card|video card) (?:is|was) (?:just |only )?(?:an? )?(?P<vendor>amd|radeon)\b"
            r"|^(?![^\n]{0,80}\b(?:ryzen|epyc|processor|cpu)\b)[^.?!\n]{3,80}\b(?:on|with) (?:an? )?(?P<vendor2>amd|radeon)(?: gpus?| cards?)?\W{0,2}$"
            r"|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w{0,2} (?P<vendor3>amd|radeon)\b)"
        ),
        True,
    ),
)  # fmt: skip
_CAPPED = Language(
    name="circumstances",
    words=("W", "watt", "Watt"),
    kinds=(
        Kind(
            "power-capped-told",
            r"(?i:(?=[^\n]{0,300}\b(?:gpu|tgp|card|laptop|rtx|gtx|power)\b)(?:\b(?:capped|limited|locked|stuck|tops? out|maxe[sd]? out)|\b(?:only|never|not|just) (?:draws?|uses?|pulls?|goes|gets?|reach\w*|exceeds?)|n't (?:draw|use|pull|go|get|exceed|reach)))(?i:(?: \w+){0,3}? \d{2,3} ?w(?:atts?)?\b[^.\n]{0,60}?\b(?:able|can|could|should|supposed|rated|on windows|instead of|out of|tdp|tgp|of)\b[^.\n]{0,30}?\b\d{2,3} ?w(?:atts?)?\b)",
            "runs-slowly",
            once=True,
        ),
    ),
    foreign=True,
)
LANGUAGES = (*told(_KINDS), _CAPPED)
