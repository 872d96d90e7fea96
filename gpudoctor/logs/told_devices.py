"""What people tell of a GPU that is not in their machine, and of one that is there and not theirs: only root opens it, a container
lost it, a pod waits for it. It is weak: it decides only where programs leave it open."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from ..facts import COMPLAINT, READS_LIKE_A_FAULT, TextEvent
from ..patterns import Pattern
from .language import LONGEST, first_of
from .notebook import Notebook

_OWN = r"(?:nvidia|dedicated|discrete|separate|external|physical|cuda[- ]?(?:capable|enabled|compatible)?|proper|real)"
_CARD = rf"(?:(?:{_OWN}(?:'s)? ){{0,2}}(?:gpus?|graphics? ?cards?|video ?cards?)\b|{_OWN} (?:cards?|graphics|hardware|chips?)\b)(?! (?:of|with|number|named|index|id|pass|in (?:the|my|a) (?:container|pod|image)|visible|limits?|access|is (?:free|visible|found|detected|available)|detect|found|availab|support|left|memory|resource|request|problem|issue|error|trouble|in (?:it|the) container))"
_HOST = r"(?:machine|laptop|notebook|server|node|host|computer|pc|vm|box|device|system|workstation|instance|desktop|runner|nas|macbook(?: air| pro)?|mac|thinkpad|surface|chromebook|tablet|droplet|vps)s?"
_MINE = r"(?:the|my|this|that|our|a|his|her|their|its|any|some|these|those)"
_NO_CARD = (
    # who speaks of the container, or of what a program says, is passed over
    r"(?i:^(?![^\n]{0,300}\b(?:convinced|thought|believed|assumed|most likely because|trying to run)\b|[^\n]{0,300}\b(?:it|error|log|docker|container|tensorflow|smi) (?:says?|said|tells?|claims?|thinks|reports?|complains?|believes)\b|[^\n]{0,300}\b(?:pods?|containers?|images?|capacity)\b[^\n]{0,60}\bno \w+ in(?:side)? it\b|[^\n]{0,300}\bbut (?:the|my|our|on|another|a)\b[^\n]{0,60}\b(?:has|have|with|works?)\b)[^\n]{0,300}?(?:"
    rf"\b(?:I|we|he|she|they)(?: really| just| simply)? (?:do not|don'?t|did not|didn'?t|haven'?t|have not)(?: even| actually| currently)?(?: have| own| got|)(?: an?| any) {_CARD}"
    rf"|\b(?:I|we|I've|we've|he|she|they)(?: have| own| got| has)(?: got)? no {_CARD}"
    rf"|(?:\b{_MINE} (?:[\w-]+ ){{0,2}}?|^|[.,;] ){_HOST}(?: that| which)? (?:(?:has|have|had|got|with)(?: got)? no|(?:does not|doesn'?t|do not|don'?t) (?:even |actually )?(?:have|contain)(?: an?| any)?|is without(?: an?| any)?) {_CARD}"
    rf"|\b{_HOST}\b[^.\n]{{0,80}}\b(?:and|but) it has no gpus?\b(?! in it)|\bthere (?:isn't|is not|aren't|are not) (?:an?|any) {_CARD} (?:in(?:side)?|on) (?:it|{_MINE} (?:[\w-]+ ){{0,2}}?{_HOST})\b|\bI only have (?:a |the )?cpus?\b|\b(?:with|has|have) (?:just|only) an? (?:\w+ )?cpus?\b|\b(?:this|that) (?:one|{_HOST}) has none\b"
    rf"|\b(?:there is|there's|there are|theres|having|has|with) no {_CARD}[^.\n]{{0,12}}?\b(?:in(?:side)?|on|at)(?: (?:it|here)\b| {_MINE} (?:[\w-]+ ){{0,2}}?{_HOST}\b|\W{{0,2}}(?:$|, ))"
    rf"|\b{_HOST} (?:with no|(?:without|w/o)(?: an?| any)?|(?:that |which )?lack(?:s|ing)?(?: an?| any)?) {_CARD}"
    rf"|\b{_HOST}[^.\n]{{0,12}}(?:, |\()no {_CARD}(?: inside\b|\))|\bno {_CARD} in {_MINE} (?:[\w-]+ ){{0,2}}?{_HOST}\b|\b(?:where|if|when|as|since) (?:there(?:'s| is) )?no {_CARD}(?: (?:is|are) (?:installed|there|present|built in)\b|[.,]| in (?:it|the host)\b)"
    r"|\b(?:integrated|on-?board) (?:graphics|gpu)(?: card)?,? only\b|\bonly (?:has |have |with |got )?(?:an? |the )?(?:integrated|on-?board|intel) (?:[\w-]+ ){0,2}?(?:graphics|gpu)\b|\bjust (?:an? |the )?on-?board (?:one|graphics|gpu)\b|\bno nvidia\b(?= one\b|\W{0,2}$|\.(?!\w))|\bintel(?: \w+){0,4} (?:graphics|gpu|hd|uhd|iris(?: xe| plus)?)(?: \d{3})? only\b|[,;(] ?no (?:dedicated|discrete|separate|nvidia) (?:gpu|card|graphics)\b(?! driver)(?=\W{0,3}$|[.,;)])"
    rf"|\bcpu[- ]only {_HOST}\b|\bnur eine cpu\b|\bkeine (?:nvidia[- ]?|dedizierte |eigene |separate )?(?:grafikkarte|gpu)\b(?= (?:im|in|verbaut|eingebaut|hat|habe)\b|[.,\n]|$)"
    r"|\bno (?:tengo|tiene|hay) (?:una |ninguna |el )?(?:tarjeta (?:gr[aá]fica )?(?:nvidia|dedicada)|gpu(?: nvidia| dedicada)?)\b|\bn[aã]o (?:tenho|tem|possuo|possui) (?:uma? |nenhuma )?(?:placa|gpu)\b|\b(?:n'ai|n'a|n'y a) pas de (?:carte (?:graphique )?(?:nvidia|d[ée]di[ée]e)|gpu)\b"
    r"))|没有(?:独立显卡|独显|N卡|英伟达(?:显卡|GPU)?|(?i:nvidia) ?(?:的)?(?:显卡|GPU|卡))|只有(?:集成显卡|核显)|нет (?:видеокарты (?:nvidia|NVIDIA|Nvidia)|дискретной видеокарты)"
)
_CARDLESS = Pattern(_NO_CARD)
_ELSEWHERE = {"apple-silicon", "talks-of-colab", "in-colab", "on-a-login-node", "login-node-said", "nvidia-gpu-named", "device-found", "gpu", "gpu-table", "second-machine-named", "several-machines"}  # fmt: skip
"""Who tells these has a GPU in another place, or here."""


def settle(notes: Notebook, lines: Iterable[tuple[int, str]]) -> None:
    """Notes what somebody tells beside lines of programs: (number, text), …"""
    kinds = {e.kind for e in notes.events}
    symptoms = {e.symptom for e in notes.events}
    lines = list(itertools.islice(lines, _MOST))
    if _NOT_STARTED in symptoms and "k8s-insufficient" not in kinds:
        _note(notes, "no-card-said", first_of(lines, _CARDLESS))
    elif not kinds & _ELSEWHERE:
        _note(notes, "no-card-told", first_of(lines, _CARDLESS))
    if "k8s-insufficient" in kinds and _asks_beyond_a_node([text for _, text in lines]):
        notes.events[:] = [
            _harmless("benign-beyond-a-node", e) if e.kind == "k8s-insufficient" else e for e in notes.events
        ]
    if notes.told("driver.libcuda.init_result") == _UNKNOWN:
        _note(notes, "uvm-reloaded", first_of(lines, _RELOADED))
        _note(notes, "left-idle-said", first_of(lines, _IDLE))
    if "label-named" in kinds and notes.told("gpu.nvml_error") == _REFUSED:
        _note(notes, "label-off-in-vain", _in_vain(lines))
    if "build-failed" in kinds and "says-nvidia" not in kinds and any(_OF_ANOTHER.search(text) for _, text in lines):
        notes.events[:] = [e for e in notes.events if e.kind != "build-failed"]
    if "module-build-said" in kinds and not symptoms & {"driver-does-not-load"}:
        _note(notes, "build-failed", first_of(lines, _NOT_BUILT), "driver-does-not-load")
    if any("vlink" in text.lower() or "bridge" in text for _, text in lines):
        _off_the_links(notes, lines, symptoms)
    if not kinds & _OF_LIBRARIES and any(word in text for _, text in lines for word in _ROOT):
        _of_root(notes, lines, kinds)
    if kinds & _OF_CONTAINERS and not symptoms & _FAILURES - {"cuinit-fails"}:
        _note(notes, "container-loses-gpu", _lost(lines, "daemon-reload" in kinds), _NOT_STARTED)
    if "visible-set" in kinds and symptoms <= {None} and any(_AT_WORK.search(text) for _, text in lines):
        _of_a_choice(notes)
    if "cluster-named" in kinds:
        _of_a_cluster(notes, lines, kinds, symptoms)


def _of_a_choice(notes: Notebook) -> None:
    """Takes back that no GPU is seen, where that is said of some choice of GPUs alone, and one is used otherwise."""
    said = [e.text for e in notes.events if e.kind == "says-no-gpu"]
    if said and all(_CHOICE.search(text) for text in said):
        notes.untell("tensorflow.devices")
        notes.events[:] = [e for e in notes.events if e.kind != "says-no-gpu"]


_CHOICE = Pattern(r"CUDA_VISIBLE_DEVICES ?=")
_AT_WORK = Pattern(
    r"(?i)\bgpu ?:?#?\d (?:is|was|gets) (?:being )?(?:used|busy|working|occupied)\b|\bwithout (?:it|the variable|CUDA_VISIBLE_DEVICES)\b[^.\n]{0,40}\b(?:gpus? (?:is|are) used|works?|uses? (?:the |all )?gpus?)\b"
)
"""A GPU is used."""
_OTHERS = r"(?:v4l2loopback|virtualbox|vbox\w*|zfs|spl|broadcom-sta|rtl\w{4,8}|evdi|openrazer\w*|xpadneo|xone|acpi-call|wireguard|r8168)"
_OF_ANOTHER = Pattern(
    rf"/var/lib/dkms/{_OTHERS}/|\b{_OTHERS}-dkms\b|\bdkms (?:--?\w+ ){{0,3}}(?:install|build) (?:-m )?{_OTHERS}\b"
)
"""Another module than the driver's is built."""
_NOT_BUILT = Pattern(
    r"(?i)\b(?:build|compil)\w*\b[^.\n]{0,24}\b(?:fail\w*|broken|errors?|breaks?)\b[^.\n]{0,20}\b(?:with|on|for|against|under|in|since)(?: the)?(?: linux| kernel){0,2} v?[3-7]\.\d{1,2}\b"
    r"|\b(?:not|n't|fails? to|can(?:not|'t)|unable to) (?:be )?(?:build|built|compil)\w*\b[^.\n]{0,20}\b(?:with|on|for|against|under)(?: the)?(?: linux| kernel){1,2} v?[3-7]\.\d{1,2}\b|\b(?:linux|kernel) v?[3-7]\.\d{1,2}\S{0,12} (?:breaks|broke) (?:the )?(?:build|compil|module)|\bdkms\b(?:[^.\n]|\.(?=\d)){0,20}\b(?:fails?|failed|broken)\b (?:on|with|for|under|against)(?: the)?(?: linux| kernel){0,2} v?[3-7]\.\d"
)
"""The driver's module is not built for a kernel, in somebody's words."""
_MOST = 400
"""Lines."""
_NOT_STARTED = "container-does-not-start"


