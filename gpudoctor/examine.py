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
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import msgspec

from . import child
from .facts import (
    LEFT_OUT,
    Cluster,
    Container,
    Driver,
    Environment,
    Fact,
    Facts,
    Gpu,
    Libraries,
    Measurement,
    Nccl,
    Pci,
    Process,
    Python,
    System,
    TensorFlow,
    Unread,
    unread_all,
)
from .interpreter import Chosen, Unreachable, behind, choose, complaint, known_variables, of_process
from .kernels import native as native_kernels
from .kernels import tensorflow as tensorflow_kernels
from .probes import (
    cluster,
    container,
    driver,
    environment,
    fabric,
    gpu,
    kernel_log,
    libraries,
    modules,
    mps,
    nccl,
    pci,
    process,
    python,
    system,
    tensorflow,
)
from .probes.ask import NOT_ANSWERED, Answers, Job, Patient, Start
from .probes.inside import REACH_S, as_told

T = TypeVar("T")


class ExamineLevel(str, enum.Enum):
    """How much is looked at."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"


@dataclasses.dataclass(frozen=True)
class Options:
    """What the user asked for. `timeout_s` bounds every single piece of work."""

    level: ExamineLevel = ExamineLevel.STANDARD
    python: str | None = None
    inside: str | None = None
    """A command that ends in a Python."""
    pid: int | None = None
    """A running Python process."""
    kernels: bool = True
    native: tuple[native_kernels.Kernel, ...] = native_kernels.STANDARD
    """Kernels without a framework, from the standard level on."""
    tensorflow: bool = True
    """Whether TensorFlow is imported, from the standard level on."""
    framework: tuple[str, ...] | None = None
    """Kernels on TensorFlow's devices; None: as the level has it."""
    repeats: int | None = None
    """Samples of each of those; None: as the level has it."""
    gpus: tuple[int, ...] | None = None
    """Those that native kernels run on, as CUDA numbers them; None: all."""
    native_limit_s: float = 60.0
    """Of all native kernels together."""
    framework_limit_s: float = tensorflow_kernels.LIMIT_S
    """Of all kernels on TensorFlow's devices together, after the import."""
    timeout_s: float | None = None
    budget_s: float | None = None
    """When all of it ends, in seconds from the start; None: when it is done. Kernels are left out for it."""

    @property
    def work_s(self) -> float | None:
        """What the work itself may take of `budget_s`."""
        return None if self.budget_s is None else max(_LEAST_WORK_S, self.budget_s - RESERVED_S)

    def limit(self, default_s: float) -> float:
        """The limit of one piece of work, in seconds."""
        return default_s if self.timeout_s is None else min(default_s, self.timeout_s)


RESERVED_S = 3.0
"""Of a budget: for the tool's own start, and for the verdict and the page."""
_NATIVE_SHARE, _NATIVE_MOST = 0.4, 0.6
"""Of a budget, where TensorFlow's kernels follow: what native ones are chosen for, and when the last of them ends."""
_RUNNER = "the process that runs it"
_LEAST_WORK_S, _END_S = 1.0, 1.0
QUICK_LIMIT_S = 20.0
"""Files, nodes, cuInit, NVML, loader. cuInit without persistence mode takes seconds a GPU."""
IMPORT_LIMIT_S = 180.0
OTHERS_LIMIT_S = 1.5
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
    """Look at this machine. Raises interpreter.NoInterpreter where the one that was named is none, interpreter.Unreachable."""
    timeline = Timeline()
    with _scratch() as keras_home, _workers() as pool:

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

        jobs = jobs_of(options)
        chosen = _choose(options, child_environment(keras_home), start)
        if chosen.has_tensorflow is False:
            jobs = {name: job for name, job in jobs.items() if name not in (LOADER, NCCL, IMPORT)}
        until = None if options.work_s is None else timeline.started + options.work_s
        chosen = dataclasses.replace(chosen, patient=dataclasses.replace(chosen.patient, until=until))
        work = chosen.patient.begin(jobs, start)
        files = work[FILES].result()
        if not files.spoke:
            told = "" if options.inside is None else as_told(options.inside, files)
            raise Unreachable(f"{chosen.because} reached no Python (3.6 or newer): {complaint(files)}", told)
        patient = known_variables(chosen, files).patient

        named = process.read(options.pid) if options.pid is not None else Process(pid=None)

        def so_far() -> Facts:
            return facts_of(work, files, chosen, named, options)

        quick_ones = [work[name] for name in (NVML, NODES, CUDA, UNMASKED, LOADER) if name in work]
        slow = wait(quick_ones, timeout=max(0.0, EARLY_S - timeline.now())).not_done
        if slow and on_early is not None:
            on_early(so_far())
        wait(quick_ones)
        quick = so_far()
        if on_quick is not None:
            on_quick(Examination(quick, patient, timeline))
        wait(work[name] for name in LATER if name in work)
        facts = with_import(with_native(so_far(), work, options), work, options)
        if IMPORT in work and something_died(facts) and patient.left_s > 0.0:
            facts = _look_again(facts, patient, options)
    return Examination(facts, patient, timeline)


