"""What people tell of what they have: the machine and its bus, the toolkit, packages, notebooks; and what helped. Like what they
tell of the circumstances it is weak, and of each kind the first line is kept."""

from __future__ import annotations

from .language import Kind, Language

_CARD = (
    r"(?:(?:rtx|gtx|geforce|tesla|quadro|titan) ?){0,3}(?:[ahblptv]\d{1,3}s?|[ap]?\d{4}|gh?b?200)(?: ?ti\b| ?super\b)?"
)
_MACHINE = rf"(?:{_CARD}|[pg][2-6]\w{{0,2}}\.\d{{0,2}}x?large|(?:a[234]-\w{{4,5}}gpu|g2-standard)-\d{{1,3}}g?)"
_WORKS = r"(?:works?|worked|fine|ok|okay|runs?|ran|succeeds?|trains?)"
_FAILS = r"(?:fails?|failed|crash(?:es|ed)?|hangs?|hung|dies|breaks?|broken|errors?|(?:does|do|did|is)(?:n't| not)(?: work| run)?)"
_STOPS = r"(?:fails?|failed|crash(?:es|ed)?|hangs?|hung|freezes|froze|(?:gets? |is |got )?stuck|stalls?|blocks?|dies|breaks?|(?:does|do|did|is)(?:n't| not)(?: work| run)?)\b"
_ONE_OF_TWO = r"(?:(?:an? |the |my |our )?(?:(?:system|machine|pc|computer|server|workstation|box|node|host) ?#?(?:[ab12]|one|two)|(?:first|second|other|another|old|new|intel|amd|one|threadripper|epyc|ryzen|xeon|i[79])(?:[ -](?:cpus?|system|machine|pc|computer|server|workstation|box|node|host|one|processors?))?)\b)"
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "displays-listed",
        ("lspci", "lshw"),
        (r"(?<![\w/-])lspci(?: -[knvm]{1,5}){0,3}(?: ?\| ?[ef]?grep (?![^\n]{0,80}(?i:nvidia))(?:-\w{1,4} ){0,3}['\"]?[\w|\\ ]{0,40}\b3[dD]\b[\w|\\ ]{0,40}['\"]?)?['`\"]?(?:$|[ :]{1,3}(?:shows?|lists?|prints?|gives?|says?)\b)"
        r"|\blshw -[cC] (?:display|video)\b"),
    ),
    ("mac-named", ("Apple", "apple", "Mac", "mac", "MBP", "M1", "M2", "M3", "M4", "brew"), r"\bApple M[1-9]\b|(?i:\bapple silicon\b)|\b[Mm]ac ?[Bb]ook|\bMBP\b|\biMac\b|\bmac ?OS\b|\bbrew (?:install|tap|cask)\b"),
    ("apple-silicon", ("Apple", "apple", "M1", "M2", "M3", "M4", "M5", "arm64"), r"(?i:\bapple[- ]silicon\b)|\b(?i:mac ?os)\b[^\n]{0,24}[,( ]M[1-5]\b|\b(?:[Aa]pple'?s? |[Mm]ac(?: ?[Bb]ook)?(?: ?(?:[Pp]ro|[Aa]ir|[Mm]ini|[Ss]tudio))?,?[ (]{1,2}(?:with (?:an? |the )?|on )?(?:Apple )?)M[1-5]\b|\bM[1-5](?: Pro| Max| Ultra)? ?-?(?:chips?|[Mm]ac\w{0,6}|processor|CPU|Air)\b|\b(?:an|my|for|on|with)(?: an| the)? M[1-5]\b(?![.-]?\w)|\bmacosx_\d{1,2}_\d{1,2}_arm64\b"),
    ("docker-of-a-mac", ("ocker",), r"(?i:^(?![^\n]{0,300}\b(?:friend|works|but|deploy\w*|colleague)\b)[^\n]{0,300}?\bdocker(?: desktop)?\b[^.\n,;]{0,24} (?:on|for) (?:an? |my |the )?(?:apple |new )?(?:m[1-4]\b|mac(?:book| ?os| mini| studio)?\b))"),
    ("linux-host-named", ("Fedora", "Pop!_OS", "Arch", "Amazon", "WSL", "PC", "SSH", "CentOS", "erver", "ssh", "buntu", "ebian", "emote", "orkstation", "EC2", "Linux", "inux "), r"(?i:(?<!-)\b(?:server|ssh|remote(?:ly)?|workstation|ec2)\b)|(?<![-:/])(?i:\bubuntu\b)(?!:)|\bDebian\b|\bFedora\b|\bPop!_OS\b|\bArch\b|\bAmazon Linux\b|\bWSL|\bPC\b|\bCentOS\b|(?i:\blinux (?:box|host|machine|pc)\b)"),
    (
        "toolkit-absent-said",
        ("uda", "UDA", "oolkit", "cudart", "cublas", "river"),
        (r"(?i:\b(?:nor|neither|no gpu (?:and|or)(?: no)?|without (?:a |the )?(?:gpu|driver) (?:and|or)(?: without)?) (?:the |any |is )?cuda(?: toolkit)?(?: is| was| are)? (?:installed|there|present)\b)"
        r"|(?i:^(?![^\n]{0,400}(?:\b(?:symlink|anymore|only /usr/local|other|another|inside|docker|container|image|conda|if|before|until|although|though|works|nvcc|runfile|but (?:by|with|from|via|through|the|a))\b|/opt/|\?$))[^\n]{0,300}?(?:"
        r"\bthere(?:'s| is) no [`'\"]?/usr/local/cuda\b(?!-)"
        r"|\bno cuda(?: toolkit)? (?:is |was |has been )?installed\b|\bno (?:cuda )?toolkit (?:is |was |has been )?installed\b"
        r"|\b(?:have(?:n't| not)|did(?:n't| not)|never) (?:yet )?install(?:ed)? (?:the |any |nvidia's )?(?:cuda toolkit|cuda(?! ?\d)|toolkit)\b"
        r"|\b(?:cuda )?toolkit (?:is|was) (?:not|never) installed\b|\bonly (?:the |nvidia's )?(?:nvidia |gpu |graphics )?driver (?:is |was |has been )?installed\b"
        r"|\bfind / [^\n]{0,40}lib(?:cudart|cublas)[^\n]{0,40}? (?:gives?|finds?|returns?|prints?|shows?|comes back)(?: with)? (?:nothing|empty|no \w+)\b))"),
    ),
    (
        "cudnn-absent-said",
        ("udnn", "uDNN", "UDNN"),
        (r"(?i:^(?![^\n]{0,400}(?:\b(?:another|anymore|inside|docker|container|image|if|whether|before|until|although|though|works?|but (?:by|with|from|via|through|the|a|it|is))\b|\?$|\.cc:))[^\n]{0,300}?(?:"
        r"\bcudnn (?:is|was|has) (?:not|never) (?:yet |been )?(?:installed|downloaded)\b(?! (?:properly|correctly|right|in|on|for|with|under|as|system))"
        r"|\b(?:have(?:n't| not)|did(?:n't| not)|never) (?:yet )?(?:install(?:ed)?|download(?:ed)?|cop(?:y|ied)) (?:the |any |nvidia's )?cudnn\b(?! ?v?\d)"
        r"|\bforgot (?:to (?:install|copy|download) )?(?:the )?cudnn\b|\b(?:have|got) no cudnn\b(?! (?:error|problem))"
        r"|\b(?:only (?:installed )?|installed only )(?:the )?(?:cuda|toolkit)[^.\n]{0,30}\b(?:no|not|without) cudnn\b"
        r"|\bcuda(?:[ -]toolkit)?(?: v?\d[\d.]{0,6})?(?: is installed)?,? (?:but |and )?(?:no|without) cudnn(?=[.,;)]|$| (?:is )?installed\b)"
        r"|\bthere is no cudnn (?:file|dll|librar|header|folder|install)"
        r"|^\W{0,6}cudnn(?: version)?\W{1,6}(?:none|no|not installed|nothing)\W{0,2}$|^\W{0,6}cuda ?(?:/|and|&) ?cudnn[^:\n]{0,12}:[^\n]{2,40}[/,] ?(?:cudnn:? )?(?:none|not installed|no cudnn)\W{0,2}$"
        r"|\bcudnn (?:ist )?nicht (?:installiert|vorhanden)|\bno tengo cudnn\b|\bno (?:he )?instal\w{1,4} cudnn\b|\bcudnn n'est pas install|\bpas install\w{1,3} cudnn\b))"
        r"|(?:没有?|未)(?:安装|装)(?:过| )?(?i:cudnn)|(?i:cudnn) ?(?:还)?(?:没有?|未)(?:安装|装)"),
    ),
    (
        "both-packages",
        ("ensorflow", "ensorFlow"),
        (r"(?i:^(?![^\n]{0,300}\b(?:can|could|should|may|if|whether|don't|never|instead|uninstall\w*|removed?|not)\b)[^\n]{0,200}?(?:\btensorflow-gpu(?:(?:==| )v?\d[\d.]{0,8})?\W{1,4}(?:and|&|\+|alongside|beside|next to|together with|as well as)\W{1,4}(?:the )?tensorflow(?:-cpu)?(?![-\w])(?:(?:==| )v?\d[\d.]{0,8})?"
        r"|\btensorflow(?:-cpu)?(?:(?:==| )v?\d[\d.]{0,8})?\W{1,4}(?:and|&|\+|alongside|beside|next to|together with|as well as)\W{1,4}(?:the )?tensorflow-gpu(?:(?:==| )v?\d[\d.]{0,8})?)\W{1,4}(?:are |were |is )?(?:both )?(?:installed|side by side|present|in (?:the|this|my) (?:same )?env\w*)\b)"
        r"|(?i:^(?:(?!\b(?:can|could|should|may|if|whether|don't|never|instead|uninstall\w*|removed?|not|read)\b)[^\n]){0,200}?\bboth\W{1,4}tensorflow-gpu(?:(?:==| )v?\d[\d.]{0,8})?\W{1,4}and\W{1,4}tensorflow(?:-cpu)?\b|^(?:(?!\b(?:can|could|should|may|if|whether|don't|never|instead|uninstall\w*|removed?|not|read)\b)[^\n]){0,200}?\bboth\W{1,4}tensorflow(?:-cpu)?(?:(?:==| )v?\d[\d.]{0,8})?\W{1,4}and\W{1,4}tensorflow-gpu\b)"),
    ),
    (
        "growth-helps",
        ("rowth", "emory"),
        (r"(?i:^(?![^\n]{0,400}\b(?:does(?:n't| not)|did(?:n't| not)|won't|no (?:difference|effect|change|luck)|neither|still|also tried|not help)\b)[^\n]{0,300}?(?:"
        r"\b(?:works?|worked|fine|ok|okay|goes? away|went away|gone|solve[sd]?|fix(?:es|ed)?|helps?|helped|can train|trains?)\b[^\n]{0,60}\b(?:with|after|by|if|when|once|using|set(?:ting)?)\b[^\n]{0,40}(?:allow_?growth|memory_?growth|(?:allow|memory) growth)"
        r"|(?:allow_?growth|memory_?growth|(?:allow|memory) growth)[^\n]{0,40}\b(?:works?|worked|solve[sd]?|fix(?:es|ed)?|helps?|helped|makes? it go away)\b))"),
    ),
    (
        "growth-in-vain",
        ("rowth", "ROWTH"),
        (r"(?i:(?:allow_?growth|memory_?growth|(?:allow|memory) growth)(?! (?:helps|works|fixed|solved))[^\n]{0,90}?(?:\b(?:no (?:difference|effect|change|luck|help|success)|nothing|in vain|useless|same (?:error|result|thing|failure|message|problem)|still (?:fails?|the same|crash\w*|no|get\w*|there)|not (?:help|change|fix|solve|work)|(?:without|sans|ohne|sin) (?:success|effect|luck|effet|succ\u00e8s|erfolg|wirkung|\u00e9xito|efecto)|identical)\b|n't (?:help|change|fix|solve|work|matter|do)\b"
        r"|\b(?:n'apporte rien|ne change rien|n'aide pas|no (?:sirve|ayuda|cambia|funciona)|hilft nicht|bringt nichts|\u00e4ndert nichts)\b|[-\u2013:] ?no\b)|(?:allow_?growth|memory_?growth)[^\n]{0,100}?(?:\ub611\uac19|\uc18c\uc6a9|\uc548 ?\ub429|\u6ca1\u7528|\u4e0d\u884c|\u65e0\u6548|\u6ca1\u6709(?:\u6548\u679c|\u7528|\u53d8\u5316)|\u4e00\u6837|\u5909\u308f\u3089|\u52b9\u679c\u306a|\u30c0\u30e1|\u043d\u0435 \u043f\u043e\u043c\u043e\u0433))"
        r"|(?i:\b(?:no (?:difference|effect|change|luck)|nothing changes?|still fails?|not help\w*|n't help) (?:with|by|from) (?:\w+ ){0,2}(?:allow_?growth|memory_?growth))"),
    ),
    ("cudnn-copied", ("libcudnn",), r"(?:^|[$#>:] ?|sudo )cp (?:-\w{1,4} )?\S{0,80}libcudnn\S{0,12} /usr/local/cuda[\w./-]{0,30}lib64"),
    (
        "card-decides",
        ("ork", "ine", "ok", "OK", "run", "Run", "ucceed", "rain"),
        (rf"(?i:\b{_WORKS}\b[^.\n]{{0,20}}? (?:on|with) (?:\w+ ){{0,2}}?(?P<works>{_CARD})\b[^.\n]{{0,40}}?\b{_FAILS}\b[^.\n]{{0,20}}? (?:on|with) (?:\w+ ){{0,2}}?(?P<fails>{_CARD})\b"
        rf"|\b{_FAILS}\b[^.\n]{{0,20}}? (?:on|with) (?:\w+ ){{0,2}}?(?P<fails2>{_CARD})\b[^.\n]{{0,40}}?\b{_WORKS}\b[^.\n]{{0,20}}? (?:on|with) (?:\w+ ){{0,2}}?(?P<works2>{_CARD})\b"
        rf"|(?<![\w.])(?P<works3>{_MACHINE})\b[^.\n\w]{{0,6}}(?:(?:is|are|it|was|all|that) )?{_WORKS}\b[^\n]{{0,60}}?(?<![\w.])(?P<fails3>{_MACHINE})\b[^.\n\w]{{0,6}}(?:(?:it|always|that) )?(?:{_FAILS}|this\b|the (?:error|above)\b|nothing\b|not\b)"
        rf"|(?<![\w.])(?P<fails4>{_MACHINE})\b[^.\n\w]{{0,6}}(?:(?:it|always|that) )?(?:{_FAILS}|this error\b|the (?:error|above)\b|nothing\b|not\b)[^\n]{{0,60}}?(?<![\w.])(?P<works4>{_MACHINE})\b[^.\n\w]{{0,6}}(?:(?:is|are|it|was|all|that) )?{_WORKS}\b)"),
    ),
    (
        "card-works-said",
        ("ork", "ine", "ok", "OK", "run", "Run", "rain"),
        (rf"(?i:(?:^|[.!?:;] )(?![^.\n]{{0,160}}(?:\b{_FAILS}\b|\b(?:if|whether|should|would|might|until|before|times|slow\w*|fast\w*)\b|\?))[^.\n]{{0,80}}?\b(?:same|identical|this|that|my|the|exact|it) (?:\w+ ){{0,3}}{_WORKS}\b (?:\w+ ){{0,4}}?(?:on|with|by|using) (?:\w+ ){{0,3}}?(?P<works>{_CARD})(?![\w]))"),
    ),
    (
        "machines-compared",
        ("ystem", "achine", "PC", "pc ", "omputer", "erver", "orkstation", "box", "Intel", "AMD", "node", "Node"),
        (rf"(?i:\b(?:on|in|with) {_ONE_OF_TWO}[^.\n]{{0,40}}?\b{_WORKS}\b[^\n]{{0,60}}?\b(?:on|in|with) {_ONE_OF_TWO}[^.\n]{{0,40}}?\b{_STOPS}"
        rf"|\b{_WORKS}\b[^.\n]{{0,20}}? (?:on|in|with) {_ONE_OF_TWO}[^\n]{{0,40}}?\b{_STOPS}[^.\n]{{0,20}}? (?:on|in|with) {_ONE_OF_TWO}"
        rf"|\b{_STOPS}[^.\n]{{0,20}}? (?:on|in|with) {_ONE_OF_TWO}[^\n]{{0,40}}?\b{_WORKS}\b[^.\n]{{0,20}}? (?:on|in|with) {_ONE_OF_TWO})"),
    ),
    ("amd-processor-named", ("hreadripper", "EPYC", "Epyc", "yzen", "AMD", "pteron"), r"(?i:\bthreadripper\b|\bEPYC\b|\bryzen\b|\bopteron\b|\bAMD (?:cpu|processor|board|platform|mainboard|motherboard)s?\b|\bon AMD\b(?! gpu))"),
    (
        "cudnn-works-elsewhere",
        ("cudnn", "CUDNN", "cuDNN", "CuDNN"),
        r"(?i:\bcudnn\b[^.\n]{0,24}\b(?:works|is found|is used|runs|is fine|is ok)\b[^.\n]{0,24}\b(?:theano|(?:py)?torch|caffe2?|mxnet|matlab|chainer|cntk|paddle)\b|\b(?:theano|(?:py)?torch|caffe2?|mxnet|matlab|chainer|cntk|paddle)\b[^.\n]{0,24}\b(?:finds|uses|works with|runs with|sees)\b[^.\n]{0,16}\bcudnn\b)",
    ),
    (
        "image-without-cuda",
        ("image", "Image"),
        r"(?i:\bimage\b[^.\n?]{0,40}\b(?:has no|have no|without|lacks?|lacking|does(?:n't| not) (?:have|contain|include))\b[^.\n?]{0,16}\bcuda\b)",
    ),
    ("swig-import", ("swig_import_helper",), r"\bswig_import_helper\b"),
    (
        "processor-with-avx",
        ("AVX", "avx", "i3", "i5", "i7", "i9", "yzen", "hreadripper", "EPYC", "Xeon", "worked", "ran "),
        r"(?i:(?<!not )(?<!n't )(?<!compiled )(?<!compile )(?<!built )(?<!build )(?<!anew )(?<!binary )\b(?:has|have|with|supports?)\b(?:(?!\b(?:no|not|without)\b)[^.\n]){0,20}\bavx)|\bi[3579][- ](?:[2-9]\d{3}|1\d{4})\w{0,2}\b|\bRyzen [3579]\b|\bThreadripper\b|\bEPYC\b|\bXeon\b[^\n]{0,20}\b(?:v[2-6]|Gold|Silver|Platinum)\b|(?i:\b(?<!you )(?:worked|ran) (?:\w+ ){0,3}(?:yesterday|before|last week|until)\b)",
    ),
    ("comes-without-cuda", ("without", "no CUDA", "no cuda", "no GPU", "no gpu"), r"(?i:^(?![^\n]{0,300}(?:\?|\b(?:login node|said that|now works)\b))[^\n]{0,300}?\b(?:tensorflow|tf|build|package|image|version|wheel)\b[^.\n?]{0,20}\b(?:comes|came|ships?|shipped|is|was|installed|delivered) (?:\w+ )?(?:without|with no) (?:cuda|gpu)\b)"),
    ("in-a-notebook", ("Cell In", "Input In", "ipython-input-", "ipykernel"), r"^(?:File )?Cell In ?\[\d{1,4}\]|<ipython-input-\d|\bipykernel_\d|^\W{0,4}Input In \[\d"),
    (
        "kernel-is-another",
        ("ernel", "base", "ython"),
        (r"(?i:\b(?:kernel|top right|upper right|corner|selector|picker)\b[^.\n]{0,60}\bbase\b)|\bbase \(Python \d|(?i:\bkernel\b[^.\n]{0,40}\b(?:system python|/usr/bin/python|another (?:python|environment|env|interpreter)))"),
    ),
    (
        "environment-has-it",
        ("env", "Env", "erminal", "ommand", "shell", "onsole", "rompt"),
        (r"(?i:\benv(?:ironment|ironnement)?\b(?! variables?\b)[^.\n]{0,80}\b(?:works?|worked|(?:list|show|print|see)(?!\w{0,3} (?:me )?(?:(?:a number|lots|a lot|plenty) of |some |many |several |these |this |the |an? )?(?:warnings?|errors?|messages?|nothing|no)\b)|affiche|zeigt|findet|imports? (?:fine|ok)|has (?:tensorflow|tf|it)))"
        r"|(?i:\b(?:works?|imports?|fine|ok|runs?|funktioniert|geht|fonctionne|marche|funciona)\b[^.\n?]{0,30}\b(?:terminal|command line|console|konsole|consola|shell|prompt)\b)"),
    ),
)  # fmt: skip
LANGUAGES = tuple(
    Language(name="circumstances", words=words, kinds=(Kind(name, pattern, once=True),), foreign=True)
    for name, words, pattern in _KINDS
)
