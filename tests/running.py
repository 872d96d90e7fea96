"""Runs the command as a user does: a process of its own."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-m", "tests.mutants" if "GPUDOCTOR_TEST_MUTANT" in os.environ else "gpudoctor"]
MARK, TOKEN = "GPUDOCTOR_TEST_RUN", secrets.token_hex(8)
"""A variable by which everything that these tests start is known again."""


def gpudoctor(
    *arguments: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
    prefix: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run gpudoctor; afterwards no process of it may be left."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    done = subprocess.run(
        [*prefix, *COMMAND, *arguments],
        env={**os.environ, "PYTHONPATH": path, MARK: TOKEN, **(env or {})},
        cwd=cwd or ROOT,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert left() == []
    return done


def left() -> list[str]:
    """Command lines of processes that these tests started and that still run, after some time to end."""
    deadline = time.monotonic() + 3
    while (running := alive()) and time.monotonic() <= deadline:
        time.sleep(0.1)
    return running


def alive() -> list[str]:
    """Command lines of processes that these tests started and that run now."""
    running = []
    for one in psutil.process_iter():
        try:
            if one.status() != psutil.STATUS_ZOMBIE and one.environ().get(MARK) == TOKEN:
                running.append(" ".join(one.cmdline()))
        except (psutil.Error, OSError):
            continue
    return running


def at_work(process: subprocess.Popen[Any], limit_s: float = 60) -> None:
    """Wait until it has started a child: how long that takes is the machine's affair."""
    deadline = time.monotonic() + limit_s
    while not psutil.Process(process.pid).children():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON that a run printed."""
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def causes(report: dict[str, Any]) -> list[str]:
    """Its root causes."""
    return [r["cause"] for r in report["diagnosis"]["root_causes"]]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The only line on standard error."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("gpudoctor: ")
    return lines[0]
