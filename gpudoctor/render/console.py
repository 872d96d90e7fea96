"""A console of rich that says when nobody reads any more."""

from __future__ import annotations

from rich.console import Console


class PipeConsole(Console):
    """A console whose broken pipe is an error like others."""

    def on_broken_pipe(self) -> None:
        """Rich would end the process with 1, which is the exit code of a finding."""
        raise BrokenPipeError
