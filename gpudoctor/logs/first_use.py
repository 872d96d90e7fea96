"""Whose first use of a GPU takes minutes, or the start of a program, in whatever words; and what he calls a GPU."""

from __future__ import annotations

from ..patterns import Pattern

GPU = r"(?:v?gpus?|cuda|(?:graphics?|video|nvidia) ?cards?|the card|my card|geforce|quadro|[rg]tx(?: ?-?\d{3,4})?(?: ?ti| ?super)?(?: cards?)?|titan(?: \w{1,3})?|(?:tesla )?\b[vptka]\d{2,3}|\btesla \w{1,4}\b|\bt4\b|显卡|grafikkarte|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w{0,2}|tarjeta(?: gráfica)?|placa(?: de vídeo)?|carte graphique)"
"""What people call a GPU."""
MINUTES = Pattern(
    r"(?i)(?<![A-Za-z0-9_.:])(?P<n>\d{1,3})(?:[.,]\d)?(?: ?(?:-|\u2013|to|or|~) ?(?P<m>\d{1,3}))?\+? ?(?P<u>min(?:ute)?s?\b|minuten|minutos|\u043c\u0438\u043d\u0443\u0442\w?|分钟|分(?=[かも間])|hours?\b|h\b|secs?\b|seconds?\b|\u0441\u0435\u043a\u0443\u043d\u0434\w?|s\b|mn\b|분)"
    r"|(?P<vague>\b\u043c\u0438\u043d\u0443\u0442 \d|\b(?:several|some|a few|few|many|couple of|for|takes?|taking|five|ten|two|three|four|six|eight|fifteen|twenty|thirty|einige|mehrere|quelques|plusieurs|varios|vários|\u043d\u0435\u0441\u043a\u043e\u043b\u044c\u043a\u043e) (?:minutes?|mins?|minuten|minutos|\u043c\u0438\u043d\u0443\u0442\w?)\b|\bminutes\b|\bhalf an hour\b|好几分钟|几分钟|五六分钟|[一二两三四五六七八九十几半]{1,3}多?分钟)"
)
LONG = Pattern(
    r"(?i)\b(?:forever|ages|(?:very|really|extremely|so|too|super|incredibly) (?:slow|long)|long time|a long|extremely slow\w*)\b"
)
_STARTS = r"\bstartzeit|\bhochfahren|启动|开始训练|加载|初始化|\u043f\u0440\u0438 (?:\u043f\u0435\u0440\u0432\u043e\u043c )?\u0437\u0430\u043f\u0443\u0441\u043a\u0435|\b\u0437\u0430\u043f\u0443\u0441\u043a|\b\u0441\u0442\u0430\u0440\u0442|\barran(?:que|car)|\bdémarr\w+|\binici(?:o|ar|aliza)\w*|\bbis (?:das|es|zum)\b"
_X = r"(?:runs?|inferen\w+|predict\w*|calls?|steps?|iterations?|frames?|images?|pictures?|photos?|samples?|sentences?|quer(?:y|ies)|batch(?:es)?|epochs?|op(?:eration)?s?|execution|time|launch|start\w*|requests?|session\.?run|sess\.run|forward(?: pass)?|use|detection|evaluat\w+|training step|conv\w*)"
FIRST = Pattern(
    rf"(?i)\b(?:first|1st|initial) (?:[\w`.()-]+ ){{0,2}}?`?(?:model\.)?{_X}|\bfirst (?:with|on)\b|\bfirst [`'\"]?[a-z_][\w.]{{1,30}}\(|\bfirst ?[:=]|\bat first\b|\bfor the first\b|\berste[rns]? (?:\w+ )?(?:inferenz|lauf|aufruf|start|schritt|durchlauf|vorhersage)|第一次|首次|最初の|初回|첫|처음|\u043f\u0435\u0440\u0432\u044b\u0439 (?:\u0437\u0430\u043f\u0443\u0441\u043a|\u0440\u0430\u0437|\u0432\u044b\u0437\u043e\u0432|\u0448\u0430\u0433|\u043f\u0440\u043e\u0433\u043e\u043d)|\u043f\u0435\u0440\u0432\u0430\u044f|prim(?:er|era|eira|eiro) (?:paso|vez|inferenc\w+|inferência|predicci\w+|ejecuci\w+|execução|passo|chamada)|premi(?:er|ère) (?:\w+ )?(?:prédiction|inférence|appel|fois|exécution|étape|lancement)"
)
_INIT = Pattern(
    rf"(?i)\b[Cc]reate_?[Dd]evices?\b|\b(?:creat|open|initiali[sz]|load|allocat|acquir|set(?:ting)? up|add)\w{{0,6}}\b[^.\n]{{0,40}}?\b(?:sessions?|{GPU}|devices?|context|libcud\w+)|\bsessions?\b[^.\n]{{0,24}}?\b(?:creation|creat\w+|open\w*|init\w*|return|start\w*|takes?)|\b(?:devices?|sessions?|context) (?:is|are|gets?|was|being) (?:created|opened|initiali[sz]ed|ready)|\btf\.(?:compat\.v1\.)?(?:Interactive)?Session\b|\b{GPU} (?:device )?initiali[sz]\w+|\blist_(?:physical|local|logical)_devices\b|\bAdding visible gpu|\bwarm[- ]?(?:up|ing)|\binitiali[sz]ation\b|\bSuccessfully opened dynamic library|\bto (?:initiali[sz]e|open|create|add) (?:the |a |my )?(?:{GPU}|device|session)"
)
_BEFORE = Pattern(
    rf"(?i){_STARTS}|\bstart(?:ing)?[- ]?ups?\b|\b(?:slow|long) (?:initial )?(?:start|load)\w*|\b(?:before|until|till) (?:the |it |my |any |actual )?(?:\w+ )?(?:first |training|it|actually |program|window|inference|model|epoch|network|step|script)[^.\n]{{0,20}}?\b(?:starts?|begins?|opens?|runs?|is ready|step|moves?|proceeds?|going)|\b(?:before|until) (?:the )?(?:first )?(?:training|step|epoch|inference|doing|it does|anything|something|actually)\b(?! (?:\w+ )?(?:was|is|has|were|are|finish\w*|end\w*|done|complet\w*)\b)|\bto (?:start|load|begin|launch|boot|initiali[sz]e|get going|get started)\b|\b(?:hangs?|stuck|freezes?|frozen|pauses?|waits?|stays?|stops?|halts?)\b[^.\n]{{0,60}}?\b(?:then|and then|before|after (?:that|which)|proceeds|goes on|continues)\b|\b(?:does(?:n't| not)|won't) start for\b|\bdoes not begin for\b|\bevery time I start\b"
)
_THEN = Pattern(
    r"(?i)\b(?:after(?:wards?| that| this| which| the first(?: \w+)?)?|then|once|next|following|subsequent(?:ly)?|second|later|rest|others?|every ?thing (?:else|after\w*)|since then|from then|each of the images after|danach|später|nachher|ensuite|suivant\w*|après|después|luego|depois|\u043f\u043e\u0442\u043e\u043c|\u0437\u0430\u0442\u0435\u043c|\u0434\u0430\u043b\u0435\u0435)\b[^\n]{0,70}?(?:\b(?:fast|quick(?:ly)?|normal(?:ly)?|fine|ok|okay|instant(?:ly|aneous)?|full speed|works?|good|no (?:problems?|delay)|smooth(?:ly)?|reasonable|rapid\w*|rápid\w*|vite|immédiat\w*|schnell|normal|\u0431\u044b\u0441\u0442\u0440\u043e|\u043d\u043e\u0440\u043c\u0430\u043b\u044c\u043d\u043e)\b|\bless than (?:a|1|one) sec\w*|(?<!\d)\d{1,4} ?ms\b|\b0?\.\d{1,3} ?s\w*|(?:다음|이후|그 뒤)[^\n]{0,16}(?:빠|정상)|(?:その後|以降|2回目)[^\n]{0,12}(?:速|正常|一瞬|すぐ)|\d(?:\.\d)? ?fps|\bgo(?:es)? on\b|\bruns?\b|\bproceeds\b)"
    r"|\b(?:second|third|next)\b ?[:=]? ?\d?\.\d|(?:之后|然后|后面|以后)[^\n]{0,12}(?:正常|很快|快|没问题|\d ?(?:ms|毫秒))|\bdanach alles|\bluego (?:va|todo)|\u0434\u0430\u043b\u044c\u0448\u0435 \u0432\u0441|\b(?:works|runs) (?:fast|normally|quickly|well) (?:after|then)|\bjede[sr]? (?:\w+ )?in \d+ ms|\bnext (?:ones?|inferences?|steps?)\b[^\n]{0,20}(?:fast|\d)"
)
NOT_IT = Pattern(
    r"(?i)\b(?:download\w*|install\w*|pip3?|docker build|bazel|compil(?:e|ing) (?:tensorflow|from source|the source)|build(?:ing)? (?:the )?(?:image|dataset|vocab\w*)|shuffle buffer|cach(?:e|es|ing) (?:the )?(?:data\w*|images)|fill\w* (?:up )?(?:the |a |its )?(?:cache|buffer)|upload\w*|preprocess\w*|tokeniz\w*|weights (?:take|are)|(?:load|read)(?:ing)? (?:in )?(?:the |my |all |of )*(?:\d+k? )?(?:data\w*|images|pictures|files|samples)|nvidia-smi takes|progress bar|forever and|host them)\b"
)
_NEW_CARD = Pattern(
    r"(?i)\b(?:rtx ?)?[345]0[5-9]0\b|\brtx ?a\d{4}|\b(?:a100|h100|l40|a10|a40|b200)\b|\b(?:turing|ampere|hopper|blackwell|ada lovelace)\b|\bnew (?:gpu|card|graphics)"
)
_LEAST_S, _MINUTES_S, _MOST_S = 45, 110, 3600
"""Seconds from which on a first use takes long where later ones are quick, and where nobody tells of later ones: some seconds are as it should be.
An hour is nothing that compiles."""
_OF_DATA = Pattern(r"(?i)\b(?:epochs?|batch(?:es)?|import\w*(?! and\b)|data\w*)\b")
"""What takes its time at first for other reasons, too."""


