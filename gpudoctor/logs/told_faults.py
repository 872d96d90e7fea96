"""What people complain of in a sentence or two where hardly a program's line is: libraries that lie elsewhere or are of another
version, a compiler that is not found, packages and files that take each other's place. It is weak, and counts where nothing else
fails: which causes go first then is told in textual/plain.py."""

from __future__ import annotations

from collections.abc import Iterable

from ..facts import COMPLAINT, READS_LIKE_A_FAULT, TextEvent
from ..patterns import Pattern
from . import generations
from .language import LONGEST, told
from .notebook import Notebook

_LACKS = (
    r"(?:(?:command |binary )?not (?:be )?(?:found|located|recogni[sz]ed)|no such file|missing|not there|does(?: not|n't) exist|befehl nicht gefunden|kommando nicht gefunden|nicht gefunden|(?:commande )?introuvable|(?:orden|comando) no encontrad[ao]"
    r"|no se (?:encuentra|encontr\u00f3)|comando n\u00e3o encontrado|n\u00e3o encontrad[ao]|comando non trovato|(?:\u043a\u043e\u043c\u0430\u043d\u0434\u0430 )?\u043d\u0435 \u043d\u0430\u0439\u0434\u0435\u043d\w?|\u672a\u627e\u5230|\u627e\u4e0d\u5230|\u4e0d\u5b58\u5728|\u30b3\u30de\u30f3\u30c9\u304c\u898b\u3064\u304b\u308a)"
)
"""How shells, in their tongues, and people say that a program is not there."""
_CAN_NOT_FIND = (
    r"(?:could ?n[o']t|can(?:'t| ?not)|unable to|fail(?:s|ed)? to|not able to|does(?:n't| not)|did(?:n't| not)) (?:be )?"
    r"(?:find|locate|execute|run|see|detect|start)"
)
_DISK = r"(?:disk|drive|pc|computer|laptop|system|machine|server|notebook|ssd)"
_FILES = r"(?:dlls?|files?|librar(?:y|ies)|libs?|\.so(?: files?)?)"
_IN_PLACES = r"(?:folders?|sub-?folders?|(?:sub-?)?director(?:y|ies)|projects?|programs?|env\w*|tools?|places?|apps?)"
_ONE = r"(?:the|this|that|a|one|just|only|single|missing|lost|right|needed)"
_TF, _TF_GPU = (
    r"(?<![a-z_-])tensorflow(?:==[\d.]{3,8}| v?\d\.[\d.]{1,6})?(?![-\w./\[])",
    r"(?<![a-z_-])tensorflow[-_]gpu\b",
)
_AND = r"(?:['\"`, ]{1,3}(?:and|&|\+|or|vs\.?|und|y|et|e|\u0438|\u548c|\u4e0e|\u8ddf|\u53ca)['\"` ,]{1,3}(?:also |the |auch |\u0438 )?|[\u548c\u4e0e\u8ddf\u53ca]|, ?\u0438 )"
_PAIR = (
    r"(?<![a-z_-])tensorflow(?:==[\d.]{3,8}| v?\d\.[\d.]{1,6})?(?: ?\(?cpu\)?)?"
    + _AND
    + r"tensorflow[-_]gpu|(?<![a-z_-])tensorflow[-_]gpu(?:==[\d.]{3,8}| v?\d\.[\d.]{1,6})?"
    + _AND
    + r"tensorflow(?![-\w])"
)
_TAKEN_AWAY = r"(?:un-?install\w*|remov\w+|delet\w+|deinstall\w*|desinstal\w+|d\u00e9sinstall\w+|\u5378\u8f7d|\u0443\u0434\u0430\u043b\w+)"
_OWN_FILE = r"(?:script|files?|program|(?<!no )module|notebook|code|skript|datei|programm|fichier|archivo|arquivo|\u0444\u0430\u0439\u043b|\u811a\u672c|\u6587\u4ef6)"
_CALLED = r"(?:is |was |are )?(?:also |actually )?(?:called|named|with the name|by the name(?: of)?|hei\u00dft|namens|genannt|s'appelle|appel\u00e9e?|nomm\u00e9e?|se llama|llamad[oa]|chamad[oa]|se chama|\u043d\u0430\u0437\u044b\u0432\u0430\u0435\u0442\u0441\u044f|\u043d\u0430\u0437\u0432\u0430\u043d\w*)"
_IMAGE = r"(?:\bnvidia/cuda\b|\b(?:docker |container |base |devel |runtime |cuda )?images?\b|\u955c\u50cf)"
_OF_DRIVER = r"lib(?:cuda|nvidia-ml)(?:\.so[.\d]{0,4}\*?)?"
_MISSING_IN = r"(?:\bnot (?:in|inside|part of|included|contained|shipped|present|found|there|available)\b|\bmissing\b|\black(?:s|ing|ed)?\b|\bno\b|\bwithout\b|\bnone\b|n't\b|\bcan ?not\b|\bdoes not\b|\bforgot\w*|\u6ca1\u6709|\u7f3a\u5c11|\u627e\u4e0d\u5230)"
LANGUAGES = told(
    (
        (
            "nvcc-lost",
            ("nvcc", "CUDA_HOME", "CUDAHOME", "CMAKE_CUDA", "CUDA_TOOLKIT_ROOT"),
            (rf"(?i:^(?![^\n]{{0,300}}\b(?:ptxas|libdevice)\b)[^\n]{{0,400}}?(?:\bnvcc(?:\.exe)?(?: binary| compiler)?['\"`:.]{{0,3}} ?(?:(?:is|was|ist|est) )?['\"` :]{{0,2}}(?:{_LACKS}|(?:can|could|is|was)(?:'t|n't| ?not) (?:be )?(?:found|located|there|installed|recogni[sz]ed))|\b(?:command not found|no such file or directory): ['\"`]?[:\w./-]{{0,80}}\bnvcc\b"
            rf"|\b{_CAN_NOT_FIND} (?:the |a |an |your |any )?['\"`]?nvcc\b|\b(?:no|lacks?|lacking|without|missing) ['\"`]?nvcc\b|\bnvcc (?:is |was )?(?:missing|absent|not (?:in|part of|included))\b|\u627e\u4e0d\u5230 ?nvcc|\bcuda_?home (?:environment )?variable (?:is )?not (?:set|found)|(?:set|unset):? \$?CUDA_?HOME\b|\bno cmake_cuda_compiler could be found|\bcould not find cuda \(missing: cuda_toolkit_root|\bnvcc (?:\w+ )?(?:fehlt|falta|manque)\b|\b(?:fehlt|falta|manque) nvcc\b))"),
            True,
        ),
        (
            "toolkit-unfound-said",
            ("CUDA", "cuda", "nvcc"),
            (r"^(?![^\n]{0,200}\b(?i:without cuda|cpu only)\b)[^\n]{0,300}?(?:(?i:\bcould not find cuda(?:toolkit)?\b[^\n]{0,12}\(missing:|\bcould not find cuda(?: (?:in|on|at)\b|[.!?]?$|: found unsuitable version \"{2})|\bspecify cuda_toolkit_root_dir\b|\bcuda_toolkit_root_dir(?:-notfound| (?:is )?not (?:found|set|specified))|\bcuda_\w{3,30} \(advanced\)|\b(?:c?make|build\w*|compil\w*|configure|colcon|catkin\w*)\b[^.\n]{0,30}?(?:can ?not|can't|couldn't|could not|doesn't|does not|unable to|fails to|not able to) (?:find|locate) cuda\b(?![- ](?:capable|device|gpu|driver))|\bno cuda toolset found\b|\bfailed to find nvcc\b|\bcuda compiler identification is unknown\b)"
            r"|\b(?:cuda|cuda_runtime|cuda_runtime_api|cublas_v2|cuda_fp16|cusolverDn|cusparse|curand_kernel|thrust/\w{2,24})\.h(?:'|\"|`)?(?:: ?No such file|(?: was| is| could)? (?:not (?:be )?found|missing)|: ?(?i:datei oder verzeichnis|aucun fichier|no existe|nie ma|нет такого|没有那个|файл)|找不到)|(?:找不到|缺少) ?cuda\w{0,16}\.h\b|\bcommand '\S{0,60}nvcc(?:\.exe)?' failed: (?:No such file|None)|\bcannot find -lcu(?:dart|blas|fft|rand|solver|sparse)\b|cudart\.lib['\"]?(?: (?:not found|fehlt)|$)"
            r"|\bbin/nvcc\b[^\n]{0,300}?[\s'\"][A-Za-z]:[\\/])"),
            True,
        ),
        (
            "without-cuda-said",
            ("without CUDA", "without cuda", "Without CUDA", "CPU only", "CPU-only", "build went", "builds fine", "compiles fine"),
            r"(?i:\bbuil(?:d|ding|t|ds) without cuda\b|\b(?:build|it) (?:went|builds|compiles) fine\b)",
            True,
        ),
        (
            "windows-monitor-said",
            ("anager", "onitor"),
            r"(?i:\b(?:task ?manager|(?:activity|resource) monitor)\b)",
            True,
        ),
        (
            "much-faster-said",
            ("aster", "ASTER"),
            r"(?i:\b(?:much|far|way|a lot|many times|significantly|clearly|\d{1,3} ?(?:x|times)) faster\b[^.\n]{0,24}\b(?:than|with|on)\b[^.\n]{0,40}\bcpu\b)|(?i:\bfaster than (?:\w+ ){0,3}?cpu\b)(?<!n't faster than cpu)(?<!not faster than cpu)",
            True,
        ),
        (
            "image-built-said",
            ("uild", "ocker", "CI ", "ctions", "RUN ", "unners", "itlab", "itLab", "ravis", "without GPU", "without a GPU", "no GPU"),
            r"(?i:\bdocker(?:[ -]compose)?(?: image)? build\b|(?<!image/)(?<!/cudnn\d/)\bdocker-?file\b|\b(?:build(?:ing|s)?|built) (?:of )?(?:the |your |a |an |my |this )?(?:docker |container )?(?:images?|containers?)\b|\bimage build\b|\bautomated builds?\b|\bhub\.docker\.com/r/[\w./-]{1,60}/builds?\b|\bgithub actions\b|\bgitlab[- ]ci\b|\btravis\b|\bci (?:runners?|machines?|servers?|pipeline|jobs?)\b|\bRUN step\b|^\W{0,3}RUN (?:python|pip|make|\w+=\d))",
            True,
        ),
        (
            "requirements-installed-said",
            ("requirements",),
            r"\bpip3? install (?:-\w{1,2} )?-r \S{0,60}requirements[-_]?(?P<which>gpu|nvidia|cuda|cpu)?\w{0,10}\.txt\b(?!\W{1,3}(?:it )?(?:stops|fails|failed|gives an error|can't|cannot)\b)",
            False,
        ),
        (
            "builds-cuda-code",
            ("ompil", "tf_ops", "ops", " op", "setup.py", ".cu", "Error 127", "uild", "auen", "make", "ninja", "编译", "lugin", "xtension", "layer", "asteriz", "inding"),
            r"(?i:\b(?:compil(?!er(?: f|$))\w*|kompil\w*|tf_ops|custom (?:\w+ )?ops?|(?:cuda|tf|own|pooling|\w+_?ops?) ops?|ops? (?:folder|directory)|setup\.py|setup of the ops|build_ext|ninja|cmake|makefile|makes?|extensions?|plug-?in|\w+ layers?|rasteri[sz]er|bindings?|buil(?:d|ds|ding|t)|bauen)\b|\.cu\b|error 127)|\u7f16\u8bd1",
            True,
        ),
        (
            "library-elsewhere-said",
            ("dll", "DLL", "ile", "ibrar", "libs", " it ", "It ", "It's", "it's", "udnn", "uDNN", "UDNN", "uda", "UDA", ".so", "opies", "copy", "installed", "nstalado", "nstalliert", "安装", "установлен", "nstall\u00e9", "disco"),
            (rf"(?i:^(?![^\n]{{0,120}}\brequires that this DLL\b)[^\n]{{0,400}}?(?:\b(?:\d+|many|several|multiple|lots of|a dozen|dozens of) cop(?:y|ies) of\b|\bwhich (?:\w+ly )?(?:is|lies|sits|exists) (?:in|at|under|there)\b|\bthere (?:it|they|the file|the dll) (?:really |actually )?(?:is|lies|sits|are|was|were|lie)\b(?! not?\b)"
            rf"|(?<!\bif )(?<!whether )(?<!\bsay )(?<!say, )\b(?!(?:it|they)(?:'s|'re| is| are| was| were) still there\b)(?:it|they|{_FILES}|\S{{3,40}}\.(?:dll|so(?:\.\d){{0,3}}))(?:'s|'re|(?: (?!not\b|never\b)\w+){{0,2}}? (?:is|are|was|were|lies|lie|sits?|exists?))(?: (?!not\b|no\b|never\b|missing\b|to\b)\w+){{0,3}}? (?:there\b(?! (?:a|any|no|an)\b)|(?:on|in) (?:my|the|this) {_DISK}\b|in (?:[\w'\u2019-]+ ){{0,4}}?{_IN_PLACES}\b|(?:at|in|under) [`'\"]?(?:[/~]|[a-z]:))"
            rf"|(?<!to )\b(?:i |i've |we |have |can )?(?:found|find|see|saw|have|got) (?:it|them|the (?:\w+ )?{_FILES}|this {_FILES}|that {_FILES}) (?:\w+ ){{0,2}}?(?:in|on|at|under) (?!https?|google|the (?:\w+ )?(?:internet|web|pictures?|images?|screenshots?|photos?|logs?|output|figures?|videos?)\b)"
            rf"|(?<!not )(?<!n't )(?<!not be )(?<!n't be )\b(?:found|is|are|have|got|lies?|sits?|stored|located|installed|unpacked|exists?|present)\b(?:(?!\b(?:not|no|never|nothing|if)\b|n't\b)[^.\n]){{0,60}}? (?:in|at|under|to|into) [`'\"]?(?:[a-z]:\\|/(?:usr/local|usr/lib|opt(?!/conda/conda-bld)|home)/)(?![^\n]{{0,80}}(?:-packages/tensorflow|conda-bld/|\.(?:cc?|cpp|cu|h)(?:[:,)]|$)))|\b(?:but|though|although|yet|it's|been) (?:\w+ )?(?:definitely|properly|correctly|surely|already) installed\b|\bi (?:do |already |also )?have (?:it|them|this file|the file|that file|this dll|the dll)\b|\bcontains? (?:this|the|that) (?:file|dll)\b|\b(?:have|got) (?:the )?(?:cuda |cudnn )?(?:toolkit|cuda|cudnn) ?(?:v?\d[\d.]{{0,6}} )?(?:on|in) (?:my|the|this) {_DISK}\b|(?<!\bif )(?<!why this )(?<!why the )(?<!: )\b{_FILES} (?:really |definitely |does |do |actually )?exists?\b"
            rf"|(?<!not )(?<!n't )(?<!\bif )\b(?:cuda|cudnn|them|it|everything|all|both|libraries|they)(?: and (?:cuda|cudnn))? ?(?:v?\d[\d.]{{0,6}} )?(?:(?:is|are|was|were|have been|has been|were all|are all) )?(?:(?:definitely|properly|correctly|already|surely|certainly|fully|successfully) installed\b|installed (?:properly|correctly|successfully)\b)"
            rf"|\b(?:properly|correctly|successfully|definitely) installed (?:cuda|cudnn|both|everything|all)\b|(?<!not )(?<!sure cuda toolkit and )\bcudnn(?: v?\d[\d.]{{0,6}})? (?:is|are both|are) installed\b(?! ?\?)"
            rf"|\bcudnn\b[^.\n]{{0,24}}\b(?:installer|setup)\b[^.\n]{{0,12}}\b(?:ran|worked|finished|completed|went)\b|\b(?:put|placed|copied|moved|pasted|added) (?:the |all |its |these |those |whole |entire |my )*(?:cudnn (?:folder|files|dlls|libraries|directory|bin)|dlls|libraries)\b[^.\n]{{0,24}}? (?:in|into|to|next|beside|under)\b|\b(?:datei|dll|sie)\b[^.\n]{{0,40}}\b(?:liegt|existiert|vorhanden ist|da ist)\b"
            rf"|\b(?:unzipped|unpacked|extracted|decompressed)\b[^.\n]{{0,24}}\bcudnn\b|\bcudnn\b[^.\n]{{0,24}}\b(?:unzipped|unpacked|extracted|decompressed)\b"
            rf"|\best\u00e1n? (?:en (?:mi|el|la)|instalad[oa]s?)\b|\b(?:liegt|liegen) (?:in|im|auf|unter|doch|aber)\b|\bcudnn ist (?:\w+ )?(?:installiert|da\b|vorhanden)|\best bien (?:install\u00e9|l\u00e0)|(?:\u5df2\u7ecf?|\u660e\u660e)(?:\u7ecf)?(?:\u5b89\u88c5|\u88c5)\u4e86?|\u5c31\u5728|cudnn \u0443\u0441\u0442\u0430\u043d\u043e\u0432\u043b\u0435\u043d|\u0444\u0430\u0439\u043b \w+ \u0432 \u0434\u0440\u0443\u0433\u043e\u0439))"),
            True,
        ),
        (
            "toolkit-here-said",
            ("uda", "UDA", "oolkit", "path", "Path", "PATH", "Pfad", "environment"),
            r"(?i:(?<!\bif )(?<!not )(?<!only )(?<!just )\b(?:cuda|toolkits?|cuda[ -]?toolkits?)(?: v?\d[\d.,]{0,16}(?:(?:, ?| and | & )\d[\d.]{0,6}){0,3})? (?:is|are|was|were) (?:both |also |all |already )?installed\b(?! ?\?)|\b(?:cuda|toolkit)(?: v?\d[\d.]{0,6})? installiert ist\b|\b(?:have|got) (?:the )?(?:nvidia |cuda )+toolkit\b|\b(?:path|pfad)\b[^.\n]{0,24}\b(?:is|are|ist) (?:right|correct|set|there|gesetzt|richtig)\b|\badded (?:\w+ ){0,3}?to (?:the |my )?(?:windows |system )?(?:path|environment)\b|\bset (?:up )?the environment variables?\b|/cuda(?:-\d+\.\d+)?/bin/nvcc exists?\b)",
            True,
        ),
        (
            "single-dll-fetched-said",
            ("dll", "DLL"),
            rf"(?i:\bdll-?files\b|\b(?:got|took|have|grabbed|found) (?:the|this|that|a|it|one) (?:(?:dll|file) )?(?:\S{{1,30}}\.dll )?(?:from|off|on) (?:the (?:inter)?net|the web|the internet|google|some (?:web)?site|a (?:web)?site|online)\b|\b(?:download\w*|googled?|fetched)\b[^.\n]{{0,30}}?\b{_ONE} (?:{_ONE} )?(?:dll(?! files| pack)|file|cudnn\w*\.dll)|\b{_ONE} (?:dll|file|cudnn\w*\.dll) (?:by|as a|from a) download|\b(?:copied|took|put|placed|moved) (?:only |just )?(?:the )?(?:file |dll )?cudnn\w*\.dll (?:from|out of)\b|\b(?:copied|put|placed|moved) (?:only |just )(?:the )?(?:\S{{1,40}}\.dll|dll\b)|\b(?:copied|put|placed|moved) (?:the )?\S{{1,40}}\.dll (?:only|alone)\b)",
            True,
        ),
        ("cudnn-part-named", ("64_",), r"(?i:\bcudnn_\w{2,16}64_\d\.dll\b)", True),
        (
            "only-toolkit-said",
            ("uda", "UDA", "oolkit", "cudnn", "cuDNN", "CUDNN"),
            r"(?i:(?<!not )\b(?:only|just|nur|seulement|solo|s\u00f3lo|apenas|s\u00f3)\b(?!\W{1,5}nvidia-smi)[^.\n,;]{0,40}?\b(?:cuda|toolkit)\b(?![^.\n]{0,30}\bcudnn\b)(?!\W{0,3}(?:sub-?)?(?:folder|director|path|file))|\b(?:cuda|toolkit)\b(?:[^.,\n]{0,60}\b(?<!left that )(?<!non-windows platforms )(?:only|alone)\b(?! (?:sees|after|returns|arrives|in|for|on|half|with|when|where|if|needed|one|that)\b)|[^.\n]{0,60}\bnothing (?:more|else)\b)|\u53ea\u5b89?\u88c5\u4e86? ?cuda|\bcudnn\b[^.\n]{0,24}\bnever heard of\b|\bnever heard of cudnn\b|\bwhat(?:'s| is) (?:a |this )?cudnn\b|\bcudnn (?:a )?part of (?:the )?cuda\b|\b(?:apt|apt-get|dnf|yum|pacman|choco|winget|zypper)\b[^.\n]{0,24} (?:install|-S)\b(?![^\n]*cudnn)[^.\n]{0,24}\b(?:nvidia-cuda-toolkit|cuda)\b)",
            True,
        ),
        (
            "toolkit-had-said",
            ("uda", "UDA", "oolkit"),
            r"(?i:(?<!not )(?<!n't )\b(?:installed|ran|downloaded|have|got|after (?:running|installing))\b (?:the |nvidia's |nvidia )?cuda(?: v?\d[\d.]{0,6})?(?: (?:toolkit|installer|setup|itself))?\b(?! ?(?:and|/|,|&|\+) ?cudnn)|\bcuda(?: toolkit)? v?\d{1,2}(?:\.\d[\d.]{0,5})?[ ,(]{1,3}(?:is |was |already )?installed\b)",
            True,
        ),
        (
            "cudnn-had-said",
            ("udnn", "uDNN", "UDNN"),
            r"(?i:^(?!\W{0,6}(?:cuda ?/ ?cudnn version|installed version of cuda and cudnn)\W{0,8}(?:(?:v?\d[\d.]{0,8}|n/?a|none|no|nil)\W{0,4})?$)(?![^\n]{0,200}\b(?:no idea|not sure|unsure|n't know|unknown|never|forgot|without|not install\w*|\w{2,6}n't (?:been |be |yet )?install\w*|no cudnn|what'?s? (?:is )?(?:a )?cudnn|cudnn (?:a )?part of|requires that this dll|for instance, download|you should do this according|third-party dynamic library)\b|\W{0,6}cuda ?[/&,] ?cudnn versions?[^:\n]{0,30}:\W{0,6}(?:cuda\W{0,3}v?\d[\d.-]{0,10}|v?(?:9\.[0-2]|1\d)[\d.-]{0,8}|n/?a|none|no)?\W{0,4}$)[^\n]{0,300}?(?:(?<![\w.])cudnn\b(?!\w{0,20}\.(?:dll|so))[^.\n]{0,60}\b(?:install\w*|copied|unzipped|unpacked|extracted|download\w*|there|put|added|present|version(?! (?:complaint|mismatch|conflict|error|problem|issue|check)))\b|\b(?:install\w*|copied|download\w*|extracted|added|unpacked|unzipped|put|have|using|with|use|got)\b[^.\n]{0,60}?(?<![\w.\\/])cudnn(?![\w.]*\.(?:dll|so)|64|_| version (?:complaint|mismatch|conflict|error|problem|issue|check))))",
            True,
        ),
        (
            "cudnn-asked-said",
            ("udnn", "uDNN", "UDNN"),
            (r"(?i:(?:\b(?:needs?|requires?|required|requiring|wants?|looks? for|looking for|asks? for|expects?|search\w* for|built (?:against|with|for)|compiled (?:against|with|for)|made for|demands?|depends? on|necesita|requiere|pide|exige|besoin de|demand\w*|requiert|verlangt|braucht|ben\u00f6tigt|erwartet|precisa(?: de)?|pede|requer|only (?:supports?|works? with))\b|\u0442\u0440\u0435\u0431\u0443\w+|\u043d\u0443\u0436\u0435\u043d|\u9700\u8981|\u8981\u6c42|\u8981|\u5fc5\u987b|\u53ea\u652f\u6301)"
            r"(?: (?!have\b|but\b|installed\b)[\w.]+){0,3}? ?(?:est |wohl )?cudnn[ _-]?(?:version ?|v)?(?P<major>[4-9])(?:\.\d[\d.]{0,5})?(?![\d_])|\bcudnn[ _-]?v?(?P<major2>[4-9])(?:\.\d[\d.]{0,5})? (?:is |was )?(?:needed|required|expected|wanted|asked for)|\b(?:loads?|wants?|looks? for|asks? for|needs?|searche?s?(?: for)?|expects?|links? (?:to|against)|(?:any|no(?:thing)?) other than|(?:any|no)thing (?:else )?but) [`'\"]?(?:lib)?cudnn\w{0,20}(?:\.so\.|64_)(?P<major3>[4-9])\b)"),
            True,
        ),
        (
            "cudnn-here-said",
            ("udnn", "uDNN", "UDNN"),
            (r"(?i:(?:\b(?:have|has|got|i've|mine is|(?<!compiled )(?<!been built )(?<!v\d )(?<!v\[\d-\d\] )with|my (?:version|cudnn) is|i use|i am using|installed|running|tengo|tenemos|haben?|bei mir ist|installiert ist|j'ai|nous avons|tenho|only|is)\b|\u0443 \u043c\u0435\u043d\u044f|\u0443\u0441\u0442\u0430\u043d\u043e\u0432\u043b\u0435\u043d|\u88c5\u7684\u662f|\u88c5\u4e86|\u5b89\u88c5\u7684|\u5b89\u88c5\u4e86|\u6211\u7684|\u4e0a\u662f|\u7528\u7684\u662f|\u7684\u662f|\u73b0\u5728\u662f)(?: (?!need|requires?|wants?|not\b|compiled\b|built\b)[\w.]+){0,3}? ?\u662f?cudnn[ _-]?(?:version ?|v)?(?P<major>[4-9])(?:\.\d[\d.]{0,5})?(?![\d_])"
            r"|\bcudnn[ _-]?v?(?P<major2>[4-9])(?:\.\d[\d.]{0,5})? (?:(?:is|was|are|ist|est|est\u00e1) )?(?:installed|installiert|on my|on this|here\b|instalad|drauf|in my|there\b|only)|\bonly (?P<major3>[4-9])(?:\.\d[\d.]{0,5})? is (?:on|in|installed|there)\b"
            r"|\b(?:has|have|got|ships?|brings?|contains?|installs?|provides?|includes?|comes with|there(?:'s| is)|named?|called|(?<!it )is|copy|copied|renam\w*)(?: (?!needs?\b|wants?\b|requires?\b|look\w*\b|not\b|no\b)\w+){0,3}:? ['\"`]{0,2}cudnn64_(?P<major4>[4-9])(?:\.dll)?\b(?! (?:is |was )?(?:missing|not)))"),
            True,
        ),
        (
            "cuda-moved-said",
            ("uda", "UDA", "cublas", "cudart"),
            (r"(?i:^(?![^\n]{0,400}\bnvidia-smi\b)(?=[^\n]{0,400}(?<![a-z])(?:cuda|libcublas|libcudart)\b)(?=[^\n]{0,400}\b(?:repo|repos|repository|repositories|packages?|packaged|rpms?|pacman|dnf|yum|zypper|apt|aur|arch|fedora|tumbleweed|opensuse|gentoo|manjaro|distro|distribution|rpmfusion|negativo17|portage|nixpkgs)\b)"
            r"(?=[^\n]{0,400}\b(?:updat\w+|upgrad\w+|moved|moves|went|bump\w*|drop(?:s|ped)|removed|replaced|taken out|pushed|only (?:has|have|offers?|ships?)|now|has (?:cuda )?\d|since|-syu|made for|built for|newer|too (?:new|recent)|(?:not|n't) accepted)\b)(?=[^\n]{0,400}(?:\b(?:tensorflow|tf|libcublas|libcudart|training|keras)\b|_gpu\b))"
            r"(?=[^\n]{0,400}(?:\b(?:no longer|not|broken|breaks?|broke|can ?not|fails?|failed|missing|still (?:asks?|needs?|wants?)|needs?|wants?|looks? for|asks? for|back|crash\w*|any ?more|stopped)\b|n't\b))[^\n]{0,400}?\b(?:\d{1,2}(?:\.\d)?)\b)"),
            True,
        ),
        (
            "conda-swapped-said",
            ("conda", "Conda", "mamba", "solver"),
            (r"(?i:^(?![^\n]{0,200}\b(?:want|how|only need)\b)[^\n]{0,300}?\b(?:conda|mamba|solver)\b[^\n]{0,160}?\b(?:takes?|took|picks?|picked|chooses?|chose|goes for|went for|gets?|got|gives?|gave|installs?|installed|pulls?|solves for|brings?|selects?|selected)\b[^.\n]{0,24}\bcpu[- ]?(?:only|build|version|variant)\b"
            r"|\b(?:conda|mamba)\b[^.\n]{0,40}\b(?:turns?|turned|swaps?|swapped|replac\w+|chang\w+|mov\w+|downgrad\w+|switch\w*|goes|went)\b[^.\n]{0,40}\bgpu (?:build|version|variant|package|tensorflow)\b[^.\n]{0,40}\b(?:mkl|eigen|cpu)\b"
            r"|\bgpu (?:build|version|variant|package) (?:is |was |gets? |got )?(?:replaced|swapped|downgraded|superseded|removed)\b[^.\n]{0,60}\b(?:mkl|eigen|cpu)\b[^.\n]{0,40}\bconda\b)"),
            True,
        ),
        (
            "packages-overlap-said",
            ("ensorflow", "ensorFlow", "cpu version", "CPU version"),
            (rf"(?i:^(?![^\n]{{0,300}}\b(?:difference|should I|which (?:one )?should|do I need)\b)[^\n]{{0,300}}?(?:(?:{_PAIR})[^.\n]{{0,60}}?(?:\b(?:installed|install|conflict\w*|together|at the same time|side by side|installiert|gleichzeitig|install\u00e9s?|instalad[oa]s?|are there|were there|are present)\b|\u5b89\u88c5)"
            rf"|(?:\b(?:both|conflict (?:of|between)|having|have|has|got|shows|lists|listed|installed|instalad[oa]s?|habe|tengo|install\u00e9|\u0441\u0442\u043e\u044f\u0442|keep|kept)\b|\u88c5\u4e86|\u5b89\u88c5\u4e86|\u0443\u0441\u0442\u0430\u043d\u043e\u0432\u043b\u0435\u043d\w*)[^.\n]{{0,24}}?(?:{_PAIR})"
            rf"|(?=[^\n]{{0,300}}{_TF_GPU})[^\n]{{0,200}}?{_TAKEN_AWAY} ?(?:the |plain |cpu |die |le )*['\"`]?{_TF}[^\n]{{0,200}}?(?:\bno (?:longer|(?:such )?module)\b|\bhas no\b|\bbroken\b|\bfails?\b|\bmodule\b|\bremoves\b|\bboth\b|\bthe two\b)"
            rf"|{_TF}[^.\n]{{0,40}}\b(?:in addition to|besides|next to|beside|alongside|together with|over|on top of) (?:the |my )?{_TF_GPU}|{_TF}[^\n]{{0,60}}{_TF_GPU}[^.\n]{{0,30}}\bboth\b|\bno module named ['\"]?tensorflow\b[^\n]{{0,120}}?{_TAKEN_AWAY} ?(?:the |plain )?['\"`]?{_TF}[^\n]{{0,120}}?{_TF_GPU}"
            rf"|{_TAKEN_AWAY} ?['\"`]?{_TF}['\"`]? (?:because|since|as|and|but)(?! (?:then |I |only )*(?:re-?)?install)[^\n]{{0,60}}{_TF_GPU}"
            rf"|{_TF} (?:is|was) {_TAKEN_AWAY}[^\n]{{0,60}}{_TF_GPU}[^\n]{{0,160}}\bno module\b"
            rf"|\b(?:pulls?|pulled|drags?|install|installs?|installed|overw\w+|replac\w+|brings?) (?:in )?(?:the )?(?:plain |cpu )?{_TF}[^.\n]{{0,24}}?\b(?:over|on top|overw\w+|although|though|even (?:though|if)|when|beside|next to|with|alongside|which|already had|had)\b[^.\n]{{0,40}}?{_TF_GPU}"
            rf"|{_TF_GPU}[^.\n]{{0,12}}\b(?:is|gets|was|becomes|being) (?:\w+ )?(?:disabled|overwritten|replaced|broken|shadowed|clobbered|hidden|switched off)\b[^.\n]{{0,12}}\b(?:by|when|after|through|as)\b|\b(?:overw\w+|replac\w+|shadows?|breaks|clobber\w*) (?:my |the |our )?(?:installed |existing )?{_TF_GPU}|\b(?:cpu|non-gpu) (?:version|package|build|one|tensorflow)\b[^.\n]{{0,24}}\b(?:over|on top of|overw\w+|instead of|replac\w+)\b[^.\n]{{0,16}}\b(?:gpu (?:version|one|build|package)|tensorflow-gpu)\b|{_TF_GPU}[^\n]{{0,60}}\b(?:fetch|install|pull|get|bring|download)\w*\b[^.\n]{{0,24}}\bcpu (?:tensorflow|version|package|one)\b|{_TF_GPU}[^.\n]{{0,40}}\bcpu (?:version|package|build|one)\b[^.\n]{{0,24}}\b(?:over|on top)\b))"),
            True,
        ),
        (
            "namesake-said",
            ("ensorflow", "ensorFlow"),
            (rf"(?i:\b{_OWN_FILE}\b[^.\n]{{0,24}}? {_CALLED} ['\"`]?tensorflow(?:\.py)?\b|\u6587\u4ef6\u540d?(?:\u53eb|\u662f|\u4e3a)?(?:\u505a)? ?['\"`]?tensorflow\.py|\b(?:saved|named|have|there is|there's|wrote) (?:it |a file |my (?:file|script|code) |the (?:file|script) )?(?:as |called |named )?['\"`]?tensorflow\.py\b(?! does)"
            rf"|\b(?:folder|directory|dir|copy|package|ordner|verzeichnis|carpeta|dossier|pasta)(?: of (?:the )?| {_CALLED} | )['\"`]?tensorflow\b[^.\n]{{0,40}}?\b(?:next to|beside|in (?:my|the|our|this|that) (?:same |working |current |project |own )*(?:folder|directory|dir|project)|where)\b"
            rf"|\b(?:dir|directory|folder)\b[^.\n]{{0,24}}\b(?:holds?|has|contains?|with)\b[^.\n]{{0,16}}\b(?:checkout|clone|copy|sources?|repo\w*) of (?:the )?tensorflow\b|\b(?:there is|there's|have|has|with)(?: an?| my| the)? ['\"`]?tensorflow['\"`]? (?:folder|directory|dir)\b[^.\n]{{0,40}}?\b(?:next to|beside|in)\b"
            rf"|\b(?:cop(?:y|ied)|moved|put|made a copy of) (?:the |whole |entire )*(?:tensorflow (?:folder|directory|dir|package)|(?:folder|directory|copy of) (?:the )?tensorflow\b)[^.\n]{{0,24}} (?:in|to|into|inside)\b"
            rf"|\b(?:start(?:ed|ing)?|run(?:ning)?|ran|called|calling|open(?:ed)?)\b[^.\n]{{0,24}}?\b(?:inside|in|from|within)\b (?:of )?(?:the )?(?:cloned |tensorflow )?(?:repo\w*|sources?|source tree|source directory|clone|tensorflow (?:folder|directory|repo\w*|sources?))\b"
            rf"|\b(?:cloned|git clone)\b[^.\n]{{0,24}}tensorflow\b[^.\n]{{0,40}}\b(?:inside|in it|from there|within)\b|\b(?:in|inside|from) ['\"`]?~/tensorflow\b|\btensorflow['\"`]?\b[^.\n]{{0,12}}\bdirectory\b[^.\n]{{0,24}}\b(?:in|into|to) my working\b"
            rf"|\b(?:folder|directory|dir) ['\"`]?tensorflow['\"`]? (?:here|there)\b|\b(?:tf|tensorflow)\.__file__\)? (?:is|gives|returns|prints|shows|=+|->) None\b|tf\.__file__\)?[^\n]{{0,24}}?['\"`]?/(?:home|Users|mnt|root|workspace)/(?![^\s'\"`]{{0,160}}(?:site|dist)-packages)[^\s'\"`]{{0,120}}/tensorflow)"),
            True,
        ),
        (
            "plain-package-said",
            ("ensorflow", "ensorFlow", "-gpu"),
            r"(?i:(?<![a-z_-])tensorflow\b(?![-_]gpu)(?: v?\d[\d.]{0,6})?[ ,(\uff08\u201c'\"-]{1,3}(?:and )?(?:not|without|nicht|pas|no|\u0431\u0435\u0437|\u4e0d\u662f|\u975e) ?(?:the |la |die )?(?:tensorflow[-_]?)?gpu(?: ?(?:one|version|build|package|variant|\u7248\u672c?))?(?![\w-]* (?:is|was))\b|\bplain (?:tensorflow\b(?![-_]gpu)|package\b)[^.\n]{0,12}\bnot\b[^.\n]{0,24}\w*-gpu\b|\btensorflow\b[^\n]{0,16}[\uff08(]\u4e0d\u662fgpu\u7248?)",
            True,
        ),
        (
            "plain-old-said",
            ("ensorflow", "ensorFlow"),
            r"(?i:^(?![^\n]{0,400}tensorflow[-_ ]?gpu)[^\n]{0,400}?(?<![a-z_/.-])tensorflow(?: ?==? ?| v?| version | ?\()1\.(?:\d|1[0-4])(?:\.\d)?(?![\d.]*\d)|^(?![^\n]{0,400}tensorflow[-_ ]?gpu)[^\n]{0,200}?\bpip3? install ['\"`]?tensorflow['\"`][^\n]{0,40}\(1\.(?:\d|1[0-4])\b)",
            True,
        ),
        (
            "gpu-idle-said",
            ("0%", "0 %", "no process", "percent"),
            r"(?i:\b(?:nvidia-smi|gpu|card|usage|it)\b[^.\n]{0,40}(?:\bno process\w*|(?<![\d.])0 ?(?:%|percent)))",
            True,
        ),
        (
            "compatibility-said",
            ("ompatib",),
            r"(?i:\b(?:in-?|not |un)?compatib(?:le|ility)\b(?! (?:with )?(?:python|numpy|keras|api))[^.\n]{0,40}\b(?:gpus?|cards?|rtx|[ahl]\d{2,3}|[345]0[5-9]0|with|issues?|problems?)\b|\b(?:gpus?|cards?|[ahl]\d{2,3}|[345]0[5-9]0)\b[^.\n]{0,40}\b(?:in-?|un)?compatib)",
            True,
        ),
        (
            "goes-wrong-abroad-said",
            ("bsturz", "st\u00fcrzt", "h\u00e4ngt", "icht", " no ", "cuelga", " pas", "lante", "\u043d\u0435 ", "\u0437\u0430\u0432\u0438\u0441", "\u0432\u044b\u043b\u0435\u0442", "n\u00e3o", "trava", "\u4e0d", "\u62a5\u9519", "\u5361\u4f4f", "\u5d29\u6e83"),
            r"(?i:\babsturz\b|\bst\u00fcrzt\b|\bh\u00e4ngt\b|\b(?:geht|l\u00e4uft|funktioniert|klappt)\b[^.\n]{0,24}\bnicht\b|\bno (?:funciona|arranca|anda|va)\b|\bse cuelga\b|\bne (?:fonctionne|marche|d\u00e9marre) pas\b|\bplante\b|\bn\u00e3o (?:funciona|roda)\b|\btrava\b)|\u043d\u0435 \u0440\u0430\u0431\u043e\u0442\u0430\u0435\u0442|\u0437\u0430\u0432\u0438\u0441\u0430\u0435\u0442|\u0432\u044b\u043b\u0435\u0442\u0430\u0435\u0442|\u8dd1\u4e0d\u4e86|\u4e0d\u80fd\u7528|\u7528\u4e0d\u4e86|\u62a5\u9519|\u5361\u4f4f|\u5d29\u6e83|\u8fd0\u884c\u4e0d\u4e86",
            True,
        ),
        (
            "container-named",
            ("\u043e\u043d\u0442\u0435\u0439\u043d\u0435\u0440", "ontenedor", "ont\u00eainer", "onteneur", "\u5bb9\u5668"),
            r"(?i:\u043a\u043e\u043d\u0442\u0435\u0439\u043d\u0435\u0440|\bcontenedor|\bcont\u00eainer|\bconteneur|\u5bb9\u5668)",
            True,
        ),
        (
            "gpus-not-given-said",
            ("--gpus", "gpus flag", "gpus option", "gpus parameter"),
            r"(?i:(?:n't|\bnot\b|\bno way to\b|\bunable to\b|\bcan ?not\b)(?: \w+){0,4}? (?:give|pass|set|add|specify|use)\b[^.\n]{0,30}--gpus\b|\b(?:docs?|documentation|readme|tutorial|guide|instructions?|page|example|command)\b[^.\n]{0,60}\b(?:lacks?|lacking|misses|missing|needs?|without|should|must|has no|have no|forgets?)\b[^\n]{0,30}--gpus\b|\bgpus (?:flag|option|parameter) (?:is|was) (?:needed|missing|required|necessary|not mentioned))",
            True,
        ),
        (
            "image-lacks-libcuda-said",
            ("libcuda", "libnvidia-ml"),
            rf"(?i:^(?![^\n]{{0,400}}(?:--gpus|--runtime|file exists|\berror\b))(?=[^\n]{{0,400}}{_IMAGE})(?=[^\n]{{0,400}}{_MISSING_IN})[^\n]{{0,400}}?(?<![\w/.]){_OF_DRIVER}\b)",
            True,
        ),
        (
            "tool-absent",
            ("not found", "introuvable", "nicht gefunden", "No such file"),
            r"(?:^|[\s:/'\"`])(?P<tool>(?:x86_64-linux-gnu-)?(?:cc|c\+\+|gcc|g\+\+|clang|make|ld(?:\.\w{2,4})?|as|ar|strip|objdump|bc|perl|flex|bison|cpp)(?:-\d{1,2})?)(?<![\w]{30})['\"`]?: ?(?:command )?(?:not found|No such file or directory|Befehl nicht gefunden|commande introuvable)\b",
            True,
        ),
        (
            "list-ends-said",
            ("1.14", "2.0.0b1", "2.0.0-b"),
            r"(?i:\b(?:up to|until|till|newest|latest|last|highest|maximum|only|stops? (?:at|with)|ends? (?:at|with|in))\b[^.\n,;]{0,40}?(?<![\w.])(?:1\.14(?:\.0)?|2\.0\.0-?b(?:eta-?)?1)(?![\w.]*\d))",
            True,
        ),
        (
            "script-of-that-name",
            (".py\"",),
            r"^File \\?\"(?!\S*(?:(?:site|dist)-packages|[/\\][Ll]ib(?:64)?[/\\]|[Pp]ython[23]))(?:[^\"]{0,200}[/\\])?(?P<module>code|random|copy|queue|types|tempfile|platform|logging|threading|inspect|tokenize|token|string|numbers|operator|enum|abc|collections|typing|socket|select|signal|calendar|statistics|secrets|profile|uuid|warnings|struct|symbol|keyword|bisect|csv|datetime|decimal|fractions|hashlib|glob|six|contextlib|functools|heapq|json|io|re|numpy|h5py|google|test_util)\.py\\?\", line",
            True,
        ),
        (
            "module-build-said",
            ("dkms", "DKMS", "ernel mod", "ernel Mod", "akmod", "kmod", "nvidia-modeset", "kernel-open", "nvidia-drm", "NVIDIA-Linux", "nvidia", "NVIDIA", "Nvidia", "ernel-mod"),
            r"(?i:\b(?:dkms|akmods?|kmod|nvidia-kmod|nvidia-dkms|(?<!/dev/)nvidia-modeset|nvidia-drm(?!\.modeset)|open-gpu-kernel-modules|kernel-open)\b|\b(?:nvidia|open|gpu|driver'?s?)\b[^\n]{0,24}\bkernel modules?\b|\bkernel modules?\b[^\n]{0,40}\b(?:nvidia|driver)\b|\bnvidia(?:'s)? modules?\b|\bnvidia\b[^\n]{0,24}\b(?:driver|module|kernel)\w*\b[^\n]{0,60}\b(?!installed and running\b)(?:compil|buil|install|runfile)\w*\b(?! and running)|/nvidia/[\w.-]{1,30}/build/|/NVIDIA-Linux-)",
            True,
        ),
        (
            "module-not-built-said",
            ("ompiler", "ernel-devel", "ernel-headers", "inux-headers", "ernel headers", "build-essential", "gcc", "g++", " make"),
            r"(?i:(?:\b(?:no|without|lacks?|missing|needs?|require\w*|depend\w*|install\w*)\b|n't\b)[^.\n]{0,40}(?<![\w-])(?:compiler|kernel-devel|(?:kernel|linux)[- ]headers|build-essential|gcc-c\+\+|g\+\+|gcc|make(?! (?:(?:\w+ )?use|progress|them|me|a|an|any|the|sense|sure|it|its|use|out|my|this|that|no|much)\b))(?![\w+]|\.\w)|(?<![\w-])(?:compiler|kernel-devel|(?:kernel|linux)[- ]headers|build-essential|gcc-c\+\+|g\+\+|gcc|make(?! (?:a|an|any|the|sense|sure|it|its|use|out|my|this|that|no|much)\b))(?![\w+]|\.\w)[^.\n]{0,40}(?:\b(?:missing|not (?:installed|there|found|pulled|required)|absent)\b|n't (?:installed|there|found|pulled|required)\b))",
            True,
        ),
    )
)  # fmt: skip
_GPU_BUSY = Pattern(
    r"(?i:^(?![^\n]{0,400}\bcpu\b[^\n%]{0,12}(?:9\d|100) ?%)[^\n]{0,400}?(?:\b(?:hw ?monitor|hw ?info\w{0,2}|gpu-?z|afterburner|precision(?: x\d?)?|nvidia-smi|gpustat|nvtop|cuda)\b(?:(?!\b(?:cpu|mem\w*|v?ram|disk|task manager)\b)[^.\n%]){0,50}(?<![\d.])(?:(?:[7-9]\d|100) ?%? ?(?:-|\u2013|to) ?)?(?:[7-9]\d|100) ?(?:%|percent)(?! (?:of )?(?:the )?(?:v?ram|mem|cpu))"
    r"|\b(?:gpu|card|it)\b[^.\n]{0,30}(?<!\d)[6-9]\d ?(?:\u00b0|degrees)|\bfans?\b[^.\n]{0,30}\b(?:loud|heard|spin\w*|full speed|noisy)))"
)
"""Another tool, or the card itself, tells that it is at work."""
_IS_IT_USED = Pattern(
    r"(?i:\b(?:do|does|did|will|would|should|must|need|can|how)\b[^.?\n]{0,60}\b(?:(?:set|adjust|configure|change|install|do) (?:\w+ )?(?:something|anything|it|tensorflow)\b|(?:finds?|uses?|detects?|picks?|takes?|recogni[sz]es?) [^.?\n]{0,30}\b(?:by itself|itself|automatically|on its own)\b|automatically (?:find|use|detect|pick|take)))"
)
"""Who asks whether his GPU is used without more ado."""
_COMPLAINS = {
    "goes-wrong",
    "goes-wrong-abroad-said",
    "loss-is-nan",
    "card-was-changed",
    "compatibility-said",
    "takes-long",
    "start-takes-minutes",
    "first-start-long",
    "start-is-slow",
    "slow-start",
}
"""Who says these has a fault."""


