"""Makes gpudoctor/logs/alike.tsv of the wordings: `python -m tests.logs.learn` (needs scikit-learn: the extra `learn`).
With --measure: how often the cause comes first for wordings that were held back (a fifth at a time), and among the first three.

tests/logs/wordings/CAUSE.txt holds reports as people write them, in our own words, divided by empty lines. To teach a cause,
or a way to put it, add a few and run this.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

from gpudoctor.facts import NOTHING_WRONG
from gpudoctor.logs import alike

WORDINGS = Path(__file__).parent / "wordings"
MODEL = Path(alike.__file__).with_name("alike.tsv")
_LEAST = 0.3
"""A weight below this is left out."""


def wordings(directory: Path = WORDINGS) -> list[tuple[str, str]]:
    """(cause, text) of all that were written."""
    found = []
    for path in sorted(directory.glob("*.txt")):
        blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
        cause = NOTHING_WRONG if path.stem == "nothing-wrong" else path.stem
        found += [(cause, block) for block in blocks if block.strip()]
    return found


def digest(directory: Path = WORDINGS) -> str:
    """Of the wordings and of what makes features of them."""
    parts = [p.read_bytes() for p in sorted(directory.glob("*.txt"))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def learn(texts: list[tuple[str, str]], of: str = "", c: float = 30.0) -> str:
    """The model of these texts, as the text of its file."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features = [alike.features(text.split("\n")) for _, text in texts]
    count: dict[str, int] = {}
    for one in features:
        for word in one:
            count[word] = count.get(word, 0) + 1
    features = [{w: v for w, v in one.items() if count[w] > 1} for one in features]
    names, weigher = DictVectorizer(), TfidfTransformer()
    regression = LogisticRegression(C=c, max_iter=300, class_weight="balanced")
    make_pipeline(names, weigher, regression).fit(features, [cause for cause, _ in texts])
    words = names.get_feature_names_out()
    biases = zip(regression.classes_, regression.intercept_, strict=True)
    lines = [of, "\t".join(f"{cause}:{bias:.2f}" for cause, bias in biases)]
    for at, (word, idf) in enumerate(zip(words, weigher.idf_, strict=True)):
        weights = [f"{place}:{w:.1f}" for place, w in enumerate(regression.coef_[:, at]) if abs(w) >= _LEAST]
        lines.append(f"{word}\t{idf:.1f}\t{' '.join(weights)}")
    return "\n".join(lines) + "\n"


def measure(texts: list[tuple[str, str]], parts: int = 5) -> tuple[float, float]:
    """How often the cause is the first, and among the first three, where a part is held back."""
    first = three = 0
    for part in range(parts):
        model = alike.model_of(learn([one for at, one in enumerate(texts) if at % parts != part]).encode())
        for cause, text in texts[part::parts]:
            ordered = sorted(alike.shares(text.split("\n"), model).items(), key=lambda item: -item[1])
            first += ordered[0][0] == cause
            three += cause in [name for name, _ in ordered[:3]]
    return first / len(texts), three / len(texts)


def main() -> int:
    """Write the model, or measure it."""
    if "--measure" in sys.argv[1:]:
        texts = wordings()
        first, three = measure(texts)
        print(f"{len(texts)} wordings: the cause first {first:.0%}, among the first three {three:.0%}")
        return 0
    text = learn(wordings(), digest())
    MODEL.write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10)) - 2} words, {len(text.encode()) >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
