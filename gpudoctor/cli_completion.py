"""`gpudoctor completion`: a shell completes commands, options, checks and kernels.

The script that is printed runs `gpudoctor` at each Tab, with the line in variables and no arguments; Typer then answers.
"""

from __future__ import annotations

import enum
import os
from typing import Annotated

import typer

from .terminal import UsageError, deliver

VARIABLE = "_GPUDOCTOR_COMPLETE"
"""Set by the scripts: 'complete_bash'. Typer reads it."""


class Completed(str, enum.Enum):
    """The shells that there is a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def command(shell: Annotated[Completed, typer.Argument(help="Whose script.")]) -> int:
    """Print the script that lets a shell complete our commands, options, checks and kernels: eval "$(gpudoctor completion bash)"."""
    from typer._completion_shared import get_completion_script

    script = get_completion_script(prog_name="gpudoctor", complete_var=VARIABLE, shell=shell.value)
    deliver(script + "\n", None)
    return 0


def prepare() -> None:
    """Let Typer answer a shell, where one asks. Raises UsageError for a question that is none of our scripts'."""
    asked = os.environ.get(VARIABLE)
    if not asked:
        return
    if asked not in {f"complete_{shell.value}" for shell in Completed}:
        raise UsageError(f"{VARIABLE}={asked} is set, which only the scripts of `gpudoctor completion` do: unset it")
    from typer._completion_classes import completion_init

    completion_init()


def causes(incomplete: str) -> list[tuple[str, str]]:
    """(name, what is wrong) of every check: causes, or codes where a code was begun."""
    from . import registry

    by_code = incomplete.upper().startswith("GD")
    return [(_as_begun(c.code, incomplete) if by_code else c.cause, c.title) for c in registry.all_checks()]


def selections(incomplete: str) -> list[tuple[str, str]]:
    """As `causes`, and the subjects."""
    from . import registry

    return [*((s, f"all checks of {s}") for s in registry.SUBJECTS.values()), *causes(incomplete)]


def _as_begun(code: str, incomplete: str) -> str:
    """Typer compares with case, the commands do not."""
    return code if code.startswith(incomplete) else code.lower()


def kernels() -> list[str]:
    """Every kernel of `gpudoctor bench`."""
    from .kernels import native, tensorflow

    own = [native.title(one) for one in native.bench(repeats=5) if one.name not in native.NO_FIGURE]
    return list(dict.fromkeys([*own, *tensorflow.ALL]))
