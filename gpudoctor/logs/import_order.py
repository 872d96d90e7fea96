"""What people tell of two packages in one process: that one must be imported before the other."""

from __future__ import annotations

from ..patterns import Pattern
from .language import Kind, Language, Understood
from .notebook import Notebook

_OTHER = r"(?:py)?torch(?:vision|audio)?|cupy|jax|cv2|opencv|mxnet|paddle(?:paddle)?|onnxruntime(?:-gpu)?|faiss|tensorrt|numba|cudf|rapids|dlib|pycuda|caffe2?|spacy|thinc"
_TF = r"tensorflow|tf|keras"
_IMPORT = r"(?:import(?:ing|ed|s)?|load(?:ing|ed|s)?)"
_BEFORE = r"(?:before|ahead of|prior to|earlier than)"
_WELL = r"(?:works?|worked|working|fine|ok|okay|solve[sd]?|fix(?:es|ed)?|help(?:s|ed)|no (?:error|problem|issue|crash)s?|goes away|disappears?|succeeds?|(?:gpu|device)s? (?:is|are) (?:there|found|listed|detected|visible|recogni[sz]ed)|(?:see|find|list|detect)s? (?:the|my|both|all) gpus?)"
_ONE_FIRST = rf"{_IMPORT} `{{0,3}}(?:import )?(?:{_TF}|{_OTHER})\b[^.;\n]{{0,40}}?\b(?:first|{_BEFORE} (?:I )?(?:{_IMPORT} )?`{{0,3}}(?:import )?(?:{_TF}|{_OTHER}))\b"
_FIRST_IS = rf"(?:{_TF}|{_OTHER}) (?:is |was |being |gets |has been )?(?:imported|loaded) (?:first|{_BEFORE} (?:{_TF}|{_OTHER}))\b"
_MOVED = r"(?:mov|put|plac|push|import|load)(?:e|es|ed|ing|s|t|ting)?"
_UP = rf"(?:(?:above|over|{_BEFORE})(?: the)? (?:{_IMPORT} )?`{{0,3}}(?:import )?(?:{_OTHER})\b|(?:to|at|on) (?:the )?(?:very )?top\b|(?:as )?(?:the )?(?:very )?first\b)"
_TF_UP = rf"\b{_MOVED} (?:the )?(?:line )?`{{0,3}}(?:import )?(?:{_TF})\b(?: as \w+)?`{{0,3}}(?: import| line)? {_UP}"
_TF_GOES = rf"(?:{_TF})\b`{{0,3}} (?:(?:is|was|gets|being|comes|goes|stands|has been) (?:imported |loaded |placed |put |moved )?|(?:imported|loaded|placed|put|moved) ){_UP}"
_OTHER_DOWN = rf"\b{_MOVED} (?:the )?`{{0,3}}(?:import )?(?:{_OTHER})\b`{{0,3}}(?: import| line)? (?:after|below|behind|under|later than) (?:{_IMPORT} )?`{{0,3}}(?:import )?(?:{_TF})\b"
_BY_ORDER = rf"(?:{_TF_UP}|{_TF_GOES}|{_OTHER_DOWN})"
_FAILS = r"(?<!no )(?:(?:fails?|failed|errors?|crash(?:es|ed)?|segfaults?|segmentation fault|core dumped|no gpus?|not (?:found|work|see|list)|empty list|breaks?|aborts?|raises?|throws?)\b|\[\])(?!,? (?:as well|too|anyway|likewise|either way|the same|message about missing))"
_NOT_WELL = r"(?<!not )(?<!n't )(?<!never )(?<!longer )"
_TOLD = r"^(?![^\n]{0,400}\b(?:suggest\w*|told me|read that|faq|docs?|don't (?:have|use)|do not (?:have|use)|either (?:way|order)|both orders|any order|no difference|the same|too|as well|whether|both (?:when|if)|no longer|not help|n't help)\b)[^\n]{0,300}?"
_NO_QUESTION = r"(?![^.\n]{0,60}\?)"
_BEGINS = r"(?:^|[.!;:] )\W{0,8}"


def _one_of(*forms: str) -> str:
    """A line of somebody who has seen it himself, and does not ask."""
    return rf"(?i:{_TOLD}(?:{'|'.join(forms)}){_NO_QUESTION})"


