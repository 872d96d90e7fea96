"""The environment variables that matter to a GPU program, as the examined process was started."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread, known


class Variable(Fact, frozen=True, kw_only=True):
    """One variable that is set; an empty value is a value."""

    name: str
    value: str


class VariableNow(Fact, frozen=True, kw_only=True):
    """A variable that Python has otherwise than its process was started with: a sitecustomize or .pth file sets it."""

    name: str
    value: str | None
    """None: it was taken away."""


class Environment(Fact, frozen=True, kw_only=True):
    """Allow-listed variables (`gpudoctor.probes.environment` has the list)."""

    variables: tuple[Variable, ...] | Unread = NOT_RECORDED
    unlisted: Unread | None = None
    """Why a variable that `variables` lacks is not known (a text shows some only); None: it is not set."""
    unset: tuple[str, ...] = ()
    """Where others are not known: those that are known not to be set."""
    changed: tuple[VariableNow, ...] | Unread = NOT_RECORDED
    """What differs in Python (os.environ). The dynamic loader goes by `variables`."""
    dropped_by_sudo: tuple[Variable, ...] | Unread | None = NOT_RECORDED
    """Variables that sudo was started with and that this process lacks; None: not run under sudo."""
    dropped_libraries: tuple[str, ...] | Unread | None = NOT_RECORDED
    """CUDA libraries in the directories of an LD_LIBRARY_PATH that sudo dropped."""

    def get(self, name: str) -> str | Unread | None:
        """The value of `name`; None where it is not set; Unread where the variables could not be read."""
        if name in self.unset:
            return None
        if isinstance(self.variables, Unread):
            return self.variables
        found = next((v.value for v in self.variables if v.name == name), None)
        return self.unlisted if found is None else found

    def known(self, name: str) -> str | None:
        """`get`, for checks: raises `UnknownFactError` where the variables could not be read."""
        return known(self.get(name))
