"""What came of trying a fix. The outcome is a fact, so that a replay shows it again."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class Trial(Fact, frozen=True, kw_only=True):
    """A fix that was tried in a child's throw-away view of this machine."""

    cause: str
    """The cause that it is a fix of; 'combined' for all root causes together."""
    steps: tuple[str, ...]
    with_causes: tuple[str, ...] = ()
    """Causes whose fixes were in force already (trials are cumulative)."""
    worked: bool | Unread = NOT_RECORDED
    judged_by: str | Unread = NOT_RECORDED
    """'cuInit', 'loader', 'list' or 'all-reduce': the step that was asked."""
    outcome: str | Unread = NOT_RECORDED
    """One clause: what was seen then."""
    seconds: float | Unread = NOT_RECORDED