def settle(notes: Notebook, lines: Iterable[str] = ()) -> None:
    """Who complains so shows a fault, where the `lines` together say it; a build of the driver's module that lacks a tool shows one by
    a program's line."""
    said = {e.kind: e for e in reversed(notes.events)}
    if (tool := said.get("tool-absent")) and (
        said.keys() & {"module-build-said", "nvidia-build-error", "nvidia-build-named"}
    ):
        notes.note(
            TextEvent(
                line=tool.line, language="dkms", kind="no-compiler", text=tool.text, values=tool.values,
                symptom="driver-does-not-load",
            )
        )  # fmt: skip
        return
    busy = "windows-monitor-said" in said and any(map(_GPU_BUSY.search, lines))
    if busy or {"windows-monitor-said", "much-faster-said"} <= said.keys():
        notes.events[:] = [e for e in notes.events if e.kind not in _OF_ONE_ENGINE]
        if busy and not said.keys() & _LISTS_NONE:
            notes.untell("tensorflow.devices")
        if all(e.kind == READS_LIKE_A_FAULT for e in notes.events if e.symptom):
            notes.events[:] = [e for e in notes.events if not e.symptom]
    twice = [e for e in notes.events if e.kind == "requirements-installed-said"]
    if len({e.values.get("which", "") in _FOR_GPU for e in twice}) > 1 and "benign-cpu-instructions" in said:
        said["requirements-said"] = twice[-1]
    complaints = _complaints(said, lines)
    of_card = next((kind for kind in generations.UNFIT if kind in said), None)
    if of_card and (said.keys() & _COMPLAINS or any(map(generations.goes_wrong, lines))):
        complaints.append(of_card)
    elif {"says-no-gpu", "names"} <= said.keys() and not any(e.symptom for e in notes.events):
        from .told_work import older_than_its_card

        if older_than_its_card(notes):
            complaints.append("names")
    for kind in complaints:
        event = said[kind]
        notes.note(
            TextEvent(
                line=event.line, language=COMPLAINT, kind=f"complains-{kind.removesuffix('-said')}",
                text=event.text[:LONGEST], symptom=READS_LIKE_A_FAULT,
            )
        )  # fmt: skip