Work = Mapping[str, "Future[Answers]"]
"""The children of an examination by name; some have not ended yet."""


def facts_of(work: Work, files: Answers, chosen: Chosen, named: Process, options: Options) -> Facts:
    """What is known now, before the import: what has not answered yet is unread."""

    def answered(name: str) -> Answers:
        return work[name].result() if name in work and work[name].done() else NOT_ANSWERED

    interpreter = _of_any_age(Python, lambda: python.read(files, chosen.because, chosen.passed_over))
    found = _of_any_age(Libraries, lambda: libraries.read(files))
    if OTHERS in work and work[OTHERS].done():
        interpreter = msgspec.structs.replace(interpreter, others=python.read_others(work[OTHERS].result()))
    else:
        still = Unread(why="other interpreters are still being looked for", chosen=True)
        interpreter = msgspec.structs.replace(interpreter, others=still)
    variables = _of_any_age(Environment, lambda: environment.read(files))
    masked = isinstance(variables.get(_VISIBLE), str)
    unmasked = answered(UNMASKED) if masked else None
    packages = _of_any_age(TensorFlow, lambda: _loader_of(work, files, chosen, interpreter, variables, options))
    return Facts(
        environment=variables,
        system=_of_any_age(System, lambda: system.read(files)),
        pci=_of_any_age(Pci, lambda: pci.read(files)),
        driver=_of_any_age(Driver, lambda: driver.read(files, answered(NODES), answered(CUDA), unmasked, found)),
        gpu=_of_any_age(Gpu, lambda: gpu.read(answered(NVML))),
        python=interpreter,
        libraries=found,
        tensorflow=_not_imported(packages, options),
        nccl=_of_any_age(Nccl, lambda: nccl.read(files, answered(NCCL), packages, interpreter)),
        cluster=_of_any_age(
            Cluster, lambda: cluster.read(files, answered(CLUSTER) if CLUSTER in work else None, variables)
        ),
        container=_of_any_age(Container, lambda: container.read(files)),
        process=named,
    )


F = TypeVar("F", bound=Fact)


def _of_any_age(kind: type[F], read: Callable[[], F]) -> F:
    """A subject as it was answered. A collector of an older version did not ask everything: then it is unread."""
    try:
        return read()
    except KeyError as e:
        return unread_all(kind, Unread(why=f"the collector is of an older gpudoctor, which did not ask for {e}"))


def _loader_of(
    work: Work, files: Answers, chosen: Chosen, interpreter: Python, variables: Environment, options: Options
) -> TensorFlow:
    seen = tensorflow.read_files(files, interpreter)
    if LOADER not in work or not isinstance(seen.directory, str):
        return seen
    if not work[LOADER].done():
        return tensorflow.read_loader(NOT_ANSWERED, seen)
    seen = tensorflow.read_loader(work[LOADER].result(), seen)
    if not chosen.patient.sees_our_files:  # the simulation reads them
        return seen
    path, always = variables.get("LD_LIBRARY_PATH"), options.level is ExamineLevel.FULL
    return tensorflow.simulate(seen, interpreter, path if isinstance(path, str) else None, always=always)


