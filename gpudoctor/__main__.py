"""The command `gpudoctor`, and `python -m gpudoctor`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line. `--version` alone answers without importing anything, and a log with little."""
    if sys.argv[1:] == ["--version"]:
        from . import __version__

        print(f"gpudoctor {__version__}")
        return
    if sys.argv[1:2] == ["log"]:
        gc.disable()  # a short life that leaves little garbage; who reads on turns it on again
        _import_msgspec()
        from .cli_log import quick

        if (code := quick(sys.argv[2:])) is not None:
            if sys.stderr is not None:
                sys.stderr.flush()
            os._exit(code)  # all is said: taking the interpreter apart would take as long as a tenth of the answer
        gc.enable()
    from .cli import run

    sys.exit(run())


def _import_msgspec() -> None:
    """Without typing_extensions, which is not needed (Python's own typing has all that msgspec asks it for) and takes long."""
    name = "typing_extensions"
    if name not in sys.modules:
        sys.modules[name] = None  # type: ignore[assignment]
        import msgspec as msgspec

        del sys.modules[name]


if __name__ == "__main__":
    main()
