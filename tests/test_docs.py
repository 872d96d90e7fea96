"""What README.md, CONTRIBUTING.md, docs/ and compat/README.md tell to type is a command of ours, and what they show is what it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from gpudoctor import registry
from gpudoctor.cli import app
from handbook.commands import commands
from tests.parsing import invocations, parse
from tests.running import ROOT, gpudoctor

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "compat" / "README.md", ROOT / "examples" / "README.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
INSTEAD = {
    "check": "replay tests/hosts/h200-x2-tf-2.21-plain.json",
}
"""Shown of a machine that was recorded: the same from its recording."""
NOT_HERE = {
    "fix": "it asks, and changes an environment: tests/test_fix.py",
    "bench --quick": "it needs GPUs; tests/render/test_bench.py has the table",
}
"""Shown, and not to be had on a machine without GPUs."""
INPUTS = {
    "issue.txt": """Since the upgrade of last week no container sees our GPUs any more.

    $ docker run --rm --gpus all tensorflow/tensorflow:latest-gpu nvidia-smi
    docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].

Any idea?
""",
}
"""Files that a page speaks of, and that are not in the repository."""


class Shown(NamedTuple):
    """A command on a page, with what stands below it."""

    page: str
    command: str
    output: str


def blocks(text: str) -> list[str]:
    """Of code, fenced or indented, without their indentation."""
    fenced = re.findall(r"(?ms)^```\w*\n(.*?)^```$", text)
    rest = re.sub(r"(?ms)^```\w*\n.*?^```$", "", text)
    indented = re.findall(r"(?m)(?:^\n|\A)((?:^ {4}.*\n|^\n(?= {4}))+)", rest)
    return fenced + ["\n".join(line[4:] for line in one.splitlines()) + "\n" for one in indented]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def shown() -> list[Shown]:
    found = []
    for page in PAGES:
        for block in blocks(page.read_text()):
            for part in re.split(r"(?m)^(?=\$ gpudoctor )", block):
                if part.startswith("$ gpudoctor "):
                    command, _, output = part.partition("\n")
                    found.append(Shown(name(page), command.removeprefix("$ gpudoctor "), output))
    return found


def scripts(page: Path) -> str:
    """What a page tells to type, without what is shown below it and without Python."""
    kept = []
    for block in blocks(page.read_text()):
        if re.search(r"(?m)^\$ ", block):
            kept += re.findall(r"(?m)^\$ (.*)$", block)
        elif re.match(r"(?:[\w./]*gpudoctor|python3?|eval|\.venv\S*|pip|git|bash) ", block):
            kept.append(block)
    return "\n".join(kept)


WALKED = "driver-not-reloaded"
"""The check of CONTRIBUTING.md's example; tests/test_walk.py does what stands there."""
SHOWN = shown()
TYPED = sorted({(name(page), shlex.join(words)) for page in PAGES for words in invocations(scripts(page))})


def runs_here(command: str) -> bool:
    """It needs no machine, and what it reads is in the repository."""
    words = shlex.split(command)
    if words[0] in ("log", "replay", "topo"):
        files = [w for w in words[1:] if not w.startswith("-")][:1]
        return bool(files) and (ROOT / files[0]).exists()
    return words[0] in ("list", "completion", "--version") or words[:2] == ["compat", "matrix"]


def said(page: Path) -> list[str]:
    """The whole commands in a page's sentences."""
    return [code.removeprefix("gpudoctor ") for code in re.findall(r"`(gpudoctor [^`|…]+)`", page.read_text())]


RUN = sorted(({c for p in PAGES for c in said(p)} | {c for _, c in TYPED}) - {s.command for s in SHOWN})
RUN = [command for command in RUN if runs_here(command)]


# ------------------------------------------------------------------------------- what is typed


def test_there_is_something_to_test() -> None:
    assert len(TYPED) > 30
    assert len(SHOWN) > 8
    assert len(RUN) > 1


