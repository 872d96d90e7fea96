"""Who wants one GPU, and finds the memory of all taken: TensorFlow takes that of every GPU that it sees."""

from __future__ import annotations

from .language import told

_GPU = r"(?:gpus?|cards?|graphics cards|devices)(?:'s?)?"
_COUNT = r"(?:two|three|four|eight|\d)"
_ALL = (
    rf"(?:(?:all|every|each|both|the other|the others?|other|remaining|the rest of|others'?)(?: of)? (?:the |my |our |its |free |available |visible |other |others |remaining |single |{_COUNT} )*(?:{_GPU}(?!\w)|of them\b|one's\b|ones\b)"
    rf"|\b(?:all|on all|the other|the remaining) {_COUNT}\b|\bboth (?:get|are|is|of)\b|\bof both\b|\bof the (?:others|rest)\b|\bgpu ?#?\d(?:, (?:gpu ?)?\d)*,? (?:and|or) (?:gpu ?)?#?\d\b|\bgpus? ?\d, ?(?:gpu ?)?\d|\bgpu ?\d ?(?:-|\.\.\.?|to) ?(?:gpu ?)?\d|\bcards? \d(?:, \d)+(?:,? and \d)?"
    r"|\b(?:alle[rnm]?|beide[rn]?|andere[rn]?|\u00fcbrigen) (?:vier |zwei |acht |\d )?(?:grafikkarten|gpus|karten)|todas las (?:gpus?|tarjetas)|las (?:dem\u00e1s|otras|dos|tres|cuatro) (?:gpus?|tarjetas)|tou(?:s|tes) les (?:gpus?|cartes)|\u0432\u0441\u0435\u0445? (?:gpu|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w{0,6}))"
)
_MEMORY = r"(?:memory|mem\b|v?ram\b|(?:grafik)?speicher|memoria|m\u00e9moire|\d{1,2} ?gb\b|my pid\b|process\b|\u043f\u0430\u043c\u044f\u0442\w{0,6})"
_TAKES = r"(?:allocat\w{0,6}|occup\w{0,6}|tak(?:e|es|en|ing)|took|fill\w{0,6}|load(?:ed|s)?|full|grab\w{0,6}|reserv\w{0,6}|us(?:e|es|ed)|in use|shows? up|lists?|listed|appears?|consum\w{1,4}|block\w{0,3}|belegt|voll|usa|ocupa\w{0,6}|occupe\w{0,6}|see my pid|\u0437\u0430\u043d\u0438\u043c\w{0,6})"
_SEIZES = r"(?:allocat(?:es|ed|ing)|occup(?:ies|y|ied|ying)|grab(?:s|bed|bing)?|fill(?:s|ed|ing)?(?: up)?|hog(?:s|ging)?|block(?:s|ed|ing)?|reserv(?:es|ed|ing)|takes?(?: over| up)?|get filled(?: up)?|belegt|ocupa|occupe)"
_OF_ALL = rf"{_MEMORY}[^.\n]{{0,60}}?{_ALL}|{_ALL}[^.\n]{{0,60}}?{_MEMORY}|\bmemory of (?:the )?(?:gpu ?#?\d|second|other)\b[^.\n]{{0,40}}\b(?:too|as well|also)\b"
LANGUAGES = told(
    (
        (
            "memory-of-all-told",
            (
                "emory", "mem ", "RAM", "ram ", "nitiali", "peicher", "emoria", "\u00e9moire", "\u043f\u0430\u043c\u044f\u0442", "\u663e\u5b58", "GPU", "gpu", "card", "GB",
            ),
            (rf"(?i:^(?!(?:File |\W{{0,4}}\w+\())(?:(?=[^\n]{{0,600}}?(?:{_OF_ALL}))(?=[^\n]{{0,600}}?\b{_TAKES}\b)|[^\n]{{0,400}}?\binitiali[sz]\w+ (?:itself )?(?:on|in) {_ALL}|[^\n]{{0,400}}?\b{_SEIZES} (?:\w+ ){{0,4}}?{_ALL}|[^\n]{{0,400}}?{_ALL} (?:\w+ )?(?:are |is |get |gets )?(?:filled|occupied|allocated|blocked|taken|full)\b))"
            r"|(?:\u6240\u6709|\u5168\u90e8|\u6bcf[\u5757\u5f20\u4e2a]|\u5176[\u4ed6\u5b83])(?:\u7684)?(?:\u663e?\u5361|GPU|gpu)[^\n\u3002]{0,16}(?:\u663e\u5b58|\u5360)|(?:\u663e\u5b58|\u5360)[^\n\u3002]{0,10}(?:\u6240\u6709|\u5168\u90e8|\u5176[\u4ed6\u5b83])(?:\u7684)?(?:\u663e?\u5361|GPU|gpu)"),
            True,
        ),
        (
            "wants-one-gpu-said",
            ("nly", "ust ", "ingle", "one", "pecific", "void", "revent", "estrict", "imit", "eep ", "top ", "nother", "thers", "olleague", "ther user", "anna", "CUDA_VISIBLE_DEVICE", "irst", "nur ", "eine", "solo", "seul", "\u53ea", "\u6307\u5b9a", "\u9650\u5236", "\u907f\u514d", "\u5355\u5361", "gpu", "GPU", "obody", "ifferent", "evice", "uses "),
            (r"(?i:\b(?:want|wants|wanted|like|need|how (?:to|can|do)|trying|tried|try|set|get|let|make|force|put|specif\w+|choose|chose|select\w{0,6}|assign\w{0,6}|restrict\w{0,6}|idea|pass(?:ed)?|asked for|should)\b(?:[^.\n]|\.(?=\w)){0,80}?\b(?:only|just|exactly|(?:a |one )?single|one gpu|one of|one (?:training|job|process|run|model) per|which gpu|one card|specific|particular|first|to one|different (?:experiment|job|model)s?|(?:gpu|device)(?:[_ ]id)?[ =:]{0,3}\d|/?(?:device:)?gpu:\d)(?!\w)"
            r"|\b(?:avoid|prevent|restrict|limit|stop|keep)\b[^.\n]{0,60}?\b(?:tensorflow|tf|keras|it|this|that|memory|allocat\w+)\b|\b(?:I|we|my (?:script|program|code|model)) (?:only|just) (?:put|use|uses|want|wants|need|needs|run|runs)\b|\b(?:when|if|while|although|though|even) (?:I|we)(?: am| are)? (?:only |just )?(?:train|run|use|work)\w{0,6}(?: on| with)? (?:only |just )?one\b"
            r"|\b(?:though|although|but|while|when|whereas|and|with) (?:\w+ ){0,4}?(?:only )?(?:one|gpu ?\d|the first|a single one)(?: of them)? (?:only )?(?:is |was )?(?:used|computes?|works?|needed|busy|active|chosen|selected)\b|\b(?:comput|work|train|run|place|calculat|happen|rechne|entrena)\w*(?: \w+){0,3}? (?:on|auf|with|en) (?:1 gpu\b|one\b|una\b)|\b(?:comput|work|train|run|place|calculat|happen|rechne)\w*(?: \w+){0,3}? (?:on|auf) (?:the )?(?:gpu ?:?#?\d|/?gpu:\d|first|one(?: only)?\b|a single)|\btf\.device\(|\bwith gpu id \d|\bgpu[_ ]?id ?= ?\d|\b(?:only )?one gpu does\b|\bonly (?:the first|one|gpu ?\d) (?:\w+ )?(?:has|works?|does|is|computes)\b[^\n]{0,120}\b(?:want|stop|avoid|prevent|other|how)\b"
            r"|\b(?:another|other|others'|different) (?:jobs?|users?|experiments?|programs?|process\w{0,6}|people)\b|\bcolleagues?\b|\bnobody else\b|\bcan(?:'t|not) use (?:them|the others)\b|CUDA_VISIBLE_DEVICES?\b|\bnur (?:eine|auf|die|gpu)\b|\bselected one only\b|\bspecifying (?:the )?device\b|\b(?:solo|s\u00f3lo) (?:quiero |uso )?(?:una|la)\b|\bqu'une (?:seule )?(?:carte|gpu)\b)"
            r"|\u53ea(?:\u60f3|\u9700|\u8ba9|\u8981|\u7528)|\u5355\u5361|(?:\u6307\u5b9a|\u9650\u5236|\u907f\u514d|\u53ea\u7528\u4e00[\u5757\u5f20]\u5361\u8bad\u7ec3)"),
            True,
        ),
        (
            "wants-several-said",
            ("ulti", "irror", "peed", "aster", "arallel", "istribut", "both", "all ", "orovod", "\u591a\u5361", "\u591aGPU"),
            (r"(?i:\bmulti[-_ ]?gpu[-_ ]?(?:model|train\w*)\b|\bmirrored\w*|\bspeed[- ]?up\b|\bfaster\b|\bdata[- ]?parallel\w*|\bhorovod\b|\bdistribut\w+\b|\b(?:use|using|utili[sz]e|train (?:on|with)|run on|work on|make use of) (?:both|all|two|multiple|all of)\b(?! (?:of )?(?:the )?memory))|\u591a\u5361|\u591a ?GPU"),
            True,
        ),
    )
)  # fmt: skip
