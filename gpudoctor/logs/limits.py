"""What limits a job from outside: the memory and the processors of its control group, a cache that can't be kept; and what
tools say that look for faults from outside."""

from __future__ import annotations

from .language import Kind, Language

_EACH = r"(?:(?:at|on|in|for|with) )?\b(?:every|each)(?: single)? (?:\w{1,12} ){0,2}?(?:(?:re)?starts?|runs?|launch(?:es)?|times?|boots?|execution|session|process|invocation)\b"
_LONG = r"(?:\d{1,3}(?:\.\d)? ?(?:-|to) ?)?(?:\d{1,3}|several|many|some|a few|ten|five) ?min(?:ute)?s?\b"

LANGUAGE = Language(
    name="limits",
    words=(
        "oom", "cgroup out", "emory limit", "emory cgroup", "CONSTRAINT_MEMCG", "OUT_OF_ME", "TERM_MEMLIMIT", "exceeded limit", "nr_periods", "nr_throttled", "throttled", "FAULTY", "(WARNING!)",
    ),
    kinds=(
        Kind(
            "cgroup-killed",
            r"\b[Dd]etected [1-9]\d{0,5} oom[-_ ]kill event|killed by the cgroup out-of-memory handler|\b[Ee]xceeded (?:job|step) memory limit|[Mm]emory cgroup out of memory: Kill"
            r"|\boom-kill:constraint=CONSTRAINT_MEMCG|^(?![^\n]{0,400}(?i:cuda|gpu|driver|error|rpc))(?=[^\n]{0,400}(?:\bState\b|\bsacct\b|\bJobID\b|\b\d{3,12}\b))[^\n]{0,400}\bOUT_OF_ME(?:MORY|M?\+)|\bTERM_MEMLIMIT\b|\bjob killed: [pv]{0,2}mem \d{1,16}\w{0,2} exceeded limit",
            "op-fails",
        ),
        Kind("cpu-throttled", r"\bnr_periods[\s:=]{1,4}(?P<periods>\d{1,15})\b[^\n]{0,40}\bnr_throttled[\s:=]{1,4}(?P<throttled>\d{1,15})\b"),
        Kind("cpu-throttled", r"\bnr_throttled[\s:=]{1,4}(?P<throttled>\d{1,15})\b"),
        Kind("cpu-periods", r"\bnr_periods[\s:=]{1,4}(?P<periods>\d{1,15})\b"),
        Kind("burn-faulty", r"^\W{0,3}GPU (?P<index>\d{1,2}): FAULTY\b|\berrors: [\d -]{0,80}\b[1-9]\d{0,9} {1,4}\(WARNING!\)"),
    ),
    foreign=True,
)  # fmt: skip
"""Batch systems, the kernel's accounts of a control group, gpu_burn."""
STARTS = Language(
    name="circumstances",
    words=("very ", "VERY ", "ach ", "EACH ", "not only the first"),
    kinds=(
        Kind(
            "each-start-long",
            rf"(?i:{_EACH}[^.\n]{{0,40}}\b(?:tak(?:es?|ing)|took|needs?|lasts?|waits?|is)\b[^.\n]{{0,30}}\b{_LONG}|\b{_LONG}[^.\n]{{0,40}}\b{_EACH}"
            r"|\b(?:long|slow)\b[^.\n]{0,30}\bfirst start\b[^.\n]{0,30}\b(?:but|not)\b[^.\n]{0,20}\b(?:every|each) start)",
            once=True,
        ),
    ),
)
"""Who waits at every start, not at the first one alone."""
CACHE = Language(
    name="circumstances",
    words=("readOnlyRoot", "--read-only", "HOME=/", "HOME: ", "ComputeCache", ".nv", "CUDA_CACHE_DISABLE"),
    kinds=(
        Kind(
            "cache-not-kept",
            r"\breadOnlyRootFilesystem\W{1,3}true\b|\b(?:docker|podman) run\b[^\n]{0,300} --read-only(?:=true)?(?=\s|$)|\bHOME(?:=|: ?)[\"']?/(?:nonexistent|dev/null|var/empty)?[\"']?(?=[\s,;]|$)"
            r"|\bCUDA_CACHE_DISABLE\W{1,3}1\b|(?:/\.nv\b|ComputeCache)[^\n]{0,60}(?i:read-only file ?system|permission denied|(?:can(?:'t|not)|could not|not) (?:be )?(?:writ|creat))"
            r"|(?i:cannot create|can't create|mkdir)[^\n]{0,60}/\.nv\b",
            once=True,
        ),
    ),
)
"""Where the driver finds no place for what it compiles."""
CACHE_PLACE = Language(
    name="circumstances",
    words=("CUDA_CACHE_PATH",),
    kinds=(Kind("cache-placed", r"\bCUDA_CACHE_PATH\W{1,4}/", once=True),),
)
GRANTED = Language(
    name="circumstances",
    words=("--memory", "--mem", " -m ", "mem_limit", "--cpu", "cpus:", "ulimit"),
    kinds=(
        Kind(
            "cpus-granted",
            r"(?:--cpu-period[= ](?P<period>\d{4,7})\b[^\n]{0,120}?)?--cpu-quota[= ](?P<quota>\d{4,8})\b|(?:--cpus[= ]|^cpus: ?)[\"']?(?P<cpus>\d{1,3}(?:\.\d{1,2})?)\b",
        ),
        Kind(
            "memory-granted",
            r"(?:^|\s)(?:--memory|--mem|-m)[= ][\"']?\d{1,6}(?:\.\d{1,2})?[kmgKMG][bB]?(?=[\"'\s]|$)|^mem_limit: ?[\"']?\d{1,6}[kmgKMG]",
        ),
        Kind(
            "address-space-said",
            r"(?i:^(?![^\n]{0,300}(?:--ulimit|memlock|\bulimits: ?$|ulimit -[a-uw-z]|unlimited|open files|stack|core dump))[^\n]{0,300}?\bulimits?\b)",
            once=True,
        ),
    ),
)
"""What a container or a shell is given."""
_LOOP = r"(?:epochs?|epcohs?|steps?|iterations?|batch(?:es)?|loops?|calls?|(?:model\.)?(?:fit|predict)\w*)"
_GROWS = r"(?:grow(?:s|ing|n)?|grew|increas(?:es?|ed|ing)|ris(?:es?|ing)|rose|climb(?:s|ed|ing)?|leak(?:s|ed|ing)?|(?:is |gets? |are )?(?:lost|eaten|consumed|used up)|goes up|going up|shrinks?|shrinking)"
_OF_A_GPU = r"\b(?:gpu|v-?ram|video|device|cuda|graphics)(?:'s)? (?:memory|ram)\b|\bvram\b"
GROWTH = Language(
    name="circumstances",
    foreign=True,
    words=("emory", "RAM", "RSS"),
    kinds=(
        Kind(
            "memory-grows-by-step",
            rf"(?i:^(?![^\n]{{0,400}}(?:{_OF_A_GPU}))[^\n]{{0,400}}?\b(?:memory|ram|rss)\b[^\n.]{{0,90}}?\b{_GROWS}\b[^\n.]{{0,50}}?\b(?:each|every|per)\b (?:\w+ ){{0,2}}?{_LOOP}\b)"
            rf"|(?i:^(?![^\n]{{0,400}}(?:{_OF_A_GPU}))[^\n]{{0,400}}?\b(?:each|every|per) (?:\w+ ){{0,2}}?{_LOOP}\b[^\n.]{{0,60}}?\b(?:memory|ram|rss)\b[^\n.]{{0,40}}?\b{_GROWS}\b)",
            once=True,
        ),
    ),
)
"""Memory that grows with what a program repeats."""
HOSTS_MEMORY = Language(
    name="circumstances",
    foreign=True,
    words=("RAM", "ram", "emory", "maxrss", "RSS", "rss", "psutil", "top", "free -"),
    kinds=(
        Kind(
            "hosts-memory-named",
            r"(?i:\b(?:cpu|host|system|main|physical|server|computer)(?:'s)? (?:memory|ram)\b|(?<!gpu )(?<!video )(?<!graphics )\bram\b(?! of the gpu)|\b(?:ru_)?maxrss\b|\bpsutil\b|\bresident (?:memory|set)\b|\bfree -[hmg]\b|\bh?top\b['\"`) ]{0,3}(?:shows?|says?|command|utility|tool))|\bRSS\b",
            once=True,
        ),
    ),
)
"""Whose memory it is."""
KILLED = Language(
    name="circumstances",
    foreign=True,
    words=("illed",),
    kinds=(
        Kind(
            "killed-said",
            r"(?i:\b(?:process|program|training|script|python|job|it|everything|notebook|run)\b (?:\w+ ){0,3}?(?:gets?|got|was|is|been|being|were|just) (?:\w+ ){0,2}?['\"`*]{0,3}killed\b(?! by me| manually))"
            r"|['\"`*]{1,3}Killed['\"`*]{1,3}",
            once=True,
        ),
    ),
)
"""The kernel's word, in somebody's sentence."""
LANGUAGES = (LANGUAGE, STARTS, CACHE, CACHE_PLACE, GRANTED, GROWTH, HOSTS_MEMORY, KILLED)