def _complaints(said: dict[str, TextEvent], lines: Iterable[str]) -> list[str]:
    """The kinds of what is said that are a complaint here."""
    kinds = said.keys()
    found = []
    builds = "builds-cuda-code" in kinds
    lost = "nvcc-lost" in kinds and not kinds & {"benign-no-nvcc", "without-cuda-said"}
    if lost and (builds or said["nvcc-lost"].line == 1):
        found.append("nvcc-lost")
    if "toolkit-unfound-said" in kinds and "without-cuda-said" not in kinds:
        found.append("toolkit-unfound-said")
    if majors_differ(said):
        found.append("cudnn-asked-said")
    if "cuda-moved-said" in kinds:
        found.append("cuda-moved-said")
    found += [kind for kind in ("conda-swapped-said", "packages-overlap-said") if kind in kinds]
    absent = "namesake-said" in kinds and "__file__" in said["namesake-said"].text
    if absent or (
        "namesake-said" in kinds
        and kinds & {"tf-lacks-attribute", "tf-hollow", "benign-api-of-tf1", "import-fails-said"}
    ):
        found.append("namesake-said")
    if "plain-package-said" in kinds and "wants-gpu" in kinds:
        found.append("plain-package-said")
    if "plain-old-said" in kinds and _asks_for_it(said, lines) and not kinds & _OF_A_GPU_BUILD:
        found.append("plain-old-said")
    if "requirements-said" in kinds:
        found.append("requirements-said")
    if "image-lacks-libcuda-said" in kinds:
        found.append("image-lacks-libcuda-said")
    if "module-not-built-said" in kinds and "module-build-said" in kinds:
        found.append("module-not-built-said")
    hybrid, gone = said.get("hybrid-named"), said.get("card-gone-said")
    if hybrid is not None and hybrid.line == 1 and _TROUBLE.search(hybrid.text):
        found.append("hybrid-named")
    elif hybrid is not None and gone is not None and gone.line == 1:
        found.append("card-gone-said")
    return found


