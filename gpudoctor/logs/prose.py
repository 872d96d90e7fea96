"""What people write themselves: the languages of complaints read these lines only."""

from __future__ import annotations

from ..patterns import Pattern
from .language import Language, Understood
from .notebook import Notebook

_LONGEST = 500
"""Characters of a line of prose."""
_LINES = 3000
"""What people write stands at the beginning; below it, a log."""
_LOG = Pattern(
    r"[IWEF]\d{4} \d\d:|[IWEF] \S{1,80}\.cc:\d|[IWEF] (?:\S{1,80}/)?tensorflow/|\[ *\d+\.\d+\]|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] "
    r"|File \"|\||\w[\w.-]{0,60}:\d+:\d+ \["
)
"""How programs' lines begin."""


class Prose(Language):
    """Lines that no program prints."""

    def line(self, text: str, number: int, notes: Notebook) -> Understood | None:
        """What a line complains of."""
        if number > _LINES or len(text) > _LONGEST or ".cc:" in text or _LOG.match(text):
            return None
        return super().line(text, number, notes)
