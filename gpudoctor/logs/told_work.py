"""What people say of a slow program that speaks for one cause: kernels that are launched, copies to the GPU, mixed precision that brings
nothing, one sample after another, a Mac, a card that is newer than the build; and what a log leaves out, or a card that lies empty.

It is weak as the rest of what they say (told_speed.py): it counts where no line shows a failure.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from ..facts import TextEvent
from ..patterns import Pattern
from .complaints import says_no_gpu
from .language import LONGEST
from .notebook import Notebook
from .told_speed import HEAVY, LANGUAGE, NAMES_GPU, NO_GAIN, SHORT, at, of_people, sentences, times

_RUNS_SLOWLY = "runs-slowly"
_SLOW = Pattern(
    r"(?i)\b(?:slow(?:ly|er|ness)?|(?:too|so|very|way too|pretty|really|incredibly) (?:long|much time)|forever|ages|latency|(?:make|get|run|train|be done|be made|be)(?: \w+){0,3} faster|faster (?:inference|training|prediction)|speed(?:ing)?[- ]?(?:it |this |things )?up|(?:accelerate|reduce|lower) the|fps|still cost so much)\b"
    r"|慢|langsam|\blent[oae]?\b|\u043c\u0435\u0434\u043b\u0435\u043d\u043d\u043e"
)
_TAKES = Pattern(
    r"(?i)\b(?:takes?|took|needs?) (?:about |around |some |up to |over )?\d+(?:[.,-]\d+)? ?(?:s|ms|secs?|seconds|min\w*|hours?)\b"
)
_DEMANDS = Pattern(r"(?i)\b(?:feature request|release notes|thanks for the|would be nice|add support)\b")

# ------------------------------------------------------------------- mixed precision

_MIXED = Pattern(
    r"(?i)\bmixed[-_ ]?(?:b?float16|precision|fp16)\w*|\bhalf[-_ ]precision|\bfloatx\b|(?<![a-z])(?:b?float|fp|bf)[-_ ]?16(?!\d)|\bAMP\b|\w*auto_mixed_precision\w*|enable_mixed_precision\w*|混合精度|半精度|precisi[oó]n mixta|précision mixte|precisão mista|\u0441\u043c\u0435\u0448\u0430\u043d\u043d\w{2} \u0442\u043e\u0447\u043d\u043e\u0441\u0442\w"
)
_NOTHING_GAINED = Pattern(
    r"(?i)\b(?:slower|slows? (?:it )?down|no acceleration|bringt nichts|(?<!no )longer than)\b|(?:\b(?:not|no|never)|n't) (?:really |actually )?(?:bring|give|yield|get|see|show|provide|speed|accelerat|faster)\w*(?: any| me| a| up| much)*(?: (?:speed|acceleration|improvement|benefit|gain|faster|training|inference|up)\w*|\W|$)"
    r"|\b(?:speed|time|rate|throughput|it/s|imgs?/s\w*|images/s\w*|fps)\b[^.\n]{0,24}\b(?:not change|n't change|unchanged|stays?(?: the)? same|the same|down)\b|\bso does the speed|\b(?:takes?|took|needs) (?:exactly |about |almost |just )?(?:the same|as long)|\bthe same \d|没有(?:加速|提速|变快|提升)|没变快|no acelera|lo mismo que|\u043d\u0435 \u0443\u0441\u043a\u043e\u0440|\u0442\u043e \u0436\u0435(?!\w)|n'accélère pas|não acelera|ohne vorteil"
)
_WITH_AND_WITHOUT = Pattern(
    r"(?i)(?<![\w.])(?P<one>\d{1,6}(?:\.\d{1,3})?) ?(?P<rate>(?:img|image|sample|step|it|frame|example|sentence|token)\w{0,8}(?:/| per )s\w{0,5}|fps)?[^.\n\d]{0,20}\bwithout\b[^.\n\d]{0,12}(?P<other>\d{1,6}(?:\.\d{1,3})?)(?!\d)"
)
_OF_EACH = Pattern(
    r"(?i)(?<![a-z])(?P<half>(?:b?float|b?f|fp)[-_ ]?16|mixed\w*(?: precision)?|half(?: precision)?)\b[^.\n\d]{0,20}(?P<one>\d{1,6}(?:\.\d{1,3})?) ?(?P<unit>[a-z/]{1,14})[^\n]{0,24}?(?<![a-z])(?:float|fp|f|single)[-_ ]?(?:32|precision)\b[^.\n\d]{0,20}(?P<other>\d{1,6}(?:\.\d{1,3})?) ?(?P=unit)(?![a-z])"
    r"|(?<![a-z])(?:float|fp|f|single)[-_ ]?(?:32|precision)\b[^.\n\d]{0,20}(?P<other2>\d{1,6}(?:\.\d{1,3})?) ?(?P<unit2>[a-z/]{1,14})[^\n]{0,24}?(?<![a-z])(?:(?:b?float|b?f|fp)[-_ ]?16|mixed\w*(?: precision)?|half(?: precision)?)\b[^.\n\d]{0,20}(?P<one2>\d{1,6}(?:\.\d{1,3})?) ?(?P=unit2)(?![a-z])"
)
"""What each of the two formats does, in one unit."""
_OF_NUMBERS = Pattern(
    r"(?i)\b(?:nan|accura\w+|loss(?:es)? (?:is|are|becomes?|goes)|converge\w*|diverge\w*|out of memory|OOM|error)\b"
)
_CORES_LIE = Pattern(r"(?i)\btensor ?cores?\b[^.\n]{0,40}(?:\b(?:not|never|idle|0 ?%|unused)|n't)|PIPE_TENSOR")

# ------------------------------------------------------------------- launches and copies

_LAUNCH = Pattern(
    r"(?i)\bkernel[- ]launch\w*|\blaunch\w* (?:of )?(?:the |all |small |tiny |its )*kernels?\b|\bcudaLaunchKernel\b|\bbusy launching\b|\b(?:tiny|small|short|little) (?:\w+ )?kernels\b|\bkernels are (?:\w+ )?(?:short|tiny|small)\b"
)
_MUCH_OF_IT = Pattern(
    r"(?i)\d ?%|\d ?ms\b|\b(?:time|high|overhead|most(?:ly)?|biggest|largest|dominat\w+|long|longer|gaps?|thousands|many|slow\w*)\b|占"
)
_GOES_WRONG = Pattern(
    r"(?i)\b(?:fail\w*|error\w*|invalid|exception|crash\w*|timed? ?out|illegal|out of memory|OOM|killed)\b"
)
_COPY = Pattern(
    r"(?i)memcpy ?_?h(?:to|2)d|\bh(?:to|2)d\b|主机到|拷贝到 ?(?:GPU|显卡)|(?:\b(?:copy|copie[sd]|copying|transfer(?! learning)\w*|mov(?:e[sd]?|ing)|upload\w*|memcpy|sending|fed|feeding)\b[^.\n]{0,60}|\b)"
    r"(?:\bhost[- ](?:memory )?to[- ](?:the )?(?:device|gpu)|\bcpu ?(?:->|=>|\u2192|-to-|to) ?(?:the )?gpu\b(?! version)|(?<=[ ])to (?:the |my )?(?:gpu|device|card|graphics card)\b)"
)
_COPIES = Pattern(
    r"(?i)\b(?:copy|copie[sd]|copying|transfer(?! learning)\w*|mov(?:e[sd]?|ing)|upload\w*|memcpy\w*|sending|feeding|bandwidth)\b|memcpy|\bh(?:to|2)d\b|拷贝|传输"
)
_COPY_IS_SLOW = Pattern(
    r"(?i)\b(?:slow\w*|bottle ?neck|too long|longer|speed (?:it |them |this )?up|accelerat\w*|faster|blocks?|most of|bandwidth|limit\w*)\b|\d ?[GM]i?B/s|\d ?ms\b|\b\d{2} ?% of|\btakes? \d|慢"
)
_BYTES = Pattern(r"\d ?[GM]i?B/s")
_BETWEEN = Pattern(
    r"(?i)\b(?:device[- ]to[- ]device|d2d|p2p|peer|gpu ?(?:-|to|->) ?(?:to-)?gpu|gpu[ :]?\d to|all-?reduce|nccl|gradients?|between (?:the )?gpus|d(?:to|2)h|device to host|gpu to (?:the )?cpu)\b"
)
_PAGES = Pattern(r"(?i)\b(?:pageable|(?:un|non-)?pinned|page[- ]?locked|pin_memory)\b|锁页")

# ------------------------------------------------------------------- a Mac, a log without a GPU, an empty card

_MAC = Pattern(
    r"(?im)\b(?:on|my|under|using|have|with|an?|is) (?:an? |my |the |old |new |apple )*(?:mac ?os(?: ?x)?|os ?x|mac ?book\w*|i ?mac|mac ?mini|mac(?: pro)?)\b|^\W{0,3}mac ?os\b|\bOS\b ?[:=] ?(?:mac|os ?x|darwin)|mac上|苹果电脑"
)
_NO_MAC = Pattern(
    r"(?i)\b(?:e-?gpu|metal|nvidia|geforce|[rg]tx|tesla|cuda|colab|ubuntu|linux|windows|server|ios|iphone|tflite|pip3?|install\w*)\b|\bworks? on"
)
_OWN_NOTE = Pattern(r"wasn't compiled to use|cpu_feature_guard|TensorFlow binary was not compiled to use")
_PROGRESS = Pattern(
    r"(?i)\b(?:loss|epochs?|steps?|iter\w*|ETA|time|batch)\b[^\n]{0,40}\d|\d[^\n]{0,12}\b(?:s/step|sec/batch|it/s)"
)
_OF_A_GPU = {
    "device-found", "gpus-added", "device-created", "library-opened", "library-not-loaded", "cuinit-failed", "no-machine-code", "lists-gpus", "lists-cpu", "lists-no-gpu", "cudnn-loaded",
    "gpu-works-said", "memory-at-start",
}  # fmt: skip
_STEPS = Pattern(r"\((?P<s>\d{1,4}(?:\.\d{1,4})?) sec/step\)")
_SLOW_STEP_S = 8
"""Seconds of a step of object detection that only a processor needs."""
_HELD_SAID = Pattern(
    r"(?i)(?<![\d.])(?P<used>\d{1,4}) ?Mi?B ?(?:/|of|out of) ?(?P<total>\d{1,5}(?:\.\d{1,2})?) ?(?P<unit>[MG])i?B\b"
)
"""What is taken of a card, within a sentence."""
_OF_A_CARD = Pattern(r"(?i)\bnvidia|\bv?gpu\b|\bcard\b|\bvram\b|显存")
_MIB = Pattern(r"(\d{1,6}) ?MiB")
_HARDLY_ANY = 0.06
"""Of a card's memory, which a desktop takes."""
_ZERO = Pattern(r"(?<!\d)0% +(?:Default|E\. Process)")

