"""Lines for shells, read by real ones."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from gpudoctor.exports import SCRIPTS, Shell, lines, not_in
from gpudoctor.findings import EnvChange

NASTY = "/a b/it's $HOME!/\\x"
CHANGES = (
    EnvChange(name="LIST", op="prepend", value=f"{NASTY}:/second"),
    EnvChange(name="ONE", op="set", value=NASTY),
    EnvChange(name="GONE", op="unset"),
)
PROGRAM = {Shell.SH: ("sh", "bash", "dash", "zsh"), Shell.FISH: ("fish",), Shell.CSH: ("tcsh", "csh")}
ALL = [(shell, program) for shell in SCRIPTS for program in PROGRAM[shell]]


@pytest.mark.parametrize(("shell", "program"), ALL, ids=lambda one: str(getattr(one, "value", one)))
@pytest.mark.parametrize("before", [None, "", "/was:/there"])
def test_a_shell_understands_its_lines(shell: Shell, program: str, before: str | None) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    options = ("-f",) if shell is Shell.CSH else ()
    env = {
        "PATH": os.environ["PATH"],
        "GONE": "1",
        "HOME": "/nonexistent",
        **({} if before is None else {"LIST": before}),
    }
    script = "\n".join((*lines(CHANGES, shell), "env"))
    done = subprocess.run([program, *options], input=script, env=env, capture_output=True, text=True, check=True)
    after = dict(one.split("=", 1) for one in done.stdout.splitlines() if "=" in one)
    assert after["LIST"] == f"{NASTY}:/second" + (f":{before}" if before else "")
    assert after["ONE"] == NASTY
    assert "GONE" not in after


def test_a_dockerfile_sets_and_can_not_take_away() -> None:
    assert lines(CHANGES, Shell.DOCKERFILE) == (
        'ENV LIST="/a b/it\'s \\$HOME!/\\\\x:/second${LIST:+:$LIST}"',
        'ENV ONE="/a b/it\'s \\$HOME!/\\\\x"',
    )
    assert not_in(CHANGES, Shell.DOCKERFILE) == CHANGES[2:]
    assert not_in(CHANGES, Shell.SH) == ()
