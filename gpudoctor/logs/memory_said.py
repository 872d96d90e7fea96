"""What people say of memory: a GPU that runs out of it, memory that grows, a program that takes all, the host's that does not
suffice. A sentence is of one kind; whose memory it is tells what stands nearest. It is weak: programs' lines go before."""

from __future__ import annotations

from ..facts import COMPLAINT, NOTHING_WRONG, Alike, TextEvent
from ..patterns import Pattern
from .language import LONGEST, Kind, Language, Understood
from .notebook import Notebook

SHORT, GROWS, TAKES, LIMIT = "memory-short-told", "memory-grows-told", "takes-much-told", "memory-limit-wanted"
KEPT = "memory-kept-told"
HOST_SHORT, HOST_GROWS, ASKED = "host-memory-short-told", "host-memory-grows-told", "memory-asked-told"
_SENTENCE = Pattern(r"(?<=[?!;])\s+|(?<=[^\W\d_])\.\s+|[。\uff01\uff1f\uff1b]|\.$")
_PRINTED = Pattern(
    r"^(?:File \"|Traceback |Step \d|Epoch \d|\d{4}-\d\d-\d\d \d\d:|\[?[IWEF]\d{4} |\|)|\.(?:cc|cpp|cu|h|py|c):\d|^\W{0,4}(?:\w+\()|\bclass \w+\b|^(?:import|from) \w+|https?://\S{1,200}(?:memory|oom)"
    r"|failed to allocate \d|CUDA_ERROR_|Tried to allocate \d|bfc_allocator|Cuda failure '|OOM when allocating|Allocator \("
)
"""What programs print, code, addresses: nobody says it."""

_G = r"(?:(?<!v)gpus?(?:'s|'|s')?|cuda|video|graphics?(?: card)?|(?:graphics |video )?card(?:'s)?|device)"
_M = rf"(?:{_G}[ -]?(?:mem(?:ory|roy)?|v?rams?)\b(?! alloc\w+ error)|\bv-?ram\b|\b(?:memory|mem|ram) (?:of|on|in|from|for) (?:(?:all|both|each) )?(?:of )?(?:the |my |a |an |one |each |your |our |this |its )?(?:[\w.-]{{1,12}} ){{0,2}}?{_G}\b)"
_OF_GPU = Pattern(
    rf"(?i:{_M}|\bcuda\b|\bgpus?\b|\b(?:graphics|video) ?cards?\b|\b[gr]tx\b|显存|显卡|видеопам|видеокарт|grafik|vid[ée]o|placa de v|tarjeta|carte graph)"
)
_OF_HOST = Pattern(
    r"\bRAM\b(?! of (?:the|my) (?:gpu|GPU|card))|(?i:\b(?:cpu|host|system|main|server|physical|computer)(?:'s)? (?:memory|ram)\b|\b(?:memory|ram) of (?:the |my )?(?:host|computer|machine|server|pc|system)\b|\brss\b|\bswap\b|\bh?top\b|\bpsutil\b|\bram\b)"
    r"|(?<!显)内存|(?i:оперативн|\b\u041e\u0417\u0423\b|arbeitsspeicher|hauptspeicher|m[ée]moire vive)"
)
_OF_GPUS_RAM = Pattern(rf"(?i:{_M}|显存|видеопам\w*|(?:grafik|video|gpu)[- ]?(?:speicher|ram)\w*)")

# ------------------------------------------------------------------- it does not suffice

_OUT = r"(?:out[ -]+off?(?: of)?[ -]+(?:the )?(?:\w+ ){0,2}?(?:memory|mem|ram|vram|space on (?:the )?gpu)\b|out-?of-?memory|\bc?oom(?:s|ed|ing|'s|'d)?\b(?![- ]?kill)|resource ?exhausted)"
_SMALLER = r"(?:not? (?:have )?(?:enough|sufficient)|(?:not|n't|nt) (?:\w+ ){0,3}?(?:enough|sufficient)|in-?sufficient|too (?:little|small|less|low)|lack(?:s|ing)?(?: of)?|short(?:age)?(?: of| on)?|no more|no free|exceed(?:s|ed|ing)?|deficient|exhaust(?:s|ed|ing)?)"
_SHORT = (
    Pattern(
        rf"(?i:{_OUT}"
        rf"|\b{_SMALLER} (?:the |my |of |any |available |free |amount of )*{_M}|{_M}(?: is| was| are| of \d+ ?gi?b?)*(?: \w+)? {_SMALLER}\b(?! to)|{_M}\b[^.,\n]{{0,14}}\b(?:overflow\w*|exhausted|explod\w*|bursts?)"
        rf"|\b(?:cannot|can't|can not|could(?:n't| not)|unable to|fail\w* to) (?:\w+ )?allocate (?:\w+ ){{0,3}}?(?:{_M}|memory (?:on|in|for) (?:the |my )?{_G})|\ballocat\w+ (?:of )?(?:the )?{_M} (?:\w+ )?fail\w*|\b(?:can't|cannot|can not|unable to|not able to|impossible to) (?:run|train|load|use|fit|start)\b(?:[^.\n]|\.(?=\d)){{0,40}}?\b(?:on|with|in) (?:\w+ ){{0,3}}?\d{{1,2}} ?gb\b(?! (?:of )?(?:\w+ )?(?:ram|data|disk))"
        rf"|\bnot? (?:have )?enough (?:\w+ )?memory (?:on|for|in|of) (?:the |my )?(?:gpu|cuda|card|device|graphics)|\b(?:overflow|explod|exhaust)\w{{0,3}} (?:the |my )?{_M}"
        rf"|\b(?:does|do|did|can|could|will|would)(?:n't|nt| not|not) (?:even )?fit (?:\w+ ){{0,3}}?(?:in|into|on|to|onto) (?:the |my |a |an |one |single )*(?:[\w.-]{{1,12}} ){{0,3}}?(?:gpus?|memory|v?ram|card)\b"
        rf"|{_M}(?: usage)?\b[^.\n]{{0,40}}\b(?:full|used up|maxe[sd] out|fills? up|100 ?%)[^.\n]{{0,30}}\b(?:crash\w*|stops?|errors?|fails?|dies|killed|then)\b|\b(?:fills?|uses?|used|eats?|using) up (?:all )?(?:of )?(?:the |my )?{_M}[^.\n]{{0,40}}\b(?:crash\w*|stops?|errors?|fails?|dies)\b)"
    ),
    Pattern(
        r"显存.{0,6}(?:不足|不够|溢出|爆|耗尽|超出|报错|炸)|爆(?:了)?显存|(?:超出|超过).{0,4}显存|OOM|(?<!爆)内存溢出.{0,8}(?:GPU|CUDA)|(?:GPU|CUDA).{0,12}内存(?:不足|不够|溢出)"
        r"|(?i:(?:не хватает|нехватка|недостаточно|мало|закончи\w{1,5}|кончает\w{0,3}|кончи\w{1,5}|переполн\w{1,6})(?: \w+){0,2} (?:видео|gpu|гпу|vram|памят)\w*|видеопам\w+ (?:не хватает|мало|заканчивается|кончается|переполн\w*))"
        r"|(?i:(?:zu wenig|nicht genug|nicht gen\w{1,3}gend|nicht ausreichend|unzureichend\w*|kein) (?:freie[rn]? )?(?:grafik|video|gpu)[- ]?(?:karten)?(?:speicher|ram)|(?:grafik|video|gpu)[- ]?(?:karten)?speicher\w* (?:\w+ ){0,2}?(?:nicht (?:aus|genug)|reicht nicht|voll|zu klein|ersch\w+pft|l\w+uft voll)|speicher (?:der|meiner) (?:grafikkarte|gpu|karte)[^.\n]{0,12}(?:nicht|voll|zu klein))"
        r"|(?i:(?:sin|falta(?: de)?|insuficiente|no (?:hay|tengo|tiene|alcanza)(?: la)?(?: suficiente)?|poca|sem|não (?:há|tem|tenho)(?: a)? ?(?:suficiente)?|pouca|estour\w{1,3}(?: d[ea]| a)?) (?:la )?(?:mem[oó]ria|vram)\b|mem[oó]ria(?: [\w()]+){0,6} (?:insuficiente|no (?:es )?(?:alcanza|suficiente)|esgotad\w|agotad\w))"
        r"|(?i:m[ée]moire(?: \w+){0,4} (?:insuffisante|satur[ée]e|pleine|n'est pas suffisante)|(?:pas assez|manque|plus assez|[àa] court|d[ée]passement) de (?:la )?m[ée]moire)"
    ),
)
_SHORT_ON_GPU = Pattern(
    rf"(?i:\b(?:{_SMALLER}) (?:\w+ ){{0,2}}?(?:memory|mem)\b(?! (?:usage|consumption))|\bmemory (?:\w+ ){{0,3}}?(?:not enough|insufficient|exhausted|exceeded|overflow\w*)\b|\bmemory[- ]?(?:allocation)?[- ]?(?:errors?|fail(?:s|ed|ure)|crash\w*)\b|\bmemory allocation (?:has )?(?:error|fail)\w*"
    r"|\b(?:models?|networks?|nets?|batch(?:es)?|images?|data|it|volumes?|input|tensor|protein|scene)(?: is| are|'s)? (?:\w+ )?too (?:large|big|huge|heavy|much|long)\b[^.\n]{0,20}\bfor\b|\b(?:gpu|card|memory|vram)\b(?: \w+){0,2}? (?:is |gets? |will |just )*(?:explod\w*|overflow\w*|blow[ns]? up|burst\w*)\b|\b(?:explod|overflow)\w* (?:the |my )?(?:gpu|card|memory)"
    r"|\b(?:gpu|video|cuda|graphics) memory\b[^\n]{0,80}\bruns? out\b|\b\d{1,2} ?gb (?:one|card|gpu|laptop)\b[^.\n]{0,20}\b(?:runs? out|can't|cannot|can not|unable|gives|fails|refuses|is refused)\b|\btensor\b[^.\n]{0,40}\bcould not be allocated\b|(?:n't|\bnot) fit (?:in|into|on|onto) (?:just |only )?(?:one|a single|it)\b"
    r"|\bmemory (?:usage|consumption|requirements?|demand)\b(?: \w+){0,3}? too (?:high|large|much|big)\b(?=[^\n]{0,100}\b(?:\d+ ?gb?|abort\w*|crash\w*|fail\w*|error\w*|dies)\b)|\bblow[ns]? up the (?:gpu|memory|card)|\b(?:fails?|failed|crash\w*|dies|aborts?|can't|cannot)\b[^.\n]{0,40}\b(?:only|just) (?:has |have |with )?\d{1,2} ?gb?\b"
    r"|\b(?:memory|vram) (?:is|was) (?:full|all used|used up)\b[^.\n]{0,30}\b(?:crash\w*|error|stop\w*|fail\w*|when i (?:start|run|train)))"
)
"""The same in words that do not tell whose memory it is, of a GPU that is named."""
_NOT_SHORT = Pattern(
    rf"(?i:\b(?:no|not|never|without|avoid(?:s|ing)?|prevent(?:s|ing)?|less|n't) (?:\w+ ){{0,4}}?{_OUT}|{_OUT}[^.\n]{{0,30}}\b(?:any ?more|any longer|is gone|went away|goes away|solved|fixed)\b"
    rf"|\b(?:no longer|solved|fix(?:ed|es)|resolved|in case|in order to|so that it|if (?:you|there|it|the|one|we|users?)|when you|whether|otherwise|should you|cause you|might|may|could|would|will)\b[^.\n]{{0,60}}{_OUT}|{_OUT}[^.\n]{{0,20}}\b(?:handling|handler|killer|safe|score)\b"
    r"|\b(?:(?<!the )(?<!this )(?<!my )thought|guess\w*|suspect\w*|suppose\w*|supose|assum\w+|wonder\w*)\b|\b(?i:achei|pens[ée]|pensaba|pensei|cre[íi]a?|dachte|vermute|думал|я подумал)\b|以为|是不是|是否|\b(?:don't|not|n't) think\b|\b(?:typo|readme|changelog|docs?)\b|\bis (?:it|this)\b[^.\n]{0,30}\?|\b(?:read that|leads? to|recommended|against|compil\w+|isn't the|not the|as an? out|\becc\b|uncorrect\w+|uncontained|xid|dbe|remapp\w+|rma'?d?)\b|\bwhile building\b)"
)
"""Who is not out of memory, or speaks of what might be."""