def _note(notes: Notebook, kind: str, at: tuple[int, str] | None, symptom: str | None = None) -> None:
    if at is not None:
        language = COMPLAINT if symptom == READS_LIKE_A_FAULT else "circumstances"
        text = at[1][:LONGEST]
        notes.note(TextEvent(line=at[0], language=language, kind=kind, text=text, values={}, symptom=symptom))


def _harmless(kind: str, event: TextEvent) -> TextEvent:
    return TextEvent(line=event.line, language=event.language, kind=kind, text=event.text, values=event.values)


# ------------------------------------------------------------------- clusters

_NUMBERS = {name: n for n, name in enumerate(("one", "two", "three", "four", "five", "six", "seven", "eight"), 1)}
_N = rf"(?:\d{{1,2}}|{'|'.join(_NUMBERS)})"
_GPUS = r"(?:x ?)?(?:(?:nvidia|tesla|free|physical) ){0,2}(?:gpus?|cards?|[KMPVTAHL]\d{1,3}s?(?: gpus?)?|(?:geforce )?(?:[rg]tx|titan|quadro) ?\w{1,6}(?: ti)?)\b"
_NODES = r"(?:nodes?(?:[- ]?\d)?|servers?|machines?|hosts?|workers?|boxes|box|pcs?|computers?)"
_OF_A_NODE = Pattern(
    rf"(?i)\b{_NODES}(?: here| there| in \w+ cluster)?,?(?: each)? (?:only )?(?:(?:has|have|with|contains?|got|comes? with|of|offers?|holds?) (?:only |just )?)(?P<n>{_N}) {_GPUS}"
    rf"|\b(?P<n2>{_N}) {_GPUS} (?:each|(?:per|in each|on each|of each|in every|on every|of one|on one) {_NODES})|\b(?P<n3>{_N}) (?:gpus? )?(?:of|on|from|in) (?:one|the (?:first|one)) {_NODES}\b"
)
_ASKED = Pattern(
    rf"(?i)(?:\b(?:ask\w*(?: for)?|request\w*|get|use|wants?|needs?|with|for|limits? (?:to|of|is|=)|gpu_limit\()|nvidia\.com/gpu['\"]?: ?['\"]?)(?: a pod| one pod)?(?: of| with| for)? ?(?P<n>{_N})\b(?! ?(?:{_NODES}|replicas|pods|minutes|hours|days|weeks|epochs|%|s\b|x\b))(?! (?:v|t|k|p|a)\d+ each)"
)
_WITH_FEWER = Pattern(
    rf"(?i)\b{_N} gpus?\b[^.\n]{{0,12}}\b(?:works?|worked|runs? fine)\b|\b(?:works?|worked|runs?|fine|ok|okay)\b[^.\n]{{0,40}}\b(?:with|for|up to|if I (?:use|request|ask for)) (?:only )?{_N}\b|(?:\b(?:with|up to|request\w*|asking for|for) |gpu: ?)(?:only |less than |fewer than )?{_N}\b[^.\n]{{0,40}}\b(?:works?|worked|runs?|fine|ok|okay)\b"
    r"|\b(?:all of (?:that|it|this)|everything|it|the cluster|otherwise (?:it|the cluster|all))(?: \w+)? (?:works?|is fine|runs)\b"
)
_FAILS = Pattern(
    r"(?i)\b(?:does(?:n't| not)|do(?:n't| not)|is(?:n't| not)|never|no longer) (?:\w+ ){0,2}(?:work|run|see|find|detect)\w{0,3}\b"
)


