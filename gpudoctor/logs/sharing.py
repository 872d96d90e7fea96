"""What people tell of others on a GPU: jobs that are stopped and not ended, workers that are kept off it, or nobody."""

from __future__ import annotations

from .language import Kind, Language

_ENDED = (
    r"(?:clos(?:e|ed|ing)|shut(?:ting)? ?down|stop(?:ped|ping)?|paus(?:e|ed|ing)|kill(?:ed|ing)?|end(?:ed|ing)?|quit|exit(?:ed)?|unload(?:ed)?"
    r"|hago ['\"\u00ab]?shutdown['\"\u00bb]?|cierro|apago|schlie(?:\u00df|ss)e|beende|ferme)"
)
_HOLDER = (
    r"(?:notebooks?|kernels?|programs?|process(?:es)?|containers?|games?|ollama|comfyui|webui|jupyter|chrome|browsers?|blender|session|python\.exe"
    r"|other (?:one|script|job|training)|first (?:one|script|job|training)|el [ab]|el otro|die andere|den anderen|l'autre)"
)
_WORKS = (
    r"(?:works?|worked|runs?|trains?|starts?|is fine|it's fine|succeeds|funciona|l\u00e4uft|geht es|fonctionne|marche)"
)
LANGUAGES = (
    Language(
        name="circumstances",
        foreign=True,
        words=("topped", "uspended", "trl", "TRL"),
        kinds=(
            Kind(
                "holder-is-stopped",
                r"^\[\d{1,2}\][+-]? {1,4}(?i:stopped|suspended)\b[^\n]{0,60}\bpython"
                r"|(?i:^(?![^\n]{0,300}(?:\?|\b(?:never|nothing happened|undo|vim|nano|editor|killed|fg)\b))[^\n]{0,200}?(?<!not )(?<!n't )\b(?:press(?:ed|ing)?|with|by|used?|using|hit|via|did|after) (?:a )?[`'\"]?ctrl ?[- +] ?z\b|\bctrl ?[- +] ?z\b['\"`]? (?:stopp|suspend|paus|interrupt)ed)"
                r"|(?i:\bctrl ?[- +] ?z\b)(?= ?(?:로|で|を|停|暂停))",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=(
            "clos", "hut", "top", "paus", "kill", "end", "quit", "exit", "unload", "cierro", "apago", "schlie", "beende", "ferme",
        ),
        kinds=(
            Kind(
                "works-when-ended",
                rf"(?i:\b(?:if|when|once|after|as soon as|only|si|cuando|wenn|sobald|quand)\b[^.\n]{{0,40}}?\b{_ENDED}\b[^.\n]{{0,20}}?\b{_HOLDER}\b(?![^.\n]{{0,80}}\b(?:not|never|no|same|still|n't)\b)[^.\n]{{0,90}}?\b{_WORKS}\b"
                rf"|\bif i go to task manager and end\b[^\n]{{0,200}}?\b{_WORKS}\b)",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("kill", "fg"),
        kinds=(Kind("holder-was-ended", r"(?i:(?<!!)(?<!\d' to )\bkill(?:ed|ing)?\b[^.\n]{0,30}(?:%\d|\b(?:job|that one|it|them)\b))|^[$#%] ?fg\b", once=True),),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("else", "alone", "other", "only ", "ersonne", "iemand", "adie ", "inguém", "别人", "其他"),
        kinds=(
            Kind(
                "alone-there",
                r"(?i:\b(?:nobody|no[- ]one|nothing|no process) else (?:is |was )?(?:(?:on|using|uses|used|runs?|running|logged)\b|has|takes|holds)|\b(?:used by|there is|shared with) (?:nobody|no[- ]one|nothing) else\b|\bI(?:'m| am) (?:alone|the only (?:one|user))\b"
                r"|\bno other (?:process(?:es)?|users?|jobs?|programs?)\b(?! (?:than|except))|\bpersonne d'autre\b|\bniemand (?:sonst|anderes)\b|\bnadie m[aá]s\b|\bningu[eé]m mais\b)|没有(?:别人|其他(?:人|进程|程序))",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("CUDA_VISIBLE_DEVICES",),
        kinds=(
            Kind(
                "kept-off-on-purpose",
                r"\bCUDA_VISIBLE_DEVICES=(?:''|\"\"|-1)? [^\n]{0,120}\b(?:python[\d.]{0,4}|run)\b[^\n]{0,120}(?:(?:--|\b)(?:job|task|role|job_name|type)[= ]['\"]?(?:ps|evaluator|chief)\b|\bps\b)"
                r"|\bCUDA_VISIBLE_DEVICES(?:['\"]?\])? ?= ?(?:''|\"\"|['\"]?-1['\"]?|(?=[ `]))[ `](?![^\n]{0,120}(?:\bnot\b|n't set|\bnever\b)[^\n]{0,20}on purpose)[^\n]{0,120}\b(?i:on purpose|intentionally|deliberately|so that (?:it|they) (?:does(?:n't| not)|do(?:n't| not)|won't|leaves?)|to keep (?:it|them) off)\b",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("model", "MobileNet", "mobilenet", "network", " net ", "h5", "CNN", "SavedModel", "checkpoint", "MLP"),
        kinds=(
            Kind(
                "small-model-said",
                r"(?i:\b\d{1,3}(?:[.,]\d{1,2})? ?[MK]i?B\b(?: \w+){0,2}? ?\(?(?:models?|networks?|net|h5|cnn|savedmodel|checkpoint|weights|mobilenet\w*|resnet\w*|yolo\w*|bert\w*|u-?net|lstm|efficientnet\w*|vgg\w*)\b"
                r"|\.(?:h5|pb|keras|hdf5)\b[^.\n]{0,12}\(?\d{1,3} ?MB\b"
                r"|\b(?:models?|networks?|net|h5|cnn|savedmodel|checkpoint|weights)\b[^.\n]{0,20}?\b(?:is|are|has|have|of|with|\()(?: only| just| about| a file of| a size of)? ?\d{1,3}(?:[.,]\d{1,2})? ?[MK]i?B\b"
                r"|\b(?:tiny|toy|small|little|trivial|two-layer|2-layer) (?:\w+ ){0,2}(?:models?|networks?|net|cnn|mlp)\b|\bmodel\b[^.\n]{0,12}\bis (?:really |very |so |quite )?(?:tiny|small)\b)",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("GB", "MiB", "GiB", "all ", "MB"),
        kinds=(
            Kind(
                "memory-held-said",
                r"(?i:\b(?P<used>\d{4,6}) ?MiB ?/ ?(?P<total>\d{4,6}) ?MiB\b|(?<![\d.])(?P<used2>\d{1,2}(?:\.\d{1,2})?) ?(?:g(?:i?b)?)?,? ?(?:of|/|out of) ?(?:the |my |its )?(?P<total2>\d{1,2}(?:\.\d{1,2})?) ?gi?b\b(?!\) on startup| (?:(?:is|are) )?free)"
                r"|(?<!total )(?<!free )(?<!gpu model and )\b(?:memory(?! trying to alloc|:[* ]{1,4}\d[\d.]{0,6} ?G(?:i?B)?\W*(?:\s|$))|vram(?!: {0,4}\d)|gpu-z|task manager|afterburner|nvidia-smi|process|python|keras|tf|tensorflow|it|takes?|holds?|uses?|used|occup\w+|shows?)\b[^.\n\d]{0,40}(?<![\d.])(?P<used3>\d{1,2}(?:\.\d{1,2})?) ?gi?b\b(?!/s)(?: (?:of|out of) (?:the |my |its )?(?P<total3>\d{1,2}(?:\.\d{1,2})?) ?gi?b\b)?)",
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("idle", "Idle", "waiting", "wait", "nothing", "only", "start", "open", "load", "smaller", "Smaller", "whatever", "same", "regardless", "matter"),
        kinds=(
            Kind(
                "holds-without-work",
                r"(?i:\b(?:is|sits?|stays?|being|while|when|with \w{1,12}|process|server|kernel|notebook) (?:\w+ )?(?:idle|idling)\b|\bidle (?:\w+ )?(?:process|server|python|kernel|notebook|worker|session)\b"
                r"|\b(?:just|only|still|merely) (?:waits?|waiting|sits?|sitting|open(?:ed)?|imported|loaded|started)\b|(?<!gpu )(?<!card )(?<!gpus )\b(?:doing|does|do) nothing\b|\bwith (?:only|just|nothing but) \w+ (?:open|running|started|loaded)\b"
                r"|\b(?:directly|right|immediately|already) (?:after|at|on) (?:the )?(?:import|start\w*|launch|loading|first)\b|\bfrom (?:the|its) (?:very )?(?:start|beginning)\b|(?<!loaded )\bat (?:its |the )?start(?:up)?\b|\bno (?:predict\w*|training|requests?|inference|work) (?:yet|so far|at all)\b|\bbefore (?:any|the first) (?:request|inference|prediction|batch|step)s?\b"
                r"|\b(?:smaller|lower|another|different|reducing|decreasing|changing)\b[^.\n]{0,50}\b(?:does|do|did|has|have|makes?|made)(?:n't| not|  ?no)\b[^.\n]{0,20}(?:reduce|change|help|less|lower|difference|effect|influence)"
                r"|\b(?:whatever|regardless of|no matter (?:what|which|how)|independent of|same for (?:any|every|all)|same with (?:any|every))\b[^.\n]{0,30}\b(?:model|batch|size|network|net)\b)",
                once=True,
            ),
        ),
    ),
    Language(
        name="circumstances",
        foreign=True,
        words=("second", "other", "another", "both", "two ", "nly one of", "lender", "game", "Game", "next", "2nd", "browser", "nothing left", "else", "Whichever", "whichever"),
        kinds=(
            Kind(
                "other-finds-none",
                r"(?i:\bonly one of (?:my|the|our|these|them)\b|\b(?:second|other(?! (?:hand|order|way|errors?)\b)|another(?! (?:\w+ )?version\b)|2nd|next(?! thing\b)|neither|both|whichever)\b(?!(?<=whichever) (?:of|number|way|version)\b)(?! (?:\w+ )?(?:gpus?|cards?|devices?|numbers?)\b(?! (?:job|process|program|script|task)))[^.\n]{0,100}?\b(?:fails?|failed|crash\w*|dies|died|out of memory|oom|no (?:free )?memory|(?:cannot|can't|can not)(?! (?:say|tell|know|judge|figure|find out|be sure)\b)|won't|doesn't|does not|not (?:start|fit|run|load)|nothing left|no room)\b"
                r"|\b(?:cannot|can't|can not|unable to|impossible to|won't)\b[^.\n]{0,40}\b(?:second|other(?! hand\b)|another|2nd|both|two|next)\b"
                r"|\b(?:game|browser|desktop|blender|photoshop|premiere|obs|unity|unreal|video player|monitor)\b[^.\n]{0,80}?\b(?:crash\w*|stutters?|jerky|freez\w+|fails?|black|out of (?:gpu )?memory|does not|doesn't|can't|cannot|no memory|slow)\b"
                r"|\bnothing (?:is )?left for\b|\bno (?:memory|room) (?:is )?(?:left )?for (?:the |my |an)?other)",
                once=True,
            ),
        ),
    ),
)  # fmt: skip
