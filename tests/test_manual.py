"""docs/gpudoctor.1 is what the commands are, and a page that man can show."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import typer

from gpudoctor.cli import app
from handbook.commands import Command, commands
from handbook.manual import PAGE, page
from tests.parsing import parsed
from tests.running import ROOT

COMMANDS = {one.name: one for one in commands(app)}


def shown(*options: str) -> str:
    """The page as man formats it, without emphasis."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-cbou", "-rLL=400n", *options, str(PAGE)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


def test_it_is_current() -> None:
    """A new command or option shows here; write the page anew with `python -m handbook.manual`."""
    assert PAGE.read_text() == page()


def declared() -> dict[str, set[str]]:
    """Command -> its options, as Typer's parser has them."""
    found = {}
    for name, one in vars(typer.main.get_command(app))["commands"].items():
        inside = vars(one).get("commands")
        for full, command in {f"{name} {k}": v for k, v in inside.items()}.items() if inside else [(name, one)]:
            found[full] = {o for p in command.params for o in (*p.opts, *p.secondary_opts) if o.startswith("-")}
    return found


def test_a_wheel_brings_it() -> None:
    assert '"share/man/man1" = ["docs/gpudoctor.1"]' in (ROOT / "pyproject.toml").read_text()


def test_every_command_is_told_of_with_its_options() -> None:
    assert {name: {n for o in one.options for n in o.names} for name, one in COMMANDS.items()} == declared()
    assert set(re.findall(r"^\.SS gpudoctor (.+)$", page(), re.MULTILINE)) == set(COMMANDS)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_groff_has_no_complaint() -> None:
    text = shown("-ww")
    assert "The page of a check:\n" in text
    assert "--python PATH" in text
    assert 'eval "$(gpudoctor env)"' in text


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="no mandoc here")
def test_mandoc_has_no_complaint() -> None:
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(PAGE)], capture_output=True, text=True, check=False)
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


def test_plain_text_means_nothing_to_roff() -> None:
    found = page()
    assert found.isascii()
    assert [line for line in found.splitlines() if line.startswith("'")] == []


def test_a_command_is_read_with_its_defaults() -> None:
    check: Command = COMMANDS["check"]
    options = {o.names[-1]: o for o in check.options}
    assert (options["--level"].value, options["--level"].default) == ("quick|standard|full", "standard")
    assert options["--only"].repeatable
    assert options["--no-kernels"].names == ("--kernels", "--no-kernels")
    assert (COMMANDS["explain"].arguments[0].optional, COMMANDS["log"].arguments[0].optional) == (False, True)


def test_the_examples_are_commands() -> None:
    text = page().partition(".SH EXAMPLES\n")[2].partition(".SH ")[0]
    lines = [
        line.removeprefix(".B ").replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"')
        for line in text.splitlines()
        if line.startswith(".B ")
    ]
    assert len(lines) == 8
    for line in lines:
        assert parsed(line), line