def _asks_for_it(said: dict[str, TextEvent], lines: Iterable[str]) -> bool:
    """Whether somebody with a plain TensorFlow means a GPU to be used, and nothing tells that one is."""
    kinds = said.keys()
    if kinds & {"wants-gpu", "gpu-idle-said"}:
        return True
    here = bool(kinds & {"nvidia-gpu-named", "says-nvidia"})
    waits = bool(kinds & {"takes-long", "slow-named"}) or _ALONE.search(said["plain-old-said"].text) is not None
    return not kinds & _RUNS_ON_IT and ((here and waits) or any(map(_IS_IT_USED.search, lines)))


_ALONE = Pattern(r"(?i)\b(?:only|just|nothing but)\b[^.\n]{0,20}\btensorflow\b")
_RUNS_ON_IT = {"gpu-hardly-used", "gpu-slower-than-cpu", "gpu-no-faster", "several-no-faster", "one-works-said", "gpu-process", "out-of-memory", "resource-exhausted"}  # fmt: skip
_FOR_GPU = ("gpu", "nvidia", "cuda")
_OF_ONE_ENGINE = {"gpu-hardly-used", "gpu-idle-said"}
"""What Windows tells of a GPU first is its engine for graphics, which stays idle when it computes."""
_LISTS_NONE = {
    "lists-no-gpu", "lists-cpu", "empty-list-said", "library-not-loaded", "cuinit-failed", "libraries-not-opened", "cudart-not-opened", "no-cuda-driver", "registers-no-gpu",
}  # fmt: skip
_OF_A_GPU_BUILD = {
    "gpu-package", "library-opened", "library-not-loaded", "device-found", "device-created", "lists-gpus", "cuda-build-said", "image-for-gpu",
    "cpu-package-named", "trains-well-said", "names-extra",
}  # fmt: skip
"""What a TensorFlow without CUDA never says."""


