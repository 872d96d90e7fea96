"""What people say of several GPUs: that one of them works, that they are no faster than one, that the machine goes down under them.

Few say it in one line: the title names the strategy, a sentence below it says 'slower'. So each clause is asked for the words of one
matter, wherever they stand in it; what is said is told at the end, as somebody's complaint: it counts where no line of a program shows
a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import COMPLAINT, TextEvent
from ..patterns import Pattern
from .language import LONGEST, Understood
from .notebook import Notebook
from .several_abroad import COMES_DOWN, HANGS, NO_FASTER, ONE_WORKS, SEVERAL, SLOW
from .several_rates import Rates, takes_more
from .several_tables import Tables

LANGUAGE = COMPLAINT
WORDS = (
    "GPU", "gpu", "Gpu", "ard", "trategy", "orovod", "orker", "istributed", "cal", "boot", "start", "hut", "off", "rash", "goes", "dies", "power", "dle", "dling", "nused", "arallel", "100", "0%", "0 %", "speed", "aster", "ower", "ained", "/s", "卡", "重启", "关机",
    "\u043e\u043c\u043f\u044c\u044e\u0442\u0435\u0440", "\u0435\u0440\u0432\u0435\u0440", "\u043e\u0434\u043d\u0430", "\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442", "einici", "apaga", "arten", "karte", "placa", "arjeta", "carte", " otra", "outra", "autre", "TX", "redémarr", "desliga", "neu", "PC", "pc ", "bored", "nly ", "neck", "100%", "100 %", "odels", "rojects", "rograms", "MiB /", " MB |", "   C   ", "node", "achine", "host", "机", "台", "Worker", "Node", "achines", "nstances", "quicker", "Single", "Dual", "ngpu", "-np", "proces", "2x ", "0Ti", "0ti", "0 Ti", " load", "econd", "thers", "replica", "K80", "\ubc88", "\uac1c", "\ub098\uba38\uc9c0", "\u679a", "nvidia-smi", "ccupied", "nput", "oading", "rocessing", "using both", "sing just", "qual", "alf", "halv", " np ",
)  # fmt: skip
_FLAGS = re.IGNORECASE
_LINES, _LENGTH = 1500, 1500
"""Lines that are read, and characters of one: nobody writes more."""
_LOGGED = Pattern(
    r"\d{4}-\d\d-\d\d[ T]\d\d:|[IWEF]\d{4} \d\d:|\[ *\d+\.\d+\]|File |>>> |\||\+-|.{0,120}\.(?:cc|cpp|h|py|cu):\d"
)
_TAG = Pattern(r"^\s{0,4}\[[\w /-]{1,20}\] ?|(?i:\b(?:tensorflow|keras|tf)[-_]gpu[ =v]{1,4}\d{1,2}\.\d[\w.]*)")
"""What is no part of a sentence: an issue's tag, and a package whose version reads like a GPU's number."""
_CLAUSE = Pattern(
    r"(?<=[.!?;])\s+|\.{3} ?|, ?but\b|\bbut\b|\bhowever\b|\balthough\b|\bthough\b|\bwhereas\b|\byet\b|, (?=how (?:to|can|do|could|should)\b)|[。\uff1b\uff01\uff1f]"
)

_SERIES = r"(?:(?:geforce |nvidia |tesla |quadro )*(?:[gr]tx ?-?\d{3,4}|titans?(?: ?\w{1,3}\b)?|[2345]0[5-9]0|10[5-8]0|[vpatkmlh]\d{1,3}|a\d000)(?:[ -]?ti)?s?)"
_CARD = rf"(?:gpu'?s?|(?:(?:graphics?|video|gpu) )?cards?|{_SERIES})"
_NUMBER = (
    r"(?:(?<![\w.])(?:[2-9]|1[0-6])(?!\d|[.,]\d)|two|three|four|five|six|seven|eight|dual|both|several|multiple|multi)"
)
_NAMING = r"(?!(?:the|an?|my|of|in|on|at|and|to|it|is|per|for|with|min\w*|secs?|seconds?|hours?|days?|times?|epochs?|steps?|gb|new|old)\b)[\w-]{1,12}"
"""What may stand between a number and the cards."""
_STRATEGY = r"(?:mirrored ?strategy|multi_gpu\w{0,8}|multi[- ]?worker\w{0,18}|distribut(?:ed|ion|e)[ _.]?(?:training|strateg\w{1,3}|tf\b|tensorflow|learning|mode)|tf\.distribute|parameter ?servers?|horovod(?:run)?|data[- ]?parallel\w{0,5}|parallel training)"
_SEVERAL = Pattern(
    rf"\b{_NUMBER}(?: of)?(?: (?:the|my|our|these|those))?[- _]?(?:x ?)?(?:{_NAMING} ){{0,2}}?{_CARD}\b|\b{_CARD} ?[x*\u00d7+] ?(?:[2-8]\b|{_CARD})"
    rf"|\b(?:2nd|second|third|other|another|extra|more|all|every|each|rest) (?:of )?(?:the |my |our )?(?:{_NAMING} )?(?:gpus?|cards?)\b|\bof (?:my|the|our|these) (?:\w{{1,9}} )?(?:gpu'?s|card'?s)\b(?! (?:memory|ram|vram|power|time|load|utili[sz]ation))|\bgpu's (?:are|seem|were|do|get)\b|\b(?:all|both|[2-8]) (?:of (?:the|my) )?(?:[2-8] )?devices\b|\bthere are [2-8] in (?:this|my|the|our)\b|\bmore than (?:one|1) {_CARD}\b|\bfor both\b|\bthan (?:with|on) (?:both|two|[2-8]|four|all)\b|\bset(?:ting)? gpus? (?:to )?\d,\d|\b{_NUMBER} of them\b|\b[2-9] (?:are |is )?available\b|\b(?:have|has|got) (?:two|three|four|[2-8])(?= (?:and|in)\b|[,.;]|$)|\bgpus[= ]['\"]?all\b"
    rf"|\b(?:num_gpus|worker_gpu|n_?gpus?|num_clones|gpus)['\"]?[ =:]{{1,4}}[2-8]\b|\bgpu[ :#]?0\b[^\n]{{0,200}}\bgpu[ :#]?1\b|visible_devices ?= ?['\"]?\d,\d|\bgpu[ #]{{0,2}}[1-7]\b(?! ?%)[^.\n]{{0,24}}%|%[^.\n]{{0,16}}\bgpu[ #]{{0,2}}[1-7]\b",
    _FLAGS,
)
"""Several GPUs are there."""
_WORKERS = r"(?<![\w.])(?:[2-9]|\d{2,3}|two|three|four|several|multiple|more|adding) (?:gpu |tf )?workers\b(?!=)(?![^\n]{0,40}\b(?:multiprocessing|loader))"
_MACHINES = r"(?:(?<![\w.])(?:[2-9]|[1-9]\d|two|three|four|five|eight|several|multiple|across)[- ]?(?:gpu )?(?:nodes|machines|hosts|servers|computers|instances)\b|\bmulti[- ]?(?:node|machine|host)s?\b|\b[2-8]nodes?\b|\bnumber of (?:gpus|workers|nodes|machines|cards)\b)"
_SPREADS = Pattern(
    rf"\b{_STRATEGY}|\bmulti[- ]?gpus?\b|(?<!\w)-np (?:[2-9]|\d\d)|{_WORKERS}|{_MACHINES}|\b(?:worker_gpu|num_gpus|n_?gpus?|num_clones)['\"]?[ =:]{{1,4}}[2-8]\b|(?<![\w.])[2-9] replicas\b|(?<!\w)-g [2-8]\b",
    _FLAGS,
)
"""A program is for several."""

_FIRST = r"(?:one|1|a single|single|(?:the |my )?(?:first|1st)|['\"]?/?(?:device:)?gpu[ :#_-]{0,2}0['\"]?)"
_ONE_CARD = rf"(?= ?(?:$|[.,;:!?()&]|{_CARD}\b|(?:of|out|is|are|was|one|device|works?|does|do|has|gets?|in use|used|utili[sz]ed|busy|active|working|comput\w+|trains?|runs?|running|when|while|and (?!gpu)|during|at a time|though|even|by|from|shows?|seems?|sees?)\b))(?! ?[.:,]\d)"
_ALONE = Pattern(
    rf"\b(?:only|just|solely|merely) (?:[\w'/]+ ){{0,3}}?{_FIRST}(?!\w){_ONE_CARD}|(?<![\w.]){_FIRST}(?!\w)(?: {_CARD}| one| device)? (?:only|alone)\b"
    rf"|\b(?:trains?|training (?:only )?(?:happens|runs|takes place|is done)|everything (?:happens|runs|is done)) on (?:the )?(?:a single|one|gpu ?:?0|first)\b(?! (?:machine|node|at a|of the (?:machines|nodes)))(?![^.\n]{{0,40}}\b(?:fine|well|ok|works?|without|then|and another))|\b(?:a single|one|the first) (?:{_CARD} |one )?(?:does|is doing|gets|do) (?:all|everything)|(?:^|[,\uff0c:] ?|\b(?:and|that|see|is|but) )(?:and )?(?:a single|one)(?: {_CARD}) (?:is|gets|was|got) (?:being )?(?:used|busy|working|utili[sz]ed|occupied)\b|\b(?:uses?|using) (?:one|1|a single) {_CARD}\b"
    rf"|\b(?:load|activity|usage|work) (?:is )?on (?:just |only )?(?:one|the first|a single)\b|\ball (?:the )?(?:\w+ )?(?:done|computed|run|handled|executed) (?:by|on) (?:the )?(?:first|gpu ?:?0|one)\b|\b(?:seems? to|tends? to) use (?:a single|one|1)\b|\ball (?:[\w]+ ){{0,2}}(?:go|goes|run|runs|land|lands|is|are) (?:\w+ )?(?:to|on) (?:the )?(?:first|gpu ?:?0)\b|\b(?:computes?|computed|computing|calculations?|computations?)\b(?: happens?| runs?| is| are| done| only| takes? place){{0,3}} on (?:the )?(?:one|first|a single){_ONE_CARD}",
    _FLAGS,
)
"""One alone."""
_IF_ONE = Pattern(
    rf"(?:^\W{{0,3}}|[,:;(] ?|\band )(?:with|on|using|for|if I (?:use|take|run)|when (?:I use|using|I run|running)(?: on)?|if)(?: only| just){{0,1}} {_FIRST}(?!\w)(?: of (?:them|the \w{{1,6}}))?(?: {_CARD})?(?: only| alone)?(?: is used)?(?= ?(?:[,:)]|$|it\b|the\b|I\b|is\b|was\b|takes\b|\d))"
    rf"|\b(?:than|as|to|vs\.?|versus|of|with)(?: with| on| for| when| using| if){{0,2}}(?: I use| using)? (?:only|just) {_FIRST}(?!\w)|\b(?:faster|quicker|better|slower|longer|same|speed|time|long|fast|much|more)\b[^.\n]{{0,16}}? (?:with|on|using|for|when using) (?:only |just )?{_FIRST}(?!\w)(?: {_CARD})?(?: only| alone)?|\bwith only one of them\b(?=[^.\n]{{0,20}}\b(?:faster|slower))",
    _FLAGS,
)
"""One alone, in a comparison or as a condition: nobody says that it is so."""
_TASK_MANAGER = Pattern(r"\btask ?manager\b", _FLAGS)
"""Which counts another vendor's GPU, too, and does not show what computes."""
_BOTH_SHOWN = Pattern(r"\bgpu ?:?0['\"]? (?:and|&) (?:the )?['\"]?/?(?:gpu ?:?)?1\b", _FLAGS)
_WORKS = Pattern(
    r"\b(?:us(?:e|es|ed|ing|age)|utili[sz]\w{1,5}|busy|active|activity|work(?:s|ing|ed)?|comput(?:e|es|ing|ed|ations?)|calculations?|train(?:s|ing|ed)?|run(?:s|ning)?|load(?:ed|s)?|occup(?:ied|ies)|in use|done|do|does|doing|requests|inference|execut\w{1,3}|gets|takes?|all of them)\b|\b\d{2,3} ?%",
    _FLAGS,
)
_LISTED = Pattern(
    r"\b(?:detect\w*|recogni[sz]\w*|list\w{0,3}|visible|sees?\b|found|finds?|(?:is|are) available|appears?|nvidia-smi shows|shows? up)\b(?![^.\n]{0,60}\b(?:used|utili[sz]|idle|busy|working|at work|active|activity|in use))",
    _FLAGS,
)
"""Who sees one only: another matter."""
_OTHERS = Pattern(
    rf"\b(?:2nd|second|third|others?|rest|remaining|another|extra|(?:the|my) last)\b(?!,? than)(?! hand)(?! (?:cpu )?(?:cores?|threads?))|\b(?:gpus?|card)[ :#-]{{0,2}}(?:no\.? ?|number )?(?:[1-7]|two|three)\b(?! ?(?:%|gb))|(?:^|, ?|\band )(?:the )?(?:one|two|three|seven|[1-7])(?: {_CARD})?(?: of (?:them|the|these|my|{_NUMBER})\b|,? (?:is|are|stays?|remains?|sits?|idle|unused|not|at|with)\b)|\ball (?:but|except)|\b(?:other than|but|except(?: for)?) (?:the )?(?:first|gpu ?:?0)\b|\b(?:one|[1-7]) of (?:them|the (?:[2-8] |two |four )?(?:gpu'?s|card'?s))\b|\b[1-7] of the [2-8]\b",
    _FLAGS,
)
_ANOTHER = Pattern(
    r"\bgpus (?:other than|but|except)\b|\b(?:2nd|second|third|other|another) (?:of (?:my|the) )?(?:gpus?|cards?)\b|\b(?:gpu|card)[ :#-]{0,2}[1-7]\b(?! ?(?:%|gb))|\bthe (?:others|rest|other (?:ones|two|three|four|seven|\d))\b",
    _FLAGS,
)
"""A second one is there."""
_CORES = Pattern(r"\b(?:cpus?|cores?|threads?|processors?)\b", _FLAGS)
_GPU = Pattern(rf"{_CARD}\b|/device:", _FLAGS)
_NOT_ALL = Pattern(
    rf"(?:\bnot|n't|\bnever) (?:\w+ ){{0,2}}?(?:us(?:e|ing)|utili[sz]\w{{1,3}}|train\w{{0,3}} on|run\w{{0,4}} on) (?:all|both|several|multiple|more than (?:one|1)) (?:of )?(?:the |my |our |available )?{_CARD}\b|\bmulti-?gpus? (?:is |are |being )?not (?:being )?(?:used|utili[sz]ed|working)\b"
    rf"|(?:\b(?:can)?not|n't|\bnever) (?:\w+ ){{0,2}}?(?:show|see|indicate|display)\w{{0,3}} (?:[\w-]+ ){{0,4}}?(?:they(?: are)? all|all|both|several|multiple|more than (?:one|1)|(?:the )?(?:second|other)\w*)\b[^.\n]{{0,24}}\b(?:used?|in use|at work|work\w*|busy|active|load\w*)\b|(?:\b(?:are|is|were) not|n't) all (?:being )?(?:used|in use|busy|active|at work)\b|\bnot all (?:{_CARD} )?(?:of them )?(?:are|get|were) (?:being )?(?:used|in use|busy|active|at work)\b",
    _FLAGS,
)
_IDLE = Pattern(
    r"\bidl(?:e|es|ing)\b|\b(?:usage|util\w*|load)\b[^.\n]{0,40}?\b(?:is|are|remains?|stays?|at|of|shows?) (?:always |still )?0(?![.\d]\d| ?%)\b|(?<![\d.])0(?:[-\u2013][1-4])?(?:\.0+)? ?(?:%|percent)(?! (?:accuracy|of))|\bzero\b(?! (?:loss|grad))|\bunused\b|\b(?:does|do|doing) nothing\b|\basleep\b|\bsleeps?\b|\bbored\b|\bno (?:load|work|usage|utili[sz]ation|activity)\b|\bjust sits\b|\b(?:only|just|merely) (?:holds?|has|have|reserves?|takes?|allocates?|keeps?|occup(?:y|ies)) (?:\w+ )?memory\b|\bat 0\b(?!\.\d| ?%)"
    r"|(?:\bnot|n't|\bnever) (?:\w+ ){0,2}?(?:do(?:es|ing)? (?:anything|much|any)|us(?:e|es|ing|ed)\b(?! (?:nccl|the same))|utili[sz]\w+|work(?:s|ing)?\b|comput\w+|active|busy)",
    _FLAGS,
)
_MEMORY = Pattern(r"\bmemory\b|\bvram\b", _FLAGS)
_FULL = Pattern(r"\b(?:full|filled|taken|allocated|reserved|occupied|used)\b", _FLAGS)

