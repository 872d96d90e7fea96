"""What people say that the causes of packages and platforms go by: no GPU is seen, a C library, a release, a wish. What else
they write is weighed as a whole (alike.py)."""

from __future__ import annotations

import re

from ..patterns import Pattern
from .language import Kind, Language

_CARD = (
    r"(?<!tensorflow-)(?<!tensorflow_)(?:e-?GPUs?|GPUs?|graphics? cards?|video ?cards?|(?:GeForce|Quadro|Tesla|Titan)(?: [\w-]{1,8})?|[RG]TX ?-?A?\d{3,4}(?: ?Ti)?|\d{3,4}(?: ?Ti)? [RG]TX"
    r"|nvidia(?: \w{1,12})? cards?|cuda devices?|GPU devices?)"
)
_SOME = r"(?:[^.?!,;]|\.\d|,(?= \d))"
"""A letter within a sentence; the point of a version ends none."""
_SEEN = (
    r"(?:detect|recogni[sz]|discover|found|find|visible|seen|\bsee\b|used?\b(?! (?:fully|all|100))|\bin use|availab|listed|\blist\b|show(?! (?:what|its|their|how))|regist|acces|activ|engag"
    r"|utili[sz](?:ed|ing|e)\b(?! (?:fully|well|much))|picked|working|work\b|\brun\b|\brunning|accept|taken|\btake\b|support(?:ing|ed)? by tensor)"
)
OTHERS = r"(?:2nd|second|3rd|third|fourth|other|another|all(?: of)?(?: the| my)?|both|multiple|two|three|four|every|more than (?:one|\d)|remaining)"
_NO_GPU = tuple(Pattern(one, re.IGNORECASE) for one in (
    # the GPU isn't seen
    (rf"(?<!instructions for )(?<!guide for )(?<!steps for )(?<!docs for )(?<!tutorial for )\b{_CARD}\b(?! mem| util| usage| ram|:\d| is full){_SOME}{{0,40}}?(?:\b(?:not|never|cannot|un)|n't)"
    rf"(?! (?:fully|properly|much|well|enough|completely|entirely|efficiently|always))"
    rf"(?: ?(?:being|be|get|getting|been|even|actually|really|at all|currently|seem to be|to))* ?{_SEEN}(?!\w{{0,4}} (?:fully|properly|enough|efficiently|completely|optimally|entirely|hard|a lot|to (?:its|the) (?:full|max\w*))\b)"),
    rf"\b(?:un(?:seen|recogni[sz]ed|detected|used))\b {_SOME}{{0,20}}\b{_CARD}\b|\b{_CARD} (?:is |was |stays? |goes )?(?:unseen|undetected|unrecogni[sz]ed|unused)\b",
    # it does not see the GPU
    (r"(?:\b(?:not|cannot|can ?not|unable to|fails? to|failed to|failing to|refuses to|never|nor|stopped)|n't|(?<=[dsoe])nt) (?:be able to |able to |even |actually |just |simply )?"
    r"(?:detect|recogni[sz]|find|see|us(?=e|ing)|access|list|utili[sz]|get(?! to the gpu\b(?! to))|mak(?=e|ing)(?!\w{1,3} (?:the (?:most|best)|(?:\w+ )?use\b))|tak(?=e|ing)|pick(?:ing)? up|discover|run(?:ning)?(?: on)?|train(?:ing)? on|work(?:ing)? with|work(?:ing)? on|acknowledg|register|show)"
    rf"\w{{0,4}} (?!out of){_SOME}{{0,30}}?\b{_CARD}\b(?! (?:mem|util|usage|process|ram|software|librar|fully|efficiently|completely|entirely)|'s| version)"),
    rf"\bwithout (?:seeing|finding|using|detecting) {_SOME}{{0,20}}\b{_CARD}\b",
    rf"\b{_CARD}\b{_SOME}{{0,60}}? but (?:it )?(?:not|no longer|doesn't|does not|isn't|won't) (?:any ?more|with|in|on|since|under|for|work|after)\b",
    rf"\bwhy (?:isn't|aren't|doesn't|don't) (?:the |my |our )?{_CARD} (?:get |being )?{_SEEN}",
    r"\b(?:my|the|our) GPUs? (?:does(?:n't| not)|won't|will not) start\b|\bwhy (?:doesn't|does not|won't) (?:my|the|our) GPUs? start\b",
    r"\b(?:tensorflow|tf|keras|it|jax)\b[^.\n]{0,12}\bleaves? (?:my |the |our )?gpus? (?:alone|out|aside|untouched)\b|\b(?:does(?:n't| not)|do(?:n't| not)|is(?:n't| not)|won't|never) us(?:e|es|ing) cuda\b(?! ?(?:\d|graphs?|version|toolkit))",
    r"\btensorflow[-_]gpu(?:[^.\n]|\.\d){0,40}? (?:does(?:n't| not)|won't|will not) work\b",
    # there is none
    r"\bno (?:nvidia |cuda |physical |visible )?GPUs? (?:is |are |was |were |being |devices? |card )?(?:detected|found|available|visible|listed|recogni[sz]ed|seen|after|since|in (?:tf|tensorflow)|with (?:tf|tensorflow)|on windows|support(?= (?:in|on|with|after|since)))",
    r"(?:[:,;-] |\bpip |\btensorflow |\btf )no GPUs?\W{0,3}$|^no nvidia drivers?\W{0,3}$|\b(?:prints?|shows?|gives?|throws?) (?:\w+ ){0,3}(?:errors?|warnings?) and no GPUs?\b",
    rf"\b{_CARD} (?:is not|isn't|was not|wasn't|not) loaded\b",
    r"\b(?:finds?|found|sees?|saw|lists?|shows?|detects?|detected|gets?|got|returns?|reports?|registers?|has|gives?|prints?) (?:me )?(?:(?:only |just )?(?:zero|0|none of (?:the|my)|no)|nothing but (?:the )?CPU,? no) (?:physical |logical |visible |nvidia |cuda |available )?(?:GPUs?|graphics cards?)\b(?! (?:problem|issue|error|mem))",
    r"\b(?:is|are|was|see|get|got|gives?|returns?|shows?|says?|prints?|have) (?:only )?['\"]?0 GPUs?\b|\b(?:GPUs|GPU (?:available|count|number|found))(?: is| are|:| =|=) ?(?:0|zero|none|False)\b(?![.,]\d|\d| ?[,(]| ?%|:)|\bnumber of GPUs? \w{0,12} ?(?:is |= ?|: ?)?0\b",
    r"list_(?:physical|local|logical)_devices[^.]{0,80}\b(?:empty|nothing)\b|\b(?:an |the )?empty (?:GPU |device )?list\b|\bempty list of (?:GPU|device|physical)",
    r"\b(?:gives?|gave|returns?|returned|prints?|printed|get|got)(?: me)?(?: back)? an empty (?:array|list)\b",
    r"\bis_gpu_available\b[^?]{0,90}(?<!cuda_only=)(?<!cuda_only = )\b(?:False|no)\b|list_physical_devices[^?]{0,90}(?:\b0 GPUs|(?<![\w.])\[\])|\bwithout (?:a|the|any) GPU\b",
    # the processor does it
    r"\b(?:only|just|nothing but|none but|nothing else than) (?:uses? |sees? |detects? |lists? |shows? |finds? |on |in |the |my |works? (?:on|with) )*(?:the |my )?CPUs?\b(?! cores?| threads?| mem|-bound)",
    r"\bonly (?:uses?|takes?|sees?|detects?|lists?|shows?|finds?|runs? on|works? on|trains? on|using|taking)(?: the| my)? CPU\b",
    r"\b(?:uses?|using|used|runs? (?:on|by)|running (?:on|by)|ran on|start(?:s|ed|ing)? (?:on|in|with)|begins? (?:on|in)|trains? on|training (?:is )?on|falls? back to|defaults? to|(?:connects?|switches|switched|changes|reverts?) (?:back )?to(?: a)?|executed? on|computes? on|works? on|stays on|goes to|stuck (?:on|with)) (?:the |my )?CPU\b(?! (?:cores?|threads?|ram|mem|(?:is|was|works?|worked|goes|went) (?:\w+ )?(?:ok|okay|fine|well|good|perfectly|without))\b|-(?:quota|period|shares?|set|limit|time))",
    r"\bCPU (?:mode|instead of (?:the |my )?(?:GPU|graphics)|(?:and )?not (?:on |in )?(?:the |my )?GPU|rather than|only\b)|\binstead of (?:on |using )?(?:the |my )?GPU\b|\bbut (?:\w+ ){0,3}on (?:the |my )?CPU\b|\bis (?:only |just )?for (?:the )?CPU\b",
    r"\b(?:problems?|trouble|issues?|difficult\w{1,4}) (?:about |with |in |when |while )?(?:running|using|getting|making) (?:\w+ ){1,3}?(?:run |work )?on (?:the |my |a )?GPUs?[.?!]?$",
    # it idles
    rf"\b{_CARD} (?:does|do|did|is doing|are doing) nothing\b|\b{_CARD} (?:sits?|stays?|is|are|remains?|was) (?:completely |just |always |totally )?idle\b",
    r"\bGPU(?:'s)? (?:usage|utili[sz]ation|util|load|use)\b[^.%\d]{0,24}\b0(?:\.0)? ?%(?! ?(?:[-,\u2013>]{1,2}|then|to|and|\u2192) ?(?:\d{2}|100) ?%)|\b(?<![\d.])0 ?% (?:of )?(?:the )?GPU\b|\bGPU\b[^.\d\n]{0,12}\b0 ?%[^.\n]{0,24}\bCPU\b[^.\n]{0,24}\b(?:100|9\d) ?%|\bCPU\b[^.\n]{0,24}\b(?:100|9\d) ?%[^.\n]{0,24}\bGPU\b[^.\d\n]{0,12}\b0 ?%|\b(?:100|9\d) ?% (?:of )?(?:the )?CPU\b[^.\n]{0,24}\bGPU\b[^.\d\n]{0,12}\b0 ?%|\bno (?:GPU usage|usage of the GPU|new process on it|process(?:es)? on the GPU)\b|\bno running process(?:es)? found\W{0,3} (?:while|during|when|although|but)\b",
    # in other languages
    r"\b(?:zeigt|findet|nutzt|verwendet|listet) (?:mir )?nur (?:die )?CPU\b|\b(?:Karte|Grafikkarte|RTX \d{4}|GTX \d{4}) (?:\w+ ){0,4}nicht zum Laufen|GPU (?:wird|ist) nicht (?:erkannt|gefunden|genutzt|verwendet|sichtbar)|(?:无法|不能|没法|没有|未能|未)(?:使用|用|识别|检测到?|调用|找到|发现)(?:到|不到)? ?(?:GPU|gpu|显卡)|(?:检测|识别|找|调用|用)不(?:到|了|上) ?(?:GPU|gpu|显卡)|没有?(?:用上|用到|使用到?|调用|跑在) ?(?:GPU|gpu|显卡)",
    r"(?<!\bn\u00e3o )\bno (?:detecta|reconoce|encuentra|utiliza|usa|ve|aparece) (?:la |mi |el |o |a |minha |ninguna )?(?:GPU|tarjeta)|n\u00e3o (?:detecta|reconhece|encontra|usa|utiliza|v\u00ea) (?:a |minha |o )?(?:GPU|placa)",
    r"\u043d\u0435 (?:\u0432\u0438\u0434\u0438\u0442|\u043d\u0430\u0445\u043e\u0434\u0438\u0442|\u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443\u0435\u0442|\u043e\u043f\u0440\u0435\u0434\u0435\u043b\u044f\u0435\u0442) (?:GPU|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442)|ne (?:d\u00e9tecte|reconna\u00eet|trouve|voit|utilise) pas (?:le |mon |la |ma )?(?:GPU|carte)",
    r"GPU(?:を|が)?(?:認識|検出|使用|利用)(?:し|され|でき|し?て)(?:ない|ません|ていない)",
    r"(?:\b(?:wird|werden|wurde|ist) (?:\w+ ){0,2}?(?:GPU|Grafikkarte|Karte)|\b(?:GPU|Grafikkarte|Karte) (?:wird|ist|bleibt|wurde)) (?:\w+ ){0,3}?(?:nicht |un)(?:erkannt|gefunden|genutzt|benutzt|verwendet|angesprochen)|\bl\u00e4uft (?:\w+ ){0,2}?(?:nur )?auf der CPU\b",
    r"(?:GPU|carte(?: graphique)?) n'est (?:pas|jamais|toujours pas) (?:d\u00e9tect|reconnu|trouv|utilis|vu)|\btourne(?:nt)? (?:uniquement |seulement )?sur le CPU\b|\b(?:GPU|tarjeta(?: gr\u00e1fica)?) no (?:se |es |est\u00e1 siendo )?(?:detect|reconoc|us[ae]|utiliz|encuentra)|\bs[o\u00f3]lo (?:usa|utiliza) (?:la |el )?CPU\b",
    r"\b(?:GPU|placa(?: de v\u00eddeo)?) n\u00e3o (?:\u00e9 |est\u00e1 sendo |foi |est\u00e1 )?(?:detectad|reconhecid|usad|utilizad|encontrad)|(?:GPU|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w{1,2}) (?:\u0432\u043e\u043e\u0431\u0449\u0435 )?\u043d\u0435 (?:\u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443\u0435\u0442\u0441\u044f|\u043e\u043f\u0440\u0435\u0434\u0435\u043b\u044f\u0435\u0442\u0441\u044f|\u0432\u0438\u0434\u043d|\u043d\u0430\u0439\u0434\u0435\u043d|\u043e\u0431\u043d\u0430\u0440\u0443\u0436\u0435\u043d)",
    r"\b(?:sieht|erkennt|findet|nutzt|benutzt|verwendet|bemerkt) (?:(?:\w+ ){0,2}?keine (?:einzige )?(?:GPU|Grafikkarte)|(?:die|meine|unsere) (?:GPU|Grafikkarte|Karte) (?:\w+ ){0,2}?nicht\b)|\b(?:benutzt|sieht|erkennt|kennt) nur (?:die )?CPU\b",
    r"n'(?:utilise|exploite|identifie|aper\u00e7oit) (?:pas|jamais) (?:le |mon |la |ma )?(?:GPU|carte)|\bnon (?:vede|rileva|riconosce|usa|utilizza|trova) (?:la |il |mia |mio )*(?:GPU|scheda)|GPU(?:\ub97c|\uc744|\uac00|\ub294)? ?(?:\uc778\uc2dd|\uc0ac\uc6a9|\uac10\uc9c0|\uac80\ucd9c|\ucc3e)[^\n]{0,6}(?:\ubabb|\uc54a|\uc548|\uc218 \uc5c6)",
    rf"\b(?:ignor(?:es|ed|ing)|overlooks?|misses) (?:the |my |our |any ){{1,2}}{_CARD}\b|\b{_CARD} (?:is not|isn't|isnt|was not|wasn't) (?:even |being |getting )?(?:seen|noticed|picked up)\b",
    r"\u770b\u4e0d\u5230 ?(?:GPU|gpu|\u663e\u5361)|(?:GPU|gpu|\u663e\u5361)[^\u3002\uff0c,\n]{0,8}?(?:\u6ca1\u6709?|\u672a)\u88ab?(?:\u7528\u4e0a|\u4f7f\u7528|\u8bc6\u522b|\u68c0\u6d4b\u5230|\u5229\u7528|\u7528\u5230)|\u53ea(?:\u7528|\u4f7f\u7528)\u4e86? ?CPU",
))  # fmt: skip
"""No GPU is seen or used: each is compiled for the lines that hold its words only."""
_OF_SEVERAL = Pattern(
    rf"\b[Mm]ulti[- ]GPUs?\b|\b(?:if|when) (?:only|just) (?:one|1|a single) {_CARD}\b|\b{OTHERS} (?:\w+ ){{0,2}}?{_CARD}\b",
    re.IGNORECASE,
)
_NOT_SAID = Pattern(
    r"\bwhether\b[^.?!\n]{0,200}|\b(?:throws?|raises?|errors?) (?:\w+ )?(?:if|when)\b[^.?!\n]{0,100}|\b(?:feasible|possible|enough|ok(?:ay)?|reasonable|realistic|recommended|advisable|practical|worth it) to (?:run|train|use|do|try|work)\b[^.?!\n]{0,30}\bCPUs?\b|(?<!why )\b(?:will|would|does|is|are) (?:it|this|that|they|tensorflow|tf|training)\b(?: mean\w?)?[^.?!\n]{0,40}(?:\bnot\b|n't\b|\bnever\b)[^.?!\n]{0,60}\?|\bis (?:it|this|tensorflow) (?:secretly|silently|maybe|perhaps|really|actually) (?:running|run) on (?:the |my )?CPU\?|\bthe unused\b"
    r"|\b(?:process|step|part|thread|pre-?processing|augmentation|loader|generator)\b[^.?!\n]{0,40}\b(?:computes?|runs?|works?) on (?:the |a )?(?:single )?CPU\b"
    r"|\b0 ?% (?:meanwhile|in the meantime|in between)\b|\bmost of (?:the|that|this|its) time\b[^.?!\n]{0,40}\b(?:does|doing) nothing\b|\b(?:does|is doing) nothing (?:at all )?(?:for )?(?:most of the|(?:nearly|almost) all (?:of )?the|half (?:of )?the) time\b"
    r"|\b(?:when|while|if|for) (?:(?:it|the same|this|the program|the model) (?:is )?runs? on|using|use with) (?:the |my |an? )?CPU\b(?! only)"
    rf"|(?:n't|\bcannot|\bcan not|\bunable to|\bhow (?:to|do I|can I|could I|should I)|\b(?:want(?:ed|s)?|wish|like|prefer|possible|way|option|trying|tried)(?: for)? (?:it )?to) (?:be |only |just )?"
    rf"(?:run|use|train|test|execute|force|switch|disable|limit|restrict|(?:make|let|have|get|tell|set) (?:it|tf|tensorflow|keras|them|(?:the|my) \w+)){_SOME}{{0,40}}?\bCPUs?\b(?:(?: and|,)? (?:not|instead of|rather than)(?: on)? (?:the |my )?GPUs?\b)?"
    rf"|^\W{{0,4}}CPU (?:only )?(?:mode|version|support|inference|only)\W{{0,3}}$|(?:^|[:\u2013-] )(?:use|force|switch to) (?:only )?(?:the )?CPU(?: only)?(?:(?: and|,)? (?:not|instead of|rather than) (?:the |my )?GPU)?\b",
    re.IGNORECASE,
)
"""What is asked, and who wants the processor."""