def _number(found: dict[str, str | None]) -> int:
    word = next(value for value in found.values() if value).lower()
    return _NUMBERS.get(word) or int(word)


def _asks_beyond_a_node(lines: list[str]) -> bool:
    """Whether a pod asks for more GPUs than one node has, on a cluster that hands them out: no node can ever be found for it."""
    has = [_number(found.groupdict()) for text in lines for found in _OF_A_NODE.finditer(text)]
    asked = [_number(found.groupdict()) for text in lines for found in _ASKED.finditer(text)]
    works = any(_WITH_FEWER.search(text) for text in lines) and not any(_FAILS.search(text) for text in lines)
    return bool(has and asked) and max(asked) > max(has) and works


_UNASKED = Pattern(
    r"(?i)^(?=[^\n]{0,400}\b(?:(?:(?:does|do|did)(?:n't| not) (?:\w+ )?(?:request|ask|specify|set|have)|without (?:(?:a|an|any|the) )?(?:\w+ ){0,2}(?:(?:nvidia\.com/)?gpu|resources?|limits?|request\w*)|no (?:[\w./]+ ){0,3}(?:limits?|resources?|requests?)|leaves? out the limits?|not (?:requested|specified|asked)|unrequested|requests? no)\b))"
    r"[^\n]{0,400}?\b(?:gpus?\b[^.\n]{0,30}\b(?:visible|exposed|accessible|available|listed|seen|isolat\w*|show up|shows up)|(?:sees?|seen|lists?|shows?|access(?:es)?|gets?|use)\b[^.\n]{0,30}?\b(?:all|every|each|the|node'?s?)\b[^.\n]{0,14}\bgpus?|(?:can|could|does|may|able to)\b[^.\n]{0,20}\b(?:use|see|access|reach) (?:the |all )?gpus?|lists? gpus in|gpus? (?:can be|are|is) (?:seen|visible|listed)|(?:gets|has|sees) (?:all|every one) of them)\b"
)
_SEES_NONE = Pattern(
    r"(?i)\b(?:not found|no gpu (?:is )?(?:found|detected|in it|there)|sees? no (?:gpus?|cards?)|doesn't see|does not see|can(?:'t|not) (?:see|find|use)|pending|insufficient)\b"
)
_WAITS = Pattern(
    r"(?i)^(?=[^\n]{0,400}\b(?:pods?|steps?|jobs?|it|notebooks?|containers?|components?|tasks?|runs?|pipelines?)\b)[^\n]{0,300}?\b(?:(?:is|are|stays?|stay|stuck|remains?|remain|hangs?|hang|keeps?|leaves? [^.\n]{1,40}|sits?|state:?) (?:\w+ ){0,3}?['\"`]?pending\b|never starts?\b[^.\n]{0,20}\bpending\b|never (?:gets?|get|is|are|be) (?:scheduled|started|placed)\b|(?:can ?not|can't|won't|not|fails? to) (?:be |get )?schedul\w+\b)"
)
_OTHER_LACK = Pattern(
    r"(?i)\bpvc\b|\bpersistent ?volume|\binsufficient (?:cpu|memory|ephemeral)|\btaint|\bimage ?pull|\bnode selector\b"
)
_LIMIT = Pattern(
    r"(?i)\bset_gpu_limit\b|nvidia\.com/gpu|\bgpu[- ]?(?:limits?|requests?|pods?)\b|\blimits?\b[^.\n]{0,20}\bgpus?\b"
)


