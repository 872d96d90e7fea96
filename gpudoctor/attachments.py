"""The raw outputs that support asks for beside a report: which, and how they are had. Each is a child with a time limit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from . import child
from .facts import Facts
from .probes import kernel_log
from .probes.ask import Patient, reason

LIMIT_S = 10.0
"""Of each; they run side by side."""
_KEPT_BYTES = 64 << 10
_LARGE_BYTES = 256 << 10
"""`nvidia-smi -q` writes 20 KB for a GPU."""


class Attachment(NamedTuple):
    """A raw output."""

    name: str
    what: str
    text: str


class Left(NamedTuple):
    """One that could not be had."""

    name: str
    what: str
    why: str


def taken(facts: Facts) -> list[Attachment]:
    """What the facts themselves hold: these need no machine."""
    found = []
    if isinstance(variables := facts.environment.variables, tuple) and variables:
        lines = "".join(f"{one.name}={one.value}\n" for one in variables)
        found.append(
            Attachment("environment.txt", "the variables that matter to a GPU program, by an allow-list", lines)
        )
    if isinstance(log := facts.tensorflow.log, tuple) and log:
        what = "what TensorFlow's process wrote to standard error, its last lines"
        found.append(Attachment("tensorflow-log.txt", what, _bounded("\n".join(log).encode() + b"\n", _KEPT_BYTES)))
    return found


def made(facts: Facts, *, here: bool, limit_s: float = LIMIT_S) -> tuple[list[Attachment], list[Left]]:
    """The outputs of programs on this machine; `here`: the interpreter that was examined is one of it, too."""
    works: list[tuple[str, str, Callable[[], str]]] = [
        ("nvidia-smi-q.txt", "nvidia-smi -q", lambda: _ran(["nvidia-smi", "-q"], limit_s, _LARGE_BYTES)),
        ("nvidia-smi-topo.txt", "nvidia-smi topo -m", lambda: _ran(["nvidia-smi", "topo", "-m"], limit_s)),
        ("kernel-log.txt", "the kernel's log, the lines that may tell of a GPU", lambda: _kernel_log(limit_s)),
    ]
    if not here:
        elsewhere = "; of the host that gpudoctor ran on, which need not be the one that was examined"
        works = [(name, what + elsewhere, work) for name, what, work in works]
    python, directory = facts.python.executable, facts.tensorflow.directory
    if here and isinstance(python, str):
        works += [
            ("pip-list.txt", "pip list, of the examined interpreter", lambda: _pip(python, "list", limit_s)),
            (
                "pip-config.txt",
                "pip config list: where pip installs from",
                lambda: _pip(python, "config list", limit_s),
            ),
        ]
    if here and isinstance(directory, str):
        library = os.path.join(directory, "libtensorflow_framework.so.2")
        what = "ldd of TensorFlow's library, with the variables of gpudoctor's own process"
        works.append(("tensorflow-ldd.txt", what, lambda: _ran(["ldd", library], limit_s)))
    with ThreadPoolExecutor(len(works), thread_name_prefix="attachment") as pool:
        futures = [(name, what, pool.submit(work)) for name, what, work in works]
        found: list[Attachment] = []
        left: list[Left] = []
        for name, what, future in futures:
            try:
                found.append(Attachment(name, what, future.result()))
            except _NotHadError as e:
                left.append(Left(name, what, str(e)))
    return found, left


class _NotHadError(Exception):
    """The text is the reason."""


def _ran(
    command: list[str], limit_s: float, keep_bytes: int = _KEPT_BYTES, env: Mapping[str, str] | None = None
) -> str:
    """What a program prints. One that fails has its complaint and its end below it."""
    if shutil.which(command[0]) is None:
        raise _NotHadError(f"there is no {os.path.basename(command[0])}")
    outcome = child.run(command, limit_s=limit_s, env=env, directory="/")
    text = _bounded(outcome.stdout, keep_bytes)
    if outcome.how is None:
        return text
    said = _bounded(outcome.stderr, _KEPT_BYTES // 8)
    if not text.strip() and not said.strip():
        raise _NotHadError(f"{os.path.basename(command[0])} {outcome.how}")
    return f"{text}{said.rstrip()}\n({os.path.basename(command[0])} {outcome.how})\n"


def _bounded(data: bytes, keep_bytes: int) -> str:
    """Its first and its last lines: a line that is cut could hold half a password, which nobody knows for one."""
    if len(data) > keep_bytes:
        half = keep_bytes // 2
        first, last = data[:half], data[-half:]
        first, last = first[: first.rfind(b"\n") + 1], last[last.find(b"\n") + 1 :] if b"\n" in last else b""
        data = first + b"... %d bytes left out ...\n" % (len(data) - len(first) - len(last)) + last
    return data.decode("utf-8", "replace")


def _pip(python: str, words: str, limit_s: float) -> str:
    """Nothing is asked of an index."""
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return _ran([python, "-m", "pip", *words.split()], limit_s, env={**os.environ, **quiet})


def _kernel_log(limit_s: float) -> str:
    """As the examination reads it, by a small child of our own interpreter."""
    answers = Patient((sys.executable,), os.environ).ask([kernel_log.TASK], limit_s=limit_s)
    got = answers.last("kernel_log")
    if got is None:
        raise _NotHadError(answers.unread(kernel_log.TASK[0]).why)
    if "errno" in got:
        raise _NotHadError(f"the kernel's log: {reason(got['errno'])}; try with sudo")
    before = f"({got['left_out']} older lines left out)\n" if got["left_out"] else ""
    lines = "".join(
        f"[{seconds:12.6f}] {text}\n" if seconds is not None else f"{text}\n" for seconds, text in got["lines"]
    )
    return _bounded((before + lines).encode("utf-8", "replace"), _KEPT_BYTES) or "(no such line)\n"