# ------------------------------------------------------------------- a card that is newer than the build

_AMPERE = Pattern(
    r"(?i)\b(?:rtx ?-?)?30[5-9]0(?: ?ti)?\b|\b(?:nvidia )?a(?:100|10|30|40)\b(?!\.)|\brtx ?a[456]000\b|\bampere\b"
)
_VOLTA = Pattern(r"(?i)\bv100\b|\btitan v\b|\brtx ?-?20[678]0|\bvolta\b|\bturing\b")
_TF = r"(?:\btf|\btensorflow)(?:[-_ ]?gpu)?\W{0,4}(?:v|version:? )?"
_BEFORE_AMPERE = Pattern(
    rf"(?i){_TF}(?:1\.\d{{1,2}}|2\.[0-3])(?![\d])|\bcuda\W{{0,3}}(?:version:? |toolkit )?(?:[89]|10)(?:\.\d)?(?![\d.])|tensorflow:(?:1[789]|20\.0\d)\b"
)
_BEFORE_VOLTA = Pattern(
    rf"(?i){_TF}(?:1\.[0-4])(?!\d)|\bcuda\W{{0,3}}(?:version:? |toolkit )?(?:7\.5|8)(?:\.\d)?(?![\d.])|tensorflow:1\.[0-4]\b"
)
_OF_NVIDIA = Pattern(r"(?i)\bnvidia-tensorflow|\bnightly")
_WAITS = Pattern(
    r"(?i)\b(?:start(?:s|ing|ed)?[- ]?(?:up)?|first (?:\w+ )?(?:step|batch|epoch|run|call|time|inference)|begin\w*|initiali\w+|warm\w*)\b[^.\n]{0,80}\b(?:slow\w*|long|minutes?|mins?|forever|ages)\b"
    r"|\b(?:slow\w*|long|minutes?|mins?|forever)\b[^.\n]{0,60}\b(?:to start|before|until|start-?up|starting|first)\b|\bnothing happens for\b|\b(?:hangs?|stuck|freezes?) for\b"
)
_TIMES_SLOWER, _MINUTE_S = 15, 60
"""How much slower a GPU is, and its seconds at least, where it compiles and does not compute."""


