"""A pasted text: what of it was understood, and which line says so. Empty in the report of a live machine."""

from __future__ import annotations

import msgspec

from .base import NOT_RECORDED, Fact, Unread

COMPLAINT = "complaint"
"""The language of people who say what is wrong."""
READS_LIKE_A_FAULT = "reads-like-a-fault"
"""The symptom, and the kind of its line, where somebody describes a fault that no program's line shows."""
NOTHING_WRONG = "nothing wrong"
"""The name of no fault, beside the causes (Alike)."""


class TextEvent(Fact, frozen=True, kw_only=True):
    """A line that tells something."""

    line: int
    """Its number, from 1, as an editor counts."""
    language: str
    """Which reader understood it: 'tensorflow', 'python', 'nvidia-smi', …"""
    kind: str
    text: str
    """Without colours, quotes and what tools put before it."""
    values: dict[str, str] = msgspec.field(default_factory=dict)
    symptom: str | None = None
    """The name of the symptom that this line shows, where it shows one: 'container-does-not-start', …"""

    @property
    def is_weak(self) -> bool:
        """Somebody's words: they count where no line of a program shows that something fails."""
        return self.language == COMPLAINT


class Source(Fact, frozen=True, kw_only=True):
    """Which lines a fact comes from."""

    fact: str
    """'driver.libcuda.init_result'."""
    lines: tuple[int, ...]


class Alike(Fact, frozen=True, kw_only=True):
    """A cause of reports that read like this text."""

    cause: str
    """Its name, or 'nothing wrong'."""
    share: float
    """How likely by its words; those of all causes together 1."""
    line: int | None = None
    """What somebody wrote that speaks most for it; None: it is not likely, or it is the programs' lines that read like it."""
    text: str = ""
    """That line."""


class Text(Fact, frozen=True, kw_only=True):
    """What was pasted."""

    lines: int | Unread = NOT_RECORDED
    left_out: str | Unread | None = NOT_RECORDED
    """What of it was not read, because it is too long; None: all was read."""
    events: tuple[TextEvent, ...] | Unread = NOT_RECORDED
    sources: tuple[Source, ...] | Unread = NOT_RECORDED
    words: int | Unread = NOT_RECORDED
    """How many words stand in lines that surely somebody wrote; 0: it may be a log alone."""
    alike: tuple[Alike, ...] | Unread = NOT_RECORDED
    """By what somebody wrote, the likely ones first; () where only programs wrote."""
    whole: tuple[Alike, ...] | Unread = NOT_RECORDED
    """The same by a text of some lines as a whole, with what programs print in it."""

    def shows(self, symptom: str) -> tuple[TextEvent, ...]:
        """The lines that show a symptom: programs' where there are any, else what somebody says."""
        events = self.understood()
        programs = self.shows_a_failure
        return tuple(e for e in events if e.symptom == symptom and not (programs and e.is_weak))

    @property
    def shows_a_failure(self) -> bool:
        """A program's line shows that something fails."""
        return any(e.symptom and not e.is_weak for e in self.understood())

    def said(self, *kinds: str) -> tuple[TextEvent, ...]:
        """The lines of these kinds."""
        return tuple(e for e in self.understood() if e.kind in kinds)

    def cards(self) -> tuple[str, ...]:
        """The GPUs that people name, each once."""
        names = (name for e in self.said("names") for name in e.values.get("cards", "").split("|") if name)
        return tuple(dict.fromkeys(names))

    def capabilities(self) -> tuple[str, ...]:
        """The compute capabilities and generations by which people name their GPUs, each once: 'sm_86', 'Ampere'."""
        names = (name for e in self.said("names") for name in e.values.get("capabilities", "").split("|") if name)
        return tuple(dict.fromkeys(names))

    def understood(self) -> tuple[TextEvent, ...]:
        """Every line that tells something."""
        return () if isinstance(self.events, Unread) else self.events

    @property
    def is_all(self) -> bool:
        """These facts come from a text: there is no machine behind them that could be asked."""
        return not isinstance(self.lines, Unread)


def rates_to_others(event: TextEvent) -> tuple[float, ...]:
    """GB/s, one way, from the GPU of a row ('peer-rates') to each other GPU."""
    ways, at = 2 if event.values["ways"] == "both" else 1, int(event.values["row"])
    rates = [float(one) / ways for one in event.values["rates"].split()]
    return (*rates[:at], *rates[at + 1 :])
