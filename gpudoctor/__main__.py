"""The command `gpudoctor`, and `python -m gpudoctor`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. `--version` alone answers without importing anything, and a log with little."""
    if sys.argv[1:] == ["--version"]:
        from . import __version__

        print(f"gpudoctor {__version__}")
        return
    if sys.argv[1:2] == ["log"]:
        from .cli_log import quick

        if (code := quick(sys.argv[2:])) is not None:
            sys.exit(code)
    from .cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
