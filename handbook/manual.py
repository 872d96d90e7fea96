"""The manual page, docs/gpudoctor.1: made from the commands, so that it is true; a test keeps it so.

python -m handbook.manual          writes it anew
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpudoctor import __version__
from gpudoctor.cli import app
from handbook.commands import Command, Parameter, commands

PAGE = Path(__file__).parent.parent / "docs" / "gpudoctor.1"

_DESCRIPTION = (
    (
        "gpudoctor tells why TensorFlow can't see, or can't fully use, the GPUs of a Linux machine, proves it with evidence from that"
        " machine, and gives the fix. Fixes that are a variable or a link are tried in a throw-away process first, and the answer says"
        " whether they worked."
    ),
    (
        "What could not be read is unknown, with the command that would settle it; it is never taken for healthy. Nothing on the machine"
        " is changed and nothing is sent anywhere, but what gpudoctor fix shows and you agree to."
    ),
    "The report goes to standard output, progress and complaints to standard error.",
)
_EXIT = (
    ("0", "Nothing was found at or above --fail-on."),
    ("1", "Something was found; of gpudoctor compat solve: no release works."),
    ("2", "Wrong usage: an option, a name or a file that is none."),
    (
        "3",
        (
            "The examination or the delivery of its report could not be completed, or nothing wrong was found and what would show it could"
            " not be looked at (verdict unknown); of gpudoctor bench: there was nothing to measure on."
        ),
    ),
    ("130, 128+N", "Interrupted; ended by signal N."),
    ("any", "gpudoctor run ends with the exit code of the program that it runs."),
)
_ENVIRONMENT = (
    ("VIRTUAL_ENV, CONDA_PREFIX, PATH", "Where the Python that is examined is looked for, unless --python names one."),
    (
        "CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, TF_CONFIG, NCCL_*, ...",
        "All that a program would get is part of what is examined; it is never changed.",
    ),
    ("XDG_STATE_HOME", "Where gpudoctor fix keeps what it did; see FILES."),
    ("GPUDOCTOR_DEBUG", "Where it is set, an internal error shows where it happened."),
)
_FILES = (
    (
        "$XDG_STATE_HOME/gpudoctor/fixes",
        "What gpudoctor fix did, for --undo; ~/.local/state where the variable is not set.",
    ),
    ("gpudoctor-collector.pyz", "What gpudoctor collector writes into the current directory."),
)
_EXAMPLES = (
    ("What is wrong here?", "gpudoctor check"),
    ("The same in about a second, without importing TensorFlow:", "gpudoctor check --level quick"),
    ("Inside a container that has no gpudoctor:", "gpudoctor check --in 'docker run --rm -i --gpus all IMAGE python3'"),
    ("What does this log tell?", "gpudoctor log train.log"),
    ("The page of a check:", "gpudoctor explain tf-wheel-runpath-gap"),
    (
        "A metric file for node_exporter:",
        "gpudoctor check --format prometheus -o /var/lib/node_exporter/gpudoctor.prom",
    ),
    ("Variables that make the environment work, for this shell:", 'eval "$(gpudoctor env)"'),
    ("Which TensorFlow works with this driver and GPU?", "gpudoctor compat solve --driver 535.161.08 --gpu H100"),
)


def page() -> str:
    """The page, in the language of man(7)."""
    lines = [
        '.\\" Written by python -m handbook.manual; do not edit.',
        f'.TH GPUDOCTOR 1 "" "gpudoctor {__version__}" "User Commands"',
        ".SH NAME",
        "gpudoctor \\- tells why TensorFlow can't see, or can't fully use, the GPUs of a machine",
        ".SH SYNOPSIS",
    ]
    found = list(commands(app))
    for one in found:
        lines += [f".B gpudoctor {_text(one.name)}", *(_in_synopsis(a) for a in one.arguments)]
        lines += ["[\\fIOPTIONS\\fR]"] * bool(one.options) + [".br"]
    lines += [".B gpudoctor", "[\\fB\\-\\-version\\fR] [\\fB\\-h\\fR|\\fB\\-\\-help\\fR]", ".SH DESCRIPTION"]
    lines += [line for paragraph in _DESCRIPTION for line in (_text(paragraph), ".PP")][:-1]
    lines += [".SH COMMANDS", *(line for one in found for line in _command(one))]
    lines += [
        ".SH EXIT STATUS",
        *_listed(_EXIT),
        ".SH ENVIRONMENT",
        *_listed(_ENVIRONMENT),
        ".SH FILES",
        *_listed(_FILES),
    ]
    lines.append(".SH EXAMPLES")
    for what, line in _EXAMPLES:
        lines += [".TP", _text(what), f".B {_text(line)}"]
    lines += [".SH SEE ALSO", ".BR nvidia\\-smi (1),", ".BR ld.so (8),", ".BR systemd.timer (5)", ".PP"]
    lines.append(_text("gpudoctor list names every check, gpudoctor explain NAME prints its page."))
    return "\n".join(lines) + "\n"


def _command(one: Command) -> Iterator[str]:
    yield f".SS gpudoctor {_text(one.name)}"
    for number, paragraph in enumerate(one.help.split("\n\n")):
        yield from [".PP"] * (number > 0)
        yield _text(" ".join(paragraph.split()))
    for parameter in (*one.arguments, *one.options):
        yield ".TP"
        yield _tag(parameter)
        yield _text(_said(parameter)) or "\\&"


def _in_synopsis(one: Parameter) -> str:
    value = f"\\fI{_text(one.value)}\\fR"
    return value if not one.optional or one.value.startswith("[") else f"[{value}]"


def _tag(one: Parameter) -> str:
    value = f"\\fI{_text(one.value)}\\fR" if one.value else ""
    if not one.names:
        return value
    return ", ".join(f"\\fB{_text(n)}\\fR" for n in one.names) + (f" {value}" if value else "")


def _said(one: Parameter) -> str:
    more = ["may be repeated"] if one.repeatable and one.names and "repeatable" not in one.help else []
    more += [f"default: {one.default}"] if one.default else []
    return one.help + (f" ({'; '.join(more)})" if more else "")


def _listed(rows: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, what in rows:
        yield ".TP"
        yield f"\\fB{_text(name)}\\fR"
        yield _text(what)


def _text(plain: str) -> str:
    """A line that means nothing to roff but itself, in ASCII."""
    escaped = (
        plain.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq").replace('"', "\\(dq")
    )
    escaped = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in escaped)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    PAGE.write_text(page())
