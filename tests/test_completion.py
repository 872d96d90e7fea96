"""`gpudoctor completion`: what the shells themselves make of it."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from gpudoctor import registry
from gpudoctor.kernels import native, tensorflow
from tests.running import COMMAND, ROOT, gpudoctor, one_line

needs = {shell: pytest.mark.skipif(shutil.which(shell) is None, reason=f"no {shell} here") for shell in ("fish", "zsh")}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with `gpudoctor` and the scripts."""
    place = tmp_path_factory.mktemp("completion")
    command = place / "gpudoctor"
    command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    for shell in ("bash", "fish", "zsh"):
        done = gpudoctor("completion", shell)
        assert (done.returncode, done.stderr) == (0, "")
        (place / shell).write_text(done.stdout)
    (place / "train.log").write_text("")
    return place


def environment(place: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{place}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(place),
        "TERM": "dumb",
    }


def bash(place: Path, line: str) -> list[str]:
    """What bash's completion function offers for the last word of `line`."""
    words = shlex.join([*line.split(), *([""] if line.endswith(" ") else [])])
    script = f"source bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
    script += "_gpudoctor_completion gpudoctor; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=environment(place),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def typed(place: Path, shell: list[str], start: str, keys: str, expected: str) -> str:
    """What stands on the terminal of an interactive shell after `keys`; it is read until `expected` stands there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(place)
        os.execvpe(shell[0], shell, environment(place))
    seen = ""
    try:
        for sent, awaited in ((start + "; echo re''ady\n", "ready"), (keys, expected)):
            os.write(terminal, sent.encode())
            deadline, seen = time.monotonic() + 30, ""
            while awaited not in seen and time.monotonic() < deadline:
                if select.select([terminal], [], [], 0.1)[0]:
                    seen += os.read(terminal, 65536).decode(errors="replace")
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)
    return seen


def test_tab_in_bash(place: Path) -> None:
    seen = typed(place, ["bash", "--norc", "-i"], "source ./bash", "gpudoctor explain tf-wheel-r\t", "runpath-gap ")
    assert "gpudoctor explain tf-wheel-runpath-gap " in seen


def test_bash_completes_a_file_where_one_is_wanted(place: Path) -> None:
    seen = typed(place, ["bash", "--norc", "-i"], "source ./bash", "gpudoctor log tr\t", "train.log ")
    assert "gpudoctor log train.log " in seen


@needs["zsh"]
def test_tab_in_zsh(place: Path) -> None:
    start = "autoload -Uz compinit; compinit -u -D; source ./zsh"
    seen = typed(place, ["zsh", "-f", "-i"], start, "gpudoctor explain tf-wheel-r\t", "runpath-gap")
    assert "runpath-gap" in seen


@needs["fish"]
def test_fish(place: Path) -> None:
    done = subprocess.run(
        ["fish", "--no-config", "-c", "source fish; complete -C 'gpudoctor check --only tf-wheel-r'"],
        env=environment(place),
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == f"tf-wheel-runpath-gap\t{registry.find('tf-wheel-runpath-gap').title}\n"


def test_commands_and_options(place: Path) -> None:
    assert bash(place, "gpudoctor ch") == ["check"]
    assert bash(place, "gpudoctor compat so") == ["solve"]
    assert bash(place, "gpudoctor check --on") == ["--only"]
    assert bash(place, "gpudoctor replay x.json --format j") == ["json", "junit"]


def test_checks(place: Path) -> None:
    names = {c.cause for c in registry.all_checks()}
    assert set(bash(place, "gpudoctor explain ")) == names
    assert set(bash(place, "gpudoctor check --skip ")) == names | set(registry.SUBJECTS.values())
    assert bash(place, "gpudoctor explain GD51") == [c.code for c in registry.all_checks() if c.code.startswith("GD51")]
    assert bash(place, "gpudoctor fix gd511") == ["gd511"]


def test_kernels(place: Path) -> None:
    found = bash(place, "gpudoctor bench ")
    assert set(found) >= set(tensorflow.ALL)
    assert set(found) - set(tensorflow.ALL) <= {native.title(one) for one in native.bench(5)} - set(native.NO_FIGURE)
    assert bash(place, "gpudoctor bench copy-pair-n") == ["copy-pair-no-peer"]


def test_a_variable_that_is_left_over_is_wrong_usage() -> None:
    done = gpudoctor("check", env={"_GPUDOCTOR_COMPLETE": "1"})
    assert (done.returncode, done.stdout) == (2, "")
    assert "_GPUDOCTOR_COMPLETE=1" in one_line(done)
    assert gpudoctor("--version", env={"_GPUDOCTOR_COMPLETE": ""}).returncode == 0


def test_a_shell_without_a_script_is_wrong_usage() -> None:
    done = gpudoctor("completion", "tcsh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "tcsh" in one_line(done)
