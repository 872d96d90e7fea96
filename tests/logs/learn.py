"""Makes gpudoctor/logs/alike.tsv and reports.tsv: `python -m tests.logs.learn` (needs scikit-learn: the extra `learn`).
With --measure: how often the cause comes first for texts that were held back (a fifth at a time), and among the first three.

tests/logs/wordings/CAUSE.txt holds sentences as people write them, tests/logs/reports/CAUSE.txt whole reports without their empty lines, both
in our own words, divided by empty lines. To teach a cause, or a way to put it, add a few and run this.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

from gpudoctor.facts import NOTHING_WRONG
from gpudoctor.logs import alike

WORDINGS = Path(__file__).parent / "wordings"
REPORTS = Path(__file__).parent / "reports"


class Learnt(NamedTuple):
    """A model, and what it is made of."""

    name: str
    directories: tuple[Path, ...]
    pairs: bool
    rounds: int
    """How long it is fitted: with many words it would learn the texts by heart."""

    @property
    def texts(self) -> list[tuple[str, str]]:
        """(cause, text) of all that were written."""
        return [one for directory in self.directories for one in wordings(directory)]


MODELS = (
    Learnt(alike.SENTENCES, (WORDINGS,), pairs=False, rounds=300),
    Learnt(alike.REPORTS, (WORDINGS, REPORTS), pairs=True, rounds=40),
)
_LEAST = 0.3
"""A weight below this is left out."""
_WORD, _PAIR = 2, 3
"""In so many texts a word, or a pair of them, must stand to be learnt."""


def wordings(directory: Path) -> list[tuple[str, str]]:
    """(cause, text) of all that were written."""
    found = []
    for path in sorted(directory.glob("*.txt")):
        blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
        cause = NOTHING_WRONG if path.stem == "nothing-wrong" else path.stem
        found += [(cause, block) for block in blocks if block.strip()]
    return found


def digest(of: Learnt) -> str:
    """Of the texts that a model is made of."""
    parts = [path.read_bytes() for directory in of.directories for path in sorted(directory.glob("*.txt"))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def learn(of: Learnt, texts: list[tuple[str, str]]) -> str:
    """The model of these texts, as the text of its file."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features = [alike.features(text.split("\n"), of.pairs) for _, text in texts]
    count: dict[str, int] = {}
    for one in features:
        for word in one:
            count[word] = count.get(word, 0) + 1
    features = [{w: v for w, v in one.items() if count[w] >= (_PAIR if " " in w else _WORD)} for one in features]
    names, weigher = DictVectorizer(), TfidfTransformer()
    regression = LogisticRegression(C=30, max_iter=of.rounds, class_weight="balanced")
    make_pipeline(names, weigher, regression).fit(features, [cause for cause, _ in texts])
    words = names.get_feature_names_out()
    biases = zip(regression.classes_, regression.intercept_, strict=True)
    lines = [digest(of) + ("\tpairs" if of.pairs else ""), "\t".join(f"{cause}:{bias:.2f}" for cause, bias in biases)]
    for at, (word, idf) in enumerate(zip(words, weigher.idf_, strict=True)):
        weights = [f"{place}:{w:.1f}" for place, w in enumerate(regression.coef_[:, at]) if abs(w) >= _LEAST]
        lines.append(f"{word}\t{idf:.1f}\t{' '.join(weights)}")
    return "\n".join(lines) + "\n"


def measure(of: Learnt, parts: int = 5) -> tuple[float, float]:
    """How often the cause is the first, and among the first three, where a part is held back."""
    first = three = 0
    texts = of.texts
    for part in range(parts):
        model = alike.model_of(learn(of, [one for at, one in enumerate(texts) if at % parts != part]).encode())
        for cause, text in texts[part::parts]:
            ordered = sorted(alike.shares(text.split("\n"), model).items(), key=lambda item: -item[1])
            first += ordered[0][0] == cause
            three += cause in [name for name, _ in ordered[:3]]
    return first / len(texts), three / len(texts)


def main() -> int:
    """Write the models, or measure them."""
    for of in MODELS:
        if "--measure" in sys.argv[1:]:
            first, three = measure(of)
            print(f"{of.name}: the cause first {first:.0%}, among the first three {three:.0%}")
            continue
        text = learn(of, of.texts)
        Path(alike.__file__).with_name(of.name).write_text(text, encoding="utf-8")
        print(f"{of.name}: {text.count(chr(10)) - 2} words, {len(text.encode()) >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
