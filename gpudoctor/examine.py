"""A live machine -> facts: probes and kernels side by side, each in a child with a limit.

Timeline: at t=0 the quick children start together (files, nodes, cuInit, NVML, TensorFlow's loader) and,
from the standard level on, the child that imports TensorFlow. What the quick ones decide is handed to
`on_quick` before the import is over; where one of them is slow, what the others say to `on_early` before that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import msgspec

from . import child
from .facts import Facts, Measurement, TensorFlow, Unread
from .kernels import tensorflow as tensorflow_kernels
from .probes import driver, environment, gpu, libraries, pci, python, system, tensorflow
from .probes.ask import Answers, Patient

T = TypeVar("T")


class ExamineLevel(str, enum.Enum):
    """How much is looked at."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"


class NoInterpreter(ValueError):  # noqa: N818
    """What was given as --python runs no Python."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What the user asked for. `timeout_s` bounds every single piece of work."""

    level: ExamineLevel = ExamineLevel.STANDARD
    python: str | None = None
    kernels: bool = True
    timeout_s: float | None = None

    def limit(self, default_s: float) -> float:
        """The limit of one piece of work, in seconds."""
        return default_s if self.timeout_s is None else min(default_s, self.timeout_s)


QUICK_LIMIT_S = 20.0
"""Files, nodes, cuInit, NVML, loader. cuInit without persistence mode takes seconds a GPU."""
IMPORT_LIMIT_S = 180.0
EARLY_S = 1.0
"""When something takes longer than this, what is known by then is judged already."""
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclasses.dataclass
class Timeline:
    """When each piece of work started and how long it took, in seconds from the start."""

    started: float = dataclasses.field(default_factory=time.monotonic)
    rows: list[tuple[str, float, float]] = dataclasses.field(default_factory=list)

    def now(self) -> float:
        """Seconds from the start."""
        return time.monotonic() - self.started

    @contextlib.contextmanager
    def row(self, name: str) -> Iterator[None]:
        """Time the body."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.rows.append((name, begin - self.started, time.monotonic() - begin))


@dataclasses.dataclass(frozen=True)
class Examination:
    """What was seen, and how to look again (for trials)."""

    facts: Facts
    patient: Patient
    timeline: Timeline


Progress = Callable[[str, bool], None]
"""Called with the name of a piece of work, and whether it is done."""


def examine(
    options: Options,
    *,
    on_early: Callable[[Facts], None] | None = None,
    on_quick: Callable[[Examination], None] | None = None,
    progress: Progress | None = None,
) -> Examination:
    """Look at this machine. Raises NoInterpreter where --python is none."""
    timeline = Timeline()
    with _scratch() as keras_home, _workers() as pool:
        base = child_environment(keras_home)

        def start(name: str, work: Callable[[], T]) -> Future[T]:
            def timed() -> T:
                if progress is not None:
                    progress(name, False)
                with timeline.row(name):
                    got = work()
                if progress is not None:
                    progress(name, True)
                return got

            return pool.submit(timed)

        nvml = start("NVML", lambda: gpu.run(base, options.limit(QUICK_LIMIT_S)))
        files, patient, because, passed_over = _choose(options, base, start)
        quick_limit = options.limit(QUICK_LIMIT_S)
        nodes = start("device nodes", lambda: patient.ask([driver.NODES], limit_s=quick_limit))
        cuda_env = {**base, **driver.CUDA_ENV}
        cuda = start("cuInit", lambda: patient.ask([driver.CUDA], limit_s=quick_limit, env=cuda_env))
        unmasked = None
        if _VISIBLE in os.environ:
            unmasked_env = {k: v for k, v in base.items() if k != _VISIBLE}
            unmasked = start(
                f"cuInit without {_VISIBLE}", lambda: patient.ask([driver.CUDA], limit_s=quick_limit, env=unmasked_env)
            )
        has_tensorflow = (files.last("tensorflow_files") or {}).get("directory") is not None
        loader = imported = None
        if has_tensorflow:
            loader = start("TensorFlow's loader", lambda: tensorflow.ask_loader(patient, base, quick_limit))
            if options.level is not ExamineLevel.QUICK:
                imported = start("TensorFlow", lambda: _import(patient, options, base))

        interpreter, found = python.read(files, because, passed_over), libraries.read(files)
        variables = environment.read(files)
        library_path = variables.get("LD_LIBRARY_PATH")

        def tensorflow_so_far() -> TensorFlow:
            seen = tensorflow.read_files(files, interpreter)
            if loader is None:
                return seen
            seen = tensorflow.read_loader(_now(loader), seen)
            if not loader.done():
                return seen
            path, always = library_path if isinstance(library_path, str) else None, options.level is ExamineLevel.FULL
            return tensorflow.simulate(seen, interpreter, path, always=always)

        def so_far() -> Facts:
            """What is known now: what has not answered yet is unread."""
            return Facts(
                environment=variables,
                system=system.read(files),
                pci=pci.read(files),
                driver=driver.read(files, _now(nodes), _now(cuda), None if unmasked is None else _now(unmasked), found),
                gpu=nvml.result() if nvml.done() else gpu.read([], child.RUNNING),
                python=interpreter,
                libraries=found,
                tensorflow=_not_imported(tensorflow_so_far(), options),
            )

        quick_ones: list[Future[Any]] = [f for f in (nodes, cuda, nvml, unmasked, loader) if f is not None]
        slow = wait(quick_ones, timeout=max(0.0, EARLY_S - timeline.now())).not_done
        if slow and on_early is not None:
            on_early(so_far())
        wait(quick_ones)
        quick = so_far()
        if on_quick is not None:
            on_quick(Examination(quick, patient, timeline))
        facts = quick if imported is None else _with_import(quick, imported.result(), _kernels(options))
    return Examination(facts, patient, timeline)


@contextlib.contextmanager
def _workers() -> Iterator[ThreadPoolExecutor]:
    """Threads that wait for children; an interrupt ends the children first, so that nobody waits for them."""
    with ThreadPoolExecutor(8, thread_name_prefix="probe") as pool:
        try:
            yield pool
        except BaseException:
            child.kill_all()
            raise


def _now(work: Future[Answers]) -> Answers:
    """The answers of a child that has ended; none of one that has not."""
    return work.result() if work.done() else Answers({}, child.RUNNING, {})


def child_environment(keras_home: str) -> dict[str, str]:
    """The user's variables, and what keeps a child from writing anything of its own."""
    mine = {k: v for k, v in os.environ.items() if k not in ("LD_DEBUG", "LD_DEBUG_OUTPUT")}
    return {**mine, "PYTHONDONTWRITEBYTECODE": "1", "KERAS_HOME": keras_home}


