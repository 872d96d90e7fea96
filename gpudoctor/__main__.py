"""The command `gpudoctor`, and `python -m gpudoctor`."""

from __future__ import annotations

import os
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
            if sys.stderr is not None:
                sys.stderr.flush()
            os._exit(code)  # all is said: taking the interpreter apart would take as long as a tenth of the answer
    from .cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