_GAIN = r"(?:speed[- ]?ups?|gains?|benefits?|improvements?|scaling|acceleration|advantage|boost|efficiency)"
_LESS = Pattern(
    r"\befficiency\b[^.\n]{0,24}\b[1-6]\d ?%|\bnot (?:\w+ )?efficient\b|"
    r"\bslower\b|\b(?:faster|quicker|better)\b[^.\n]{0,16} (?:with|on|using|for) (?:only |just )?(?:a single|one|1|single)\b|\b(?:worse|bad|poor|low|decreas\w+|reduced) (?:performance|scaling|throughput|speed)\b|\b(?:lowers?|reduces?|decreases?|hurts?|degrades?) (?:the |my )?(?:training )?(?:speed|throughput|performance)\b|\b(?:speed|throughput|performance|it/s|eg/s|fps|images/s\w*)\b[^.\n]{0,20}\b(?:drops?|falls?|goes down|halves|decreases?|lower|worse)\b|\b(?:almost|nearly|about|roughly|practically|approximately|exactly) (?:equal|identical|the same|unchanged|as (?:much|long))\b|\bno (?:\w+ )?(?:difference|change) (?:\w+ ){0,2}?(?:between|when|with|in (?:the )?(?:time|speed))|\b(?:time|duration)\b[^.\n]{0,20}(?:\bnot|n't|\bhardly|\bbarely) (?:decreas|drop|go down|shrink|get shorter|improv|chang|reduc)|\bnot? change the (?:\w+ )?(?:time|speed)|\b(?:should(?:n't| not)?|expected)\b[^.\n]{0,24}\b(?:half|halved|twice|faster)\b|\bslow(?:s|ed|ing)? (?:\w+ ){0,3}?down\b|\bslow each other|\blonger\b|\bno faster\b|\bmore time\b|\b(?:time|duration)\b[^.\n]{0,30}\b(?:goes up|increases?|rises|grows)\b|\bincreases? (?:the )?(?:\w+ )?(?:time|duration)\b|\b(?:speed|throughput|performance|time) (?:is )?(?:just )?as (?:on|with|for)\b|\b(?:more like|just|about|around|roughly|is|get|see|gives?|got) (?:me )?(?:only )?1(?:\.[0-6]\d?)? ?(?:x\b|times)|(?:\b(?:no|not|hardly|barely|never)|n't) (?:\w+ ){0,3}?(?:faster|quicker|speed(?:s|ed|ing)?[ -]?(?:\w+ )?up|scal(?:e|es|ing)\b|accelerat\w+)"
    rf"|\b(?:no|zero|little|any|poor|bad|low|sub-?linear|negative|limited|lack of|marginal|disappointing|hardly any|without|almost no) (?:\w+ ){{0,2}}?{_GAIN}\b|\bgains? little\b|\bnothing (?:is )?gained\b|\binefficien\w+|(?:\bnot|n't|\bnever|\bhardly|\bbarely|\balmost no) (?:improv\w+|help\w{{0,3}}|increas\w+|reduce|gain)\b"
    r"|\bsame (?:amount of |number of |training |epoch )?(?:time|speed|throughput|duration|fps|performance|images|imgs?|samples|examples|steps|global_step|pace|rate)\b|\bsame as (?:with |on |for |using )?(?:one|a single|1|single)\b|\bas (?:long|fast|slow|quick) as\b|\b(?:time|speed|fps|throughput|performance|duration)\b[^.\n]{0,30}\b(?:is|are|stays?|remains?|the)? ?(?:\w+ )?(?:same|unchanged|identical)\b|\b(?:fps|speed|time|throughput) same\b"
    r"|\bonly (?:\w+ ){0,2}\d(?:\.\d{1,2})? ?(?:x|times)|\bonly 1\.\d\d? times|\bonly \d{1,2} ?% (?:faster|quicker|more|better)|\b(?:time )?doubles?\b|\b(?:\d(?:\.\d)?|two|three|four|five|eight)(?: ?x| times) (?:as long|as slow|slower|longer|the time)\b|\bslow compared\b|\btwice (?:the time|as long|as slow)|\bhalf (?:as (?:fast|quick)|the speed)|\bis half\b|\bboth (?:need|take|took) (?:about |nearly )?\d|\bdouble the time\b|\b(?:steps?|it|images|samples|global_step) ?/ ?s\w* (?:drop|go(?:es)? down|halv)\w*",
    _FLAGS,
)
"""No gain."""
_SLOW = Pattern(
    r"\b(?:is|are|was|runs?|goes|so|too|very|really|extremely|pretty|quite|terribly|how) slow\b|\bslow (?:steps?|distributed|multi\w*|horovod)\b|^\W{0,3}(?:horovod|multi\S{1,30}) (?:is )?(?:very )?slow\b|\bslow$|\b(?:speed up|accelerate) (?:the )?(?:\w+ )?training\b|\btraining performance\b|\bslow (?:training|inference|performance|speed)\b",
    _FLAGS,
)
_OF_ONE = Pattern(
    r"\b(?:than|as|to|vs\.?|versus|with|on|for|by|of|and|or|using|one day) (?:\w+ ){0,3}?(?:one|1|a single|single|the single|a lone|one alone)\b|\bsingle[ -]?gpu\b|\b(?:one|1|single|local) (?:gpu|card|proc\w*|worker|node|machine|host|server)\b|\bthan (?:local|one|just)\b|\bno strategy\b|\bwithout (?:it|the strategy|strategy|mirrored\w*)\b|\bOneDevice\w*|\bmore gpus\b",
    _FLAGS,
)
_OF_ANOTHER = Pattern(
    r"\b(?:faster|slower|longer|same|than|as|on|with|without|vs\.?) (?:\w+ ){0,4}?(?:cpus?|processors?|pytorch|torch|colab|others|siblings|laptop|old|older|previous|paper|before)\b|\b(?:first|second|next) epoch\b|\b(?:memory|loss|accuracy|learning rate|lr|seed)\b|\bthan (?:in|with) (?:tf|tensorflow) ?1|\b(?:temperature|hot|throttl\w+)\b|\bupgrad\w+ (?:to|from)\b|\bsame (?:gpu|for)\b|\b(?:one|two|[1-3]) of (?:the|my|our) (?:\w+ )?(?:cards|gpus) (?:is|are|runs?|trains?) (?:\w+ )?slow",
    _FLAGS,
)
_PACE = Pattern(
    r"\b(?:train\w*|fit|speed\w*|times?|epochs?|steps?|throughput|performance|fps|images?|imgs?|samples?|examples?|infer\w*|synthesis|scal\w+|benchmark\w*|gain\w*|takes?)\b|/ ?s(?:ec|tep)?\b",
    _FLAGS,
)
_MACHINE = r"(?:computer|machine|pc|server|workstation|box|rig|desktop|laptop|node|host|system|windows|ubuntu)"
_DOWN = Pattern(
    rf"\b{_MACHINE}\b(?:(?!\b(?:speed|performance|rate|fps|utili[sz]ation|usage|load|loss|accuracy|temperature)\b|,? (?:and|but) (?:still )?it\b)[^.;?!\n]){{0,50}}?\b(?:re-?boot(?:s|ing)|restart(?:s|ing)|(?<!, )(?<!and )(?<!then )re-?(?:boot|start)ed|resets|(?:shut|switch|turn|power)(?:e?s|ing|ed|ting)? (?:itself )?(?:off|down)(?! the (?:screen|monitor|display))|power[- ]?(?:off|cycles)|off at once|go(?:es|ing) (?:\w+ )?down|dies)\b"
    rf"|\b(?:re-?boot|restart|shutt?|crash|reset)(?:s|es|t?ing) (?:(?:down|off) )?(?:(?:the|my|our|whole|entire) ){{0,2}}{_MACHINE}\b"
    r"|\b(?:sudden(?:ly)?|spontaneous(?:ly)?|random(?:ly)?|unexpected(?:ly)?|instant(?:ly)?|hard|automatic(?:ally)?) (?:re-?boot|restart|shut ?down|reset|power[- ]?(?:off|cycle))(?:s|ed|ing)?\b|^\W{0,4}(?:re-?boots?|power off|shut ?down) (?:when|while|during|under)\b|\bblack\b[^.\n]{0,30}\bre-?boots?\b",
    _FLAGS,
)
_ON_PURPOSE = Pattern(
    rf"\b(?:can|could|how (?:to|can))\b[^.?!\n]{{0,50}}\bre-?boot(?:ed|s)?\b|\b(?:successfully|gracefully|cleanly|properly)\b|\b(?:nobody|cannot|can not|not|after|before|since|once|until|unless|without|needs?|needed|must|should|have to|has to|had to|requires?|tr(?:y|ied|ies)|I|we|please|then|did|if you|help\w*|fix\w*|solv\w*|despite|upon|just) (?:(?:a|an|the|it|I|we|you|to|be|my|every|each|another|several|multiple|full|{_MACHINE}|just|also|even) ){{0,3}}(?:re-?boot|restart|reset|shut ?down)"
    r"|\b(?:was|were|been|is|gets) (?:then |again |(?:booted|started|shut ?down) (?:or|and) )?(?:re-?started|re-?booted)\b(?![^.\n]{0,24}\b(?:itself|sudden\w*|automatic\w*|its own)\b)|\bre-?boot(?:ing|ed)? (?:helps?|helped|fix\w*|solv\w*|did|does|needed|required)|\b(?:kernel|notebook|runtime|session|container|pod|docker|jupyter|spyder|colab|service|daemon|systemd|driver|ide|application|script|browser|maintenance|windows update|scheduled|cron|sunday|worker|server process|tensorboard|serving)\b|\b(?:resume|auto-?save|checkpoint\w*)\b|\bre-?start(?:s|ed|ing)? (?:the )?(?:training|epoch|from|counting)",
    _FLAGS,
)
_RESTART = Pattern(r"\bre-?(?:boot|start)", _FLAGS)
_AT_WORK = Pattern(
    r"\b(?:train\w*|epochs?|(?:under|full|heavy) (?:gpu )?load|fit\(|inference|gpus?|tensorflow|iterations?)\b|训练|\u043e\u0431\u0443\u0447\u0435\u043d\u0438|entren|entra\u00een|trein|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442|显卡",
    _FLAGS,
)