# ------------------------------------------------------------------- it grows

_UP = r"(?:grow(?:s|ing|n)?|grew|increas(?:es?|ed|ing)|ris(?:es?|ing)|rose|climb(?:s|ed|ing)?|leak(?:s|ed|ing|age)?|goes up|going up|go up|(?:goes|went|going|jumps|rises) from \d|accumulat(?:es?|ed|ing)|fills?(?: up)?|filling(?: up)?|builds? up|doubl(?:es?|ed|ing)|tripl(?:es?|ed|ing)|swell(?:s|ing)?|multiplies|(?:gets?|getting|becomes?|becoming) (?:larger|bigger|higher|more|fuller)|pil(?:es|ing) up|adds? up|add up|creep(?:s|ing)? up)"
_AGAIN = r"(?:each|every|per|after|over time|with (?:time|the)|until|till|and more|more and more|gradual\w+|continu\w+|constant\w+|stead\w+|keeps?|kept|always|in a loop|over and over|a bit|and then|finally|eventually|from \d|to \d|during|while|when|in (?:the )?\w+ loop|as (?:the )?(?:training|epoch|it))"
_GROWS = (
    Pattern(
        rf"(?i:\b(?:memory|mem|v?ram|rss)\b(?! (?:cell|bank|network))[^.\n]{{0,60}}?\b(?:{_UP}[^.\n]{{0,60}}\b{_AGAIN}\b|{_AGAIN} [^.\n]{{0,30}}{_UP}\b)|\b{_AGAIN}\b[^.\n]{{0,60}}\b(?:memory|v?ram|rss)\b[^.\n]{{0,40}}?\b{_UP}\b"
        rf"|\b{_AGAIN}\b[^.\n]{{0,60}}\b(?:uses?|takes?|eats?|consumes?|adds?|allocates?|needs?|occupies) (?:\w+ ){{0,3}}?(?:more|additional|extra|another) (?:and more )?(?:\w+ ){{0,3}}?(?:memory|v?ram)\b|\bmore and more (?:of )?(?:the |my )?(?:\w+ ){{0,2}}?(?:memory|v?ram)\b"
        rf"|\b(?:each|every)\b[^.\n]{{0,40}}\b(?:adds|leaks|costs|eats|takes) (?:another |about |some )*\d{{1,5}} ?[mg]i?b\b|\bthe longer\b[^.\n]{{0,40}}\bthe more\b[^.\n]{{0,12}}\b(?:memory|v?ram)\b|\b\d{{1,5}} ?[mg]b (?:at first|at (?:the )?(?:start|beginning)|initially)\b[^.\n]{{0,20}}\b\d{{1,5}} ?[gm]b (?:after|at the end|later|in the end)\b|\bmemory[- ]?leak(?:s|age|ing|ed)?\b|\bleak(?:s|ing|ed)? (?:\w+ ){{0,2}}?(?:memory|v?ram)\b"
        rf"|\b(?:memory|v?ram)\b[^.\n]{{0,40}}\b(?:not|never|n't)(?: \w+){{0,3}}? (?:released?|freed?|cleared?|cleaned)\b[^.\n]{{0,60}}\b(?:between|after each|after every|fold|folds|epoch|epochs|loop|iterations?|next|second|third|\d(?:rd|nd|th))\b"
        rf"|\b(?:after|in|for) \d[\w,.]* (?:epochs?|steps?|iterations?|batches|images|hours?|files|samples|sentences|calls)\b[^.\n]{{0,50}}\b(?:all |the |my |\d+ ?gb (?:of )?)*(?:memory|v?ram)\b[^.\n]{{0,20}}\b(?:is|are|gets?|was|were|becomes?) (?:\w+ )?(?:full|exhausted|used up|gone|eaten))"
    ),
    Pattern(
        r"(?:显存|内存).{0,24}(?:不断|持续|一直|越来越|逐渐|慢慢|每个|每次|每一|每轮).{0,8}(?:增|涨|升|变大|加|高|占)|每次.{0,16}(?:显存|内存).{0,4}变|(?:每个|每次|每一|每轮).{0,24}(?:显存|内存).{0,8}(?:增|涨|升|变大)|(?:显存|内存)(?:泄[漏露]|增长|持续增)"
        r"|(?i:(?:памят|\u041e\u0417\u0423|vram)\w*[^.\n]{0,40}(?:раст[её]т|растет|увеличива|утека|заполня)|(?:раст[её]т|увеличива\w+|утечк\w+|утека\w+)[^.\n]{0,30}(?:памят|\u041e\u0417\u0423)|утечк\w+ памят)"
        r"|(?i:(?:speicher|\bram|vram)\w*[^.\n]{0,40}\b(?:w\w{1,2}chst|steigt|nimmt [^.\n]{0,20}zu|l\w{1,2}uft voll|f\w{1,2}llt sich)|speicherleck|speicher-?leak)"
        r"|(?i:(?:mem[oó]ria|\bram\b|vram)[^.\n]{0,40}\b(?:aumenta|crece|sube|se duplica|se dobla|duplica|dobra|se llena|cresce|sobe|enche|va aumentando|vai aumentando)|fuga de memoria|vazamento de mem[oó]ria|(?:aumenta|crece|cresce) (?:el|o|a|la) (?:uso|consumo) (?:de|da) mem[oó]ria)"
        r"|(?i:\b(?:jede[mnrs]?|cada|chaque|кажд\w+)\b[^.\n]{0,40}\b(?:mehr|m[aá]s|mais|plus|больше)\b(?=[^.\n]{0,40}(?:speicher|mem|m[ée]moire|памят|belegt))|(?:speicher|\bram|mem[oó]ria|m[ée]moire|памят)[^.\n]{0,30}\b(?:jede[mnrs]?|cada|chaque|кажд\w+)\b[^.\n]{0,40}\b(?:mehr|m[aá]s|mais|plus|больше)\b)"
        r"|(?i:m[ée]moire[^.\n]{0,40}\b(?:augmente|cro[iî]t|grandit|se remplit)|fuite (?:de )?m[ée]moire)"
    ),
)
_LEAKS = Pattern(
    r"(?i:^(?=[^\n]{0,300}\b(?:memory|v?ram)\b)[^\n]{0,300}\b(?:something|it|this|tf|tensorflow|keras|which|that|predict\w*|fit) (?:\w+ )?leaks\b)"
)
"""Something leaks; what, stands in another sentence."""
_GRAPH_EMPTIED = Pattern(
    r"(?i:^(?=[^\n]{0,400}\b(?:memory|ram|leak\w*)\b)(?=[^\n]{0,400}\b(?:grow\w*|increas\w*|leak\w*|more|doubl\w*|builds? up|accumulat\w*)\b)[^\n]{0,400}\b(?:clear_session|reset_default_graph|gc\.collect)\b)"
)
"""What helps where each call adds to the graph."""
_NOT_GROWS = Pattern(
    r"(?i:\b(?:no|not|never|without|n't|fix(?:ed|es)?|solved)\b[^.\n]{0,30}\b(?:leak\w*|grow\w*|increas\w*)\b|\bmemory[ _]growth\b|\bset_memory_growth\b|\ballow_growth\b|\bpaper\b|\bis (?:it|this|that) an? (?:\w+ )?leak\?|\bis (?:it|this|that) a memory leak\?|\bmemory (?:network|bank|cell|module|augment\w*)"
    r"|\b(?:constant|stable|flat|unchanged)\b(?![^.\n]{0,40}\b(?:but|while|ram)\b)|\bincreas\w+ (?:the )?(?:batch|memory limit|your|swap|gpu memory)\b)"
)