_QUESTION = Pattern(
    r"(?i)(?:^|[.!?] )(?:\W*(?:hi|hello|hey|question|just wondering)\b\W{0,3})?(?:what(?:'s| is| are) the (?:difference|best|recommended)|which (?:[\w/-]+ ){1,3}(?:do|did|does|should|is|are)|should (?:i|we|tensorflow|it|this)|is (?:\S+ ){1,4}(?:still )?(?:needed|enough|required)|will (?:\S+ ){1,4}be|can you (?:tell|say)|do you (?:plan|recommend)|is there (?:any |a )?plan|are there (?:any )?plans|any (?:plans?|benchmarks?|comparisons?|numbers))\b[^\n]{0,300}\?"
)
_PRAISE = Pattern(
    r"(?i)\b(?:thanks|thank you|great (?:work|project|tool|job|repo\w*)|nice|awesome|works (?:fine|well|great|perfectly|out of the box|on)|tests pass|\d ?% faster|twice as fast|for the record)\b"
    r"|(?i:^\W*please (?:add|include|list|publish|support)\b[^\n]{0,120}\b(?:tables?|lists?|benchmarks?|pages?|readme|comparisons?)\b)"
)
_TROUBLE = Pattern(
    r"(?i)\b(?:not|never|no|none|only|errors?|fail\w*|crash\w*|wrong|slow\w*|missing|lost|hangs?|stuck|broken|problems?|issues?|trouble|help|unable|can ?not|cant|lacks?|without|unsupported|ignored|instead|nothing|nan|oom|kill\w*|stop\w*|warnings?|invalid|refus\w*|reject\w*|denied|abort\w*|complain\w*|falls? back|end(?:s|ed) (?:with|up|in|by)|how (?:do|can|to))\b|n['\u2019]t\b|(?<!\d)0 ?%|[^\x00-\u02ff\u2000-\u206f]"
)
_A_REMARK = 3
"""Lines."""


def asks_or_praises(lines: list[str], notes: Notebook) -> bool:
    """Whether a remark of a line or three asks which is the right one, or is content, and no word of it is of trouble."""
    spoken = [line for line in lines if line.strip()]
    if not 0 < len(spoken) <= _A_REMARK or any(e.symptom for e in notes.events):
        return False
    text = " ".join(spoken)
    if _TROUBLE.search(text):
        return False
    return bool(_QUESTION.search(text) or _PRAISE.search(text))


def majors_differ(said: dict[str, TextEvent]) -> bool:
    """Whether a cuDNN is asked for and one of another major version is here."""
    asked, here = said.get("cudnn-asked-said"), said.get("cudnn-here-said")
    return asked is not None and here is not None and asked.values["major"] != here.values["major"]


def of_a_card(lines: list[str], notes: Notebook) -> bool:
    """Whether a remark names a card and a build, and only asks about them or is content: notes that."""
    told = next((e for e in notes.events if e.kind in generations.UNFIT), None)
    if told is None or any(e.symptom for e in notes.events) or not generations.merely_named(lines):
        return False
    notes.note(TextEvent(line=told.line, language=told.language, kind="card-merely-named", text=told.text))
    return True
