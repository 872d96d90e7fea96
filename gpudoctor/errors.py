"""What gpudoctor raises of its own, for programs that use it as a library."""

from __future__ import annotations


class Error(Exception):
    """The base of every exception of gpudoctor's; its text is one line for a person."""