def _of_a_cluster(notes: Notebook, lines: list[tuple[int, str]], kinds: set[str], symptoms: set[str | None]) -> None:
    """A pod that waits for a GPU, or that has them all and asked for none."""
    if symptoms & _FAILURES or kinds & _TOLD:
        return
    if "nvidia-smi-not-found" in kinds:
        _note(notes, "other-pods-have-it", first_of(lines, _OTHERS_HAVE))
    limited = any(_LIMIT.search(text) for _, text in lines) and not any(_OTHER_LACK.search(text) for _, text in lines)
    if limited and (at := first_of(lines, _WAITS)):
        _note(notes, "k8s-insufficient", at, _NOT_STARTED)
    elif (
        not kinds & {"library-not-loaded", "mig-named"}
        and not any(_SEES_NONE.search(text) for _, text in lines)
        and (at := first_of(lines, _UNASKED))
    ):
        _note(notes, "benign-unasked-gpus", at)
        notes.untell("tensorflow.devices")
        notes.events[:] = [e for e in notes.events if e.kind != "says-no-gpu"]


_OTHERS_HAVE = Pattern(
    r"(?i)\b(?:(?:other|plain|normal|ordinary|sample|simple|configured|same|another|test|example)\b[^.\n]{0,30}?\b(?:pods?|jobs?|deployments?)|(?:a|the) (?:\w+ ){0,2}(?:pod|job)|(?<!\w)jobs?)\b(?:[^.\n]|\.(?=\w)){0,60}?(?:\b(?:shows?|have|has|gets?|sees?|lists?|finds?) (?:the|their|its|a|one|all)?\b[^.\n]{0,12}\b(?:gpus?|one|devices?|cards?|tesla|[KPVTA]\d{1,3})\b|\b(?:works?|succeeds?|runs? fine|is fine|are fine)\b)"
    r"|\bother pods? (?:do|have|can|work)\b|\b(?:the )?first (?:ones? )?(?:succeeds?|works?)\b"
)
_FAILURES = {_NOT_STARTED, "cuinit-fails", "collective-fails", "gpu-faults"}
_TOLD = {"k8s-insufficient", "benign-waited", "benign-beyond-a-node", "pod-scheduled", "k8s-no-capacity"}


# ------------------------------------------------------------------- after a suspend

