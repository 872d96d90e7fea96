"""Who asks before anything has failed: which versions go together, whether a card will do, how GPUs are chosen, counted and measured;
and who worries about a line while all works.

Sentence by sentence: one must ask so, and none may tell of trouble. It takes back no failure that a line shows or that somebody tells.
"""

from __future__ import annotations

from ..patterns import Pattern
from . import answered
from .notebook import Notebook
from .told_speed import sentences

_MOST_LINES, _MOST_CHARACTERS = 9, 900
"""Of a question."""
_VERSIONED = (
    r"(?:cuda|cu ?dnn|toolkit|drivers?|tensor ?flow(?:[- ]gpu)?|tf ?\d?|keras|python|numpy|pytorch|ubuntu|windows)"
)
_CARDS = r"(?:gpus?|graphics? cards?|video cards?|cards?|geforce|quadro|[gr]tx|vram|hardware)"
_ASKS = Pattern(
    rf"(?i)\b(?:which|what)(?:'s)? (?:(?!wrong|reason|cause|problem|error|happen)[\w'/.+-]+,? ){{0,5}}?(?:versions?|releases?|combinations?|requirements|images?|packages?|wheels?|batch size|(?:{_VERSIONED}|{_CARDS})(?! (?:error|problem|issue|usage|util)))\b"
    r"|\b(?:can|could|will|would|should|shall|may|must|do|does|is|are|has|was)\b(?! (?:(?:it|this|that) (?:normal|expected|a bug|correct)|(?:any|some)(?:one|body)))[^?]{0,140}?\b(?:support(?:s|ed)?|compatib\w+|work(?:s|ing)? (?:with|on|under)|runs? (?:on|with|under)|(?:be|have been) (?:installed|used|trained|tested)|install|enough|sufficient|suffices?|good|fine|suitable|recommend(?:ed)?|need(?:ed)?|requires?|required|necessary|better|choice|exactly|instead|tables?|differences?|disadvantages?|downsides?|drawbacks?|plans?|planned|double|scripts?|benchmarks?|supposed to (?:be|work)|means?|(?:cpu|gpu) version|tensor cores?)\b"
    rf"|\bhow (?:do|can|could|should|would|to)\b[^?]{{0,50}}\b(?:on|with|using|in|for) (?:the |only |an? )*cpus?\b|\bhow (?:many|much|big|large)\b[^?]{{0,50}}\b(?:{_CARDS}|memory|ram|[gm]b|disk|images|time|hours|days)\b|\bhow (?:do|does|did|can|could|should|would|to|are|is|many)\b[^?]{{0,40}}\b(?:choos\w+|select\w*|specif\w+|pick\w*|lists?|check\w*|see|measur\w+|know|find out|tell|verify|test\w*|benchmark\w*|compar\w+|number(?:s|ed|ing)?|count(?:s|ed)?|order(?:s|ed)?|plac(?:e|es|ed)|assign\w*|calculat\w+|estimat\w+|decid\w+|gpu ?\d|a (?:specific|certain|particular|given))\b"
    rf"|\b(?:can|could|may) (?:I|we|one|it|you)\b[^?]{{0,60}}\b(?:use|run|take|combine|follow|try)\b[^?]{{0,60}}(?<![a-z]){_VERSIONED}[- =]{{0,2}}v?\d|(?<![a-z]){_VERSIONED}[- ]?(?:v(?:ersions?)?)? ?(?:\?|\d[\d.]* or (?:\w+ )?v?\d)|\b(?:is|are) there (?:an? |any |some )?(?:[\w-]+ ){{0,3}}?(?:wheels?|binar(?:y|ies)|packages?|images?|builds?|versions?|lists?|tables?|plans?)\b"
    r"|\bwhat (?:does|do|is|are)\b[^?]{0,50}\b(?:mean|for|difference|between|minimum|recommended)\b|\bwhich (?:one|of (?:them|these|the two))\b"
)
_WONDERS = Pattern(
    r"(?i)\b(?:wonder(?:ing|ed)?|(?:like|want|need|curious) to (?:know|understand|ask)|not sure|unsure|question is|tell me)\b[^?\n]{0,40}\b(?:if|whether|which|what|how)\b"
)
_ABROAD = Pattern(
    r"(?i)(?:请问|想问|问一下)(?![^。\n]{0,30}(?:怎么(?:回事|解决|办)|如何解决|什么原因|为什么))|(?:哪个|什么|哪些|多少)版本|(?:是否|能不能|可不可以)(?:支持|可以|用|兼容)|(?:支持|兼容|可以用|能用|能跑|可以跑|够|够用)[^。\n]{0,12}吗|需要(?:多大|多少|什么(?:样的)?(?:显卡|配置|GPU)|哪)|用的?(?:是)?(?:什么|哪|几[张块个])|度[^。\n]{0,4}正常吗|(?:怎么|怎样|如何)(?:指定|选择|测|查看|设置|计算|(?:用|在) ?cpu)|(?:能否|可否|可以|麻烦)(?:提供|告知|分享|说)"
    r"|\b(?:welche[nrs]?|kann (?:ich|man)|k\u00f6nnte ich|reicht|gen\u00fcgt|brauche? (?:ich|man)|ben\u00f6tige? (?:ich|man)|muss (?:ich|es|man)|l\u00e4uft|funktioniert|unterst\u00fctzt|gibt es|ist|wie (?:w\u00e4hle?|messe?|viel|pr\u00fcfe?|kann (?:ich|man)|sehe))\b[^?\n]{3,160}\?"
    r"|(?:\bqu\u00e9|\bcu\u00e1l(?:es)?|\bcu\u00e1nt[oa]s?|\bpuedo|\bse puede|\bes (?:compatible|suficiente|posible)|\bfunciona(?:r\u00e1)? con|\bc\u00f3mo (?:elij|seleccion|eleg|mid|s\u00e9|compruebo)\w*|\bnecesito)\b[^?\n]{3,160}\?"
    r"|\b(?:quelles?|quels?|puis-je|peut-on|est-ce que (?:je peux|\w+ (?:est compatible|suffit))|combien|faut-il|suffit(?:-elle|-il)?|comment (?:choisir|mesurer|savoir))\b[^?\n]{3,160}\?|\b(?:qual|quais|posso|preciso|d\u00e1 para|\u00e9 (?:compat\u00edvel|suficiente)|quanta|como (?:escolh|sele|medir|sei)\w*)\b[^?\n]{3,160}\?"
    r"|(?:\u043a\u0430\u043a(?:\u0430\u044f|\u0443\u044e|\u0438\u0435|\u043e\u0439) (?:\u0432\u0435\u0440\u0441\u0438\w|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442\w)|\u043f\u043e\u0434\u0434\u0435\u0440\u0436\u0438\u0432\u0430\u0435\u0442 \u043b\u0438|\u0445\u0432\u0430\u0442\u0438\u0442 \u043b\u0438|\u043f\u043e\u0434\u043e\u0439\u0434[\u0435\u0451]\u0442 \u043b\u0438|\u043c\u043e\u0436\u043d\u043e \u043b\u0438|\u0441\u043a\u043e\u043b\u044c\u043a\u043e (?:\u043f\u0430\u043c\u044f\u0442\u0438|\u0432\u0438\u0434\u0435\u043e)|\u043a\u0430\u043a (?:\u0432\u044b\u0431\u0440\u0430\u0442\u044c|\u0443\u0437\u043d\u0430\u0442\u044c|\u0438\u0437\u043c\u0435\u0440\u0438\u0442\u044c))[^?\n]{0,160}"
)
"""The same in Chinese, German, Spanish, French, Portuguese and Russian."""
_OF_IT = Pattern(
    rf"(?i)(?<![a-z]){_VERSIONED}(?![a-z])|(?<![a-z]){_CARDS}(?![a-z])|\b(?:tesla |nvidia )?[kmpvtal]\d{{1,3}}\b|(?<!\d)(?:9[5-8]0|10[5-8]0|16[56]0|20[678]0|[345]0[5-9]0)(?! ?(?:ms|s|mb|steps|images))|(?<![a-z])cpus?(?![a-z])|\b(?:fps|compute capability|devices?|tensor cores?)\b|显卡|[张块]卡|显存|版本|grafikkarte|tarjeta|carte graphique|placa de v|\u0432\u0438\u0434\u0435\u043e\u043a\u0430\u0440\u0442"
)
"""What the question is about."""
_ELSEWHERE = Pattern(r"(?i)\b(?:jetson|aarch64|arm64|raspberry|mac(?:book|os)?|m[12] (?:pro|max|chip))\b")
"""Where no package of TensorFlow's own has CUDA: what is asked is answered by that."""
_MAKE_IT_WORK = Pattern(
    r"(?i)\b(?:how (?:do|can|could|should|would|to)|possible|able|way)\b[^?\n]{0,30}\b(?:use|run|train|make|get|enable|activate)\b(?! gpu ?\d)(?![^?\n]{0,40}\b(?:list|only|second|third|specific|certain)\b)[^?\n]{0,60}\b(?:gpus?|graphics? card|cuda)\b(?! ?v?\d)"
)
"""Who asks this has none in use."""
_TROUBLE = Pattern(
    r"(?i)\b(?:errors?|fail(?!-)\w*|crash\w*|exception|traceback|slow\w*|stuck|hangs?|hung|freez\w+|frozen|nothing happens|unable|cannot (?:find|see|use|get|import|load|open|run)|can(?:'|\u2019)?t (?:find|see|use|get|import|load|open|run|make)|tri(?:ed|es)|trying|(?<!can )(?<!could )(?<!do )(?<!should )(?<!would )(?:i|we) (?:get|got|am getting|keep|run into|ran into|encounter\w*|face|(?:see|saw) (?:this|these|the following|only))\b(?! the point)|gives? me|it (?:says|shows|gives|prints|returns)|prints? (?:out )?that|keeps?|broke\w*|broken|missing|troubles?|problems? (?:is|with|in|when)|help me|why|wrong(?! (?:one|version|release|card))|strange|weird|oom|out of memory|killed|nans?|longer than|low|idle|idles|bug|unfortunately|despite|stops?|stopped|no effect|useless|in vain|(?:had|have|has) to (?:add|set|export|copy|link|edit|change)|ignor(?:es|ed)|complains?|dll load|undefined symbol|not as fast|how (?:do|can|to) (?:i |we )?(?:fix|solve|speed|make it)|any (?:idea|help|solution|suggestion)s?|barely|hardly|(?:doesn't|does not|don't) exist|cpu version (?:is|gets|was|of))\b|\d ?%|\d ?(?:images|img|it|steps)/s"
    r"|\b(?:not|never|cannot|no longer)\b(?: (?:be|been|being|even|get|getting|able to))* (?:found|find|work\w*|recogni[sz]\w*|detect\w*|us(?:e|ed|ing)\b|seen?|visible|available|start\w*|run\w*|loaded|imported|help\w*|listed)|n['\u2019]t (?:be |even |get |seem to )*(?:found|find|work\w*|recogni[sz]\w*|detect\w*|us(?:e|ed|ing)\b|seen?|start\w*|run|load\w*|help\w*|list\w*|import\w*)\b|\bonly (?:uses?|finds?|sees?|works?|shows?|runs?|trains?)\b"
    r"|报错|错误|失败|很慢|太慢|变慢|更慢|慢|卡住|卡死|不能|无法|没法|没有用|没用|检测不到|识别不到|找不到|崩溃|为什么|不行|只用|占满|没反应|不动|利用率|解决"
    r"|\b(?:fehler\w*|langsam\w*|st\u00fcrzt|h\u00e4ngt|warum|leider|abbruch|nicht (?:gefunden|erkannt|genutzt|verwendet|benutzt|geladen|m\u00f6glich)|(?:funktioniert|geht|l\u00e4uft) (?:\w+ )?nicht)\b|\b(?:falla|lent[oa]|por qu\u00e9|problema|erreur|pourquoi|lente?|erro|por que|no (?:funciona|detecta|encuentra|reconoce|usa|puedo)|n\u00e3o (?:funciona|detecta|encontra|usa)|ne (?:fonctionne|marche|d\u00e9tecte|trouve) pas)\b|\u043e\u0448\u0438\u0431\u043a|\u043c\u0435\u0434\u043b\u0435\u043d|\u043d\u0435 (?:\u0440\u0430\u0431\u043e\u0442\u0430|\u0432\u0438\u0434\u0438\u0442|\u043d\u0430\u0445\u043e\u0434\u0438\u0442)|\u043f\u043e\u0447\u0435\u043c\u0443"
)
"""Who says so has tried it."""


