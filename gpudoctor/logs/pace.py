"""Who is slower than whom, as people put it: one card of several, several than one, a loop of one's own than fit, a faster card than
an older one; heat, a first use, input that does not come fast enough. It is weak, and of each kind the first line is kept."""

from __future__ import annotations

from .language import Kind, Language

_CARDS = r"(?:gpus?|(?:graphics |video )?cards)"
_SLOW = r"(?:slow(?:er|ly)?|behind|less fast)"
_MUCH = r"(?:\w+ ){0,3}?"
_OTHERS = r"(?:others|rest|siblings|other (?:\w+ )?(?:gpus|cards|ones))"
CARDS = Language(
    name="circumstances",
    foreign=True,
    words=("slow", "Slow", "behind", "less fast"),
    kinds=(
        Kind(
            "one-card-slower",
            rf"(?i:\b(?:one|two|some|[1-4]) of (?:the|my|our|these|those|them|all)\b(?: \w+){{0,2}}? {_CARDS}\b[^.\n]{{0,40}}?\b{_SLOW}\b"
            rf"|\b(?:gpu|card) ?#?\d?\b[^.\n]{{0,30}}?\b(?:is|runs|performs|trains|computes)\b {_MUCH}{_SLOW} than (?:the |all |its |my )?(?:the )?{_OTHERS}\b)",
            once=True,
        ),
    ),
)
"""A card that is slower than its siblings."""
HEAT = Language(
    name="circumstances",
    foreign=True,
    words=("hot", "heat", "Heat", "emperature", "°C"),
    kinds=(
        Kind(
            "heat-slows",
            r"(?i:^(?![^\n]{0,400}\b(?:not|n't|never|no) (?:\w+ )?(?:hot|overheat\w*|too hot)\b)[^\n]{0,400}?"
            r"\b(?:(?:too |very |gets? |so )hot(?:ter)?|hotter|(?:over)?heat(?:s|ed|ing)(?: up)?|temperatures?\b[^.\n]{0,40}\b(?:high(?:er)?|ris(?:es|ing)|increas(?:es|ing)|climbs|gets to|goes up|reach(?:es|ed)|[89]\d|1[01]\d))\b"
            r"[^\n]{0,200}?\b(?:slower and slower|slows? down|slowed down|throttl\w+|(?:gets?|becomes?|got|became) (?:\w+ )?slow(?:er)?|slower (?:after|over|with) (?:a |some )?(?:\w+ )?(?:time|while|minutes|hours|epochs))\b)",
            once=True,
        ),
    ),
)
"""A card that gets hot, and slower with it."""
_WATT = r"(?:\.\d{1,2})? ?w(?:atts?)?\b"
SLOWER = Language(
    name="circumstances",
    foreign=True,
    words=("onger", "lower", "half", "alf ", "alved", "twice", "times", "ewer", "% of", "ropped", "fell"),
    kinds=(
        Kind(
            "got-slower-said",
            r"(?i:(?<!will be )\b(?:\d{1,3} ?%|twice|\d(?:\.\d)? ?(?:x|times)|much|far|a lot|got|gets?|became|is|are|now) (?:as )?(?:longer|slower)\b(?! than (?:(?:on|with|using|by|when|in|the|my|a) ){0,3}(?:plain |pure )?cpu)|\b(?:takes?|took|needs?) (?!twice as (?:long|much(?: time)?) as (?:the |on |with |my )*cpu\b)(?:twice|\d(?:\.\d)? ?(?:x|times)) (?:as|the)\b"
            r"|\b(?:only |at |about )?(?:half|a third|\d{2} ?%) (?:of )?(?:the|as|its) (?:\w+ )?(?:speed|fast|throughput|fps|performance|published|rate)\b|\bhalf (?:of )?the fps\b"
            r"|\b(?:speed|throughput|fps|img/s|images/s|performance)\b[^.\n]{0,30}\b(?:dropped|halved|fell|is down)\b|\b\d{2} ?% (?:fewer|less) (?:images|img|steps|samples|fps)\b)",
            once=True,
        ),
    ),
)
"""Who finds it slower than before, or than others."""
_LIMITED = r"(?:(?:power|tdp)[- ]?(?:limit|cap|target|budget)\w{0,3}|(?:limit|cap)(?:p?ed|s)?|tdp|wattage|enforced|(?:nvidia-smi )?-pl)"
_DEFAULT = r"(?:default|instead of|rather than|not|factory|stock|normal(?:ly)?|should be|(?:is|as) shipped|usual(?:ly)?|spec\w{0,10}|data ?sheet|rated|tdp|original(?:ly)?|from)"
LIMIT = Language(
    name="circumstances",
    foreign=True,
    words=(" W", "W ", "watt", "Watt", "0W", "5W", "0w"),
    kinds=(
        Kind(
            "power-limit-said",
            rf"(?i:\b{_LIMITED}[^.\n]{{0,40}}?\b(?P<limit>\d{{2,3}}){_WATT}(?! ?/)[^.\n]{{0,40}}?\b{_DEFAULT}\b[^.\n]{{0,30}}?\b(?P<default>\d{{2,3}}){_WATT}"
            rf"|\b(?:default|factory|stock|original)\b[^.\n]{{0,30}}?\b(?P<default2>\d{{2,3}}){_WATT}[^.\n]{{0,60}}?\b{_LIMITED}[^.\n]{{0,20}}?\b(?P<limit2>\d{{2,3}}){_WATT}"
            rf"|\b(?P<limit3>\d{{2,3}}){_WATT}[^.\n]{{0,20}}?\b(?:power ?limit|limit|cap)\b(?!\W{{0,4}}(?:(?:is|of|at|to) )?\d)[^.\n]{{0,40}}?\b{_DEFAULT}\b[^.\n]{{0,30}}?\b(?P<default3>\d{{2,3}}){_WATT})",
            once=True,
        ),
    ),
)
"""The power limit that is set, and the one that the card comes with."""
_ONE = r"(?:one|single|1|a single|only one|just one|OneDeviceStrategy|default strategy)\b"
_SEVERAL = r"(?:MirroredStrategy|mirrored strategy|multi[- ]?gpus?|(?:two|2|three|3|four|4|eight|8|several|multiple|both|more) (?:\w+ )?(?:gpus|cards)|data parallel\w*)"
SCALING = Language(
    name="profile",
    foreign=True,
    words=("Strategy", "strategy", "GPU", "gpu", "cards"),
    kinds=(
        Kind(
            "several-slower-than-one",
            rf"(?i:\b{_SEVERAL}\b[^.\n]{{0,80}}?(?:\b(?:slower|longer|more time)|(?:\b(?:no|not)|n't) (?:\w+ )?(?:faster|quicker))\b[^.\n]{{0,40}}?\b(?:than|as)\b[^.\n]{{0,30}}?\b{_ONE}"
            rf"|\b{_SEVERAL}\b[^.\n]{{0,20}}\bcompared (?:to|with) {_ONE}[^.\n]{{0,12}}\bslow(?:er)?\b"
            rf"|\b{_ONE}(?: gpu| card)?\b[^.\n]{{0,30}}?\bfaster than\b[^.\n]{{0,20}}?\b{_SEVERAL}\b)",
            once=True,
        ),
    ),
)
"""Several GPUs that are slower than one."""
_OWN_LOOP = r"(?:(?:custom|own|manual|hand-?written|explicit|eager)(?: \w+)? (?:training )?(?:loops?|train_?step|training|mode|execution)|(?:training )?loops? (?:\w+ ){0,3}?(?:from scratch|myself|by hand|with GradientTape)|GradientTape|eager (?:mode|execution))"
_FIT = r"(?:(?:keras |model\.|\.|the )fit\b|fit\(\)|keras(?:'s?)? \.?fit|graph mode|tensorflow 1|tf ?1\b)"
LOOPS = Language(
    name="profile",
    foreign=True,
    words=("loop", "GradientTape", "ager "),
    kinds=(
        Kind(
            "loop-slower-than-fit",
            rf"(?i:\b{_OWN_LOOP}\b[^\n]{{0,80}}?\b(?:slow(?:er|ly)?|longer|more time)\b[^\n]{{0,120}}?(?<!\w){_FIT}|(?<!\w){_FIT}[^\n]{{0,60}}?\bfaster\b[^\n]{{0,40}}?\b{_OWN_LOOP}\b)",
            once=True,
        ),
    ),
)
"""A loop of one's own that is slower than Keras' own."""
FUNCTION = Language(
    name="circumstances",
    words=("tf.function", "jit_compile"),
    kinds=(Kind("tf-function-named", r"@?\btf\.function\b|\bjit_compile\b", once=True),),
)
_NAMED = r"(?:[rg]tx ?\d{3,4}\w{0,2}|(?:tesla )?[kmpvtah]\d{2,3}\b|titan \w{1,3}|quadro \w{2,6}|old(?:er)? (?:gpu|card)|laptop)"
FASTER = Language(
    name="profile",
    foreign=True,
    words=("same", "faster", "as well", "too", "also"),
    kinds=(
        Kind(
            "faster-card-no-faster",
            rf"(?i:\b{_NAMED}[^\n]{{0,60}}?\btakes? (?:about |around )?(?P<time>\d{{1,4}} ?(?:s|ms|secs?|seconds?|min(?:ute)?s?|hours?|h))\b[^\n]{{0,40}}?\b{_NAMED}[^\n]{{0,60}}?\b(?P=time)\b[^\n]{{0,10}}\b(?:as well|too|also)\b"
            rf"|\b{_NAMED}\b[^.\n]{{0,40}}?(?:\b(?:no|not|hardly|barely)|n't)(?: \w+){{0,2}}? faster than (?:on |with |in )?(?:a |an |the |my |our )*{_NAMED}\b"
            rf"|\b{_NAMED}\b[^.\n]{{0,60}}?\b(?:the |at the |about the )same (?:speed|time|training time|performance|duration)\b[^.\n]{{0,20}}?\b{_NAMED}\b)",
            "runs-slowly",
            once=True,
        ),
    ),
)
"""A newer and larger card that is no faster."""
FIRST = Language(
    name="circumstances",
    foreign=True,
    words=("first", "First"),
    kinds=(
        Kind(
            "first-use-slow",
            r"(?i:^(?![^\n]{0,300}\b(?:epoch|batch|download|import)\b)[^\n]{0,300}?(?:\b(?:slow(?:ly)?|long|minutes?)\b[^.\n]{0,40}?\bfirst (?:\w+ )?(?:run|time|call|use|start|commands?|operations?|inference|prediction)\b|\bfirst (?:\w+ )?(?:run|time|call|use|start|commands?|operations?|inference|prediction)\b[^.\n]{0,60}?\b(?:slow(?:ly)?|long|minutes?)\b))",
            once=True,
        ),
    ),
)
CACHED = Language(
    name="circumstances",
    words=("CUDA_CACHE_", "fat-binar", "fat binar", "JIT", "jit", "ComputeCache"),
    kinds=(
        Kind(
            "compute-cache-named",
            r"\bCUDA_CACHE_(?:MAXSIZE|PATH|DISABLE)\b|\bComputeCache\b|(?i:\bfat[- ]binar(?:y|ies)\b|\b(?:ptx )?jit[- ](?:cach|compil)\w{2,4}\b)",
            once=True,
        ),
    ),
)
"""What CUDA keeps of what it compiles."""
FED = Language(
    name="circumstances",
    foreign=True,
    words=("data", "Data", "input"),
    kinds=(
        Kind(
            "input-suspected",
            r"(?i:\b(?:data|input|samples|images|batches)\b[^.\n]{0,40}?(?:\bnot|n't) (?:\w+ )?(?:get|gets|arriv\w*|reach\w*|come|delivered|loaded|fed|provided)\b[^.\n]{0,40}?\b(?:fast|quick(?:ly)?) enough\b|\bbottle ?neck\b[^.\n]{0,40}?\b(?:data|input|loading|disk|pre-?processing)\b)",
            once=True,
        ),
    ),
)
LANGUAGES = (CARDS, HEAT, SLOWER, LIMIT, SCALING, LOOPS, FUNCTION, FASTER, FIRST, CACHED, FED)