_UNKNOWN, _REFUSED = 999, 4
"""cuInit's answer, and NVML's."""
_RELOADED = Pattern(
    r"(?i)\b(?:rmmod|modprobe (?:-\w+ ){0,2}(?:-r|--remove)) (?:-\w+ )?[`'\"]?nvidia[-_]uvm\b|\b(?:re-?load|unload)\w* (?:of )?(?:the )?(?:kernel )?(?:module )?[`'\"]?nvidia[-_]uvm\b|\bnvidia[-_]uvm\b\W{0,3}(?: (?:kernel )?(?:module|driver))?(?: (?:is|was|gets|has to be|must be))? (?:re-?load|unload)"
)
_IDLE = Pattern(
    r"(?i)\b(?:stay|sit|left|leave|leaving|stood|stand|being|was|is|been|running)\w* (?:\w+ ){0,3}?idle\b(?! (?:gpu|memory))|\bidle (?:for|over|a while|some|several|overnight|time|all night)\b|\b(?:every|each|next|in the) morning\b|\bovernight\b|\bover ?night\b|\bover the weekend\b"
    r"|\b(?:screen|monitor|display)s? (?:\w+ ){0,3}?(?:locked|off|standby|dark|blank)\b|\block(?:ed|ing)? (?:the |my )?screen\b|\bscreen ?saver\b|\b(?:come|came|coming|go|went|going|get|got|return|returned|walk\w*|am|step\w*) (?:back|away) (?:to|from) (?:the |my )?(?:computer|machine|pc|laptop|workstation|desk|keyboard)\b|\b(?:long|some) (?:period|time)s? of inactivity\b|\binactiv(?:e|ity)\b"
)


# ------------------------------------------------------------------- whom the nodes are for

_OF_LIBRARIES = {"library-not-loaded", "no-tensorflow", "import-failed", "module-not-listed"}
"""What sudo's own environment may lack, or bring."""
_ROOT = ("root", "sudo", "superuser", "--user", "USER ", "NvRmMem", "管理员", "普通用户")
_ASKS = Pattern(r"is_available|list_physical_devices|list_local_devices|device_count|\bnvidia-smi\b|deviceQuery")
_TYPED = Pattern(
    r"^(?:\([\w.-]{1,30}\) ?)?(?:[\w.-]{1,32}@[\w.-]{1,40}[^\n]{0,60}?[$#>%]|[$#>%]|>>>|sudo\b|python[\d.]{0,4}\b) ?"
)
_AS_ROOT = Pattern(r"\bsudo\b|^(?:\([\w.-]{1,30}\) ?)?(?:\[?root@|# )")
_ITS_LABEL = Pattern(
    r"(?i)^[\W_]{0,6}(?:(?:when |if )?(?:run(?:ning)? )?(?:as|with|by|using) )?(?:an? |my |the )?(?:(?P<root>root|sudo|superuser)|(?:normal |non-?root |regular |ordinary |own |unprivileged )?user)(?: user)?\W{0,4}$"
)
_YES = Pattern(r"^(?:True\b|\[PhysicalDevice|\[?LogicalDevice|[1-9]$|\| NVIDIA-SMI|Device 0\b|Result = PASS|GPU 0: )")
_NO = Pattern(
    r"^(?:False\b|\[\]|0$|Failed to initialize NVML|NVIDIA-SMI has failed|RuntimeError: (?:No CUDA|CUDA)|cudaGetDeviceCount returned|No devices were found)|Insufficient Permissions"
)
_ANSWER = 4
"""Lines of a command and what it prints."""


def _answers(lines: list[tuple[int, str]]) -> Iterator[tuple[bool, bool, tuple[int, str]]]:
    """Whether root asked, and whether a GPU was there: of each command that looks for one, with its line."""
    asked: tuple[bool, tuple[int, str]] | None = None
    labelled = False
    for number, text in lines:
        if label := _ITS_LABEL.match(text):
            labelled, asked = bool(label["root"]), None
        elif _TYPED.match(text) and _ASKS.search(text):
            asked = (labelled or _AS_ROOT.search(text) is not None, (number, text))
        elif asked and number - asked[1][0] <= _ANSWER and (_YES.search(text) or _NO.search(text)):
            yield asked[0], _YES.search(text) is not None, asked[1]
            asked = None


