"""Plug-ins that bring checks of their own, and those that failed."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class PluginFailure(Fact, frozen=True, kw_only=True):
    """A plug-in, or one of its checks, that could not be used."""

    plugin: str
    """The distribution with its version: 'acme-gpu-checks 1.2'."""
    check: str | None = None
    """The code of its check; None: the whole plug-in."""
    error: str
    """The exception's type and text."""
    where: str | None = None
    """The line of the plug-in at which it happened: 'acme/disk.py, line 12: …'; None: it is not known."""


class Plugins(Fact, frozen=True, kw_only=True):
    """The plug-ins of the gpudoctor that judges; told by the diagnosis, since no machine that is examined knows of them."""

    installed: tuple[str, ...] | Unread = NOT_RECORDED
    """Distributions with their versions."""
    failed: tuple[PluginFailure, ...] | Unread = NOT_RECORDED
