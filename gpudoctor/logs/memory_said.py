"""What people say of memory: a GPU that runs out of it, memory that grows, a program that takes all, the host's that does not
suffice. A sentence is of one kind; whose memory it is tells what stands nearest. It is weak: programs' lines go before."""

from __future__ import annotations

import msgspec

from ..facts import COMPLAINT, NOTHING_WRONG, Alike, TextEvent
from ..patterns import Pattern
from . import memory_taken
from .language import LONGEST, Language, Understood
from .notebook import Notebook

SHORT, GROWS, TAKES, LIMIT = "memory-short-told", "memory-grows-told", "takes-much-told", "memory-limit-wanted"
KEPT = "memory-kept-told"
HOST_SHORT, HOST_GROWS, HOST_MUCH = "host-memory-short-told", "host-memory-grows-told", "host-memory-much-told"
ASKED = "memory-asked-told"
_SENTENCE = Pattern(r"(?<=[?!;])\s+|(?<=[^\W\d_])\.\s+|[。\uff01\uff1f\uff1b]|\.$")
_PRINTED = Pattern(
    r"^(?:File \"|Traceback |Step \d|Epoch \d|\d{4}-\d\d-\d\d \d\d:|\[?[IWEF]\d{4} |\|)|\.(?:cc|cpp|cu|h|py|c):\d|^\W{0,4}(?:\w+\()(?![^)\n]{0,60}\) (?:is|was|does|do|doesn't|has|did|call\w*|set|will|can|seems?|makes|no|before|after)\b)|\bclass \w+\b|^(?:import|from) \w+|https?://\S{1,200}(?:memory|oom)"
    r"|failed to allocate \d|CUDA_ERROR_|Tried to allocate \d|bfc_allocator|Cuda failure '|OOM when allocating|Allocator \(|Not enough free VRAM for parallel"
)
"""What programs print, code, addresses: nobody says it."""

_G, _M = memory_taken.GPU, memory_taken.GPUS_MEMORY
_OF_GPU = Pattern(
    rf"(?i:{_M}|\bcuda\b|\bgpus?\b|\b(?:graphics|video) ?cards?\b|\b[gr]tx\b|\bjetson|显存|显卡|видеопам|видеокарт|grafik|vid[ée]o|placa de v|tarjeta|carte graph)"
)
_OF_HOST = Pattern(
    r"\bRAM\b(?! of (?:the|my) (?:gpu|GPU|card))|(?i:\b(?:cpu|host|system|main|server|physical|computer)(?:'s)? (?:memory|ram)\b|\b(?:memory|ram) of (?:the |my )?(?:host|computer|machine|server|pc|system)\b|\brss\b|\bswap\b|\bh?top\b|\bpsutil\b|\bram\b|\bnot (?:the |of the )?gpu\b)"
    r"|(?<!显)内存|(?i:оперативн|\b\u041e\u0417\u0423\b|arbeitsspeicher|hauptspeicher|m[ée]moire vive)"
)
_OF_GPUS_RAM = Pattern(rf"(?i:{_M}|gpu ?内存|显存|видеопам\w*|(?:grafik|video|gpu)[- ]?(?:speicher|ram)\w*)")

_OF_ITS_USERS = {"nvidia-gpu-named", "card-memory-said", "tensorflow-named", "device-found", "gpus-added"}
_USERS = Pattern(r"(?i:\b(?:tensorflow|keras|tflearn)\b)")
"""Where they are named it is a GPU's memory that is spoken of, and is not the host's."""

# ------------------------------------------------------------------- it does not suffice

