"""What a program that ran under `gpudoctor run` tells of its speed."""

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.facts import Facts, Load, Run, RunGpu, Unread, known
from gpudoctor.findings import Evidence, NotApplicable

FROM_A_RUN = (
    "told from a run of the training program (gpudoctor run -- python train.py, or gpudoctor log with its profile)"
)
SHORTEST_S = 5.0
HELD = 128 << 20
"""Bytes: a context of CUDA alone is more."""
AT_WORK, IDLE = 5.0, 1.0
"""Percent of the time in which a kernel ran."""
WAITS = 0.3
"""Of the time: a GPU that waits less is well used."""
_NOT_INPUT = ("tf_Compute", "tf_Device", "tf_foreach", "cuda", "NCCL", "ncclP", "nv")
"""Names of threads that start kernels or wait for them. What tf.data does, runs in threads without a name of their own, or Eigen's."""
_LAUNCHING = "tf_Compute"


def is_there(facts: Facts) -> bool:
    """Whether these are the facts of a run."""
    return isinstance(facts.run.command, tuple)


def of(facts: Facts) -> Run:
    """The run. Raises NotApplicable where there is none, and where it was over before it came to its work."""
    if not is_there(facts):
        raise NotApplicable(FROM_A_RUN)
    steady = known(facts.run.steady_s)
    if steady is None or steady < SHORTEST_S:
        raise NotApplicable(f"the program worked for less than {SHORTEST_S:.0f} s")
    return facts.run


def percent(gpu: RunGpu) -> float | None:
    """Of the time, that in which a kernel ran; None: NVML does not tell."""
    busy = gpu.utilisation_percent
    return None if busy is None or isinstance(busy, Unread) else busy.mean


def used(run: Run) -> tuple[RunGpu, ...]:
    """The GPUs whose memory the program held. Raises UnknownFactError."""
    return tuple(g for g in known(run.gpus) if isinstance(held := g.held_bytes(), int) and held >= HELD)


def working(run: Run) -> tuple[RunGpu, ...]:
    """Those of `used` that were at work. Raises NotApplicable where none was."""
    found = tuple(g for g in used(run) if (percent(g) or 0.0) > IDLE)
    if not found:
        raise NotApplicable("the program did not use a GPU")
    return found


class Waiting(NamedTuple):
    """How the time in which no kernel ran is used. Shares of the steady part, of which the GPU that waits least counts."""

    gpus: tuple[RunGpu, ...]
    share: float
    """No kernel ran."""
    main_cores: float
    """The thread of the program itself."""
    launching_cores: float
    """Threads that start operations."""
    input_cores: float
    """Other threads and processes: tf.data's, and Python's own."""

    @property
    def blocked(self) -> float:
        """No kernel ran, and nothing was started, at least."""
        return max(0.0, self.share - self.main_cores - min(1.0, self.launching_cores))

    def proof(self, run: Run) -> tuple[Evidence, ...]:
        """Who worked meanwhile."""
        usable = f" of {run.cores_usable}" if isinstance(run.cores_usable, int) else ""
        threads = (
            f"processors at work{usable}: main thread {self.main_cores:.2f}, threads that start operations "
            f"{self.launching_cores:.2f}, other threads and processes {self.input_cores:.2f}"
        )
        return (at_work(self.gpus), Evidence(text=threads, source="/proc, while the program ran"))


def waiting(run: Run) -> Waiting:
    """Raises NotApplicable, UnknownFactError."""
    gpus = working(run)
    threads = known(run.by_thread) or ()
    main = sum(t.cores for t in threads if t.main)
    launching = sum(t.cores for t in threads if not t.main and t.name.startswith(_LAUNCHING))
    others = sum(t.cores for t in threads if not t.main and not t.name.startswith(_NOT_INPUT))
    return Waiting(
        gpus=gpus,
        share=1 - max(percent(g) or 0.0 for g in gpus) / 100,
        main_cores=main,
        launching_cores=launching,
        input_cores=others + (known(run.workers_cores) or 0.0),
    )


def at_work(gpus: tuple[RunGpu, ...]) -> Evidence:
    """'GPU 0: at work in 41% of the time'."""
    text = "; ".join(f"GPU {g.index}: at work in {percent(g) or 0:.0f}% of the time" for g in gpus)
    return Evidence(text=text, source="NVML, while the program ran")


def about(gpus: tuple[RunGpu, ...]) -> tuple[str, ...]:
    """('gpu0', 'gpu1')."""
    return tuple(f"gpu{g.index}" for g in gpus)


def loads(facts: Facts) -> dict[int, Load]:
    """What NVML saw of each GPU that the run worked on, by its number."""
    gpus = facts.run.gpus
    if not is_there(facts) or isinstance(gpus, Unread):
        return {}
    return {g.index: g.load for g in gpus if isinstance(g.load, Load) and (percent(g) or 0.0) >= AT_WORK}


def needs_tensorflow(facts: Facts) -> None:
    """Raises NotApplicable where the program held memory of a GPU and never loaded TensorFlow: the examined Python needs none."""
    run = facts.run
    if not is_there(facts) or run.tensorflow is not False or isinstance(run.gpus, Unread):
        return
    if any(isinstance(held := g.held_bytes(), int) and held >= HELD for g in run.gpus):
        raise NotApplicable("the program used a GPU without TensorFlow")


def touched_no_gpu(facts: Facts) -> tuple[Evidence, ...]:
    """The proof that the program computed in TensorFlow for ten seconds and more, and that no GPU had to do with it; () where it is not so."""
    run = facts.run
    if not is_there(facts) or run.tensorflow is not True or isinstance(run.gpus, Unread) or not run.gpus:
        return ()
    worked = run.cores.mean * run.steady_s if _told(run) and run.cores and run.steady_s else 0.0  # type: ignore[union-attr,operator]
    held = [g.held_bytes() for g in run.gpus]
    if worked < _MUCH_CPU_S or not all(isinstance(h, int) and h < HELD for h in held):
        return ()
    if any((percent(g) or 0.0) >= AT_WORK and g.others is None for g in run.gpus):
        return ()
    return (
        Evidence(
            text=f"it had TensorFlow loaded, and used {worked:.0f} s of processor time", source="/proc, while it ran"
        ),
        Evidence(
            text="; ".join(
                f"GPU {g.index}: {(h or 0) >> 20} MiB held"
                for g, h in zip(run.gpus, held, strict=True)
                if isinstance(h, int)
            ),
            source="NVML, while it ran",
        ),
    )


_MUCH_CPU_S = 10.0


def _told(run: Run) -> bool:
    return not isinstance(run.cores, Unread) and not isinstance(run.steady_s, Unread)