LANGUAGE = Language(
    name="import order",
    words=("mport ", "mporting ", "mported ", "mports ", "order", "Order"),
    foreign=True,
    kinds=(
        Kind(
            "order-decides",
            _one_of(
                rf"\b(?:if|when|once|as soon as) [^.\n]{{0,20}}?{_ONE_FIRST}[^.\n]{{0,60}}?\b{_NOT_WELL}{_WELL}\b",
                rf"{_BEGINS}{_ONE_FIRST}[^.\n]{{0,60}}?\b{_NOT_WELL}{_WELL}\b",
                rf"\b(?:works?|fine|ok)\b[^.\n]{{0,20}}\b(?:if|when|once)\b[^.\n]{{0,20}}?{_ONE_FIRST}",
                rf"\b(?:without|(?:remov|comment|delet|leav|tak|dropp)(?:e|ing|ed)(?: out)?)\b(?: the| my| that)?(?: line)? `{{0,3}}import(?:ing|s|ed)?(?: of)? `{{0,3}}(?:{_OTHER})\b[^.\n]{{0,60}}?\b{_NOT_WELL}{_WELL}\b",
                rf"\b(?:if|when|once|as soon as|with)\b[^.\n]{{0,40}}?{_BY_ORDER}[^.\n]{{0,60}}?\b{_NOT_WELL}{_WELL}\b",
                rf"{_BEGINS}(?:\w+ ){{0,3}}?{_BY_ORDER}[^.\n]{{0,60}}?\b{_NOT_WELL}{_WELL}\b",
                rf"\b(?:works?|fine|ok|goes away|disappears?|no (?:error|problem)s?)\b[^.\n]{{0,20}}\b(?:if|when|once)\b[^.\n]{{0,20}}?{_BY_ORDER}",
                rf"\b(?:swap|chang|revers|switch|invert|exchang)(?:e|ed|ing|ping|ped)?\b (?:the )?(?:order of )?(?:the |these |both |two ){{0,2}}(?:import|statement)s?(?:' order| order| statements?)?\b[^.\n]{{0,40}}?\b{_NOT_WELL}{_WELL}\b",
            ),
            once=True,
        ),
        Kind(
            "order-decides",
            _one_of(
                rf"\b(?:if|when|once|as soon as|whenever|after)\b[^.\n]{{0,20}}?{_ONE_FIRST}[^.\n]{{0,80}}?{_FAILS}",
                rf"(?:{_BEGINS}[^.\n]{{0,30}}?\b){_ONE_FIRST}[^.\n]{{0,80}}?{_FAILS}",
                rf"\b(?:with|if|when|once|having) {_FIRST_IS}[^.\n]{{0,60}}?{_FAILS}",
                rf"{_FAILS}(?! (?:to|of|in)\b)[^.\n]{{0,20}}? (?:if|when|once|whenever|as soon as) [^.\n]{{0,20}}?(?:{_FIRST_IS}|{_ONE_FIRST})",
                rf"{_ONE_FIRST}[^.\n]{{0,60}}?\b(?:the )?other (?:way (?:a?round)?|order)\b[^.\n]{{0,40}}?{_FAILS}",
            ),
            once=True,
        ),
    ),
)  # fmt: skip
NO_MATTER = Language(
    name="import order",
    words=("order", "Order", "either", "Either", "both ", "Both ", "ifference", "same "),
    foreign=True,
    kinds=(
        Kind(
            "order-tells-nothing",
            r"(?i:\b(?:either|both|any|whatever|each)(?: import)? orders?\b|\border\b[^.\n]{0,40}(?:\bno (?:difference|effect|matter)|\bnot? (?:matter|help|change)|n't (?:matter|help|change))|\bno difference\b|(?<!runs )(?<!works )\bboth (?:ways|variants|fail|crash|break|give|end)|\bsame (?:error|result|thing|message|crash)\b|\beither way\b)",
            once=True,
        ),
    ),
)

_STATEMENT = Pattern(
    rf"^(?:>>> |[-*>] |\d[.)] |In \[\d+\]: )?(?:import|from) (?:(?P<tf>tensorflow|keras)|(?:{_OTHER}))\b"
)
_WORDS = ("import ", "from ")


class Orders:
    """Both orders of two imports, each written out."""

    WORDS = _WORDS

    def __init__(self) -> None:
        self._before: tuple[int, bool] = (-9, False)
        self._seen: set[bool] = set()

    def line(self, text: str, number: int, _notes: Notebook) -> Understood | None:
        """The second of the two orders."""
        if (found := _STATEMENT.match(text)) is None:
            return None
        ours = found["tf"] is not None
        line, theirs = self._before
        self._before = number, ours
        if number - line > 1 or ours == theirs:
            return None
        self._seen.add(theirs)
        return Understood("both-orders-shown", {}, once=True) if len(self._seen) > 1 else None
