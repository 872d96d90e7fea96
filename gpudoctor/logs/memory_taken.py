"""Who says that a program takes a GPU's memory: all of it, whatever it is told, for good; and who wants it to take less. What tells
it is that a few things are named near each other, in whatever order and language: whose memory, that it is taken, how much."""

from __future__ import annotations

from ..patterns import Pattern

GPU = r"(?:(?<!v)gpus?(?:'s|'|s')?|cuda|video|graphics?(?: card)?|(?:graphics |video )?card(?:'s)?|device)"
GPUS_MEMORY = rf"(?:{GPU}[ -]?(?:mem(?:ory|roy)?|v?rams?)\b(?! alloc\w+ error)|\bv-?ram\b|\b(?:memory|mem|ram) (?:usage |consumption |use )?(?:of|on|in|from|for) (?:(?:all|both|each) )?(?:of )?(?:the |my |a |an |one |each |your |our |this |its )?(?:[\w.-]{{1,12}} ){{0,2}}?{GPU}\b)"
"""A GPU's memory, in English."""
_GPUS = Pattern(
    rf"(?i:{GPUS_MEMORY}|\bmemory\b[^.,;\n]{{0,50}}? (?:on|of|in) (?:the |my |a |one )*(?:gpu|graphics card|card)\b|\b(?:grafik|gpu|video)[- ]?(?:karten)?(?:speicher|ram)\w*|\bspeicher (?:auf |von )?(?:der|meiner|einer|aller?) (?:\w+ ){{0,2}}?(?:gpus?|(?:grafik)?karten?)\b|\bmem[o\u00f3]ria (?:de |da |en |na |del? )?(?:la |mi |minha |todas (?:las )?)?(?:gpus?|tarjeta|placa|v[i\u00ed]deo|gr[a\u00e1]fica)\b"
    r"|\bm[\u00e9e]moire (?:de la |du |de ma |sur la )?(?:gpu|carte|vid[\u00e9e]o|graphique)\b|\u0432\u0438\u0434\u0435\u043e\u043f\u0430\u043c\w*|\u043f\u0430\u043c\u044f\u0442\w* (?:gpu|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w*))|\u663e\u5b58|(?i:gpu) ?\u5185\u5b58"
)
_CARD = r"(?:gpu|graphics card|video card|card|[gr]tx ?\d{3,4}(?: ti)?|[tvap]\d{1,3}|k80|\d0[5-9]0(?: ?ti| super)?|grafikkarte|karte|tarjeta)\b(?! ?(?:driver|version|support|model|list|code))"
_THE_GPU = Pattern(
    rf"(?i:\b(?:the|my|a|one|single|our|this|its|each|every|der|meiner?|la) (?:\w+ )?{_CARD}|\bgpu (?:resources?|usage)\b)|GPU ?\u8d44\u6e90|\u663e\u5361"
)
_WHOLE_GPU = Pattern(
    rf"(?i:\b(?:all of|the whole|whole|entire|full|complete|ganze|gesamte|toda|toute) (?:of )?(?:the |my |its |a |la )?(?:\w+ )?{_CARD}|\b{_CARD} (?:memory )?(?:is|gets|was|becomes|goes) (?:\w+ )?(?:completely |fully |entirely |totally )?(?:full|fully|completely|occupied entirely)\b)"
)
"""The card itself, which is as good."""
_TAKEN = Pattern(
    r"(?i:\b(?:tak(?:es?|ing|en)|took|allocat\w{0,4}|reserv\w{0,3}|grab\w{0,4}|fill(?:s|ed|ing)?|occup\w{1,5}|hog\w{0,4}|eat(?:s|ing|en)?|ate|consum\w{1,5}|us(?:es|ed|ing|age)|makes? use|block(?:s|ed|ing)?|claim(?:s|ed)?|hold(?:s|ing)?|monopoli[sz]\w{1,4}|swallow\w{0,3}|gobbl\w{1,3}|steal\w{0,3}"
    r"|(?:goes|go|going|went|jumps?|is|are|gets?|shows?|at|stays) (?:straight |up |right |always |already |completely |fully |entirely |immediately )*(?:to|at|in use|full|max\w*)|(?:is|are|be|being|gets?) (?:\w+ )?(?:use[d]?|full)|full\b|belegt\w*|nimmt|verbraucht|frisst|reserviert|voll|ocupad?a?r?|ocupan|consume|toma|reserve|usa|utiliza|prend|occupe|\u0437\u0430\u043d\u0438\u043c\w+|\u0436\u0440[\u0451\u0435]\u0442|\u0441\u044a\u0435\u0434\w+))"
    r"|[\u5360\u5403\u7206\u6ee1]|\u7528(?:\u5149|\u5b8c|\u6389)"
)
_ALL_OF = Pattern(
    r"(?i:\b(?:all|whole|entire|complete|full|total|every ?bit|100 ?%|9\d ?%|toda|tod[oa]s? (?:la|el|a)|toute?|(?:den |der |das )?(?:ganze|gesamte|komplette|volle)[nrms]?|komplett|vollst\u00e4ndig|por completo|\u0432\u0441[\u044e\u044f]|\u0432\u0435\u0441\u044c"
    r"|everything|completely|entirely|fully|totally|maxe[sd](?: out)?|(?:up )?to (?:the |its )?max(?:imum)?|at (?:its |the )?max(?:imum)?)(?!\w))|[\u5168\u6ee1\u5149\u5b8c]|\u6240\u6709|\u6574(?:\u4e2a|\u5757|\u5f20)"
)
_FREE_OF = Pattern(
    r"(?i:\b(?:no longer|any ?more|all (?:the )?(?:images|data|models|layers|weights|files|samples|steps|results|classes|tests|of you|right|this)|full (?:code|log|output|traceback|error|stack|resolution|precision|size|example|script|training)|complete (?:code|log|output|example)|(?:whole|entire|full) (?:data ?set|image|volume|video|network|model|training|day|night|time|thing|code|log)|disk|storage|swap|host memory|system memory|cpu memory|at all|after all|thanks to all|hi all|hello all|first of all)\b)"
)
_PART = Pattern(
    r"(?i:\b(?P<used>\d{4,6}) ?mi?b? ?(?:/|of|out of|von) ?(?P<total>\d{4,6}) ?mi?b\b|(?<![\d.])(?P<used2>\d{1,2}(?:[.,]\d{1,3})?) ?(?:g(?:i?b)?)?,? ?(?:/|of|out of|von|de) ?(?:the |my |its |den |meinen |los |mis )?(?P<total2>\d{1,2}(?:[.,]\d{1,2})?) ?g(?:i?b)?\b)"
)
_MUCH = Pattern(
    r"(?i:(?<![\d.])(?:[4-9]|[1-9]\d)(?:[.,]\d{1,2})? ?(?:g(?:i?b)?|gigs?)\b|\b\d{4,5} ?mi?b\b)|(?<![\d.])(?:[4-9]|[1-9]\d)(?:\.\d)? ?\u4e2a?(?i:g)"
)
_HELD_SIZES = (4, 6, 8, 10, 11, 12, 16, 22, 23, 24, 31, 32, 40, 45, 48, 79, 80)
_WHATEVER = Pattern(
    r"(?i:\b(?:no matter|regardless|whatever|independent\w*|irrespective|does(?:n't| not) (?:depend|change|matter)|the same (?:as|for|with|whatever|whether|memory|amount)|same (?:memory|amount|usage)|every model|any model|even (?:for|with|when|if|though)|although|though|obwohl|aunque|bien que|\u5373\u4f7f|\u4e5f\u4e00\u6837)\b|\u4e5f\u4e00\u6837|\u4e5f(?:\u662f|\u4f1a)|\u4f46(?:\u662f)?)"
)
_SMALL_THING = Pattern(
    r"(?i:\b(?:tiny|small|little|toy|simple|trivial|winzig\w*|kleine\w*|peque\u00f1[oa]|petit|mini) (?:\w+ ){0,2}?(?:models?|networks?|nets?|cnn|mlp|example|data ?set|script|batch\w*|input|modelo|red|modell|netz|mod\u00e8le)\b|\b(?:models?|networks?|nets?|netz|modell|modelo|checkpoint|weights|file)\b(?: \w+){0,2}? (?:is|are|ist|es|has|have) (?:\w+ ){0,2}?(?:tiny|small|little|winzig|klein|(?:muy )?peque\u00f1o|\d+ ?[mk]b?\b|\d+k parameters)|\b(?:a|one|single) (?:image|number|picture|sample|sentence|tensor|scalar)\b|\bmnist\b|\btwo (?:layers|numbers)\b|\btf\.(?:constant|zeros|ones)\()|\u6a21\u578b\u5f88\u5c0f|\u5c0f\u6a21\u578b|\u4e00\u5f20\u56fe"
)
"""What needs little."""
_WITHOUT_WORK = Pattern(
    r"(?i:\b(?:as soon as|the moment|right (?:when|after|at)|at once|immediately|sofort|instantly|straight away|on start-?up|when it starts|a second after|just (?:by )?(?:loading|importing|opening|creating)|just load|by importing|session is created|creating the session|before (?:the )?(?:first|training|any)|at (?:the )?(?:start|import|beginning)\w*|after tf\.|at the first (?:tf|call|op)|upon import|schon beim|solo cargar|no matter|regardless|whatever|even (?:for|with)|every model|does(?:n't| not) depend)\b)|\u4e00\u8fd0\u884c|\u4e00\u542f\u52a8|\u4e00\u5f00\u59cb"
)
"""Whose work has not begun."""