_OUT = r"(?:out[ -]+off?(?: of)?[ -]+(?:the )?(?:\w+ ){0,2}?(?:memory|mem|ram|vram|space on (?:the )?gpu)\b|out-?of-?memory|\bc?oom(?:s|ed|ing|'s|'d)?\b(?![- ]?kill)|resource ?exhausted)"
_SMALLER = r"(?:not? (?:have )?(?:enough|sufficient)|(?:not|n't|nt) (?:\w+ ){0,3}?(?:enough|sufficient)|in-?sufficient|too (?:little|small|less|low)|lack(?:s|ing)?(?: of)?|short(?:age)?(?: of| on)?|no more|no free|exceed(?:s|ed|ing)?|deficient|exhaust(?:s|ed|ing)?)"
_SHORT = (
    Pattern(
        rf"(?i:{_OUT}"
        rf"|\b(?:needs?|requires?) (?:way |far )?(?:too|so) much {_M}"
        rf"|\b{_SMALLER} (?:the |my |of |any |available |free |amount of )*{_M}|{_M}(?: is| was| are| of \d+ ?gi?b?)*(?: \w+)? {_SMALLER}\b(?! to (?!train|run|fit|load|hold|use))|{_M}\b[^.,\n]{{0,14}}\b(?:overflow\w*|exhausted|explod\w*|bursts?)"
        rf"|\b(?:cannot|can't|can not|could(?:n't| not)|unable to|fail\w* to) (?:\w+ )?allocate (?:\w+ ){{0,3}}?(?:{_M}|memory (?:on|in|for) (?:the |my )?{_G})|\ballocat\w+ (?:of )?(?:the )?{_M} (?:\w+ )?fail\w*|\b(?:can't|cannot|can not|unable to|not able to|impossible to) (?:run|train|load|use|fit|start)\b(?:[^.\n]|\.(?=\d)){{0,40}}?\b(?:on|with|in) (?:\w+ ){{0,3}}?\d{{1,2}} ?gb\b(?! (?:of )?(?:\w+ )?(?:ram|data|disk))"
        rf"|\bnot? (?:have )?enough (?:\w+ )?memory (?:on|for|in|of) (?:the |my )?(?:gpu|cuda|card|device|graphics)|\b(?:overflow|explod|exhaust)\w{{0,3}} (?:the |my )?{_M}"
        rf"|\b(?:does|do|did|can|could|will|would)(?:n't|nt| not|not) (?:even )?(?:fit|go) (?:\w+ ){{0,3}}?(?:in|into|on|to|onto) (?:the |my |a |an |one |single )*(?:[\w.-]{{1,12}} ){{0,3}}?(?:gpus?|memory|v?ram|card)\b"
        rf"|{_M}(?: usage)?\b[^.\n]{{0,40}}\b(?:full|used up|maxe[sd] out|fills? up|100 ?%)[^.\n]{{0,30}}\b(?:crash\w*|stops?|errors?|fails?|dies|killed|then)\b|\b(?:fills?|uses?|used|eats?|using) up (?:all )?(?:of )?(?:the |my )?{_M}[^.\n]{{0,40}}\b(?:crash\w*|stops?|errors?|fails?|dies)\b)"
    ),
    Pattern(
        r"显存.{0,6}(?:不足|不够|溢出|爆|耗尽|超出|报错|炸)|爆(?:了)?显存|(?:超出|超过).{0,4}显存|OOM|(?<!爆)内存溢出.{0,8}(?:GPU|CUDA)|(?:GPU|CUDA).{0,12}内存(?:不足|不够|溢出)"
        r"|(?i:(?:не хватает|нехватка|недостаточно|мало|закончи\w{1,5}|кончает\w{0,3}|кончи\w{1,5}|переполн\w{1,6})(?: \w+){0,2} (?:видео|gpu|гпу|vram|памят)\w*|видеопам\w+ (?:не хватает|мало|заканчивается|кончается|переполн\w*))"
        r"|(?i:(?:zu wenig|nicht genug|nicht gen\w{1,3}gend|nicht ausreichend|unzureichend\w*|kein) (?:freie[rn]? )?(?:grafik|video|gpu)[- ]?(?:karten)?(?:speicher|ram)|(?:grafik|video|gpu)[- ]?(?:karten)?speicher\w* (?:\w+ ){0,2}?(?:nicht (?:aus|genug)|reicht nicht|voll|zu klein|ersch\w+pft|l\w+uft voll)|reicht (?:der |mein |die )?(?:grafik|video|gpu)[- ]?(?:karten)?(?:speicher|ram) nicht|speicher (?:der|meiner) (?:grafikkarte|gpu|karte)[^.\n]{0,12}(?:nicht|voll|zu klein))"
        r"|(?i:(?:sin|falta(?: de)?|insuficiente|no (?:hay|tengo|tiene|alcanza)(?: la)?(?: suficiente)?|poca|sem|não (?:há|tem|tenho)(?: a)? ?(?:suficiente)?|pouca|estour\w{1,3}(?: d[ea]| a)?) (?:la )?(?:mem[oó]ria|vram)\b|mem[oó]ria(?: [\w()]+){0,6} (?:insuficiente|no (?:es )?(?:alcanza|suficiente)|esgotad\w|agotad\w))"
        r"|(?i:m[ée]moire(?: \w+){0,4} (?:insuffisante|satur[ée]e|pleine|n'est pas suffisante)|(?:pas assez|manque|plus assez|[àa] court|d[ée]passement) de (?:la )?m[ée]moire)"
    ),
)
_SHORT_ON_GPU = Pattern(
    rf"(?i:\b(?:{_SMALLER}) (?:\w+ ){{0,2}}?(?:memory|mem)\b(?! (?:usage|consumption))|\bmemory (?:\w+ ){{0,3}}?(?:not enough|insufficient|exhausted|exceeded|overflow\w*)\b|\bmemory[- ]?(?:allocation)?[- ]?(?:errors?|fail(?:s|ed|ure)|crash\w*)\b|\bmemory allocation (?:has )?(?:error|fail)\w*"
    r"|\b(?:models?|networks?|nets?|batch(?:es)?|images?|data|it|volumes?|input|tensor|protein|scene)(?: is| are|'s)? (?:\w+ )?too (?:large|big|huge|heavy|much|long)\b[^.\n]{0,20}\bfor\b|\b(?:gpu|card|memory|vram)\b(?: \w+){0,2}? (?:is |gets? |will |just )*(?:explod\w*|overflow\w*|blow[ns]? up|burst\w*)\b|\b(?:explod|overflow)\w* (?:the |my )?(?:gpu|card|memory)"
    r"|\b(?:gpu|video|cuda|graphics) memory\b[^\n]{0,80}\bruns? out\b|\b\d{1,2} ?gb (?:one|card|gpu|laptop)\b[^.\n]{0,20}\b(?:runs? out|can't|cannot|can not|unable|gives|fails|refuses|is refused)\b|\btensor\b[^.\n]{0,40}\bcould not be allocated\b|(?:n't|\bnot) fit (?:in|into|on|onto) (?:just |only )?(?:one|a single|it)\b"
    r"|\b(?:wants?|needs?|requires?|asks for|tries to (?:allocate|get)) (?:\w+ )?\d{2,3} ?gi?b\b[^.\n]{0,30}\b(?:card|gpu|[vap]100|[gr]tx[ \d]{0,6}) (?:only )?(?:has|have|is|with|offers)\b|\bmemory (?:usage|consumption|requirements?|demand)\b(?: \w+){0,3}? too (?:high|large|much|big)\b(?=[^\n]{0,100}\b(?:\d+ ?gb?|abort\w*|crash\w*|fail\w*|error\w*|dies)\b)|\bblow[ns]? up the (?:gpu|memory|card)|\b(?:fails?|failed|crash\w*|dies|aborts?|can't|cannot)\b[^.\n]{0,40}\b(?:only|just) (?:has |have |with )?\d{1,2} ?gb?\b"
    r"|\b(?:memory|vram) (?:is|was) (?:full|all used|used up)\b[^.\n]{0,30}\b(?:crash\w*|error|stop\w*|fail\w*|when i (?:start|run|train)))"
)
"""The same in words that do not tell whose memory it is, of a GPU that is named."""
_NOT_SHORT = Pattern(
    rf"(?i:\b(?:no|not|never|without|avoid(?:s|ing)?|prevent(?:s|ing)?|less|n't) (?:\w+ ){{0,4}}?{_OUT}|{_OUT}[^.\n]{{0,30}}\b(?:any ?more|any longer|is gone|went away|goes away|solved|fixed)\b"
    rf"|\b(?:no longer|solved|fix(?:ed|es)|resolved|in case|in order to|so that it|if (?:you|there|it|the|one|we|users?)|when you|whether|otherwise|should you|cause you|might|may|could|would|will)\b[^.\n]{{0,60}}{_OUT}|{_OUT}[^.\n]{{0,20}}\b(?:handling|handler|killer|safe|score)\b"
    r"|\b(?:(?<!the )(?<!this )(?<!my )thought|guess\w*|suspect\w*|suppose\w*|supose|assum\w+|wonder\w*)\b|\b(?i:achei|pens[ée]|pensaba|pensei|cre[íi]a?|dachte|vermute|думал|я подумал)\b|以为|是不是|是否|\b(?:don't|not|n't) think\b|\b(?:typo|readme|changelog|docs?)\b|\b(?:does|do|would|could|will)\b[^.\n]{0,40}\bhelp (?:with|against)\b|\bis (?:it|this)\b[^.\n]{0,30}\?|\b(?:read that|leads? to|recommended|against|compil\w+|isn't the|not the|as an? out|\becc\b|uncorrect\w+|uncontained|xid|dbe|remapp\w+|rma'?d?)\b|\bwhile building\b)"
)
"""Who is not out of memory, or speaks of what might be."""

