"""The JSON schemas of compat/*.json, made from the types of their records.

python -m gpudoctor.compat.schemas           # write them beside the files
python -m gpudoctor.compat.schemas --check   # say which are not what the types say
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import msgspec

from .files import DIRECTORY
from .records import Gpus, Matrix, Xids

FILES: dict[str, type[Matrix | Gpus | Xids]] = {"matrix": Matrix, "gpus": Gpus, "xid": Xids}
"""The file's name without '.json' -> its type."""


def schema(name: str) -> str:
    """The schema of compat/NAME.json, as it is written."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"compat/{name}.json"}
    return json.dumps(made | msgspec.json.schema(FILES[name]), indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gpudoctor.compat.schemas", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a schema is out of date")
    options = parser.parse_args(arguments)
    stale = []
    for name in FILES:
        path = Path(DIRECTORY) / f"{name}.schema.json"
        if not path.exists() or path.read_text() != schema(name):
            stale.append(path)
    for path in stale:
        if not options.check:
            path.write_text(schema(path.name.removesuffix(".schema.json")))
        sys.stderr.write(f"{path.name} {'is out of date' if options.check else 'written'}\n")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
