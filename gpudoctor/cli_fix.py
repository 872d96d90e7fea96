"""`gpudoctor fix` and `gpudoctor env`: what mends the examined environment, done or printed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator

from . import api, bundle
from .bundle import Report
from .diagnosis import together
from .examine import Options
from .exports import Shell, lines, not_in
from .findings import EnvChange, RootCause
from .mending import CannotDo, Entry, Journal, Lines, Plan, plan
from .mending.actions import nothing_left_behind
from .progress import Progress
from .render import mending as render
from .render.lines import Line
from .terminal import OutputError, UsageError, delivering, say

_CHECK_LIMIT_S = 900.0


def fix(named: Iterable[str], options: Options, *, dry_run: bool, yes: bool) -> int:
    """Show what would be done, ask, do it, check again. 0: nothing is wrong any more; 1: something still is."""
    report = _examined(options)
    todo = plan(report, named)
    _show(render.plan(todo, report, dry_run=dry_run))
    if not todo.mended or dry_run:
        return bundle.exit_code(report, "warn")
    if not yes and not _asked(f"Do {'this' if len(todo.actions) == 1 else 'these'}? [y/N] "):
        _show([Line((("Nothing was done.", "bold"),))])
        return bundle.exit_code(report, "warn")
    entry = _do(todo, str(report.facts.python.executable))
    after = _check_again(entry, options)
    _show(render.after(todo, after))
    return bundle.exit_code(after, "warn")


def undo(python: str | None, *, dry_run: bool, yes: bool) -> int:
    """Take back what the last `fix` did. Raises mending.NothingToUndo."""
    journal = Journal()
    entry = journal.last(None if python is None else _executable(python))
    _show(render.undo(entry))
    if dry_run:
        return 0
    if not yes and not _asked("Take this back? [y/N] "):
        _show([Line((("Nothing was done.", "bold"),))])
        return 0
    left = []
    for action in reversed(list(entry.actions)):
        try:
            action.undo()
        except CannotDo as e:
            left.append(str(e))
            continue
        entry.actions.remove(action)
        journal.keep(entry)
    if not entry.actions:
        journal.forget(entry)
    if left:
        raise OutputError(f"not taken back: {'; '.join(left)}")
    _show([Line((("Taken back.", "bold green"), (" gpudoctor check shows how it is now.", "")))])
    return 0


def env(options: Options, shell: Shell) -> int:
    """Print the lines that make the examined environment work, and on standard error what they can't mend."""
    report = _examined(options)
    wanted: list[EnvChange] = []
    left: list[RootCause] = []
    for root in report.diagnosis.root_causes:
        if root.level == "info":
            continue
        found = next((f for f in root.fixes if f.env and not f.failed), None)
        if found is None or not_in(found.env, shell):
            left.append(root)
        wanted += found.env if found is not None else ()
    changes = together(wanted)
    with delivering():
        sys.stdout.write("".join(f"{one}\n" for one in lines(changes, shell)))
    for one in not_in(changes, shell):
        say(
            f"{one.name} must not be set: no line of a {shell.value} can take it away (docker run -e, or the image before)"
        )
    for root in left:
        say(f"no variable mends {root.cause}: {root.message}")
    if left:
        say("gpudoctor check shows how")
    elif not changes and bundle.exit_code(report, "warn") == 0:
        say("nothing is needed: no fault was found")
    return 1 if left else 0 if changes else bundle.exit_code(report, "warn")


def _examined(options: Options) -> Report:
    if sys.platform != "linux":
        raise UsageError(f"Linux machines are examined (WSL2 among them), this is {sys.platform}")
    progress = Progress()
    with progress.shown():
        report, _ = api.check(options, progress=progress.step)
    return report


def _do(todo: Plan, python: str) -> Entry:
    """Do all actions, or none. Raises OutputError, which says what was not possible."""
    journal = Journal()
    try:
        entry = journal.begin(python, tuple(m.cause for m in todo.mended))
    except CannotDo as e:
        raise OutputError(f"nothing was done: {e}") from e
    try:
        with nothing_left_behind(entry.actions):
            for action in todo.actions:
                entry.actions.append(action.prepared())
                journal.keep(entry)  # before it is done: what is cut off can be undone, too
                try:
                    entry.actions[-1].do()
                except CannotDo:
                    entry.actions.pop()
                    raise
    except CannotDo as e:
        journal.forget(entry)
        raise OutputError(f"nothing was changed: {e}") from e
    return entry


def _check_again(entry: Entry, options: Options) -> Report:
    """What a new shell finds, with the environment activated where its script was changed."""
    command = [sys.executable, "-m", "gpudoctor", "check", "--format", "json", "--no-redact", "--no-trials"]
    command += ["--level", options.level.value, "--python", entry.python]
    command += [] if options.kernels else ["--no-kernels"]
    script = next(
        (a.path for a in entry.actions if isinstance(a, Lines) and not a.path.endswith(("fish", "csh"))), None
    )
    if script is not None:
        command = ["sh", "-c", '. "$1" && shift && exec "$@"', "sh", script, *command]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=_CHECK_LIMIT_S, check=False
        )
        facts, started_at, _ = bundle.read(done.stdout)
    except (OSError, subprocess.SubprocessError, bundle.NotAReport) as e:
        raise OutputError(
            f"it is done, and the check after it could not be made: {e}; gpudoctor fix --undo takes it back"
        ) from e
    return bundle.make(facts, started_at)


def _asked(question: str) -> bool:
    """Whether the user says yes. Raises UsageError where there is nobody to ask."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on: --yes does it, --dry-run only shows it")
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _executable(python: str) -> str:
    from .interpreter import candidates

    return candidates(python)[0][0]


def _show(shown: Iterator[Line] | list[Line]) -> None:
    from .render.text import UNWRAPPED, rich

    with delivering() as out:
        if not out.is_terminal:
            out.width = UNWRAPPED
        for one in shown:
            out.print(rich(one), crop=False)