def _near(text: str, within: int, first: Pattern, *others: Pattern) -> bool:
    """Whether the first pattern matches where all the others do so near it."""
    for found in first.finditer(text):
        around = text[max(0, found.start() - within) : found.end() + within]
        if all(one.search(around) for one in others):
            return True
    return False


def takes_all(sentence: str, of_gpu: bool) -> bool:
    """Whether a sentence says that nearly all of a GPU's memory is taken, or much of it for little. `of_gpu`: a GPU or TensorFlow
    is named beside it."""
    said = _FREE_OF.sub(" ", sentence)
    if _nearly_all(said, of_gpu):
        return True
    if _near(said, 45, _GPUS, _TAKEN, _ALL_OF) or _near(said, 24, _WHOLE_GPU, _TAKEN):
        return True
    if of_gpu and _near(said, 30, _TAKES_IT_ALL, _TAKEN):
        return True
    if _near(said, 60, _GPUS, _TAKEN, _MUCH) and (_SMALL_THING.search(said) or _WITHOUT_WORK.search(said)):
        return True
    if _near(said, 60, _GPUS, _WHATEVER, _SAME_SIZE) or _near(said, 60, _GB_OF_A_CARD, _WHATEVER):
        return True
    if _near(said, 40, _ALL_GB, _TAKEN) and _SMALL_THING.search(said) and not _FREE.search(said):
        return True
    if _near(said, 60, _GPUS, _MUCH, _SURPRISES) or (
        _near(said, 40, _GB_OF_A_CARD, _TAKEN) and _WITHOUT_WORK.search(said)
    ):
        return True
    return of_gpu and _near(said, 60, _MUCH, _TAKEN) and _near(said, 60, _MUCH, _SMALL_THING)


