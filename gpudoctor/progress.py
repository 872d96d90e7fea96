"""What goes on while a machine is examined, on standard error."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from rich.console import Console

from .findings import Judgement

SLOW_S = 30.0
"""What is still running then is named."""


class Progress:
    """What goes on, on standard error: a spinner on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False, emoji=False)
        self._status = self._console.status("looking at this machine") if self._console.is_terminal else None
        self._running: dict[str, float] = {}
        self._said: set[str] = set()
        self._started = time.monotonic()

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """The spinner turns while the body runs; what takes long is named once."""
        notice = threading.Timer(SLOW_S, self._slow)
        notice.daemon = True
        notice.start()
        try:
            with self._status or contextlib.nullcontext():
                yield
        finally:
            notice.cancel()

    def _slow(self) -> None:
        names = ", ".join(list(self._running))
        if names:
            self._console.print(
                f"{SLOW_S:.0f} s: still waiting for {names}; each has a limit (--timeout)",
                markup=False,
                soft_wrap=True,
            )

    def step(self, name: str, done: bool) -> None:
        """A piece of work starts or ends; called from several threads."""
        if done:
            self._running.pop(name, None)
        else:
            self._running[name] = time.monotonic()
        if self._status is not None and self._running:
            self._status.update("looking at " + ", ".join(list(self._running)))

    def early(self, judgement: Judgement) -> None:
        """What the quick probes decide, as soon as they do; each cause once."""
        from .render.lines import clean

        seconds = time.monotonic() - self._started
        for root in judgement.diagnosis.root_causes:
            if root.cause in self._said:
                continue
            self._said.add(root.cause)
            self._console.print(
                clean(f"{seconds:.1f} s: {root.cause}: {root.message}"), style="yellow", markup=False, soft_wrap=True
            )