def with_native(facts: Facts, work: Work, options: Options) -> Facts:
    """`facts` with what the native kernels measured; waits for them."""
    if NATIVE not in work:
        return facts
    answers = work[NATIVE].result()
    told, measured = answers.last("native_devices"), answers.all("native")
    listed = facts.driver.libcuda.devices
    seen = () if isinstance(listed, Unread) else listed
    read = native_kernels.read(options.native, options.gpus, told, measured, answers.ended(_RUNNER), seen)
    read += native_kernels.left_out(options.native, answers.last("native_left_out") or (), told, options.gpus)
    return msgspec.structs.replace(facts, measurements=(*facts.measurements, *read))


def with_import(facts: Facts, work: Work, options: Options) -> Facts:
    """`facts` with what the child that imports TensorFlow answered; waits for it."""
    if IMPORT not in work or not isinstance(facts.tensorflow.directory, str):
        return facts
    answers, kernels = work[IMPORT].result(), framework_of(options)
    after = tensorflow.read_import(answers, facts.tensorflow)
    measured: list[Measurement] = []
    if not isinstance(after.devices, Unread):
        measured = [tensorflow_kernels.read(raw, after.devices) for raw in answers.all("kernel")]
        why = answers.ended(_RUNNER) or Unread(why=f"{_RUNNER} ended before")
        out = answers.last("left_out") or ()
        measured += tensorflow_kernels.unanswered(out, after.devices, (), LEFT_OUT)
        measured += tensorflow_kernels.unanswered(kernels, after.devices, measured, why)
    return msgspec.structs.replace(facts, tensorflow=after, measurements=(*facts.measurements, *measured))


def something_died(facts: Facts) -> bool:
    """The import, the list or a kernel ended without its answer."""
    seen = facts.tensorflow
    dead = isinstance(seen.devices, Unread) or any(m.failed for m in facts.measurements)
    return dead or isinstance(seen.import_error, str)


def _look_again(facts: Facts, patient: Patient, options: Options) -> Facts:
    """What the kernel counted and logged meanwhile: was it killed, and why? Another visit behind a command may reach
    another container, which knows nothing of the first."""
    if options.inside is not None:
        why = Unread(why="not looked at again behind a command", settle="sudo dmesg | tail")
        seen = msgspec.structs.replace(facts.system, oom_kills_during=why, kernel_log_during=why)
    else:
        answers = patient.ask(system.AGAIN, limit_s=options.limit(QUICK_LIMIT_S))
        seen = system.read_again(facts.system, answers)
    return msgspec.structs.replace(facts, system=seen)


OTHERS = "other interpreters"
FILES, NVML, NODES, CUDA, UNMASKED = "files", "NVML", "device nodes", "cuInit", "cuInit without CUDA_VISIBLE_DEVICES"
LOADER, NCCL, IMPORT, NATIVE = "TensorFlow's loader", "NCCL", "TensorFlow", "native kernels"
CLUSTER = "TF_CONFIG"
LATER = (NCCL, CLUSTER, OTHERS, NATIVE)
"""What nobody waits for before the first answer."""
FILE_TASKS = (
    environment.TASK,
    system.TASK,
    container.TASK,
    container.TOOLS,
    kernel_log.TASK,
    pci.TASK,
    driver.FILES,
    modules.TASK,
    fabric.TASK,
    python.TASK,
    libraries.TASK,
    tensorflow.FILES,
    nccl.FILES,
    cluster.FILES,
    mps.TASK,
    container.ENGINES,
    python.HOME,
    python.KERNELS,
)
"""What one child reads of files and of itself; only a file system can hang it, and what lies in the home is last."""