_SURPRISES = Pattern(
    r"(?i:\b(?:why|really need\w*|surpris\w+|don't understand|do not understand|is (?:it|this|that) normal|expected (?:much )?less|strange|warum|wieso|por qu[e\u00e9]|pourquoi)\b)|\u4e3a\u4ec0\u4e48|\u600e\u4e48\u56de\u4e8b|\u6b63\u5e38\u5417|\u600e\u4e48\u4f1a|\u8fd9\u4e48|\u624d|\u5c31\u5360"
)


def at_once(sentence: str) -> bool:
    """Whether it is taken before any work is done: then it does not grow."""
    return bool(_WITHOUT_WORK.search(sentence)) and takes_all(sentence, False)


_TAKES_IT_ALL = Pattern(
    r"(?i:\b(?:all|the whole|whole|entire|full|complete)(?: of)?(?: the| my| its)? (?:memory|v?ram|\d{1,2} ?gi?b)\b|\b(?:tak|allocat|reserv|grab|fill|occup|eat|consum|hog)\w{0,4} (?:up )?everything\b|\bthe whole of it\b)"
)
_GB_OF_A_CARD = Pattern(rf"(?i:\b\d{{1,2}}(?:\.\d)? ?gi?b (?:of|on) (?:the |my |a )?{_CARD})")
_ALL_GB = Pattern(r"(?i:\b(?:all|whole|entire|full|complete)(?: of)?(?: the| my| its)? \d{1,2} ?gi?b\b)")
_SAME_SIZE = Pattern(r"(?i:\b(?:batch\w*|model|input|image size|net|network)\b)")