# ------------------------------------------------------------------- it takes all

_TAKE = r"(?:tak(?:es?|ing|en)|took|allocat(?:es?|ed|ing)|reserv(?:es?|ed|ing)|grab(?:s|bing|bed)?|fill(?:s|ing|ed)?|occup(?:ies|y|ied|ying)|hog(?:s|ging)?|eat(?:s|ing|en)?|ate|consum(?:es?|ing|ed)|(?:(?<!I )(?<!we )(?<!We )(?<!to )(?<!can )(?<!you )us(?:es?|ed)|using)|block(?:s|ing|ed)?|claim(?:s|ing|ed)?|hold(?:s|ing)?|monopoli[sz](?:es|ing)|swallow(?:s|ed|ing)?|steal(?:s|ing)?)"
_ALL = r"(?:almost |nearly |basically |up )*(?:all(?: of)?|the (?:whole|entire|full|complete|total|maximum)|whole|entire|every|full|complete|9\d ?%|100 ?%(?: of)?)"
_GB = r"\d{1,3}(?:[.,]\d{1,2})? ?(?:gi?b?|mi?b)\b"
_PART = rf"\d{{1,6}}(?:[.,]\d{{1,2}})? ?(?:(?:gi?b?|mi?b)\b)? ?(?:/|of|out of) ?(?:the |my |its )?{_GB}"
_MUCH = rf"(?:{_PART}|(?:1\d|[2-9]\d|[6-9])(?:[.,]\d{{1,2}})? ?gi?b?\b|\d{{4,5}} ?mi?b\b)"
_OF = r"(?:of |the |my |available |free |its |a |an |this |each |every |in )*"
_TAKES = (
    Pattern(
        rf"(?i:\b{_TAKE} (?:up )?(?:my |our |your |its )?{_ALL} {_OF}{_M}|\bwhy\b[^.?\n]{{0,60}}?\b(?:needs?|requires?|wants?) {_MUCH}(?=[^.\n]{{0,16}}{_M})|\b{_TAKE} (?:up )?{_ALL} {_OF}(?:memory|v?ram)\b(?=[^.\n]{{0,80}}\b(?:gpu|card|cuda|nvidia))|\b(?:gpu|card|cuda|nvidia)\b[^.\n]{{0,60}}\b{_TAKE} (?:up )?{_ALL} {_OF}(?:memory|v?ram)\b"
        rf"|{_ALL} {_OF}{_M}(?: (?:is|are|was|gets?|being|has been))+ (?:\w+ )?{_TAKE}\b|\b{_TAKE} (?:up )?{_ALL} (?:of )?(?:the |my )gpu\b(?! (?:mem|power|util|cores))|{_M}\b[^.,\n]{{0,30}}\b{_TAKE}\b[^.,\n]{{0,12}}\b100 ?%"
        rf"|\b{_TAKE} (?:up )?(?:about |around |over |more than |almost |nearly |up to |~ ?)?(?:{_PART}(?=[^.\n]{{0,50}}(?:{_M}|\b(?:gpus?|cards?|memory|v?ram|[gr]tx)\b))|{_MUCH}(?=[^.\n]{{0,30}}(?:{_M}|\b(?:memory|v?ram)\b)|[^.\n]{{0,30}}\bgpu(?! (?:card|with))))(?![^.\n]{{0,20}}\b(?:disk|storage)\b)|{_M} (?:is|are|was|gets?|being) (?:\w+ )?(?:completely|fully|entirely|totally) (?:reserved|taken|allocated|occupied|used|full|in use|blocked)\b|{_M} (?:usage|consumption)?[^.\n]{{0,20}}\b(?:is|of|at|stays|shows|was) (?:already |at |about |around |always )*(?:{_MUCH}|100 ?%)(?! ?(?:free|available))"
        rf"|\bnvidia-smi (?:shows|says|reports)\b[^.\n]{{0,50}}(?:{_GB} ?(?:/|of|out of) ?(?:the )?{_GB}|\ball (?:\w+ )?(?:cards|gpus|memory) (?:are |is )?(?:full|used))"
        rf"|\b(?:huge|large|high|excessive|massive|too much|so much|very much|a lot of|lots of|enormous|crazy) (?:amounts? of )?{_M}(?: usage| consumption| footprint)?)"
    ),
    Pattern(
        r"占(?:满|用|了|光|据)?.{0,4}(?:全部|所有|整个|满|大量|太多|几乎).{0,8}显存|占(?:满|光|用)(?:了)?.{0,4}显存|显存.{0,6}(?:全部?|都|会|就|直接)?被?(?:占满|占完|占光|吃满|用完|占用(?:过高|太高|太大|很大|很高))|显存(?:全部|全都|都)被?占|显存(?:一直)?被.{0,8}占用"
        r"|(?i:(?:занимает|съедает|забирает|жр[её]т|использует|заполняет|выделяет|потребляет|ест|отжирает)(?: \w+){0,2} (?:вс[юея]|весь|целиком|полностью|\d+ ?\u0433\u0431)(?: \w+){0,3} (?:видео)?памят\w*|вся (?:видео|gpu ?)?памят\w+ (?:занята|занимается))"
        r"|(?i:(?:belegt|nimmt|verbraucht|frisst|reserviert|nutzt|verwendet|braucht|f\w{1,2}llt)(?: \w+){0,4} (?:ganzen?|gesamten?|kompletten?|allen|alles|vollen?|immer alles)\b(?: \w+){0,2}(?: ?(?:speicher|grafik|gpu|vram|video)\w*)?)"
        r"|(?i:(?:ocupar?|usar?|utilizar|reserva|consume|toma|utiliza|aloca|consome|pega|prend|occupe|alloue|utilise|r[ée]serve)(?: \w+){0,2} (?:toda|tod[oa] el|toute|tout[e]?|la totalit[ée]|quase toda|casi toda)(?: \w+){0,3} (?:mem[oó]ria|m[ée]moire|vram|gpu|carte|tarjeta|placa))"
    ),
)
_OPTION = r"\w*(?:allow_growth|memory_growth|memory_fraction|ALLOW_GROWTH)\w*(?:\(\w*\))?"
_IN_VAIN = r"(?:no effect|without effect|not? (?:any )?(?:influence|difference|help\w*|work\w*|respect\w*|take effect|taken)|n't (?:\w+ )?(?:work\w*|help\w*|change|respect\w*|do|take effect|be set)|does nothing|do nothing|ignor\w+|useless|ineffective|in vain|still\b|all the same|nevertheless|anyway|regardless|although|even (?:though|with|when|if)|despite|cannot be set)"
_GROWTH_IN_VAIN = Pattern(
    rf"(?i:{_OPTION}[^.\n]{{0,60}}?\b{_IN_VAIN}|{_OPTION}[^.\n]{{0,20}}n't (?:\w+ )?(?:work|help|change|respect|do|take effect|be set)|\b(?:despite|although|even (?:with|though|if)|ignores?|not respect\w*)\b[^.\n]{{0,40}}?{_OPTION}"
    rf"|{_OPTION}[^.\n]{{0,24}}(?:funktioniert nicht|wirkungslos|ohne wirkung|no funciona|não funciona|sin efecto|sem efeito|ne (?:marche|fonctionne) pas|sans effet|не (?:работает|помогает|действует))|{_OPTION}.{{0,16}}(?:无效|没用|没有用|没效果|没有效果|不起作用|不管用|不生效))"
    r"|(?i:\bmemory growth can(?:'t|not| not) be set\b)"
)
"""Who has told TensorFlow to take what it needs only, to no effect."""
_GROWTH_AMISS = Pattern(
    r"(?i:\b(?:unless|without|needed|required|cudnn|cublas|handle|blas|gemm|alloc_failed|instead|slow\w*)\b|_STATUS_)"
)
_RELEASE = (
    r"(?:releas(?:es?|ed|ing)|free(?:s|d|ing)?|clear(?:s|ed|ing)?|empt(?:y|ied|ies)|unload(?:s|ed)?|deallocat\w+)"
)
_KEEPS = Pattern(
    rf"(?i:(?:\b(?:not|never|without|fails? to)|n't) (?:\w+ ){{0,3}}?{_RELEASE} (?:up )?(?:\w+ ){{0,3}}?(?:{_M}|(?:memory|vram)\b|gpu\b)|(?:{_M}|\bmemory\b)(?: usage)?[^.,\n]{{0,24}}?(?:\b(?:not|never)|n't)(?: \w+){{0,3}}? (?:{_RELEASE}|given back|returned|handed back)\b"
    rf"|n't (?:\w+ ){{0,2}}?(?:give|hand|return)s? (?:back )?(?:the |its |any |all |my )*(?:{_M}|memory\b)|\bhow (?:can|do|could|should|to)\b[^.\n]{{0,30}}\b(?:release|free|empty|clear) (?:up )?(?:\w+ ){{0,3}}?(?:{_M}|gpu\b)[^.\n]{{0,40}}?\b(?:after|once|when|without|from)\b"
    rf"|(?:{_M}|\bmemory\b)(?: usage)? (?:\w+ )?(?:stays|remains|keeps being|is still) (?:\w+ )?(?:allocated|occupied|held|reserved|full|taken|used|in use)\b|\bunload\w* (?:\w+ ){{0,3}}?from (?:the )?(?:gpu|vram)\b|\b(?:stays?|remains?|kept) in (?:the )?(?:vram|{_M})\b)"
    r"|(?:不|没有?|未|怎么|如何|怎样|无法)(?:会|能|被)?.{0,6}释放.{0,8}显存|显存.{0,12}(?:不|没有?|未|怎么|如何|无法).{0,4}释放"
    r"|(?i:speicher\b[^.\n]{0,60}\bnicht (?:wieder )?(?:frei|freigegeben|geleert)\w*|\bno (?:se )?(?:libera|suelta)\b[^.\n]{0,24}\bmemoria\b|\bmemoria\b[^.\n]{0,40}\bno se libera\b|\bn[ãa]o libera\b[^.\n]{0,24}\bmem[óo]ria\b|\bne lib[èe]re pas\b[^.\n]{0,24}\bm[ée]moire\b"
    r"|(?:освобо\w+|очист\w+)[^.\n]{0,24}(?:видео|gpu )\w*памят\w*|(?:видео|gpu )\w*памят\w*[^.\n]{0,24}не (?:освобожда|очища)\w+)"
)
"""Who complains that what has done its work keeps the memory."""
_KEPT_OTHERWISE = Pattern(
    r"(?i:\b(?:kill\w*|ctrl\w*|crash\w*|zombie\w*|terminat\w+|exit\w*|shut\w*|abort\w*|interrupt\w*|between|each|every|epochs?|folds?|iterations?|batch(?:es)?|nvidia-smi shows no|no process\w*|host|cpu|ram|(?:script|program|process|job|training) (?:has |is |was )?(?:ended|ends|finished|stopped|closed))\b|每|杀|kill|内存)"
)
"""Of what has ended, which is another program's memory now; of what grows."""
_LESS = r"(?:limit(?:s|ing|ed)?|reduc(?:e|es|ing)|restrict(?:ing)?|control(?:ling)?|cap(?:ping)?|decreas(?:e|ing)|lower(?:ing)?|configur(?:e|ing)|manag(?:e|ing)|constrain(?:ing)?|specify(?:ing)?|set(?:ting)?|adjust(?:ing)?|choos(?:e|ing)|minimi[sz](?:e|ing)|sav(?:e|ing)|shrink|free(?:ing)?(?: up)?|release|clear(?:ing)?|make|smaller)"
_LIMIT = (
    Pattern(
        rf"(?i:\b{_LESS} (?:the |how much |my |its |tf |tensorflow |keras |amount of |maximum |max |max\.? |per[- ]process |total |overall |use of |usage of |usage |consumption |allocation |of ){{0,6}}{_M}(?! (?:leak|error|clock|speed|bandwidth))"
        rf"|\b(?:how much|amount of|fraction of|limit (?:of|for|on)|cap on|share of|control (?:of|over)) (?:the )?{_M}[^.\n]{{0,20}}\b(?:is|are|be|being|gets?|should|can|to|used|allocated|reserved|it uses)\b"
        rf"|{_M} (?:limit|fraction|cap|quota|growth|restriction)s?\b(?! (?:exceed|error|reach))|\b(?:allow_growth|per_process_gpu_memory_fraction|set_memory_growth|memory_fraction|TF_FORCE_GPU_ALLOW_GROWTH)\b)"
    ),
    Pattern(
        r"(?:限制|减少|降低|控制|减小|设置|节省).{0,10}显存|显存.{0,6}(?:限制|控制)|(?:怎么|如何|怎样).{0,12}(?:显存|allow_growth)"
        r"|(?i:(?:огранич|уменьш|сниз|лимит)\w*[^.\n]{0,30}(?:видео|gpu|vram|памят)\w*)"
        r"|(?i:(?:gpu|grafik|video)[- ]?(?:karten)?(?:speicher|ram)\w*[^.\n]{0,40}\b(?:begrenz|beschr\w{1,2}nk|reduzier|limitier|einschr\w{1,2}nk)\w*|\b(?:begrenz|beschr\w{1,2}nk|reduzier|limitier|einschr\w{1,2}nk)\w*[^.\n]{0,50}\b(?:gpu|grafik|video)[- ]?(?:karten)?(?:speicher|ram))"
        r"|(?i:\b(?:limit(?:ar|o|a)|reducir|reduzco|restringir|reduzir|diminuir|controlar|limiter|r[ée]duire|restreindre)\b[^.\n]{0,40}\b(?:mem[oó]ria|m[ée]moire|vram)\b)"
    ),
)
_TAKES_ON_GPU = Pattern(
    rf"(?i:\b{_TAKE} (?:up )?everything\b)"
    r"|(?i:\bmemory (?:usage|consumption|footprint|use)\b[^.\n]{0,20}\b(?:very|too|so|extremely|really|quite|unusually) (?:high|large|huge|much|big)\b|\b(?:very|too|so|extremely|really|quite|unusually|such) (?:an? )?(?:high|large|huge|much|big) (?:gpu )?memory (?:usage|consumption|footprint|use)\b)"
)
_LIMIT_ON_GPU = Pattern(
    rf"(?i:\b{_LESS} (?:\w+ ){{0,3}}?memory (?:usage|consumption|footprint|use|allocation|fraction)\b)"
)
"""The same in words that do not tell whose memory it is, of a GPU that is named."""
_ASKS = Pattern(
    r"(?i:\?|\bhow\b|\bcan (?:i|we|you|it|one)\b|\bis there\b|\bany (?:way|option|chance|possibility|method)\b|\bplease\b|\bwould (?:like|be)\b|\bwant\b|\bneed\b|\boption\b|\bfeature\b|\brequest\b|\b(?:can't|cannot|can not|unable|impossible|possible)\b|\ballow\b|\badd\b|\blet\b|\bwhere\b|\bcould (?:you|i|we)\b|\bsupport\b|\bnot work\w*|\bwie\b|怎|如何|как\b|[cç]omo\b|cómo|comment\b)"
)
_TITLE = Pattern(
    rf"(?i:^\W{{0,3}}(?:\[\w+\] )?{_LESS} )|(?i:{_M} (?:limit|fraction|usage|consumption|growth)\w*(?: (?:parameter|option|setting|argument|flag|param))?\W*$)"
)
_NOT_TAKES = Pattern(
    r"(?:没有?|未|不)(?:被|会|能)?(?:占|用|吃)|(?i:(?:\b(?:not|never|cannot|without)|n't) (?:\w+ ){0,2}?(?:tak|allocat|reserv|grab|fill|occup|eat|consum|us)\w*\b|\bslow\w*|\bspeed\b|\bfps\b|\bonly (?:the |one |a single )*(?:first|gpu ?#?\d|one|single)\b|\bdoes(?:n't| not) use\b|只有|很慢|速度|медленн|langsam|lent[eao]?\b)"
)
"""Who complains of speed, or of GPUs that do not work."""
_SETTLED = Pattern(
    r"(?i:\b(?:solved|fixed|works? (?:now|fine|well|great)|all is (?:fine|well|good)|thank|thanks|great|nice|just to confirm|paper|README|typo|progress bar|i (?:limit|limited|set|use|used|reduced) the)\b|\bneeds? only\b|\bonly (?:needs?|uses?|takes?)\b|\bPR\b)"
)
"""Where nobody complains."""

