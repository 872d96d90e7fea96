"""What container engines print."""

from __future__ import annotations

from tests.logs.judged import judged, said


def test_no_device_driver() -> None:
    report = judged('docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].')
    assert said(report) == (["container-toolkit-missing"], [])
