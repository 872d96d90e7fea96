"""What reports that read alike are about: word models rank the causes by what people write, where no program's line decides.

They are logistic regressions, made by `python -m tests.logs.learn`: one over the words of sentences, as people put each cause
(tests/logs/wordings/), and one over words and pairs of them, of whole reports (tests/logs/reports/). They prove nothing: what they say are candidates, and of those
that fit the programs' lines the likely one where it is clear (textual/likeness.py, textual/likely.py).
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
import os
from collections.abc import Iterable
from typing import NamedTuple

from ..facts import NOTHING_WRONG, Alike
from ..patterns import Pattern

SENTENCES, REPORTS = "alike.tsv", "reports.tsv"
"""The models."""
SHOWN = 8
"""Causes that are kept."""
_CHARACTERS = 5000
"""What people write stands at the beginning."""
_LONGEST = 500
_WORD = Pattern(r"[a-z_][\w.+-]*\w|\d+(?:\.\d+)?|[^\W\d_a-z]{2,}")
WITHOUT_PLACE = (
    "WARNING: All log messages before absl",
    "To enable the following instructions: ",
    "Skipping registering GPU devices",
)
"""How lines of TensorFlow's log begin that do not say where in its source they were written."""
_LOG = Pattern(
    r"[IWEF]\d{4} \d\d:|[IWEF] \S{1,80}\.cc:\d|[IWEF] (?:\S{1,80}/)?tensorflow/|\[ *\d+\.\d+\]|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] "
    rf"|From \S{{1,80}}\.py:\d+: |File \"|\||\+[-=]|\w[\w.-]{{0,60}}:\d+:\d+ \[|{'|'.join(WITHOUT_PLACE)}"
)
"""How programs' lines begin."""
_PEOPLE = Pattern(
    r"\b(?:I|(?i:I'm|I've|we|my|our|you|me|please|how|why|anyone|someone|hello|hi|thanks|does|doesn't|don't|didn't|isn't|can't|won't|wasn't"
    r"|whenever|but|although|question|describe"
    r"|nicht|und|meine?|wird|auf|keine?|mais|avec|dans|une|pour|j'ai|est|pero|cuando|tengo|est\u00e1|hola|gracias|n\u00e3o|quando|uma|minha|jest|nie|niet|voor))\b|\?|[\u0370-\u06ff\u0900-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]{2,}"
)
"""Words of people, that programs seldom print."""
_TITLE = Pattern(
    r"[\"'*#(`]{0,3} ?(?:\[\w+\] )?[A-Za-z][\w.+`-]*(?: (?:[`'\"]-{0,2})?[\w(][\w.,'()+&`\"-]*){2,30}\W{0,2}$"
)
"""A sentence without a program's signs: a title is one."""


class Model(NamedTuple):
    """What was learnt. As a file: a line of the digest (and 'pairs', where it knows these), one of the causes with their bias, then one of each word: the
    word, its idf, and place:weight for each cause for which it weighs something, parted by tabs and spaces."""

    of: str
    """Digest of the wordings."""
    pairs: bool
    """Whether it knows pairs of words, too."""
    causes: tuple[str, ...]
    bias: tuple[float, ...]
    lines: tuple[bytes, ...]
    """Those of the words, in their order: a text needs few of them."""

    def word(self, word: str) -> tuple[float, list[tuple[int, float]]] | None:
        """(idf, (place of a cause, weight), …); None: it is not known."""
        begins = f"{word}\t".encode()
        at = bisect.bisect(self.lines, begins)
        if at == len(self.lines) or not self.lines[at].startswith(begins):
            return None
        _, idf, weights = self.lines[at].split(b"\t")
        pairs = (one.split(b":") for one in weights.split())
        return float(idf), [(int(place), float(weight)) for place, weight in pairs]


def model_of(data: bytes) -> Model:
    """The model in a file."""
    of, causes, *lines = data.rstrip(b"\n").split(b"\n")
    named = [one.rsplit(":", 1) for one in causes.decode().split("\t")]
    digest, _, pairs = of.decode().partition("\t")
    return Model(
        of=digest,
        pairs=bool(pairs),
        causes=tuple(name for name, _ in named),
        bias=tuple(float(bias) for _, bias in named),
        lines=tuple(lines),
    )


def is_log(line: str) -> bool:
    """Whether a program printed a line, by its form."""
    return len(line) > _LONGEST or ".cc:" in line[:120] or _LOG.match(line) is not None


def is_people(lines: Iterable[str], titled: bool = True, message: bool = False) -> bool:
    """Whether somebody wrote some of these lines, not only a program: words of people, or a first line that is a title (where
    the first of them is the text's). `message`: the text is as short as one in a chat."""
    kept = [line for line in lines if line.strip()]
    if titled and kept and _TITLE.match(kept[0]) and not is_log(kept[0]):
        return True
    return any(
        not is_log(line) and (_PEOPLE.search(line) or _is_sentence(line) or (message and _is_told(line)))
        for line in kept
    )


_LITTLE = Pattern(
    r"\b(?:an?|and|are|at|between|but|for|from|gives|has|in|is|no|not|of|on|one|only|or|prints|says|shows|the|to|two|was|were|when|while|with)\b"
)
_FEW = 3