_ABOUT = Pattern(rf"(?i:{_M}|\bmemory\b|\b\d+ ?gb\b|\bbatch(?: ?size)?\b|\bram\b|显存|видеопам)")
_QUESTION = Pattern(
    r"(?i:\b(?:how much|how many|what|which|does|do|is|are|would|should|will|can|why)\b[^?\n]{0,200}\?|\bquestion\b|\brecommended\b|\brequirements?\b|\bminimum\b|多少显存|显存要求|сколько|\b(?:any ?more|closing)\b|\b(?:added|docs)\b)"
)
"""Who asks or tells, and complains of nothing."""

# ------------------------------------------------------------------- the host's

_HOST_SHORT = Pattern(
    r"(?i:\b(?:data ?sets?|arrays?|images|data|files?|csv)\b[^.\n]{0,50}\b(?:larger|bigger|too (?:large|big)|more) (?:than|for|to fit)(?: \w+){0,3} (?:ram|memory)\b|\b(?:doesn't|does not|don't|not) fit (?:in|into)(?: \w+){0,2} (?:ram|main memory|system memory)\b"
    r"|\b(?:all|whole|entire|full|available|too much|\d+ ?gb(?: of)?)\b[^.\n]{0,24}\b(?:system memory|host memory|ram)\b[^.\n]{0,50}\b(?:crash\w*|freez\w*|kill\w*|hang\w*|dies|swap\w*|not enough)\b|\bram\b[^.\n]{0,40}\b(?:fills?(?: up)?|full|exhausted|runs? out|overflow\w*|not enough|used up|maxed)\b[^.\n]{0,80}"
    r"\b(?:crash\w*|freez\w*|kill\w*|hang\w*|dies|load\w*|stops?|swap\w*)\b|\b(?:out of|not enough|insufficient|lack of|run out of|runs out of) (?:system |host |cpu |main )?(?:ram|system memory|host memory|cpu memory)\b|\bafter using all available ram\b|\b(?:cannot|can't|unable to|could(?:n't| not)) allocate \d[\d.]* ?[gt]i?b (?:\w+ ){0,2}?array"
    r"|\b(?:crash\w*|dies|killed)\b[^.\n]{0,60}\bram (?:goes|is|gets|reaches|at|usage)\b)"
    r"|(?i:\b(?:process|script|program|training|python|job|run|kernel) (?:gets? |got |is |was |just )*killed\b|\boom[-_ ]kill|(?<!of )\bmemory ?errors? (?:when|while|on|in|at|during|after|if)\b|\b(?:exit\w*|end\w*|return\w*|die[sd]|code|status|signal)\b[^.\n]{0,16} -9\b(?![.\d])"
    r"|\b(?:dies|died|crash\w*|killed|stops|freezes)\b[^.\n]{0,30}\bload\w*\b[^.\n]{0,30}\b\d{1,3} ?gb\b|\bram\b[^.\n]{0,12}\b(?:goes|is|at|reaches|hits|gets|near)\b[^.\n]{0,8}\b(?:100|9\d) ?%)"
    r"|(?i:\b(?:is|was|gets?|got|just|then|being|terminated with|says?|prints?|shows?|message|error|simply|suddenly|with|only) (?:\w+ )?['\"`*]{0,3}killed['\"`*]{0,3}(?! by (?:me|the user)| all| the| old| my))|^['\"`*]{0,3}[Kk]illed['\"`*]{0,3}\W{0,3}$|(?i:\b(?:ends?|ended|dies|died|exits?|exited|gets?|got|was|is|terminated|crash\w*|stops?|stopped|error)\b[^.\n]{0,30}\bkill(?:ed)?[ -]+(?:signal )?-?9\b|^\W{0,3}kill(?:ed)? ?-?9\W{0,3}$|\bsigkill\b|\bsignal 9\b|\bexit code (?:137|-9)\b)"
    r"|内存不足|(?<!显)内存(?:不够|溢出|爆)|爆内存|被(?i:kill(?:ed)?)掉?|(?i:进程.{0,8}(?:杀死|killed|终止))|\bGetötet\b|(?i:процесс[^.\n]{0,20}(?:убит|убива|завершается)|нехватк\w+ (?:\u043e\u0437\u0443|оперативн\w+)|не хватает (?:\u043e\u0437\u0443|оперативн\w+))"
)
_WORKS_ON = r"(?:images?|pictures?|photos?|samples?|rows?|files?|volumes?|records?|sentences?|videos?|frames?|examples?|documents?)"
_AMOUNT = rf"(?:(?:more than|over|above|beyond|exceed\w*|mehr als|más de|mais de|plus de|all|>) ?(?:the |of )*\d[\d,. ]*k?\b|\b{_WORKS_ON} (?:above|over|beyond) \d|\b(?:large|larger|big|bigger|huge|full|whole|entire) (?:\w+ )?(?:amounts? of (?:data|{_WORKS_ON})|data ?sets?|data|arrays?|{_WORKS_ON})\b|\b\d{{1,3}} ?gb (?:of )?(?:data ?set|data|array|file|csv)\b|\bdata ?set (?:gets|is) (?:\w+ )?(?:large|big)\b|\b\d{{4,7}} {_WORKS_ON}\b|\b\d{{1,4}}k {_WORKS_ON}\b)"
_ENDS = r"(?:(?:keeps? |always |just |silently )*(?:dies|died|die|dying|dead|crash\w*|restart\w*|killed)|stirbt|st\u00fcrzt ab|muere|se muere|morre|meurt|плачет|умирает|падает)"
_INTERPRETER = r"(?:kernel|session|notebook|spyder|jupyter|anaconda|python|interpreter|ядро|n\u00facleo|noyau)"
_DIES_OF_DATA = Pattern(
    rf"(?i:\b{_INTERPRETER}\b(?:[^.\n]|\.(?=\w)){{0,40}}?\b{_ENDS}\b(?:[^.\n]|\.(?=\w)){{0,60}}?{_AMOUNT}|{_AMOUNT}(?:[^.\n]|\.(?=\w)){{0,60}}?\b{_INTERPRETER}\b[^.\n]{{0,30}}?\b{_ENDS}\b|\b{_INTERPRETER}\b(?:[^.\n]|\.(?=\w)){{0,60}}?\b{_ENDS}\b[^\n]{{0,60}}(?:\bnp\.load\b|\bpd\.read_csv\b|\bread_csv\b)|\b{_INTERPRETER}\b(?:[^.\n]|\.(?=\w)){{0,60}}?\b{_ENDS}\b[^.\n]{{0,10}}\bas soon as the data ?set\b)"
    r"|数据.{0,16}(?:超过|大于|多于)?.{0,12}(?:内核|kernel).{0,4}(?:挂|崩|死|重启)|(?:内核|kernel).{0,4}(?:挂|崩|死|重启).{0,24}(?:数据量|数据太大|超过)|超过 ?\d{3,7}.{0,12}(?:内核|kernel).{0,4}(?:挂|崩|死|重启)"
)
"""An interpreter that ends by how much data there is."""
_DIES_OTHERWISE = Pattern(r"(?i:\bgpu\b|\bcuda\b|\bcudnn\b|\bbatch|\bpanic\b|\blinux kernel\b|\bimport\w*\b|显存)")
_BARE_RAM = Pattern(
    r"(?i:\b(?:cpu|host|system|main|server|physical|computer)(?:'s)? (?:memory|ram)\b|\bswap\b|\brss\b|内存)"
)
_OF_A_JOB = Pattern(r"(?i:\b(?:srun|slurm\w*|pbs|sbatch|qsub|oom-?kill\w*|mem(?:ory)? limit)\b)")
_GPUS_TOO = Pattern(
    r"内存.{0,12}(?:GPU|CUDA)|(?:GPU|CUDA).{0,12}内存|(?i:\bmemory ?errors? (?:on|in) (?:the |my )?(?:gpu|cuda|card))"
)
_NOT_KILLED = Pattern(
    r"(?i:\bi (?:have |had )?(?:just |then |already )?(?:killed|kill)\b|\bkilled (?:the|all|my|it|them|this|that|other|old)\b|\b(?:was|were) killed by (?:me|hand|mistake)\b|\bkilled off\b|\bkilled performance|\billegal instruction\b|\bsignal(?::| )? ?(?:[1-8]\b|1\d|bus|seg)|\bbus error\b|\bsigbus\b|\becc\b|\bcheck failed\b|\bxid\b|\buncorrect\w+|\buncontained\b|\bshared memory\b|\borphan\w*|\blauncher\b|\brsync\b)"
)


