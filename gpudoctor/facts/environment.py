"""The environment variables that matter to a GPU program, as the examined process was started."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread, known


class Variable(Fact, frozen=True, kw_only=True):
    """One variable that is set; an empty value is a value."""

    name: str
    value: str


class Environment(Fact, frozen=True, kw_only=True):
    """Allow-listed variables (`gpudoctor.probes.environment` has the list)."""

    variables: tuple[Variable, ...] | Unread = NOT_RECORDED

    def get(self, name: str) -> str | Unread | None:
        """The value of `name`; None where it is not set; Unread where the variables could not be read."""
        if isinstance(self.variables, Unread):
            return self.variables
        return next((v.value for v in self.variables if v.name == name), None)

    def known(self, name: str) -> str | None:
        """`get`, for checks: raises `UnknownFactError` where the variables could not be read."""
        return known(self.get(name))