_MISSING = Pattern(
    rf"\blspci\b[^.\n]{{0,30}}\b[2-9]\b[^.\n]{{0,20}}\bnvidia-smi\b[^.\n]{{0,16}}\b(?:only )?[1-9]\b(?! ?%)|\u6389\u5361|(?:\u663e\u5361|GPU|\u5361)(?:\u6389\u4e86|\u4e22\u5931|\u4e0d\u89c1\u4e86)|\bnvidia-smi\b[^.\n]{{0,40}}?\b(?:lists?|shows?|sees|finds?|reports?|detects?)\b[^.\n]{{0,20}}?\b(?:[1-9]|(?!both\b|all\b|each\b)\w{{3,5}}) (?:{_CARD} )?(?:out of|of (?:the |my )?|instead of) ?{_NUMBER}\b(?! (?:cpu )?(?:cores?|threads?)\b)"
    rf"|\b(?:one|two|three|[1-7]) of (?:the |my |our )?(?:{_NUMBER})(?: {_CARD})? (?:is|are|went|goes?) (?:missing|gone|lost)\b|\b(?:one|1|a|the (?:second|third|fourth|last))(?: of (?:the |my |our )?(?:\w+ )?{_CARD}| {_CARD})? (?:has |have )?(?:disappear(?:s|ed)|(?:is|gets|went) lost|is missing from|vanish(?:es|ed)|is gone|went missing|goes missing)\b",
    _FLAGS,
)
_STARVED = Pattern(
    r"\bcpus?\b[^.\n]{0,24}(?:\b(?:9\d|100) ?%|\bsaturated|\bfully (?:used|loaded))(?![^.\n]{0,24}\bgpu\b[^.\n]{0,20}\b(?:nothing|not used|isn't|unused|0 ?%))|\b(?:wait(?:s|ing)?|starv\w+) (?:for|of) (?:the |new )?(?:data|input|batch)|\b(?:data|input|disk|i/?o|loading|generator)\b[^.\n]{0,30}\b(?:bottle ?neck|too slow|can(?:'t|not) keep up)|\bbottle ?neck\b[^.\n]{0,24}\b(?:data|input|disk|i/?o|loading|cpu)|\b(?:input(?: pipeline)?|data(?: loading)?|loading|pre-?processing)\b (?:eats?(?: up)?|takes?(?: up)?|needs?|uses?(?: up)?|costs?|makes up) (?:up )?(?:most|the most|nearly all|almost all|[5-9]\d ?%|the larger part) (?:of )?(?:the )?(?:step )?(?:time)?\b",
    _FLAGS,
)
_OTHERS_RUN = Pattern(
    r"\b(?:other|all|my own|our own|my other|several other|different) (?:\w+ ){0,3}?(?:programs?|models?|projects?|scripts?|codes?|repos\w*|networks?|examples?|frameworks?)(?: of mine)? (?:\w+ ){0,3}?(?:works?|runs?|train(?:s|ed)?|use|uses|can|are|is) |\b(?:train|trained|run|ran|running|use) (?:\w+ ){0,3}?(?:other|several|different) (?:\w+ ){0,3}?(?:models?|programs?|projects?|scripts?|networks?)\b|\bin this (?:repo\w*|project|code|program) only\b",
    _FLAGS,
)
_WISH = Pattern(
    r"\b(?:want(?:s|ed)? to|wish|not possible|impossible|cannot(?! see)|would like|(?<!'d )like to|'d like to (?:use|run|train|have|take)(?: it)?(?: on| with)? (?:only|just|one|a single|gpu ?\d)|prefer|how (?:can|do|does|to|could|should|would|many)|will it|is it (?:enough|ok|fine|possible)|(?<!why )can (?:I|we|you)|should|may I|allow|so that|on purpose|intend\w*|limit\w*|restrict\w*|force\w*|specify|choose|select|make (?:it|tf|tensorflow|keras|sure)|tell (?:it|tf|tensorflow)|(?:I|we) only (?:use|need|have|want)|which|whether|feature|cheapest|needed|enough|paper|option)\b",
    _FLAGS,
)
_ANYBODY = r"(?! (?:any|some|you\b|there\b|(?:it|this|that) (?:normal|expected|ok|a bug)))"
_ASKED = Pattern(
    rf"^\W{{0,4}}(?:(?:can|could|is|are|does|do|should|will|would|may|which|what|how (?:can|do|to|does|many|much|could|would|should))\b{_ANYBODY}|question|feature request|benchmark)\b[^?\n]{{0,300}}(?:\?|$)"
    rf"|[:,] (?:does|do|is|are|can|should|will|would|which|how (?:much|many|can|do|to))\b{_ANYBODY}[^?\n]{{0,200}}\?|\bmaybe\b[^.\n]{{0,40}}\?",
    _FLAGS,
)
_WELL = Pattern(
    r"\b(?:thanks[,!]|great|awesome|nicely|works (?:well|fine|great)|all is well|solved|nice scaling|(?<=, )good\b|perfectly|no problem at all)\b",
    _FLAGS,
)


