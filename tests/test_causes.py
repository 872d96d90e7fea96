"""docs/causes.md has every cause of the registry, and no other name stands in its text.

python -m tests.test_causes          writes the tables anew
"""

from __future__ import annotations

import re
from pathlib import Path

from gpudoctor.registry import SUBJECTS, Check, all_checks
from handbook.checks import TITLES

PAGE = Path(__file__).parent.parent / "docs" / "causes.md"
BEGIN, END = "<!-- tables -->\n", "<!-- end -->\n"


def rows(checks: list[Check]) -> str:
    lines = "".join(f"| {c.code} | {c.cause} | {c.title} |\n" for c in checks)
    return f"| code | name | what is wrong |\n|---|---|---|\n{lines}\n"


def tables() -> str:
    """The causes by subject, then the symptoms."""
    checks = all_checks()
    parts = [
        f"### {TITLES[subject]}\n\n" + rows([c for c in checks if c.subject == subject and not c.is_symptom])
        for subject in SUBJECTS.values()
    ]
    symptoms = "### Symptoms: what is noticed, and is explained by a cause\n\n" + rows(
        [c for c in checks if c.is_symptom]
    )
    return "\n" + "".join(parts) + symptoms


def written() -> tuple[str, str, str]:
    """The page: before the tables, they, and after."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    inside, _, after = rest.partition(END)
    return before, inside, after


def test_the_tables_are_those_of_the_registry() -> None:
    """A new check shows here; write the tables anew with `python -m tests.test_causes`."""
    assert written()[1] == tables()


def test_every_name_in_the_text_is_one_of_the_registry() -> None:
    before, _, after = written()
    names = set(re.findall(r"\*([a-z0-9]+(?:-[a-z0-9]+)+)\*", before + after))
    assert len(names) > 80
    assert names <= {c.cause for c in all_checks()}


if __name__ == "__main__":
    start, _, end = written()
    PAGE.write_text(start + BEGIN + tables() + END + end)
