"""What limits a job from outside: the memory and the processors of its control group, a cache that can't be kept; and what
tools say that look for faults from outside."""

from __future__ import annotations

import itertools
import re

from ..patterns import Pattern
from .language import Kind, Language, Understood
from .notebook import Notebook

_EACH = r"(?:(?:at|on|in|for|with|after) )?\b(?:every|each)[*_]{0,2}(?: single)? (?:\w{1,12} ){0,2}?(?:(?:re)?starts?|runs?|launch(?:es)?|times?|boots?|execution|session|process|invocation)\b"
_LONG = r"~?(?:\d{1,3}(?:\.\d)? ?(?:-|to) ?)?(?:\d{1,3}|several|many|some|a few|ten|five) ?min(?:ute)?s?\b"

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
    words=("very ", "VERY ", "very* ", "very** ", "ach ", "EACH ", "not only the first", "second ", "next "),
    kinds=(
        Kind(
            "each-start-long",
            rf"(?i:{_EACH}[^.\n]{{0,160}}\b(?:tak(?:es?|ing)|took|needs?|lasts?|waits?|is)\b[^.\n]{{0,30}}\b{_LONG}|\b{_LONG}[^.\n]{{0,40}}\b{_EACH}"
            r"|\b(?:second|next|2nd|later|following) (?:re)?(?:starts?|runs?|launch(?:es)?|time)\b[^.\n]{0,40}\b(?:just |again |exactly )?(?:as|equally) (?:long|slow)\b|\b(?:not|n't) only (?:at |for |in )?the first (?:re)?(?:start|run|launch|time)\b"
            r"|\b(?:long|slow)\b[^.\n]{0,30}\bfirst start\b[^.\n]{0,30}\b(?:but|not)\b[^.\n]{0,20}\b(?:every|each) start)",
            once=True,
        ),
    ),
)
"""Who waits at every start, not at the first one alone."""
CACHE = Language(
    name="circumstances",
    words=(
        "readOnlyRoot",
        "--read-only",
        "HOME=/",
        "HOME: ",
        "ComputeCache",
        ".nv",
        "CUDA_CACHE_DISABLE",
        "ead-only",
        "ead only",
        "home",
        "read_only",
    ),
    kinds=(
        Kind(
            "cache-not-kept",
            r"\breadOnlyRootFilesystem\W{1,3}true\b|\b(?:docker|podman) run\b[^\n]{0,300} --read-only(?:=true)?(?=\s|$)|\bHOME(?:=|: ?)[\"']?/(?:nonexistent|dev/null|var/empty)?[\"']?(?=[\s,;]|$)"
            r"|\bCUDA_CACHE_DISABLE\W{1,3}1\b|^read_only: true$|(?i:\bread[- ]only (?:root )?(?:file ?system|rootfs|root|container|home)\b|\b(?:root|rootfs|file ?system|home(?: directory| folder)?) (?:is|are) (?:mounted )?read[- ]only\b"
            r"|\b(?:no|without a|non-?existent|unwritable|non-writable) home(?: (?:directory|folder))?\b|\bhome(?: directory| folder)? (?:is not writ\w+|isn't writ\w+|does not exist|doesn't exist|is missing))"
            r"|(?:/\.nv\b|ComputeCache)[^\n]{0,60}(?i:read-only file ?system|permission denied|(?:can(?:'t|not)|could not|not) (?:be )?(?:writ|creat))"
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
_GPUS_GROWS = rf"(?:{_OF_A_GPU})(?![^.,;\n]{{0,30}}\b(?:constant|stable|flat|fine|unchanged|the same|ok|okay|does(?:n't| not)|stays|not)\b)"
"""Whose memory stays as it is is not what grows."""
GROWTH = Language(
    name="circumstances",
    foreign=True,
    words=("emory", "RAM", "RSS"),
    kinds=(
        Kind(
            "memory-grows-by-step",
            rf"(?i:^(?![^\n]{{0,400}}(?:{_GPUS_GROWS}))[^\n]{{0,400}}?\b(?:memory|ram|rss)\b[^\n.]{{0,90}}?\b{_GROWS}\b[^\n.]{{0,50}}?\b(?:each|every|per)\b (?:\w+ ){{0,2}}?{_LOOP}\b)"
            rf"|(?i:^(?![^\n]{{0,400}}(?:{_GPUS_GROWS}))[^\n]{{0,400}}?\b(?:each|every|per) (?:\w+ ){{0,2}}?{_LOOP}\b[^\n.]{{0,60}}?\b(?:memory|ram|rss)\b[^\n.]{{0,40}}?\b{_GROWS}\b)",
            once=True,
        ),
    ),
)
"""Memory that grows with what a program repeats."""
_AT = (
    r"\b(?:epochs?|steps?|iter\w*|batch|batches|runs?|loops?|models?|trials?|folds?|after|hours?|days?|minutes?|min)\b"
)
_SERIES = Pattern(
    rf"(?i:{_AT}\W{{0,3}}(?P<at>\d{{1,7}})k?\b(?: (?:hours?|h|min|minutes?|epochs?|steps?|iterations?|runs?))?[^\d\n]{{1,16}}?(?P<size>\d{{1,6}}(?:\.\d{{1,3}})?) ?(?P<unit>[GM])i?B?\b)"
)
_ARROWS = Pattern(
    r"(?i:\d{1,5}(?:\.\d{1,2})? ?(?:[GM]i?B?)?(?: ?(?:->|=>|\u2192|\.\.\.?|, then|then) ?\d{1,5}(?:\.\d{1,2})? ?(?:[GM]i?B?)?){2,12})"
)
_WHOSE = Pattern(
    r"\bRSS\b|\bRAM\b|(?i:\b(?:host|system|cpu|main|resident) (?:memory|ram|set)\b|\bram\b|\bh?top\b|\bpsutil\b|\bmaxrss\b|\bfree -[mgh]\b)"
)
_NUMBERS = Pattern(r"\d{1,6}(?:\.\d{1,3})?")
_CLEARLY, _FEWEST = 1.4, 3


class _Series(Language):
    """The host's memory at several moments, larger each time."""

    def line(self, text: str, _at: int, _notes: Notebook) -> Understood | None:
        """What a line tells."""
        if (whose := _WHOSE.search(text)) is None:
            return None
        text = text[max(0, whose.start() - 200) : whose.start() + 400]
        told = [float(f["size"]) * (1024.0 if f["unit"].lower() == "g" else 1.0) for f in _SERIES.finditer(text)]
        arrows = _ARROWS.search(text)
        if len(told) < _FEWEST and arrows is not None and re.search("(?i)[gm]", arrows[0]) and re.search(_AT, text):
            told = [float(one) for one in _NUMBERS.findall(arrows[0])]
        rises = all(a < b for a, b in itertools.pairwise(told))
        if len(told) < _FEWEST or not rises or told[-1] < _CLEARLY * told[0]:
            return None
        return Understood("memory-grows-by-step", {}, once=True)


SERIES = _Series(
    name="circumstances",
    foreign=True,
    words=("RSS", "RAM", "ram", "emory", "top", "psutil", "maxrss", "free -"),
    kinds=(),
)
HOSTS_MEMORY = Language(
    name="circumstances",
    foreign=True,
    words=("RAM", "ram", "emory", "maxrss", "RSS", "rss", "psutil", "top", "free -"),
    kinds=(
        Kind(
            "hosts-memory-named",
            r"(?i:\b(?:cpu|host|system|main|physical|server|computer)(?:'s)? (?:memory|ram)\b|(?<!gpu )(?<!video )(?<!graphics )(?<!MB, total )\bram\b(?! of the gpu)|\b(?:ru_)?maxrss\b|\bpsutil\b|\bresident (?:memory|set)\b|\bfree -[hmg]\b|\bh?top\b['\"`) ]{0,3}(?:shows?|says?|command|utility|tool))|\bRSS\b",
            once=True,
        ),
    ),
)
"""Whose memory it is."""
KILLED = Language(
    name="circumstances",
    foreign=True,
    words=("illed", "OOM killer", "OOM-killer", "oom killer", "oom-killer", "oom_kill", "OOMKill"),
    kinds=(
        Kind(
            "killed-said",
            r"\bOut of memory: Kill(?:ed)? process\b|\bOOMKilled\b|(?i:\boom[- _]?kill(?:er|s|ed)?\b)|(?i:\b(?:process|program|training|script|python|job|it|everything|notebook|run)\b (?:\w+ ){0,3}?(?:gets?|got|was|is|been|being|were|just) (?:\w+ ){0,2}?['\"`*]{0,3}killed\b(?! by me| manually))"
            r"|['\"`*]{1,3}Killed['\"`*]{1,3}",
            once=True,
        ),
    ),
)
"""The kernel's word, in somebody's sentence."""
LANGUAGES = (LANGUAGE, STARTS, CACHE, CACHE_PLACE, GRANTED, GROWTH, SERIES, HOSTS_MEMORY, KILLED)
