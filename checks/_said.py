"""What a pasted text says, for checks whose cause some line states outright."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from gpudoctor.facts import Facts, TextEvent, UnknownFactError, Unread
from gpudoctor.findings import Evidence, NotApplicable


def said(facts: Facts, *kinds: str, settle: str | None = None) -> tuple[TextEvent, ...]:
    """The lines of these kinds, one at least; for causes that only a text tells.

    Raises NotApplicable for a machine, but for what a program said that ran on it under gpudoctor run, and UnknownFactError where the
    text has none: `settle` is the one command whose output would tell whether it is this cause.
    """
    found = facts.text.said(*kinds)
    if not facts.text.is_all and not found:
        raise NotApplicable("only a text tells it (gpudoctor log)")
    if not found:
        raise UnknownFactError(Unread(why="not in this text", settle=settle))
    return found


def machines_alone(facts: Facts, why: str) -> None:
    """For checks that judge nothing but machines: a text does not show it, and `why`. Raises NotApplicable."""
    if facts.text.is_all:
        raise NotApplicable(why)


def left_open(settle: str | None = None) -> UnknownFactError:
    """To be raised where the lines that are there do not decide it: `settle` is the one command whose output would."""
    return UnknownFactError(Unread(why="the text does not decide it", settle=settle))


def undecided(settle: str) -> NoReturn:
    """What the text has is not enough: `settle` is the one command whose output would tell."""
    raise UnknownFactError(Unread(why="this text does not decide it", settle=settle))


def _events(facts: Facts) -> tuple[TextEvent, ...]:
    return () if isinstance(facts.text.events, Unread) else facts.text.events


def fails(facts: Facts) -> bool:
    """Whether the text shows that something does not work: then it was not pasted because something is slow."""
    lib, tensorflow = facts.driver.libcuda, facts.tensorflow
    return facts.text.is_all and (
        any(e.symptom not in (None, "runs-slowly") and not e.is_weak for e in _events(facts))
        or (isinstance(lib.init_result, int) and lib.init_result != 0)
        or lib.path is None
        or tensorflow.directory is None
        or tensorflow.devices == ()
        or isinstance(tensorflow.import_error, str)
        or isinstance(facts.gpu.nvml_error, int)
    )


def speaks_of_speed(facts: Facts) -> None:
    """Not applicable where a text shows that something does not work at all."""
    if fails(facts):
        raise NotApplicable("the text shows a failure; what makes a program slow is another matter")


def holds(facts: Facts, *words: str) -> bool:
    """Whether a line that was understood holds one of these words."""
    return any(word in event.text for event in _events(facts) for word in words)


def lines(events: Iterable[TextEvent]) -> tuple[Evidence, ...]:
    """Lines as proof, equal ones once."""
    first: dict[str, int] = {}
    for event in events:
        first.setdefault(event.text, event.line)
    return tuple(Evidence(text=text, source=f"line {line}") for text, line in list(first.items())[:4])
