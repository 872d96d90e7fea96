"""A page for each check, from its docstring, and the list of all."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from gpudoctor.registry import SUBJECTS, Check, all_checks
from handbook.markdown import plain, table

_PROOFS = Path(__file__).parent.parent / "docs" / "proofs.md"
TITLES = {
    "driver": "Driver, its device nodes and who sees the GPUs",
    "libraries": "CUDA and cuDNN libraries",
    "nccl": "NCCL and collectives",
    "python": "Python and packages",
    "tensorflow": "TensorFlow and what it runs",
    "container": "Containers, jobs, notebooks",
    "topology": "Bus and topology",
    "measurements": "GPUs at work",
    "system": "System",
}
"""Subject -> a heading for it."""
_INTRODUCTION = """# Checks

Each check is for one cause, or for one symptom. `gpudoctor explain NAME` prints its page, too. `--only` and `--skip` take its code, its name,
or its subject. [Causes and look-alikes](../causes.md) tells overlapping names apart.

"""


@functools.cache
def names() -> frozenset[str]:
    """The names of all causes and symptoms."""
    return frozenset(c.cause for c in all_checks())


def made() -> dict[str, str]:
    """Path in the site -> Markdown."""
    proofs = _proofs()
    pages = {f"checks/{c.cause}.md": page(c, proofs.get(c.code, "")) for c in all_checks()}
    return {"checks/index.md": _index(), **pages}


def page(check: Check, proof: str) -> str:
    """The page of one check; `proof`: how its cause is proven, Markdown."""
    kind = "symptom: it is explained, and explains nothing" if check.is_symptom else f"cause, {check.level.word}"
    parts = [
        f"# {check.cause}",
        f"**{plain(check.title)}.**",
        table(
            ("code", "kind", "subject", "stage"),
            [(check.code, kind, f"[{check.subject}](index.md#{check.subject})", check.stage.name.lower())],
        ),
        *map(_paragraph, check.page.split("\n\n")[1:]),
    ]
    if check.explains:
        parts.append("Explains: " + ", ".join(map(_link, check.explains)))
    if causes := [c.cause for c in all_checks() if check.cause in c.explains]:
        parts.append(("Brought about by: " if not check.is_symptom else "Causes: ") + ", ".join(map(_link, causes)))
    if proof:
        parts.append(f"## How it is proven\n\n{proof}")
    asked = f"gpudoctor explain {check.cause}\ngpudoctor check --only {check.cause}"
    parts.append(f"## Ask for it alone\n\n```sh\n{asked}\n```")
    return "\n\n".join(parts) + "\n"


def _paragraph(text: str) -> str:
    """'What it looks at: …' with its first words in bold."""
    head, colon, rest = " ".join(text.split()).partition(":")
    if colon and head in ("What it looks at", "Why it matters", "How to fix", "Source"):
        return f"**{head}:**{plain(rest)}"
    return plain(f"{head}{colon}{rest}")


def _link(name: str) -> str:
    return f"[{name}]({name}.md)"


def _index() -> str:
    def rows(chosen: list[Check]) -> str:
        return table(("code", "name", "what is wrong"), [(c.code, _link(c.cause), plain(c.title)) for c in chosen])

    checks = all_checks()
    parts = [
        f"## {TITLES[subject]} {{#{subject}}}\n\n"
        + rows([c for c in checks if c.subject == subject and not c.is_symptom])
        for subject in SUBJECTS.values()
    ]
    symptoms = [c for c in checks if c.is_symptom]
    return _INTRODUCTION + "\n\n".join([*parts, f"## Symptoms {{#symptom}}\n\n{rows(symptoms)}"]) + "\n"


def _proofs() -> dict[str, str]:
    """Code -> how it is proven, of docs/proofs.md."""
    found = re.findall(r"(?m)^\| (GD\d{3}) \| [^|]+ \| (.*) \|$", _PROOFS.read_text())
    return {code: "\n".join(f"* {one}" for one in text.split("<br>")) for code, text in found}