def settle(notes: Notebook, lines: Iterable[tuple[int, str]]) -> None:
    """Notes what speaks for one cause of a slow program: (number, text), …"""
    kinds = {e.kind for e in notes.events}
    if any(e.symptom not in (None, _RUNS_SLOWLY) for e in notes.events) or kinds & _TOLD_ALREADY:
        return
    lines = list(itertools.islice(lines, 400))
    people = of_people(lines)
    whole = "\n".join(text for _, text in people)
    if not whole or _DEMANDS.search(whole):
        return
    card = any(e.values.get("cards") for e in notes.events if e.kind == "names")
    one = next(_told(people, whole, notes, card), None)
    one = one or _silent(notes, lines, whole, kinds)
    if one is not None:
        kind, number, text = one
        notes.events[:] = [e for e in notes.events if e.symptom != _RUNS_SLOWLY or e.kind not in _OF_PACE]
        notes.events.append(
            TextEvent(line=number, language=LANGUAGE, kind=kind, text=text[:LONGEST], values={}, symptom=_RUNS_SLOWLY)
        )


_TOLD_ALREADY = {
    "input-bound", "input-maybe-bound", "gpu-underused", "launch-bound", "pageable-blocks", "strategy-device-absent", "keras-on-another", "little-16-bit", "cache-not-kept",
}  # fmt: skip
"""Kinds of lines that tell why it is slow."""
_Told = tuple[str, int, str]


