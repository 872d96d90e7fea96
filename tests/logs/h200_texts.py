"""Copies recorded logs into tests/logs/h200 as a user would paste them: python -m tests.logs.h200_texts DIR.

Left out: the header '# env: …' with the empty line after it, the line 'RESULT …' and the footer '# exit …', which came from
the script that recorded them.
"""

from __future__ import annotations

import sys
from pathlib import Path

PLACE = Path(__file__).parent / "h200"


def pasted(recorded: str) -> str:
    """The text without what the recording added."""
    lines = recorded.split("\n")
    if lines[0].startswith("# env:"):
        lines = lines[2:] if len(lines) > 1 and not lines[1] else lines[1:]
    return "\n".join(line for line in lines if not line.startswith(("RESULT ", "# exit ")))


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    for path in sorted(Path(sys.argv[1]).glob("*.log")):
        (PLACE / path.name).write_text(pasted(path.read_text()))


if __name__ == "__main__":
    main()