def _nearly_all(text: str, of_gpu: bool) -> bool:
    """Whether it is quoted: 10.7 of 11 GB, 10912MiB / 11178MiB."""
    for found in _PART.finditer(text):
        used, total = (
            (found["used"] or found["used2"]).replace(",", "."),
            (found["total"] or found["total2"]).replace(",", "."),
        )
        if float(used) <= float(total) and float(used) >= 0.75 * float(total):
            around = text[max(0, found.start() - 60) : found.end() + 50]
            if (of_gpu or _GPUS.search(text) or _THE_GPU.search(text) or found["used"]) and not _FREE.search(around):
                return True
            if float(total) in _HELD_SIZES and _TAKEN.search(around) and not _FREE.search(around):
                return True
    return False


_FREE = Pattern(r"(?i:\b(?:free|available|ram|disk|swap|download\w*|ssd|host)\b)")

# ------------------------------------------------------------------- it is to take less

_LESS = Pattern(
    r"(?i:\b(?:limit\w{0,5}|restrict\w{0,4}|reduc\w{1,5}|decreas\w{1,4}|lower\w{0,3}|cap|capp\w+|less|smaller|minim\w+|keep (?:\w+ ){0,5}?(?:low|small|down)|control\w{0,5}|configur\w{1,4}|constrain\w{0,3}|bring (?:\w+ )?down|brought down|shar(?:e|ed|ing)|fraction|portion|part of|on demand|as needed|leave (?:\w+ ){0,2}?(?:some|part|room|memory)|growth|how (?:much|many (?:mb|gb))(?= (?:of )?(?:\w+ ){0,5}?(?:it|each|they|(?:is|gets) taken|one) (?:may|can|should|is allowed|takes|gets))|not (?:all|the whole|everything|so much|that much)|too much|dynamic\w*|only what it needs|as much as (?:it )?need\w*|specify|assign\w*|allowed to|max(?:imum|imal)?|a (?:third|half|quarter|part|share) of|half (?:of )?the|\d{1,2} ?% of|session config|optimi[sz]\w*|stop|prevent|avoid|keep|einschr\w+|begrenz\w+|beschr\w+nk\w+|limitier\w+|nicht (?:der|den|die) (?:ganze|gesamte|komplette)\w*|weniger|limitar|reducir|menos|tanta|reduzir|limiter|r\u00e9duire|moins|\u043e\u0433\u0440\u0430\u043d\u0438\u0447\w+|\u0443\u043c\u0435\u043d\u044c\u0448\w+|\u043c\u0435\u043d\u044c\u0448\u0435))"
    r"|\u9650\u5236|\u51cf\u5c11|\u964d\u4f4e|\u63a7\u5236|\u51cf\u5c0f|\u4e0a\u9650|\u6309\u9700|\u8282\u7701|\u8c03[\u5c0f\u4f4e]|\u4f18\u5316|\u4e0d\u8981|\u8fc7\u5927|\u592a\u5927|\u592a\u9ad8"
)
_SHARES_GPU = Pattern(
    r"(?i:\bshar(?:e|ing) (?:\w+ )?(?:gpu|card|graphics card)\b(?=[^.\n]{0,80}\b(?:between|with|among|by|program|process\w*|script)\b)|\bshare (?:the|a|one|this|my|our) (?:gpu|card)\b|\b(?:other|another|more) (?:process\w*|programs?|users?|applications?|jobs?) can (?:also |still )?(?:use|share|run)\b[^.\n]{0,20}\b(?:gpu|card)\b|\b\d{1,2} ?% of (?:the |my |a )?gpu\b(?! (?:util|time))\b(?:several|two|multiple|more) (?:\w+ )?(?:instances|processes|programs|jobs|models|scripts)\b[^.\n]{0,40}\b(?:on|share) (?:one|the same|a single|a|this) (?:gpu|card)\b)"
)
_ONLY_A_PART = Pattern(
    r"(?i:\b(?:tak|us|allocat|reserv|get)\w{0,4} (?:only |just )?(?:(?:what|as much as) (?:it|is|they) (?:really )?need|(?:up )?(?:a (?:third|half|quarter|part|share|fraction)|half|\d{1,2} ?%) of (?:it\b|the (?:card|gpu|memory)|its memory)))"
)
_WANTS = Pattern(
    r"(?i:\?|\bhow\b|\bcan (?:i|we|you|it|one|be)\b|\bis there\b|\bis it possible\b|\bany (?:way|option|chance|idea|possibility|method)\b|\bplease\b|\b(?:would|i'd|we'd) (?:like|be|love)\b|\bwant\b|\bneed\b|\b(?:option|flag|setting|parameter|feature|request)\b|\bwhich setting\b|\bcould (?:you|i|we)\b|\bwie\b|\bkann\b|\b[cç]omo\b|c\u00f3mo|\bcomment\b|\bpuedo\b|\bmanera\b)|\u600e|\u5982\u4f55|\u80fd\u4e0d\u80fd|\u80fd\u5426|\u8bf7\u95ee|\u624d\u884c|\u53ef\u4ee5\u5417|\u9700\u8981|\u5e0c\u671b"
)
_NOT_LESS = Pattern(
    r"(?i:\b(?:needed|required|necessary|recommend\w*|requirements?|(?:is|are) (?:\d+ ?gb|it) enough|how (?:much|many|large|big)\b[^.\n]{0,30}\b(?:needed|need|required|require|have|has|do you|did you)|pull request|enough|\bpr\b|this commit|changelog|solved|thanks|readme|paper|shared memory|shm|leak\w*|slow\w*|speed|fps|which (?:gpu|card)|what (?:gpu|card)|learning rate|for example)\b)"
)