_STANDS = Pattern(
    r"\b(?:train\w*|fit|epoch|step|program|script|process\w*|job|strategy|horovod)\b[^.?\n]{0,30}\b(?:hangs|gets stuck|is stuck|freezes|deadlocks)\b",
    _FLAGS,
)
_HALF_USED = Pattern(
    r"^(?!.*\b(?:memory|vram|accuracy|loss|cpus?|cores?)\b)(?:.*(?:\bnot|n't|\bnever) (?:\w+ ){0,3}?(?:mak(?:e|es|ing) (?:the (?:most|best)|(?:full|good|better|proper|efficient) use)\b|(?:fully|well|efficiently|optimally|effectively)\b|(?:the )?full (?:use|power|potential|capacity)\b|full$)"
    r"|.*\b(?:low|poor|bad|inefficient|small|under-?) ?(?:gpu )?(?:utili[sz](?:ation|ed)|usage|load|efficiency)\b|.*\bonly half\b|.*\befficiency (?:is )?(?:low|poor|bad)\b"
    r"|.*\b(?:each|both|all(?: (?:of them|two|three|four|eight|\d))?(?: gpus?| cards?)?)\b[^.\n%]{0,30}(?<![\d.])[1-6]\d ?%|.*(?<![\d.])[1-6]\d ?% (?:on |for )?each\b)",
    _FLAGS,
)
"""Each of several has time to spare."""
_ONE_IS_FINE = Pattern(
    rf"\b(?:one|1|single|either|each)(?: {_CARD})?(?: alone| only)?[:,]? (?!(?:can|could|should|would|may|might|must)\b)(?:\w+ ){{0,3}}?(?:fine|ok|okay|converges?|(?<!the )works?|normal\w*|good|learns?|trains)\b|\b(?:fine|ok|okay|normal|works?|good|correct\w*|converges?) (?:\w+ )?(?:with|on|w/|for|using) (?:only |just )?(?:either|each|one|1|a single)\b",
    _FLAGS,
)
_SPOILT = Pattern(
    r"\bnans?\b|\bgarbage\b|\bdiverg\w+|\bexplod\w+|\b(?:wrong|random|corrupt\w*) (?:results?|outputs?|predictions?|gradients?)\b|\bat chance\b",
    _FLAGS,
)
_BAD = Pattern(
    r"\b(?:error|fail\w*|crash\w*|hang\w*|stuck|not|slow\w*|nan|wrong|only|just|idle|problem|issue|exception|killed|unable|never|no|cannot|trouble|weird|longer|help|bug|missing|lost|dies|why|in-?active|nothing|none|disabled|dead|broken|empty|down|low\w*|less|weak|poor\w*|instead|still)\b|n't\b|\b0 ?%|Error|[\u0430-\u044f\u3040-\u9fff]",
    _FLAGS,
)
"""Who says so does not only ask."""


