"""How a case says which cause it proves, and how: what docs/proofs.md is written from (tests/provoked/table.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

HERE, HOST, RECORDED, TEXT = "provoked here", "real GPU host", "recorded host, one thing changed", "text only"


@dataclass(frozen=True)
class Proof:
    """The cause that is named, and what is done to bring it about. Cases are proofs; a test that has none is marked with `proves`."""

    cause: str
    how: str
    kind: ClassVar[str] = HERE


def proves(cause: str, how: str) -> pytest.MarkDecorator:
    """What a single test proves."""
    return pytest.mark.proves(Proof(cause, how))


STAND_INS_SPEED = ("measurement-impossible", "gpu-outlier", "gpu-pair-slow", "slow-collective")
"""How fast stand-ins are is nothing to go by."""