def wants_less(sentence: str, of_gpu: bool) -> bool:
    """Whether somebody wants a program to take less of a GPU's memory. `of_gpu`: as above."""
    if not _WANTS.search(sentence) or _NOT_LESS.search(sentence):
        return False
    return (
        _near(sentence, 50, _GPUS, _LESS)
        or bool(_SHARES_GPU.search(sentence))
        or (of_gpu and bool(_ONLY_A_PART.search(sentence)))
        or bool(_ASKED_OPTION.search(sentence))
        or _near(sentence, 30, _RESOURCES, _LESS)
    )


_RESOURCES = Pattern(
    r"(?i:\bgpu (?:resources?|usage)\b)|GPU ?\u8d44\u6e90|\u663e\u5361\u8d44\u6e90|GPU ?\u5360\u7528|\u5360\u7528 ?GPU"
)
_ASKED_OPTION = Pattern(
    r"(?i:\w*(?:allow_growth|memory_growth|memory_fraction)\w*|\bmemory (?:growth|fraction)\b|\bgpu[_ ]?options\b|\bgpu[-_ ]memory[-_ ](?:limit|fraction))"
)

# ------------------------------------------------------------------- it was told to, in vain

_OPTION = Pattern(
    r"(?i:\w*(?:allow_growth|memory_growth|memory_fraction|memory_limit|ALLOW_GROWTH)\w*|\bmemory (?:growth|fraction|limit(?! (?:exceeded|of (?:the |this )?(?:container|job|pod))))\b|\bgpu_?options\b|\w*(?:logical|virtual)[_ ]device[_ ]config\w+|\bfraction of (?:the )?(?:gpu )?memory\b)"
)
_VAIN = Pattern(
    r"(?i:\b(?:no effect|without effect|not? (?:any )?(?:influence|difference|change|help\w*|respect\w*|take effect|taken|kept|used|honou?red|obeyed)|(?:is|are|was|seems?|gets?|being) (?:to be )?(?:ignored|disregarded|exceeded)|ignor(?:es|ing)|ignoriert|no tiene efecto|still|nothing (?:changed|changes)|exceeds|useless|ineffective|in vain|all the same|nevertheless|anyway|regardless|goes on (?:taking|using|allocating)|(?:keeps?|still) (?:on )?(?:grab|tak|us|alloc|occup|eat|fill|reserv|go|show)\w*|(?:allocates|takes|uses) the same|whatever (?:i|value)|up to the (?:max|full)\w*|trotz|funktioniert nicht|wirkungslos|no funciona|sin efecto|sans effet)\b"
    r"|n't (?:\w+ ){0,2}?(?:work|help|change|respect|do anything|take effect|make (?:a|any) difference|limit|prevent|stop)|\bdoes nothing\b|\bdo nothing\b|\bnot (?:help|work|limit|stop|prevent)\w*\b)|\u65e0\u6548|\u6ca1\u6709?\u7528|\u6ca1\u6709?\u6548|\u4e0d\u8d77\u4f5c\u7528|\u4e0d\u7ba1\u7528|\u4e0d\u751f\u6548|\u8fd8\u662f|\u4f9d\u7136|\u4ecd\u7136"
)
_ALTHOUGH = Pattern(
    r"(?i:\b(?:although|though|despite|even (?:with|though|if|when|after)|trotz|but|yet|while)\b|[,:;] (?:full|all|the whole)\b)"
)
_TAKEN_OR_SHOWN = Pattern(rf"{_TAKEN.source}|(?i:\bshows?\b)")
_THEN_VAIN = Pattern(
    r"(?i:[.,;:!] (?:but )?(?:nothing (?:changed|changes|happens)|no (?:change|effect|difference|luck|success)|(?:this|it|that) (?:did|does)(?:n't| not) (?:help|work|change)|without success|(?:it )?(?:still )?(?:takes|uses|occupies|allocates) (?:all|the same|\d+ ?gb|100)))"
)
_FULL_THEN = Pattern(r"(?i:\b(?:9\d ?%|100 ?%|full|all|whole|entire|everything|maximum|\d{1,2}(?:\.\d)? ?gi?b)\b)")
_AMISS = Pattern(
    r"(?i:\b(?:cudnn|cublas|handle|blas|gemm|alloc_failed|slow\w*|no longer|any ?more|works? (?:great|fine|now|well)|solved|fixed)\b|_STATUS_)"
)