class Reader:
    """Collects line by line; what is said is told at the end."""

    def __init__(self, notes: Notebook) -> None:
        self.notes = notes
        self._lines: list[tuple[int, str]] = []
        self._table = Tables()
        self._asks = self._complains = False
        self._found: dict[str, tuple[int, str]] = {}
        self._rates = Rates()

    def line(self, text: str, number: int, _notes: Notebook) -> Understood | None:
        """Nothing yet."""
        if self._table.line(text, number) or len(text) > _LENGTH or len(self._lines) >= _LINES or _LOGGED.match(text):
            return None
        self._lines.append((number, text))
        return None

    def _read(self, number: int, text: str) -> None:
        for clause in _CLAUSE.compiled.split(_TAG.sub("", text)):
            if clause and not clause.isspace():
                bad = bool(_BAD.search(clause)) and not _WELL.search(clause)
                self._complains = self._complains or bad
                self._asks = self._asks or clause.rstrip().endswith("?") or bool(_WELL.search(clause))
                for kind in _kinds(clause):
                    self._found.setdefault(kind, (number, text))
        if self._rates.read(text):
            self._found["rates"] = number, text

    def finish(self) -> None:
        """What is said by all of it."""
        for number, text in self._lines:
            self._read(number, text)
        found = self._found
        context = self._context()
        if context is not None:
            self._forget(*_OF_MEMORY, "one-of-several-works")
            self.notes.note(
                TextEvent(line=context[0], language=COMPLAINT, kind="only-asked", text=context[1][:LONGEST])
            )
            return
        named = "several" in found or "spreads" in found or "another" in found
        several = named or any(_of_a_second(one) for one in self.notes.events)
        alone = self._table.one_works(named and "shared" not in found)
        if alone is not None and not {"one", "slower", "much-slower"} & found.keys() and not self._rates.no_gain():
            found["one"] = alone
            self._complains = several = True
        if "down" in found and "at-work" in found:
            self._note("machine-goes-down", "gpu-faults", "down")
        if "gpu-goes-missing" in found:
            self._note("gpu-goes-missing", "gpu-faults", "gpu-goes-missing")
        if several and "hangs" in found:
            self._note("collective-hangs", "collective-fails", "hangs")
        if several and {"spoilt", "one-is-fine-said"} <= found.keys():
            self._note("several-spoilt-said", "collective-fails", "spoilt")
        if several and "one" in found and "hangs" not in found:
            self._note("one-works-said", "runs-slowly", "one")
            if any(_BOTH_WANTED.search(text) for _, text in self._lines):
                self._forget("takes-all-memory")
        if several:
            titled = found.get("several", (0, ""))[0] == 1
            slower = "slower" in found or ("less" in found and ("spreads" in found or titled))
            slow = {"slow", "spreads"} <= found.keys() and 1 in (found["slow"][0], found["spreads"][0])
            slow = slow and "one" not in found
            half = {"half-used", "spreads"} <= found.keys() and not {"one", "input-slow-said"} & found.keys()
            if "well" not in found and (slower or slow or half or self._rates.no_gain()) and not self._beside_another():
                said = next(kind for kind in ("slower", "less", "rates", "slow", "half-used") if kind in found)
                self._note("several-no-faster", "runs-slowly", said)
                self._forget("gpu-hardly-used")
                if "much-slower" in found:
                    self._note("several-slower-said", None, "much-slower")
        if several and any(e.kind in _OF_SEVERAL for e in self.notes.events):
            self._memory_aside()
        if self._asks and not self._complains and len(self._lines) <= _A_FEW:
            asked = next((kind for kind in ("several", "spreads", "another", "on-purpose") if kind in found), None)
            if asked is not None:
                self._note("only-asked", None, asked)
        for kind in ("input-slow-said", "others-run-said", "one-is-fine-said"):
            if kind in found:
                self._note(kind, None, kind)

    def _context(self) -> tuple[int, str] | None:
        """The line that asks why a GPU that does not compute holds some memory, where it is as little as a context takes."""
        whole = " ".join(text for _, text in self._lines)
        asked = next((one for one in self._lines if _HOLDS_TOO.search(one[1])), None)
        if asked is None or "slower" in self._found or "hangs" in self._found or _BOTH_WANTED.search(whole):
            return None
        held = [int(found["mib"]) for found in _MIB_HELD.finditer(whole)]
        used = (e.values.get("used", "").removesuffix("MiB") for e in self.notes.events if e.kind == "gpu-process")
        held += [int(one) for one in used if one.isdigit()]
        return asked if held and min(held) <= _CONTEXT_MIB else None

    def _beside_another(self) -> bool:
        """Whether what is compared are two products, one after the other: 'the same on a GTX 970 and on an RTX 2080'."""
        return "spreads" not in self._found and any(_ON_EITHER.search(text) for _, text in self._lines)

    def _memory_aside(self) -> None:
        """Forgets that memory is short, where the title is of several GPUs and not of memory: it is said in passing."""
        of_title = {kind for kind, (line, _) in self._found.items() if line == 1}
        told = [e for e in self.notes.events if e.kind in _OF_MEMORY]
        aside = all(e.line > 1 or not _ROOM.search(_CLAUSE.compiled.split(e.text)[0]) for e in told)
        if told and aside and of_title & {"several", "spreads", "one", "another"}:
            self._forget(*_OF_MEMORY)

    def _forget(self, *kinds: str) -> None:
        self.notes.events[:] = [e for e in self.notes.events if e.kind not in kinds]

    def _note(self, kind: str, symptom: str | None, of: str) -> None:
        line, text = self._found[of]
        self.notes.note(TextEvent(line=line, language=COMPLAINT, kind=kind, text=text[:LONGEST], symptom=symptom))