_USER = r"(?:(?:an? |my |the |any |every |each |other |all )*(?:non-?root|normal|regular|ordinary|unprivileged|standard|own|simple|non-?privileged|service(?:'s)?)? ?(?:users?(?: accounts?)?(?: \d+| that (?:is|are)(?:n't| not) root)?|account|uid \d+))"
_SU = r"(?:root|sudo|super-?user)\b(?![-/=.]\w|[-/]|`? ?(?:cause|director|folder|of\b|partition|files?\b|path|ports?\b|node|apt|pip|yum|dnf|zypper|pacman|systemctl|service|modprobe|rmmod|docker|podman|snap))"
_ONLY_ROOT = Pattern(
    rf"(?i)\b(?:only|just|except|unless)\b(?: [\w']+){{0,5}}? (?:as|with|for|under|by|using|via|if|when|from)(?: [\w']+){{0,5}}? `?{_SU}|\b(?:only|except|unless|just|nur|s[oó]lo|seulement|apenas|somente) {_SU}|\b(?:root|sudo|superuser)(?: rights| user)? (?:only|alone)\b"
    rf"|\b(?:needs?|requires?) {_SU} (?:to|for) (?:use|see|find|run|get|my|the|cuda)\b|\b(?:have|has|need|needs) to be {_SU}|\b(?:as long as|if|when|once) I(?:'m| am) {_SU}[.;,]|\bnon-?[ ]?root users? (?:do(?:es)?n't|can(?:'t|not)|have no|get no)\b|\bque (?:pour|par|en) (?:le )?{_SU}|только (?:через|под|от) (?:sudo|root)"
)
_ABOUT_GPUS = Pattern(
    r"(?i)\b(?:gpus?|cuda|(?:graphics |video )?cards?|nvidia\S*|torch\S*|tensorflow\S*|(?:[rg]tx ?)?\d0[5-9]0)\b|Grafikkarte|显卡|видеокарт"
)
_ROOT_HAS = Pattern(
    rf"(?i)\b(?:with|as|using|under|by|via|mit|als|con|como|com|avec|en|durch)\s?(?:the )?`?{_SU}(?: user)?(?:(?!\b(?:not|no|fails?|false)\b|n't\b)(?:[^.;\n]|\.(?=\w))){{0,50}}?(?:\bTrue\b|\bworks?\b|\bworked\b|\b(?:it|all|everything) is (?:fine|ok|there)\b|\blists?\b|\bsees?\b|\bfinds?\b|\bfound\b|\bfine\b|\bok\b|\bdetect\w*|\bavailable\b|\bsucceeds?\b|\bfunciona\b|\bgeht\b|\bmarche\b|\bthey do\b|\bit (?:does|is)\b(?=\W|$)|\bResult = PASS)"
    rf"|\b(?:works?|worked|sees|lists|shows|finds|detect(?:s|ed)|is (?:there|found|seen|fine|ok|true)|available)\b[^.\n]{{0,30}}\b(?:as|with|under|by|using|for) (?:the )?{_SU}|\bsudo (?:-\w+ )?(?:\S*python\S*|nvidia-smi|\S+\.py|\.?\S*/\S+)[^\n]{{0,60}}\b(?:works|worked|is fine|shows it|finds it)\b|\bsudo works\b|\b(?:run|start|launch)\w* (?:it )?(?:with |as |by )?`?{_SU} \w[^.\n]{{0,40}}\b(?:finds|sees|works|uses|detects)\b"
    rf"|^\W*root\W{{1,6}}(?:true|yes|ok|works)\b|\broot can\b(?=\W|$)|\busers? other than root\b|(?:用|使用|以) ?(?:sudo|root)[^。\n]{{0,16}}(?:True|可以|正常|成功)|without --user it is\b"
)
_USER_LACKS = Pattern(
    rf"(?i)\b(?:as|for|under|with|by|by|als|con|como|com|in) (?:mi |mein\w* |meu )?(?:{_USER}|usuario|normaler (?:benutzer|user)|benutzer|usu[aá]rio)\b(?:[^.\n]|\.(?=\w)){{0,80}}?(?:\bfalse\b|\bempty\b|\bnot?\b|\bnone\b|n't\b|\bfails?\b|\bcannot\b|\bnothing\b|\berror\b)"
    rf"|^\W*(?:\w*user\w*|me|others?|uid \d+)\W{{1,6}}(?:false|no|fails|not)\b|\bnothing (?:for|as|to) (?:me|my|others|users)\b|\bas non[- ]?root\b|\B-u \d{{2,}}|\bno other user\b|\busers? other than root\b|\b(?:all|every|other|normal|regular|ordinary)(?: the)?(?: other)? users?\b(?: except (?:for )?root)?[^.\n]{{0,40}}\b(?:empty|not?|none|n't|fails?|cannot|false)\b|обычн\w+ пользовател\w+[^.\n]{{0,30}} не |\bmon compte\b|\bunless\b[^.\n]{{0,30}}\b(?:root|sudo|superuser)\b|\bonly (?:\w+ )?(?:as|with|for|by|under) (?:root|sudo|superuser)\b|\b(?:root|sudo) only\b|\bonly root\b|\b(?:not|n't|never|no (?:cuda )?gpus?|false)\b[^.\n]{{0,40}}\b(?:as|for|under|with|by) {_USER}\b|\bnon-?root\b[^.\n]{{0,40}}\b(?:no|not|lacks?|without|fails?|can't)\b|\b(?:no|without)\b[^.\n]{{0,24}}\b(?:while |as |for |in )?non-?root\b|\bwithout (?:root|sudo|super-?user)\b|\bnormal\w* user\b|普通用户[^。\n]{{0,60}}(?:False|不|无|没)|--user[ =]"
)
_SUDO_FAILS = Pattern(
    r"(?i)\b(?:with|under|using|by) sudo\b[^.\n]{0,50}(?:\b(?:not|fails?|no)\b|n't\b)|\bwithout (?:sudo|root)\b[^.\n]{0,30}\b(?:works?|fine|ok)\b|\bworks?\b[^.\n]{0,16}\bwithout sudo\b|\bnot (?:\w+ )?(?:with|as|under) (?:sudo|root)\b|\brootless\b"
)
_LACKS = {
    "says-no-gpu",
    "torch-lacks-gpu",
    "empty-list-said",
    "nvml-failed",
    "no-devices",
    "cuda-answers-100",
    "cuinit-failed",
}
_BOARD = Pattern(r"(?i)\b(?:jetson\w*|jetpack|tegra|l4t\b|l4t-\w+|orin\b|xavier(?: nx)?|agx (?:orin|xavier))\b")
_SUSE = Pattern(
    r"(?i)\b(?:open)?suse\b|\btumbleweed\b|\bSLE[SD]\b|\b(?:group|gruppe|grupo) [`'\"]?(?:video|render)\b|\b[`'\"]?(?:video|render)[`'\"]? group\b|^crw-rw----[^\n]{0,40}\bvideo\b"
)