def in_vain(sentence: str) -> bool:
    """Whether somebody has told TensorFlow to take what it needs, or a part, to no effect."""
    if not _OPTION.search(sentence) or _AMISS.search(sentence):
        return False
    return _near(sentence, 90, _OPTION, _VAIN) or _near(sentence, 90, _OPTION, _ALTHOUGH, _FULL_THEN, _TAKEN_OR_SHOWN)


def in_vain_after(text: str) -> bool:
    """Whether it is told so in two sentences."""
    return _near(text, 120, _OPTION, _THEN_VAIN) and not _AMISS.search(text)


# ------------------------------------------------------------------- it keeps what it has

_MEMORY = Pattern(r"(?i:\b(?:memory|v?ram|\w{0,12}speicher|memoria|\d{1,2} ?gi?b)\b)|\u663e\u5b58")
_ENDS_INSIDE = Pattern(
    r"(?i:\bsess(?:ion)?(?:\.close)?\b(?:\(\))?[^.\n]{0,20}\b(?:clos\w+|end\w*|over|done)\b|\bsess(?:ion)?\.close\b|\bclos(?:e|ed|ing) (?:the |a |my )?(?:tf\.)?session\b|\bclear_session\b|\bdel(?:et\w+)? (?:the |my )?model\b|\bdel\b|\bgc\b|\bempty_cache\b|\bafter (?:the )?(?:\w+\.)?(?:predict\w*|inference|detection)\b|\blong[- ]running\b|\breset_default_graph\b|\b(?:without|instead of) (?:\w+ )?(?:restart|exit|end|quit|kill|clos|stopp|leav)\w* (?:the )?(?:python|process|program|kernel|server|script|runtime|notebook)\b"
    r"|\b(?:until|unless|before) (?:i |we |the )?(?:restart|quit|end|exit|kill|stop|shut down) (?:the |my )?(?:kernel|python|process|program|notebook|server)\b|\bonly (?:be )?(?:given back|freed|released|returned|cleared)\b[^.\n]{0,24}\b(?:process|python|program|kernel|script)\b|\b(?:inside|within) (?:a |the )?(?:running )?(?:notebook|kernel|process|session)\b|\bohne (?:python|das programm|den prozess)\b|\bwhen (?:idle|done)\b|\b(?:server|service) (?:stays|holds|keeps)\b)"
    r"|(?:\u9000\u51fa|\u5173\u95ed|\u7ed3\u675f|\u91ca\u653e) ?(?i:tf\.)?(?i:sess)|\u4e0d(?:\u7ed3\u675f|\u9000\u51fa|\u91cd\u542f|\u5173\u95ed)(?:\u7a0b\u5e8f|\u8fdb\u7a0b|\u5185\u6838)"
)
_GIVES_BACK = Pattern(
    r"(?i:\b(?:releas\w+|free[sd]?|freeing|clear(?:s|ed|ing)?|empt(?:y|ied)|unload\w*|deallocat\w+|(?:give|gives|given|get|have|hand|return)\w* (?:\w+ ){0,6}?back|returned|stays?|remains?|still (?:shows?|held|taken|used|in use|occupied|allocated|full)|keeps?|holds?|frei|freigeben|bleibt|liberar|libera|leav\w+)\b)|\u91ca\u653e|\u8fd8\u56de"
)


