"""A process that runs, as /proc tells of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gpudoctor.facts import Unread
from gpudoctor.probes import process
from tests.probes.test_host import allowed


def test_a_process_of_this_user(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, cwd=tmp_path) as running:
        got = process.read(running.pid)
        assert got.cpus_usable == allowed(running.pid)
        again = process.patient(running.pid, {"MORE": "1"})
        running.kill()
    assert got.pid == running.pid
    assert got.executable == os.path.realpath(sys.executable)
    assert got.working_directory == os.path.realpath(tmp_path)
    assert got.user_id == os.getuid()
    assert got.other_namespaces == ()
    assert got.libraries == ()
    assert got.device_nodes == ()
    assert (again.directory, again.env["MORE"]) == (os.path.realpath(tmp_path), "1")


def test_a_process_that_is_gone() -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    got = process.read(gone.pid)
    assert isinstance(got.executable, Unread)
    assert isinstance(got.libraries, Unread)
    assert isinstance(got.cpus_usable, Unread)