# ------------------------------------------------------------------- it grows

_UP = r"(?:grow(?:s|ing|n)?|grew|increas(?:es?|ed|ing)|ris(?:es?|ing)|rose|climb(?:s|ed|ing)?|leak(?:s|ed|ing|age)?|goes up|going up|go up|(?:goes|went|going|jumps|rises) from \d|accumulat(?:es?|ed|ing)|fills?(?: up)?|filling(?: up)?|builds? up|doubl(?:es?|ed|ing)|tripl(?:es?|ed|ing)|swell(?:s|ing)?|multiplies|(?:gets?|getting|becomes?|becoming) (?:larger|bigger|higher|more|fuller)|pil(?:es|ing) up|adds? up|add up|creep(?:s|ing)? up)"
_AGAIN = r"(?:each|every|per|after|over time|with (?:time|the)|until|till|and more|more and more|gradual\w+|continu\w+|constant\w+|stead\w+|keeps?|kept|always|all the time|slowly|in a loop|over and over|a bit|and then|finally|eventually|from \d|to \d|during|while|when|in (?:the )?\w+ loop|as (?:the )?(?:training|epoch|it))"
_GROWS = (
    Pattern(
        rf"(?i:\b(?:memory|mem|v?ram|rss)\b(?! (?:cell|bank|network))[^.\n]{{0,60}}?\b(?:{_UP}[^.\n]{{0,60}}\b{_AGAIN}\b|{_AGAIN} [^.\n]{{0,30}}{_UP}\b)|\b{_AGAIN}\b[^.\n]{{0,60}}\b(?:memory|v?ram|rss)\b[^.\n]{{0,40}}?\b{_UP}\b"
        rf"|\b{_AGAIN}\b[^.\n]{{0,60}}\b(?:uses?|takes?|eats?|consumes?|adds?|allocates?|needs?|occupies) (?:\w+ ){{0,3}}?(?:more|additional|extra|another) (?:and more )?(?:\w+ ){{0,3}}?(?:memory|v?ram)\b|\bmore and more (?:of )?(?:the |my )?(?:\w+ ){{0,2}}?(?:memory|v?ram)\b"
        rf"|\b(?:each|every)\b[^.\n]{{0,40}}\b(?:adds|leaks|costs|eats|takes) (?:another |about |some )*\d{{1,5}} ?[mg]i?b\b|\b\d{{1,3}} ?gi?b (?:at|in|after|during) the first\b[^.\n]{{0,24}}\b\d{{1,3}} ?gi?b (?:at|in|after|during) the (?:second|next|third)\b|\bthe longer\b[^.\n]{{0,40}}\bthe more\b[^.\n]{{0,12}}\b(?:memory|v?ram)\b|\b\d{{1,5}} ?[mg]b (?:at first|at (?:the )?(?:start|beginning)|initially)\b[^.\n]{{0,20}}\b\d{{1,5}} ?[gm]b (?:after|at the end|later|in the end)\b|\b(?:memory|ram)[- ]?leak(?:s|age|ing|ed)?\b|\bleak(?:s|ing|ed)? (?:\w+ ){{0,2}}?(?:memory|v?ram)\b"
        rf"|\b(?:memory|v?ram)\b[^.\n]{{0,40}}\b(?:not|never|n't)(?: \w+){{0,3}}? (?:released?|freed?|cleared?|cleaned)\b[^.\n]{{0,60}}\b(?:between|after each|after every|fold|folds|epoch|epochs|loop|iterations?|next (?!notebook|run|process|start|job|container|script|program)|second|third|\d(?:rd|nd|th))\b"
        rf"|\b(?:after|in|for) \d[\w,.]* (?:epochs?|steps?|iterations?|batches|images|hours?|files|samples|sentences|calls)\b[^.\n]{{0,50}}\b(?:all |the |my |\d+ ?gb (?:of )?)*(?:memory|v?ram)\b[^.\n]{{0,20}}\b(?:is|are|gets?|was|were|becomes?) (?:\w+ )?(?:full|exhausted|used up|gone|eaten))"
    ),
    Pattern(
        r"(?:显存|内存).{0,24}(?:不断|持续|一直|越来越|逐渐|慢慢|每个|每次|每一|每轮).{0,8}(?:增|涨|升|变大|加|高|占)|每次.{0,16}(?:显存|内存).{0,4}变|(?:每个|每次|每一|每轮).{0,24}(?:显存|内存).{0,8}(?:增|涨|升|变大)|(?:每个|每次|每一|每轮|每训练).{0,12}(?:显存|内存).{0,4}多|(?:显存|内存)(?:泄[漏露]|增长|持续增)"
        r"|(?i:(?:памят|\u041e\u0417\u0423|vram)\w*[^.\n]{0,40}(?:раст[её]т|растет|увеличива|утека|заполня)|(?:раст[её]т|увеличива\w+|утечк\w+|утека\w+)[^.\n]{0,30}(?:памят|\u041e\u0417\u0423)|утечк\w+ памят)"
        r"|(?i:(?:speicher|\bram|vram)\w*[^.\n]{0,40}\b(?:w\w{1,2}chst|steigt|nimmt [^.\n]{0,20}zu|l\w{1,2}uft voll|f\w{1,2}llt sich)|speicherleck|speicher-?leak)"
        r"|(?i:(?:mem[oó]ria|\bram\b|vram)[^.\n]{0,40}\b(?:aumenta|crece|sube|se duplica|se dobla|duplica|dobra|se llena|cresce|sobe|enche|va aumentando|vai aumentando)|fuga de memoria|vazamento de mem[oó]ria|(?:aumenta|crece|cresce) (?:el|o|a|la) (?:uso|consumo) (?:de|da) mem[oó]ria)"
        r"|(?i:\b(?:jede[mnrs]?|cada|chaque|кажд\w+)\b[^.\n]{0,40}\b(?:mehr|m[aá]s|mais|plus|больше)\b(?=[^.\n]{0,40}(?:speicher|mem|m[ée]moire|памят|belegt))|(?:speicher|\bram|mem[oó]ria|m[ée]moire|памят)[^.\n]{0,30}\b(?:jede[mnrs]?|cada|chaque|кажд\w+)\b[^.\n]{0,40}\b(?:mehr|m[aá]s|mais|plus|больше)\b)"
        r"|(?i:m[ée]moire[^.\n]{0,40}\b(?:augmente|cro[iî]t|grandit|se remplit)|fuite (?:de )?m[ée]moire)"
    ),
)
_DOWN = r"(?:drop(?:s|ped|ping)?|fall(?:s|ing)?|fell|shrink(?:s|ing)?|shrank|decreas(?:es?|ed|ing)|(?:is |gets? |was )(?:\w+ )?reduced|go(?:es|ing)? (?:\w+ )?down|went down|go(?:es|ing)? from \d|runs? down|dwindl\w+|sinks?|diminish\w*)"
_LEFT = rf"(?:(?:available|free|remaining|usable) (?:\w+ )?(?:memory|ram)|(?:memory|ram) (?:that is |which is )?(?:available|left|free|remaining)|(?:available|free) {_M})"
_FALLS = Pattern(
    rf"(?i:\b{_LEFT}\b[^.\n]{{0,60}}?\b{_DOWN}\b(?=[^\n]{{0,100}}\b(?:{_AGAIN}|to \d|steadily|crash\w*|killed|all the time|with every)\b))"
    r"|(?:可用|剩余|空闲)(?:的)?(?:内存|显存).{0,24}(?:降|减少|变少|下降|越来越少)|(?i:(?:доступн|свободн)\w* (?:\w+ )?памят\w*[^.\n]{0,30}(?:пада|уменьша|снижа)\w+|mem[oó]ria (?:\w+ )?(?:disponible|libre|dispon[ií]vel|livre)[^.\n]{0,30}\b(?:baja|cae|disminuye|cai|diminui)\b"
    r"|(?:freie[rn]?|verf\u00fcgbare[rn]?) (?:arbeits)?(?:speicher|ram)\b[^.\n]{0,40}\b(?:sinkt|f\u00e4llt|nimmt (?:\w+ )?ab|schrumpft)\b)"
)
"""What is left of it falls."""
_LOADS = Pattern(r"(?i:\bload(?:s|ing|ed)?\b[^.\n]{0,30}\b(?:all|whole|entire|full|into|array|\d+ ?gb)\b)")
"""Who takes it at once."""
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

