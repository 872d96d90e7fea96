"""A comparison in one line, for a job's prolog or a login banner."""

from __future__ import annotations

from ...compare import sentence
from ..oneline import MOST
from ..view import cut, one_line
from . import view as told
from .view import View


def render(view: View) -> str:
    """The verdict, the first thing that is worse, and the change that explains it."""
    return cut(one_line(f"gpudoctor: {view.verdict}{_said(view)}"), MOST) + "\n"


def _said(view: View) -> str:
    one = view.comparison
    if one.new_findings:
        first, *others = one.new_findings
        more = f" and {len(others)} more" if others else ""
        changes = first.explanation.changes
        why = f"; {sentence(changes[0])}" if changes else "; no recorded change explains it"
        return f": {first.finding.cause} ({first.finding.code}){more}{why}"
    if one.lost:
        more = f" and {len(one.lost) - 1} more" if len(one.lost) > 1 else ""
        return f": lost{more}: {sentence(one.lost[0])}"
    if one.losses:
        more = f" and {len(one.losses) - 1} more" if len(one.losses) > 1 else ""
        return f": slower{more}: {told.slower(one.losses[0])}"
    return f": {view.sentence}" if view.leading or one.gone_findings or one.gains or one.verdict_fell else ""