def _is_told(line: str) -> bool:
    """Whether little words hold a line together, as in a message full of numbers."""
    long = len(line.split()) >= _WORDS and not _STATED.match(line)
    return long and len({one[0] for one in _LITTLE.finditer(line.lower())}) >= _FEW


_ONESELF = Pattern(
    r"\b(?:I'm|I've|I (?![\w-]*[/\]:])[a-z']{2,}|[Mm]y|[Ww]e|[Oo]ur)\b"
    r"|(?<![\w/.:-])i (?:am|have|had|try|tried|trying|use|used|get|got|want|need|can|can't|do|don't|did|didn't|installed|run|ran|think|found|see|saw|think)\b"
    r"|\u6211|\b(?:[Ii]ch|[Mm]eine?[mnrs]?|[Uu]nsere?[mnrs]?|[Mm]i|[Jj]e|j'ai|[Tt]engo|[Tt]enho|[Mm]inha|[Mm]eu)\b"
)
"""Words for oneself, which programs do not print."""


def is_of_people(line: str) -> bool:
    """Whether somebody speaks of himself in a line."""
    return _ONESELF.search(line) is not None


def _is_sentence(line: str) -> bool:
    """Many plain words, and not the second half of a program's message."""
    words = line.split()
    if len(words) < _WORDS or _CONTINUED.match(line):
        return False
    return sum(w.isalpha() and w.islower() for w in words) >= 0.6 * len(words)


_WORDS = 9
_BY_A_PROGRAM = r"To enable|Detected at node|Skipping|Follow the|This TensorFlow|Please make sure|rebuild TensorFlow|successful NUMA|at least one NUMA|[\w/.-]+:|.{0,80}\bJob for \S{1,60} failed"
_STATED = Pattern(_BY_A_PROGRAM)
_CONTINUED = Pattern(_BY_A_PROGRAM + r"|.{0,300}(?:\.so|\.dll|\bError)\b")
"""How TensorFlow's lines go on, and where a program's name stands before its message."""


def features(lines: Iterable[str], pairs: bool = False) -> dict[str, float]:
    """Word -> 1 + log of how often it stands there; the first line, which is a title, counts three times. `pairs`: two words
    that follow each other, too."""
    kept = [line.lower() for line in lines]
    words = _WORD.findall("\n".join(kept)[:_CHARACTERS])
    title = _WORD.findall(next((line for line in kept if line.strip()), "")[:200])
    counts: dict[str, int] = {}
    for word in (*words, *title, *title, *(map(" ".join, itertools.pairwise(words)) if pairs else ())):
        counts[word] = counts.get(word, 0) + 1
    return {word: 1 + math.log(count) for word, count in counts.items()}


def shares(lines: Iterable[str], model: Model | None = None) -> dict[str, float]:
    """Cause -> how likely, by the words of `lines`; all together 1."""
    model = model or learnt(SENTENCES)
    of = features(lines, model.pairs)
    known = [(tf, known) for word, tf in of.items() if (known := model.word(word)) is not None]
    length = math.sqrt(sum((tf * idf) ** 2 for tf, (idf, _) in known)) or 1.0
    sums = list(model.bias)
    for tf, (idf, weights) in known:
        for place, weight in weights:
            sums[place] += weight * tf * idf / length
    top = max(sums)
    powers = [math.exp(s - top) for s in sums]
    whole = sum(powers)
    return {cause: p / whole for cause, p in zip(model.causes, powers, strict=True)}


def alike(lines: Iterable[str], of: str = SENTENCES) -> tuple[Alike, ...]:
    """The causes of reports that read like this, the likely ones first; by the model of sentences, or that of whole reports."""
    found = sorted(shares(lines, learnt(of)).items(), key=lambda item: -item[1])
    return tuple(Alike(cause=cause, share=round(share, 3)) for cause, share in found[:SHOWN])


def telling(lines: Iterable[str], cause: str, model: Model | None = None) -> int:
    """The place of the line whose words speak most for a cause."""
    model = model or learnt(SENTENCES)
    at = model.causes.index(cause)
    sums = []
    for text in lines:
        known = (model.word(word) for word in set(_WORD.findall(text[:_LONGEST].lower())))
        sums.append(sum(idf * dict(weights).get(at, 0.0) for idf, weights in filter(None, known)))
    return max(range(len(sums)), key=sums.__getitem__)


def speaks_of_a_fault(found: tuple[Alike, ...], words: int) -> bool:
    """Whether a fault is so much likelier than none that it is worth naming. Who writes many `words` has something to complain of."""
    of = {one.cause: one.share for one in found}
    nothing = of.pop(NOTHING_WRONG, 0.0)
    return max(of.values(), default=0.0) >= max(_LEAST, (_TIMES if words < _MANY else _TIMES_OF_MANY) * nothing)


_LEAST, _TIMES = 0.06, 2.75
_MANY, _TIMES_OF_MANY = 30, 0.85


@functools.lru_cache(maxsize=2)
def learnt(name: str) -> Model:
    """A model that the package brings: SENTENCES or REPORTS."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as file:
        return model_of(file.read())