def keeps_inside(sentence: str) -> bool:
    """Whether a program that goes on is said to keep the memory, its work being done."""
    return bool(_AMISS_THERE.search(sentence)) and _near(sentence, 110, _ENDS_INSIDE, _MEMORY, _GIVES_BACK)


_AMISS_THERE = Pattern(
    r"(?i:\b(?:not|never|no|stays?|remains?|still|how|only|keeps?|holds?|until|unless|what|is there|can|leav\w+|wie|bleibt|c[o\u00f3]mo|equivalent|kein\w*|nicht)\b|n't\b|\?)|\u6ca1|\u4e0d|\u600e|\u5982\u4f55"
)


_RELEASE = r"(?:releas(?:es?|ed|ing)|free(?:s|d|ing)?|clear(?:s|ed|ing)?|clean(?:s|ed|ing)?(?:[ -]?up)?|flush(?:ed|es)?|empt(?:y|ied|ies)|unload(?:s|ed)?|deallocat\w+)"
KEEPS = Pattern(
    rf"(?i:(?:\b(?:not|never|without|fails? to)|n't) (?!(?:\w+ )?(?:enough|sufficient|much) )(?:\w+ ){{0,3}}?{_RELEASE} (?:up )?(?:\w+ ){{0,3}}?(?:{GPUS_MEMORY}|(?:memory|vram)\b|gpu\b)|(?:{GPUS_MEMORY}|\bmemory\b)(?: usage)?[^.,\n]{{0,24}}?(?:\b(?:not|never)|n't)(?: \w+){{0,3}}? (?:{_RELEASE}|given back|returned|handed back)\b"
    rf"|n't (?:\w+ ){{0,2}}?(?:give|hand|return)s? (?:back )?(?:the |its |any |all |my )*(?:{GPUS_MEMORY}|memory\b)|\bhow (?:can|do|could|should|to)\b[^.\n]{{0,30}}\b(?:release|free|empty|clear|clean[ -]?up|clean|flush|unload) (?:up )?(?:\w+ ){{0,3}}?(?:{GPUS_MEMORY}|gpu\b)[^.\n]{{0,40}}?\b(?:after|once|when|without|from|between)\b"
    rf"|(?:{GPUS_MEMORY}|\bmemory\b)(?: usage)? (?:\w+ )?(?:stays|remains|keeps being|is still) (?:\w+ )?(?:allocated|occupied|held|reserved|full|taken|used|in use)\b|\bunload\w* (?:\w+ ){{0,3}}?from (?:the )?(?:gpu|vram)\b|\b(?:keeps|holds) (?:on to )?(?:all |the |my |\d+ ?gb )*(?:of )?{GPUS_MEMORY}[^.\n]{{0,30}}\b(?:after|when|once|although|until)\b[^.\n]{{0,40}}\b(?:over|done|finished|ended|returned|complete\w*)\b|\b(?:stays?|remains?|kept) in (?:the )?(?:vram|{GPUS_MEMORY})\b)"
    r"|(?:不|没有?|未|怎么|如何|怎样|无法)(?:会|能|被)?.{0,6}释放.{0,8}显存|显存.{0,12}(?:不|没有?|未|怎么|如何|无法).{0,4}释放"
    r"|(?i:speicher\b[^.\n]{0,60}\b(?:nicht (?:wieder )?)?(?:frei|freigegeben|geleert)\w*|\bliberar (?:la )?mem[óo]ria\b[^.\n]{0,24}\b(?:gpu|tarjeta|placa|vram)\b|\bno (?:se )?(?:libera|suelta)\b[^.\n]{0,24}\bmemoria\b|\bmemoria\b[^.\n]{0,40}\bno se libera\b|\bn[ãa]o libera\b[^.\n]{0,24}\bmem[óo]ria\b|\bne lib[èe]re pas\b[^.\n]{0,24}\bm[ée]moire\b"
    r"|(?:освобо\w+|очист\w+)[^.\n]{0,24}(?:видео|gpu )\w*памят\w*|(?:видео|gpu )\w*памят\w*[^.\n]{0,24}не (?:освобожда|очища)\w+)"
)
"""Who complains that what has done its work keeps the memory."""
KEPT_OTHERWISE = Pattern(
    r"(?i:\b(?:kill\w*|ctrl\w*|crash\w*|zombie\w*|terminat\w+|exit\w*|shut\w*|abort\w*|interrupt\w*|each|every|epochs?|folds?|iterations?|batch(?:es)?|nvidia-smi shows no|no process\w*|host|cpu|ram|(?:script|program|process|job|training) (?:has |is |was )?(?:ended|ends|finished|stopped|closed))\b|每|杀|kill|内存)"
)
"""Of what has ended, which is another program's memory now; of what grows."""
COURTESY = Pattern(
    r"(?i:\bthank(?:s| you)[^.!,\n]{0,20} for [^.!,\n]{0,60}|\bthanks?(?: you)? in advance\b|\bbe (?:\w+ )?(?:great|nice)\b|\b(?:great|nice|awesome) (?:work|job|project|repo\w*|tool|library|package)\b)"
)
"""What is said before one complains."""
