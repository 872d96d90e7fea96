"""Which interpreter is the patient's: named, activated, found, behind a command, or that of a running process."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
from collections.abc import Mapping

from .errors import Error
from .probes import environment, process, tensorflow
from .probes.ask import Answers, Job, Patient, Start
from .probes.inside import REACH_S, Inside


class NoInterpreter(Error, ValueError):  # noqa: N818
    """What was named runs no Python, or is not there."""


class Unreachable(Error):  # noqa: N818
    """The command that leads to the interpreter reached none; `told` is what it printed, as a text to be judged."""

    def __init__(self, message: str, told: str = "") -> None:
        super().__init__(message)
        self.told = told


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The patient, why it was chosen, what was named and does not run."""

    patient: Patient
    because: str
    passed_over: tuple[str, ...] = ()
    has_tensorflow: bool | None = None
    """None: not asked."""


def choose(python: str | None, base: Mapping[str, str], limit_s: float, start: Start) -> Chosen:
    """The interpreter to examine, by `candidates`; of several, the first that has TensorFlow, else not our own.

    An environment that the user activated, or named, is meant: it is taken with or without TensorFlow.
    Raises NoInterpreter.
    """
    found = candidates(python)
    over = [
        f"{v}={os.environ[v]} has no Python" for v in _ACTIVATED if os.environ.get(v) and not _inside(os.environ[v])
    ]
    asked = []
    first = Job([tensorflow.FILES], limit_s)
    for path, because in found:
        patient = Patient((path,), base)
        name = "the interpreter" if len(found) == 1 else f"the interpreter ({because})"
        asked.append((start(name, lambda p=patient: p.do(first)), patient, because))  # type: ignore[misc]
    answered = [(f.result(), patient, because) for f, patient, because in asked]
    over += [f"{p.command[0]} ({why}): {complaint(a)}" for a, p, why in answered if not a.spoke]
    speaking = [one for one in answered if one[0].spoke]
    with_tensorflow = [one for one in speaking if _has_tensorflow(one[0])]
    others = [one for one in speaking if not _is_ours(one[1].command[0])]
    for answers, patient, because in with_tensorflow or others or speaking:
        return Chosen(patient, because, tuple(over), _has_tensorflow(answers))
    if python is not None:
        raise NoInterpreter(f"{python} is no Python (3.6 or newer): {complaint(answered[0][0])}")
    own = Patient((sys.executable,), base)
    return Chosen(own, "runs gpudoctor", tuple(over))


def _has_tensorflow(answers: Answers) -> bool:
    return bool((answers.last("tensorflow_files") or {}).get("directory"))


def behind(prefix: str, reach_s: float = REACH_S) -> Chosen:
    """The interpreter at the end of a command, which may take `reach_s` seconds to reach it. Raises NoInterpreter."""
    try:
        command = shlex.split(prefix)
    except ValueError as e:
        raise NoInterpreter(f"--in {prefix!r}: {e}") from e
    if not command:
        raise NoInterpreter("--in needs a command that ends in a Python, such as 'ssh HOST python3'")
    if shutil.which(command[0]) is None:
        raise NoInterpreter(f"--in: {command[0]} does not exist or is not executable")
    return Chosen(Inside(tuple(command), {}, sees_our_files=False, reach_s=reach_s), "--in " + prefix)


def known_variables(chosen: Chosen, files: Answers) -> Chosen:
    """`chosen` with the variables that the patient was started with, where only it knows them."""
    if not isinstance(chosen.patient, Inside):
        return chosen
    variables = environment.read(files).variables
    env = {v.name: v.value for v in variables} if isinstance(variables, tuple) else {}
    return dataclasses.replace(chosen, patient=dataclasses.replace(chosen.patient, env=env))


def of_process(pid: int, ours: Mapping[str, str]) -> Chosen:
    """The interpreter of a running process, with its variables; `ours` are added. Raises NoInterpreter."""
    try:
        return Chosen(process.patient(pid, ours), f"--pid {pid}")
    except process.NotExaminable as e:
        raise NoInterpreter(str(e)) from e


def complaint(answers: Answers) -> str:
    """Why an interpreter did not answer."""
    why = f"it {answers.outcome.how or 'ran and did not answer'}{answers.last_word}"
    if "SyntaxError" in answers.last_word:
        why += "; something before it read from standard input, or it is older than 3.6"
    printed = answers.outcome.stdout.decode("utf-8", "replace").split() if answers.outcome.exit_code else []
    return why + (f"; it printed {' '.join(printed)[:160]!r}" if printed else "")


_ACTIVATED = ("VIRTUAL_ENV", "CONDA_PREFIX")


def _inside(prefix: str) -> str | None:
    """The Python of an environment."""
    paths = [os.path.join(prefix, "bin", name) for name in ("python3", "python")] if prefix else []
    return next((p for p in paths if os.access(p, os.X_OK)), None)


def candidates(given: str | None) -> list[tuple[str, str]]:
    """(path, why) of the interpreters to look at. Raises NoInterpreter where `given` is not there."""
    if given is not None:
        return [(_executable(given), "--python")]
    for variable in _ACTIVATED:
        if path := _inside(os.environ.get(variable, "")):
            return [(path, variable)]
    found = [(path, "python3 on PATH") for path in _on_path()]
    if sys.executable and not any(_is_ours(path) for path, _ in found):
        found.append((sys.executable, "runs gpudoctor"))
    return found


def _on_path() -> list[str]:
    """The first python3 on PATH; where that is our own (uvx puts it there), the next one, too. As for a shell, nothing
    between two colons is the working directory."""
    found: list[str] = []
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = shutil.which("python3", path=directory or os.curdir)
        if path is not None and not (found and _is_ours(path)):
            found.append(os.path.abspath(path))
            if not _is_ours(path):
                break
    return found


def _is_ours(path: str) -> bool:
    """The interpreter that runs gpudoctor, by its place: what it is a link to may be anybody's."""
    return os.path.dirname(os.path.abspath(path)) == os.path.dirname(os.path.abspath(sys.executable))


def _executable(given: str) -> str:
    """A path, a name on PATH, or the directory of a virtual environment."""
    if os.path.isdir(given):
        inside = _inside(given)
        if inside is not None:
            return os.path.abspath(inside)
        raise NoInterpreter(f"{given} is a directory without bin/python3")
    path = shutil.which(given)
    if path is None:
        why = "is not executable" if os.path.exists(given) else "does not exist"
        raise NoInterpreter(f"{given} {why}")
    return os.path.abspath(path)