def _kinds(clause: str) -> Iterator[str]:
    """What a clause says."""
    several = bool(_SEVERAL.search(clause) or SEVERAL.search(clause))
    spreads = _SPREADS.search(clause) is not None and not _LOADER.search(clause)
    if several:
        yield "several"
    if spreads:
        yield "spreads"
    if _ANOTHER.search(clause) and _IDLE.search(clause):
        yield "another"
    for kind, pattern in _OF_A_CLAUSE:
        if pattern.search(clause):
            yield kind
    if (several or spreads) and _STANDS.search(clause):
        yield "hangs"
    if _ON_PURPOSE.search(clause) and _RESTART.search(clause):
        yield "on-purpose"
    if (_DOWN.search(clause) and not _ON_PURPOSE.search(clause)) or COMES_DOWN.search(clause):
        yield "down"
    asked = _ASKED.search(clause)
    if _SLOW.search(clause) or SLOW.search(clause):
        yield "slow"
    if NO_FASTER.search(clause) or ((several or spreads) and takes_more(clause)):
        yield "slower" if several or spreads else "less"
    elif _BETTER_ALONE.search(clause) and not asked and not _OF_ANOTHER.search(clause):
        yield "slower"
    elif (
        (_LESS.search(clause) or (spreads and (_SLOW.search(clause) or SLOW.search(clause))))
        and not asked
        and not _OF_ANOTHER.search(clause)
    ):
        yield "slower" if (several or spreads) and (_OF_ONE.search(clause) or _PACE.search(clause)) else "less"
    if ONE_WORKS.search(clause) or (not asked and not _WISH.search(clause) and _one_works(clause)):
        yield "one"