def _of_root(notes: Notebook, lines: list[tuple[int, str]], kinds: set[str]) -> None:
    """Root gets the GPU, and another user does not."""
    answers = list(_answers(lines))
    by_root, by_user = ([yes for root, yes, _ in answers if root is who] for who in (True, False))
    at = next((at for root, yes, at in answers if root and yes), None) if not any(by_user) and by_user else None
    apart = by_root and any(by_user) and not any(by_root)
    if at is None and not apart and not any(_SUDO_FAILS.search(text) for _, text in lines):
        only = [line for line in lines if _ONLY_ROOT.search(line[1])]
        at = next((line for line in only if _ABOUT_GPUS.search(line[1])), None)
        if at is None and (kinds & _LACKS or first_of(lines, _USER_LACKS)):
            at = only[0] if only else first_of(lines, _ROOT_HAS)
    board = any(_BOARD.search(text) for _, text in lines)
    if at is None or (kinds & _OF_CONTAINERS and not board):
        return
    notes.events[:] = [_harmless(e.kind, e) if e.kind == "torch-lacks-gpu" else e for e in notes.events]  # to him
    given = board or any(_SUSE.search(text) for _, text in lines)
    _note(
        notes,
        "only-root-on-a-board" if board else "only-root-and-group" if given else "only-root-has-it",
        at,
        READS_LIKE_A_FAULT,
    )


_LABEL_OFF = Pattern(
    r"\b(?:podman|docker|nerdctl)\b[^\n]{0,300}\blabel[=:]disable\b|\blabel[=:]disable\b(?:(?!\bif\b|\bwhether\b)[^.\n]){0,30}\b(?:is|was) (?:set|there|used)\b"
)


def _in_vain(lines: list[tuple[int, str]]) -> tuple[int, str] | None:
    """SELinux's label is off, and NVML refuses all the same."""
    for at, (number, text) in enumerate(lines):
        if "sudo" not in text and _LABEL_OFF.search(text):
            told = [one for _, one in lines[at + 1 : at + 1 + _ANSWER]]
            if any("Insufficient Permissions" in one for one in told) or not text.startswith(("$", "podman", "docker")):
                return (number, text)
    return None


# ------------------------------------------------------------------- containers that lose it

_OF_CONTAINERS = {"container-named", "container-run", "talks-of-a-container", "compose-named", "in-a-container"}
_IN_TIME = Pattern(
    r"(?i)\bafter (?:a|one|some|a few|a couple of|several|two|three|\d{1,3})(?: or \w+)? ?(?:days?|hours?|weeks?|time|minutes)\b|\bafter (?:a while|(?:\w+ )?running for (?:days|hours|weeks))\b|\b(?:randomly|at random|sporadically|now and then|from time to time|once in a while|occasionally|intermittently|suddenly|overnight)\b|\bsome(?:times| days)\b|\b(?:takes|every|each|within) (?:some|a few|few|couple of|\d{1,2})? ?(?:days|hours|weeks)\b|\b(?:hours|days|weeks) later\b|\bdaily\b|\bonce a (?:day|week)\b|\bone day to the next\b|\bsince (?:\d{1,3}|some|several|two|three) (?:days|weeks|hours)\b|\bfor (?:a|two|three|a couple of|a few|\d{1,2}|some|several|many) (?:weeks?|days|hours)\b|\b(?:any ?more|no longer|day and night)\b"
    r"|\bnach (?:ein paar|einigen|\d{1,2}) (?:tagen|stunden|wochen)\b|\btras (?:unos|varios|algunos) d[ií]as\b|\baprès (?:quelques|plusieurs) (?:jours|heures)\b|几(?:天|小时)后|一段时间后|через (?:несколько|пару) (?:дн|час)"
)
_ITSELF = r"(?:(?:the|my|this|its|that|each|our) )?(?:(?:docker|jellyfin|plex|emby|immich|frigate|media|ml|server|whole) ){0,2}(?:containers?|pods?|docker|service|stack|jellyfin|plex|frigate|emby)\b"
_STARTS = rf"(?:\b(?:re-?start|re-?creat|re-?deploy|rebuil|re-?run|delet|stopp?|kill)\w*(?: and (?:re-?)?start\w*)?(?: of)? {_ITSELF}|\bdocker(?:[- ]compose)? (?:restart|rm|down)\b|\bstopp?\w* and (?:re-?)?start\w* (?:it\b|{_ITSELF})|\bre-?(?:start|creat)\w* it\b)"
_AFRESH = Pattern(
    rf"(?i){_STARTS}(?:(?!\b(?:not|no|same|never)\b|n't\b)[^.\n]){{0,60}}?\b(?:fix\w*|help\w*|solv\w*|works?|worked|again|back|ok|okay|fine|cure\w*|resolv\w*|recover\w*|sees|true|(?:every|each) (?:night|day|time|morning))\b"
    rf"|\b(?:have to|has to|had to|need(?:s|ed)? to|must|only|all I (?:know|can)|until|workaround|if I|then I|unless)\b[^.\n]{{0,40}}?{_STARTS}(?![^.\n]{{0,60}}\b(?:not|no effect|same)\b)"
    rf"|\b{_ITSELF}[^.\n]{{0,20}}\b(?:has to be|is|needs? (?:to be |an? )?|must be|gets?|needs) (?:\w+ )?(?:re-?start|re-?creat|stopp)\w*|\b(?:fresh|new) (?:ones?|containers?|pods?)\b[^.\n]{{0,40}}\b(?:works?|sees?|has|finds?|fine|ok)\b|\buntil (?:\w+ ){{0,2}}(?:re-?start|re-?creat)\w*"
    r"|\bneustart des containers\b|\bcontainer neu ?(?:zu )?starten\b|\breiniciar el contenedor\b|\bredémarrer le conteneur\b|重启容器|перезапуск контейнера"
)
_OTHERWISE = Pattern(
    r"(?i)\bxid\b|\bGPU is lost\b|\bfallen off\b|\breboot (?:the|my) (?:host|server|machine|nas|system)\b|\breboot the system\b|\bout of memory\b|\bOOM\b|\bsuspend|\bhibernat|\billegal (?:memory|instruction|address)|\bslow\w*\b|\bepochs?\b|\blibrary version mismatch\b|\bunable to determine the device handle\b|\bafter (?:an? |the |each |every )?(?:host |server )?(?:re-?boot|update|upgrade)\b"
)
_OF_GPUS = Pattern(r"(?i)\b(?:gpus?|cuda\w*|nvidia\w*|nvenc|transcod\w+|nvml|card)\b|CUDA|显卡|Grafikkarte")