_WANTS_THE_PROCESSOR = Pattern(
    r"(?i)\b(?:how (?:do|can|could|to|should)|(?:i|we)(?:'d| would|'ll)? (?:want|like|wish|need|prefer)|is there a way|possible|can (?:i|we)|force|make)\b[^.?!\n]{0,60}?\b(?:on|use|using|with|to) (?:the |my |only |just )*cpu\b(?: only)?[^.?!\n]{0,24}?\b(?:(?:and )?not|instead of|rather than|in place of|without)\b[^.?!\n]{0,16}?\bgpus?\b"
)


def says_no_gpu(text: str) -> bool:
    """Whether somebody complains that no GPU is seen or used; not: one of several, or one that is not to be used."""
    if _WANTS_THE_PROCESSOR.search(text):
        return False
    text = _NOT_SAID.sub(" ", text)
    return any(one.search(text) for one in _NO_GPU) and _OF_SEVERAL.search(text) is None


_GLIBC = r"(?:g?libc(?:6|-?2)?|GNU C library)"
C_LIBRARY = Language(
    name="complaints",
    words=("libc", "LIBC", "C library"),
    kinds=(
        Kind(
            "glibc-said",
            rf"(?i:\b(?:needs?|requires?|requiring|wants?|depends on|expects?|built (?:for|against|with)|made (?:for|against|with)|compiled (?:for|against|with)|asks? for|linked (?:to|against)) (?:at least |a |the |newer |version of |>=? ?){{0,3}}{_GLIBC}[ _v>=-]{{0,5}}(?:version )?(?P<needs>2\.\d\d?))"
            rf"|(?i:\b(?:wheel|whl|binary|build|package)(?:'s|\b[^.\n]{{0,20}}\bhas) (?:a |an? )?{_GLIBC}(?: version)?(?: of| is)?[ _v>=-]{{0,5}}(?P<needs3>2\.\d\d?))"
            rf"|(?i:{_GLIBC}[ _v>=-]{{0,5}}(?P<needs2>2\.\d\d?)(?: or (?:newer|later|higher|above)|\+)? (?:is )?(?:required|needed|not found|is missing|or newer|or later))",
        ),
    ),
)  # fmt: skip
C_LIBRARY_HERE = Language(
    name="complaints",
    words=("libc", "LIBC", "C library"),
    kinds=(
        Kind(
            "glibc-here",
            rf"(?i:\b(?:with|has|have|had|is|ships?|comes with|on|only|uses?|got|my|installed|provides?|offers?|mine is|old)(?: only| a| an| with| the| old| older){{0,2}} {_GLIBC}(?: version)?(?: is| of|:)?[ _v-]{{0,3}}(?P<here>2\.\d\d?))"
            rf"|(?i:\b(?:centos|rhel|red ?hat|ubuntu|debian|suse|sles|oracle linux|scientific linux|amazon linux|cluster)[ \w.]{{0,12}}[,:(]? ?(?:with |has |and )?{_GLIBC}[ _v-]{{0,3}}(?P<here3>2\.\d\d?))"
            rf"|(?i:{_GLIBC}(?: version)? (?:is |here is |on (?:centos|rhel|ubuntu|debian)[ \d.]{{0,8}} is |we have is )(?:only |still )?(?P<here2>2\.\d\d?))",
        ),
    ),
)  # fmt: skip
WISH = Language(
    name="complaints",
    words=("GPU", "gpu", "Gpu", "CUDA", "uda ", "raphics", "RTX", "GTX"),
    kinds=(
        Kind(
            "wants-gpu",
            rf"(?i:\b(?:want|wants|wanted|would like|trying|tried|try|need|how (?:do|can|to|on earth|should|would)|possible to|able to|get|make|force|is there (?:a|any) (?:way|version)|help)\b{_SOME}{{0,60}}?"
            rf"\b(?:use|using|run|running|train|training|work|compute|on|with|take|support|enable|get|have|version)\b{_SOME}{{0,30}}?\b(?:{_CARD}|cuda)\b)"
            rf"|(?i:^(?:using|use|enable|enabling|setting up|set up|running on|how to (?:use|enable)) (?:the |my |a )?(?:{_CARD}|cuda)\b)",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who asks for a GPU."""
AFTER = Language(
    name="complaints",
    words=("2.1",),
    kinds=(
        Kind(
            "release-left",
            r"(?i:\b(?:tf|tensorflow)(?:-gpu)? ?v?2\.\d{1,2}(?:\.\d)? ?(?:->|=>|\u2192|to) ?(?:tf|tensorflow)? ?v?2\.1[1-9]\b)",
            once=True,
        ),
        Kind(
            "release-after-2.10",
            r"(?i:(?:\b(?:after|above|beyond|past|newer than|later than|higher than|greater than|more than|over|upgrad\w{1,5} from)\b|>(?!=)) ?"
            r"(?:tf|tensorflow|version|v|release|tf-?gpu| |-){0,6}2\.10(?:\.\d{1,2}|\.x)?(?![\d.]*\d)"
            r"|(?:\b(?:since|starting (?:with|from|at)|from)\b|>=) ?(?:tf|tensorflow|version|v|release|tf-?gpu| |-){0,6}2\.11(?:\.\d|\.x)?(?![\d.]*\d)(?! to\b)"
            r"|\b2\.11(?:\.\d)? ?(?:\+|(?:and|or) (?:above|later|newer|up|higher)|onwards?))",
            once=True,
        ),
    ),
)
"""Which releases are meant, where none is named."""
REQUEST = Language(
    name="complaints",
    words=("eature", "EATURE", "nhancement", "olved", "OLVED", "ot a bug", "o bug"),
    kinds=(
        Kind(
            "no-complaint-said",
            r"(?i:^\W{0,6}(?:\[?(?:feature(?:[ -]request)?|enhancement|solved|resolved)\]|(?:feature[ -]request|enhancement)(?: ?:|\W{0,4}$)"
            r"|(?:this is )?(?:not a|no) bug\b(?! report)(?:,| here\b| but\b|\.|$)))",
            once=True,
        ),
    ),
)
"""Who says so reports no fault, whatever he quotes."""
MISMATCH = Language(
    name="complaints",
    words=("CUDA", "cuda", "Cuda"),
    kinds=(
        Kind(
            "cuda-mismatch-said",
            r"(?i:(?<![a-z])cuda(?: ?[\d.]{1,6})?(?: version|\u7248\u672c| ?\u7684?\u7248\u672c)?[^.\n,;]{0,16}(?:\u4e0d\u5339\u914d|\u4e0d\u517c\u5bb9|\u4e0d\u5bf9\u5e94|\u4e0d\u7b26|\bmis-?match|\bdoes(?:n't| not) (?:match|fit)|\b(?:is )?(?:in|not )compatible))",
            once=True,
        ),
    ),
)
"""Who finds that CUDA's version does not fit."""
SUSPICIONS = Language(
    name="suspicions",
    words=("nsufficient driver",),
    kinds=(Kind("driver-blamed", r"(?i:possibly insufficient driver version)", "op-fails"),),
)
"""What programs say of a cause that they suspect."""
LANGUAGES = (C_LIBRARY, C_LIBRARY_HERE, WISH, AFTER, REQUEST, MISMATCH)