def _any(patterns: tuple[Pattern, ...], text: str) -> bool:
    return any(one.search(text) for one in patterns)


class _Memory(Language):
    """What somebody says of memory, sentence by sentence."""

    def line(self, text: str, at: int, notes: Notebook) -> Understood | None:
        """What its sentences tell; of several kinds the others are noted beside the one that goes first."""
        if _PRINTED.search(text) or len(text) > _LONGEST:
            return None
        whose_else = bool(_OF_GPU.search(text))
        beside = any(e.kind == "nvidia-gpu-named" for e in notes.events)
        kinds = [_kind(sentence, text, whose_else, beside) for sentence in _SENTENCE.sub("\n", text).split("\n")]
        told = dict.fromkeys(kind for kind in kinds if kind)
        first = next((kind for kind in _ORDER if kind in told), "")
        for kind in told:
            if kind not in (first, ASKED) and all(e.kind != kind for e in notes.events):
                notes.note(TextEvent(line=at, language=COMPLAINT, kind=kind, text=text[:LONGEST], symptom="op-fails"))
        return Understood(first, {}, None if first == ASKED else "op-fails", once=True) if first else None


_ORDER = (GROWS, HOST_GROWS, SHORT, HOST_SHORT, KEPT, TAKES, LIMIT, ASKED)
_LONGEST = 1500
_OF_MEMORY = (
    "gpu-oom-model-or-data", "gpu-memory-held-by-other-process", "tf-preallocates-all-memory", "gpu-memory-handle-alloc",
    "host-memory-leak", "cgroup-memory-limit", "wsl-pinned-memory-limit", "address-space-limit", NOTHING_WRONG,
)  # fmt: skip
_CLEARLY = 0.5


