"""Who finds one GPU slow, idle or no faster than the processor, in whatever words; and whose first use of it takes minutes.

The words are read sentence by sentence, what they say of the whole text is put together at the end: a title complains, and the sentence
that tells of what stands below it. It is weak: where a line shows a failure, or no GPU is seen, it tells nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..facts import TextEvent
from ..patterns import Pattern
from . import alike, card_speeds, first_use
from .complaints import says_no_gpu
from .first_use import GPU as _G
from .language import LONGEST, first_of
from .notebook import Notebook

LANGUAGE = "pace"
_SLOW = "runs-slowly"
_MOST, _LONG_LINE, _SENTENCE = 120, 2500, 420
"""Lines that are looked at, and characters of a line and of a sentence."""
_USE = r"(?:usages?|utili[sz]ations?(?: rate)?|utilização|util|load|activity|auslastung|(?:利用|使用|占用)率|사용률|\u0437\u0430\u0433\u0440\u0443\u0437\u043a\w|uso\b)"
_END = Pattern(
    r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!min\.)(?<!sec\.)(?<!mins\.)(?<!approx\.)(?<!ca\.)\s|[\u3002\uff01\uff1f\uff1b]|\.\.\."
)

# ------------------------------------------------------------------- how busy it is

_PERCENT = Pattern(
    r"(?i)(?<![A-Za-z0-9_.])(?P<a>\d{1,3})(?:[.,]\d{1,2})? ?%?(?:(?: ?[-~\u2013\u2014,] ?| ?(?:to|and|or|then|auf|und|y|et|e|\u0438|\u0434\u043e|bis|a|à|到|至) |[到至和与])(?P<b>\d{1,3})(?:[.,]\d{1,2})?)? ?(?:%|percent\b|per ?cent\b|prozent\b)"
)
_NO_PERCENT = Pattern(
    r"(?i)^ ?(?:of (?:the |its )?(?:total |gpu |device |video )?(?:memory|vram)|(?:more |less )?(?:faster|slower|longer|of the (?:time|data|images|code|memory|cpu|vram)|accuracy|better|worse|cpu|memory|ram|(?:gpu )?mem\b))"
)
_WHOSE = Pattern(
    rf"(?i)(?P<other>(?<![A-Za-z])cpus?(?![A-Za-z])|\bcores?\b|\bthreads?\b|\bprocessors?\b|\u043f\u0440\u043e\u0446\u0435\u0441\u0441\u043e\u0440\w?|处理器|\bmem(?:ory)?\b|\bv?ram\b|显存|内存|메모리|accuracy|\bloss|\berrors?\b|\bdisk|\bssd\b|network|battery|dropout|\bbatch|fraction|speicher)|(?P<gpu>{_USE}|nvidia-smi (?:shows?|says|reports?|goes|jumps|displays|gives|is at|stays)|(?<![a-z]){_G}(?![a-z]))"
)
_GATE = (
    "%", "percent", "prozent", "util", "usage", "activity", "uso ", "slow", "fast", "speed", "sped ", "perform", "same", "difference", "benefit", "improve", "gain", "help",
    "accelerat", "brings", "long", "minut", "hour", " min", "fps", " ms", " s ", " s,", " sm ", "sec", "/s", "idle", "idling", "starv", "busy", "bored", "quick", "load", "wait", "bottle", "barely", "hardly", "rarely",
    "constantly", "fully", "enough", "periodically", "bursts", "spik", "forever", "ages", "battery", "throttl", "auslast", "langsam", "schnell", "dauert", "genutzt", "lent", "vite",
    "r\u00e1pid", "tarda", "demora", "utilis", "utiliz", "\u7387", "\u6162", "\u901f", "\u7a7a\u95f2", "\u74f6\u9888", "wartet", "espera", "botella", "gargalo", "goulot", "near", "\u6ca1\u6709cpu", "\u6ca1\u6709 cpu", "\u5206\u949f", "\u4f4e", "\u0441\u043a\u043e\u0440", "\u0431\u044b\u0441\u0442\u0440", "\u043c\u0435\u0434\u043b\u0435\u043d", "\u0437\u0430\u0433\u0440\u0443\u0437\u043a", "\u043c\u0438\u043d\u0443\u0442",
    "\u0441\u0435\u043a\u0443\u043d\u0434", "\uc0ac\uc6a9\ub960", "\ubd84", "\u00b0", "degrees", "took", "takes", "power", "capabilit", "saturat", "0x", "gives me", "expect", "twice", "double", "doppel", "equal", "advantage", "time", "epoch", "beats", "compared", *(f"{digit}ms" for digit in range(10)),
)  # fmt: skip
"""Who complains of speed says one of them."""
_LIMITS = Pattern(
    r"(?i)\b(?:limit(?:s|ing)?|restrict|feature request|\[feature\]|option|cap\b|threshold|fraction|fixe[sd]|improved|release notes)\b|\b(?:could(?:n't| not)|can(?:'t|not)|fail\w* to|unable to) load (?:the )?(?:gpus?|cuda|cudnn)\b"
)
_SUBJECT = rf"(?:(?<![A-Za-z-])(?<!no_)(?<!without_)|(?<=tensorflow-)){_G}(?:(?<=卡)|(?![A-Za-z0-9_]))"
_BARELY = (
    r"(?:barely|hardly|scarcely|rarely|seldom|kaum|wenig|apenas|à peine|\u043f\u043e\u0447\u0442\u0438 \u043d\u0435)"
)
_FULLY = r"(?:fully|fulled|efficiently|well|constantly|continuously|completely|entirely|always|much|enough|steadily|optimally|all the time|at full|to (?:its|the) full)"
_IDLE = Pattern(
    rf"(?i)\b{_G} idle[ -]?times?\b|\bidle (?:time (?:of|on) )(?:the |my )?{_G}\b|\b(?:low|poor|bad|little|inefficient|small|under) (?:use of )?(?:the |my )?(?:volatile )?{_G}[ -]?{_USE}|{_G}[ -]?{_USE} (?:very |too |so )?low\b|\b(?:increase|improve|raise|maximi[sz]e|boost|get more) (?:the |my )?{_G}[ -]?{_USE}"
    rf"|(?:{_G}|{_USE})(?:(?!\bcpu|accuracy|loss|memory)[^.\n]){{0,40}}?(?:\b(?:is|are|was|stays?|remains?|seems?|very|too|so|really|quite|pretty|extremely|always|just|relatively|rather)(?: to be)? (?:very |too |so |really |quite |always |extremely |relatively )?(?:low|small|poor|bad)\b|\bnot (?:very |so |too )?high\b|很低|较低|太低|特别低|非常低|偏低|不高|不上去|空闲|闲置|在等|等待数据|只有(?:百分之)?[几十一二三五]|\b(?:only )?(?:a few|single[- ]digit|few) percent|が低い|낮|(?:muy|très|muito|sehr|ist|is) (?:baj[oa]|faible|baix[oa]|gering|niedrig)|\u043d\u0438\u0437\u043a)"
    rf"|(?:geringe|niedrige|schlechte|faible|bajo|baja|baixo|baixa|\u043d\u0438\u0437\u043a\u0430\u044f) (?:\w+ )?(?:{_USE}|{_G})"
    rf"|\b(?:uso|utilisation|utilização) (?:muy |très |de |da |do |la |du |muito |l'|le ){{0,3}}(?:{_G} )?(?:muy |très |muito )?(?:bajo|faible|baixo)\b|\b(?:uso|utilisation|utilização) (?:bajo|baixo|faible) d"
    rf"|{_SUBJECT}[^.\n]{{0,60}}?(?:\b{_BARELY}\b[^.\n]{{0,20}}?\b(?:us(?:ed|e|es|ing|age)|utili[sz]\w+|busy|loaded|doing|active|work\w*|genutzt|ausgelastet|usad[oa]|utilisée?|\u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443\u0435\u0442\u0441\u044f)"
    rf"|\b{_BARELY} \u0438\u0441\u043f\u043e\u043b\u044c\u0437\u0443\w+|\bunder[- ]?(?:utili[sz]\w+|used|loaded)|(?: is| used| utili[sz]ed| being)* ?\b(?:lowly|poorly|weakly)\b|(?:\bnot|n't|\bnever) (?:being |getting |be )?(?:used |utili[sz]ed |loaded |busy |active )?{_FULLY}(?: (?:be )?(?:used|utili[sz]ed|loaded|busy|exploited))?\b"
    rf"|\b(?:used|active|busy|utili[sz]ed|working)\b[^.\n]{{0,30}}?\b(?:never|not) constantly|\b(?:just |only |mostly )?(?:sits|stands) (?:there |around |just |and |only |mostly )*(?:idle|idling|wait(?:s|ing))\b|\b(?:is|are|be|sits|stays|being) (?:\w+ )?(?:idle|idling|waiting)\b(?=[^.\n]{{0,20}}\b(?:most|much|for|between|while|until|half|part|often|during|in the|when|\d))|\bstarv(?:ed|ing)\b|\b(?:nearly|almost|mostly|largely) idle\b|\b(?:waits|idles|starves|seems to starve|wait (?:most|much|half))\b"
    rf"|\b(?:only|just) (?:used|active|busy|utili[sz]ed|working) (?:for|in|a|at|from|periodically|sometimes|briefly|partially|partly|little)\b|\bused (?:only )?(?:periodically|partially|partly|very little|a little)\b)"
    rf"|\b{_BARELY} (?:uses?|using|utili[sz]\w+|loads?|taxes|touch\w*) (?:\w+ ){{0,2}}{_G}|\b(?:does(?:n't| not)|do(?:n't| not)|not|never) (?:using |use |utili[sz]e |utili[sz]ing |exploit |exploiting )?(?:fully |efficiently |the full |all of |the whole |100 ?% of |full )(?:use |using |utili[sz]e |utili[sz]ing |exploit |\w+ of )?(?:the |my |its )?{_G}"
    rf"|(?:\bnot|n't|\bnever) (?:saturate|load|fill|max out|stress|keep|exhaust) (?:the |my )?{_G}(?!\w{{0,4}} ?(?:drivers?|librar|runtime|dlls?|modules?|kernels?|plugins?|toolkit|delegates?))|(?:\bnot|n't|\bnever) (?:really )?(?:us\w+|utili[sz]\w+) (?:the |my |all of the )?{_G} (?:very |that )?{_FULLY}|{_SUBJECT} idle (?:most|half|\d)|{_SUBJECT} idle,[^.\n]{{0,30}}\b(?:core|thread)\b|\bbottle ?neck\w*[^.\n]{{0,30}}\b(?:data\w*|input|load\w*|disk|read\w*|augment\w*|pre-?process\w*|cpu)\b|\b(?:data\w*|input|load\w*|disk|read\w*|augment\w*|pre-?process\w*|generator)\b[^.\n]{{0,30}}\b(?:bottle ?neck|limiting factor)|\b(?:full|whole|real) (?:power|potential|capacity|capabilities|capability|performance)[^.\n]{{0,20}}?{_G}|{_G}[^.\n]{{0,20}}?\bfull (?:power|potential|capacity|capabilities|capability)|\b(?:make better use|take (?:full |more )?advantage|better use) of (?:the |my )?{_G}"
    rf"|{_SUBJECT}[^.\n]{{0,30}}\b(?:works?|busy|active|used|runs?) (?:for |just |only |about ){{0,3}}(?:\d|one|a) ?s(?:ec\w*)? (?:out of|of|in|every|per) (?:every )?\w"
    r"|(?:\bmost|\d ?%|\d ?(?:min\w*|s|secs?|seconds?|hours?|h))\b[^.\n]{0,30}\b(?:is|are|was|goes|go|gets?) ?(?:spent|lost|needed|used)? ?(?:in|on|into|for|by) (?:[\w-]+ ){0,2}?(?:data|load\w*|read\w*|augment\w*|pre-?process\w*|generators?|decod\w+|input)\b|\bwithout (?:\w+ )?(?:augment\w*|pre-?process\w*|resiz\w+|decod\w+)\b[^.\n]{0,40}\d[^.\n]{0,30}\bwith\b[^.\n]{0,20}\d"
    rf"|{_USE}[^.\n]{{0,30}}\b(?:near|close to|almost|nearly|practically|around) (?:zero|0\b(?! ?\.\d)|nothing)|瓶颈[^。\n]{{0,10}}(?:数据|读取|预处理|IO|CPU)|(?:数据|读取|预处理|加载|IO)[^。\n]{{0,8}}(?:瓶颈|太慢|很慢|跟不上)"
    r"|(?:gpu|karte)[^.\n]{0,30}\b(?:wartet|langweilt sich|im leerlauf|unt\u00e4tig|steht still)\b|\b(?:daten\w*|generator|lader|laden)\b[^.\n]{0,40}\b(?:flaschenhals|engpass|zu langsam)|\b(?:flaschenhals|engpass)\b[^.\n]{0,40}\bdaten|(?:gpu|tarjeta|placa)[^.\n]{0,30}\b(?:espera(?:ndo)?|parada|inactiva|inativa|ociosa)\b|\bcuello de botella\b|\bgargalo\b|\bgoulot d'\u00e9tranglement|(?:gpu|carte)[^.\n]{0,30}\b(?:attend|inactif|inactive)\b|(?:gpu|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w)[^.\n]{0,30}(?:\u043f\u0440\u043e\u0441\u0442\u0430\u0438\u0432\u0430|\u0436\u0434[\u0435\u0451]\u0442)|\u0443\u0437\u043a\u043e\u0435 \u043c\u0435\u0441\u0442\u043e"
    rf"|\b(?:can(?:'t|not)|could ?n[o']t|unable to|how to) (?:get|push|bring|make|drive) (?:the |my )?{_G} (?:usage |utili[sz]ation )?(?:above|over|beyond|past|more than|up to|busy|work harder)"
)
_SWINGS = Pattern(
    rf"(?i)(?:{_G}|{_USE})(?:(?!accuracy|\bloss|temperature|\bclock)[^.\n]){{0,90}}?(?:\bup and down\b|\bspik(?:es?|y|ing)\b|\bfluctuat\w*|\boscillat\w*|\bjump(?:s|ing|ed)?\b|\bbursts?\b|\bperiodic(?:ally)?\b|\bintermittent(?:ly)?\b|like a (?:saw|comb)|\bswings?\b|\b(?:drop(?:s|ping|ped)?|fall(?:s|ing)?|goes|going|rises?)\b[^.\n]{{0,30}}?\bto (?:0|zero)\b|\bpulses?\b|\bfor a (?:second|moment|split second)\b|忽高忽低|时高时低|之间跳|跳动|来回|一会[^。\n]{{1,8}}一会|波动|\u043f\u0440\u044b\u0433\u0430\w+|\u0441\u043a\u0430\u0447\w+|schwankt|springt|oscila|fluct[uú]a)"
    rf"|{_USE}[^.\n]{{0,16}}\b0\b(?! ?%)[^.\n%]{{0,30}}\b(?:then|but|and)\b[^.\n%]{{0,12}}\b[1-9]\d\b"
    r"|\b(?:sm|gpu|util\w*)\b[^\n]{0,20}?(?<![\d.])(?:0 ?%?[ ,]{1,3}){2,8}[1-9]\d ?%?[ ,]{1,3}(?:0\b|\d)"
    rf"|\b(?:only )?uses? (?:the |my )?{_G} (?:only )?(?:in bursts|periodically|intermittently|now and then|from time to time|sometimes|partially|in spikes)"
)

# ------------------------------------------------------------------- compared with the processor

_C = r"(?:(?<![A-Za-z])cpus?(?![A-Za-z])|\bprocessor\b|\bprozessor\w{0,2}|\bprocesador\b|\bprocesseur\b|\u043f\u0440\u043e\u0446\u0435\u0441\u0441\u043e\u0440\w{0,2}|\bi[3579]\b|\b(?:no|without)(?: a| the| any)? (?:gpu|hardware acceleration|it\b)|\bmac ?book|\blaptop\b)"
_GAIN = r"(?:faster|quicker|speed(?:ed)?[- ]?ups?|speed(?: boost| gain)?|improvements?|gains?|benefits?|difference|advantage|acceleration|help)"
NO_GAIN = Pattern(
    rf"(?i)\b(?:performance|speed)\b[^.\n]{{0,12}}(?:\bnot|n't)(?: \w+)? (?:improve|increase)\w*|\b(?:no|not|nor|without|hardly|barely|little|zero|never)\b(?: (?!wrong|reason|idea|sure|whether)[\w-]+){{0,4}}? {_GAIN}\b|(?:n't|\bnot) (?:be |being )?(?:really |much )?(?:sped|speeded) up|(?:n't|\bnot) (?:be |being )?(?:really |much )?accelerat|n't (?:[\w-]+ ){{0,4}}?{_GAIN}\b|\bbrings? nothing\b|\bcpu (?:is |takes |needs )?(?:exactly |about |almost )?(?:the )?same\b|\b(?:speed|time|fps|performance)\b[^.\n]{{0,16}}\bequals?\b|\b(?:only|just) (?:gives?|get|got|achieves?|brings?|reach\w*)(?: \w+)? (?:an? )?(?:[12]\.\d|1|2) ?x|\bexpect\w* (?:at least |about |around |an? |some )?\d{{1,3}} ?(?:x|times)\b|\b(?:the )?same (?:as|with|on|for) (?:on |with |for |the |my )*cpu\b|{_GAIN}[^.\n]{{0,20}}\b(?:not|in|un)[- ]?(?:noticeable|significant|visible)|\b(?:negligible|marginal) (?:\w+ )?{_GAIN}|\bonly (?:slightly|a bit|a little|marginally|\d(?:\.\d)?(?:x|%| times| seconds| ?s)) (?:\w+ )?faster"
    r"|\b(?!(?<=at )the same time)(?!(?<=at the )same time)(?:the )?(?:very |exact(?:ly)? |about the |just the |almost the |roughly the )?(?:same|similar|equal|identical|comparable)(?: \w+){0,2}? (?:time|speeds?|performance|fps|duration|runtime|rate|throughput|amount of time|number of \w+(?: \w+){0,2} per second)\b|\bslow (?:both )?on (?:both )?(?:the )?(?:cpu and (?:the )?gpu|gpu and (?:the )?cpu)\b|\bas (?:long|slow(?:ly)?|fast|much time) (?:as|with)\b(?! (?:[\w-]+ ){1,3}?(?:is|isn't|are|aren't|was|wasn't|has|hasn't|does|doesn't|do|don't|did|didn't|can|can't|stays?|remains?)\b)|\b(?:just|exactly|precisely|still) as (?:long|slow)|\b(?:time|speed|duration|fps)\b[^.\n]{0,30}\b(?:is|are|was|stays|remains) (?:\w+ )?(?:the )?same\b"
    r"|\b(?:little|small|few) (?:\w+ )?difference\b|kein(?:en|e)? (?:unterschied|vorteil|geschwindigkeits)|nicht schneller|genauso (?:lang|langsam)|没有(?:提升|加速|区别|变快|差别)|速度没(?:有)?(?:升|提|快)|反而(?:会|还)?(?:更慢|变慢|变得更慢|慢|降|下降)|(?:速度|时间|耗时|用时)[^。\n%]{0,6}差不多|cpu ?(?:都)?差不多|差不多(?:快|慢|一样|的?(?:速度|时间))|一样(?:慢|快)|速度(?:都|是)?(?:一样|相同|没变)|快不了多少|\u043d\u0435 \u0431\u044b\u0441\u0442\u0440\u0435\u0435|\u043d\u0435\u0442 \u0440\u0430\u0437\u043d\u0438\u0446\u044b|sin diferencia|pas plus (?:vite|rapide)|no (?:es|va) más rápid|mesma velocidade"
)
_WORSE = r"(?:(?<!slower and )slower(?! and slower)|(?<!no )(?<!any )longer|more time|worse|(?<!-)slowly(?!-)|langsamer|länger|\u043c\u0435\u0434\u043b\u0435\u043d\u043d\u0435\u0435|\u0434\u043e\u043b\u044c\u0448\u0435|más lent\w|plus lent\w{0,3}|plus de temps|mais lent\w|mais devagar|更慢|还慢|还要慢|慢|tarda (?:el doble|más)|leva o dobro|doppelt so|dobro|doble|deux fois|twice (?:the|as|that)|double the|\d(?:\.\d)? ?(?:x|times) (?:the |as |longer|slower)|x ?\d(?:\.\d)? (?:the |as |longer|slower))"
_BETTER = r"(?:faster|quicker|beats|outperforms|schneller|\u0431\u044b\u0441\u0442\u0440\u0435\u0435|más rápid\w|plus vite|plus rapide|mais rápid\w|更快|快)"
_SLOWER = Pattern(
    rf"(?i){_SUBJECT}(?:(?!\bcpu\b[^.\n]{{0,20}}\bthan\b)[^.\n]){{0,80}}?(?<!\w){_WORSE}(?!\w)|(?<!\w){_WORSE}(?!\w)[^.\n]{{0,40}}?{_SUBJECT}|{_C}[^.\n]{{0,60}}?(?<!\w){_BETTER}(?!\w)|(?<!\w){_BETTER} (?:on|with|by|using) (?:the |my |an? )?{_C}[^.\n]{{0,12}}\bthan\b|比(?:用|在|使用|跑)? ?CPU ?(?:上|跑|训练|版)?(?:还|更|要)?[^.\n]{{0,4}}慢|(?:GPU|显卡)[^。\n]{{0,12}}(?:没有?|不如|不比|赶不上|比不上) ?CPU|\btensorflow[-_]gpu\b[^.\n]{{0,40}}\b(?:slower|longer) than\b|\bslower than (?:plain |pure |simple )?(?:numpy|scikit|sklearn|python|opencv|(?:the |my )?cpu)\b|\b{_G} slows\b|\b{_G} with \w+ slows\b"
)
_TOOK = r"(?<![A-Za-z0-9_.])(?P<n>\d{1,6}(?:[.,]\d{1,3})?) ?(?P<u>ms|s|secs?|seconds?|sek\w{0,5}|mins?|minut\w{0,2}|h|hours?|fps|(?:it|iter\w*|steps?|images?|samples?|frames?)(?: ?/ ?| per )s(?:ec(?:ond)?)?|\u0441\u0435\u043a\u0443\u043d\u0434\w?|\u79d2)\b"
_TIMED_BEHIND = Pattern(
    rf"(?i){_TOOK}(?: ?/ ?\w{{3,9}}| per \w+| each)? (?:(?:on|with|by|using|in|for|at|auf|mit|na|en la|sur|avec|\u043d\u0430) )(?:the |my |an? |der |le )?(?:tensorflow[- ]|[\w-]{2, 8} )?(?P<who>cpu|gpu)\b"
)
_TIMED_BEFORE = Pattern(
    rf"(?i)(?<![A-Za-z])(?P<who>cpu|gpu)(?![A-Za-z])(?: ?\([^()\n]{{1,30}}\))?[^.\n\d]{{0,36}}?{_TOOK}"
)
_A_CARD = Pattern(
    r"(?i)\b(?:(?:geforce |nvidia |tesla |quadro )*(?:[rg]tx ?\d{3,4}|[2-5]0[5-9]0|10[5-8]0|titan(?: \w{1,3})?|[vpta]100|[kt][48]0?)(?: ?ti| super)?)\b"
)
_WITHOUT_IT = Pattern(r"(?i)\b(?:without|w/o|no|ohne|sans|sin|sem|\u0431\u0435\u0437)(?: an?| the| any| la| le)? gpu\b")
_BY_IT = Pattern(
    rf"(?i){_C}|\b(?:with|from|on|using|of|by|to|for|use|between|your|any) (?:the |my |a |an )?{_G}(?! drivers?)|^\W*(?:the |my |a )?{_G}(?! drivers?)|\btensorflow-gpu\b|\b{_G} (?:does|brings?|gives?|is|makes?|accel\w*|support makes)"
)
_TRIED = Pattern(
    r"(?i)\b(?:drivers?|re-?install\w*|(?:up|down)grad\w*|re-?boot\w*|cudnn|uninstall\w*|path|environment variable)\b"
)
"""What was tried in vain."""
_THAN = Pattern(r"(?i)\bslower than (?:plain |pure |simple )?(?:numpy|scikit|sklearn|python|opencv)\b")
_OTHER_CARD = Pattern(
    rf"(?i)\b(?:better|faster|newer|new|bigger|stronger|more powerful|expensive|another|upgraded) (?:gpu|card|graphics card)\b|\b(?:mov|switch|upgrad|chang|went|go|swapp)\w{{0,3}} from (?:an? |the |my |\w+ )?{_G}[^.\n]{{0,20}} to (?:an? |the |my |\w+ )?{_G}|\bon (?:an? |the |my )?{_G} and (?:an? |the |my )?(?:on )?{_G}"
)
_IN_VAIN = Pattern(
    r"(?i)(?<!not )(?<!n't )\bfaster (?:on|with|using) (?:the |my )?cpu\b|^\W*(?:the |my |and )?cpu (?:is |was |runs |trains |seems )?(?:even |slightly |a (?:bit|little) |much )*faster\b|\b(?:performance|speed) (?:has |did |does |is |was )?(?:not|n't)(?: really)? (?:improv|increas|better)\w*"
)
"""Who names the GPU elsewhere."""
_BEATS = Pattern(
    rf"(?i){_C}[^.\n]{{0,60}}?{_BETTER} than\b|(?<!\w){_BETTER} (?:on|with|by|using) (?:the |my |an? )?{_C}[^.\n]{{0,12}}\bthan\b"
)
_OTHERS = Pattern(
    r"(?i)\bthan (?:the |my |on |with |a |an )*(?:own |home )?(?:pc|desktop)\b|\bthan (?:the |my |on |with |a |an )*(?:other|second|old|another|friend|colleague|previous|\d|[rg]tx|v100|k80|t4|titan)|\b(?:single|one|multi)[- ]?gpu\b|\btwo gpus\b"
)
_ASKED = Pattern(
    r"(?i)\b(?:whether|is it possible|possible to|how much (?:slower|faster|time)|how (?:slow|fast|long|many)\b|will it|would (?:it|that|be)|can I expect|could be expected|should I|should be (?:slower|faster)|do you expect|which (?:gpu|card)|converge\w*|release notes)\b"
)
_OF_RESULTS = Pattern(
    r"(?i)\b(?:accura\w+|results?|loss(?:es)?|metrics?|outputs?|precision|scores?|predictions differ|weights|converg\w+|gradients?|mAP)\b"
)
_OF_TIME = Pattern(
    r"(?i)\b(?:times?|speed\w*|fast\w*|slow\w*|long\w*|fps|seconds?|minutes?|hours?|epochs? takes?|ms|s/step|perform\w+|accel\w*|quick\w*)\b|速度|时间|[快慢]"
)
_TO_THE_CPU = Pattern(
    r"(?i)\b(?:as|than|then|with|on|to|and|vs\.?|or|equals?) (?:on |with |using |the |my |a )*cpu(?: only| alone| mode)?"
)
NAMES_GPU = Pattern(rf"(?i){_SUBJECT}")
_CPU = Pattern(rf"(?i){_C}")
_SLOW_ON_IT = Pattern(
    rf"(?i)\b(?:slow|slowly|so long|too long|very long|forever|ages|only \d(?:\.\d)? ?fps|\d(?:\.\d)? ?fps|speed up|speeding up)\b[^.\n]{{0,80}}?(?<!not )\b(?:on|with|using|even with|despite|though|have|for)\b(?:(?!\bnot\b)[^.\n]){{0,30}}?{_SUBJECT}|{_SUBJECT}[^.\n]{{0,60}}?(?:\b(?:is|are|was|very|too|so|super|really|extremely|but|training|pretty|quite) (?:\w+ )?(?:slow|slowly)\b|\bslow\b|\b\d(?:\.\d)? ?fps\b|\btook \d{{1,2}} hours)"
)
_FRIEND = Pattern(
    r"(?i)\b(?:friends?|colleagues?|author|others|paper|readme|someone else)\b[^.\n]{0,60}\b(?:needs?|takes?|gets?|says?|reports?|reached|only)\b[^.\n]{0,20}\d"
)
_FOUND = Pattern(
    rf"(?i){_SUBJECT}[^.\n]{{0,30}}?\b(?:is |was |are |has been |gets )?(?:found|detected|recogni[sz]ed|visible|seen|listed|used correctly|enabled|on)\b|\b(?:sees|finds|detects|lists|recogni[sz]es|uses) (?:the |my |it|a )?{_G}|\b(?:memory|MiB|process|vram)\b[^.\n]{{0,40}}\b(?:allocated|used|full|taken|occupied|appears|filled)\b|\b(?:allocat\w+|lists the python|device was created|Created TensorFlow device)|显存[^。\n]{{0,6}}(?:占满|满了|用完)|\bpython\b[^.\n]{{0,30}}\b(?:appears|listed|shows up) in nvidia-smi|gpu_device_name\(\) gives /device:GPU"
)
_HOT = Pattern(
    r"(?i)\b\d{2,3} ?(?:°|degrees|celsius)|°C|\b(?<!not )(?<!no )(?<!not the )(?:over)?heat\w*|\btoo hot\b|\bthrottl\w+|\bclocks? (?:drops?|falls?|speed)|\bon battery\b|\bunplugged\b|\bpower (?:limit|cap)\b|\b(?:another|other|somebody|colleague\w*)(?: \w+){0,3} (?:uses|trains|runs|process) (?:\w+ ){0,2}(?:on )?(?:the |this )?(?:same )?gpu|nr_throttled|cpu limit|\bkilled\b|\bkill process\b|\bsegmentation fault|\bcore dumped|mixed[_ ](?:precision|float16)"
)
_ON_BATTERY = Pattern(
    r"(?i)\b(?:on|from|using|runs? on) (?:the )?battery\b|\bunplugged\b|\b(?:without|not|un) ?(?:the )?(?:plugged|charger|power adapter|ac adapter)|\bbattery (?:mode|power|saver)"
)
_FULL = Pattern(r"(?i)\bout of memory|\bOOM\b|\bresource ?exhausted|显存不足|爆显存")
_PACE = Pattern(r"(?i)\b(?:slow\w*|fast\w*|speed\w*|long|low|under-?utili\w+)\b|慢")
"""Who runs out of memory tells of the GPU's use by the way, but where he finds it slow."""
_FEW_CPUS = Pattern(
    r"(?i)\bnr_throttled\b|\bcpu[- ]?(?:limit|quota|request)s?\b[^.\n\d]{0,16}(?:[12]|0?\.\d|\d{3}m)\b(?!\d)|--cpus[= ](?:[12]|0?\.\d)\b|\b(?:only|just|with|has) (?:one|1|two|2) (?:v?cpus?|cores?|processors?)\b(?! (?:is|are|at|in use|used|busy|works?))"
)
_DEGREES = Pattern(r"(?i)(?<!\d)(?:8\d|9\d|1[01]\d) ?(?:\u00b0|degrees|celsius|C\b)")
_GETS_SLOW = Pattern(
    r"(?i)\b(?:gets?|becomes?|became|got|then|after)\b[^.\n]{0,30}\bslow|\bslows? down|\bfps (?:dropp?(?:s|ed)?|falls?|fell)|\bslower (?:and|after|over)|\bthrottl"
)
_SLOWER_THERE = Pattern(r"(?i)\b(?:slow\w*|half (?:as|the|of)|longer|drops?|fps|speed)\b")
_SEVERAL = Pattern(
    rf"(?i)\b(?:[2-9]|two|three|four|eight|both|multiple|several|all|second|other|multi)[ -](?:x )?(?:\w+ )?(?:gpus|cards|v100s?|a100s?|graphics cards|[rg]tx \w+s)\b|\b[2-9] ?x ?{_G}|\bMirroredStrategy\b|\bmulti[- ]?gpu|\bGPU ?[01]\b[^.\n]{{0,80}}\bGPU ?[123]\b|\b(?:other|second) (?:one|gpu|card)\b|\bhorovod\b"
)
CHEERS = Pattern(
    r"(?i)\b(?:all good|everything (?:is|works) (?:fine|ok|great)|works? (?:great|perfectly|very well)|is fine|that's fine|well done|awesome)\b|\b(?:\d{1,3} ?x|\d{1,3} times|twice|much|way|a lot) (?:as )?(?:faster|as fast|fast) (?:than|as|now|on (?:the |my )?gpu)[^.\n]{0,30}|\b(?:takes?|took|needs|needed) (?:just|only) \d"
)
_WORK = Pattern(
    r"(?i)(?<!\d)[345]0[6-9]0(?!\d)|\b(?:tensorflow|tf|keras|train\w*|inf[e\u00e9]r[e\u00ea]n\w+|pr[e\u00e9]di\w+|vorhersage\w*|entren\w+|trein\w+|epochs?|epochen?|models?|modell\w*|utili[sz]ation|(?:first|1st) (?:step|iteration|batch)|sess(?:ion)?\.run|generator)\b|训练|预测|推理|\u043e\u0431\u0443\u0447\u0435\u043d|\u043f\u0440\u0435\u0434\u0441\u043a\u0430\u0437"
)
_DESKTOP = Pattern(r"(?i)\btask ?manager\b")
"""It shows what draws."""
_BUT = Pattern(r"(?i)\b(?:but|why|slow\w*|problem|issue|only|wrong|however|low|help|no|not|cannot)\b|n't\b|\?")

