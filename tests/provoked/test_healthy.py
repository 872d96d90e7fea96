"""The machine that all cases begin with is healthy."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.provoked.scene import Scene


def test_it_is_silent(machine: Scene) -> None:
    report = machine.check()
    assert report.found() == []
    assert report.diagnosis["verdict"] == "healthy"


def test_nothing_of_it_reaches_this_machine(machine: Scene) -> None:
    machine.do("echo changed > /etc/os-release; touch /etc/gpudoctor-scene; mkdir -p /opt/packages/of-a-scene")
    assert "changed" not in Path("/etc/os-release").read_text()
    assert not Path("/etc/gpudoctor-scene").exists()
    assert not Path("/opt/packages/of-a-scene").exists()
    holder = ["nsenter", f"--target={machine.process.pid}", "--mount", "touch", "/etc/gpudoctor-scene"]
    refused = subprocess.run(holder, capture_output=True, text=True, check=False)
    assert "Read-only file system" in refused.stderr