_GONE = Pattern(
    r"(?i)\b(?:no (?:longer|gpu)|any ?more|gone|los(?:es|t|e)|disappear\w*|vanish\w*|fails?|unknown error)\b"
)


def _lost(lines: list[tuple[int, str]], reloaded: bool) -> tuple[int, str] | None:
    """A container's GPU is gone in time, and is there again when the container is started anew."""
    if reloaded and any(_GONE.search(text) and _OF_GPUS.search(text) for _, text in lines):
        return next(((number, text) for number, text in lines if "daemon-reload" in text), None)
    if any(_OTHERWISE.search(text) for _, text in lines) or not any(_IN_TIME.search(text) for _, text in lines):
        return None
    return first_of(lines, _AFRESH) if any(_OF_GPUS.search(text) for _, text in lines) else None


# ------------------------------------------------------------------- several GPUs

_HANGS = Pattern(
    r"(?i)\b(?:hangs?|hung|hanging|stuck|freez\w+|froze|deadlock\w*|stall\w*|never (?:returns?|gets? (?:beyond|past)|finish\w*)|stops? (?:at|after)|blocks? forever)\b"
)
_OFF = Pattern(
    r"(?i)\b(?:not|n't|are no[nt]|that (?:have|has) no) (?:\w+ ){0,2}?(?:connect\w*|link\w*|bridged|joined|paired)? ?(?:to each other )?(?:by|via|with|over|through) (?:an? )?nvlink\b|\b(?:nvlink|bridge)\b[^.\n]{0,20}\b(?:does(?:n't| not) connect|not connect\w*)|\b(?:without|no|non)[- ]?(?:an? )?nvlink\b|\bnvlink\b[^.\n]{0,12}\bnot\b"
    r"|\b(?:with(?: the)?|over|only|on)(?: an?| the)? (?:nvlink(?:ed)?|bridged) (?:pairs?|ones?|gpus?|cards?)\b|\b(?:pairs?|gpus?|cards?)\b[^.\n]{0,24}\b(?:are|have|has|is) (?:\w+ )?(?:bridged|linked|an? (?:nvlink )?bridge|nvlink)\b|\btwo (?:of which )?(?:nvlink )?bridges?\b|\blinked (?:two and two|in pairs|by nvlink)\b|\bonly \d-\d and \d-\d\b"
)
_PAIRS = Pattern(r"(?i)\b(?:pairs?|gpus?|cards?|\d ?[-,/] ?\d|-np 2|bridge[sd]?)\b")
_ONE_WORKS = Pattern(
    r"(?i)\b(?:works?|worked|fine|ok|okay|passe[sd]?|pass|goes through|runs?|trains?|all right|not with)\b"
)


def _off_the_links(notes: Notebook, lines: list[tuple[int, str]], symptoms: set[str | None]) -> None:
    """It hangs between GPUs that no NVLink joins, and works between those that one does."""
    if symptoms & {"gpu-faults", "container-does-not-start", "cuinit-fails", "runs-slowly"}:
        return
    hangs = first_of(lines, _HANGS)
    texts = [text for _, text in lines]
    if hangs and any(map(_OFF.search, texts)) and any(map(_PAIRS.search, texts)) and any(map(_ONE_WORKS.search, texts)):
        _note(notes, "hangs-off-nvlink", hangs, "collective-fails")
