"""Too few processors for the GPUs: by a quota, or by the set that the process may run on."""

from __future__ import annotations

from gpudoctor.checks import _speed
from gpudoctor.checks._processors import ENOUGH, gpus_to_feed, held_up, numbers
from gpudoctor.checks._reasons import several
from gpudoctor.checks._said import lines, machines_alone
from gpudoctor.facts import Facts, known
from gpudoctor.findings import Evidence, Findings, Fix, Found, Level, NotApplicable, Stage
from gpudoctor.registry import check

_SLOWS = ("runs-slowly", "cpu-starved-input", "gpu-outlier", *_speed.COLLECTIVES)
"""Of threads that take turns on too few processors one comes off worse, and its GPU waits longest."""


@check("GD903", "cgroup-cpu-quota", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def cgroup_cpu_quota(facts: Facts) -> Findings:
    """The processor quota is far below the number of cores that programs see.

    What it looks at: the quota of the control group against the cores that this process may run on. It tells where the
    quota is at most half of them: a warning where it is less than one core a GPU, or where native figures suffer that are the
    host's own work (launches, small copies, copies from pageable memory) and it is less than four a GPU; else a note. In a pasted
    text, cpu.stat: nr_throttled is a quarter of nr_periods or more; or docker's options give one core or less to what is called slow.

    Why it matters: TensorFlow starts a thread a core, and the kernel stops all of them when the quota of a period
    (usually 0.1 s) is used up. Input pipelines stutter, and GPUs wait for their launches.

    How to fix: raise the quota, pin the container to cores in its place (--cpuset-cpus), or let TensorFlow start fewer threads.

    Source: Linux kernel, CFS bandwidth control; tf.config.threading.
    """
    if facts.text.is_all and (found := _throttled(facts) or _granted_few(facts)) is not None:
        yield found
        return None
    quota = known(facts.system.cpu_quota_cores)
    if quota is None:
        return "there is no quota"
    usable = known(facts.system.cores_usable)
    if quota > usable / 2:
        return f"the quota is {quota:g} of {several(usable, 'core')}"
    threads, gpus, suffers = max(1, round(quota)), gpus_to_feed(facts), held_up(facts)
    is_short = quota < gpus or (bool(suffers) and quota < ENOUGH * gpus)
    cost = f" {_joined(gpus, suffers)}" if is_short else ""
    yield Found(
        message=f"This container or job may use {quota:g} core(s) at a time and sees {usable}; TensorFlow starts threads for "
        f"{usable}.{cost}",
        proof=(
            Evidence(text=f"quota {quota:g} cores", source="control group"),
            Evidence(text=f"{usable} cores", source="sched_getaffinity()"),
            *(proof for _, proof in suffers if is_short),
        ),
        level=Level.WARN if is_short else Level.INFO,
        explains=None if is_short else (),
        fixes=(
            Fix(
                kind="advice",
                risk="safe",
                summary=f"Raise the quota, or call tf.config.threading.set_intra_op_parallelism_threads({threads})",
                steps=(),
            ),
        ),
    )


_OFTEN, _SOME = 0.25, 100
"""Of the periods; and periods that are enough to tell."""


def _throttled(facts: Facts) -> Found | None:
    told = facts.text.said("cpu-periods", "cpu-throttled")
    counts = {name: int(number) for e in told for name, number in e.values.items()}
    periods, stopped = counts.get("periods", 0), counts.get("throttled", 0)
    if periods < _SOME or stopped < _OFTEN * periods:
        return None
    return Found(
        message=f"The kernel stopped all threads of this container or job in {min(1.0, stopped / periods):.0%} of the periods: its "
        "processor quota is used up.",
        proof=lines(told),
        fixes=(_RAISE,),
    )


_PERIOD = 100_000
"""docker's, in microseconds."""


def _granted_few(facts: Facts) -> Found | None:
    """What the options of a container grant, where somebody finds it slow."""
    slow = facts.text.said("slow-named", "gpu-is-slow", "takes-long")
    few = [e for e in facts.text.said("cpus-granted") if _cores(e.values) <= 1]
    if not slow or not few:
        return None
    message = (
        f"The container may use {_cores(few[0].values):g} core(s), and TensorFlow starts threads for all of the host's."
    )
    return Found(message=message, proof=lines((*few[:2], slow[0])), fixes=(_RAISE,))


def _cores(values: dict[str, str]) -> float:
    if "cpus" in values:
        return float(values["cpus"])
    return int(values["quota"]) / int(values.get("period", _PERIOD))


_RAISE = Fix(
    kind="advice",
    risk="safe",
    summary="Raise the quota (Kubernetes: resources.limits.cpu, or none; docker run --cpus), or let TensorFlow start fewer "
    "threads (tf.config.threading)",
    steps=(),
    verify="cat /sys/fs/cgroup/cpu.stat",
)


def _joined(gpus: int, suffers: tuple[tuple[str, Evidence], ...]) -> str:
    """'It feeds 2 GPUs: launch-latency takes 85 us (20 us or less is usual: 4.2 times).'"""
    told = "; ".join(words for words, _ in suffers[:2])
    return f"It feeds {several(gpus, 'GPU')}{f': {told}' if told else ''}."


@check("GD912", "cpu-affinity-narrow", stage=Stage.SPEED, level=Level.WARN, explains=_SLOWS)
def cpu_affinity_narrow(facts: Facts) -> Findings:
    """The process may run on too few of the machine's processors for its GPUs.

    What it looks at: the processors that it may run on (affinity: taskset, cpusets of containers and jobs) against those of the
    machine. It fires where they are fewer than the GPUs, or fewer than four a GPU and native figures suffer that are the host's own
    work: launches, small copies, copies from pageable memory.

    Why it matters: each GPU is fed by a thread of the host, NCCL has threads of its own, and the input pipeline wants the rest.
    On one processor all of them take turns.

    How to fix: start it on more processors. A batch job asks for them (sbatch --cpus-per-task), a container is given them
    (--cpuset-cpus), and a set that a shell or a library has narrowed is widened with taskset.

    Source: sched_setaffinity(2); cpuset(7); the measurements.
    """
    machines_alone(facts, "a text does not measure")
    pid, cores = facts.process.pid, known(facts.system.cores)
    if isinstance(pid, int):
        usable, source = len(numbers(known(facts.process.cpus_usable))), f"/proc/{pid}/status"
    else:
        usable, source = known(facts.system.cores_usable), "sched_getaffinity(), in the examined interpreter"
    if usable >= cores:
        return f"it may run on all {several(cores, 'processor')}"
    gpus, suffers = gpus_to_feed(facts), held_up(facts)
    if not gpus:
        raise NotApplicable("there is no GPU to feed")
    if usable >= gpus and (not suffers or usable >= ENOUGH * gpus):
        return f"it may run on {usable} of {several(cores, 'processor')}, for {several(gpus, 'GPU')}"
    step = f"taskset -acp 0-{cores - 1} {pid}" if isinstance(pid, int) else f"taskset -c 0-{cores - 1} python3 train.py"
    yield Found(
        message=f"This process may run on {usable} of the machine's {several(cores, 'processor')}. {_joined(gpus, suffers)}",
        proof=(
            Evidence(text=f"{usable} of {several(cores, 'processor')}", source=source),
            *(proof for _, proof in suffers),
        ),
        fixes=(
            Fix(
                kind="command",
                risk="safe",
                summary="Let it run on all of them (where a job's or container's set forbids it, ask for more there: sbatch "
                "--cpus-per-task, docker run --cpuset-cpus)",
                steps=(step,),
                verify=f"taskset -pc {pid if isinstance(pid, int) else 'PID'}",
            ),
        ),
    )
