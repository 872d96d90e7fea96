"""Who tells that a program of several machines does not start: its processes wait for each other, or TF_CONFIG names no chief.

A server that has started says nothing of itself: it counts where somebody says that the program goes no further.
"""

from __future__ import annotations

from ..facts import COMPLAINT, TextEvent
from ..patterns import Pattern
from .language import LONGEST, first_of
from .notebook import Notebook

_FAILS = "collective-fails"
_STANDS = Pattern(
    r"(?i)\b(?:hang(?:s|ing)?|hung|stuck|freez\w+|frozen|block(?:s|ed|ing)?|wait(?:s|ing)?|nothing (?:more |else )?(?:happens|starts|moves)|(?:does(?:n't| not)|won't|never|not) (?:proceed|continue|go on|start|get)\w*|no progress|can(?:'t|not) connect|fail(?:s|ed)? to connect(?! to \[kubernetes\.docker)|still waiting)\b|卡住|卡在|\bbleibt\b|\u0437\u0430\u0432\u0438\u0441"
)
_WAY = Pattern(
    r"(?i)\b(?:firewall\w*|security groups?|ports?\b|telnet|ping|reach\w*|routers?|connect(?:s|ed|ing|ions?|ivity)?\b|wait(?:s|ing)? for (?:the |a |its )?(?:other |next )?(?:workers?|chief|ps|machine|node|host|one)|on other hosts|ec2)\b"
)
_MACHINES = Pattern(
    r"(?i)\b(?:other (?:machine|worker|node|host|computer|one)|(?:both|each|[2-9]|two|three|several|multiple|different) (?:of (?:them|the) ?)?(?:\w+ )?(?:machines?|workers?|nodes?|hosts?|computers?|laptops|servers?|instances|vms)|(?:worker|machine|node) (?:0|1|2|a|b))\b"
)
_NO_CHIEF = Pattern(
    r"(?i)\b(?:did not|do not|have not|didn't|don't|never) (?:\w+ )?(?:put|set|add|define|give|specify|start) (?:a |an |the |any )?['\"`]?(?:chief|master)\b|\b(?:no|without|lacks?|missing|needs?|requires?|must have|n't have|not have|(?:do|does) \w+ need)(?: no)? (?:a |an |the |any |its )?['\"`]?(?:chief|master)\b(?! (?:branch|thesis))|['\"`]?(?:chief|master)['\"`]? (?:node |role )?(?:is missing|is absent|must be|is required)"
)
_CLUSTER = Pattern(
    r"['\"]cluster['\"]\W{1,4}\{(?![^}\n]{0,800}['\"](?:chief|master)['\"])(?=[^}\n]{0,800}['\"]ps['\"])(?=[^}\n]{0,800}['\"]worker['\"])"
)
"""Parameter servers and workers alone."""


def settle(notes: Notebook, lines: list[tuple[int, str]]) -> None:
    """Notes what the lines come to together: (number, text), …"""
    kinds = {e.kind for e in notes.events}
    if any(e.symptom not in (None, _FAILS) for e in notes.events) or kinds & _TOLD_ALREADY:
        return
    lines = lines[:_MOST]
    stands = first_of(lines, _STANDS)
    if stands is None:
        return
    chief = first_of(lines, _CLUSTER) if "cluster-named" in kinds else None
    chief = chief or (first_of(lines, _NO_CHIEF) if kinds & {"cluster-named", "chief-named"} else None)
    if chief is not None:
        _note(notes, "chief-missing-said", chief)
    elif (
        kinds & {"server-started", "session-waits"}
        or first_of(lines, _WAY) is not None
        or ("cluster-named" in kinds and first_of(lines, _MACHINES) is not None)
    ):
        _note(notes, "workers-wait-said", stands)


def _note(notes: Notebook, kind: str, line: tuple[int, str]) -> None:
    notes.events[:] = [e for e in notes.events if e.kind != "collective-hangs"]
    notes.events.append(
        TextEvent(line=line[0], language=COMPLAINT, kind=kind, text=line[1][:LONGEST], values={}, symptom=_FAILS)
    )


_MOST = 200
_TOLD_ALREADY = {
    "server-not-started", "address-in-use", "cluster-refused", "nccl-error", "nccl-system-error", "nccl-cuda-error", "nccl-connect-failed", "nccl-peer-gone", "nccl-transport",
}  # fmt: skip
"""Kinds of lines that tell why, or that the processes have found each other."""