@pytest.mark.parametrize(("page", "command"), TYPED)
def test_a_command_is_one_of_ours(page: str, command: str) -> None:
    words = shlex.split(command)
    parse([w for w in words if w != WALKED] + ["driver-missing"] * (WALKED in words))


@pytest.mark.parametrize("command", RUN)
def test_a_command_that_needs_no_machine_works(command: str) -> None:
    done = gpudoctor(*shlex.split(command))
    assert done.returncode in (0, 1)
    assert done.stderr == ""
    assert done.stdout


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_options_in_the_text_exist(page: Path) -> None:
    """`gpudoctor check --level full` in a sentence, and the options of a command in its line of a table."""
    options = {one.name: {n for o in one.options for n in o.names} | {"--help"} for one in commands(app)}
    groups = {name.split()[0] for name in options if " " in name}

    def named(code: str) -> str | None:
        words = code.split()[1:3] if code.startswith("gpudoctor ") else []
        return next((n for n in (" ".join(words), *words[:1]) if n in options), None)

    text = re.sub(r"(?ms)^```\w*\n.*?^```$", "", page.read_text())
    for line in text.splitlines():
        row = re.match(r"\| \[?`(gpudoctor [^`]+)", line)
        for code in re.findall(r"`([^`]+)`", line):
            of = named(code) or (named(row[1]) if row and code.startswith("-") else None)
            if of is None:
                assert not re.match(r"gpudoctor [a-z]", code) or code.split()[1] in groups, code
            elif " -- " not in code:
                for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", code.partition("'")[0]):
                    assert option in options[of], f"{name(page)}: {code}: gpudoctor {of} has no {option}"


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text()
    for one in commands(app):
        assert f"`gpudoctor {one.name}" in text or f"`{one.name} " in text or f"`{one.name}`" in text, one.name


def test_options_anywhere_exist() -> None:
    """An option of ours that is named alone, `--budget`, is one of some command."""
    known = {n for one in commands(app) for o in one.options for n in o.names} | {"--help", "--version"}
    for line in (ROOT / "README.md").read_text().splitlines():
        if re.search(r"docker|kubectl|pip |pytest|apptainer|conda", line):
            continue
        for option in re.findall(r"`(--[a-z][a-z-]+)", line):
            assert option in known, line


def test_names_in_code_exist() -> None:
    """A cause that the README names in backquotes or in a report is one."""
    names = {c.cause for c in registry.all_checks()}
    text = (ROOT / "README.md").read_text() + (ROOT / "docs" / "reading.md").read_text()
    found = dict(re.findall(r"([a-z0-9]+(?:-[a-z0-9]+)+) (GD\d{3})", text))
    assert len(found) > 2
    for cause, code in found.items():
        assert registry.find(cause).code == code
    assert set(re.findall(r"root causes?: ([a-z0-9-]+)", text)) <= names


# ------------------------------------------------------------------------------- what is shown


def normal(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("one", SHOWN, ids=lambda s: f"{s.page}: {s.command}"[:80])
def test_it_prints_what_is_shown(one: Shown, tmp_path: Path) -> None:
    if one.command in NOT_HERE:
        pytest.skip(NOT_HERE[one.command])
    words = []
    for word in shlex.split(INSTEAD.get(one.command, one.command)):
        if word in INPUTS:
            (tmp_path / word).write_text(INPUTS[word])
        words.append(str(tmp_path / word) if word in INPUTS else word)
    done = gpudoctor(*words)
    assert done.stderr == ""
    printed, at = normal(done.stdout), 0
    if one.command in INSTEAD:
        printed = re.sub(r" · recorded \S+", "", printed).replace("tried there", "tried here")
    for piece in map(normal, one.output.split("…")):
        found = printed.find(piece, at)
        assert found >= 0, f"not printed any more, or not there: {piece}\n\n{done.stdout}"
        at = found + len(piece)


def test_what_is_not_run_is_shown_somewhere() -> None:
    assert set(NOT_HERE) | set(INSTEAD) <= {one.command for one in SHOWN}