def asks(notes: Notebook, found: tuple[Alike, ...]) -> bool:
    """Whether all that a text has of memory is a question, or praise."""
    kinds = {e.kind for e in notes.events}
    fails = any(e.symptom for e in notes.events) or kinds & _TELLING
    return ASKED in kinds and not fails and bool(found) and found[0].cause in _OF_MEMORY


_TELLING = {"cured", "memory-grows", "memory-grows-by-step", "killed-said", "takes-all-memory", "memory-held-told"}
"""Kinds of a line that tell of what was amiss."""


_OF_HOSTS = {HOST_SHORT, HOST_GROWS, GROWS, "killed", "killed-said", "memory-grows", "memory-grows-by-step"}
"""Where somebody tells these, how much of the GPU's memory is taken is mentioned beside it."""


def settle(notes: Notebook, found: tuple[Alike, ...]) -> None:
    """Take back what is no complaint of memory in the end: TensorFlow says itself that it is no failure, or somebody clearly
    complains of another matter and mentions it."""
    kinds = {e.kind for e in notes.events}
    another = bool(found) and found[0].share >= _CLEARLY and found[0].cause not in _OF_MEMORY
    gone: set[str] = set()
    if another:
        gone |= {SHORT, GROWS, TAKES, LIMIT, KEPT, HOST_SHORT, HOST_GROWS}
    if "benign-memory-retried" in kinds and "out-of-memory" not in kinds:
        gone.add(SHORT)
    if SHORT in kinds and "hosts-memory-named" not in kinds:
        gone.add(HOST_SHORT)
    if kinds & _OF_HOSTS:
        gone |= {TAKES, LIMIT, KEPT}
    if gone:
        notes.events[:] = [e for e in notes.events if e.kind not in gone]