def jobs_of(options: Options) -> dict[str, Job]:
    """Every child that an examination starts, by name."""
    limit = options.limit(QUICK_LIMIT_S)
    jobs = {
        FILES: Job(FILE_TASKS, limit),
        NVML: Job([gpu.task()], limit),
        NODES: Job([driver.NODES], limit),
        CUDA: Job([driver.CUDA], limit, driver.CUDA_ENV),
        UNMASKED: Job([driver.CUDA], limit, {_VISIBLE: None}, only_if_set=_VISIBLE),
        LOADER: tensorflow.loader_job(limit),
        NCCL: nccl.version_job(limit),
        CLUSTER: cluster.config_job(limit),
        OTHERS: python.others_job(min(limit, OTHERS_LIMIT_S)),
    }
    if options.level is not ExamineLevel.QUICK:
        if options.tensorflow:
            jobs[IMPORT] = _import_job(options)
        if options.kernels and options.native:
            jobs[NATIVE] = _native_job(options)
    return jobs


def _import_job(options: Options) -> Job:
    limit = options.limit(IMPORT_LIMIT_S)
    repeats = options.repeats or (15 if options.level is ExamineLevel.FULL else 5)
    until_s = None if options.work_s is None else max(0.0, options.work_s - _END_S)
    costs = () if until_s is None else tensorflow_kernels.COSTS
    kernels = framework_of(options)
    task = tensorflow.import_task(kernels, limit, repeats, options.framework_limit_s, until_s=until_s, costs=costs)
    return Job([task], limit, tensorflow.IMPORT_ENV)


def _native_job(options: Options) -> Job:
    """Where there is a budget, the kernels of TensorFlow have a part of it, too."""
    limit, share_s = options.limit(options.native_limit_s), None
    if options.work_s is not None:
        share, most = (_NATIVE_SHARE, _NATIVE_MOST) if framework_of(options) else (1.0, 1.0)
        limit, share_s = min(limit, options.work_s * most), options.work_s * share
    task = native_kernels.task(options.native, options.gpus, limit, after_nvml=True, share_s=share_s)
    return Job([task], limit + 5.0)


def _choose(options: Options, base: dict[str, str], start: Start) -> Chosen:
    if options.inside is not None:
        return behind(options.inside, options.limit(REACH_S))
    if options.pid is not None:
        ours = {name: base[name] for name in _OURS}
        return of_process(options.pid, ours)
    return choose(options.python, base, options.limit(QUICK_LIMIT_S), start)


@contextlib.contextmanager
def _workers() -> Iterator[ThreadPoolExecutor]:
    """Threads that wait for children; an interrupt ends their children first, so that nobody waits for them. Those of other
    examinations in this process, at the same time or later, are none of its business."""
    children = child.Family()
    with ThreadPoolExecutor(16, thread_name_prefix="probe", initializer=children.enter) as pool:
        try:
            yield pool
        except BaseException:
            children.end()
            raise


def child_environment(keras_home: str) -> dict[str, str]:
    """The user's variables, and what keeps a child from writing anything of its own."""
    mine = {k: v for k, v in os.environ.items() if k not in ("LD_DEBUG", "LD_DEBUG_OUTPUT")}
    return {**mine, **dict(zip(_OURS, ("1", keras_home), strict=True))}


_OURS = ("PYTHONDONTWRITEBYTECODE", "KERAS_HOME")


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


def framework_of(options: Options) -> tuple[str, ...]:
    """The kernels that TensorFlow runs."""
    if options.level is ExamineLevel.QUICK or not options.tensorflow or not options.kernels:
        return ()
    of_level = tensorflow_kernels.FULL if options.level is ExamineLevel.FULL else tensorflow_kernels.STANDARD
    return of_level if options.framework is None else options.framework


def _not_imported(facts: TensorFlow, options: Options) -> TensorFlow:
    """At the quick level, and until the import is over, its answers are unread."""
    if facts.directory is None or isinstance(facts.directory, Unread):
        return facts
    quick = options.level is ExamineLevel.QUICK
    why = "TensorFlow is not imported at the quick level" if quick else "TensorFlow is still being imported"
    unread = Unread(why=why, settle="gpudoctor check" if quick else None, chosen=quick)
    fields = ("import_error", "import_seconds", "devices", "log", "events", "loaded", "logical_devices")
    return msgspec.structs.replace(facts, **dict.fromkeys(fields, unread))
