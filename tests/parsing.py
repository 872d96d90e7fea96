"""The command lines of gpudoctor in a text, and what our own parser says of them; nothing is run."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer

from gpudoctor import cli_bench, registry
from gpudoctor.cli import app
from gpudoctor.cli_options import without_value

_OTHERS = {"pip", "pipx", "git", "man", "command", "logger", "ln", "which"}
"""Programs that take the word 'gpudoctor' as something else than a command."""
_OPERATORS = set(";|&<>()\n")


def invocations(script: str) -> Iterator[list[str]]:
    """The arguments of every `gpudoctor` in a shell script, in command substitutions, too."""
    simple: list[str] = []
    for word in _words(script):
        if not set(word) <= _OPERATORS:
            simple.append(word)
            continue
        if simple and simple[-1].isdigit() and word[0] in "<>":
            simple.pop()  # the 2 of 2>&1
        yield from _of(simple)
        simple = []


def _words(script: str) -> Iterator[str]:
    """Words, operators and line ends, without comments and quotes."""
    begun = ""
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(begun + line, posix=True, punctuation_chars=";|&<>()")
        lexer.whitespace_split = True
        try:
            yield from list(lexer)
        except ValueError:  # a quotation that goes on
            begun += f"{line}\n"
            continue
        begun = ""
        yield "\n"
    assert not begun, f"a quotation without an end: {begun}"


def _of(words: list[str]) -> Iterator[list[str]]:
    for word in words:
        for inner in re.findall(r"\$\(([^()]+)\)", word):
            yield from invocations(inner)
    command = next((w for w in words if "=" not in w and w not in ("if", "!", "then", "do", "sudo")), "")
    if command.rsplit("/", 1)[-1] not in _OTHERS:
        at = next((i for i, w in enumerate(words) if w == "gpudoctor" or w.endswith("/bin/gpudoctor")), None)
        if at is not None:
            yield words[at + 1 :]


def parsed(script: str) -> list[functools.partial[int]]:
    """What our parser makes of each `gpudoctor` in a script: the body of the command, with its arguments. Raises for an option,
    a value, a check or a kernel that there is none of."""
    return [work for words in invocations(script) if (work := parse(words)) is not None]


def parse(words: list[str]) -> functools.partial[int] | None:
    """The same for one; None where only help or the version is asked for."""
    command = typer.main.get_command(app)
    with contextlib.redirect_stdout(io.StringIO()):
        work: Any = command.main(args=without_value(words), prog_name="gpudoctor", standalone_mode=False)
    if not isinstance(work, functools.partial):
        return None
    given = work.keywords
    registry.select(given.get("only") or (), given.get("skip") or ())
    for name in (*(given.get("named") or ()), *([given["name"]] if words[0] == "explain" else ())):
        registry.find(name)
    if words[0] == "bench":
        cli_bench._options(
            cli_bench.Asked(wanted=tuple(given["kernels"] or ()), backend=given["backend"], quick=given["quick"])
        )
    return work


def in_yaml(value: Any) -> Iterator[list[str]]:
    """The same of a YAML document: lists whose first is 'gpudoctor', and scripts."""
    if isinstance(value, list) and str(value[:1]).endswith("gpudoctor']"):
        yield [str(v) for v in value[1:]]
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from in_yaml(one)
    elif isinstance(value, str) and re.search(r"(?m)^\s*[^#]*\bgpudoctor [a-z]", value):
        yield from invocations(value)


def in_json_array(text: str) -> Iterator[list[str]]:
    """Of a Dockerfile's exec form: ["gpudoctor", "check"]."""
    for found in re.findall(r'\["gpudoctor".*?\]', text):
        yield json.loads(found)[1:]