# ------------------------------------------------------------------- what it does

SHORT = Pattern(
    r"(?i)\b(?:reinforcement|(?:deep )?rl\b|agents?\b|episodes\b|(?:per|each|every|an) episode\b|episode[ _]reward|self-?play\w*|mcts|alpha-?(?:go|zero)|mu-?zero|gym|baselines|cart-?pole|atari|mujoco|cheetah|environments?'? ?steps?|stepping the|d?dqn|double dqn|ppo2?|a[23]c|ga3c|trpo|m?a?ddpg|td3|sac|ml-agents|q-learning|evolution\w*|NEAT|genetic)\b"
    r"|(?<![A-Za-z])(?:bi-?)?(?:lstm|gru|rnn)s?(?![A-Za-z])|\b(?:mlp|cnn)?(?:mlp|lstm)\w{0,6} ?policy|\brecurrent|\bseq2seq|\bchar(?:acter)?[- ](?:level|rnn)|\bwhile_loop\b|\btime ?series\b|\bdiet classifier|\brasa\b|\bchat ?bot\b"
    r"|\b(?:fashion[- ])?mnist\b|\biris\b|\bxor\b|\b28 ?x ?28\b|\b(?:one|two|three|single|few|\d{1,2})(?: \w+){0,2} (?:dense|hidden|fully[- ]connected|layers?|neurons|units)\b|\bDense layers?\b|\bDense\(|\bone layer|\b\u043f\u0435\u0440\u0446\u0435\u043f\u0442\u0440\u043e\u043d|\b\u0438\u0437 \u0434\u0432\u0443\u0445 \u0441\u043b\u043e\u0435\u0432|\b\u0434\u0432\u0443\u0445 \u0441\u043b\u043e\u0435\u0432|\b(?:small|tiny|simple|toy|shallow|little|kleines?|petit|peque\w+|pequen\w+|\u043f\u0440\u043e\u0441\u0442\u0430\u044f) (?:[\w-]+ ){0,2}(?:models?|net\w*|nn|mlp|cnn|autoencoder|classifier|red|réseau|rede|\u0441\u0435\u0442\u044c|dataset|example|network)\b|\bred pequeña|\brede pequena"
    r"|\bbatch[_ -]?size ?(?:=|of|:|is)? ?[124]\b(?!\d)|\b(?:one|single) (?:request|sample|image|frame|position|sentence|example|picture) (?:at a time|by one|after (?:the )?(?:an)?other)|\bone (?:by|after) (?:one|another)\b|\bfor each (?:single )?(?:sample|image|row|frame|move)|\bpredict\w*\b[^.\n]{0,40}\b(?:in a|for) (?:for[- ])?loop|\beach (?:single )?(?:call|individual)|\bpredict\(\)? (?:one|for)|\b(?:train|predict)_on_batch|\bshape\b[^.\n]{0,12}\(\(?1, ?\d|\binput of \(1, ?\d|\b(?:single|one) (?:sample|prediction|image|frame|call)\b[^.\n]{0,20}(?:\d ?ms|latency)|\b(?:latency|\d ?ms)\b[^.\n]{0,20}\b(?:for|of) (?:a |one |single )+(?:sample|prediction|image|frame|call)|\bpredict\w*\b[^.\n]{0,30}\bfor each\b|\beager\b|\bGradientTape|\bunbatched\b|\btrading bot\b|\btiny\b"
)
HEAVY = Pattern(
    r"(?i)\bimagedatagenerator|\bgenerators?\b|\baugment\w*|\bfeed_?dict|\bdis[ck]s?\b|\bhdd\b|\bnfs\b|\bnetwork (?:drive|share|storage)|\b(?:google|my) drive|\btf_?records?\b|\b(?:data|image|file)[- ]?(?:set )?(?:load\w*|read\w*|pipeline|prep\w*)|\bloader\b|\bsequence\b(?! (?:length|len\b|lab\w+|tagg\w+|model\w*|to|of|size))|\bimread|\bjpe?gs?\b|\bprefetch|\binput (?:pipeline|queue|_fn)|\bnum_workers|\bnum_parallel|\bimages from\b|\bflow_from|\btf\.data\b|\bqueue|\bcoco\b|\bimagenet\b|\bobject detection api|\bu-?net\b|\bmask[- ]?r-?cnn|\byolo|\bebs\b|\bresiz\w+|\b\u043f\u0440\u043e\u0446\u0435\u0441\u0441\u043e\u0440 \u0437\u0430\u0433\u0440\u0443\u0436\u0435\u043d|\bcpus? ?[:\uff1a=] ?[12]\b(?!\d)|\bCPU[^.\n%]{0,40}(?:(?:100|9\d|[2-9]\d\d|1\d\d\d) ?%|\bmax\b|maxed|full|\u0432\u0441\u0435 \u044f\u0434\u0440\u0430)|\b(?:my|own|custom) (?:own )?(?:data ?sets?|images|data)\b|图片|数据集|数据(?:读取|加载|预处理)|预处理|imágenes|imagens|\w{3,12}generator\b|\bgenerador|\bgerador|\bg\u00e9n\u00e9rateur|\b(?:daten|bild)\w{0,6}lader\b|\bpandas\b|\bcsv\b"
)

