"""The machine that all cases begin with is healthy."""

from __future__ import annotations

from tests.provoked.scene import Scene


def test_it_is_silent(machine: Scene) -> None:
    report = machine.check()
    assert report.found() == []
    assert report.diagnosis["verdict"] == "healthy"