_GPUS_STAYS = Pattern(
    rf"(?i:(?:{_M}|\bgpu(?:'s)?)(?: usage)? (?:is|stays|remains|does) (?:\w+ )?(?:constant|stable|flat|unchanged|the same|fine|ok|not|n't)\b|\bnot (?:the |of the )?gpu\b)"
)
"""Beside the host's, which is what grows."""

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
        rf"|{_M}(?: usage| consumption)?[^.\n]{{0,12}}\b(?:does(?:n't| not) (?:depend on|change with)|is independent of|is the same (?:for|with))\b[^.\n]{{0,20}}\b(?:batch|model)"
        rf"|\bnvidia-smi (?:shows|says|reports)\b[^.\n]{{0,50}}(?:{_GB} ?(?:/|of|out of) ?(?:the )?{_GB}|\ball (?:\w+ )?(?:cards|gpus|memory) (?:are |is )?(?:full|used))"
        rf"|(?<!need )(?<!needs )(?<!require )(?<!requires )\b(?:huge|large|high|excessive|massive|too much|so much|very much|a lot of|lots of|enormous|crazy) (?:amounts? of )?{_M}(?: usage| consumption| footprint)?)"
    ),
    Pattern(
        r"占(?:满|用|了|光|据)?.{0,4}(?:全部|所有|整个|满|大量|太多|几乎).{0,8}显存|占(?:满|光|用)(?:了)?.{0,4}显存|显存.{0,6}(?:全部?|都|会|就|直接)?被?(?:占满|占完|占光|吃满|用完|占用(?:过高|太高|太大|很大|很高))|显存(?:全部|全都|都)被?占|显卡.{0,20}占(?:了|用)?.{0,2}\d{1,2} ?(?i:g)|显存(?:一直)?被.{0,8}占用"
        r"|(?i:(?:занимает|съедает|забирает|жр[её]т|использует|заполняет|выделяет|потребляет|ест|отжирает)(?: \w+){0,2} (?:вс[юея]|весь|целиком|полностью|\d+ ?\u0433\u0431)(?: \w+){0,3} (?:видео)?памят\w*|вся (?:видео|gpu ?)?памят\w+ (?:занята|занимается))"
        r"|(?i:(?:belegt|nimmt|verbraucht|frisst|reserviert|nutzt|verwendet|braucht|f\w{1,2}llt)(?: \w+){0,4} (?:\d{1,2}(?:[.,]\d{1,2})? ?(?:gb )?von (?:den |meinen )?\d{1,2} ?gb|ganzen?|gesamten?|kompletten?|allen|alles|vollen?|immer alles)\b(?: \w+){0,2}(?: ?(?:speicher|grafik|gpu|vram|video)\w*)?)"
        r"|(?i:(?:ocupar?|usar?|utilizar|reserva|consume|toma|utiliza|aloca|consome|pega|prend|occupe|alloue|utilise|r[ée]serve)(?: \w+){0,2} (?:toda|tod[oa] el|toute|tout[e]?|la totalit[ée]|quase toda|casi toda)(?: \w+){0,3} (?:mem[oó]ria|m[ée]moire|vram|gpu|carte|tarjeta|placa))"
    ),
)
_GROWTH_AMISS = Pattern(
    r"(?i:\b(?:unless|without|needed|required|cudnn|cublas|handle|blas|gemm|alloc_failed|instead|slow\w*)\b|_STATUS_)"
)
_LESS = r"(?:limit(?:s|ing|ed)?|reduc(?:e|es|ing)|restrict(?:ing)?|control(?:ling)?|cap(?:ping)?|decreas(?:e|ing)|lower(?:ing)?|configur(?:e|ing)|manag(?:e|ing)|constrain(?:ing)?|specify(?:ing)?|set(?:ting)?|adjust(?:ing)?|choos(?:e|ing)|minimi[sz](?:e|ing)|sav(?:e|ing)|shrink|free(?:ing)?(?: up)?|release|clear(?:ing)?|make|smaller)"
_LIMIT = (
    Pattern(
        rf"(?i:\b{_LESS} (?:the |how much |my |its |tf |tensorflow |keras |amount of |maximum |max |max\.? |per[- ]process |total |overall |use of |usage of |usage |consumption |allocation |of ){{0,6}}{_M}(?! (?:leak|error|clock|speed|bandwidth))"
        rf"|\b(?:how much|amount of|fraction of|limit (?:of|for|on)|cap on|share of|control (?:of|over)) (?:the )?{_M}(?![^.\n]{{0,30}}\b(?:required|needed|necessary|recommended|needs?|requires?)\b)[^.\n]{{0,20}}\b(?:is|are|be|being|gets?|should|can|to|used|allocated|reserved|it uses)\b"
        rf"|\b(?:take|use|reserve|allocate|occupy)s? (?:just |only )?(?:a )?(?:small )?(?:part|fraction|portion|share|half|\d{{1,2}} ?%) of (?:the |my |a |its |each |all )?(?:{_M}|gpu\b)|{_M} (?:limit|fraction|cap|quota|growth|restriction)s?\b(?! (?:exceed|error|reach))|\b(?:allow_growth|per_process_gpu_memory_fraction|set_memory_growth|memory_fraction|TF_FORCE_GPU_ALLOW_GROWTH)\b)"
    ),
    Pattern(
        r"(?:限制|减少|降低|控制|减小|设置|节省).{0,10}显存|显存.{0,6}(?:限制|控制)|(?:怎么|如何|怎样).{0,12}(?:显存|allow_growth)"
        r"|(?i:(?:огранич|уменьш|сниз|лимит)\w{0,10}[^.\n]{0,30}(?:видео|gpu|vram|памят)\w*)"
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
    r"(?:没有?|未|不)(?:被|会|能)?(?:占|用|吃)|(?i:(?:\b(?:not|never|cannot|without)|n't) (?:\w+ ){0,2}?(?:tak|allocat|reserv|grab|fill|occup|eat|consum|us)\w*\b|\bslow\w*|\bspeed\b|\bfps\b|\bonly (?:the |one |a single )*(?:first|gpu ?#?\d|one|single)\b|\bdoes(?:n't| not) use\b|\bnan\b|\baccuracy\b|\bconverge\w*|(?<!模型)(?<!网络)(?<!权重)只有|很慢|速度|медленн|langsam|lent[eao]?\b)"
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
    r"\b(?:crash\w*|freez\w*|kill\w*|hang\w*|dies|load\w*|stops?|swap\w*)\b|\b(?:out of|not enough|insufficient|lack of|run out of|runs out of) (?:system |host |cpu |main )?(?:ram|system memory|host memory|cpu memory)\b|\bafter using all available ram\b|\btried to allocate more memory than is available\b|\b(?:freez\w+|crash\w*|hangs?|swaps?)\b[^\n]{0,60}\bram\b[^.\n]{0,8}(?<![\d.])(?:100|9\d) ?%|\b(?:cannot|can't|unable to|could(?:n't| not)) allocate \d[\d.]* ?[gt]i?b (?:\w+ ){0,2}?array"
    r"|\b(?:crash\w*|dies|killed)\b[^.\n]{0,60}\bram (?:goes|is|gets|reaches|at|usage)\b)"
    r"|(?i:\b(?:process|script|program|training|python|job|run|kernel) (?:gets? |got |is |was |just )*killed\b|\boom[-_ ]kill|(?<!of )\bmemory ?errors? (?:when|while|on|in|at|during|after|if)\b|\b(?:exit\w*|end\w*|return\w*|die[sd]|code|status|signal)\b[^.\n]{0,16} -9\b(?![.\d])"
    r"|\b(?:dies|died|crash\w*|killed|stops|freezes)\b[^.\n]{0,30}\bload\w*\b[^.\n]{0,30}\b\d{1,3} ?gb\b|\bram\b[^.\n]{0,12}\b(?:goes|is|at|reaches|hits|gets|near)\b[^.\n]{0,8}\b(?:100|9\d) ?%)"
    r"|(?i:\b(?:is|was|gets?|got|just|then|being|terminated with|says?|prints?|shows?|message|error|simply|suddenly|with|only) (?:\w+ )?['\"`*]{0,3}killed['\"`*]{0,3}(?! by (?:me|the user)| all| the| old| my))|^['\"`*]{0,3}[Kk]illed['\"`*]{0,3}\W{0,3}$|(?i:\b(?:ends?|ended|dies|died|exits?|exited|gets?|got|was|is|terminated|crash\w*|stops?|stopped|error)\b[^.\n]{0,30}\bkill(?:ed)?[ -]+(?:signal )?-?9\b|^\W{0,3}kill(?:ed)? ?-?9\W{0,3}$|\bsigkill\b|\bsignal 9\b|\bexit code (?:137|-9)\b)"
    r"|内存不足|(?<!显)内存(?:不够|溢出|爆)|爆内存|被(?:系统)?(?i:kill(?:ed)?)掉?|(?i:进程.{0,8}(?:杀死|killed|终止))|\bGetötet\b|(?i:процесс[^.\n]{0,20}(?:убит|убива|завершается)|нехватк\w+ (?:\u043e\u0437\u0443|оперативн\w+)|не хватает (?:\u043e\u0437\u0443|оперативн\w+))"
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
    r"内存.{0,12}(?:GPU|CUDA)|(?:GPU|CUDA).{0,12}内存|(?i:\bmemory ?errors? (?:on|in) (?:the |my )?(?:gpu|cuda|card)|\bmemory errors?\b[^.\n]{0,90}\b(?:on|of|to) (?:the |my |one |a |single |same )*(?:gpu|card)\b)"
)
NOT_KILLED = Pattern(
    r"(?i:\bi (?:have |had )?(?:just |then |already )?(?:killed|kill)\b|\bkilled (?:the|all|my|it|them|this|that|other|old)\b|\b(?:was|were) killed by (?:me|hand|mistake)\b|\bkilled off\b|\bkilled performance|\billegal instruction\b|\bsignal(?::| )? ?(?:[1-8]\b|1\d|bus|seg)|\bbus error\b|\bsigbus\b|\becc\b|\bcheck failed\b|\bxid\b|\buncorrect\w+|\buncontained\b|\bshared memory\b|\bwas me\b|\borphan\w*|\blauncher\b|\brsync\b)"
)


_HOSTS = r"(?:(?:cpu|host|system|main|server|physical)(?:'s)? (?:memory|ram)|(?<!gpu )(?<!video )ram(?: memory)?)"
_VERY = r"(?:too much|so much|too many|very much|too high|very high|so high|extremely high|too large|huge|high|excessive|enormous|massive|crazy|a lot of|lots of)"
_MUCH_OF_HOST = Pattern(
    rf"(?i:\b{_TAKE} (?:up )?(?:{_VERY}|{_ALL}|more than \d{{2,4}} ?gb|(?:about |over |up to )?\d{{2,4}} ?gb) (?:amounts? )?(?:of )?(?:the |my |our |its )?{_HOSTS}\b|\b{_HOSTS}(?: memory)? (?:usage|consumption|use|footprint)\b[^.\n]{{0,20}}\b{_VERY}|\b{_VERY} (?:amounts? of )?(?:\w+ )?{_HOSTS} (?:usage|consumption|use|footprint|is (?:used|consumed|taken|needed))"
    rf"|\b\d{{2,4}} ?gb (?:of )?(?:the |my )?{_HOSTS} (?:is|are|gets?) {_TAKE}|\b{_VERY} memory (?:usage|consumption)\b(?=[^\n]{{0,60}}\b(?:cpu ram|host|system ram|cpu memory|ram)\b)|\b{_TAKE} (?:up )?(?:{_VERY}|{_ALL}|{_PART}) (?:of )?{_HOSTS})"
    r"|(?<!显)内存(?:占用|使用|消耗)(?:量|率)?.{0,4}(?:太|很|过|非常|特别)(?:大|高|多)|占(?:用)?.{0,4}(?:太多|大量|很多)(?:的)?内存|(?i:(?:zu|sehr) viel (?:arbeitsspeicher|ram)|(?:demasiada|mucha) (?:memoria )?ram|(?:muita|demasiada) (?:mem[óo]ria )?ram|(?:слишком )?много (?:\u043e\u0437\u0443|оперативн\w+))"
)
"""Much of the host's memory is taken; nobody says that it grows."""
_EVICTED = Pattern(r"(?i:\bevict(?:s|ed|ion|ing)\b|\blow on resource: memory)")
_NODE_IS_LOW = Pattern(r"(?i:\blow on resource: memory|\bmemory[- ]?pressure\b|\b(?:memory|oom|ram)\b)")
"""What Kubernetes ends, to keep memory on its node."""
_BUFFER = Pattern(r"(?i:(?<![a-z])shuffle[-_ ]?(?:\w+[-_ ])?(?:buffer|puffer)|\bbuffer_size\b)")
_ENDS_THERE = Pattern(
    rf"(?i:\b{_ENDS}\b|\bfreez\w+|\bhangs? up\b|\bends without\b|\babort\w*|\bout of memory\b)|崩|挂|死|重启|杀"
)
_DIES_THEN = Pattern(
    rf"(?i:\b{_INTERPRETER}\b[^.\n]{{0,30}}\b{_ENDS}\b|\b(?:then|and) (?:it )?(?:crash\w*|dies|freez\w+)\b)|(?i:内核|kernel).{{0,4}}(?:挂|崩|死|重启)"
)
"""A buffer of examples that the host's memory does not hold."""


def _any(patterns: tuple[Pattern, ...], text: str) -> bool:
    return any(one.search(text) for one in patterns)


class _Memory(Language):
    """What somebody says of memory, sentence by sentence."""

    def line(self, text: str, at: int, notes: Notebook) -> Understood | None:
        """What its sentences tell; of several kinds the others are noted beside the one that goes first."""
        if _PRINTED.search(text) or len(text) > _LONGEST:
            return None
        whose_else = bool(_OF_GPU.search(text))
        before = {e.kind for e in notes.events}
        kinds = [_kind(sentence, text, whose_else, before) for sentence in _SENTENCE.sub("\n", text).split("\n")]
        told = dict.fromkeys(kind for kind in kinds if kind)
        first = next((kind for kind in _ORDER if kind in told), "")
        for kind in told:
            if kind not in (first, ASKED) and all(e.kind != kind for e in notes.events):
                notes.note(TextEvent(line=at, language=COMPLAINT, kind=kind, text=text[:LONGEST], symptom="op-fails"))
        return Understood(first, {}, None if first == ASKED else "op-fails", once=True) if first else None


_ORDER = (GROWS, HOST_GROWS, SHORT, HOST_SHORT, KEPT, TAKES, HOST_MUCH, LIMIT, ASKED)
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


_OF_SEVERAL = {GROWS, "one-works-said", "several-no-faster", "memory-held-told", "gpu-hardly-used", "memory-asked-told"}
"""What who wants one GPU, and finds the memory of all taken, does not complain of."""
_FAILS_OR_WANTS_MORE = {SHORT, "out-of-memory", "allocation-refused", "wants-several-said"}
_PROGRAMS_FIND_NONE = {
    "out-of-memory",
    "torch-out-of-memory",
    "cuda-out-of-memory",
    "resource-exhausted",
    "allocation-refused",
}
_OF_SPEED = {"several-no-faster", "several-slower-said", "gpu-is-slow", "slow-on-gpu", "gpu-hardly-used"}
_AT_WORK_SLOWLY = {"slow-on-gpu", "gpu-hardly-used", "several-no-faster"}
_IF_LARGER = Pattern(
    r"(?i:\b(?:larger|bigger|higher|greater|more|above|beyond|over|rais\w+|increas\w+)\b[^.\n]{0,60}\b(?:oom\w*|out of (?:\w+ )?memory|memory)\b|\b(?:otherwise|can(?:'t|not)|could(?:n't| not))\b[^.\n]{0,60}\b(?:oom\w*|out of (?:\w+ )?memory|memory)\b|\b(?:oom\w*|out of (?:\w+ )?memory)\b[^.\n]{0,30}\b(?:with|at|for|if) (?:\w+ )?(?:more|larger|bigger|\d))"
)
"""Why somebody who complains of speed has no larger batch."""
_ALL_OF_HOST = Pattern(r"(?i)\b(?:all|whole|entire)\b[^.\n]{0,20}\b(?:system|host|cpu)(?:'s)? (?:memory|ram)\b")


def settle(notes: Notebook, found: tuple[Alike, ...]) -> None:
    """Take back what is no complaint of memory in the end: TensorFlow says itself that it is no failure, or somebody clearly
    complains of another matter and mentions it."""
    kinds = {e.kind for e in notes.events}
    another = bool(found) and found[0].share >= _CLEARLY and found[0].cause not in _OF_MEMORY
    gone: set[str] = set()
    if another:
        gone |= {SHORT, GROWS, TAKES, LIMIT, KEPT, HOST_SHORT, HOST_MUCH}
    if kinds & _OF_SPEED and SHORT in kinds and not another:
        gone |= {SHORT} if all(_IF_LARGER.search(e.text) for e in notes.events if e.kind == SHORT) else set()
    if (
        "memory-aside-told" in kinds
        and kinds & {*_OF_SPEED, "loss-is-nan", "slow-named", "takes-long", "goes-wrong"}
        and not another
    ):
        aside = {e.line for e in notes.events if e.kind == "memory-aside-told"}
        gone |= {SHORT} if all(e.line in aside for e in notes.events if e.kind == SHORT) else set()
    notes.events[:] = [e for e in notes.events if e.kind != "takes-all-memory" or not _ALL_OF_HOST.search(e.text)]
    if "nvidia-gpu-named" not in kinds:
        notes.events[:] = [e for e in notes.events if e.kind != "takes-all-memory" or not _is_of_host(e.text)]
    of_memory = {e.line for e in notes.events if e.kind in (TAKES, SHORT)}
    if any(_is_of_memory(e, of_memory) for e in notes.events):  # whose use is told, and not how busy it is
        notes.events[:] = [e for e in notes.events if not _is_of_memory(e, of_memory)]
        kinds = {e.kind for e in notes.events}
    if kinds & {TAKES, "takes-all-memory"} and not kinds & {SHORT, KEPT, "other-finds-none"}:
        _is_idle(notes, kinds)
    if kinds & {*_AT_WORK_SLOWLY, "task-manager-said"} and not kinds & {SHORT, KEPT, "other-finds-none"}:
        gone |= {TAKES, "takes-all-memory"}  # as it always does
    if {"memory-of-all-told", "wants-one-gpu-said"} <= kinds and not kinds & _FAILS_OR_WANTS_MORE:
        gone |= _OF_SEVERAL
        kinds -= {GROWS}
        _complain(notes, "memory-of-all-told", TAKES)
    if "another-dies-said" in kinds and not any(e.symptom for e in notes.events):
        _complain(notes, "another-dies-said", "another-dies-told")
    if "evicted-told" in kinds and SHORT in kinds:
        notes.events[:] = [msgspec.structs.replace(e, kind=HOST_SHORT) if e.kind == SHORT else e for e in notes.events]
        kinds = kinds - {SHORT} | {HOST_SHORT}
    if "benign-memory-retried" in kinds and "out-of-memory" not in kinds:
        gone.add(SHORT)
    if SHORT in kinds and "hosts-memory-named" not in kinds:
        gone.add(HOST_SHORT)
    if {SHORT, HOST_GROWS} <= kinds and not kinds & _PROGRAMS_FIND_NONE:
        grows = {e.line for e in notes.events if e.kind == HOST_GROWS}  # then that is what it comes from
        gone |= {SHORT} if all(e.line in grows for e in notes.events if e.kind == SHORT) else set()
    if KEPT in kinds and all(memory_taken.keeps_inside(e.text) for e in notes.events if e.kind == KEPT):
        gone |= {"memory-held-told", "holder-is-gone"}
    if kinds & _OF_HOSTS:
        gone |= {TAKES, LIMIT, KEPT}
    if gone:
        notes.events[:] = [e for e in notes.events if e.kind not in gone]


def _is_of_memory(event: TextEvent, lines: set[int]) -> bool:
    """Whether a GPU is thought to be hardly used because of a line that tells of its memory."""
    return event.kind == "gpu-hardly-used" and event.line in lines and not _OF_USE.search(event.text)


_OF_USE = Pattern(
    r"(?i:%|\butil|\bidl|\bslow|\bfast|\bspeed|\bload\b|\bcpu\b|\bpercent|\bnot us|n't us)|\u5229\u7528\u7387|\u6162"
)


def _complain(notes: Notebook, of: str, kind: str) -> None:
    """What was told is complained of, as it turns out."""
    told = next(e for e in notes.events if e.kind == of)
    notes.note(TextEvent(line=told.line, language=COMPLAINT, kind=kind, text=told.text, symptom="op-fails"))


def _is_of_host(text: str) -> bool:
    """Whether it is the host's memory of which a line tells, and no GPU is named there."""
    return bool(_OF_HOST.search(_OF_GPUS_RAM.sub(" ", text))) and not _OF_GPU.search(text)


def _is_idle(notes: Notebook, kinds: set[str]) -> None:
    """Of a GPU whose memory is taken and that hardly works, it is that which is complained of."""
    for at, one in enumerate(notes.events):
        if one.kind in (TAKES, "takes-all-memory") and _IDLES.search(one.text):
            kind = "memory-asked-told" if kinds & _AT_WORK_SLOWLY else "gpu-hardly-used"
            symptom = None if kind == ASKED else "runs-slowly"
            notes.events[at] = msgspec.structs.replace(one, kind=kind, symptom=symptom, language="pace")
            kinds |= {kind}


_IDLES = Pattern(
    r"(?i:(?:\b(?:(?:gpu|volatile)[- ]?)?util(?:i[sz]ation)?|\bgpu (?:usage|load)|\bload of the (?:gpu|card)|\butili[sz]a\w+|auslastung)\b[^.\n%\d]{0,30}(?<![\d.])\d(?:[.,]\d)?(?: ?(?:-|to|bis) ?\d)? ?(?:%|percent)|(?<![\d.])\d ?% (?:gpu[- ]?)?util|(?:利用|占用|使用)率[^。%\d]{0,12}(?<![\d.])\d ?%)"
)
"""A GPU that hardly works."""


def _kind(sentence: str, text: str, gpu_named: bool, before: set[str]) -> str:
    """The kind of a sentence in its line; '': it says nothing of memory that is amiss. `before`: the kinds of what was told before."""
    gpu_before, filling = "nvidia-gpu-named" in before, "benign-shuffle-buffer" in before
    of_gpu = gpu_named or bool(before & _OF_ITS_USERS) or bool(_USERS.search(text))
    settled = _SETTLED.search(memory_taken.COURTESY.sub(" ", text))
    gpus, hosts = _OF_GPUS_RAM.search(sentence), _OF_HOST.search(_OF_GPUS_RAM.sub(" ", sentence))
    if _GRAPH_EMPTIED.search(sentence) and not gpus:
        return HOST_GROWS
    if _EVICTED.search(sentence) and _NODE_IS_LOW.search(text) and not gpus:
        return HOST_SHORT
    if _FALLS.search(sentence) and not _NOT_GROWS.search(sentence):
        loads = _LOADS.search(sentence)
        return (SHORT if loads else GROWS) if gpus else HOST_SHORT if loads else HOST_GROWS
    if filling and _DIES_THEN.search(sentence) and not _DIES_OTHERWISE.search(sentence):
        return HOST_SHORT
    if _BUFFER.search(sentence) and _ENDS_THERE.search(sentence):
        return HOST_SHORT
    if _DIES_OF_DATA.search(sentence) and not _DIES_OTHERWISE.search(sentence):
        return HOST_SHORT
    in_vain = memory_taken.in_vain(sentence) or memory_taken.in_vain_after(text)
    if in_vain and not _GROWTH_AMISS.search(text):
        return TAKES
    if (
        (_any(_GROWS, sentence) or _LEAKS.search(text))
        and not _NOT_GROWS.search(_GPUS_STAYS.sub(" ", sentence) if hosts else sentence)
        and not memory_taken.at_once(sentence)
    ):
        if hosts and gpus:
            return HOST_GROWS
        return HOST_GROWS if hosts or not (gpus or gpu_named) else GROWS
    if (
        _HOST_SHORT.search(sentence)
        and not (gpu_named and _GPUS_TOO.search(sentence))
        and not NOT_KILLED.search(sentence)
        and not gpus
    ):
        return HOST_SHORT
    if (gpus or gpu_named) and memory_taken.KEEPS.search(sentence) and not memory_taken.KEPT_OTHERWISE.search(text):
        return KEPT
    if not hosts and memory_taken.keeps_inside(sentence) and not settled:
        return KEPT
    short = _any(_SHORT, sentence) or (gpu_named and not hosts and _SHORT_ON_GPU.search(sentence))
    if short and _OF_A_JOB.search(sentence):
        return HOST_SHORT
    if short and not _NOT_SHORT.search(sentence):
        cards = gpu_before and not _BARE_RAM.search(sentence)  # who has one says RAM of its memory, too
        return HOST_SHORT if hosts and not (gpus or cards) and not _OF_GPU.search(sentence) else SHORT
    if hosts and not gpus and _MUCH_OF_HOST.search(sentence) and not _SETTLED.search(text):
        return HOST_MUCH
    if settled:
        return ASKED if _ABOUT.search(sentence) else ""
    named = gpu_named and not hosts
    takes = (
        _any(_TAKES, sentence) or (named and _TAKES_ON_GPU.search(sentence)) or memory_taken.takes_all(sentence, of_gpu)
    )
    if takes and not (hosts and not gpus) and not _NOT_TAKES.search(text):
        return TAKES
    limits = _any(_LIMIT, sentence) or (named and _LIMIT_ON_GPU.search(sentence))
    if (limits and (_ASKS.search(sentence) or _TITLE.search(sentence))) or (
        not hosts and memory_taken.wants_less(sentence, of_gpu)
    ):
        return LIMIT
    return ASKED if _QUESTION.search(sentence) and _ABOUT.search(sentence) else ""


LANGUAGE = _Memory(
    name=COMPLAINT,
    foreign=True,
    words=(
        "emory", "EMORY", "emroy", "never freed", "RAM", "ram", "OOM", "oom", "xhausted", "GPU", "gpu", "mem", "MB", "GB", "illed", "ILLED", "SIGKILL", "signal 9", "显存", "显卡", "内存", "kill", "Kill", "meone", "mebody", "everything", "array",
        "памят", "\u041e\u0417\u0423", "убит", "убива", "peicher", "etötet", "emoria", "emória", "émoire", "emoire", "llow_growth", "LLOW_GROWTH", " fit ", "zombie", "else", "olleague", "137",
        "ernel", "ython", "内核", "амят", "growth", "fraction", "vict", "huffle",
    ),
    kinds=(),
)  # fmt: skip
"""What people say of it."""
