"""Changes of variables as the lines of a shell, of a Dockerfile."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from shlex import quote

from .findings import EnvChange


class Shell(str, enum.Enum):
    """Who reads the lines."""

    SH = "sh"
    FISH = "fish"
    CSH = "csh"
    DOCKERFILE = "dockerfile"


def lines(changes: Iterable[EnvChange], shell: Shell = Shell.SH) -> tuple[str, ...]:
    """A line for each change, in order. In sh each ends in a semicolon, so that `eval $(…)` without quotes works, too.

    A Dockerfile can't take a variable away: there such a change gives no line (`not_in` names it).
    """
    return tuple(text for one in changes if (text := _LINE[shell](one)))


def not_in(changes: Iterable[EnvChange], shell: Shell) -> tuple[EnvChange, ...]:
    """The changes for which the language of `shell` has no word."""
    return tuple(one for one in changes if shell is Shell.DOCKERFILE and one.op == "unset")


def _sh(one: EnvChange) -> str:
    if one.op == "unset":
        return f"unset {one.name};"
    if one.op == "set":
        return f"export {one.name}={quote(one.value)};"
    return f"export {one.name}={quote(one.value)}${{{one.name}:+:${one.name}}};"


def _fish(one: EnvChange) -> str:
    if one.op == "unset":
        return f"set -e {one.name};"
    words = [_fish_word(word) for word in one.value.split(":")] if one.op == "prepend" else [_fish_word(one.value)]
    # a variable that is no list of fish's own holds its directories with colons
    rest = f' (string match -v "" -- (string split -- : "${one.name}"))' if one.op == "prepend" else ""
    if one.op == "set":
        return f"set -gx {one.name} {words[0]};"
    return f"set -gx {one.name} (string join -- : {' '.join(words)}{rest});"


def _fish_word(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _csh(one: EnvChange) -> str:
    if one.op == "unset":
        return f"unsetenv {one.name};"
    value = "'" + one.value.replace("'", "'\\''").replace("!", "\\!") + "'"
    # csh looks at a variable that is not set even where a condition keeps it from being used
    rest = f"`printenv {one.name} | sed 's/^./:&/'`" if one.op == "prepend" else ""
    return f"setenv {one.name} {value}{rest};"


def _dockerfile(one: EnvChange) -> str:
    if one.op == "unset":
        return ""
    value = '"' + one.value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'
    if one.op == "set":
        return f"ENV {one.name}={value}"
    return f'ENV {one.name}={value[:-1]}${{{one.name}:+:${one.name}}}"'


SCRIPTS = (Shell.SH, Shell.FISH, Shell.CSH)
"""Those that have scripts, by which suffix."""
_LINE = {Shell.SH: _sh, Shell.FISH: _fish, Shell.CSH: _csh, Shell.DOCKERFILE: _dockerfile}