def _kind(sentence: str, text: str, gpu_named: bool, gpu_before: bool) -> str:
    """The kind of a sentence in its line; '': it says nothing of memory that is amiss. `gpu_before`: a GPU is named before it."""
    gpus, hosts = _OF_GPUS_RAM.search(sentence), _OF_HOST.search(_OF_GPUS_RAM.sub(" ", sentence))
    if _GRAPH_EMPTIED.search(sentence) and not gpus:
        return HOST_GROWS
    if _DIES_OF_DATA.search(sentence) and not _DIES_OTHERWISE.search(sentence):
        return HOST_SHORT
    if _GROWTH_IN_VAIN.search(sentence) and not _GROWTH_AMISS.search(text):
        return TAKES
    if (_any(_GROWS, sentence) or _LEAKS.search(text)) and not _NOT_GROWS.search(sentence):
        if hosts and gpus:
            return HOST_GROWS
        return HOST_GROWS if hosts or not (gpus or gpu_named) else GROWS
    if (
        _HOST_SHORT.search(sentence)
        and not (gpu_named and _GPUS_TOO.search(sentence))
        and not _NOT_KILLED.search(sentence)
        and not gpus
    ):
        return HOST_SHORT
    if (gpus or gpu_named) and _KEEPS.search(sentence) and not _KEPT_OTHERWISE.search(text):
        return KEPT
    short = _any(_SHORT, sentence) or (gpu_named and not hosts and _SHORT_ON_GPU.search(sentence))
    if short and _OF_A_JOB.search(sentence):
        return HOST_SHORT
    if short and not _NOT_SHORT.search(sentence):
        cards = gpu_before and not _BARE_RAM.search(sentence)  # who has one says RAM of its memory, too
        return HOST_SHORT if hosts and not (gpus or cards) and not _OF_GPU.search(sentence) else SHORT
    if _SETTLED.search(text):
        return ASKED if _ABOUT.search(sentence) else ""
    named = gpu_named and not hosts
    takes = _any(_TAKES, sentence) or (named and _TAKES_ON_GPU.search(sentence))
    if takes and not (hosts and not gpus) and not _NOT_TAKES.search(text):
        return TAKES
    limits = _any(_LIMIT, sentence) or (named and _LIMIT_ON_GPU.search(sentence))
    if limits and (_ASKS.search(sentence) or _TITLE.search(sentence)):
        return LIMIT
    return ASKED if _QUESTION.search(sentence) and _ABOUT.search(sentence) else ""