def _told(people: list[tuple[int, str]], whole: str, notes: Notebook, card: bool) -> Iterator[_Told]:
    kinds = {e.kind for e in notes.events}
    spoken = [(number, one) for number, text in people for one in sentences(text)]
    if _MIXED.search(whole) and not _CORES_LIE.search(whole):
        yield from _mixed(spoken, kinds)
    if not _GOES_WRONG.search(whole):
        yield from _launches(spoken)
        yield from _copies(spoken, whole)
    yield from _of_newer_cards(spoken, whole, notes)
    complains = _SLOW.search(whole) is not None
    if not complains and not _TAKES.search(whole):
        return
    if _MAC.search(whole) and not _NO_MAC.search(whole) and not kinds & _OF_A_GPU:
        yield ("slow-on-a-mac", *at(people, _MAC))
    short = complains and SHORT.search(whole) is not None and not HEAVY.search(whole)
    told = any(kind in kinds for kind in _OF_PACE)
    named = card or NAMES_GPU.search(whole) is not None
    if short and named and not told and not _GOES_WRONG.search(whole) and not says_no_gpu(whole):
        yield ("short-work-slow", *at(people, SHORT))


_OF_PACE = (
    "gpu-hardly-used", "gpu-no-faster", "gpu-slower-than-cpu", "slow-on-gpu", "several-no-faster", "one-works-said", "start-takes-minutes", "start-is-slow", "slow-and-hot",
    "slow-on-battery", "processors-limited-said", "faster-card-no-faster", "says-no-gpu", "slow-start", "first-use-slow",
)  # fmt: skip


