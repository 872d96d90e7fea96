"""NCCL: its library, its settings, the network that it may use."""

from __future__ import annotations

from .base import NOT_RECORDED, Fact, Unread


class Nccl(Fact, frozen=True, kw_only=True):
    """What decides how NCCL speaks between GPUs and machines."""

    version: str | Unread | None = NOT_RECORDED
    """ncclGetVersion of the library that the loader picks, '2.27.7'; None: there is none."""