LANGUAGE = _Memory(
    name=COMPLAINT,
    foreign=True,
    words=(
        "emory", "EMORY", "emroy", "never freed", "RAM", "ram", "OOM", "oom", "xhausted", "GPU", "gpu", "mem", "MB", "GB", "illed", "ILLED", "SIGKILL", "signal 9", "显存", "内存", "kill", "Kill", "meone", "mebody", "everything", "array",
        "памят", "\u041e\u0417\u0423", "убит", "убива", "peicher", "etötet", "emoria", "emória", "émoire", "emoire", "llow_growth", "LLOW_GROWTH", " fit ", "zombie", "else", "olleague", "137",
        "ernel", "ython", "内核", "амят", "growth", "fraction",
    ),
    kinds=(),
)  # fmt: skip
"""What people say of it."""
_STILL = r"(?:stays?|remains?|still|keeps?|li(?:ves|ved|ngers?) on|(?:is|are|was|does|do|did|wo|will|has|have)(?:n't| not)(?: \w+){0,3}? (?:freed?|released?|cleared?|cleaned|emptied|go down|drop)|never (?:freed|released|cleared))"
_ENDED = r"(?:(?:shut|clos|kill|stop|restart|exit|end|finish|interrupt|cancel|terminat|quit|abort)\w{0,4}|ctrl[- +]?[cz]|crash(?:ed|es)?)"
_FULL = r"(?:memory|v?ram|gpus?|显存)"
HELD = Language(
    name="circumstances",
    foreign=True,
    words=(
        "else", "other ", "still ", "olleague", "shared", "zombie", "Zombie", "process", "tiny", "ingle", "small tensor", "torch.zeros(1)", "emory", "RAM", "gpu", "GPU", "显存", "进程", "프로세스", "메모리",
    ),
    kinds=(
        Kind(
            "memory-held-told",
            rf"(?i:^(?![^\n]{{0,300}}\b(?:nobody|no[- ]?one|nothing) else\b)[^\n]{{0,400}}?(?:\b(?:someone|somebody) else\b|\b(?:an)?other (?:user|person|people|student|colleague|process|job)(?:'?s)?\b(?![^.\n]{{0,30}}\b(?:can(?:'t|not)|fails?|crash))|\bshared (?:server|gpu(?![- ](?:memory|v?ram|speicher))|machine|cluster|workstation|node)\b|\bzombie\b|\b(?:left-?over|stale|orphaned|remaining|hanging) (?:\w+ )?process(?:es)?\b|\bleft (?:\w+ )?processes\b|\b(?:since|after|because) (?:my |the |a |it |an? )?(?:\w+ ){{0,2}}?(?:crash(?:ed)?|was killed|got killed|hung|died)\b(?=[^\n]{{0,80}}\b(?:memory|vram|reboot\w*|oom)\b)|\b(?:memory|vram) (?:is )?(?:full|used|occupied|taken)\b[^.\n]{{0,20}}\b(?:without|no|but no) (?:any )?(?:running )?process|\bonly (?:a |after a )?(?:reboot\w*|restart\w*)(?: of \w+ \w+)? (?:helps?|fixes|works|frees)\b"
            rf"|\b{_FULL}\b[^.\n]{{0,60}}\b{_STILL}\b[^.\n]{{0,60}}\b(?:although|though|after|when|even|once|despite)\b[^.\n]{{0,40}}\b{_ENDED}\b"
            rf"|\b(?:although|though|after|when|even if|once|despite)\b[^.\n]{{0,30}}\b{_ENDED}\b[^.\n]{{0,60}}\b{_FULL}\b[^.\n]{{0,30}}\b{_STILL}\b|\b{_ENDED}\b[^.\n]{{0,60}}\b(?:but|and)\b[^.\n]{{0,40}}\b{_STILL}\b[^.\n]{{0,40}}\b{_FULL}\b"
            rf"|\b(?:empt(?:y|ying)|clear(?:ing)?|free(?:ing)?|releas(?:e|ing)|flush(?:ing)?|reset(?:ting)?) (?:up )?(?:the |my |used |allocated )*(?:{_G}[ -]?(?:memory|ram)|vram)(?: cache)?\b[^.\n]{{0,16}}\bafter\b[^.\n]{{0,40}}\b{_ENDED}\b"
            r"|\b(?:an?|other|another|one|first) (?:\w+ )?(?:process|program|job|script|run)\b(?: \w+){0,2}? (?:(?:that|which) )?(?:takes|uses|holds|occupies|eats|needs|took|occupied|filled|fills|has taken|consumes) (?:up )?(?:all|the whole|the entire|nearly all|almost all)(?: of)?(?: the)? (?:\w+ )?(?:memory|vram) (?:of|on) (?:the )?gpu ?[#:]?\d"
            rf"|\bstill (?:shows?|uses?|used|has|takes?|holds?|occup\w+)\b[^\n]{{0,40}}\b(?:although|though|after|even (?:though|if|when)|despite)\b[^.\n]{{0,40}}\b{_ENDED}\b"
            r"|\b(?:colleague|friend|student|co-?worker|user)(?:'?s)? (?:\w+ ){0,3}?(?:uses?|takes?|fills?|occup(?:ies|y)|holds?)\b[^.\n]{0,30}\b(?:all|whole|entire|most)\b"
            r"|\b(?:nothing|no process(?:es)?|no program) (?:else )?(?:is |was |are )?(?:running|listed|shown)\b[^.\n]{0,60}\b(?:memory|vram)\b[^.\n]{0,30}\b(?:used?|full|occupied|taken|in use)\b"
            r"|\b(?:a|one) (?:tiny|single|small) (?:tensor|number|scalar)\b|\bas soon as i call \.cuda\b|torch\.zeros\(1\)"
            r"|\bno (?:running )?process(?:es)?\b[^.\n]{0,30}\bnvidia-smi\b|\bnvidia-smi\b[^.\n]{0,60}\bno (?:running )?process))"
            r"|僵尸进程|没有(?:看到|显示)?(?:任何)?进程|프로세스가 (?:보이지|없)|(?:别人|其他人|他人|其他用户|其他进程).{0,6}(?:占|用)|显存.{0,12}(?:没有|未|不).{0,3}释放",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells that others are on the GPU, or that what ended has left its memory taken."""
_ANOTHER = r"(?:second|2nd|other|another|old|older|previous|earlier|two|both|three|four|several|multiple|[2-9]|somebody's|someone's|his|her|dead|idle|orphan(?:ed)?)"
_ONES = r"(?:notebooks?|scripts?|runs?|process(?:es)?|programs?|experiments?|workers?|kernels?|consoles?|containers?|tasks?|pods?|services?|jobs?|instances?|librar(?:y|ies)|trainings?|sessions?|models on the same gpu|users?|students?|people)"
BESIDE = Language(
    name="circumstances",
    foreign=True,
    words=(
        "econd", "2nd", "other", "irst", "old", "previous", "earlier", "two ", "Two ", "both", "hree", "four", "several", "ultiple", "body", "one's", "dead", "idle", "rphan", "open", "ackground", "losing", "share", "free", "llocated", "in use", "used", "yesterday", "morning", "Yesterday", "lender", "Xorg", "ctrl", "Ctrl", "CTRL", "atlab", "mate",
    ),
    kinds=(
        Kind(
            "beside-others-told",
            rf"(?i:^(?![^\n]{{0,300}}\b(?:nobody|no[- ]?one|nothing) else\b)[^\n]{{0,600}}?(?:\b{_ANOTHER} (?!(?:\w+ )?(?:stages?|phases?|steps?|parts?|rounds?|epochs?|loops?)\b)(?:[\w-]+ ){{0,2}}?{_ONES}\b(?! (?:of|stages?|phases?|steps?|parts?|rounds?|epochs?|loops?)\b)|\bfirst (?:[\w-]+ ){{0,2}}?{_ONES}\b[^.\n]{{0,40}}\b(?:still|open|running|runs|holds?|takes?|took|uses?|used|occup\w+|ends|ended|finish\w*|works?|keeps?|blocks?)\b|\borphan(?:s|ed)?\b|\b(?:still|left|is|stays?|was) (?:\w+ )?open\b|\bin the background\b|\bclosing \w+ (?:\w+ )?(?:fixed|solved|helped)"
            rf"|\b(?:gpu|card|t4|k80|v100|a100|server|machine)s? (?:is |are )?(?:being )?shared\b|\bshar(?:es?|ed|ing) (?:a|the|one|this|my|our|its)(?: \w+)? (?:gpu|card|k80|t4|v100|a100|rtx \d+|gtx \d+)\b|\btime[- ]?slicing\b|\b(?:somebody|someone)(?:'s| is| was| else|(?: \w+){{0,4}} (?:uses|runs|occupies|shares|took|takes)\b)"
            rf"|\bnvidia-smi\b[^.\n]{{0,30}}\b(?:shows?|reports?|says|lists)\b[^\n]{{0,20}}\b\d{{1,5}}(?:\.\d)? ?[mg]i?b (?:of \w+ )?(?:in use|used|occupied|taken)\b|\b0 bytes (?:already )?allocated\b|\balready allocated:? 0\b|\b(?:yesterday|this morning|in the morning)\b[^.\n]{{0,40}}\b(?:worked|trained|fine|ran|well)\b|\b(?:worked|trained|ran)\b[^.\n]{{0,30}}\b(?:yesterday|in the morning|this morning)\b"
            rf"|\b(?:blender|xorg|matlab|web ?ui|browser|game)\b[^.\n]{{0,30}}\b(?:is|are|holds?|takes?|uses?) (?:\w+ )?(?:running|open|\d)))",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells of other programs on the GPU."""
_HOST = r"(?!(?:gtx|rtx|gt|cuda|cudnn|tf|python|py|cc|sm|compute|yolo\w*|resnet|vgg|epoch|batch|step|fp|int|float|line|ubuntu|win|windows|centos|debian|rhel|driver|gb|mb|conv|dense|mnist|cifar)-?\d|gpu-?\d\b)(?:[a-z]{2,8}-?\d{1,4}|[a-z]\d{1,3}n\d{1,3}|gpu-?\d{2,4})"
_FINE = r"(?:works?|runs?|ran|worked|is fine|are fine|fine|l\u00e4uft|funciona|marche|работает)"
ONE_NODE = Language(
    name="circumstances",
    foreign=True,
    words=("ode", "job", "Job", " on ", "auf ", "lsewhere", "noten", "GPU ", "gpu ", "'t allocate", "nodo", "节点", "узл"),
    kinds=(
        Kind(
            "on-one-node-told",
            rf"(?i:\bjobs?\b[^.\n]{{0,40}}?\b(?:on|to|onto|at) (?:the )?(?:node |host |machine |server )?{_HOST}\b|\b(?:node|knoten|nodo|host|узел|узле) (?:{_HOST}|[a-z]-?\d{{1,3}})\b|^\W{{0,3}}{_HOST} (?:can(?:'t|not| not)|has no|is out of|out of)\b|\bon {_HOST} only\b|\bonly on {_HOST}\b|\bon (?:the )?other (?:nodes?|machines|hosts|servers)\b[^.\n]{{0,40}}\b{_FINE}\b"
            rf"|\belsewhere\b[^.\n]{{0,16}}\b{_FINE}\b|\b(?:the )?same (?:script|job|code|program|training) (?:\w+ )?(?:on|with) (?:gpu ?#?\d|{_HOST})\b[^.\n]{{0,24}}\b{_FINE}\b|\b(?:on|auf) {_HOST} {_FINE}\b|\bsame (?:script|job|code|program) {_FINE} on {_HOST}\b)|节点 ?\w{{2,12}}\d",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who tells of one machine of several."""
AT_WORK = Language(
    name="circumstances",
    foreign=True,
    words=("atch", "poch", "tile", "teration", " steps", "mage size", "esolution", "rop ", "middle", "onger", "arge", "igger", "maller", "B model", "igh-res", " big ", "huge"),
    kinds=(
        Kind(
            "memory-at-work-told",
            r"(?i:(?<![-_\w])batch[-_ ]?sizes?\b|\bbatch(?:es)? of \d|\b(?:at|in|after|during) (?:the )?(?:(?:\d+|first|second|third|some|few|several|a few)(?:st|nd|rd|th)? )?(?:epochs?|iterations?|steps)\b|\bepochs? \d|\bimage[-_ ]?size|\b(?:high(?:er)? |full |input |hd |4k |lower )?resolution\b"
            r"|\b(?:crop|patch|tile)[-_ ]?size\b|\bin the middle of\b|\b(?:long|longer|large|larger|big|bigger|huge) (?:\w+ ){0,2}?(?:images?|models?|volumes?|videos?|sequences?|sentences?|texts?|files?|proteins?|inputs?|data ?sets?|networks?|scenes?)\b|\b\d{1,3}b model\b"
            r"|\bsmaller (?:\w+ ){0,2}?(?:batch\w*|models?|images?|inputs?)\b)",
            once=True,
        ),
    ),
)  # fmt: skip
"""Who says what it is that needs the memory."""
LANGUAGES = (LANGUAGE, HELD, BESIDE, ONE_NODE, AT_WORK)