def _one_works(clause: str) -> bool:
    """Whether a clause says that one works, or that others don't."""
    if _TASK_MANAGER.search(clause) or _SHARED.search(clause):
        return False
    if _CORES.search(clause) and not _GPU.search(clause):
        return False
    clause = _IF_ONE.sub(" ... ", clause)
    if _ALONE.search(clause) and _WORKS.search(clause) and not _LISTED.search(clause):
        return not _BOTH_SHOWN.search(clause)
    if _IDLE.search(clause) and (_OTHERS.search(clause) or (_MEMORY.search(clause) and _FULL.search(clause))):
        return True
    return _NOT_ALL.search(clause) is not None


def _of_a_second(event: TextEvent) -> bool:
    """Whether a program's line is of a second GPU."""
    if event.kind == "device-found":
        return "/device:GPU:1" in event.text or "device: 1," in event.text
    at = event.values.get(
        "index" if event.kind in ("gpu", "gpu-state") else "row" if event.kind == "peer-row" else "", "0"
    )
    return at not in ("", "0", "None")


_HOLDS_TOO = Pattern(
    r"\bwhy\b[^.\n]{0,40}\b(?:other|second|another|first|both|two|gpu ?[0-7])\b[^.\n]{0,40}\b(?:held|taken|occupied|allocated|reserved|memory)\b|\bwhy\b[^.\n]{0,80}\b(?:hold\w*|take\w*|taken|occup\w+|allocat\w+|reserv\w+|used?|memory|show\w*|appear\w*)\b[^.\n]{0,60}\b(?:two|both|other|second|another|all|first|gpu ?[01]|one)\b|\b(?:other|second|another|first|both|two|gpu ?[0-7]|one)\b[^.\n]{0,60}\b(?:hold\w*|taken|takes|occup\w+|allocat\w+|reserv\w+|shows? up|has \d{2,3} ?mi?b)\b[^\n]{0,60}\bwhy\b|\b(?:takes?|taking|occup\w+|allocat\w+) (?:up )?[^.\n]{0,40}\b(?:two|both|other|second|another|all)\b[^\n]{0,60}\?|\bshows? up on (?:the |my )?(?:second|other|both|two|all)\b",
    _FLAGS,
)
"""Who asks why memory is taken elsewhere, too."""
_MIB_HELD = Pattern(r"(?<![\w.])(?P<mib>\d{2,5}) ?(?:MiB|MB|M)\b(?! ?/)", _FLAGS)
_BOTH_WANTED = Pattern(
    r"\b(?:how (?:can|do|to|could)|want\w*|need|like) (?:I |to |it |both |them |make |get )*(?:use|train|run|work|compute|both)\w* (?:on |with )?(?:both|all|two|work)\b|\bout of memory\b|\bOOM\b",
    _FLAGS,
)
_ON_EITHER = Pattern(
    rf"\b(?:on|with|using|between|of) (?:an? |the |my |our )?(?:\w+ )?(?P<one>{_SERIES})[^.\n]{{0,24}}(?:\b(?:and|or|as|than)(?: (?:also|even|then))? (?:on|with|using)|\bvs\.?|\bcompared (?:to|with)) (?:an? |the |my |our )?(?:\w+ )?(?!(?P=one)){_SERIES}(?!\w)(?! together)",
    _FLAGS,
)
_CONTEXT_MIB = 600
"""Of CUDA and its libraries on one GPU, at most."""
_ROOM = Pattern(r"\b(?:memory|oom|exhausted|vram)\b|\u663e\u5b58", _FLAGS)
_OF_SEVERAL = ("one-works-said", "several-no-faster")
_OF_MEMORY = ("memory-short-told", "takes-much-told", "memory-limit-wanted")
_BETTER_ALONE = Pattern(
    rf"\b(?:faster|quicker)\b[^.\n]{{0,16}} (?:with|on|using|when using|for) (?:only |just )?(?:one|1|a single|single)(?! than)(?: {_CARD}\b| only\b| alone\b|\W{{0,2}}$| than\b| of them\b)|\b(?:if|when) I (?:use|run|take|train (?:with|on)) (?:(?:only|just) (?:one|1)|(?:one|1) (?:only|alone)|a single|(?:one|1) {_CARD})\b(?! than)[^.\n]{{0,80}}\b(?:faster|quicker)\b(?! than (?:the )?cpu)",
    _FLAGS,
)
"""One is faster."""
_LOADER = Pattern(r"\bdata ?loader|\bnum_workers\b|\bmultiprocessing\b|\bgenerators?\b|\bmax_queue", _FLAGS)
"""Whose workers bring data."""
_SHARED = Pattern(
    r"\b(?:colleagues?|someone else|somebody else|other users?|another user|shared? (?:this|the|a)|we share)\b", _FLAGS
)
_MUCH_SLOWER = Pattern(r"\bslower\b|\bslows?\b[^.\n]{0,20}\bdown\b|\blonger\b", _FLAGS)
_OF_A_CLAUSE = (
    ("shared", _SHARED),
    ("much-slower", _MUCH_SLOWER),
    ("at-work", _AT_WORK),
    ("input-slow-said", _STARVED),
    ("others-run-said", _OTHERS_RUN),
    ("gpu-goes-missing", _MISSING),
    ("hangs", HANGS),
    ("one-is-fine-said", _ONE_IS_FINE),
    ("spoilt", _SPOILT),
    ("well", _WELL),
    ("half-used", _HALF_USED),
)
_A_FEW = 6
"""Lines of a question."""
