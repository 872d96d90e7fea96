"""Who wants one GPU, and finds the memory of all taken: TensorFlow takes that of every GPU that it sees."""

from __future__ import annotations

from .language import told

_GPU = r"(?:gpus?|cards?|graphics cards|devices)"
_ALL = (
    rf"(?:(?:all|every|each|both|the other|other|remaining|the rest of)(?: of)? (?:the |my |our |free |available |visible |other |single |two |three |four |\d )*(?:{_GPU}\b|of them\b)"
    r"|\bgpu ?\d, ?\d(?:,? and \d)?|alle[rnm]? (?:grafikkarten|gpus|karten)|todas las (?:gpus?|tarjetas)|tou(?:s|tes) les (?:gpus?|cartes)|\u0432\u0441\u0435\u0445? (?:gpu|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w{0,6}))"
)
_MEMORY = r"(?:memory|mem\b|v?ram\b|(?:grafik)?speicher|memoria|m\u00e9moire|\u043f\u0430\u043c\u044f\u0442\w{0,6})"
_TAKES = r"(?:allocat\w{0,6}|occup\w{0,6}|tak(?:e|es|en|ing)|took|fill\w{0,6}|load(?:ed|s)?|full|grab\w{0,6}|reserv\w{0,6}|us(?:e|es|ed)|belegt|ocupa\w{0,6}|occupe\w{0,6}|\u0437\u0430\u043d\u0438\u043c\w{0,6})"
_OF_ALL = rf"{_MEMORY}[^.\n]{{0,60}}?{_ALL}|{_ALL}[^.\n]{{0,40}}?{_MEMORY}"
LANGUAGES = told(
    (
        (
            "memory-of-all-told",
            ("emory", "mem ", "RAM", "ram ", "nitiali", "peicher", "emoria", "\u00e9moire", "\u043f\u0430\u043c\u044f\u0442", "\u663e\u5b58"),
            (rf"(?i:^(?!(?:File |\W{{0,4}}\w+\())(?:(?=[^\n]{{0,600}}?(?:{_OF_ALL}))(?=[^\n]{{0,600}}?\b{_TAKES}\b)|[^\n]{{0,400}}?\binitiali[sz]\w+ (?:itself )?(?:on|in) {_ALL}))"
            r"|(?:\u6240\u6709|\u5168\u90e8|\u6bcf[\u5757\u5f20\u4e2a]|\u5176[\u4ed6\u5b83])(?:\u7684)?(?:\u663e?\u5361|GPU|gpu)[^\n\u3002]{0,16}(?:\u663e\u5b58|\u5360)|(?:\u663e\u5b58|\u5360)[^\n\u3002]{0,10}(?:\u6240\u6709|\u5168\u90e8|\u5176[\u4ed6\u5b83])(?:\u7684)?(?:\u663e?\u5361|GPU|gpu)"),
            True,
        ),
        (
            "wants-one-gpu-said",
            ("nly", "ust ", "ingle", "one", "pecific", "void", "revent", "estrict", "imit", "eep ", "top ", "nother", "thers", "olleague", "ther user", "anna", "CUDA_VISIBLE_DEVICE", "irst", "nur ", "eine", "solo", "seul", "\u53ea", "\u6307\u5b9a", "\u9650\u5236", "\u907f\u514d"),
            (r"(?i:\b(?:want|wants|wanted|like|need|how (?:to|can|do)|trying|tried|try|set|get|let|make|force|put|specif\w+|choose|chose|select\w{0,6}|assign\w{0,6}|restrict\w{0,6}|idea)\b[^.\n]{0,80}?\b(?:only|just|exactly|(?:a |one )?single|one gpu|one of|one card|specific|particular|first|/?(?:device:)?gpu:\d)\b"
            r"|\b(?:avoid|prevent|restrict|limit|stop|keep)\b[^.\n]{0,60}?\b(?:tensorflow|tf|keras|it|this|that|memory|allocat\w+)\b|\b(?:I|we|my (?:script|program|code|model)) (?:only|just) (?:put|use|uses|want|wants|need|needs|run|runs)\b|\b(?:when|if|while|although|though|even) (?:I|we)(?: am| are)? (?:only |just )?(?:train|run|use|work)\w{0,6}(?: on| with)? (?:only |just )?one\b"
            r"|\b(?:another|other|others') (?:jobs?|users?|experiments?|programs?|process\w{0,6}|people)\b|\bcolleagues?\b|\bcan(?:'t|not) use (?:them|the others)\b|CUDA_VISIBLE_DEVICES?\b|\bnur (?:eine|auf|die)\b|\b(?:solo|s\u00f3lo) (?:una|la)\b|\bqu'une (?:seule )?(?:carte|gpu)\b)"
            r"|\u53ea(?:\u60f3|\u9700|\u8ba9|\u8981)|(?:\u6307\u5b9a|\u9650\u5236|\u907f\u514d|\u53ea\u7528\u4e00[\u5757\u5f20]\u5361\u8bad\u7ec3)"),
            True,
        ),
    )
)  # fmt: skip