def _mixed(spoken: list[tuple[int, str]], kinds: set[str]) -> Iterator[_Told]:
    """Mixed precision that is no faster: the title names it, or the sentence, or the one before."""
    titled = _MIXED.search(spoken[0][1]) is not None
    if kinds & {"several-no-faster", "one-works-said"} and not titled:
        return
    before = titled
    for number, one in spoken:
        named = _MIXED.search(one) is not None
        rest = _MIXED.sub(" ", one)
        if (
            (named or before)
            and not _OF_NUMBERS.search(rest)
            and (NO_GAIN.search(rest) or _NOTHING_GAINED.search(rest) or _measured_in_vain(one))
        ):
            yield "mixed-no-gain-said", number, one
            return
        before = named or titled


def _measured_in_vain(sentence: str) -> bool:
    """'82 images/s with it and 85 without'."""
    if (each := _OF_EACH.search(sentence)) is not None:
        mine, other = float(each["one"] or each["one2"]), float(each["other"] or each["other2"])
        more_is_better = "/s" in (unit := (each["unit"] or each["unit2"]).lower()) or unit == "fps"
        return mine <= other * _LITTLE_MORE if more_is_better else mine * _LITTLE_MORE >= other
    found = _WITH_AND_WITHOUT.search(sentence)
    if found is None:
        return False
    mine, other = float(found["one"]), float(found["other"])
    return mine <= other * _LITTLE_MORE if found["rate"] else mine * _LITTLE_MORE >= other


_LITTLE_MORE = 1.1


def _launches(spoken: list[tuple[int, str]]) -> Iterator[_Told]:
    found = [(number, one) for number, one in spoken if _LAUNCH.search(one)]
    if any(_MUCH_OF_IT.search(one) for _, one in found):
        yield ("launches-said", *found[0])


def _copies(spoken: list[tuple[int, str]], whole: str) -> Iterator[_Told]:
    """Copies to the GPU that take their time."""
    if _BETWEEN.search(whole):
        return
    pages = _PAGES.search(whole) is not None and _COPIES.search(whole) is not None
    for number, one in spoken:
        if _COPY_IS_SLOW.search(one) and (
            (_COPY.search(one) and (_COPIES.search(one) or _BYTES.search(one))) or (pages and _COPIES.search(one))
        ):
            yield "copies-slow-said", number, one
            return


def _of_newer_cards(spoken: list[tuple[int, str]], whole: str, notes: Notebook) -> Iterator[_Told]:
    """Who waits for minutes where the build has no code for his card, or a GPU is slower by far more than computing explains."""
    for number, one in spoken:
        both = times(one)
        if len(both) > 1 and both["gpu"] >= max(_MINUTE_S, _TIMES_SLOWER * both["cpu"]):
            yield "compiles-for-minutes-said", number, one
            return
    logged = older_than_its_card(notes)
    newer = (
        logged
        or (_AMPERE.search(whole) and _BEFORE_AMPERE.search(whole))
        or (_VOLTA.search(whole) and _BEFORE_VOLTA.search(whole))
    )
    if newer and not _OF_NVIDIA.search(whole):
        for number, one in spoken:
            if _WAITS.search(one) or (logged and _STANDS.search(one)):
                yield "compiles-for-minutes-said", number, one
                return