_ONE_CORE = Pattern(
    r"(?i)(?:\bCPU\b\W{0,3})?\b(?:one|1|(?:a )?single)(?: (?:out )?of (?:the |my )?(?:\d{1,3}|all))?(?: \w+)?? (?:cpus?|cores?|threads?|processors?)\b[^.\n%]{0,40}%?|\bsingle-core\b[^.\n%]{0,40}%?|\b(?:100|9\d) ?% (?:of|on) (?:only |just )?(?:one|1|a single) (?:cpu )?(?:core|thread)\b"
)
"""Which drives the GPU: it makes no data for it."""


class _Busy(NamedTuple):
    """How busy somebody's GPU is, of what he writes."""

    low: int = 0
    high: int = 0
    zero: bool = False
    swings: bool = False

    def beside(self, other: _Busy) -> _Busy:
        """Both together."""
        return _Busy(max(self.low, other.low), max(self.high, other.high), *map(max, self[2:], other[2:]))


def of_people(lines: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The first of those that no program's log holds, as many as are looked at."""
    written = (one for one in lines if len(one[1]) <= _LONG_LINE and not _PATH.fullmatch(one[1]))
    kept = (one for one in written if not alike.is_log(one[1][:LONGEST]))
    return list(itertools.islice(kept, _MOST))


def settle(notes: Notebook, lines: Iterable[tuple[int, str]]) -> None:
    """Notes what the lines of a text come to together: (number, text), …"""
    people = of_people(line for line in lines if "throttle_reasons" not in line[1])
    kinds = {e.kind for e in notes.events if not (e.kind == "empty-list-said" and _ASSIGNED.match(e.text))}
    told = list(_told(people, kinds))
    if "machine-goes-down" in kinds:  # what the load is like is said beside it
        told = [e for e in told if e.kind != "gpu-hardly-used"]
    idles = any(e.kind == "gpu-hardly-used" for e in told) and not any(e.symptom for e in notes.events)
    if idles or "idle-with-memory-said" in kinds:
        notes.events[:] = [e for e in notes.events if e.kind != "takes-all-memory"]  # as it always does
    notes.events.extend(told)


_PATH = Pattern(r"[A-Za-z0-9_.-]*/[A-Za-z0-9_./-]+")
_ASSIGNED = Pattern(r"(?i)\s{0,40}(?![\w.]{0,40}(?:gpu|device))[\w.]{1,40} ?= ?\[\]\s{0,4}$")
"""A program's text, which fills a list later."""
_OF_SEVERAL = {"several-no-faster", "one-works-said"}
"""Of several GPUs: the first run is the one on one of them."""


def _told(lines: list[tuple[int, str]], kinds: set[str]) -> Iterator[TextEvent]:
    whole = "\n".join(text for _, text in lines)
    if kinds & _TELLS_MORE:
        return
    low = f"{whole.lower()} "
    if not any(word in low for word in _GATE) or not (NAMES_GPU.search(whole) or _WORK.search(whole)):
        return
    if card_speeds.explain(whole):
        return
    cheers = CHEERS.search(whole) is not None and not _BUT.search(CHEERS.sub(" ", whole))
    spoken = [(number, one) for number, text in lines for one in sentences(text)]
    tells = not cheers and not kinds & _OF_SEVERAL and (first_use.MINUTES.search(whole) or first_use.LONG.search(whole))
    first = first_use.told(spoken, _ASKED) if tells else None
    if first is not None:
        yield _event("start-takes-minutes" if first[2] else "start-is-slow", first[0], first[1], _SLOW)
    if SHORT.search(whole):
        yield _event("work-is-short", *at(lines, SHORT), None)
    if HEAVY.search(_ONE_CORE.sub(" ", whole)):
        yield _event("input-is-heavy", *at(lines, HEAVY), None)
    if _ON_BATTERY.search(whole) and _SLOWER_THERE.search(whole):
        yield _event("slow-on-battery", *at(lines, _ON_BATTERY), _SLOW)
    if _DEGREES.search(whole) and _GETS_SLOW.search(whole):
        yield _event("slow-and-hot", *at(lines, _DEGREES), _SLOW)
    if _FEW_CPUS.search(whole) and _OF_TIME.search(whole):
        yield _event("processors-limited-said", *at(lines, _FEW_CPUS), _SLOW)
    full = _FULL.search(whole) is not None and not _PACE.search(whole)
    if (
        first is None
        and not cheers
        and not full
        and not _HOT.search(whole)
        and not (_SEVERAL.search(whole) and kinds & _OF_SEVERAL)
        and "several-no-faster" not in kinds
    ):
        yield from _of_speed(spoken, whole)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a line, each no longer than one is looked at."""
    for one in _END.sub("\n", text).split("\n"):
        if one.strip():
            yield one.strip()[:_SENTENCE]


def _event(kind: str, line: int, text: str, symptom: str | None) -> TextEvent:
    return TextEvent(line=line, language=LANGUAGE, kind=kind, text=text[:LONGEST], values={}, symptom=symptom)


def at(lines: list[tuple[int, str]], pattern: Pattern) -> tuple[int, str]:
    """The first line that matches, with its number; else the first of all."""
    return first_of(lines, pattern) or lines[0]


def _of_speed(sentences: list[tuple[int, str]], whole: str) -> Iterator[TextEvent]:
    """Of the GPU at work: it idles, is no faster than the processor, or slow."""
    busy, subject, swings = _Busy(), False, False
    found: dict[str, tuple[int, str]] = {}
    rest: list[str] = []
    for number, one in (*sentences, *_pairs(sentences)):
        if _LIMITS.search(one):
            continue
        compared = tuple(_compared(one, whole))
        if _DESKTOP.search(one) and "cuda" not in one.lower():
            found.update({kind: (number, one) for kind in compared if kind not in found})
            continue
        told, subject = _busy(one, subject)
        busy = busy.beside(told)
        swings = swings or _SWINGS.search(one) is not None
        left = _TO_THE_CPU.sub(" ", one) if compared else one
        rest.append(NO_GAIN.sub(" ", _SWINGS.sub(" ", _IDLE.sub(" ", left))))
        kinds = ["low"] if told.low or told.swings else []
        kinds += ["idle"] if _IDLE.search(one) or _SWINGS.search(one) else []
        for kind in (*kinds, *compared):
            found.setdefault(kind, (number, one))
    known = _FOUND.search(whole) is not None
    works = busy.low > _NEXT_TO_NOTHING or busy.swings or (busy.low > 0 and known)
    at_odds = SHORT.search(whole) is not None and {"gpu-no-faster", "gpu-slower-than-cpu"} & found.keys()
    if not works and not known and not at_odds and any(says_no_gpu(one) for one in rest):
        return
    full = busy.high >= _AT_WORK and not busy.swings and not swings
    if full and not busy.low:
        found.pop("idle", None)
    kind = next(
        (kind for kind in ("faster-card-no-faster", "gpu-slower-than-cpu", "gpu-no-faster") if kind in found), ""
    )
    idles = "low" in found or "idle" in found
    if kind and not (idles and kind == "gpu-no-faster" and not _CPU.search(found[kind][1])):
        yield _event(kind, *found[kind], _SLOW)
    elif idles:
        yield _event("gpu-hardly-used", *found.get("low", found.get("idle", sentences[0])), _SLOW)
    elif "slow-on-gpu" in found and (known or not busy.zero) and not full:
        yield _event("slow-on-gpu", *found["slow-on-gpu"], _SLOW)


def _pairs(spoken: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Two lines of a list, one with the time of a processor, one with that of a GPU, as one sentence."""
    timed = [(number, one, times(one)) for number, one in spoken if len(one) <= _OF_A_LIST]
    for (number, one, took), (_, other, too) in itertools.pairwise(timed):
        if len(took) == 1 and len(too) == 1 and took.keys() != too.keys():
            yield number, f"{one.rstrip('.')}, {other}"


_OF_A_LIST = 80
"""Characters of a line."""
_AS_FAST = Pattern(
    r"(?i)\b(?:twice|(?:\d(?:\.\d)?|two|three|four|several) ?(?:x|times)) as (?:fast|quick(?:ly)?)\b|\bas fast as (?:always|ever|before|usual|yesterday)\b"
)
"""Who gains, or has what he had."""


def _compared(sentence: str, whole: str) -> Iterator[str]:
    """What a sentence says of a GPU beside a processor, another card or what somebody else has."""
    if _AS_FAST.search(sentence) or _ASKED.search(sentence) or (_HALVES.search(sentence) and not _CPU.search(sentence)):
        return
    timed, gain = _timed(sentence), NO_GAIN.search(sentence)
    no_gain = gain is not None and (_OF_TIME.search(gain[0]) is not None or _BY_IT.search(sentence) is not None)
    if no_gain and _TRIED.search(sentence):
        no_gain = False
    named = NAMES_GPU.search(sentence) is not None
    others = _OTHERS.search(sentence) is not None and _BEATS.search(sentence) is None
    named = named or _THAN.search(sentence) is not None
    if not named and _IN_VAIN.search(sentence) and NAMES_GPU.search(whole):
        yield "gpu-no-faster"
    if timed > _MORE or (named and not others and _SLOWER.search(sentence) and not CHEERS.search(sentence)):
        yield "gpu-slower-than-cpu"
    of_results = _OF_RESULTS.search(sentence) is not None and not _OF_TIME.search(sentence)
    if timed or (no_gain and not of_results and not others and (named or _CPU.search(sentence))):
        yield "gpu-no-faster"
    if no_gain and (_OTHER_CARD.search(sentence) or (_OTHER_CARD.search(whole) and not _CPU.search(whole))):
        yield "faster-card-no-faster"
    if _SLOW_ON_IT.search(sentence) or (_FRIEND.search(sentence) and "gpu" in whole.lower()):
        yield "slow-on-gpu"


_HALVES = Pattern(r"(?i)(?<![a-z])b?float ?-?16|\b(?:b?f|fp|bf)16\b|\bhalf precision|\bmixed[- _]precision")
"""Compared with float32, and not with the processor."""
_TELLS_MORE = {
    "lists-cpu", "lists-no-gpu", "empty-list-said", "library-not-loaded", "cuinit-failed", "no-machine-code", "cache-not-kept", "compute-cache-named",
}  # fmt: skip
"""Kinds of lines that tell why it is so."""
_NEXT_TO_NOTHING, _LITTLE, _AT_WORK = 3, 60, 85
"""Percent: what a desktop draws; at most, of a GPU that waits; and at least, of one that doesn't."""
_MORE, _NEARLY = 1.1, 0.75


def _busy(sentence: str, subject: bool) -> tuple[_Busy, bool]:
    """What a sentence says of how busy a GPU is; whether the next one goes on about it."""
    low = high = 0
    zero = False
    whose = list(_WHOSE.finditer(sentence))
    for found in _PERCENT.finditer(sentence):
        if _NO_PERCENT.match(sentence[found.end() :]):
            continue
        before = [one for one in whose if found.start() - _NEAR <= one.start() < found.start()]
        behind = [one for one in whose if found.end() <= one.start() <= found.end() + _BEHIND]
        said = _OF_WHAT.match(sentence[found.end() :]) or (before[-1] if before else behind[0] if behind else None)
        if said["other"] is not None if said is not None else not subject:
            continue
        value = max(int(found["a"]), int(found["b"] or 0))
        zero = zero or value == 0
        low = max(low, value) if 0 < value <= _LITTLE else low
        wished = _WISHED.search(sentence[max(0, found.start() - _NEAR) : found.start()])
        high = max(high, value) if value > _LITTLE and not wished else high
        if found["b"] and min(int(found["a"]), int(found["b"])) <= _LITTLE / 4 < value:
            zero, low = True, max(low, 1)
    swings = zero and (high > 0 or low > _NEXT_TO_NOTHING or _MOSTLY.search(sentence) is not None)
    goes_on = whose[-1]["gpu"] is not None if whose else subject
    return _Busy(low, high, zero, swings), goes_on


_WISHED = Pattern(
    r"(?i)\b(?:attempts?|want|wish|hope|goal|aim|like|trying|try|how (?:to|can|do|could)|should|expect\w*|would|supposed|ideally|closer? to|not (?:\w+ )?(?:at|to|near|reach\w*)|n't (?:\w+ )?(?:at|to|near|reach|get)|never(?: \w+)? (?:at|to|near|above|over|reach\w*))\b[^.;%]*$"
)
"""Who speaks so of a number does not have it."""
_OF_WHAT = Pattern(
    r"(?i) ?(?:of|on|for) (?:the |my )?(?:\w{1,12} ){0,2}?(?:(?:of|on) (?:the |my )?)?(?:(?P<gpu>v?gpus?|cuda|compute)|(?P<other>cpus?|v?ram|memory|cores?))\b"
)
_MOSTLY = Pattern(r"(?i)\b(?:mostly|most of|sometimes|often|nearly always|almost always|between)\b")
_NEAR, _BEHIND = 70, 24
"""Characters between a number and whose it is."""
_UNITS = {"m": 0.001, "s": 1.0, "\u0441": 1.0, "秒": 1.0, "h": 3600.0}


def _timed(sentence: str) -> float:
    """The GPU's time by the processor's; 0: they are not both told, or the GPU is clearly faster."""
    took = times(sentence)
    if len(took) < 2 or not took["cpu"]:
        return 0.0
    by = took["gpu"] / took["cpu"]
    return by if by >= _NEARLY else 0.0


def times(sentence: str) -> dict[str, float]:
    """What a sentence tells of how long each takes: {"cpu": seconds, "gpu": seconds}."""
    sentence = _A_CARD.sub("GPU", _WITHOUT_IT.sub("CPU", sentence))
    took: dict[str, float] = {}
    for form in (_TIMED_BEHIND, _TIMED_BEFORE):
        for one in form.finditer(sentence) if len(took) < 2 else ():
            unit, number = one["u"].lower(), float(one["n"].replace(",", "."))
            scale = 60.0 if unit.startswith("min") else _UNITS.get(unit[0], 1.0)
            rate = unit == "fps" or "/" in unit or " per " in unit
            took.setdefault(one["who"].lower(), (1 / number if number else 0.0) if rate else number * scale)
    return took
