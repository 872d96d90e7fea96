"""What people tell beside a GPU without memory: others on it, one machine of several, what it is that needs the memory."""

from __future__ import annotations

from .language import Kind, Language

_STILL = r"(?:stays?|remains?|still|keeps?|li(?:ves|ved|ngers?) on|(?:is|are|was|does|do|did|wo|will|has|have)(?:n't| not)(?: \w+){0,3}? (?:freed?|released?|cleared?|cleaned|emptied|go down|drop)|never (?:freed|released|cleared))"
_ENDED = r"(?:(?:shut|clos|kill|stop|restart|exit|end|finish|interrupt|cancel|terminat|quit|abort)\w{0,4}|ctrl[- +]?[cz]|crash(?:ed|es)?)"
_FULL = r"(?:memory|v?ram|gpus?|cards?|显存)"
HELD = Language(
    name="circumstances",
    foreign=True,
    words=(
        "else", "other ", "still ", "olleague", "otra ", "otro ", "outr", "nderer", "nderes", "друг", "autre", "running", "Ctrl", "ctrl", "bort", "nterrupt", "ancel", "topp", "shared", "zombie", "Zombie", "process", "tiny", "ingle", "small tensor", "torch.zeros(1)", "emory", "RAM", "gpu", "GPU", "显存", "进程", "프로세스", "메모리",
    ),
    kinds=(
        Kind(
            "memory-held-told",
            rf"(?i:^(?![^\n]{{0,300}}\b(?:nobody|no[- ]?one|nothing) else\b)[^\n]{{0,400}}?(?:(?<!has )(?<!have )(?<!did )(?<!does )(?<!in case )(?<!for )\b(?:someone|somebody) else\b|\b(?:an)?other (?:guy|user|person|people|student|colleague|process|job)(?:'?s)?\b(?![^.\n]{{0,30}}\b(?:can(?:'t|not)|fails?|crash))|\bcolleagues?\b[^.\n]{{0,30}}\b(?:runs?|uses?|occup\w+|took|takes?|jobs?|process\w*)\b|\bstill (?:a|an|the|some|old|my) (?:old )?process\b|\b(?:otra persona|otro (?:usuario|proceso)|outra pessoa|outro (?:usu[áa]rio|processo)|jemand anderes|(?:ein )?anderer (?:nutzer|prozess|benutzer)|друг(?:ой|им) (?:процесс|пользовател)\w*|(?:un|d')autres? (?:utilisateur|processus|programme))\b|\b(?:no|nothing|without) (?:python|programs?|jobs?|scripts?) (?:is |was |are )?(?:running|runs|open|active)\b|\b(?:ctrl[- +]?c|abort\w*|interrupt\w*|cancel\w*|stopp\w*)\b[^.\n]{{0,40}}\b(?:next|second|new|following|each) (?:start|run|time|launch|attempt)\b|\bshared (?:server|gpu(?![- ](?:memory|v?ram|speicher))|machine|cluster|workstation|node)\b|\bzombie\b|\b(?:earlier|previous|old) (?:ones?|process\w*|runs?|workers?) (?:may |might |can )?(?:still |go on |goes on |keeps? )(?:hold|keep|occup|tak|us)\w*|\b(?:go(?:es)?|keeps?) (?:on )?holding [^.\n]{{0,20}}\b(?:memory|vram)\b|\b(?:left-?over|stale|orphaned|remaining|hanging) (?:\w+ )?process(?:es)?\b|\bleft (?:\w+ )?processes\b|\b(?:since|after|because) (?:my |the |a |it |an? )?(?:\w+ ){{0,2}}?(?:crash(?:ed)?|was killed|got killed|hung|died)\b(?=[^\n]{{0,80}}\b(?:memory|vram|reboot\w*|oom)\b)|\b(?:memory|vram) (?:is )?(?:full|used|occupied|taken)\b[^.\n]{{0,20}}\b(?:without|no|but no) (?:any )?(?:running )?process|\bonly (?:a |after a )?(?:reboot\w*|restart\w*)(?: of \w+ \w+)? (?:helps?|fixes|works|frees)\b"
            rf"|\b{_FULL}\b[^.\n]{{0,60}}\b{_STILL}\b[^.\n]{{0,60}}\b(?:although|though|after|when|even|once|despite)\b[^.\n]{{0,40}}\b{_ENDED}\b"
            rf"|\b(?:kernel|script|process|program|training|job|run|python|notebook|code|it)\b (?:was |is |has |had |got |been ){{0,2}}{_ENDED}\b[^.\n]{{0,40}}\b{_FULL}\b[^.\n]{{0,20}}\b{_STILL}|\bprocess(?:es)? of (?:a |an |the |my )?(?:crashed|killed|old|aborted|earlier|previous|dead)\b|\b(?:stopped|closed|killed|ended|removed|shut down) (?:the |my )?(?:\w+ ){{0,2}}?(?:container|notebook|tab|script|kernel|job|process)\b[^.\n]{{0,30}}\b{_FULL}\b[^.\n]{{0,20}}\b{_STILL}|\b(?:alter|anderer|hängender|laufender) prozess\b|\bnach (?:dem|einem) (?:absturz|abbruch)\b[^.\n]{{0,40}}\b(?:speicher|karte|gpu)\b[^.\n]{{0,30}}\b(?:belegt|voll)\b|\bbleibt der (?:\w*speicher|speicher der \w+) belegt\b|\b(?:proceso|processus) (?:viejo|anterior|zombie|ancien)\b"
            rf"|\b(?:although|though|after|when|even if|once|despite)\b[^.\n]{{0,30}}\b{_ENDED}\b[^.\n]{{0,60}}\b{_FULL}\b[^.\n]{{0,30}}\b{_STILL}\b|\b{_ENDED}\b[^.\n]{{0,60}}\b(?:but|and)\b[^.\n]{{0,40}}\b{_STILL}\b[^.\n]{{0,40}}\b{_FULL}\b"
            rf"|\b(?:empt(?:y|ying)|clear(?:ing)?|free(?:ing)?|releas(?:e|ing)|flush(?:ing)?|reset(?:ting)?) (?:up )?(?:the |my |used |allocated )*(?:(?:gpu(?:'s)?|cuda|video|card(?:'s)?|device)[ -]?(?:memory|ram)|vram)(?: cache)?\b[^.\n]{{0,16}}\bafter\b[^.\n]{{0,40}}\b{_ENDED}\b"
            r"|\b(?:an?|other|another|one|first) (?:\w+ )?(?:process|program|job|script|run)\b(?: \w+){0,2}? (?:(?:that|which) )?(?:takes|uses|holds|occupies|eats|needs|took|occupied|filled|fills|has taken|consumes) (?:up )?(?:all|the whole|the entire|nearly all|almost all)(?: of)?(?: the)? (?:\w+ )?(?:memory|vram) (?:of|on) (?:the )?gpu ?[#:]?\d"
            rf"|\bstill (?:shows?|uses?|used|has|takes?|holds?|occup\w+)\b[^\n]{{0,40}}\b(?:although|though|after|even (?:though|if|when)|despite)\b[^.\n]{{0,40}}\b{_ENDED}\b"
            r"|\b(?:colleague|friend|student|co-?worker|user)(?:'?s)? (?:\w+ ){0,3}?(?:uses?|takes?|fills?|occup(?:ies|y)|holds?)\b[^.\n]{0,30}\b(?:all|whole|entire|most)\b"
            r"|\b(?:nothing|no process(?:es)?|no program) (?:else )?(?:is |was |are )?(?:running|listed|shown)\b[^.\n]{0,60}\b(?:memory|vram)\b[^.\n]{0,30}\b(?:used?|full|occupied|taken|in use)\b"
            r"|\b(?:a|one) (?:tiny|single|small) (?:tensor|number|scalar)\b|\bas soon as i call \.cuda\b|torch\.zeros\(1\)"
            r"|\bno (?:running )?process(?:es)?\b[^.\n]{0,30}\bnvidia-smi\b|\bnvidia-smi\b[^.\n]{0,60}\bno (?:running )?process))"
            r"|(?:上一?次|之前|中断|没有?正常退出|关闭).{0,16}显存.{0,8}(?:占|没)|僵尸进程|进程.{0,4}占|没有(?:看到|显示)?(?:任何)?进程|프로세스(?:가|를)? (?:보이지|없|하나도)|아무것도 (?:안|하지)[^\n]{0,12}메모리[^\n]{0,24}(?:사용|점유|차)|메모리[^\n]{0,16}이미[^\n]{0,8}(?:사용|점유|차)|(?:别人|其他人|他人|其他用户|其他进程).{0,6}(?:占|用)|显存.{0,12}(?:没有|未|不).{0,3}释放",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells that others are on the GPU, or that what ended has left its memory taken."""
BEFORE = Language(
    name="circumstances",
    foreign=True,
    words=("before I", "before i", "before the start", "avant ", "bevor ich"),
    kinds=(
        Kind(
            "shown-before-start",
            r"(?i:\b(?:taken|measured|shown|output|so|this is|that is|that's|nvidia-smi)\b[^.\n]{0,20}\b(?:before I (?:even )?(?:start|launch|run)|before the start|avant (?:de lancer|le lancement)|bevor ich))",
            once=True,
        ),
    ),
)
"""When nvidia-smi was asked: what holds memory then is another program."""
_ANOTHER = r"(?:second|2nd|other|another|old|older|previous|earlier(?! cuda container)|two|both|three|four|several|multiple|[2-9]|somebody's|someone's|his|her|dead|idle|orphan(?:ed)?)"
_ONES = r"(?:notebooks?|scripts?|runs?|process(?:es)?|programs?|experiments?|workers?|kernels?|consoles?|containers?|tasks?|pods?|services?|jobs?|instances?|librar(?:y|ies)|trainings?|sessions?|models on the same gpu|users?|students?|people)"
BESIDE = Language(
    name="circumstances",
    foreign=True,
    words=(
        "econd", "2nd", "other", "irst", "old", "previous", "earlier", "two ", "Two ", "both", "hree", "four", "several", "ultiple", "body", "one's", "dead", "idle", "rphan", "open", "ackground", "losing", "ogether", "same time", "imultan", "oncurrent", "n parallel", "longside", "erminal", "console", "shell", "tmux", "running", "runs", "同时", "leichzeitig", "ismo tiempo", "esmo tempo", "дновременно", "share", "free", "llocated", "in use", "used", "yesterday", "morning", "Yesterday", "lender", "Xorg", "ctrl", "Ctrl", "CTRL", "atlab", "mate",
    ),
    kinds=(
        Kind(
            "beside-others-told",
            rf"(?i:^(?![^\n]{{0,300}}\b(?:nobody|no[- ]?one|nothing) else\b)[^\n]{{0,600}}?(?:(?<!\bon )(?!(?<=\bin )(?:an)?other (?:runs?|people|programs)\b)\b(?!(?:two|three|four|several|multiple|[2-9]) (?:[\w-]+ )?runs\b){_ANOTHER} (?!(?:\w+ )?(?:stages?|phases?|steps?|parts?|rounds?|epochs?|loops?|times?)\b)(?:[\w-]+ ){{0,2}}?{_ONES}\b(?! (?:of|stages?|phases?|steps?|parts?|rounds?|epochs?|loops?|versions?)\b)(?!(?: [\w-]+){{0,5}} (?:runs?|works?) (?:fine|well|ok|as before)\b)|\bfirst (?:[\w-]+ ){{0,2}}?{_ONES}\b[^.\n]{{0,40}}\b(?:still|open|running|runs|holds?|takes?|took|uses?|used|occup\w+|ends|ended|finish\w*|works?|keeps?|blocks?)\b|\borphan(?:s|ed)?\b|\bthe others? (?:\w+ )?(?:dies?|fails?|crash(?:es)?|gets?|stops?|can't|cannot)\b|\b(?:still|left|is|stays?|was) (?:\w+ )?open\b(?![- ](?:sourc|weight|kernel|module|driver|issue|(?:between|to|for|since)\b))|\bin the background\b|\bclosing \w+ (?:\w+ )?(?:fixed|solved|helped)"
            rf"|\b(?:gpu|card|t4|k80|v100|a100|server|machine)s? (?:is |are )?(?:being )?shared\b|\bshar(?:es?|ed|ing) (?:a|the|one|this|my|our|its)(?: \w+)? (?:gpu|card|k80|t4|v100|a100|rtx \d+|gtx \d+)\b|\btime[- ]?slicing\b|(?<!has )(?<!have )(?<!did )(?<!does )(?<!in case )(?<!for )\b(?:somebody|someone)(?:'s| is| was| else|(?: (?!who\b)\w+){{0,4}} (?:uses|runs|occupies|shares|took|takes)\b)"
            rf"|\bnvidia-smi\b[^.\n]{{0,30}}\b(?:shows?|reports?|says|lists)\b[^\n]{{0,20}}\b\d{{1,5}}(?:\.\d)? ?[mg]i?b (?:of \w+ )?(?:in use|used|occupied|taken)\b|\b0 bytes (?:already )?allocated\b|\balready allocated:? 0\b|\b(?:yesterday|this morning|in the morning)\b[^.\n]{{0,40}}\b(?:worked|trained|fine|ran|well)\b|\b(?:worked|trained|ran)\b[^.\n]{{0,30}}\b(?:yesterday|in the morning|this morning)\b"
            rf"|\b(?:run\w*|start\w*|launch\w*|train\w*|eval\w*|predict\w*|scripts?|programs?)\b(?:[^.\n]|\.(?=\w)){{0,50}}\b(?:together|at the same time|simultaneously|concurrently|side by side|in parallel (?:with|to)|alongside)\b|\b(?:at the same time|simultaneously|concurrently)\b[^.\n]{{0,30}}\b(?:run|start|train|eval)\w*|\b(?:another|second|2nd|other|different|new) (?:terminal|console|shell|tab|window|tmux|screen)\b|\bwhile (?:the |my )?(?:train\w*|other \w+|it)(?: job| script| process|\.py)? (?:is |was )?(?:still )?(?:runs|running|going on|in progress)\b|\bonly\W{{0,2}} (?:while|when|if|as long as) (?:the |my |our |an? |another )?(?!(?:it|model|network|training|program|script|code|gpu|tensorflow|keras)\b)(?:[\w-]+ ){{1,3}}?(?:runs\b|is (?:running|open|started)\b)|\b(?:gleichzeitig|al mismo tiempo|ao mesmo tempo|en m[êe]me temps|одновременно)\b|\b(?:blender|xorg|matlab|web ?ui|browser|game)\b[^.\n]{{0,30}}\b(?:is|are|holds?|takes?|uses?) (?:\w+ )?(?:running|open|\d)))|同时(?:运行|跑|训练|启动|执行|进行)|的同时",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells of other programs on the GPU."""
_RUNNING = r"(?:notebooks?|jupyter\w*|kernels?|ipython|scripts?|process(?:es)?|programs?|instances?|copies|sessions?|jobs?|trainings?|experiments?|\w+\.py|workers?|skripte?|programme?|notizb\u00fccher|cuadernos?)"
_AT_ONCE = rf"(?:(?:two|2|both|several|multiple|three|3|four|4|different|second|2nd|another|more|further|zwei|dos|deux|segundo|zweite\w?|deuxi\u00e8me) (?:(?:different|other|separate|jupyter|python|tf|tensorflow|keras|training|new|of the) ){{0,2}}{_RUNNING}\b|\btwice\b|\bat once\b|\bonly one (?:instance|process|script|program|notebook|job)\b|\bas long as\b|\bschon ein (?:notebook|programm|skript)\b|\bat the same time\b|\bsimultan\w+|\bconcurrently\b|\bin parallel\b|\bwhile (?:\w+ ){{0,3}}?(?:is |are |still )*(?:runs?|running|open|going|training|train\.py)\b|\b(?:each|every) further\b|\bone more\b|\bone process per gpu\b|\b(?:first|1st|one|erste) (?:one |script |process |notebook |kernel |worker )?(?:runs|works?|comes up|gets|takes|starts|is fine|is ok|l\u00e4uft)\b|\bin (?:a |another |the )?(?:second|other|different|new) (?:terminal|console|tab|window)\b)"
_DIES = r"(?:crash\w*|dies|died|die\b|fails?|failed|abort\w*|is killed|gets killed|quits?|stops|errors? out|crashes it|restarts?|throws|gives|gets? (?:cuda|oom|out|nothing|no |an error)|ends (?:with|in)|can(?:'t|not| not) (?:start|run|be (?:started|run)|get|allocate|create)|says|st\u00fcrzt|stirbt|bricht|scheitert|muere|falla|se cierra|plante|meurt)"
_LATER = r"(?:one of (?:the )?(?:two|both|them|these)|the (?:second|2nd|other|others|latter|later|next)|(?:the |an? )?(?:second|2nd|latter|later|other) (?:one|one's|notebook|script|kernel|process|instance|worker|program|job)|the others|whichever|(?:i )?(?:start|launch|run|open) (?:one more|another|a second)(?: one)?|(?:starting|launching|running|opening) (?:another|a second|one more|the second)|notebook b|each further(?: one)?|it is|eval\w*(?:\.py)?|the kernel|das zweite|die zweite|der zweite|el segundo|la segunda|le deuxi\u00e8me|le second)"
ANOTHER_DIES = Language(
    name="circumstances",
    foreign=True,
    words=("ne of the", "ne of them", "econd", "2nd", "other", "atter", "ater", "twice", "same time", "parallel", "while", "ach further", "zweite", "segund", "deuxi", "\u7b2c\u4e8c\u4e2a", "\u53e6\u4e00\u4e2a", "imultan"),
    kinds=(
        Kind(
            "another-dies-said",
            rf"(?i:^(?=[^\n]{{0,400}}(?:notebook|jupyter|kernel|ipython|\bgpus?\b|\bcards?\b|karte|tarjeta|tensorflow|keras|\bmodel|memory))(?![^\n]{{0,400}}\b(?:nodes?|machines|hosts?|epochs?|mpi|nccl|hangs?|import|segmentation|segfault\w*|core dumped|illegal|(?:second|other|two) (?:gpus?|cards?) (?:is|fails?|crash\w*|dies))\b)(?=[^\n]{{0,400}}?{_AT_ONCE})[^\n]{{0,400}}?\b{_LATER}(?: [\w-]+){{0,5}}? {_DIES}|^(?=[^\n]{{0,400}}?(?:notebook|jupyter|\bgpu\b|keras|tensorflow))[^\n]{{0,400}}?\b(?:at the same time|simultaneously|in parallel|twice)\b[^.\n]{{0,60}}\b(?:kernel|one of \w+|second|other) (?:\w+ ){{0,2}}?{_DIES}|\b(?:st\u00fcrzt|stirbt|bricht)\b[^.\n]{{0,30}}\b(?:des|der|das) (?:zweiten?|anderen?)\b|\bmakes? the (?:latter|second|other) (?:one )?(?:crash|die|fail)\b)"
            r"|(?:\u4e24\u4e2a|\u591a\u4e2a|\u540c\u65f6|\u540c\u4e00[\u5757\u5f20\u4e2a]|\u7b2c\u4e00\u4e2a|\u8fd0\u884c|\u542f\u52a8|\u6253\u5f00)[^\n]{0,40}(?:\u7b2c\u4e8c\u4e2a|\u53e6\u4e00\u4e2a|\u540e\u4e00\u4e2a)[^\n]{0,16}(?:\u5d29|\u6302|\u6b7b|\u62a5|\u5931\u8d25|\u4e0d\u8db3|OOM|\u505c)",
            once=True,
        ),
    ),
)  # fmt: skip
"""Of two programs at once the later one ends."""
_HOST = r"(?!(?:gtx|rtx|gt|cuda|cudnn|tf|python|py|cc|sm|compute|yolo\w*|resnet|vgg|epoch|batch|step|fp|int|float|line|ubuntu|win|windows|centos|debian|rhel|driver|gb|mb|conv|dense|mnist|cifar)-?\d|gpu-?\d\b)(?:[a-z]{2,8}-?\d{1,4}|[a-z]\d{1,3}n\d{1,3}|gpu-?\d{2,4})"
_FINE = r"(?:works?|runs?|ran|worked|is fine|are fine|fine|l\u00e4uft|funciona|marche|работает)"
ONE_NODE = Language(
    name="circumstances",
    foreign=True,
    words=("ode", "job", "Job", " on ", "auf ", "lsewhere", "noten", "GPU ", "gpu ", "'t allocate", "nodo", "节点", "узл"),
    kinds=(
        Kind(
            "on-one-node-told",
            rf"(?i:\bjobs?\b[^.\n]{{0,40}}?\b(?:on|to|onto|at) (?:the )?(?:node |host |machine |server )?{_HOST}\b|\b(?:node|knoten|nodo|host|узел|узле) (?:{_HOST}|[a-z]-?\d{{1,3}})\b|^\W{{0,3}}{_HOST} (?:can(?:'t|not| not)|has no|is out of|out of)\b|\bon {_HOST} only\b|\bonly on {_HOST}\b|\bon (?:the )?other (?:nodes?|machines|hosts|servers)\b[^.\n]{{0,40}}\b{_FINE}\b"
            rf"|\belsewhere\b[^.\n]{{0,16}}\b{_FINE}\b|\b(?:the )?same (?:script|job|code|program|training) (?:\w+ )?(?:on|with) (?:gpu ?#?\d|{_HOST})\b[^.\n]{{0,24}}\b{_FINE}\b|\b(?:on|auf) {_HOST} {_FINE}\b|\bsame (?:script|job|code|program) {_FINE} on {_HOST}\b)|节点 ?\w{{2,12}}\d",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells of one machine of several."""
MUCH_ASKED = Language(
    name="circumstances",
    foreign=True,
    words=("alloc",),
    kinds=(
        Kind(
            "much-asked-for-told",
            r"(?i:\b(?:could not|couldn't|cannot|can't|fail\w* to|unable to|try(?:ing)? to|tried to) allocate (?:an? |another |about |over |some )?(?:\d{2,3}(?:\.\d+)?|[4-9](?:\.\d+)?) ?gi?b\b|\b\d{1,3}(?:\.\d+)? ?gi?b\b[^.\n]{0,12}\b(?:could|can)(?:n't|not| not) be allocated\b)",
            once=True,
        ),
    ),
)
"""Who quotes what is asked for at once: gigabytes."""
AT_WORK = Language(
    name="circumstances",
    foreign=True,
    words=("atch", "poch", "tile", "teration", " steps", "mage size", "esolution", "rop ", "middle", "onger", "arge", "igger", "maller", "B model", "igh-res", " big ", "huge"),
    kinds=(
        Kind(
            "memory-at-work-told",
            r"(?i:(?<![-_\w])batch[-_ ]?sizes?\b|\bbatch(?:es)? of \d|\b(?:at|in|after|during) (?:the )?(?:(?:\d+|first|second|third|some|few|several|a few)(?:st|nd|rd|th)? )?(?:epochs?|iterations?|steps)\b|\bepochs? \d|\bimage[-_ ]?size|\b(?:high(?:er)? |full |input |hd |4k |lower )?resolution\b"
            r"|\b(?:crop|patch|tile)[-_ ]?size\b|\bin the middle of\b|\b(?:long|longer|large|larger|big|bigger|huge) (?:\w+ ){0,2}?(?:images?|models?|volumes?|videos?|sequences?|sentences?|texts?|files?|proteins?|inputs?|data ?sets?|networks?|scenes?)\b|\b\d{1,3}b model\b"
            r"|\bsmaller (?:\w+ ){0,2}?(?:batch\w*|models?|images?|inputs?)\b)",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who says what it is that needs the memory."""
_NO_ROOM = r"(?:\bc?oom(?:s|ed|ing)?\b|\bout[ -]of[ -](?:\w+ )?memory\b|\b(?:not enough|insufficient|lack of) (?:\w+ )?(?:memory|vram)\b|\bmemory (?:limits?|constraints?|reasons?)\b)"
_BATCH = r"(?:batch(?:[-_ ]?size)?|images per gpu|crop(?: ?size)?|resolution|sequence length|fp16|mixed precision)"
ASIDE = Language(
    name="circumstances",
    foreign=True,
    words=("OOM", "oom", "ut of", "ut-of", "nough ", "nsufficient ", "ack of", "emory limit", "emory constraint", "emory reason"),
    kinds=(
        Kind(
            "memory-aside-told",
            rf"(?i:^(?![^\n]{{0,400}}\b(?:but|and|yet|it) (?:\w+ )?still\b)[^\n]{{0,400}}?(?:\b(?:i|we) (?:\w+ ){{0,3}}?(?:use|using|reduce|lower|set|decrease|took|chose|train)(?:d|ed)?\b[^.\n]{{0,30}}\b{_BATCH}\b[^.\n]{{0,40}}\b(?:because|since|as|due to|otherwise|to avoid|to prevent|or else)\b[^.\n]{{0,40}}{_NO_ROOM}"
            rf"|\b(?:cannot|can't|can not|could not|couldn't) (?:use|raise|increase|set|afford|take) [^.\n]{{0,30}}\b{_BATCH}\b[^.\n]{{0,20}}{_NO_ROOM}[^.\n]{{0,6}},? so\b|\b(?:had to|have to|must|need to) (?:use|take|reduce|lower|set|go)\b[^.\n]{{0,30}}\b(?:to avoid|because of|due to|since)\b[^.\n]{{0,20}}{_NO_ROOM}"
            rf"|{_NO_ROOM}[^.\n]{{0,40}}\b(?:all is well|is fine|works? (?:fine|well)|it works)\b[^\n]{{0,20}}\bmy question\b|\bout of (?:the )?question\b[^.\n]{{0,30}}{_NO_ROOM}))",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who mentions why he has a small batch."""
EVICTED = Language(
    name="circumstances",
    foreign=True,
    words=("vict", "low on resource"),
    kinds=(Kind("evicted-told", r"(?i:\bevict(?:s|ed|ion|ing)\b|\blow on resource: memory)", once=True),),
)
"""What Kubernetes ends, to keep memory on its node."""
_BOOT = r"(?:re-?boot(?:s|ed|ing)?\b|re-?start(?:s|ed|ing)? (?:of )?(?:the |my |whole |entire |a )*(?:computer|pc|machine|system|server|windows|laptop|host|workstation|os)\b|(?:logg?(?:ed|ing)?|sign(?:ed|ing)?) (?:off|out) and (?:back )?(?:in|on)\b|\bneustart(?! des)|neu (?:ge)?start\w*|reinici\w+ (?:[eo]l? |la |a |mi |meu |de )*(?:ordenador|equipo|pc|m[áa]quina|computador\w*|sistema)|перезагру\w+|red[ée]marr\w+ (?:le |la |mon |l.)*(?:pc|ordinateur|machine|serveur))"
_FREES = r"(?:works?|worked|solve[sd]?|fix(?:es|ed)?|help(?:s|ed)?|cures?|gone|goes away|fine|(?:have|need|had|has) to|must|need|only|until|unless|otherwise|in between|resolve[sd]?|runs?|ok|geht|hilft|muss|erst|funciona|soluciona|помога\w+|работает|marche|faut|solo|só)"
BOOTED = Language(
    name="circumstances",
    foreign=True,
    words=("boot", "estart", "ogging o", "ogged o", "eustart", "eu start", "eu gestart", "einici", "ерезагру", "edémarr", "edemarr", "重启", "重新启动"),
    kinds=(
        Kind(
            "reboot-frees-told",
            rf"(?i:^(?![^\n]{{0,400}}\b(?:card|gpus?|device)s? (?:is|was|are|were|has|stays?) (?:\w+ )?(?:gone|lost|missing|vanished|dead)\b)(?![^\n]{{0,400}}(?:\b(?:not|never|no|nor)|n't) (?:\w+ ){{0,2}}(?:help|fix|solve|change|work|differ)\w*)[^\n]{{0,400}}?(?:\b{_FREES}\b[^.\n]{{0,50}}?\b{_BOOT}|\b{_BOOT}[^.\n]{{0,40}}?\b{_FREES}\b))"
            r"|(?:必须|只有|需要|只能|要|得).{0,6}重新?启动?(?:电脑|机器|服务器|系统|主机)|重新?启动?(?:电脑|机器|服务器|系统|主机)(?:后|之后|以后|才|就).{0,8}(?:好|可以|正常|能|行)",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells that a restart of the machine frees what was taken."""
LANGUAGES = (HELD, BEFORE, BESIDE, ANOTHER_DIES, ONE_NODE, MUCH_ASKED, AT_WORK, ASIDE, EVICTED, BOOTED)