def older_than_its_card(notes: Notebook) -> bool:
    """Whether a log shows a GPU of compute capability 8 or newer, and libraries or lines of a build from before it."""
    new = any(
        e.kind == "device-found" and e.values.get("capability", "0").partition(".")[0] not in _BEFORE_8
        for e in notes.events
    )
    logged = [e.text for e in notes.events if e.kind in ("library-opened", "benign-xla-service")]
    return new and any(map(_OF_CUDA_10.search, logged)) and not any(map(_OF_CUDA_11.search, logged))


_BEFORE_8 = ("0", "1", "2", "3", "5", "6", "7")
_OF_CUDA_10 = Pattern(
    r"cudart64_10[0-2]?\.dll|libcudart\.so\.10\b|cudnn64_7\.dll|libcudnn\.so\.7\b|xla/service/service\.cc:168\]"
)
"""What TensorFlow 1.13 to 2.3 opens and logs."""
_OF_CUDA_11 = Pattern(r"cudart64_1[1-9]\d{0,2}\.dll|libcudart\.so\.1[1-9]\b")
"""What NVIDIA's builds of the same releases open."""
_STANDS = Pattern(
    r"(?i)\b(?:hangs?|hung|stuck|freez\w+|frozen|nothing (?:more |else )?(?:happens|moves)|(?:does(?:n't| not)|won't|never) (?:proceed|continue|get (?:beyond|past|any)|go on|start|reach|begin)\w*)\b"
)


def _silent(notes: Notebook, lines: list[tuple[int, str]], whole: str, kinds: set[str]) -> _Told | None:
    """A log in which TensorFlow 1 says nothing of a GPU, steps that only a processor needs so long for, a card that holds nothing."""
    states = [e for e in notes.events if e.kind == "gpu-state"]
    if (
        not states
        and (kinds & _AT_LITTLE or _SLOW.search(whole))
        and (empty := _said_to_lie_empty(lines, whole)) is not None
    ):
        return "card-lies-empty", *empty
    if states and kinds & _AT_LITTLE:
        python = any(e.kind == "gpu-process" and "python" in e.values.get("name", "") for e in notes.events)
        if not python and all(_lies_empty(e) for e in states):
            return "card-lies-empty", states[0].line, states[0].text
    if not _SLOW.search(whole) or kinds & _OF_A_GPU or _MAC.search(whole):
        return None
    note = next((at for at, (_, text) in enumerate(lines) if _OWN_NOTE.search(text)), None)
    if note is not None and sum(_PROGRESS.search(text) is not None for _, text in lines[note + 1 :]) > 1:
        return "silent-on-gpus", *lines[note]
    steps = [(float(found["s"]), number, text) for number, text in lines if (found := _STEPS.search(text))]
    if len(steps) > 1 and min(steps)[0] >= _SLOW_STEP_S:
        return "silent-on-gpus", steps[0][1], steps[0][2]
    return None


_AT_LITTLE = {"gpu-hardly-used", "slow-on-gpu", "gpu-no-faster"}


def _said_to_lie_empty(lines: list[tuple[int, str]], whole: str) -> tuple[int, str] | None:
    """The line that tells how little is taken of a card, where each that tells it does so."""
    if _OF_A_CARD.search(whole) is None:
        return None
    found = [(one, line) for line in lines if not line[1].startswith("|") for one in _HELD_SAID.finditer(line[1])]
    share = [
        int(one["used"]) / max(1.0, float(one["total"]) * (1024 if one["unit"] in "gG" else 1)) for one, _ in found
    ]
    return found[0][1] if found and max(share) <= _HARDLY_ANY else None


def _lies_empty(state: TextEvent) -> bool:
    used, total = (_MIB.match(state.values.get(one, "").strip()) for one in ("used", "total"))
    if used is None or total is None:
        numbers = _MIB.findall(state.text)
        if len(numbers) < 2:
            return False
        return int(numbers[0]) <= _HARDLY_ANY * int(numbers[1]) and _ZERO.search(state.text) is not None
    return int(used[1]) <= _HARDLY_ANY * int(total[1]) and _ZERO.search(state.text) is not None
