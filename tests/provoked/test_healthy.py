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
    for setting in ("/proc/sys/kernel/hostname", "/sys/kernel/mm/transparent_hugepage/enabled"):
        assert "Read-only file system" in machine.do(f"(cat {setting} > {setting}) 2>&1 || :")


def test_no_other_program_does_what_is_pasted(machine: Scene) -> None:
    """Not even where the path is another: the stand-ins lie where the programs of this machine do."""
    for name in ("modprobe", "reboot", "systemctl", "docker", "apt-get"):
        ours = (machine.place / "bin" / name).read_text()
        for found in machine.do(
            f"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin which -a {name} || :"
        ).split():
            assert machine.do(f"cat {found}") == ours, found