def asks(lines: list[str], notes: Notebook) -> bool:
    """Whether the words of a text ask so, or worry while it works, and nothing fails."""
    spoken = [line for line in lines if line.strip()]
    if not 0 < len(spoken) <= _MOST_LINES or sum(map(len, spoken)) > _MOST_CHARACTERS or answered.fails(notes):
        return False
    text = "\n".join(spoken)
    if any(e.kind == _NO_FAILURE for e in notes.events) and not _ENDS.search(text):
        return True
    if _WELL.search(text) and _WORRIES.search(text) and not _DOES_NOT_GO_WELL.search(text):
        return True
    if _TROUBLE.search(text) or _ELSEWHERE.search(text) or _OF_IT.search(text) is None:
        return False
    if _PRAISES.search(text):
        return True
    said = [one for line in spoken for one in sentences(line)]
    return any(map(_is_asked, said)) and not any(map(_MAKE_IT_WORK.search, said))


def _is_asked(sentence: str) -> bool:
    if _ABROAD.search(sentence) or _WONDERS.search(sentence):
        return True
    return sentence.rstrip(" )*\"'").endswith(("?", "\uff1f")) and _ASKS.search(sentence) is not None


_PRAISES = Pattern(
    r"(?i)非常棒|很棒|太棒|厉害|优秀|(?<!先)(?:感谢|谢谢)(?:分享|作者|您|你|大佬)|\b(?:super (?:arbeit|projekt)|tolle[sr]? (?:arbeit|projekt)|excelente|buen trabajo|gran trabajo|beau travail|bravo)\b"
)
_WELL = Pattern(
    r"(?i)(?<!not )\b(?:everything|it|all|this|training|inference|(?:the|my) (?:model|net\w*|program|script|code|training|notebook|gpu))(?: \w+){0,2}? (?:works?|trains?|runs?|goes|is|are)(?: (?:\w+ )?(?:fine|well|ok|okay|good|normally|smoothly|correctly|perfectly|as expected|without (?:any )?(?:problems?|errors?))| on (?:the|my) gpu|(?=[.,;!]| and\b|$))\b"
    r"|\b(?:training|it|everything) works\b"
)
_WORRIES = Pattern(
    r"(?i)\b(?:ignore(?:d)?|worr(?:y|ied|ying)|care about|concerned|harmless|bothers?|mean(?:s|ing)?|safe|bad|serious|wonder(?:ing)?|curious|annoying|get rid of|suppress|hide|silence)\b"
)
_DOES_NOT_GO_WELL = Pattern(
    r"(?i)\b(?:slow\w*|crash\w*|hangs?|stuck|killed|fail(?:s|ed)?|on (?:the )?cpu|not (?:use|used|using|found|detected)|until|sometimes|stops?|stopped|nan|longer|idle|low|cpu only|before|used to|yesterday|but (?:the )?gpu)\b|\d ?%"
)
_NO_FAILURE = "benign-memory-retried"
"""A line that says of itself that it is no failure."""
_ENDS = Pattern(
    r"(?i)\b(?:crash\w*|kill\w*|stop(?:s|ped)|abort\w*|die[sd]?|hangs?|stuck|freez\w+|frozen|fail(?:s|ed)|exit(?:s|ed)|terminat\w+|resource ?exhausted|oom|slow\w*|nan|(?:ca|do|does|did|wo|is)n['\u2019]t|cannot|not (?:train|work|run|start|continue)\w*|unable|nothing happens|no longer|restart\w*|leak\w*|grows?|increas\w+|other process\w*|all (?:the |of the |my )?(?:gpu )?memory)\b|\u5d29|\u505c|\u5361|\u62a5\u9519|\u4e0d\u80fd|\u65e0\u6cd5"
)