@contextlib.contextmanager
def _scratch() -> Iterator[str]:
    """A temporary directory; a path that can't exist where none can be made."""
    try:
        made = tempfile.TemporaryDirectory(prefix="gpudoctor-", ignore_cleanup_errors=True)
    except OSError:
        yield "/proc/self/no-scratch"
        return
    with made:
        yield made.name


def _kernels(options: Options) -> tuple[str, ...]:
    return tensorflow_kernels.ALL if options.kernels else ()


def _import(patient: Patient, options: Options, base: Mapping[str, str]) -> Answers:
    limit = options.limit(IMPORT_LIMIT_S)
    return patient.ask(
        [tensorflow.import_task(_kernels(options), limit)], limit_s=limit, env={**base, **tensorflow.IMPORT_ENV}
    )


def _not_imported(facts: TensorFlow, options: Options) -> TensorFlow:
    """At the quick level, and until the import is over, its answers are unread."""
    if facts.directory is None or isinstance(facts.directory, Unread):
        return facts
    quick = options.level is ExamineLevel.QUICK
    why = "TensorFlow is not imported at the quick level" if quick else "TensorFlow is still being imported"
    unread = Unread(why=why, settle="gpudoctor check" if quick else None, chosen=quick)
    return msgspec.structs.replace(facts, import_error=unread, import_seconds=unread, devices=unread, log=unread)


def _with_import(facts: Facts, answers: Answers, kernels: tuple[str, ...]) -> Facts:
    after = tensorflow.read_import(answers, facts.tensorflow)
    measured: list[Measurement] = []
    if not isinstance(after.devices, Unread):
        measured = [tensorflow_kernels.read(raw, after.devices) for raw in answers.all("kernel")]
        how = f"the process that runs it {answers.outcome.how or 'ended before'}"
        measured += tensorflow_kernels.unanswered(kernels, after.devices, measured, how)
    return msgspec.structs.replace(facts, tensorflow=after, measurements=tuple(measured))


# ------------------------------------------------------------------- which Python is the patient's

FILE_TASKS = (
    environment.TASK,
    system.TASK,
    pci.TASK,
    driver.FILES,
    python.TASK,
    libraries.TASK,
    tensorflow.FILES,
)
"""What one child reads of files and of itself; nothing in it can hang."""


def _choose(
    options: Options, base: Mapping[str, str], start: Callable[[str, Callable[[], Answers]], Future[Answers]]
) -> tuple[Answers, Patient, str, tuple[str, ...]]:
    """The interpreter to examine, by `candidates`; of several, the first that has TensorFlow. Last: what was
    named and does not run.

    An environment that the user activated, or named, is meant: it is taken with or without TensorFlow.
    """
    found = candidates(options.python)
    over = [
        f"{v}={os.environ[v]} has no Python" for v in _ACTIVATED if os.environ.get(v) and not _inside(os.environ[v])
    ]
    limit = options.limit(QUICK_LIMIT_S)
    asked = []
    for path, because in found:
        patient = Patient((path,), base)
        name = "files" if len(found) == 1 else f"files ({because})"
        asked.append((start(name, lambda p=patient: p.ask(FILE_TASKS, limit_s=limit)), patient, because))  # type: ignore[misc]
    answered = [(f.result(), patient, because) for f, patient, because in asked]
    over += [f"{p.command[0]} ({why}): {_complaint(a)}" for a, p, why in answered if not a.spoke]
    speaking = [one for one in answered if one[0].spoke]
    for answers, patient, because in speaking:
        if (answers.last("tensorflow_files") or {}).get("directory"):
            return answers, patient, because, tuple(over)
    if speaking:
        return (*speaking[0], tuple(over))
    if options.python is not None:
        raise NoInterpreter(f"{options.python} is no Python (3.6 or newer): {_complaint(answered[0][0])}")
    own = Patient((sys.executable,), base)
    return own.ask(FILE_TASKS, limit_s=limit), own, "runs gpudoctor", tuple(over)


def _complaint(answers: Answers) -> str:
    return f"it {answers.outcome.how or 'ran and did not answer'}{answers.last_word}"


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
    found = []
    if on_path := shutil.which("python3"):
        found.append((on_path, "python3 on PATH"))
    if sys.executable and not any(os.path.abspath(p) == os.path.abspath(sys.executable) for p, _ in found):
        found.append((sys.executable, "runs gpudoctor"))
    return found


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