def told(sentences: list[tuple[int, str]], asked: Pattern) -> tuple[int, str, bool] | None:
    """The sentence that tells of a first use or a start that takes minutes, and whether it is quick afterwards by what is said. What is
    `asked` tells nothing."""
    whole = " ".join(one for _, one in sentences)
    then = bool(_THEN.search(whole))
    start: tuple[int, str] | None = None
    for number, one in sentences:
        if NOT_IT.search(one) or asked.search(one):
            continue
        begins = FIRST.search(one) or _INIT.search(one) or _BEFORE.search(one)
        if begins:
            start = start or (number, one)
        seconds = _seconds(one)
        if seconds > _MOST_S:
            continue
        first = FIRST.search(one) is not None and not _OF_DATA.search(one)
        least = _LEAST_S if then else _MINUTES_S
        if begins and seconds >= least and (then or not _OF_DATA.search(one)):
            return number, one, first and then
        if start is not None and seconds >= _LEAST_S and then and start[0] != number:
            return *start, False
    if start is not None and LONG.search(start[1]) and (then or (_INIT.search(start[1]) and _NEW_CARD.search(whole))):
        return *start, False
    return None


def _seconds(sentence: str) -> float:
    """How long something takes, by a sentence; 0: it does not tell."""
    longest = 0.0
    for one in MINUTES.finditer(sentence):
        unit = (one["u"] or "m").lower()
        scale = 3600.0 if unit[0] == "h" else 1.0 if unit[0] in "s\u0441" else 60.0
        longest = max(longest, 120.0 if one["vague"] else float(one["m"] or one["n"]) * scale)
    return longest
