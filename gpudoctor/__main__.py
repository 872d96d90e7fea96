"""The command `gpudoctor`, and `python -m gpudoctor`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. `--version` alone answers without importing anything."""
    if sys.argv[1:] == ["--version"]:
        from . import __version__

        print(f"gpudoctor {__version__}")
        return
    from .cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
